import Primitives
import SIP

/// What every part of the agent needs to speak: the transactions, randomness, and the outputs of the turn.
struct Wire {
    var random: Randomness
    var transactions: TransactionLayer
    /// What the transaction layer said and nobody has taken yet.
    var said: [TransactionLayer.Output] = []
    /// For the edge.
    var out: [UserAgentOutput] = []
    private var lastNumber: UInt64 = 0

    init(random: Randomness) {
        var random = random
        transactions = TransactionLayer(random: random.forked())
        self.random = random
    }

    /// A number for a look-up, a connection attempt or a request, unique in this process.
    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func send(_ octets: [UInt8], _ flow: Flow) { out.append(.send(octets, flow)) }

    mutating func note(
        _ level: UserAgentNote.Level, account: String? = nil, call: CallKey? = nil, _ text: String
    ) {
        out.append(.event(.note(UserAgentNote(level, account: account, call: call, text))))
    }
}
