"""Sound cards without hardware: the clocked virtual device of board/bench/vdev."""

import glob
import os
import subprocess

from .goertzel import best_stretch, read_wav, rms
from .process import need

_ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
_SOURCE = os.path.join(_ROOT, "board/bench/vdev/pcm_vdev.c")


def _library():
    """The plug-in, compiled when its source is newer."""
    path = os.path.join(_ROOT, ".build/peers/libasound_module_pcm_vdev.so")
    if os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(_SOURCE):
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    new = f"{path}.{os.getpid()}"
    done = subprocess.run([need("gcc"), "-O2", "-fPIC", "-shared", "-o", new, _SOURCE, "-lasound", "-lm"],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the virtual card did not compile: {done.stderr}")
    os.rename(new, path)
    return path


class Card:
    """One card: its microphone hears `source` ("tone:HZ" or "zero"); what its speaker plays is recorded."""

    def __init__(self, folder, name="card", source="zero", exclusive=False):
        self.name, self.folder, self.source, self.exclusive = name, folder, source, exclusive
        self.recording, self.log = f"{folder}/{name}.wav", f"{folder}/{name}.log"
        self._heard = {}
        self._gone = f"{folder}/{name}.gone"

    def definition(self):
        lock = f' exclusive "{self.folder}/{self.name}.lock"' if self.exclusive else ""
        return (f'pcm.{self.name} {{ type vdev source "{self.source}" record "{self.recording}" '
                f'log "{self.log}" gone "{self._gone}"{lock} }}\n')

    def unplug(self):
        open(self._gone, "w").close()

    def plug(self):
        os.unlink(self._gone)

    def recordings(self):
        """The files: one for each rate at which it was opened."""
        return sorted(glob.glob(glob.escape(self.recording) + "*"))

    def forget(self):
        """From here on only what is played later counts."""
        self._heard = {path: len(read_wav(path)[1]) for path in self.recordings()}

    def _parts(self):
        for path in self.recordings():
            rate, samples = read_wav(path)
            yield rate, samples[self._heard.get(path, 0):]

    def level(self, tone, seconds=1.0):
        """(share, level) of the stretch of so many seconds in which the tone dominates most."""
        return max((best_stretch(rate, samples, tone, seconds) for rate, samples in self._parts()), default=(0.0, 0.0))

    def loudness(self):
        """Root mean square of everything, 0 to 1; 0 when nothing was played."""
        return max((rms(samples) for _, samples in self._parts()), default=0.0)

    def opened(self):
        """How often each direction was opened so far."""
        words = [line.split() for line in open(self.log)] if os.path.exists(self.log) else []
        return {way: sum(1 for word in words if word[:2] == ["OPEN", way]) for way in ("play", "cap")}

    def story(self):
        """What happened to it, and what was recorded."""
        lines = open(self.log).read() if os.path.exists(self.log) else ""
        files = [f"{os.path.basename(path)} {os.path.getsize(path)} octets" for path in self.recordings()]
        return f"--- card {self.name}: {', '.join(files)}\n{lines[-1500:]}"

    @staticmethod
    def configuration(folder, cards):
        """The environment in which ALSA knows these cards and no other; the first is the default."""
        path = f"{folder}/asound.conf"
        with open(path, "w") as file:
            file.write(f'pcm_type.vdev {{ lib "{_library()}" }}\n')
            file.writelines(card.definition() for card in cards)
            file.write(f'pcm.!default {{ type plug slave.pcm "{cards[0].name}" }}\nctl.!default {{ type hw card 0 }}\n')
        return {"ALSA_CONFIG_PATH": path}
