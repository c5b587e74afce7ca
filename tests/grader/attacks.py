"""The attacks on the grader: what each does, its text, and what it is to get.

A file's first line is "// Attack: WHAT. Told: WORDS", with ". Points: N" if it has some. Its exercise is in its name.
The line "//+ find.inc" stands for that file. What differs from another file in a few lines is an edit of it
(attacks/NN.toml): `attack`, `told` and `points` are what a first line says."""
import fnmatch
import functools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from edits import ROOT, edited, read_edits

FOLDER = ROOT / "tests" / "grader" / "attacks"
HEAD = re.compile(r"// Attack: (.+?)\. Told: (.*?)(?:\. Points: (\d+))?\n")


@functools.lru_cache(None)
def edits():
    """By their names."""
    return {edit["id"]: edit for path in sorted(FOLDER.glob("*.toml")) for edit in read_edits(path)}


def names(pattern="*"):
    every = {path.stem for path in FOLDER.glob("*.cu")} | set(edits())
    return sorted(name for name in every if fnmatch.fnmatch(name, pattern))


def text_of(attack):
    # What an edit is made of has a first line of its own.
    text = HEAD.sub("", edited(edits()[attack]), 1) if attack in edits() else (FOLDER / f"{attack}.cu").read_text()
    return text.replace("//+ find.inc\n", (FOLDER / "find.inc").read_text())


def head_of(attack):
    """What it does, what it is told, and its points; None where its file does not say."""
    if attack in edits():
        edit = edits()[attack]
        return edit["attack"], edit["told"], float(edit.get("points", 0))
    found = HEAD.match((FOLDER / f"{attack}.cu").read_text())
    return (found.group(1), found.group(2), float(found.group(3) or 0)) if found else None


def exercise_of(attack):
    return next((ROOT / "exercises").glob(attack[:2] + "_*")).name
