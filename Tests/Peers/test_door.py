"""The door: opened by hand, by action and by code; codes that are wrong; digits both ways."""

import json
import os
import re
import time

from peers import Baresip, Digits, DoorTest, Linphone, Sipp, long, wait_until

DOOR = "[door front]\nrelay = sim:relay\nactive = high\nopen-time = 2s\ncode = 4711, NAMED:0815\ncode-from = any\n"


class Door(DoorTest):
    def talk(self, phone, door):
        phone.dial(self.pbx.uri("front"))
        return door.wait_call("talking", direction="incoming")

    def trusted(self, **keys):
        return self.house(auto_answer="always", **keys)

    def kept_secret(self, door):
        """That no code and no digit stands in log, events or state."""
        words = [door.process.text(), json.dumps(door.events)]
        for folder, _, files in os.walk(f"{door.folder}/state"):
            words += [open(os.path.join(folder, name), errors="replace").read() for name in files
                      if not name.endswith(".ini")]
        for text in words:
            for secret in ("4711", "0815"):
                self.assertNotIn(secret, text)
        self.assertFalse([event for event in door.seen("dtmf") if "digit" in event])

    def test_the_right_code_opens_once(self):
        for kind, keys in ((Baresip, {}), (Linphone, {}), (Linphone, {"inband_dtmf": "info"})):
            with self.subTest(f"{kind.__name__} {keys}"):
                phone = self.start(kind(self.site.leg("phone"), self.base, "100", self.pbx, **keys))
                self.pbx.wait_registered("100")
                door = self.door(self.trusted() + DOOR)
                self.talk(phone, door)
                time.sleep(1)
                phone.send_digits("4711")
                door.wait_event("door", name="front", state="open", timeout=15)
                wait_until(lambda: door.door("front")["relay"], 5, "the relay")
                door.wait_event("door", name="front", state="closed", timeout=10)
                self.assertFalse(door.door("front")["relay"])
                self.assertEqual(len(door.seen("door", state="open")), 1)
                self.kept_secret(door)
                door.do("hangup")
                door.stop()
                phone.stop()

    @long
    def test_five_wrong_codes_lock_it_over_a_restart(self):
        phone = self.start(Baresip(self.site.leg("phone"), self.base, "100", self.pbx))
        self.pbx.wait_registered("100")
        text = self.trusted() + DOOR
        door = self.door(text)
        for call, codes in enumerate((("1111", "2222", "3333"), ("4444", "5555")), 1):
            self.talk(phone, door)
            time.sleep(1)
            for code in codes:
                phone.send_digits(code)
                time.sleep(5)  # longer than the time between two digits of one code
            door.do("hangup")
            phone.wait("CALL_CLOSED", call)
            door.wait_quiet()
        self.talk(phone, door)
        time.sleep(1)
        phone.send_digits("4711")
        time.sleep(5)
        self.assertEqual(door.seen("door", state="open"), [], "locked out")
        door.do("hangup")
        door.wait_quiet()
        door.stop()

        again = self.door(text, name="portero")
        self.talk(phone, again)
        time.sleep(1)
        phone.send_digits("4711")
        time.sleep(5)
        self.assertEqual(again.seen("door", state="open"), [], "still locked out after a restart")
        again.do("open", "front")  # a person at the box may
        again.wait_event("door", name="front", state="open")
        self.kept_secret(again)

    def test_only_those_whom_code_from_names(self):
        phone = self.start(Baresip(self.site.leg("phone"), self.base, "100", self.pbx))
        self.pbx.wait_registered("100")
        door = self.door(self.trusted() + DOOR.replace("code-from = any", f"code-from = sip:2*@{self.pbx.address}"))
        self.talk(phone, door)
        time.sleep(1)
        phone.send_digits("4711")
        time.sleep(5)
        self.assertEqual(door.seen("door", state="open"), [])

    def test_never_before_the_answer(self):
        def info(digit, number):
            return f"""<send retrans="500"><![CDATA[
INFO [$contact] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: [$to];tag=early
To: [$from]
[last_Call-ID:]
CSeq: {number} INFO
Max-Forwards: 70
Content-Type: application/dtmf-relay
Content-Length: [len]

Signal={digit}
Duration=160

]]></send>
<recv response="200" timeout="5000"/>
"""
        odd = self.site.leg("odd")
        target = self.start(Sipp(odd, self.base, "early_digits", port=6060,
                                 values={"DIGITS": "".join(map(info, "0815", range(1, 5)))}))
        digits = self.keep(Digits(odd, 7000))
        door = self.door(self.house(dtmf="auto") + DOOR)
        door.do("dial", f"sip:odd@{odd.address}:6060")
        door.wait_call("early")
        invite = target.messages()
        self.assertIn("a=rtpmap:101 telephone-event/8000", invite)
        media = (self.host.address, int(re.search(r"m=audio (\d+)", invite)[1]))
        digits.send("4711", media)
        door.wait_call("talking")
        time.sleep(4)  # longer than the time between two digits of one code
        self.assertEqual(door.seen("door", state="open"), [], "nothing counted before the answer")
        digits.send("4711", media)
        door.wait_event("door", name="front", state="open", timeout=10)
        door.do("hangup")
        target.finish()
        self.kept_secret(door)

    def test_in_an_outgoing_call(self):
        phone = self.start(Baresip(self.site.leg("phone"), self.base, "100", self.pbx))
        self.pbx.wait_registered("100")
        door = self.door(self.house() + self.family(self.pbx.uri("100")) + DOOR)
        door.press("bell")
        phone.wait("CALL_INCOMING")
        phone.answer()
        door.wait_call("talking", direction="outgoing")
        time.sleep(1)
        phone.send_digits("0815")
        opened = door.wait_event("door", name="front", state="open", timeout=15)
        self.assertIn("NAMED", json.dumps(opened), "the code's name tells who opened")
        phone.hangup()
        door.wait_quiet()
        door.wait_event("door", name="front", state="closed")  # the pulse ends by itself, whatever the call does

    def test_digits_to_the_phone(self):
        phone = self.start(Baresip(self.site.leg("phone"), self.base, "100", self.pbx, answer="auto"))
        self.pbx.wait_registered("100")
        door = self.door(self.house())
        door.do("dial", self.pbx.uri("100"))
        door.wait_call("talking")
        time.sleep(1)
        door.do("dtmf", "12#")
        phone.wait("CALL_DTMF_START", 3)
        self.assertEqual([event["param"] for event in phone.events if event.get("type") == "CALL_DTMF_START"], ["1", "2", "#"])
        phone.send_digits("9")  # no door here: digits are shown
        door.wait_event("dtmf", digit="9")
