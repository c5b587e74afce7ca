"""CUDA kernels without a GPU: compiled by nvcc, executed by a simulator that counts their memory
traffic and finds races, accesses out of bounds, reads of what nobody wrote.

    import numpy as np, simt

    module = simt.compile("saxpy.cu")
    result = module.saxpy[4, 256](n, 2.0, x, y)  # NumPy arrays; y is written
    result.raise_for_findings()
    result.counters.global_load_sectors

docs/simt_python.md of Halo says the rest.
"""

from ._check import Case, CaseVerdict, Mismatch, Unchecked, Verdict, check
from ._device import DeviceArray, DeviceError, array, empty
from ._module import Kernel, Module, compile
from ._parameters import ArgumentError, Parameter
from ._program import ProgramResult, run
from ._results import (
    Counters,
    Error,
    Finding,
    FindingsError,
    Launch,
    Line,
    Result,
    assert_budget,
    collect,
    expect,
)
from ._toolchain import CompileError

__all__ = [
    "ArgumentError",
    "Case",
    "CaseVerdict",
    "CompileError",
    "Counters",
    "DeviceArray",
    "DeviceError",
    "Error",
    "Finding",
    "FindingsError",
    "Kernel",
    "Launch",
    "Line",
    "Mismatch",
    "Module",
    "Parameter",
    "ProgramResult",
    "Result",
    "Unchecked",
    "Verdict",
    "array",
    "assert_budget",
    "check",
    "collect",
    "compile",
    "empty",
    "expect",
    "run",
]
