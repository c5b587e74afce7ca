"""Figures of what the convolution kernels and their dispatcher reach. Drawn by make_figures.py."""

import json
import math
import pathlib

from make_figures import BLUE, GREY, INK, ORANGE, PALE, RED, Drawing, number
from read_results import read_results

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"
CUDNN = ("cudnn", "cudnn_graph")
KIND_WORDS = {"paper": "the paper's kernel", "convolve": "convolve", "cudnn": "cuDNN's fastest"}


def layers_of(name, images=None):
    """[{variant: row}], one for each layer of a results file that has this many images."""
    layers = {}
    for row in read_results(RESULTS / name)["rows"]:
        if images in (None, row["problem"]["N"]):
            layers.setdefault(json.dumps(row["problem"]), {})[row["variant"]] = row
    return list(layers.values())


def milliseconds(row):
    return row["time"]["hot"]["median_ms"]


def library(layer):
    return min((layer[name] for name in CUDNN if layer[name]["time"]["status"] == "MEASURED"),
               key=milliseconds)


def name_of(row):
    p = row["problem"]
    return f"{p['H']}-{p['N']}-{p['R']}-{p['K']}-{p['C']}"


def ratios(name, variant, images=None):
    """[(cuDNN's fastest / the variant, the layer's name)], sorted."""
    return sorted((milliseconds(library(layer)) / milliseconds(layer[variant]), name_of(layer[variant]))
                  for layer in layers_of(name, images))


def wins(found):
    return sum(ratio > 1 for ratio, _ in found)


def steps(d, found, x_of, y_of, above):
    """The sorted ratios on one side of 1, as one area of equal steps."""
    chosen = [(i, ratio) for i, (ratio, _) in enumerate(found) if (ratio > 1) == above]
    if not chosen:
        return
    path = f"M{x_of(chosen[0][0]):.1f} {y_of(1):.1f}"
    for i, ratio in chosen:
        path += f"V{y_of(ratio):.1f}H{x_of(i + 1):.1f}"
    path += f"V{y_of(1):.1f}Z"
    if above:
        d.parts.append(f'<path d="{path}" fill="#d7ecf9" stroke="{BLUE}" stroke-width="1"/>')
    else:
        d.parts.append(f'<path d="{path}" fill="#f8dccb"/>')
        d.parts.append(f'<path d="{path}" fill="url(#backward)" stroke="{RED}" stroke-width="1"/>')


def ratio_panel(d, box, found, ends, labelled):
    """One sorted set in box = (left, top, right, bottom), from ends[0] to ends[1] on a scale of powers of two."""
    left, top, right, bottom = box
    x_of = lambda i: left + i / len(found) * (right - left)
    y_of = lambda v: bottom - math.log2(v / ends[0]) / math.log2(ends[1] / ends[0]) * (bottom - top)
    for power in range(round(math.log2(ends[0])), round(math.log2(ends[1])) + 1):
        d.line(left, y_of(2.0 ** power), right, y_of(2.0 ** power), PALE, 1)
        if labelled:
            d.text(left - 8, y_of(2.0 ** power) + 4, str(2 ** power) if power >= 0 else f"1/{2 ** -power}",
                   12, "end")
    steps(d, found, x_of, y_of, True)
    steps(d, found, x_of, y_of, False)
    d.line(left, y_of(1), right, y_of(1), INK, 2)
    return y_of


def before_and_after(title, papers, variant, name, images, ends):
    """The paper's kernel and convolve over the same layers, each sorted by itself."""
    before, after = ratios(papers, variant, images), ratios(name, "convolve", images)
    d = Drawing(880, 400, title,
                f"Times of cuDNN's fastest float kernel over ours, one step per layer, sorted. {variant}, the "
                f"paper's kernel, is ahead on {wins(before)} of {len(before)} layers, from {before[0][0]:.2f} to "
                f"{before[-1][0]:.2f}; convolve is ahead on {wins(after)} of {len(after)}, from "
                f"{after[0][0]:.2f} to {after[-1][0]:.2f}.")
    d.text(440, 30, title, 16, bold=True)
    for at, (found, words) in enumerate(((before, f"{variant}, the paper's kernel"),
                                         (after, "convolve, a kernel chosen for each layer"))):
        left = 70 + at * 410
        box = (left, 84, left + 380, 330)
        y_of = ratio_panel(d, box, found, ends, at == 0)
        d.text(left + 190, 58, words, 14, bold=True)
        d.text(left + 190, 76, f"ahead of cuDNN on {wins(found)} of {len(found)} layers", 13,
               colour=BLUE if 2 * wins(found) > len(found) else RED)
        low, high = found[0], found[-1]
        d.text(left + 2, 348, f"{low[0]:.2f}: {low[1]}", 12, "start")
        d.text(left + 378, 348, f"{high[0]:.2f}: {high[1]}", 12, "end")
    d.text(14, 40, "cuDNN's time / ours", 12, "start", GREY)
    d.text(440, 374, "Above the line: ours is faster (plain). Below: cuDNN is (hatched). A step is a layer; caches "
           "are warm.", 13)
    d.text(440, 391, f"NVIDIA H200. Files: docs/results/{papers}, {name}", 11, colour=GREY)
    return d


def by_filter_size(title, name, variant, images, ends):
    """cuDNN's fastest over one kernel, one panel per filter size, each sorted by itself."""
    found = {}
    for ratio, layer in ratios(name, variant, images):
        found.setdefault(int(layer.split("-")[2]), []).append((ratio, layer))
    found = dict(sorted(found.items()))
    said = "; ".join(f"{size} x {size}: ahead on {wins(f)} of {len(f)}, from {f[0][0]:.2f} to {f[-1][0]:.2f}"
                     for size, f in found.items())
    d = Drawing(880, 400, f"{variant} beside cuDNN, by the size of the filters",
                f"Times of cuDNN's fastest float kernel over those of {variant}, one step per layer, sorted. {said}.")
    d.text(440, 30, title, 16, bold=True)
    width = 790 // len(found) - 13
    for at, (size, layers) in enumerate(found.items()):
        left = 66 + at * (width + 20)
        ratio_panel(d, (left, 84, left + width, 330), layers, ends, at == 0)
        d.text(left + width / 2, 58, f"{size} x {size}", 14, bold=True)
        d.text(left + width / 2, 76, f"ahead of cuDNN on {wins(layers)} of {len(layers)} layers", 13,
               colour=BLUE if 2 * wins(layers) > len(layers) else RED)
        least, most = (f"{ratio:.2f}: {layer}" for ratio, layer in (layers[0], layers[-1]))
        size_of_text = 12 if len(least + most) <= 36 else 11
        d.text(left + 2, 348, least, size_of_text, "start")
        d.text(left + width - 2, 348, most, size_of_text, "end")
    d.text(440, 374, "Above the line: ours is faster (plain). Below: cuDNN is (hatched). A step is a layer; caches "
           "are warm.", 13)
    d.text(440, 391, f"NVIDIA H200. File: docs/results/{name}", 11, colour=GREY)
    return d


def one_channel():
    return before_and_after("One channel, 27 layers, one image", "bench_chang_onishi_single.json", "adaptive",
                            "convolve_chang_onishi_single.json", None, (0.5, 4))


def many_channels():
    return before_and_after("Many channels, 27 layers, one image", "bench_chang_onishi_multi.json",
                            "stride_fixed_64", "convolve_chang_onishi_multi.json", None, (1 / 16, 16))


def one_image():
    return before_and_after("cuConv's 86 layers, one image", "bench_cuconv.json", "two_stage",
                            "convolve_cuconv.json", 1, (1 / 32, 8))


def batches():
    name, sizes = "convolve_cuconv.json", (1, 8, 16, 32, 64, 128, 256)
    found = {images: ratios(name, "convolve", images) for images in sizes}
    said = ", ".join(f"{wins(found[images])} with {images}" for images in sizes)
    d = Drawing(980, 400, "cuConv's 602 layers: cuDNN's time over convolve's",
                "Seven panels, one for each number of images, with the 86 layers sorted by the ratio. Layers on "
                f"which convolve is ahead: {said} images. The smallest ratio of all is "
                f"{min(f[0][0] for f in found.values()):.2f}.")
    d.text(490, 30, "cuConv's 86 layers at seven batch sizes: cuDNN's time / convolve's", 16, bold=True)
    width = 122
    for at, images in enumerate(sizes):
        left = 62 + at * (width + 8)
        ratio_panel(d, (left, 84, left + width, 330), found[images], (1 / 8, 8), at == 0)
        d.text(left + width / 2, 58, f"{images} image{'s' if images > 1 else ''}", 14, bold=True)
        d.text(left + width / 2, 76, f"{wins(found[images])} of {len(found[images])} ahead", 12)
        low = found[images][0]
        d.text(left + width / 2, 350, f"least {low[0]:.2f}", 12)
    d.text(490, 374, "Above the line: ours is faster (plain). Below: cuDNN is (hatched). A step is a layer; caches "
           "are warm.", 13)
    d.text(490, 391, f"NVIDIA H200. File: docs/results/{name}", 11, colour=GREY)
    return d


def intensity(row):
    """Multiply-adds as 2 flop each, done directly, for each byte of input, filters and output, once."""
    p = row["problem"]
    P = (p["H"] + 2 * p["padding"] - p["R"]) // p["stride"] + 1
    Q = (p["W"] + 2 * p["padding"] - p["S"]) // p["stride"] + 1
    outputs, filters = p["N"] * p["K"] * P * Q, p["K"] * p["C"] * p["R"] * p["S"]
    flop = 2 * outputs * p["C"] * p["R"] * p["S"]
    return flop / (4 * (p["N"] * p["C"] * p["H"] * p["W"] + filters + outputs)), flop


def marks(d, points, kind):
    """All points of one kind in one path: squares, circles or triangles."""
    shape = {"paper": "m0 -4l4 7h-8z", "convolve": "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z",
             "cudnn": "m-3 -3h6v6h-6z"}[kind]
    colour = {"paper": ORANGE, "convolve": BLUE, "cudnn": INK}[kind]
    fill = {"paper": ORANGE, "convolve": "#d7ecf9", "cudnn": "none"}[kind]
    path = "".join(f"M{x:.1f} {y:.1f}{shape}" for x, y in points)
    d.parts.append(f'<path d="{path}" fill="{fill}" stroke="{colour}" stroke-width="1.2"/>')


def rooflines():
    d = Drawing(980, 830, "The recorded sets under the roofs of an NVIDIA H200",
                "Four panels: one channel; many channels; cuConv's layers with one image; with 256 images. In each, "
                "speed against flop per byte for the paper's kernel, convolve and cuDNN's fastest, under the "
                "measured copy and multiply-add roofs. With one channel convolve lies near the copy roof on large "
                "maps. Small layers of one image lie far below both roofs. With 256 images convolve and cuDNN come "
                "near the roofs, and above that of multiply-adds where a method multiplies less often.")
    panels = (("One channel, one image", "chang_onishi_single", "adaptive", None),
              ("Many channels, one image", "chang_onishi_multi", "stride_fixed_64", None),
              ("cuConv's layers, one image", "cuconv", "two_stage", 1),
              ("cuConv's layers, 256 images", "cuconv", "two_stage", 256))
    for at, (title, name, variant, images) in enumerate(panels):
        left, top = 84 + at % 2 * 470, 88 + at // 2 * 366
        right, bottom = left + 400, top + 270
        x_of = lambda v: left + (math.log2(v) + 2) / 13 * (right - left)       # 1/4 ... 2048
        y_of = lambda v: bottom - (math.log10(v) + 1.7) / 4.3 * (bottom - top)  # 0.02 ... 400
        for power in range(-2, 12, 2):
            d.line(x_of(2.0 ** power), top, x_of(2.0 ** power), bottom, PALE, 1)
            d.text(x_of(2.0 ** power), bottom + 18, "1/4" if power < 0 else str(2 ** power), 12)
        for value in (0.1, 1, 10, 100):
            d.line(left, y_of(value), right, y_of(value), PALE, 1)
            d.text(left - 8, y_of(value) + 4, number(value), 12, "end")
        roofs = read_results(RESULTS / f"convolve_{name}.json")["machine"]["roofs"]["gpu"]
        bandwidth, peak = roofs["copy_gb_per_s"] / 1e3, roofs["fp32_gflop_per_s"] / 1e3
        d.polyline([(x_of(0.25), y_of(0.25 * bandwidth)), (x_of(peak / bandwidth), y_of(peak)),
                    (x_of(2048), y_of(peak))], INK, 2)
        points = {"paper": [], "cudnn": [], "convolve": []}
        for row in (layer[variant] for layer in layers_of(f"bench_{name}.json", images)):
            points["paper"].append((row, milliseconds(row)))
        for layer in layers_of(f"convolve_{name}.json", images):
            points["cudnn"].append((layer["convolve"], milliseconds(library(layer))))
            points["convolve"].append((layer["convolve"], milliseconds(layer["convolve"])))
        for kind, found in points.items():
            marks(d, [(x_of(intensity(row)[0]), y_of(intensity(row)[1] / ms / 1e9)) for row, ms in found], kind)
        d.line(left, bottom, right, bottom, INK, 1.4)
        d.line(left, top, left, bottom, INK, 1.4)
        d.text((left + right) / 2, top - 12, title, 14, bold=True)
        d.text(left - 60, top - 12, "TFLOP/s", 12, "start", GREY)
        d.text((left + right) / 2, bottom + 38, "flop per byte of input, filters and output", 12, colour=GREY)
        if at == 0:
            d.text(x_of(0.3), y_of(20), f"copy: {bandwidth:.2f} TB/s", 12, "start")
            d.text(x_of(2000), y_of(peak) - 8, f"multiply-adds: {peak:.1f} TFLOP/s", 12, "end")
    for at, kind in enumerate(("paper", "convolve", "cudnn")):
        x = 190 + at * 230
        marks(d, [(x, 34)], kind)
        d.text(x + 14, 39, KIND_WORDS[kind], 14, "start")
    d.text(490, 814, "A layer's flop are those of the direct method, so Winograd's and FFT may lie above the roof. "
           "Caches are warm. Files: docs/results/bench_*.json, convolve_*.json", 11, colour=GREY)
    return d


FIGURES = {
    "convolve_one_channel": one_channel,
    "convolve_many_channels": many_channels,
    "convolve_one_image": one_image,
    "convolve_batches": batches,
    "convolve_rooflines": rooflines,
}
