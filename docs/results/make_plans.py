#!/usr/bin/env python3
"""Keeps what stage 07's planner says, for the page to quote.

    docs/results/make_plans.py --program build/stages/07_single_channel_adaptive-cuda            write
    docs/results/make_plans.py --program build/stages/07_single_channel_adaptive-cuda --check    compare

plans.txt holds one part between [doc:NAME] markers for each quotation: what `--plan` printed, whole
or from some line on; and one line for each layer of the paper's grid, put together from what it
printed for that layer. No GPU is needed: the figures are the built-in ones.
"""

import argparse
import pathlib
import re
import subprocess
import sys

from kept_parts import keep

HERE = pathlib.Path(__file__).resolve().parent
GPUS = {"gtx1080ti": "NVIDIA GeForce GTX 1080 Ti", "h200": "NVIDIA H200"}
TABLE = "chang_onishi_single"


def said(program, gpu, *arguments):
    ran = subprocess.run([program, "--plan", "--gpu", gpu, *arguments], capture_output=True,
                         text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip() or f"{program} ended with status {ran.returncode}")
    return ran.stdout


def figures(text):
    """The GPU's own figures, without their sources."""
    return text[: text.index("sources\n")]


def plans(text, gpu):
    """The plans in the text, one for each layer."""
    start = re.compile(rf"^{re.escape(GPUS[gpu])}: map ", re.M)
    starts = [found.start() for found in start.finditer(text)]
    parts = [text[a:b] for a, b in zip(starts, starts[1:] + [len(text)])]
    # Between two plans stand the figures of the GPU again.
    return [part.split("\n\n")[0].rstrip("\n") + "\n" for part in parts]


def found(pattern, text):
    match = re.search(pattern, text, re.M)
    if match is None:
        raise RuntimeError(f"nothing like {pattern!r} in:\n{text}")
    return match


def row(plan):
    width, height, filters, size = found(r": map (\S+) x (\S+), (\S+) filters? of (\d+)x", plan).groups()
    method, p, q = found(r"^plan\n  method (\d), P ([\d,]+), Q ([\d,]+)[:,]", plan).groups()
    p, q = p.rstrip(","), q.rstrip(",")
    decided = found(r"^  decided by (.*?):", plan)[1]
    sms = found(r"^  a piece: .* on (\S+) SMs?$", plan)[1]
    hidden = re.search(r"^  latency hidden by (\w+)", plan, re.M)
    launch = found(r"^launch\n  method .*?; (\d+) blocks of (\d+) strips? x (\d+) groups?", plan)
    hardware = found(r"as the hardware counts: (.*)$", plan)[1]
    return [f"{width} x {height}", filters, size, method, p, q, decided, sms,
            hidden[1] if hidden else "-", launch[1], f"{launch[2]} x {launch[3]}",
            "" if hardware == "the same division" else hardware]


def table(program, gpu):
    rows = [["map", "filters", "size", "method", "P", "Q", "decided by", "SMs", "hidden by", "blocks",
             "pieces", "N_FMA halved"]]
    rows += [row(plan) for plan in plans(said(program, gpu, "--layers", TABLE), gpu)]
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    left = {0, 6, 8, 11}
    return "".join(
        "  ".join(c.ljust(w) if i in left else c.rjust(w)
                  for i, (c, w) in enumerate(zip(r, widths))).rstrip() + "\n" for r in rows)


def parts(program):
    worked = ["--layer", "1024-1-1-32-1"]
    return {
        "figures_gtx1080ti": figures(said(program, "gtx1080ti", *worked)),
        "figures_h200": figures(said(program, "h200", *worked)),
        "worked_gtx1080ti": plans(said(program, "gtx1080ti", *worked), "gtx1080ti")[0],
        "small_h200": plans(said(program, "h200", "--layer", "28-1-3-16-1"), "h200")[0],
        "grid_gtx1080ti": table(program, "gtx1080ti"),
        "grid_h200": table(program, "h200"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    return keep(HERE / "plans.txt", "make_plans.py", "the planner says",
                lambda arguments: parts(arguments.program), parser)


if __name__ == "__main__":
    sys.exit(main())
