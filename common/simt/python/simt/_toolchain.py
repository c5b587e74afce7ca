"""Where simcc and its library are, and PTX of sources, kept in a cache."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import os
import re
import resource
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._results import Error

#: Of processor time, for each program of the compiler: templates may recur without end.
COMPILER_SECONDS = 600.0


class CompileError(Error):
    """nvcc refuses the source; `log` is all that it says."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


@dataclass(frozen=True)
class Toolchain:
    simcc: Path
    library: Path

    @property
    def simt(self) -> Path:
        return self.simcc.with_name("simt")


def toolchain() -> Toolchain:
    """That of SIMT_HOME, else what the package came with, else simcc of PATH."""
    home = os.environ.get("SIMT_HOME")
    if home:
        return _found(home, [Path(home) / "bin", Path(home) / "common/simt/cudart", Path(home)])
    on_path = shutil.which("simcc")
    folders = [Path(__file__).parent / "native" / "bin"]
    if on_path:
        folders.append(Path(on_path).resolve().parent)
    return _found("", folders)


def _found(home: str, folders: Sequence[Path]) -> Toolchain:
    for folder in folders:
        for library in (folder / "libcudart.so.13", folder.parent / "lib/simt/libcudart.so.13"):
            if (folder / "simcc").is_file() and library.is_file():
                return Toolchain(folder / "simcc", library)
    if home:
        raise Error(
            f"SIMT_HOME={home} has no simcc: name Halo's build folder, or where simt is installed"
        )
    raise Error("there is no simcc: put it on PATH, or set SIMT_HOME to Halo's build folder")


# ---- Programs that are started ----


def ended(
    words: Sequence[str], seconds: Optional[float] = None, **more: Any
) -> "subprocess.CompletedProcess[str]":
    """A program, which may take so many seconds of processor time."""
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            **more,
        )
    except OSError as error:
        raise Error(f"{words[0]} cannot be started: {error.strerror}") from None
    with process:
        # From here, as code between fork and exec is not safe where this process has threads.
        if seconds is not None:
            hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
            soft = math.ceil(seconds)
            limit = (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard)
            with contextlib.suppress(ProcessLookupError):  # it has ended
                resource.prlimit(process.pid, resource.RLIMIT_CPU, limit)
        try:
            out, err = process.communicate()
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def require_compiled(process: "subprocess.CompletedProcess[str]", what: str) -> str:
    """All that nvcc said; raises CompileError where it refuses."""
    log = process.stdout + process.stderr
    if process.returncode != 0:
        raise CompileError(f"{what} does not compile\n{_trimmed(log)}", log)
    return log


def _trimmed(log: str, most: int = 24) -> str:
    """From the first error on, without what says nothing of the source."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    lines = [line for line in lines if not re.match(r"\d+ errors? detected in", line)]
    first = next((at for at, line in enumerate(lines) if "error" in line), 0)
    lines = lines[first:]
    if len(lines) > most:
        lines = lines[:most] + [f"... and {len(lines) - most} lines more: CompileError.log has all"]
    return "\n".join("  " + line for line in lines)


# ---- The cache ----


@functools.lru_cache(maxsize=1)
def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(base) / "simt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        made = tempfile.TemporaryDirectory(prefix="simt-")
        _cache_of_process.append(made)
        return Path(made.name)


_cache_of_process: List["tempfile.TemporaryDirectory[str]"] = []


def _state(name: str) -> Optional[List[Any]]:
    """What changes when somebody writes the file; None: there is none."""
    try:
        its = os.stat(name)
    except OSError:
        return None
    return [name, its.st_mtime_ns, its.st_size]


def _dependencies(text: str) -> List[str]:
    """The files of a rule for make."""
    names = text.replace("\\\n", " ").partition(" : ")[2]
    words = re.findall(r"(?:\\.|\S)+", names)
    return [os.path.abspath(re.sub(r"\\(.)", r"\1", word)) for word in words]


def ptx_of(
    source: str, file: Optional[Path], name: str, options: Sequence[str], names: Sequence[str]
) -> Tuple[str, str]:
    """PTX and what nvcc said. `source` is the text of `file`, if it has one; `names` are instances
    of templates to make."""
    tools = toolchain()
    words: Dict[str, Any] = {
        "source": source,
        "file": str(file),
        "name": name,
        "options": list(options),
        "names": list(names),
        "tools": [_state(str(tools.simcc)), _state(__file__)],
        "folder": os.getcwd() if options else "",
        "nvcc": os.environ.get("NVCC_PREPEND_FLAGS", "") + os.environ.get("NVCC_APPEND_FLAGS", ""),
    }
    key = hashlib.sha256(json.dumps(words).encode()).hexdigest()[:32]
    entry = _cache() / f"{key}.json"
    try:
        kept = json.loads(entry.read_text())
        if all(_state(one[0]) == one for one in kept["dependencies"]):
            return kept["ptx"], kept["log"]
    except (OSError, ValueError, KeyError):
        pass
    with tempfile.TemporaryDirectory(dir=_cache()) as folder:
        unit = Path(folder) / "kernel.cu"
        text = f'#line 1 "{name}"\n{source}\n' if file is None else f'#include "{file}"\n'
        # A variable that begins with the kernel's address tells its symbol.
        for number, one in enumerate(names):
            text += f'#line {number + 1} "names"\n__device__ auto simt_name_{number} = &{one};\n'
        unit.write_text(text, "utf-8", "surrogateescape")
        ptx, rule = Path(folder) / "kernel.ptx", Path(folder) / "kernel.d"
        log = require_compiled(
            ended(
                [
                    str(tools.simcc),
                    "-ptx",
                    str(unit),
                    "-o",
                    str(ptx),
                    "-MD",
                    "-MF",
                    str(rule),
                    *options,
                ],
                COMPILER_SECONDS,
            ),
            name,
        )
        states = [_state(one) for one in _dependencies(rule.read_text()) if one != str(unit)]
        kept = {
            # nvcc completes names, also that of a text.
            "ptx": ptx.read_text("utf-8", "surrogateescape").replace(
                f'"{os.path.abspath(name)}"', f'"{name}"'
            ),
            "log": log,
            "dependencies": [one for one in states if one is not None],
        }
        whole = Path(folder) / "entry.json"
        whole.write_text(json.dumps(kept))
        os.replace(whole, entry)
    return kept["ptx"], kept["log"]


def instances(ptx: str, names: Sequence[str]) -> Dict[str, str]:
    """Symbols of the instances that `names` has asked for."""
    symbols = dict(re.findall(r"\bsimt_name_(\d+) = ([\w$]+);", ptx))
    return {name: symbols[str(at)] for at, name in enumerate(names) if str(at) in symbols}
