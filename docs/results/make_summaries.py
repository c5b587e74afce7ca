#!/usr/bin/env python3
"""Keeps the summaries on the pages in step with the results that they sum up.

    docs/results/make_summaries.py --halo build/common/cli/halo-cli --check    exit 1 if one differs
    docs/results/make_summaries.py --halo build/common/cli/halo-cli --fix      write them into the pages

A summary stands between two comments. `by` names the fields that group the problems; `part` is one of
the tables of `halo report --summary`: library, stage or choice; `stage` leaves the other stages out. `variant` and
`cache` keep some rows of the table (commas separate alternatives), and so does `problems` (semicolons separate
alternatives, an underscore stands for a space: all;R_1,_N_1). `without` leaves columns out, which must hold one value.

    <!-- summary: results/bench_conv2d_gpu.json part=library by=R,N -->
    <!-- /summary -->
"""

import argparse
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent
SUMMARY = re.compile(r"(<!-- summary: (\S+)((?: \w+=\S+)*) -->\n)(.*?)(<!-- /summary -->)", re.S)
TITLES = {
    "library": "**Against the fastest library of each problem**",
    "stage": "**Against the fastest other variant of the same stage**",
    "choice": "**Choices**",
}


def kept_rows(text, options, file):
    """The table with the rows that the options choose, and what stands around it."""
    wanted = {name: options[name].split(",") for name in ("variant", "cache") if name in options}
    if "problems" in options:
        wanted["problems"] = options["problems"].replace("_", " ").split(";")
    left_out = options["without"].split(",") if "without" in options else []
    held = {name: set() for name in left_out}
    names, out, rows = None, [], 0
    seen = {name: set() for name in wanted}
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None
        if cells and names is None:
            names = cells
            if not set(left_out) <= set(names):
                sys.exit(f"summary of {file}: it has no column {', '.join(set(left_out) - set(names))}")
        elif cells and not cells[0].startswith(":"):
            row = dict(zip(names, cells))
            if any(row[name] not in values for name, values in wanted.items()):
                continue
            for name in wanted:
                seen[name].add(row[name])
            for name in left_out:
                held[name].add(row[name])
            rows += 1
        if cells and left_out:
            line = f"| {' | '.join(cell for name, cell in zip(names, cells) if name not in left_out)} |"
        out.append(line)
    missing = [value for name, values in wanted.items() for value in values if value not in seen[name]]
    if rows == 0 or missing:
        sys.exit(f"summary of {file}: no row has {', '.join(missing) or options}")
    various = [name for name in left_out if len(held[name]) > 1]
    if various:
        sys.exit(f"summary of {file}: rows differ in {', '.join(various)}, which cannot be left out")
    return "\n".join(out)


def summary(halo, file, options):
    """The Markdown of one table and its notes."""
    unknown = options.keys() - {"part", "by", "stage", "variant", "cache", "problems", "without"}
    if unknown or options.get("part") not in TITLES:
        sys.exit(f"summary of {file}: part=library, stage or choice is needed; by=FIELDS, stage=NN, variant=, "
                 "cache=, problems= and without= are allowed")
    command = [halo, "report", str(DOCS / file), "--summary", "--format", "markdown"]
    for name in ("by", "stage"):
        if name in options:
            command += [f"--{name}", options[name]]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {ran.returncode}: {ran.stderr.strip()}")
    title = TITLES[options["part"]]
    if title not in ran.stdout:
        sys.exit(f"{file} has no such table: {title.strip('*')}")
    text = ran.stdout.split(title, 1)[1]
    for other in TITLES.values():
        text = text.split(other, 1)[0]
    return "\n" + kept_rows(text.strip(), options, file) + "\n\n"


def main():
    parser = argparse.ArgumentParser(description="Checks the summaries on the pages.")
    parser.add_argument("--halo", required=True, help="the halo program of a build folder")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--check", action="store_true", help="say which differ")
    how.add_argument("--fix", action="store_true", help="rewrite them in place")
    arguments = parser.parse_args()

    found = wrong = 0
    for page in sorted(DOCS.glob("**/*.md")):
        text = page.read_text(encoding="utf-8")

        def renew(match):
            options = dict(pair.split("=", 1) for pair in match[3].split())
            return match[1] + summary(arguments.halo, match[2], options) + match[5]

        new = SUMMARY.sub(renew, text)
        found += len(SUMMARY.findall(text))
        # One that is not closed, or written otherwise, would never be looked at.
        if text.count("<!-- summary:") != len(SUMMARY.findall(text)):
            sys.exit(f"{page}: a summary is not closed, or its first line is not understood")
        if new == text:
            continue
        if arguments.fix:
            page.write_text(new, encoding="utf-8")
        else:
            wrong += 1
            print(f"{page}: a summary differs from what the results say: "
                  "docs/results/make_summaries.py --fix", file=sys.stderr)
    if found == 0:
        sys.exit("no page has a summary: nothing was checked")
    print(f"{found} summaries on the pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
