"""The figures of stage 06: outputs of a block, tile and halo, slices of the filters, and a picture."""

import math

from make_figures import BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, Drawing
from stage_convolve import by_filter_size, layers_of, library, milliseconds


def threads_of_a_block():
    rows, columns, tile_rows, tile_columns, cell = 20, 40, 8, 32, 15
    d = Drawing(820, 452, "Blocks of 8 x 32 threads over the outputs of one plane",
                "A plane of 20 by 40 outputs needs three tiles down and two across. The tiles at the "
                "right and the lower edge reach beyond it: those threads are idle. One row of 32 "
                "outputs is a warp.")
    x0, y0 = 76, 62
    for p in range(3 * tile_rows):
        for q in range(2 * tile_columns):
            if q >= 46:
                continue  # the rest of the right tiles is left out
            idle = p >= rows or q >= columns
            warp = p == 3 and q < tile_columns
            d.rect(x0 + q * cell, y0 + p * cell, cell, cell,
                   "bad" if idle else "read" if warp else "plain", stroke=GREY, width=0.5)
    for row in range(3):
        for left, right in ((0, tile_columns), (tile_columns, 46)):
            d.rect(x0 + left * cell, y0 + row * tile_rows * cell, (right - left) * cell,
                   tile_rows * cell, "ghost", stroke=INK, width=2.4)
            d.parts[-1] = d.parts[-1].replace('fill="#ffffff"', 'fill="none"')
    d.brace(x0, x0 + tile_columns * cell, y0 - 8, "a tile: 32 columns, q", below=False)
    d.text(x0 + 39 * cell, y0 - 20, "next tile …", 13)
    for row in range(3):
        d.text(x0 - 10, y0 + (row * tile_rows + 6.5) * cell, "8 rows", 12, "end", GREY)
    d.text(x0 - 10, y0 + 3.75 * cell, "a warp", 12, "end", BLUE, bold=True)
    d.text(x0 + 16 * cell, y0 + 3.8 * cell, "threadIdx.x = 0 … 31, threadIdx.y = 3", 12, halo=True)
    d.text(410, 442, "Striped in red: threads without an output. They help to load, and store nothing.",
           13, colour=GREY)
    return d


def tile_and_halo_2d():
    cell, x0, y0 = 30, 70, 66
    d = Drawing(840, 420, "The tile of a block, with its halo",
                "Four by eight outputs of a filter of three by three need six by ten input cells. At "
                "the upper left corner of the image the first row and the first column of the tile "
                "are ghost cells: zeros that exist only in shared memory.")
    for row in range(6):
        for column in range(10):
            ghost = row == 0 or column == 0
            halo = row == 5 or column == 9
            kind = "ghost" if ghost else "halo" if halo else "tile"
            d.rect(x0 + column * cell, y0 + row * cell, cell, cell, kind, dashed=ghost,
                   stroke=GREY if ghost else INK, width=1)
            if ghost:
                d.text(x0 + (column + 0.5) * cell, y0 + (row + 0.65) * cell, "0", 12, colour=GREY)
    d.text(x0 + 5 * cell, 30, "cells[6][10], shared memory", 14, bold=True)
    d.text(x0 + 5 * cell, 50, "(rows + R - 1) x (columns + S - 1)", 12, colour=GREY)
    d.rect(x0 + 3 * cell, y0 + 2 * cell, 3 * cell, 3 * cell, "ghost", stroke=PURPLE, width=3)
    d.parts[-1] = d.parts[-1].replace('fill="#ffffff"', 'fill="none"')

    ox = x0 + 14 * cell
    for row in range(4):
        for column in range(8):
            d.rect(ox + column * cell, y0 + (row + 1) * cell, cell, cell,
                   "read" if (row, column) == (2, 3) else "plain", width=1)
    d.text(ox + 4 * cell, y0 + 0.6 * cell, "outputs of the block, 4 x 8", 14, bold=True)
    d.line(x0 + 6 * cell + 4, y0 + 3.5 * cell, ox + 3 * cell - 2, y0 + 3.5 * cell, PURPLE, 2.2,
           arrow=True)
    d.text(x0 + 12 * cell, y0 + 3.1 * cell, "9 products", 13, colour=PURPLE)
    y = y0 + 6 * cell + 40
    for kind, words, dashed in (("tile", "dots: cells that belong to outputs of this block", False),
                                ("halo", "crosses: halo cells, which the neighbours load as well", False),
                                ("ghost", "dashed: ghost cells, beyond the edge; written as 0, never read",
                                 True)):
        d.rect(x0, y, 24, 24, kind, dashed=dashed, stroke=GREY if dashed else INK)
        d.text(x0 + 36, y + 17, words, 13, "start")
        y += 34
    return d


def filter_slices():
    d = Drawing(840, 420, "Slices of eight filters for one channel",
                "Filters lie in memory one after the other, each with its channels one after the "
                "other. For the current channel a block loads nine taps of each of its eight filters, "
                "C times R times S floats apart, and one tile of the image.")
    x0, y0, box, gap_x, gap_y = 150, 66, 30, 62, 40
    channels = ["c = 0", "c = 1", "c = 2", "c = 3"]
    for c, label in enumerate(channels):
        d.text(x0 + c * gap_x + box / 2, y0 - 14, label, 13, bold=c == 1)
    for k in range(8):
        d.text(x0 - 16, y0 + k * gap_y + 20, f"filter {k}", 13, "end")
        for c in range(4):
            for i in range(9):
                d.rect(x0 + c * gap_x + i % 3 * 10, y0 + k * gap_y + i // 3 * 10, 10, 10,
                       "mask" if c == 1 else "plain", stroke=GREY, width=0.6)
            if c < 3:
                d.line(x0 + c * gap_x + box + 3, y0 + k * gap_y + 15, x0 + (c + 1) * gap_x - 3,
                       y0 + k * gap_y + 15, GREY, 1, arrow=True)
    d.text(x0 + 1.5 * gap_x + 15, y0 + 8 * gap_y + 16, "→ the order in memory", 12, colour=GREY)
    sx = 500
    d.text(sx + 135, y0 - 14, "shared memory of a block", 14, bold=True)
    d.rect(sx, y0, 270, 110, "tile")
    d.text(sx + 135, y0 + 50, "tile of channel 1", 14, halo=True)
    d.text(sx + 135, y0 + 72, "10 x 34 cells", 13, halo=True)
    d.rect(sx, y0 + 118, 270, 54, "mask")
    d.text(sx + 135, y0 + 150, "8 x 9 taps of channel 1", 14, halo=True)
    d.line(x0 + 3 * gap_x + box + 14, y0 + 145, sx - 6, y0 + 145, PURPLE, 2, arrow=True)
    d.text(sx + 135, y0 + 222, "registers of each thread", 14, bold=True)
    d.cells(sx - 5, y0 + 236, [f"sum{g}" for g in range(8)], 35, 32, "plain", 11)
    d.line(sx + 135, y0 + 176, sx + 135, y0 + 204, INK, 2, arrow=True)
    d.text(sx + 135, y0 + 304, "one cell read, eight taps read: eight products", 13, colour=GREEN)
    d.text(sx + 135, y0 + 326, "then the next channel, over the same memory", 13, colour=GREY)
    return d


def sobel_picture():
    picture = [[20] * 8 for _ in range(6)]
    for row in range(2, 6):
        for column in range(3, 8):
            picture[row][column] = 70
    across = ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1))

    def cell(row, column):
        return picture[row][column] if 0 <= row < 6 and 0 <= column < 8 else 0

    def magnitude(row, column):
        right = sum(across[r][s] * cell(row + r - 1, column + s - 1) for r in range(3) for s in range(3))
        down = sum(across[s][r] * cell(row + r - 1, column + s - 1) for r in range(3) for s in range(3))
        return min(255, round(math.hypot(right, down)))

    d = Drawing(860, 372, "What sobel makes of a picture",
                "A dark picture of six by eight pixels with a brighter corner. The magnitude is large "
                "where the corner begins, 0 within both areas, and large again along the edge of the "
                "picture, where the pixels meet ghost cells of 0.")
    w, h, y0 = 46, 38, 66
    for x0, values, title in ((30, picture, "picture"),
                              (462, [[magnitude(r, c) for c in range(8)] for r in range(6)],
                               "magnitude of the two results")):
        d.text(x0 + 4 * w, 44, title, 15, bold=True)
        for row in range(6):
            bright = [v >= (70 if x0 == 30 else 120) for v in values[row]]
            d.cells(x0, y0 + row * h, values[row], w, h,
                    ["read" if b else "plain" for b in bright], 13)
    d.line(405, y0 + 3 * h, 456, y0 + 3 * h, PURPLE, 2.4, arrow=True)
    d.text(430, 320, "Inside, the filter finds where brightness changes. The frame is the price of zeros "
           "beyond the edge:", 13)
    d.text(430, 342, "to the filter the picture ends in black. Values above 255 are clipped.", 13,
           colour=GREY)
    return d


STEPS = {  # variant: (label, colour, whether its marks are square)
    "stride_padding": ("3, no tile", GREY, False),
    "tile_constant": ("4, tile", ORANGE, True),
    "tile_shared": ("5, taps in shared", PURPLE, True),
    "filter_group": ("6, eight filters", BLUE, False),
    "cudnn": ("cuDNN's fastest", INK, False),
}


def steps_on_a_gpu():
    """Steps 3 to 6 and cuDNN on the largest map of one channel, by the size of the filters."""
    name, sizes = "bench_chang_onishi_single.json", (1, 3, 5)
    found = {variant: {} for variant in STEPS}
    for layer in layers_of(name):
        problem = layer["stride_padding"]["problem"]
        if problem["H"] != 1024:
            continue
        for variant in STEPS:
            row = library(layer) if variant == "cudnn" else layer[variant]
            found[variant][problem["R"]] = milliseconds(row)
    said = "; ".join(f"{STEPS[v][0]}: " + ", ".join(f"{size} x {size} {found[v][size]:.3g} ms" for size in sizes)
                     for v in STEPS)
    d = Drawing(760, 400, "Steps 3 to 6 of stage 06", "Milliseconds for 32 filters on a map of 1024 x 1024 by "
                f"the size of the filters. {said}.")
    left, right, top, bottom = 70, 520, 44, 330
    low, high = 0.05, 1.0
    x_of = lambda i: left + (i + 0.5) / len(sizes) * (right - left)
    y_of = lambda ms: bottom - math.log(ms / low) / math.log(high / low) * (bottom - top)
    d.text(left - 8, top - 16, "ms", 12, "end", GREY)
    for ms in (0.05, 0.1, 0.2, 0.5, 1):
        d.line(left, y_of(ms), right, y_of(ms), PALE, 1)
        d.text(left - 8, y_of(ms) + 4, str(ms), 12, "end")
    for i, size in enumerate(sizes):
        d.text(x_of(i), bottom + 20, f"{size} x {size}", 13)
    d.line(left, bottom, right, bottom, INK, 1.6)
    ends = []
    for variant, (label, colour, square) in STEPS.items():
        points = [(x_of(i), y_of(found[variant][size])) for i, size in enumerate(sizes)]
        d.polyline(points, colour, 2)
        for x, y in points:
            if square:
                d.rect(x - 4.5, y - 4.5, 9, 9, stroke=colour, width=1.8)
            else:
                d.circle(x, y, 5, colour)
        ends.append([points[-1][1], label, colour])
    ends.sort()
    for before, after in zip(ends, ends[1:]):
        after[0] = max(after[0], before[0] + 18)
    for y, label, colour in ends:
        d.text(right - 40, y + 4, label, 13, "start", colour, bold=True)
    d.text(left + 225, bottom + 42, "one channel, 1024 x 1024, 32 filters, one image", 13)
    d.text(380, 391, f"NVIDIA H200, caches warm. File: docs/results/{name}", 11, colour=GREY)
    return d


def one_channel():
    return by_filter_size("One channel, 27 layers, one image: cuDNN's time / step 6's",
                          "bench_chang_onishi_single.json", "filter_group", None, (1 / 4, 4))


def many_channels():
    return by_filter_size("Many channels, 27 layers, one image: cuDNN's time / step 6's",
                          "bench_chang_onishi_multi.json", "filter_group", None, (1 / 64, 2))


FIGURES = {
    "conv2d_threads": threads_of_a_block,
    "conv2d_tile_halo": tile_and_halo_2d,
    "conv2d_filter_slices": filter_slices,
    "conv2d_sobel": sobel_picture,
    "stage_06_steps": steps_on_a_gpu,
    "stage_06_one_channel": one_channel,
    "stage_06_many_channels": many_channels,
}
