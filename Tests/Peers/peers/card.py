"""Sound cards without hardware: the clocked virtual device of board/bench/vdev."""

import atexit
import glob
import os
import shutil
import subprocess
import tempfile

from .process import need

_SOURCE = os.path.join(os.path.dirname(__file__), "../../../board/bench/vdev/pcm_vdev.c")
_built = {}


def _library():
    """The plug-in, built once a run in a folder that lasts as long."""
    if "path" not in _built:
        folder = tempfile.mkdtemp(prefix="portero-vdev-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, "libasound_module_pcm_vdev.so")
        done = subprocess.run([need("gcc"), "-O2", "-fPIC", "-shared", "-o", path, _SOURCE, "-lasound", "-lm"],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the virtual card did not compile: {done.stderr}")
        _built["path"] = path
    return _built["path"]


class Card:
    """One card: its microphone hears `source` ("tone:HZ" or "zero"); what its speaker plays is recorded."""

    def __init__(self, folder, name="card", source="zero", exclusive=False):
        self.name, self.folder, self.source, self.exclusive = name, folder, source, exclusive
        self.recording, self.log = f"{folder}/{name}.wav", f"{folder}/{name}.log"
        self._gone = f"{folder}/{name}.gone"

    def definition(self):
        lock = f' exclusive "{self.folder}/{self.name}.lock"' if self.exclusive else ""
        return (f'pcm.{self.name} {{ type vdev source "{self.source}" record "{self.recording}" '
                f'log "{self.log}" gone "{self._gone}"{lock} }}\n')

    def unplug(self):
        open(self._gone, "w").close()

    def plug(self):
        os.unlink(self._gone)

    def forget(self):
        """Begins a new recording with the next opening."""
        for path in glob.glob(self.recording + "*"):
            os.unlink(path)

    def recording_at(self, rate):
        """The recording of what was played at another sample rate than at first."""
        return f"{self.recording}.{rate}"

    def opened(self):
        """How often each direction was opened so far."""
        words = [line.split() for line in open(self.log)] if os.path.exists(self.log) else []
        return {way: sum(1 for word in words if word[:2] == ["OPEN", way]) for way in ("play", "cap")}

    @staticmethod
    def configuration(folder, cards):
        """The environment in which ALSA knows these cards and no other; the first is the default."""
        path = f"{folder}/asound.conf"
        with open(path, "w") as file:
            file.write(f'pcm_type.vdev {{ lib "{_library()}" }}\n')
            file.writelines(card.definition() for card in cards)
            file.write(f'pcm.!default {{ type plug slave.pcm "{cards[0].name}" }}\nctl.!default {{ type hw card 0 }}\n')
        return {"ALSA_CONFIG_PATH": path}
