"""Events: a phone that is watched, the mailbox, texts."""

from peers import DoorTest, Talker, wait_until
from peers.talker import header, status

DIALOGS = "application/dialog-info+xml"


class Events(DoorTest):
    def document(self, version, *dialogs):
        inside = "".join(f"<dialog id='{number}' direction='{way}'><state>{state}</state></dialog>"
                         for number, (way, state) in enumerate(dialogs))
        return (f"<?xml version='1.0'?><dialog-info xmlns='urn:ietf:params:xml:ns:dialog-info' version='{version}' "
                f"state='full' entity='sip:200@x'>{inside}</dialog-info>")

    def test_a_light_shows_what_a_phone_does(self):
        server = self.keep(Talker(self.site.legs["pbx"], 6070))
        lamp = f"[led attic]\nline = sim:attic\nwatch = sip:200@{self.pbx.address}:6070\n"
        door = self.door(self.house() + lamp)
        subscribe, source = server.receive("SUBSCRIBE ")
        self.assertEqual(header(subscribe, "Event"), "dialog")
        self.assertEqual(header(subscribe, "Accept"), DIALOGS)
        self.assertEqual(header(subscribe, "Expires"), "3600")
        dialog = (header(subscribe, "To") + ";tag=talker", header(subscribe, "From"), header(subscribe, "Call-ID"))
        contact = header(subscribe, "Contact").split("<")[1].split(">")[0]
        self.assertEqual(door.led("attic")["lit"], False)

        def notify(number, *dialogs, state="active;expires=3600"):
            answer = server.ask("NOTIFY", contact, source, body=self.document(number, *dialogs), dialog=dialog, cseq=number,
                                Event="dialog", Subscription_State=state, Content_Type=DIALOGS)
            return status(answer)

        # The NOTIFY comes before the answer.
        self.assertEqual(notify(1, ("recipient", "early")), 200)
        server.answer(subscribe, source, 200, Expires=3600)
        for number, dialogs, shown in ((2, [("recipient", "early")], "ringing"), (3, [("recipient", "confirmed")], "talking"),
                                       (4, [], "idle"), (5, [("initiator", "early")], "talking")):
            self.assertEqual(notify(number, *dialogs), 200)
            wait_until(lambda: door.led("attic")["state"] == shown, 5, f"the light to show {shown}")
            if shown == "ringing":
                for lit in (True, False, True):
                    wait_until(lambda: door.led("attic")["lit"] == lit, 5, "the light to blink")
            else:
                self.assertEqual(door.led("attic")["lit"], shown == "talking")
        self.assertEqual(notify(5), 500, "an old number")
        self.assertEqual([event["state"] for event in door.seen("led", name="attic")], ["ringing", "talking", "idle", "talking"])
        door.stop()
        self.assertEqual(header(server.receive("SUBSCRIBE ")[0], "Expires"), "0")

    def test_a_server_that_refuses_is_left_alone(self):
        lamp = f"[led attic]\nline = sim:attic\nwatch = {self.pbx.uri('200')}\n"
        door = self.door(self.house(mwi="subscribe") + lamp + "[log]\nlevel = info\n")
        wait_until(lambda: "watching" in door.process.text(), 10, "the refusal")
        self.assertEqual(door.account("house")["state"], "registered")
        self.assertEqual(door.led("attic")["lit"], False)

    def test_the_mailbox_and_a_text(self):
        lamp = "[led mail]\nline = sim:mail\nmessages = on\nidle = off\n"
        door = self.door(self.house() + lamp)
        server = self.keep(Talker(self.site.legs["pbx"], 6071))
        stranger = self.keep(Talker(self.site.leg("stranger")))
        to, own = (self.host.address, 5060), f"sip:front@{self.host.address}"

        def tell(waiting, **headers):
            return status(server.ask("NOTIFY", own, to, body=f"Messages-Waiting: {waiting}\r\nVoice-Message: 2/1 (0/0)\r\n", **{
                "Event": "message-summary", "Subscription_State": "active", "Content_Type": "application/simple-message-summary", **headers}))

        self.assertEqual(tell("yes"), 200)
        event = door.wait_event("messages", account="house")
        self.assertEqual((event["waiting"], event["new"], event["old"]), (True, 2, 1))
        wait_until(lambda: door.led("mail")["lit"], 5, "the light")
        self.assertEqual(tell("no"), 200)
        wait_until(lambda: not door.led("mail")["lit"], 5, "the light to go out")
        self.assertEqual(tell("yes", Content_Type="text/html"), 415)
        self.assertEqual(tell("yes", Event="check-sync;reboot=true"), 489)
        self.assertEqual(tell("yes", Event="dialog"), 481)

        words = "Hello\x1b[31m\nINJECTED LINE"
        for end in (stranger, server):
            end.request("MESSAGE", own, to, body=words, Content_Type="text/plain")
        answer, _ = server.receive("SIP/2.0 ")
        self.assertEqual(status(answer), 200)
        self.assertEqual([event["text"] for event in door.seen("message")] or [door.wait_event("message")["text"]], [words])
        self.assertEqual(status(server.ask("MESSAGE", own, to, body="<b>", Content_Type="text/html")), 415)
        self.assertEqual(status(server.ask("MESSAGE", own, to, body="x" * 9000, Content_Type="text/plain")), 413)
        self.assertEqual(len(door.seen("message")), 1, "the stranger's and the others came to nothing")
        self.assertNotIn("\nINJECTED", door.process.text())
        with self.assertRaises(TimeoutError):
            stranger.receive(timeout=1)
