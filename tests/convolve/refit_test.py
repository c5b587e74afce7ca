#!/usr/bin/env python3
"""The fit of the rule that `convolve` chooses by, with samples made up; and with recorded times, of the program given."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "stages" / "convolve"))
try:
    import refit
except ImportError as error:
    print(f"NOT RUN: {error}")
    sys.exit(77)

PROGRAM = None
TERMS = ["launch", "wave", "wave_step", "sm_step", "step", "cluster", "megabyte"]
TRUE = {"small": [2, 0.5, 0.002, 0, 0, 0, 0], "large": [2, 0.5, 0.006, 0, 0, 0, 0], "picky": [1, 0, 0, 0, 0.01, 0, 0.3]}


def data_of(samples, tensor_cores=()):
    names = sorted({one[2] for one in samples} | set(tensor_cores))
    return {"gpu": "a GPU", "multiprocessors": 100, "date": "2026-01-02T03:04:05Z", "command": "a command",
            "terms": TERMS, "contenders": [[name, name in tensor_cores] for name in names], "samples": samples}


def sample(layer, contender, us, terms=(1, 1, 10, 10, 5, 0, 1)):
    return [layer, layer + "-1", contender, us, list(terms)]


def made_up():
    """On 60 layers of 1 and 8 images, as the true coefficients say."""
    samples = []
    for number in range(60):
        for images in (1, 8):
            for at, (name, true) in enumerate(TRUE.items()):
                waves = 1 + (number * 7 + at) % 5 * images
                steps = 10 * (1 + number * number % 37)
                terms = [1, waves, waves * steps, (waves + number % 3) * steps, waves * steps * 0.7, 0,
                         number % 11 + at]
                samples.append([f"{number}-{images}", f"{number}-1", name, refit.predicted(true, terms), terms])
    return samples


class Fit(unittest.TestCase):
    def test_finds_what_times_follow_from_also_on_layers_it_has_not_seen(self):
        rule = refit.fit(data_of(made_up()))
        self.assertEqual([one["variant"] for one in rule["models"]], ["large", "picky", "small"])
        for model in rule["models"]:
            self.assertEqual(model["layers"], 120)
            self.assertLess(model["error"], 0.01)
            self.assertGreaterEqual(min(model["microseconds"].values()), 0)
        self.assertEqual(len(rule["layers"]), 120)
        self.assertEqual(rule["left_out"]["layers"], 120)
        self.assertLess(rule["left_out"]["mean"], 0.005)
        self.assertLessEqual(rule["left_out"]["mean"], rule["left_out"]["worst"])

    def test_what_leaving_layers_out_costs_shows_where_no_model_can_follow(self):
        samples = made_up()
        for one in samples[::5]:
            one[3] *= 3  # by turns, which no term counts
        rule = refit.fit(data_of(samples))
        self.assertGreater(rule["left_out"]["mean"], 0.05)
        self.assertGreater(rule["left_out"]["worst"], 0.3)
        self.assertTrue(rule["left_out"]["worst_layer"])
        for layer, variant, us in rule["layers"]:
            self.assertEqual((us, variant), min((one[3], one[2]) for one in samples if one[0] == layer))

    def test_the_least_of_all_is_found_also_at_the_edge(self):
        # Without the second term the first would be 3: the sum of squares is least with it at 0.
        samples = [[str(i), "1", "one", us, terms + [0] * 5] for i, (us, terms) in
                   enumerate([(1, [1, 2]), (2, [2, 1]), (3, [3, 1])])]
        (model,) = refit.fit(data_of(samples))["models"]
        self.assertAlmostEqual(model["microseconds"]["launch"], 1, places=6)
        self.assertEqual(model["microseconds"]["wave"], 0)

    def test_of_a_time_that_is_there_twice_the_lesser_counts(self):
        rule = refit.fit(data_of([sample("a", "small", 3), sample("a", "large", 4), sample("a", "large", 2)]))
        self.assertEqual(rule["layers"], [["a", "large", 2]])

    def test_of_one_contender_alone_nobody_knows_whether_it_is_the_fastest(self):
        self.assertEqual(refit.fit(data_of([sample("a", "small", 3)]))["layers"], [])

    def test_nothing_makes_no_rule(self):
        for samples in ([], [sample("a", "small", 0)]):
            with self.assertRaisesRegex(ValueError, "no times of our contenders"):
                refit.fit(data_of(samples))

    def test_tensor_cores_stand_beside_the_fastest_of_the_others_where_they_are_faster(self):
        times = [("fast", "small", 3), ("fast", "large", 4), ("fast", "tensor", 1),
                 ("slow", "small", 3), ("slow", "large", 4), ("slow", "tensor", 5)]
        rule = refit.fit(data_of([sample(*one) for one in times], {"tensor"}))
        self.assertEqual(rule["layers"], [["fast", "small", 3], ["fast", "tensor", 1], ["slow", "small", 3]])
        self.assertEqual(rule["left_out"]["layers"], 2)


class Later(unittest.TestCase):
    def setUp(self):
        self.before = [sample("won", "small", 3), sample("won", "large", 4), sample("lost", "small", 3),
                       sample("lost", "large", 4)]
        self.rule = refit.fit(data_of(self.before))

    def added(self, won, lost, tensor_cores=()):
        data = data_of([sample("won", "later", won), sample("lost", "later", lost), sample("new", "later", 1)],
                       tensor_cores)
        data["contenders"] += [["small", False], ["large", False]]
        refit.add(self.rule, data, ["later"])
        return sorted(self.rule["layers"])

    def test_one_that_is_added_has_its_model_and_the_layers_on_which_it_is_faster(self):
        self.assertEqual(self.added(2, 5), [["lost", "small", 3], ["won", "later", 2]])
        self.assertEqual([one["variant"] for one in self.rule["models"]], ["large", "small", "later"])
        self.assertEqual(self.rule["added"], ["later"])
        # Measured again: faster on both.
        self.assertEqual(self.added(1, 2.5), [["lost", "later", 2.5], ["won", "later", 1]])
        self.assertEqual(self.rule["added"], ["later"])
        self.assertEqual(len(self.rule["models"]), 3)

    def test_one_that_is_slower_where_it_was_the_fastest_gives_the_layer_back(self):
        self.added(2, 5)
        self.assertEqual(self.added(2.02, 5), [["lost", "small", 3], ["won", "later", 2.02]])  # by chance
        self.assertEqual(self.added(2.1, 5), [["lost", "small", 3]])

    def test_on_tensor_cores_it_stands_beside_the_others(self):
        self.assertEqual(self.added(2, 5, {"later"}), [["lost", "small", 3], ["won", "later", 2], ["won", "small", 3]])

    def test_of_several_that_are_measured_together_the_fastest_has_the_layer(self):
        data = data_of([sample("won", "later", 2.5), sample("won", "last", 2), sample("lost", "later", 5),
                        sample("lost", "last", 4)], {"later", "last"})
        data["contenders"] += [["small", False], ["large", False]]
        refit.add(self.rule, data, ["later", "last"])
        own = ["won", "last", 2]
        self.assertEqual(sorted(self.rule["layers"]), [["lost", "small", 3], own, ["won", "small", 3]])
        # Slower now, by more than chance: the other was slower then, and on tensor cores one of them stays.
        data["samples"][0][3], data["samples"][1][3] = 2.2, 2.3
        refit.add(self.rule, data, ["later", "last"])
        self.assertEqual(sorted(self.rule["layers"]),
                         [["lost", "small", 3], ["won", "later", 2.2], ["won", "small", 3]])

    def test_one_without_times_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no times of a contender other"):
            refit.add(self.rule, data_of(self.before), ["other"])

    def test_layers_are_refined_by_the_fastest_of_several(self):
        models = list(self.rule["models"])
        refit.refine(self.rule, data_of([sample("new", "small", 5), sample("new", "large", 4)]))
        self.assertIn(["new", "large", 4], self.rule["layers"])
        self.assertIn(["won", "small", 3], self.rule["layers"])
        self.assertEqual(self.rule["models"], models)
        # What was known of a layer gives way, also where it was faster then.
        refit.refine(self.rule, data_of([sample("won", "small", 7), sample("won", "large", 6)]))
        self.assertIn(["won", "large", 6], self.rule["layers"])
        self.assertNotIn(["won", "small", 3], self.rule["layers"])
        with self.assertRaisesRegex(ValueError, "one contender alone"):
            refit.refine(self.rule, data_of([sample("new", "small", 5)]))


    def test_where_calls_pack_or_overlap_others_are_noted_if_they_are_faster_by_more_than_chance(self):
        for calls in ("packing", "overlapping"):
            refit.note_others(self.rule, calls, data_of([
                sample("won", "small", 6), sample("won", "large", 4), sample("lost", "small", 4.05),
                sample("lost", "large", 4), sample("new", "small", 2), sample("new", "large", 1)]))
            self.assertEqual(self.rule[calls], [["won", "large", 4]])
            self.assertEqual(sorted(self.rule["layers"]), [["lost", "small", 3], ["won", "small", 3]])
            # Measured again: the fastest is so now, too.
            refit.note_others(self.rule, calls, data_of([sample("won", "small", 5), sample("won", "large", 5.2)]))
            self.assertEqual(self.rule[calls], [])
            # One on tensor cores stands beside the others.
            refit.note_others(self.rule, calls, data_of([
                sample("won", "small", 5), sample("won", "large", 5.2), sample("won", "tensor", 3)], {"tensor"}))
            self.assertEqual(self.rule[calls], [["won", "small", 5], ["won", "tensor", 3]])


class Files(unittest.TestCase):
    def test_the_rules_that_there_are_stay_as_they_are_when_they_are_written_again(self):
        paths = sorted(refit.RULES.glob("*.json"))
        self.assertTrue(paths)
        for path in paths:
            text = path.read_text(encoding="utf-8")
            self.assertEqual(refit.to_text(json.loads(text)), text)

    def test_recorded_times_make_a_rule_that_has_the_fastest_of_each_layer(self):
        if PROGRAM is None:
            self.skipTest("no program was given")
        with tempfile.TemporaryDirectory() as folder:
            samples, out = f"{folder}/samples.json", f"{folder}/rule.json"
            subprocess.run([PROGRAM, "measure", "--from", ROOT / "docs/results/bench_chang_onishi_multi.json", "--out",
                            samples], check=True)
            self.assertEqual(refit.main([samples, "--out", out]), 0)
            rule = json.loads(pathlib.Path(out).read_text(encoding="utf-8"))
            self.assertEqual((rule["gpu"], rule["multiprocessors"], len(rule["layers"])), ("NVIDIA H200", 132, 27))
            self.assertEqual(rule["left_out"]["layers"], 27)
            times = json.loads(pathlib.Path(samples).read_text(encoding="utf-8"))["samples"]
            for layer, _, us in rule["layers"]:
                self.assertAlmostEqual(us, min(one[3] for one in times if one[0] == layer), delta=1e-5 * us)
            # Two contenders more in the rule that there is.
            self.assertEqual(refit.main([samples, "--out", out, "--add", "filter_group,stride_fixed_32"]), 0)
            self.assertEqual(json.loads(pathlib.Path(out).read_text(encoding="utf-8"))["added"][-2:],
                             ["filter_group", "stride_fixed_32"])
            self.assertEqual(refit.main([samples, "--out", out, "--add", "nobody"]), 2)
            self.assertEqual(refit.main([f"{folder}/none.json", "--out", out]), 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program")
    options, rest = parser.parse_known_args()
    PROGRAM = options.program
    unittest.main(argv=[sys.argv[0], *rest])
