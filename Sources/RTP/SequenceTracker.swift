/// Extends the sequence numbers of one source and guards against jumps (RFC 3550 A.1).
struct SequenceTracker: Sendable {
    enum Placement: Equatable {
        /// The first packet of all, or the second after a jump or change of source: everything starts anew with it.
        case first(Int64)
        case placed(Int64)
        /// A far jump or another source: believed if the next packet follows it.
        case doubted
    }

    /// A jump forward by this much or more is doubted (MAX_DROPOUT).
    static let farAhead: Int64 = 3_000
    /// A step back of up to this much is reordering (MAX_MISORDER).
    static let farBehind: Int64 = 100

    private static let turn: Int64 = 1 << 16

    private(set) var source: UInt32?
    /// The highest number, roll-overs above the lower 16 bits; one turn more than RFC 3550 counts, so that packets from
    /// before the first one have numbers too.
    private(set) var highest: Int64 = 0
    private var doubted: (source: UInt32, next: UInt16)?

    /// The highest number as reports tell it.
    var extendedHighest: UInt32 { UInt32(truncatingIfNeeded: highest - Self.turn) }

    mutating func place(_ header: RTPHeader) -> Placement {
        let step = Int64(Int16(bitPattern: header.sequence &- UInt16(truncatingIfNeeded: highest)))
        if header.ssrc == source, step < Self.farAhead, step >= -Self.farBehind {
            doubted = nil
            let number = highest + step
            highest = max(highest, number)
            return .placed(number)
        }
        if source == nil || (doubted.map { $0.source == header.ssrc && $0.next == header.sequence } ?? false) {
            source = header.ssrc
            highest = Self.turn + Int64(header.sequence)
            doubted = nil
            return .first(highest)
        }
        doubted = (header.ssrc, header.sequence &+ 1)
        return .doubted
    }
}
