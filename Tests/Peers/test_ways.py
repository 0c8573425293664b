"""The ways of a call: along a registration over TCP, over IPv6, to a registrar that challenges every INVITE."""

from peers import Baresip, DoorTest, Kamailio, Sipp, Wire, account, wait_until


class Ways(DoorTest):
    def test_over_tcp_both_ways(self):
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx, tone=1000))
        self.pbx.wait_registered("100")
        wire = self.keep(Wire(self.host))
        door = self.door(self.house(transport="tcp") + self.family(self.pbx.uri("100")))
        self.assertEqual(door.account("house")["transport"], "tcp")
        phone.dial(self.pbx.uri("front"))
        door.wait_call("incoming", account="house")
        door.press("bell")
        phone.wait("CALL_ESTABLISHED")
        wait_until(lambda: self.loud.level(1000)[0] > 0.85, 20, "the phone at the door")
        phone.hold()
        door.wait_call("held-by-peer")
        phone.resume()
        door.wait_call("talking")
        phone.hangup()
        door.wait_quiet()
        door.press("bell")
        phone.wait("CALL_INCOMING")
        phone.answer()
        door.wait_call("talking", direction="outgoing")
        door.do("hold")
        self.assertEqual(door.wait_call("held")["hold"], "local")
        door.do("resume")
        door.wait_call("talking")
        door.do("hangup")
        phone.wait("CALL_CLOSED", 2)
        door.wait_quiet()
        self.assertEqual([one for one in wire.messages if self.host.address in (one.source[0], one.destination[0])], [],
                         "nothing of it over UDP")
        self.assertTrue(any(key[0][0] == self.host.address for key in wire.rtp), "but the sound")

    def test_over_ipv6(self):
        odd = self.site.leg("odd")
        door = self.door(self.house(auto_answer="always", contact_user="account", accept_from=f"registrar, {odd.address6}"))
        for number, transport in enumerate(("u1", "t1")):
            with self.subTest(transport):
                self.keep(Sipp(odd, self.base, "call", f"[{self.host.address6}]:5060", "front", 6060 + number, ipv6=True,
                               transport=transport, extra=("-d", "500"))).run()
                door.wait_quiet()
        self.assertEqual(len(door.seen("call", state="talking")), 2)

    def test_a_registrar_that_challenges_every_invite(self):
        city = self.start(Kamailio(self.site.leg("city"), self.base, password="another-secret"))
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", city, answer="auto"))
        city.wait_registered("100")
        door = self.door(self.house() + account("city", "front", city))
        door.wait_registered("city")
        wire = self.keep(Wire(self.host))
        door.do("dial", city.uri("100"), "--via", "city")
        door.wait_call("talking", account="city")
        first, second = wire.sent(self.host.address, method="INVITE")
        self.assertNotIn("proxy-authorization", first.headers)
        self.assertIn("response=", second.headers["proxy-authorization"])
        self.assertEqual(first.call_id, second.call_id)
        self.assertEqual(int(second.cseq.split()[0]), int(first.cseq.split()[0]) + 1)
        refusal = next(one for one in wire.sent(city.address) if one.status == 407)
        acknowledgement = wire.sent(self.host.address, method="ACK")[0]
        self.assertEqual(acknowledgement.cseq.split()[0], first.cseq.split()[0])
        self.assertLess(first.stamp, refusal.stamp)
        self.assertLess(refusal.stamp, second.stamp)
        door.do("hangup")
        phone.wait("CALL_CLOSED")
