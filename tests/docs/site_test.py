#!/usr/bin/env python3
"""Builds the site and looks at it: wide and narrow, light and dark, read from disk.

    tests/docs/site_test.py [--pictures DIR] [--out DIR]

Fails on a page of docs/ that is in no menu or in two places, on two entries of one name, on a page that is wider than its window, on complaints in the console, on dead links, on text that
Markdown has torn apart, on words of the glossary that are not explained, on traces without data or switches, and if
search finds nothing. --pictures keeps
a screenshot of each page to look at. Exit status: 0 good, 1 something is wrong (one line each), 77 nothing could be looked at.
"""

import argparse
import collections
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))
import make_site  # noqa: E402

WINDOWS = {"wide": (1440, 900), "narrow": (500, 900)}


class Reader(html.parser.HTMLParser):
    """Links, anchors, and the text outside code of one page."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors, self.text, self.inside = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in ("a", "link") and attrs.get("href"):
            self.links.append(attrs["href"])
        if tag in ("img", "script") and attrs.get("src"):
            self.links.append(attrs["src"])
        for name in ("id", "name"):
            if attrs.get(name):
                self.anchors.add(attrs[name])
        if tag in ("code", "pre", "script", "style"):
            self.inside.append(tag)
        elif not self.inside and tag in ("p", "li", "td", "h1", "h2", "h3"):
            self.text.append("\n")

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if not self.inside:
            self.text.append(data)

    def handle_comment(self, data):
        if re.match(r"\s*/?(value|table|headline|contest|excerpt|report|findings)\b", data):
            self.text.append("\n<!-- " + data)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def wrong_menu():
    """The menu has each page of docs/ once, and no two entries of one name."""
    text, pages, absent = make_site.navigation(ROOT)
    wrong = [f"menu: {path} is not there" for path in absent]
    times = collections.Counter(pages)
    wrong += [f"menu: docs/{path.name} stands in it {times[f'docs/{path.name}']} times"
              for path in sorted((ROOT / "docs").glob("*.md")) if times[f"docs/{path.name}"] != 1]
    names = collections.Counter(re.findall(r"^ +- (.+): \S+\.md$", text, re.M))
    wrong += [f"menu: {count} entries are named {name}" for name, count in names.items() if count > 1]
    # In a copy without pages for instructors their section is not there either.
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns(
            "results", "figures", "syllabus.md", "grading.md"))
        (copy / "exercises").mkdir()
        (copy / "stages").mkdir()
        shutil.copy(ROOT / "stages" / "course.csv", copy / "stages")
        menu, _, _ = make_site.navigation(copy)
        wrong += ["menu: a section of a copy has no pages" for _ in re.findall(r"^  - [^:\n]+:\n(?!      )", menu, re.M)]
        wrong += ["menu: a copy without syllabus.md has its section"] * ("For instructors" in menu)
    return wrong


def dead_links(site):
    """Every link of every page: its file is there, and the anchor in it."""
    pages = {path: read(path) for path in site.rglob("*.html")}
    wrong = []
    for path, reader in pages.items():
        # The theme's page for what is missing has links of a server's root.
        if path.name == "404.html":
            continue
        for link in reader.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path)).resolve()
            if there.is_dir():
                there = there / "index.html"
            if not there.is_file():
                wrong.append(f"{path.relative_to(site)}: dead link {link}")
            elif parts.fragment and there in pages and urllib.parse.unquote(
                    parts.fragment) not in pages[there].anchors:
                wrong.append(f"{path.relative_to(site)}: {link}: no such place on that page")
    return wrong


def torn_text(site):
    """What Markdown did not understand."""
    wrong = []
    for path in site.rglob("*.html"):
        if "source" in path.relative_to(site).parts:
            continue
        text = "".join(read(path).text)
        for pattern, what in ((r"\n[-*] \w", "a list item printed as text"), (r"\*\*\w", "bold printed as stars"),
                              (r"<!-- ", "a comment of check_docs.py"), (r"\n```", "a fence printed as text"),
                              (r"\]\(", "a link printed as text"), (r"\n *\|.*\|", "a table printed as text")):
            found = re.search(pattern, text)
            if found:
                around = text[max(0, found.start() - 30):found.end() + 40].strip().replace("\n", " ")
                wrong.append(f"{path.relative_to(site)}: {what}: {around!r}")
    return wrong


# Words that must be explained where a page first has them.
EXPLAINED = {"00_before_you_start.html": ("SMs", "warp", "lanes", "sectors", "wavefront", "bank conflict", "ridge"),
             "04_conv1d_tiled_halo.html": ("halo", "tile", "sectors")}


def unexplained(site):
    """The words of the glossary show what they mean, on pages that are known to have them, and in no heading."""
    wrong = []
    for name, words in EXPLAINED.items():
        path = site / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        wrong += [f"{name}: no tooltip for {word}" for word in words
                  if not re.search(rf'<abbr title="[^"]+">{word}</abbr>', text)]
    wrong += [f"{path.relative_to(site)}: a tooltip in a heading" for path in site.rglob("*.html")
              if re.search(r"<h([1-6])\b(?:(?!</h\1>).)*<abbr", path.read_text(encoding="utf-8"), re.S)]
    return wrong


# Pages that show a trace.
TRACED = {"02_conv1d_global": "02", "03_conv1d_constant": "03", "04_conv1d_tiled_halo": "04", "06_conv2d_direct": "06",
          "08_multi_channel_stride_fixed": "08", "10_layout_transform": "10", "12_fused_softmax": "12"}


def wrong_traces(site):
    """Every trace on a page has its data; each of its switches has values, and each of its views something to draw."""
    wrong = []
    for page, name in TRACED.items():
        frames = re.findall(r'<iframe class="trace" src="([^"]+)"', (site / f"{page}.html").read_text(encoding="utf-8"))
        if frames != [f"traces/{name}.html"]:
            wrong.append(f"{page}: the traces on it are {frames}")
            continue
        text = (site / frames[0]).read_text(encoding="utf-8")
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
        for i, switch in enumerate(data["switches"]):
            if len({view["settings"][i] for view in data["views"]}) < 2:
                wrong.append(f"{frames[0]}: {switch} has one value only")
        settings = [tuple(view["settings"]) for view in data["views"]]
        if len(set(settings)) != len(settings) or not data["switches"]:
            wrong.append(f"{frames[0]}: two views of the same settings, or no switch")
        for view in data["views"]:
            if not any(warp["requests"] for warp in view["trace"]["warps"]):
                wrong.append(f"{frames[0]}: nothing to draw for {view['settings']}")
            if not all(data["files"].get(line["file"]) for line in view["lines"]):
                wrong.append(f"{frames[0]}: a source of {view['settings']} is not in it")
    return wrong


def switched(site, page):
    """Every value of every switch shows another view, and every page of a trace has the height that its trace needs."""
    wrong, counted = [], 0
    page.show(*WINDOWS["wide"])
    for name in TRACED.values():
        page.open(site / "traces" / f"{name}.html")
        seen = page.value("""(() => {
          const seen = [];
          for (const button of [...document.querySelectorAll('.choice button')].map(b => [b.closest('.introduced').ariaLabel, b.dataset.value])) {
            [...document.querySelectorAll('.choice .introduced')].find(g => g.ariaLabel === button[0])
              .querySelector(`[data-value="${button[1]}"]`).click();
            const view = halo.panes[0].view;
            seen.push([button[1], view.settings.includes(button[1]), halo.panes[0].drawing.querySelectorAll('rect').length > 32]);
          }
          return seen;
        })()""")
        if len(seen) < 4 or not all(shown and drawn for _, shown, drawn in seen):
            wrong.append(f"traces/{name}.html: its switches show {seen}")
        # What the page counts with other paddings it counts as the simulator does; of an asynchronous copy it counts nothing.
        differ = page.value("""(() => {
          const all = halo.data.views.flatMap(view => view.trace.warps.flatMap(warp => warp.requests
            .filter(one => /^shared_(load|store)/.test(one.kind) && !/asynchronous copy/.test(one.why ?? ''))
            .map(one => [one, view.trace.arrays])));
          return [all.length, all.filter(([one, arrays]) => halo.wavefrontsOf(one, halo.lanesOf(one, arrays)) !== one.taken).length];
        })()""")
        if differ[1]:
            wrong.append(f"traces/{name}.html: of {differ[0]} requests to shared memory {differ[1]} have other wavefronts in the page")
        counted += differ[0]
        wrong += [f"traces/{name}.html: {line}" for line in page.complaints]
    if counted < 100:
        wrong.append(f"traces: {counted} requests to shared memory only")
    page.open(site / "04_conv1d_tiled_halo.html")
    page.value("document.querySelector('iframe.trace').scrollIntoView()")
    if not page.wait_for("document.querySelector('iframe.trace').style.height !== ''", 20):
        wrong.append("04_conv1d_tiled_halo: the trace does not say how high it is")
    return wrong


def wrong_roofline(site):
    """Each kernel that was measured on a GPU is a point of the roofline and a row of its table; all but libraries lead somewhere."""
    sys.path.insert(0, str(ROOT / "docs" / "results"))
    from read_results import read_results
    text = (site / "results" / "roofline.html").read_text(encoding="utf-8")
    points = set(re.findall(r"<title>([^,<]+), ([^:<]+): [\d.]+ TFLOP/s at", text))
    linked = set(re.findall(r'<a href="[^"]+"><g class="point[^>]*><title>([^,<]+), ([^:<]+):', text))
    kernels = set()
    for file in (ROOT / "docs" / "results").glob("*.json"):
        if file.name.startswith(("bench_", "convolve_")):
            kernels |= {(row["stage"], row["variant"], row["role"]) for row in read_results(file)["rows"]
                        if row["backend"] == "gpu" and row["role"] != "beside" and row.get("time", {}).get("gflop_per_s")}
    wrong = [f"roofline: {stage}, {variant} has no point" for stage, variant, _ in kernels if (stage, variant) not in points]
    wrong += [f"roofline: {stage}, {variant} leads nowhere" for stage, variant, role in kernels
              if role == "variant" and (stage, variant) not in linked]
    rows = len(re.findall(r"<tr>\s*<td", text))
    if not kernels or len(points) != len(kernels) or rows != len(points):
        wrong.append(f"roofline: {len(points)} points and {rows} rows for {len(kernels)} kernels")
    return wrong


STEPPED = {"12_fused_softmax": "butterfly", "08_tuned": "winograd"}


def stepped(site, page):
    """The steppers step by keys, and what they compute is right."""
    wrong = []
    page.show(*WINDOWS["wide"])
    for name, stepper in STEPPED.items():
        page.open(site / f"{name}.html")
        if page.value("[...document.querySelectorAll('.stepper')].map(s => s.dataset.stepper).join()") != stepper:
            wrong.append(f"{name}: its stepper is not there")
            continue
        page.value("document.querySelector('.stepper').focus()")
        values = "[...document.querySelectorAll('.stepper .value.now')].map(t => Number(t.textContent))"
        for way in page.value("[...document.querySelectorAll('.stepper [data-way]')].map(b => b.dataset.way)"):
            page.value(f"document.querySelector('.stepper [data-way=\\'{way}\\']').click(), document.querySelector('.stepper').focus()")
            page.key("Home")
            given = page.value(values)
            page.key("ArrowRight")
            second = page.value(values)
            page.key("End")
            last = page.value(values)
            if stepper == "butterfly":
                expected = [max(given) if way == "maximum" else sum(given)] * 8
            else:
                cells, taps = given[:4], given[4:]
                expected = [sum(cells[i + j] * taps[j] for j in range(3)) for i in range(2)]
            if last != expected or second == given or len(second) != 8:
                wrong.append(f"{name}: {stepper}, {way}: {given} becomes {second}, then {last}; right is {expected}")
        wrong += [f"{name}: {line}" for line in page.complaints]
    return wrong


def predicted(site, page):
    """Each number in bold among the answers to Predict and to the boxes can be tried on the page; a wrong one is told."""
    wrong, looked = [], 0
    for path in sorted(site.glob("[01][0-9]_*.html")):
        text = path.read_text(encoding="utf-8")
        found = re.findall(r"<summary>Answers? to <em>(?:Predict|Box: \w+)</em></summary>(.*?)</details>", text, re.S)
        if not found:
            continue
        page.open(path)
        looked += 1
        numbers = [number for number in re.findall(r"<strong>([^<]*)</strong>", "".join(found)) if re.fullmatch(r"[\d,.]+", number)]
        boxes = page.value("document.querySelectorAll('.predict input').length")
        if not numbers or boxes != len(numbers):
            wrong.append(f"{path.name}: {boxes} boxes for the {len(numbers)} numbers of its answers")
            continue
        verdicts = """(numbers => {
          const boxes = [...document.querySelectorAll('.predict input')];
          boxes.forEach((box, i) => { box.value = numbers[i]; });
          document.querySelectorAll('.predict button').forEach(button => button.click());
          return [...document.querySelectorAll('.predict output')].map(one => one.textContent);
        })(%s)"""
        right = page.value(verdicts % json.dumps(numbers))
        off = page.value(verdicts % json.dumps([str(float(number.replace(",", "")) + 1) for number in numbers]))
        empty = page.value(verdicts % json.dumps([""] * len(numbers)))
        if set(right) != {"✓ right"} or not all(said.startswith("0 of") for said in off + empty):
            wrong.append(f"{path.name}: right numbers are {right}, wrong ones {off}, none {empty}")
    return wrong if looked > 10 else wrong + [f"Predict: {looked} pages have answers"]


TOO_WIDE = """(() => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide <= 0) return '';
  const right = document.documentElement.clientWidth;
  const far = [...document.querySelectorAll('article *')].find(e => e.getBoundingClientRect().right > right + 1);
  return wide + ' pixels too wide' + (far ? ', at <' + far.tagName.toLowerCase() + '> ' + far.textContent.trim().slice(0, 40) : '');
})()"""


def look(site, page, pictures):
    wrong = []
    paths = sorted(path for path in site.rglob("*.html") if path.name != "404.html")
    for window, (width, height) in WINDOWS.items():
        # Dark differs in colours only, which is for people to look at.
        for dark in (False, True) if pictures else (False,):
            page.show(width, height, dark)
            page.open(paths[0])
            page.value("localStorage.clear()")  # it keeps the colours of the first visit
            for path in paths:
                name = str(path.relative_to(site))
                if (dark or window == "narrow") and name.startswith("source"):
                    continue
                page.open(path)
                wide = page.value(TOO_WIDE)
                if wide:
                    wrong.append(f"{name}: {window}: {wide}")
                wrong += [f"{name}: console: {line}" for line in page.complaints]
                if pictures:
                    at = pictures / f"{name.removesuffix('.html').replace('/', '_')}_{window}{'_dark' if dark else ''}.png"
                    page.picture(at, whole=False)
    return wrong, len(paths)


def search(site, page):
    """Search must find a word, from disk."""
    page.show(*WINDOWS["wide"])
    page.open(site / "index.html")
    # Typed letter by letter until it is found: the page asks only where the text differs from what it last knew, and a
    # word that stood there before it listened never does. On a busy machine it may also read its index for a while.
    page.value("document.querySelector('#__search').checked = true")
    for _ in range(60):
        page.value("(() => { const box = document.querySelector('[data-md-component=search-query]');"
                   "box.focus(); box.value = ''; })()")
        for letter in "wavefront":
            page.key(letter)
        if page.wait_for("document.querySelectorAll('.md-search-result__item').length > 0", 3):
            return []
    return ["search from disk finds nothing for 'wavefront'"] + page.complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    wrong = wrong_menu()  # without MkDocs too
    if wrong:
        print("\n".join(wrong))
        return 1
    folder = tempfile.TemporaryDirectory()
    out = arguments.out or pathlib.Path(folder.name)
    built = subprocess.run([sys.executable, str(ROOT / "docs" / "site" / "make_site.py"), "--out", str(out)],
                           capture_output=True, text=True, check=False)
    if built.returncode != 0:
        print(built.stderr.strip() or built.stdout.strip())
        return built.returncode
    site = out.resolve() / "site"
    wrong = dead_links(site) + torn_text(site) + unexplained(site) + wrong_traces(site) + wrong_roofline(site)
    program = browser.find()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    looked = 0
    if program:
        with browser.Page(program) as page:
            wrong += search(site, page) + switched(site, page) + stepped(site, page) + predicted(site, page)
            seen, looked = look(site, page, arguments.pictures)
            wrong += seen
    for line in wrong:
        print(line)
    if wrong:
        print(f"site: {len(wrong)} things wrong")
        return 1
    if not program:
        print("links and text are good; NOT RUN: how it looks, no Chromium was found")
        return 77
    print(f"site: {looked} pages looked at, links, text and search are good")
    return 0


if __name__ == "__main__":
    sys.exit(main())
