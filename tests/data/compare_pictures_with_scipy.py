#!/usr/bin/env python3
"""Compares a 2D stage with SciPy on pictures.

    compare_pictures_with_scipy.py PROGRAM [ARGUMENT...]
    compare_pictures_with_scipy.py build/stages/06_conv2d_direct-cuda
    compare_pictures_with_scipy.py --all-variants --whole ./halo run 06

Runs `PROGRAM ARGUMENT... --input FILE --filter SPEC --output FILE` on the two photographs that
scikit-learn ships (cut out of them, unless --whole is given), on random pictures and on NPY files, with
every kind of filter, and compares the .npy output with scipy.ndimage.correlate(mode='constant') in
double precision. A pixel is right if |output - expected| <= gamma(L) * sum|a||b|, with L = R*S,
gamma(L) = L*u / (1 - L*u) and u = 2^-24. PNG output must be what those values give when rounded and
clipped, and is read by Pillow.

Without scikit-learn the photographs are not run, without Pillow no PNG files are.

Exit status: 0 all right, 1 something differs, 2 wrong use, 77 not run (with the reason).
"""
import os

import with_scipy  # before what needs SciPy
from with_scipy import require_found, worst_share

import numpy as np
from scipy.ndimage import correlate

try:
    from PIL import Image
except ImportError:
    Image = None

SOBEL = np.array([[[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]],
                 np.float32)


def box(size):
    """float32 [1][size][size], as --filter box:size."""
    return np.full((1, size, size), 1 / (size * size), np.float32)


def gaussian(size):
    """float32 [1][size][size], as --filter gaussian:size: sigma is size / 6."""
    distance = (np.arange(size) - size // 2) / (size / 6)
    bell = np.exp(-0.5 * distance * distance)
    bell /= sum(bell)
    return np.outer(bell, bell).astype(np.float32)[np.newaxis]


def asymmetric(count, rows, columns, seed):
    """float32 [count][rows][columns]: weights of both signs under a slope, no two alike."""
    random = np.random.default_rng(seed)
    weights = random.uniform(0.1, 1.0, (count, rows, columns)) * random.choice(
        [-1.0, 1.0], (count, rows, columns))
    slope = np.linspace(1.0, 0.3, rows * columns).reshape(rows, columns)
    return (weights * slope / (rows * columns)).astype(np.float32)


def expected(channels, filters):
    """What SciPy gives, and the bound of the error; both float64 [filter][channel][row][column]."""
    wu = filters[0].size * 2.0**-24
    values, scales = [], []
    for taps in filters.astype(np.float64):
        values.append([correlate(c, taps, mode="constant") for c in channels.astype(np.float64)])
        scales.append([correlate(np.abs(c), np.abs(taps), mode="constant")
                       for c in channels.astype(np.float64)])
    return np.array(values), wu / (1 - wu) * np.array(scales)


class Case:
    """One run: a picture, filters, where the result goes, and what it must be."""

    def __init__(self, folder, name, channels, filters, *, spec=None, kind="png", target="npy"):
        self.name = name
        self.channels = channels  # float32 [channel][row][column], 0 ... 255
        self.filters = filters    # float32 [K][R][S]
        stem = os.path.join(folder, "".join(c if c.isalnum() else "_" for c in name))
        self.source = f"{stem}.{kind}"
        self.target = f"{stem}.out.{target}"
        self.spec = spec
        if spec is None:
            self.spec = f"{stem}.filter.npy"
            np.save(self.spec, filters if len(filters) > 1 else filters[0])
        if kind == "npy":
            np.save(self.source, channels if len(channels) > 1 else channels[0])
        else:
            pixels = channels.astype(np.uint8)
            Image.fromarray(pixels[0] if len(pixels) == 1 else np.moveaxis(pixels, 0, 2)).save(
                self.source)
        self.options = ["--input", self.source, "--filter", self.spec]

    def judge(self):
        """Empty if the output is right, else what is wrong; and the worst share of the bound."""
        value, bound = expected(self.channels, self.filters)
        if self.target.endswith(".npy"):
            output = np.load(self.target)
            if output.dtype != np.float32 or output.shape != value.shape:
                return (f"the output is {output.dtype} {output.shape}, not float32 {value.shape}"), np.inf
            share, index = worst_share(output, value, bound)
            if not share <= 1:
                return (f"filter, channel, row, column {index}: found {output[index]!r}, expected "
                        f"{value[index]!r}, {share:.3g} times the bound"), share
            return "", share
        # A picture: what rounds to either side of a half within the bound may do so.
        shown = value[0] if len(value) == 1 else np.sqrt((value**2).sum(axis=0))
        slack = bound.sum(axis=0) + 1e-4
        pixels = np.asarray(Image.open(self.target))
        if pixels.dtype != np.uint8:
            return f"the output is of type {pixels.dtype}, not 8-bit", np.inf
        output = pixels[np.newaxis] if pixels.ndim == 2 else np.moveaxis(pixels, 2, 0)
        if output.shape != shown.shape:
            return f"the output has the shape {output.shape}, not {shown.shape}", np.inf
        error = np.abs(output - np.clip(shown, 0, 255))
        index = np.unravel_index(int(np.argmax(error - slack)), error.shape)
        if not error[index] <= 0.5 + slack[index]:
            return f"channel, row, column {index}: found {output[index]}, expected {shown[index]}", np.inf
        return "", 0.0

    def said(self, share):
        error = f"worst error {share:.3f} of its bound" if self.target.endswith(".npy") else "as rounded"
        return f"{self.channels.size * len(self.filters)} outputs, {error}"


def photographs():
    """The two of scikit-learn: float32 [3][427][640]; none where it is missing."""
    try:
        from sklearn.datasets import load_sample_image
    except ImportError as error:
        print(f"NOT RUN: the photographs: {error}; install scikit-learn (pip install scikit-learn)")
        return []
    return [np.moveaxis(load_sample_image(f"{name}.jpg"), 2, 0).astype(np.float32)
            for name in ("china", "flower")]


def make_cases(folder, whole):
    """Every kind of picture, output and filter at least once."""
    random = np.random.default_rng(7)
    cases = []

    def add(name, channels, filters, **others):
        kinds = (others.get("kind", "png"), others.get("target", "npy"))
        if "png" in kinds and Image is None:
            print(f"NOT RUN: {name}: Pillow writes and reads PNG files; install it (pip install pillow)")
            return
        cases.append(Case(folder, name, channels, filters, **others))

    named = [("sobel", SOBEL), ("gaussian:5", gaussian(5)), ("box:7", box(7))]
    for photograph, title in zip(photographs(), ("china", "flower")):
        colour = photograph if whole else photograph[:, 100:221, 200:331]
        grey = np.round(colour.mean(axis=0, keepdims=True))
        for spec, filters in named:
            add(f"{title}, RGB, {spec}", colour, filters, spec=spec)
            add(f"{title}, grey, {spec}", grey, filters, spec=spec)
        for spec, filters in named:
            add(f"{title}, RGB, {spec}, PNG out", colour, filters, spec=spec, target="png")
        add(f"{title}, grey, sobel, PNG out", grey, SOBEL, spec="sobel", target="png")
        add(f"{title}, RGB, a file of 5 x 3", colour, asymmetric(1, 5, 3, 1))
    pixels = random.integers(0, 256, (3, 37, 53)).astype(np.float32)
    for spec, filters in named:
        add(f"random RGB, {spec}", pixels, filters, spec=spec)
        add(f"random grey, {spec}, PNG out", pixels[:1], filters, spec=spec, target="png")
    add("random RGB, 11 filters of 3 x 5", pixels, asymmetric(11, 3, 5, 2))
    add("random grey, a filter of 31 x 1", pixels[:1], asymmetric(1, 31, 1, 3))
    add("random grey, a filter larger than the picture", pixels[:1, :9, :14], asymmetric(1, 41, 33, 4))
    add("a single pixel, gaussian:5", pixels[:1, :1, :1], gaussian(5), spec="gaussian:5")
    add("a single column, sobel", pixels[:, :, :1], SOBEL, spec="sobel")
    floats = random.normal(0, 1e3, (2, 20, 41)).astype(np.float32)
    add("NPY two channels, a file of 7 x 7", floats, asymmetric(1, 7, 7, 5), kind="npy")
    add("NPY grey, 2 filters of 1 x 9", floats[:1], asymmetric(2, 1, 9, 6), kind="npy")
    return cases


def require_a_judge_that_can_fail(cases):
    """In every case that they touch."""
    for case in cases:
        if case.channels[0].size == 1:
            continue
        value, bound = expected(case.channels, case.filters)
        unwritten = value.copy()
        unwritten.flat[value.size // 2] = np.nan
        wrongs = [("shifted", np.roll(value, 1, axis=2 if value.shape[3] == 1 else 3)),
                  ("NaN", unwritten)]
        flipped = case.filters[:, ::-1, ::-1]
        if not np.array_equal(flipped, case.filters):
            wrongs.append(("flipped", expected(case.channels, flipped)[0]))
        if len(case.filters) > 1:
            wrongs.append(("exchanged", value[::-1]))
        for what, wrong in wrongs:
            require_found(case, what, wrong, value, bound)


def cases_in(folder, options):
    cases = make_cases(folder, options.whole)
    require_a_judge_that_can_fail(cases)
    return cases


if __name__ == "__main__":
    with_scipy.main("Compares a 2D stage with scipy.ndimage.correlate on pictures.", cases_in,
                    whole="the photographs whole, 427 x 640")
