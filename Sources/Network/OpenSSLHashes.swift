import COpenSSL
package import Primitives

/// The cores' hash functions over libcrypto.
package enum OpenSSLHashes {
    /// libcrypto's version.
    package static var libraryVersion: String { String(cString: OpenSSL_version(OPENSSL_FULL_VERSION_STRING)) }

    package static func make() -> Hashes {
        Hashes(
            md5: { digest($0, EVP_md5()) }, sha1: { digest($0, EVP_sha1()) }, sha256: { digest($0, EVP_sha256()) },
            sha512_256: { digest($0, EVP_sha512_256()) },
            hmacSHA1: { authenticate(key: $0, $1, EVP_sha1()) },
            hmacSHA256: { authenticate(key: $0, $1, EVP_sha256()) })
    }

    private static func digest(_ octets: [UInt8], _ function: OpaquePointer?) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let done = EVP_Digest(octets, octets.count, &result, &count, function, nil)
        precondition(done == 1, "libcrypto lacks a hash function")
        return Array(result.prefix(Int(count)))
    }

    private static func authenticate(key: [UInt8], _ octets: [UInt8], _ function: OpaquePointer?) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let done = HMAC(function, key, Int32(clamping: key.count), octets, octets.count, &result, &count)
        precondition(done != nil, "libcrypto lacks a hash function")
        return Array(result.prefix(Int(count)))
    }
}
