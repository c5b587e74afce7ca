#!/usr/bin/env python3
"""The site as a class uses it: its order, names of layers and formulas, links to the repository.

What stands in the built site is tried on one that is built here. Exit status: 0 good, 1 a test failed, 77 the site could not be
built or no browser was found, and what needs neither is good.
"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKE_SITE = ROOT / "docs" / "site" / "make_site.py"
sys.path.insert(0, str(ROOT / "docs" / "site"))
import make_site  # noqa: E402

REPOSITORY = "https://example.org/owner/halo"
SITE = None  # where it was built


def text_of(path):
    return path.read_text(encoding="utf-8")


def pages_of_course():
    with open(ROOT / "stages" / "course.csv", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return list(dict.fromkeys(row["page"] for row in rows))


class Order(unittest.TestCase):
    def test_lessons_follow_each_other_in_the_order_of_the_course(self):
        pages = make_site.navigation(ROOT)[1]
        lessons = ["00_before_you_start", *pages_of_course()]
        first = pages.index("docs/00_before_you_start.md")
        self.assertEqual(pages[first:first + len(lessons)], [f"docs/{page}.md" for page in lessons])
        self.assertGreater(len(lessons), 10)

    def test_what_a_lesson_calls_next_is_next(self):
        pages, told = make_site.navigation(ROOT)[1], 0
        for page, after in zip(pages, pages[1:]):
            found = re.search(r"^Next: \[[^\]]*\]\((\w+)\.md\)", text_of(ROOT / page), re.M)
            if found and pathlib.PurePosixPath(page).stem in pages_of_course():
                self.assertEqual(after, f"docs/{found[1]}.md", page)
                told += 1
        self.assertGreater(told, 2)


class Typeset(unittest.TestCase):
    def test_layers_stay_on_one_line(self):
        for name in ("56-1-3-64-64", "12-128-3-64-s2-ceil", "14-128-2-16", "224-64-3-96-3-s2-p0"):
            self.assertEqual(make_site.typeset(f"<td>{name}, and</td>"), f'<td><span class="layer">{name}</span>, and</td>')
        self.assertEqual(make_site.typeset("<code>--layer 7-1-1-32-832</code>"),
                         '<code>--layer <span class="layer">7-1-1-32-832</span></code>')

    def test_other_numbers_and_other_places_are_left_alone(self):
        for html in ("<p>2026-11-27, 1-2-3, a-1-2-3-4, 1-2-3-4x</p>", '<img alt="224-32-3-64-3">',
                     "<svg><text>224-32-3-64-3</text></svg>", "<pre>28-1-3-16-1 N_SM</pre>", "<title>28-1-3-16-1</title>",
                     "<script>'28-1-3-16-1'</script>", "<code>N_SM</code>", "<!-- 28-1-3-16-1 -->"):
            self.assertEqual(make_site.typeset(html), html)

    def test_letters_have_an_index(self):
        self.assertEqual(make_site.typeset("<p>K / N_SM, V_s; PYTHON_PATH, N_</p>"),
                         "<p>K / N<sub>SM</sub>, V<sub>s</sub>; PYTHON_PATH, N_</p>")

    def test_a_paragraph_that_is_a_formula_is_set_as_one(self):
        for formula in ("output[n][c] = exp(x)", "P = ⌊H / u⌋ + 1"):
            self.assertEqual(make_site.typeset(f"<p>{formula}</p>"), f'<p class="formula">{formula}</p>')
        for prose in ("n = 10, w = 3, three blocks", "output is wrong", "T = 256."):
            self.assertEqual(make_site.typeset(f"<p>{prose}</p>"), f"<p>{prose}</p>")


class Repository(unittest.TestCase):
    def test_links_of_other_forges(self):
        lines = make_site.repository_links("https://gitlab.example.org/a/b", {"docs/x.md": "x.md", "docs/x.svg": "x.svg"})
        self.assertIn('"x.md": "https://gitlab.example.org/a/b/-/edit/main/docs/x.md"', lines)
        self.assertNotIn("svg", lines)

    def test_an_address_that_is_none_is_refused_in_a_line(self):
        done = subprocess.run([sys.executable, str(MAKE_SITE), "--out", "nowhere", "--repository", "somewhere"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--repository wants an address such as", done.stderr.splitlines()[-1])


class BuiltSite(unittest.TestCase):
    """Needs MkDocs."""

    def setUp(self):
        if SITE is None:
            self.skipTest("the site is not built")

    def test_each_page_is_edited_where_its_source_is(self):
        edited = {}
        for page in SITE.rglob("*.html"):
            links = re.findall(rf'<a href="{REPOSITORY}/edit/main/([^"]+)"', text_of(page))
            self.assertLessEqual(len(links), 1, page)
            edited[page.relative_to(SITE).as_posix()] = links
        for at, path in (("04_conv1d_tiled_halo.html", "docs/04_conv1d_tiled_halo.md"), ("results/roofline.html", None),
                         ("exercises/04_tile_and_halo.html", "exercises/04_tile_and_halo/README.md")):
            self.assertEqual(edited[at], [path] if path else [], at)
        self.assertGreater(sum(map(len, edited.values())), 50)
        for links in edited.values():
            self.assertTrue(all((ROOT / path).is_file() for path in links), links)

    def test_next_and_previous_lead_along_the_course(self):
        lessons = ["00_before_you_start", *pages_of_course()]
        for before, page in zip(lessons, lessons[1:]):
            footers = [re.findall(r'<a href="([^"]+)"[^>]*aria-label="(Previous|Next):', text_of(SITE / f"{name}.html"))
                       for name in (before, page)]
            self.assertIn((f"{page}.html", "Next"), footers[0])
            self.assertIn((f"{before}.html", "Previous"), footers[1])


class Seen(unittest.TestCase):
    """Needs MkDocs and a browser."""

    @classmethod
    def setUpClass(cls):
        if SITE is None or not browser.find():
            raise unittest.SkipTest("no site, or no browser")
        cls.page = browser.Page(browser.find())

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()

    def test_no_name_of_a_layer_is_broken(self):
        self.page.show(500, 900)
        names = 0
        for name in ("claims", "convolve", "08_multi_channel_stride_fixed", "index"):
            self.page.open(SITE / f"{name}.html")
            seen = self.page.value("[...document.querySelectorAll('article .layer')].filter(one => one.getClientRects().length)"
                                   ".map(one => [one.textContent, one.getClientRects().length])")
            self.assertEqual([each for each in seen if each[1] != 1], [], name)
            names += len(seen)
        self.assertGreater(names, 30)


def main():
    global SITE
    with tempfile.TemporaryDirectory() as folder:
        built = subprocess.run([sys.executable, str(MAKE_SITE), "--out", folder, "--repository", REPOSITORY],
                               capture_output=True, text=True, check=False)
        if built.returncode not in (0, 77):
            print(built.stderr.strip())
            return 1
        SITE = pathlib.Path(folder) / "site" if built.returncode == 0 else None
        done = unittest.main(exit=False).result
    if not done.wasSuccessful():
        return 1
    if done.skipped:
        print(f"NOT RUN: {built.stderr.strip() or 'no Chromium was found, so how it looks'}")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
