"""Which account a call is of: incoming by its users, outgoing by name, contact and default."""

from peers import Baresip, DoorTest, Sipp, Wire, account, wait_until


class Choice(DoorTest):
    def accounts(self, **spare):
        return (self.house(aliases="+4930123") + account("office", "office", self.pbx, contact_user="account")
                + account("spare", "spare", self.pbx, **spare))

    def test_an_incoming_call_finds_its_account(self):
        door = self.door(self.accounts(catch_all="yes"))
        door.wait_registered("office", "spare")
        own = door.account("house")["contact"].split(":")[1].split("@")[0]
        self.assertGreater(len(own), 12, "a Contact user that nobody guesses")
        cases = ((own, "anyone", "house"), ("front", "anyone", "house"), ("+4930123", "anyone", "house"),
                 ("office", "front", "office"), ("unknown", "office", "office"), ("unknown", "+4930123", "house"),
                 ("unknown", "nobody-here", "spare"))
        for number, (user, to, expected) in enumerate(cases):
            with self.subTest(f"{user}, To {to}"):
                since = len(door.events)
                call = self.keep(Sipp(self.site.legs["pbx"], self.base, "rings_briefly", f"{self.host.address}:5060", user,
                                      6060 + number, values={"TO": to}))
                call.run()
                door.wait_event("call", since, state="ended")
                self.assertEqual([event["account"] for event in door.seen("call", since, state="incoming")], [expected])
                self.assertRegex(door.process.text(), f"call .*account {expected}", "the log says which")

    def test_nobody_is_not_found(self):
        door = self.door(self.accounts())
        self.keep(Sipp(self.site.legs["pbx"], self.base, "unknown_user", f"{self.host.address}:5060", "unknown")).run()
        self.assertEqual(door.seen("call", state="incoming"), [])

    def test_an_outgoing_call_takes_the_account_named_then_the_contacts_then_the_default(self):
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx))
        self.pbx.wait_registered("100")
        contacts = f"[contact plain]\nuri = {self.pbx.uri('100')}\n[contact own]\nuri = {self.pbx.uri('100')}\naccount = office\n"
        door = self.door(self.accounts(default="yes") + contacts)
        door.wait_registered("office", "spare")
        wire = self.keep(Wire(self.host))
        cases = ((("plain",), "spare", "spare"), (("own",), "office", "office"), (("own", "--via", "house"), "house", "front"))
        for turn, (words, expected, user) in enumerate(cases, 1):
            with self.subTest(words):
                number = door.do("dial", *words)
                self.assertEqual(door.wait_call("ringing")["account"], expected)
                invite = wait_until(lambda: wire.sent(self.host.address, method="INVITE"), 5, "the INVITE")[-1]
                self.assertIn(f"sip:{user}@", invite.headers["from"])
                self.assertRegex(door.process.text(), f"call {number}: .*with account {expected}: ", "the log says which and why")
                phone.wait("CALL_INCOMING", turn)
                door.do("hangup")
                phone.wait("CALL_CLOSED", turn)
                door.wait_quiet()
