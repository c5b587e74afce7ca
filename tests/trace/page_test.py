#!/usr/bin/env python3
"""The page of `halo trace`: whole and by itself, as its text and as Chromium shows it, wide and narrow, light and
dark, with the keyboard. Status 77: all that can be tried without Chromium is good."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import browser  # noqa: E402
import one_file  # noqa: E402

TRANSPOSE = ROOT / "docs" / "examples" / "transpose.cu"
WINDOWS = {"wide": (1440, 900), "narrow": (500, 900)}


def fail_if(wrong, problem, text):
    if problem:
        wrong.append(text)


def read(page, wrong):
    texts = one_file.read(page, wrong)
    data = json.loads(texts["data"])
    names = [view["name"] for view in data["views"]]
    fail_if(wrong, names != ["transpose<32>", "transpose<33>"], f"the kernels are {names}")
    lines = data["files"].get("docs/examples/transpose.cu")
    fail_if(wrong, lines != TRANSPOSE.read_text().splitlines(), "the source is not in it")
    for view, conflicts in zip(data["views"], (126976, 0)):
        fail_if(wrong, view["counters"]["shared_load_conflicts"] != conflicts, f"{view['name']}: other conflicts")
        fail_if(wrong, not view["trace"]["warps"], f"{view['name']}: no warps")
    words = texts["pre"]
    for part in ("32 wavefronts per request, 1 would do", "which is the same bank again", "No line takes more"):
        fail_if(wrong, part not in " ".join(words.replace("|", " ").split()), f"without a script it does not say: {part}")


CHOSEN = "({line: halo.active().key.split(':').pop(), step: halo.active().at, warp: halo.active().warp," \
         " kind: halo.active().kind, lane: halo.active().lane, pane: halo.active().number})"


def keys(page, shown, wrong):
    """Every key does what the page says of it."""
    shown.show(*WINDOWS["wide"])
    shown.open("about:blank")
    shown.open(page.as_uri() + "#view=0&beside=1")

    def after(*pressed):
        for key in pressed:
            shown.key(key)
        return shown.value(CHOSEN)

    def expect(what, state, **values):
        for name, value in values.items():
            fail_if(wrong, state[name] != value, f"{what}: {name} is {state[name]}, not {value}")

    expect("at first", shown.value(CHOSEN), line="24", step=0, kind="shared_load", pane=0, lane=-1)
    expect("right", after("ArrowRight"), step=1)
    expect("end", after("End"), step=3)
    expect("right at the end", after("ArrowRight"), step=3)
    expect("left", after("ArrowLeft"), step=2)
    expect("home", after("Home"), step=0)
    expect("k", after("k"), kind="global_store")
    # All that was kept of the warp: a load and a store of each turn, then the same back.
    after("m")
    fail_if(wrong, not shown.value("halo.active().memory"), "m does not draw memory")
    expect("m", shown.value(CHOSEN), line="18", kind="global_load", step=0)
    expect("end of memory", after("End"), line="24", kind="global_store", step=3)
    expect("home of memory", after("Home"), line="18", kind="global_load", step=0)
    expect("right in memory", after("ArrowRight"), line="18", kind="shared_store", step=0)
    seen = shown.value("['touched', 'past'].map(c => halo.active().drawing.querySelectorAll('.' + c).length)")
    fail_if(wrong, seen != [32, 32], f"a row of the tile after its load is drawn as {seen}")
    after("m", "ArrowDown", "k")
    expect("m twice", shown.value(CHOSEN), line="24", kind="global_store", step=0)
    expect("up", after("ArrowUp"), line="18")
    expect("up at the first line", after("ArrowUp"), line="18")
    expect("down", after("ArrowDown"), line="24", kind="shared_load")
    first = shown.value(CHOSEN)["warp"]
    fail_if(wrong, after("w")["warp"] == first, "w: the same warp")
    expect("w twice", after("w"), warp=first)
    expect("]", after("]"), lane=0)
    expect("] again", after("]"), lane=1)
    said = shown.value("halo.active().caption.textContent")
    fail_if(wrong, "Lane 1: byte 128 of tile, bank 0." not in said, f"the lane is not told: {said}")
    expect("[", after("["), lane=0)
    expect("Escape", after("Escape"), lane=-1)
    expect("v", after("v"), pane=1)
    expect("v twice", after("v"), pane=0)
    after("p")
    fail_if(wrong, not shown.value("Boolean(halo.active().timer)"), "p does not play")
    after("p")
    fail_if(wrong, shown.value("Boolean(halo.active().timer)"), "p does not stop")
    # By Tab to a line's button, and Enter.
    shown.value("halo.panes[0].rows.get(halo.panes[0].key.replace(':24', ':18')).button.focus()")
    expect("Enter on a line", after("Enter"), line="18")
    expect("the address", {"hash": shown.value("location.hash")}, hash="#view=0&beside=1&line=18&step=0")
    wrong += [f"with the keyboard: {line}" for line in shown.complaints]


def drawn(page, shown, wrong):
    """The picture says what the figures say."""
    shown.open("about:blank")
    shown.open(page.as_uri() + "#view=0&line=24")
    rows = shown.value("halo.panes[0].drawing.querySelectorAll('rect.empty').length")
    most = shown.value("halo.panes[0].drawing.querySelectorAll('.bar.most').length")
    fail_if(wrong, (rows, most) != (32, 1), f"a column is drawn in {rows} rows with {most} full banks")
    said = shown.value("halo.panes[0].caption.textContent")
    fail_if(wrong, "Bank 0 has 32 different words to give" not in said, f"it does not say why: {said}")
    how = shown.value("halo.panes[0].how.textContent")
    fail_if(wrong, "a column is a bank" not in how, f"how banks are read: {how}")
    heat = shown.value("[...document.querySelectorAll('td.conflicts')].map(cell => [cell.textContent, "
                       "Number(cell.style.getPropertyValue('--heat'))])")
    fail_if(wrong, heat != [["0", 0], ["31", 1]], f"the heat of conflicts is {heat}")
    shown.value("halo.panes[0].kind = 'global_store', halo.panes[0].update()")
    sectors = shown.value("halo.panes[0].drawing.querySelectorAll('rect.sector').length")
    fail_if(wrong, sectors != 4, f"a row is drawn in {sectors} sectors")
    said = shown.value("halo.panes[0].caption.textContent")
    fail_if(wrong, not said.endswith("4 sectors, the fewest."), f"a row that wastes nothing: {said}")
    how = shown.value("halo.panes[0].how.textContent")
    fail_if(wrong, "a row is 128 bytes" not in how, f"how sectors are read: {how}")


def asked(page, shown, wrong):
    """What the reader may ask: other paddings, and which blocks touch what."""
    shown.open("about:blank")
    shown.open(page.as_uri() + "#view=0&line=24")
    pads = shown.value("[...document.querySelectorAll('[data-pad]')].map(b => b.textContent)")
    fail_if(wrong, pads != ["+0: 32", "+1: 1", "+2: 2", "+4: 4", "+8: 8"], f"paddings of 32 words: {pads}")
    shown.value("document.querySelector('[data-pad=\"1\"]').click()")
    said = shown.value("halo.panes[0].caption.textContent")
    fail_if(wrong, "with 33 words per row 1 wavefront, the fewest" not in said, f"one word more: {said}")
    most = shown.value("halo.panes[0].drawing.querySelectorAll('.bar').length")
    fail_if(wrong, most != 32, f"one word more: {most} banks are asked")
    shown.value("(() => { const box = document.querySelector('.what-if input'); box.value = 31; box.dispatchEvent(new Event('input')); })()")
    pads = shown.value("[...document.querySelectorAll('[data-pad]')].map(b => b.textContent)")
    fail_if(wrong, pads[1:2] != ["+1: 2"] or len(pads) != 5, f"paddings of 31 words: {pads}")
    shown.value("halo.panes[0].map.open = true, halo.panes[0].updateMap()")
    # 16 x 8 blocks in 32 rows of 4. A block has 32 rows of an array of 256: an eighth of it; and 32 of its 512 columns.
    parts = shown.value("[...halo.panes[0].map.querySelectorAll('svg')].map(svg => ['loads', 'stores', 'both'].map(c => "
                        "svg.querySelectorAll('.' + c).length))")
    fail_if(wrong, parts != [[32 * 6, 0, 0], [0, 32 * 12, 0]], f"the map has {parts}")


def source(page, shown, wrong):
    """The source is coloured, and no line of it is cut."""
    for width, height in WINDOWS.values():
        shown.show(width, height)
        shown.open("about:blank")
        shown.open(page.as_uri() + "#view=0&line=24")
        over = shown.value("(() => { const box = halo.panes[0].source; return box.scrollWidth - box.clientWidth; })()")
        fail_if(wrong, over > 0, f"at {width}: the source is {over} px wider than its box")
    text = shown.value("[...document.querySelectorAll('.source tbody tr')].map(row => row.lastChild.textContent)")
    fail_if(wrong, text != TRANSPOSE.read_text().splitlines(), "colours change the source")
    for kind, word in (("t-cuda", "__shared__"), ("t-word", "int"), ("t-number", "32"),
                       ("t-text", '"%s\\n"'), ("t-comment", "// [width][height]")):
        has = shown.value(f"[...document.querySelectorAll('.{kind}')].some(e => e.textContent === {json.dumps(word)})")
        fail_if(wrong, not has, f"{word} is not coloured as {kind}")
    lanes = shown.value("[...document.querySelectorAll('.source td.lanes')].map(cell => cell.textContent).filter(Boolean)")
    fail_if(wrong, lanes != ["32", "32"], f"lanes per request: {lanes}")


def look(page, shown, pictures, wrong):
    for name, (width, height) in WINDOWS.items():
        for dark in (False, True):
            for place in ("#view=0&line=24", "#view=0&beside=1&line=24"):
                shown.show(width, height, dark)
                shown.open("about:blank")
                shown.open(page.as_uri() + place)
                where = f"{name}, {'dark' if dark else 'light'}, {place}"
                over = shown.value("document.documentElement.scrollWidth - innerWidth")
                fail_if(wrong, over > 0, f"{where}: {over} px too wide")
                lit = shown.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
                fail_if(wrong, lit == dark, f"{where}: the other colours")
                wrong += [f"{where}: {line}" for line in shown.complaints]
                if pictures:
                    shown.picture(pictures / f"{page.stem}_{'two' if 'beside' in place else 'one'}_{name}"
                                             f"{'_dark' if dark else ''}.png", whole=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--halo", required=True, type=pathlib.Path, help="the halo program")
    parser.add_argument("--build", required=True, type=pathlib.Path, help="its build folder")
    parser.add_argument("--pictures", type=pathlib.Path, help="keep what was seen here")
    arguments = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "transpose.html"
        made = subprocess.run([arguments.halo.resolve(), "--build", arguments.build.resolve(), "trace", TRANSPOSE,
                               "--output", page, "--no-open"], capture_output=True, text=True, check=False)
        if made.returncode != 0 or not page.exists():
            print(made.stderr.strip() or f"no page, and status {made.returncode}")
            return 1
        read(page, wrong)
        program = browser.find()
        if program:
            if arguments.pictures:
                arguments.pictures.mkdir(parents=True, exist_ok=True)
            with browser.Page(program) as shown:
                look(page, shown, arguments.pictures, wrong)
                keys(page, shown, wrong)
                drawn(page, shown, wrong)
                asked(page, shown, wrong)
                source(page, shown, wrong)
    for line in wrong:
        print(line)
    if wrong:
        return 1
    if not program:
        print("the text is good; NOT RUN: how it looks, no Chromium was found")
        return 77
    print("the page is good, wide and narrow, light and dark, with the keyboard")
    return 0


if __name__ == "__main__":
    sys.exit(main())
