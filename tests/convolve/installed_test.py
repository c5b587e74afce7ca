#!/usr/bin/env python3
"""libhalo-convolve installed alone, and moved to a folder with a blank: what it needs and shows, and that programs in C and
C++ which make or CMake built against it run, with the libcudart of --runtime: the simulator or NVIDIA's."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE / "installed"
EXAMPLES = HERE.parents[1] / "docs" / "examples"
options = argparse.Namespace()


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"NOT RUN: {program} is not here")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        top = pathlib.Path(cls.folder.name)
        subprocess.run([options.meson, "install", "-C", options.build, "--no-rebuild", "--tags", "convolve", "--destdir",
                        top / "made"], check=True, stdout=subprocess.DEVNULL)
        (made,) = [one.parents[2] for one in top.glob("made/**/include/halo/convolve.h")]
        cls.prefix = top / "moved here"
        made.rename(cls.prefix)
        cls.environment = {name: value for name, value in os.environ.items()
                           if not name.startswith("SIMT_") and name not in ("DESTDIR", "MAKEFLAGS")}
        cls.environment.update(XDG_CACHE_HOME=str(top / "cache"), PKG_CONFIG_PATH=str(cls.prefix / "lib" / "pkgconfig"),
                               LD_LIBRARY_PATH=f"{options.runtime}:{cls.prefix / 'lib'}")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name))

    def call(self, *words, **more):
        ended = subprocess.run([str(word) for word in words], env={**self.environment, **more}, cwd=self.work, text=True,
                               capture_output=True)
        self.assertEqual(ended.returncode, 0, f"{words}:\n{ended.stdout}{ended.stderr}")
        return ended.stdout

    def runs(self, *programs):
        # In the simulator also as on a GPU for which no kernel adds a bias to such a layer.
        for gpu in ("h200", "v100"):
            for program in programs:
                self.assertEqual(self.call(program, SIMT_GPU=gpu).splitlines()[-1], "good")

    @needs("readelf")
    def test_it_needs_libcudart_and_glibc_only_and_shows_its_interface(self):
        library = self.prefix / "lib" / "libhalo-convolve.so.0"
        needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\]", self.call("readelf", "--dynamic", library)))
        self.assertIn("libcudart.so.13", needed)
        glibc = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
                 "ld-linux-aarch64.so.1"}
        self.assertEqual(needed - glibc, {"libcudart.so.13"})
        shown = set()
        for line in self.call("readelf", "--dyn-syms", "--wide", library).splitlines():
            words = line.split()
            if len(words) == 8 and words[4] in ("GLOBAL", "WEAK") and words[6] not in ("UND", "ABS"):
                shown.add(words[7].partition("@")[0])
        header = (self.prefix / "include" / "halo" / "convolve.h").read_text()
        self.assertEqual(shown, set(re.findall(r"\b(halo_convolve\w*)\((?!\))", re.sub(r"/\*.*?\*/", "", header, flags=re.S))))

    @needs("make")
    @needs("pkg-config")
    def test_make_and_pkg_config(self):
        shutil.copytree(PROJECT, self.work, dirs_exist_ok=True)
        self.call("make", "-s", f"CUDA={options.cuda}")
        self.runs("./in_c", "./in_cpp")

    @needs("pkg-config")
    def test_the_programs_of_the_page(self):
        for compiler, source, says in [("cc", "layer.c", r"\w+ has run"),
                                       ("c++ -std=c++20", "signal.cpp", "9 taps: quad\n255 taps: overlap_save")]:
            # A blank of the folder comes from pkg-config behind a backslash.
            self.call("sh", "-c", f'eval "{compiler} {EXAMPLES / source} -o example -I{options.cuda}/include '
                                  f'$(pkg-config --cflags --libs halo-convolve) -L{options.cuda}/lib64 -lcudart"')
            self.assertRegex(self.call("./example"), says)
            # NVIDIA's runtime, and no GPU that it sees.
            alone = subprocess.run(["./example"], cwd=self.work, text=True, capture_output=True,
                                   env={**self.environment, "CUDA_VISIBLE_DEVICES": "",
                                        "LD_LIBRARY_PATH": f"{options.cuda}/lib64:{self.prefix / 'lib'}"})
            self.assertEqual((alone.returncode, alone.stdout), (1, ""))
            self.assertRegex(alone.stderr, r"\A.*: it needs an NVIDIA GPU and its driver \(nvidia-smi\)\n\Z")

    @needs("cmake")
    def test_cmake(self):
        self.call("cmake", "-S", PROJECT, "-B", "built", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                  f"-DCUDAToolkit_ROOT={options.cuda}")
        self.call("cmake", "--build", "built")
        self.runs("built/in_c", "built/in_cpp")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--meson", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cuda", required=True, help="the toolkit's folder")
    parser.add_argument("--runtime", required=True, help="the folder of the libcudart that programs find")
    parser.add_argument("tests", nargs="*")
    parser.parse_args(namespace=options)
    options.build = options.build.resolve()
    probe = ("import ctypes, sys; count = ctypes.c_int(); "
             f"error = ctypes.CDLL('{options.runtime}/libcudart.so.13').cudaGetDeviceCount(ctypes.byref(count)); "
             "sys.exit(error != 0 or count.value == 0)")
    if subprocess.run([sys.executable, "-c", probe], stderr=subprocess.DEVNULL).returncode != 0:
        print(f"convolve_installed: NOT RUN: no GPU for {options.runtime}/libcudart.so.13")
        return 77
    result = unittest.main(argv=[sys.argv[0], "-v", *options.tests], exit=False).result
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
