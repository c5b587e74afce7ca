"""Figures of stage 10, layouts and transforms. Drawn by make_figures.py."""

import pathlib

from make_figures import BLUE, GREEN, GREY, INK, PURPLE, RED, Drawing
from read_results import read_results

IMAGE_FILLS = ("read", "halo", "tile")  # of images 0, 1, 2

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results" / "bench_transform.json"


def frame(d, x, y, w, h, colour=INK, width=2.4):
    """An outline over what is already drawn."""
    for a, b, c, e in ((x, y, x + w, y), (x, y + h, x + w, y + h), (x, y, x, y + h),
                       (x + w, y, x + w, y + h)):
        d.line(a, b, c, e, colour, width)


def layouts_in_memory():
    images, cells = 3, "abcd"  # channel 0 has the cells a and b, channel 1 has c and d
    d = Drawing(820, 452, "The same three images in two layouts",
                "Three images of two channels with two cells each. In NCHW the four cells of image 0 "
                "come first, then those of image 1. In CHWN cell a of all three images comes first, "
                "then cell b of all three.")
    w, h = 48, 36
    for n in range(images):
        x = 62 + n * 250
        d.text(x + 100, 34, f"image {n}", 14, bold=True)
        for c in range(2):
            d.cells(x + c * 104, 62, [f"{n}{cell}" for cell in cells[2 * c:2 * c + 2]], w, h,
                    IMAGE_FILLS[n])
            d.text(x + c * 104 + w, 56, f"c = {c}", 12, colour=GREY)

    x0 = 122
    orders = {
        "NCHW": [(n, cell) for n in range(images) for cell in cells],
        "CHWN": [(n, cell) for cell in cells for n in range(images)],
    }
    for layout, y in (("NCHW", 160), ("CHWN", 312)):
        order = orders[layout]
        d.text(x0 - 16, y + 24, layout, 16, "end", bold=True)
        d.cells(x0, y, [f"{n}{cell}" for n, cell in order], w, h, [IMAGE_FILLS[n] for n, _ in order])
        for i in range(len(order)):
            d.text(x0 + i * w + w / 2, y - 7, str(i), 11, colour=GREY)
        step = len(cells) if layout == "NCHW" else images
        for i in range(0, len(order), step):
            words = f"image {i // step}" if layout == "NCHW" else f"cell {cells[i // step]}"
            d.brace(x0 + i * w + 3, x0 + (i + step) * w - 3, y + h + 5, words)
    d.text(410, 252, "as a matrix [N][C·H·W], 3 rows of 4: next cell of the image 1 away, "
           "same cell of the next image 4 away", 13)
    d.text(410, 404, "as a matrix [C·H·W][N], 4 rows of 3: next cell of the image 3 away, "
           "same cell of the next image 1 away", 13)
    d.text(410, 436, "2b is cell b of image 2. The small numbers count floats in memory.", 12,
           colour=GREY)
    return d


def transform_naive_sectors():
    d = Drawing(820, 372, "What the naive kernel reads and writes",
                "A warp has one cell of 32 images. In CHWN they are neighbours: four sectors, wholly "
                "used. In NCHW they are C times H times W floats apart: 32 sectors, of which 4 bytes "
                "each are used.")
    cell, x0 = 19, 106
    d.text(x0, 36, "CHWN: one request, 4 sectors", 14, "start", bold=True)
    for i in range(32):
        d.rect(x0 + i * cell, 50, cell, 28, "read", stroke=GREY, width=0.7)
        if i in (0, 1, 31):
            d.text(x0 + i * cell + cell / 2, 68, str(i), 10, halo=True)
    for sector in range(5):
        d.line(x0 + sector * 8 * cell, 46, x0 + sector * 8 * cell, 82, INK, 2.4)
    d.text(x0 - 12, 69, "cell a", 13, "end")
    d.text(x0 + 16 * cell, 100, "128 bytes moved, 128 used", 13, colour=GREEN)

    d.text(x0, 148, "NCHW: one request, 32 sectors", 14, "start", bold=True)
    rows = [(0, 170, "image 0"), (1, 206, "image 1"), (2, 242, "image 2"), (31, 296, "image 31")]
    for n, y, words in rows:
        for i in range(24):
            touched = 8 <= i < 16
            d.rect(x0 + i * cell, y, cell, 26,
                   "read" if i == 10 else "pale" if touched else "plain", stroke=GREY, width=0.7)
        d.text(x0 + 10.5 * cell, y + 17, str(n), 10, halo=True)
        for sector in range(4):
            d.line(x0 + sector * 8 * cell, y - 3, x0 + sector * 8 * cell, y + 29, INK, 2.2)
        d.text(x0 - 12, y + 18, words, 13, "end")
        d.text(x0 + 24 * cell + 10, y + 18, "…", 14, "start")
    d.text(x0 + 12 * cell, 286, "⋮", 16)
    d.line(x0 + 28 * cell, 176, x0 + 28 * cell, 214, PURPLE, 1.8, arrow=True)
    d.text(x0 + 28 * cell + 10, 200, "C·H·W floats", 12, "start", PURPLE)
    d.text(x0 + 12 * cell, 350, "32 sectors of 32 bytes for 128 bytes: of each, one float of eight is used",
           13, colour=RED)
    return d


def transform_tile():
    d = Drawing(840, 408, "A tile on its way through shared memory",
                "A tile of 32 cells and 32 images is read along the rows of the CHWN matrix, written "
                "to shared memory row by row, read from there column by column, and written along "
                "the rows of the NCHW matrix.")
    unit, tile = 24, 3
    # The CHWN matrix.
    x, y = 56, 86
    d.text(x + 3 * unit, 34, "CHWN, [C·H·W][N]", 15, bold=True)
    d.text(x + 3 * unit, 56, "images →", 12, colour=GREY)
    for row in range(9):
        for column in range(6):
            inside = 3 <= row < 6 and 3 <= column < 6
            d.rect(x + column * unit, y + row * unit, unit, unit, "read" if inside else "plain",
                   stroke=GREY, width=0.7)
    frame(d, x + 3 * unit, y + 3 * unit, tile * unit, tile * unit, BLUE)
    d.text(x - 12, y + 4.7 * unit, "cells", 12, "end", GREY)
    d.text(x - 12, y + 5.4 * unit, "↓", 14, "end", GREY)
    for row in range(3):
        d.line(x + 3 * unit + 4, y + (3.5 + row) * unit, x + 6 * unit - 4, y + (3.5 + row) * unit, BLUE,
               1.8, arrow=True)
    d.text(x + 3 * unit, y + 9 * unit + 24, "a warp reads a row of the tile:", 13)
    d.text(x + 3 * unit, y + 9 * unit + 43, "neighbouring images", 13, colour=BLUE)

    # The tile.
    tx, ty, big = 330, 130, 40
    d.text(tx + 1.5 * big, ty - 46, "tile[32][33]", 15, bold=True)
    d.text(tx + 1.5 * big, ty - 24, "shared memory", 12, colour=GREY)
    for row in range(3):
        for column in range(3):
            d.rect(tx + column * big, ty + row * big, big, big, "tile", stroke=GREY, width=0.8)
        d.rect(tx + 3 * big, ty + row * big, 16, big, "ghost", stroke=GREY, dashed=True)
    for column in range(3):
        d.line(tx + (0.5 + column) * big, ty + 6, tx + (0.5 + column) * big, ty + 3 * big - 6, GREEN, 2,
               arrow=True)
    d.text(tx + 1.5 * big, ty + 3 * big + 26, "written along rows,", 13)
    d.text(tx + 1.5 * big, ty + 3 * big + 45, "read along columns", 13, colour=GREEN)
    d.text(tx + 1.5 * big, ty + 3 * big + 70, "dashed: the padding, never used", 12, colour=GREY)
    d.line(x + 6 * unit + 18, ty + 1.5 * big, tx - 16, ty + 1.5 * big, PURPLE, 2.4, arrow=True)
    d.text((x + 6 * unit + tx) / 2, ty + 1.5 * big - 14, "__syncthreads()", 11, colour=GREY)

    # The NCHW matrix.
    x, y = 580, 110
    d.text(x + 4.5 * unit, 34, "NCHW, [N][C·H·W]", 15, bold=True)
    d.text(x + 4.5 * unit, 56, "cells →", 12, colour=GREY)
    for row in range(6):
        for column in range(9):
            inside = 3 <= row < 6 and 3 <= column < 6
            d.rect(x + column * unit, y + row * unit, unit, unit, "read" if inside else "plain",
                   stroke=GREY, width=0.7)
    frame(d, x + 3 * unit, y + 3 * unit, tile * unit, tile * unit, BLUE)
    for row in range(3):
        d.line(x + 3 * unit + 4, y + (3.5 + row) * unit, x + 6 * unit - 4, y + (3.5 + row) * unit, BLUE,
               1.8, arrow=True)
    d.text(x + 4.5 * unit, y + 6 * unit + 30, "a warp writes what was a column:", 13)
    d.text(x + 4.5 * unit, y + 6 * unit + 49, "neighbouring cells", 13, colour=BLUE)
    d.line(tx + 3 * big + 34, ty + 1.5 * big, x - 16, ty + 1.5 * big, PURPLE, 2.4, arrow=True)
    d.text(420, 394, "Three rows and columns stand for 32. Both accesses to global memory run along rows; "
           "the transposing happens in between.", 12, colour=GREY)
    return d


def tile_padding_banks():
    d = Drawing(820, 424, "A column of the tile, without and with padding",
                "With eight banks: in a tile of eight columns all cells of a column lie in one bank, "
                "eight wavefronts. With a ninth, unused column each cell of a column lies in another "
                "bank: one wavefront.")
    cell = 34
    for side, columns in enumerate((8, 9)):
        x0, y0 = 70 + side * 390, 84
        d.text(x0 + 4 * cell, 34, f"tile[8][{columns}]", 15, bold=True)
        d.text(x0 + 4 * cell, 56, "each cell shows its bank, of 8", 12, colour=GREY)
        for row in range(8):
            for column in range(columns):
                bank = (row * columns + column) % 8
                if column == 8:
                    kind = "ghost"
                elif column == 2:
                    kind = "bad" if side == 0 else "tile"
                else:
                    kind = "plain"
                d.rect(x0 + column * cell, y0 + row * cell, cell, cell, kind, dashed=column == 8,
                       stroke=GREY, width=0.8)
                d.text(x0 + (column + 0.5) * cell, y0 + (row + 0.64) * cell, str(bank), 12,
                       colour=GREY if column == 8 else INK, bold=column == 2, halo=column == 2)
        frame(d, x0 + 2 * cell, y0, cell, 8 * cell, RED if side == 0 else GREEN)
        d.text(x0 + 4 * cell, y0 + 8 * cell + 28,
               ("column 2: bank 2, eight times", "column 2: eight different banks")[side], 14)
        d.text(x0 + 4 * cell, y0 + 8 * cell + 50, ("8 wavefronts", "1 wavefront")[side], 14,
               colour=RED if side == 0 else GREEN, bold=True)
    return d


def transform_ladder():
    """GB/s of each transform on four layers of the paper's table, a copy beside them."""
    layers = ("28-128-1", "14-128-16", "55-64-96", "56-32-128")
    variants = ("naive", "tiled", "tiled_float2", "quads", "copy")
    found = {(row["label"], row["variant"]): row["time"]["gb_per_s"]
             for row in read_results(RESULTS)["rows"]
             if row["time"]["status"] == "MEASURED"}
    said = "; ".join(f"{layer}: " + ", ".join(f"{v} {found[layer + '-to-nchw', v]:,.0f}" for v in variants)
                     for layer in layers)
    d = Drawing(860, 330, "Transforms from CHWN to NCHW", f"GB/s, 8 bytes per float. {said}.")
    d.text(430, 28, "From CHWN to NCHW, GB/s", 16, bold=True)
    bottom, high, scale = 250, 4600.0, 190.0
    kinds = {"copy": "pale", "quads": "tile"}
    for at, layer in enumerate(layers):
        left = 50 + at * 205
        for i, variant in enumerate(variants):
            rate = found[layer + "-to-nchw", variant]
            height = scale * rate / high
            d.rect(left + i * 34, bottom - height, 28, height, kinds.get(variant, "read"))
            d.text(left + i * 34 + 14, bottom - height - 6, f"{rate:,.0f}", 10)
            d.text(left + i * 34 + 14, bottom + 16, str(i + 1), 12)
        d.text(left + 82, bottom + 36, layer, 13, bold=True)
    d.text(430, 306, "1 naive   2 tiled   3 tiled_float2   4 quads, tuned (dots)   5 a copy of as many floats", 13)
    d.text(430, 323, "NVIDIA H200, warm caches. File: docs/results/bench_transform.json", 11, colour=GREY)
    return d


FIGURES = {
    "transform_ladder": transform_ladder,
    "layouts_in_memory": layouts_in_memory,
    "transform_naive_sectors": transform_naive_sectors,
    "transform_tile": transform_tile,
    "tile_padding_banks": tile_padding_banks,
}
