package import Foundation

/// A JSON value of a case's expectations.
package enum JSONValue: Hashable, Sendable, Decodable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package init(_ value: String?) { self = value.map { .text($0) } ?? .null }
    package init(_ value: (some BinaryInteger)?) { self = value.map { .number(Double($0)) } ?? .null }
}

/// Where the data of the tests lies.
package enum CaseFolder {
    /// `Tests/Data`, part of this repository.
    package static let own = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Data")

    /// `$PORTERO_CASES`, or `shared/cases` beside the repository: the texts of RFCs, which may be absent.
    package static let shared: URL = {
        if let path = ProcessInfo.processInfo.environment["PORTERO_CASES"] { return URL(filePath: path) }
        return own.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "shared/cases")
    }()
}

/// One message of `messages/index.json`: its octets and what must become of them.
package struct MessageCase: Sendable, CustomStringConvertible {
    package enum Verdict: String, Sendable, Decodable {
        /// A message must come out.
        case accept
        /// The octets are refused.
        case reject
        /// Either is right.
        case lenient
        /// Keep-alive octets: neither a message nor a refusal.
        case ignore
    }

    package struct Expectation: Sendable, Decodable {
        package var parse: Verdict
        /// `respond`, `drop`, `respond-or-drop`, `process` or `respond-or-process`.
        package var action: String
        /// Status codes that are right for a response.
        package var status: [Int]
        /// Headers of the response by name.
        package var responseHeader: [String: JSONValue]?
        package var responseVia: [String: JSONValue]?
        package var responseViaCount: Int?
        package var responseTo: String?
        /// Hexadecimal octets that go back on a stream.
        package var streamReply: String?
    }

    package let id: String
    package let octets: [UInt8]
    /// Whether the octets come over a stream.
    package let isStream: Bool
    package let expect: Expectation
    /// Values that the parser must deliver.
    package let fields: [String: JSONValue]

    package var description: String { id }

    /// The composed messages, whose index and octets are part of this repository.
    package static let composed = load(CaseFolder.own.appending(path: "messages"))

    /// Those of RFC 4475 and RFC 5118; empty where the folder with their texts is absent.
    package static let published = load(CaseFolder.shared.appending(path: "messages")).filter {
        $0.id.hasPrefix("rfc")
    }

    private struct Index: Decodable {
        struct Entry: Decodable {
            var id: String
            var file: String
            var transport: String
            var expect: Expectation
            var fields: [String: JSONValue]?
        }

        var cases: [Entry]
    }

    private static func load(_ folder: URL) -> [MessageCase] {
        guard let data = try? Data(contentsOf: folder.appending(path: "index.json")) else { return [] }
        guard let index = try? JSONDecoder().decode(Index.self, from: data) else {
            fatalError("\(folder.path)/index.json is not what these tests understand")
        }
        return index.cases.map { entry in
            guard let octets = try? Data(contentsOf: folder.appending(path: entry.file)) else {
                fatalError("\(entry.file) of \(folder.path)/index.json is missing")
            }
            return MessageCase(
                id: entry.id, octets: Array(octets), isStream: entry.transport == "tcp", expect: entry.expect,
                fields: entry.fields ?? [:])
        }
    }
}
