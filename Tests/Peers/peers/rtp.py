"""Digits as RTP packets of their own making (RFC 4733)."""

import socket
import struct
import time


class Digits:
    """A socket that sends telephone events from an address of a namespace."""

    def __init__(self, namespace, port, payload_type=101):
        def make():
            end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            end.bind((namespace.address, port))
            return end

        self._socket, self._type = namespace.inside(make), payload_type
        self._sequence, self._time = 1000, 0

    def send(self, digits, to):
        """Each digit for 100 ms, its end three times, then 100 ms of nothing."""
        for digit in digits:
            event, marker = "0123456789*#ABCD".index(digit), 0x80
            for duration, end in ((160, 0), (320, 0), (480, 0), (640, 0), (800, 0x80), (800, 0x80), (800, 0x80)):
                header = struct.pack("!BBHII", 0x80, marker | self._type, self._sequence, self._time, 0x5150)
                self._socket.sendto(header + struct.pack("!BBH", event, end | 10, duration), to)
                self._sequence, marker = self._sequence + 1, 0
                time.sleep(0.02)
            self._time += 1600
            time.sleep(0.1)

    def stop(self):
        self._socket.close()
