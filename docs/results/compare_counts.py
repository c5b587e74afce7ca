#!/usr/bin/env python3
"""Runs the stages on the simulator again, and compares their counters with a recorded run.

    docs/results/compare_counts.py --halo build/common/cli/halo-cli [RECORDED.json]

The figures on the pages come from recorded runs (default: run_sim.json). Counters do not depend on the
machine or on the data, so every one must be equal; the small problems that a variant is tried on first add
nothing and are left out. A record of other problems than a stage runs by itself says so in its command,
`--problem LABELS`, and is compared with a run of the same ones. Exit status: 0 all equal, 1 some differ or
are missing, or a stage did not run.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from read_results import read_results

HERE = pathlib.Path(__file__).resolve().parent


def simulated(path):
    """The rows that were counted, by what they are."""
    rows = read_results(path)["rows"]
    return {(row["stage"], row["variant"], json.dumps(row["problem"])): row["traffic"]
            for row in rows if row["backend"] == "sim" and row["traffic"].get("counted")}


def main():
    parser = argparse.ArgumentParser(description="Compares a recorded run's counters with a new run.")
    parser.add_argument("--halo", required=True, help="the halo program of a build folder")
    parser.add_argument("recorded", nargs="?", default=str(HERE / "run_sim.json"))
    arguments = parser.parse_args()

    recorded = simulated(arguments.recorded)
    if not recorded:
        print(f"{arguments.recorded} holds no counted rows", file=sys.stderr)
        return 1
    command = read_results(arguments.recorded)["command"]
    problems = re.findall(r"--problem \S+", command)
    new = {}
    with tempfile.TemporaryDirectory() as folder:
        # Stage by stage: 01 has nothing to count and would only take time.
        for stage in sorted({stage for stage, _, _ in recorded}):
            out = pathlib.Path(folder) / f"{stage}.json"
            ran = subprocess.run(
                [arguments.halo, "run", stage, "--on", "sim", "--no-trials", "--json", str(out),
                 *" ".join(problems).split()],
                capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                print(f"halo run {stage} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}",
                      file=sys.stderr)
                return 1
            new |= simulated(out)

    wrong = 0
    for key, traffic in recorded.items():
        for kind in ("predicted", "counted"):
            now = new.get(key, {}).get(kind)
            if now != traffic[kind]:
                wrong += 1
                print(f"{key[0]} {key[1]} {key[2]}, {kind}: recorded {traffic[kind]}, now {now}",
                      file=sys.stderr)
    for key in new.keys() - recorded.keys():
        wrong += 1
        print(f"{key[0]} {key[1]} {key[2]} is not in the recorded run", file=sys.stderr)
    if wrong:
        name = pathlib.Path(arguments.recorded).name
        print(f"record it again: ./{command} --json docs/results/{name}, then docs/check_docs.py --fix",
              file=sys.stderr)
        return 1
    print(f"{len(recorded)} rows, every counter as recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
