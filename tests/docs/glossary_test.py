#!/usr/bin/env python3
"""Tests of the site's glossary (docs/site/make_site.py): words of the notation, their forms, and where they are kept.
That a browser is given them is site_test.py's."""

import importlib.util
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("make_site", ROOT / "docs" / "site" / "make_site.py")
make_site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_site)

NOTATION = """\
# Notation

| word | meaning |
|---|---|
| **SM** | one of the [GPU's](index.md) processors |
| **bank conflict** | `word` 0 and *word* 32 |
| **bank** | a part |
| **latency** | how long |
| **halo** | cells beside |
| round | many calls |
"""


class Glossary(unittest.TestCase):

    def forms(self, text=NOTATION):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs" / "notation.md").write_text(text)
            return make_site.glossary(root)

    def test_bold_words_only(self):
        forms = self.forms()
        self.assertEqual(forms["SM"], "one of the GPU's processors")
        self.assertEqual(forms["bank conflict"], "word 0 and word 32")
        self.assertNotIn("round", forms)

    def test_plural_and_capital(self):
        forms = self.forms()
        self.assertLessEqual({"SMs", "Banks", "bank conflicts", "latencies", "Latency", "halos"}, set(forms))

    def test_the_courses_name_is_no_word(self):
        self.assertNotIn("Halo", self.forms())

    def test_definitions_of_what_a_page_has(self):
        said = make_site.definitions(self.forms(), "Two banks, a bank conflict; no SMALL thing, a halo_width, C++.")
        self.assertEqual(said, "*[bank conflict]: word 0 and word 32\n*[banks]: a part\n*[bank]: a part\n")

    def test_first_in_each_section(self):
        word = '<abbr title="x">SM</abbr>'
        html = f"<h1>{word}</h1><p>{word} {word}</p><h2 id='a'>{word}</h2><p>{word} {word}</p>"
        self.assertEqual(make_site.first_in_section(html),
                         f"<h1>SM</h1><p>{word} SM</p><h2 id='a'>SM</h2><p>{word} SM</p>")

    def test_a_link_is_left_alone(self):
        word = '<abbr title="x">request</abbr>'
        self.assertEqual(make_site.first_in_section(f'<p><a href="y">pull {word}</a> {word} {word}</p>'),
                         f'<p><a href="y">pull request</a> {word} request</p>')

    def test_plural_counts_as_the_word(self):
        html = '<p><abbr title="x">SMs</abbr> <abbr title="x">SM</abbr> <abbr title="y">lane</abbr></p>'
        self.assertEqual(make_site.first_in_section(html),
                         '<p><abbr title="x">SMs</abbr> SM <abbr title="y">lane</abbr></p>')

    def test_a_copy_without_the_page_has_none(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(make_site.glossary(pathlib.Path(folder)), {})

    def test_the_notation(self):
        forms = make_site.glossary(ROOT)
        for word in ("SM", "warp", "lane", "sector", "halo", "wavefront", "bank conflict", "NCHW", "roof"):
            self.assertIn(word, forms)
        for word, meaning in forms.items():
            self.assertLessEqual(len(meaning), 160, word)  # it must be read in a glance


if __name__ == "__main__":
    unittest.main()
