#!/usr/bin/env python3
r"""Keeps what the rule for a layer's layout chooses, for the page to quote.

    docs/results/make_layout_choices.py --program build/stages/10_layout_convolution-cuda \
        --fit build/stages/10_layout_convolution/10_layout_convolution-fit             write
    ... --check                                                                        compare

layout_choices.txt holds one part between [doc:NAME] markers for each quotation. `rule` is what the
published thresholds choose for the paper's layers, put together from what `--plan` printed; no GPU is
needed. From bench_sc16_convolution.json, once a GPU's run has written it, come the others: what each
of the thresholds costs there, and the thresholds that fit that GPU, for the fastest of all that was run
in each layout (`fit_best`), for the paper's two implementations (`fit_paper`: cuda-convnet's method
against cuDNN), and for our kernels alone (`fit_ours`); `layers_best` has a line for each layer.
"""

import argparse
import pathlib
import re
import subprocess
import sys

from kept_parts import keep

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "bench_sc16_convolution.json"
CHOICE = re.compile(r"^layer (\S+): C (\d+), N (\d+);.*\n  Titan Black +(\w+): (.*)\n  Titan X +(\w+): (.*)$",
                    re.M)
OURS = ["--chwn", "images_chwn,pixels_chwn", "--nchw", "images_nchw,pixels_nchw"]
PAPER = ["--chwn", "images_chwn", "--nchw", "cudnn,cudnn_graph"]


def said(command):
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip() or f"{command[0]} ended with status {ran.returncode}")
    return ran.stdout


def rule(program):
    text = said([program, "--plan", "--layers", "sc16"])
    rows = [["layer", "C", "N", "Titan Black (32, 128)", "Titan X (128, 64)"]]
    rows += [[layer, c, n, f"{black}: {why_black}", f"{x}: {why_x}"]
             for layer, c, n, black, why_black, x, why_x in CHOICE.findall(text)]
    if len(rows) - 1 != len(re.findall("^layer ", text, re.M)) or len(rows) == 1:
        raise RuntimeError(f"not all of this was understood:\n{text}")
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    return "".join(
        "  ".join(cell.rjust(width) if i in (1, 2) else cell.ljust(width)
                  for i, (cell, width) in enumerate(zip(row, widths))).rstrip() + "\n" for row in rows)


def parts(program, fit):
    found = {"rule": rule(program)}
    if RESULTS.exists():
        file = str(RESULTS)
        found["fit_best"] = said([fit, file, "--part", "thresholds"])
        found["fit_paper"] = said([fit, file, "--part", "thresholds", *PAPER])
        found["fit_ours"] = said([fit, file, "--part", "thresholds", *OURS])
        found["layers_best"] = said([fit, file, "--part", "layers"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fit", required=True)
    return keep(HERE / "layout_choices.txt", "make_layout_choices.py", "the rule and its fit say",
                lambda arguments: {name: part.strip() + "\n" for name, part
                                   in parts(arguments.program, arguments.fit).items()}, parser)


if __name__ == "__main__":
    sys.exit(main())
