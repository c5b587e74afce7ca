"""Modules of device code, and their kernels, which are launched on arrays of NumPy."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _device, _parameters, _toolchain
from ._device import DeviceArray, WorkerEnded
from ._parameters import ArgumentError, Entry, Parameter
from ._results import Error, Extent, Result, collected

#: Numbers of blocks or threads: one, or up to three.
Size = Union[int, Sequence[int]]


def compile(
    source: Union[str, "os.PathLike[str]"],
    *,
    options: Sequence[str] = (),
    names: Sequence[str] = (),
    seconds: float = 60.0,
) -> "Module":
    """Compiles CUDA with nvcc, or takes PTX as it is.

    `source` is text, or the name of a file: a pathlib.Path, or a str without a line break.
    `options` are nvcc's. `names` are instances of kernel templates: ["axpy<float>", "reduce<256>"].
    A launch may take `seconds` of processor time. What was compiled is kept in ~/.cache/simt.
    Raises CompileError with nvcc's text.
    """
    file: Optional[Path] = None
    if isinstance(source, str) and re.search(r"[\n{}]", source):
        text, name = source, "kernel.cu"
    else:
        file = Path(source).resolve()
        name = os.fspath(source)
        try:
            text = file.read_text("utf-8", "surrogateescape")
        except OSError as error:
            raise Error(f"{name} cannot be read: {error.strerror}") from None
    if re.match(r"(?:\s*//[^\n]*\n)*\s*\.version\s", text):
        ptx, log = text, ""
        name = name if file is not None else "kernel.ptx"
    else:
        ptx, log = _toolchain.ptx_of(text, file, name, options, names)
    entries = _parameters.entries_of(ptx, text)
    module = Module(name, ptx, entries, seconds, log)
    module._file = name if file is None else str(file)
    symbols = _toolchain.instances(ptx, names)
    for one in names:
        its = [entry for entry in entries if entry.symbol == symbols.get(one)]
        if not its:
            raise Error(f"{name}: {one} is no kernel that can be told by its name")
        module._named[one] = its[0]
    return module


class Module:
    """Compiled device code: `module.saxpy` is a kernel, `module["axpy<float>"]` an instance of a
    template."""

    _next = 0

    def __init__(
        self, name: str, ptx: str, entries: Sequence[Entry], seconds: float, log: str
    ) -> None:
        self.name = name
        self.ptx = ptx
        #: What nvcc said, its warnings among it.
        self.log = log
        self.seconds = seconds
        self._file = name  # as lines of code name it
        self._entries = list(entries)
        self._named: Dict[str, Entry] = {}
        self._symbols: Dict[str, bytes] = {}  # what the host has written
        self._variables = {
            _parameters.demangled(symbol): symbol
            for symbol in re.findall(
                r"^(?:\.visible |\.weak )?\.(?:const|global) [^=;]*?([\w$]+)(?:\[\d*\])*\s*[=;]",
                ptx,
                flags=re.M,
            )
            if "$" not in symbol and "simt_name_" not in symbol
        }
        Module._next += 1
        self._key = str(Module._next)

    @property
    def kernels(self) -> Tuple[str, ...]:
        """Their names."""
        return tuple(entry.name for entry in self._entries)

    def __getitem__(self, name: str) -> "Kernel":
        """The kernel of this name, with or without its namespace; of a template with its
        arguments."""
        if name in self._named:
            return Kernel(self, self._named[name])

        bare = name.replace(" ", "")
        exact = [one for one in self._entries if bare == one.name.replace(" ", "")]
        short = [one for one in self._entries if bare == one.short_name]
        for found in (exact, short):
            if len(found) == 1:
                return Kernel(self, found[0])
            if found:
                raise Error(f"{self.name}: {name} may be {' or '.join(one.name for one in found)}")
        there = ", ".join(self.kernels) or "none"
        hint = (
            "; instances of templates are asked for by compile(..., names=[...])"
            if "<" in name
            else ""
        )
        raise Error(f"{self.name} has no kernel {name}: there are {there}{hint}")

    def __getattr__(self, name: str) -> "Kernel":
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except Error as error:
            raise AttributeError(str(error)) from None

    def launch(
        self,
        name: str,
        grid: Size,
        block: Size,
        args: Sequence[Any],
        *,
        shared_bytes: int = 0,
    ) -> Result:
        """module.launch("saxpy", 4, 256, [n, a, x, y]) is module.saxpy[4, 256](n, a, x, y)."""
        return self[name][grid, block, shared_bytes](*args)

    # ---- Variables ----

    def set(self, variable: str, values: Any) -> None:
        """Writes a __constant__ or __device__ variable, all of its bytes: give NumPy's type."""
        data = np.ascontiguousarray(values)
        size = self._size_of(variable)
        if data.nbytes != size:
            raise ArgumentError(
                f"{variable} has {size} bytes, not the {data.nbytes} of {data.dtype}{data.shape}"
            )
        written = data.tobytes()
        with _device.lock():
            its = _device.device()
            self._load(its)
            answer, _ = its.ask(
                "write_symbol", [written], module=self._key, symbol=self._variables[variable]
            )
            _device.answered(answer, variable)
            self._symbols[variable] = written

    def get(self, variable: str, dtype: Any) -> np.ndarray:
        """What a variable holds, as an array of one dimension."""
        self._size_of(variable)
        with _device.lock():
            its = _device.device()
            self._load(its)
            answer, data = its.ask(
                "read_symbol", module=self._key, symbol=self._variables[variable]
            )
            _device.answered(answer, variable)
        values: np.ndarray = np.frombuffer(data[0], dtype).copy()
        return values

    def _size_of(self, variable: str) -> int:
        symbol = self._variables.get(variable)
        if symbol is None:
            there = ", ".join(self._variables) or "none"
            raise Error(f"{self.name} has no variable {variable}: there are {there}")
        found = re.search(rf"\.[bsuf](\d+) {re.escape(symbol)}(?:\[(\d*)\])?\s*[=;]", self.ptx)
        assert found is not None
        return int(found[1]) // 8 * int(found[2] or 1)

    def _load(self, its: _device.Device) -> None:
        """Into a device that does not have it yet, with what the host has written."""
        if self._key in its.modules:
            return
        answer, _ = its.ask(
            "load", [self.ptx.encode("utf-8", "surrogateescape") + b"\0"], module=self._key
        )
        _device.answered(answer, self.name)
        its.modules.add(self._key)
        for variable, data in self._symbols.items():
            answer, _ = its.ask(
                "write_symbol", [data], module=self._key, symbol=self._variables[variable]
            )
            _device.answered(answer, variable)

    def __repr__(self) -> str:
        return f"<Module {self.name}: {', '.join(self.kernels) or 'no kernels'}>"


class Kernel:
    """A kernel: kernel[grid, block](arguments...) launches it, as <<<grid, block>>> does;
    kernel[grid, block, bytes] with dynamic shared memory."""

    def __init__(self, module: Module, entry: Entry) -> None:
        self.module = module
        self._entry = entry

    @property
    def name(self) -> str:
        return self._entry.name

    @property
    def parameters(self) -> Tuple[Parameter, ...]:
        return self._entry.parameters

    def __getitem__(self, extents: Any) -> "Configured":
        if not isinstance(extents, tuple) or not 2 <= len(extents) <= 3:
            raise ArgumentError(f"{self.name}: give [grid, block] or [grid, block, shared bytes]")
        shared = extents[2] if len(extents) == 3 else 0
        if not isinstance(shared, (int, np.integer)) or shared < 0:
            raise ArgumentError(
                f"{self.name}: bytes of shared memory are a whole number, not {shared!r}"
            )
        return Configured(
            self,
            _extent(self.name, "grid", extents[0]),
            _extent(self.name, "block", extents[1]),
            int(shared),
        )

    def __call__(self, *args: Any) -> Result:
        raise ArgumentError(f"{self.name}: a launch needs its grid: {self.name}[grid, block](...)")

    def __repr__(self) -> str:
        return f"<Kernel {self._entry}>"


def _extent(kernel: str, what: str, value: Any) -> Extent:
    numbers = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value,)
    whole = all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in numbers)
    if not whole or not 1 <= len(numbers) <= 3 or not all(0 <= one < 2**32 for one in numbers):
        raise ArgumentError(f"{kernel}: the {what} is one to three whole numbers, not {value!r}")
    x, y, z = (*map(int, numbers), 1, 1)[:3]
    return x, y, z


class Configured:
    """A kernel with its grid."""

    def __init__(self, kernel: Kernel, grid: Extent, block: Extent, shared_bytes: int) -> None:
        self.kernel = kernel
        self.grid = grid
        self.block = block
        self.shared_bytes = shared_bytes

    def __call__(self, *args: Any) -> Result:
        """Launches, waits, and copies arrays back whose parameter is no pointer to const. What is
        wrong with the kernel is in the result; what is wrong with the call raises ArgumentError."""
        entry, module = self.kernel._entry, self.kernel.module
        with _device.lock():
            arguments = _Arguments(entry, args)
            result = Result(
                kernel=entry.name, grid=self.grid, block=self.block, shared_bytes=self.shared_bytes
            )
            try:
                its = _device.device()
                module._load(its)
                for one in arguments.device_arrays.values():
                    one._place()
                    one.is_written = True
                answer, written = its.ask(
                    "launch",
                    [_device.bytes_of(array) for array in arguments.host_arrays],
                    module=module._key,
                    kernel=entry.symbol,
                    grid=self.grid,
                    block=self.block,
                    shared_bytes=self.shared_bytes,
                    seconds=module.seconds,
                    copies=arguments.copies,
                    arguments=arguments.described(),
                )
            except WorkerEnded as end:
                result.error = str(end)
                collected(result)
                return result
            for entry_of_launch in answer["launches"]:
                told = _device.told(entry_of_launch)
                # Copies may have findings: they are told by themselves.
                if any(told.grid):
                    vars(result).update({**vars(told), "kernel": entry.name})
                else:
                    collected(told)
            result._file = module._file
            result.error = answer["error"]
            if result.error is None:
                result.outputs = arguments.take_back(written)
        collected(result)
        return result


class _Arguments:
    """A launch's arguments, checked against the kernel's parameters."""

    def __init__(self, entry: Entry, args: Sequence[Any]) -> None:
        if len(args) != len(entry.parameters):
            raise ArgumentError(
                f"{entry.name}: wants {len(entry.parameters)} arguments, not {len(args)}: {entry}"
            )
        self.host_arrays: List[np.ndarray] = []
        self.copies: List[Dict[str, Any]] = []
        self.device_arrays: Dict[str, DeviceArray] = {}
        self._outputs: Dict[str, Any] = {}
        self._arguments: List[Dict[str, Any]] = []
        for number, (parameter, value) in enumerate(zip(entry.parameters, args), 1):
            self._arguments.append(self._one(entry.name, number, parameter, value))

    def _one(self, kernel: str, number: int, parameter: Parameter, value: Any) -> Dict[str, Any]:
        def fail(what: str) -> ArgumentError:
            return ArgumentError(f"{kernel}: argument {number} ({parameter}) {what}")

        is_array = isinstance(value, np.ndarray) and (parameter.is_pointer or value.ndim > 0)
        takes_array = parameter.may_be_pointer or parameter.lanes == 1
        if isinstance(value, DeviceArray) or (
            is_array and takes_array and not _is_value(parameter, value)
        ):
            _parameters.require_fit(kernel, number, parameter, value)
            if not parameter.is_const:
                self._outputs[parameter.name] = value
        else:
            if parameter.is_pointer and value is not None:
                raise fail(
                    f"is a pointer: give it a NumPy array, simt.array or None, not {value!r:.60}"
                )
            if value is None:
                if not parameter.may_be_pointer:
                    raise fail("is no pointer, and cannot be None")
                return {"value": bytes(8).hex()}
            return {"value": _parameters.scalar_bytes(kernel, number, parameter, value).hex()}
        if isinstance(value, DeviceArray):
            self.device_arrays[parameter.name] = value
            return {"array": value._number, "name": value.name or parameter.name}
        if not value.flags.c_contiguous:
            raise fail("is not contiguous: use numpy.ascontiguousarray")
        if not parameter.is_const and not value.flags.writeable:
            raise fail(
                "is read-only, and the kernel may write it: copy it, or make the pointer const"
            )
        return {"copy": self._copy(fail, parameter, value)}

    def _copy(self, fail: Any, parameter: Parameter, value: np.ndarray) -> int:
        for at, other in enumerate(self.host_arrays):
            same = other.ctypes.data == value.ctypes.data and other.nbytes == value.nbytes
            if same and value.nbytes > 0:
                self.copies[at]["is_output"] |= not parameter.is_const
                if not parameter.is_const:
                    self.host_arrays[at] = value
                return at
            if np.may_share_memory(other, value):
                raise fail("overlaps another argument: give both the same array, or copies")
        self.host_arrays.append(value)
        self.copies.append({"name": parameter.name, "is_output": not parameter.is_const})
        return len(self.copies) - 1

    def described(self) -> List[Dict[str, Any]]:
        return self._arguments

    def take_back(self, written: Sequence[bytes]) -> Dict[str, Any]:
        for array, its, data in zip(self.host_arrays, self.copies, written):
            if its["is_output"]:
                _device.bytes_of(array)[:] = data
        return self._outputs


def _is_value(parameter: Parameter, value: np.ndarray) -> bool:
    """Whether the array is one element of a structured type, for a parameter by value."""
    return not parameter.is_pointer and parameter.dtype is None and value.nbytes == parameter.bytes
