"""The class of known submissions is the same each time, and of every kind."""
import collections
import json
import pathlib
import tempfile
import unittest

import make_class


class MakeClass(unittest.TestCase):
    def test_two_hundred_and_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as place:
            folders = [pathlib.Path(place) / name for name in ("a", "b")]
            files = []
            for folder in folders:
                made = make_class.make(folder)
                self.assertEqual(len(made), make_class.SIZE)
                self.assertEqual(made, json.loads((folder / "expected.json").read_text()))
                self.assertEqual(len(list((folder / "submissions").iterdir())), make_class.SIZE)
                for one in made.values():
                    self.assertTrue((folder / "submissions" / one["submission"]).exists(), one)
                files.append({path.relative_to(folder): path.read_bytes()
                              for path in folder.rglob("*") if path.is_file()})
            self.assertEqual(files[0], files[1])
        kinds = collections.Counter(one["kind"] for one in made.values())
        packings = collections.Counter(one["packed"] for one in made.values())
        self.assertGreaterEqual(min(kinds["right"], kinds["wrong"]), 25)
        self.assertEqual(kinds["unusable"], 6)
        for packing in make_class.PACKINGS:
            self.assertGreaterEqual(packings[packing], 8)
        # No exercise is left out, on neither side.
        for kind in ("right", "wrong"):
            self.assertEqual({one["exercise"] for one in made.values() if one["kind"] == kind},
                             set(make_class.exercises()))


if __name__ == "__main__":
    unittest.main()
