#!/usr/bin/env python3
"""Takes the pictures of `halo trace` and of `halo report --html` for the pages and the README, with Chromium.

    docs/figures/make_page_pictures.py --halo build/common/cli/halo-cli --build build

Not part of a check: a browser's fonts differ from machine to machine. What the pages do is held by
tests/trace/page_test.py and tests/report/page_test.py."""

import argparse
import collections
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import browser  # noqa: E402

# The command but for the file that it makes, where on that page, and the window; is all seen, or only what the window
# holds?
PICTURES = {
    "trace_04": (["trace", "04", "--variant", "tiled_halo", "--no-open", "--output"],
                 "#view=0&line=38", (1280, 660), True),
    "trace_transpose": (["trace", "docs/examples/transpose.cu", "--no-open", "--output"],
                        "#view=0&beside=1&line=24", (1280, 520), True),
    "report_conv1d": (["report", "docs/results/bench_conv1d_gpu.json", "--html"],
                      "#stage=04_conv1d_tiled_halo&variant=04_conv1d_tiled_halo/warp_tile&cold=1&problem=11", (1300, 1040),
                      False),
}


def pixels_of(png):
    """Width, height and the rows of RGB triples of a picture as Chromium writes it: 8 bits, without alpha or with."""
    at, compressed = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        data = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", data[:10])
            assert depth == 8 and colours in (2, 6), "another kind of PNG"
        if kind == b"IDAT":
            compressed += data
        at += 12 + length
    size = 3 if colours == 2 else 4
    raw, rows, above = zlib.decompress(compressed), [], bytes(width * size)
    for y in range(height):
        begin = y * (width * size + 1)
        kind, row = raw[begin], bytearray(raw[begin + 1:begin + 1 + width * size])
        for i in range(len(row) if kind else 0):
            left = row[i - size] if i >= size else 0
            up, corner = above[i], above[i - size] if i >= size else 0
            if kind == 4:
                guess = left + up - corner
                near = min((left, up, corner), key=lambda value: abs(guess - value))
            else:
                near = (left, up, (left + up) // 2)[kind - 1]
            row[i] = (row[i] + near) & 255
        above = bytes(row)
        rows.append([above[i:i + 3] for i in range(0, len(above), size)])
    return width, height, rows


def with_palette(png, most=64):
    """The same picture in its commonest colours: a third of the bytes."""
    width, height, rows = pixels_of(png)
    commonest = [colour for colour, _ in collections.Counter(p for row in rows for p in row).most_common(4000)]
    # Colours that hardly differ would take all places.
    palette = []
    for apart in (40, 24, 12, 4):
        for colour in commonest:
            if len(palette) < most and all(sum(abs(a - b) for a, b in zip(colour, other)) > apart for other in palette):
                palette.append(colour)
    nearest = {}

    def index(colour):
        if colour not in nearest:
            nearest[colour] = min(range(len(palette)),
                                  key=lambda i: sum((a - b) ** 2 for a, b in zip(colour, palette[i])))
        return nearest[colour]

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packed = b"".join(b"\0" + bytes(map(index, row)) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
            + chunk(b"PLTE", b"".join(palette)) + chunk(b"IDAT", zlib.compress(packed, 9)) + chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--halo", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("only", nargs="*", help="these only")
    arguments = parser.parse_args()
    program = browser.find()
    if not program:
        print("NOT RUN: no Chromium was found")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as folder, browser.Page(program) as page:
        for name, (command, place, (width, height), whole) in PICTURES.items():
            if arguments.only and name not in arguments.only:
                continue
            made = pathlib.Path(folder) / f"{name}.html"
            subprocess.run([arguments.halo.resolve(), "--build", arguments.build.resolve(), *command, made], cwd=ROOT,
                           check=True, stdout=subprocess.DEVNULL)
            page.show(width, height)
            page.open(made.as_uri() + place)
            if page.value("document.documentElement.scrollWidth > innerWidth"):
                wrong.append(f"{name}: too wide")
            wrong += [f"{name}: {line}" for line in page.complaints]
            picture = ROOT / "docs" / "figures" / f"{name}.png"
            page.picture(picture, whole=whole)
            picture.write_bytes(with_palette(picture.read_bytes()))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
