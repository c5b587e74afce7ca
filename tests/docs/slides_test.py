#!/usr/bin/env python3
"""The site as a class uses it: slides, the order of its pages, names of layers and formulas, links to the repository.

What stands in the built site is tried on one that is built here. Exit status: 0 good, 1 a test failed, 77 the site could not be
built or no browser was found, and what needs neither is good.
"""

import base64
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKE_SITE = ROOT / "docs" / "site" / "make_site.py"
sys.path.insert(0, str(ROOT / "docs" / "site"))
import make_site  # noqa: E402
import make_slides  # noqa: E402

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


PAGE = """\
# 99 · A page

After this page you can

- read.

## The idea

One [link](x.md) in
the first. And a second.

![A figure](figures/a.svg)

1. one

   more of one
2. two

<!-- excerpt: stages/99/1_a.cu kernel -->
```cpp
## no heading
```

```text
second
```

<details markdown="1">
<summary>Answers</summary>

1. folded

</details>

| a |
|---|
| <!-- value: x -->7<!-- /value --> |

In one breath: short. Next: [other](y.md).
"""


class Parts(unittest.TestCase):
    """What a slide takes of a page."""

    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.md"
            path.write_text(PAGE, encoding="utf-8")
            self.title, self.sections = make_slides.read_page(path)

    def take(self, part, heading="The idea"):
        return make_slides.take("docs/page.md", self.sections, heading, part)

    def test_parts_are_found_by_heading_kind_and_number(self):
        self.assertEqual(self.title, "99 · A page")
        self.assertEqual(self.take("sentence"), "One [link](x.md) in\nthe first.")
        self.assertEqual(self.take("figure"), "![A figure](figures/a.svg)")
        self.assertEqual(self.take("list"), "1. one\n\n   more of one\n2. two")
        self.assertEqual(self.take("code 2"), "```text\nsecond\n```")
        self.assertEqual(self.take("code kernel"), "```cpp\n## no heading\n```")
        self.assertEqual(self.take("answers"), "1. folded")
        self.assertEqual(self.take("table"), "| a |\n|---|\n| 7 |")
        self.assertEqual(self.take("list", ""), "- read.")

    def test_what_is_not_there_is_named(self):
        for part, heading in (("list 2", "The idea"), ("code main", "The idea"), ("list", "An idea"), ("answers 2", "The idea")):
            with self.assertRaises(make_slides.Missing) as missing:
                self.take(part, heading)
            self.assertIn("docs/page.md has no ", str(missing.exception))

    def test_comments_of_long_listings_are_left_out(self):
        lines = ["  // why", "  x();  // stays"]
        self.sections["The idea"][0] = make_slides.Block("code", "```\n" + "\n".join(lines * 15) + "\n```", "long", False)
        self.assertEqual(self.take("code long"), "```\n" + "  x();  // stays\n" * 15 + "```")


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

    def test_the_notebook_clones_the_repository(self):
        notebook = json.loads(text_of(SITE / "halo_on_a_t4.ipynb"))
        first = next("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
        self.assertIn(f'\nREPOSITORY = "{REPOSITORY}"\n', first)

    def test_the_first_page_clones_the_repository(self):
        text = re.sub(r"<[^>]*>", "", text_of(SITE / "index.html"))
        self.assertIn(f"git clone {REPOSITORY} halo", text)

    def test_each_week_of_the_syllabus_has_slides(self):
        weeks = list(make_slides.weeks_of(ROOT))
        self.assertEqual(len(weeks), 10)
        syllabus = text_of(SITE / "syllabus.html")
        for week, pages, _, _, _, exercises in weeks:
            name = f"slides/week_{int(week):02}.html"
            self.assertTrue(f'<a href="{name}">week {week}</a>' in syllabus, name)
            text = text_of(SITE / name)
            self.assertEqual(text.count('<section class="slide exercise">'), len(exercises), name)
            self.assertEqual(text.count('<section class="slide title">'), len(pages), name)
            self.assertEqual(re.findall(r"""(?:src|href)=["'](?!data:).{20}|url\(|<!-- .{20}|\]\(\w+\.md""", text), [], name)

    def test_slides_have_what_the_page_has(self):
        text = text_of(SITE / "slides" / "week_03.html")
        page = text_of(ROOT / "docs" / "04_conv1d_tiled_halo.md")
        questions = re.search(r"## Predict\n(.*?)\n## ", page, re.S)[1]
        self.assertEqual(len(re.findall(r"^\d\. ", questions, re.M)),
                         re.search(r"<h1>Predict</h1>(.*?)</section>", text, re.S)[1].count("<li>"))
        for said in ("A block loads T + 2h cells once", "9.25 bytes per output", "at most 10.5 bytes per output", "hunts: 6"):
            self.assertTrue(said in text, said)
        code = re.search(r"<h1>Read the code</h1>(.*?)</section>", text, re.S)[1]
        self.assertIn("tiled_halo_kernel(const float* input", re.sub(r"<[^>]*>", "", code))

    def test_a_heading_that_is_gone_fails_the_build_in_a_line(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for path in [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "figures").glob("*.svg"),
                         *(ROOT / "exercises").glob("*/README.md")]:
                there = copy / path.relative_to(ROOT)
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, there)
            page = copy / "docs" / "03_conv1d_constant.md"
            page.write_text(text_of(page).replace("## What it gains", "## What it is worth"), encoding="utf-8")
            done = subprocess.run([sys.executable, str(ROOT / "docs" / "site" / "make_slides.py"), "--root", folder,
                                   "--out", str(copy / "slides")], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.splitlines()), (1, [
            "slides: docs/03_conv1d_constant.md has no heading 'What it gains', which a slide shows"]))

    def test_without_the_syllabus_there_are_no_slides(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(ROOT / "docs" / "site" / "make_slides.py"), "--root", folder, "--out", folder],
                                  capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertTrue(done.stderr.startswith("slides: docs/syllabus.md, which says"), done.stderr)

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

    def test_slides_can_be_read(self):
        self.page.show(1440, 900)
        for path in sorted((SITE / "slides").glob("*.html")):
            self.page.open(path)
            seen = self.page.value("""[...document.querySelectorAll('.slide')].map((slide, i) => {
              location.hash = '#1';
              slide.classList.add('now');
              const body = slide.querySelector('.body'), size = parseInt(getComputedStyle(body).fontSize);
              const code = [...body.querySelectorAll('pre')].map(one => parseInt(getComputedStyle(one).fontSize));
              const over = body.scrollHeight > body.clientHeight || [...body.children].some(one => one.offsetWidth > 1300);
              const lost = [...body.querySelectorAll('img')].some(one => !one.naturalWidth || one.clientHeight < 250);
              return [i + 1, size, Math.min(99, ...code), over, lost];
            })""")
            self.assertGreater(len(seen), 10)
            for number, size, code, over, lost in seen:
                self.assertTrue(size >= 20 and code >= 14 and not over and not lost,
                                f"{path.name}#{number}: letters {size}, code {code}, too much {over}, no figure {lost}")
            self.assertEqual(self.page.complaints, [])

    def test_keys_turn_slides_and_each_is_a_page_on_paper(self):
        self.page.show(1000, 900)
        self.page.open(SITE / "slides" / "week_03.html")
        slides = self.page.value("document.querySelectorAll('.slide').length")
        now = "[...document.querySelectorAll('.slide')].flatMap((slide, i) => slide.checkVisibility() ? [i + 1] : [])"
        seen = [self.page.value(now)]
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft"):
            self.page.key(key)
            seen.append(self.page.value(now))
        self.assertEqual(seen, [[1], [2], [3], [2], [slides], [slides], [1], [1]])
        wide = self.page.value("document.querySelector('.slide.now').getBoundingClientRect().width")
        self.assertAlmostEqual(wide, 1000, 1)
        paper = base64.b64decode(self.page.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
        self.assertEqual(len(re.findall(rb"/Type\s*/Page\b", paper)), slides)


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
