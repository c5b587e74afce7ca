#!/usr/bin/env python3
"""Prints what Nsight Compute counted on a GPU beside what the simulator's tests expect.

    compare_counters.py [--measure-patterns] EXPECTED.csv BANK_PATTERNS.csv NCU.csv
    compare_counters.py --copies EXPECTED.csv NCU.csv
    compare_counters.py --matrices EXPECTED.csv NCU.csv
    compare_counters.py --sends EXPECTED.csv NCU.csv

Called by calibrate.sh. Exit status: 0 all equal, 1 some differ, 2 the files do not fit together.
"""

import argparse
import csv
import sys

# Our counter: the hardware's metrics, which are added up.
METRICS = {
    "global_load_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
    "global_load_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    "global_store_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
    "global_store_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "shared_load_requests": ["smsp__inst_executed_op_shared_ld.sum"],
    "shared_load_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    "shared_load_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
    "shared_store_requests": ["smsp__inst_executed_op_shared_st.sum"],
    "shared_store_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    "shared_store_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
    "global_atomic_requests": [
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    ],
    "shared_atomic_requests": ["smsp__inst_executed_op_shared_atom.sum"],
}


COPY_METRICS = {
    "load_requests": ["smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum"],
    "load_sectors": ["smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"],
    "store_requests": ["smsp__inst_executed_op_ldgsts.sum"],
    "store_wavefronts": ["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"],
    "store_conflicts": ["smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"],
}


# Matrices: <mma.h> makes accesses whose space shows only when they are executed, which the metrics above
# do not count, and ldmatrix is counted for itself.
MATRIX_METRICS = {
    **METRICS,
    "shared_load_requests": [
        "smsp__sass_inst_executed_op_shared_ld.sum",
        "smsp__inst_executed_op_ldsm.sum",
    ],
    "shared_store_requests": ["smsp__sass_inst_executed_op_shared_st.sum"],
    "tensor_instructions": ["sm__inst_executed_pipe_tensor.sum"],
}

SEND_METRICS = {
    "store_requests": ["l1tex__t_requests_pipe_lsu_mem_dshared_op_st.sum"],
    "store_sectors": ["l1tex__t_sectors_pipe_lsu_mem_dshared_op_st.sum"],
}


def read_ncu(path, metrics_of=None):
    """One dictionary (counter: value) a launch, in launch order, with the kernel's name."""
    with open(path, newline="") as file:
        lines = [line for line in file if line.startswith('"')]
    launches = []
    for row in csv.DictReader(lines):
        if not row["ID"].strip():
            continue  # the row of units
        launch = {"kernel": row["Kernel Name"]}
        for counter, metrics in (metrics_of or METRICS).items():
            values = [row.get(metric, "").replace(",", "") for metric in metrics]
            known = [int(float(v)) for v in values if v and v != "n/a"]
            launch[counter] = sum(known) if known else None
        launches.append(launch)
    return launches


def compare_copies(expected_path, ncu_path):
    """Asynchronous copies: 0 all equal, 1 some differ, 2 the files do not fit."""
    with open(expected_path, newline="") as file:
        cases = list(csv.DictReader(file))
    launches = read_ncu(ncu_path, COPY_METRICS)
    if len(launches) != len(cases) or not cases:
        print(f"compare_counters: {len(launches)} copies were profiled, {len(cases)} expected",
              file=sys.stderr)
        return 2
    differ = 0
    for case, launch in zip(cases, launches):
        for counter in COPY_METRICS:
            want, got = int(case[counter]), launch[counter]
            verdict = ""
            if want != got:
                verdict = "  DIFFERS"
                differ += 1
            print(f"{'copy ' + case['name']:34} {counter:26} {want:>10} "
                  f"{'n/a' if got is None else got:>10}{verdict}")
    print(f"{len(cases)} asynchronous copies, {differ} figures differ")
    return 1 if differ else 0


def compare_all(expected_path, ncu_path, metrics, what):
    """Kernels that are counted as a whole: 0 all equal, 1 some differ, 2 the files do not fit."""
    with open(expected_path, newline="") as file:
        cases = list(csv.DictReader(file))
    launches = read_ncu(ncu_path, metrics)
    if len(launches) != len(cases) or not cases:
        print(f"compare_counters: {len(launches)} launches were profiled, {len(cases)} cases of "
              f"{what} expected", file=sys.stderr)
        return 2
    differ = 0
    for case, launch in zip(cases, launches):
        for counter in metrics:
            want, got = int(case[counter]), launch[counter]
            if want == 0 and got in (0, None):
                continue
            differ += want != got
            print(f"{what + ' ' + case['name']:34} {counter:26} {want:>10} "
                  f"{'n/a' if got is None else got:>10}{'  DIFFERS' if want != got else ''}")
    print(f"{len(cases)} kernels with {what}, {differ} figures differ")
    return 1 if differ else 0


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--matrices":
        return compare_all(sys.argv[2], sys.argv[3], MATRIX_METRICS, "matrices")
    if len(sys.argv) == 4 and sys.argv[1] == "--sends":
        return compare_all(sys.argv[2], sys.argv[3], SEND_METRICS, "sends")
    if len(sys.argv) == 4 and sys.argv[1] == "--copies":
        return compare_copies(sys.argv[2], sys.argv[3])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure-patterns", action="store_true")
    parser.add_argument("expected")
    parser.add_argument("patterns")
    parser.add_argument("ncu")
    options = parser.parse_args()
    with open(options.expected, newline="") as file:
        cases = list(csv.DictReader(file))
    with open(options.patterns, newline="") as file:
        patterns = list(csv.DictReader(file))
    launches = read_ncu(options.ncu)
    if len(launches) != len(cases) + len(patterns):
        print(f"compare_counters: {len(launches)} launches were profiled, {len(cases)} cases and "
              f"{len(patterns)} patterns expected", file=sys.stderr)
        return 2

    differ = 0
    print(f"{'kernel':34} {'counter':26} {'expected':>10} {'hardware':>10}")
    for case, launch in zip(cases, launches):
        for counter in METRICS:
            want, got = int(case[counter]), launch[counter]
            if want == 0 and got in (0, None):
                continue
            verdict = ""
            if want != got and case["note"]:
                verdict = f"  known: {case['note']}"
            elif want != got and counter.endswith("requests") and counter.startswith("shared"):
                # Nsight Compute counts these by instruction, also with all lanes switched off.
                known = got is not None and got > want
                verdict = "  known: instructions without an active lane count too" if known else ""
            if want != got and not verdict:
                verdict = "  DIFFERS"
                differ += 1
            shown = "n/a" if got is None else got
            print(f"{case['name']:34} {counter:26} {want:>10} {shown:>10}{verdict}")

    equal = 0
    for row, launch in zip(patterns, launches[len(cases):]):
        side = row["operation"]
        got = {name: launch[f"shared_{side}_{name}"] for name in ("wavefronts", "conflicts")}
        if launch[f"shared_{side}_requests"] != 1:
            print(f"pattern {row['name']} of {row['element_bytes']} bytes: {side} was not one "
                  f"instruction but {launch[f'shared_{side}_requests']}")
            differ += 1
        if options.measure_patterns:
            row.update(got)
        elif any(str(got[name]) != row[name] for name in got):
            print(f"pattern {row['name']:24} {side:5} of {row['element_bytes']:>2} bytes: "
                  f"wavefronts {row['wavefronts']} {got['wavefronts']}, "
                  f"conflicts {row['conflicts']} {got['conflicts']}  DIFFERS")
            differ += 1
        else:
            equal += 1
    if options.measure_patterns:
        with open(options.patterns, "w", newline="") as file:
            writer = csv.DictWriter(file, patterns[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(patterns)
        print(f"{len(patterns)} patterns of shared-memory access measured; {options.patterns} written")
    else:
        print(f"{equal} of {len(patterns)} patterns of shared-memory access equal")
    print(f"{differ} figures differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
