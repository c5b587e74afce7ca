#!/usr/bin/env python3
"""Compares the two engines of the simulator on the kernels of kernels.cu, in one run.

Both take turns, so that whatever else the machine does meets both. A round's time is the least CPU time of
its launches on one thread; the ratio is that of a round, and the table has the median of all rounds and
the worst. Every program compares its results with those of a plain loop. Then the engine that executes PTX runs
on 1, 2, 4, ... threads (wall time), and with few and many launches.

    compare_engines.py --simcc BUILD/common/simt/simcc --simcc BUILD/common/simt/cudart/simcc
                       [--rounds N] [--json FILE]
    compare_engines.py --programs TODAYS NEW --cudart FOLDER ...    the same, of programs that are built

Exit status: 0 all ran, 1 a program failed, 2 wrong use.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from compare_speed import processor

HERE = pathlib.Path(__file__).resolve().parent
# Launches in a round: of today's engine, and of the other.
LAUNCHES = {
    "conv1d": (4, 20),
    "matrix_product": (2, 8),
    "transpose_tiled": (4, 16),
    "transpose_naive": (4, 20),
    "reduce_tree": (2, 12),
    "reduce_shuffle": (2, 12),
    "stencil": (3, 16),
    "one_block": (200, 1000),
}
CHECKS = ("all", "counters", "none")


def launches_of(program, kernel, launches, checks, threads, libraries=None):
    """Of each launch the CPU seconds and the wall seconds."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
    clean.update(SIMT_CHECKS=checks, SIMT_THREADS=str(threads))
    if libraries:
        clean["LD_LIBRARY_PATH"] = str(libraries)
    ended = subprocess.run(
        [str(program), kernel, str(launches)], env=clean, text=True, capture_output=True
    )
    if ended.returncode != 0 or ended.stderr:
        sys.exit(f"{program} {kernel} ended with {ended.returncode}: {ended.stderr.strip()}")
    lines = [line.split() for line in ended.stdout.splitlines()]
    return [(float(line[1]), float(line[3])) for line in lines]


def compare(old, new, libraries, rounds):
    rows = []
    for kernel, launches in LAUNCHES.items():
        for checks in CHECKS:
            times = ([], [])
            for _ in range(rounds):
                for engine, program in enumerate((old, new)):
                    its = launches_of(
                        program, kernel, launches[engine], checks, 1, libraries if engine else None
                    )
                    times[engine].append(min(cpu for cpu, _ in its))
            ratios = [a / b for a, b in zip(*times)]
            rows.append(
                {
                    "kernel": kernel,
                    "checks": checks,
                    "today_ms": 1e3 * statistics.median(times[0]),
                    "engine_ms": 1e3 * statistics.median(times[1]),
                    "ratio": statistics.median(ratios),
                    "worst_ratio": min(ratios),
                }
            )
            row = rows[-1]
            print(
                f"{kernel:16} {checks:9} {row['today_ms']:10.3f} {row['engine_ms']:10.3f} ms  "
                f"{row['ratio']:6.2f} times, at worst {row['worst_ratio']:6.2f}",
                flush=True,
            )
    return rows


def scaling(new, libraries, cores):
    rows = []
    for kernel, launches in LAUNCHES.items():
        if kernel == "one_block":
            continue
        for threads in (n for n in (1, 2, 4, 8, 16, 32) if n <= cores):
            its = launches_of(new, kernel, launches[1], "all", threads, libraries)
            rows.append(
                {
                    "kernel": kernel,
                    "threads": threads,
                    "wall_ms": 1e3 * statistics.median(wall for _, wall in its),
                }
            )
        walls = [row["wall_ms"] for row in rows if row["kernel"] == kernel]
        print(f"{kernel:16} on 1, 2, 4, ... threads: " + ", ".join(f"{w:.3f}" for w in walls) + " ms")
    return rows


def linearity(new, libraries):
    """Microseconds a launch, of few and of many."""
    rows = []
    for launches in (100, 1000, 10000):
        its = launches_of(new, "one_block", launches, "all", 1, libraries)
        rows.append({"launches": launches, "us_each": 1e6 * sum(wall for _, wall in its) / launches})
        print(f"one block, {launches} launches: {rows[-1]['us_each']:.1f} us each")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simcc", type=pathlib.Path, help="the built simcc")
    parser.add_argument("--simcc", type=pathlib.Path, help="the built simcc")
    parser.add_argument("--programs", type=pathlib.Path, nargs=2, metavar=("TODAYS", "NEW"))
    parser.add_argument("--cudart", type=pathlib.Path, help="the folder of the engine's libcudart")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    if not options.programs and not (options.simcc and options.simcc):
        parser.error("--simcc and --simcc, or --programs")
    if options.programs and not options.cudart:
        parser.error("--programs wants --cudart")
    with tempfile.TemporaryDirectory() as folder:
        if options.programs:
            old, new = (p.resolve() for p in options.programs)
            libraries = options.cudart.resolve()
        else:
            old, new = pathlib.Path(folder, "today"), pathlib.Path(folder, "new")
            libraries = options.simcc.resolve().parent
            source = HERE / "kernels.cu"
            subprocess.run([options.simcc.resolve(), source, "-o", old], check=True)
            subprocess.run(
                [options.simcc.resolve(), "-std=c++17", "-O3", "-o", new, source], check=True
            )
        cores = len(os.sched_getaffinity(0))
        load = os.getloadavg()[0]
        result = {
            "schema_version": 1,
            "date": datetime.date.today().isoformat(),
            "machine": {"processor": processor(), "cores": cores, "load_average": load},
            "command": "tests/simt/speed/compare_engines.py --rounds " + str(options.rounds),
            "rows": compare(old, new, libraries, options.rounds),
            "threads": scaling(new, libraries, cores),
            "launches": linearity(new, libraries),
        }
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
