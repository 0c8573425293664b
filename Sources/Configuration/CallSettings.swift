/// `[call]`
package struct CallSettings: Equatable, Sendable {
    /// Zero: no limit.
    package var maxDuration = Duration.seconds(300)
    /// So long before `maxDuration` a tone warns; zero: none.
    package var warnBefore = Duration.zero
    /// The digit of the far side that lets a call last `maxDuration` once more after that tone; nil: none does.
    package var prolong: UInt8?
    /// An incoming call rings so long.
    package var ringFor = Duration.seconds(45)
    /// An outgoing call outside a group is tried so long.
    package var dialTimeout = Duration.seconds(45)
    /// What the caller gets after `ringFor`: 400–699.
    package var ringTimeoutCode = 480
    package var secondCall = SecondCall.busy
    /// 1–256, over all accounts.
    package var maxCalls = 4
    /// Answer pressed so long before a call comes in answers it; zero: off.
    package var answerArm = Duration.zero
    /// A call ends after so long without RTP and RTCP while they are expected; zero: never.
    package var mediaTimeout = Duration.seconds(30)

    package init() {}
}

/// What happens to a call that comes in during another.
package enum SecondCall: String, CaseIterable, Sendable {
    case busy
    /// A call waiting tone; the button answers it.
    case wait
    /// The first call is put on hold.
    case hold
    /// The first call ends.
    case replace
    /// Both talk.
    case accept
}

/// `[contact NAME]`
package struct ContactSettings: Equatable, Sendable {
    package let name: String
    package var uri: String
    /// The account to call through; nil: the default.
    package var account: String?

    package init(name: String, uri: String) {
        self.name = name
        self.uri = uri
    }
}

/// `[group NAME]`
package struct GroupSettings: Equatable, Sendable {
    package enum Order: String, CaseIterable, Sendable { case sequential, parallel }

    package let name: String
    /// Never empty; groups among them do not lead back here.
    package var targets: [DialTarget]
    package var order = Order.sequential
    /// Each target, or all at once if parallel. A group among the targets keeps its own.
    package var ringFor = Duration.seconds(25)
    /// How often the targets are gone through: 1–10.
    package var rounds = 1
    package var onBusy = AfterFailure.next
    package var onDeclined = AfterFailure.next
    package var onUnreachable = AfterFailure.next
    /// Who is called when nobody of all rounds answered; nil: none.
    package var lastResort: DialTarget?
    /// The targets are called only then; nil: always.
    package var when: ScheduleCondition?
    /// Who is called at other times; nil: none.
    package var otherwise: DialTarget?

    package init(name: String, targets: [DialTarget]) {
        self.name = name
        self.targets = targets
    }

    /// Whoever it may lead to.
    var everyTarget: [DialTarget] { targets + [lastResort, otherwise].compactMap { $0 } }
}

/// What follows when a target of a group cannot be reached.
package enum AfterFailure: String, CaseIterable, Sendable {
    /// The next target rings.
    case next
    /// The whole dial is over.
    case stop
}
