"""The figures of stage 10's convolutions: what a warp asks for in each layout, and a thread's sums."""

import math
import pathlib

from make_figures import GREEN, GREY, INK, PURPLE, Drawing
from read_results import read_results

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results" / "bench_sc16_convolution.json"
SIDE = 8
CELL = 20


def frame(d, x, y, w, h, colour, width):
    for x1, y1, x2, y2 in ((x, y, x + w, y), (x + w, y, x + w, y + h), (x + w, y + h, x, y + h),
                           (x, y + h, x, y)):
        d.line(x1, y1, x2, y2, colour, width)


def layouts_and_lanes():
    d = Drawing(930, 640, "Two layouts under two implementations",
                "Eight images of eight pixels, as eight sectors of eight floats. In CHWN a sector is one "
                "pixel of all images, in NCHW it is all pixels of one image. A warp with images across "
                "its lanes asks for one pixel of all images: one sector in CHWN, eight in NCHW. A warp "
                "with pixels across its lanes asks for all pixels of one image: eight sectors in CHWN, "
                "one in NCHW.")
    implementations = [("images across the lanes", "pixel 2 of images 0 … 7", True),
                       ("pixels across the lanes", "pixels 0 … 7 of image 2", False)]
    layouts = [("CHWN", "a line is a sector: one pixel of 8 images", True),
               ("NCHW", "a line is a sector: one image's 8 pixels", False)]
    for column, (name, asks, images) in enumerate(implementations):
        x = 250 + column * 350
        d.text(x + SIDE * CELL / 2 + 40, 34, name, 16, bold=True)
        d.text(x + SIDE * CELL / 2 + 40, 54, f"the warp asks for {asks}", 12, colour=GREY)
    for row, (name, words, chwn) in enumerate(layouts):
        top = 100 + row * 262
        d.text(28, top + 86, name, 18, "start", bold=True)
        for i, part in enumerate(words.split(": ")):
            d.text(28, top + 108 + 18 * i, part + (":" if i == 0 else ""), 12, "start", GREY)
        for column, (_, _, images) in enumerate(implementations):
            x = 250 + column * 350
            together = images == chwn  # the warp's cells are one line
            for line in range(SIDE):
                for place in range(SIDE):
                    asked = line == 2 if together else place == 2
                    touched = together and line == 2 or not together
                    d.rect(x + 40 + place * CELL, top + line * CELL, CELL, CELL,
                           "tile" if asked else "bad" if touched else "plain", stroke=GREY, width=0.6)
                frame(d, x + 40, top + line * CELL, SIDE * CELL, CELL, INK, 1.4)
                d.text(x + 32, top + line * CELL + 14, f"{'pixel' if chwn else 'image'} {line}", 10, "end",
                       GREY)
            d.text(x + 40 + SIDE * CELL / 2, top - 8, ("image" if chwn else "pixel") + " 0 … 7", 11,
                   colour=GREY)
            sectors = 1 if together else SIDE
            d.text(x + 40 + SIDE * CELL / 2, top + SIDE * CELL + 22,
                   f"{sectors} sector{'s' if sectors > 1 else ''} for {SIDE} cells", 14, bold=True,
                   colour=GREEN if together else INK)
    d.rect(250, 600, 16, 16, "tile", stroke=GREY)
    d.text(274, 613, "asked for", 12, "start")
    d.rect(380, 600, 16, 16, "bad", stroke=GREY)
    d.text(404, 613, "comes along in the sector, and is not used by this request", 12, "start")
    return d


def register_tile():
    d = Drawing(930, 452, "A block's sums, and those of one thread",
                "A block has 64 filters, 16 for each of 4 warps, and 128 columns, 4 for each of 32 lanes. "
                "Lane 5 of warp 1 keeps 16 by 4 sums: filters 16 to 31 of columns 5, 37, 69 and 101. For "
                "each tap the warp reads its 16 filters' taps and each lane its 4 cells from shared memory.")
    left, top, wide, high = 210, 118, 4 * 148, 4 * 62
    d.text(left + wide / 2, 34, "128 columns: images in one kernel, pixels in the other", 15, bold=True)
    for group in range(4):
        x = left + group * 148
        d.rect(x, 62, 148, 30, "read", stroke=INK)
        d.text(x + 74, 82, f"cells {32 * group} … {32 * group + 31}", 12, halo=True)
    d.text(left - 14, 74, "cells of one tap,", 12, "end", GREY)
    d.text(left - 14, 90, "in shared memory", 12, "end", GREY)
    for warp in range(4):
        y = top + warp * 62
        d.rect(left - 104, y, 90, 62, "mask", stroke=INK)
        d.text(left - 59, y + 28, "taps of", 11, halo=True)
        d.text(left - 59, y + 44, f"{16 * warp} … {16 * warp + 15}", 12, halo=True)
        d.text(left - 116, y + 36, f"warp {warp}", 13, "end", bold=warp == 1)
        for group in range(4):
            d.rect(left + group * 148, y, 148, 62, "plain", stroke=GREY, width=0.8)
    for group in range(4):
        x = left + group * 148 + 148 * 5 / 32
        d.rect(x, 62, 8, 30, "tile", stroke=INK, width=1.6)
        d.rect(x, top + 62, 8, 62, "tile", stroke=INK, width=1.6)
        d.line(x + 4, 94, x + 4, top + 60, GREEN, 1.4, dashed=True)
        d.text(x + 16, top + 62 + 36, f"[{32 * group + 5}]", 11, "start")
    frame(d, left - 104, top + 62, 90, 62, PURPLE, 3)
    d.brace(left, left + wide, top + high + 8, "sums of the block, in registers: 64 × 128")
    d.text(left + wide / 2, top + high + 60,
           "Marked: the 16 × 4 sums of lane 5 of warp 1. For each tap it reads 4 cells and 16 taps,"
           " for 64 products.", 13)
    d.text(left + wide / 2, top + high + 80,
           "A lane's columns are 32 apart, so that a request of the warp is one run.", 13, colour=GREY)
    return d


def layouts_measured():
    """Time of images across lanes in CHWN over that of pixels across lanes in NCHW, a bar each layer, sorted."""
    taken = {(row["label"], row["variant"]): row["time"]["hot"]["median_ms"]
             for row in read_results(RESULTS)["rows"]
             if row["time"]["status"] == "MEASURED"}
    found = sorted((ms / taken[layer, "pixels_nchw"], layer) for (layer, variant), ms in taken.items()
                   if variant == "images_chwn" and (layer, "pixels_nchw") in taken)
    said = "; ".join(f"{layer} {ratio:.2f}" for ratio, layer in found)
    d = Drawing(820, 96 + 25 * len(found), "CHWN beside NCHW", f"Time of images_chwn over that of pixels_nchw. {said}.")
    d.text(410, 28, "images_chwn beside pixels_nchw: its time / theirs", 16, bold=True)
    left, scale, bottom = 440, 150, 50 + 25 * len(found)
    x_of = lambda ratio: left + scale * math.log2(ratio)
    for ratio in (0.5, 1, 2, 4):
        d.line(x_of(ratio), 42, x_of(ratio), bottom, INK, 1.6 if ratio == 1 else 0.6)
        d.text(x_of(ratio), bottom + 16, f"{ratio:g}", 12, colour=GREY)
    for i, (ratio, layer) in enumerate(found):
        y = 46 + 25 * i
        begin, end = sorted((x_of(1), x_of(ratio)))
        d.text(250, y + 14, layer, 12, "end")
        d.rect(begin, y, end - begin, 18, "mask" if ratio < 1 else "read")
        d.text(max(end, x_of(1)) + 8, y + 14, f"{ratio:.2f}", 12, "start")
    d.text(410, bottom + 34, "Left of 1: CHWN is faster. NVIDIA H200. File: docs/results/bench_sc16_convolution.json", 11,
           colour=GREY)
    return d


FIGURES = {
    "layouts_measured": layouts_measured,
    "stage_10_layouts_and_lanes": layouts_and_lanes,
    "stage_10_register_tile": register_tile,
}
