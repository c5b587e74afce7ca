"""The figures of stage 08: what a block gets in each division, and how a segment walks."""

from make_figures import BLUE, GREEN, GREY, INK, PURPLE, RED, Drawing

CELL = 15
FILTERS, CHANNELS, PIXELS = 5, 6, 5


def grid(d, x, y, rows, columns, kind):
    for row in range(rows):
        for column in range(columns):
            d.rect(x + column * CELL, y + row * CELL, CELL, CELL, kind(row, column), stroke=GREY,
                   width=0.6)


def divisions():
    d = Drawing(930, 372, "What one block gets in each of the divisions",
                "Filters are drawn as a table of filters by channels, maps as a table of channels by "
                "pixels. Divided along the channels a block has two columns of the filters and two "
                "rows of the maps; with only the filters divided it keeps one row of the filters and "
                "sees all maps; with only the maps divided it keeps one column of the maps and sees "
                "all filters; with both divided it has some rows and some columns, a few channels at "
                "a time.")
    panels = [
        ("Fig. 2(b): channels", "channels_divided",
         lambda row, column: "read" if column in (2, 3) else "plain",
         lambda row, column: "read" if row in (2, 3) else "plain",
         ("a part of every output:", "parts are added later")),
        ("(c): filters", "filters_divided",
         lambda row, column: "tile" if row == 1 else "plain",
         lambda row, column: "read",
         ("whole outputs;", "every block reads all maps")),
        ("(d): maps", "maps_divided",
         lambda row, column: "read",
         lambda row, column: "tile" if column == 1 else "plain",
         ("whole outputs;", "every block reads all filters")),
        ("(e): both", "the block methods",
         lambda row, column: ("tile" if column == 2 else "read") if row in (1, 2) else "plain",
         lambda row, column: ("tile" if row == 2 else "read") if column in (1, 2) else "plain",
         ("whole outputs; some filters", "and pixels, a segment at a time")),
    ]
    for i, (title, name, filters, maps, words) in enumerate(panels):
        x = 26 + i * 228
        d.text(x + 95, 34, title, 15, bold=True)
        d.text(x + 95, 54, name, 12, colour=GREY)
        left, top = x + 14, 96
        d.text(left + CHANNELS * CELL / 2, top - 10, "filters [K][C]", 12)
        grid(d, left, top, FILTERS, CHANNELS, filters)
        right = left + CHANNELS * CELL + 16
        d.text(right + PIXELS * CELL / 2, top - 10, "maps [C][PQ]", 12)
        grid(d, right, top, CHANNELS, PIXELS, maps)
        d.text(right - 8, top + CELL * 3, "×", 15)
        below = top + CHANNELS * CELL + 48
        d.text(right + PIXELS * CELL / 2, below - 10, "outputs [K][PQ]", 12)
        mine = {
            0: lambda row, column: "bad",
            1: lambda row, column: "mask" if row == 1 else "plain",
            2: lambda row, column: "mask" if column == 1 else "plain",
            3: lambda row, column: "mask" if row in (1, 2) and column in (1, 2) else "plain",
        }[i]
        grid(d, right, below, FILTERS, PIXELS, mine)
        d.text(x + 95, below + FILTERS * CELL + 24, words[0], 12)
        d.text(x + 95, below + FILTERS * CELL + 40, words[1], 12)
        if i:
            d.line(x - 20, 24, x - 20, 350, GREY, 1, dashed=True)
    d.rect(34, 236, 14, 14, "tile", stroke=GREY)
    d.text(54, 248, "on chip now", 11, "start", GREEN)
    d.rect(34, 258, 14, 14, "read", stroke=GREY)
    d.text(54, 270, "passes by", 11, "start", BLUE)
    d.rect(34, 280, 14, 14, "mask", stroke=GREY)
    d.text(54, 292, "its outputs", 11, "start", PURPLE)
    d.rect(34, 302, 14, 14, "bad", stroke=GREY)
    d.text(54, 314, "in parts", 11, "start", RED)
    return d


def segments():
    d = Drawing(930, 462, "Segments of 32 bytes, and the lines that wait for them",
                "A filter of three channels of three by three taps is a run of 27 taps, cut into "
                "segments of eight. Segment 0 needs lines 0 to 2 of the map, segment 1 lines 2 to 5, "
                "segment 2 lines 5 to 7, segment 3 line 8. Lines 2 and 5 are straddled: they stay for "
                "the next round. While a segment is computed, the lines that only the next one needs "
                "are on their way.")
    tap, x0, y0 = 30, 84, 62
    d.text(x0 - 10, y0 + 20, "taps", 14, "end", bold=True)
    for e in range(27):
        d.rect(x0 + e * tap, y0, tap, 28, ("read", "tile", "halo", "mask")[e // 8], stroke=GREY,
               width=0.7)
        d.text(x0 + e * tap + tap / 2, y0 + 19, str(e % 3), 12, halo=True)
    for c in range(3):
        d.brace(x0 + c * 9 * tap + 3, x0 + (c + 1) * 9 * tap - 3, y0 - 8, f"channel {c}", below=False)
        for r in range(3):
            d.text(x0 + (9 * c + 3 * r + 1.5) * tap, y0 + 46, f"line {3 * c + r}", 12,
                   colour=RED if 3 * c + r in (2, 5) else GREY, bold=3 * c + r in (2, 5))
    for g in range(5):
        at = x0 + min(8 * g, 27) * tap
        d.line(at, y0 - 4, at, y0 + 34, INK, 2.6)
    for g in range(4):
        d.text(x0 + (8 * g + min(8 * g + 8, 27)) / 2 * tap, y0 + 72, f"segment {g}", 13, bold=True)
    d.text(x0 + 27 * tap, y0 + 92, "thick: every 32 bytes, a sector; the digit is the tap's column", 12,
           "end", GREY)

    # One column a round: which lines are on chip.
    needs = [(0, 2), (2, 5), (5, 7), (8, 8)]
    top, left, w, h = 196, 210, 158, 22
    d.text(left - 14, top - 10, "on chip in", 13, "end", bold=True)
    for g in range(4):
        d.text(left + g * w + w / 2, top - 10, f"round {g}", 13, bold=True)
    for line in range(9):
        y = top + line * (h + 2)
        d.text(left - 14, y + 16, f"line {line}: place {line % 6}", 12, "end")
        for g, (first, last) in enumerate(needs):
            if first <= line <= last:
                stays = g + 1 < 4 and needs[g + 1][0] == line
                came = g > 0 and needs[g - 1][1] == line
                d.rect(left + g * w + 4, y, w - 8, h, "tile", stroke=GREY)
                words = "computed" + (", stays" if stays else ", was here" if came else "")
                d.text(left + g * w + w / 2, y + 16, words, 12, halo=True, bold=stays or came)
            elif g + 1 < 4 and needs[g + 1][0] <= line <= needs[g + 1][1]:
                d.rect(left + g * w + 4, y, w - 8, h, "read", stroke=GREY, dashed=True)
                d.text(left + g * w + w / 2, y + 16, "on its way", 12, halo=True)
    d.text(465, 436, "One row of targets. Six places are enough: rounds 0 and 1 use lines 0 to 5. Line 6 takes "
           "the place of line 0, line 8 that of line 2.", 12, colour=GREY)
    return d


FIGURES = {
    "stage_08_divisions": divisions,
    "stage_08_segments": segments,
}
