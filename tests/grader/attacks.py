"""The attacks on the grader: what each does, its text, and what it is to get.

A file's first line is "// Attack: WHAT. Told: WORDS", with ". Points: N" if it has some. Its exercise is in its name.
A line "//+ NAME.inc" stands for that file. In attacks/NN.toml, where `attack`, `told` and `points` are what a first line
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
COPIES_BACK = """// Attack: copies an input to the host, to compute there. Told: cudaMemcpy copies device memory to the host
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void touch(float* output) {{ output[0] = 0.0f; }}

static int launch({parameters}) {{
{unused}  float cell = 0.0f;
  cudaMemcpy(&cell, {first}, sizeof cell, cudaMemcpyDeviceToHost);
  touch<<<1, 1>>>(reinterpret_cast<float*>({output}));
  return cudaGetLastError();
}}

halo::Exercise halo::exercise() {{ return launch; }}
"""
PARAMETERS = re.compile(r"static int launch\((.*?)\) {", re.S)
HEAD = re.compile(r"// Attack: (.+?)\. Told: (.*?)(?:\. Points: (\d+))?\n")


@functools.lru_cache(None)
def edits():
    """By their names."""
    return {one["id"]: one for path in sorted(FOLDER.glob("*.toml")) for kind in ("edit", "attack")
            for one in read_tables(path, kind)}


@functools.lru_cache(None)
def copies_back():
    """By their names."""
    found = {}
    for skeleton in sorted((ROOT / "exercises").glob("[0-9][0-9]_*/start.cu")):
        launch = PARAMETERS.search(skeleton.read_text())
        number = skeleton.parent.name[:2]
        if launch and number != "04":
            first, *others = re.findall(r"\w+(?=,|$)", launch[1])
            output = re.search(r"(?<!const )(?:float|int)\* (\w+)", launch[1])[1]
            unused = "".join(f"  (void){name};\n" for name in others if name != output)
            found[f"{number}_copies_back"] = COPIES_BACK.format(parameters=launch[1], unused=unused, first=first, output=output)
    return found


def names(pattern="*"):
    every = {path.stem for path in FOLDER.glob("*.cu")} | set(edits()) | set(copies_back())
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
        text = copies_back().get(attack) or (FOLDER / f"{attack}.cu").read_text()
    elif "file" in one:
        text = HEAD.sub("", edited(one), 1)  # the other file has a first line of its own
    else:
        headers, before, launch = (one.get(part, "").strip("\n") for part in ("includes", "before", "launch"))
        text = LAUNCH.format(attack=one["attack"], includes=lines_of(headers.split()),
                             before=f"{before}\n\n" * bool(before), launch=textwrap.indent(ended(launch), "  "))
    return re.sub(r"//\+ (\w+\.inc)\n", lambda line: (FOLDER / line[1]).read_text(), text)


def head_of(attack):
    """What it does, what it is told, and its points; None where its file does not say."""
    if attack in edits():
        edit = edits()[attack]
        return edit["attack"], edit["told"], float(edit.get("points", 0))
    found = HEAD.match(text_of(attack))
    return (found.group(1), found.group(2), float(found.group(3) or 0)) if found else None


def exercise_of(attack):
    return next((ROOT / "exercises").glob(attack[:2] + "_*")).name
