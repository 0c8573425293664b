"""TLS (SEC8): who is trusted and who is not, never a message without it, and a provider known by NAPTR and SRV alone."""

import time

from peers import Authority, Baresip, DoorTest, Kamailio, NameServer, PeerTest, Portero, Wire, account, wait_until

SILENT = "[audio]\nspeaker = silent\nmicrophone = tone:700\n[ringer]\ndevice = silent\n"


def established(space, port):
    """How many TCP connections of that host lead to the port."""
    return len(space.run("ss", "-tnH", "state", "established", f"dport = :{port}").stdout.splitlines())


class Trust(PeerTest):
    def setUp(self):
        super().setUp()
        self.space = self.site.leg("door")
        self.ours, self.others = Authority(self.base), Authority(self.base, "others")

    def door(self, text):
        return self.start(Portero(self.space, self.base, SILENT + text))

    def pbx(self, *servers, **keys):
        """A registrar for pbx.test with a TLS server for each of (port, certificate, settings)."""
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base, domain="pbx.test", tls=servers, **keys))
        self.start(NameServer(self.site.router, self.space.gateway, self.base, [f"host-record=pbx.test,{pbx.address}"]))
        return pbx

    def secure(self, name, pbx, port=5061, **keys):
        return account(name, name, pbx, **{"uri": f"sip:{name}@pbx.test", "registrar": f"pbx.test:{port}", "transport": "tls",
                                           "tls-ca": self.ours.certificate, **keys})

    def test_who_is_trusted(self):
        good = self.ours.issue("good", ["DNS:pbx.test"])
        client = self.ours.issue("client", ["DNS:door.test"])
        asks = {"require_certificate": "yes", "verify_certificate": "yes", "ca_list": self.ours.certificate}
        pbx = self.pbx(
            (5061, good, {}), (5062, self.ours.issue("wrong", ["DNS:other.test", "DNS:*.test"]), {}),
            (5063, self.ours.issue("ended", ["DNS:pbx.test"], days=-1), {}),
            (5064, self.others.issue("others", ["DNS:pbx.test"]), {}), (5065, good, asks),
            (5066, self.ours.issue("soon", ["DNS:pbx.test"], days=5), {}))
        wire = self.keep(Wire(self.space))
        door = self.door(
            self.secure("good", pbx) + self.secure("soon", pbx, 5066)
            + self.secure("client", pbx, 5065, tls_certificate=client[0], tls_key=client[1])
            + self.secure("address", pbx, uri=f"sip:address@{pbx.address}", registrar="")
            + self.secure("wrong", pbx, 5062) + self.secure("ended", pbx, 5063) + self.secure("others", pbx, 5064)
            + self.secure("system", pbx, tls_ca="") + self.secure("nobody", pbx, 5065)
            + self.secure("pinned", pbx, tls_ca="", tls_verify="no", tls_pin=self.ours.pin(good[0]))
            + self.secure("mispinned", pbx, tls_pin=self.ours.pin(client[0])))
        door.wait_registered("good", "soon", "client", "pinned")
        reasons = {"wrong": "it is for other.test", "ended": "has expired", "others": "unable to get local issuer",
                   "system": "unable to get local issuer", "mispinned": "its key is not", "address": f"not for {pbx.address}"}
        for name, words in reasons.items():
            with self.subTest(name):
                found = wait_until(lambda: door.account(name)["state"] == "failed" and door.account(name), 20, f"{name} to fail")
                self.assertIn("TLS: certificate refused", found["reason"])
                self.assertIn(words, found["reason"])
                self.assertGreater(found["next-attempt-in"], 0)
        self.assertIn("issued by /CN=test others", door.account("others")["reason"])
        self.assertIn("certificate required", door.account("nobody")["reason"])
        self.assertEqual(door.account("good")["transport"], "tls")
        self.assertIn("transport=tls", door.account("good")["contact"])
        fault = next(fault for fault in door.status()["faults"] if fault["what"] == f"tls pbx.test {pbx.address}:5066")
        self.assertIn("ends on", fault["message"])
        for name in [*reasons, "nobody"]:
            self.assertEqual(pbx.contacts(name), [], f"{name} got through")
        self.assertEqual(wire.sent(self.space.address), [], "nothing goes without TLS")
        self.assertEqual(established(self.space, 5060), 0)

    def test_a_server_that_is_restarted(self):
        good, other = self.ours.issue("good", ["DNS:pbx.test"]), self.others.issue("others", ["DNS:pbx.test"])
        pbx = self.pbx((5061, good, {}))
        wire = self.keep(Wire(self.space))
        door = self.door(self.secure("house", pbx) + self.secure("office", pbx))
        door.wait_registered("house", "office")
        self.assertEqual(established(self.space, 5061), 1, "accounts with the same trust share a connection")
        pbx.kill()
        wait_until(lambda: door.account("house")["state"] != "registered", 20, "the loss to be seen")
        time.sleep(2)
        pbx.start()
        begin = time.monotonic()
        door.wait_registered("house", "office", timeout=60)
        self.note(f"registered again {time.monotonic() - begin:.1f} s after the server came back")
        pbx.kill()
        impostor = self.start(Kamailio(self.site.leg("pbx"), self.base, domain="pbx.test", tls=[(5061, other, {})]))
        wait_until(lambda: "unable to get local issuer" in door.account("house").get("reason", ""), 60, "the impostor to be refused")
        self.assertEqual(impostor.contacts("house"), [])
        with open(self.ours.certificate, "a") as file, open(self.others.certificate) as more:
            file.write(more.read())
        door.do("reload")
        door.wait_registered("house", "office", timeout=60)
        self.assertEqual(wire.sent(self.space.address), [], "nothing goes without TLS")
        self.assertEqual(established(self.space, 5060), 0)

    def test_a_provider_known_by_naptr_and_srv_alone(self):
        """As Telekom's: no address of its own, server_name and certificate are the domain's whatever the host, the first
        server is broken, and the registrar names a long route that is kept as it is."""
        token = "<sip:edge7.tel.test:5061;transport=tls;lr;token=" + "k7Qx" * 60 + ">"
        right, edge = self.ours.issue("tel", ["DNS:tel.test"]), self.ours.issue("edge", ["DNS:edge7.tel.test"])
        pbx = self.start(Kamailio(
            self.site.leg("tel"), self.base, domain="tel.test", service_route=token,
            tls=[(5061, edge, {}), (5061, right, {"server_name": "tel.test"}), (5062, edge, {})]))
        self.start(NameServer(self.site.router, self.space.gateway, self.base, [
            "naptr-record=tel.test,10,10,s,SIPS+D2T,,_sips._tcp.tel.test", "naptr-record=tel.test,20,10,s,SIP+D2U,,_sip._udp.tel.test",
            "srv-host=_sips._tcp.tel.test,edge6.tel.test,5062,10,10", "srv-host=_sips._tcp.tel.test,edge7.tel.test,5061,20,10",
            "srv-host=_sip._udp.tel.test,edge7.tel.test,5060,10,10",
            f"host-record=edge6.tel.test,{pbx.address}", f"host-record=edge7.tel.test,{pbx.address}"]))
        wire = self.keep(Wire(self.space))
        door = self.door(account("line", "line", pbx, uri="sip:line@tel.test", transport="auto", tls_ca=self.ours.certificate))
        door.wait_registered("line")
        found = door.account("line")
        self.assertEqual((found["transport"], found["registrar"]), ("tls", f"{pbx.address}:5061"))
        door.do("dial", "sip:nobody@tel.test")
        wait_until(lambda: f"INVITE with route {token}" in pbx.process.text(), 10, "the route as it came")
        door.wait_quiet()
        self.assertEqual(established(self.space, 5061), 1, "the call takes the registration's connection")
        self.assertEqual(wire.sent(self.space.address), [], "nothing goes without TLS")


class Calls(DoorTest):
    def test_calls_over_tls(self):
        ours = Authority(self.base)
        self.pbx.stop()
        self.pbx = self.start(Kamailio(self.site.legs["pbx"], self.base, challenge_invites=False, domain="pbx.test",
                                       tls=[(5061, ours.issue("pbx", ["DNS:pbx.test"]), {})]))
        self.start(NameServer(self.site.router, self.host.gateway, self.base, [f"host-record=pbx.test,{self.pbx.address}"]))
        phone = self.start(Baresip(self.site.leg("phone"), self.base, "100", self.pbx, answer="auto", tone=1000))
        self.pbx.wait_registered("100")
        wire = self.keep(Wire(self.host))
        door = self.door(self.house(uri="sips:front@pbx.test", transport="auto", tls_ca=ours.certificate, auto_answer="always"))
        self.assertTrue(door.account("house")["contact"].startswith("sips:"))
        door.do("dial", "sip:100@pbx.test")
        door.wait_call("talking")
        wait_until(lambda: self.loud.level(1000)[0] > 0.85, 20, "the phone at the door", 0.5)
        door.do("hold")
        door.wait_call("held")
        door.do("hangup")
        door.wait_quiet()
        phone.dial(self.pbx.uri("front"))
        door.wait_call("talking")
        phone.hangup()
        door.wait_quiet()
        self.assertEqual(established(self.host, 5061), 1, "everything takes one connection")
        self.assertEqual(wire.sent(self.host.address), [], "nothing goes without TLS")
