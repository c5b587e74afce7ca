#!/usr/bin/env python3
"""Keeps what stage 13's planner says, for the page to quote.

    docs/results/make_network_plans.py --program build/stages/13_network-cuda            write
    docs/results/make_network_plans.py --program build/stages/13_network-cuda --check    compare

network_plans.txt holds one part between [doc:NAME] markers for each quotation of what `--plan` printed.
Costs are counted, so no GPU is needed and every machine prints the same.
"""

import argparse
import pathlib
import subprocess
import sys

from kept_parts import keep

HERE = pathlib.Path(__file__).resolve().parent


def said(program, network, batch):
    ran = subprocess.run([program, "--plan", "--network", network, "--batch", str(batch)],
                         capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip() or f"{program} ended with status {ran.returncode}")
    # How much memory it needs says nothing of the plan.
    return ran.stdout[: ran.stdout.index("memory: ")]


def layers(text):
    """The layers, each with its candidates, without the sentence before."""
    return text.split("\n\n")[1:-1]


def totals(text):
    return text.split("\n\n")[-1]


def parts(program):
    digits = said(program, "digits", 64)
    parts = {"digits_" + layer.split()[0]: layer + "\n" for layer in layers(digits)}
    parts["digits_totals"] = totals(digits)
    for batch in (1, 128):
        parts[f"digits_{batch}_totals"] = totals(said(program, "digits", batch))
    for network in ("lenet", "cifar10"):
        parts[f"{network}_totals"] = totals(said(program, network, 32))
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    return keep(HERE / "network_plans.txt", "make_network_plans.py", "the planner says",
                lambda arguments: parts(arguments.program), parser)


if __name__ == "__main__":
    sys.exit(main())
