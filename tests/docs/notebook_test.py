#!/usr/bin/env python3
"""The notebook's cells, run in their order as Colab would: in a folder of their own, into which the first clones the course.

What is cloned is the last commit, and nothing is installed. On a machine without a GPU what needs one must say so. Exit
status: 0 good, 1 a cell did something else, 77 the course cannot be cloned.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "halo_on_a_t4.ipynb"
# What a command must say, and its exit status: on a GPU, and without one. An exercise as it is handed out fails.
EXPECTED = {
    "./halo run 04 --on gpu": ((0, "PASS"), (77, "no NVIDIA driver")),
    "./halo run 04 --on sim": ((0, "EQUAL"), (0, "EQUAL")),
    "./halo bench conv1d --on gpu --json t4.json": ((0, "warp_tile"), (77, "no NVIDIA driver")),
    "./halo report t4.json --html t4.html": ((0, "t4.html"), (2, "t4.json")),
    "./halo try 04": ((1, "0 of 100 points"), (1, "0 of 100 points")),
}


def code_cells():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


class Shell:
    """What of IPython the cells use: `!command` with {names}, `%cd folder`, and Python."""

    def __init__(self, folder):
        self.folder, self.names, self.wrong, self.ran = folder, {}, [], 0
        self.has_gpu = bool(shutil.which("nvidia-smi")) and subprocess.run(["nvidia-smi", "-L"], check=False).returncode == 0

    def run(self, cell):
        for line in cell.splitlines():
            if line.startswith("!"):
                self.command(line[1:].format(**self.names))
            elif line.startswith("%cd "):
                self.folder = self.folder / line[4:]
            else:
                exec(line, self.names)  # a notebook of our own

    def command(self, command):
        # What ccache holds of this course it holds of the clone too, whose names begin elsewhere.
        done = subprocess.run(command, shell=True, cwd=self.folder, text=True, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "HALO_INSTALL": "no", "CCACHE_BASEDIR": str(self.folder)})
        print(f"$ {command}\n{done.stdout}", flush=True)
        if command.startswith("./halo "):
            self.ran += 1
            status, words = EXPECTED[command][0 if self.has_gpu else 1]
            if done.returncode != status or words not in done.stdout:
                self.wrong.append(f"{command}: exit status {done.returncode}, not {status} with \"{words}\"")


def main():
    first, *others = code_cells()
    empty = 'REPOSITORY = ""'
    if first.count(empty) != 1:
        print(f"{NOTEBOOK.name}: its first cell has no line {empty}")
        return 1
    with tempfile.TemporaryDirectory(prefix="halo-notebook-") as folder:
        shell = Shell(pathlib.Path(folder))
        shell.run(first.replace(empty, f'REPOSITORY = "file://{ROOT}"'))
        if not (shell.folder / "halo").is_file():
            print("NOT RUN: the course cannot be cloned from here")
            return 77
        for cell in others:
            shell.run(cell)
    print(*shell.wrong, sep="\n")
    print(f"{shell.ran} commands of ./halo, {len(shell.wrong)} wrong")
    return 0 if shell.ran == len(EXPECTED) and not shell.wrong else 1


if __name__ == "__main__":
    sys.exit(main())
