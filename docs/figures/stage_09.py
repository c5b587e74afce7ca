"""Figures of stage 09, cuConv in two stages. Drawn by make_figures.py."""

from make_figures import BLUE, GREEN, GREY, INK, PURPLE, RED, Drawing
from stage_convolve import by_filter_size


def grid(d, x, y, rows, columns, cell, kind=lambda row, column: "plain", label=lambda row, column: ""):
    for row in range(rows):
        d.cells(x, y + row * cell, [label(row, column) for column in range(columns)], cell, cell,
                [kind(row, column) for column in range(columns)], 11)


def filter_row_and_patch():
    """The tap (0, 2) of a 3 x 3 filter and what it meets of a padded 5 x 5 map."""
    size, pad, cell = 5, 1, 32
    r, s = 0, 2
    d = Drawing(820, 396, "A filter row and the input patch it meets",
                "The tap in the upper right corner of a 3 by 3 filter, with its values in all "
                "channels, is one filter row. It meets a patch of 5 by 5 cells of the padded "
                "input: one for each output. The upper row and the right column of the patch are "
                "ghost cells.")
    d.text(128, 36, "filter k, 3 × 3", 15, bold=True)
    for depth in (2, 1, 0):
        grid(d, 74 + 14 * depth, 92 - 14 * depth, 3, 3, 32,
             lambda row, column: "mask" if (row, column) == (r, s) else "plain")
    d.text(128, 222, "the tap r = 0, s = 2 in all channels:", 12, colour=GREY)
    d.cells(32, 236, ["c = 0", "1", "2", "…", "C-1"], 40, 32, "mask", 12)
    d.brace(32, 232, 276, "one filter row, in shared memory")
    d.text(132, 322, "one block (or several)", 13)
    d.line(262, 160, 330, 160, PURPLE, 2.4, arrow=True)

    x0, y0 = 356, 62
    full = size + 2 * pad
    d.text(x0 + full * cell / 2, 36, "a map of the input, padded", 15, bold=True)

    def kind(row, column):
        ghost = row < pad or row >= pad + size or column < pad or column >= pad + size
        return "ghost" if ghost else "read" if (
            r <= row < r + size and s <= column < s + size) else "plain"

    grid(d, x0, y0, full, full, cell, kind)
    left, top = x0 + s * cell, y0 + r * cell
    for a, b, c, e in ((left, top, left + size * cell, top),
                       (left, top + size * cell, left + size * cell, top + size * cell),
                       (left, top, left, top + size * cell),
                       (left + size * cell, top, left + size * cell, top + size * cell)):
        d.line(a, b, c, e, PURPLE, 3.5)
    number = 0
    for row in range(size):
        for column in range(size):
            if row in (0, 1) or (row == 2 and column < 2):
                d.text(left + column * cell + cell / 2, top + row * cell + 20, f"m{number}", 11,
                       halo=True, colour=INK)
            number += 1
    d.text(x0 + full * cell / 2, y0 + full * cell + 26,
           "framed: the patch, P × Q = 5 × 5 products", 13)
    d.text(x0 + full * cell / 2, y0 + full * cell + 46,
           "m0, m1, … are neighbouring threads", 13)

    d.text(720, 36, "a thread", 15, bold=True)
    d.cells(640, 96, ["m7", "", "", "…", ""], 32, 32, "read", 12)
    d.text(720, 146, "its cell in channels 0 … C-1", 12, colour=GREY)
    d.text(720, 178, "×", 20)
    d.cells(640, 192, ["", "", "", "…", ""], 32, 32, "mask", 12)
    d.text(720, 242, "the filter row", 12, colour=GREY)
    d.line(720, 252, 720, 286, INK, 2, arrow=True)
    d.text(720, 308, "one sum of C products", 13)
    d.text(410, 376, "Dashed cells are ghosts: their products are 0, and neither computed nor stored.",
           12, colour=GREY)
    return d


def two_stages():
    d = Drawing(820, 356, "The two stages",
                "Stage one: each of the nine filter rows of a filter gives a temporary matrix of the "
                "size of the output map. Stage two: the nine are added.")
    d.text(92, 34, "9 filter rows", 14, bold=True)
    grid(d, 47, 110, 3, 3, 30, lambda *_: "mask", lambda row, column: str(3 * row + column))
    d.text(92, 228, "of filter k", 12, colour=GREY)
    d.line(150, 155, 214, 155, INK, 2, arrow=True)
    d.text(182, 138, "stage one", 12)
    d.text(182, 178, "× input", 12, colour=GREY)

    d.text(370, 34, "9 temporaries of P × Q, in global memory", 14, bold=True)
    for row in range(3):
        for column in range(3):
            x, y = 234 + column * 96, 56 + row * 84
            grid(d, x, y, 4, 4, 17, lambda i, j, row=row, column=column: "ghost" if (
                (row == 0 and i == 0) or (row == 2 and i == 3) or
                (column == 0 and j == 0) or (column == 2 and j == 3)) else "tile")
            d.text(x + 77, y + 40, str(3 * row + column), 12, colour=GREY)
    d.line(522, 155, 590, 155, INK, 2, arrow=True)
    d.text(556, 138, "stage two", 12)
    d.text(556, 178, "sum", 12, colour=GREY)

    d.text(696, 34, "output map of k", 14, bold=True)
    grid(d, 636, 96, 4, 4, 30, lambda *_: "read")
    d.text(696, 240, "P × Q", 12, colour=GREY)
    d.text(410, 322, "Dashed: products with ghost cells. They are neither written nor read.", 13,
           colour=GREY)
    d.text(410, 342, "With 1 × 1 filters there is one temporary, and it is the output: no stage two.", 13,
           colour=GREY)
    return d


def row_end_gap():
    """One warp's reads, without padding and with."""
    w, h, x0 = 17, 30, 60
    d = Drawing(820, 372, "What a row end costs a warp",
                "Above: a map of 7 columns without padding, filter 3 wide. Outputs are 5 wide, so "
                "after every five lanes two cells of memory are stepped over. Below: padded, "
                "outputs are 7 wide, and neighbouring lanes read neighbouring cells across the "
                "row's end; one lane of seven has a ghost cell.")

    def draw(y, title, cells, note):
        d.text(x0 - 20, y - 28, title, 14, "start", bold=True)
        for i in range(42):
            lane = cells.get(i)
            d.cells(x0 + i * w, y, [""], w, h, "read" if lane is not None else "plain")
            if lane is not None:
                d.text(x0 + i * w + w / 2, y + 19, str(lane), 9, halo=True)
            if i % 7 == 0:
                d.line(x0 + i * w, y - 8, x0 + i * w, y + h + 3, RED, 2)
                d.text(x0 + i * w + 3.5 * w, y - 8, f"row {i // 7}", 11, colour=RED)
        for sector in range(6):
            left = x0 + sector * 8 * w
            right = min(left + 8 * w, x0 + 42 * w)
            touched = any(sector * 8 <= i < sector * 8 + 8 for i in cells)
            d.rect(left + 1, y + h + 8, right - left - 2, 12, "tile" if touched else "plain",
                   stroke=GREEN)
        d.text(x0 - 20, y + h + 46, note, 12, "start", GREY)

    # The tap (0, 0) without padding: 25 outputs.
    plain = {lane // 5 * 7 + lane % 5: lane for lane in range(25)}
    draw(66, "no padding, outputs 5 × 5, tap (0, 0): 25 lanes", plain,
         "Lanes 4 and 5 are 3 cells apart: a gap of S - 1 = 2 cells. 25 lanes span 33 cells, 5 sectors "
         "here instead of 4.")
    # The tap (1, 2) with padding: lane m reads m + 1, but for q = 6, a ghost.
    padded = {m + 1: m for m in range(32) if m % 7 != 6}
    draw(222, "padding 1, outputs 7 × 7, tap (1, 2): the first 32 lanes", padded,
         "Lane m reads cell m + 1, whatever row it is in; lanes 6, 13, 20, 27 have ghosts and read nothing. "
         "Never over 5 sectors.")
    d.text(x0 - 20, 352, "Numbers are lanes; green bars are 32-byte sectors, filled where touched.", 12,
           "start", BLUE)
    return d


def against_the_library():
    return by_filter_size("cuConv's 86 layers, one image: cuDNN's time / two_stage's", "bench_cuconv.json",
                          "two_stage", 1, (1 / 32, 2))


FIGURES = {
    "filter_row_and_patch": filter_row_and_patch,
    "two_stages": two_stages,
    "row_end_gap": row_end_gap,
    "stage_09_against_the_library": against_the_library,
}
