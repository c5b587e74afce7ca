#!/usr/bin/env python3
"""README.md and the pages show what ./halo really prints: their sessions (a line `$ ./halo run ...` and what follows) are
run again on the simulator, and must come out the same. And the notebook is one, without somebody's outputs in it.

    tests/docs/readme_test.py --halo build/common/cli/halo-cli --build build
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SESSION = re.compile(r"^```\n\$ \./halo (run [^\n]*)\n(.*?)^```$", re.M | re.S)
# Each run draws other data; what the pages show was drawn with this one.
SEED = ["--seed", "2024", "--on", "sim"]


def notebook_faults():
    """What is wrong with the notebook, a line each."""
    name = "docs/halo_on_a_t4.ipynb"
    notebook = json.loads((ROOT / name).read_text(encoding="utf-8"))
    faults = [f"{name}: a cell has outputs" for cell in notebook["cells"] if cell.get("outputs")]
    commands = [line for cell in notebook["cells"] if cell["cell_type"] == "code"
                for line in "".join(cell["source"]).splitlines() if line.startswith("!./halo ")]
    known = {line.split("|")[0].split()[0] for line in
             (ROOT / "common" / "cli" / "commands.txt").read_text(encoding="utf-8").splitlines() if line}
    faults += [f"{name}: ./halo has no such command: {line}" for line in commands
               if line.split()[1] not in known]
    if notebook["nbformat"] != 4 or len(commands) < 2:
        faults.append(f"{name}: no notebook with commands")
    return faults


def command_faults(pages):
    """Commands on the pages that name a variant and a number which two stages share: ./halo run would ask which stage.
    (With a problem it knows.)"""
    numbers = [line.split("_")[0] for line in (ROOT / "stages" / "course.csv").read_text(encoding="utf-8").splitlines()]
    shared = {number for number in numbers if number.isdigit() and numbers.count(number) > 1}
    return [f"{page.name}: {command}: name the stage in full" for page in pages
            for command, number in re.findall(r"(\./halo (?:run|trace) (\d+) [^\n`]*)", page.read_text(encoding="utf-8"))
            if number in shared and "--variant" in command and not re.search("--(problem|layer)", command)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--halo", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    sessions = [(page.name, *session) for page in pages for session in SESSION.findall(page.read_text(encoding="utf-8"))]
    faults = notebook_faults() + command_faults(pages)
    print(*faults, sep="\n", end="\n" if faults else "")
    wrong = len(faults)
    for name, command, shown in sessions:
        done = subprocess.run(
            [arguments.halo.resolve(), "--build", arguments.build.resolve(), *command.split(), *SEED], cwd=ROOT,
            env={**os.environ, "COLUMNS": "112"}, capture_output=True, text=True, check=False)
        # The pages leave out the remarks below the table.
        if done.returncode != 0 or not done.stdout.startswith(shown):
            wrong += 1
            print(f"./halo {command} prints something else (exit status {done.returncode}); {name} has\n{shown}\n"
                  f"and it prints\n{done.stdout}{done.stderr}")
    print(f"{len(sessions)} sessions and a notebook, {wrong} wrong")
    return 0 if any(name == "README.md" for name, _, _ in sessions) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
