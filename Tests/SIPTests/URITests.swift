import Foundation
import Primitives
import SIP
import Simulation
import Testing

@Suite struct URITests {
    struct Case: Decodable, Sendable, CustomStringConvertible {
        let id: String
        let text: String
        let expect: [String: JSONValue]

        var description: String { id }
    }

    struct Pair: Decodable, Sendable, CustomStringConvertible {
        let a: String
        let b: String
        let equal: Bool

        var description: String { "\(a) \(equal ? "=" : "≠") \(b)" }
    }

    private struct Index: Decodable {
        let uris: [Case]
        let equality: [Pair]
    }

    private static let index: Index = {
        do {
            let file = CaseFolder.own.appending(path: "resolve/index.json")
            return try JSONDecoder().decode(Index.self, from: Data(contentsOf: file))
        } catch {
            fatalError("resolve/index.json: \(error)")
        }
    }()

    @Test(arguments: index.uris)
    func reads(_ test: Case) throws {
        let uri: SIPURI
        do {
            uri = try SIPURI(test.text)
        } catch {
            #expect(test.expect["parse"] != .flag(true), "\(error)")
            return
        }
        #expect(test.expect["parse"] != .flag(false), "accepted")
        for (name, expected) in test.expect where name != "parse" {
            #expect(value(name, of: uri, expected) == expected, "\(name)")
        }
        #expect(try SIPURI(uri.description) == uri)
    }

    private func value(_ name: String, of uri: SIPURI, _ expected: JSONValue) -> JSONValue {
        switch name {
        case "scheme": return .text(uri.scheme.name)
        case "user", "userDecoded", "number": return JSONValue(uri.user)
        case "numberDigits": return JSONValue(uri.numberDigits)
        case "password": return JSONValue(uri.password)
        case "userByteLength": return JSONValue(uri.user?.utf8.count)
        case "host", "equalHost": return JSONValue(uri.host?.text.lowercased())
        case "hostKind": return JSONValue(uri.host?.address?.isV6 == true ? "ipv6" : "other")
        case "port": return JSONValue(uri.port)
        case "serialised": return .text(uri.description)
        case "params":
            return .object(
                Dictionary(
                    uniqueKeysWithValues: uri.parameters.list.map { ($0.name, JSONValue(uri.parameter($0.name))) }))
        case "headers":
            return .object(
                Dictionary(uniqueKeysWithValues: uri.headers.map { ($0.name, JSONValue(uri.header($0.name))) }))
        default: return .text("\(name) is not compared")
        }
    }

    @Test(arguments: index.equality)
    func compares(_ pair: Pair) throws {
        let left = try SIPURI(pair.a)
        let right = try SIPURI(pair.b)
        #expect(left.isEquivalent(to: right) == pair.equal)
        #expect(right.isEquivalent(to: left) == pair.equal)
        #expect(left.isEquivalent(to: left))
    }

    @Test(arguments: [
        ("tel:+1-201-555-0123", "tel:+1(201)5550123", true),
        ("tel:7042;phone-context=example.org", "tel:70-42;phone-context=Example.org", true),
        ("tel:7042;phone-context=example.org", "tel:7042;phone-context=example.net", false),
        ("tel:7042", "tel:7042;isub=1", false),
        ("tel:7042", "sip:7042@example.org", false),
        ("urn:service:sos", "urn:service:sos", true),
    ])
    func comparesNumbers(_ left: String, _ right: String, _ equal: Bool) throws {
        #expect(try SIPURI(left).isEquivalent(to: SIPURI(right)) == equal)
    }

    @Test func escapesWhatMustBe() throws {
        let host = try #require(Host("example.org"))
        var uri = SIPURI(user: "*21#a@b c", host: host)
        uri.setParameter("x", "a;b")
        uri.addHeader("Replaces", "id@host;to-tag=1")
        #expect(uri.description == "sip:*21%23a%40b%20c@example.org;x=a%3Bb?Replaces=id%40host%3Bto-tag%3D1")
        let read = try SIPURI(uri.description)
        #expect(read == uri)
        #expect(read.user == "*21#a@b c")
        #expect(read.parameter("x") == "a;b")
        #expect(read.header("replaces") == "id@host;to-tag=1")
    }

    @Test(arguments: [
        "sip:\u{7F}@h", "sip:a@h?=b", "sip:a@h;=b", "sip:a@h:0", "sip:a@h:-1", "sip:a@", "tel:", "tel:+", "x:", ":",
    ])
    func refuses(_ text: String) {
        #expect(throws: ParseError.self) { try SIPURI(text) }
    }

    @Test func refusesAnEndlessOne() {
        #expect(throws: ParseError("URI is too long")) {
            try SIPURI("sip:" + String(repeating: "a", count: Limits.uri) + "@example.org")
        }
    }

    @Test func keepsTheSpellingOfAHostButComparesItsValue() throws {
        let host = try #require(Host("2001:DB8:0::1"))
        #expect(try SIPURI("sip:[2001:DB8:0::1]").description == "sip:[2001:DB8:0::1]")
        #expect(try SIPURI("sip:[2001:db8::1]").host == host)
        #expect(Host("Example.org.") == Host("example.org"))
        #expect(Host("[::ffff:192.0.2.1]") == Host("192.0.2.1"))
        #expect(Host("a b") == nil)
        #expect(Host("") == nil)
    }
}
