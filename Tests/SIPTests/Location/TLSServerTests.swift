import Primitives
import SIP
import Testing

/// Whom a TLS connection must find (RFC 5922, SEC8).
@Suite("SEC8: names of TLS servers") struct TLSServerTests {
    private var settings: TLSSettings {
        var settings = TLSSettings()
        settings.names = ["proxy.example.net", "tel.example.org", "192.0.2.1"]
        return settings
    }

    @Test func whatTheAccountNamesProvesToBeTheDomainOrTheProxy() {
        for host in ["proxy.example.net", "Tel.example.ORG"] {
            let server = TLSServer(settings, host: host, isProxy: false)
            #expect(server.name == host.lowercased())
            #expect(server.names == settings.names)
        }
        let address = TLSServer(settings, host: "192.0.2.1", isProxy: false)
        #expect(address.name == "proxy.example.net")
        #expect(address.names == settings.names)
    }

    @Test func aHostThatAServerNamedIsAskedForTheDomain() {
        let server = TLSServer(settings, host: "edge7.example.com", isProxy: true)
        #expect(server.name == "proxy.example.net")
        #expect(server.names == settings.names + ["edge7.example.com"])
        let address = TLSServer(settings, host: "192.0.2.9", isProxy: false)
        #expect(address.name == "proxy.example.net")
        #expect(address.names == settings.names + ["192.0.2.9"])
    }

    @Test func strangersProveTheirOwnName() {
        let server = TLSServer(settings, host: "elsewhere.example.com", isProxy: false)
        #expect(server.name == "elsewhere.example.com")
        #expect(server.names == ["elsewhere.example.com"])
    }

    @Test("T13: one connection for equal places and equal trust") func connectionsAreShared() {
        func target(_ host: String, port: UInt16 = 5061, _ change: (inout TLSSettings) -> Void = { _ in }) -> Target {
            var settings = settings
            change(&settings)
            return Target(
                transport: .tls, address: SocketAddress(.v4(0xC000_0201), port), domain: host,
                server: TLSServer(settings, host: host, isProxy: true))
        }
        let first = target("proxy.example.net")
        #expect(first.sharesConnection(with: target("192.0.2.1")))
        #expect(first.sharesConnection(with: target("edge7.example.com")))
        #expect(!first.sharesConnection(with: target("proxy.example.net", port: 5062)))
        #expect(!first.sharesConnection(with: target("proxy.example.net") { $0.verifies = false }))
        #expect(!first.sharesConnection(with: target("proxy.example.net") { $0.certificate = "/door.pem" }))
        #expect(!first.sharesConnection(with: target("tel.example.org")))
    }
}
