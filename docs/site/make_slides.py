#!/usr/bin/env python3
"""Makes slides of the pages: one file of HTML for each week of the syllabus, which needs no network and no other file.

    docs/site/make_slides.py --out DIR [--root DIR]

slides.json says what a slide takes of a page, as [heading, part ...]; nothing is written twice. A part is the Nth of its kind
under the heading: "paragraph", "sentence" (a paragraph's first), "list", "table", "figure", "code", "answers" (a list that is
folded on the page), and "code NAME", the excerpt that its mark on the page names so. Of a long listing the comments that
have a line of their own are left out. The first slide of a week is the syllabus's row, the last ones are the exercises that are
handed in.

Keys: the arrows, space, Home and End; printed, each slide is a page.

Exit status: 0 made, 1 something that slides.json names is not there (one line each), 77 Python's Markdown is not installed.
"""

import argparse
import base64
import html
import importlib.util
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from pages import FENCE, LINK, outside_code, typeset, use_python_of_mkdocs  # noqa: E402

EXCERPT = re.compile(r"<!-- excerpt: (.+?) -->")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
SENTENCE = re.compile(r".+?[.?!:](?=\s+[^a-z\s]|$)", re.S)
BREATH = re.compile(r"In one breath: (.+?)(?=\s(?:Next|Before|Further):\s|$)", re.S)
LONG = 24  # lines of code that a slide shows with the comments between them


class Missing(Exception):
    """Something that a slide should show is not on its page."""


class Block:
    """A paragraph, list, table, figure or listing of a page; `name` is an excerpt's, `folded` whether <details> hide it."""

    def __init__(self, kind, text, name, folded):
        self.kind, self.text, self.name, self.folded = kind, text, name, folded


def kind_of(lines):
    if FENCE.match(lines[0]) or lines[0].startswith("    "):
        return "code"
    if lines[0].startswith("!["):
        return "figure"
    if lines[0].startswith("|"):
        return "table"
    return "list" if ITEM.match(lines[0]) else "paragraph"


def read_page(path):
    """{heading: its blocks}; what stands before the first section is under the heading "", the title under None."""
    sections, title = {"": []}, ""
    here, lines, name, folds, fence = sections[""], [], "", 0, None

    def flush():
        nonlocal name
        if lines:
            here.append(Block(kind_of(lines), "\n".join(lines), name, folds > 0))
            lines.clear()
            name = ""

    for line in path.read_text(encoding="utf-8").split("\n"):
        found = FENCE.match(line)
        if fence is not None:
            lines.append(line)
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = None
            continue
        if EXCERPT.fullmatch(line):
            flush()
            name = EXCERPT.fullmatch(line)[1]
            continue
        plain = outside_code(line, lambda text: re.sub(r"<!--.*?-->", "", text))
        if found:
            if not line.startswith(" "):
                flush()
            fence = found[1]
            lines.append(line)
        elif re.match(r"</?details|<summary>", line):
            flush()
            folds += line.startswith("<details") - line.startswith("</details")
        elif re.match(r"#+ ", line):
            flush()
            heading = line.lstrip("#").strip()
            if line.startswith("# "):
                title = heading
            else:
                here = sections.setdefault(heading, [])
        elif not plain.strip():
            # A list goes on after an empty line as long as its lines are indented; flush at what is not.
            if lines and kind_of(lines) in ("list", "code"):
                lines.append("")
            else:
                flush()
        elif plain.strip():
            if lines and lines[-1] == "" and not (plain.startswith(" ") or (kind_of(lines) == "list" and ITEM.match(plain))):
                flush()
            lines.append(plain)
    flush()
    return title, sections


def take(page, sections, heading, part):
    """The Markdown of a part of a section."""
    if heading not in sections:
        raise Missing(f"{page} has no heading '{heading}', which a slide shows")
    kind, _, rest = part.partition(" ")
    kinds = {"sentence": ["paragraph"], "answers": ["list"], "formula": ["code", "table"]}.get(kind, [kind])
    blocks = [block for block in sections[heading] if block.folded == (kind == "answers") and block.kind in kinds]
    if rest and not rest.isdigit():
        blocks = [block for block in blocks if block.name.endswith(rest)]
    at = int(rest) - 1 if rest.isdigit() else 0
    if not 0 <= at < len(blocks):
        raise Missing(f"{page} has no '{part}' under '{heading}', which a slide shows")
    text = blocks[at].text.strip("\n")
    if kind == "code" and text.count("\n") > LONG:
        text = re.sub(r"^ *//.*\n", "", text, flags=re.M)
    return SENTENCE.match(text)[0] if kind == "sentence" else text


def shown(root, page, text, problems):
    """Markdown for a slide: figures are in it, other links are their labels."""
    def link(match):
        bang, label, target = match.groups()
        if not bang:
            return LINK.sub(link, label)
        file = (root / page).parent / target
        if not file.is_file():
            problems.append(f"{page} shows {target}, which is not there")
            return ""
        kind = {".svg": "svg+xml"}.get(file.suffix, file.suffix[1:])
        return f"![{label}](data:image/{kind};base64,{base64.b64encode(file.read_bytes()).decode()})"

    if FENCE.match(text) or text.startswith("    "):
        return text
    return "\n\n".join(outside_code(part, lambda plain: LINK.sub(link, plain)) for part in text.split("\n\n"))


def weeks_of(root):
    """Of the syllabus's table: (week, its pages by their paths, hours, what is handed in, hunts, exercises by their paths)."""
    folders = {folder.name[:2]: folder.name for folder in (root / "exercises").glob("[0-9][0-9]_*")}
    for line in (root / "docs" / "syllabus.md").read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0].isdigit():
            pages = [f"docs/{file}.md" for file in re.findall(r"\]\((\w+)\.md\)", cells[1])]
            numbers = re.findall(r"\d\d", cells[3])
            yield cells[0], pages, cells[2], cells[3], cells[4], [f"exercises/{folders[one]}/README.md" for one in numbers]


class Deck:
    """The slides of one week."""

    def __init__(self, root, week, problems):
        import markdown
        self.root, self.week, self.problems = root, week, problems
        self.markdown = markdown.Markdown(extensions=["tables", "fenced_code", "codehilite", "sane_lists"],
                                          extension_configs={"codehilite": {"guess_lang": False}})
        self.title, self.slides = "Halo", []

    def add(self, page, kind, title, *texts):
        parts = []
        for text in texts:
            self.markdown.reset()
            part = self.markdown.convert(shown(self.root, page, text, self.problems))
            parts.append(re.sub(r"<p>(<img [^>]+>)</p>", r'<div class="figure">\1</div>', part))
        # What is code in a title.
        title = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(title, quote=False))
        self.slides.append(f'<section class="slide {kind}"><div class="body"><h1>{title}</h1>\n' + typeset("\n".join(parts))
                           + f'</div><footer><span>Week {self.week}</span><span class="where">{self.title}</span>'
                             '<span class="number"></span></footer></section>')

    def add_page(self, page, slides):
        self.title, sections = read_page(self.root / page)
        goals = ["After this page you can\n\n" + block.text for block in sections[""] if block.kind == "list"]
        lead = [block.text for block in sections[""] if block.kind == "paragraph"]
        self.add(page, "title", self.title, *(goals or lead)[:1])
        for heading, *parts in slides:
            try:
                texts = [take(page, sections, heading, part) for part in parts]
            except Missing as missing:
                self.problems.append(str(missing))
                continue
            answers = parts[0] == "answers"
            self.add(page, "answers" if answers else "part", "Answers" if answers else heading or self.title, *texts)
        for block in (block for blocks in sections.values() for block in blocks):
            found = BREATH.match(block.text)
            if found:
                self.add(page, "breath", "In one breath", found[1][0].upper() + found[1][1:])

    def add_exercise(self, page):
        self.title, sections = read_page(self.root / page)
        try:
            computes = take(page, sections, "What it computes", "formula")
            self.add(page, "exercise", f"Exercise {self.title}", take(page, sections, "", "paragraph"), computes,
                     take(page, sections, "What it is worth", "table"))
        except Missing as missing:
            self.problems.append(str(missing))

    def text(self):
        from pygments.formatters import HtmlFormatter
        style = (HERE / "slides.css").read_text(encoding="utf-8") + HtmlFormatter(style="default").get_style_defs(".codehilite")
        return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Halo, week {self.week}</title>\n'
                f"<style>\n{style}\n</style></head>\n<body>\n" + "\n".join(self.slides)
                + f'\n<script>\n{(HERE / "slides.js").read_text(encoding="utf-8")}</script>\n</body></html>\n')


def make(root, out):
    """Writes out/week_NN.html for each week; {week: its file's name}, and what is wrong, a line each."""
    chosen = json.loads((HERE / "slides.json").read_text(encoding="utf-8"))
    problems, made = [], {}
    out.mkdir(parents=True, exist_ok=True)
    for week, pages, hours, given, hunts, exercises in weeks_of(root):
        deck = Deck(root, week, problems)
        mine = chosen.pop(week, {})
        problems += [f"docs/site/slides.json has no slides of {page} in week {week}" for page in pages if page not in mine]
        problems += [f"docs/site/slides.json has slides of {page} in week {week}, which docs/syllabus.md has not"
                     for page in mine if page not in pages]
        present = [page for page in pages if page in mine]
        titles = [read_page(root / page)[0] for page in present]
        hunted = f"\n- hunts: {hunts} (`./halo hunt --after {exercises[-1][10:12]}`)" if hunts.isdigit() else ""
        deck.add("docs/syllabus.md", "week", f"Week {week}", "\n".join(f"- {title}" for title in titles),
                 f"- {hours} hours, the lecture included\n- hand in: {given}{hunted}")
        for page in present:
            deck.add_page(page, mine[page])
        for page in exercises:
            deck.add_exercise(page)
        made[week] = f"week_{int(week):02}.html"
        (out / made[week]).write_text(deck.text(), encoding="utf-8")
    problems += [f"docs/site/slides.json has a week {week}, which docs/syllabus.md has not" for week in chosen]
    return made, problems


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parents[1])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="gets week_01.html and so on")
    arguments = parser.parse_args(argv)
    if not all(importlib.util.find_spec(module) for module in ("markdown", "pygments")):
        use_python_of_mkdocs()
        print("slides need Python's Markdown and Pygments: apt-get install python3-markdown python3-pygments", file=sys.stderr)
        return 77
    if not (arguments.root / "docs" / "syllabus.md").is_file():
        print("slides: docs/syllabus.md, which says what belongs to a week, is not here: use an instructor's copy", file=sys.stderr)
        return 1
    made, problems = make(arguments.root.resolve(), arguments.out)
    for line in problems:
        print(f"slides: {line}", file=sys.stderr)
    for name in made.values():
        print(arguments.out / name)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
