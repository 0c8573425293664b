"""linphone-daemon as a phone, headless, driven over its Unix socket."""

import os
import re
import socket

from .card import Card
from .process import Process, need, wait_until


class Linphone:
    """A phone with one account. Its microphone hears a tone; its loudspeaker is recorded."""

    CODECS = ("opus 48000 2", "G722 8000 1", "PCMU 8000 1", "PCMA 8000 1", "speex 8000 1", "speex 16000 1", "speex 32000 1",
              "GSM 8000 1", "iLBC 8000 1", "BV16 8000 1", "L16 44100 1", "L16 44100 2")

    def __init__(self, namespace, base, user, registrar, codecs=("pcmu",), tone=1400, answer="manual", transport="udp",
                 inband_dtmf="rfc2833"):
        self.namespace, self.user, self.registrar = namespace, user, registrar
        self.folder = os.path.join(base, f"linphone-{user}")
        for name in (".local/share/linphone", ".config/linphone"):  # without them it does nothing
            os.makedirs(f"{self.folder}/{name}", exist_ok=True)
        self.card = Card(self.folder, source=f"tone:{tone}")
        port = {"udp": -1, "tcp": -1, "tls": -1, transport: 5060}
        text = f"""[sip]
sip_port={port['udp']}
sip_tcp_port={port['tcp']}
sip_tls_port={port['tls']}
default_proxy=0
use_ipv6=0
inc_timeout=60
publish_presence=0
use_info={1 if inband_dtmf == 'info' else 0}
use_rfc2833={1 if inband_dtmf == 'rfc2833' else 0}
[net]
firewall_policy=none
nat_policy_ref=
[misc]
uuid=00000000-0000-4000-8000-000000000001
file_transfer_server_url=
version_check_url_root=
[video]
enabled=0
capture=0
display=0
automatically_initiate=0
automatically_accept=0
[rtp]
audio_rtp_port=20000-29998
audio_jitt_comp=20
[sound]
echocancellation=0
playback_dev_id=ALSA: card
ringer_dev_id=ALSA: card
capture_dev_id=ALSA: card
remote_ring=
local_ring=
[lime]
enabled=0
x3dh_server_url=
[proxy_0]
reg_proxy=<sip:{registrar.address}:{registrar.port};transport={transport}>
reg_identity=sip:{user}@{registrar.address}
reg_expires=300
reg_sendregister=1
publish=0
quality_reporting_enabled=0
[auth_info_0]
username={user}
passwd={registrar.password}
domain={registrar.address}
"""
        for number, codec in enumerate(self.CODECS):
            mime, rate, channels = codec.split()
            on = 1 if mime.lower() in codecs else 0
            text += f"[audio_codec_{number}]\nmime={mime}\nrate={rate}\nchannels={channels}\nenabled={on}\n"
        with open(f"{self.folder}/linphonerc", "w") as file:
            file.write(text)
        self.pipe = f"portero-{os.getpid()}-{user}"  # it makes /tmp/NAME of it
        env = dict(HOME=self.folder, **Card.configuration(self.folder, [self.card]))
        self.process = Process(
            [need("linphone-daemon"), "--config", f"{self.folder}/linphonerc", "--pipe", self.pipe, "--disable-stats-events",
             *(["--auto-answer"] if answer == "auto" else [])], f"{self.folder}/log", namespace, env)
        self._socket = None

    def start(self):
        if os.path.exists(f"/tmp/{self.pipe}"):
            os.unlink(f"/tmp/{self.pipe}")
        self.process.start()
        wait_until(lambda: self.command("version"), 30, "linphone's control socket")
        return self

    def command(self, words):
        """Sends one line and returns the answer, which ends with the socket's silence. There is one connection for
        the whole life: the daemon refuses a second client, and notices late that one has gone."""
        if self._socket is None:
            link = socket.socket(socket.AF_UNIX)
            try:
                link.connect(f"/tmp/{self.pipe}")
            except OSError:
                link.close()
                raise
            self._socket = link
        self._socket.sendall(words.encode() + b"\n")
        answer = b""
        self._socket.settimeout(5)
        while not re.search(rb"^Status: [^\n]*\n", answer, re.M):
            more = self._socket.recv(65536)
            if not more:
                raise OSError("linphone-daemon closed its control socket")
            answer += more
        self._socket.settimeout(0.1)
        try:
            while more := self._socket.recv(65536):
                answer += more
        except TimeoutError:
            pass
        return answer.decode("utf-8", "replace")

    def dial(self, uri):
        """Calls and returns linphone's number of the call."""
        answer = self.command(f"call {uri}")
        found = re.search(r"^Id: (\d+)", answer, re.M)
        if not found:
            raise AssertionError(f"linphone did not call {uri}: {answer}")
        return int(found[1])

    def state(self, call=1):
        """The call's state in linphone's words, such as LinphoneCallStreamsRunning; empty when there is none."""
        found = re.search(r"^State: (\S+)", self.command(f"call-status {call}"), re.M)
        return found[1] if found else ""

    def wait_state(self, state, call=1, timeout=30):
        wait_until(lambda: self.state(call) == state, timeout, f"{self.user} (linphone) call {call} to be {state}", 0.2)

    def registered(self):
        return "LinphoneRegistrationOk" in self.command("register-status 1")

    def answer(self, call=1):
        return self.command(f"answer {call}")

    def hangup(self, call=1):
        return self.command(f"terminate {call}")

    def hold(self, call=1):
        return self.command(f"call-pause {call}")

    def resume(self, call=1):
        return self.command(f"call-resume {call}")

    def transfer(self, uri, call=1):
        return self.command(f"call-transfer {call} {uri}")

    def send_digits(self, digits):
        for digit in digits:
            self.command(f"dtmf {digit}")

    def stop(self):
        if self._socket:
            self._socket.close()
            self._socket = None
        status = self.process.stop()
        if os.path.exists(f"/tmp/{self.pipe}"):
            os.unlink(f"/tmp/{self.pipe}")
        return status
