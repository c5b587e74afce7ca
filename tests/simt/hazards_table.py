#!/usr/bin/env python3
"""Runs the programs of tests/simt/hazards and compares what is said of them with what is expected.

A case is NAME.cu, a program; NAME.run, one line with the settings (SIMT_...=value) and arguments it is run with, if it has
any; and NAME.expected, what must be reported. Each line of the latter is a finding: "error: KIND of ARRAY" or "note: KIND",
and behind further colons words that stand in it. Every finding must be expected, and none may be missing. Of a program
NAME_clean.cu nothing may be reported. Cases that differ from another one, `of`, in a few lines are an [[edit]] of it in
hazards/edits.toml (../edits.py), with what is `expected` of them.

With --compute-sanitizer FILE the programs are run under NVIDIA's tool on this machine's GPU instead, and what it says is
written to FILE.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from edits import edited, read_edits  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent / "hazards"
SEVERAL = 32  # programs that nvcc compiles as one: starting it costs more than they do


class Case:
    def __init__(self, name, source, expected, words=()):
        self.name = name
        self.source = source
        self.expected = expected
        self.settings = dict(word.split("=", 1) for word in words if word.startswith("SIMT_"))
        self.arguments = [word for word in words if not word.startswith("SIMT_")]

    def namespace(self):
        return re.sub(r"\W", "_", self.name)

    def as_namespace(self):
        """The program as one of several in a file: headers first, the rest in a namespace."""
        headers, lines = [], []
        for line in self.source.read_text().splitlines():
            is_header = line.startswith("#include")
            headers += [line] * is_header
            lines.append("" if is_header else line)
        name = self.namespace()
        body = [f"namespace {name} {{", f'#line 1 "{self.source}"', *lines, "}"]
        runs = re.search(r"int main\(\)", self.source.read_text())
        call = f"{name}::main({'' if runs else 'argc - 1, argv + 1'})"
        return headers, body, f'  if (std::string(argv[1]) == "{self.name}") return {call};'


def case_of_file(source):
    name = str(source.relative_to(FOLDER).with_suffix(""))
    settings = source.with_suffix(".run")
    words = settings.read_text().split() if settings.is_file() else []
    expected = [] if name.endswith("_clean") else source.with_suffix(".expected").read_text().splitlines()
    return Case(name, source, expected, words)


def case_of_edit(edit, folder):
    """Its text is put into a file of its own: the names of arrays are read there."""
    source = folder / f"{edit['id']}.cu"
    source.parent.mkdir(exist_ok=True)
    source.write_text(edited({**edit, "file": FOLDER / f"{edit['of']}.cu"}))
    return Case(edit["id"], source, [] if edit["id"].endswith("_clean") else edit["expected"])


def all_cases(folder):
    files = [case_of_file(source) for source in FOLDER.glob("*/*.cu")]
    edits = [case_of_edit(edit, folder) for edit in read_edits(FOLDER / "edits.toml")]
    return sorted(files + edits, key=lambda case: case.name)


def build(cases, compiler, program):
    headers, bodies, calls = ["#include <string>"], [], []
    for case in cases:
        its_headers, body, call = case.as_namespace()
        headers += its_headers
        bodies += body
        calls.append(call)
    source = program.with_suffix(".cu")
    main = ["int main(int argc, char** argv) {", *calls, "  return 99;", "}"]
    source.write_text("\n".join([*dict.fromkeys(headers), *bodies, *main]) + "\n")
    subprocess.run([*compiler, str(source), "-o", str(program)], check=True)


def limit_processor():
    """A program that never ends takes this much of a processor, on a busy machine too."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def run(case, program, prefix=(), **limit):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
    environment.update(case.settings)
    return subprocess.run(
        [*prefix, str(program), case.name, *case.arguments],
        env=environment,
        capture_output=True,
        text=True,
        **limit,
    )


def meets(line, expected):
    """Whether a line of the report is what is expected; alternatives are parted by |."""
    parts = expected.split(": ")
    return all(any(word in line for word in part.split("|")) for part in parts)


def faults_of(case, outcome):
    """What is wrong with the report, a line each."""
    text = outcome.stderr.replace(case.namespace() + "::", "")
    findings = [line for line in text.splitlines() if line.strip()]
    expected = case.expected
    faults = [f"missing: {one}" for one in expected if not any(meets(f, one) for f in findings)]
    faults += [f"not expected: {f}" for f in findings if not any(meets(f, one) for one in expected)]
    fails = any(line.startswith("error: ") for line in expected)
    if outcome.returncode != (3 if fails else 0):
        faults.append(f"exit status {outcome.returncode}")
    return faults


def check(programs):
    wrong = 0
    for case, program in programs:
        faults = faults_of(case, run(case, program, preexec_fn=limit_processor))
        wrong += bool(faults)
        for fault in faults:
            print(f"{case.name}: {fault}")
    print(f"{len(programs)} programs, {wrong} with another report than expected")
    return wrong


def architecture():
    """The GPU's own, with the instructions that only it has: native leaves them out."""
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    major, minor = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0].split(".")
    own = f"{major}{minor}" + ("a" if int(major) >= 9 else "")
    return ["-gencode", f"arch=compute_{own},code=sm_{own}"]


def sanitize(programs, file):
    """What compute-sanitizer says: of each tool the first error, and how many there are."""

    def ask(job):
        case, program, tool = job
        prefix = ["compute-sanitizer", "--tool", tool]
        try:
            text = run(case, program, prefix, timeout=40).stdout
        except subprocess.TimeoutExpired:
            return "no end in 40 s"
        lines = [line.strip("= \n") for line in text.splitlines() if line.startswith("=========")]
        lines = [line for line in lines if line and not line.startswith("COMPUTE-SANITIZER")]
        count = re.search(r"(?:ERROR|RACECHECK) SUMMARY: (.*)", text)
        if count is None:
            return f"no answer: {lines[0] if lines else 'nothing'}"
        if re.match(r"0 (errors|hazards)", count[1]):
            return ""
        return f"{lines[0]} ({count[1]})"

    tools = ["memcheck", "racecheck", "synccheck", "initcheck"]
    jobs = [(case, program, tool) for case, program in programs for tool in tools]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, jobs))
    said = {}
    for (case, _, tool), answer in zip(jobs, answers):
        said.setdefault(case.name, {})[tool] = answer
    gpu = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True,
        text=True,
    ).stdout.strip()
    version = subprocess.run(
        ["compute-sanitizer", "--version"], capture_output=True, text=True
    ).stdout.splitlines()
    day = subprocess.run(["date", "+%F"], capture_output=True, text=True).stdout.strip()
    with open(file, "w") as out:
        out.write(f"# {gpu}; {version[-1] if version else ''}; {day}\n")
        out.write("# python3 tests/simt/hazards_table.py --compute-sanitizer FILE\n")
        out.write("# What compute-sanitizer says of each program, by tool; a tool that says nothing is left out.\n")
        for name, answers in said.items():
            out.write(f"{name}\n")
            for tool, answer in answers.items():
                out.write(f"  {tool}: {answer}\n" * bool(answer))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simcc", help="the compiler of the simulator")
    parser.add_argument("--debug", action="store_true", help="compile with -G: nothing is optimised")
    parser.add_argument("--compute-sanitizer", metavar="FILE")
    parser.add_argument("names", nargs="*", help="cases, or their folders; all without")
    options = parser.parse_args()
    compiler = [options.simcc, *["-G"] * options.debug]
    if options.compute_sanitizer:
        compiler = ["nvcc", *architecture(), "-lineinfo"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        cases = all_cases(folder)
        if options.names:
            cases = [one for one in cases if any(one.name.startswith(name) for name in options.names)]
        programs = []
        for i in range(0, len(cases), SEVERAL):
            program = folder / f"hazards_{i}"
            build(cases[i : i + SEVERAL], compiler, program)
            programs += [(case, program) for case in cases[i : i + SEVERAL]]
        if options.compute_sanitizer:
            sanitize(programs, options.compute_sanitizer)
            return 0
        return 1 if check(programs) else 0


if __name__ == "__main__":
    sys.exit(main())
