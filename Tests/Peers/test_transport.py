"""How messages travel: by TCP when they are large (T9), marked, whatever a name server does (T12), and whoever else keeps
connections open (SEC4)."""

import os
import signal
import socket
import time

from peers import Baresip, DoorTest, Kamailio, NameServer, PeerTest, Portero, Wire, account, wait_until

SILENT = "[audio]\nspeaker = silent\nmicrophone = silent\n[ringer]\ndevice = silent\n"


class Size(DoorTest):
    def test_a_large_request_goes_by_tcp_and_packets_are_marked(self):
        phone = self.start(Baresip(self.site.leg("phone"), self.base, "100", self.pbx, answer="auto"))
        self.pbx.wait_registered("100")
        wire = self.keep(Wire(self.host))
        door = self.door(self.house(transport="auto"))
        for size, mtu in ((0, 1500), (180, 1500), (180, 1280), (700, 1500)):
            self.host.ip("link", "set", "eth0", "mtu", str(mtu))
            since = len(wire.messages)
            headers = [word for name in "XY" for word in ("--header", f"{name}-Long: {name * (size // 2)}")]
            door.do("dial", self.pbx.uri("100"), *headers)
            door.wait_call("talking")
            wait_until(lambda: self.host.address in wire.rtp_marks, 10, "media")
            by_datagram = [one for one in wire.messages[since:] if one.method == "INVITE" and one.source[0] == self.host.address]
            self.note(f"{size} octets more, {mtu} of the path: {[len(one.text) for one in by_datagram] or 'by TCP'}")
            self.assertEqual(bool(by_datagram), (size, mtu) in ((0, 1500), (180, 1500)))
            door.do("hangup")
            door.wait_quiet()
        self.assertEqual({one.mark for one in wire.sent(self.host.address)}, {24}, "signalling is CS3")
        self.assertEqual(wire.rtp_marks[self.host.address], 46, "media is expedited forwarding")
        phone.stop()


class Names(PeerTest):
    def test_a_stalled_name_server_delays_nobody_else(self):
        space = self.site.leg("door")
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base, domain="pbx.test"))
        names = self.start(NameServer(self.site.router, space.gateway, self.base, [f"host-record=pbx.test,{pbx.address}"]))
        os.kill(names.process.pid, signal.SIGSTOP)
        self.addCleanup(names.process.send, signal.SIGCONT)
        door = self.start(Portero(space, self.base, SILENT + account("named", "named", pbx, uri="sip:named@pbx.test", transport="auto")
                                  + account("plain", "plain", pbx)))
        door.wait_registered("plain")
        self.assertEqual(door.account("named")["state"], "registering", "its look-up is still on its way")
        begin = time.monotonic()
        door.do("dial", pbx.uri("nobody"), "--via", "plain")
        door.wait_event("call", state="ended", code=404)
        self.note(f"a call by address was refused by the other side after {time.monotonic() - begin:.2f} s")
        self.assertEqual(door.account("named")["state"], "registering", "its look-up is still on its way")
        self.assertFalse(door.has_loaded("libssl"), "TLS costs nothing where nobody uses it")
        os.kill(names.process.pid, signal.SIGCONT)
        door.wait_registered("named", timeout=60)


class Strangers(PeerTest):
    def test_connections_that_never_come_to_the_point(self):
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base))
        space, far = self.site.leg("door"), self.site.leg("far")
        door = self.start(Portero(space, self.base, SILENT + account("house", "front", pbx, transport="tcp")))
        door.wait_registered("house")
        links = [far.inside(lambda: socket.create_connection((space.address, 5060), 5)) for _ in range(6)]
        for link in links:
            link.settimeout(0.1)

        def is_open(link):
            try:
                return link.recv(100) != b""
            except TimeoutError:
                return True
            except OSError:
                return False

        wait_until(lambda: sum(map(is_open, links)) == 4, 5, "four connections of a stranger to be left (SEC4)")
        begin, text = time.monotonic(), b"OPTIONS sip:front@x SIP/2.0\r\n" + b"X: y\r\n" * 1000
        while any(map(is_open, links)) and time.monotonic() - begin < 30:
            for link in links:
                try:
                    link.send(text[:1])
                except OSError:
                    pass
            text = text[1:]
        took = time.monotonic() - begin
        self.note(f"the last of them was closed after {took:.1f} s")
        self.assertLess(took, 29)
        self.assertGreater(took, 5)
        self.assertEqual(door.account("house")["state"], "registered")
        for link in links:
            link.close()
        pbx.wait_registered("front")
