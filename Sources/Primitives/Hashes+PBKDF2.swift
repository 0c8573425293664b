extension Hashes {
    /// PBKDF2 with HMAC-SHA256 (RFC 8018 section 5.2), the first 32 octets.
    package func pbkdf2SHA256(_ password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        var block = hmacSHA256(password, salt + [0, 0, 0, 1])
        var sum = block
        for _ in 1..<max(2, iterations + 1) - 1 {
            block = hmacSHA256(password, block)
            for index in sum.indices where index < block.count { sum[index] ^= block[index] }
        }
        return sum
    }
}
