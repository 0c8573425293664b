import Allocations
import Audio
import EventLoop
import Primitives
import SDP
import Testing

@testable import Media

/// The audio path allocates nothing: counted by allocation functions that take the C library's place.
@Suite struct AllocationTests {
    @Test func theCounterCounts() {
        portero_count_allocations(1)
        let made = SampleBuffer(count: 10_000)
        portero_count_allocations(0)
        let count = portero_allocations()
        #expect(count > 0 || count == -1)
        #expect(made.samples.count == 10_000)
    }

    /// Two streams talk to each other through sockets, with a tone, a ring, recordings and digits, for thousands of periods.
    @Test(arguments: AudioCodec.allCases)
    func ticksAllocateNothing(_ codec: AudioCodec) throws {
        let loop = try EventLoop()
        let link = try MediaLink(wakeUp: try loop.wakeUp {}.wakeUp)
        let thread = try #require(MediaThread(link))
        let rate = codec.sampleRate
        thread.rate = rate
        let rig = try Rig()
        let pairs = [try rig.pair(), try rig.pair()]
        for (index, other) in [(0, 1), (1, 0)] {
            let plan = try StreamPlan(
                plan(codec, from: pairs[index], to: pairs[other], digits: index == 0), ports: pairs[index],
                options: CallOptions(), rateHertz: rate)
            let stream = Stream(CallKey(index), plan, StreamCounters(), link, rateHertz: rate, mutedTicks: 10)
            #expect(link.commands.push(.startStream(.passRetained(stream))))
        }
        let format = DeviceFormat(rateHertz: rate, cardRateHertz: rate, period: .milliseconds(10))
        let speaker = try openPlayback(.wav(path: rig.path("speaker.wav")), format, appending: false)
        let microphone = try openCapture(.tone(hertz: 500), format)
        let ring = RingPlayer(
            try Sound.builtInRing.resampled(to: rate), gain: Gain(volume: 20), every: .seconds(2))
        _ = link.commands.push(.attachPlayback(.speaker, .passRetained(OpenPlayback(speaker))))
        _ = link.commands.push(.attachCapture(.passRetained(OpenCapture(microphone))))
        let tone = TonePlayer(CallTone.ringback.plan(country: "eu"), rateHertz: rate)
        _ = link.commands.push(.startTone(.passRetained(tone)))
        _ = link.commands.push(.startRing(.passRetained(ring)))
        thread.takeCommands()
        link.halfDuplex.store(true, ordering: .relaxed)

        var now = loop.now
        func run(turns: Int) {
            for turn in 0..<turns {
                now += .milliseconds(20)
                if turn % 100 == 0 {
                    thread.streams[turn / 100 % 2]._withUnsafeGuaranteedRef { $0.send(digit: 5, milliseconds: 160) }
                }
                thread.make(ticks: 2, at: now.nanoseconds)
                while link.reports.pop() != nil {}
            }
        }
        // First uses may build tables.
        run(turns: 150)
        portero_count_allocations(1)
        run(turns: 2000)
        portero_count_allocations(0)
        let count = portero_allocations()
        #expect(count == 0 || count == -1)
        let received = thread.streams[0]._withUnsafeGuaranteedRef { $0.counters.received.load(ordering: .relaxed) }
        #expect(received > 1500)
        #expect(link.commands.push(.end))
        thread.takeCommands()
        while let report = link.reports.pop() { rig.engine.free(report) }
    }
}
