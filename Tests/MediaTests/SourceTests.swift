import Audio
import EventLoop
import Glibc
import Media
import Primitives
import SDP
import Testing

/// Where packets may come from, and what the rest does: nothing.
@Suite(.serialized) struct SourceTests {
    /// The session description names a port that the peer does not use, as behind a NAT.
    @Test func voiceFollowsTheSourceOfThePackets() throws {
        let call = try TwoParties(start: false)
        call.leftPlan.remote.port = call.rightPair.local.port &+ 1000
        try call.left.engine.start(call.key, call.leftPlan, ports: call.leftPair)
        try call.right.engine.start(call.key, call.rightPlan, ports: call.rightPair)
        #expect(try call.waitForVoices())
        #expect(call.left.events.contains(.sourceLatched(call.key, call.rightPair.local)))
    }

    @Test func strangersAreDroppedAndCounted() throws {
        let call = try TwoParties()
        #expect(try call.waitForVoices())
        let stranger = UDPSocket()
        var packet: [UInt8] = [0x80, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4] + [UInt8](repeating: 0x80, count: 160)
        for sequence in 0..<50 {
            packet[3] = UInt8(sequence)
            stranger.send(packet, to: call.leftPair.local.port)
        }
        #expect(try call.wait { (call.left.engine.statistics(call.key)?.foreign ?? 0) >= 50 })
        #expect(try call.waitForVoices())
        #expect(!call.left.events.contains { if case .sourceLatched = $0 { true } else { false } })
    }

    /// Whatever arrives at either port, from anybody, at any length: the call goes on.
    @Test func rubbishIsBorne() throws {
        let call = try TwoParties(mux: true)
        #expect(try call.waitForVoices())
        let stranger = UDPSocket()
        var random = Randomness.seeded(7)
        for round in 0..<3000 {
            let length = Int(random.next() % 1700)
            var packet = random.octets(length)
            if length > 1 {
                packet[0] = [0x80, 0x90, 0xB0, 0xA1, packet[0]][round % 5]
                packet[1] = [0, 101, 200, 201, 13, 203, packet[1]][round % 7]
            }
            stranger.send(packet, to: call.leftPair.local.port + UInt16(round % 2))
        }
        let before = call.leftReceived
        #expect(try call.wait { call.leftReceived > before + 50 })
        #expect(try call.waitForVoices())
        #expect(call.left.engine.isAlive(at: call.left.loop.now))
    }
}

/// A socket of nobody's.
private final class UDPSocket {
    private let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)

    deinit { close(descriptor) }

    func send(_ octets: [UInt8], to port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, octets, octets.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
