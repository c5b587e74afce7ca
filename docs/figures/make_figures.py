#!/usr/bin/env python3
"""Draws the figures of the pages.

    docs/figures/make_figures.py            write the SVG files beside this script
    docs/figures/make_figures.py --check    exit 1 if a file differs from what would be drawn

Only Python's standard library. Every figure stands on a light card of its own, so that it reads the
same on a dark page, and says with a pattern or a word whatever it says with a colour. The colours
are those of Okabe and Ito, which stay apart for the colour-blind. measured_roofline draws what
docs/results/bench_conv1d_gpu.json holds. A stage with figures of its own has a file stage_NN.py beside
this one, which draws with the tools below and defines FIGURES.
"""

import argparse
import importlib
import math
import pathlib
import sys
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "results")]
from read_results import read_results  # noqa: E402

INK, GREY, PALE, CARD = "#1a1a1a", "#666666", "#e8e8e8", "#fbfbf8"
BLUE, SKY, ORANGE, GREEN, RED, PURPLE = (
    "#0072B2", "#56B4E9", "#E69F00", "#009E73", "#D55E00", "#CC79A7")

# name -> (background, pattern drawn over it)
FILLS = {
    "plain": ("#ffffff", None),
    "pale": (PALE, None),
    "read": ("#d7ecf9", "diagonal"),      # sky: touched by a request
    "tile": ("#d9efe7", "dots"),          # green: in shared memory
    "halo": ("#fbe6c3", "cross"),         # orange: halo cells
    "ghost": ("#ffffff", None),
    "mask": ("#f3dfea", "vertical"),      # purple: the mask
    "bad": ("#f8dccb", "backward"),       # vermillion: conflict, idle, wrong
}
PATTERNS = {
    "diagonal": (BLUE, '<path d="M0 8L8 0" {s}/>'),
    "backward": (RED, '<path d="M0 0L8 8" {s}/>'),
    "cross": ("#b87800", '<path d="M0 8L8 0M0 0L8 8" {s}/>'),
    "vertical": (PURPLE, '<path d="M4 0V8" {s}/>'),
    "dots": (GREEN, '<circle cx="4" cy="4" r="1.3" fill="{c}" stroke="none"/>'),
}


def number(value):
    """Two decimals at most, the same text on every machine."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Drawing:
    """A list of SVG elements on a card. Coordinates are pixels, y grows downwards."""

    def __init__(self, width, height, title, description):
        self.size = (width, height)
        self.title, self.description = title, description
        self.parts = []

    def rect(self, x, y, w, h, fill="plain", stroke=INK, dashed=False, width=1.2, radius=0):
        colour, pattern = FILLS[fill]
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        round_ = f' rx="{number(radius)}"' if radius else ""
        at = f'x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}"{round_}'
        line = f'stroke="{stroke}" stroke-width="{number(width)}"{dash}' if stroke else ""
        if pattern:
            self.parts.append(f'<rect {at} fill="{colour}"/>')
            self.parts.append(f'<rect {at} fill="url(#{pattern})" {line}/>')
        else:
            self.parts.append(f'<rect {at} fill="{colour}" {line}/>')

    def text(self, x, y, words, size=14, anchor="middle", colour=INK, bold=False, halo=False):
        """`halo` paints a thin card-coloured edge round the letters, for text on a pattern."""
        weight = ' font-weight="bold"' if bold else ""
        edge = (' stroke="#ffffff" stroke-width="3.5" paint-order="stroke" stroke-linejoin="round"'
                if halo else "")
        self.parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" '
            f'text-anchor="{anchor}" fill="{colour}"{weight}{edge}>{escape(words)}</text>')

    def line(self, x1, y1, x2, y2, colour=INK, width=1.4, dashed=False, arrow=False):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" '
            f'stroke="{colour}" stroke-width="{number(width)}"{dash}/>')
        if arrow:
            length = math.hypot(x2 - x1, y2 - y1)
            ux, uy = (x2 - x1) / length, (y2 - y1) / length
            points = [(x2, y2)] + [
                (x2 - 9 * ux + side * 4 * uy, y2 - 9 * uy - side * 4 * ux) for side in (1, -1)]
            shape = " ".join(f"{number(px)},{number(py)}" for px, py in points)
            self.parts.append(f'<polygon points="{shape}" fill="{colour}"/>')

    def polyline(self, points, colour=INK, width=2.2):
        shape = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(f'<polyline points="{shape}" fill="none" stroke="{colour}" '
                          f'stroke-width="{number(width)}"/>')

    def circle(self, x, y, r, colour=INK, fill="#ffffff"):
        self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(r)}" '
                          f'fill="{fill}" stroke="{colour}" stroke-width="1.6"/>')

    def brace(self, x1, x2, y, words, below=True, size=13, colour=INK):
        """A flat bracket with a label."""
        tip = 6 if below else -6
        self.parts.append(
            f'<path d="M{number(x1)} {number(y)}v{tip}H{number(x2)}v{-tip}" fill="none" '
            f'stroke="{colour}" stroke-width="1.4"/>')
        self.text((x1 + x2) / 2, y + (21 if below else -12), words, size, colour=colour)

    def cells(self, x, y, labels, w=44, h=36, fill="plain", size=14, dashed=False):
        """A row of equal cells; `fill` is one name or one per cell."""
        for i, label in enumerate(labels):
            kind = fill if isinstance(fill, str) else fill[i]
            ghost = dashed or kind == "ghost"
            self.rect(x + i * w, y, w, h, kind, dashed=ghost, stroke=GREY if ghost else INK)
            if label != "":
                self.text(x + i * w + w / 2, y + h / 2 + size * 0.36, str(label), size,
                          halo=FILLS[kind][1] is not None)

    def svg(self):
        width, height = self.size
        defs = []
        for name, (colour, shape) in PATTERNS.items():
            stroke = f'stroke="{colour}" stroke-width="1" fill="none"'
            defs.append(f'<pattern id="{name}" width="8" height="8" patternUnits="userSpaceOnUse">'
                        f'{shape.format(s=stroke, c=colour)}</pattern>')
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" '
            'font-family="DejaVu Sans, Verdana, Helvetica, Arial, sans-serif">',
            f"<title>{escape(self.title)}</title>",
            f"<desc>{escape(self.description)}</desc>",
            "<defs>" + "".join(defs) + "</defs>",
            f'<rect width="{width}" height="{height}" rx="10" fill="{CARD}"/>',
            *self.parts, "</svg>", ""])


# ---- the figures ---------------------------------------------------------------------------------


def sliding_mask():
    signal, mask = [1, 2, 3, 4, 5], [0.3, 0.2, 0.8]
    reach = len(mask) // 2
    padded = [0] * reach + signal + [0] * reach
    outputs = [sum(padded[i + j] * mask[j] for j in range(len(mask))) for i in range(len(signal))]

    d = Drawing(760, 366, "A mask slides over a signal",
                "Five input cells with one ghost cell of value zero on either side. The mask of three "
                "weights lies over the first three cells; its weighted sum is the first output.")
    w, h, x0 = 62, 40, 230
    d.text(x0 - w - 16, 60, "input", 15, "end", bold=True)
    d.text(x0 - w - 16, 78, "with ghost cells", 12, "end", GREY)
    d.cells(x0 - w, 44, [0], w, h, "ghost")
    d.cells(x0, 44, signal, w, h)
    d.cells(x0 + 5 * w, 44, [0], w, h, "ghost")
    for i in range(5):
        d.text(x0 + i * w + w / 2, 36, f"[{i}]", 12, colour=GREY)
    d.text(x0 - w / 2, 36, "ghost", 12, colour=GREY)
    d.text(x0 + 5.5 * w, 36, "ghost", 12, colour=GREY)

    d.text(x0 - w - 16, 134, "mask", 15, "end", bold=True)
    d.text(x0 - w - 16, 152, "over output 0", 12, "end", GREY)
    d.cells(x0 - w, 116, mask, w, h, "mask")
    for j in range(3):
        d.line(x0 - w / 2 + j * w, 84, x0 - w / 2 + j * w, 114, GREY)
        d.text(x0 - w / 2 + j * w + 5, 105, "×", 14, "start", GREY)
    d.line(x0 + 2 * w + 14, 136, x0 + 3 * w + 14, 136, PURPLE, 2, arrow=True)
    d.text(x0 + 3 * w + 24, 141, "one step per output", 12, "start", GREY)

    d.text(x0 - w - 16, 236, "output", 15, "end", bold=True)
    d.cells(x0, 210, [f"{value:.1f}" for value in outputs], w, h,
            ["read"] + ["plain"] * 4)
    for i in range(5):
        d.text(x0 + i * w + w / 2, 266, f"[{i}]", 12, colour=GREY)
    d.line(x0 + w / 2, 158, x0 + w / 2, 208, BLUE, 2, arrow=True)
    d.text(x0 + w / 2 + 12, 186, "sum of the three products", 12, "start", GREY)

    products = " + ".join(f"{padded[j]}·{mask[j]}" for j in range(3))
    d.text(380, 306, f"output[0] = ghost·mask[0] + input[0]·mask[1] + input[1]·mask[2] = {products} = {outputs[0]:.1f}",
           13)
    d.text(380, 338, "Dashed cells are not stored anywhere: a read there counts as zero.", 13,
           colour=GREY)
    return d


def threads_to_outputs():
    d = Drawing(760, 262, "One thread computes one output",
                "Three blocks of four threads cover ten outputs; the last two threads of the last "
                "block have no output and must not store.")
    w, h, x0 = 50, 36, 96
    d.text(x0 - 12, 84, "threads", 14, "end", bold=True)
    d.text(x0 - 12, 190, "output o", 14, "end", bold=True)
    for block in range(3):
        left = x0 + block * (4 * w + 12)
        d.rect(left - 4, 46, 4 * w + 8, 66, "pale", stroke=GREY, radius=6)
        d.text(left + 2 * w, 36, f"block {block}", 13, bold=True)
        for t in range(4):
            i = block * 4 + t
            idle = i >= 10
            d.cells(left + t * w, 60, [f"t{t}"], w, h, "bad" if idle else "plain")
            x = left + t * w + w / 2
            if idle:
                d.text(x, 132, "idle", 12, colour=RED)
            else:
                d.line(x, 98, x, 164, BLUE, 1.6, arrow=True)
                d.cells(left + t * w, 166, [f"o[{i}]"], w, h, "plain", 13)
    d.text(380, 238, "i = blockIdx.x * blockDim.x + threadIdx.x,  and  if (i < n)  guards the store",
           13, colour=GREY)
    return d


def sectors():
    d = Drawing(860, 404, "Sectors touched by one warp",
                "32 lanes read 32 neighbouring floats. Starting on a sector border they touch four "
                "sectors of 32 bytes; shifted by one float they touch five.")
    cell, x0 = 17, 100
    for row, shift in enumerate((0, 1)):
        top = 44 + row * 182
        d.text(x0 - 10, top - 12,
               ("a) offset 0: lane t reads input[start + t]", "b) offset 1: lane t reads input[start + t + 1]")[
                   row], 14, "start", bold=True)
        d.text(x0 - 12, top + 16, "lanes", 13, "end")
        for lane in range(32):
            x = x0 + (lane + shift) * cell
            d.rect(x, top, cell, 20, "plain", width=0.8)
            if lane in (0, 31):
                d.text(x + cell / 2, top + 15, str(lane), 10)
        for lane in (0, 8, 16, 24, 31):
            x = x0 + (lane + shift) * cell + cell / 2
            d.line(x, top + 22, x, top + 48, BLUE, 1.2, arrow=True)
        memory = top + 50
        d.text(x0 - 12, memory + 20, "memory", 13, "end")
        first, last = shift, shift + 31
        count = 0
        for sector in range(5):
            touched = first // 8 <= sector <= last // 8
            count += touched
            for k in range(8):
                i = sector * 8 + k
                d.rect(x0 + i * cell, memory, cell, 28,
                       "read" if first <= i <= last else ("pale" if touched else "plain"),
                       stroke=GREY, width=0.7)
            d.line(x0 + sector * 8 * cell, memory - 4, x0 + sector * 8 * cell, memory + 32, INK, 2.6)
            d.text(x0 + (sector * 8 + 4) * cell, memory + 48,
                   f"sector {sector}" + ("" if touched else ": not touched"), 12,
                   colour=INK if touched else GREY, bold=touched)
        d.line(x0 + 40 * cell, memory - 4, x0 + 40 * cell, memory + 32, INK, 2.6)
        useful = 128 / (count * 32)
        d.text(x0, memory + 72,
               f"{count} sectors = {count * 32} bytes moved for 128 bytes used ({100 * useful:.0f} %)",
               13, "start")
    d.text(x0, 390, "One small cell is one float (4 bytes); thick lines are sector borders (32 bytes).",
           12, "start", GREY)
    return d


def constant_broadcast():
    d = Drawing(800, 300, "Constant memory: one address per warp is a broadcast",
                "Left: all lanes of a warp ask for the same mask cell and are served at once. Right: "
                "lanes ask for different cells, which are served one after the other.")
    for side, title in enumerate(("all lanes read m[2]", "lane t reads m[t mod 4]")):
        x0 = 40 + side * 400
        d.text(x0 + 160, 36, title, 15, bold=True)
        for j in range(5):
            hit = (j == 2) if side == 0 else (j < 4)
            d.cells(x0 + 35 + j * 50, 58, [f"m[{j}]"], 50, 34, "mask" if hit else "plain", 13)
        for t in range(8):
            x = x0 + 8 + t * 38
            d.cells(x, 184, [f"t{t}"], 36, 32, "plain", 12)
            j = 2 if side == 0 else t % 4
            d.line(x0 + 60 + j * 50, 94, x + 18, 182, PURPLE if side == 0 else RED, 1.3, arrow=True)
        d.text(x0 + 318, 206, "…", 16)
        d.text(x0 + 160, 248, ("1 address: one read, seen by 32 lanes",
                               "4 addresses: four reads, one after the other")[side], 14)
        d.text(x0 + 160, 272, ("1 constant request", "4 constant requests")[side], 13, colour=GREY)
    d.line(400, 24, 400, 280, GREY, 1, dashed=True)
    return d


def tile_with_halo():
    d = Drawing(840, 402, "Strategy 1: the block loads its tile and the halo",
                "Eight threads load a tile of eight cells and two halo cells on either side into "
                "shared memory in two passes, then compute eight outputs from it.")
    w, h, x0 = 44, 34, 112
    first = 2  # x position of the tile among the twelve cells
    d.text(x0 - 12, 66, "input", 14, "end", bold=True)
    d.text(x0 - 12, 82, "(global)", 12, "end", GREY)
    kinds = ["plain"] * 2 + ["halo"] * 2 + ["tile"] * 8 + ["halo"] * 2 + ["plain"] * 2
    d.cells(x0, 52, [str(12 + i) for i in range(16)], w, h, kinds, 13)
    d.brace(x0 + 4 * w, x0 + 12 * w, 46, "the tile of block 2: outputs 16 … 23", below=False)

    left = x0 + 2 * w
    d.text(x0 - 12, 216, "tile[12]", 14, "end", bold=True)
    d.text(x0 - 12, 232, "(shared)", 12, "end", GREY)
    d.cells(left, 200, [str(s) for s in range(12)], w, h,
            ["halo"] * 2 + ["tile"] * 8 + ["halo"] * 2, 13)
    for s in range(12):
        x = left + s * w + w / 2
        second = s >= 8
        d.line(x, 88, x, 198, RED if second else BLUE, 1.8, dashed=second, arrow=True)
        d.text(x, 148, f"t{s % 8}", 12, halo=True, bold=second)
    d.text(left - 14, 150, "who loads", 12, "end", GREY)
    d.brace(left, left + 8 * w, 240, "first pass: threads 0 … 7 (solid)", colour=BLUE)
    d.brace(left + 8 * w + 3, left + 12 * w, 240, "second pass: 0 … 3", colour=RED)

    d.line(x0, 278, x0 + 16 * w, 278, INK, 2, dashed=True)
    d.text(x0 + 16 * w, 296, "__syncthreads()", 13, "end")  # below: its underscores would lie on the line
    d.text(x0 - 12, 322, "output", 14, "end", bold=True)
    d.cells(left + first * w, 306, [str(16 + i) for i in range(8)], w, h, "plain", 13)
    d.text(x0 + 8 * w, 366, "thread t adds tile[t]·mask[0] + tile[t+1]·mask[1] + … + tile[t+4]·mask[4]", 14)
    d.text(x0 + 8 * w, 388, "orange crosses: halo cells; green dots: the tile itself; mask width 5", 12,
           colour=GREY)
    return d


def tile_cached_halo():
    d = Drawing(840, 380, "Strategy 2: the tile in shared memory, the halo through the cache",
                "Eight threads load only their tile. A tap that falls outside the tile reads global "
                "memory again; the neighbours' loads have usually left the cell in a cache.")
    w, h, x0 = 44, 34, 112
    d.text(x0 - 12, 66, "input", 14, "end", bold=True)
    d.text(x0 - 12, 82, "(global)", 12, "end", GREY)
    kinds = ["plain"] * 2 + ["halo"] * 2 + ["tile"] * 8 + ["halo"] * 2 + ["plain"] * 2
    d.cells(x0, 52, [str(12 + i) for i in range(16)], w, h, kinds, 13)
    d.brace(x0 + 4 * w, x0 + 12 * w, 46, "the tile of block 2: outputs 16 … 23", below=False)
    left = x0 + 4 * w
    d.text(x0 - 12, 176, "tile[8]", 14, "end", bold=True)
    d.text(x0 - 12, 192, "(shared)", 12, "end", GREY)
    d.cells(left, 160, [str(s) for s in range(8)], w, h, "tile", 13)
    for s in range(8):
        x = left + s * w + w / 2
        d.line(x, 88, x, 158, BLUE, 1.8, arrow=True)
        d.text(x, 130, f"t{s}", 12, halo=True)
    d.line(x0, 212, x0 + 16 * w, 212, INK, 2, dashed=True)
    d.text(x0 + 16 * w, 230, "__syncthreads()", 13, "end")
    d.text(x0 - 12, 304, "output", 14, "end", bold=True)
    d.cells(left, 288, [str(16 + i) for i in range(8)], w, h, "plain", 13)
    for tap in range(-2, 3):
        target = left + w / 2
        source = left + tap * w + w / 2
        if tap < 0:
            d.line(source, 88, left + 10 + 4 * tap, 286, RED, 1.8, dashed=True, arrow=True)
        else:
            d.line(source, 196, target + 4 * tap, 286, GREEN, 1.8, arrow=True)
    d.text(x0 + 2 * w - 4, 250, "2 taps from global memory", 13, "end", RED)
    d.text(x0 + 2 * w - 4, 267, "(most often from the cache)", 12, "end", GREY)
    d.text(left + 3 * w, 250, "3 taps from shared memory", 13, "start", GREEN)
    d.text(x0 + 8 * w, 350, "thread 0's five taps. Only the threads near an end of the tile leave it.", 14)
    d.text(x0 + 8 * w, 370, "dashed: global memory; solid: shared memory; mask width 5", 12,
           colour=GREY)
    return d


def warp_tile():
    d = Drawing(860, 404, "A tile for each warp, twenty outputs for each thread",
                "Above, how a warp loads its tile: lane l takes the 16 bytes number l, l + 32, l + 64 and "
                "so on. Below, how it computes: lane l has outputs 20 l to 20 l + 19 and reads the cells "
                "it needs as quads of four, seven of them for nine taps.")
    x0, w, h = 90, 30, 32
    d.text(x0, 30, "Loading: neighbouring lanes, neighbouring 16 bytes. Five of these rows and a bit.", 14,
           "start", bold=True)
    d.text(x0 - 12, 68, "tile", 14, "end", bold=True)
    d.text(x0 - 12, 84, "(quads)", 12, "end", GREY)
    d.cells(x0, 52, [f"l{q}" for q in range(10)] + ["…"] + ["l31"], w * 1.3, h,
            ["halo"] + ["tile"] * 9 + ["plain", "tile"], 12)
    d.cells(x0 + 12 * w * 1.3, 52, ["l0", "l1", "l2", "…"], w * 1.3, h, ["tile"] * 3 + ["plain"], 12)
    d.brace(x0 + 1, x0 + 12 * w * 1.3 - 2, 90, "one request: 32 quads, 512 bytes, 16 or 17 sectors", colour=BLUE)
    d.brace(x0 + 12 * w * 1.3 + 2, x0 + 16 * w * 1.3, 90, "the next", colour=BLUE)

    d.text(x0, 158, "Computing: each lane has 20 outputs of its own, five quads.", 14, "start", bold=True)
    d.text(x0 - 12, 196, "outputs", 14, "end", bold=True)
    for lane in range(4):
        left = x0 + lane * 5 * w
        kind = ("read", "plain")[lane % 2]
        d.rect(left, 180, 5 * w, h, kind, width=2)
        d.text(left + 2.5 * w, 201, f"lane {lane}: {20 * lane} … {20 * lane + 19}", 12, halo=True)
    d.text(x0 + 20 * w + 18, 202, "…", 16)
    d.text(x0 - 12, 276, "cells", 14, "end", bold=True)
    d.text(x0 - 12, 292, "(shared)", 12, "end", GREY)
    for quad in range(22):
        hit = 5 <= quad < 12
        d.rect(x0 + quad * w, 260, w, h, "tile" if hit else "plain")
        d.text(x0 + quad * w + w / 2, 281, str(quad), 12, halo=hit)
    d.line(x0 + 5 * w, 214, x0 + 5 * w, 258, GREEN, 2)
    d.line(x0 + 10 * w, 214, x0 + 12 * w, 258, GREEN, 2)
    d.brace(x0 + 5 * w, x0 + 12 * w, 298, "lane 1 reads quads 5 … 11: 28 cells = 20 + 9 - 1", colour=GREEN)
    d.text(430, 356, "A cell that lies in a register serves up to nine outputs. 180 multiply-adds for 7 shared reads.",
           14)
    d.text(430, 382, "w = 9. Orange crosses: halo cells before the tile. Green dots: what a lane reads. "
           "A quad is 16 bytes.", 12, colour=GREY)
    return d


def quad_stride():
    d = Drawing(860, 412, "Sixteen-byte reads of eight lanes, for three runs of outputs",
                "Shared memory drawn as rows of eight quads of 16 bytes, together 32 banks. Eight lanes "
                "four quads apart meet two columns only, four lanes in each. Five or nine quads apart "
                "they meet eight different columns.")
    cell, tall = 31, 25
    answers = ("2 columns: four passes, not one", "8 columns: one pass", "8 columns: one pass")
    for panel, (stride, answer) in enumerate(zip((4, 5, 9), answers)):
        x0, y0 = 26 + panel * 280, 92
        d.text(x0 + 4 * cell, 32, f"{4 * stride} outputs per thread: {stride} quads", 15, bold=True)
        d.text(x0 + 4 * cell, 56, "column: four banks", 11, colour=GREY)
        for column in range(8):
            d.text(x0 + column * cell + cell / 2, 80, str(column), 12, colour=GREY)
        for quad in range(64):
            row, column = quad // 8, quad % 8
            lane = quad // stride if quad % stride == 0 and quad // stride < 8 else None
            kind = "plain" if lane is None else ("bad" if stride == 4 else "tile")
            d.rect(x0 + column * cell, y0 + row * tall, cell, tall, kind, width=0.8)
            if lane is not None:
                d.text(x0 + column * cell + cell / 2, y0 + row * tall + 17, f"l{lane}", 12, bold=True,
                       halo=True)
        d.text(x0 + 4 * cell, y0 + 8 * tall + 28, f"lane l: column {stride}·l mod 8", 13)
        d.text(x0 + 4 * cell, y0 + 8 * tall + 52, answer, 14, bold=True)
    d.text(430, 376, "l0 … l7 are the eight lanes that share a pass. The next eight lanes do the same, a whole "
           "number of rows on.", 12, colour=GREY)
    d.text(430, 396, "A row is 128 bytes: eight columns of 16 bytes, all 32 banks.", 12, colour=GREY)
    return d


def quad_overlap():
    d = Drawing(860, 372, "Three neighbouring threads, nine taps",
                "Each thread has four outputs and reads three quads of four cells: the one on the left, "
                "its own, and the one on the right. So every quad is read by three threads, and only one "
                "of these reads brings new bytes.")
    x0, w, h = 120, 34, 32
    d.text(x0 - 12, 68, "input", 14, "end", bold=True)
    d.text(x0 - 12, 84, "(global)", 12, "end", GREY)
    d.cells(x0, 52, [str(c) for c in range(20)], w, h, ["plain"] * 4 + ["tile"] * 12 + ["plain"] * 4, 12)
    for quad in range(5):
        d.line(x0 + quad * 4 * w, 44, x0 + quad * 4 * w, 92, INK, 2)
        d.text(x0 + (quad * 4 + 2) * w, 40, f"quad {quad}", 13)
    d.line(x0 + 20 * w, 44, x0 + 20 * w, 92, INK, 2)
    for t in range(3):
        y = 112 + t * 58
        d.text(x0 - 12, y + 21, f"thread {t + 1}", 14, "end", bold=True)
        for part in range(3):
            left = x0 + (t + part) * 4 * w
            own = part == 1
            d.rect(left, y, 4 * w, 32, "tile" if own else "halo", width=1.6)
            d.text(left + 2 * w, y + 21, f"own: outputs {4 * (t + 1)} … {4 * (t + 1) + 3}" if own
                   else "a neighbour's", 12, halo=True)
    d.text(430, 312, "Every quad is read three times. The first read fetches it; the others find it in the L1 cache.",
           14)
    d.text(430, 336, "Thread 2 keeps 12 cells in registers: outputs 8 … 11 need cells 4 … 15.", 14)
    d.text(430, 358, "Green dots: a thread's own four cells. Orange crosses: cells that its neighbours own. "
           "w = 9, h = 4.", 12, colour=GREY)
    return d


def memory_hierarchy():
    d = Drawing(800, 470, "Where data can live",
                "Each thread has registers; each SM has shared memory, an L1 cache and a constant "
                "cache; all SMs share the L2 cache and global memory; the host's memory lies across "
                "the PCIe link.")
    for sm in range(2):
        x = 30 + sm * 340
        d.rect(x, 40, 320, 214, "pale", stroke=GREY, radius=8)
        d.text(x + 160, 32, f"SM {sm}" if sm == 0 else "SM 1 … SM n-1", 14, bold=True)
        for warp in range(3):
            d.rect(x + 16 + warp * 98, 54, 92, 58, "plain", radius=4)
            d.text(x + 62 + warp * 98, 74, f"warp {warp}" if warp < 2 else "…", 13)
            d.text(x + 62 + warp * 98, 92, "32 threads", 11, colour=GREY)
            d.text(x + 62 + warp * 98, 106, "registers", 11, colour=GREY)
        d.rect(x + 16, 128, 140, 54, "tile", radius=4)
        d.text(x + 86, 151, "shared memory", 13, halo=True)
        d.text(x + 86, 169, "of each block", 11, halo=True)
        d.rect(x + 164, 128, 140, 54, "read", radius=4)
        d.text(x + 234, 151, "L1 cache", 13, halo=True)
        d.text(x + 234, 169, "lines of 4 sectors", 11, halo=True)
        d.rect(x + 16, 194, 288, 44, "mask", radius=4)
        d.text(x + 160, 221, "constant cache: one address per warp at a time", 12, halo=True)
        d.line(x + 160, 254, x + 160, 280, INK, 2, arrow=True)
        d.line(x + 176, 280, x + 176, 254, INK, 2, arrow=True)
    d.text(742, 90, "fast,", 13, colour=GREY)
    d.text(742, 106, "small,", 13, colour=GREY)
    d.text(742, 122, "private", 13, colour=GREY)
    d.line(742, 136, 742, 400, GREY, 1.6, arrow=True)
    d.text(742, 424, "slow, large,", 13, colour=GREY)
    d.text(742, 440, "for all", 13, colour=GREY)
    d.rect(30, 282, 660, 42, "read", radius=6)
    d.text(360, 308, "L2 cache: shared by all SMs, works in sectors of 32 bytes", 14, halo=True)
    d.line(352, 324, 352, 348, INK, 2, arrow=True)
    d.line(368, 348, 368, 324, INK, 2, arrow=True)
    d.rect(30, 350, 660, 42, "plain", radius=6)
    d.text(360, 376, "global memory (DRAM on the card): cudaMalloc, also holds __constant__", 14)
    d.line(352, 392, 352, 416, INK, 2, dashed=True)
    d.line(368, 392, 368, 416, INK, 2, dashed=True)
    d.rect(30, 418, 660, 36, "plain", dashed=True, stroke=GREY, radius=6)
    d.text(360, 441, "host memory, across the PCIe link: cudaMemcpy", 13)
    return d


def bank_conflicts():
    d = Drawing(820, 330, "Banks of shared memory",
                "Shared memory has 32 banks, one word wide each. Neighbouring words lie in "
                "neighbouring banks. Words that are a whole number of rows apart lie in one bank "
                "and are served one after the other.")
    titles = ("row of a tile[8][8]", "column of tile[8][8]", "column of tile[8][9]")
    answers = ("8 banks: 1 wavefront", "1 bank: 8 wavefronts", "8 banks: 1 wavefront")
    cell = 28
    for panel in range(3):
        x0, y0 = 30 + panel * 268, 84
        d.text(x0 + 4 * cell, 34, titles[panel], 15, bold=True)
        pitch = 9 if panel == 2 else 8
        for b in range(8):
            d.text(x0 + b * cell + cell / 2, 74, str(b), 11, colour=GREY)
        d.text(x0 + 4 * cell, 58, "bank", 11, colour=GREY)
        for word in range(64):
            bank, line = word % 8, word // 8
            row, col = word // pitch, word % pitch
            hit = (row == 0 and col < 8) if panel == 0 else col == 0
            padding = panel == 2 and col == 8
            label = f"{row},{col}" if not padding else "–"
            d.rect(x0 + bank * cell, y0 + line * cell - line * 6, cell, cell - 6,
                   ("bad" if panel == 1 else "tile") if hit else ("pale" if padding else "plain"),
                   width=0.8)
            d.text(x0 + bank * cell + cell / 2, y0 + line * cell - line * 6 + 15, label, 9,
                   halo=hit)
        d.text(x0 + 4 * cell, 290, answers[panel], 14)
    d.text(410, 316, "Drawn with 8 banks; real shared memory has 32. Labels are row,column; – is padding.",
           12, colour=GREY)
    return d


def roofline():
    bandwidth, peak = 0.9, 15.7  # TB/s and TFLOP/s, NVIDIA's data sheet of the Tesla V100 (SXM2)
    d = Drawing(780, 474, "The roofline of a Tesla V100",
                "Attainable speed against arithmetic intensity: it grows with the intensity up to "
                "17.4 flop per byte and is flat beyond. A 1D convolution of mask width w has 2w/8 "
                "flop per byte, so only masks wider than about 69 leave the slope.")
    left, right, top, bottom = 90, 740, 50, 380
    x_of = lambda v: left + (math.log2(v) + 3) / 11 * (right - left)     # 1/8 ... 256
    y_of = lambda v: bottom - (math.log10(v) + 1.3) / 2.8 * (bottom - top)
    for power in range(-3, 9, 1):
        value = 2.0 ** power
        d.line(x_of(value), top, x_of(value), bottom, PALE, 1)
        d.text(x_of(value), bottom + 20, ("1/8", "1/4", "1/2")[power + 3] if power < 0
               else str(int(value)), 12)
    for value in (0.1, 1, 10):
        d.line(left, y_of(value), right, y_of(value), PALE, 1)
        d.text(left - 8, y_of(value) + 4, number(value), 12, "end")
    d.line(left, bottom, right, bottom, INK, 1.6)
    d.line(left, top, left, bottom, INK, 1.6)
    ridge = peak / bandwidth
    d.polyline([(x_of(0.125), y_of(0.125 * bandwidth)), (x_of(ridge), y_of(peak)),
                (x_of(256), y_of(peak))], INK, 3)
    d.text((left + right) / 2, bottom + 44, "arithmetic intensity, flop per byte of DRAM traffic", 14)
    d.text(left - 70, top - 14, "TFLOP/s", 14, "start")
    d.text(x_of(1.5), y_of(3.2), "slope: bandwidth, 0.9 TB/s", 13, "end", colour=BLUE)
    d.text(x_of(25), y_of(peak) - 10, "roof: 15.7 TFLOP/s", 13, "start", colour=BLUE)
    d.line(x_of(ridge), y_of(peak), x_of(ridge), bottom, BLUE, 1.2, dashed=True)
    d.text(x_of(ridge) + 8, bottom - 10, f"ridge: {ridge:.1f} flop/byte", 13, "start", colour=BLUE)
    for width in (3, 9, 31, 255):
        intensity = 2 * width / 8
        x, y = x_of(intensity), y_of(min(peak, intensity * bandwidth))
        d.circle(x, y, 6, ORANGE, "#fbe6c3")
        if width == 255:
            d.text(x, y + 26, f"w = {width}", 13)
        else:
            d.text(x + 12, y + 16, f"w = {width}", 13, "start")
    d.text((left + right) / 2, 458, "Circles: 1D convolution, mask width w, each input read and each "
           "output written once.", 12, colour=GREY)
    return d


def measured_roofline():
    run = read_results(HERE.parent / "results" / "bench_conv1d_gpu.json")
    roofs = run["machine"]["roofs"]["gpu"]
    bandwidth, peak = roofs["copy_gb_per_s"] / 1e3, roofs["fp32_gflop_per_s"] / 1e3
    machine = run["machine"]["gpu"]

    def speeds(variant):
        """(flop per byte, TFLOP/s) for each mask at a billion cells that was measured."""
        found = []
        for row in run["rows"]:
            problem = row["problem"]
            if (row["variant"] == variant and problem["length"] == 10**9 and problem["threads"] == 256
                    and row["time"]["status"] == "MEASURED"):
                found.append((2 * problem["mask_width"] / 8, row["time"]["gflop_per_s"] / 1e3))
        return sorted(found)

    d = Drawing(840, 520, f"The 1D ladder under the roofs of an {machine}",
                "Measured speed of the variants and of two libraries against arithmetic intensity, for "
                "a billion cells and masks of 3, 9, 31, 63 and 255 taps, under the measured copy and "
                "multiply-add roofs. The tuned variants follow the roofs, except near the ridge; the "
                "faithful ones and the libraries are flat.")
    left, right, top, bottom = 90, 640, 50, 420
    x_of = lambda v: left + (math.log2(v) + 1) / 8 * (right - left)      # 1/2 ... 128
    y_of = lambda v: bottom - (math.log10(v) + 1) / 3 * (bottom - top)   # 0.1 ... 100
    for power in range(-1, 8):
        d.line(x_of(2.0 ** power), top, x_of(2.0 ** power), bottom, PALE, 1)
        d.text(x_of(2.0 ** power), bottom + 20, "1/2" if power < 0 else str(2 ** power), 12)
    for value in (0.1, 1, 10, 100):
        d.line(left, y_of(value), right, y_of(value), PALE, 1)
        d.text(left - 8, y_of(value) + 4, number(value), 12, "end")
    d.line(left, bottom, right, bottom, INK, 1.6)
    d.line(left, top, left, bottom, INK, 1.6)
    ridge = peak / bandwidth
    d.polyline([(x_of(0.5), y_of(0.5 * bandwidth)), (x_of(ridge), y_of(peak)),
                (x_of(128), y_of(peak))], INK, 3)
    d.text(x_of(32), y_of(peak) - 10, f"multiply-adds: {peak:.1f} TFLOP/s", 13)
    d.text(x_of(2.2), y_of(bandwidth * 4.4), f"copy: {bandwidth:.2f} TB/s", 13, "end")
    shown = [("warp_tile", "warp_tile (04, tuned)", BLUE, "circle"),
             ("quad", "quad (05, tuned)", RED, "square"),
             ("constant", "constant (03)", GREEN, "circle"),
             ("tiled_halo", "tiled_halo (04)", ORANGE, "square"),
             ("npp_row_filter", "NPP's row filter", PURPLE, "circle"),
             ("cudnn", "cuDNN", GREY, "square")]
    for at, (variant, label, colour, shape) in enumerate(shown):
        points = [(x_of(x), y_of(y)) for x, y in speeds(variant)]
        if not points:
            raise SystemExit(f"make_figures: no measured row of {variant} at a billion cells")
        d.polyline(points, colour, 1.6)

        def mark(x, y):
            if shape == "circle":
                d.circle(x, y, 5, colour, "#ffffff")
            else:
                d.parts.append(f'<rect x="{number(x - 4.5)}" y="{number(y - 4.5)}" width="9" '
                               f'height="9" fill="{colour}"/>')

        for x, y in points:
            mark(x, y)
        mark(right + 28, top + 30 + 26 * at)
        d.text(right + 42, top + 35 + 26 * at, label, 13, "start")
    for width in (3, 9, 31, 63, 255):
        d.text(x_of(width / 4), bottom + 40, f"w = {width}", 12, colour=GREY)
    d.text((left + right) / 2, bottom + 66, "arithmetic intensity: 2w flop per 8 bytes", 14)
    d.text(left - 70, top - 14, "TFLOP/s", 14, "start")
    d.text((left + right) / 2, 508, f"{machine}, 10⁹ cells, {run['date'][:10]}, {run['command']}", 12,
           colour=GREY)
    return d


def im2col():
    d = Drawing(780, 300, "Convolution as a matrix product",
                "Each output's window of the input becomes one column of a matrix; the mask becomes "
                "one row; their product is the row of outputs. Inputs are copied once for each mask "
                "cell.")
    signal = ["a", "b", "c", "d", "e"]
    padded = ["0"] + signal + ["0"]
    w, h = 46, 34
    d.text(120, 40, "mask", 14, bold=True)
    d.cells(50, 122, ["m0", "m1", "m2"], w, h, "mask", 13)
    d.text(206, 146, "×", 20)
    x0 = 232
    d.text(x0 + 2.5 * w, 40, "windows of the input, one column per output", 14, bold=True)
    for j in range(3):
        d.cells(x0, 88 + j * h, padded[j:j + 5], w, h,
                ["ghost" if c == "0" else "read" for c in padded[j:j + 5]], 14)
    d.text(x0 + 5 * w + 22, 146, "=", 20)
    d.text(x0 + 5 * w + 44 + 2.5 * w, 40, "outputs", 14, bold=True)
    d.cells(x0 + 5 * w + 44, 122, [f"o{i}" for i in range(5)], w, h, "plain", 13)
    d.brace(x0, x0 + 5 * w, 196, "5 inputs became 15 cells: 3 copies of nearly every one")
    d.text(390, 262, "With many filters the mask row becomes a matrix too, and the product a GEMM.", 13,
           colour=GREY)
    d.text(390, 282, "Dashed cells are the zeros beyond the ends.", 12, colour=GREY)
    return d


def course_map():
    d = Drawing(940, 452, "The map of the course",
                "Stages 00 to 05, one dimension, twelve hours, follow each other. 06 to 09, layers, twelve hours: 06 "
                "after 04, then 07 and 08, or 09. 10 to 13, layouts and networks, twelve hours: 10 after 06, then 11 "
                "and 13; 12, softmax, needs 04 only, and 13 needs it. Measuring, seven hours, can be read at any time.")
    w, h = 118, 54
    words = {"00": "first program", "01": "loop on a CPU", "02": "a thread for each", "03": "constant mask",
             "04": "tile and halo", "05": "halo by the cache", "06": "two dimensions", "07": "one channel: plan",
             "08": "register tiles", "09": "products, sums", "10": "layouts", "11": "pooling: reuse",
             "12": "softmax: reduction", "13": "networks: fusion"}
    at = {f"{i:02}": (18 + i * 134, 52) for i in range(6)}
    at |= {"06": (286, 156), "07": (420, 156), "08": (554, 156), "09": (420, 226),
           "10": (286, 318), "11": (420, 318), "13": (688, 318), "12": (554, 388)}

    def arrow(here, there, bend=None):
        (x1, y1), (x2, y2) = at[here], at[there]
        if bend is None and y1 == y2:
            d.line(x1 + w, y1 + h / 2, x2 - 2, y2 + h / 2, INK, 1.6, arrow=True)
        else:
            d.polyline([(x1 + bend, y1 + h), (x1 + bend, y2 + h / 2), (x2 - 12, y2 + h / 2)], INK, 1.6)
            d.line(x2 - 12, y2 + h / 2, x2 - 2, y2 + h / 2, INK, 1.6, arrow=True)

    for here, there in (("00", "01"), ("01", "02"), ("02", "03"), ("03", "04"), ("04", "05"), ("06", "07"), ("07", "08"),
                        ("10", "11"), ("11", "13")):
        arrow(here, there)
    arrow("06", "09", 100)
    d.line(at["04"][0] + 8, at["04"][1] + h, at["04"][0] + 8, 132, INK, 1.6)  # 04 leads to 06
    d.polyline([(at["04"][0] + 8, 132), (270, 132), (270, 156 + h / 2)], INK, 1.6)
    d.line(270, 156 + h / 2, 284, 156 + h / 2, INK, 1.6, arrow=True)
    d.line(at["06"][0] + 30, 156 + h, at["06"][0] + 30, 316, INK, 1.6, arrow=True)
    d.polyline([(at["12"][0] + w, 388 + h / 2), (688 + w / 2, 388 + h / 2)], INK, 1.6)
    d.line(688 + w / 2, 388 + h / 2, 688 + w / 2, 318 + h + 2, INK, 1.6, arrow=True)
    for name, (x, y) in at.items():
        d.rect(x, y, w, h, "plain", BLUE if name < "06" else GREEN if name < "10" else ORANGE, width=2.5, radius=6)
        d.text(x + w / 2, y + 22, name, 16, bold=True)
        d.text(x + w / 2, y + 42, words[name], 11.5)
    for y, track, hours in ((30, "one dimension", "12 hours"), (150, "layers", "12 hours"),
                            (312, "layouts and networks", "12 hours")):
        d.text(18, y + (0 if y == 30 else 30), track, 15, "start", bold=True)
        d.text(922, y + (0 if y == 30 else 30), hours, 14, "end", colour=GREY)
    d.text(18, 420, "measuring, at any time: 7 hours", 14, "start", colour=GREY)
    d.text(542, 420, "needs 04 only", 12, "end", colour=GREY)
    return d


FIGURES = {
    "course_map": course_map,
    "sliding_mask": sliding_mask,
    "threads_to_outputs": threads_to_outputs,
    "sectors": sectors,
    "constant_broadcast": constant_broadcast,
    "tile_with_halo": tile_with_halo,
    "tile_cached_halo": tile_cached_halo,
    "warp_tile": warp_tile,
    "quad_stride": quad_stride,
    "quad_overlap": quad_overlap,
    "memory_hierarchy": memory_hierarchy,
    "bank_conflicts": bank_conflicts,
    "roofline": roofline,
    "measured_roofline": measured_roofline,
    "im2col": im2col,
}


def all_figures():
    figures = dict(FIGURES)
    for file in sorted(HERE.glob("stage_*.py")):
        figures |= importlib.import_module(file.stem).FIGURES
    return figures


def main(argv=None):
    parser = argparse.ArgumentParser(description="Draws the figures of the pages as SVG.")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 if a committed figure differs")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE,
                        help="where the SVG files lie (default: beside this script)")
    arguments = parser.parse_args(argv)
    wrong = []
    figures = all_figures()
    for name, draw in figures.items():
        path = arguments.folder / f"{name}.svg"
        wanted = draw().svg()
        if not arguments.check:
            path.write_text(wanted, encoding="utf-8")
        elif not path.is_file():
            wrong.append(f"{path} is missing")
        elif path.read_text(encoding="utf-8") != wanted:
            wrong.append(f"{path} is not what make_figures.py draws")
    known = {f"{name}.svg" for name in figures}
    if arguments.check:
        wrong += [f"{path} has no generator" for path in sorted(arguments.folder.glob("*.svg"))
                  if path.name not in known]
    for problem in wrong:
        print(problem, file=sys.stderr)
    if wrong:
        print("run docs/figures/make_figures.py and commit what it writes", file=sys.stderr)
        return 1
    print(f"make_figures: {len(figures)} figures {'match' if arguments.check else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
