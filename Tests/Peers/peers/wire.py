"""What really went over a wire: SIP messages with kernel time stamps, and counts of RTP packets."""

import socket
import struct
import threading
import time

_SO_TIMESTAMPNS = 35


class Message:
    """One SIP message over UDP; `mark`: the DSCP value of its packet."""

    def __init__(self, stamp, source, destination, data, mark=0):
        self.stamp, self.source, self.destination, self.mark = stamp, source, destination, mark
        self.text = data.decode("utf-8", "replace")
        head = self.text.split("\r\n\r\n", 1)[0].split("\r\n")
        self.first, self.headers = head[0], {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            self.headers.setdefault(name.strip().lower(), value.strip())

    @property
    def method(self):
        """The request's method, empty for a response."""
        return "" if self.first.startswith("SIP/2.0") else self.first.split(" ")[0]

    @property
    def status(self):
        """The response's code, 0 for a request."""
        return int(self.first.split(" ")[1]) if self.first.startswith("SIP/2.0") else 0

    @property
    def call_id(self):
        return self.headers.get("call-id", self.headers.get("i", ""))

    @property
    def cseq(self):
        return self.headers.get("cseq", "")

    def __repr__(self):
        return f"{self.source[0]} > {self.destination[0]} {self.first} [{self.cseq}]"


class Wire:
    """Listens at a namespace's link until stopped."""

    def __init__(self, namespace, link="eth0"):
        def make():
            end = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003))
            end.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
            end.bind((link, 0))
            return end

        self.messages, self.rtp, self.rtp_marks, self._running = [], {}, {}, True
        self._socket = namespace.inside(make)
        self._socket.settimeout(0.2)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while self._running:
            try:
                packet, extra, _, _ = self._socket.recvmsg(65535, 128)
            except TimeoutError:
                continue
            except OSError:  # the link went down: it may come back
                if not self._running:
                    return
                time.sleep(0.05)
                continue
            if len(packet) < 28 or packet[0] >> 4 != 4 or packet[9] != 17:
                continue
            stamp = time.time()
            for layer, kind, data in extra:
                if layer == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS:
                    seconds, nanoseconds = struct.unpack("qq", data[:16])
                    stamp = seconds + nanoseconds / 1e9
            length = (packet[0] & 15) * 4
            ends = struct.unpack("!HH", packet[length:length + 4])
            source = (socket.inet_ntoa(packet[12:16]), ends[0])
            destination = (socket.inet_ntoa(packet[16:20]), ends[1])
            body = packet[length + 8:]
            if b"SIP/2.0" in body[:300]:
                self.messages.append(Message(stamp, source, destination, body, packet[1] >> 2))
            elif len(body) >= 12 and body[0] >> 6 == 2 and not 192 <= body[1] <= 223:
                key = (source, destination)
                self.rtp[key] = self.rtp.get(key, 0) + 1
                self.rtp_marks[source[0]] = packet[1] >> 2

    def sent(self, address, method=None, status=None):
        """Messages that this address sent, by method or status of the response."""
        return [message for message in list(self.messages) if message.source[0] == address
                and (method is None or message.method == method) and (status is None or message.status == status)]

    def stop(self):
        self._running = False
        self._socket.close()
