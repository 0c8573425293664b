import COpenSSL
package import Primitives

extension Hashes {
    /// Hashes of libcrypto, for tests of the cores.
    package static let forTests = Hashes(
        md5: { digest($0, EVP_md5()) }, sha1: { digest($0, EVP_sha1()) }, sha256: { digest($0, EVP_sha256()) },
        sha512_256: { digest($0, EVP_sha512_256()) },
        hmacSHA1: { authenticate($0, $1, EVP_sha1()) }, hmacSHA256: { authenticate($0, $1, EVP_sha256()) })

    private static func digest(_ octets: [UInt8], _ function: OpaquePointer?) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        precondition(EVP_Digest(octets, octets.count, &result, &count, function, nil) == 1)
        return Array(result.prefix(Int(count)))
    }

    private static func authenticate(_ key: [UInt8], _ octets: [UInt8], _ function: OpaquePointer?) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        precondition(HMAC(function, key, Int32(key.count), octets, octets.count, &result, &count) != nil)
        return Array(result.prefix(Int(count)))
    }
}
