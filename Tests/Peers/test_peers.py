"""The peers among themselves: what a failure below would else be blamed on Portero for."""

from peers import Baresip, Kamailio, Linphone, NameServer, PeerTest, Wire, wait_until


class Peers(PeerTest):
    def test_two_phones_talk_through_a_registrar(self):
        registrar = self.start(Kamailio(self.site.leg("pbx"), self.base))
        bell = self.start(Baresip(self.site.leg("baresip"), self.base, "100", registrar, answer="auto", tone=1000))
        self.assertTrue(registrar.wait_registered("100"))
        caller = self.start(Linphone(self.site.leg("linphone"), self.base, "200", registrar, tone=1400))
        self.assertTrue(registrar.wait_registered("200"))
        wire = self.keep(Wire(self.site.leg("baresip")))
        call = caller.dial(registrar.uri("100"))
        caller.wait_state("LinphoneCallStreamsRunning", call)
        bell.wait("CALL_ESTABLISHED")
        for phone, tone in ((bell, 1400), (caller, 1000)):
            share = wait_until(lambda: phone.card.level(tone)[0] > 0.9, 20, f"{tone} Hz at {phone.user}", 0.5)
            self.assertTrue(share)
        caller.send_digits("5")
        bell.wait("CALL_DTMF_START")
        caller.hangup(call)
        bell.wait("CALL_CLOSED")
        self.assertTrue(wire.sent(registrar.address, method="INVITE"))

    def test_a_registrar_that_dies_forgets(self):
        registrar = self.start(Kamailio(self.site.leg("pbx"), self.base, algorithm="SHA-256"))
        self.assertEqual(registrar.contacts("100"), [])
        registrar.kill()
        registrar.start()

    def test_names(self):
        space = self.site.leg("host")
        self.start(NameServer(self.site.router, space.gateway, self.base,
                              ["host-record=pbx.test,10.77.9.9", "srv-host=_sip._udp.test,pbx.test,5062,0,10"]))
        looked = space.run("getent", "ahostsv4", "pbx.test")
        self.assertIn("10.77.9.9", looked.stdout)
