#!/usr/bin/env python3
"""Writes kernels/bank_patterns.csv without its figures: patterns of shared-memory access whose
wavefronts and conflicts are to be measured. calibrate.sh --measure-patterns fills them in."""

import csv
import pathlib
import random

CELLS = 512
WIDTHS = (1, 2, 4, 8, 16)


def on(lanes, cell):
    """The pattern in which the lanes of `lanes` use cell(lane) and the others stay out."""
    return [cell(lane) % CELLS if lane in lanes else -1 for lane in range(32)]


def chosen_loads():
    every = range(32)
    yield "stride_1", on(every, lambda n: n)
    yield "stride_2", on(every, lambda n: 2 * n)
    yield "stride_3", on(every, lambda n: 3 * n)
    yield "stride_4", on(every, lambda n: 4 * n)
    yield "stride_8", on(every, lambda n: 8 * n)
    yield "stride_16", on(every, lambda n: 16 * n)
    yield "reversed", on(every, lambda n: 31 - n)
    yield "one_cell", on(every, lambda n: 7)
    yield "pairs_1", on(every, lambda n: n // 2)
    yield "pairs_2", on(every, lambda n: n // 4 * 2 + n % 2)
    yield "pairs_4", on(every, lambda n: n // 8 * 4 + n % 4)
    yield "pairs_8", on(every, lambda n: n // 16 * 8 + n % 8)
    yield "pairs_16", on(every, lambda n: n % 16)
    yield "fours", on(every, lambda n: n // 4)
    yield "eights", on(every, lambda n: n // 8)
    yield "sixteens", on(every, lambda n: n // 16)
    yield "pairs_1_stride_2", on(every, lambda n: n // 2 * 2)
    yield "pairs_1_stride_4", on(every, lambda n: n // 2 * 4)
    yield "pairs_1_stride_16", on(every, lambda n: n // 2 * 16)
    yield "pairs_2_stride_4", on(every, lambda n: 4 * (n // 4 * 2 + n % 2))
    yield "pairs_1_two_columns", on(every, lambda n: n // 2 % 8 * 32 + n // 16)
    yield "pairs_1_first_half", on(every, lambda n: n // 2 if n < 16 else n)
    yield "pairs_1_second_half", on(every, lambda n: n // 2 if n >= 16 else n + 32)
    yield "pairs_1_then_2", on(every, lambda n: n // 2 if n < 16 else n // 4 * 2 + n % 2)
    yield "pairs_1_in_one_quarter", on(every, lambda n: n // 2 if n < 8 else n)
    yield "all_pairs_1_but_one", on(every, lambda n: 40 if n == 5 else n // 2)
    yield "first_16_lanes", on(range(16), lambda n: n)
    yield "last_16_lanes", on(range(16, 32), lambda n: n)
    yield "first_8_lanes", on(range(8), lambda n: n)
    yield "first_20_lanes", on(range(20), lambda n: n)
    yield "odd_lanes", on(range(1, 32, 2), lambda n: n)
    yield "odd_lanes_dense", on(range(1, 32, 2), lambda n: n // 2)
    yield "one_lane", on([13], lambda n: n)
    yield "two_lanes_apart", on([0, 31], lambda n: n)
    yield "pairs_1_first_16_lanes", on(range(16), lambda n: n // 2)
    yield "pairs_1_20_lanes", on(range(20), lambda n: n // 2)
    yield "one_cell_16_lanes", on(range(16), lambda n: 3)
    yield "one_cell_odd_lanes", on(range(1, 32, 2), lambda n: 3)


def random_loads(rng, count):
    """Small ranges, so that lanes often share cells; half of them with lanes left out."""
    for i in range(count):
        size = rng.choice((4, 16, 32, 64, 128, 512))
        cells = [rng.randrange(size) for _ in range(32)]
        shape = i % 4
        if shape == 1:
            cells = [cells[n // 2] for n in range(32)]
        elif shape == 2:
            cells = [cells[n // 4 * 2 + n % 2] for n in range(32)]
        elif shape == 3:  # each group of eight lanes pairs in its own way
            way = [rng.randrange(3) for _ in range(4)]
            partner = (lambda n: n, lambda n: n // 2, lambda n: n // 4 * 2 + n % 2)
            cells = [cells[partner[way[n // 8]](n)] for n in range(32)]
        if i % 8 >= 4:
            share = rng.choice((0.3, 0.6, 0.9))
            cells = [c if rng.random() < share else -1 for c in cells]
            if max(cells) < 0:
                cells[rng.randrange(32)] = 5
        yield f"random_{i}", cells


def chosen_stores():
    every = range(32)
    for stride in (1, 2, 3, 4, 8, 16):
        yield f"stride_{stride}", on(every, lambda n, s=stride: s * n)
    yield "reversed", on(every, lambda n: 31 - n)
    yield "first_16_lanes", on(range(16), lambda n: n)
    yield "odd_lanes", on(range(1, 32, 2), lambda n: n)
    yield "one_lane", on([13], lambda n: n)


def random_stores(rng, count):
    for i in range(count):
        cells = rng.sample(range(rng.choice((32, 64, 128, 512))), 32)
        if i % 2 == 1:
            share = rng.choice((0.3, 0.6, 0.9))
            cells = [c if rng.random() < share else -1 for c in cells]
            if max(cells) < 0:
                cells[rng.randrange(32)] = 5
        yield f"random_{i}", cells


def main():
    rng = random.Random(20240917)
    path = pathlib.Path(__file__).parent / "kernels" / "bank_patterns.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "operation", "element_bytes", "cells", "wavefronts", "conflicts"])
        for width in WIDTHS:
            rows = [("load", *row) for row in chosen_loads()]
            rows += [("load", *row) for row in random_loads(rng, 40 if width >= 8 else 8)]
            rows += [("store", *row) for row in chosen_stores()]
            rows += [("store", *row) for row in random_stores(rng, 10 if width >= 8 else 4)]
            for operation, name, cells in rows:
                writer.writerow([name, operation, width, " ".join(map(str, cells)), "", ""])


if __name__ == "__main__":
    main()
