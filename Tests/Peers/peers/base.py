"""The frame of a test: a site of its own, everything started is ended, and on failure the logs are shown."""

import os
import shutil
import tempfile
import time
import unittest

from .card import Card
from .kamailio import Kamailio
from .network import Site, remove_leftovers
from .portero import Portero, account
from .process import missing


class PeerTest(unittest.TestCase):
    """A test with a site. `keep(x)` ends x (by its `stop`) when the test is over and shows its log if the test failed."""

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            missing("root (network namespaces)")
        remove_leftovers()

    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="portero-peers-")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        self.site = Site()
        self.addCleanup(self.site.remove)
        self.kept, self._begin = [], time.monotonic()

    def keep(self, thing):
        self.kept.append(thing)
        self.addCleanup(thing.stop)
        return thing

    def start(self, thing):
        """Keeps it and starts it."""
        return self.keep(thing).start()

    def note(self, text):
        """A time or figure worth reading in the report."""
        print(f"    {text}", flush=True)

    def logs(self):
        """The ends of the logs of everything that was kept."""
        parts = []
        for thing in self.kept:
            process = getattr(thing, "process", None)
            if process is not None:
                parts.append(f"--- {type(thing).__name__} {process.log}\n{process.text()[-6000:]}")
            if isinstance(thing, Portero) and thing.process.alive():
                parts.append(thing.run("status", "--json").stdout)
            for card in getattr(thing, "cards", {}).values():
                parts.append(card.story())
            if hasattr(thing, "messages") and not callable(thing.messages):
                parts.append("--- wire\n" + "\n".join(map(repr, thing.messages[-60:])))
        return "\n".join(parts)


class DoorTest(PeerTest):
    """A site with a registrar `pbx` and a door station on simulated lines and virtual cards: loudspeaker, microphone
    (it hears TONE) and a ringer of its own."""

    TONE = 700

    def setUp(self):
        super().setUp()
        self.pbx = self.start(Kamailio(self.site.leg("pbx"), self.base, challenge_invites=False))
        self.host = self.site.leg("door")
        self.loud, self.mic, self.ring = (
            Card(self.base, "loud"), Card(self.base, "mic", source=f"tone:{self.TONE}"), Card(self.base, "ring"))

    def panel(self, ringer="ring"):
        """The sections that every door station here shares."""
        return f"""[device]
name = Test door

[network]
sip-port = 5060

[audio]
speaker = loud
microphone = mic

[ringer]
device = {ringer}

[button bell]
line = sim:bell
active = high
bias = disabled
press = dial family
while-ringing = answer

[led status]
line = sim:status
active = high
idle = off
registered = on
unregistered = blink
calling = pulse
ringing = fast
talking = on
door-open = 100ms/100ms
fault = 50ms/950ms

"""

    def house(self, **keys):
        """The section of account `house`, user `front` at the registrar."""
        return account("house", "front", self.pbx, **{"codecs": "pcmu", **keys})

    def family(self, *targets, **keys):
        """The group that the bell calls."""
        lines = "".join(f"{key.replace('_', '-')} = {value}\n" for key, value in keys.items())
        return f"[group family]\ntargets = {', '.join(targets)}\n{lines}"

    def whole(self, text, panel=None):
        """Panel and text as one file; the bell does nothing where there is no group."""
        text = (panel or self.panel()) + text
        return text if "[group family]" in text else text.replace("press = dial family", "press = none")

    def door(self, text, panel=None, **keys):
        """A started appliance whose account `house` is registered."""
        portero = self.start(Portero(self.host, self.base, self.whole(text, panel),
                                     cards=[self.loud, self.mic, self.ring], **keys))
        portero.wait_registered("house")
        return portero
