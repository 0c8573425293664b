"""Accounts and registrars: several at once, refusals, a registrar that dies, leaving in order."""

import socket
import threading
import time

from peers import Kamailio, NameServer, PeerTest, Portero, Wire, account, long, wait_until

SILENT = "[audio]\nspeaker = silent\nmicrophone = silent\n[ringer]\ndevice = silent\n"


class Registration(PeerTest):
    def test_three_accounts_on_two_registrars(self):
        one = self.start(Kamailio(self.site.leg("one"), self.base, password="first secret"))
        two = self.start(Kamailio(self.site.leg("two"), self.base, password="second#secret;", algorithm="SHA-256"))
        door = self.start(Portero(self.site.leg("door"), self.base, SILENT + account("house", "front", one)
                                  + account("office", "office", one, transport="tcp")
                                  + account("city", "front", two, expires=120)))
        begin = time.monotonic()
        door.wait_registered("house", "office", "city")
        self.note(f"three accounts registered after {time.monotonic() - begin:.1f} s")
        contacts = [registrar.contacts(user) for registrar, user in ((one, "front"), (one, "office"), (two, "front"))]
        for found in contacts:
            self.assertEqual(len(found), 1, contacts)
            self.assertIn(door.namespace.address, found[0])
        self.assertIn("transport=tcp", contacts[1][0].lower())
        users = {found[0].split("@")[0] for found in contacts}
        self.assertEqual(len(users), 3, "each account has a Contact user of its own")
        house, office, city = (door.account(name) for name in ("house", "office", "city"))
        self.assertEqual((house["code"], house["transport"], house["registrar"]), (200, "udp", f"{one.address}:5060"))
        self.assertEqual((office["transport"], city["registrar"]), ("tcp", f"{two.address}:5060"))
        self.assertLessEqual(house["expires-in"], 60)
        self.assertGreater(city["next-attempt-in"], 0)
        self.assertLess(city["next-attempt-in"], 120)

        door.do("unregister", "office")
        wait_until(lambda: not one.contacts("office"), 10, "office to leave its registrar")
        door.do("register", "office")
        one.wait_registered("office")

        status, took = door.stop()
        self.note(f"stopped in {took:.2f} s")
        self.assertEqual(status, 0)
        self.assertLess(took, 5)
        for registrar, user in ((one, "front"), (one, "office"), (two, "front")):
            self.assertEqual(registrar.contacts(user), [], "unregistered on stop")

    def test_every_answer_of_a_registrar_has_a_next_attempt(self):
        """R3, R4: one account for each answer from 300 to 699 that is registered, or near one that is."""
        codes = [300, 301, 302, 305, 380, *range(400, 424), 428, 429, 436, 437, 438, 439, 440, 469, 470, *range(480, 495), 499,
                 *range(500, 506), 513, 555, 580, 600, 603, 604, 606, 607]
        registrar = self.site.leg("pbx")
        end = registrar.inside(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        end.bind((registrar.address, 5060))
        self.addCleanup(end.close)

        def answer():
            while True:
                try:
                    request, source = end.recvfrom(65535)
                except OSError:
                    return
                lines = request.decode().split("\r\n")
                kept = [line for line in lines if line.split(":")[0] in ("Via", "From", "To", "Call-ID", "CSeq")]
                code = next(line for line in kept if line.startswith("To:")).split("sip:c")[1].split("@")[0]
                end.sendto("\r\n".join([f"SIP/2.0 {code} Because", *kept, "Content-Length: 0", "", ""]).encode(), source)

        threading.Thread(target=answer, daemon=True).start()
        accounts = "".join(f"[account c{code}]\nuri = sip:c{code}@{registrar.address}\npassword = x\ntransport = udp\n" for code in codes)
        door = self.start(Portero(self.site.leg("door"), self.base, SILENT + accounts))

        def all_answered():
            return all(one["state"] == "failed" and one["code"] == int(one["name"][1:]) for one in door.status()["accounts"])
        wait_until(all_answered, 60, "every account to know its answer", 0.5)
        waits = {one["name"]: one["next-attempt-in"] for one in door.status()["accounts"]}
        self.assertEqual([name for name, wait in waits.items() if wait is None or wait > 1800], [])
        self.note(f"{len(codes)} answers; the longest wait is {max(waits.values()):.0f} s")

    def test_over_ipv6_and_by_name(self):
        space = self.site.leg("door")
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base, domain="pbx.test"))
        self.start(NameServer(self.site.router, space.gateway, self.base, [
            f"host-record=sip1.test,{pbx.address}", "srv-host=_sip._udp.pbx.test,gone.test,5060,0,10",
            "host-record=gone.test,10.77.77.77", "srv-host=_sip._udp.pbx.test,sip1.test,5060,10,10"]))
        six = account("six", "six", pbx, uri=f"sip:six@[{pbx.namespace.address6}]")
        named = account("named", "named", pbx, uri="sip:named@pbx.test", transport="auto")
        door = self.start(Portero(space, self.base, SILENT + six + named))
        door.wait_registered("six", "named", timeout=60)  # the first of the two servers of pbx.test does not answer
        self.assertEqual(door.account("named")["registrar"], f"{pbx.address}:5060")
        self.assertIn(space.address6, pbx.contacts("six")[0])

    def test_the_next_server_of_a_name_takes_over(self):
        space = self.site.leg("door")
        one = self.start(Kamailio(self.site.leg("one"), self.base, domain="pbx.test"))
        two = self.start(Kamailio(self.site.leg("two"), self.base, domain="pbx.test"))
        self.start(NameServer(self.site.router, space.gateway, self.base, [
            f"host-record=sip1.test,{one.address}", "srv-host=_sip._udp.pbx.test,sip1.test,5060,0,10",
            f"host-record=sip2.test,{two.address}", "srv-host=_sip._udp.pbx.test,sip2.test,5060,10,10"]))
        door = self.start(Portero(space, self.base, SILENT + account("named", "front", one, uri="sip:front@pbx.test", transport="auto")))
        door.wait_registered("named")
        self.assertEqual(door.account("named")["registrar"], f"{one.address}:5060")
        self.assertEqual(two.contacts("front"), [])
        one.kill()
        begin = time.monotonic()
        door.do("register", "named")
        wait_until(lambda: door.account("named")["registrar"] == f"{two.address}:5060", 30, "the second server")
        door.wait_registered("named")
        self.note(f"registered at the second server after {time.monotonic() - begin:.1f} s")
        self.assertEqual(len(two.contacts("front")), 1)

    def test_a_stale_nonce_is_no_failure(self):
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base, nonce_expires=2))
        door = self.start(Portero(self.site.leg("door"), self.base, SILENT + account("house", "front", pbx)))
        door.wait_registered("house")
        time.sleep(4)
        wire, since = self.keep(Wire(self.site.legs["pbx"])), len(door.events)
        door.do("register", "house")
        wait_until(lambda: wire.sent(pbx.address, status=200), 10, "the 200")
        stale = wire.sent(pbx.address, status=401)
        self.assertEqual(len(stale), 1)
        self.assertIn("stale=true", stale[0].text.lower())
        self.assertEqual(len(wire.sent(door.namespace.address, method="REGISTER")), 2)
        time.sleep(0.5)
        self.assertEqual(door.seen("account", since, state="failed"), [])
        self.assertEqual(door.account("house")["state"], "registered")

    def test_refusals_are_tried_again(self):
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base))
        door = self.start(Portero(self.site.leg("door"), self.base, SILENT + account("wrong", "wrong", pbx, password="no")
                                  + account("nobody", "nobody", pbx) + account("fine", "fine", pbx)))
        door.wait_registered("fine")
        for name, codes in (("wrong", (401, 403)), ("nobody", (404,))):
            wait_until(lambda: door.account(name)["state"] == "failed", 20, f"{name} to fail")
            found = door.account(name)
            self.assertIn(found["code"], codes)
            self.assertGreater(found["next-attempt-in"], 0, "every failure has a next attempt")
        self.assertGreater(door.account("wrong")["next-attempt-in"], 60, "a wrong password is tried slowly")
        self.assertLessEqual(door.account("nobody")["next-attempt-in"], 60)
        self.assertNotIn("second", door.process.text())
        self.assertEqual(door.run("register", "unheard-of").returncode, 1)

    @long
    def test_a_registrar_gone_for_half_a_minute(self):
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base))
        door = self.start(Portero(self.site.leg("door"), self.base, SILENT + account("house", "front", pbx, expires=20)))
        door.wait_registered("house")
        pbx.kill()
        gone = time.monotonic()
        wait_until(lambda: door.account("house")["state"] != "registered", 60, "the loss to be seen", 0.5)
        self.assertIn("next-attempt-in", door.account("house"))
        time.sleep(max(0, 30 - (time.monotonic() - gone)))
        pbx.start()
        begin = time.monotonic()
        pbx.wait_registered("front", timeout=90)
        self.note(f"registered again {time.monotonic() - begin:.1f} s after the registrar came back")
        door.wait_registered("house")
