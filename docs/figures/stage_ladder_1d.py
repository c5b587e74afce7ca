"""Charts of what the 1D stages take on a GPU: each stage beside the ones before. Drawn by make_figures.py."""

import math
import pathlib

from make_figures import BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, RED, Drawing
from read_results import read_results

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results" / "bench_conv1d_gpu.json"
WIDTHS = (3, 9, 31, 63, 255)
LENGTH, THREADS = 10**9, 256
# variant: (label, colour, whether its marks are square)
STYLES = {
    "grid": ("02 grid", GREY, False),
    "constant": ("03 constant", GREEN, False),
    "tiled_halo": ("04 tiled_halo", ORANGE, True),
    "tiled_cached": ("05 tiled_cached", PURPLE, True),
    "warp_tile": ("04 warp_tile, tuned", BLUE, False),
    "quad": ("05 quad, tuned", RED, True),
}


def times(rows, variant):
    """{mask width: milliseconds} of a billion outputs; copies have the width of the problem beside them."""
    return {row["problem"]["mask_width"]: row["time"]["hot"]["median_ms"] for row in rows
            if row["variant"] == variant and row["problem"]["length"] == LENGTH
            and row["problem"]["threads"] == THREADS and row["time"]["status"] == "MEASURED"}


def ladder(shown):
    run = read_results(RESULTS)
    found = {variant: times(run["rows"], variant) for variant in shown}
    for variant, of_width in found.items():
        if not of_width:
            raise SystemExit(f"make_figures: no measured row of {variant} at a billion cells")
    copy = min(times(run["rows"], "copy").values())
    names = ", ".join(STYLES[variant][0] for variant in shown)
    worst = "; ".join(f"{STYLES[v][0]}: " + ", ".join(f"{w} taps {found[v][w]:.3g} ms" for w in WIDTHS if w in found[v])
                      for v in shown)
    d = Drawing(760, 400, f"Times of {names}", f"Milliseconds for a billion outputs by mask width, a copy takes "
                                               f"{copy:.3g} ms. {worst}.")
    left, right, top, bottom = 70, 520, 40, 340
    low, high = 1.0, 300.0
    x_of = lambda i: left + (i + 0.5) / len(WIDTHS) * (right - left)
    y_of = lambda ms: bottom - math.log(ms / low) / math.log(high / low) * (bottom - top)
    d.text(left - 8, top - 16, "ms", 12, "end", GREY)
    for ms in (1, 2, 5, 10, 20, 50, 100, 200):
        d.line(left, y_of(ms), right, y_of(ms), PALE, 1)
        d.text(left - 8, y_of(ms) + 4, str(ms), 12, "end")
    for i, width in enumerate(WIDTHS):
        d.text(x_of(i), bottom + 20, f"{width}", 12)
    d.text((left + right) / 2, bottom + 42, "taps of the mask", 13)
    d.line(left, bottom, right, bottom, INK, 1.6)
    d.line(left, y_of(copy), right, y_of(copy), INK, 1.6, dashed=True)
    d.text(right + 8, y_of(copy) + 4, f"a copy: {copy:.2f} ms", 13, "start")

    ends = []
    for variant in shown:
        label, colour, square = STYLES[variant]
        points = [(x_of(i), y_of(found[variant][width])) for i, width in enumerate(WIDTHS)
                  if width in found[variant]]
        d.polyline(points, colour, 2)
        for x, y in points:
            if square:
                d.rect(x - 4.5, y - 4.5, 9, 9, stroke=colour, width=1.8)
            else:
                d.circle(x, y, 5, colour)
        ends.append([points[-1][1], label, colour])
    # Labels at the right ends, moved apart.
    ends.sort()
    for before, after in zip(ends, ends[1:]):
        after[0] = max(after[0], before[0] + 18)
    for y, label, colour in ends:
        d.text(right + 8, y + 4, label, 13, "start", colour, bold=True)
    return d


def bars(title, speeds, tuned=(), high=200.0, labels=(1, 2, 5, 10, 20, 50, 100, 200)):
    """Useful bytes a nanosecond, 8 per output, of each variant; a copy is pale."""
    d = Drawing(720, 84 + 36 * len(speeds), title, "Useful bytes per second, 8 per output: "
                + ", ".join(f"{name} {speed:.3g} GB/s" for name, speed in speeds.items()) + ".")
    left, right, top = 130, 560, 30
    low = 1.0
    x_of = lambda v: left + math.log(v / low) / math.log(high / low) * (right - left)
    bottom = top + 36 * len(speeds)
    for v in labels:
        d.line(x_of(v), top - 6, x_of(v), bottom, PALE, 1)
        d.text(x_of(v), bottom + 18, f"{v:,}", 12)
    d.text((left + right) / 2, bottom + 40, "GB/s of 8 bytes per output", 13)
    for i, (name, speed) in enumerate(speeds.items()):
        y = top + 36 * i
        fill = "pale" if name == "copy" else "tile" if name in tuned else "read"
        d.rect(x_of(low), y, x_of(speed) - x_of(low), 24, fill)
        d.text(left - 10, y + 17, name, 13, "end")
        shown = f"{speed:,.0f}" if speed >= 1000 else f"{speed:.3g}"
        d.text(x_of(speed) + 8, y + 17, shown + (" (tuned)" if name in tuned else ""), 13, "start")
    return d


def speeds_of(path, length, names, **problem):
    """{variant: useful GB/s} of the variants named, on one problem."""
    rows = read_results(path)["rows"]
    found = {row["variant"]: row["time"]["hot"]["median_ms"] for row in rows
             if row["problem"]["length"] == length and row["time"]["status"] == "MEASURED"
             and all(row["problem"][key] == value for key, value in problem.items())}
    return {name: 8 * length / found[name] / 1e6 for name in names}


def cpu_ladder():
    """Stage 01: a billion cells, three taps."""
    tuned = ("streaming", "shared_loads")
    return bars("Stage 01 on 10⁹ cells, 3 taps",
                speeds_of(RESULTS.parent / "bench_conv1d_cpu.json", LENGTH,
                          ["loop", "simd", "threads", *tuned, "copy"], mask_width=3), tuned)


def first_kernels():
    """Stage 02: ten million cells, nine taps; one block takes seconds for more."""
    return bars("Stage 02 on 10⁷ cells, 9 taps",
                speeds_of(RESULTS, 10**7, ["single_block", "grid", "thrust", "copy"], mask_width=9, threads=THREADS),
                high=10000.0, labels=(1, 10, 100, 1000, 10000))


FIGURES = {
    "ladder_01": cpu_ladder,
    "ladder_02": first_kernels,
    "ladder_03": lambda: ladder(["grid", "constant"]),
    "ladder_04": lambda: ladder(["constant", "tiled_halo"]),
    "ladder_04_tuned": lambda: ladder(["constant", "tiled_halo", "warp_tile"]),
    "ladder_05": lambda: ladder(["constant", "tiled_halo", "tiled_cached", "warp_tile", "quad"]),
}
