"""Odd callers and odd targets (SIPp), straight to the door station and back."""

import time

from peers import DoorTest, Sipp, Wire, long, wait_until


class Odd(DoorTest):
    def setUp(self):
        super().setUp()
        self.odd = self.site.leg("odd")
        self.number = 6060

    def listed(self, **keys):
        """An account that also takes calls from the odd host itself."""
        return self.house(accept_from=f"registrar, {self.odd.address}", contact_user="account", **keys)

    def sipp(self, scenario, user="front", target=None, **keys):
        self.number += 1
        target = f"{self.host.address}:5060" if target is None else target
        return self.keep(Sipp(self.odd, self.base, scenario, target, user, self.number, **keys))

    def test_odd_requests_get_the_right_answer(self):
        door = self.door(self.listed())
        for scenario, user in (("required_extension", "front"), ("unacceptable", "front"), ("wrong_body", "front"), ("methods", "front")):
            with self.subTest(scenario):
                self.sipp(scenario, user).run()
        self.assertEqual(door.calls(), [])
        self.assertEqual(door.seen("call", state="incoming"), [], "none of them made it ring")

    def test_odd_calls(self):
        door = self.door(self.listed(auto_answer="always", auto_answer_after="300ms"))
        for scenario in ("call", "late_offer", "held_by_reinvite", "reliable_caller", "refreshing_caller", "short_timer"):
            with self.subTest(scenario):
                self.sipp(scenario, extra=("-d", "500")).run()
                door.wait_quiet()
        with self.subTest("over TCP"):
            self.sipp("call", transport="t1", extra=("-d", "500")).run()
            door.wait_quiet()

    @long
    def test_an_answer_that_nobody_acknowledges(self):
        door = self.door(self.listed(auto_answer="always"))
        wire = self.keep(Wire(self.host))
        begin = time.monotonic()
        self.sipp("unacknowledged").run(timeout=90)
        repeats = len([one for one in wire.sent(self.host.address, status=200) if "INVITE" in one.cseq])
        self.note(f"given up after {time.monotonic() - begin:.1f} s and {repeats} × 200")
        self.assertGreaterEqual(repeats, 8)
        door.wait_quiet()

    def dials(self, scenario):
        target = self.sipp(scenario, target="")
        target.start()
        time.sleep(1)
        door = self.door(self.listed() + "[call]\ndial-timeout = 5s\n")
        door.do("dial", f"sip:odd@{self.odd.address}:{self.number}")
        return target, door

    def test_a_target_that_answers_twice(self):
        target, door = self.dials("answers_twice")
        door.wait_call("talking")
        wait_until(lambda: "BYE" in target.messages(), 10, "the BYE of the second dialog")
        self.assertEqual([call["state"] for call in door.calls()], ["talking"], "the first goes on")
        door.do("hangup")
        target.finish(40)

    def test_targets_that_talk_before_they_answer(self):
        for scenario in ("reliable_target", "forks_early"):
            with self.subTest(scenario):
                target, door = self.dials(scenario)
                door.wait_event("call", state="early")
                door.wait_call("talking")
                door.do("hangup")
                target.finish(20)
                door.wait_quiet()
                door.stop()

    def test_a_target_that_names_others(self):
        target, door = self.dials("redirecting_target")
        door.wait_call("talking")
        door.do("hangup")
        target.finish(20)

    def test_a_target_that_only_rings(self):
        target, door = self.dials("rings_for_ever")
        target.finish(60)
        door.wait_quiet()

    def test_a_target_that_answers_the_cancel_late(self):
        target, door = self.dials("answers_at_cancel")
        target.finish(60)
        door.wait_quiet()

    def ports(self, range):
        """The panel with these media ports."""
        return self.panel().replace("[network]\n", f"[network]\nrtp-ports = {range}\n")

    def test_a_call_when_every_port_is_taken_or_rests(self):
        door = self.door(self.listed(auto_answer="always"), panel=self.ports("16384-16385"))
        self.sipp("call", extra=("-d", "100")).run()
        door.wait_quiet()
        self.sipp("no_port").run()  # the pair rests
        time.sleep(5)
        self.sipp("call", extra=("-d", "100")).run()

    def test_a_caller_of_whom_nothing_is_heard(self):
        """MED3"""
        door = self.door(self.listed(auto_answer="always") + "[call]\nmedia-timeout = 2s\n")
        self.sipp("says_nothing").run()
        door.wait_quiet()
        self.assertEqual(door.seen("call", state="ended")[-1]["cause"], "media-timeout")

    @long
    def test_two_hundred_calls_in_a_row_leave_nothing(self):
        # A hundred pairs of ports for two hundred calls, ten of them a second at most: each pair rests for 5 s.
        door = self.door(self.listed(auto_answer="always"), panel=self.ports("16384-16583"))
        self.sipp("call", extra=("-d", "100")).run()
        door.wait_quiet()
        wait_until(lambda: door.wake_ups(2) <= 8, 45, "the first call's timers to end", 0)
        before, sockets, memory, idle = door.descriptors(), door.udp_sockets(), door.resident(), door.wake_ups(5)
        begin = time.monotonic()
        self.sipp("call", calls=200, rate=10, limit=1, extra=("-d", "100")).run(timeout=300)
        self.note(f"200 calls took {time.monotonic() - begin:.0f} s")
        door.wait_quiet()
        wait_until(lambda: door.descriptors() <= before, 15, f"no more than {before} descriptors")
        self.assertEqual(door.udp_sockets(), sockets)
        self.note(f"{before} descriptors before, {door.descriptors()} after; {memory} KiB before, {door.resident()} after")
        self.assertLess(door.resident() - memory, 8192, "no growth by the call")
        self.assertEqual(door.account("house")["state"], "registered")
        wire = self.keep(Wire(self.host))
        wait_until(lambda: door.wake_ups(5) <= idle + 4, 60, f"no more than {idle} wake-ups in 5 s, as before", 0)
        self.assertEqual([key for key in wire.rtp if key[0][0] == self.host.address], [], "no stream goes on")
