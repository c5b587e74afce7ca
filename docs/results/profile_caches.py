#!/usr/bin/env python3
"""What the caches make of a stage's traffic on a GPU, by Nsight Compute, as a results file for the pages.

    docs/results/profile_caches.py --program build/stages/11_fused_pooling-gpu --variant nchw,chwn \\
        --problem 55-128-3-96-s2,26-64-3-256-s2-ceil --json docs/results/pooling_caches_gpu.json

Each variant runs on each problem by itself, one launch. ncu empties the caches before it. Rows
have the problem, the variant and, under `profile`, sectors of 32 bytes: asked of L1 (`l1_load_sectors`),
found there (`l1_hits`), asked of L2 (`l2_read_sectors`), found there (`l2_hits`), read from memory
(`dram_read_sectors`) and written to it; shares of hits from these.
"""

import argparse
import csv
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

METRICS = {
    "l1_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_hits": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "dram_read_sectors": "dram__sectors_read.sum",
    "dram_write_sectors": "dram__sectors_write.sum",
}


def profile(program, variant, problem, seed, folder):
    """The counters of the variant's launch on the problem, and the row that the program wrote of it."""
    results = folder / "row.json"
    command = ["ncu", "--clock-control", "none", "--print-units", "base", "--csv", "--page", "raw",
               "--metrics", ",".join(METRICS.values()), program, "--variant", variant, "--problem",
               problem, "--seed", str(seed), "--no-peers", "--no-times", "--no-trials", "--json",
               str(results)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    launches = [row for row in csv.DictReader(line for line in ran.stdout.splitlines()
                                              if line.startswith('"')) if row["ID"].strip()]
    if ran.returncode != 0 or not launches:
        sys.exit(f"{' '.join(command)}\nended with {ran.returncode}: {ran.stdout[-500:]}{ran.stderr[-500:]}")
    written = json.loads(results.read_text())
    counted = {name: int(float(launches[-1][metric].replace(",", "")))
               for name, metric in METRICS.items()}
    counted["l1_hit_share"] = counted["l1_hits"] / max(counted["l1_load_sectors"], 1)
    counted["l2_hit_share"] = counted["l2_hits"] / max(counted["l2_read_sectors"], 1)
    row = written["rows"][0]
    return written, {"stage": row["stage"], "backend": row["backend"], "variant": variant,
                     "role": "variant", "problem": row["problem"], "check": row["check"],
                     "kernel": launches[-1]["Kernel Name"], "profile": counted}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", required=True, help="a stage's GPU program")
    parser.add_argument("--variant", required=True, help="variants, with commas between")
    parser.add_argument("--problem", required=True, help="problems, with commas between")
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--json", type=pathlib.Path, required=True, help="file to write")
    arguments = parser.parse_args()

    rows, head = [], None
    with tempfile.TemporaryDirectory() as folder:
        for problem in arguments.problem.split(","):
            for variant in arguments.variant.split(","):
                print(f"{problem} {variant}", file=sys.stderr, flush=True)
                written, row = profile(arguments.program, variant, problem, arguments.seed,
                                       pathlib.Path(folder))
                head = head or written
                rows.append(row)
    command = (f"docs/results/profile_caches.py --program {pathlib.Path(arguments.program).name} "
               f"--variant {arguments.variant} --problem {arguments.problem}")
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    head = {"schema_version": head["schema_version"], "command": command,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seed": arguments.seed, "machine": head["machine"]}
    arguments.json.write_text(json.dumps(head)[:-1] + ', "rows": [\n' + lines + "\n]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
