"""Programs that are kept as an edit of another one: the [[edit]] of a .toml file names the file that it begins with,
what is to be found there, and what takes its place (`find` and `replace`; `also` has further pairs of them)."""
import pathlib
import sys

try:
    import tomllib
except ImportError:  # 77: a test that cannot run here
    print("the edits that this is tested with are read by Python 3.11 or newer: install one")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_tables(path, kind):
    """The [[kind]] tables of a file, in its order."""
    return tomllib.loads(path.read_text()).get(kind, [])


def read_edits(path):
    return read_tables(path, "edit")


def edited(edit):
    """The text of the edit's file with the edit made. Raises ValueError with one line."""
    path = ROOT / edit["file"]
    if not path.is_file():
        raise ValueError(f"there is no {edit['file']}")
    text = path.read_text()
    for number, (old, new) in enumerate([(edit["find"], edit["replace"]), *edit.get("also", [])]):
        count = text.count(old)
        if count == 0 or (count > 1 and not edit.get("every")):
            raise ValueError(f"{edit['file']} has text {number + 1} of the edit {edit['id']} {count} times")
        text = text.replace(old, new)
    return text
