/// A tone's cadence: bursts of one or two frequencies and the gaps between them.
package struct TonePlan: Equatable, Sendable {
    /// A burst or, without frequencies, a gap.
    package struct Segment: Equatable, Sendable {
        /// Hz; 0: none.
        package var first: Float
        /// Sounds together with `first`; 0: none.
        package var second: Float
        package var milliseconds: Int

        package init(_ first: Float, _ second: Float = 0, _ milliseconds: Int) {
            self.first = first
            self.second = second
            self.milliseconds = milliseconds
        }

        static func gap(_ milliseconds: Int) -> Segment { Segment(0, 0, milliseconds) }
    }

    package var segments: [Segment]
    /// How often the segments are played; nil: until stopped.
    package var rounds: Int?
    /// Peak of each frequency, in sample units.
    package var amplitude: Float

    package init(_ segments: [Segment], rounds: Int? = nil, amplitude: Float = 6000) {
        self.segments = segments
        self.rounds = rounds
        self.amplitude = amplitude
    }

    /// How long it sounds; nil: until stopped.
    package var duration: Duration? {
        rounds.map { .milliseconds(segments.reduce(0) { $0 + $1.milliseconds } * $0) }
    }
}

/// What a tone tells the person at the door.
package enum CallTone: String, CaseIterable, Hashable, Sendable {
    /// The far side rings; until stopped.
    case ringback
    /// The far side is busy; five seconds.
    case busy
    /// The call cannot be set up; five seconds.
    case congestion
    /// The far side has hung up: three short bursts.
    case callEnded
    /// Another call comes in during this one; until stopped.
    case callWaiting
    /// A call was answered by itself: the microphone is about to open.
    case autoAnswer

    /// Its cadence in a country (ITU-T E.180 supplement 2).
    /// - Parameter country: the word of `tones`; an unknown one is `eu`, ETSI's recommendation (ETSI TR 101 041).
    package func plan(country: String) -> TonePlan {
        let tones = CountryTones.of(country)
        switch self {
        case .ringback: return TonePlan(tones.ringback)
        case .busy: return TonePlan(tones.busy, rounds: Self.rounds(of: tones.busy))
        case .congestion: return TonePlan(tones.congestion, rounds: Self.rounds(of: tones.congestion))
        case .callEnded:
            let pitch = tones.busy[0]
            return TonePlan([.init(pitch.first, pitch.second, 200), .gap(200)], rounds: 3, amplitude: 3000)
        case .callWaiting: return TonePlan(tones.callWaiting, amplitude: 3000)
        case .autoAnswer: return TonePlan([.init(880, 0, 120), .gap(40), .init(1175, 0, 160)], rounds: 1)
        }
    }

    private static func rounds(of segments: [TonePlan.Segment]) -> Int {
        let length = max(1, segments.reduce(0) { $0 + $1.milliseconds })
        return max(1, (5000 + length / 2) / length)
    }
}

/// The tones of a country's exchanges.
private struct CountryTones {
    var ringback: [TonePlan.Segment]
    var busy: [TonePlan.Segment]
    var congestion: [TonePlan.Segment]
    var callWaiting: [TonePlan.Segment]

    /// One pitch for all; on and off times in milliseconds, in turn.
    private init(_ pitch: Float, ringback: [Int], busy: [Int], congestion: [Int], callWaiting: [Int]) {
        func segments(_ times: [Int]) -> [TonePlan.Segment] {
            times.enumerated().map { .init($0.offset.isMultiple(of: 2) ? pitch : 0, 0, $0.element) }
        }
        self.ringback = segments(ringback)
        self.busy = segments(busy)
        self.congestion = segments(congestion)
        self.callWaiting = segments(callWaiting)
    }

    private init(
        ringback: [TonePlan.Segment], busy: [TonePlan.Segment], congestion: [TonePlan.Segment],
        callWaiting: [TonePlan.Segment]
    ) {
        self.ringback = ringback
        self.busy = busy
        self.congestion = congestion
        self.callWaiting = callWaiting
    }

    static func of(_ country: String) -> CountryTones {
        switch country {
        case "us":
            CountryTones(
                ringback: [.init(440, 480, 2000), .gap(4000)], busy: [.init(480, 620, 500), .gap(500)],
                congestion: [.init(480, 620, 250), .gap(250)], callWaiting: [.init(440, 0, 300), .gap(10_000)])
        case "uk":
            CountryTones(
                ringback: [.init(400, 450, 400), .gap(200), .init(400, 450, 400), .gap(2000)],
                busy: [.init(400, 0, 375), .gap(375)],
                congestion: [.init(400, 0, 400), .gap(350), .init(400, 0, 225), .gap(525)],
                callWaiting: [.init(400, 0, 100), .gap(4000)])
        case "fr":
            CountryTones(
                440, ringback: [1500, 3500], busy: [500, 500], congestion: [250, 250], callWaiting: [300, 10_000])
        case "de":
            CountryTones(
                425, ringback: [1000, 4000], busy: [480, 480], congestion: [240, 240],
                callWaiting: [200, 200, 200, 5000])
        case "it":
            CountryTones(
                425, ringback: [1000, 4000], busy: [500, 500], congestion: [200, 200],
                callWaiting: [400, 100, 250, 100, 150, 14_000])
        case "es":
            CountryTones(
                425, ringback: [1500, 3000], busy: [200, 200], congestion: [200, 200, 200, 200, 200, 600],
                callWaiting: [175, 175, 175, 3500])
        case "at":
            CountryTones(
                420, ringback: [1000, 5000], busy: [400, 400], congestion: [200, 200], callWaiting: [40, 1950])
        default:
            CountryTones(
                425, ringback: [1000, 4000], busy: [500, 500], congestion: [250, 250],
                callWaiting: [200, 600, 200, 10_000])
        }
    }
}
