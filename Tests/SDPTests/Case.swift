import Foundation
import Primitives
import SDP
import Testing

/// One entry of `Tests/Data/sdp/index.json`.
struct Case: CustomTestStringConvertible, @unchecked Sendable {
    let id: String
    let entry: [String: Any]

    var testDescription: String { id }
    var expect: [String: Any] { entry["expect"] as? [String: Any] ?? [:] }
    var local: [String: Any] { entry["local"] as? [String: Any] ?? [:] }
    var offer: [UInt8]? { file("offerFile") }

    func file(_ key: String) -> [UInt8]? {
        guard let name = entry[key] as? String else { return nil }
        return (try? Data(contentsOf: Self.folder.appendingPathComponent(name))).map { Array($0) }
    }

    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Data/sdp")

    static let all: [Case] = {
        guard let data = try? Data(contentsOf: folder.appendingPathComponent("index.json")),
            let index = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let cases = index["cases"] as? [[String: Any]]
        else { return [] }
        return cases.map { Case(id: $0["id"] as? String ?? "?", entry: $0) }
    }()

    static func named(_ id: String) -> Case { all.first { $0.id == id } ?? Case(id: id, entry: [:]) }

    /// The same numbers for each user.
    static var randomness: Randomness {
        get { .seeded(1) }
        set {}
    }

    /// A plain offer with PCMA that the in-dialog cases follow.
    static func earlier(mediaCount: Int) -> [UInt8] {
        var text = "v=0\r\no=- 20518 0 IN IP4 192.0.2.40\r\ns=-\r\nc=IN IP4 192.0.2.40\r\nt=0 0\r\n"
        text += "m=audio 40000 RTP/AVP 8\r\n"
        for _ in 1..<max(mediaCount, 1) { text += "m=video 0 RTP/AVP 96\r\n" }
        return Array(text.utf8)
    }
}

extension LocalMedia {
    /// `localDefaults` of the index.
    static var cases: LocalMedia {
        LocalMedia(
            codecs: [.opus, .g722, .pcma, .pcmu], address: .v4(0xC000_0232),
            otherAddress: IPAddress("2001:db8::50"), port: 30_000)
    }
}
