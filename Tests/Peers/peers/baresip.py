"""baresip as a phone, headless, driven over its TCP control port."""

import json
import os
import socket
import threading

from .card import Card
from .process import Process, missing, need, wait_until


class Baresip:
    """A phone with one account. Its microphone hears a tone; its loudspeaker is recorded."""

    MODULES = "/usr/lib/baresip/modules"
    CODECS = {"pcmu": ("g711.so", "PCMU/8000/1"), "pcma": ("g711.so", "PCMA/8000/1"), "g722": ("g722.so", "G722/8000/1"),
              "opus": ("opus.so", "opus/48000/2")}

    def __init__(self, namespace, base, user, registrar, codecs=("pcmu",), tone=1000, answer="manual", transport="udp",
                 dtmf="", port=5060, register=True):
        self.namespace, self.user, self.registrar = namespace, user, registrar
        self.folder = os.path.join(base, f"baresip-{user}")
        os.makedirs(self.folder, exist_ok=True)
        if not os.path.isdir(self.MODULES):
            missing("baresip")
        self.card = Card(self.folder, source=f"tone:{tone}")
        modules = sorted({self.CODECS[codec][0] for codec in codecs})
        with open(f"{self.folder}/config", "w") as file:
            file.write("\n".join([
                "poll_method epoll", f"sip_listen {namespace.address}:{port}", "call_local_timeout 120", "call_max_calls 8",
                "audio_player alsa,card", "audio_source alsa,card", "audio_alert alsa,card", "ausrc_format s16",
                "auplay_format s16", "auenc_format s16", "audec_format s16", "audio_buffer 20-160",
                "rtp_ports 20000-29998", "jitter_buffer_delay 1-10", f"module_path {self.MODULES}",
                *(f"module {name}" for name in modules), "module alsa.so", "module_tmp uuid.so", "module_tmp account.so",
                "module_app menu.so", "module ctrl_tcp.so", f"ctrl_tcp_listen {namespace.address}:4444", "opus_bitrate 28000",
                "opus_stereo no", "opus_sprop_stereo no", "ringback_disabled yes", "menu_bell no", "statmode_default off", ""]))
        open(f"{self.folder}/contacts", "w").close()
        names = ",".join(self.CODECS[codec][1] for codec in codecs)
        interval = 60 if register else 0
        with open(f"{self.folder}/accounts", "w") as file:
            file.write(f"<{registrar.uri(user)};transport={transport}>;auth_user={user};auth_pass={registrar.password};"
                       f"regint={interval};audio_codecs={names};answermode={answer}{';dtmfmode=' + dtmf if dtmf else ''}\n")
        env = dict(HOME=self.folder, **Card.configuration(self.folder, [self.card]))
        self.process = Process([need("baresip"), "-4", "-f", self.folder], f"{self.folder}/log", namespace, env)
        self.events, self._answers, self._socket, self._lock = [], [], None, threading.Lock()

    def start(self):
        self.process.start()
        self._socket = wait_until(self._connect, 20, "baresip's control port")
        threading.Thread(target=self._read, daemon=True).start()
        return self

    def _connect(self):
        def make():
            return socket.create_connection((self.namespace.address, 4444), 2)
        try:
            link = self.namespace.inside(make)
        except OSError:
            return None
        link.settimeout(None)
        return link

    def _read(self):
        data = b""
        while True:
            try:
                more = self._socket.recv(65536)
            except OSError:
                return
            if not more:
                return
            data += more
            while b":" in data:
                head, rest = data.split(b":", 1)
                length = int(head)
                if len(rest) < length + 1:
                    break
                message, data = json.loads(rest[:length]), rest[length + 1:]
                with self._lock:
                    (self.events if message.get("event") else self._answers).append(message)

    def command(self, word, parameters=""):
        """Runs a command and returns its answer."""
        with self._lock:
            before = len(self._answers)
        text = json.dumps({"command": word, "params": parameters})
        self._socket.sendall(f"{len(text)}:{text},".encode())
        return wait_until(lambda: self._answers[before:], 10, f"baresip's answer to {word}")[0]

    def dial(self, uri):
        return self.command("dial", uri)

    def answer(self):
        return self.command("accept")

    def hangup(self):
        return self.command("hangup")

    def hold(self):
        return self.command("hold")

    def resume(self):
        return self.command("resume")

    def transfer(self, uri):
        return self.command("transfer", uri)

    def send_digits(self, digits):
        for digit in digits:
            self.command("sndcode", digit)

    def count(self, kind):
        return sum(1 for event in self.events if event.get("type") == kind)

    def wait(self, kind, count=1, timeout=30):
        """Waits until an event, such as CALL_INCOMING, CALL_ESTABLISHED or CALL_CLOSED, came so often; returns the last."""
        wait_until(lambda: self.count(kind) >= count, timeout, f"{self.user} (baresip) to see {kind}")
        return [event for event in self.events if event.get("type") == kind][-1]

    def stop(self):
        status = self.process.stop()
        if self._socket:
            self._socket.close()
        return status
