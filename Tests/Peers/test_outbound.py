"""GRUUs: used where they work, never needed."""

from peers import Baresip, DoorTest, Kamailio, Wire, wait_until


class Outbound(DoorTest):
    def calls_both_ways(self, gives, routes):
        pbx = self.start(Kamailio(self.site.leg("gruu"), self.base, challenge_invites=False, gruu=gives, gruu_routes=routes))
        self.pbx = pbx
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", pbx))
        pbx.wait_registered("100")
        wire = self.keep(Wire(self.host))
        door = self.door(self.house(auto_answer="always"))
        if gives:
            wait_until(lambda: wire.sent(self.host.address, method="OPTIONS"), 10, "the probe of the GRUU")
        wait_until(lambda: not routes or wire.sent(pbx.address, method="OPTIONS"), 10, "the probe to come back")
        # In: the answer's Contact leads the ACK and the BYE here.
        phone.dial(pbx.uri("front"))
        door.wait_call("talking")
        wait_until(lambda: wire.sent(pbx.address, method="ACK"), 10, "the ACK")
        phone.hangup()
        door.wait_quiet()
        # Out: the far side's BYE finds us.
        door.do("dial", pbx.uri("100"))
        phone.wait("CALL_INCOMING")
        phone.answer()
        door.wait_call("talking")
        phone.hangup()
        door.wait_quiet()
        answer = next(one for one in wire.sent(self.host.address, status=200) if "INVITE" in one.cseq)
        invite = next(one for one in wire.sent(self.host.address, method="INVITE"))
        return [";gr=" in one.headers["contact"] for one in (answer, invite)]

    def test_without_gruu(self):
        self.assertEqual(self.calls_both_ways(False, False), [False, False])

    def test_with_gruu_by_default(self):
        # kamailio gives them by default, and by default does not route by them within dialogs
        self.assertEqual(self.calls_both_ways(True, False), [False, False])

    def test_with_gruu_that_works(self):
        self.assertEqual(self.calls_both_ways(True, True), [True, True])
