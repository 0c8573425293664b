"""Hold and resume from both sides, and muting."""

import os
import time

from peers import Baresip, DoorTest, Linphone, Wire, level, read_wav, wait_until
from peers.goertzel import rms


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
        wait_until(lambda: level(self.loud.recording, tone)[0] > 0.85, 20, f"{tone} Hz at the door", 0.5)

    def rest_is_silent(self, path, seconds=2):
        """That nothing more is heard on a recording from now on."""
        time.sleep(0.5)
        length = len(read_wav(path)[1]) if os.path.exists(path) else 0
        time.sleep(seconds)
        rest = read_wav(path)[1][length:] if os.path.exists(path) else []
        self.assertLess(rms(rest), 0.005)

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
                self.rest_is_silent(self.loud.recording)
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
        wait_until(lambda: level(phone.card.recording, self.TONE)[0] > 0.85, 20, "the door's tone at the phone", 0.5)
        door.do("mute", "on")
        self.assertTrue(door.wait_call("talking")["muted"])
        time.sleep(1)
        self.rest_is_silent(phone.card.recording)
        door.do("mute", "off")
        self.assertFalse(door.wait_call("talking")["muted"])
        length = len(read_wav(phone.card.recording)[1])
        wait_until(lambda: rms(read_wav(phone.card.recording)[1][length:]) > 0.05, 10, "the tone again", 0.5)
