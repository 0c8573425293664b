"""Every message of the corpus, sent to the running daemon from an address that it trusts and from one that it does not."""

import json
import os
import re
import socket
import time

from peers import PeerTest, Portero, Wire, wait_until

OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Data/messages")
SHARED = os.path.join(os.environ.get("PORTERO_CASES") or os.path.join(OWN, "../../../../shared/cases"), "messages")

CONFIGURATION = """[network]
sip-port = 5060
[audio]
speaker = silent
microphone = silent
[ringer]
device = silent
[account house]
uri = sip:door@{0}
register = no
transport = udp
catch-all = yes
"""


def corpus(folder, prefix):
    """Each case with its octets. Cases share branches and Call-IDs, so that one would be the repeat of another: each gets
    its own of the same length."""
    with open(f"{folder}/index.json") as file:
        cases = [case for case in json.load(file)["cases"] if case["id"].startswith(prefix)]
    for number, case in enumerate(cases):
        with open(f"{folder}/{case['file']}", "rb") as file:
            octets = file.read()
        own = f"{number:03}".encode()
        octets = re.sub(rb"(?i)(branch\s*=\s*z9hG4bK)\w{3}", rb"\g<1>" + own, octets, count=1)
        octets = re.sub(rb"(?im)^((?:call-id|i)[ \t]*:\s*)\w{3}", rb"\g<1>" + own, octets, count=1)
        yield case, octets


class Sender:
    """A host that sends octets to the door station and hears what comes back to whatever port of its own."""

    def __init__(self, space, target):
        self.space, self.target, self.wire, self.count = space, target, Wire(space), 0
        self.socket = space.inside(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.socket.bind((space.address, 6060))
        self.known = set()

    def datagram(self, octets):
        self.socket.sendto(octets, (self.target, 5060))

    def marker(self):
        self.count += 1
        name = f"marker-{self.space.name}-{self.count}"
        return name, (f"OPTIONS sip:door@{self.target} SIP/2.0\r\nVia: SIP/2.0/UDP {self.space.address}:6060;rport;branch=z9hG4bK{name}\r\n"
                      f"From: <sip:tester@{self.space.address}>;tag=t{self.count}\r\nTo: <sip:door@{self.target}>\r\nCall-ID: {name}\r\n"
                      "CSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n").encode()

    def heard(self):
        """Responses that came since the last time, each text once: repeats of earlier ones are the door's duty."""
        new = [message for message in self.wire.sent(self.target)
               if message.status and not message.call_id.startswith("marker-") and message.text not in self.known]
        self.known.update(message.text for message in new)
        return new

    def settled(self, wanted=False):
        """What was answered once everything sent so far has been dealt with: datagrams keep their order on this wire. A
        call that rings is told in a later turn: an answer that is `wanted` is waited for."""
        name, octets = self.marker()
        self.datagram(octets)
        wait_until(lambda: any(one.call_id == name for one in self.wire.sent(self.target)), 10, "an answer to OPTIONS", 0.002)
        heard, end = self.heard(), time.monotonic() + 2
        while wanted and not heard and time.monotonic() < end:
            time.sleep(0.01)
            heard = self.heard()
        return heard

    def stream(self, octets, seconds):
        """Sends octets on a connection of their own; the codes of the responses until it is closed or time is over."""
        end = self.space.inside(lambda: socket.create_connection((self.target, 5060), 5))
        end.settimeout(seconds)
        got = b""
        try:
            end.sendall(octets)
            while chunk := end.recv(65536):
                got += chunk
                if b"\r\n\r\n" in got and not got.startswith(b"SIP/2.0 1"):
                    break
        except OSError:
            pass
        end.close()
        return [int(part[:3]) for part in got.split(b"SIP/2.0 ")[1:] if part[:3].isdigit()], got

    def stop(self):
        self.wire.stop()
        self.socket.close()


class Cases(PeerTest):
    def setUp(self):
        super().setUp()
        self.friend, self.stranger, space = self.site.leg("friend"), self.site.leg("stranger"), self.site.leg("door")
        self.door = self.start(Portero(space, self.base, CONFIGURATION.format(self.friend.address)))
        self.trusted, self.unknown = (self.keep(Sender(leg, space.address)) for leg in (self.friend, self.stranger))
        self.trusted.settled()

    def quiet(self):
        """Refuses what rings."""
        while self.door.run("reject").returncode == 0:
            pass
        self.trusted.settled()

    def judge(self, case, codes):
        expect, finals = case["expect"], [code for code in codes if code >= 200]
        if expect["action"] == "drop":
            self.assertEqual(codes, [], case["id"])
        elif expect["action"] == "respond":
            self.assertEqual(len(finals), 1, f"{case['id']}: {codes}")
            self.assertIn(finals[0], expect["status"], case["id"])
        elif expect["action"] == "respond-or-drop":
            self.assertLessEqual(set(finals), set(expect["status"]), case["id"])
        elif expect["action"] == "process":
            self.assertTrue(codes, f"{case['id']}: nothing came back")
            self.assertFalse([code for code in finals if code == 400 or 500 <= code < 600], f"{case['id']}: {codes}")
        else:
            self.assertTrue(codes, f"{case['id']}: nothing came back")
            self.assertLessEqual(set(finals), set(expect["status"]), case["id"])

    def play(self, cases):
        cases = list(cases)
        self.assertTrue(cases)
        for case, octets in cases:
            with self.subTest(case["id"]):
                if case["transport"] == "udp":
                    self.trusted.datagram(octets)
                    codes = [message.status for message in self.trusted.settled("drop" not in case["expect"]["action"])]
                else:
                    codes, got = self.trusted.stream(octets, 0.5 if "drop" in case["expect"]["action"] else 3)
                    if reply := case["expect"].get("streamReply"):
                        self.assertEqual(got, bytes.fromhex(reply))
                self.judge(case, codes)
                if any(100 < code < 200 for code in codes):
                    self.quiet()
        # What was said so far is of friends; from here on nothing may ring, whoever sends what by whatever way.
        self.quiet()
        before = len(self.door.seen("call", state="incoming"))
        for case, octets in cases:
            self.unknown.datagram(octets)
            self.unknown.stream(octets, 0.02)
        self.trusted.settled()
        self.assertEqual([message for message in self.unknown.heard() if message.status < 300], [])
        self.assertEqual(len(self.door.seen("call", state="incoming")), before, "a stranger made it ring")
        # The other way of each: nobody promised an answer, but it lives.
        for case, octets in cases:
            if case["transport"] == "udp":
                self.trusted.stream(octets, 0.02)
            else:
                self.trusted.datagram(octets)
        self.trusted.settled()
        self.assertTrue(self.door.process.alive())

    def test_composed_messages(self):
        self.play(corpus(OWN, ""))

    def test_published_messages(self):
        if not os.path.exists(f"{SHARED}/index.json"):
            self.skipTest("the texts of RFC 4475 and RFC 5118 are not here")
        self.play(corpus(SHARED, "rfc"))
