#!/usr/bin/env python3
"""Compares the simulator's speed with its peers' on one kernel, in one run.

The kernel is the tiled 1D cross-correlation with a mask of 9 cells and 256 threads a block. Peers:
Oclgrind (the same kernel in OpenCL, races and uninitialised reads checked), the CUDA simulator of
numba (nothing checked), plain serial C++. A peer that is not installed is NOT RUN, with the reason.
Every result is compared with a reference, cell by cell; the data are whole numbers, so the values must
be equal. Only the launch is timed, not the start of the program; fast ones are repeated and the median
is printed.

    compare_speed.py --simcc BUILD/common/simt/simcc [--outputs N] [--json FILE] [--skip PEER]...

Exit status: 0 all that ran came out right, 1 a result was wrong, 2 wrong use.
"""

import argparse
import array
import glob
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MASK = (1, -2, 3, 5, -7, 4, 6, -1, 2)
THREADS = 256


class NotRun(Exception):
    """A peer that cannot run here, with the reason."""


def reference(n):
    cells = [(i * 7 + i // 11) % 17 - 3 for i in range(n)]
    padded = [0] * 4 + cells + [0] * 4
    return [sum(m * padded[i + j] for j, m in enumerate(MASK)) for i in range(n)]


def accesses(n):
    """Memory accesses of the kernel, counted per thread: what a simulator has to look at."""
    blocks = (n + THREADS - 1) // THREADS
    tile_stores = blocks * (THREADS + len(MASK) - 1)
    tile_loads = constant_loads = n * len(MASK)
    first = [b * THREADS - 4 for b in range(blocks)]
    global_loads = sum(min(n, f + THREADS + 8) - max(0, f) for f in first)
    return tile_stores + tile_loads + constant_loads + global_loads + n


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def checked_run(command, folder, n, repeats, environment=None, expected=None):
    """Seconds of each launch. Raises NotRun if the program fails, ValueError if its values are wrong."""
    result = folder / "result.bin"
    result.unlink(missing_ok=True)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
    clean.update(environment or {})
    ended = subprocess.run(
        [*map(str, command), str(n), str(repeats), str(result)],
        env=clean,
        text=True,
        capture_output=True,
    )
    if ended.returncode != 0:
        lines = (ended.stderr or ended.stdout).strip().splitlines()
        raise NotRun(f"ended with {ended.returncode}: {lines[-1] if lines else 'no message'}")
    values = array.array("f")
    values.frombytes(result.read_bytes())
    if list(values) != (expected if expected is not None else reference(n)):
        raise ValueError("wrong values")
    seconds = [float(l.split()[1]) for l in ended.stdout.splitlines() if l.startswith("seconds ")]
    if len(seconds) != repeats:
        raise ValueError("a launch was not timed")
    return seconds


def build(command):
    ended = subprocess.run([str(c) for c in command], text=True, capture_output=True)
    if ended.returncode != 0:
        lines = ended.stderr.strip().splitlines()
        raise NotRun(f"does not build: {lines[-1] if lines else command[0]}")


def simulator(simcc, folder):
    program = folder / "tiled_conv1d"
    if not program.exists():
        build([simcc, HERE / "tiled_conv1d.cu", "-o", program])
    return [program]


def serial(folder):
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if not compiler:
        raise NotRun("no C++ compiler was found")
    program = folder / "tiled_conv1d_serial"
    build([compiler, "-O2", HERE / "tiled_conv1d_serial.cpp", "-o", program])
    return [program]


def oclgrind(folder):
    runner = shutil.which("oclgrind")
    if not runner:
        raise NotRun("oclgrind was not found (Debian, Ubuntu: apt-get install oclgrind)")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        raise NotRun("no C compiler was found")
    program = folder / "tiled_conv1d_opencl"
    command = [compiler, "-O2", HERE / "tiled_conv1d_opencl.c", "-o", program]
    # Oclgrind brings its own OpenCL library, so that no loader needs to be installed.
    root = pathlib.Path(runner).resolve().parent.parent
    own = [
        library
        for folder in ("lib/oclgrind", "lib/*/oclgrind", "lib", "lib64")
        for library in glob.glob(str(root / folder / "liboclgrind-rt.so"))
    ]
    try:
        build([*command, own[0], f"-Wl,-rpath,{os.path.dirname(own[0])}"] if own
              else [*command, "-lOpenCL"])
    except NotRun as reason:
        raise NotRun(f"{reason} (headers: apt-get install opencl-c-headers)") from None
    return [runner, "--data-races", "--uninitialized", program]


def numba():
    for python in dict.fromkeys(("/usr/bin/python3", sys.executable)):
        if os.path.exists(python):
            found = subprocess.run([python, "-c", "import numba"], capture_output=True)
            if found.returncode == 0:
                return [python, HERE / "tiled_conv1d_numba.py"]
    raise NotRun("numba was not found (Debian, Ubuntu: apt-get install python3-numba)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simcc", type=pathlib.Path, required=True, help="the built simcc")
    parser.add_argument("--outputs", type=int, default=100_000)
    parser.add_argument(
        "--numba-outputs",
        type=int,
        help="run numba on fewer outputs and scale its time up; the table says so",
    )
    parser.add_argument("--skip", action="append", default=[], choices=["oclgrind", "numba"])
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    if not options.simcc.is_file():
        parser.error(f"{options.simcc} is not there: build it first")
    if options.outputs < 1 or (options.numba_outputs is not None and options.numba_outputs < 1):
        parser.error("outputs must be positive")
    simcc = options.simcc.resolve()
    n = options.outputs
    numba_n = options.numba_outputs or n
    expected = reference(n)
    cores = len(os.sched_getaffinity(0))

    def measure_simulator(folder, checks, threads):
        environment = {"SIMT_CHECKS": checks, "SIMT_THREADS": str(threads)}
        return checked_run(simulator(simcc, folder), folder, n, 21, environment, expected)

    def measure_oclgrind(folder):
        if "oclgrind" in options.skip:
            raise NotRun("--skip oclgrind")
        return checked_run(oclgrind(folder), folder, n, 1, None, expected)

    def measure_numba(folder):
        if "numba" in options.skip:
            raise NotRun("--skip numba")
        environment = {"NUMBA_ENABLE_CUDASIM": "1"}
        print(f"numba: {numba_n} outputs, about {numba_n / 530:.0f} s", file=sys.stderr)
        seconds = checked_run(numba(), folder, numba_n, 1, environment)
        return [s * n / numba_n for s in seconds]

    numba_note = f", scaled up from {numba_n} outputs" if numba_n != n else ""
    entries = [
        ("simulator, all checks, 1 thread", lambda f: measure_simulator(f, "all", 1)),
        (f"simulator, all checks, {cores} threads", lambda f: measure_simulator(f, "all", cores)),
        ("simulator, no checks, 1 thread", lambda f: measure_simulator(f, "none", 1)),
        ("serial C++", lambda f: checked_run(serial(f), f, n, 101, None, expected)),
        ("oclgrind --data-races --uninitialized", measure_oclgrind),
        ("numba's CUDA simulator, nothing checked" + numba_note, measure_numba),
    ]
    rows = []
    for name, measure in entries:
        row = {"name": name, "status": "PASS", "reason": "", "seconds": None, "launches": 0}
        with tempfile.TemporaryDirectory() as folder:
            try:
                seconds = measure(pathlib.Path(folder))
                row["seconds"] = statistics.median(seconds)
                row["first_seconds"] = seconds[0]
                row["least_seconds"] = min(seconds)
                row["launches"] = len(seconds)
                row["accesses_per_second"] = accesses(n) / row["seconds"]
            except NotRun as reason:
                row.update(status="NOT RUN", reason=str(reason))
            except (ValueError, OSError) as reason:
                row.update(status="FAIL", reason=str(reason))
        rows.append(row)

    base = rows[0]["seconds"]
    load = os.getloadavg()[0]
    print(f"tiled 1D kernel, {n} outputs, mask 9, {THREADS} threads a block, "
          f"{accesses(n)} memory accesses of threads; {processor()}, {cores} cores")
    if load > cores + 0.5:
        print(f"load average {load:.1f} on {cores} cores: other programs ran, times are too long")
    print(f"{'':64} {'check':7} {'seconds':>11} {'to row 1':>10} {'accesses/s':>11}")
    for row in rows:
        if row["seconds"] is None:
            print(f"{row['name']:64} {row['status']:7} {row['reason']}")
            continue
        row["ratio_to_simulator"] = row["seconds"] / base if base else None
        ratio = f"{row['ratio_to_simulator']:.3g}" if base else ""
        print(f"{row['name']:64} {row['status']:7} {row['seconds']:11.6f} {ratio:>10} "
              f"{row['accesses_per_second']:11.3g}")
    if options.json:
        options.json.write_text(json.dumps(
            {
                "schema_version": 1,
                "problem": {"outputs": n, "mask_width": len(MASK), "threads": THREADS},
                "accesses": accesses(n),
                "machine": {"processor": processor(), "cores": cores, "load_average": load},
                "rows": rows,
            },
            indent=1,
        ) + "\n")
    return 1 if any(row["status"] == "FAIL" for row in rows) or base is None else 0


if __name__ == "__main__":
    sys.exit(main())
