import Foundation
import Testing

/// Cases that wait for SRTP. A new or renamed case fails here, so that none is passed over unseen.
struct OwedTests {
    static let owed: Set<String> = [
        "rfc3711-b2-aes128cm", "rfc3711-b3-kdf", "rfc6188-7.1-aes256cm", "rfc6188-7.2-kdf256", "rfc7714-16-aes128gcm",
        "rfc7714-16-aes256gcm", "pkt-aes_cm_128_hmac_sha1_80", "pkt-aes_cm_128_hmac_sha1_32",
        "pkt-aes_256_cm_hmac_sha1_80", "pkt-aes_256_cm_hmac_sha1_32", "pkt-aead_aes_128_gcm", "pkt-aead_aes_256_gcm",
        "pkt-csrc-ext", "pkt-roc1", "pkt-empty-payload", "wrap", "window", "tamper", "forged-jump", "first-high",
        "sdes-plain", "sdes-lifetime", "sdes-lifetime-decimal", "sdes-mki", "sdes-mki-no-lifetime", "sdes-two-keys",
        "sdes-session-params", "sdes-wsh", "sdes-optional-param", "sdes-unencrypted", "sdes-unauthenticated",
        "sdes-short-key", "sdes-long-key", "sdes-bad-base64", "sdes-no-padding-256", "sdes-unknown-suite",
        "sdes-tag-10-digits", "sdes-tag-leading-zero", "sdes-suite-case",
    ]

    @Test func srtpIsOwedByName() throws {
        let file = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Data/srtp/index.json")
        let index = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
        let names = index.values.compactMap { $0 as? [[String: Any]] }.joined().compactMap { $0["id"] as? String }
        #expect(Set(names) == Self.owed)
    }
}
