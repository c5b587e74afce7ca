#!/usr/bin/env python3
"""Keeps the traces that the site shows inside its pages.

    docs/results/make_traces.py --halo build/common/cli/halo-exercise --build build [NAME...]            write
    docs/results/make_traces.py --halo build/common/cli/halo-exercise --build build --check [NAME...]    compare

traces/NAME.json is what `halo trace` puts into its page, of several problems: the views with their `settings`, one
value for each of the `switches`, and where the reader begins. Of a problem the first launch of one kernel is kept, and
of that the first and the worst warp of each line. No GPU is needed.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "traces"
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)


def conv1d(stage, variant, threads, masks):
    return {"stage": stage, "switches": ["threads of a block", "taps of the mask"],
            "views": [([str(t), str(w)], ["--variant", variant, "--length", "2000", "--mask", str(w), "--threads", str(t)])
                      for t in threads for w in masks]}


TRACES = {
    "02": conv1d("02", "grid", (16, 32, 256), (3, 9, 17)),
    "03": conv1d("03", "constant", (16, 32, 256), (3, 9, 17)),
    "04": conv1d("04", "tiled_halo", (32, 64, 256), (3, 9, 17, 63)) | {"memory": True},
    "06": {"stage": "06", "switches": ["kernel", "padding"],
           "views": [([variant, padding], ["--variant", variant, "--layer", f"28-1-3-16-1{layer}"])
                     for variant in ("stride_padding", "tile_constant", "filter_group")
                     for padding, layer in (("1", ""), ("0", "-p0"))]},
    "08": {"stage": "08", "switches": ["bytes of a segment", "filter"], "memory": True,
           "views": [([segment, f"{size} × {size}"], ["--variant", f"stride_fixed_{segment}", "--layer", f"8-1-{size}-8-4"])
                     for segment in ("32", "64") for size in (3, 5)]},
    "10": {"stage": "10_layout_transform", "switches": ["kernel", "from"],
           "views": [([variant, side], ["--variant", variant, "--problem", f"6-64-2-to-{to}"])
                     for variant in ("naive", "tiled", "tiled_float2") for side, to in (("CHWN", "nchw"), ("NCHW", "chwn"))]},
    "12": {"stage": "12", "switches": ["kernel", "categories"],
           "views": [([variant, categories], ["--variant", variant, "--problem", f"32x{categories}"])
                     for variant in ("fused", "fused_parallel") for categories in ("10", "1000")]},
}


def page_data(halo, build, arguments):
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        ran = subprocess.run([halo, "--build", build, "trace", *arguments, "--output", str(page), "--no-open"],
                             capture_output=True, text=True, check=False)
        if ran.returncode != 0 or not page.is_file():
            raise RuntimeError(f"halo trace {' '.join(arguments)}: {ran.stderr.strip() or ran.returncode}")
        return json.loads(DATA.search(page.read_text(encoding="utf-8"))[1])


def smaller(view):
    """The view with the first and the worst warp of each line, and without what no page shows of it."""
    trace = view["trace"]
    kept = sorted({line[which] for line in trace["lines"] for which in ("first", "worst") if line[which] >= 0})
    numbers = {old: new for new, old in enumerate(kept)} | {-1: -1}
    trace["warps"] = [trace["warps"][old] for old in kept]
    for line in trace["lines"]:
        line["middle"] = -1
        line["first"], line["worst"] = numbers[line["first"]], numbers[line["worst"]]
    view["counters"] = {name: value for name, value in view["counters"].items() if value}
    for line in view["lines"]:
        line["counters"] = {name: value for name, value in line["counters"].items() if value}
    return view


def made(halo, build, what):
    views, files = [], {}
    for settings, arguments in what["views"]:
        data = page_data(halo, build, [what["stage"], *arguments])
        view = smaller(data["views"][0])
        view["settings"] = settings
        view["command"] = " ".join(["./halo trace", what["stage"], *arguments])
        views.append(view)
        files.update({name: lines for name, lines in data["files"].items() if any(line["file"] == name for line in view["lines"])})
    return {"switches": what["switches"], "memory": what.get("memory", False), "beside": -1, "views": views, "files": files}


def written(data):
    """One line for each view: differences can be read."""
    rest = {key: value for key, value in data.items() if key != "views"}
    head = json.dumps(rest, ensure_ascii=False, separators=(",", ":"))
    views = ",\n".join(json.dumps(view, ensure_ascii=False, separators=(",", ":")) for view in data["views"])
    return f'{head[:-1]},"views":[\n{views}\n]}}\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--halo", required=True, help="the program halo-exercise")
    parser.add_argument("--build", required=True, help="its build folder")
    parser.add_argument("--check", action="store_true", help="compare with what is kept; 1 if it differs")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(TRACES)}; all without")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in TRACES]
    if unknown:
        parser.error(f"no such trace: {', '.join(unknown)}")
    FOLDER.mkdir(exist_ok=True)
    stale = []
    for name in arguments.names or TRACES:
        file = FOLDER / f"{name}.json"
        text = written(made(arguments.halo, arguments.build, TRACES[name]))
        if not arguments.check:
            file.write_text(text, encoding="utf-8")
            print(f"{file.name}: {len(text) // 1000} kB")
        elif not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale.append(file.name)
    if stale:
        print(f"{', '.join(stale)}: no longer what the simulator says: run docs/results/make_traces.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
