"""The figures of stage 07: both ways to divide a single-channel layer over the SMs."""

from make_figures import BLUE, GREEN, GREY, INK, PURPLE, Drawing

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
                "Each of three SMs keeps two of six filters. The map of twelve rows goes by in three "
                "strips of four rows; the strip that is computed has one halo row on either side, and "
                "the next strip is on its way into registers.")
    x, y = 40, 78
    kinds = ["plain"] * 3 + ["halo"] + ["tile"] * 4 + ["halo"] + ["read"] * 3
    the_map(d, x, y, kinds, "the map, P = 3 strips")
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
    d.text(fx + 40, y - 12, "M = 6 filters", 13, bold=True)
    for sm in range(SMS):
        top = y + sm * 68 - 2
        d.rect(650, top, 190, 58, "pale", stroke=GREY, radius=6)
        d.text(745, top + 24, f"SM {sm}", 14, bold=True)
        d.text(745, top + 44, f"keeps filters {2 * sm} and {2 * sm + 1}", 12)
        d.line(560, top + 30, 646, top + 30, PURPLE, 1.8, arrow=True)
    d.text(440, 352, "D1 = 4 (Wx (Wy/P + K - 1) + K² M/N_SM) bytes on chip, "
           "F1 = (K² M/N_SM)(Wx Wy/P) FMAs for them", 13)
    return d


def map_over_sms():
    d = Drawing(880, 372, "Method 2: the map over the SMs, the filters in groups",
                "Each of three SMs keeps four of twelve rows of the map, and one halo row on either "
                "side. The six filters go by in three groups of two; the next group is on its way "
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
    d.text(fx + 40, y - 12, "M = 6 filters, Q = 3 groups", 13, bold=True)
    for group, (words, colour) in enumerate((("done", GREY), ("on chip, computed now", PURPLE),
                                             ("next: into registers", BLUE))):
        d.text(fx + 116, y + group * 68 + 36, words, 13, "start", colour)
    d.line(fx - 18, y + 60, fx - 18, y + 200, INK, 2, arrow=True)
    d.text(fx + 80, y + ROWS * CELL + 24, "every SM sees all of them, group after group", 12,
           colour=GREY)
    d.text(440, 352, "D2 = 4 (Wx (Wy/N_SM + K - 1) + K² M/Q) bytes on chip, "
           "F2 = (K² M/Q)(Wx Wy/N_SM) FMAs for them", 13)
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

    d.text(140, 32, "an SM, as D1 counts", 14, bold=True)
    piece(30, 56, ["halo"] + ["tile"] * 6 + ["halo"])
    d.text(140, 250, "6 + 2 rows, 2 filters", 13)
    for block, x in enumerate((300, 560)):
        d.text(x + 110, 32, f"its block {block}", 14, bold=True)
        piece(x, 56 + block * 60, ["halo"] + ["tile"] * 3 + ["halo"])
        d.text(x + 110, 250, "3 + 2 rows, 2 filters", 13)
    d.text(410, 282, "together 10 rows and 4 filters: shared memory belongs to a block, not to an SM",
           13, colour=INK)
    return d


FIGURES = {
    "stage_07_filters_over_sms": filters_over_sms,
    "stage_07_map_over_sms": map_over_sms,
    "stage_07_two_blocks": two_blocks,
}
