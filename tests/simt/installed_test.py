#!/usr/bin/env python3
"""The simulator installed alone, and moved to a folder with a blank and an umlaut: what compiles with it as with nvcc, by
hand, make, CMake, Meson and pkg-config, runs in it."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROJECT = HERE / "installed"
REVERSE = ROOT / "docs" / "examples" / "reverse.cu"
MIXED = "62, 2, launches: 1\n"
options = argparse.Namespace()


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"NOT RUN: {program} is not here")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        top = pathlib.Path(cls.folder.name)
        subprocess.run([options.meson, "install", "-C", options.build, "--no-rebuild", "--tags", "simt", "--destdir",
                        top / "made"], check=True, stdout=subprocess.DEVNULL)
        (made,) = [one.parents[1] for one in top.glob("made/**/bin/simcc")]
        cls.prefix = top / "moved schön"
        made.rename(cls.prefix)
        cls.environment = {name: value for name, value in os.environ.items()
                           if not name.startswith("SIMT_") and name not in ("DESTDIR", "MAKEFLAGS", "NVCC_CCBIN")}
        cls.environment.update(XDG_CACHE_HOME=str(top / "cache"), PATH=f"{cls.prefix}/bin:{os.environ['PATH']}",
                               PKG_CONFIG_PATH=str(cls.prefix / "lib" / "pkgconfig"))

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

    def has_findings(self, *program):
        ended = subprocess.run(program, cwd=self.work, env=self.environment, text=True, capture_output=True)
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertIn("reverse.cu:12: error: race of tile in reverse(float*)", ended.stderr)

    def test_a_program_is_compiled_and_its_race_is_found(self):
        self.call("simcc", REVERSE, "-o", "reverse")
        self.has_findings("./reverse")
        self.has_findings("simt", "run", "./reverse")

    def test_first_calls_at_the_same_time_make_one_toolkit(self):
        cache = self.work / "cache"
        environment = {**self.environment, "XDG_CACHE_HOME": str(cache)}
        calls = [subprocess.Popen(["simcc", "--version"], env=environment, stdout=subprocess.DEVNULL) for _ in range(8)]
        self.assertEqual([one.wait() for one in calls], [0] * 8)
        (toolkit,) = (cache / "simt").iterdir()
        self.assertEqual((toolkit / "lib64" / "libcudart.so").read_text(),
                         f'INPUT("{self.prefix}/lib/simt/libcudart.so.13")\n')

    def test_a_script_that_is_called_nvcc_may_call_simcc(self):
        script = self.work / "nvcc"
        script.write_text(f'#!/bin/sh\nexec "{self.prefix}/bin/simcc" "$@"\n')
        script.chmod(0o755)
        said = self.call("nvcc", "--version", PATH=f"{self.work}:{os.environ['PATH']}")
        self.assertIn("release 1", said)

    def test_gpus_that_are_named_are_left_out(self):
        for words in (["-arch=sm_20"], ["-gencode", "arch=compute_35,code=sm_35", "--generate-code=arch=compute_20"],
                      ["--gpu-architecture", "compute_30", "-code", "sm_30,sm_35"], ["-dlto", "-arch=sm_80"]):
            self.call("simcc", *words, REVERSE, "-o", "reverse")
            self.has_findings("./reverse")

    def test_files_of_options_may_be_several_and_name_others(self):
        (self.work / "one").write_text("-arch=sm_20 -optf two")
        (self.work / "two").write_text('-DA="1 + 1"\n')
        (self.work / "three").write_text("-DB=2")
        (self.work / "a.cu").write_text("static_assert(A == B);\nint main() {}\n")
        for words in (["-optf", "one,three"], ["--options-file=one", "-optf=three"]):
            self.call("simcc", *words, "a.cu", "-o", "a")

    def test_what_is_called_a_cubin_lies_where_nvcc_puts_it(self):
        (self.work / "out").mkdir()
        for words in (["-odir", "out"], ["--output-directory=out"], ["-lto", "-o", "out/reverse.cubin"]):
            self.call("simcc", "-cubin", "-arch=sm_80", *words, REVERSE)
            (self.work / "out" / "reverse.cubin").unlink()

    def test_an_option_without_its_value_is_nvccs_to_refuse(self):
        ended = subprocess.run(["simcc", REVERSE, "-o"], cwd=self.work, env=self.environment, text=True, capture_output=True)
        self.assertIn("argument expected after '-o'", ended.stderr)
        self.assertEqual((ended.returncode, list(self.work.iterdir())), (1, []))

    def test_the_folder_of_the_toolkits_libraries_may_be_named(self):
        toolkit = pathlib.Path(shutil.which("nvcc")).resolve().parents[1]
        folders = [one.parent for one in toolkit.glob("**/libcudart.so.1*")]
        self.assertTrue(folders)
        self.call("simcc", *(f"-L{one}" for one in folders), REVERSE, "-o", "reverse", "-lcudart")
        self.has_findings("./reverse")

    def test_python_may_load_nvidias_runtime_and_then_finds_our_driver(self):
        toolkit = pathlib.Path(shutil.which("nvcc")).resolve().parents[1]
        runtime = next(iter(toolkit.glob("**/libcudart.so.1*")))
        program = self.work / "program"
        program.write_text(f"#!{sys.executable}\nimport ctypes\nctypes.CDLL('{runtime}', ctypes.RTLD_GLOBAL)\n"
                           "print(ctypes.CDLL('libcuda.so.1').cuInit(0))\n")
        program.chmod(0o755)
        for words in ([sys.executable, program], [program]):
            self.assertEqual(self.call("simt", "run", *words), "0\n")

    def refused(self, **names):
        ended = subprocess.run(["simcc", "--version"], env={**self.environment, **names}, text=True, capture_output=True)
        self.assertEqual(ended.returncode, 2)
        return ended.stderr

    def test_no_nvcc_is_one_line(self):
        self.assertEqual(self.refused(SIMT_NVCC="/bin/true"), "simcc: SIMT_NVCC=/bin/true is no nvcc of CUDA 13 or newer\n")

    @unittest.skipIf(os.geteuid() == 0, "NOT RUN: root writes everywhere")
    def test_no_folder_that_can_be_written_is_one_line(self):
        library = self.prefix / "lib" / "simt"
        library.chmod(0o555)
        try:
            self.assertEqual(self.refused(XDG_CACHE_HOME="/proc/none"),
                             f"simcc: neither {library} nor a cache can be written: set XDG_CACHE_HOME to a folder that can\n")
        finally:
            library.chmod(0o755)

    @needs("make")
    @needs("pkg-config")
    def test_make_takes_simcc_for_nvcc(self):
        shutil.copytree(PROJECT, self.work, dirs_exist_ok=True)
        self.call("sh", "-c", 'make -s NVCC=simcc FLAGS="$(pkg-config --cflags simt)"')
        self.assertEqual(self.call("./mixed"), MIXED)

    @needs("g++")
    @needs("pkg-config")
    def test_a_host_program_that_only_asks_meets_the_simulator(self):
        (self.work / "asks.cpp").write_text("#include <simt/simulator.hpp>\n"
                                            "int main() { return simt::simulator() != nullptr ? 0 : 1; }\n")
        self.call("sh", "-c", 'eval "g++ -std=c++20 -Wl,--as-needed asks.cpp $(pkg-config --cflags --libs simt) -o asks"')
        self.call("./asks")
        older = subprocess.run(["sh", "-c", 'eval "g++ -std=c++17 -c asks.cpp $(pkg-config --cflags simt)"'], cwd=self.work,
                               env=self.environment, text=True, capture_output=True)
        said = [line for line in older.stderr.splitlines() if ".hpp:" in line and "error:" in line]
        self.assertEqual(len(said), 1, older.stderr)
        self.assertIn("needs C++20: compile with -std=c++20", said[0])

    @needs("cmake")
    def test_cmake_takes_simcc_for_nvcc_and_finds_its_runtime(self):
        # CMake 4 prefers a libcudart of the system's to that of any toolkit.
        self.call("cmake", "-S", PROJECT, "-B", "built", f"-DCMAKE_CUDA_COMPILER={self.prefix}/bin/simcc",
                  f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DREVERSE={REVERSE}", "-DCMAKE_CUDA_ARCHITECTURES=75",
                  "-DCMAKE_IGNORE_PATH=/usr/local/lib;/usr/local/lib64")
        self.call("cmake", "--build", "built")
        self.has_findings("built/reverse")
        for runtime in ("cudart", "cudart_static"):
            self.assertEqual(self.call("built/mixed_" + runtime), MIXED)

    def test_meson_takes_simcc_for_nvcc(self):
        native = self.work / "native.ini"
        native.write_text(f"[binaries]\ncuda = '{self.prefix}/bin/simcc'\n")
        self.call(options.meson, "setup", "built", PROJECT, "--native-file", native, f"-Dreverse={REVERSE}")
        self.call("ninja", "-C", "built")
        self.has_findings("built/reverse")

    @needs("dpkg-shlibdeps")
    def test_a_debian_package_holds_it_all(self):
        made = self.call("sh", ROOT / "common" / "simt" / "packaging" / "deb.sh", options.build, self.work).strip()
        depends = self.call("dpkg-deb", "--field", made, "Depends")
        self.assertIn("g++, ", depends)
        self.assertIn("libc6 (", depends)
        self.call("dpkg-deb", "--extract", made, "root")
        self.call("root/usr/bin/simcc", REVERSE, "-o", "reverse")
        self.has_findings("./reverse")
        self.has_findings("root/usr/bin/simt", "run", "./reverse")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--meson", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("tests", nargs="*")
    parser.parse_args(namespace=options)
    options.build = options.build.resolve()
    result = unittest.main(argv=[sys.argv[0], "-v", *options.tests], exit=False).result
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
