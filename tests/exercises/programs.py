"""The programs with which the checks of exercises and hunts are tested: where each is from, and how it is made.

Of an exercise: the `skeleton`, what a student begins with; the `solution`; programs that are right in another way
(right_*.cu); wrong ones, each with the case that fails; and lazy ones, which are correct and safe, but ignore what the
exercise is about: each with the budget that fails. A wrong one is a file, wrong_*.cu, whose first line names the case
(`// Wrong. Fails: CASE`), a lazy one lazy_*.cu (`// Lazy. Fails: CASE`); or, where a few lines differ from the solution or
another of them, they and right ones are edits in wrong.toml:

  id       its name, wrong_* or lazy_*; or right_*, for what has nothing of the two that follow
  wrong    what is wrong with it
  fails    the case
  says     words that a student is told of it (words_test.py), if that is tested; `never`: words that are not told
  of       what it is an edit of; left out: the solution
  find, replace, also    as ../edits.py has them

Others are right, and unlike what students usually write (unusual/): whole files, and ways to start a kernel
(unusual/launches/), each of which replaces the launch of every solution that has one.

Nothing is made before it is asked for: program_of() makes it as the grader does, in two steps, and keeps what is between
them. joined() makes all wrong and lazy ones of an exercise at once, where only what a check says of them is asked.

usage: programs.py EXERCISE PROGRAM: prints the text of a program"""
import functools
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from edits import ROOT, edited, read_edits

HERE = ROOT / "tests" / "exercises"
UNUSUAL = HERE / "unusual"
NAMED_CASE = re.compile(r"// (?:Wrong|Lazy)\. Fails: (.+)\n")
LAUNCH = re.compile(r"(\w+)<<<(.*?)>>>\((.*?)\);", re.S)
# What the worker calls of a file, or the system: how it stands there, how in a namespace, and how it is called there.
ENTRIES = [("halo::Exercise halo::exercise() {", "halo::Exercise exercise() { using namespace halo;", "exercise()"),
           ("int main(int argc, char** argv) {", "int main(int argc, char** argv) {", "main(argc, argv)")]
INTERFACE = '#include "common/exercise/exercise.h"\n'


def exercises():
    return sorted(p.parent.name for p in (ROOT / "exercises").glob("[0-9][0-9]_*/start.cu"))


def file_of(exercise):
    return exercise[3:] + ".cu"


@functools.lru_cache(None)
def edits_of(exercise):
    """By their names."""
    edits = read_edits(HERE / exercise / "wrong.toml")
    return {edit["id"]: {**edit, "file": source_of(exercise, edit.get("of", "solution"))} for edit in edits}


def others(exercise):
    """All but the skeleton and the solution."""
    return sorted([*(p.stem for p in (HERE / exercise).glob("*.cu")), *edits_of(exercise)])


def source_of(exercise, program):
    """As the repository names its file; of an edit as it would name it."""
    if program == "skeleton":
        return f"exercises/{exercise}/start.cu"
    if program == "solution":
        return f"solutions/{exercise}/{file_of(exercise)}"
    return f"tests/exercises/{exercise}/{program}.cu"


def mends():
    """What mends each hunt, by its name (solutions/hunts/answers.json): what stands `with` the lines `line` to `last`, or
    is put in `after` one."""
    answers = json.loads((ROOT / "solutions/hunts/answers.json").read_text())
    return {answer["name"]: answer["mend"] for answer in answers}


def mended(hunt):
    lines = (ROOT / f"exercises/hunts/start/{hunt}.cu").read_text().splitlines(keepends=True)
    for mend in reversed(mends()[hunt]):
        first = mend["after"] if "after" in mend else mend["line"] - 1
        last = mend.get("last", mend.get("line", first))
        lines[first:last] = [line + "\n" for line in mend.get("with", [])]
    return "".join(lines)


def text_of(source):
    """The text of a program, be it a file or an edit. Raises ValueError, one line, if an edit does not fit its file."""
    path = ROOT / source
    if path.is_file():
        return path.read_text()
    return mended(path.stem) if path.parent.name == "hunts" else edited(edits_of(path.parent.name)[path.stem])


@functools.lru_cache(None)
def launches():
    """The ways to start a kernel other than by <<<>>>, by their names."""
    return {path.stem: path.read_text() for path in sorted((UNUSUAL / "launches").glob("*.cu"))}


def own_unusual(exercise):
    return sorted(p.stem for p in (UNUSUAL / exercise).glob("*.cu"))


def can_be_started(exercise):
    """Whether its solution has a launch that another one can replace."""
    solution = text_of(source_of(exercise, "solution"))
    return INTERFACE in solution and LAUNCH.search(solution) is not None


def unusual(exercise):
    """The names of the unusual programs of an exercise: its own, and those of other launches."""
    return own_unusual(exercise) + (list(launches()) if can_be_started(exercise) else [])


def unusual_text(exercise, name):
    own = UNUSUAL / exercise / f"{name}.cu"
    return own.read_text() if own.is_file() else started_by(exercise, launches()[name])


def started_by(exercise, start):
    """The solution with start(kernel, blocks, threads, bytes, arguments...) instead of <<<>>>, and what `start` is."""
    def started(launch):
        kernel, configuration, arguments = launch.groups()
        parts = re.split(r", (?![^(]*\))", configuration)  # commas within parentheses separate nothing
        return f"start({', '.join([kernel, *parts, *(['0'] if len(parts) == 2 else []), arguments])});"
    text, count = LAUNCH.subn(started, text_of(source_of(exercise, "solution")))
    if count != 1:
        raise ValueError(f"the solution of {exercise} has {count} launches")
    return text.replace(INTERFACE, f"{INTERFACE}\n{start}", 1)


def in_turn(exercise, ways):
    """The solution started in these ways in turn, the first of which is another one in each exercise: a call at a budget is one
    way's in this exercise, and another's in the next."""
    texts = [launches()[way].splitlines() for way in ways]
    headers = [line for lines in texts for line in lines if line.startswith("#include")]
    bodies = ["\n".join([f"namespace {way} {{", *(line for line in lines if not line.startswith("#include")), "}"])
              for way, lines in zip(ways, texts)]
    calls = [f"    case {turn}: return {way}::start(kernel, blocks, threads, bytes, arguments...);" for turn, way in enumerate(ways)]
    return started_by(exercise, "\n".join([*dict.fromkeys(headers), *bodies, f"static int turn = {int(exercise[:2])};",
                                           "template <class Kernel, class... Arguments>",
                                           "static void start(Kernel* kernel, dim3 blocks, dim3 threads, size_t bytes, "
                                           "Arguments... arguments) {",
                                           f"  switch (turn++ % {len(ways)}) {{", *calls, "  }", "}"]) + "\n")


def fails_of(exercise, program):
    """The case that a wrong or lazy program names; None: it names none."""
    if program in edits_of(exercise):
        return edits_of(exercise)[program]["fails"]
    found = NAMED_CASE.match(text_of(source_of(exercise, program)))
    return found.group(1) if found else None


def file_with(build, source):
    """The file of a program: the repository's, or, of an edit, one in the build folder."""
    if (ROOT / source).is_file():
        return ROOT / source
    text, path = text_of(source), build / "tests/exercises/programs" / source
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_name(f"{path.name}.{os.getpid()}")  # another test may do the same
        begun.write_text(text)
        os.replace(begun, path)
    return path


@functools.lru_cache(None)
def newest_of(words):
    """When what a compiler is made of, and what it puts into every program, was last changed."""
    parts = [*map(pathlib.Path, words), *(ROOT / "common/exercise").glob("*.h")]
    return max(part.stat().st_mtime_ns for part in parts if part.is_file())


def compilers(build):
    """How a file becomes a program, and by backend the folder of the CUDA runtime that has it run there."""
    return json.loads((build / "common/exercise/compilers.json").read_text())


def call_compiler(words, paths, folder, what):
    """In the folder, with these paths in the places of their names. Raises ValueError, one line and the compiler's, if it fails."""
    done = subprocess.run([paths.get(word, word) for word in words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 0:
        raise ValueError(f"{what} does not compile:\n{done.stdout}")


def program_of(build, source):
    """The program of a source in the build folder; made anew only if something that it is made of is newer. Raises
    ValueError as call_compiler does."""
    words = compilers(build)["words"]
    file, result = file_with(build, source), build / "tests/exercises/programs" / source.removesuffix(".cu")
    made = [result, *steps_to(result)]
    if all(part.is_file() and part.stat().st_mtime_ns > max(file.stat().st_mtime_ns, newest_of(tuple(words))) for part in made):
        return result
    result.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=result.parent) as name:
        folder = pathlib.Path(name)
        program, object_file, preprocessed = (folder / part.name for part in made)
        to_object = [words[0], "-c", "--keep", *(word for word in words[1:] if not word.endswith(".a"))]
        call_compiler(to_object, {"{source}": file, "{program}": object_file}, folder, file)
        call_compiler(words, {"{source}": object_file, "{program}": program}, folder, file)
        with gzip.open(preprocessed, "wb", 1) as out:
            out.write((folder / f"{file.stem}.cpp4.ii").read_bytes())
        for part in reversed(made):
            os.replace(folder / part.name, part)
    return result


def joined(build, exercise):
    """The folder of an exercise's wrong and lazy programs, which are one: nvcc spends its time on headers, and reads them once.
    Each has a namespace, and its name, by which it is started, says which it is. Raises ValueError as program_of does."""
    folder = build / "tests/exercises/programs/joined" / exercise
    words, source, program = compilers(build)["words"], folder / "all.cu", folder / "all"
    names = [name for name in others(exercise) if not name.startswith("right_")]
    headers, bodies, calls = ["#include <cerrno>", "#include <cstdlib>", "#include <string>"], [], []
    for name in names:
        lines = text_of(source_of(exercise, name)).splitlines()
        headers += [line for line in lines if line.startswith("#include")]
        body = "\n".join("" if line.startswith("#include") else line for line in lines)
        if "#define" in body:
            raise ValueError(f"{source_of(exercise, name)} has a #define, which the programs after it would have as well: use constexpr")
        entry, inside, call = next((one for one in ENTRIES if one[0] in body), ("", "", ""))
        if not entry:
            raise ValueError(f"{source_of(exercise, name)} has no line " + " or ".join(f"'{one[0]}'" for one in ENTRIES))
        bodies += [f"namespace {name} {{", f'#line 1 "{file_with(build, source_of(exercise, name))}"', body.replace(entry, inside), "}"]
        calls.append(f'  if (std::string("{name}") == program_invocation_short_name) return {name}::{call};')
    text = "\n".join([*dict.fromkeys(headers), *bodies, entry, *calls, "  std::abort();", "}"]) + "\n"
    made = [source, program, *(folder / name for name in names)]
    if all(part.exists() for part in made) and source.read_text() == text and program.stat().st_mtime_ns > newest_of(tuple(words)):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        begun = [pathlib.Path(name) / part.name for part in made]
        begun[0].write_text(text)
        call_compiler(words, {"{source}": begun[0], "{program}": begun[1]}, name, f"what joins {exercise}'s wrong and lazy programs")
        for link in begun[2:]:
            link.symlink_to("all")
        for part, whole in reversed(list(zip(begun, made))):
            os.replace(part, whole)
    return folder


def steps_to(program):
    """What the grader looks at before such a program runs: its object, and, packed, its text as the preprocessor left it."""
    return [program.with_name(program.name + ending) for ending in (".o", ".ii.gz")]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.stdout.write(text_of(source_of(*sys.argv[1:])))
