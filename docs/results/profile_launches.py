#!/usr/bin/env python3
"""What Nsight Compute counts of a variant's launch on a GPU, as a results file for the pages.

    docs/results/profile_launches.py build/stages/11_fused_pooling-cuda:nchw,chwn --figures caches \\
        --problem 55-128-3-96-s2,26-64-3-256-s2-ceil --json docs/results/pooling_caches_gpu.json

Each variant runs on each problem by itself, one launch. ncu empties the caches before it. Rows have the
problem, the variant and, under `profile`, the figures:

caches  sectors of 32 bytes: asked of L1 (`l1_load_sectors`), found there (`l1_hits`), asked of L2
        (`l2_read_sectors`), found there (`l2_hits`), read from memory (`dram_read_sectors`) and written to it;
        shares of hits from these.
stalls  instructions of warps (`instructions`, of them `multiply_adds`), reads of constant memory by instructions
        of their own (`constant_reads`, and those that the cache had), issues a cycle and scheduler, and how many
        cycles its warps together wait for each instruction issued, for what: a constant that is the same for the warp
        (`stalled_immediate_constant`), a load from global or local memory (`stalled_global`) or from shared or
        constant memory (`stalled_shared`), a barrier, the next instruction of the program, a unit that is busy.

units   cycles, instructions of a warp, multiply-adds of threads, passes through shared memory; what share of their
        peak had the schedulers' issues, the units for fp32 and for integers, the passes, and the way from shared memory
        and L1 to the registers; warps of a scheduler; and of what they wait for what `stalls` leaves out: that
        another warp goes first, that the dispatch is held up, that a queue to memory is full.
memory  sectors of 32 bytes asked of L2, those that were not there, those read from memory; what share of their peak
        had L2's look-ups and the memory.

A problem is a layer's label (--problem, of a convolution --layer), or of a signal its length and mask (--problem
10000000x63). Of the micro-benchmarks --segments 8,16,32 profiles the first launch on the large array that reads
segments of so many floats.

    docs/results/profile_launches.py build/stages/07_single_channel_adaptive-cuda --figures memory \\
        --segments 8,16,32 --json docs/results/segments_memory_gpu.json
"""

import argparse
import csv
import datetime
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from read_results import read_results

SHARE = ".avg.pct_of_peak_sustained_"  # of 100; rows have it of 1
FIGURES = {"caches": {
    "l1_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_hits": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "dram_read_sectors": "dram__sectors_read.sum",
    "dram_write_sectors": "dram__sectors_write.sum",
}, "stalls": {
    "instructions": "smsp__inst_executed.sum",
    "multiply_adds": "smsp__inst_executed_pipe_fma.sum",
    "constant_reads": "idc__requests.sum",
    "constant_hits": "idc__requests_lookup_hit.sum",
    "issue_active": "smsp__issue_active.avg.per_cycle_active",
    "warps_active": "sm__warps_active.avg.per_cycle_active",
} | {f"stalled_{name}": f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"
     for name, reason in [("immediate_constant", "imc_miss"), ("global", "long_scoreboard"),
                          ("shared", "short_scoreboard"), ("barrier", "barrier"),
                          ("program", "no_instruction"), ("unit", "math_pipe_throttle"),
                          ("queue", "lg_throttle"), ("dependency", "wait")]},
"units": {
    "cycles": "sm__cycles_elapsed.max",
    "instructions": "smsp__inst_executed.sum",
    "thread_multiply_adds": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "shared_passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "issue_share": "smsp__issue_active" + SHARE + "active",
    "fp32_share": "sm__pipe_fma_cycles_active" + SHARE + "active",
    "integer_share": "sm__inst_executed_pipe_alu" + SHARE + "active",
    "pass_share": "l1tex__data_pipe_lsu_wavefronts" + SHARE + "active",
    "writeback_share": "l1tex__lsu_writeback_active" + SHARE + "active",
    "writeback_cycles": "l1tex__lsu_writeback_active.sum",
    "warps_of_scheduler": "smsp__warps_active.avg.per_cycle_active",
} | {f"stalled_{name}": f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"
     for name, reason in [("global", "long_scoreboard"), ("shared", "short_scoreboard"), ("barrier", "barrier"),
                          ("unit", "math_pipe_throttle"), ("dependency", "wait"),
                          ("other_warp", "not_selected"), ("dispatch", "dispatch_stall"),
                          ("memory_queue", "mio_throttle")]},
"memory": {
    "cycles": "sm__cycles_elapsed.max",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_misses": "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum",
    "dram_read_sectors": "dram__sectors_read.sum",
    "l2_lookup_share": "lts__t_tag_requests" + SHARE + "elapsed",
    "dram_share": "dram__throughput" + SHARE + "elapsed",
}}


def problem_options(problem):
    length, _, mask = problem.partition("x")
    if length.isdigit() and mask.isdigit():
        return ["--length", length, "--mask", mask]
    return ["--problem", problem]


def counted_by_ncu(figures, ncu_options, command):
    """The figures of the last launch that ncu profiles of the command, and the kernel's name."""
    metrics = FIGURES[figures]
    command = ["ncu", "--clock-control", "none", "--print-units", "base", "--csv", "--page", "raw",
               *ncu_options, "--metrics", ",".join(metrics.values()), *command]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    launches = [row for row in csv.DictReader(line for line in ran.stdout.splitlines()
                                              if line.startswith('"')) if row["ID"].strip()]
    if ran.returncode != 0 or not launches:
        sys.exit(f"{' '.join(command)}\nended with {ran.returncode}: {ran.stdout[-500:]}{ran.stderr[-500:]}")
    counted = {name: float(launches[-1][metric].replace(",", "")) for name, metric in metrics.items()}
    counted = {name: int(value) if value.is_integer() else value for name, value in counted.items()}
    counted.update({name: counted[name] / 100 for name, metric in metrics.items() if SHARE in metric})
    if figures == "caches":
        counted["l1_hit_share"] = counted["l1_hits"] / max(counted["l1_load_sectors"], 1)
        counted["l2_hit_share"] = counted["l2_hits"] / max(counted["l2_read_sectors"], 1)
    return counted, launches[-1]["Kernel Name"]


def profile(program, variant, problem, figures, seed, folder):
    """What is counted of the variant on the problem, given by its options, and the row that the program wrote."""
    results = folder / "row.json"
    counted, kernel = counted_by_ncu(figures, [], [
        program, "--variant", variant, *problem, "--seed", str(seed), "--no-peers", "--no-times", "--no-trials",
        "--json", str(results)])
    written = read_results(results)
    row = written["rows"][0]
    return written, {"stage": row["stage"], "backend": row["backend"], "variant": variant,
                     "role": "variant", "problem": row["problem"], "check": row["check"],
                     "kernel": kernel, "profile": counted}


def profile_segments(program, lanes, figures, folder):
    """The same of --measure's segments. Two launches check a kernel, the third reads the large array: scattered, of 32
    floats in order."""
    results = folder / "measured.json"
    counted, kernel = counted_by_ncu(
        figures, ["--kernel-name-base", "demangled", "-k", rf"regex:segments_kernel<(\(int\))?{lanes}>", "-c", "3"],
        [program, "--measure", "--json", str(results)])
    return json.loads(results.read_text()), {
        "stage": pathlib.Path(program).name.removesuffix("-cuda"), "backend": "gpu",
        "variant": f"segments of {4 * int(lanes)} bytes, {'in order' if lanes == '32' else 'scattered'}",
        "role": "variant", "kernel": kernel, "profile": counted}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("variants", nargs="+", metavar="PROGRAM:VARIANT,...",
                        help="a stage's program and variants of it; with --segments the program alone")
    parser.add_argument("--figures", choices=sorted(FIGURES), required=True)
    parser.add_argument("--problem", help="problems, with commas between")
    parser.add_argument("--layer", help="the same, of a convolution")
    parser.add_argument("--segments", help="floats of a segment, 8, 16 or 32, with commas between")
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--json", type=pathlib.Path, required=True, help="file to write")
    arguments = parser.parse_args()
    if shutil.which("ncu") is None:
        print("profile_launches.py: there is no ncu (Nsight Compute) on PATH: it reads a GPU's counters", file=sys.stderr)
        return 77
    given = [(name, getattr(arguments, name)) for name in ("problem", "layer", "segments")
             if getattr(arguments, name)]
    if len(given) != 1:
        parser.error("one of --problem, --layer and --segments is needed")
    kind, problems = given[0]
    pairs = []
    for entry in arguments.variants:
        program, _, variants = entry.rpartition(":")
        if kind == "segments":
            program, variants = entry, "segments"
        if not program or not variants:
            parser.error(f"'{entry}' is not PROGRAM:VARIANT,...")
        pairs += [(program, variant) for variant in variants.split(",")]

    rows, head = [], None
    with tempfile.TemporaryDirectory() as folder:
        for problem in problems.split(","):
            for program, variant in pairs:
                print(f"{problem} {variant}", file=sys.stderr, flush=True)
                if kind == "segments":
                    written, row = profile_segments(program, problem, arguments.figures, pathlib.Path(folder))
                else:
                    options = ["--layer", problem] if kind == "layer" else problem_options(problem)
                    written, row = profile(program, variant, options, arguments.figures, arguments.seed,
                                           pathlib.Path(folder))
                head = head or written
                rows.append(row)
    named = " ".join(entry.rpartition("/")[2] for entry in arguments.variants)
    command = f"docs/results/profile_launches.py {named} --figures {arguments.figures} --{kind} {problems}"
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    head = {"schema_version": head.get("schema_version", 4), "command": command,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seed": arguments.seed, "machine": head["machine"]}
    arguments.json.write_text(json.dumps(head)[:-1] + ', "rows": [\n' + lines + "\n]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
