import Primitives
import SIP

/// Lets requests of a dialog through that was set up by way of the exchange, and no others: its Record-Route carries
/// a keyed hash of the Call-ID, which comes back in their Route. So nobody can use the exchange as a relay, and it
/// remembers no dialogs.
struct DialogPass {
    private let hashes: Hashes
    private let key: [UInt8]

    init(hashes: Hashes, random: Randomness) {
        self.hashes = hashes
        var random = random
        key = random.octets(32)
    }

    /// User part of the Record-Route of a dialog.
    func word(for callID: String) -> String {
        hexadecimal(hashes.hmacSHA256(key, Array(callID.utf8)).prefix(12))
    }

    func isValid(_ word: String?, for callID: String) -> Bool {
        equalInConstantTime(Array((word ?? "").utf8), Array(self.word(for: callID).utf8))
    }
}
