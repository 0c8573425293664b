internal import API
internal import Intercom
internal import Primitives

/// The lock-out of door codes as a file: no code, no digit stands in it.
enum LockOutDocument {
    static func write(_ record: LockOut.Record) -> [UInt8] {
        let attempts = record.attempts.map {
            JSON.members(["caller": .string($0.caller), "age": .integer(Int($0.age))])
        }
        let document = JSON.members([
            "saved-at": .integer(Int(record.savedAt.milliseconds)), "remaining": .integer(Int(record.remaining)),
            "times": .integer(record.times), "attempts": .array(attempts),
        ])
        return Array((document.text + "\n").utf8)
    }

    /// nil if there is none, or it is damaged.
    static func read(_ octets: [UInt8]?) -> LockOut.Record? {
        guard let octets, let document = try? JSON.parse(octets), let savedAt = document["saved-at"]?.integer else {
            return nil
        }
        let attempts = (document["attempts"]?.elements ?? []).compactMap { attempt -> LockOut.Record.Attempt? in
            guard let caller = attempt["caller"]?.string, let age = attempt["age"]?.integer else { return nil }
            return LockOut.Record.Attempt(caller: caller, age: Int64(age))
        }
        return LockOut.Record(
            savedAt: UTCTime(milliseconds: Int64(savedAt)), remaining: Int64(document["remaining"]?.integer ?? 0),
            times: document["times"]?.integer ?? 0, attempts: attempts)
    }
}
