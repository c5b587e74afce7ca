#!/usr/bin/env python3
"""Makes a class of two hundred submissions out of what the repository has, the same each time: solutions and other right
programs, usual and unusual, skeletons, wrong ones, attacks, and a few that are no submissions, each packed in another way.

usage: make_class.py FOLDER

FOLDER/submissions is for `halo grade --class`; FOLDER/expected.json says what each must come to: all points of its cases
(full), none (zero), the named case failed (fails), so many points at most, or refused."""
import gzip
import io
import json
import pathlib
import random
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "exercises"))
import attacks
from programs import exercises, fails_of, file_of, others, source_of, text_of, unusual, unusual_text

SIZE = 200
RIGHT, UNUSUAL, BEGUN, ATTACKS = 50, 24, 14, 50  # at most, of these; wrong ones fill up
PACKINGS = ["file", "folder", "zip", "course", "tar.gz", "tar", "tar.xz", "deep.zip"]


def in_turn(lists):
    """The first of each, the second of each, ..."""
    longest = max(map(len, lists), default=0)
    return [one[i] for i in range(longest) for one in lists if i < len(one)]


def programs(kind):
    found = [[{"kind": kind, "exercise": name, "from": source_of(name, program)} for program in others(name)
              if program.startswith(kind + "_")] for name in exercises()]
    return in_turn(found)


def right():
    solved = [{"kind": "right", "exercise": name, "from": source_of(name, "solution")} for name in exercises()]
    return [{**one, "expect": "full"} for one in [*solved, *programs("right")]]


def uncommon():
    """Right, and unlike what students usually write; `text` is the whole program."""
    found = [[{"kind": "right", "exercise": exercise, "from": f"unusual: {name}", "text": unusual_text(exercise, name),
               "expect": "full"} for name in unusual(exercise)] for exercise in exercises()]
    return in_turn(found)


def begun():
    return [{"kind": "wrong", "exercise": name, "from": source_of(name, "skeleton"), "expect": "zero"}
            for name in exercises()]


def wrong():
    for one in in_turn([programs("wrong"), programs("lazy")]):
        yield {**one, "kind": "wrong", "expect": "fails", "case": fails_of(one["exercise"], pathlib.Path(one["from"]).stem)}


def hostile():
    """Attacks on the grader, of every sort."""
    for name in attacks.names():
        yield {"kind": "attack", "exercise": attacks.exercise_of(name), "from": f"tests/grader/attacks/{name}.cu",
               "text": attacks.text_of(name), "expect": "at most", "most": attacks.head_of(name)[2]}


def content_of(one):
    return (one["text"] if "text" in one else text_of(one["from"])).encode()


def unusable(count):
    solution = "solutions/04_tile_and_halo/tile_and_halo.cu"
    return [{"kind": "unusable", "exercise": "04_tile_and_halo", "from": solution, "packed": packed, "expect": "refused"}
            for packed in ["half.zip", "pdf", "out.zip", "twice", "empty.zip", "link.tar"][:count]]


def zip_of(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            out.writestr(zipfile.ZipInfo(name), content)
    return data.getvalue()


def tar_of(files, mode, links=()):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode, format=tarfile.PAX_FORMAT) as out:
        for name, content in files.items():
            head = tarfile.TarInfo(name)
            head.size = len(content)
            out.addfile(head, io.BytesIO(content))
        for name, to in links:
            head = tarfile.TarInfo(name)
            head.type, head.linkname = tarfile.SYMTYPE, to
            out.addfile(head)
    return data.getvalue()



def pack(folder, student, one):
    """Writes the submission; returns its path."""
    exercise, packed = one["exercise"], one["packed"]
    content = content_of(one)
    file = file_of(exercise)
    own = f"{exercise}/{file}"

    def write(name, data):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return name

    def write_all(files):
        for name, data in files.items():
            write(f"{student}/{name}", data)
        return student

    if packed == "file":
        return write(f"{student}_{file}", content)
    if packed == "folder":
        return write_all({own: content, "README.txt": b"my work\n"})
    if packed == "course":
        skeleton = (ROOT / source_of(exercise, "skeleton")).read_bytes()
        return write_all({f"halo/exercises/{own}": content, f"halo/exercises/{exercise}/start.cu": skeleton})
    if packed == "zip":
        return write(f"{student}.zip", zip_of({file: content, f"__MACOSX/._{file}": b"\0\5"}))
    if packed == "deep.zip":
        return write(f"{student}.zip", zip_of({f"{student}/work/{own}": content, f"{student}/notes.txt": b"notes"}))
    if packed == "tar":
        return write(f"{student}.tar", tar_of({f"./{own}": content}, "w"))
    if packed == "tar.gz":
        return write(f"{student}.tar.gz", gzip.compress(tar_of({own: content}, "w"), mtime=0))
    if packed == "tar.xz":
        return write(f"{student}.tar.xz", tar_of({own: content}, "w:xz"))
    if packed == "half.zip":
        return write(f"{student}.zip", zip_of({own: content})[:-100])
    if packed == "pdf":
        return write(f"{student}.pdf", b"%PDF-1.4\n")
    if packed == "out.zip":
        return write(f"{student}.zip", zip_of({own: content, "../../halo": b"x"}))
    if packed == "twice":
        return write_all({f"a/{file}": content, f"b/{file}": content})
    if packed == "empty.zip":
        return write(f"{student}.zip", zip_of({}))
    if packed == "link.tar":
        return write(f"{student}.tar", tar_of({}, "w", [(own, "/etc/passwd")]))
    raise ValueError(packed)


def make(folder):
    attacking = list(hostile())
    attacking = attacking[::max(1, len(attacking) // ATTACKS)][:ATTACKS]
    members = [*right()[:RIGHT], *uncommon()[:UNUSUAL], *begun()[:BEGUN], *attacking, *unusable(6)]
    members += list(wrong())[:SIZE - len(members)]
    if len(members) != SIZE:
        sys.exit(f"the repository has programs for {len(members)} submissions only, not {SIZE}")
    random.Random(SIZE).shuffle(members)
    expected = {}
    for i, one in enumerate(members):
        one.setdefault("packed", PACKINGS[i % len(PACKINGS)])
        student = f"student-{i + 1:03}"
        name = pack(folder / "submissions", student, one)
        # A file's own name is the student's.
        expected[name.removesuffix(".cu") if one["packed"] == "file" else student] = {
            **{word: what for word, what in one.items() if word != "text"}, "submission": name}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    return expected


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    if target.exists() and any(target.iterdir()):
        sys.exit(f"{target} is not empty")
    made = make(target)
    kinds = sorted({one["kind"] for one in made.values()})
    print(", ".join(f"{sum(one['kind'] == kind for one in made.values())} {kind}" for kind in kinds))
