import Configuration
import Primitives
import SIP
import Testing
import UserAgent

/// Which step keeps an account from being registered: what `portero explain` says.
@Suite struct RegistrationStepTests {
    private func site(
        _ registrar: Registrar = Registrar(.accept(600)), at server: String = "sip:192.0.2.1",
        change: (inout Account) -> Void = { _ in }
    ) throws -> Site {
        var account = try Account.house(registrar: server)
        change(&account)
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        return site
    }

    private func step(_ site: Site, after time: Duration = .seconds(1)) -> RegistrationStep? {
        site.run(for: time)
        return site.status?.state == .failed ? site.status?.step : nil
    }

    @Test func name() throws {
        let site = try site(at: "sip:nowhere.example.org")
        #expect(step(site) == .name)
    }

    @Test func route() throws {
        let site = try site()
        site.local = nil
        #expect(step(site) == .route)
    }

    @Test func connection() throws {
        let site = try site { $0.transport = .tcp }
        site.accepts = { _ in .failure(.refused) }
        #expect(step(site) == .connection)
    }

    @Test func certificate() throws {
        let site = try site { $0.transport = .tls }
        site.accepts = { _ in .failure(.insecure("certificate has expired")) }
        #expect(step(site) == .certificate)
        #expect(site.status?.reason?.contains("certificate has expired") == true)
    }

    @Test(arguments: [401, 403]) func challenge(status: Int) throws {
        let headers = [(HeaderName.wwwAuthenticate, "Digest realm=\"pbx\", nonce=\"n1\", qop=\"auth\"")]
        let site = try site(Registrar(.status(status, headers)))
        #expect(step(site) == .challenge)
    }

    @Test(arguments: [404, 480, 500, 503, 603]) func answer(status: Int) throws {
        let site = try site(Registrar(.status(status)))
        #expect(step(site) == .answer)
    }

    @Test func noAnswer() throws {
        let site = try site(Registrar(.silence))
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registering)
        #expect(site.status?.step == .answer)
        #expect(step(site, after: .seconds(32)) == .answer)
    }

    @Test func aRouteThatIsLost() throws {
        let site = try site()
        site.run(for: .seconds(1))
        #expect(site.status?.step == nil)
        site.local = nil
        site.give(.networkChanged)
        #expect(step(site) == .route)
    }

    @Test func noneWhereNothingIsWanted() throws {
        let site = try site { $0.registers = false }
        site.run(for: .seconds(1))
        #expect(site.status?.step == nil)
    }
}
