#!/usr/bin/env python3
"""Plants bugs in the kernels of the stages, one at a time, and says which check finds each.

  tests/planted_bugs/plant.py --build build              all of them
  tests/planted_bugs/plant.py --build build 04 06_p      those whose names begin so
  tests/planted_bugs/plant.py --list                     what there is
  tests/planted_bugs/plant.py --applies                  whether each still fits its file, and stop
  tests/planted_bugs/plant.py --build build --sample     a few of each kind, as the suite does
  tests/planted_bugs/plant.py --build build --seed 1 --record docs/results/planted_bugs.csv

Each edit of the *.toml files here is made in a copy of its file, which is compiled and linked with the
rest of a build that is there already; the checkout and the build stay as they are. The stage's program
then runs as `halo run --strict` would run it. A wrong edit must be found; a right one must pass without
--strict. Needs Ninja, Python 3.11 and a build with the simulator.

Exit status: 0 as it should be; 1 a bug was not found or a right kernel was turned down; 2 wrong use.
"""

import argparse
import csv
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from edits import ROOT, edited, read_edits  # noqa: E402
sys.path.insert(0, str(ROOT / "docs" / "results"))
from read_results import read_results  # noqa: E402

RECORD = ROOT / "docs" / "results" / "planted_bugs.csv"
# One edit's program may compute so long, and be waited for so long.
PROCESSOR_SECONDS, PATIENCE = 120, 1700
# An exit status that is no failure's; `halo test` knows it.
NO_VERDICT = 75


def edits():
    """All edits, in the order of their files."""
    found = []
    for path in sorted(HERE.glob("*.toml")):
        found += read_edits(path)
    names = [edit["id"] for edit in found]
    for name in names:
        if names.count(name) > 1:
            sys.exit(f"two edits are called {name}")
    return found


def text_of(edit):
    """The text of the edit's file as it is to be tried; a slip brings its own. Raises ValueError with one line."""
    return edit["text"] if "text" in edit else edited(edit)


def stage_of(edit):
    """Whose program shows it: the file's stage, or the first that has the method of common/convolve, unless the edit says."""
    if "stage" in edit:
        return edit["stage"]
    room, _, method = edit["file"].split("/")[:3]
    if room == "stages":
        return edit["file"].split("/")[1]
    shows = f"convolve_method_deps['{method}']"
    return next(path.parent.name for path in sorted(ROOT.glob("stages/*/meson.build")) if shows in path.read_text())


def made_of(path):
    """The project's files that a source is made of, itself among them."""
    found, to_read = set(), [str(path.relative_to(ROOT))]
    while to_read:
        file = to_read.pop()
        if file not in found and (ROOT / file).is_file():
            found.add(file)
            to_read += re.findall(r'^#include "(.*)"', (ROOT / file).read_text(), re.M)
    return found


# What people mistype and mix up in a kernel: a pattern, and what takes its place.
SLIPS = [
    (r"(?<=[\w\]) ])<(?= )", "<="), (r"<=", "<"), (r"(?<= )>(?= )", ">="), (r">=", ">"),
    (r"==", "!="), (r"&&", "||"), (r"\|\|", "&&"),
    (r" \+ 1\b(?!\.)", ""), (r" - 1\b(?!\.)", ""), (r" \+ (?=\w)", " - "), (r" - (?=\w)", " + "),
    (r"\+= ", "= "), (r" / (?=\w)", " % "), (r" % (?=\w)", " / "),
    (r"layer\.H\b", "layer.W"), (r"layer\.W\b", "layer.H"), (r"layer\.P\b", "layer.Q"),
    (r"layer\.Q\b", "layer.P"), (r"layer\.R\b", "layer.S"), (r"layer\.S\b", "layer.R"),
    (r"layer\.C\b", "layer.K"), (r"layer\.K\b", "layer.C"), (r"layer\.N\b", "layer.C"),
    (r"stride_h\b", "stride_w"), (r"stride_w\b", "stride_h"),
    (r"padding_h\b", "padding_w"), (r"padding_w\b", "padding_h"),
    (r"threadIdx\.x", "threadIdx.y"), (r"threadIdx\.y", "threadIdx.x"), (r"blockIdx\.x", "0"),
    (r"__syncthreads\(\);", ""), (r"__syncwarp\(\);", ""), (r"__pipeline_wait_prior\(0\);", ""),
    (r"\bmin\(", "max("), (r"\bmax\(", "min("), (r"\bcontinue;", "break;"), (r"0\.0f", "1.0f"),
    (r"(?<=[ (])([248]|16|32)(?=[;,) ])", lambda match: str(int(match[0]) + 1)),
]


def mutants(count, seed, names):
    """So many edits of one slip each, drawn from all kernels. Some of them change nothing that matters."""
    places = []
    for path in sorted([*ROOT.glob("stages/*/*.cu*"), *ROOT.glob("common/convolve/*/*.cu*")]):
        file = str(path.relative_to(ROOT))
        if names and not any(file.startswith((f"stages/{name}", f"common/convolve/{name}")) for name in names):
            continue
        text = path.read_text()
        for number, line in enumerate(text.splitlines(keepends=True)):
            code = line.split("//")[0]
            # What a kernel says of itself (.tiles = ...) only chooses its trials.
            described = code.lstrip().startswith((".", "return {."))
            if described or code.startswith(("#", "template", "namespace")):
                continue
            for pattern, other in SLIPS:
                for match in re.finditer(pattern, code):
                    places.append((file, number, match.span(), other if isinstance(other, str) else other(match)))
    random.Random(seed).shuffle(places)
    for file, number, (begin, end), other in places[:count]:
        lines = (ROOT / file).read_text().splitlines(keepends=True)
        old = lines[number]
        lines[number] = old[:begin] + other + old[end:]
        mutant = {"file": file, "text": "".join(lines), "wrong": f"{old.strip()}   ->   {lines[number].strip()}"}
        yield mutant | {"id": f"{stage_of(mutant)[:2]}_{Path(file).stem}:{number + 1}"}


class Build:
    """The commands of a build folder by which a kernel becomes part of a stage's program."""

    def __init__(self, folder):
        self.folder = folder
        self.known = {}

    def program(self, stage):
        backend = "cpu" if stage == "01_conv1d_cpu" else "cuda"
        return f"stages/{stage}-{backend}"

    def commands(self, stage):
        if stage not in self.known:
            result = subprocess.run(
                ["ninja", "-C", self.folder, "-t", "commands", self.program(stage)],
                capture_output=True, text=True, check=True)
            self.known[stage] = [line for line in result.stdout.splitlines() if line]
        return self.known[stage]

    def build(self, stages):
        subprocess.run(["ninja", "-C", self.folder, *[self.program(stage) for stage in stages]],
                       check=True, stdout=subprocess.DEVNULL)

    def run(self, arguments):
        return subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True)

    def compile(self, edit, scratch):
        """The program with the edit made: its path, or None and the compiler's complaint."""
        stage = stage_of(edit)
        copy = scratch / edit["file"]
        copy.parent.mkdir(parents=True)
        copy.write_text(text_of(edit))
        commands = self.commands(stage)
        # A header is part of the kernels that include it, or a header that does.
        sources = [edit["file"]]
        if copy.suffix in (".cuh", ".h", ".hpp"):
            sources = [str(path.relative_to(ROOT)) for pattern in (f"stages/{stage}/*.cu", "common/convolve/**/*.cu")
                       for path in sorted(ROOT.glob(pattern)) if edit["file"] in made_of(path)]
        objects = []
        for source in sources:
            if source != edit["file"]:
                (scratch / source).parent.mkdir(parents=True, exist_ok=True)
                (scratch / source).write_text((ROOT / source).read_text())
            compiled = scratch / (source.replace("/", "+") + ".o")
            steps = self.steps(commands, source, scratch, compiled)
            if not steps:
                continue  # not a part of the program
            for step in steps:
                result = self.run(step)
                if result.returncode != 0:
                    return None, result.stderr or result.stdout
            objects.append(str(compiled))
        program = scratch / "program"
        link = shlex.split(commands[-1])
        at = link.index("-o")
        link[at + 1] = str(program)
        # Before the libraries: what the objects define is not asked of them.
        link[at + 2:at + 2] = objects
        result = self.run(link)
        return (program, None) if result.returncode == 0 else (None, result.stderr)

    @staticmethod
    def steps(commands, source, scratch, compiled):
        for command in commands:
            words = shlex.split(command)
            if "-c" in words and words[words.index("-c") + 1].endswith(source):
                words[words.index("-c") + 1] = str(scratch / source)
                return [Build.into(words, compiled, scratch)]
        return []

    @staticmethod
    def into(words, compiled, scratch):
        words[words.index("-o") + 1] = str(compiled)
        words[words.index("-MF") + 1] = str(scratch / "dependencies.d")
        # A warning is the author's business.
        unwanted = ("ccache", "-Werror", "-Werror=all-warnings", "-Xcompiler=-Werror", "-fdiagnostics-color=always")
        compiler, *rest = [word for word in words if word not in unwanted]
        # First of all folders, or an edited header would be found where it is as it was.
        return [compiler, f"-I{scratch}", *rest]


def findings(rows):
    """What the rows complain of, in words, the most telling first, each once."""
    said = []
    for row in rows:
        for hazard in row["hazards"].get("findings", []):
            line = f", line {hazard['line']}" if hazard["line"] > 0 else ""
            said.append(hazard["kind"].replace("_", " ") + line)
    for row in rows:
        if row["check"]["status"] == "FAIL":
            said.append("numbers: " + row["check"]["reason"])
    for row in rows:
        if row["traffic"]["status"] == "DIFFERS":
            said.append("traffic")
    return list(dict.fromkeys(said))


def judge(build, edit, seed):
    """(as it should be, what was found: a list); None: that is not known"""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        scratch = Path(folder)
        program, complaint = build.compile(edit, scratch)
        if program is None:
            lines = [line for line in complaint.splitlines() if "error: " in line]
            line = (lines or complaint.splitlines() or ["?"])[0].replace(folder + "/", "")
            return "wrong" in edit, ["compiler: " + line.split("error: ")[-1]]
        output = scratch / "rows.json"
        command = [str(program), "--no-times", "--json", str(output), "--color", "never"]
        if "wrong" in edit:
            command.append("--strict")
        if seed:
            command += ["--seed", seed]
        stage = stage_of(edit)
        source = edit["file"]
        if "variant" in edit:
            command += ["--variant", edit["variant"]]
        elif stage != "13_network":
            name = re.sub(r"^\d+_", "", Path(source).stem)
            listed = build.run([str(program), "--list"]).stdout.split("\n")
            if any(line.startswith(name + " ") for line in listed):
                command += ["--variant", name]
        if edit.get("searched"):
            command.append("--search")
        # What computes for ever does not end; what has not ended for another reason may be on a busy machine.
        limited = ["sh", "-c", f'ulimit -S -t {PROCESSOR_SECONDS}; exec "$@"', "sh", *command]
        try:
            result = subprocess.run(limited, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return None, [f"no verdict: it did not end within {PATIENCE} s"]
        if result.returncode == -signal.SIGXCPU:
            return "wrong" in edit, ["does not end"]
        if result.returncode < 0:
            return "wrong" in edit, [f"crash: signal {-result.returncode}"]
        # A kernel that makes no progress, and that the simulator cannot take back.
        if result.returncode == 3 and not output.exists():
            return "wrong" in edit, ["does not end"]
        if result.returncode == 2 or not output.exists():
            last = (result.stderr or result.stdout).strip().splitlines()[-1:]
            return False, [f"exit {result.returncode}: {' '.join(last)}"]
        rows = read_results(output)["rows"]
        good = (result.returncode == 1) == ("wrong" in edit)
        return good, findings(rows)


def caught(edit, said):
    """What found it, for the table: kinds, each once, and the shape whose numbers were wrong first."""
    kinds = []
    for one in said:
        kind = one.split(", line ")[0]
        if kind.startswith("numbers: "):
            reason = kind.removeprefix("numbers: ").splitlines()[0]
            kind = "numbers" + ("" if "numbers" in " ".join(kinds) else f" ({reason.split(': ')[0]})")
        if kind not in kinds and not (kind == "numbers"):
            kinds.append(kind)
    text = ", ".join(kinds)
    if "survives" in edit:
        return "not by the programs: " + edit["survives"]
    if "right" in edit:
        return "passes" + (", and is told that its " + text + " differs" if text else "")
    return text


def write_record(path, results, kept):
    """The table of all edits and of what found each: those of `results`, and of the others the rows `kept`."""
    rows = dict(kept)
    for edit, verdict, said in results:
        rows[edit["id"]] = [edit["id"], edit.get("wrong") or edit["right"], "found" if "wrong" in edit else "accepted", verdict,
                            caught(edit, said)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["edit", "what it does", "should be", "is", "by"])
        writer.writerows(rows[name] for name in sorted(rows))


def recorded_rows():
    """The rows of the record, by edit."""
    if not RECORD.exists():
        return {}
    with open(RECORD, newline="", encoding="utf-8") as file:
        return {row[0]: row for row in list(csv.reader(file))[1:]}


def record_lacks(chosen):
    """What the record does not have, or has of edits that are gone."""
    recorded = set(recorded_rows())
    known = {edit["id"] for edit in chosen}
    for name in sorted(recorded ^ known):
        yield f"{RECORD.relative_to(ROOT)} {'has' if name in recorded else 'lacks'} {name}: --record it again"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"), help="the build folder (default: build)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="edits at a time")
    parser.add_argument("--seed", help="of the random data")
    parser.add_argument("--mutants", type=int, metavar="N", help="instead of the edits, N slips drawn by --seed; "
                        "names are then those of files. A survivor may be as right as the original: read it")
    parser.add_argument("--list", action="store_true", help="list the edits and stop")
    parser.add_argument("--applies", action="store_true", help="only say whether each edit fits its file")
    parser.add_argument("--sample", action="store_true", help="only the edits that say `sample`")
    parser.add_argument("--record", type=Path, metavar="FILE", help="also write what became of the edits, as a table; with names, these rows of it")
    parser.add_argument("names", nargs="*", help="beginnings of names")
    options = parser.parse_args()
    if options.record and (options.mutants or options.sample or not options.seed):
        parser.error("--record is of edits, all or by name, with a --seed")
    if options.mutants:
        chosen = list(mutants(options.mutants, options.seed or "1", options.names))
    else:
        chosen = [edit for edit in edits()
                  if not options.names or any(edit["id"].startswith(name) for name in options.names)]
    if options.sample:
        chosen = [edit for edit in chosen if edit.get("sample")]
    if not chosen:
        sys.exit("no edit has such a name")
    if options.list:
        for edit in chosen:
            print(f"{edit['id']:36} {'wrong' if 'wrong' in edit else 'right'}: {edit.get('wrong') or edit['right']}")
        return 0
    if options.applies:
        bad = 0
        for edit in chosen:
            try:
                edited(edit)
            except ValueError as error:
                bad += 1
                print(f"{edit['id']}: {error}")
        print(f"{len(chosen)} edits, {bad} problems")
        # No failure: whoever adds one need not wait for all of them.
        for note in record_lacks(chosen) if not options.names else []:
            print(note)
        return int(bad > 0)

    build = Build(options.build)
    # What the suite runs it has built.
    if not options.sample:
        build.build(sorted({stage_of(edit) for edit in chosen}))
    bad = unknown = 0
    survivors = 0
    results = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for edit, (good, said) in zip(chosen, pool.map(lambda edit: judge(build, edit, options.seed), chosen)):
            what = " ".join("; ".join(said).split())[:150] or "nothing"
            expected = "survives" in edit
            if good is None:
                verdict = "no verdict"
                unknown += 1
            elif good and not expected:
                verdict = "found" if "wrong" in edit else "accepted"
            elif expected and not good:
                verdict = "survives"
                what = edit["survives"]
                survivors += 1
            else:
                verdict = "FOUND, but said to survive" if expected else "MISSED" if "wrong" in edit else "REFUSED"
                bad += 1
            results.append((edit, verdict, said))
            print(f"{verdict:8} {edit['id']:36} {what}", flush=True)
            if options.mutants and verdict == "MISSED":
                print(f"         {edit['wrong']}", flush=True)
    print(f"{len(chosen) - bad - survivors - unknown} as they should be, {survivors} survive with a reason, {bad} not")
    if unknown:
        print(f"{unknown} without a verdict: run them again on a machine with less to do")
    elif options.record:
        known = {edit["id"] for edit in edits()}
        kept = {name: row for name, row in recorded_rows().items() if name in known} if options.names else {}
        write_record(options.record, results, kept)
    return 1 if bad else NO_VERDICT if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
