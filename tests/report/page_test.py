#!/usr/bin/env python3
"""The page of `halo report --html`, made of recorded results: whole and by itself; its sums are those of `halo report
--summary`; and as Chromium shows it, wide and narrow, light and dark, with the keyboard. Status 77: all that can be
tried without Chromium is good."""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "docs"), str(ROOT / "docs" / "results")]
import browser  # noqa: E402
import one_file  # noqa: E402
from read_results import read_results  # noqa: E402

RESULTS = ROOT / "docs" / "results"
RECORD = RESULTS / "bench_conv1d_gpu.json"
# Other families, and what they lack: no library, no arithmetic, no cold times, hundreds of problems.
OTHERS = ["bench_conv1d_cpu.json", "bench_transform.json", "bench_network.json", "bench_cuconv.json"]
WINDOWS = {"wide": (1440, 900), "narrow": (500, 900)}


def fail_if(wrong, problem, text):
    if problem:
        wrong.append(text)


def same(a, b):
    return math.isclose(a, b, rel_tol=1e-9)


def slower(folder):
    """Another run, as it were: the same file with every other row 10 % slower, one variant four times as slow, on
    another machine."""
    results = read_results(RECORD)
    results["machine"]["gpu"] = "another GPU"
    for i, row in enumerate(results["rows"]):
        factor = 4 if row["variant"] == "single_block" else 1.1 if i % 2 == 0 else 1
        for state in ("hot", "cold"):
            spread = row["time"].get(state) or {}
            for figure in ("median_ms", "p10_ms", "p90_ms"):
                if spread.get(figure):
                    spread[figure] *= factor
    path = folder / "slower.json"
    path.write_text(json.dumps(results))
    return path


def read(page, wrong):
    """The page has the file's rows."""
    texts = one_file.read(page, wrong)
    data, recorded = json.loads(texts["data"]), read_results(RECORD)
    head = data["files"][0]
    for key in ("date", "command", "seed"):
        fail_if(wrong, head[key] != recorded[key], f"{key} is {head[key]}")
    fail_if(wrong, head["gpu"] != recorded["machine"]["gpu"], "another GPU")
    fail_if(wrong, len(data["rows"]) != len(recorded["rows"]), f"{len(data['rows'])} rows")
    for one, row in zip(data["rows"], recorded["rows"]):
        name = f"{row['variant']}, {row['problem']}"
        for key in ("stage", "backend", "variant", "role", "problem"):
            fail_if(wrong, one[key] != row[key], f"{name}: other {key}")
        fail_if(wrong, one["check"] != row["check"]["status"], f"{name}: other check")
        time = row["time"]
        fail_if(wrong, ("hot" in one) != (time["status"] == "MEASURED"), f"{name}: time or no time")
        for state in ("hot", "cold"):
            if one.get(state):
                for ours, theirs in (("median", "median_ms"), ("p10", "p10_ms"), ("p90", "p90_ms"), ("aa", "repeat_spread")):
                    fail_if(wrong, one[state][ours] != time[state].get(theirs), f"{name}: other {state} {ours}")
        if "hot" in one:
            for key in ("gb_per_s", "cold_gb_per_s", "gflop_per_s"):
                fail_if(wrong, one[key] != time.get(key), f"{name}: other {key}")
    for part in ("On the GPU: length 1,000", "warp_tile", recorded["command"]):
        fail_if(wrong, part not in texts["pre"], f"without a script it does not say: {part}")


def sums(halo, shown, wrong):
    """What the page adds up, `halo report --summary` adds up to the same, warm and cold."""
    said = subprocess.run([halo, "report", RECORD, "--summary", "--format", "csv"], capture_output=True, text=True,
                          check=True).stdout
    expected = {(row["cache"], f"{row['stage']}/{row['variant']}"): row for row in csv.DictReader(said.splitlines())
                if row["against"] == "library"}
    found = 0
    for cache, cold in (("hot", "false"), ("cold", "true")):
        shown.value(f"halo.choose({{cold: {cold}}})")
        for line in shown.value("halo.standings().map(({worst, best, ...rest}) => ({...rest, worst: worst.median, best: best.median}))"):
            if not line["id"]:
                continue
            other, name = expected[cache, line["id"]], f"{cache} {line['id']}"
            found += 1
            for ours, theirs in (("problems", "compared"), ("wins", "wins"), ("ties", "ties"), ("losses", "losses")):
                fail_if(wrong, line[ours] != int(other[theirs]), f"{name}: {line[ours]} {ours}, not {other[theirs]}")
            for ours, theirs in (("mean", "geometric_mean_ratio"), ("worst", "worst_ratio"), ("best", "best_ratio")):
                fail_if(wrong, not same(line[ours], float(other[theirs])), f"{name}: {ours} {line[ours]}, not {other[theirs]}")
    fail_if(wrong, found != len(expected), f"{found} sums, not {len(expected)}")
    shown.value("halo.choose({cold: false})")


def keys(shown, wrong):
    """Every key does what the page says of it."""
    def expect(what, expression, value):
        is_now = shown.value(expression)
        fail_if(wrong, is_now != value, f"{what}: {is_now}, not {value}")

    worst, best = (shown.value(f"halo.standings()[0].{end}.key") for end in ("worst", "best"))
    shown.key("w")
    expect("w", "halo.state.problem", worst)
    shown.key("ArrowLeft")
    expect("left at the worst", "halo.state.problem", worst)
    shown.key("ArrowRight")
    fail_if(wrong, shown.value("halo.state.problem") == worst, "right does not move")
    shown.key("ArrowLeft")
    expect("left", "halo.state.problem", worst)
    shown.key("b")
    expect("b", "halo.state.problem", best)
    shown.key("]")
    expect("]", "halo.state.variant", "02_conv1d_global/grid")
    shown.key("[")
    expect("[", "halo.state.variant", "")
    shown.key("c")
    expect("c", "halo.state.cold", True)
    expect("c", "document.querySelector('.controls [aria-pressed=true]').textContent", "cold")
    shown.key("c")
    expect("c again", "halo.state.cold", False)
    # By Tab to a variant's button, and Enter.
    shown.value("document.querySelectorAll('tbody th button')[5].focus()")
    shown.key("Enter")
    expect("Enter on a variant", "halo.state.variant", "04_conv1d_tiled_halo/warp_tile")
    expect("the address", "location.hash.includes('variant=04_conv1d_tiled_halo%2Fwarp_tile')", True)
    wrong += [f"with the keyboard: {line}" for line in shown.complaints]


def drawn(shown, wrong):
    """Bars and points are where the figures say."""
    shown.value("halo.choose({variant: '04_conv1d_tiled_halo/warp_tile', filters: {}})")
    line = shown.value("halo.standings().find((one) => one.id === halo.state.variant)")
    for kind, expected in (("win", line["wins"]), ("even", line["ties"]), ("behind", line["losses"])):
        number = shown.value(f"document.querySelectorAll('svg .{kind}').length")
        fail_if(wrong, number != expected, f"{number} bars {kind}, not {expected}")
    red = shown.value("getComputedStyle(document.querySelector('svg .behind')).fill")
    fail_if(wrong, red != "rgb(179, 38, 30)", f"a loss is {red}")
    # The longest signal with 9 taps: a bar as long as the share of the copy roof that the run wrote down.
    row = next(row for row in read_results(RECORD)["rows"] if row["variant"] == "warp_tile"
               and row["problem"]["length"] == 10**9 and row["problem"]["mask_width"] == 9)
    shown.value(f"halo.choose({{problem: JSON.stringify({json.dumps(row['problem'])})}})")
    said = shown.value("[...document.querySelectorAll('.rung')].find((one) => one.querySelector('.name')?.textContent === 'warp_tile')"
                       ".querySelector('.line:last-child').children[2].textContent")
    expected = f"{100 * row['time']['share_of_copy']:.1f} %"
    fail_if(wrong, said != expected, f"warp_tile is at {said}, not {expected}")
    number = shown.value("document.querySelectorAll('svg .point').length")
    timed = sum(row["time"]["status"] == "MEASURED" and bool(row["time"].get("gflop_per_s"))
                for row in read_results(RECORD)["rows"])
    fail_if(wrong, number != timed, f"{number} points, not {timed}")


def beside(shown, wrong):
    """Two files: the same counts as in `compare`, whose verdicts the page has."""
    counts = shown.value("['improvement', 'tie', 'regression'].map((verdict) => halo.data.comparison.pairs.filter("
                         "(pair) => pair.role === 'variant' && pair.verdict === verdict).length)")
    bars = shown.value("['win', 'even', 'behind'].map((kind) => [...document.querySelectorAll('section')].find((one) => "
                       "one.querySelector('h2').textContent === 'A beside B').querySelectorAll('svg .' + kind).length)")
    fail_if(wrong, counts != bars, f"{bars} bars for {counts}")
    fail_if(wrong, counts[2] < 20, "nothing became slower")
    # Side by side on one scale, though the ratios of one file are a quarter of the other's.
    shown.value("halo.choose({variant: '02_conv1d_global/single_block'})")
    heights = shown.value("[...document.querySelectorAll('.pair.both .chart svg')].slice(0, 2).map((svg) => "
                          "[...svg.querySelectorAll('.grid')].map((line) => line.getAttribute('y1')).join())")
    fail_if(wrong, len(heights) != 2 or heights[0] != heights[1], f"two scales: {heights}")
    fail_if(wrong, "another GPU" not in shown.value("document.body.textContent"), "the other machine is not named")


def look(pages, shown, pictures, wrong):
    for page in pages:
        for name, (width, height) in WINDOWS.items():
            for dark in (False, True):
                shown.show(width, height, dark)
                shown.open("about:blank")
                shown.open(page)
                where = f"{page.name}, {name}, {'dark' if dark else 'light'}"
                over = shown.value("document.documentElement.scrollWidth - innerWidth")
                fail_if(wrong, over > 0, f"{where}: {over} px too wide")
                lit = shown.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
                fail_if(wrong, lit == dark, f"{where}: the other colours")
                wrong += [f"{where}: {line}" for line in shown.complaints]
                if pictures:
                    shown.picture(pictures / f"{page.stem}_{name}{'_dark' if dark else ''}.png", whole=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--halo", required=True, type=pathlib.Path, help="the halo program")
    parser.add_argument("--pictures", type=pathlib.Path, help="keep what was seen here")
    arguments = parser.parse_args()
    halo, wrong = arguments.halo.resolve(), []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def made(*files):
            page = folder / (files[-1].stem + ".html")
            subprocess.run([halo, "report", *files, "--html", page], check=True, stdout=subprocess.DEVNULL)
            return page

        one, two = made(RECORD), made(RECORD, slower(folder))
        others = [made(RESULTS / other) for other in OTHERS]
        read(one, wrong)
        for page in [two, *others]:
            one_file.read(page, wrong)
        program = browser.find()
        if program:
            if arguments.pictures:
                arguments.pictures.mkdir(parents=True, exist_ok=True)
            with browser.Page(program) as shown:
                look([one, two, *others], shown, arguments.pictures, wrong)
                shown.show(*WINDOWS["wide"])
                shown.open(one)
                sums(halo, shown, wrong)
                keys(shown, wrong)
                drawn(shown, wrong)
                shown.open(two)
                beside(shown, wrong)
    for line in wrong:
        print(line)
    if wrong:
        return 1
    if not program:
        print("the text is good; NOT RUN: how it looks, no Chromium was found")
        return 77
    print("the pages are good, wide and narrow, light and dark, with the keyboard")
    return 0


if __name__ == "__main__":
    sys.exit(main())
