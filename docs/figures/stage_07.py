"""The figures of stage 07: both ways to divide a single-channel layer over the SMs, and what they reach."""

from make_figures import BLUE, GREEN, GREY, INK, PURPLE, Drawing
from stage_convolve import by_filter_size

ROWS, FILTERS, SMS = 12, 6, 3
CELL = 17


def the_map(d, x, y, kinds, words):
    """A map of ROWS x ROWS cells; `kinds` says for each row how it is filled."""
    for row in range(ROWS):
        for column in range(ROWS):
            d.rect(x + column * CELL, y + row * CELL, CELL, CELL, kinds[row], stroke=GREY, width=0.6)
    d.text(x + ROWS * CELL / 2, y - 12, words, 13, bold=True)


def filters_at(d, x, y, kinds, label):
    """Filters as small squares of 3 x 3."""
    for f in range(FILTERS):
        top = y + f * 34
        for i in range(9):
            d.rect(x + i % 3 * 9, top + i // 3 * 9, 9, 9, kinds[f], stroke=GREY, width=0.6)
        d.text(x + 40, top + 18, label(f), 12, "start")


def filters_over_sms():
    d = Drawing(880, 372, "Method 1: the filters over the SMs, the map in strips",
                "Each of three SMs keeps two of six filters. The map of twelve rows passes by in three "
                "strips of four rows; the strip that is computed has one halo row on either side, and "
                "the next strip is on its way into registers.")
    x, y = 40, 78
    kinds = ["plain"] * 3 + ["halo"] + ["tile"] * 4 + ["halo"] + ["read"] * 3
    the_map(d, x, y, kinds, "the map, 3 strips")
    right = x + ROWS * CELL
    d.text(right + 12, y + 2 * CELL + 5, "done", 13, "start", GREY)
    d.text(right + 12, y + 6 * CELL + 5, "on chip, computed now", 13, "start", GREEN)
    d.text(right + 12, y + 3.5 * CELL + 5, "halo row", 12, "start", GREY)
    d.text(right + 12, y + 8.5 * CELL + 5, "halo row", 12, "start", GREY)
    d.text(right + 12, y + 10.5 * CELL + 5, "next: into registers", 13, "start", BLUE)
    d.line(x - 16, y + 4 * CELL, x - 16, y + 11 * CELL, INK, 2, arrow=True)
    d.text(x + ROWS * CELL / 2, y + ROWS * CELL + 24, "every SM sees all of it,", 12, colour=GREY)
    d.text(x + ROWS * CELL / 2, y + ROWS * CELL + 40, "strip after strip", 12, colour=GREY)

    fx = 468
    filters_at(d, fx, y, ["mask"] * FILTERS, lambda f: f"filter {f}")
    d.text(fx + 40, y - 12, "6 filters", 13, bold=True)
    for sm in range(SMS):
        top = y + sm * 68 - 2
        d.rect(650, top, 190, 58, "pale", stroke=GREY, radius=6)
        d.text(745, top + 24, f"SM {sm}", 14, bold=True)
        d.text(745, top + 44, f"keeps filters {2 * sm} and {2 * sm + 1}", 12)
        d.line(560, top + 30, 646, top + 30, PURPLE, 1.8, arrow=True)
    d.text(440, 352, "D = 4 (W (H/strips + R - 1) + R S K/SMs) bytes on chip, "
           "F = (R S K/SMs)(W H/strips) FMAs for them", 13)
    return d


def map_over_sms():
    d = Drawing(880, 372, "Method 2: the map over the SMs, the filters in groups",
                "Each of three SMs keeps four of twelve rows of the map, and one halo row on either "
                "side. The six filters pass by in three groups of two; the next group is on its way "
                "into registers.")
    x, y = 252, 78
    kinds = ["plain"] * 3 + ["halo"] + ["tile"] * 4 + ["halo"] + ["plain"] * 3
    the_map(d, x, y, kinds, "the map")
    for sm in range(SMS):
        top = y + sm * 4 * CELL + 4
        d.rect(40, top, 150, 4 * CELL - 8, "pale", stroke=GREY, radius=6)
        d.text(115, top + 26, f"SM {sm}", 14, bold=True)
        d.text(115, top + 46, f"keeps rows {4 * sm} … {4 * sm + 3}", 12)
        d.line(194, top + 30, x - 6, top + 30, GREEN, 1.8, arrow=True)
        if sm:
            d.line(x - 4, y + sm * 4 * CELL, x + ROWS * CELL + 4, y + sm * 4 * CELL, INK, 2)
    d.text(x + ROWS * CELL / 2, y + ROWS * CELL + 24, "orange crosses: the halo rows of SM 1,", 12,
           colour=GREY)
    d.text(x + ROWS * CELL / 2, y + ROWS * CELL + 40, "which its neighbours keep as well", 12,
           colour=GREY)

    fx = 560
    kinds = ["plain"] * 2 + ["mask"] * 2 + ["read"] * 2
    filters_at(d, fx, y, kinds, lambda f: f"filter {f}")
    d.text(fx + 40, y - 12, "6 filters, 3 groups", 13, bold=True)
    for group, (words, colour) in enumerate((("done", GREY), ("on chip, computed now", PURPLE),
                                             ("next: into registers", BLUE))):
        d.text(fx + 116, y + group * 68 + 36, words, 13, "start", colour)
    d.line(fx - 18, y + 60, fx - 18, y + 200, INK, 2, arrow=True)
    d.text(fx + 80, y + ROWS * CELL + 24, "every SM sees all of them, group after group", 12,
           colour=GREY)
    d.text(440, 352, "D = 4 (W (H/SMs + R - 1) + R S K/groups) bytes on chip, "
           "F = (R S K/groups)(W H/SMs) FMAs for them", 13)
    return d


def two_blocks():
    d = Drawing(820, 300, "What the formulas count once, two blocks hold twice",
                "On the left an SM's piece as the formula counts it: six rows, two halo rows, the "
                "filters. On the right its two blocks halve the rows; each needs halo rows and the "
                "filters of its own.")
    cell, columns = 20, 9

    def piece(x, y, kinds):
        for row, kind in enumerate(kinds):
            for column in range(columns):
                d.rect(x + column * cell, y + row * cell, cell, cell, kind, stroke=GREY, width=0.6)
        d.cells(x + columns * cell + 14, y, ["f0"], 30, 26, "mask", 12)
        d.cells(x + columns * cell + 14, y + 30, ["f1"], 30, 26, "mask", 12)

    d.text(140, 32, "an SM, as D counts", 14, bold=True)
    piece(30, 56, ["halo"] + ["tile"] * 6 + ["halo"])
    d.text(140, 250, "6 + 2 rows, 2 filters", 13)
    for block, x in enumerate((300, 560)):
        d.text(x + 110, 32, f"its block {block}", 14, bold=True)
        piece(x, 56 + block * 60, ["halo"] + ["tile"] * 3 + ["halo"])
        d.text(x + 110, 250, "3 + 2 rows, 2 filters", 13)
    d.text(410, 282, "together 10 rows and 4 filters: shared memory belongs to a block, not to an SM",
           13, colour=INK)
    return d


def store_bound():
    d = Drawing(860, 300, "What a thread of store_bound has",
                "A thread has two rows of four outputs. Its window, four rows of six cells, comes from "
                "global memory in aligned quads and stays in registers. Filters pass by: their "
                "nine taps come from shared memory as two quads and one tap, and each filter gives two quads of "
                "outputs to store.")
    cell = 26
    x, y = 40, 84
    for row in range(4):
        for column in range(12):
            kind = "tile" if 1 <= row <= 2 and 4 <= column < 8 else "halo" if 3 <= column < 9 else "pale"
            d.rect(x + column * cell, y + row * cell, cell, cell, kind, stroke=GREY, width=0.6)
    for column in range(0, 13, 4):
        d.line(x + column * cell, y - 6, x + column * cell, y + 4 * cell + 6, INK, 2)
    d.text(x + 6 * cell, y - 40, "the window: aligned quads of global memory", 14, bold=True)
    d.text(x + 6 * cell, y - 20, "loaded once; 4 rows of 6 cells stay in registers", 12, colour=GREY)
    d.text(x + 6 * cell, y + 4 * cell + 28, "dots: under its eight outputs", 12, colour=GREEN)
    d.text(x + 6 * cell, y + 4 * cell + 46, "crosses: halo; grey: of the quads, not needed", 12, colour=GREY)

    fx = 400
    d.text(fx + 104, y - 40, "filter by filter", 14, bold=True)
    d.text(fx + 104, y - 20, "taps: shared memory, in quads", 12, colour=GREY)
    for k in range(3):
        top = y + k * 42
        d.cells(fx, top, [str(i) for i in range(9)], 18, 26, "mask", 11)
        d.rect(fx + 9 * 18, top, 3 * 18, 26, "ghost", stroke=GREY, dashed=True)
        for edge in (0, 4, 8, 12):
            d.line(fx + edge * 18, top - 3, fx + edge * 18, top + 29, INK, 2)
    d.text(fx + 104, y + 146, "2 quads and 1 tap for 8 x 9 multiply-adds", 12, colour=PURPLE)

    ox = 690
    d.text(ox + 52, y - 40, "to store", 14, bold=True)
    d.text(ox + 52, y - 20, "two quads per filter", 12, colour=GREY)
    for k in range(3):
        top = y + k * 42
        d.line(fx + 12 * 18 + 10, top + 13, ox - 8, top + 13, BLUE, 1.8, arrow=True)
        for row in range(2):
            for column in range(4):
                d.rect(ox + column * cell, top + row * 14, cell, 13, "read", stroke=GREY, width=0.6)
    d.text(430, 284, "3 x 3 filters, two rows of four outputs: 24 cells, 9 taps, 8 sums in registers", 13)
    return d


def against_the_library():
    return by_filter_size("One channel, 27 layers, one image: cuDNN's time / adaptive's",
                          "bench_chang_onishi_single.json", "adaptive", None, (0.5, 4))


FIGURES = {
    "stage_07_filters_over_sms": filters_over_sms,
    "stage_07_map_over_sms": map_over_sms,
    "stage_07_two_blocks": two_blocks,
    "stage_07_store_bound": store_bound,
    "stage_07_against_the_library": against_the_library,
}
