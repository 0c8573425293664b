"""The frame of a test: a site of its own, everything started is ended, and on failure the logs are shown."""

import os
import shutil
import tempfile
import time
import unittest

from .network import Site, remove_leftovers
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
            if hasattr(thing, "messages") and not callable(thing.messages):
                parts.append("--- wire\n" + "\n".join(map(repr, thing.messages[-60:])))
        return "\n".join(parts)
