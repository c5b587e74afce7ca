"""The figures of stage 11: windows that overlap, lanes over memory, the last window of a row, and what was measured."""

import math

from make_figures import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, Drawing
from read_results import read_results
from stage_convolve import RESULTS

POOLING = "bench_pooling.json"
CUDNN = ("cudnn_nchw", "cudnn_chwn")


def hollow(d, x, y, w, h, colour, width=3.0, dashed=False):
    """A frame over what is there already."""
    d.rect(x, y, w, h, "ghost", stroke=colour, width=width, dashed=dashed)
    d.parts[-1] = d.parts[-1].replace('fill="#ffffff"', 'fill="none"')


def windows_overlap():
    size, x0, y0 = 50, 60, 92
    d = Drawing(860, 424, "Four windows of 3 x 3 at stride 2, and how often each cell is read",
                "Five by five cells under two by two outputs. The four corner blocks of two by two "
                "cells lie in one window each; the middle row and the middle column in two, and the "
                "cell in the middle in all four. Together the windows have 36 cells, but there are "
                "only 25 different ones.")
    d.text(x0 + 2.5 * size, 40, "cells, and the windows they lie in", 15, bold=True)
    for h in range(5):
        for w in range(5):
            times = (1 + (h == 2)) * (1 + (w == 2))
            d.rect(x0 + w * size, y0 + h * size, size, size,
                   {1: "plain", 2: "halo", 4: "bad"}[times], stroke=GREY)
            d.text(x0 + (w + 0.5) * size, y0 + (h + 0.62) * size, str(times), 18, bold=times > 1,
                   halo=times > 1)
    for p, q, colour, inset in ((0, 0, BLUE, 3), (0, 1, GREEN, 3), (1, 0, PURPLE, 3), (1, 1, INK, 3)):
        hollow(d, x0 + 2 * q * size + inset, y0 + 2 * p * size + inset, 3 * size - 2 * inset,
               3 * size - 2 * inset, colour, 3, dashed=(p + q) % 2 == 1)
    d.text(x0 + 2.5 * size, y0 + 5 * size + 30, "once: 16 cells, twice: 8, four times: 1", 13,
           colour=GREY)
    d.text(x0 + 2.5 * size, y0 + 5 * size + 50, "16 + 16 + 4 = 36 reads of 25 cells", 13, colour=GREY)

    x1 = 440
    d.text(x1 + 190, 40, "one output per thread", 15, bold=True)
    for i, colour in enumerate((BLUE, GREEN, PURPLE, INK)):
        d.rect(x1 + i * 98, 60, 86, 58, "pale", stroke=colour, width=2.4, radius=6)
        d.text(x1 + i * 98 + 43, 86, f"thread {i}", 13, bold=True)
        d.text(x1 + i * 98 + 43, 106, "9 loads", 13)
    d.text(x1 + 190, 146, "36 loads, 4 stores", 14, colour=RED)
    d.text(x1 + 190, 204, "2 x 2 outputs per thread", 15, bold=True)
    d.rect(x1 + 40, 222, 300, 116, "tile", radius=6)
    d.text(x1 + 190, 248, "one thread", 13, bold=True, halo=True)
    d.text(x1 + 190, 270, "25 loads, each into a register", 13, halo=True)
    for i, colour in enumerate((BLUE, GREEN, PURPLE, INK)):
        d.rect(x1 + 58 + i * 68, 286, 60, 36, "plain", stroke=colour, width=2.4)
        d.text(x1 + 88 + i * 68, 309, f"result {i}", 11)
    d.text(x1 + 190, 364, "25 loads, 4 stores", 14, colour=GREEN)
    d.text(x1 + 190, 392, "a quarter of the threads, four results in each", 13, colour=GREY)
    return d


def lanes_over_memory():
    cell, x0 = 15, 90
    d = Drawing(900, 468, "What one request touches in each layout",
                "In NCHW a warp's lanes are neighbouring outputs, and with stride 2 they read every "
                "second cell of a row of the image: 32 lanes reach over 63 cells, eight or nine "
                "sectors, and use half of each. In CHWN the lanes are 32 images. The same cell of 32 images is one "
                "run of 32 cells: four sectors, wholly used.")
    d.text(450, 34, "NCHW: lanes are neighbouring outputs; one request for the first column of windows", 15,
           bold=True)
    y = 74
    columns = 48
    for w in range(columns):
        d.rect(x0 + w * cell, y, cell, 30, "read" if w % 2 == 0 else "plain", stroke=GREY, width=0.6)
    for sector in range(columns // 8):
        hollow(d, x0 + sector * 8 * cell, y - 2, 8 * cell, 34, INK, 2)
        d.text(x0 + (sector + 0.5) * 8 * cell, y - 10, f"sector {sector}", 12, colour=GREY)
    for lane in (0, 1, 2, 23):
        at = x0 + (2 * lane + 0.5) * cell
        d.line(at, y + 62, at, y + 33, BLUE, 1.6, arrow=True)
        d.text(at, y + 76, str(lane), 12, colour=BLUE)
    d.text(x0 + 10 * cell, y + 76, "… lanes, one per output", 13, "start", BLUE)
    d.text(x0 + columns * cell + 8, y + 20, "… 63 cells", 12, "start", GREY)
    d.text(x0 - 10, y + 20, "row h", 12, "end", GREY)
    d.text(450, y + 106, "8 or 9 sectors for 32 cells; the cells between are for the next request", 13,
           colour=RED)
    d.line(40, 206, 860, 206, GREY, 1, dashed=True)

    d.text(450, 238, "CHWN: lanes are images; one request for the first cell of a window", 15, bold=True)
    y = 282
    images = 32
    for n in range(48):
        d.rect(x0 + n * cell, y, cell, 30, "read" if n < images else "plain", stroke=GREY, width=0.6)
    for sector in range(6):
        hollow(d, x0 + sector * 8 * cell, y - 2, 8 * cell, 34, INK, 2)
        d.text(x0 + (sector + 0.5) * 8 * cell, y - 10, f"sector {sector}", 12, colour=GREY)
    for lane in (0, 1, 2, 31):
        at = x0 + (lane + 0.5) * cell
        d.line(at, y + 62, at, y + 33, BLUE, 1.6, arrow=True)
        d.text(at, y + 76, str(lane), 12, colour=BLUE)
    d.text(x0 + 8 * cell, y + 76, "… lanes, one per image", 13, "start", BLUE)
    d.text(x0 - 10, y + 20, "cell h, w", 12, "end", GREY)
    d.brace(x0 + 32 * cell, x0 + 48 * cell, y + 38, "images 32, 33, …: the next warp", size=12, colour=GREY)
    d.text(450, y + 106, "4 sectors for 32 cells, whatever window and stride are", 13, colour=GREEN)
    d.text(450, y + 136, "and the next column of the window, w + 1, lies N cells further on", 13, colour=GREY)
    d.text(450, 448, "With N = 8, 24 of the 32 lanes would have no image: the layout wants many.", 13,
           colour=GREY)
    return d


def last_window():
    size, x0 = 42, 150
    d = Drawing(860, 372, "Which windows there are: floor and ceil",
                "Eight cells in a row and windows of three at stride 2. Three windows lie on the row "
                "as a whole. With floor these are all. With ceil there is a fourth, which reaches one "
                "cell beyond the edge. Below: with padding 1 on the left a row of five cells and windows of "
                "two at stride 3; the window that would begin beyond the last cell is left out.")

    def row(y, cells, left, right, windows, words):
        d.text(x0 - 20, y + 26, words, 13, "end", bold=True)
        for w in range(-left, cells + right):
            ghost = w < 0 or w >= cells
            d.rect(x0 + (w + left) * size, y, size, size, "ghost" if ghost else "plain", dashed=ghost,
                   stroke=GREY if ghost else INK)
            if not ghost:
                d.text(x0 + (w + left + 0.5) * size, y + 26, str(w), 13, colour=GREY)
        for i, (first, width, colour, said) in enumerate(windows):
            at = y + size + 10 + i % 2 * 20
            left_x = x0 + (first + left) * size
            d.line(left_x + 4, at, left_x + width * size - 4, at, colour, 4)
            d.text(left_x + width * size + 4, at + 4, said, 12, "start", colour)

    windows = [(0, 3, BLUE, ""), (2, 3, GREEN, ""), (4, 3, BLUE, "")]
    row(52, 8, 0, 1, windows, "floor: 3")
    d.text(x0 + 9 * size + 20, 78, "(8 − 3) / 2 = 2.5; floor 2, + 1 = 3", 13, "start")
    d.text(x0 + 9 * size + 20, 98, "cell 7 is in no window", 13, "start", GREY)
    row(156, 8, 0, 1, windows + [(6, 3, ORANGE, "cells 6, 7")], "ceil: 4")
    d.text(x0 + 9 * size + 20, 182, "ceil 3, + 1 = 4", 13, "start")
    d.text(x0 + 9 * size + 20, 202, "the ghost cell takes no part", 13, "start", GREY)
    row(260, 5, 1, 3, [(-1, 2, BLUE, ""), (2, 2, GREEN, ""), (5, 2, RED, "left out")], "ceil: 2")
    d.text(x0 + 9 * size + 20, 286, "(5 + 2·1 − 2) / 3; ceil 2, + 1 = 3", 13, "start")
    d.text(x0 + 9 * size + 20, 306, "but the third has no cell: 2", 13, "start", GREY)
    return d


def layers():
    """[(PL number, name, {variant: hot milliseconds})] of the paper's table, in its order."""
    found = {}
    for row in read_results(RESULTS / POOLING)["rows"]:
        if row["time"]["status"] == "MEASURED":
            found.setdefault(row["label"], {})[row["variant"]] = row["time"]["hot"]["median_ms"]
    if len(found) != 10:
        raise SystemExit(f"make_figures: {POOLING} has {len(found)} layers, and not PL1 to PL10")
    return [(f"PL{i}", name, times) for i, (name, times) in enumerate(found.items(), 1)]


def beside_cudnn():
    """Each layer: cuDNN's faster layout over ours, one output per thread and with reuse, in both layouts."""
    shown = []
    for number, name, times in layers():
        best = min(times[library] for library in CUDNN)
        shown.append((best / min(times["nchw_reuse"], times["chwn_reuse"]), number, name,
                      {variant: best / times[variant] for variant in ("nchw", "chwn", "nchw_reuse", "chwn_reuse")}))
    shown.sort()
    said = "; ".join(f"{number}: " + ", ".join(f"{variant} {ratio:.2f}" for variant, ratio in of.items())
                     for _, number, _, of in shown)
    top, step = 96, 30
    bottom = top + step * len(shown)
    d = Drawing(820, bottom + 84, "Pooling beside cuDNN",
                f"Time of cuDNN's faster layout over ours, one line per layer, sorted. {said}.")
    d.text(410, 30, "cuDNN's time, in its faster layout / ours", 16, bold=True)
    left, scale = 490, 230
    x_of = lambda ratio: left + scale * math.log2(ratio)
    low = x_of(0.42)
    d.rect(low, top - 14, x_of(1) - low, bottom - top + 10, "bad", stroke=None)
    for ratio in (0.5, 0.7, 1, 1.4, 2):
        d.line(x_of(ratio), top - 14, x_of(ratio), bottom - 4, INK, 1.8 if ratio == 1 else 0.6)
        d.text(x_of(ratio), bottom + 14, f"{ratio:g}", 12, colour=GREY)

    def mark(x, y, variant):
        reuse, colour = variant.endswith("_reuse"), BLUE if variant.startswith("nchw") else "#a35c00"
        if variant.startswith("nchw"):
            d.circle(x, y, 6, colour, colour if reuse else "#ffffff")
        else:
            d.rect(x - 5.5, y - 5.5, 11, 11, stroke=colour, width=1.8)
            if reuse:
                d.parts[-1] = d.parts[-1].replace('fill="#ffffff"', f'fill="{colour}"')

    for i, (_, number, name, of) in enumerate(shown):
        for layout, dy in (("nchw", -6), ("chwn", 6)):
            y = top + step * i + dy
            d.line(x_of(of[layout]), y, x_of(of[layout + "_reuse"]), y, GREY, 1.2)
            mark(x_of(of[layout]), y, layout)
            mark(x_of(of[layout + "_reuse"]), y, layout + "_reuse")
        d.text(12, top + step * i + 5, number, 13, "start", bold=True)
        d.text(56, top + step * i + 5, name, 11, "start", GREY)
    at = 190
    for variant, words, width in (("nchw", "nchw", 80), ("nchw_reuse", "nchw_reuse", 130), ("chwn", "chwn", 80),
                                  ("chwn_reuse", "chwn_reuse", 130)):
        mark(at, 56, variant)
        d.text(at + 14, 61, words, 13, "start")
        at += width
    d.text(410, bottom + 40, "Right of 1: ours is faster. Left, hatched: cuDNN is. Caches are warm.", 13)
    d.text(410, bottom + 60, f"NVIDIA H200. File: docs/results/{POOLING}", 11, colour=GREY)
    return d


FIGURES = {
    "pooling_measured": beside_cudnn,
    "pooling_overlap": windows_overlap,
    "pooling_lanes": lanes_over_memory,
    "pooling_last_window": last_window,
}
