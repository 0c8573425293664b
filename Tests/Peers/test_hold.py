"""Hold and resume from both sides, and muting."""

import time

from peers import Baresip, DoorTest, Linphone, Wire, wait_until


class Hold(DoorTest):
    def call(self, kind, user="100"):
        phone = self.start(kind(self.site.leg("phone"), self.base, user, self.pbx, answer="auto", tone=1000))
        self.pbx.wait_registered(user)
        door = self.door(self.house())
        door.do("dial", self.pbx.uri(user))
        door.wait_call("talking")
        self.hears(1000)
        return phone, door

    def hears(self, tone):
        wait_until(lambda: self.loud.level(tone)[0] > 0.85, 20, f"{tone} Hz at the door", 0.5)

    def falls_silent(self, card, seconds=2):
        """That nothing more is heard there, half a second from now."""
        time.sleep(0.5)
        card.forget()
        time.sleep(seconds)
        self.assertLess(card.loudness(), 0.005)

    def test_we_hold(self):
        for kind in (Baresip, Linphone):
            with self.subTest(kind.__name__):
                phone, door = self.call(kind)
                wire = self.keep(Wire(self.host))
                door.do("hold")
                call = door.wait_call("held")
                self.assertEqual(call["hold"], "local")
                offer = wait_until(lambda: wire.sent(self.host.address, method="INVITE"), 10, "the re-INVITE")[0]
                self.assertRegex(offer.text, "a=(sendonly|inactive)")
                self.falls_silent(self.loud)
                self.loud.forget()
                door.do("resume")
                self.assertEqual(door.wait_call("talking")["hold"], "none")
                self.hears(1000)
                door.do("hangup")
                door.wait_quiet()
                door.stop()
                phone.stop()

    def test_the_phone_holds(self):
        for kind in (Baresip, Linphone):
            with self.subTest(kind.__name__):
                phone, door = self.call(kind)
                phone.hold()
                call = door.wait_call("held-by-peer")
                self.assertEqual(call["hold"], "remote")
                phone.resume()
                self.assertEqual(door.wait_call("talking")["hold"], "none")
                self.loud.forget()
                self.hears(1000)
                door.do("hold")
                door.wait_call("held")
                phone.hold()
                wait_until(lambda: any(call["hold"] == "both" for call in door.calls()), 10, "both to hold")
                door.do("resume")
                door.wait_call("held-by-peer")
                phone.resume()
                door.wait_call("talking")
                door.do("hangup")
                door.wait_quiet()
                door.stop()
                phone.stop()

    def test_mute(self):
        phone, door = self.call(Baresip)
        wait_until(lambda: phone.card.level(self.TONE)[0] > 0.85, 20, "the door's tone at the phone", 0.5)
        door.do("mute", "on")
        self.assertTrue(door.wait_call("talking")["muted"])
        time.sleep(1)
        self.falls_silent(phone.card)
        door.do("mute", "off")
        self.assertFalse(door.wait_call("talking")["muted"])
        phone.card.forget()
        wait_until(lambda: phone.card.level(self.TONE)[0] > 0.85, 10, "the tone again", 0.5)
