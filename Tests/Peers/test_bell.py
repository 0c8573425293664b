"""From the bell to a phone: groups one after the other and all at once, and giving up."""

import time

from peers import Baresip, DoorTest, Linphone, Wire, wait_until


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
        wire = self.keep(Wire(self.host))
        door.press("bell")
        self.kitchen.wait("CALL_INCOMING")
        self.assertEqual(door.led("status")["state"], "calling")
        self.assertEqual(len(wire.sent(self.host.address, method="INVITE")), 1, "one after the other")
        self.kitchen.hangup()  # 486
        self.garden.wait_state("LinphoneCallIncomingReceived")
        self.garden.answer()
        self.garden.wait_state("LinphoneCallStreamsRunning")
        call = door.wait_call("talking", direction="outgoing")
        self.assertIn("200@", call["remote"])
        self.assertEqual((call["group"], call["account"], call["codec"]), ("family", "house", "pcmu"))
        self.assertEqual(door.led("status")["state"], "talking")
        refused = door.seen("call", state="ended", code=486)[0]
        self.assertLess(door.events.index(refused), door.events.index(door.seen("call", state="talking")[0]))
        busy = next(one for one in wire.sent(self.pbx.address) if one.status == 486)
        second = wire.sent(self.host.address, method="INVITE")[-1]
        self.assertIn("200@", second.first)
        self.assertLess(busy.stamp, second.stamp, "the second is called when the first has refused")
        self.note(f"the second INVITE {1000 * (second.stamp - busy.stamp):.0f} ms after the 486")
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
        answer = next(one for one in wire.sent(self.pbx.address, status=200) if "INVITE" in one.cseq)
        self.assertLess(answer.stamp, cancels[0].stamp)
        gone = wait_until(lambda: [one for one in wire.sent(self.pbx.address) if one.status == 487], 5, "the 487")[0]
        self.assertEqual(gone.call_id, cancels[0].call_id)
        self.assertNotEqual(gone.call_id, answer.call_id)
        self.assertTrue([one for one in wire.sent(self.host.address, method="ACK") if one.call_id == gone.call_id])
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
