"""The stages' kernel files follow one rule: reads every kernel's file and the words of its stage's
meson.build, and says what departs from what CONTRIBUTING.md asks. That each kernel is right and costs
what it must is for the tests beside this one."""
import json
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# A kernel's file, or a header of kernels, is at most so long, its opening comment left out.
MOST_LINES = 120
MOST_INCLUDES = 2  # of the project, besides these
INSTRUCTIONS = ("common/harness/async_copy.h", "common/harness/tf32.h")

KERNEL_TYPES = {"conv1d": "Conv1dKernel", "conv2d": "LayerKernel", "transform": "TransformKernel",
                "pooling": "PoolingKernel", "softmax": "SoftmaxKernel"}
# Its variants are chains of kernels: a kernel is run with a network that needs it.
NETWORKS = "network"

MENU = ["Computes", "Changed", "Must cost", "Run"]
ENTRY = re.compile(r"'(\d+_\w+)(?:: ([\w ]+))?'")
TITLE = re.compile(r"^// Stage (\d\d), step (\d+): \S.*\.$")
RUN = re.compile(r"^// Run        \./halo run (\S+) --variant (\w+)(?:   \(.*\)| --.*)?$", re.M)
RUN_NETWORKS = re.compile(r"^// Run        \./halo run (\S+)(?: --.*)?$", re.M)
# A call as a statement: what it returns is dropped. (The two that threads call return nothing.)
DROPPED = re.compile(r"[;{})]\s*(cuda(?!GridDependencySynchronize|TriggerProgrammatic)[A-Z]\w*)\(")
INCLUDE = re.compile(r'^#include "([^"]*)"', re.M)


def course(root):
    rows = (root / "stages" / "course.csv").read_text(encoding="utf-8").splitlines()[1:]
    return [row.split(",")[:2] for row in rows]


def entries(folder):
    """The words of a stage's meson.build: {file's name without suffix: (names of variants, planned)}."""
    text = (folder / "meson.build").read_text(encoding="utf-8")
    found = {}
    for kind, planned in (("stage_kernels", False), ("stage_planned", True)):
        match = re.search(rf"^{kind} = \[(.*?)\]", text, re.M | re.S)
        for word, names in ENTRY.findall(match.group(1) if match else ""):
            found[word] = (names.split() or [word.partition("_")[2]], planned)
    return found


def stages_called(root, word):
    """Which stages `./halo run word` means."""
    return [name for name, _ in course(root) if word in (name, name[:2], name[:2].lstrip("0"))]


def variants_of_host_files(root, stage):
    """Those of a stage whose host files make them: what these say in quotes, and what the recorded run has."""
    rows = json.loads((root / "docs/results/run_sim.json").read_text(encoding="utf-8"))["rows"]
    return {row["variant"] for row in rows if row["stage"] == stage} | {
        name for file in (root / "stages" / stage).glob("*.cpp")
        for name in re.findall(r'"(\w+)"', file.read_text(encoding="utf-8"))}


def split(path):
    """A file's lines, and how many of them are its opening comment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines, next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))


def too_long(root, path):
    lines, end = split(path)
    relative, length = path.relative_to(root).as_posix(), len(lines) - end
    return [f"{relative}: has {length} lines below its opening comment, more than {MOST_LINES}"] if length > MOST_LINES else []


def faults_of_file(root, path, stage, family, number, names, planned):
    lines, end = split(path)
    text, opening = "\n".join(lines), lines[:end]
    relative = path.relative_to(root).as_posix()
    found = []

    def complain(what):
        found.append(f"{relative}: {what}")

    title = TITLE.match(lines[0])
    if not title:
        complain("begins with '// Stage NN, step k: ...'")
    elif title.group(1) != stage[:2] or title.group(2) != number:
        complain(f"is step {number} of stage {stage[:2]} by its name, not by its title")

    words = [match.group(1) for match in (re.match(r"// ([A-Z]\w+(?: \w+)?) {2,}\S", line) for line in opening)
             if match]
    if words != MENU:
        complain(f"its opening comment says {', '.join(words) or 'nothing'}, not {', '.join(MENU)}")
    if re.search(r"^// Computes +(as|what|the same as) (step|\d|stage)", text, re.M):
        complain("Computes is spelled out: a reader lands here from a search")
    run = (RUN_NETWORKS if family == NETWORKS else RUN).search("\n".join(opening))
    if not run:
        complain("Run is a line to paste: ./halo run STAGE --variant NAME")
    else:
        if stages_called(root, run.group(1)) != [stage]:
            complain(f"./halo run {run.group(1)} is not this stage")
        known = variants_of_host_files(root, stage) if planned else names
        if family != NETWORKS and run.group(2) not in known:
            complain(f"there is no variant {run.group(2)} in it")

    found += too_long(root, path)

    included = INCLUDE.findall(text)
    own = f"stages/{stage}/"
    for header in included:
        general = ("common/harness/kernel.h", "common/harness/overlap.h", *INSTRUCTIONS)
        if header not in general and not header.startswith((own, "common/convolve/")):
            complain(f"includes {header}: a kernel's file needs kernel.h, overlap.h, async_copy.h, tf32.h, a plan and its own stage only")
    if len(set(included) - set(INSTRUCTIONS)) > MOST_INCLUDES:
        complain(f"includes {len(included)} files of the project")

    # Of what is __restrict__ and read only nvcc takes it that nobody writes it while the kernel runs, and reads it
    # before the wait. (What is packed, and biases, no launch before this one writes.)
    waits = "cudaGridDependencySynchronize" in text or "wait_for_launches_before" in text
    if waits and re.search(r"__restrict__ (?:input|output)\b", text):
        complain("waits for launches before it, so its input and output are not __restrict__")

    for call in DROPPED.findall(re.sub(r"//.*", "", text)):
        complain(f"drops the error of {call}")

    for number_of_line, line in enumerate(lines, 1):
        if re.match(r"\s*#\s*define", line):
            complain(f"line {number_of_line}: a macro")
        if re.match(r"\s*///", line):
            complain(f"line {number_of_line}: comments begin with //")
        if re.search(r"\b(?:int|long) [xy]\b", line):
            complain(f"line {number_of_line}: a place in an image is h, w")
        if re.search(r"(?:[%/*]|\+=) 32\b|\b32 \*", line.partition("//")[0]):
            complain(f"line {number_of_line}: a warp has kWarpSize lanes")
        if re.match(r"\s*struct Layer\b", line):
            complain(f"line {number_of_line}: a layer's numbers are LayerNumbers")

    if not planned:
        for name in names:
            if not re.search(rf"^{KERNEL_TYPES[family]} {name}\(\) {{", text, re.M):
                complain(f"has no descriptor {KERNEL_TYPES[family]} {name}()")
    return found


def faults(root):
    """What departs from the rules, a line each, and how many files were read."""
    found, read = [], 0
    for stage, family in course(root):
        folder = root / "stages" / stage
        listed = entries(folder)
        files = {path.stem: path for path in folder.iterdir()
                 if re.match(r"\d", path.name) and path.suffix in (".cu", ".cpp")}
        for name in sorted(set(listed) ^ set(files)):
            found.append(f"stages/{stage}: {name} is " + ("no file" if name in listed
                                                          else "in none of the lists of meson.build"))
        numbers = sorted((name.partition("_")[0] for name in files), key=lambda number: (len(number), number))
        if numbers != [str(i) for i in range(1, len(files) + 1)]:
            found.append(f"stages/{stage}: its steps are numbered {' '.join(numbers)}")
        for path in sorted(folder.glob("*.cuh")):
            found += too_long(root, path)
        for name, path in sorted(files.items()):
            if name in listed:
                read += 1
                found += faults_of_file(root, path, stage, family, name.partition("_")[0], *listed[name])
    return found, read


GOOD = """\
// Stage 04, step 1: one thing.
//
// Computes   output[i] = input[i].
// Changed    nothing.
// Must cost  8 bytes an output.
// Run        ./halo run 04 --variant first
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv1d_some {

Conv1dKernel first() { return {.description = "so", .launch = nullptr}; }

}  // namespace halo::conv1d_some
"""


class Rules(unittest.TestCase):
    def test_every_kernel_file_follows_them(self):
        found, read = faults(ROOT)
        self.assertEqual(found, [], "\n".join(found))
        self.assertGreater(read, 30)

    def planted(self, text=GOOD, name="1_first.cu", words="'1_first'", more=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            stage = root / "stages" / "04_conv1d_some"
            stage.mkdir(parents=True)
            (root / "stages" / "course.csv").write_text(
                "stage,family,page\n04_conv1d_some,conv1d,p\n")
            (stage / "meson.build").write_text(f"stage_kernels = [{words}]\n")
            (stage / name).write_text(text)
            for other, content in (more or {}).items():
                (stage / other).write_text(content)
            return faults(root)

    def test_what_is_right_is_let_be(self):
        self.assertEqual(self.planted(), ([], 1))
        two = GOOD.replace("Conv1dKernel first", "Conv1dKernel other() { return {}; }\nConv1dKernel first")
        self.assertEqual(self.planted(two, words="'1_first: first other'"), ([], 1))

    def test_a_stage_may_have_ten_kernels(self):
        def kernel(number):
            return GOOD.replace("step 1", f"step {number}").replace("first", f"number_{number}")

        names = [f"{number}_number_{number}" for number in range(1, 11)]
        self.assertEqual(self.planted(kernel(1), "1_number_1.cu", ", ".join(f"'{name}'" for name in names),
                                      {f"{name}.cu": kernel(number) for number, name in enumerate(names, 1)}), ([], 10))

    def test_breaches_are_found(self):
        def changed(old, new):
            self.assertIn(old, GOOD)
            return GOOD.replace(old, new)

        for breach in [
                changed("// Stage 04, step 1: one thing.", "// Stage 04: one thing."),
                changed("// Stage 04, step 1:", "// Stage 04, variant 1:"),
                changed("// Stage 04, step 1:", "// Stage 04, step 2:"),
                changed("// Stage 04, step 1:", "// Stage 05, step 1:"),
                changed("// Changed    nothing.\n", ""),
                changed("// Changed    nothing.\n// Must cost  8 bytes an output.\n",
                        "// Must cost  8 bytes an output.\n// Changed    nothing.\n"),
                changed("output[i] = input[i].", "as step 3."),
                changed("./halo run 04 --variant first", "./halo run 04"),
                changed("./halo run 04 --variant first", "halo run 04 --variant first"),
                changed("./halo run 04 --variant first", "./halo run 10 --variant first"),
                changed("./halo run 04 --variant first", "./halo run 04 --variant second"),
                changed('#include "common/harness/kernel.h"',
                        '#include "common/harness/kernel.h"\n#include "common/harness/core/variant.hpp"'),
                changed('#include "common/harness/kernel.h"',
                        '#include "common/harness/kernel.h"\n#include "stages/04_conv1d_some/a.cuh"\n'
                        '#include "stages/04_conv1d_some/b.cuh"'),
                changed("namespace halo::conv1d_some {", "#define TILE 32\nnamespace halo::conv1d_some {"),
                changed("Conv1dKernel first", "/// So.\nConv1dKernel first"),
                changed("Conv1dKernel first", "static int x = 0;\nConv1dKernel first"),
                changed("Conv1dKernel first", "struct Layer {};\nConv1dKernel first"),
                changed("Conv1dKernel first", "int f() {\n  cudaFuncSetAttribute(kernel,\n    a, 1);\n"
                                              "  return cudaGetLastError();\n}\nConv1dKernel first"),
                changed("Conv1dKernel first", "int f() {\n  int n = 0;  // so\n  if (n > 8) cudaFuncSetAttribute(k, a, 1);\n"
                                              "  return cudaGetLastError();\n}\nConv1dKernel first"),
                changed("Conv1dKernel first", "int lane = threadIdx.x % 32;\nConv1dKernel first"),
                changed("Conv1dKernel first", "// const float* __restrict__ input\n"
                                              "void f() { wait_for_launches_before(); }\nConv1dKernel first"),
                changed("Conv1dKernel first", "LayerKernel first"),
                changed("Conv1dKernel first", "Conv1dKernel second"),
                changed("Conv1dKernel first", "\n" * 120 + "Conv1dKernel first"),
        ]:
            with self.subTest(breach[:400]):
                found, _ = self.planted(breach)
                self.assertEqual(len(found), 1, found)

    def test_a_header_of_kernels_that_is_too_long_is_found(self):
        self.assertEqual(self.planted(more={"tile.cuh": "\n" * 120}), ([], 1))
        self.assertEqual(self.planted(more={"tile.cuh": "// So.\n" + "\n" * 121})[0],
                         ["stages/04_conv1d_some/tile.cuh: has 121 lines below its opening comment, more than 120"])

    def test_a_gap_in_the_numbers_and_a_file_that_is_not_listed_are_found(self):
        self.assertTrue(self.planted(GOOD.replace("step 1", "step 2"), "2_first.cu", "'2_first'")[0])
        self.assertTrue(self.planted(more={"2_second.cu": ""})[0])
        self.assertTrue(self.planted(words="'1_first', '2_second'")[0])


if __name__ == "__main__":
    unittest.main()
