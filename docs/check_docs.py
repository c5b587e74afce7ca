#!/usr/bin/env python3
"""Keeps the pages in step with the code and with the results of runs.

    docs/check_docs.py --check     say what differs, exit 1 if anything does (a Meson test)
    docs/check_docs.py --fix       rewrite excerpts, tables and figures in place, then check

Eight kinds of thing are checked in docs/**/*.md, and in README.md and CONTRIBUTING.md if they exist.

Excerpts. The code block after the comment is the text between two marker lines of a source file
(path from the root of the repository). Lines that are markers themselves are left out and the
common indentation is removed.

    <!-- excerpt: stages/02_conv1d_global/2_grid.cu kernel -->      // [doc:kernel]
    ```cpp                                                          ...
    ...                                                             // [/doc:kernel]
    ```

Tables. Everything between the two comments is generated from a JSON file that a run wrote
(path from docs/).

    <!-- table: results/run.json stage=02_conv1d_global columns=variant,length,counted_bytes -->
    <!-- /table -->

`stage`, `backend`, `variant` and any `problem.NAME` select rows (commas separate alternatives, * is
any value there is, rows come in the order of the alternatives of `variant`, else in the order of the file). `columns` names
entries of COLUMNS below, or `predicted:COUNTER`, `counted:COUNTER`, `published:FIGURE`,
`problem:FIELD`, `profile:FIGURE` (results/profile_launches.py). Instead of `columns`,
`counters=a,b,c` gives one line a counter and two columns (predicted, counted) a variant. `said=check,hazards` says these
columns once, in the caption; it is an error if their rows differ.

The BU report's own table for one variant, its published figures beside ours; the CPU's times come
from a second file:

    <!-- report: results/run_gpu.json cpu=results/run_cpu.json variant=grid -->
    <!-- /report -->

Contests. One line a problem, one column an entry of `columns`: the `key` (time.hot.median_ms if it is
left out) of a variant, of the least among several (`a|b`), or the ratio of two of these (`a/b`: over 1
where b is less). names=PL1,PL2,... are what a paper calls the problems, one for each line, in order. Below stand the geometric mean of each ratio and its ends; only=means leaves the
lines of the problems out. `name` heads the first column (problem). With by=FIELD,... there is one ratio, and
one line for all problems in which the row of its last variant has the same fields. A selector own.FIELD looks at that
row only: own.source=stages/NN_name/1_a.cu are the problems that this variant ran with that kernel.

    <!-- contest: results/bench.json stage=* columns=tiled,naive,naive/tiled -->
    <!-- /contest -->
    <!-- contest: results/bench.json columns=library/ours by=problem.N name=layers -->
    <!-- /contest -->

The headline. What several contests come to, a line each: `rows` of the file have `what` the first column says, the
`file`, a `ratio` of it as in a contest, in `where` the selectors, and perhaps a `key` other than the hot time: `a/b`
has one for each side, `a+b?` is a sum of which b may be absent.

    <!-- headline: results/headline.json -->
    <!-- /headline -->

Figures in running text. `key` is a dotted path into the one selected row, or into the whole file
when no row is selected; `as=NAME` chooses a format of FORMATS. Several keys, with commas between them and a format
each, are the cells of a table that stand side by side. `ratio=a/b`, as in a contest, takes
what that ratio comes to over the selected problems: `key` is one of those that sum_up returns. The
measured layers of a dispatcher's rule are rows with `layer`, `variant` and `us`.

    <!-- value: results/run.json variant=grid key=traffic.counted.global_load_sectors -->1<!-- /value -->
    <!-- value: results/bench.json problem.N=1 ratio=library/ours key=wins -->86<!-- /value -->
    <!-- value: ../common/data/rules/h200.json layer=7-1-1-2-3 variant=tile key=us as=us_in_ms -->0.00200<!-- /value -->

A value must not begin a line, or an item of a list: Markdown takes a comment there for a block of its own, which tears
the sentence apart. --fix puts the last word of the line before in front of it. Nor may it stand in inline code, which shows
the comment. And no line within a paragraph begins with `>`: "greater than" would become a quotation.

Text that Markdown takes for something else. Inside a list, a line that begins with a number and a full stop, as the end of
a sentence may, is a new item: numbers of items count up. An item that is only a number, or begins with one as "4. 2. All",
holds a list of its own. And what looks like a tag (C<Ct) vanishes: it is written as code.

Findings. What the simulator said of a program, from the file that docs/results/make_findings.py wrote.

    <!-- findings: results/findings.json name=reverse -->
    <!-- /findings -->

Links. Relative links, images and anchors resolve; images have alternative text. An anchor must hold
on a forge and in the MkDocs site, which build anchors by different rules.

The course. Each stage of stages/course.csv has its folder and its page, and the tables of
docs/index.md have the pages in its order.

Nothing found is an error too: a check that looked at no excerpt would always be green.
"""

import argparse
import json
import math
import pathlib
import re
import sys
import textwrap
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "results"))
from read_results import read_results  # noqa: E402

DIRECTIVE = re.compile(r"^\s*<!--\s*(excerpt|table|headline|contest|report|findings):\s*(.*?)\s*-->\s*$")
BLOCK_END = re.compile(r"^\s*<!--\s*/(table|headline|contest|report|findings)\s*-->\s*$")
VALUE = re.compile(r"<!--\s*value:\s*(.*?)\s*-->(.*?)<!--\s*/value\s*-->", re.S)
# A word, or several that a directive keeps together.
WORD = re.compile(r"(?:<!--.*?-->|`[^`]*`|\S)+")
BEGINS_WITH_VALUE = re.compile(r"^\s*(?:(?:[-*+]|\d+[.)])\s+|>\s*)*<!--\s*value:")
ITEM = re.compile(r"^\s*(?:[-*+]|(\d+)[.)])\s")
TAG = re.compile(r"</?([A-Za-z][\w-]*)(?!\w*:)")
TAGS = {"a", "br", "details", "em", "kbd", "sub", "summary", "sup"}
FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$")
MARKER = re.compile(r"\[/?doc:([\w-]+)\]")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
EXPLICIT_ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")

COUNTER_NAMES = {
    "global_load_requests": "global load requests",
    "global_load_sectors": "global load sectors",
    "global_store_requests": "global store requests",
    "global_store_sectors": "global store sectors",
    "shared_load_requests": "shared load requests",
    "shared_load_wavefronts": "shared load wavefronts",
    "shared_load_conflicts": "shared load conflicts",
    "shared_store_requests": "shared store requests",
    "shared_store_wavefronts": "shared store wavefronts",
    "shared_store_conflicts": "shared store conflicts",
    "constant_load_requests": "constant load requests",
    "global_atomic_requests": "global atomic requests",
    "shared_atomic_requests": "shared atomic requests",
    "barriers": "barriers",
    "dshared_load_requests": "distributed shared load requests",
    "dshared_load_sectors": "distributed shared load sectors",
    "dshared_store_requests": "distributed shared store requests",
    "dshared_store_sectors": "distributed shared store sectors",
    "dshared_atomic_requests": "distributed shared atomic requests",
}


class DocsError(Exception):
    """A problem with one directive; the message is for the author of the page."""


# ---- numbers and cells ---------------------------------------------------------------------------


def grouped(value):
    """12345 -> 12,345; 12.5 -> 12.50."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}"


def significant(value):
    """Three digits that say something, never an exponent: 0.02031 -> 0.0203, 1234.5 -> 1,234."""
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(digits, 0)}f}"


FORMATS = {
    "grouped": grouped,
    "plain": str,
    "1": lambda v: f"{v:,.1f}",
    "2": lambda v: f"{v:,.2f}",
    "3": lambda v: f"{v:,.3f}",
    "significant": significant,
    "percent": lambda v: f"{100 * v:.1f} %",
    "round": lambda v: f"{round(v):,}",
    "us_in_ms": lambda v: significant(v / 1000),
    "text": lambda v: str(v).replace("\n", " "),
}


def dig(data, path):
    """Follows a dotted path through objects and lists."""
    here = data
    for step in path.split("."):
        if isinstance(here, list):
            if not step.isdigit() or int(step) >= len(here):
                raise DocsError(f"there is no '{step}' in a list of {len(here)} (key {path})")
            here = here[int(step)]
        elif isinstance(here, dict):
            if step not in here:
                raise DocsError(f"there is no '{step}' (key {path})")
            here = here[step]
        else:
            raise DocsError(f"'{step}' looks into a plain value (key {path})")
    return here


def cell(path, fmt=grouped):
    """A column that shows one value of a row, or NOT RUN where its group has not run."""

    def show(row):
        group = row.get(path.split(".")[0])
        if isinstance(group, dict) and group.get("status") == "NOT RUN":
            return "NOT RUN"
        try:
            value = dig(row, path)
        except DocsError:
            return "-"
        return "-" if value is None else fmt(value)

    return show


def status(group):
    """A column that shows how a group ended."""
    return lambda row: row.get(group, {}).get("status", "NOT RUN")


COLUMNS = {
    "stage": ("stage", "-", cell("stage")),
    "variant": ("variant", "-", lambda row: f"`{row['variant']}`"),
    "source": ("source", "-", lambda row: f"`{row.get('source', '')}`"),
    "backend": ("run on", "-", cell("backend")),
    "length": ("length", ">", cell("problem.length")),
    "mask_width": ("mask width", ">", cell("problem.mask_width")),
    "threads": ("threads per block", ">", cell("problem.threads")),
    "border": ("border", "-", cell("problem.border")),
    "check": ("check", "-", status("check")),
    "shapes": ("shapes checked", ">", cell("check.shapes")),
    "worst_share": ("worst error / bound", ">", cell("check.worst_share", FORMATS["3"])),
    "hazards": ("hazards", "-", status("hazards")),
    "traffic": ("predicted and counted", "-", status("traffic")),
    "predicted_bytes": (
        "bytes per output, predicted", ">",
        cell("traffic.bytes_per_output_predicted", FORMATS["2"])),
    "counted_bytes": (
        "bytes per output, counted", ">", cell("traffic.bytes_per_output_counted", FORMATS["2"])),
    "sectors_per_request": (
        "sectors per request", ">", cell("traffic.sectors_per_request", FORMATS["3"])),
    "shared_conflicts": ("bank conflicts", ">", cell("traffic.shared_conflicts")),
    "role": ("", "-", lambda row: {"peer": "library", "copy": "copy", "beside": "beside"}.get(row.get("role"), "ours")),
    "detail": ("inside", "-", lambda row: row.get("detail") or "-"),
    "method": ("timed as", "-", cell("time.method")),
    "median_ms": ("median, ms", ">", cell("time.hot.median_ms", significant)),
    "p10_ms": ("p10, ms", ">", cell("time.hot.p10_ms", significant)),
    "p90_ms": ("p90, ms", ">", cell("time.hot.p90_ms", significant)),
    "repeat_spread": ("A/A", ">", cell("time.hot.repeat_spread", FORMATS["percent"])),
    "cold_ms": ("cold cache, ms", ">", cell("time.cold.median_ms", significant)),
    "transfers_ms": ("with transfers, ms", ">", cell("time.transfers.median_ms", significant)),
    "gb_per_s": ("GB/s", ">", cell("time.gb_per_s", significant)),
    "cold_gb_per_s": ("GB/s, cold cache", ">", cell("time.cold_gb_per_s", significant)),
    "gflop_per_s": ("GFLOP/s", ">", cell("time.gflop_per_s", significant)),
    "share_of_copy": ("of the copy roof", ">", cell("time.share_of_copy", FORMATS["percent"])),
    "share_of_fp32": ("of the fp32 roof", ">", cell("time.share_of_fp32", FORMATS["percent"])),
    "ratio_to_previous": (
        "times faster than the one before", ">", cell("time.ratio_to_previous", FORMATS["2"])),
    "ratio_to_copy": ("speed beside a copy", ">", cell("time.ratio_to_copy", FORMATS["2"])),
    "ratio_to_best_peer": (
        "times faster than the best library, cold where timed cold", ">", cell("time.ratio_to_best_peer", FORMATS["2"])),
    "best_peer": ("best library", "-", cell("time.best_peer")),
}


def layer(row):
    """A convolution layer in the papers' notation: size - batch - filter - filters - channels."""
    p = row.get("problem", {})
    if not {"N", "C", "H", "W", "K", "R", "S"} <= p.keys():
        return "-"

    def square(down, across):
        return str(down) if down == across else f"{down}x{across}"

    text = f"{square(p['H'], p['W'])}-{p['N']}-{square(p['R'], p['S'])}-{p['K']}-{p['C']}"
    if p.get("stride", 1) != 1:
        text += f"-s{p['stride']}"
    dilation = [int(one) for one in str(p.get("dilation", 1)).split("x")]
    usual = square((p["R"] - 1) // 2 * dilation[0], (p["S"] - 1) // 2 * dilation[-1])
    if str(p.get("padding", 0)) != usual:
        text += f"-p{p.get('padding', 0)}"
    if p.get("groups", 1) != 1:
        text += f"-g{p['groups']}"
    if p.get("dilation", 1) != 1:
        text += f"-d{p['dilation']}"
    return text


def problem_name(row):
    """The problem as the command line names it, where it has such a name; else its fields."""
    p = row.get("problem", {})
    if {"K", "R", "S"} <= p.keys():
        return layer(row)

    def square(down, across):
        return str(down) if down == across else f"{down}x{across}"

    if {"network", "N", "layer"} <= p.keys():
        images = "1 image" if p["N"] == 1 else f"{p['N']} images"
        return f"{p['network']}, {images}" + ("" if p["layer"] == "all" else f", {p['layer']}")
    if {"length", "mask_width"} <= p.keys():
        unusual = [f"{field} {p[field]}" for field, usual in (("threads", 256), ("border", "zero")) if p.get(field, usual) != usual]
        return ", ".join([f"{p['length']}x{p['mask_width']}", *unusual])
    if p.keys() == {"N", "C"}:
        return f"{p['N']}x{p['C']}"
    if p.keys() == {"N", "C", "H", "W", "from"}:
        to = "nchw" if p["from"] == "chwn" else "chwn"
        return f"{square(p['H'], p['W'])}-{p['N']}-{p['C']}-to-{to}"
    if {"N", "C", "H", "W", "R", "S", "kind"} <= p.keys():
        window = square(p["R"], p["S"])
        text = f"{square(p['H'], p['W'])}-{p['N']}-{window}-{p['C']}"
        if str(p.get("stride", 1)) != window:
            text += f"-s{p.get('stride', 1)}"
        if str(p.get("padding", 0)) != "0":
            text += f"-p{p['padding']}"
        if p["kind"] == "average":
            text += "-average"
        return text + ("-ceil" if p.get("rounding") == "ceil" else "")
    return ", ".join(f"{key} {grouped(value)}" for key, value in p.items())


COLUMNS["layer"] = ("layer", "-", layer)
COLUMNS["problem"] = ("problem", "-", problem_name)


def column(name):
    """`NAME` of COLUMNS, `predicted:COUNTER`, `counted:COUNTER`, `published:FIGURE`, `problem:FIELD`."""
    if name in COLUMNS:
        return COLUMNS[name]
    if name.startswith("published:"):
        figure = name.partition(":")[2]
        return (f"published, {figure}", ">", cell(f"published.{figure}", significant))
    if name.startswith("problem:"):
        field = name.partition(":")[2]
        return (field, ">", cell(f"problem.{field}"))
    if name.startswith("profile:"):
        figure = name.partition(":")[2]
        style = FORMATS["percent"] if figure.endswith("_share") else grouped
        return (figure.replace("_", " "), ">", cell(f"profile.{figure}", style))
    kind, _, counter = name.partition(":")
    if kind in ("predicted", "counted") and counter in COUNTER_NAMES:
        return (f"{COUNTER_NAMES[counter]}, {kind}", ">", cell(f"traffic.{kind}.{counter}"))
    raise DocsError(f"unknown column '{name}'; known: {', '.join(COLUMNS)}, predicted:COUNTER, "
                    "counted:COUNTER")


def markdown_table(heads, sides, rows):
    rule = ["---:" if side == ">" else "---" for side in sides]
    lines = [heads, rule] + rows
    return ["| " + " | ".join(line) + " |" for line in lines]


# ---- results -------------------------------------------------------------------------------------


def matches(row, selectors):
    """Whether a row has for each key one of the wanted values; * is any value there is."""
    for key, wanted in selectors.items():
        try:
            value = str(dig(row, key))
        except DocsError:
            value = ""
        if not (value != "" if wanted == "*" else value in wanted.split(",")):
            return False
    return True


class Results:
    """The JSON files under docs/, each read once."""

    def __init__(self, docs):
        self.docs = docs
        self.files = {}

    def load(self, name):
        if name not in self.files:
            path = self.docs / name
            if not path.is_file():
                raise DocsError(f"docs/{name} is missing: a run writes it (./halo run --json FILE)")
            try:
                self.files[name] = read_results(path)
            except json.JSONDecodeError as error:
                raise DocsError(f"docs/{name} is not JSON: {error}") from error
        return self.files[name]

    def rows(self, name, selectors):
        data = self.load(name)
        rows = data.get("rows", data.get("runs"))  # results, or findings
        if rows is None and "models" in data:  # a rule of common/data/rules: its measured layers
            rows = [dict(zip(("layer", "variant", "us"), layer)) for layer in data["layers"]]
        if not isinstance(rows, list):
            raise DocsError(f"{name} has no list 'rows'")
        chosen = [row for row in rows if matches(row, selectors)]
        if not chosen:
            what = " ".join(f"{k}={v}" for k, v in selectors.items()) or "(no selector)"
            raise DocsError(f"no row of {name} matches {what}")
        order = selectors.get("variant", "").split(",")
        if len(order) > 1:
            chosen.sort(key=lambda row: order.index(row["variant"]))
        return chosen

    def caption(self, name, rows, said=""):
        """What all rows have in common, the problem if it is one, and where the figures come from."""
        run = self.load(name)
        problems = [row.get("problem", {}) for row in rows]
        problem = ""
        if problems and all(p == problems[0] for p in problems) and problems[0]:
            problem = ", ".join(f"{k.replace('_', ' ')} {grouped(v)}" for k, v in problems[0].items())
            problem = f"{problem[0].upper()}{problem[1:]}. "
        machine = run.get("machine", {})
        parts = [f"{key} {machine[key]}" if key in ("driver", "cuda") else str(machine[key])
                 for key in ("cpu", "gpu", "driver", "cuda", "compiler") if machine.get(key)]
        seed = f", seed {run['seed']}" if "seed" in run else ""
        return (f"*{said}{problem}From `{run.get('command', '?')}`, {str(run.get('date', '?'))[:10]}"
                f"{seed}; {'; '.join(parts) or 'machine unknown'}. File: `docs/{name}`.*")


def parse_arguments(text, known):
    """'FILE a=b c=d' -> (FILE, the known settings, the selectors)."""
    words = text.split()
    if not words:
        raise DocsError("name a results file")
    settings, selectors = {}, {}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals or not value:
            raise DocsError(f"'{word}' should read name=value")
        (settings if key in known else selectors)[key] = value
    return words[0], settings, selectors


def said_once(rows, names):
    """What columns say that say the same for all rows: "All rows: check PASS, hazards none. " """
    parts = []
    for name in names:
        head, _, show = column(name)
        values = list(dict.fromkeys(show(row) for row in rows))
        if len(values) > 1:
            raise DocsError(f"said={name}: the rows differ ({', '.join(values)}); make it one of columns=")
        parts.append(f"{head} {values[0]}")
    return f"{'All rows' if len(rows) > 1 else 'Its row'}: {', '.join(parts)}. " if parts else ""


def make_table(text, results):
    """Lines of a generated table with its caption."""
    name, settings, selectors = parse_arguments(text, ("columns", "counters", "said"))
    rows = results.rows(name, selectors)
    said = said_once(rows, settings["said"].split(",")) if "said" in settings else ""
    if "columns" in settings:
        columns = [column(c) for c in settings["columns"].split(",")]
        groups = [column_group(c) for c in settings["columns"].split(",")]
        heads = [head for head, _, _ in columns]
        sides = [side for _, side, _ in columns]
        body = [[show(row).replace("|", "\\|") for _, _, show in columns] for row in rows]
    elif "counters" in settings:
        groups = ["traffic"]
        heads, sides = ["counter"], ["-"]
        for row in rows:
            heads += [f"`{row['variant']}` predicted", "counted"]
            sides += [">", ">"]
        body = []
        for counter in settings["counters"].split(","):
            if counter not in COUNTER_NAMES:
                raise DocsError(f"unknown counter '{counter}'")
            line = [COUNTER_NAMES[counter]]
            for row in rows:
                for kind in ("predicted", "counted"):
                    line.append(cell(f"traffic.{kind}.{counter}")(row))
            body.append(line)
    else:
        raise DocsError("a table needs columns= or counters=")
    return ([""] + markdown_table(heads, sides, body) + reasons(rows, groups)
            + ["", results.caption(name, rows, said), ""])


def part_of_key(row, part):
    """What a row has by this part of a key: with a `?` behind it, 0 if it has none."""
    try:
        return dig(row, part.removesuffix("?"))
    except DocsError:
        if part.endswith("?"):
            return 0
        raise


def least(rows, names, key):
    """The least `key` among the rows of these variants (names joined by |); None if none has it. A key may be a sum, `a+b`."""
    found = []
    for row in rows:
        if row["variant"] not in names.split("|"):
            continue
        try:
            value = sum(part_of_key(row, part) for part in key.split("+"))
        except (DocsError, TypeError):
            continue
        if value > 0:
            found.append(value)
    return min(found) if found else None


def problems_of(results, name, selectors, tested):
    """{problem: its rows} in the order of the file; own.FIELD selects by the row of `tested`."""
    own = {key[len("own."):]: wanted for key, wanted in selectors.items() if key.startswith("own.")}
    rows = results.rows(name, {key: wanted for key, wanted in selectors.items()
                               if not key.startswith("own.")})
    problems = {}
    for row in rows:
        problems.setdefault(problem_name(row), []).append(row)
    if own:
        problems = {problem: contest for problem, contest in problems.items()
                    if any(matches(row, own) for row in contest if row["variant"] in tested)}
    if not problems:
        raise DocsError(f"no problem of {name} has such a row of {' or '.join(tested)}")
    for variant in tested:
        if not any(row["variant"] == variant for contest in problems.values() for row in contest):
            raise DocsError(f"no row of {name} is of the variant '{variant}'")
    return problems


def sum_up(found):
    """What ratios come to, from [(ratio, problem)]."""
    low, high = min(found), max(found)
    wins = sum(ratio > 1 for ratio, _ in found)
    return {"mean": math.exp(sum(math.log(ratio) for ratio, _ in found) / len(found)),
            "compared": len(found), "wins": wins, "losses": len(found) - wins,
            "least": low[0], "least_problem": low[1], "greatest": high[0], "greatest_problem": high[1]}


def values_of(contest, column, key):
    """What the sides of a/b have; `key` may be one for each side, too."""
    sides = column.split("/")
    keys = key.split("/")
    return [least(contest, names, its) for names, its in zip(sides, keys * len(sides) if len(keys) == 1 else keys)]


def ratios_of(problems, column, key):
    """[(ratio, problem)] of those problems that have both sides."""
    found = []
    for problem, contest in problems.items():
        values = values_of(contest, column, key)
        if None not in values:
            found.append((values[0] / values[1], problem))
    return found


def sum_of_ratio(results, name, selectors, ratio, key="time.hot.median_ms"):
    """What a ratio of times comes to over the selected problems of a file."""
    if ratio.count("/") != 1:
        raise DocsError("a ratio reads a/b, each a variant or several with | between them")
    tested = ratio.split("/")[1].split("|")
    found = ratios_of(problems_of(results, name, selectors, tested), ratio, key)
    if not found:
        raise DocsError(f"no problem of {name} has both sides of {ratio}")
    return sum_up(found)


def make_headline(text, results):
    """Several contests, a line each."""
    name, settings, selectors = parse_arguments(text, ())
    if settings or selectors:
        raise DocsError("a headline needs its file and nothing else")
    body = []
    for row in results.rows(name, {}):
        total = sum_of_ratio(results, row["file"], row["where"], row["ratio"],
                             row.get("key", "time.hot.median_ms"))
        body.append([row["what"], grouped(total["compared"]), grouped(total["wins"]), f"{total['mean']:.2f}",
                     f"{total['least']:.2f}"])
    heads = ["what", "problems", "ahead on", "geometric mean", "worst"]
    return ["", *markdown_table(heads, ["-"] + [">"] * 4, body), ""]


def make_groups(problems, column, fields, key, noun):
    """A table with a line for all problems whose tested row has the same fields."""
    tested = column.split("/")[-1].split("|")

    def shown(row, field):
        kernel = re.fullmatch(r"(?:stages/(\d\d)_\w+/\d+|common/convolve/\w+/)_?(\w+)\.cu", str(dig(row, field)))
        return f"{kernel[1] or ''} `{kernel[2]}`".strip() if kernel else str(dig(row, field))

    groups = {}
    for problem, contest in problems.items():
        own = next((row for row in contest if row["variant"] in tested), None)
        if own is not None:
            names = tuple(shown(own, field) for field in fields)
            groups.setdefault(names, {})[problem] = contest
    body = []
    for names in sorted(groups, key=lambda names: [(float(n), "") if n.isdigit() else (math.inf, n)
                                                   for n in names]):
        found = ratios_of(groups[names], column, key)
        if found:
            total = sum_up(found)
            body.append([*names, grouped(total["compared"]), grouped(total["wins"]), f"{total['mean']:.2f}",
                         f"{total['least']:.2f} ({total['least_problem']})",
                         f"{total['greatest']:.2f} ({total['greatest_problem']})"])
    heads = [{"source": "kernel"}.get(field, field.split(".")[-1]) for field in fields]
    return markdown_table(heads + [noun, "over 1", "geometric mean", "least", "greatest"],
                          ["-" if "source" in field else ">" for field in fields] + [">"] * 5, body)


def make_contest(text, results):
    """Variants beside each other, a line a problem, with ratios and what these come to."""
    name, settings, selectors = parse_arguments(text, ("columns", "key", "name", "names", "only", "by"))
    if "columns" not in settings:
        raise DocsError("a contest needs columns=")
    columns = settings["columns"].split(",")
    key = settings.get("key", "time.hot.median_ms")
    problems = problems_of(results, name, selectors, columns[-1].split("/")[-1].split("|"))
    if "names" in settings:
        names = settings["names"].split(",")
        if len(names) != len(problems):
            raise DocsError(f"names= has {len(names)} names for {len(problems)} problems")
        problems = {f"{paper} {problem}": contest for paper, (problem, contest) in zip(names, problems.items())}
    rows = [row for contest in problems.values() for row in contest]
    known = {row["variant"] for row in rows}
    for variant in re.split(r"[,|/]", settings["columns"]):
        if variant not in known:
            raise DocsError(f"no row of {name} is of the variant '{variant}'")
    body = []
    for problem, contest in problems.items():
        line = [problem]
        for column in columns:
            values = values_of(contest, column, key)
            if None in values:
                line.append("NOT RUN")
            elif len(values) == 1:
                line.append(significant(values[0]))
            else:
                line.append(f"{values[0] / values[1]:.2f}")
        if any(cell != "NOT RUN" for cell in line[1:]):
            body.append(line)
    if not body:
        raise DocsError(f"nothing of {name} has the key {key}")
    noun = settings.get("name", "problem").replace("_", " ")
    heads = [noun]
    heads += [" / ".join(" or ".join(f"`{one}`" for one in names.split("|"))
                         for names in column.split("/")) for column in columns]
    notes = []
    for head, column in zip(heads[1:], columns):
        found = ratios_of(problems, column, key) if "/" in column else []
        if len(found) < 2:
            continue
        total = sum_up(found)
        notes.append(f"- {head}: geometric mean {total['mean']:.2f} over {total['compared']}, from "
                     f"{total['least']:.2f} ({total['least_problem']}) to {total['greatest']:.2f} "
                     f"({total['greatest_problem']})")
    if "by" in settings:
        if len(columns) != 1 or "/" not in columns[0] or "only" in settings:
            raise DocsError("by= needs one ratio in columns=, and no only=")
        lines = make_groups(problems, columns[0], settings["by"].split(","), key, noun)
        return ["", *lines, *([""] + notes if notes else []), "", results.caption(name, rows), ""]
    if "only" in settings:
        if settings["only"] != "means" or not notes:
            raise DocsError("only=means needs a ratio over several problems")
        return ["", *notes, "", results.caption(name, rows), ""]
    return ["", *markdown_table(heads, ["-"] + [">"] * len(columns), body),
            *([""] + notes if notes else []), "", results.caption(name, rows), ""]


def column_group(name):
    """The part of a row that a column shows: check, hazards, traffic or time; else empty."""
    if name in ("check", "shapes", "worst_share"):
        return "check"
    if name == "hazards":
        return name
    if name.endswith(("_ms", "_per_s")) or name.startswith(("ratio_", "share_of_", "best_")):
        return "time"
    traffic = (name.startswith(("predicted:", "counted:")) or name.endswith("_bytes")
               or name in ("traffic", "sectors_per_request", "shared_conflicts"))
    return "traffic" if traffic else ""


def reasons(rows, groups):
    """Lines that say why something these columns show did not run or failed, each reason once."""
    said = {}
    for row in rows:
        for group in dict.fromkeys(filter(None, groups)):
            part = row.get(group, {})
            check = row.get("check", {})
            if group == "time" and check.get("status") == "NOT RUN" and check.get("reason"):
                part = check  # what was not checked has no time: one reason is enough
            if part.get("status") not in ("PASS", "none", "EQUAL", "MEASURED") and part.get("reason"):
                text = f"{part['status']}: {part['reason']}."
                if row["variant"] not in said.setdefault(text, []):
                    said[text].append(row["variant"])
    lines = []
    for text, variants in said.items():
        lines += ["", ", ".join(f"`{variant}`" for variant in variants) + f" {text}"]
    return lines


def make_report(text, results):
    """The BU report's own table for one of its tasks, its published figures beside ours."""
    name, settings, selectors = parse_arguments(text, ("cpu", "variant"))
    if set(settings) != {"cpu", "variant"} or selectors:
        raise DocsError("a report needs cpu=FILE and variant=NAME, and nothing else")
    rows = [row for row in results.rows(name, {"variant": settings["variant"]})
            if row.get("published")]
    if not rows:
        raise DocsError(f"no row of {settings['variant']} has published figures beside it")

    def loop_ms(row):
        wanted = {key: str(row["problem"][key]) for key in ("length", "mask_width", "border")}
        found = results.rows(settings["cpu"], {"backend": "cpu", "variant": "loop"}
                             | {f"problem.{key}": value for key, value in wanted.items()})
        return found[0]["time"]["hot"]["median_ms"]

    body = []
    for row in sorted(rows, key=lambda row: row["problem"]["length"]):
        cpu, gpu = loop_ms(row), row["time"]["transfers"]["median_ms"]
        kernel, then = row["time"]["hot"]["median_ms"], row["published"]
        body.append([grouped(row["problem"]["length"]), significant(cpu), significant(gpu),
                     f"{cpu / gpu:.2f}", significant(kernel), f"{cpu / kernel:,.2f}",
                     significant(then["cpu_ms"]), significant(then["gpu_ms"]),
                     f"{then['cpu_ms'] / then['gpu_ms']:.2f}"])
    heads = ["length", "CPU, ms", "GPU with transfers, ms", "speedup", "kernel alone, ms",
             "speedup of the kernel", "report: CPU, ms", "report: GPU, ms", "report: speedup"]
    source = rows[0]["published"]["source"]
    captions = [results.caption(name, rows), results.caption(settings["cpu"], [])]
    return ["", *markdown_table(heads, [">"] * len(heads), body), "",
            f"*The report's columns: {source}.*", "", captions[0], "", captions[1], ""]


def make_findings(text, results):
    """What the simulator wrote to stderr about one program, as a code block."""
    name, settings, selectors = parse_arguments(text, ("name",))
    if "name" not in settings or selectors:
        raise DocsError("findings need name= and nothing else")
    runs = [run for run in results.load(name).get("runs", []) if run["name"] == settings["name"]]
    if len(runs) != 1:
        raise DocsError(f"{name} has {len(runs)} runs of {settings['name']}; it needs one")
    if not runs[0]["said"]:
        raise DocsError(f"the simulator said nothing about {settings['name']}")
    lines = []
    for said in runs[0]["said"]:
        lines += textwrap.wrap(said, 100, subsequent_indent="    ", break_long_words=False,
                               break_on_hyphens=False)
    return ["", "```text", *lines, "```", ""]


def make_value(text, results):
    name, settings, selectors = parse_arguments(text, ("key", "as", "ratio"))
    if "key" not in settings:
        raise DocsError("a value needs key=")
    if "ratio" in settings:
        source = sum_of_ratio(results, name, selectors, settings["ratio"])
    elif selectors:
        rows = results.rows(name, selectors)
        if len(rows) != 1:
            raise DocsError(f"{len(rows)} rows match; a value needs exactly one")
        source = rows[0]
    else:
        source = results.load(name)
    keys, styles = settings["key"].split(","), settings.get("as", "grouped").split(",")
    if len(styles) not in (1, len(keys)):
        raise DocsError(f"{len(keys)} keys and {len(styles)} formats: one for each, or one for all")
    cells = []
    for key, style in zip(keys, styles if len(styles) > 1 else styles * len(keys)):
        value = dig(source, key)
        if isinstance(value, (dict, list)):
            raise DocsError(f"{key} is not a plain value")
        if style not in FORMATS:
            raise DocsError(f"unknown format '{style}'; known: {', '.join(FORMATS)}")
        cells.append(FORMATS[style](value))
    return " | ".join(cells)


# ---- excerpts ------------------------------------------------------------------------------------


def read_excerpt(root, text):
    words = text.split()
    if len(words) != 2:
        raise DocsError("an excerpt reads: excerpt: path name")
    relative, name = words
    path = (root / relative).resolve()
    if not path.is_relative_to(root.resolve()):
        raise DocsError(f"{relative} lies outside the repository")
    if not path.is_file():
        raise DocsError(f"{relative} does not exist")
    begin, end = f"[doc:{name}]", f"[/doc:{name}]"
    lines = path.read_text(encoding="utf-8").splitlines()
    begins = [i for i, line in enumerate(lines) if begin in line]
    ends = [i for i, line in enumerate(lines) if end in line]
    if len(begins) != 1 or len(ends) != 1:
        raise DocsError(f"{relative} has {len(begins)} marker(s) {begin} and {len(ends)} {end}; "
                        "each must stand there once")
    if ends[0] <= begins[0]:
        raise DocsError(f"{relative}: {end} stands before {begin}")
    body = [line for line in lines[begins[0] + 1:ends[0]] if not MARKER.search(line)]
    body = textwrap.dedent("\n".join(body)).strip("\n").split("\n")
    if body == [""]:
        raise DocsError(f"{relative}: nothing stands between {begin} and {end}")
    return body


# ---- a page --------------------------------------------------------------------------------------


class Page:
    """One Markdown file: what it should contain, and the anchors and links it has."""

    def __init__(self, path, root, results):
        self.path = path
        self.root = root
        self.results = results
        self.text = path.read_text(encoding="utf-8")
        self.problems = []
        self.counts = {"excerpts": 0, "tables": 0, "findings": 0, "values": 0, "links": 0}
        self.fixed = self.rewrite()
        self.check_markup()

    def complain(self, line, message):
        self.problems.append(f"{self.path.relative_to(self.root)}:{line}: {message}")

    def rewrite(self):
        """The page with every directive brought up to date; problems are collected."""
        lines = self.text.split("\n")
        out, prose, at, fence = [], [], 0, None

        def flush():
            if prose:
                out.extend(self.rewrite_values(prose[0][0], [text for _, text in prose]))
                prose.clear()

        while at < len(lines):
            line = lines[at]
            found = FENCE.match(line)
            if fence is not None:
                flush()
                out.append(line)
                if found and found[1].startswith(fence) and not found[2].strip():
                    fence = None
                at += 1
                continue
            if found:
                flush()
                fence = found[1]
                out.append(line)
                at += 1
                continue
            directive = DIRECTIVE.match(line)
            if not directive:
                if re.search(r"<!--\s*(excerpt|table|headline|contest|report|findings):", CODE_SPAN.sub("", line)):
                    self.complain(at + 1, "the directive must stand alone on its line")
                prose.append((at, line))
                at += 1
                continue
            flush()
            if directive[1] == "excerpt":
                new, at = self.rewrite_excerpt(lines, at, directive[2])
            else:
                new, at = self.rewrite_block(lines, at, directive[1], directive[2])
            out.extend(new)
        if fence is not None:
            self.complain(len(lines), "a code block is not closed")
        flush()
        return "\n".join(self.words_first(out))

    def words_first(self, lines):
        """No line begins with a value: it gets the last word of the line before."""
        new, fence = [], None
        for number, line in enumerate(lines, 1):
            found = FENCE.match(line)
            if found:
                fence = None if fence and found[1].startswith(fence) else fence or found[1]
            if fence is None and any("<!-- value:" in span[0] for span in CODE_SPAN.finditer(line)):
                self.complain(number, "a value in inline code, which shows its comment: take the backticks away")
            if fence is None and re.match(r"\s*>", line) and new and new[-1].strip() and not re.match(r"\s*>", new[-1]):
                self.complain(number, "a line within a paragraph begins with >, which Markdown takes for a quotation")
            if fence is None and BEGINS_WITH_VALUE.match(line):
                self.complain(number, "a line begins with a value, which Markdown takes for a block of its own: "
                                      "run docs/check_docs.py --fix, or put a word before it")
                words = list(WORD.finditer(new[-1])) if new else []
                plain = next((word for word in reversed(words) if "<!--" not in word[0]), None)
                if line.lstrip().startswith("<!--") and plain and words[0] != plain:
                    moved = new[-1][plain.start():].strip()
                    new[-1] = new[-1][:plain.start()].rstrip()
                    indent = line[:len(line) - len(line.lstrip())]
                    line = f"{indent}{moved} {line.lstrip()}"
            new.append(line)
        return new

    def check_markup(self):
        """Complains of text that Markdown would take for an item of a list, or for a tag."""
        items, last, before = {}, 0, ""  # the number of the last item at each indentation, 0 after a bullet
        for number, line in self.prose_lines():
            begins = number != last + 1 or not before.strip()
            if begins:
                items = {}
            found = ITEM.match(line)
            if found and (begins or items):
                indent, count = len(line) - len(line.lstrip()), int(found[1] or 0)
                if not begins and count not in (0, 1, items.get(indent, 0) + 1):
                    self.complain(number, f"'{line.split()[0]}' at the start of this line begins an item of the list: "
                                          "wrap the sentence elsewhere")
                else:
                    items[indent] = count
                if found[1] and re.match(r"\d+[.)](?:\s|$)", line[found.end():]):
                    self.complain(number, f"'{line[found.end():].split()[0]}' after the number of an item begins a list in "
                                          "it: write it otherwise")
            for tag in TAG.findall(re.sub(r"<!--.*?(?:-->|$)|^.*?-->", "", CODE_SPAN.sub("", line))):
                if tag.lower() not in TAGS:
                    self.complain(number, f"'<{tag}' would be taken for a tag, and vanish: write it as code")
            last, before = number, line

    def rewrite_excerpt(self, lines, at, argument):
        self.counts["excerpts"] += 1
        start = at + 1
        opening = FENCE.match(lines[start]) if start < len(lines) else None
        if not opening:
            self.complain(at + 1, "an excerpt must be followed by a fenced code block")
            return [lines[at]], at + 1
        end = start + 1
        while end < len(lines) and lines[end].strip() != opening[1]:
            end += 1
        if end == len(lines):
            self.complain(at + 1, "the code block of this excerpt is not closed")
            return lines[at:], end
        try:
            wanted = read_excerpt(self.root, argument)
        except DocsError as error:
            self.complain(at + 1, str(error))
            return lines[at:end + 1], end + 1
        if lines[start + 1:end] != wanted:
            self.complain(at + 1, f"the excerpt of {argument} differs from the source: "
                                  "run docs/check_docs.py --fix")
        return lines[at:start + 1] + wanted + [lines[end]], end + 1

    def rewrite_block(self, lines, at, kind, argument):
        """A table or findings: everything up to the closing comment is generated."""
        self.counts["findings" if kind == "findings" else "tables"] += 1
        end = at + 1
        while end < len(lines) and not BLOCK_END.match(lines[end]):
            if DIRECTIVE.match(lines[end]):
                break
            end += 1
        closing = BLOCK_END.match(lines[end]) if end < len(lines) else None
        if not closing or closing[1] != kind:
            self.complain(at + 1, f"this must end with <!-- /{kind} -->")
            return [lines[at]], at + 1
        try:
            make = {"table": make_table, "headline": make_headline, "contest": make_contest, "report": make_report,
                    "findings": make_findings}[kind]
            wanted = make(argument, self.results)
        except DocsError as error:
            self.complain(at + 1, str(error))
            return lines[at:end + 1], end + 1
        if lines[at + 1:end] != wanted:
            self.complain(at + 1, f"what stands below differs from {argument.split()[0]}: "
                                  "run docs/check_docs.py --fix")
        return [lines[at]] + wanted + [lines[end]], end + 1

    def rewrite_values(self, first, lines):
        """Values may share a line with others and stand in a hand-made table."""
        new = []
        for offset, line in enumerate(lines):

            def one(match, number=first + offset + 1):
                self.counts["values"] += 1
                try:
                    wanted = make_value(match[1], self.results)
                except DocsError as error:
                    self.complain(number, str(error))
                    return match[0]
                if match[2] != wanted:
                    self.complain(number, f"the page says {match[2] or 'nothing'}, the results say "
                                          f"{wanted}: run docs/check_docs.py --fix")
                return f"<!-- value: {match[1]} -->{wanted}<!-- /value -->"

            new.append(VALUE.sub(one, line))
            if "<!-- value:" in VALUE.sub("", CODE_SPAN.sub("", line)):
                self.complain(first + offset + 1, "a value must end with <!-- /value --> on its line")
        return new

    def prose_lines(self):
        """(number, line) outside code blocks, with inline code removed."""
        fence = None
        for number, line in enumerate(self.text.split("\n"), 1):
            found = FENCE.match(line)
            if fence is None and found:
                fence = found[1]
            elif fence is not None:
                if found and found[1].startswith(fence) and not found[2].strip():
                    fence = None
            else:
                yield number, line

    def anchors(self):
        """Anchors that hold both on a forge and in the MkDocs site."""
        forge, site, explicit = set(), set(), set()
        for _, line in self.prose_lines():
            explicit.update(EXPLICIT_ANCHOR.findall(line))
            heading = HEADING.match(line)
            if heading:
                text = re.sub(r"[`*]", "", heading[2])
                text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
                forge.add(unused(forge, forge_slug(text), "-"))
                site.add(unused(site, site_slug(text), "_"))
        return (forge & site) | explicit

    def links(self):
        """Every link and picture with its line; the label of a link may go over several lines."""
        block, first, last = [], 0, 0

        def found():
            text = CODE_SPAN.sub("``", "\n".join(block))
            for match in LINK.finditer(text):
                number = first + text.count("\n", 0, match.start())
                yield number, bool(match[1]), match[2], match[3]
                # An image used as the label of a link.
                for inner in LINK.finditer(match[2]):
                    yield number, bool(inner[1]), inner[2], inner[3]

        for number, line in self.prose_lines():
            if block and (not line.strip() or number != last + 1):
                yield from found()
                block = []
            if line.strip():
                first = first if block else number
                block.append(line)
            last = number
        if block:
            yield from found()


def forge_slug(text):
    text = re.sub(r"[^\w\- ]", "", text.lower().strip())
    return text.replace(" ", "-")


def site_slug(text):
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    text = re.sub(r"[^\w\s-]", "", text).strip().lower()
    return re.sub(r"[-\s]+", "-", text)


def unused(taken, slug, separator):
    if slug not in taken:
        return slug
    count = 1
    while f"{slug}{separator}{count}" in taken:
        count += 1
    return f"{slug}{separator}{count}"


def check_links(pages):
    """Adds a problem to a page for each link that leads nowhere."""
    by_path = {page.path.resolve(): page for page in pages}
    for page in pages:
        for number, is_image, label, target in page.links():
            if re.match(r"^[a-zA-Z][a-zA-Z0-9+.-]*:", target):
                continue  # another site: not ours to check
            page.counts["links"] += 1
            if is_image and not label.strip():
                page.complain(number, f"the image {target} has no alternative text")
            path_text, _, anchor = target.partition("#")
            path = (page.path.parent / path_text).resolve() if path_text else page.path.resolve()
            if not target or not path.exists():
                page.complain(number, f"the link to '{target}' leads nowhere")
            elif not path.is_relative_to(page.root.resolve()):
                page.complain(number, f"the link to '{target}' leaves the repository")
            elif anchor:
                other = by_path.get(path)
                if other is None or anchor not in other.anchors():
                    page.complain(number, f"'{target}': no heading has the anchor #{anchor}")


def check_course(root):
    """What the table of stages says and the pages don't, a line each."""
    table = root / "stages" / "course.csv"
    if not table.is_file():
        return []
    heads, *rows = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()]
    stages = [dict(zip(heads, row)) for row in rows]
    problems = [f"stages/course.csv: {','.join(row)} has {len(row)} fields, not {len(heads)}"
                for row in rows if len(row) != len(heads)]
    folders = {path.name for path in (root / "stages").glob("[0-9][0-9]_*") if path.is_dir()}
    named = {stage["stage"] for stage in stages}
    problems += [f"stages/{name}: has no row in stages/course.csv" for name in sorted(folders - named)]
    problems += [f"stages/course.csv: there is no folder stages/{name}" for name in sorted(named - folders)]
    pages = list(dict.fromkeys(stage["page"] for stage in stages))
    problems += [f"stages/course.csv: there is no page docs/{page}.md" for page in pages
                 if not (root / "docs" / f"{page}.md").is_file()]
    index = (root / "docs" / "index.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| \[\d\d\]\((\d\d_\w+)\.md\) \| .* \|$", index, re.M)
    if found != pages:
        odd = sorted(set(found) ^ set(pages)) or ["in another order"]
        problems.append(f"docs/index.md: its stages are not those of stages/course.csv: {', '.join(odd)}")
    return problems


def collect(root, docs, results):
    paths = sorted(docs.rglob("*.md"))
    paths += [root / name for name in ("README.md", "CONTRIBUTING.md") if (root / name).is_file()]
    pages = [Page(path, root, results) for path in paths]
    check_links(pages)
    return pages


def main(argv=None):
    parser = argparse.ArgumentParser(
        description="Checks the pages against the code and the results, or brings them up to date.")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="report what differs; exit 1 if any does")
    mode.add_argument("--fix", action="store_true", help="rewrite the pages, then check")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent,
                        help="the repository (default: the one this file lies in)")
    arguments = parser.parse_args(argv)
    root = arguments.root.resolve()
    docs = root / "docs"
    if not docs.is_dir():
        print(f"check_docs: {docs} is not a folder", file=sys.stderr)
        return 2

    pages = collect(root, docs, Results(docs))
    if arguments.fix:
        for page in pages:
            if page.fixed != page.text:
                page.path.write_text(page.fixed, encoding="utf-8")
                print(f"rewrote {page.path.relative_to(root)}")
        pages = collect(root, docs, Results(docs))

    problems = [problem for page in pages for problem in page.problems]
    problems += check_course(root)
    totals = {key: sum(page.counts[key] for page in pages) for key in pages[0].counts} if pages else {}
    if not pages:
        problems.append("docs: no page was found")
    elif totals["excerpts"] == 0:
        problems.append("docs: no excerpt was found, so nothing was compared with the code")
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        print(f"check_docs: {len(problems)} problem(s)", file=sys.stderr)
        return 1
    print(f"check_docs: {len(pages)} pages, "
          + ", ".join(f"{count} {name}" for name, count in totals.items()) + ": all in step")
    return 0


if __name__ == "__main__":
    sys.exit(main())
