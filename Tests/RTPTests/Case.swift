import Foundation
import Primitives
import Testing

/// One entry of `Tests/Data/rtp/index.json`.
struct Case: CustomTestStringConvertible, @unchecked Sendable {
    let id: String
    let entry: [String: Any]

    var testDescription: String { id }
    var expect: [String: Any] { entry["expect"] as? [String: Any] ?? [:] }
    var packets: [[UInt8]] { (entry["packets"] as? [String] ?? []).compactMap { octets(hexadecimal: $0) } }

    static let index: [String: [Case]] = {
        let file = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Data/rtp/index.json")
        guard let data = try? Data(contentsOf: file),
            let index = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return [:] }
        return index.compactMapValues { list in
            (list as? [[String: Any]])?.map { Case(id: $0["id"] as? String ?? "?", entry: $0) }
        }
    }()

    static func of(_ list: String, kind: String? = nil) -> [Case] {
        (index[list] ?? []).filter { kind == nil || $0.entry["kind"] as? String == kind }
    }
}
