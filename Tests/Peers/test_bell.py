"""From the bell to a phone: groups one after the other and all at once, and giving up."""

import time

from peers import Baresip, DoorTest, Linphone, Wire


class Bell(DoorTest):
    def phones(self):
        self.kitchen = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx))
        self.garden = self.start(Linphone(self.site.leg("garden"), self.base, "200", self.pbx))
        self.pbx.wait_registered("100")
        self.pbx.wait_registered("200")
        return f"sip:100@{self.pbx.address}", f"sip:200@{self.pbx.address}"

    def test_the_first_is_busy_and_the_second_answers(self):
        kitchen, garden = self.phones()
        door = self.door(self.house() + self.family(kitchen, garden, ring_for="20s"))
        self.assertEqual(door.led("status")["state"], "registered")
        door.press("bell")
        self.kitchen.wait("CALL_INCOMING")
        self.assertEqual(door.led("status")["state"], "calling")
        self.kitchen.hangup()  # 486
        self.garden.wait_state("LinphoneCallIncomingReceived")
        self.garden.answer()
        self.garden.wait_state("LinphoneCallStreamsRunning")
        call = door.wait_call("talking", direction="outgoing")
        self.assertIn("200@", call["remote"])
        self.assertEqual((call["group"], call["account"], call["codec"]), ("family", "house", "pcmu"))
        self.assertEqual(door.led("status")["state"], "talking")
        self.assertTrue(door.seen("call", state="ended", code=486))
        self.garden.hangup()
        door.wait_quiet()
        self.assertEqual(door.led("status")["state"], "registered")
        self.assertEqual([event["action"] for event in door.seen("button", name="bell")][:1], ["press"])

    def test_both_ring_and_the_loser_is_cancelled(self):
        kitchen, garden = self.phones()
        door = self.door(self.house() + self.family(kitchen, garden, order="parallel", ring_for="30s"))
        wire = self.keep(Wire(self.host))
        door.press("bell")
        self.kitchen.wait("CALL_INCOMING")
        self.garden.wait_state("LinphoneCallIncomingReceived")
        self.assertEqual(len(door.calls()), 2, "one entry for each leg")
        self.garden.answer()
        self.kitchen.wait("CALL_CLOSED")
        door.wait_call("talking")
        self.assertEqual(len(door.calls()), 1)
        cancels = wire.sent(self.host.address, method="CANCEL")
        self.assertEqual(len({message.call_id for message in cancels}), 1)
        self.assertIn("completed elsewhere", cancels[0].text.lower())
        door.do("hangup")
        self.garden.wait_state("")

    def test_pressed_again_the_bell_gives_up(self):
        kitchen, _ = self.phones()
        door = self.door(self.house() + self.family(kitchen))
        door.press("bell")
        self.kitchen.wait("CALL_INCOMING")
        time.sleep(1)
        door.press("bell")  # within five seconds: an event and nothing more
        door.wait_event("button", count=2, name="bell", action="press")
        self.assertEqual(len(door.calls()), 1)
        time.sleep(5)
        door.press("bell")
        self.kitchen.wait("CALL_CLOSED")
        door.wait_quiet()

    def test_nobody_answers(self):
        kitchen, garden = self.phones()
        door = self.door(self.house() + self.family(kitchen, garden, ring_for="4s", rounds=2))
        begin = time.monotonic()
        door.press("bell")
        self.kitchen.wait("CALL_INCOMING", 2, timeout=40)
        self.kitchen.wait("CALL_CLOSED", 2, timeout=20)
        door.wait_quiet(30)
        self.note(f"two rounds of two phones took {time.monotonic() - begin:.1f} s")
        self.assertEqual(len({event["id"] for event in door.seen("call", state="ended")}), 4)

    def test_dialled_from_the_command_line(self):
        kitchen, _ = self.phones()
        door = self.door(self.house(header="X-Door: front") + f"[contact kitchen]\nuri = {kitchen}\naccount = house\n")
        wire = self.keep(Wire(self.host))
        number = door.do("dial", "kitchen", "--header", "X-Why: test")
        self.kitchen.wait("CALL_INCOMING")
        self.assertEqual(door.wait_call("ringing")["id"], number)
        invite = wire.sent(self.host.address, method="INVITE")[0]
        self.assertEqual((invite.headers.get("x-door"), invite.headers.get("x-why")), ("front", "test"))
        door.do("hangup", number)
        self.kitchen.wait("CALL_CLOSED")
        self.assertEqual(door.run("dial", "no such place").returncode, 1)
        self.assertEqual(door.run("hangup").returncode, 1)
