import Configuration
import Primitives
import SDP
import SIP
import Testing

@testable import UserAgent

/// INVITEs that are tried once more in another way (D9), and calls that ring while our address changes (R8).
@Suite struct RetryTests: ScriptedPeer {
    var world = CallWorld()

    /// D9: 420 → without the extension, where it was optional.
    @Test mutating func withoutWhatIsUnknown() throws {
        let invite = try dial()
        answer(invite, 420, headers: [.unsupported: "timer, 100rel"])
        let second = try #require(sent(.invite).last)
        #expect(second.cseq.number == invite.cseq.number + 1)
        #expect(second.supported == ["replaces", "norefersub"])
        #expect(second.sessionExpires == nil)
        answer(second, 420, headers: [.unsupported: "timer"])
        #expect(sent(.invite).count == 2)
        #expect(world.last(0)?.code == 420)
        finish()
    }

    /// D9: 488 and 606 → once more with G.711 alone.
    @Test(arguments: [488, 606]) mutating func plainOffer(status: Int) throws {
        let invite = try dial()
        answer(invite, status)
        let second = try #require(sent(.invite).last)
        let offer = try SessionDescription(second.body)
        #expect(offer.media.first?.formats == ["8", "0", "101"])
        answer(second, status)
        #expect(sent(.invite).count == 2)
        #expect(world.last(0)?.code == status)
        finish()
    }

    @Test mutating func nothingPlainerToOffer() throws {
        setUp { $0.codecs = [.pcma] }
        answer(try dial(), 488)
        #expect(sent(.invite).count == 1)
        #expect(world.last(0)?.code == 488)
        finish()
    }

    /// D9: 6xx ends the search even with other places left.
    @Test mutating func globalRefusal() throws {
        let invite = try dial()
        answer(invite, 302, headers: [.contact: "<sip:a@192.0.2.1>;q=0.9, <sip:b@192.0.2.1>;q=0.5"])
        answer(try #require(sent(.invite).last), 603)
        #expect(sent(.invite).count == 2)
        #expect(world.last(0)?.cause == "declined")
        finish()
    }

    /// D9: never from sips down to sip.
    @Test mutating func noDowngrade() throws {
        setUp { $0.uri.scheme = .sips }
        var outgoing = Call.OutgoingInvite(
            DialOrder(call: CallKey(1), uri: try SIPURI("sips:a@example.org"), account: "door"),
            for: world.endpoints[0].account, routes: [], tag: "x")
        outgoing.redirect(
            to: [try NameAddress("<sip:b@example.org>"), try NameAddress("<sips:c@example.org>")],
            for: world.endpoints[0].account)
        #expect(outgoing.further.map(\.description) == ["sips:c@example.org"])
    }

    // MARK: Another address while it rings

    private mutating func move(isFormerGone: Bool) {
        let address = SocketAddress(.v4(0xC000_0208), 5060)
        world.endpoints[0].address = address
        world.do(.addressChanged(.init(local: address, isFormerGone: isFormerGone)))
    }

    /// The old address still works: the early dialog hears of the new one by UPDATE, with an offer.
    @Test mutating func earlyDialogIsUpdated() throws {
        let invite = try dial()
        answer(
            invite, 183, sdp: true, headers: [.require: "100rel", .rseq: "1", .allow: "INVITE, ACK, PRACK, UPDATE"])
        answer(sent(.prack)[0], 200)
        move(isFormerGone: false)
        let update = try #require(sent(.update).last)
        #expect(update.contacts.first?.uri.host?.text == "192.0.2.8")
        #expect(String(decoding: update.body, as: UTF8.self).contains("c=IN IP4 192.0.2.8"))
        answer(update, 200, sdp: true)
        #expect(world.last(0)?.plan?.local.address == .v4(0xC000_0208))
        #expect(sent(.invite).count == 1)
        finish()
    }

    /// Without an answer in the early dialog there is nothing to offer: the Contact alone is told.
    @Test mutating func earlyDialogWithoutAnswer() throws {
        let invite = try dial()
        answer(invite, 180, headers: [.allow: "INVITE, UPDATE"])
        move(isFormerGone: false)
        let update = try #require(sent(.update).last)
        #expect(update.body.isEmpty)
        answer(update, 200)
        answer(invite, 200, sdp: true)
        let reinvite = try #require(sent(.invite).last)
        #expect(reinvite.to.tag == "t")
        #expect(String(decoding: reinvite.body, as: UTF8.self).contains("c=IN IP4 192.0.2.8"))
        finish()
    }

    /// The old address is gone, and with it the way back of every answer: the INVITE goes out anew.
    @Test mutating func inviteGoesOutAnew() throws {
        let invite = try dial()
        answer(invite, 180, headers: [.allow: "INVITE, UPDATE"])
        #expect(world.last(0)?.state == .ringing)
        move(isFormerGone: true)
        #expect(world.last(0)?.state == .dialing)
        world.run(for: .seconds(1))
        let second = try #require(sent(.invite).last)
        #expect(second.cseq.number == invite.cseq.number + 1)
        #expect(second.to.tag == nil)
        #expect(second.contacts.first?.uri.host?.text == "192.0.2.8")
        #expect(sent(.update).isEmpty)
        answer(second, 200, sdp: true)
        #expect(world.last(0)?.state == .talking)
        finish()
    }

    /// A call that comes in: its caller hears of the new address, and our answer has it.
    @Test mutating func ringingCallHasTheNewAddress() throws {
        let invite = try receiveInvite(headers: [.allow: "INVITE, UPDATE"])
        world.do(.ring)
        move(isFormerGone: true)
        let update = try #require(sent(.update).last)
        #expect(update.contacts.first?.uri.host?.text == "192.0.2.8")
        #expect(update.body.isEmpty)
        world.do(.answer)
        let response = try #require(world.responses(200, from: 0).last)
        #expect(response.contacts.first?.uri.host?.text == "192.0.2.8")
        #expect(String(decoding: response.body, as: UTF8.self).contains("c=IN IP4 192.0.2.8"))
        try acknowledge(invite)
        #expect(world.last(0)?.plan?.local.address == .v4(0xC000_0208))
        finish()
    }

    /// SEC14: a peer that turns up elsewhere is followed by wish only.
    @Test(arguments: [false, true]) mutating func peerThatMoves(isFollowed: Bool) throws {
        setUp { $0.followsPeer = isFollowed }
        let invite = try talk()
        var request = Request(
            .invite, invite.contacts[0].uri, from: invite.to, to: invite.from, callID: invite.callID, cseq: 9,
            vias: [Via(transport: "UDP", host: Host(.v4(0xC000_0263)), branch: "z9hG4bKmoved")],
            headers: [.contact: "<sip:phone@192.0.2.99>", .contentType: "application/sdp"],
            body: Array(Self.description.replacing("192.0.2.1", with: "192.0.2.99").utf8))
        request.from.tag = "t"
        world.receive(.request(request), 0, from: SocketAddress(.v4(0xC000_0263), 5060))
        #expect(world.last(0)?.plan?.remote.address == .v4(isFollowed ? 0xC000_0263 : 0xC000_0201))
        finish()
    }
}
