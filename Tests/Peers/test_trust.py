"""Strangers, floods and forgers: who is let in, who is not, and why."""

import struct
import threading
import time

from peers import Baresip, DoorTest, Talker, Wire, account, wait_until
from peers.talker import digest, header, status

SDP = ("v=0\r\no=- 1 1 IN IP4 {0}\r\ns=-\r\nc=IN IP4 {0}\r\nt=0 0\r\nm=audio 40000 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n")


class Trust(DoorTest):
    def test_a_stranger_who_knows_the_password(self):
        door = self.door(self.house(accept_from="anyone", challenge="yes", password=self.pbx.password))
        phone = self.keep(Talker(self.site.leg("stranger")))
        to, own, body = (self.host.address, 5060), f"sip:front@{self.host.address}", SDP.format(phone.address)

        def invite(**headers):
            time.sleep(0.3)  # one call of a stranger in 200 ms
            # as large as what phones send: no answer to a stranger is larger
            return phone.request("INVITE", own, to, body=body, Content_Type="application/sdp", Supported="replaces, timer, path, 100rel",
                                 Allow="INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, REFER, NOTIFY, MESSAGE", User_Agent="Talker/1.0 " + "x" * 100,
                                 **headers)

        sent = invite()
        challenge, _ = phone.receive("SIP/2.0 401")
        self.assertLessEqual(len(challenge), len(sent), "no more than was said")
        self.assertIn("SHA-256", header(challenge, "WWW-Authenticate"))
        wrong = digest(header(challenge, "WWW-Authenticate"), "INVITE", own, "front", "guess")
        invite(Authorization=wrong)
        phone.receive("SIP/2.0 403")
        right = digest(header(challenge, "WWW-Authenticate"), "INVITE", own, "front", self.pbx.password)
        invite(Authorization=right)
        phone.receive("SIP/2.0 180")
        call = door.wait_call("incoming")
        self.assertEqual(call["account"], "house")
        invite(Authorization=right)  # overheard and said again
        answer, _ = phone.receive("SIP/2.0 401")
        self.assertIn("stale=true", answer)
        self.assertEqual(len(door.calls()), 1)
        door.do("reject")
        why = door.do("explain")
        self.assertIn("with the account's credentials", why)
        self.assertNotIn(self.pbx.password, why + door.process.text())

    def test_a_flood_leaves_the_registrar_its_service(self):
        door = self.door(self.house(accept_from="anyone"))
        probe = self.keep(Talker(self.site.legs["pbx"], 6075))
        leg = self.site.leg("flood")
        addresses = [leg.address]
        for number in range(100, 120):
            addresses.append(leg.address.rsplit(".", 1)[0] + f".{number}")
            leg.ip("addr", "add", f"{addresses[-1]}/24", "dev", "eth0")
        talkers = [self.keep(Talker(leg, 5060, address)) for address in addresses]
        to, own = (self.host.address, 5060), f"sip:front@{self.host.address}"
        memory, stopping, count = door.resident(), threading.Event(), [0]

        def flood():
            while not stopping.is_set():
                for talker in talkers:
                    talker.request("INVITE", own, to, body=SDP.format(talker.address), Content_Type="application/sdp")
                    talker.request("REGISTER", own, to)
                    talker.send(b"INVITE sip:x SIP/2.0\r\nVia: garbage\r\n\r\n", to)
                    count[0] += 3
                time.sleep(0.04)

        thread = threading.Thread(target=flood, daemon=True)
        thread.start()
        slowest = 0
        try:
            for _ in range(12):
                begin = time.monotonic()
                self.assertEqual(status(probe.ask("OPTIONS", own, to)), 200)
                slowest = max(slowest, time.monotonic() - begin)
                time.sleep(0.4)
        finally:
            stopping.set()
            thread.join()
        self.note(f"{count[0]} datagrams of 21 sources; the slowest OPTIONS of the registrar took {slowest * 1000:.0f} ms; "
                  f"{memory} KiB before, {door.resident()} after")
        self.assertLess(slowest, 3, "the registrar is answered")
        self.assertLess(door.resident() - memory, 16384, "memory stays flat")
        self.assertEqual(door.account("house")["state"], "registered")
        self.assertLessEqual(len(door.seen("call", state="incoming")), 80, "one in 200 ms of each source, four at once")
        door.do("status")

    def test_a_forger_is_not_heard(self):
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx))
        door = self.door(self.house(auto_answer="always"))
        phone.dial(self.pbx.uri("front"))
        call = door.wait_call("talking")
        wire = self.keep(Wire(self.host))
        wait_until(lambda: door.calls()[0]["rtp"]["received"] > 50, 15, "sound of the phone")
        port = next(key[0][1] for key in wait_until(lambda: [key for key in wire.rtp if key[0][0] == self.host.address], 5, "our sound"))
        forgers = [Talker(self.site.leg("forger"), 40000), Talker(self.site.legs["kitchen"], 40002)]
        for forger in forgers:
            self.keep(forger)
        before = door.calls()[0]["rtp"]
        for number in range(100):
            for forger in forgers:
                packet = struct.pack("!BBHII", 0x80, 0, number, number * 160, 0x0F0E) + bytes(160)
                forger.send(packet, (self.host.address, port))
            time.sleep(0.02)
        wait_until(lambda: door.calls()[0]["rtp"].get("foreign", 0) - before.get("foreign", 0) >= 190, 10, "the forged packets to be counted")
        after = door.calls()[0]["rtp"]
        self.note(f"{after['foreign']} foreign packets dropped, {after['received'] - before['received']} of the phone taken")
        self.assertGreater(after["received"], before["received"])
        ours = {key[1] for key in wire.rtp if key[0] == (self.host.address, port)}
        self.assertEqual(len(ours), 1, f"our sound went to one place: {ours}")
        self.assertEqual(door.calls()[0]["id"], call["id"])

        door.do("hangup")

    def test_why(self):
        door = self.door(self.house() + account("wrong", "wrong", self.pbx, password="no")
                         + account("lost", "lost", self.pbx, uri="sip:lost@nowhere.invalid")
                         + account("nobody", "nobody", self.pbx)
                         + account("closed", "closed", self.pbx, uri=f"sip:closed@{self.pbx.address}:5999", transport="tcp")
                         + account("off", "off", self.pbx, register="no"))
        expected = {"house": "registered at", "wrong": "challenge: ", "nobody": "said 404", "closed": "connection: ", "off": "register = no",
                    "lost": "name"}

        def told():
            lines = dict(line.split(": ", 1) for line in door.do("explain").splitlines() if line.startswith("account "))
            return all(words in lines[f"account {name}"] for name, words in expected.items()) and lines
        lines = wait_until(told, 40, "every reason to be told")
        for name, line in lines.items():
            self.note(f"{name}: {line}")
        stranger = self.keep(Talker(self.site.leg("stranger")))
        stranger.request("INVITE", f"sip:front@{self.host.address}", (self.host.address, 5060), body=SDP.format(stranger.address),
                         Content_Type="application/sdp")
        wait_until(lambda: "dropped without an answer" in door.do("explain"), 5, "the dropped call to be told")
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx))
        phone.dial(self.pbx.uri("front"))
        door.wait_call("incoming")
        door.do("answer")
        door.wait_call("talking")
        door.do("hangup")
        door.wait_quiet()
        why = door.do("explain")
        for words in ("account house: contact user", "rings: auto-answer = never", "answered here", "hung up here",
                      "it was answered, and ended: one side hung up"):
            self.assertIn(words, why)
        self.assertEqual(len(door.do("history").splitlines()), 1)
