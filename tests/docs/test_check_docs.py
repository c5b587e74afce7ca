#!/usr/bin/env python3
"""Tests of docs/check_docs.py: each kind of drift must be seen, and --fix must mend it once."""

import contextlib
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "check_docs.py"
spec = importlib.util.spec_from_file_location("check_docs", SCRIPT)
check_docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_docs)

SOURCE = """\
// top
// [doc:kernel]
  void kernel() {
    // [doc:inner]
    work();
    // [/doc:inner]
  }
// [/doc:kernel]
"""
EXCERPT = ["void kernel() {", "  work();", "}"]

RESULTS = {
    "schema_version": 2,
    "command": "halo run --json run.json",
    "date": "2025-11-21T10:00:00Z",
    "seed": 7,
    "machine": {"cpu": "a CPU", "gpu": "", "compiler": "g++ 12"},
    "rows": [
        {
            "stage": "02", "backend": "sim", "variant": "grid", "source": "stages/02/grid.cu",
            "problem": {"length": 100000, "mask_width": 9, "threads": 256, "border": "zero"},
            "check": {"status": "PASS", "reason": "", "shapes": 31, "worst_share": 0.41},
            "traffic": {
                "status": "EQUAL", "reason": "",
                "predicted": {"global_load_sectors": 137492},
                "counted": {"global_load_sectors": 137492},
                "bytes_per_output_predicted": 47.99744, "bytes_per_output_counted": 47.99744,
            },
        },
        {
            "stage": "02", "backend": "sim", "variant": "slow",
            "problem": {"length": 10, "mask_width": 9},
            "traffic": {"status": "NOT RUN", "reason": "too large"},
        },
    ],
}


def excerpt(lines, name="kernel", path="src/a.cu"):
    return "\n".join([f"<!-- excerpt: {path} {name} -->", "```cpp", *lines, "```"])


class CheckDocs(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs" / "results").mkdir(parents=True)
        (self.root / "src").mkdir()
        (self.root / "src" / "a.cu").write_text(SOURCE)
        (self.root / "docs" / "results" / "run.json").write_text(json.dumps(RESULTS))
        (self.root / "docs" / "plot.svg").write_text("<svg/>")

    def page(self, text, name="page.md", with_excerpt=True):
        if with_excerpt:
            text += "\n\n" + excerpt(EXCERPT) + "\n"
        path = self.root / "docs" / name
        path.write_text(text)
        return path

    def run_script(self, mode="--check"):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = check_docs.main([mode, "--root", str(self.root)])
        return code, out.getvalue() + err.getvalue()

    def assert_good(self):
        code, said = self.run_script()
        self.assertEqual(code, 0, said)

    def assert_bad(self, *words):
        code, said = self.run_script()
        self.assertEqual(code, 1, said)
        for word in words:
            self.assertIn(word, said)

    # ---- excerpts ----

    def test_equal_excerpt_passes(self):
        self.page("# Page")
        code, said = self.run_script()
        self.assertEqual(code, 0, said)
        self.assertIn("1 excerpts", said)

    def test_changed_excerpt_is_seen_with_its_line(self):
        self.page("# Page\n\n" + excerpt(["void kernel() {", "  play();", "}"]), with_excerpt=False)
        self.assert_bad("docs/page.md:3:", "differs from the source")

    def test_changed_source_is_seen(self):
        self.page("# Page")
        self.assert_good()
        (self.root / "src" / "a.cu").write_text(SOURCE.replace("work", "rest"))
        self.assert_bad("differs from the source")

    def test_missing_file(self):
        self.page(excerpt(EXCERPT, path="src/none.cu"), with_excerpt=False)
        self.assert_bad("src/none.cu does not exist")

    def test_missing_marker(self):
        self.page(excerpt(EXCERPT, name="launch"), with_excerpt=False)
        self.assert_bad("0 marker(s) [doc:launch]")

    def test_unclosed_and_double_markers(self):
        self.page("# Page")
        (self.root / "src" / "a.cu").write_text(SOURCE.replace("// [/doc:kernel]\n", ""))
        self.assert_bad("0 [/doc:kernel]")
        (self.root / "src" / "a.cu").write_text(SOURCE + SOURCE)
        self.assert_bad("2 marker(s)")

    def test_empty_excerpt(self):
        (self.root / "src" / "a.cu").write_text("// [doc:kernel]\n// [/doc:kernel]\n")
        self.page(excerpt([""]), with_excerpt=False)
        self.assert_bad("nothing stands between")

    def test_file_outside_the_repository(self):
        self.page(excerpt(EXCERPT, path="../../etc/hostname"), with_excerpt=False)
        self.assert_bad("outside the repository")

    def test_excerpt_without_block(self):
        self.page("<!-- excerpt: src/a.cu kernel -->\n\ntext")
        self.assert_bad("must be followed by a fenced code block")

    def test_zero_excerpts_is_an_error(self):
        self.page("# Page\n\nNothing here.", with_excerpt=False)
        self.assert_bad("no excerpt was found")

    def test_directive_inside_a_code_block_is_not_an_excerpt(self):
        self.page("````\n" + excerpt(["anything"], path="none") + "\n````", with_excerpt=False)
        self.assert_bad("no excerpt was found")

    def test_no_page_is_an_error(self):
        self.assert_bad("no page was found")

    # ---- tables and values ----

    TABLE = "<!-- table: results/run.json {} -->\n{}<!-- /table -->"

    def test_table_is_generated_and_checked(self):
        page = self.page(self.TABLE.format("stage=02 columns=variant,length,counted_bytes", "old\n"))
        self.assert_bad("differs from results/")
        self.assertEqual(self.run_script("--fix")[0], 0)
        text = page.read_text()
        self.assertIn("| `grid` | 100,000 | 48.00 |", text)
        self.assertIn("| `slow` | 10 | NOT RUN |", text)
        self.assertIn("`slow` NOT RUN: too large.", text)
        self.assertIn("From `halo run --json run.json`, 2025-11-21, seed 7; a CPU; g++ 12", text)
        self.assert_good()

    def test_what_the_rows_of_a_variant_share_stands_in_the_file_once(self):
        shared = {**json.loads(json.dumps(RESULTS)), "schema_version": 4}
        grid = shared["rows"][0]
        shared["variants"] = [{**{name: grid.pop(name) for name in ("source", "traffic")}, "check": {"status": "PASS"},
                               **{name: grid[name] for name in ("stage", "backend", "variant")}}]
        del grid["check"]["status"]
        shared["rows"].insert(1, {**grid, "problem": {"length": 7}})
        (self.root / "docs" / "results" / "run.json").write_text(json.dumps(shared))
        page = self.page(self.TABLE.format("columns=variant,source,length,check,shapes,counted_bytes", ""))
        self.assertEqual(self.run_script("--fix")[0], 0)
        for line in ("| `grid` | `stages/02/grid.cu` | 100,000 | PASS | 31 | 48.00 |",
                     "| `grid` | `stages/02/grid.cu` | 7 | PASS | 31 | 48.00 |", "| `slow` | `` | 10 | NOT RUN | - | NOT RUN |"):
            self.assertIn(line, page.read_text())

    def test_changed_results_are_seen(self):
        self.page(self.TABLE.format("columns=variant,length", ""))
        self.run_script("--fix")
        self.assert_good()
        changed = json.loads(json.dumps(RESULTS))
        changed["rows"][0]["problem"]["length"] = 99999
        (self.root / "docs" / "results" / "run.json").write_text(json.dumps(changed))
        self.assert_bad("differs from results/")

    def test_table_of_counters(self):
        page = self.page(self.TABLE.format("variant=slow,grid counters=global_load_sectors", ""))
        self.run_script("--fix")
        self.assertIn("| counter | `slow` predicted | counted | `grid` predicted | counted |",
                      page.read_text())
        self.assertIn("| 137,492 | 137,492 |", page.read_text())
        self.assertIn("*From", page.read_text())

    def test_only_reasons_of_what_is_shown(self):
        page = self.page(self.TABLE.format("columns=variant,length", ""))
        self.run_script("--fix")
        self.assertNotIn("too large", page.read_text())

    def test_a_problem_common_to_all_rows_stands_in_the_caption(self):
        page = self.page(self.TABLE.format("variant=grid columns=variant", ""))
        self.run_script("--fix")
        self.assertIn("*Length 100,000, mask width 9, threads 256, border zero. From `halo", page.read_text())

    def test_columns_that_say_the_same_are_said_once(self):
        page = self.page(self.TABLE.format("variant=grid columns=variant said=check,border", ""))
        self.assertEqual(self.run_script("--fix")[0], 0)
        self.assert_good()
        self.assertIn("*Its row: check PASS, border zero. Length 100,000", page.read_text())
        self.page(self.TABLE.format("columns=variant said=traffic", ""))
        self.assert_bad("said=traffic: the rows differ (EQUAL, NOT RUN)")

    def test_wrong_tables(self):
        for arguments, words in (
            ("columns=nonsense", "unknown column"),
            ("variant=none columns=variant", "no row"),
            ("counters=sheep", "unknown counter"),
            ("stage=02", "needs columns= or counters="),
            ("columns", "should read name=value"),
        ):
            with self.subTest(arguments):
                self.page(self.TABLE.format(arguments, ""))
                self.assert_bad(words)

    def test_missing_results_and_broken_json(self):
        self.page("<!-- table: results/none.json columns=variant -->\n<!-- /table -->")
        self.assert_bad("none.json is missing")
        (self.root / "docs" / "results" / "none.json").write_text("{")
        self.assert_bad("is not JSON")

    def timed(self, backend, variant, length, hot, transfers=None, published=None):
        return {
            "stage": "02", "backend": backend, "variant": variant, "role": "variant",
            "problem": {"length": length, "mask_width": 3, "threads": 16, "border": "zero"},
            "time": {"status": "MEASURED", "reason": "", "hot": {"median_ms": hot},
                     "transfers": {"median_ms": transfers}, "share_of_copy": 0.9876},
            "published": published or {},
        }

    def write_times(self, gpu, cpu):
        for name, rows in (("gpu", gpu), ("cpu", cpu)):
            path = self.root / "docs" / "results" / f"{name}.json"
            path.write_text(json.dumps(dict(RESULTS, command=f"halo bench --on {name}", rows=rows)))

    def test_columns_of_times(self):
        self.write_times([self.timed("gpu", "grid", 1000, 0.0203145, 1.5)], [])
        path = self.page("<!-- table: results/gpu.json columns=variant,median_ms,transfers_ms,"
                         "share_of_copy,cold_ms -->\n<!-- /table -->")
        self.run_script("--fix")
        self.assertIn("| `grid` | 0.0203 | 1.50 | 98.8 % | - |", path.read_text())
        self.assert_good()

    def test_layers_and_their_published_figures(self):
        layer = {"N": 1, "C": 192, "H": 7, "W": 7, "K": 384, "R": 3, "S": 3, "stride": 1, "padding": 1}
        rows = [self.timed("gpu", "two_stage", 10, 0.5, 1.0,
                           {"source": "a paper, Table 4", "ours_us": 57.79})]
        rows[0]["problem"] = layer
        rows.append(dict(self.timed("gpu", "cudnn", 10, 0.25, 1.0),
                         problem=dict(layer, W=9, stride=2, padding="0x1")))
        self.write_times(rows, [])
        path = self.page("<!-- table: results/gpu.json published.source=* columns=layer -->\n"
                         "<!-- /table -->")
        self.run_script("--fix")
        self.assertIn("| 7-1-3-384-192 |", path.read_text())
        self.assertNotIn("s2", path.read_text())
        path = self.page("<!-- table: results/gpu.json columns=layer,problem:C,published:ours_us -->\n"
                         "<!-- /table -->")
        self.run_script("--fix")
        self.assertIn("| 7-1-3-384-192 | 192 | 57.8 |", path.read_text())
        self.assertNotIn("NOT RUN", path.read_text())  # these columns are not the traffic's
        self.assertIn("| 7x9-1-3-384-192-s2-p0x1 | 192 | - |", path.read_text())
        self.assert_good()

    def test_report_has_both_files_and_what_was_published(self):
        then = {"source": "a report, Table 1", "cpu_ms": 10.0, "gpu_ms": 4.0}
        self.write_times([self.timed("gpu", "grid", 100000, 0.5, 2.0, then),
                          self.timed("gpu", "grid", 1000, 0.25, 1.0, then),
                          self.timed("gpu", "grid", 10, 0.25, 1.0)],
                         [self.timed("cpu", "loop", 1000, 3.0),
                          self.timed("cpu", "loop", 100000, 8.0)])
        path = self.page("<!-- report: results/gpu.json cpu=results/cpu.json variant=grid -->\n"
                         "<!-- /report -->")
        self.assert_bad("differs from results/gpu.json")
        self.run_script("--fix")
        self.assert_good()
        lines = [line for line in path.read_text().split("\n") if line.startswith("| 1")]
        self.assertEqual(lines[0], "| 1,000 | 3.00 | 1.00 | 3.00 | 0.250 | 12.00 | 10.0 | 4.00 | 2.50 |")
        self.assertEqual(lines[1], "| 100,000 | 8.00 | 2.00 | 4.00 | 0.500 | 16.00 | 10.0 | 4.00 | 2.50 |")
        self.assertEqual(len(lines), 2)
        self.assertIn("a report, Table 1", path.read_text())
        self.assertIn("halo bench --on cpu", path.read_text())

    def test_contest(self):
        def row(variant, problem, ms):
            found = self.timed("gpu", variant, 10, ms)
            found["problem"] = problem
            return found

        softmax, pooling = {"N": 128, "C": 10}, {"N": 2, "C": 3, "H": 12, "W": 9, "R": 3, "S": 3,
                                                 "stride": 2, "padding": 0, "kind": "max",
                                                 "rounding": "ceil"}
        rows = [row("slow", softmax, 4.0), row("quick", softmax, 2.0), row("other", softmax, 1.0),
                row("slow", pooling, 16.0), row("quick", pooling, 2.0)]
        self.write_times(rows, [])
        path = self.page("<!-- contest: results/gpu.json columns=slow,quick|other,slow/quick,slow/other "
                         "name=a_layer -->\n<!-- /contest -->")
        self.assert_bad("differs from results/gpu.json")
        self.run_script("--fix")
        self.assert_good()
        text = path.read_text()
        self.assertIn("| a layer | `slow` | `quick` or `other` | `slow` / `quick` |", text)
        self.assertIn("| 128x10 | 4.00 | 1.00 | 2.00 | 4.00 |", text)
        self.assertIn("| 12x9-2-3-3-s2-ceil | 16.0 | 2.00 | 8.00 | NOT RUN |", text)
        self.assertIn("geometric mean 4.00 over 2, from 2.00 (128x10) to 8.00 (12x9-2-3-3-s2-ceil)", text)
        path = self.page("<!-- contest: results/gpu.json columns=slow/quick only=means -->\n"
                         "<!-- /contest -->")
        self.run_script("--fix")
        self.assertIn("geometric mean 4.00 over 2", path.read_text())
        self.assertNotIn("| 128x10", path.read_text())
        path = self.page("<!-- contest: results/gpu.json columns=slow,quick,slow/quick names=CLASS1,PL3 -->\n"
                         "<!-- /contest -->")
        self.run_script("--fix")
        self.assertIn("| CLASS1 128x10 | 4.00 | 2.00 | 2.00 |", path.read_text())
        self.assertIn("to 8.00 (PL3 12x9-2-3-3-s2-ceil)", path.read_text())
        signals = [row("slow", {"length": 100, "mask_width": w, "threads": threads, "border": "zero"}, 4.0 * w)
                   for w, threads in ((3, 256), (9, 16))]
        self.write_times(signals, [])
        path = self.page("<!-- contest: results/gpu.json columns=slow -->\n<!-- /contest -->")
        self.run_script("--fix")
        self.assertIn("| 100x3 | 12.0 |\n| 100x9, threads 16 | 36.0 |\n", path.read_text())
        rows[3]["time"]["hot"]["median_ms"] = 8.0
        self.write_times(rows, [])
        self.assert_bad("differs from results/gpu.json")

    def write_layers(self):
        """Four layers: one image and two, a kernel each; the second is lost."""
        rows = []
        for images, ours, source in ((1, 1.0, "1_tile"), (1, 8.0, "2_matrix"), (2, 2.0, "1_tile"),
                                     (10, 1.0, "1_tile")):
            problem = {"N": images, "C": len(rows) + 1, "H": 7, "W": 7, "K": 8, "R": 3, "S": 3,
                       "stride": 1, "padding": 1}
            for variant, ms in (("ours", ours), ("library", 4.0), ("other_library", 5.0)):
                rows.append(dict(self.timed("gpu", variant, 10, ms), problem=problem))
                if variant == "ours":
                    rows[-1]["source"] = f"stages/09_a_stage/{source}.cu"
        self.write_times(rows, [])

    def test_contest_in_groups(self):
        self.write_layers()
        path = self.page("<!-- contest: results/gpu.json columns=library|other_library/ours by=problem.N "
                         "name=layers -->\n<!-- /contest -->")
        self.assert_bad("differs from results/gpu.json")
        self.run_script("--fix")
        self.assert_good()
        text = path.read_text()
        self.assertIn("| N | layers | over 1 | geometric mean | least | greatest |", text)
        self.assertIn("| 1 | 2 | 1 | 1.41 | 0.50 (7-1-3-8-4) | 4.00 (7-1-3-8-1) |", text)
        self.assertIn("geometric mean 2.00 over 4, from 0.50 (7-1-3-8-4)", text)
        self.assertLess(text.index("| 2 | 1 |"), text.index("| 10 | 1 |"))  # by number, not by letters
        path = self.page("<!-- contest: results/gpu.json columns=library/ours by=source -->\n<!-- /contest -->")
        self.run_script("--fix")
        self.assertIn("| 09 `tile` | 3 | 3 | 3.17 | 2.00 (7-2-3-8-7) | 4.00 (7-10-3-8-10) |", path.read_text())
        path = self.page("<!-- contest: results/gpu.json columns=library/ours by=problem.N "
                         "own.source=stages/09_a_stage/2_matrix.cu -->\n<!-- /contest -->")
        self.run_script("--fix")
        self.assertIn("| 1 | 1 | 0 | 0.50 |", path.read_text())
        self.assertNotIn("| 2 | 1 |", path.read_text())

    def test_headline(self):
        self.write_layers()
        headline = self.root / "docs" / "results" / "headline.json"
        rows = [{"what": "[one image](page.md)", "file": "results/gpu.json", "ratio": "library|other_library/ours",
                 "where": {"problem.N": "1"}},
                {"what": "more", "file": "results/gpu.json", "ratio": "library/ours", "where": {"problem.N": "2,10"}}]
        headline.write_text(json.dumps({"rows": rows}))
        path = self.page("<!-- headline: results/headline.json -->\n<!-- /headline -->")
        self.assert_bad("differs from results/headline.json")
        self.run_script("--fix")
        self.assert_good()
        self.assertIn("| [one image](page.md) | 2 | 1 | 1.41 | 0.50 |\n| more | 2 | 2 |", path.read_text())
        # A side may have a key of its own: a sum, of which a part marked by ? may be absent.
        rows[1]["key"] = "time.hot.median_ms/time.hot.median_ms+time.packing_ms?"
        results = self.root / "docs" / "results" / "gpu.json"
        times = json.loads(results.read_text())
        next(row for row in times["rows"] if row["variant"] == "ours" and row["problem"]["N"] == 2)["time"]["packing_ms"] = 3.0
        results.write_text(json.dumps(times))
        headline.write_text(json.dumps({"rows": rows}))
        self.run_script("--fix")
        self.assertIn("| more | 2 | 1 | 1.79 | 0.80 |", path.read_text())
        rows[1]["ratio"] = "library/nobody"
        headline.write_text(json.dumps({"rows": rows}))
        self.assert_bad("nobody")

    def test_what_a_ratio_comes_to(self):
        self.write_layers()
        wanted = "problem.N=1 ratio=library|other_library/ours"
        for arguments, text in ((f"{wanted} key=mean as=2", "1.41"), (f"{wanted} key=wins", "1"),
                                (f"{wanted} key=least_problem", "7-1-3-8-4"),
                                ("ratio=library/ours key=compared own.source=stages/09_a_stage/1_tile.cu", "3")):
            with self.subTest(arguments):
                path = self.page(f"It is <!-- value: results/gpu.json {arguments} -->?<!-- /value -->.")
                self.assert_bad(f"the results say {text}")
                self.run_script("--fix")
                self.assert_good()
                self.assertIn(f"-->{text}<!-- /value -->", path.read_text())
        for arguments, words in (("ratio=library key=mean", "a ratio reads a/b"),
                                 ("ratio=library/none key=mean", "is of the variant 'none'"),
                                 ("ratio=library/ours key=median", "there is no 'median'"),
                                 ("ratio=library/ours key=mean own.source=none", "no problem of")):
            with self.subTest(arguments):
                self.page(f"It is <!-- value: results/gpu.json {arguments} -->1<!-- /value -->.")
                self.assert_bad(words)

    def test_wrong_contests(self):
        self.write_times([self.timed("gpu", "grid", 1000, 0.25)], [])
        for argument, word in (("variant=grid", "needs columns="),
                               ("columns=grid/none", "is of the variant 'none'"),
                               ("columns=grid only=means", "needs a ratio"),
                               ("columns=grid by=problem.N", "by= needs one ratio"),
                               ("columns=grid names=PL1,PL2", "2 names for 1 problems"),
                               ("columns=grid key=time.cold.median_ms", "has the key")):
            self.page(f"<!-- contest: results/gpu.json {argument} -->\n<!-- /contest -->")
            self.assert_bad(word)

    def test_wrong_reports(self):
        self.write_times([self.timed("gpu", "grid", 1000, 0.25, 1.0)], [])
        for argument, word in (("variant=grid", "needs cpu="),
                               ("cpu=results/cpu.json variant=grid", "published figures"),
                               ("cpu=results/cpu.json variant=none", "no row of")):
            self.page(f"<!-- report: results/gpu.json {argument} -->\n<!-- /report -->")
            self.assert_bad(word)

    def test_three_digits_that_say_something(self):
        for value, text in ((0.0203145, "0.0203"), (1.5, "1.50"), (33.7104, "33.7"), (1234.5, "1,234"),
                            (0, "0"), (0.000123456, "0.000123")):
            self.assertEqual(check_docs.significant(value), text)

    def test_findings(self):
        said = "a.cu:3: error: race of tile in k(float*): " + "thread " * 20 + "(1 time)"
        (self.root / "docs" / "results" / "findings.json").write_text(json.dumps(
            {"runs": [{"name": "a", "said": [said]}, {"name": "b", "said": []}]}))
        block = "<!-- findings: results/findings.json {} -->\n<!-- /findings -->"
        page = self.page(block.format("name=a"))
        self.assert_bad("differs from results/")
        self.assertEqual(self.run_script("--fix")[0], 0)
        text = page.read_text()
        self.assertIn("```text\na.cu:3: error: race of tile", text)
        self.assertEqual(" ".join(said.split()), " ".join(text.split("```text")[1].split("```")[0].split()))
        for arguments, words in (("name=c", "has 0 runs"), ("name=b", "said nothing"),
                                 ("variant=a", "need name=")):
            with self.subTest(arguments):
                self.page(block.format(arguments))
                self.assert_bad(words)
        self.page(block.format("name=a").replace("/findings", "/table"))
        self.assert_bad("must end with <!-- /findings -->")

    def test_table_without_end(self):
        self.page("<!-- table: results/run.json columns=variant -->\n")
        self.assert_bad("must end with")

    VALUE = "It reads <!-- value: results/run.json {} -->{}<!-- /value --> sectors."
    KEY = "variant=grid key=traffic.counted.global_load_sectors"

    def test_value_is_checked_and_mended(self):
        page = self.page(self.VALUE.format(self.KEY, "137,491"))
        self.assert_bad("the page says 137,491, the results say 137,492")
        self.assertEqual(self.run_script("--fix")[0], 0)
        self.assertIn("-->137,492<!--", page.read_text())

    def test_wrong_values(self):
        for arguments, words in (
            ("variant=grid key=traffic.counted.nothing", "there is no 'nothing'"),
            ("stage=02 key=variant", "needs exactly one"),
            ("variant=grid", "needs key="),
            ("variant=grid key=traffic", "not a plain value"),
            (self.KEY + " as=roman", "unknown format"),
            (self.KEY + ",variant as=grouped,1,1", "2 keys and 3 formats"),
        ):
            with self.subTest(arguments):
                self.page(self.VALUE.format(arguments, "1"))
                self.assert_bad(words)

    def test_several_keys_are_cells_side_by_side(self):
        key = self.KEY + ",traffic.counted.global_load_sectors as=grouped,significant"
        path = self.page("| what | a | b |\n| --- | --- | --- |\n| it | <!-- value: results/run.json " + key + " -->?<!-- /value --> |")
        self.assert_bad("the page says ?")
        self.run_script("--fix")
        self.assert_good()
        self.assertIn("-->137,492 | 137,492<!-- /value --> |", path.read_text())

    def test_measured_layers_of_a_rule_are_rows(self):
        (self.root / "docs" / "results" / "rule.json").write_text(json.dumps(
            {"models": [], "layers": [["7-1-1-2-3", "tile", 2.5], ["7-1-1-2-3", "tile_tf32", 1.5]]}))
        path = self.page("It is <!-- value: results/rule.json layer=7-1-1-2-3 variant=tile_tf32 key=us as=us_in_ms -->"
                         "?<!-- /value -->")
        self.run_script("--fix")
        self.assert_good()
        self.assertIn("-->0.00150<!-- /value -->", path.read_text())
        self.page("It is <!-- value: results/rule.json layer=7-1-1-2-3 key=us as=1 -->1.5<!-- /value -->")
        self.assert_bad("2 rows match")

    def test_a_line_that_begins_with_a_value_gets_the_word_before_it(self):
        value = self.VALUE[len("It reads "):].format(self.KEY, "137,492")
        page = self.page(f"- It tried `a b`\n  {value}.")
        self.assert_bad("page.md:2: a line begins with a value")
        self.assertEqual(self.run_script("--fix")[0], 0)
        self.assertIn(f"- It tried\n  `a b` {value}.", page.read_text())
        for alone in [f"- {value}", f"Text.\n\n{value}", f"1. {value}"]:
            self.page(alone)
            self.assert_bad("begins with a value")

    def test_a_value_in_inline_code_is_complained_of(self):
        value = self.VALUE[len("It reads "):].format(self.KEY, "137,492")
        self.page(f"It reads `grid` and {value} `sectors`.")
        self.assert_good()
        self.page(f"It reads `{value}`.")
        self.assert_bad("page.md:1: a value in inline code")

    def test_a_line_that_begins_with_greater_than_is_complained_of(self):
        self.page("If w is\n> 16, it loses.")
        self.assert_bad("page.md:2: a line within a paragraph begins with >")
        self.page("```\na\n> b\n```\n\n> A quotation\n> of two lines.")
        self.assert_good()

    def test_a_number_that_begins_a_line_of_a_list(self):
        self.page("1. Twice six is\n   12. And more.\n2. Next.")
        self.assert_bad("page.md:2: '12.' at the start of this line begins an item")
        self.page("- Twice six is\n  12. And more.")
        self.assert_bad("page.md:2: '12.'")

    def test_numbers_that_are_items(self):
        for text in ("1. One.\n   - a\n   - b\n2. Two.\n3. Three.", "9. Nine.\n10. Ten.", "1. A.\n\n   Twelve.\n\n3. C.",
                     "Twice six is\n12. And more.", "```text\n1. a\n12. b\n```"):
            with self.subTest(text=text):
                self.page(text)
                self.assert_good()

    def test_an_item_that_begins_with_a_number(self):
        self.page("1. One.\n2. 36.")
        self.assert_bad("page.md:2: '36.' after the number of an item")
        self.page("1. 2. All of them: 4.")
        self.assert_bad("page.md:1: '2.' after the number of an item")
        self.page("1. 36 bytes.\n2. 2.5 times.")
        self.assert_good()

    def test_what_looks_like_a_tag(self):
        self.page("If\nC<Ct or N>Nt, then so.")
        self.assert_bad("page.md:2: '<Ct' would be taken for a tag")
        for text in ("If `C<Ct or N>Nt`, then so.", "If C < Ct or N > Nt.", "2<sup>n</sup> <https://a.b> and 1<2.",
                     "```cpp\nint<C>\n```"):
            with self.subTest(text=text):
                self.page(text)
                self.assert_good()

    def test_value_without_end(self):
        self.page("It reads <!-- value: results/run.json key=seed -->7 sectors.")
        self.assert_bad("a value must end with")

    def test_list_index_in_a_key(self):
        self.page("It is <!-- value: results/run.json key=rows.0.problem.length -->100,000<!-- /value -->")
        self.assert_good()

    # ---- fix ----

    def test_fix_is_idempotent_and_leaves_the_rest_alone(self):
        before = ("# Page\n\ntext  \n\n" + excerpt(["old"]) + "\n\n"
                  + self.TABLE.format("columns=variant", "") + "\n\n"
                  + self.VALUE.format(self.KEY, "") + "\n\n````md\n" + excerpt(["kept"]) + "\n````\n\nend")
        page = self.page(before, with_excerpt=False)
        self.assertEqual(self.run_script("--fix")[0], 0)
        once = page.read_text()
        code, said = self.run_script("--fix")
        self.assertEqual(code, 0)
        self.assertNotIn("rewrote", said)
        self.assertEqual(page.read_text(), once)
        self.assertTrue(once.startswith("# Page\n\ntext  \n\n"))
        self.assertTrue(once.endswith("```cpp\nkept\n```\n````\n\nend"))

    def test_fix_cannot_hide_a_missing_marker(self):
        self.page(excerpt(EXCERPT, name="launch"), with_excerpt=False)
        self.assertEqual(self.run_script("--fix")[0], 1)

    # ---- links ----

    def test_good_links(self):
        self.page("# Other page\n\n## What `it` costs, counted", "other.md")
        self.page("# Page\n\n[a](other.md) [b](other.md#what-it-costs-counted) [c](#page) "
                  "![a plot](plot.svg) [code](../src/a.cu) [far](https://example.org/x#y)\n"
                  "`[not](a-link)`")
        self.assert_good()

    def test_a_label_over_two_lines_is_a_link(self):
        self.page("# Page\n\nSee [what\nremains](other.md) of it.")
        self.assert_bad("page.md:3: the link to 'other.md' leads nowhere")

    def test_broken_links(self):
        self.page("# Other", "other.md")
        for link, words in (
            ("[a](none.md)", "leads nowhere"),
            ("[a](other.md#nothing)", "no heading has the anchor #nothing"),
            ("[a](#nothing)", "no heading has the anchor"),
            ("![](plot.svg)", "no alternative text"),
            ("![alt](none.svg)", "leads nowhere"),
            ("[a]()", "leads nowhere"),
            ("[a](../../..)", "leaves the repository"),
            ("[![alt](none.svg)](other.md)", "leads nowhere"),
        ):
            with self.subTest(link):
                self.page("# Page\n\n" + link)
                self.assert_bad("docs/page.md:3:", words)

    def test_an_anchor_must_hold_on_forge_and_site(self):
        # A forge makes "a--b" of this heading, MkDocs "a-b".
        self.page("# A & B\n\n[x](#a-b)")
        self.assert_bad("no heading has the anchor")
        self.page("# A & B\n\n[x](#a--b)")
        self.assert_bad("no heading has the anchor")

    def test_the_course_is_one_table(self):
        def wrong(**changed):
            files = {
                "stages/course.csv": "stage,family,page,bench sets,title\n"
                                     "01_one,a,01_one,,The first\n02_two,a,02_two,x y,The second\n",
                "stages/01_one/meson.build": "", "stages/02_two/meson.build": "",
                "docs/01_one.md": "", "docs/02_two.md": "",
                "docs/index.md": "| [01](01_one.md) | so |\n| [02](02_two.md) | so |\n",
            }
            files.update(changed)
            with tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                for name, text in files.items():
                    if text is not None:
                        (root / name).parent.mkdir(parents=True, exist_ok=True)
                        (root / name).write_text(text)
                return check_docs.check_course(root)

        self.assertEqual(wrong(), [])
        for changed in [
                {"docs/02_two.md": None},
                {"stages/02_two/meson.build": None},
                {"stages/03_three/meson.build": ""},
                {"docs/index.md": "| [01](01_one.md) | so |\n"},
                {"docs/index.md": "| [02](02_two.md) | so |\n| [01](01_one.md) | so |\n"},
        ]:
            with self.subTest(changed=changed):
                self.assertEqual(len(wrong(**changed)), 1)

    def test_readme_is_checked_too(self):
        self.page("# Page")
        (self.root / "README.md").write_text("[x](docs/none.md)")
        self.assert_bad("README.md:1:", "leads nowhere")


if __name__ == "__main__":
    unittest.main()
