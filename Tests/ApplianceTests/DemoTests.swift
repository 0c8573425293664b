import Appliance
import Testing

@Suite struct DemoTests {
    /// The whole appliance with its exchange and phone, on this machine's loopback.
    @Test func everyStepIsObserved() {
        var transcript: [String] = []
        let succeeded = Demo.run(stays: false, pauses: false) { transcript.append($0) }
        #expect(succeeded, "\(transcript.joined())")
        let steps = transcript.filter { $0.contains("✓") }
        for (order, word) in [
            "phone is registered", "house is registered from 127.0.0.2", "garden is registered from 127.0.0.2",
            "bell is pressed", "phone rings", "blinks", "phone answers", "phone hears", "loudspeaker", "hangs up",
            "answers by itself", "phone hears", "loudspeaker", "hangs up", "house is registered from 127.0.0.3",
            "garden is registered from 127.0.0.3", "stopped",
        ].enumerated() {
            #expect(steps.dropFirst(order).first?.contains(word) == true, "step \(order + 1): \(word)")
        }
        #expect(transcript.allSatisfy { $0.hasSuffix("\n") })
    }
}
