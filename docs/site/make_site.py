#!/usr/bin/env python3
"""Builds the site from the pages, with MkDocs and its theme Material.

    docs/site/make_site.py --out DIR [--root DIR] [--halo PROGRAM] [--repository URL]

Only what the navigation of mkdocs.yml.in names is published, with the pictures and files that those pages
link, and the exercises. A link that leaves docs/ leads to a page that shows the file. The comments by
which check_docs.py keeps pages and results in step are left out: Markdown takes some of them for blocks.
The site is read from disk as well: search too, by local_search.js. The words that docs/notation.md explains in bold show their
meaning on hover, where they first occur in a section of a page. Files of results are shown as PROGRAM makes a page of them
(`halo report FILE --html`), and listed; of all measured kernels there is one roofline (roofline.py); without it as they are. Where a page says `<!-- trace: NAME -->` it shows the
page of `halo trace` with what docs/results/traces/NAME.json keeps; where it says `<!-- stepper: NAME -->`, site.js draws; where it
says `<!-- slides -->`, the slides are linked that make_slides.py makes.
With --repository each page links its source there, to be edited, and the header the repository; the notebook and the first page clone it.

Exit status: 0 built, 1 something is wrong with a page (one line each), 2 wrong use, 77 MkDocs or Material is
not installed.
"""

import argparse
import csv
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import make_slides  # noqa: E402
import roofline  # noqa: E402
from pages import COMMENT, FENCE, LINK, outside_code, typeset, use_python_of_mkdocs  # noqa: E402

SLIDES = "<!-- slides -->"
TRACE = re.compile(r"<!-- trace: (\w+) -->")
STEPPER = re.compile(r"<!-- stepper: (\w+) -->")
NAV_PAGE = re.compile(r"^\s*- (?:.*: )?(\S+\.md)$")
LANGUAGES = {".cu": "cpp", ".cuh": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".h": "cpp", ".py": "python",
             ".sh": "sh", ".json": "json", ".sarif": "json"}
# Shown by the browser as they are.
FILES = {".svg", ".png", ".json", ".ipynb"}

RESULTS = re.compile(r"docs/results/[^/]+\.json")
NOTATION = "docs/notation.md"
WORD = re.compile(r"^\| \*\*(.+?)\*\* \| (.+?) \|$", re.M)
NAMES = {"Halo"}  # of this course: no word with a capital letter
ABBREVIATION = re.compile(r'<abbr title="([^"]*)">(.*?)</abbr>', re.S)
PLAIN = re.compile(r"<(h[1-6]|a)\b.*?</\1>", re.S)  # a heading, a link


def glossary(root):
    """{each form of a word: its meaning}, of the words in bold in the tables of the notation."""
    forms = {}
    page = root / NOTATION
    for word, meaning in WORD.findall(page.read_text(encoding="utf-8") if page.is_file() else ""):
        meaning = LINK.sub(r"\2", meaning).replace("`", "").replace("*", "")
        some = [word] if word.endswith("s") else [word, word[:-1] + "ies" if word.endswith("y") else word + "s"]
        for form in some + [form[0].upper() + form[1:] for form in some]:
            if form not in NAMES:
                forms[form] = meaning
    return forms


def definitions(forms, text):
    """The lines for Python-Markdown's extension abbr: longer words first, or it would find "bank" in "bank conflict"."""
    used = [form for form in sorted(forms, key=len, reverse=True)
            if re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text)]
    return "".join(f"*[{form}]: {forms[form]}\n" for form in used)


def first_in_section(html):
    """Of the explained words, those that are the first of their meaning in a section, and stand in no heading and no link."""
    html = PLAIN.sub(lambda found: ABBREVIATION.sub(r"\2", found[0]), html)

    def thinned(section):
        seen = set()

        def one(match):
            known = match[1] in seen
            seen.add(match[1])
            return match[2] if known else match[0]

        return ABBREVIATION.sub(one, section)

    return "".join(thinned(section) for section in re.split(r"(?=<h[12]\b)", html))


class Site:
    """What is published, by its path in the repository, and what is wrong with it."""

    def __init__(self, root, pages, halo, repository):
        self.root, self.pages, self.halo, self.repository = root, pages, halo, repository
        self.words = glossary(root)
        self.done, self.waiting, self.problems, self.slides = {}, [], [], {}

    def problem(self, text):
        self.problems.append(text)

    def place(self, path):
        """Where a file of the repository lies among the site's sources; None: there is no such file."""
        if path in self.done:
            return self.done[path]
        file = self.root / path
        parts = pathlib.PurePosixPath(path).parts
        if file.is_dir() or not file.is_file():
            return None
        if RESULTS.fullmatch(path) and self.makes_page(path):
            self.done[path] = f"results/{file.stem}.html"
            return self.done[path]
        if parts[0] == "docs" and (path.endswith(".md") or file.suffix in FILES):
            at = "/".join(parts[1:])
        elif parts[0] == "exercises" and parts[-1] == "README.md":
            at = f"exercises/{parts[1]}.md"
        else:
            at = f"source/{path}.md"
        self.done[path] = at
        self.waiting.append(path)
        return at

    def publish(self):
        """Writes all that is waiting, and all that this links."""
        while self.waiting:
            path = self.waiting.pop()
            out = self.pages / self.done[path]
            out.parent.mkdir(parents=True, exist_ok=True)
            if self.done[path].startswith("source/"):
                out.write_text(self.shown(path), encoding="utf-8")
            elif path.endswith(".md"):
                out.write_text(self.rewritten(path), encoding="utf-8")
            elif path.endswith(".ipynb") and self.repository:
                text = (self.root / path).read_text(encoding="utf-8")
                out.write_text(text.replace('REPOSITORY = \\"\\"', f'REPOSITORY = \\"{self.repository}\\"'), encoding="utf-8")
            else:
                shutil.copyfile(self.root / path, out)

    def makes_page(self, path):
        """Whether a file of results has become a page: not all of them hold rows that a page can show."""
        if not self.halo:
            return False
        out = self.pages / "results" / f"{pathlib.PurePosixPath(path).stem}.html"
        out.parent.mkdir(exist_ok=True)
        return subprocess.run([self.halo, "report", path, "--html", str(out)], cwd=self.root, capture_output=True,
                              check=False).returncode == 0

    def embedded(self, page, name):
        """A frame with the page of a trace, which is made of what the program `halo trace` makes its own of."""
        data = self.root / "docs" / "results" / "traces" / f"{name}.json"
        if not data.is_file():
            self.problem(f"{page}: there is no {data.name} among the traces")
            return ""
        parts = {"TITLE": f"Trace {name}", "COMMAND": "", "TEXT": "",
                 "DATA": data.read_text(encoding="utf-8").replace("<", "\\u003c")}
        for part, kind in (("STYLE", "css"), ("SCRIPT", "js")):
            parts[part] = "".join((self.root / "common" / folder).with_suffix(f".{kind}").read_text(encoding="utf-8")
                                  for folder in ("report/base", "trace/page"))
        text = (self.root / "common" / "trace" / "page.html").read_text(encoding="utf-8")
        out = self.pages / "traces" / f"{name}.html"
        out.parent.mkdir(exist_ok=True)
        out.write_text(re.sub(r"@([A-Z]+)@", lambda match: parts[match[1]], text), encoding="utf-8")
        relative = os.path.relpath(f"traces/{name}.html", os.path.dirname(self.done[page]))
        return f'<iframe class="trace" src="{relative}" title="A trace to step through" loading="lazy"></iframe>'

    def make_slides(self):
        """Slides for each week of the syllabus, which a student's copy has not."""
        if (self.root / "docs" / "syllabus.md").is_file():
            self.slides, problems = make_slides.make(self.root, self.pages / "slides")
            self.problems += problems

    def links_to_slides(self):
        return ", ".join(f'<a href="slides/{name}">week {week}</a>' for week, name in self.slides.items())

    def list_results(self):
        """Writes the page that lists all pages of results."""
        lines = ["# Results", "", "Every row that the pages quote, to filter and to compare.", "",
                 "| rows | of | on | date |", "|---:|---|---|---|"]
        for file in sorted((self.root / "docs" / "results").glob("*.json")):
            place = self.place(file.relative_to(self.root).as_posix())
            if not place.endswith(".html"):
                continue
            results = json.loads(file.read_text(encoding="utf-8"))
            machine = results.get("machine", {})
            lines.append(f"| [{len(results['rows'])}]({pathlib.PurePosixPath(place).name}) | `{results['command']}` "
                         f"| {machine.get('gpu') or machine.get('cpu', '')} | {results['date'][:10]} |")
        (self.pages / "results" / "all_rows.md").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def shown(self, path):
        text = (self.root / path).read_text(encoding="utf-8").rstrip("\n")
        fence = "`" * max([3] + [len(run) + 1 for run in re.findall(r"`{3,}", text)])
        language = LANGUAGES.get(pathlib.PurePosixPath(path).suffix, "text")
        return f"# `{path}`\n\n{fence}{language}\n{text}\n{fence}\n"

    def rewritten(self, path):
        out, prose, fence = [], [], None

        def flush():
            # A link's label may go over several lines.
            if prose:
                out.append(LINK.sub(lambda match: self.link(path, match), "\n".join(prose)))
                prose.clear()

        for line in (self.root / path).read_text(encoding="utf-8").split("\n"):
            found = FENCE.match(line)
            if fence is None and not found:
                plain = outside_code(line, lambda text: COMMENT.sub("", text))
                plain = TRACE.sub(lambda found: self.embedded(path, found[1]), plain)
                plain = plain.replace(SLIDES, self.links_to_slides())
                plain = STEPPER.sub(r'<div class="stepper" data-stepper="\1"></div>', plain)
                if plain == line or plain.strip():
                    prose.append(plain.replace("<details>", '<details markdown="1">'))
                continue
            flush()
            if fence is None:
                fence = found[1]
            elif found and found[1].startswith(fence) and not found[2].strip():
                fence = None
            out.append(line)
        flush()
        text = "\n".join(out)
        if self.repository:
            text = text.replace("git clone ADDRESS halo", f"git clone {self.repository} halo")
        return text if path == NOTATION else f"{text.rstrip()}\n\n{definitions(self.words, text)}"

    def link(self, page, match):
        bang, label, target = match.groups()
        label = LINK.sub(lambda inner: self.link(page, inner), label)
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return f"{bang}[{label}]({target})"
        file, _, anchor = target.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(page), file))
        at = self.place(there)
        if at is None:
            # A student's copy has not all pages.
            self.problem(f"{page}: {target} is not here")
            return label
        relative = os.path.relpath(at, os.path.dirname(self.done[page]))
        return f"{bang}[{label}]({relative}{'#' + anchor if anchor else ''})"


def navigation(root):
    """mkdocs.yml's text, with stages and exercises filled in, without pages that this copy lacks."""
    stages, tuned, taken = [], [], set()
    with open(root / "stages" / "course.csv", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            page, title = row["page"], row["title"]
            if page in taken:
                continue
            stages.append(f"      - {page[:2]} {title}: {page}.md")
            taken.add(page)
            if f"{page[:2]}_tuned" not in taken and (root / "docs" / f"{page[:2]}_tuned.md").is_file():
                tuned.append(f"      - {page[:2]}, tuned: {page[:2]}_tuned.md")
                taken.add(f"{page[:2]}_tuned")
    exercises = [f"      - exercises/{folder.name}.md"
                 for folder in sorted((root / "exercises").iterdir()) if (folder / "README.md").is_file()]
    text = (HERE / "mkdocs.yml.in").read_text(encoding="utf-8")
    text = text.replace("@STAGES@", "\n".join(stages)).replace("@TUNED@", "\n".join(tuned))
    text = text.replace("@EXERCISES@", "\n".join(exercises))
    lines, pages, absent = [], [], []
    for line in text.split("\n"):
        found = NAV_PAGE.match(line)
        if found:
            path = re.sub(r"^exercises/(.*)\.md$", r"exercises/\1/README.md", found[1])
            path = path if path.startswith("exercises/") else f"docs/{path}"
            if not (root / path).is_file():
                absent.append(path)
                continue
            pages.append(path)
        lines.append(line)
    # A section of which nothing is left is no list, which MkDocs refuses.
    nav = lines.index("nav:")
    lines[nav + 1:] = [line for line, after in zip(lines[nav + 1:], lines[nav + 2:] + [""])
                       if not re.fullmatch(r"  - [^:]+:", line) or after.startswith("      ")]
    return "\n".join(lines), pages, absent


def has_material():
    # Not by looking for a Python module: Debian's package of the theme has none.
    if importlib.util.find_spec("mkdocs") is None:
        return False
    from mkdocs.utils import get_theme_names
    return "material" in get_theme_names()


def repository_links(url, done):
    """mkdocs.yml's lines: the header's link, and for each page where its source is edited."""
    edit = f"{url}/-/edit/main/" if "gitlab" in url else f"{url}/edit/main/"
    sources = {at: edit + path for path, at in done.items() if at.endswith(".md")}
    name = "/".join(url.split("/")[3:]) or url
    return (f"repo_url: {json.dumps(url)}\nrepo_name: {json.dumps(name)}\nedit_uri: ''\n"
            f"extra: {json.dumps({'sources': sources})}\n")


def build(root, out, halo=None, repository=None):
    text, published, absent = navigation(root)
    text = text.replace("@RESULTS@\n", "  - Results: results/all_rows.md\n" if halo else "")
    text = text.replace("@ROOFLINE@", "results/roofline.md")
    pages, site = out / "pages", out / "site"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    what = Site(root, pages, halo, repository)
    for path in published:
        what.place(path)
    (pages / "results").mkdir()
    (pages / "results" / "roofline.md").write_text(roofline.roofline(root), encoding="utf-8")
    if halo:
        what.list_results()
    what.make_slides()
    what.publish()
    for name in ("site.css", "site.js", "local_search.js"):
        shutil.copyfile(HERE / name, pages / name)
    if repository:
        text += repository_links(repository, what.done)
    config = out / "mkdocs.yml"
    config.write_text(text.replace("@PAGES@", str(pages)).replace("@SITE@", str(site))
                      .replace("@THEME@", str(HERE / "theme")), encoding="utf-8")

    # --strict counts warnings only as long as they are printed: so without --quiet.
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config)],
                          capture_output=True, text=True, check=False)
    said = [line for line in re.sub(r"\x1b\[\d*m", "", done.stdout + done.stderr).splitlines()
            if re.match(r"(WARNING|ERROR|CRITICAL)|Aborted|Error", line)]
    problems = [f"site: {path} is in the navigation and not here" for path in absent]
    problems += [f"site: {line}" for line in what.problems]
    if done.returncode != 0:
        return problems + [f"site: {line}" for line in said or [done.stderr.strip()[-400:]]], site, True

    for page in (page for page in site.rglob("*.html") if page.parent.name != "slides"):
        page.write_text(typeset(first_in_section(page.read_text(encoding="utf-8"))), encoding="utf-8")

    # What search reads from disk, where a page may not load a file.
    index = site / "search" / "search_index.json"
    (site / "search" / "search_index.js").write_text(
        "window.haloSearchIndex = " + json.dumps(json.loads(index.read_text())) + ";\n")
    return problems, site, False


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parents[1])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="gets site/index.html")
    parser.add_argument("--halo", type=pathlib.Path, help="the program that makes pages of results")
    parser.add_argument("--repository", metavar="URL", help="where the course's repository is on the web")
    arguments = parser.parse_args(argv)
    if arguments.repository and not re.fullmatch(r"https?://[^\s\"'<>]+", arguments.repository):
        parser.error(f"--repository wants an address such as https://example.org/owner/halo, not {arguments.repository}")
    if not has_material():
        use_python_of_mkdocs()
        print("the site needs MkDocs and its theme Material: apt-get install mkdocs mkdocs-material",
              file=sys.stderr)
        return 77
    problems, site, failed = build(arguments.root.resolve(), arguments.out.resolve(),
                                   arguments.halo.resolve() if arguments.halo else None,
                                   arguments.repository and arguments.repository.rstrip("/"))
    # The copy for students leaves some pages out, on purpose.
    whole = (arguments.root / "tests" / "docs").is_dir()
    for line in problems if whole or failed else []:
        print(line, file=sys.stderr)
    if failed or (whole and problems):
        return 1
    print(site / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
