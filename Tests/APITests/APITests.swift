import API
import Testing

@Suite struct JSONTests {
    @Test func keepsOrderAndTypes() throws {
        let value = JSON.members([
            "b": .integer(1), "a": .number(0.1), "left out": nil, "t": .string("é\"\n\u{1}"), "n": .null,
            "l": .array([.bool(true), .object([])]), "e": .string(""),
        ])
        #expect(value.text == #"{"b":1,"a":0.1,"t":"é\"\n\u0001","n":null,"l":[true,{}],"e":""}"#)
        #expect(try JSON.parse(Array(value.text.utf8)) == value)
    }

    @Test func numbersThatJSONLacksAreNull() {
        #expect(JSON.array([.number(.nan), .number(.infinity)]).text == "[null,null]")
    }

    @Test(arguments: [
        "", "{", "{\"a\":1,\"a\":2}", "nul", "\u{7}", "\"\\u0000\"", "[1,]", String(repeating: "[", count: 100_000),
    ])
    func refuses(text: String) { #expect(throws: JSONError.self) { try JSON.parse(Array(text.utf8)) } }

    @Test func errorNamesTheLine() {
        #expect { try JSON.parse(Array("{\n\"a\": }".utf8)) } throws: { ($0 as? JSONError)?.line == 2 }
    }
}

@Suite struct ControlRequestTests {
    static let requests: [ControlRequest] = [
        .status, .press(button: "bell", for: nil), .press(button: "bell/ü %", for: .milliseconds(2500)),
        .dial(target: "sip:100@pbx", via: "house", headers: ["X-Door: front"]),
        .dial(target: "family", via: nil, headers: []), .call(.answer, id: nil), .call(.reject(code: 486), id: "c1"),
        .call(.reject(code: nil), id: nil), .call(.hangup, id: "c2"), .call(.hold, id: nil), .call(.resume, id: nil),
        .call(.mute(true), id: nil), .call(.dtmf(digits: "1#"), id: "c3"),
        .call(.transfer(target: "kitchen"), id: nil), .call(.transfer(target: "c2"), id: "c1"), .open(door: "front"),
        .speaker(device: "hw:1,0"), .volume(of: .ringer, level: .step(-5)), .volume(of: .speaker, level: .absolute(70)),
        .register(account: nil), .unregister(account: "house"), .network(.down), .reload,
        .log(level: "debug", domain: "sip"), .log(level: "notice", domain: nil),
    ]

    @Test(arguments: requests) func survivesTheWay(request: ControlRequest) throws {
        #expect(try ControlRequest(request.message) == request)
    }

    @Test(arguments: [
        ("POST", "/v1/calls", "{}", ControlError.malformed("target: expected a text")),
        (
            "POST", "/v1/calls", #"{"target":"a","headers":"X-A: b"}"#,
            .malformed("headers: expected a list of texts")
        ),
        ("POST", "/v1/calls/c1/dtmf", #"{"digits":"12x"}"#, .malformed("digits: expected up to 64 of 0-9 * # A-D")),
        ("POST", "/v1/calls/c1/reject", #"{"code":200}"#, .malformed("code: expected 400 to 699")),
        (
            "POST", "/v1/buttons/bell/press", #"{"for":1e300}"#,
            .malformed("for: expected seconds between 0.001 and 3600")
        ),
        ("POST", "/v1/calls/c1/transfer", "{}", .malformed("target: expected a text")),
        ("POST", "/v1/calls/c1/park", "{}", .noSuchPath), ("GET", "/", "", .noSuchPath),
        ("DELETE", "/v1/calls/c1", "", .methodNotAllowed),
        ("POST", "/v1/doors/%zz/open", "", .malformed("path: bad percent-encoding")),
    ])
    func refuses(method: String, path: String, body: String, error: ControlError) {
        #expect(throws: error) {
            try ControlRequest(ControlMessage(method, path, body.isEmpty ? nil : try JSON.parse(Array(body.utf8))))
        }
    }
}

@Suite struct EventFeedTests {
    let line = String(repeating: "x", count: 1000)

    @Test func aSlowFollowerIsToldHowManyItMissed() {
        var feed = EventFeed()
        for _ in 0..<100 { feed.append(line) { "missed \($0)" } }
        var text = ""
        while !feed.isEmpty { text += String(decoding: feed.take(upTo: 777) { "missed \($0)" }, as: UTF8.self) }
        let lines = text.split(separator: "\n\n")
        let whole = EventFeed.limit / (line.utf8.count + 8)
        #expect(lines.count == whole + 1)
        #expect(lines.last == "data: missed \(100 - whole)")
    }

    @Test func theNoticeStandsWhereTheGapIs() {
        var feed = EventFeed()
        for _ in 0..<70 { feed.append(line) { "missed \($0)" } }
        _ = feed.take(upTo: 30_000) { "missed \($0)" }
        feed.append("after") { "missed \($0)" }
        let rest = String(decoding: feed.take(upTo: .max) { "missed \($0)" }, as: UTF8.self)
        let end = rest.split(separator: "\n\n").suffix(2)
        #expect(end.first?.hasPrefix("data: missed ") == true)
        #expect(end.last == "data: after")
        #expect(feed.isEmpty)
    }
}
