#!/usr/bin/env python3
"""What a GPU counts of the launches in this folder, and whether the engine counts the same.

    fidelity.py record h200.csv                   on a GPU with nvcc and Nsight Compute
    fidelity.py compare SIMCC h200.csv          anywhere with nvcc: builds, runs, prints what differs
    fidelity.py widths SIMT [FILE.ptx...]         the widths of accesses that ptxas and nvdisasm show, beside ours;
                                                  without files of the launches in this folder
    fidelity.py keep SIMCC h200.csv SIMT JSON   both, and answers.py compare, and what they come to in a file, for
                                                docs/simulator.md

A row is a launch: its name, the checksum of what it wrote, and its counters. The first line of a file says where it was
recorded. Its launches are those of its folder: this one, or async and products, whose launches only Hopper runs;
those of products have no counters, only what they wrote. Exit status of compare and widths: 0 all equal, but for what
known_differences.csv beside the file lists, 1 some differ, 2 wrong use, 77 no nvdisasm.
"""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
OPTIONS = ["-std=c++17", "-O3", "-lineinfo"]

_L1 = "l1tex__{}_pipe_lsu_mem_{}_op_{}.sum"
# Our counter: the hardware's, added up. Those of `sass` count instructions that have an active lane, as we do; an
# asynchronous copy is a load of global memory and a store of shared memory.
METRICS = {
    "global_load_requests": [_L1.format("t_requests", "global", "ld")],
    "global_load_sectors": [_L1.format("t_sectors", "global", "ld")],
    "global_store_requests": [_L1.format("t_requests", "global", "st")],
    "global_store_sectors": [_L1.format("t_sectors", "global", "st")],
    "shared_load_requests": ["smsp__sass_inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_ldsm.sum"],
    "shared_load_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    "shared_load_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
    "shared_store_requests": ["smsp__sass_inst_executed_op_shared_st.sum", "smsp__inst_executed_op_ldgsts.sum"],
    "shared_store_wavefronts": [
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    ],
    "shared_store_conflicts": [
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
    ],
    "global_atomic_requests": [_L1.format("t_requests", "global", "atom"), _L1.format("t_requests", "global", "red")],
    "shared_atomic_requests": ["smsp__inst_executed_op_shared_atom.sum"],
}
# In async the same of copies in bulk and of wgmma.
ASYNC_METRICS = {
    "bulk_load_requests": ["smsp__sass_inst_executed_op_tma_ld.sum"],
    "bulk_load_sectors": ["l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"],
    "bulk_store_requests": ["smsp__sass_inst_executed_op_tma_st.sum", "smsp__sass_inst_executed_op_tma_red.sum"],
    "bulk_store_sectors": [
        "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
        "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum",
    ],
    "wgmma_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum"],
}


class Launches:
    """Those of the folder that a file is in."""

    def __init__(self, path):
        self.folder = pathlib.Path(path).resolve().parent
        name = self.folder.relative_to(FOLDER).name if self.folder.is_relative_to(FOLDER) else ""
        self.metrics = {"async": {**METRICS, **ASYNC_METRICS}, "products": {}}.get(name, METRICS)
        self.columns = ["name", "checksum", *self.metrics]
        self.of_gpu = ["-gencode", "arch=compute_90a,code=sm_90a"] if name else ["-arch=native"]

    def sources(self):
        return sorted(str(path) for path in self.folder.glob("*.cu"))


# Of so many kernels, in percent, the widths must be those of the SASS.
LEAST_EQUAL_WIDTHS = 95


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"fidelity: {command[0]} ended with {result.returncode}: {result.stderr[-2000:]}")
    return result.stdout


def checksums(output):
    return [line.split(",") for line in output.splitlines()]


def record(path):
    """Counts with Nsight Compute what every launch moves, on this machine's GPU."""
    launches_of = Launches(path)
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/fidelity"
        run(["nvcc", *OPTIONS, *launches_of.of_gpu, "--threads=0", *launches_of.sources(), "-o", program])
        names = checksums(run([program]))
        all_metrics = [metric for all_of in launches_of.metrics.values() for metric in all_of]
        metrics = ",".join(all_metrics or ["smsp__inst_executed.sum"])  # it wants one
        report = run(["ncu", "--clock-control", "none", "--cache-control", "none", "--print-units", "base", "--csv",
                      "--page", "raw", "--metrics", metrics, program])
    lines = [line for line in report.splitlines() if line.startswith('"')]
    launches = [row for row in csv.DictReader(lines) if row["ID"].strip()]
    if len(launches) != len(names):
        sys.exit(f"fidelity: {len(launches)} launches were profiled, {len(names)} made")

    def count(launch, metric):
        text = launch[metric].replace(",", "")
        return 0 if text == "n/a" else int(float(text))

    gpu = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).splitlines()[0]
    nvcc = run(["nvcc", "--version"]).split("release ")[1].split(",")[0]
    ncu = run(["ncu", "--version"]).split("Version ")[1].split()[0]
    name, driver = gpu.split(", ")
    date = run(["date", "+%Y-%m-%d"]).strip()
    with open(path, "w", newline="") as file:
        file.write(f"# {name}, driver {driver}, CUDA {nvcc}, Nsight Compute {ncu}, {date}: "
                   "tests/simt/fidelity/fidelity.py record\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(launches_of.columns)
        for (case, checksum), launch in zip(names, launches):
            rows.writerow([case, checksum, *(sum(count(launch, one) for one in all_of)
                                             for all_of in launches_of.metrics.values())])
    print(f"{len(launches)} launches recorded in {path}")


def counted_by_engine(simcc, launches_of):
    """Rows as in a file."""
    with tempfile.TemporaryDirectory() as folder:
        program, report = f"{folder}/fidelity", f"{folder}/report.json"
        run([simcc, *OPTIONS, "--threads=2", *launches_of.sources(), "-o", program])
        names = checksums(run([program], env={**os.environ, "SIMT_REPORT": report}))
        with open(report, encoding="utf-8") as file:
            launches = json.load(file)["launches"]
    if len(launches) != len(names):
        sys.exit(f"fidelity: {len(launches)} launches were reported, {len(names)} made")
    return [[case, checksum, *(launch["counters"].get(counter, 0) for counter in launches_of.metrics)]
            for (case, checksum), launch in zip(names, launches)]


def known_differences(path):
    """What known_differences.csv beside the file says: launch, counter, and what the engine counts."""
    known = pathlib.Path(path).with_name("known_differences.csv")
    if not known.exists():
        return set()
    rows = csv.reader(line for line in known.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {tuple(row) for row in rows}


def compare(simcc, path):
    """Prints what the engine counts otherwise than the file says. Returns the exit status, and the sums."""
    launches_of = Launches(path)
    with open(path, newline="", encoding="utf-8") as file:
        where = file.readline().strip("# \n")
        rows = csv.reader(file)
        if next(rows) != launches_of.columns:
            sys.exit(f"fidelity: {path} has other columns: record it again")
        expected = list(rows)
    counted = counted_by_engine(simcc, launches_of)
    if [row[0] for row in expected] != [row[0] for row in counted]:
        sys.exit(f"fidelity: {path} has other launches: record it again")
    known = known_differences(path)
    found = {}
    for want, got in zip(expected, counted):
        for column, on_gpu, here in zip(launches_of.columns[1:], want[1:], got[1:]):
            if on_gpu != str(here):
                found[want[0], column, str(here)] = on_gpu
    for difference, on_gpu in found.items():
        launch, column, here = difference
        print(f"{launch}: {column} {on_gpu} on the GPU, {here} here{' (known)' if difference in known else ''}")
    for launch, column, here in sorted(known - found.keys()):
        print(f"{launch}: {column} is not {here} here, as known_differences.csv says: correct or remove its line")
    equal = len(counted) - len({launch for launch, _, _ in found})
    print(f"{equal} of {len(counted)} launches equal in {len(launches_of.metrics)} counters and in what they wrote ({where})")
    sums = {"recorded": where, "launches": len(counted), "equal": equal, "counters": len(launches_of.metrics)}
    return 0 if counted and found.keys() == known else 1, sums


def widths_of_ptx(simt, path):
    """By kernel: (space, kind, bytes) and how many such accesses the engine makes of the text."""
    kernels, now = {}, None
    for line in run([simt, "ptx", path]).splitlines():
        access = re.match(r"    (\d+) (global|shared) (load|store)s of (\d+) bytes", line)
        if access:
            now[access[2], access[3], int(access[4])] = int(access[1])
        elif re.match(r"  [^ \d]", line):
            now = kernels[line.strip()] = {}
    return kernels


def widths_of_sass(path):
    """The same as ptxas writes it."""
    with tempfile.TemporaryDirectory() as folder:
        run(["ptxas", "-arch=sm_90", path, "-o", f"{folder}/cubin"])
        text = run(["nvdisasm", "-c", f"{folder}/cubin"])
    bytes_of = {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1}
    kernels, now = {}, None
    for line in text.splitlines():
        kernel = re.match(r"\s*\.text\.(\S+):", line)
        if kernel:
            now = kernels[run(["c++filt", kernel[1]]).strip()] = {}
        access = re.search(r"\b(LD|ST)([GS])((?:\.\w+)*)\s", line)
        if access and now is not None and "@!PT" not in line:
            width = next((bytes_of[word] for word in access[3].split(".") if word in bytes_of), 4)
            key = ("global" if access[2] == "G" else "shared", "load" if access[1] == "LD" else "store", width)
            now[key] = now.get(key, 0) + 1
    return kernels


def widths(simt, files):
    """Prints each kernel whose accesses ptxas makes of other widths than we do. More of the same widths are equal: it
    unrolls loops, which moves as much. Returns the exit status, and the sums."""
    if shutil.which("nvdisasm") is None:
        print("NOT RUN: nvdisasm was not found (it comes with the CUDA Toolkit, and from PyPI as nvidia-cuda-nvdisasm)")
        return 77, {}
    equal = of = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in [] if files else Launches(FOLDER / "h200.csv").sources():
            files = [*files, f"{folder}/{pathlib.Path(source).stem}.ptx"]
            run(["nvcc", *OPTIONS, "-arch=compute_90", "-ptx", source, "-o", files[-1]])
        for file in files:
            sass = widths_of_sass(file)
            for kernel, ours in widths_of_ptx(simt, file).items():
                theirs = sass.get(kernel, {})
                of += 1
                if ours.keys() == theirs.keys() and all(theirs[key] >= n for key, n in ours.items()):
                    equal += 1
                    continue
                print(kernel)
                for key in sorted(ours.keys() | theirs.keys()):
                    if ours.get(key) != theirs.get(key):
                        print(f"    {key[0]} {key[1]}s of {key[2]} bytes: {ours.get(key, 0)} here, "
                              f"{theirs.get(key, 0)} in the SASS")
    print(f"{equal} of {of} kernels have accesses of the same widths as in the SASS")
    return 0 if of and 100 * equal >= LEAST_EQUAL_WIDTHS * of else 1, {"kernels": of, "equal": equal}


def keep(simcc, path, simt, kept):
    status, counters = compare(simcc, path)
    status_of_widths, all_widths = widths(simt, [])
    answers = FOLDER / "answers.csv"
    command = [simt, "run", sys.executable, str(FOLDER / "answers.py"), "compare", str(answers)]
    if status or status_of_widths or subprocess.run(command).returncode:
        sys.exit("fidelity: not kept")
    with open(answers, newline="") as file:
        recorded = next(file)[2:].strip()
        forms = sum(int(row["tried"]) for row in csv.DictReader(file))
    text = json.dumps({"schema_version": 1, "command": "tests/simt/fidelity/fidelity.py keep", "counters": counters,
                       "widths": all_widths, "answers": {"recorded": recorded, "forms": forms}}, indent=1)
    pathlib.Path(kept).write_text(text + "\n", encoding="utf-8")


def main():
    if len(sys.argv) >= 3 and sys.argv[1] == "widths":
        return widths(sys.argv[2], sys.argv[3:])[0]
    if len(sys.argv) == 3 and sys.argv[1] == "record":
        record(sys.argv[2])
        return 0
    if len(sys.argv) == 4 and sys.argv[1] == "compare":
        return compare(sys.argv[2], sys.argv[3])[0]
    if len(sys.argv) == 6 and sys.argv[1] == "keep":
        keep(*sys.argv[2:])
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
