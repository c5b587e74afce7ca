#!/usr/bin/env python3
"""Prints the four tables of the BU report from results of ours, its figures beside them: CPU, GPU with transfers, kernel.

usage: report_bu.py GPU.json CPU.json

The files are what `halo bench conv1d --json FILE` writes with `--on gpu` and `--on cpu`."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_docs

VARIANTS = ["grid", "constant", "tiled_halo", "tiled_cached"]  # the report's Codes 2 to 5


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    gpu, cpu = sys.argv[1:]
    results = check_docs.Results(pathlib.Path.cwd())
    try:
        for variant in VARIANTS:
            table = check_docs.make_report(f"{gpu} cpu={cpu} variant={variant}", results)
            print("\n".join([f"**{variant}**", *table[:table.index("", 1) + 2]]), end="\n\n")
    except check_docs.DocsError as error:
        sys.exit(f"report_bu.py: {error}")


if __name__ == "__main__":
    main()
