import CLinux
import CSystemd
import Glibc
import Primitives

/// What a log line is about (`portero log LEVEL DOMAIN`).
package enum LogDomain: String, CaseIterable, Sendable {
    case sip, media, audio, gpio, network, config, door, api
}

/// How much a log line matters, the gravest first.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
    case error, warning, notice, info, debug, trace

    private var rank: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug: 7
        case .trace: 8
        }
    }

    /// syslog's number: 3 for an error … 7 for debug and trace.
    package var priority: Int { min(rank, 7) }

    /// The graver one is the lesser.
    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// A journal field beside the text. Values are escaped and cut like those in the text.
package struct LogField: Hashable, Sendable {
    /// The journal's name: capitals, digits and `_`.
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = LogText.escaped(value, limit: LogText.valueLimit)
    }

    package static func account(_ name: String) -> LogField { LogField(name: "PORTERO_ACCOUNT", value: name) }
    /// Our id of a call (`c1`).
    package static func call(_ id: String) -> LogField { LogField(name: "PORTERO_CALL", value: id) }
    package static func callID(_ id: String) -> LogField { LogField(name: "SIP_CALL_ID", value: id) }
    package static func method(_ method: String) -> LogField { LogField(name: "SIP_METHOD", value: method) }
    package static func status(_ code: Int) -> LogField { LogField(name: "SIP_STATUS", value: String(code)) }
    /// 128 bits as 32 hexadecimal digits, the same for ever for an event that an operator may match.
    package static func messageID(_ digits: String) -> LogField { LogField(name: "MESSAGE_ID", value: digits) }
}

/// The log: structured lines to systemd's journal where standard error leads there, else plain lines to standard
/// error. Lives on the loop's thread; media threads report to the loop instead.
package final class Journal {
    /// Where lines go.
    package enum Output {
        /// The journal if standard error is connected to it (`$JOURNAL_STREAM`), else plain lines.
        case automatic
        /// To a closure, one line without its end at a time: for tests and transcripts.
        case lines((String) -> Void)
    }

    private struct Line: Hashable {
        let domain: LogDomain
        let level: LogLevel
        let text: String
        let fields: [LogField]
        let file: String
        let line: Int
    }

    private let loop: EventLoop
    private let lines: ((String) -> Void)?
    private var standardError = LogStream(2)
    private let usesJournal: Bool
    private var levels: [LogDomain: LogLevel] = [:]
    private var repeats = RepeatFilter<Line>()
    private var timer: LoopTimer?

    /// - Parameter level: for all domains, until ``set(_:for:)``.
    package init(on loop: EventLoop, level: LogLevel = .notice, output: Output = .automatic) {
        self.loop = loop
        switch output {
        case .automatic:
            usesJournal = Self.standardErrorIsJournal
            lines = nil
        case .lines(let body):
            usesJournal = false
            lines = body
        }
        set(level)
        timer = try? loop.timer { [unowned self] in
            var due: [(Line, Int)] = []
            repeats.expire(at: loop.now, due: &due)
            emit(due)
        }
    }

    deinit { flush() }

    /// Sets the level of one domain, or of all.
    package func set(_ level: LogLevel, for domain: LogDomain? = nil) {
        for each in domain.map({ [$0] }) ?? LogDomain.allCases { levels[each] = level }
    }

    package func level(of domain: LogDomain) -> LogLevel { levels[domain] ?? .notice }

    /// Whether a line of this level would be written.
    package func shows(_ domain: LogDomain, _ level: LogLevel) -> Bool { level <= self.level(of: domain) }

    /// Writes a line if its level is shown; the text is not built otherwise. Lines down to `info` that come again
    /// within five seconds are counted instead.
    package func log(
        _ domain: LogDomain, _ level: LogLevel, _ text: @autoclosure () -> LogText, _ fields: LogField...,
        file: String = #fileID, line: Int = #line
    ) {
        guard shows(domain, level) else { return }
        let line = Line(
            domain: domain, level: level, text: text().text, fields: fields, file: file, line: line)
        guard level <= .info else { return emit(line) }
        var due: [(Line, Int)] = []
        let isNew = repeats.accept(line, at: loop.now, due: &due)
        emit(due)
        if isNew { emit(line) }
        timer?.set(deadline: repeats.deadline)
    }

    /// Writes the counts that still wait.
    package func flush() {
        var due: [(Line, Int)] = []
        repeats.flush(due: &due)
        emit(due)
    }

    private func emit(_ due: [(Line, Int)]) {
        for (line, count) in due { emit(line, suffix: " (\(count) more)") }
        timer?.set(deadline: repeats.deadline)
    }

    private func emit(_ line: Line, suffix: String = "") {
        if usesJournal {
            let own = [
                "MESSAGE=\(line.text)\(suffix)", "PRIORITY=\(line.level.priority)", "SYSLOG_IDENTIFIER=portero",
                "PORTERO_DOMAIN=\(line.domain.rawValue)", "CODE_FILE=\(line.file)", "CODE_LINE=\(line.line)",
            ]
            if Self.sendToJournal(own + line.fields.map { "\($0.name)=\($0.value)" }) { return }
        }
        let fields = line.fields.map { field in
            let name = field.name.hasPrefix("PORTERO_") ? String(field.name.dropFirst(8)) : field.name
            return " \(name.lowercased())=\(field.value)"
        }
        let text = "\(loop.wallClock) \(line.domain) \(line.level): \(line.text)\(suffix)\(fields.joined())"
        if let lines { lines(text) } else { standardError.write(text) }
    }
}

extension Journal {
    /// Whether `$JOURNAL_STREAM` names the device and inode of standard error.
    private static var standardErrorIsJournal: Bool {
        guard let variable = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(2, &status) == 0 else { return false }
        return String(cString: variable) == "\(status.st_dev):\(status.st_ino)"
    }

    /// False if the journal refused the entry.
    private static func sendToJournal(_ fields: [String]) -> Bool {
        var octets: [UInt8] = []
        var ends: [Int] = []
        for field in fields {
            octets += Array(field.utf8)
            ends.append(octets.count)
        }
        return octets.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return false }
            var start = 0
            let vectors = ends.map { end in
                defer { start = end }
                return iovec(iov_base: base + start, iov_len: end - start)
            }
            return portero_journal_send(vectors, Int32(vectors.count)) >= 0
        }
    }
}
