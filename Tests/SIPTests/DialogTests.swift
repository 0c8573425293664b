import Primitives
import SIP
import Testing

@Suite struct DialogTests {
    private func invite() throws -> Request {
        let address = try NameAddress("<sip:b@example.org>")
        return Request(
            .invite, address.uri, from: try NameAddress("<sip:a@example.org>;tag=1"), to: address, callID: "x", cseq: 5,
            headers: [.contact: "<sip:a@192.0.2.7>"])
    }

    private func response(_ status: Int, _ headers: Headers, tag: String? = "2") throws -> Response {
        var response = try invite().response(status, toTag: tag)
        response.headers = headers
        return response
    }

    @Test func provisionalWithoutTagMakesNone() throws {
        #expect(Dialog(request: try invite(), response: try response(180, [:], tag: nil)) == nil)
        #expect(Dialog(request: try invite(), response: try response(200, [:], tag: nil))?.id.remoteTag == "")
    }

    /// RFC 3261 §12.2.1.1, with loose routers.
    @Test func looseRoutes() throws {
        let answer = try response(
            200, [.recordRoute: "<sip:p2;lr>, <sip:p1;lr>", .contact: "<sip:b@192.0.2.1;method=INVITE?x=y>"])
        var dialog = try #require(Dialog(request: try invite(), response: answer))
        let bye = dialog.request(.bye)
        #expect(bye.uri.description == "sip:b@192.0.2.1")
        #expect(bye.headers.all(.route) == ["<sip:p1;lr>", "<sip:p2;lr>"])
        #expect(dialog.nextHop.description == "sip:p1;lr")
        #expect(bye.cseq == CSeq(6, .bye))
        #expect(bye.from.tag == "1")
        #expect(bye.to.tag == "2")
        #expect(dialog.acknowledgement(cseq: 5).cseq == CSeq(5, .ack))
    }

    /// RFC 3261 §12.2.1.1, with a strict router first.
    @Test func strictRoutes() throws {
        let answer = try response(200, [.recordRoute: "<sip:p2;lr>, <sip:p1>", .contact: "<sip:b@192.0.2.1>"])
        var dialog = try #require(Dialog(request: try invite(), response: answer))
        let bye = dialog.request(.bye)
        #expect(bye.uri.description == "sip:p1")
        #expect(bye.headers.all(.route) == ["<sip:p2;lr>", "<sip:b@192.0.2.1>"])
        #expect(dialog.nextHop.description == "sip:p1")
    }

    @Test func routesOfTheCalledSideStayInOrder() throws {
        var request = try invite()
        request.headers.append(.recordRoute, "<sip:p2;lr>")
        request.headers.append(.recordRoute, "<sip:p1;lr>")
        var dialog = Dialog(answering: request, localTag: "9")
        let bye = dialog.request(.bye)
        #expect(bye.headers.all(.route) == ["<sip:p2;lr>", "<sip:p1;lr>"])
        #expect(bye.uri.description == "sip:a@192.0.2.7")
        #expect(bye.cseq.number == 1)
        #expect(dialog.id == Dialog.ID(callID: "x", localTag: "9", remoteTag: "1"))
    }

    /// The route set of a 2xx replaces that of the early dialog, and then stays (D3).
    @Test func routeSetIsFixedByThe2xx() throws {
        let ringing = try response(180, [.recordRoute: "<sip:old;lr>", .contact: "<sip:b@192.0.2.1>"])
        var dialog = try #require(Dialog(request: try invite(), response: ringing))
        dialog.confirm(with: try response(200, [.recordRoute: "<sip:new;lr>", .contact: "<sip:b@192.0.2.2>"]))
        dialog.refreshTarget(from: try response(200, [.recordRoute: "<sip:x;lr>", .contact: "<sip:b@192.0.2.3>"]))
        #expect(dialog.routeSet.map(\.description) == ["<sip:new;lr>"])
        #expect(dialog.remoteTarget.description == "sip:b@192.0.2.3")
    }

    @Test func numbersOfThePeerRise() throws {
        var dialog = Dialog(answering: try invite(), localTag: "9")
        var request = try invite()
        for (number, accepted) in [(5, false), (4, false), (6, true), (6, false), (100, true), (7, false)] {
            request.cseq.number = UInt32(number)
            #expect(dialog.accepts(request) == accepted)
        }
    }

    @Test func ownNumbersStayBelowTheLimit() throws {
        var dialog = Dialog(answering: try invite(), localTag: "9")
        dialog.advance(to: 0x7FFF_FFFF)
        #expect(dialog.request(.bye).cseq.number == 1)
    }

    @Test func placesThatAMessageMayComeFrom() throws {
        var request = try invite()
        let stranger = IPAddress.v4(0xC633_6401)
        #expect(!Dialog(answering: request, localTag: "9").mayComeFrom(stranger))
        #expect(Dialog(answering: request, localTag: "9").mayComeFrom(.v4(0xC000_0207)))
        request.headers.append(.recordRoute, "<sip:proxy.example.org;lr>")
        #expect(Dialog(answering: request, localTag: "9").mayComeFrom(stranger))
    }
}
