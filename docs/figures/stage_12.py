"""Figures of stage 12, softmax. Drawn by make_figures.py."""

import math
import pathlib

from make_figures import BLUE, GREEN, GREY, INK, PALE, PURPLE, RED, Drawing
from read_results import read_results

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"


def softmax_traffic():
    d = Drawing(900, 470, "What five kernels move, and what one moves",
                "Above: five kernels in a row. Max reads the input and writes the maxima. Subtract "
                "reads input and maxima and writes a matrix. Exp reads it and writes another. Sum "
                "reads that and writes the sums. Divide reads it again, with the sums, and writes the "
                "output. Five matrices are read and three are written. Below: one kernel reads the "
                "input and writes the output.")
    top, memory, deep = 66, 206, 44
    kernels = {"max": 88, "subtract": 262, "exp": 436, "sum": 610, "divide": 784}
    for name, x in kernels.items():
        d.rect(x - 56, top, 112, 40, "pale", radius=6)
        d.text(x, top + 25, name, 15, bold=True)
    d.text(450, 36, "five kernels: 5 reads and 3 writes of 4 bytes per cell", 15, bold=True)
    matrices = {"input": 118, "shifted": 349, "exponentials": 592, "output": 826}
    for name, x in matrices.items():
        d.rect(x - 58, memory, 116, deep, "read")
        d.text(x, memory + 27, name, 13, halo=True)
    vectors = {"maximum": 214, "sum": 697}
    for name, x in vectors.items():
        d.rect(x - 12, memory, 24, deep, "mask")
        d.text(x, memory + deep + 18, name, 12, colour=GREY)
    low = top + 40

    def label(at, kernel, colour):  # beside the line, not on it
        beside = 9 if at == kernel else 9 + abs(at - kernel) * 0.09
        d.text((at + kernel) / 2 + (beside if at > kernel else -beside), memory - 46, "4", 13,
               colour=colour)

    def read(at, kernel, shift=0):
        d.line(at, memory, kernels[kernel] + shift, low + 4, BLUE, 2.6, arrow=True)
        label(at, kernels[kernel] + shift, BLUE)

    def write(kernel, at, shift=0):
        d.line(kernels[kernel] + shift, low, at, memory - 4, RED, 2.6, arrow=True)
        label(at, kernels[kernel] + shift, RED)

    read(84, "max", -10)
    d.line(120, low, 206, memory - 4, PURPLE, 1.4, dashed=True, arrow=True)
    read(158, "subtract", -26)
    d.line(222, memory, 262, low + 4, PURPLE, 1.4, dashed=True, arrow=True)
    write("subtract", 322, 26)
    read(376, "exp", -26)
    write("exp", 552, 26)
    read(592, "sum", -8)
    d.line(636, low, 690, memory - 4, PURPLE, 1.4, dashed=True, arrow=True)
    read(636, "divide", -30)
    d.line(705, memory, 776, low + 4, PURPLE, 1.4, dashed=True, arrow=True)
    write("divide", 826, 20)
    d.text(450, 292, "4: bytes per cell, read (blue, up) or written (red, down) in global memory. "
           "Dashed: one float per image.", 12, colour=GREY)

    d.line(30, 312, 870, 312, GREY, 1, dashed=True)
    d.text(450, 340, "one kernel: 1 read and 1 write", 15, bold=True)
    d.rect(250, 356, 400, 42, "tile", radius=6)
    d.text(450, 382, "all five steps; cells stay in shared memory", 14, halo=True)
    for name, x in (("input", 118), ("output", 782)):
        d.rect(x - 58, 408, 116, deep, "read")
        d.text(x, 435, name, 13, halo=True)
    d.line(176, 424, 250, 390, BLUE, 2.6, arrow=True)
    d.text(204, 398, "4", 12, "end", BLUE)
    d.line(650, 390, 722, 424, RED, 2.6, arrow=True)
    d.text(696, 398, "4", 12, "start", RED)
    return d


def softmax_inner_loop():
    d = Drawing(900, 326, "Who reduces a row",
                "Left: four images are four threads, and each walks along its row of twelve cells: "
                "twelve turns, in which four threads work. Right: the four threads share one row, "
                "cells 0 to 3 in the first turn, 4 to 7 in the second, 8 to 11 in the third, and "
                "then combine what each has.")
    w, h = 28, 30
    d.text(216, 34, "fused: a thread per image", 15, bold=True)
    for n in range(4):
        y = 66 + n * 40
        d.text(66, y + 20, f"thread {n}", 12, "end", GREY)
        d.cells(76, y, [str(n)] * 12, w, h, "mask", 12)
    d.line(80, 244, 408, 244, INK, 2, arrow=True)
    d.text(244, 266, "turns 1 to 12, each waits for the one before", 13)
    d.text(216, 300, "C turns; as many threads as images", 13, colour=GREY)

    d.text(674, 34, "fused_parallel: a block per image", 15, bold=True)
    x0 = 506
    d.text(x0 - 8, 86, "a row", 12, "end", GREY)
    d.cells(x0, 66, [str(c % 4) for c in range(12)], w, h,
            [("tile", "read", "halo")[c // 4] for c in range(12)], 12)
    for turn in range(3):
        d.brace(x0 + turn * 4 * w + 3, x0 + (turn + 1) * 4 * w - 3, 102, f"turn {turn + 1}")
    d.text(x0 + 6 * w, 160, "then the threads' four values are one:", 13)
    d.cells(x0 + 4 * w, 176, ["0", "1", "2", "3"], w, h, "mask", 12)
    d.line(x0 + 6 * w, 210, x0 + 6 * w, 236, INK, 2, arrow=True)
    d.cells(x0 + 5.5 * w, 242, [""], w, h, "mask", 12)
    d.text(674, 300, "C / threads turns, and a block reduction", 13, colour=GREY)
    d.text(450, 318, "Numbers are threads.", 12, colour=BLUE)
    return d


def block_reduction():
    d = Drawing(900, 580, "A block reduction, drawn for warps of eight lanes",
                "Eight lanes hold 3 1 4 1 5 9 2 6. Each takes the larger of its own value and that of "
                "the lane 4 away, then 2 away, then 1 away. Now all lanes hold 9. Lane 0 of each warp "
                "stores it in shared memory. After a barrier every warp reads the four results, and "
                "reduces them in the same way.")
    w, h, x0, y0, step = 52, 28, 58, 62, 74
    values = [3, 1, 4, 1, 5, 9, 2, 6]
    d.text(x0 + 4 * w, 36, "in each warp, by shuffles", 15, bold=True)
    levels = [values]
    for distance in (4, 2, 1):
        values = [max(values[i], values[i ^ distance]) for i in range(8)]
        levels.append(values)
    for k, row in enumerate(levels):
        y = y0 + k * step
        d.cells(x0, y, row, w, h, "plain" if k < 3 else "mask", 14)
        if k < 3:
            distance = (4, 2, 1)[k]
            for i in range(8):
                for other, colour in ((i, GREY), (i ^ distance, BLUE)):
                    d.line(x0 + (other + 0.5) * w, y + h, x0 + (i + 0.5) * w, y + step, colour, 1.2)
            d.text(x0 + 8 * w + 12, y + h + 28, f"distance {distance}", 12, "start", GREY)
    d.text(x0 + 8 * w + 12, y0 + 3 * step + 19, "all lanes have it", 12, "start", GREY)

    x1 = 620
    d.text(x1 + 120, 36, "across the warps", 15, bold=True)
    for warp in range(4):
        y = y0 + warp * 44
        d.text(x1 - 8, y + 19, f"warp {warp}", 12, "end", GREY)
        d.cells(x1, y, [(9, 7, 8, 5)[warp]] * 2 + ["…"], 34, h, "mask", 13)
    d.text(x1 + 28, 284, "lane 0 of each stores", 12, "start", GREY)
    d.line(x1 + 17, 238, x1 + 17, 340, INK, 2)

    y = 378
    d.text(58, y - 4, "partials, in shared memory", 13, "start")
    d.cells(300, y - 26, [9, 7, 8, 5], w, 34, "tile", 15)
    d.line(x1 + 17, 340, 516, y - 12, INK, 2, arrow=True)
    d.line(30, y + 28, 870, y + 28, RED, 2.4, dashed=True)
    d.text(866, y + 22, "__syncthreads()", 13, "end", RED)
    y += 62
    for warp in range(4):
        x = 58 + warp * 206
        d.text(x + 72, y, f"warp {warp}", 12, colour=GREY)
        d.cells(x, y + 10, [9, 7, 8, 5], 36, h, "tile", 13)
        d.line(x + 72, y + 40, x + 72, y + 62, INK, 2, arrow=True)
        d.cells(x, y + 66, [9, 9, 9, 9], 36, h, "mask", 13)
    d.text(450, 566, "Every warp reads all partials and reduces them for itself: nobody has to be told, "
           "so there is no second barrier.", 12, colour=GREY)
    return d


def cluster_parts():
    d = Drawing(900, 452, "Parts of a row, by a barrier of the cluster and by barriers that count bytes",
                "Four blocks of a cluster compute their parts of a row and take different times. "
                "Above, each stores its part in the others' shared memory, publishes the stores, "
                "arrives at the barrier of the cluster, and all go on when the barrier has told them "
                "that the last one was there. Below, each sends its part to a barrier in the shared "
                "memory of each block, which counts the bytes; with the last part's arrival a block "
                "goes on.")
    work = (150, 210, 120, 240)
    x0, h, step = 120, 22, 32

    def rows(y, words):
        d.text(20, y - 14, words, 15, "start", bold=True)
        for block, width in enumerate(work):
            top = y + block * step
            d.text(x0 - 12, top + 16, f"block {block}", 12, "end", GREY)
            d.rect(x0, top, width, h, "read")

    y = 54
    rows(y, "stores, and a barrier of the cluster")
    last = x0 + max(work)
    told = last + 26 + 96 + 130
    for block, width in enumerate(work):
        top = y + block * step
        d.rect(x0 + width, top, 26, h, "tile")
        d.rect(x0 + width + 26, top, 96, h, "bad")
        d.line(x0 + width + 122, top + h / 2, told, top + h / 2, GREY, 1.2, dashed=True)
        d.rect(told, top, 80, h, "pale")
        d.text(told + 40, top + 16, "goes on", 12)
    d.line(last + 122, y - 8, last + 122, y + 4 * step, RED, 2, dashed=True)
    d.text(last + 126, y - 12, "the last one is there", 12, "start", RED)
    d.brace(last + 122, told, y + 4 * step - 4, "the barrier's way there and back", size=12)

    y = 254
    rows(y, "st_async, and a barrier in each block's shared memory")
    told = last + 26 + 90
    for block, width in enumerate(work):
        top = y + block * step
        d.rect(x0 + width, top, 26, h, "tile")
        d.line(x0 + width + 26, top + h / 2, told, top + h / 2, GREY, 1.2, dashed=True)
        d.line(last + 26, y + 3 * step + h / 2, told, top + h / 2, GREEN, 1.6, arrow=True)
        d.rect(told, top, 80, h, "pale")
        d.text(told + 40, top + 16, "goes on", 12)
        d.text(told + 92, top + 16, "32 of 32 bytes", 12, "start", GREEN)

    y = 410
    for x, kind, words in ((120, "read", "loads, maximum, sum"), (330, "tile", "the part, to all blocks"),
                           (550, "bad", "publishes it")):
        d.rect(x, y, 26, 18, kind)
        d.text(x + 34, y + 14, words, 12, "start")
    d.line(690, y + 9, 716, y + 9, GREY, 1.2, dashed=True)
    d.text(724, y + 14, "waits", 12, "start")
    return d


def softmax_listing():
    d = Drawing(900, 268, "What the listing's load brings",
                "A row of twelve cells and a block of four threads. The listing brings cells 0, 1, 2, "
                "3 three times. It should bring 0 to 11.")
    w, h, x0 = 52, 34, 214
    rows = [("a row of the input", list(range(12)), ["read"] * 4 + ["plain"] * 8),
            ("in_tile, as printed", [c % 4 for c in range(12)], ["tile"] * 4 + ["bad"] * 8),
            ("in_tile, as meant", list(range(12)), ["tile"] * 12)]
    for k, (name, cells, kinds) in enumerate(rows):
        y = 34 + k * 64
        d.text(x0 - 14, y + 22, name, 14, "end")
        d.cells(x0, y, cells, w, h, kinds, 14)
    for turn in range(3):
        d.brace(x0 + turn * 4 * w + 4, x0 + (turn + 1) * 4 * w - 4, 204, f"turn {turn + 1} of 4 threads")
    d.text(450, 252, "mat[blockIdx.x * num_category + threadIdx.x] does not depend on the turn. With a "
           "thread for each category there is one turn only.", 12, colour=GREY)
    return d


def softmax_ladder():
    """Milliseconds of each kernel, 1,000 categories, on one scale of tenfolds."""
    kernels = ("five_kernels", "fused", "fused_parallel", "cudnn", "one_read")
    taken = {}
    # The tuned kernel was timed in a run of its own, beside cuDNN.
    for file, variants in (("bench_softmax.json", kernels[:3]), ("bench_softmax_tuned.json", kernels[3:])):
        for row in read_results(RESULTS / file)["rows"]:
            if row["variant"] in variants and row["time"]["status"] == "MEASURED":
                taken[row["problem"]["N"], row["problem"]["C"], row["variant"]] = row["time"]["hot"]["median_ms"]
    said = "; ".join(f"{n} images: " + ", ".join(f"{v} {taken[n, 1000, v]:.3g} ms" for v in kernels)
                     for n in (128, 65536))
    d = Drawing(860, 290, "Softmax of 1,000 categories", f"Milliseconds on a GPU. {said}.")
    colours = {"one_read": "tile", "cudnn": "pale"}
    tenfold = 95  # the same in both halves
    for at, (n, low) in enumerate(((128, 0.001), (65536, 0.1))):
        left = 130 + at * 430
        d.text(left + tenfold, 30, f"{n:,} images", 15, bold=True)
        for line in range(3):
            x = left + line * tenfold
            d.line(x, 44, x, 216, INK if line == 0 else PALE, 1.2)
            d.text(x, 232, f"{low * 10 ** line:g}", 12, colour=GREY)
        for i, variant in enumerate(kernels):
            y, ms = 50 + 34 * i, taken[n, 1000, variant]
            width = tenfold * math.log10(ms / low)
            d.text(left - 8, y + 16, variant, 13, "end", bold=variant == "one_read")
            d.rect(left, y, width, 22, colours.get(variant, "read"))
            d.text(left + width + 6, y + 16, f"{ms:.3g} ms", 13, "start", halo=True)
    d.text(430, 258, "Each upright line is ten times the one before it.", 13)
    d.text(430, 278, "NVIDIA H200. Files: docs/results/bench_softmax.json, bench_softmax_tuned.json", 11, colour=GREY)
    return d


FIGURES = {
    "softmax_ladder": softmax_ladder,
    "softmax_traffic": softmax_traffic,
    "softmax_inner_loop": softmax_inner_loop,
    "block_reduction": block_reduction,
    "softmax_listing": softmax_listing,
    "cluster_parts": cluster_parts,
}
