/// A parser that takes octets of a stranger: whatever they are, it neither traps nor lies. The fuzzer runs them
/// (board/fuzz), and the unit tests replay what it once found.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    package let name: String
    package let run: @Sendable (_ octets: [UInt8]) -> Void

    package var description: String { name }

    package static let all = [
        FuzzTarget(name: "message", run: fuzzMessage), FuzzTarget(name: "stream", run: fuzzStream),
        FuzzTarget(name: "digest", run: fuzzDigest), FuzzTarget(name: "uri", run: fuzzURI),
        FuzzTarget(name: "sdp", run: fuzzSDP), FuzzTarget(name: "rtp", run: fuzzRTP),
        FuzzTarget(name: "rtcp", run: fuzzRTCP), FuzzTarget(name: "ini", run: fuzzINI),
    ]
}
