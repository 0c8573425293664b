"""The network changes under it: another address in a call, the cable, a boot without anything, an isolated LAN."""

import time

from peers import Baresip, DoorTest, Kamailio, Linphone, NameServer, PeerTest, Portero, Wire, account, long, wait_until

SILENT = "[audio]\nspeaker = silent\nmicrophone = tone:700\n[ringer]\ndevice = silent\n"


class InACall(DoorTest):
    def test_another_address_in_a_call(self):
        for kind in (Linphone, Baresip):
            with self.subTest(kind.__name__):
                name = kind.__name__.lower()
                user = "100" if kind is Baresip else "200"
                phone = self.start(kind(self.site.leg(name), self.base, user, self.pbx, answer="auto", tone=1000))
                self.pbx.wait_registered(user)
                door = self.door(self.house())
                door.do("dial", self.pbx.uri(user))
                door.wait_call("talking")
                wait_until(lambda: self.loud.level(1000)[0] > 0.85, 20, "the phone at the door", 0.5)
                wire = self.keep(Wire(self.host))
                number = int(self.host.address.rsplit(".", 1)[1]) + 1
                new = f"{self.host.address.rsplit('.', 1)[0]}.{number}"
                self.loud.forget()
                phone.card.forget()
                changed = time.time()
                self.site.change_address("door", new)
                wait_until(lambda: any(new in contact for contact in self.pbx.contacts("front")), 20, "the new address at the registrar")
                first = wire.sent(new, method="REGISTER")[0]
                self.note(f"REGISTER {first.stamp - changed:.2f} s after the change")
                wait_until(lambda: [contact for contact in self.pbx.contacts("front") if new not in contact] == [], 20, "the old binding to go")
                offer = wait_until(lambda: wire.sent(new, method="INVITE"), 20, "the re-INVITE")[0]
                self.assertIn(f"c=IN IP4 {new}", offer.text)
                self.note(f"re-INVITE {offer.stamp - changed:.2f} s after the change")
                wait_until(lambda: new in door.status()["network"]["addresses"], 5, "the status to show the new address")
                wait_until(lambda: phone.card.level(self.TONE, 0.5)[0] > 0.85, 20, "the door at the phone", 0.2)
                self.note(f"heard again at the phone {time.time() - changed:.1f} s after the change")
                sent = [key for key in wire.rtp if key[0][0] == new]
                back = [key for key in wire.rtp if key[1][0] == new]
                self.assertTrue(sent and back, "media flows from and to the new address")
                door.wait_call("talking")
                door.wait_event("network")
                door.do("hangup")
                door.wait_quiet()
                door.stop()
                phone.stop()

    def test_another_address_while_it_rings(self):
        phone = self.start(Baresip(self.site.leg("phone"), self.base, "100", self.pbx, tone=1000))
        self.pbx.wait_registered("100")
        door = self.door(self.house())
        door.do("dial", self.pbx.uri("100"))
        phone.wait("CALL_INCOMING")
        new = f"{self.host.address.rsplit('.', 1)[0]}.71"
        self.site.change_address("door", new)
        phone.wait("CALL_INCOMING", 2)
        phone.wait("CALL_CLOSED")
        door.wait_call("ringing")
        phone.answer()
        door.wait_call("talking")
        self.loud.forget()
        wait_until(lambda: self.loud.level(1000)[0] > 0.85, 20, "the phone at the door", 0.5)

    def test_the_cable(self):
        door = self.door(self.house())
        self.site.cable("door", False)
        pulled = time.monotonic()
        door.wait_event("network", state="down")
        lost = wait_until(lambda: door.account("house")["state"] != "registered" and door.account("house"), 10,
                          "the account to be off")
        self.note(f"no longer registered {time.monotonic() - pulled:.1f} s after the cable was pulled")
        self.assertGreater(lost["next-attempt-in"], 0, "every failure has a next attempt")
        self.assertEqual(door.status()["network"]["state"], "down")
        self.assertEqual(door.led("status")["state"], "unregistered")
        wire = self.keep(Wire(self.site.legs["pbx"]))
        self.site.cable("door", True)
        begin = time.time()
        self.host.ip("route", "replace", "default", "via", self.host.gateway)
        door.wait_registered("house")
        first = wait_until(lambda: wire.sent(self.host.address, method="REGISTER"), 5, "the REGISTER")[0]
        self.note(f"REGISTER {first.stamp - begin:.2f} s after the cable was back")
        self.assertEqual(door.led("status")["state"], "registered")
        self.assertEqual(len(self.pbx.contacts("front")), 1)

    def test_only_the_last_of_several_changes_counts(self):
        door = self.door(self.house())
        wire = self.keep(Wire(self.site.legs["pbx"]))
        stem = self.host.address.rsplit(".", 1)[0]
        for last in (51, 52, 53):  # the first registers; the second comes while that may be on its way
            self.site.change_address("door", f"{stem}.{last}")
            time.sleep(0.6 if last == 51 else 0.1)
        begin = time.time()
        wait_until(lambda: [f"{stem}.53" in contact for contact in self.pbx.contacts("front")] == [True], 30, "one binding, with the last address")
        door.wait_registered("house")
        self.assertIn(f"{stem}.53", door.account("house")["contact"])
        last = wire.sent(f"{stem}.53", method="REGISTER")
        self.note(f"REGISTER {last[0].stamp - begin:.2f} s after the last change")
        self.assertEqual(wire.sent(f"{stem}.52", method="REGISTER"), [], "changes that follow at once are one")
        time.sleep(1)
        self.assertEqual([f"{stem}.53" in contact for contact in self.pbx.contacts("front")], [True], "and it stays")

    def test_a_change_while_a_register_is_on_its_way(self):
        door = self.door(self.house())
        wire = self.keep(Wire(self.host))
        self.pbx.pause()
        door.do("register", "house")
        old = self.host.address
        wait_until(lambda: wire.sent(old, method="REGISTER"), 5, "the REGISTER that is not answered")
        new = f"{old.rsplit('.', 1)[0]}.61"
        self.site.change_address("door", new)
        wait_until(lambda: wire.sent(new, method="REGISTER"), 5, "the REGISTER from the new address")
        self.pbx.go_on()
        # A registrar of several processes may take the two in the other order, and keeps the old one till it ends.
        wait_until(lambda: [new in contact for contact in self.pbx.contacts("front")] == [True], 80, "one binding, with the last address")
        door.wait_registered("house")
        self.assertIn(new, door.account("house")["contact"])
        time.sleep(2)
        self.assertEqual([new in contact for contact in self.pbx.contacts("front")], [True], "and it stays")

    def test_told_by_command(self):
        door = self.door(self.house())
        for word in ("up", "auto"):
            with self.subTest(word):
                since = len(door.events)
                door.do("network", "down")
                door.wait_event("network", since, state="down")
                self.assertEqual(door.status()["network"]["state"], "down")
                wait_until(lambda: door.account("house")["state"] != "registered", 10, "the account to be off")
                self.assertEqual(door.led("status")["state"], "unregistered")
                door.do("network", word)
                door.wait_registered("house")
                door.wait_event("network", since, state="up")
                self.assertEqual(door.status()["network"]["state"], "up")


class Boot(PeerTest):
    def test_without_a_network(self):
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base))
        space = self.site.leg("door")
        self.site.cable("door", False)
        door = self.start(Portero(space, self.base, SILENT + account("house", "front", pbx)))
        self.assertEqual(door.status()["network"]["state"], "down")
        self.assertIn("next-attempt-in", door.account("house"))
        self.site.cable("door", True)
        space.ip("route", "replace", "default", "via", space.gateway)
        begin = time.monotonic()
        door.wait_registered("house")
        self.note(f"registered {time.monotonic() - begin:.1f} s after the network came")

    @long
    def test_without_names(self):
        space = self.site.leg("door")
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base, domain="pbx.test"))
        door = self.start(Portero(space, self.base, SILENT + account("house", "front", pbx, uri="sip:front@pbx.test")))
        time.sleep(5)
        self.assertNotEqual(door.account("house")["state"], "registered")
        self.assertIn("next-attempt-in", door.account("house"))
        self.start(NameServer(self.site.router, space.gateway, self.base, [f"host-record=pbx.test,{pbx.address}"]))
        begin = time.monotonic()
        door.wait_registered("house", timeout=90)
        self.note(f"registered {time.monotonic() - begin:.1f} s after the name server came")

    @long
    def test_an_isolated_lan_without_a_default_route(self):
        space = self.site.leg("door")
        pbx = self.start(Kamailio(self.site.router, self.base, address=space.gateway))
        space.ip("route", "del", "default")
        space.ip("-6", "route", "del", "default", check=False)
        door = self.start(Portero(space, self.base, SILENT + account("house", "front", pbx, expires=20)))
        door.wait_registered("house")
        time.sleep(25)  # longer than a registration lives
        self.assertEqual(door.account("house")["state"], "registered")
        self.assertEqual(door.status()["network"]["state"], "up")
        self.assertEqual(len(pbx.contacts("front")), 1)
