import Primitives

/// Collapses log lines that come again: the first of a kind is written, the others of the next seconds become one
/// count (SEC6). Pure: the time is handed in.
struct RepeatFilter<Line: Hashable> {
    /// For so long after a line its likes are counted instead of written.
    static var window: Duration { .seconds(5) }
    /// So many kinds of lines are remembered; the oldest is let go for a new one.
    static var limit: Int { 16 }

    private struct Entry {
        let line: Line
        let end: Instant
        var count = 0
    }
    private var entries: [Entry] = []

    /// When a count is next due.
    var deadline: Instant? { entries.lazy.filter { $0.count > 0 }.map(\.end).min() }

    /// Whether the line is to be written now.
    /// - Parameter due: gets what was counted and is over: the line and how often it came again.
    mutating func accept(_ line: Line, at now: Instant, due: inout [(Line, Int)]) -> Bool {
        expire(at: now, due: &due)
        if let index = entries.firstIndex(where: { $0.line == line }) {
            entries[index].count += 1
            return false
        }
        if entries.count == Self.limit {
            let oldest = entries.removeFirst()
            if oldest.count > 0 { due.append((oldest.line, oldest.count)) }
        }
        entries.append(Entry(line: line, end: now + Self.window))
        return true
    }

    /// Takes out the counts that are over.
    mutating func expire(at now: Instant, due: inout [(Line, Int)]) {
        while let first = entries.first, first.end <= now {
            if first.count > 0 { due.append((first.line, first.count)) }
            entries.removeFirst()
        }
    }

    /// Takes out every count, whether over or not.
    mutating func flush(due: inout [(Line, Int)]) {
        for entry in entries where entry.count > 0 { due.append((entry.line, entry.count)) }
        entries = []
    }
}
