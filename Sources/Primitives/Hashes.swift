/// Hash functions, made over a library at the edge and handed into the cores as a value.
package struct Hashes: Sendable {
    package typealias Function = @Sendable ([UInt8]) -> [UInt8]

    package var md5: Function
    package var sha1: Function
    package var sha256: Function
    /// SHA-512/256 (FIPS 180-4), 32 octets.
    package var sha512_256: Function
    /// HMAC-SHA1 of (key, message), 20 octets.
    package var hmacSHA1: @Sendable ([UInt8], [UInt8]) -> [UInt8]
    /// HMAC-SHA256 of (key, message), 32 octets.
    package var hmacSHA256: @Sendable ([UInt8], [UInt8]) -> [UInt8]

    package init(
        md5: @escaping Function, sha1: @escaping Function, sha256: @escaping Function,
        sha512_256: @escaping Function,
        hmacSHA1: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8],
        hmacSHA256: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]
    ) {
        self.md5 = md5
        self.sha1 = sha1
        self.sha256 = sha256
        self.sha512_256 = sha512_256
        self.hmacSHA1 = hmacSHA1
        self.hmacSHA256 = hmacSHA256
    }
}
