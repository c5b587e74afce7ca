#!/usr/bin/env python3
"""Films `halo watch` as text: a student on a terminal of 80 x 24, from the first question to the next exercise.

usage: film_watch.py CLONE FILE

CLONE is a copy of the repository in which the student works (its exercise 04 is edited); FILE gets the screens."""
import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import sys
import termios
import time

LONGEST = 600  # seconds for a screen; the first waits for the build


class Film:
    def __init__(self, clone):
        self.text = b""
        self.screens = []
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(clone)
            os.environ.pop("COLUMNS", None)
            os.environ["TERM"] = "xterm"
            os.execv("./halo", ["halo", "watch", "04"])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self.terminal, 65536)
                except OSError:  # it has ended
                    return

    def until(self, words):
        start = time.monotonic()
        while words.encode() not in self.text:
            if time.monotonic() - start > LONGEST:
                sys.exit(f"{words!r} did not come; there was: {self.text.decode(errors='replace')[-2000:]}")
            self.read(0.05)
        seconds = time.monotonic() - start
        self.read(0.3)
        return seconds

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def show(self, title, seconds=None):
        text = self.text.decode(errors="replace").split("\x1b[2J")[-1]
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "").strip("\n")
        text = text[max(text.find("The task: "), 0):]  # what the set-up said is no screen
        waited = "" if seconds is None else f", {seconds:.1f} s later"
        self.screens.append(f"---- {title}{waited}\n\n{text}\n")
        self.text = b""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    clone = pathlib.Path(sys.argv[1]).resolve()
    source = clone / "exercises/04_tile_and_halo/tile_and_halo.cu"
    solution = (clone / "solutions/04_tile_and_halo/tile_and_halo.cu").read_text()
    film = Film(clone)
    for question, answer in [("requests_per_block = ", "9"), ("bytes_per_output = ", "9.25"),
                             ("bytes_per_output_17 = ", "10"), ("conflicts = ", "0")]:
        film.until(question)
        film.type(answer + "\n")
    film.show("the questions before the first run")
    film.until("[q]uit")
    film.show("the file as it was given")
    for title, text in [("saved without the barrier", solution.replace("__syncthreads();", "")),
                        ("saved with a slip", solution.replace("__syncthreads();", "__syncthreads()")),
                        ("saved right", solution)]:
        source.write_text(text)
        seconds = film.until("[q]uit")
        film.show(title, seconds)
    film.type("q")
    film.read(1)
    film.show("q")
    pathlib.Path(sys.argv[2]).write_text("\n".join(film.screens))


if __name__ == "__main__":
    main()
