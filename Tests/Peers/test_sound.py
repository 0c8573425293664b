"""Sound: tones through every codec both ways, the ringer alone rings, one card for both, a card that vanishes."""

import time

from peers import Baresip, Card, DoorTest, Linphone, wait_until


class Sound(DoorTest):
    def heard(self, card, tone, who, share=0.85, timeout=30):
        def there():
            got = card.level(tone)
            return got if got[0] > share else None
        got = wait_until(there, timeout, f"{tone} Hz at {who}", 0.5)
        self.note(f"{tone} Hz at {who}: share {got[0]:.2f}, level {got[1]:.3f}")

    def test_each_codec_both_ways(self):
        for codec, kind in (("pcmu", Baresip), ("pcma", Linphone), ("g722", Baresip), ("opus", Linphone), ("opus", Baresip)):
            with self.subTest(codec=codec, phone=kind.__name__):
                name = f"{kind.__name__.lower()}-{codec}"
                user = {"baresip-pcmu": "101", "linphone-pcma": "102", "baresip-g722": "103", "linphone-opus": "104",
                        "baresip-opus": "105"}[name]
                phone = self.start(kind(self.site.leg(name), self.base, user, self.pbx, codecs=[codec], answer="auto", tone=1000))
                self.pbx.wait_registered(user)
                if not hasattr(self, "station"):
                    self.station = self.door(self.house(codecs="opus, g722, pcma, pcmu"))
                self.loud.forget()
                self.station.do("dial", self.pbx.uri(user))
                try:
                    call = self.station.wait_call("talking", timeout=20)
                    self.assertEqual(call["codec"], codec)
                    self.heard(phone.card, self.TONE, f"the phone ({name})")
                    self.heard(self.loud, 1000, f"the door ({name})")
                    numbers = wait_until(lambda: "rtt-ms" in (rtp := self.station.calls()[0]["rtp"]) and rtp, 20, "the phone's report")
                    self.assertGreater(numbers["received"], 50)
                    self.assertLess(numbers["lost"], 10)
                    self.assertGreater(numbers["mos"], 3)
                finally:
                    self.station.run("hangup")
                    self.station.wait_quiet()
                    phone.stop()

    def test_an_incoming_call_rings_on_the_ringer_alone_and_the_button_answers(self):
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx, tone=1000))
        door = self.door(self.house() + self.family(self.pbx.uri("100")))
        phone.dial(self.pbx.uri("front"))
        call = door.wait_call("incoming", direction="incoming", account="house")
        self.assertIn("100@", call["remote"])
        self.assertEqual(door.led("status")["state"], "ringing")
        wait_until(lambda: self.ring.loudness() > 0.005, 15, "the ring")
        self.assertLess(self.loud.loudness(), 0.001, "the loudspeaker is silent while it rings")
        door.press("bell")
        door.wait_call("talking")
        phone.wait("CALL_ESTABLISHED")
        self.heard(self.loud, 1000, "the door")
        self.heard(phone.card, self.TONE, "the phone")
        self.ring.forget()
        time.sleep(3)
        self.assertLess(self.ring.loudness(), 0.001, "no ring after the answer")
        phone.hangup()
        door.wait_quiet()

    def test_the_caller_at_the_door_hears_how_it_goes(self):
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx, tone=1000))
        self.pbx.wait_registered("100")
        door = self.door(self.house())
        door.do("dial", self.pbx.uri("100"))
        door.wait_call("ringing")
        self.heard(self.loud, 425, "the door, ringing")
        self.assertLess(self.ring.loudness(), 0.001, "the ringer has no part in it")
        self.loud.forget()
        phone.hangup()  # 486
        door.wait_quiet()
        wait_until(lambda: self.loud.level(425, 0.4)[0] > 0.85, 10, "the busy tone")
        opened = self.loud.opened()["play"]
        door.do("dial", self.pbx.uri("100"))  # the next call begins in silence
        door.wait_call("ringing")
        self.loud.forget()
        phone.wait("CALL_INCOMING", 2)
        phone.answer()
        door.wait_call("talking")
        self.heard(self.loud, 1000, "the door, answered")
        self.loud.forget()
        time.sleep(1.5)
        self.assertLess(self.loud.level(425, 0.4)[0], 0.2, "no tone beside the voice")
        self.loud.forget()
        phone.hangup()
        wait_until(lambda: self.loud.level(425, 0.2)[0] > 0.85, 10, "the tone of a call that ended")
        self.assertGreaterEqual(self.loud.opened()["play"], opened)

    def test_one_exclusive_card_rings_and_talks(self):
        self.loud = Card(self.base, "loud", exclusive=True)
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx, tone=1000))
        door = self.door(self.house() + self.family(self.pbx.uri("100")), panel=self.panel(ringer="loud"))
        for turn in (1, 2):
            phone.dial(self.pbx.uri("front"))
            door.wait_call("incoming")
            wait_until(lambda: self.loud.loudness() > 0.005, 15, "the ring")
            door.do("answer")
            door.wait_call("talking")
            self.heard(self.loud, 1000, f"the door, call {turn}")
            door.do("hangup")
            phone.wait("CALL_CLOSED", turn)
            door.wait_quiet()
            self.loud.forget()
        self.assertEqual(door.status()["faults"], [])

    def test_a_card_that_vanishes_and_returns(self):
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx, answer="auto", tone=1000))
        self.pbx.wait_registered("100")
        door = self.door(self.house())
        door.do("dial", self.pbx.uri("100"))
        door.wait_call("talking")
        self.heard(self.loud, 1000, "the door")
        self.loud.unplug()
        door.wait_event("fault", state="raised")
        self.assertTrue(door.status()["faults"])
        self.assertEqual(door.wait_call("talking")["direction"], "outgoing", "the call outlives the card")
        self.loud.forget()
        self.loud.plug()
        door.wait_event("fault", state="cleared")
        self.heard(self.loud, 1000, "the door, after the card came back")
        door.do("hangup")
        door.wait_quiet()
        self.assertEqual(door.status()["faults"], [])
