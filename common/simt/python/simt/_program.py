"""Whole programs with a main, in the simulator."""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _toolchain
from ._results import Error, Finding, Launch, collected


@dataclass
class ProgramResult:
    """How a program ended, and what its kernels did."""

    returncode: int
    stdout: str
    stderr: str
    launches: List[Launch] = field(default_factory=list)
    #: Lines and branches that no thread took, as the report has them.
    coverage: Dict[str, Any] = field(default_factory=dict)
    #: Memory that was still allocated at the end.
    unfreed: List[Dict[str, Any]] = field(default_factory=list)
    #: Why it was ended, in one line.
    error: Optional[str] = None

    @property
    def findings(self) -> List[Finding]:
        """Of all launches."""
        return [one for launch in self.launches for one in launch.findings]

    @property
    def ok(self) -> bool:
        """It ended with 0 and nothing is wrong."""
        return self.returncode == 0 and all(launch.ok for launch in self.launches)


def run(
    program: Union[str, "os.PathLike[str]"],
    args: Sequence[str] = (),
    *,
    options: Sequence[str] = (),
    seconds: float = 600.0,
) -> ProgramResult:
    """Runs a program that simcc or `nvcc -cudart shared` has built; or CUDA source with a main, a
    file NAME.cu or text, which is compiled first, with `options`. It has `seconds` of processor
    time, and nothing on stdin."""
    with tempfile.TemporaryDirectory(prefix="simt-") as name:
        folder = Path(name)
        is_text = isinstance(program, str) and re.search(r"[\n{}]", program) is not None
        path = folder / "program.cu" if is_text else Path(program).resolve()
        if is_text:
            path.write_text(f"{program}\n")
        elif not path.is_file():
            raise Error(f"{program} is not there")
        if path.suffix in (".cu", ".cpp", ".c"):
            source, path = path, folder / "program"
            words = [str(_toolchain.toolchain().simcc), str(source), "-o", str(path), *options]
            process = _toolchain.ended(words, _toolchain.COMPILER_SECONDS)
            _toolchain.require_compiled(process, source.name)
        report = folder / "report.json"
        process = _toolchain.ended(
            [str(_toolchain.toolchain().simt), "run", str(path), *args],
            seconds,
            env={**os.environ, "SIMT_REPORT": str(report)},
        )
        here = f"{folder}/" if is_text else "\0"  # of a text, files have its name alone
        result = ProgramResult(process.returncode, process.stdout, process.stderr.replace(here, ""))
        if process.returncode == -signal.SIGXCPU:
            result.error = f"time limit: more than {seconds:g} s of processor time"
        elif process.returncode < 0:
            result.error = f"ended by {signal.Signals(-process.returncode).name}"
        if report.is_file():
            whole = json.loads(report.read_text().replace(here, ""))
            result.launches = [Launch._of(one) for one in whole["launches"]]
            result.coverage = whole.get("coverage", {})
            result.unfreed = whole.get("unfreed", [])
    for launch in result.launches:
        collected(launch)
    return result
