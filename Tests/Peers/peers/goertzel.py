"""Levels and tones of recordings."""

import array
import math
import struct
import sys

FULL_SCALE = 32768.0


def read_wav(path):
    """(rate, samples) of a 16 bit recording, channel 0, as floats of ±1; a header whose lengths were never filled in is
    taken to run to the end of the file."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError(f"{path} is no WAV file")
    place, rate, channels, bits, tag = 12, 0, 1, 16, 1
    while place + 8 <= len(data):
        name, size = data[place:place + 4], struct.unpack_from("<I", data, place + 4)[0]
        place += 8
        if name == b"fmt ":
            tag, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", data, place)
        elif name == b"data":
            body = data[place:min(place + size, len(data))]
            if bits != 16 or tag not in (1, 0xFFFE):
                raise ValueError(f"{path} has {bits} bits, format {tag}")
            samples = array.array("h", body[:len(body) // (2 * channels) * 2 * channels])
            if sys.byteorder == "big":
                samples.byteswap()
            return rate, [value / FULL_SCALE for value in samples[::channels]]
        place += size + (size & 1)
    return rate, []


def rms(samples):
    return math.sqrt(sum(value * value for value in samples) / len(samples)) if samples else 0.0


def power(samples, rate, hertz):
    """Root mean square of the part of `samples` that is a sine of that frequency."""
    if not samples:
        return 0.0
    coefficient = 2 * math.cos(2 * math.pi * hertz / rate)
    one = two = 0.0
    for value in samples:
        one, two = value + coefficient * one - two, one
    squared = one * one + two * two - coefficient * one * two
    return math.sqrt(max(squared, 0.0) * 2) / len(samples)


def best_stretch(rate, samples, hertz, seconds=1.0):
    """The largest share (0 to 1) that a tone has of any stretch of `seconds` that is not silence, and that stretch's
    level; (0, 0) when there is no such stretch."""
    length = int(rate * seconds)
    best = (0.0, 0.0)
    for start in range(0, len(samples) - length + 1, max(length // 2, 1)):
        part = samples[start:start + length]
        loud = rms(part)
        if loud > 0.003:
            best = max(best, (power(part, rate, hertz) / loud, loud))
    return best
