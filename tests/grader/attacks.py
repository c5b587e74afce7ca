"""The attacks on the grader: what each does, its text, and what it is to get.

A file's first line is "// Attack: WHAT. Told: WORDS", with ". Points: N" if it has some. Its exercise is in its name.
The line "//+ find.inc" stands for that file. In attacks/NN.toml, where `attack`, `told` and `points` are what a first line
says, are those of a few lines. An [[edit]] differs so from another file. Of an [[attack]] on exercise 04 there is only what
is hostile: what the function that launches does (`launch`), what stands `before` it, and the headers that it `includes`."""
import fnmatch
import functools
import pathlib
import re
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from edits import ROOT, edited, read_tables

FOLDER = ROOT / "tests" / "grader" / "attacks"
LAUNCH = """// Attack: {attack}
#include <cuda_runtime.h>
{includes}
#include "common/exercise/exercise.h"

{before}static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {{
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
{launch}}}

halo::Exercise halo::exercise() {{ return launch; }}
"""
HEAD = re.compile(r"// Attack: (.+?)\. Told: (.*?)(?:\. Points: (\d+))?\n")


@functools.lru_cache(None)
def edits():
    """By their names."""
    return {one["id"]: one for path in sorted(FOLDER.glob("*.toml")) for kind in ("edit", "attack")
            for one in read_tables(path, kind)}


def names(pattern="*"):
    every = {path.stem for path in FOLDER.glob("*.cu")} | set(edits())
    return sorted(name for name in every if fnmatch.fnmatch(name, pattern))


def lines_of(headers):
    """C's first, as clang-format has them."""
    of_c = [f"#include {name}\n" for name in headers if name.endswith(".h>")]
    others = [f"#include {name}\n" for name in headers if not name.endswith(".h>")]
    return "".join([*of_c, "\n" * bool(others), *others])


def ended(body):
    """With a return of success, if it has none."""
    return f"{body}\n" if body.split("\n")[-1].startswith("return") else f"{body}\nreturn 0;\n".lstrip()


def text_of(attack):
    one = edits().get(attack)
    if one is None:
        text = (FOLDER / f"{attack}.cu").read_text()
    elif "file" in one:
        text = HEAD.sub("", edited(one), 1)  # the other file has a first line of its own
    else:
        headers, before, launch = (one.get(part, "").strip("\n") for part in ("includes", "before", "launch"))
        text = LAUNCH.format(attack=one["attack"], includes=lines_of(headers.split()),
                             before=f"{before}\n\n" * bool(before), launch=textwrap.indent(ended(launch), "  "))
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
