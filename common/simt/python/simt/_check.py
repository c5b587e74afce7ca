"""A kernel against a reference, on many problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, List, Sequence, Tuple

import numpy as np

from ._device import DeviceArray, device, take_coverage
from ._module import Kernel, Size
from ._results import Error, Finding, Result, collect


@dataclass
class Case:
    """One problem: a launch of the kernel."""

    args: Sequence[Any]
    grid: Size
    block: Size
    shared_bytes: int = 0
    name: str = ""


@dataclass(frozen=True)
class Mismatch:
    """An output that is not what the reference says: its first wrong element."""

    output: str
    index: Tuple[int, ...]
    got: Any
    expected: Any
    #: Wrong elements, of so many.
    wrong: int
    size: int
    #: NaN where the outputs or the reference are.
    largest_error: float

    def __str__(self) -> str:
        place = ", ".join(map(str, self.index))
        by = (
            f", by {self.largest_error:.3g} at most"
            if self.largest_error == self.largest_error
            else ""
        )
        return (
            f"{self.output}[{place}] is {self.got!r} instead of {self.expected!r}; "
            f"{self.wrong:,} of {self.size:,} are wrong{by}"
        )


@dataclass
class CaseVerdict:
    """What came of one case."""

    name: str
    result: Result
    mismatches: List[Mismatch] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return self.result.ok and not self.mismatches

    def __str__(self) -> str:
        if self.ok:
            return f"{self.name}: good"
        wrong = [
            self.result.error or "",
            *map(str, self.mismatches),
            *map(str, self.result.findings),
        ]
        return "\n  ".join([f"{self.name}: FAIL", *filter(None, wrong)])


@dataclass(frozen=True)
class Unchecked:
    """Code that no case has tried."""

    file: str
    line: int
    last_line: int
    #: "is not reached", or which way a branch never went.
    message: str

    def __str__(self) -> str:
        last = f"-{self.last_line}" if self.last_line > self.line else ""
        return f"{self.file}:{self.line}{last} {self.message}"


@dataclass
class Verdict:
    """What came of all cases; true if all are good."""

    kernel: str
    cases: List[CaseVerdict]
    #: Lines and branches that no case tried: what has not run has not been checked. Not told after
    #: a case that ended the device.
    unchecked: List[Unchecked] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return all(case.ok for case in self.cases)

    @property
    def findings(self) -> List[Finding]:
        """Of all cases."""
        return [one for case in self.cases for one in case.result.findings]

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        good = sum(case.ok for case in self.cases)
        head = f"{self.kernel}: {good} of {len(self.cases)} cases are good"
        bad = [str(case) for case in self.cases if not case.ok]
        return "\n".join([head, *bad, *(f"not checked: {one}" for one in self.unchecked)])


def check(
    kernel: Kernel,
    reference: Callable[..., Any],
    cases: Iterable[Case],
    *,
    rtol: float = 1e-5,
    atol: float = 1e-8,
) -> Verdict:
    """Launches the kernel for each case, and compares what it wrote with the reference.

    `reference` gets copies of the case's arguments as they were before the launch (zeros for what
    simt.empty made). It returns the outputs in the order of the parameters (an array, or a tuple),
    a dict of them by parameter, or None if it has written them into its arguments. Numbers may
    differ as numpy.isclose lets them, whole numbers not at all. A case is good if nothing differs
    and nothing was found.
    """
    done = []
    its = device()
    take_coverage(its)  # of what was before
    for number, case in enumerate(cases, 1):
        name = case.name or f"case {number}"
        before = [_copied(value) for value in case.args]
        with collect() as launches:
            result = kernel[case.grid, case.block, case.shared_bytes](*case.args)
            outputs = {
                key: value.numpy() if isinstance(value, DeviceArray) else value
                for key, value in result.outputs.items()
            }
        # What was found when outputs were copied belongs to the case.
        result.findings += [one for its in launches if its is not result for one in its.findings]
        verdict = CaseVerdict(name, result)
        if result.error is None:
            for key, expected in _expected(kernel, reference, before, outputs).items():
                verdict.mismatches += _compared(key, outputs[key], expected, rtol, atol)
        done.append(verdict)
    if not done:
        raise Error(f"{kernel.name}: there are no cases to check")
    return Verdict(kernel.name, done, _unchecked(take_coverage(its)) if its.is_alive else [])


def _unchecked(coverage: Dict[str, Any]) -> List[Unchecked]:
    found = []
    for file in coverage["files"]:
        name = file["file"]
        for first, last in file["unreached"]:
            found.append(Unchecked(name, first, last, "is not reached"))
        for way in file["untaken"]:
            if way["again"]:
                message = "never goes round again"
            elif way["to_line"]:
                message = f"never goes on to line {way['to_line']}"
            else:
                message = "never goes its other way"
            found.append(Unchecked(name, way["line"], way["line"], message))
    return sorted(found, key=lambda one: (one.file, one.line))


def _copied(value: Any) -> Any:
    if isinstance(value, DeviceArray):
        return value.numpy() if value.is_written else np.zeros(value.shape, value.dtype)
    return value.copy() if isinstance(value, np.ndarray) else value


def _expected(
    kernel: Kernel, reference: Callable[..., Any], before: List[Any], outputs: Dict[str, Any]
) -> Dict[str, np.ndarray]:
    if not outputs:
        raise Error(f"{kernel.name} has no output: all its arrays are const")
    told = reference(*before)
    if told is None:
        names = [one.name for one in kernel.parameters]
        told = {name: before[names.index(name)] for name in outputs}
    if not isinstance(told, dict):
        values = told if isinstance(told, tuple) else (told,)
        if len(values) != len(outputs):
            raise Error(
                f"the reference of {kernel.name} returns {len(values)} arrays; the kernel writes "
                f"{', '.join(outputs)}"
            )
        told = dict(zip(outputs, values))
    for name in told:
        if name not in outputs:
            raise Error(f"{kernel.name} has no output {name}; it writes {', '.join(outputs)}")
        its, shape = np.shape(told[name]), outputs[name].shape
        if its != shape:
            raise Error(
                f"the reference of {kernel.name} has {name} of shape {its} instead of {shape}"
            )
    return {name: np.asarray(value) for name, value in told.items()}


def _compared(
    name: str, got: np.ndarray, expected: np.ndarray, rtol: float, atol: float
) -> List[Mismatch]:
    if got.dtype.kind in "fc":
        wide = np.result_type(got.dtype, expected.dtype, np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            good = np.isclose(got.astype(wide), expected.astype(wide), rtol, atol, equal_nan=True)
    else:
        good = np.asarray(got == expected)
    if good.all():
        return []
    index = tuple(int(one) for one in np.argwhere(~good)[0])
    if got.dtype.kind in "fciub":
        kind = complex if "c" in got.dtype.kind + expected.dtype.kind else float
        with np.errstate(invalid="ignore", over="ignore"):
            errors = np.abs(got[~good].astype(kind) - expected[~good].astype(kind))
        largest = float(errors.max())
    else:
        largest = float("nan")
    return [
        Mismatch(
            name,
            index,
            got[index].item(),
            expected[index].item(),
            int((~good).sum()),
            int(good.size),
            largest,
        )
    ]
