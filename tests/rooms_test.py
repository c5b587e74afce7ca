"""A room includes only rooms below it: reads every #include "..." of the rooms and judges it by the
table here, which is that of CONTRIBUTING.md, "The house"."""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# From the ground up; rooms of one floor do not include each other.
FLOORS = [
    ["common/json", "common/gpus", "common/simt"],
    # The simulator's own; of common/simt itself there is what others may ask.
    ["common/simt/ptx", "common/simt/memory"],
    ["common/simt/ptxas"],
    ["common/simt/machine"],
    ["common/simt/checker"],
    ["common/simt/report"],
    ["common/simt/debug"],
    ["common/simt/cudart"],
    ["common/simt/driver"],
    ["common/simt/command"],
    ["common/conv"],
    ["common/data"],
    ["common/report"],
    ["common/harness", "common/process", "common/trace"],
    ["common/build"],
    ["common/peers", "common/exercise"],
    ["common/convolve", "common/network"],
    ["stages", "exercises", "solutions"],
    ["common/grader"],
    ["common/cli"],
    ["tests"],
]

# Rooms that know less than their floor would let them.
ONLY = {
    "common/conv": [],
    # A row says itself what it is about.
    "common/report": ["common/data", "common/json"],
    # It starts programs, and knows what they say.
    "common/process": ["common/report", "common/data"],
    "common/build": ["common/process", "common/report", "common/data", "common/json"],
    # It reads what the simulator has written.
    "common/trace": ["common/report", "common/data", "common/json"],
    "common/grader": ["common/exercise", "common/process", "common/report", "common/data", "common/json"],
    # It starts the stages' programs and links none of them.
    "common/cli": [
        "common/grader", "common/exercise", "common/build", "common/process", "common/trace", "common/report", "common/data", "common/json", "common/harness/bench_sets.hpp",
        "common/harness/course.hpp",
        "common/harness/program_options.hpp",
    ],
}

# Of the simulator's own rooms others know this; tests know all.
SIMULATOR_SHOWS = ["common/simt/debug/client.hpp"]

# A stage does not include another, but for those that compose them.
COMPOSERS = ["stages/13_network", "stages/bench", "stages/convolve"]

# Lines of code that a room should not exceed: what it has and a little. Printed, not held: whoever grows a room beyond it says why.
BUDGETS = {
    "common/json": 500, "common/gpus": 800, "common/simt": 30_000, "common/conv": 4_100, "common/data": 3_300,
    "common/report": 5_400, "common/harness": 10_600, "common/process": 2_700, "common/trace": 800, "common/build": 900,
    "common/peers": 4_800, "common/convolve": 9_600, "common/exercise": 7_700, "common/network": 3_700, "common/grader": 3_100,
    "common/cli": 5_200, "stages": 16_100, "exercises": 6_000, "solutions": 2_600, "tests": 65_000,
}

SOURCES = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"((?:common|stages|exercises|solutions|tests)/[^"]*)"', re.M)


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def floor_of(path):
    """The floor and the room of a path from the top; None if no room has it."""
    having = [(floor, room) for floor, rooms in enumerate(FLOORS) for room in rooms if within(path, room)]
    return max(having, key=lambda one: len(one[1]), default=None)


def fault(path, included):
    """Why `path` may not include `included`; None if it may."""
    here, there = floor_of(path), floor_of(included)
    if here is None:
        return "is in no room of the table"
    if there is None:
        return f"includes {included}, which is in no room of the table"
    if here[1] != there[1]:
        if there[0] >= here[0]:
            return f"includes {included}, which is not below it"
        own = there[1].startswith("common/simt/") and included not in SIMULATOR_SHOWS
        if own and not within(path, "common/simt") and here[1] != "tests":
            return f"includes {included}, which is the simulator's own"
        allowed = ONLY.get(here[1])
        if allowed is not None and not any(within(included, one) for one in allowed):
            return f"includes {included}, but {here[1]} may know {', '.join(allowed) or 'itself'} only"
    elif here[1] == "stages":
        stage, other = "/".join(path.split("/")[:2]), "/".join(included.split("/")[:2])
        # A template names the stage that it is filled in for.
        # A stage's own header is made beside its folder.
        own = other in (stage, stage + ".hpp")
        if not own and stage not in COMPOSERS and "@STAGE@" not in included:
            return f"includes another stage: {included}"
    return None


def faults(root):
    """What is wrong in the tree, a line each, and how many includes were judged."""
    found, judged = [], 0
    for top in ("common", "stages", "exercises", "solutions", "tests"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            for included in INCLUDE.findall(file.read_text(encoding="utf-8", errors="replace")):
                judged += 1
                why = fault(path, included)
                if why:
                    found.append(f"{path} {why}")
    return found, judged


def sizes(root):
    """Files and lines of code of each room that has a budget."""
    for room in BUDGETS:
        files = [file for file in (root / room).rglob("*") if file.suffix in SOURCES and file.is_file()]
        yield room, len(files), sum(len(file.read_text(encoding="utf-8", errors="replace").splitlines()) for file in files)


class Rooms(unittest.TestCase):
    def test_every_room_has_a_budget_and_its_size_is_told(self):
        rooms = {room for floor in FLOORS for room in floor}
        self.assertEqual({room for room in rooms if not room.startswith("common/simt/")}, set(BUDGETS))
        for room, files, lines in sizes(ROOT):
            self.assertGreater(files, 0, room)
            over = f", {lines - BUDGETS[room]:,} over" if lines > BUDGETS[room] else ""
            print(f"{room:16} {files:4} files {lines:7,} lines of {BUDGETS[room]:7,}{over}")

    def test_every_room_includes_only_rooms_below_it(self):
        found, judged = faults(ROOT)
        self.assertEqual(found, [], "\n".join(found))
        self.assertGreater(judged, 500)

    def test_a_wrong_include_is_found(self):
        for path, included in [
            ("common/json/json.cpp", "common/data/file.hpp"),
            ("common/conv/layer.cpp", "common/simt/simt.hpp"),
            ("common/simt/simt.hpp", "common/simt/ptx/parse.hpp"),
            ("common/simt/machine/grid.cpp", "common/simt/checker/checker.hpp"),
            ("common/simt/checker/order.cpp", "common/simt/report/lines.hpp"),
            ("common/simt/cudart/watch.cpp", "common/conv/layer.hpp"),
            ("common/harness/backend/cuda.cpp", "common/simt/cudart/record.hpp"),
            ("common/data/file.cpp", "common/report/rows.hpp"),
            ("common/report/text.cpp", "common/conv/layer.hpp"),
            ("common/harness/program.cpp", "stages/bench/bench.hpp"),
            ("common/peers/cudnn.cpp", "stages/06_conv2d_direct/stage.hpp"),
            ("common/cli/run.cpp", "common/harness/program.hpp"),
            ("stages/04_conv1d_tiled_halo/a.cu", "stages/03_conv1d_constant/b.hpp"),
            ("stages/04_conv1d_tiled_halo/costs.cpp", "stages/03_conv1d_constant.hpp"),
            ("common/harness/array.cpp", "tests/catch.hpp"),
            ("common/new_room/a.cpp", "common/data/file.hpp"),
            ("common/harness/array.cpp", "common/new_room/a.hpp"),
        ]:
            with self.subTest(path=path, included=included), tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                (root / path).parent.mkdir(parents=True)
                (root / path).write_text(f'#include <vector>\n\n  #  include "{included}"\n')
                found, judged = faults(root)
                self.assertEqual(judged, 1)
                self.assertEqual(len(found), 1)
                self.assertTrue(found[0].startswith(path))

    def test_what_is_right_is_let_be(self):
        for path, included in [
            ("common/report/json.cpp", "common/data/file.hpp"),
            ("common/harness/program.cpp", "common/harness/bench.hpp"),
            ("stages/13_network/variants.cpp", "stages/06_conv2d_direct/stage.hpp"),
            ("common/cli/bench.cpp", "common/harness/bench_sets.hpp"),
            ("tests/cli/run_test.cpp", "common/process/process.hpp"),
            ("common/simt/cudart/watch.cpp", "common/simt/checker/checker.hpp"),
            ("common/exercise/debug.cpp", "common/simt/debug/client.hpp"),
            ("tests/simt/machine_test.cpp", "common/simt/machine/grid.hpp"),
        ]:
            self.assertIsNone(fault(path, included), (path, included))


if __name__ == "__main__":
    unittest.main()
