#!/usr/bin/env python3
"""Compares a 1D stage with SciPy on real recordings.

    compare_with_scipy.py PROGRAM [ARGUMENT...]
    compare_with_scipy.py --all-variants build/stages/03_conv1d_constant-cuda
    compare_with_scipy.py --variant warp_tile ./halo run 04

Runs `PROGRAM ARGUMENT... --input FILE --mask SPEC --output FILE` on the recordings of Debian's
package alsa-utils (16-bit WAV), on a stereo file made of two of them and on NPY files, with masks
that are not symmetric, and compares what it writes with scipy.ndimage.correlate1d(mode='constant')
in double precision. A sample is right if |output - expected| <= gamma(W) * sum|a||b|, with
gamma(W) = W*u / (1 - W*u) and u = 2^-24.

Exit status: 0 all right, 1 something differs, 2 wrong use, 77 not run (with the reason).
"""
import os
import warnings

import with_scipy  # before what needs SciPy
from with_scipy import not_run, require_found, worst_share

import numpy as np
from scipy.io import wavfile
from scipy.ndimage import correlate1d

RECORDINGS = "/usr/share/sounds/alsa"


def read_recording(name):
    """The samples of a 16-bit recording: float32 [samples], the file's whole numbers / 32768."""
    path = os.path.join(RECORDINGS, name)
    if not os.path.exists(path):
        not_run(f"there is no {path}; install it (Debian, Ubuntu: apt-get install alsa-utils)")
    samples = read_wav(path)
    if samples.dtype != np.int16 or samples.ndim != 1:
        not_run(f"{path} is not a 16-bit recording of one channel")
    return samples.astype(np.float32) / np.float32(32768)


def asymmetric_mask(width, seed):
    """float32 [width]: random weights of both signs under a slope, so that no two are alike."""
    random = np.random.default_rng(seed)
    weights = random.uniform(0.1, 1.0, width) * random.choice([-1.0, 1.0], width)
    return (weights * np.linspace(1.0, 0.2, width) / width).astype(np.float32)


def expected(channel, mask):
    """What SciPy gives for one channel, and the bound of the error; both float64 [samples]."""
    a = channel.astype(np.float64)
    m = mask.astype(np.float64)
    value = correlate1d(a, m, mode="constant", cval=0.0)
    scale = correlate1d(np.abs(a), np.abs(m), mode="constant", cval=0.0)
    wu = len(mask) * 2.0**-24
    return value, wu / (1 - wu) * scale


def read_wav(path):
    """scipy.io.wavfile.read, quiet about chunks that hold no samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wavfile.WavFileWarning)
        return wavfile.read(path)[1]


class Case:
    """One run: a file, a mask, where the result goes, and what it must be."""

    def __init__(self, folder, name, channels, mask, *, spec=None, source=None, target="npy",
                 border="zero", dtype=None):
        self.name = name
        self.channels = channels  # a list of float32 [samples]
        self.mask = mask
        self.border = border
        stem = os.path.join(folder, name.replace(" ", "_").replace(",", ""))
        self.target = f"{stem}.out.{target}"
        self.spec = spec
        if spec is None:
            self.spec = f"{stem}.mask.npy"
            np.save(self.spec, mask)
        self.source = source
        if source is None:
            self.source = f"{stem}.npy"
            stacked = np.stack(channels) if len(channels) > 1 else channels[0]
            np.save(self.source, stacked.astype(dtype or np.float32))
        self.options = ["--input", self.source, "--mask", self.spec]
        if border != "zero":
            self.options += ["--border", border]

    def output(self):
        """What the program wrote: float32 [channels][samples]."""
        if self.target.endswith(".npy"):
            array = np.load(self.target)
        else:
            array = read_wav(self.target).T
        if array.dtype != np.float32:
            raise ValueError(f"the output is of type {array.dtype}, not float32")
        return np.atleast_2d(array)

    def judge(self):
        """Empty if the output is right, else what is wrong; and the worst share of the bound."""
        output = self.output()
        wanted = (len(self.channels), len(self.channels[0]))
        if output.shape != wanted:
            return f"the output has the shape {output.shape}, not {wanted}", np.inf
        worst = 0.0
        for c, channel in enumerate(self.channels):
            value, bound = expected(channel, self.mask)
            if self.border == "report":
                halo = len(self.mask) // 2
                for array in (value, bound):
                    array[:halo] = 0
                    array[len(array) - halo:] = 0
            share, index = worst_share(output[c], value, bound)
            worst = max(worst, share)
            if not share <= 1:
                return (f"channel {c}, sample {index}: found {output[c][index]!r}, "
                        f"expected {value[index]!r}, {share:.3g} times the bound"), share
        return "", worst

    def said(self, share):
        samples = sum(len(channel) for channel in self.channels)
        return f"{samples} samples, worst error {share:.3f} of its bound"


def make_cases(folder):
    """Every kind of input, output, mask and border at least once."""
    cases = []

    def wav(name):
        return dict(source=os.path.join(RECORDINGS, name))

    front = read_recording("Front_Center.wav")
    cases.append(Case(folder, "Front_Center.wav, mask 1", [front],
                      np.array([1], np.float32), spec="1.0", **wav("Front_Center.wav")))
    cases.append(Case(folder, "Front_Center.wav, mask 0.3 0.2 0.8", [front],
                      np.array([0.3, 0.2, 0.8], np.float32), spec="0.3,0.2,0.8",
                      **wav("Front_Center.wav")))
    cases.append(Case(folder, "Noise.wav, mask of 9, WAV out", [read_recording("Noise.wav")],
                      asymmetric_mask(9, 1), target="wav", **wav("Noise.wav")))
    cases.append(Case(folder, "Rear_Left.wav, mask of 31", [read_recording("Rear_Left.wav")],
                      asymmetric_mask(31, 2), **wav("Rear_Left.wav")))
    cases.append(Case(folder, "Side_Right.wav, mask of 31, border report",
                      [read_recording("Side_Right.wav")], asymmetric_mask(31, 3), border="report",
                      **wav("Side_Right.wav")))

    left, right = read_recording("Side_Left.wav"), read_recording("Rear_Right.wav")
    length = min(len(left), len(right), 20_011)
    channels = [left[-length:], right[-length:]]
    stereo = os.path.join(folder, "stereo.wav")
    wavfile.write(stereo, 44100, (np.stack(channels).T * 32768).astype(np.int16))
    cases.append(Case(folder, "stereo, mask of 15, WAV out", channels, asymmetric_mask(15, 4),
                      source=stereo, target="wav"))

    voice = front[20_000:24_001]  # not silence
    cases.append(Case(folder, "NPY float64, mask of 255", [voice], asymmetric_mask(255, 5),
                      dtype=">f8"))
    cases.append(Case(folder, "NPY two channels, mask of 5", [voice, voice[::-1].copy()],
                      asymmetric_mask(5, 6)))
    cases.append(Case(folder, "the widest mask, 1023", [voice], asymmetric_mask(1023, 7)))
    cases.append(Case(folder, "a mask longer than the signal", [voice[:20]],
                      asymmetric_mask(63, 8)))
    return cases


def require_a_judge_that_can_fail(cases):
    """In every case that they touch."""
    for case in cases:
        if len(case.mask) == 1:
            continue
        value, bound = expected(case.channels[0], case.mask)
        flipped, _ = expected(case.channels[0], case.mask[::-1].copy())
        shifted = np.roll(value, 1)
        unwritten = value.copy()
        unwritten[len(value) // 2] = np.nan
        for what, wrong in (("flipped", flipped), ("shifted", shifted), ("NaN", unwritten)):
            require_found(case, what, wrong, value, bound)


def cases_in(folder, _):
    cases = make_cases(folder)
    require_a_judge_that_can_fail(cases)
    return cases


if __name__ == "__main__":
    with_scipy.main("Compares a 1D stage with scipy.ndimage.correlate1d on real recordings.", cases_in)
