import CNettle
package import Primitives

extension Hashes {
    /// Over libnettle, which costs an idle station far less memory than libcrypto does.
    package static let nettle = Hashes(
        md5: { octets in digest(16) { portero_md5(octets, octets.count, $0) } },
        sha1: { octets in digest(20) { portero_sha1(octets, octets.count, $0) } },
        sha256: { octets in digest(32) { portero_sha256(octets, octets.count, $0) } },
        sha512_256: { octets in digest(32) { portero_sha512_256(octets, octets.count, $0) } },
        hmacSHA1: { key, octets in
            digest(20) { portero_hmac_sha1(key, key.count, octets, octets.count, $0) }
        },
        hmacSHA256: { key, octets in
            digest(32) { portero_hmac_sha256(key, key.count, octets, octets.count, $0) }
        })

    /// libnettle's version.
    package static var nettleVersion: String {
        let version = portero_nettle_version()
        return "\(version >> 8).\(version & 0xFF)"
    }

    private static func digest(_ size: Int, _ write: (UnsafeMutablePointer<UInt8>?) -> Void) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            write(buffer.baseAddress)
            count = size
        }
    }
}
