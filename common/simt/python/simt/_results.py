"""What came of launches: findings, counters, outputs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, fields
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

Extent = Tuple[int, int, int]


class Error(Exception):
    """Something that the caller has to fix; its text is one line that says how."""


class FindingsError(Error, AssertionError):
    """A launch failed, or something is wrong with it; see `result`."""

    def __init__(self, result: "Launch") -> None:
        super().__init__(str(result))
        self.result = result


@dataclass(frozen=True)
class Finding:
    """One mistake at one place of the code, with the first thread that was seen to make it."""

    kind: str
    message: str
    file: str
    line: int
    other_file: str = ""
    other_line: int = 0
    block: Extent = (0, 0, 0)
    thread: Extent = (0, 0, 0)
    other_block: Optional[Extent] = None
    other_thread: Optional[Extent] = None
    array: str = ""
    count: int = 1
    #: Either "error" or "note", which does not fail a run.
    severity: str = "error"
    #: By a rule of the program's; in results of simt.run.
    is_suppressed: bool = False

    @property
    def is_error(self) -> bool:
        return self.severity == "error" and not self.is_suppressed

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file else ""
        of = f" of {self.array}" if self.array else ""
        times = "time" if self.count == 1 else "times"
        return f"{place}{self.severity}: {self.kind}{of}: {self.message} ({self.count} {times})"

    @classmethod
    def _of(cls, entry: Mapping[str, Any]) -> "Finding":
        values = {one.name: entry[one.name] for one in fields(cls) if one.name in entry}
        for name in ("block", "thread", "other_block", "other_thread"):
            if name in values:
                values[name] = tuple(values[name])
        return cls(severity=entry["level"], is_suppressed="suppressed" in entry, **values)


@dataclass(frozen=True, repr=False)
class Counters:
    """Memory traffic, counted as Nsight Compute does: once for a warp's instruction."""

    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_store_requests: int = 0
    global_store_sectors: int = 0
    shared_load_requests: int = 0
    shared_load_wavefronts: int = 0
    shared_load_conflicts: int = 0
    shared_store_requests: int = 0
    shared_store_wavefronts: int = 0
    shared_store_conflicts: int = 0
    constant_load_requests: int = 0
    global_atomic_requests: int = 0
    shared_atomic_requests: int = 0
    barriers: int = 0
    dshared_load_requests: int = 0
    dshared_load_sectors: int = 0
    dshared_store_requests: int = 0
    dshared_store_sectors: int = 0
    dshared_atomic_requests: int = 0

    def __str__(self) -> str:
        told = [f"{name} {value:,}" for name, value in vars(self).items() if value != 0]
        return ", ".join(told) if told else "none"

    def __repr__(self) -> str:
        told = [f"{name}={value}" for name, value in vars(self).items() if value != 0]
        return f"Counters({', '.join(told)})"


@dataclass(frozen=True)
class Line:
    """What one source line cost."""

    file: str
    line: int
    counters: Counters
    fp64_operations: int = 0
    tensor_instructions: int = 0
    local_sectors: int = 0


@dataclass(repr=False)
class Launch:
    """One launch of a kernel, or a copy with findings of its own: its grid is (0, 0, 0)."""

    kernel: str
    grid: Extent = (0, 0, 0)
    block: Extent = (0, 0, 0)
    shared_bytes: int = 0
    most_requests: int = 0
    counters: Counters = field(default_factory=Counters)
    all_lines: List[Line] = field(default_factory=list)
    findings: List[Finding] = field(default_factory=list)
    printed: str = ""
    #: Why the launch failed, in one line: a CUDA error, the time limit, the end of the simulator.
    error: Optional[str] = None
    _file: str = ""

    @property
    def ok(self) -> bool:
        """Neither an error nor a finding that is more than a note."""
        return self.error is None and not any(one.is_error for one in self.findings)

    @property
    def lines(self) -> Dict[int, Counters]:
        """Counters by line of one file: that which was compiled if any of its lines has counters,
        else the first one. `all_lines` has those of all files."""
        files = [one.file for one in self.all_lines]
        file = self._file if self._file in files else "".join(files[:1])
        return {one.line: one.counters for one in self.all_lines if one.file == file}

    def raise_for_findings(self) -> None:
        """Raises FindingsError unless `ok`."""
        if not self.ok:
            raise FindingsError(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        head = f"{self.kernel}[{_short(self.grid)}, {_short(self.block)}]"
        if not any(self.grid):
            head = self.kernel
        lines = [f"{head}: {self.error or ('good' if self.ok else 'findings')}"]
        lines += [f"  {one}" for one in self.findings]
        if any(self.grid):
            lines.append(f"  counters: {self.counters}")
        return "\n".join(lines)

    @classmethod
    def _of(cls, entry: Mapping[str, Any]) -> "Launch":
        # A later simulator may count more.
        known = {one.name for one in fields(Counters)}

        def counters(its: Mapping[str, int]) -> Counters:
            return Counters(**{name: value for name, value in its.items() if name in known})

        return cls(
            kernel=entry["kernel"],
            grid=tuple(entry["grid"]),
            block=tuple(entry["block"]),
            shared_bytes=entry["shared_bytes"],
            most_requests=entry.get("most_requests", 0),
            counters=counters(entry["counters"]),
            all_lines=[
                Line(
                    one["file"],
                    one["line"],
                    counters(one["counters"]),
                    one.get("fp64_operations", 0),
                    one.get("tensor_instructions", 0),
                    one.get("local_sectors", 0),
                )
                for one in entry["lines"]
            ],
            findings=[Finding._of(one) for one in entry["findings"]],
            printed=_printed(entry.get("printed", []), entry.get("printed_lines", 0)),
        )


@dataclass(repr=False)
class Result(Launch):
    """One launch from Python."""

    #: By parameter, the arrays that the kernel could write; empty where the launch failed.
    outputs: Dict[str, Any] = field(default_factory=dict)


def _printed(lines: List[str], total: int) -> str:
    text = "".join(line + "\n" for line in lines)
    return text if total <= len(lines) else text + f"... and {total - len(lines)} lines more\n"


def _short(extent: Extent) -> str:
    x, y, z = extent
    return str((x, y, z) if z != 1 else (x, y) if y != 1 else x)


_collectors: List[List[Launch]] = []


def collected(launch: Launch) -> None:
    """Tells everyone who collects."""
    for one in _collectors:
        one.append(launch)


@contextlib.contextmanager
def collect() -> Iterator[List[Launch]]:
    """A list of all launches inside the `with`, and of copies with findings."""
    launches: List[Launch] = []
    _collectors.append(launches)
    try:
        yield launches
    finally:
        _collectors[:] = [one for one in _collectors if one is not launches]


@contextlib.contextmanager
def expect(*kinds: str) -> Iterator[List[Finding]]:
    """Like pytest.raises: inside the `with` a finding of each kind must come, and nothing else that
    is wrong. Fills the list that it gives, and these launches fail no test."""
    __tracebackhide__ = True
    found: List[Finding] = []
    with collect() as launches:
        yield found
    found += [one for launch in launches for one in launch.findings]
    told = "\n".join(map(str, launches)) or "nothing was launched"
    for kind in kinds:
        if not any(one.kind == kind for one in found):
            raise AssertionError(f"no {kind} was found:\n{told}")
    for launch in launches:
        errors = [one for one in launch.findings if one.is_error]
        if not all(one.kind in kinds for one in errors) or (launch.error and not errors):
            raise AssertionError(f"more than {' and '.join(kinds)} was found:\n{told}")
        for others in _collectors:
            others[:] = [one for one in others if one is not launch]


def assert_budget(result: Launch, **most: int) -> None:
    """Each counter that is named is at most so large: assert_budget(result,
    global_load_sectors=64)."""
    __tracebackhide__ = True
    known = vars(result.counters)
    for name in most:
        if name not in known:
            raise Error(f"there is no counter {name}; there are {', '.join(known)}")
    over = []
    for name, limit in most.items():
        if known[name] <= limit:
            continue
        worst = sorted(result.all_lines, key=lambda one: -getattr(one.counters, name))
        places = [
            f"{one.file}:{one.line} has {getattr(one.counters, name):,}"
            for one in worst[:3]
            if getattr(one.counters, name) > 0
        ]
        over.append(f"{name} is {known[name]:,}, more than {limit:,}: {'; '.join(places)}")
    if over:
        raise AssertionError(f"{result.kernel} is over its budget\n  " + "\n  ".join(over))
