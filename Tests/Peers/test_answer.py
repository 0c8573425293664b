"""Calls that answer themselves: only for those who may, and only when they ask."""

import socket
import time

from peers import Baresip, DoorTest, Sipp


class Answer(DoorTest):
    def ask(self, scenario, caller, header="Call-Info: <sip:x>;answer-after=0", port=6060):
        phone = self.site.leg("caller")
        return Sipp(phone, self.base, scenario, f"{self.pbx.address}:5060", "front", port,
                    values={"CALLER": f"sip:{caller}@{self.pbx.address}", "HEADER": header})

    def test_by_header_from_a_trusted_caller_only(self):
        door = self.door(self.house(auto_answer="header", auto_answer_from=f"sip:100@{self.pbx.address}, sip:2*@{self.pbx.address}"))
        headers = ("Call-Info: <sip:x>;answer-after=0", "Alert-Info: info=alert-autoanswer", "Alert-Info: <http://x/>;info=alert-autoanswer",
                   "Answer-Mode: Auto", "Priv-Answer-Mode: Auto", "P-Auto-Answer: normal", "Call-Info: <sip:x>;info=alert-autoanswer;delay=0", "Alert-Info: Ring Answer")
        for number, header in enumerate(headers):
            with self.subTest(header):
                self.keep(self.ask("answered_at_once", "100", header, 6061 + number)).run()
                door.wait_quiet()
        self.keep(self.ask("answered_at_once", "234", port=6080)).run()
        self.keep(self.ask("rings_only", "300", port=6081)).run()
        self.keep(self.ask("rings_only", "100", "X-Nothing: asked", port=6082)).run()
        door.wait_quiet()

    def test_by_list_whatever_the_headers_say(self):
        door = self.door(self.house(auto_answer="list", auto_answer_from=f"sip:100@{self.pbx.address}"))
        self.keep(self.ask("answered_at_once", "100", "X-Nothing: asked")).run()
        self.keep(self.ask("rings_only", "200", port=6061)).run()
        door.wait_quiet()

    def beep(self, **keys):
        """How much of a tenth of a second a call that is answered by itself is the beep, at most."""
        door = self.door(self.house(auto_answer="always", **keys))
        self.keep(self.ask("answered_at_once", "100")).run()
        door.wait_quiet()
        time.sleep(1)
        return self.loud.level(880, 0.1)[0]

    def test_a_beep_warns_of_an_open_microphone(self):
        self.assertGreater(self.beep(), 0.5)

    def test_the_beep_may_be_switched_off(self):
        self.assertLess(self.beep(auto_answer_tone="no"), 0.3)

    def test_never_is_the_default(self):
        door = self.door(self.house())
        self.keep(self.ask("rings_only", "100")).run()
        door.wait_quiet()

    def test_strangers_do_not_even_ring(self):
        door = self.door(self.house(auto_answer="always"))
        stranger = self.site.leg("stranger")
        end = stranger.inside(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.addCleanup(end.close)
        end.bind((stranger.address, 5060))
        for number in range(3):
            end.sendto(f"INVITE sip:front@{self.host.address} SIP/2.0\r\n"
                       f"Via: SIP/2.0/UDP {stranger.address}:5060;branch=z9hG4bKx{number}\r\n"
                       f"From: <sip:100@{self.pbx.address}>;tag=x{number}\r\nTo: <sip:front@{self.host.address}>\r\n"
                       f"Call-ID: x{number}\r\nCSeq: 1 INVITE\r\nContact: <sip:x@{stranger.address}>\r\n"
                       "Max-Forwards: 70\r\nContent-Length: 0\r\n\r\n".encode(), (self.host.address, 5060))
        end.settimeout(4)
        with self.assertRaises(TimeoutError, msg="no response of any kind"):
            end.recv(2048)
        self.assertEqual(door.seen("call"), [])

    def test_a_caller_who_gives_up(self):
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx))
        door = self.door(self.house())
        phone.dial(self.pbx.uri("front"))
        door.wait_call("incoming")
        phone.hangup()
        door.wait_quiet()
        self.assertTrue(door.seen("call", state="ended", direction="incoming"))
        self.assertEqual(door.led("status")["state"], "registered")

    def test_second_caller_is_busy_and_rejecting(self):
        one = self.start(Baresip(self.site.leg("one"), self.base, "100", self.pbx))
        two = self.start(Baresip(self.site.leg("two"), self.base, "101", self.pbx))
        door = self.door(self.house())
        one.dial(self.pbx.uri("front"))
        door.wait_call("incoming")
        door.do("answer")
        door.wait_call("talking")
        two.dial(self.pbx.uri("front"))
        self.assertIn("486", two.wait("CALL_CLOSED")["param"])
        door.do("hangup")
        one.wait("CALL_CLOSED")
        door.wait_quiet()
        two.dial(self.pbx.uri("front"))
        door.wait_call("incoming")
        door.do("reject", "--code", "603")
        self.assertIn("603", two.wait("CALL_CLOSED", 2)["param"])
