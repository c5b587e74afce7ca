"""The programs simcc and simt of the wheel, which are in the package's folder. The package itself is not loaded."""
import os
import pathlib
import sys


def _become(name):
    program = pathlib.Path(__file__).resolve().parent / "simt" / "native" / "bin" / name
    os.execv(program, [str(program), *sys.argv[1:]])


def simcc():
    _become("simcc")


def simt():
    _become("simt")
