#!/usr/bin/env python3
"""The action for GitHub and the template for GitLab, step by step as their runners take them, in a small project; and what
docs/simt_ci.md gives VS Code."""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CI = ROOT / "common" / "simt" / "ci"
SOURCE = pathlib.Path(__file__).resolve().parent / "kernels" / "verdicts.cu"
options = argparse.Namespace()

MISSING = [name for name in ("yaml", "ensurepip") if importlib.util.find_spec(name) is None]
if not MISSING:
    import yaml

CMAKE = """cmake_minimum_required(VERSION 3.18)
project(small LANGUAGES CUDA)
add_executable(verdicts src/verdicts.cu)
enable_testing()
foreach(word clean race write)
  add_test(NAME ${word} COMMAND verdicts ${word})
endforeach()
"""


def make_wheel(folder):
    """A package `simt` whose programs are this build's."""
    with zipfile.ZipFile(folder / "simt-0-py3-none-any.whl", "w") as wheel:
        for name, program in (("simcc", options.simcc), ("simt", options.simt)):
            script = zipfile.ZipInfo(f"simt-0.data/scripts/{name}")
            script.external_attr = (stat.S_IFREG | 0o755) << 16
            wheel.writestr(script, f"#!/bin/sh\nexec '{program}' \"$@\"\n")
        wheel.writestr("simt-0.dist-info/METADATA", "Metadata-Version: 2.1\nName: simt\nVersion: 0\n")
        wheel.writestr("simt-0.dist-info/WHEEL",
                       "Wheel-Version: 1.0\nGenerator: ci_test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("simt-0.dist-info/RECORD", "")


@unittest.skipIf(MISSING, f"NOT RUN: Python has no {' and no '.join(MISSING)} (Debian: python3-yaml, python3-venv)")
class Project(unittest.TestCase):
    """A repository, and what a runner sets."""

    BUILD = "mkdir build && $NVCC src/verdicts.cu -o build/verdicts"

    def setUp(self):
        shared = tempfile.TemporaryDirectory()
        self.addCleanup(shared.cleanup)
        self.folder = pathlib.Path(shared.name).resolve()
        self.home = self.folder / "repo"
        (self.home / "src").mkdir(parents=True)
        shutil.copy(SOURCE, self.home / "src")
        (self.home / "simt.supp").write_text("race kernel=reverse reason=the halves never meet\n")
        make_wheel(self.folder)
        # What is installed, for those tests that do not wait for pip.
        self.installed = self.folder / "installed"
        self.installed.mkdir()
        for name, program in (("simcc", options.simcc), ("simt", options.simt)):
            (self.installed / name).symlink_to(program)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SIMT_", "GITHUB_", "CI_", "CUDA"))}
        self.environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.folder), PIP_DISABLE_PIP_VERSION_CHECK="1")

    def sarif(self, path):
        (run,) = json.loads(pathlib.Path(path).read_text())["runs"]
        return [(one["ruleId"], one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) for one in run["results"]]


class GitHub(Project):
    def take_steps(self, installs=False, **given):
        """What the steps said, by name: (status, output); and whether code scanning gets a file, which."""
        action = yaml.safe_load((CI / "github" / "action.yml").read_text())
        inputs = {name: one["default"] for name, one in action["inputs"].items()}
        self.assertLessEqual({name.replace("_", "-") for name in given}, set(inputs))
        inputs.update({name.replace("_", "-"): value for name, value in given.items()})
        temporary = self.folder / "temp"
        temporary.mkdir()
        environment = {**self.environment, "GITHUB_WORKSPACE": str(self.home), "RUNNER_TEMP": str(temporary)}
        if not installs:
            environment["PATH"] = f"{self.installed}{os.pathsep}{environment['PATH']}"
        outputs, outcomes, said = {}, {}, {}

        def value_of(match):
            expression = match[1]
            if expression.startswith("inputs."):
                return inputs[expression[len("inputs."):]]
            step, name = re.fullmatch(r"steps\.(\w+)\.outputs\.(\w+)", expression).groups()
            return outputs[step][name]

        def fill(text):
            return re.sub(r"\$\{\{ *([^}]*?) *\}\}", value_of, text)

        def is_due(condition):
            if condition is None:
                return "failure" not in outcomes.values()
            for term in re.fullmatch(r"\$\{\{ (.*) \}\}", condition)[1].split(" && "):
                asked = re.fullmatch(r"(?:steps\.(\w+)\.outcome|inputs\.([\w-]+)) (!=|==) '(\w+)'", term)
                if asked is None:
                    self.assertEqual(term, "!cancelled()")
                    continue
                left = outcomes[asked[1]] if asked[1] else inputs[asked[2]]
                if (left == asked[4]) != (asked[3] == "=="):
                    return False
            return True

        uploaded = None
        steps = action["runs"]["steps"]
        self.assertEqual(steps[0]["name"], "Install simt")
        for number, step in enumerate(steps if installs else steps[1:]):
            name = step.get("id", step["name"])
            if not is_due(step.get("if")):
                outcomes[name] = "skipped"
                continue
            if "uses" in step:
                self.assertRegex(step["uses"], r"^github/codeql-action/upload-sarif@v\d+$")
                uploaded = fill(step["with"]["sarif_file"])
                continue
            self.assertEqual(step["shell"], "bash")
            script, path, output = (temporary / f"{what}{number}" for what in ("script", "path", "output"))
            # An expression in a script would let whoever sets it write the script.
            self.assertNotIn("${{", step["run"])
            script.write_text(step["run"])
            path.touch()
            output.touch()
            ended = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.home, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env={**environment, **{key: fill(value) for key, value in step.get("env", {}).items()},
                     "GITHUB_PATH": str(path), "GITHUB_OUTPUT": str(output)})
            for folder in path.read_text().splitlines():
                environment["PATH"] = folder + os.pathsep + environment["PATH"]
            outputs[name] = dict(line.split("=", 1) for line in output.read_text().splitlines())
            outcomes[name] = "success" if ended.returncode == 0 else "failure"
            said[step["name"]] = (ended.returncode, ended.stdout)
        for one in action["outputs"].values():
            fill(one["value"]) if outcomes["findings"] != "skipped" else None
        return said, uploaded

    @unittest.skipIf(shutil.which("cmake") is None, "NOT RUN: there is no cmake")
    def test_a_cmake_project_by_the_defaults(self):
        (self.home / "CMakeLists.txt").write_text(CMAKE)
        said, uploaded = self.take_steps(installs=True)
        self.assertEqual([said[name][0] for name in ("Install simt", "Build", "Test")], [0, 0, 0], said)
        status, told = said["Findings"]
        self.assertEqual(status, 3)
        self.assertRegex(told, r"(?m)^::error file=src/verdicts\.cu,line=\d+,title=race of tile in reverse::")
        self.assertRegex(told, r"(?m)^::notice file=src/verdicts\.cu,line=\d+,title=same_value_write of")
        self.assertIn("1 error, 1 note, 0 suppressed in 3 reports", told)
        self.assertEqual(sorted(self.sarif(uploaded)),
                         [("race", "src/verdicts.cu"), ("same_value_write", "src/verdicts.cu")])

    def test_suppressed_findings_pass_and_are_not_uploaded(self):
        said, uploaded = self.take_steps(build=self.BUILD, test="cd build; ./verdicts race", suppressions="simt.supp")
        self.assertEqual({status for status, _ in said.values()}, {0}, said)
        self.assertIn("0 errors, 0 notes, 1 suppressed in 1 report", said["Findings"][1])
        self.assertEqual(self.sarif(uploaded), [])

    def test_a_test_that_fails_does_not_hide_the_findings(self):
        said, uploaded = self.take_steps(build=self.BUILD, test="build/verdicts write; false", fail_on="notes", upload="false")
        self.assertEqual(said["Test"][0], 1)
        self.assertEqual(said["Findings"][0], 3)
        self.assertIsNone(uploaded)

    def test_nothing_is_green_where_no_kernel_ran(self):
        said, _ = self.take_steps(build="true", test="true")
        self.assertEqual(said["Findings"][0], 2)
        self.assertIn("has a program with SIMT_REPORT launched a kernel?", said["Findings"][1])

    def test_after_a_build_that_fails_nothing_runs(self):
        said, uploaded = self.take_steps(build="false")
        self.assertEqual((list(said), said["Build"][0], uploaded), (["Build"], 1, None))


class GitLab(Project):
    def take_job(self, installs=False, **variables):
        job = yaml.safe_load((CI / "gitlab.yml").read_text())[".simt"]
        self.assertLessEqual(set(variables), set(job["variables"]))
        script = self.folder / "script"
        script.write_text("set -eo pipefail\n" + "\n".join(job["before_script"] * installs + job["script"]) + "\n")
        environment = {**self.environment, **job["variables"], "PACKAGES": "simt", **variables, "CI_PROJECT_DIR": str(self.home)}
        if not installs:
            environment["PATH"] = f"{self.installed}{os.pathsep}{environment['PATH']}"
        ended = subprocess.run(["bash", script], cwd=self.home, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=environment)
        return ended.returncode, ended.stdout, job["artifacts"]

    def test_findings_fail_the_job_and_are_its_artifacts(self):
        status, told, artifacts = self.take_job(installs=True, BUILD=self.BUILD, TEST="cd build && ./verdicts race write")
        self.assertEqual(status, 3, told)
        self.assertIn("src/verdicts.cu:", told)
        (sarif,) = artifacts["paths"]
        self.assertEqual(len(self.sarif(self.home / sarif)), 2)
        self.assertIn('failures="1"', (self.home / artifacts["reports"]["junit"]).read_text())

    def test_suppressed_ones_do_not_and_a_test_that_fails_does(self):
        for test, wanted in (("./verdicts race", 0), ("./verdicts race; exit 5", 5)):
            shutil.rmtree(self.home / "build", ignore_errors=True)
            status, told, _ = self.take_job(BUILD=self.BUILD, TEST=f"cd build; {test}", SUPPRESSIONS="simt.supp")
            self.assertEqual(status, wanted, told)
            self.assertIn("1 suppressed", told)


class Editor(unittest.TestCase):
    def test_the_problem_matcher_of_the_page_takes_every_line(self):
        page = (ROOT / "docs" / "simt_ci.md").read_text()
        (block,) = [text for text in re.findall(r"```json\n(.*?)```", page, re.S) if "problemMatcher" in text]
        (task,) = json.loads(block)["tasks"]
        pattern = task["problemMatcher"]["pattern"]
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "verdicts"
            subprocess.run([options.simcc, SOURCE, "-o", program], check=True)
            rules = pathlib.Path(folder) / "it.supp"
            rules.write_text("race kernel=never reason=x\n")
            told = subprocess.run([program, "race", "write"], text=True, stderr=subprocess.PIPE,
                                  env={**os.environ, "SIMT_SUPPRESSIONS": str(rules)}).stderr.splitlines()
        found = [re.match(pattern["regexp"], line) for line in told]
        self.assertTrue(all(found), told)
        self.assertEqual([one[pattern["severity"]] for one in found], ["error", "note", "note"])
        self.assertEqual([one[pattern["file"]] for one in found], [str(SOURCE), str(SOURCE), str(rules)])
        self.assertTrue(all(int(one[pattern["line"]]) > 0 for one in found))
        self.assertTrue(found[0][pattern["message"]].startswith("race of tile in"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simcc", type=os.path.abspath, required=True)
    parser.add_argument("--simt", type=os.path.abspath, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
