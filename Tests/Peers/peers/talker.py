"""SIP of one's own making over UDP: requests and answers as text, from any address of a namespace."""

import hashlib
import re
import socket
import time
import uuid


class Talker:
    """A socket that speaks SIP word by word."""

    def __init__(self, namespace, port=5060, address=None):
        self.address, self.port = address or namespace.address, port

        def make():
            end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            end.bind((self.address, port))
            return end

        self._socket = namespace.inside(make)
        self._number = 0

    def request(self, method, uri, to, body="", dialog=None, cseq=None, caller=None, **headers):
        """Sends a request and returns its text. `dialog`: From, To and Call-ID as (from, to, call id)."""
        self._number += 1
        token = uuid.uuid4().hex
        caller = caller or f"sip:talker@{self.address}:{self.port}"
        source, target, call_id = dialog or (f"<{caller}>;tag={token[:8]}", f"<{uri}>", token)
        lines = [f"{method} {uri} SIP/2.0", f"Via: SIP/2.0/UDP {self.address}:{self.port};branch=z9hG4bK{token};rport",
                 f"From: {source}", f"To: {target}", f"Call-ID: {call_id}", f"CSeq: {cseq or self._number} {method}",
                 f"Contact: <sip:talker@{self.address}:{self.port}>", "Max-Forwards: 70"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        text = "\r\n".join([*lines, f"Content-Length: {len(body.encode())}", "", body])
        self.send(text, to)
        return text

    def send(self, text, to):
        self._socket.sendto(text.encode() if isinstance(text, str) else text, to)

    def receive(self, start="", timeout=10):
        """The next message that begins so, and who sent it; others are passed over."""
        end = time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no message that begins with {start!r} in {timeout} s")
            self._socket.settimeout(left)
            data, source = self._socket.recvfrom(65535)
            text = data.decode("utf-8", "replace")
            if text.startswith(start) and text.strip():
                return text, source

    def ask(self, *words, timeout=10, **named):
        """Sends a request and returns its final response."""
        text = self.request(*words, **named)
        while True:
            answer, _ = self.receive("SIP/2.0 ", timeout)
            if header(answer, "Call-ID") == header(text, "Call-ID") and status(answer) >= 200:
                return answer

    def answer(self, request, source, code, body="", **headers):
        """Answers a request."""
        copied = [line for line in head(request) if re.match(r"(via|from|call-id|cseq):", line, re.I)]
        to = header(request, "To")
        lines = [f"SIP/2.0 {code} Talker", *copied, f"To: {to}" + ("" if "tag=" in to else ";tag=talker"),
                 f"Contact: <sip:talker@{self.address}:{self.port}>"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send("\r\n".join([*lines, f"Content-Length: {len(body)}", "", body]), source)

    def stop(self):
        self._socket.close()


def head(text):
    return text.split("\r\n\r\n", 1)[0].split("\r\n")


def header(text, name):
    """The first header of that name."""
    return next((line.split(":", 1)[1].strip() for line in head(text) if line.lower().startswith(name.lower() + ":")), "")


def status(text):
    return int(text.split(" ")[1])


def digest(challenge, method, uri, user, password, count=1):
    """Credentials that answer a challenge."""
    values = dict(re.findall(r'(\w+)="?([^",]+)"?', challenge))
    make = hashlib.sha256 if values.get("algorithm") == "SHA-256" else hashlib.md5

    def hashed(*parts):
        return make(":".join(parts).encode()).hexdigest()

    nc = f"{count:08x}"
    response = hashed(hashed(user, values["realm"], password), values["nonce"], nc, "0a4f", "auth", hashed(method, uri))
    return (f'Digest username="{user}", realm="{values["realm"]}", nonce="{values["nonce"]}", uri="{uri}", response="{response}", '
            f'algorithm={values["algorithm"]}, cnonce="0a4f", qop=auth, nc={nc}')
