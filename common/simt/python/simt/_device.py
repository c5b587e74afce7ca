"""The simulated device, as the process that asks sees it, and arrays that live there."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _worker
from ._results import Error, Launch, collected
from ._toolchain import toolchain


class DeviceError(Error):
    """The device cannot do this, or is no more."""


class WorkerEnded(DeviceError):
    """The process that held the device has ended."""


class Device:
    """A process that holds a device. What it holds ends with it."""

    def __init__(self) -> None:
        self._said = tempfile.TemporaryFile()
        clean = {name: value for name, value in os.environ.items() if name != "SIMT_DEBUG"}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", _worker.__file__, str(toolchain().library)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=clean,
        )
        self._owner = os.getpid()
        self._is_alive = True
        self._last_words = ""
        self.modules: set[str] = set()
        self._freed: List[int] = []

    def forget(self, array: int) -> None:
        """Of an array that nobody has any more: freed with the next message."""
        self._freed.append(array)

    def ask(
        self, do: str, buffers: Sequence[Any] = (), **message: Any
    ) -> Tuple[Dict[str, Any], List[bytes]]:
        """Raises WorkerEnded; that the device refuses is in the answer's `error`."""
        while self._freed:
            self._exchange({"do": "free", "array": self._freed.pop()}, ())
        return self._exchange({"do": do, **message}, buffers)

    def _exchange(
        self, message: Dict[str, Any], buffers: Sequence[Any]
    ) -> Tuple[Dict[str, Any], List[bytes]]:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            _worker.send(self._process.stdin, message, buffers)
            answer, data = _worker.receive(self._process.stdout)
        except (EOFError, BrokenPipeError):
            # It may still be about to end: only then its status says why.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
            self.end()
            raise WorkerEnded(self._why_ended(message)) from None
        except BaseException:  # an interrupt between question and answer
            self.end()
            raise
        if answer["is_spoilt"]:
            self.end()
        return answer, data

    def _why_ended(self, message: Dict[str, Any]) -> str:
        status = self._process.returncode
        if status == -signal.SIGXCPU:
            return f"time limit: more than {message.get('seconds', 0):g} s of processor time"
        said = self._last_words.strip().splitlines()
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        return f"the simulator ended with {how}" + (f": {said[-1]}" if said else "")

    @property
    def is_alive(self) -> bool:
        """Not in a process that was forked: it would take answers of the first."""
        return self._is_alive and self._owner == os.getpid()

    def end(self) -> None:
        """Ends the process; the answer to the last message is no longer awaited."""
        if self.is_alive:
            self._process.kill()
            self._process.wait()
            self._said.seek(0)
            self._last_words = self._said.read().decode(errors="replace")
        elif self._is_alive:
            self._process.returncode = 0  # it is not this process's to wait for
        self._is_alive = False
        self._said.close()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


_lock = threading.RLock()
_device: Optional[Device] = None


def device() -> Device:
    """The one of this process; started where there is none, or it has ended."""
    global _device
    with _lock:
        if _device is None or not _device.is_alive:
            if _device is not None:
                _device.end()
            _device = Device()
        return _device


def lock() -> threading.RLock:
    """Held from asking for the device until its answer is there."""
    return _lock


@atexit.register
def _end() -> None:
    if _device is not None:
        _device.end()


def told(entry: Dict[str, Any]) -> Launch:
    """A launch as the worker tells it. Of a copy there is no line of the caller's."""
    if not any(entry["grid"]):
        for one in entry["findings"]:
            one["file"], one["line"] = "", 0
    return Launch._of(entry)


def answered(answer: Dict[str, Any], what: str) -> None:
    """Raises DeviceError where the device has refused; tells findings of copies."""
    for entry in answer["launches"]:
        collected(told(entry))
    if answer["error"] is not None:
        raise DeviceError(f"{what}: {answer['error']}")


def take_coverage(its: Device) -> Dict[str, Any]:
    """What the kernels that were launched since the last time did not reach."""
    with _lock:
        _, data = its.ask("coverage")
    coverage: Dict[str, Any] = json.loads(data[0])
    return coverage


# ---- Arrays that live ----


def bytes_of(array: np.ndarray) -> memoryview:
    """The memory of an array without gaps, whatever its elements are."""
    return array.reshape(-1).view(np.uint8).data


class DeviceArray:
    """An array in the device's memory, which stays there between launches. It is lost when the
    device is: after a launch that failed, as on a GPU."""

    _next = 0

    def __init__(self, shape: Union[int, Sequence[int]], dtype: Any, name: str = "") -> None:
        self.shape: Tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self.name = name
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self.nbytes = self.size * self.dtype.itemsize
        self.is_written = False  # by the host, or maybe by a launch
        self._device: Optional[Device] = None
        with _lock:
            DeviceArray._next += 1
            self._number = DeviceArray._next

    def _place(self) -> int:
        """Its number in the device, where it is made when it is first wanted. The lock is held."""
        if self._device is None:
            its = device()
            answer, _ = its.ask("allocate", array=self._number, bytes=self.nbytes, name=self.name)
            answered(answer, "simt.empty")
            self._device = its
            weakref.finalize(self, its.forget, self._number)
        elif not self._device.is_alive:
            raise DeviceError(
                f"the device array {self.name or self._number} is lost: a launch since then has "
                "failed; make a new one"
            )
        return self._number

    def numpy(self) -> np.ndarray:
        """A copy in the host's memory."""
        with _lock:
            number = self._place()
            assert self._device is not None
            answer, data = self._device.ask("read", array=number)
            answered(answer, "DeviceArray.numpy")
        values: np.ndarray = np.empty(self.shape, self.dtype)
        bytes_of(values)[:] = data[0]
        return values

    def set(self, values: Any) -> None:
        """Writes all of it."""
        array = np.ascontiguousarray(values, self.dtype)
        if array.shape != self.shape:
            raise DeviceError(f"the device array has the shape {self.shape}, not {array.shape}")
        with _lock:
            number = self._place()
            assert self._device is not None
            answer, _ = self._device.ask("write", [bytes_of(array)], array=number)
            answered(answer, "DeviceArray.set")
        self.is_written = True

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self.dtype})"


def empty(shape: Union[int, Sequence[int]], dtype: Any = np.float32, name: str = "") -> DeviceArray:
    """Device memory that nobody has written: as cudaMalloc gives it. A kernel that reads it too
    early has a finding."""
    return DeviceArray(shape, dtype, name)


def array(values: Any, dtype: Any = None, name: str = "") -> DeviceArray:
    """A copy of the values in device memory."""
    its = np.ascontiguousarray(values, dtype)
    made = DeviceArray(np.shape(values), its.dtype, name)
    made.set(its.reshape(made.shape))
    return made
