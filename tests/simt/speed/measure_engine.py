#!/usr/bin/env python3
"""How long the simulator takes for the kernels of kernels.cu.

A round's time is the least CPU time of its launches on one thread, with all checks, counting alone, and neither; the
table has the median of all rounds. Every program compares its results with those of a plain loop. Then with all checks
on 1, 2, 4, ... threads (wall time), and with few and many launches. With --compute-sanitizer, on a machine with a GPU,
the same program is also built by nvcc for that GPU and run by itself and under each of that program's tools: a launch's
time there is the median of all rounds' least wall times.

    measure_engine.py BUILD/common/simt/cudart/simcc [--rounds N] [--compute-sanitizer FILE] [--json FILE]

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
import time

HERE = pathlib.Path(__file__).resolve().parent
# Launches in a round.
LAUNCHES = {
    "conv1d": 20,
    "matrix_product": 8,
    "transpose_tiled": 16,
    "transpose_naive": 20,
    "reduce_tree": 12,
    "reduce_shuffle": 12,
    "stencil": 16,
    "one_block": 1000,
}
CHECKS = ("all", "counters", "none")
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def launches_of(program, kernel, launches, checks, threads):
    """Of each launch the CPU seconds and the wall seconds."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
    clean.update(SIMT_CHECKS=checks, SIMT_THREADS=str(threads))
    ended = subprocess.run([program, kernel, str(launches)], env=clean, text=True, capture_output=True)
    if ended.returncode != 0 or ended.stderr:
        sys.exit(f"{kernel} ended with {ended.returncode}: {ended.stderr.strip()}")
    lines = [line.split() for line in ended.stdout.splitlines()]
    return [(float(line[1]), float(line[3])) for line in lines]


def by_checks(program, rounds):
    rows = []
    for kernel, launches in LAUNCHES.items():
        for checks in CHECKS:
            times = [
                min(cpu for cpu, _ in launches_of(program, kernel, launches, checks, 1)) for _ in range(rounds)
            ]
            rows.append({"kernel": kernel, "checks": checks, "engine_ms": 1e3 * statistics.median(times)})
            print(f"{kernel:16} {checks:9} {rows[-1]['engine_ms']:10.3f} ms", flush=True)
    return rows


def by_threads(program, cores):
    rows = []
    for kernel, launches in LAUNCHES.items():
        if kernel == "one_block":
            continue
        for threads in (n for n in (1, 2, 4, 8, 16, 32) if n <= cores):
            its = launches_of(program, kernel, launches, "all", threads)
            wall = 1e3 * statistics.median(wall for _, wall in its)
            rows.append({"kernel": kernel, "threads": threads, "wall_ms": wall})
        walls = [row["wall_ms"] for row in rows if row["kernel"] == kernel]
        print(f"{kernel:16} on 1, 2, 4, ... threads: " + ", ".join(f"{w:.3f}" for w in walls) + " ms")
    return rows


def by_launches(program):
    """Microseconds a launch, of few and of many."""
    rows = []
    for launches in (100, 1000, 10000):
        its = launches_of(program, "one_block", launches, "all", 1)
        rows.append({"launches": launches, "us_each": 1e6 * sum(wall for _, wall in its) / launches})
        print(f"one block, {launches} launches: {rows[-1]['us_each']:.1f} us each")
    return rows


def wall_on_gpu(command, kernel, launches):
    """The least wall milliseconds of a launch, and the seconds of the whole process."""
    start = time.monotonic()
    ended = subprocess.run([*command, kernel, str(launches)], text=True, capture_output=True)
    seconds = time.monotonic() - start
    if ended.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} {kernel} ended with {ended.returncode}: {ended.stdout[-500:]}{ended.stderr}")
    lines = [line.split() for line in ended.stdout.splitlines() if line.startswith("cpu ")]
    return 1e3 * min(float(line[3]) for line in lines), seconds


def by_tools(program, native, sanitizer, rounds, cores):
    """Wall milliseconds of a launch on the GPU, alone and under each tool, which each find some of what one run in the
    simulator with all checks finds; and of that run, on one thread and on all."""
    commands = {"gpu": [native]}
    commands.update((tool, [sanitizer, "--tool", tool, native]) for tool in TOOLS)
    rows = []
    for kernel, launches in LAUNCHES.items():
        row = {"kernel": kernel, "wall_ms": {}, "process_s": {}}
        for name, command in commands.items():
            found = [wall_on_gpu(command, kernel, launches) for _ in range(rounds)]
            row["wall_ms"][name], row["process_s"][name] = map(statistics.median, zip(*found))
        for name, threads in (("simulator", 1), ("simulator_all_cores", cores)):
            walls, seconds = [], []
            for _ in range(rounds):
                start = time.monotonic()
                walls.append(1e3 * min(w for _, w in launches_of(program, kernel, launches, "all", threads)))
                seconds.append(time.monotonic() - start)
            row["wall_ms"][name], row["process_s"][name] = statistics.median(walls), statistics.median(seconds)
        rows.append(row)
        print(f"{kernel:16} " + ", ".join(f"{name} {ms:.3f}" for name, ms in row["wall_ms"].items()) + " ms", flush=True)
    return rows


def slowdowns(rows):
    """Of each tool and of the simulator: how many times the launch on the GPU alone, and the whole process."""
    result = {}
    for part in ("wall_ms", "process_s"):
        for name in rows[0][part]:
            ratios = {row["kernel"]: row[part][name] / row[part]["gpu"] for row in rows}
            result.setdefault(name, {})[part] = {
                "mean": statistics.geometric_mean(ratios.values()),
                "least": min(ratios.values()),
                "greatest": max(ratios.values()),
            }
    return result


def gpu_name():
    said = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], text=True,
                          capture_output=True, check=True).stdout.splitlines()[0]
    name, driver = said.split(", ")
    return {"gpu": name, "driver": driver}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("simcc", type=pathlib.Path, help="the built simcc")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compute-sanitizer", type=pathlib.Path, metavar="FILE", help="on a machine with a GPU: beside its tools")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/kernels"
        made_of = ["-std=c++17", "-O3", HERE / "kernels.cu", "-o"]
        subprocess.run([options.simcc.resolve(), *made_of, program], check=True)
        cores = len(os.sched_getaffinity(0))
        load = os.getloadavg()[0]
        result = {
            "schema_version": 1,
            "date": datetime.date.today().isoformat(),
            "machine": {"processor": processor(), "cores": cores, "load_average": load},
            "command": f"tests/simt/speed/measure_engine.py --rounds {options.rounds}",
            "rows": by_checks(program, options.rounds),
            "threads": by_threads(program, cores),
            "launches": by_launches(program),
        }
        if options.compute_sanitizer:
            native = f"{folder}/native"
            subprocess.run(["nvcc", "-arch=native", "-lineinfo", *made_of, native], check=True)
            result["machine"].update(gpu_name())
            result["command"] += " --compute-sanitizer compute-sanitizer"
            result["beside_tools"] = by_tools(program, native, options.compute_sanitizer, options.rounds, cores)
            result["slowdowns"] = slowdowns(result["beside_tools"])
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
