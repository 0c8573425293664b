"""Calls handed on from one phone to another: by the phone, by the door, to nobody, and into a call that is there."""

from peers import Baresip, DoorTest, Linphone, Sipp, wait_until


class Transfer(DoorTest):
    """The door hears the tone of whoever it talks with: 1000 Hz the first phone, 1400 Hz the second."""

    def phone(self, kind, user, tone, answer="auto"):
        phone = self.start(kind(self.site.leg(f"phone{user}"), self.base, user, self.pbx, answer=answer, tone=tone))
        self.pbx.wait_registered(user)
        return phone

    def hears(self, tone):
        self.loud.forget()
        wait_until(lambda: self.loud.level(tone)[0] > 0.85, 20, f"{tone} Hz at the door", 0.5)

    def test_a_phone_hands_the_door_on(self):
        self.phone(Baresip, "300", 1400)
        for kind, user in ((Baresip, "100"), (Linphone, "200")):
            with self.subTest(kind.__name__):
                phone = self.phone(kind, user, 1000)
                door = self.door(self.house(accept_transfer=f"sip:{user}@*"))
                door.do("dial", self.pbx.uri(user))
                door.wait_call("talking")
                self.hears(1000)
                phone.transfer(self.pbx.uri("300"))
                door.wait_event("transfer", state="started", by="peer")
                self.hears(1400)
                call = door.wait_call("talking", remote=self.pbx.uri("300"))
                wait_until(lambda: len(door.calls()) == 1, 20, "the first call to end")
                door.wait_event("call", cause="transferred")
                self.note(f"transferred to {call['remote']}")
                door.do("hangup")
                door.wait_quiet()
                door.stop()
                phone.stop()

    def test_who_may_not_is_refused(self):
        self.phone(Baresip, "300", 1400)
        phone = self.phone(Baresip, "100", 1000)
        door = self.door(self.house())
        door.do("dial", self.pbx.uri("100"))
        door.wait_call("talking")
        phone.transfer(self.pbx.uri("300"))
        wait_until(lambda: "accept-transfer" in door.process.text(), 10, "the refusal in the log")
        self.assertEqual(door.seen("call", direction="outgoing", remote=self.pbx.uri("300")), [])
        self.assertEqual(door.seen("transfer"), [])

    def test_we_hand_a_phone_on(self):
        other = self.phone(Baresip, "300", 1400)
        for number, (kind, user) in enumerate(((Baresip, "100"), (Linphone, "200")), 1):
            with self.subTest(kind.__name__):
                phone = self.phone(kind, user, 1000)
                door = self.door(self.house())
                door.do("dial", self.pbx.uri(user))
                door.wait_call("talking")
                door.do("transfer", self.pbx.uri("300"))
                done = door.wait_event("transfer", state="done")
                self.assertEqual((done["by"], done["target"]), ("us", self.pbx.uri("300")))
                door.wait_quiet()
                door.wait_event("call", state="ended", cause="transferred")
                other.wait("CALL_ESTABLISHED", number)
                door.stop()
                phone.stop()

    def test_a_failed_transfer_resumes_the_call(self):
        self.phone(Baresip, "100", 1000)
        door = self.door(self.house())
        door.do("dial", self.pbx.uri("100"))
        door.wait_call("talking")
        self.hears(1000)
        door.do("transfer", self.pbx.uri("999"))
        failed = door.wait_event("transfer", state="failed")
        self.note(f"failed with {failed.get('code')} {failed.get('reason')}")
        door.wait_call("talking")
        self.hears(1000)

    def test_two_phones_are_brought_together(self):
        first, second = self.phone(Linphone, "200", 1000), self.phone(Linphone, "201", 1400)
        door = self.door(self.house())
        one = door.do("dial", self.pbx.uri("200"))
        door.wait_call("talking", id=one)
        door.do("hold", one)
        two = door.do("dial", self.pbx.uri("201"))
        door.wait_call("talking", id=two)
        door.do("transfer", two, one)
        door.wait_event("transfer", state="done", call=one, other=two)
        door.wait_quiet()
        for phone in (first, second):
            phone.wait_state("LinphoneCallStreamsRunning", call=2)

    def test_a_phone_brings_two_together(self):
        """Once the door calls by Replaces, once it is called so."""
        agent, other = self.phone(Linphone, "200", 1000), self.phone(Linphone, "201", 1400)
        door = self.door(self.house(accept_transfer="yes", auto_answer="always"))
        door.do("dial", self.pbx.uri("200"))
        door.wait_call("talking")
        agent.dial(self.pbx.uri("201"))
        agent.wait_state("LinphoneCallStreamsRunning", call=2)
        agent.transfer("2")
        self.hears(1400)
        call = door.wait_call("talking")
        self.assertEqual((len(door.calls()), call["direction"]), (1, "outgoing"))
        door.do("hangup")
        door.wait_quiet()
        since = len(door.events)
        agent.dial(self.pbx.uri("201"))
        agent.wait_state("LinphoneCallStreamsRunning", call=3)
        agent.dial(self.pbx.uri("front"))
        former = door.wait_call("talking")
        agent.wait_state("LinphoneCallStreamsRunning", call=4)
        agent.transfer("4", call=3)
        door.wait_event("call", since, id=former["id"], state="ended", cause="transferred")
        self.hears(1400)
        self.assertEqual([call["remote"] for call in door.calls()], [self.pbx.uri("201")])
        self.note(f"{other.user} took the place of {agent.user}")

    # SIPp

    def test_refer_by_the_book(self):
        odd = self.site.leg("odd")
        house = self.house(accept_from=f"registrar, {odd.address}", contact_user="account", auto_answer="always",
                           accept_transfer="yes")
        door = self.door(house)
        self.start(Sipp(odd, self.base, "answers", user="", port=6070))
        caller = Sipp(odd, self.base, "transferring_caller", f"{self.host.address}:5060", "front", 6071,
                      values={"TARGET": 6070})
        self.keep(caller).run()
        door.wait_call("talking", direction="outgoing")
        self.assertEqual(len(door.calls()), 1)
        door.do("hangup")
        door.write(self.whole(house.replace("accept-transfer = yes", "accept-transfer = sip:nobody@*")))
        door.do("reload")
        self.keep(Sipp(odd, self.base, "refused_transfer", f"{self.host.address}:5060", "front", 6072,
                       values={"TARGET": 6070})).run()
