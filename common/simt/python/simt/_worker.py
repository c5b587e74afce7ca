"""The process that holds the simulated device. It is started as a program, with the path of
libcudart; what kernels do to it does not reach the process that asks. Standard library only, so
that it starts quickly."""

from __future__ import annotations

import ctypes
import json
import math
import os
import resource
import signal
import struct
import sys
from typing import IO, Any, Dict, List, Optional, Sequence, Tuple

TO_DEVICE, TO_HOST = 1, 2
DYNAMIC_SHARED_SIZE = 8  # cudaFuncAttributeMaxDynamicSharedMemorySize


# ---- Messages: JSON, and bytes beside it ----


def send(pipe: IO[bytes], message: Dict[str, Any], buffers: Sequence[Any] = ()) -> None:
    sizes = [memoryview(one).nbytes for one in buffers]
    head = json.dumps({"message": message, "sizes": sizes}).encode()
    pipe.write(struct.pack("<Q", len(head)) + head)
    for one in buffers:
        pipe.write(one)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Tuple[Dict[str, Any], List[bytes]]:
    """Raises EOFError where there is no more."""

    def take(size: int) -> bytes:
        data = pipe.read(size)
        if len(data) < size:
            raise EOFError
        return data

    head = json.loads(take(struct.unpack("<Q", take(8))[0]))
    return head["message"], [take(size) for size in head["sizes"]]


# ---- The device ----


class CudaError(Exception):
    """A call of the runtime failed."""


class Extent(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Device:
    """The runtime, the modules that are loaded and the arrays that live."""

    def __init__(self, library: str) -> None:
        self._cuda = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        kind, text = ctypes.c_int, ctypes.c_char_p
        for name, arguments in {
            "cudaMalloc": [pointer, size],
            "cudaFree": [pointer],
            "cudaMemcpy": [pointer, pointer, size, kind],
            "cudaLibraryLoadData": [pointer, text] + [pointer, pointer, ctypes.c_uint] * 2,
            "cudaLibraryGetKernel": [pointer, pointer, text],
            "cudaLibraryGetGlobal": [pointer, pointer, pointer, text],
            "cudaFuncSetAttribute": [pointer, kind, kind],
            "cudaLaunchKernel": [pointer, Extent, Extent, pointer, size, pointer],
            "cudaDeviceSynchronize": [],
            "cudaGetLastError": [],
        }.items():
            getattr(self._cuda, name).argtypes = arguments
        for name in ("cudaGetErrorName", "cudaGetErrorString"):
            getattr(self._cuda, name).restype = text
        for name in ("simt_take_launches", "simt_take_coverage", "simt_last_error_detail"):
            getattr(self._cuda, name).restype = text
        self._cuda.simt_name_allocation.argtypes = [pointer, text]
        self._modules: Dict[str, int] = {}
        self._arrays: Dict[int, Tuple[int, int]] = {}
        self.launches()  # from now on findings are taken, not printed

    def launches(self) -> List[Any]:
        launches: List[Any] = json.loads(self._cuda.simt_take_launches())
        return launches

    def is_spoilt(self) -> bool:
        """Whether an error has made the device useless."""
        self._cuda.cudaGetLastError()
        return bool(self._cuda.cudaGetLastError() != 0)

    def _call(self, name: str, *arguments: Any) -> None:
        error = getattr(self._cuda, name)(*arguments)
        if error != 0:
            named = self._cuda.cudaGetErrorName(error).decode()
            detail = self._cuda.simt_last_error_detail().decode()
            raise CudaError(f"{named}: {detail or self._cuda.cudaGetErrorString(error).decode()}")

    def coverage(self, message: Dict[str, Any], buffers: List[bytes]) -> Sequence[Any]:
        return [self._cuda.simt_take_coverage()]

    # ---- Memory ----

    def _new(self, size: int, name: str) -> int:
        address = ctypes.c_void_p()
        self._call("cudaMalloc", ctypes.byref(address), size)
        self._cuda.simt_name_allocation(address, name.encode())
        return address.value or 0

    def _write(self, address: int, data: bytes) -> None:
        self._call("cudaMemcpy", address, data, len(data), TO_DEVICE)

    def _read(self, address: int, size: int) -> Any:
        data = (ctypes.c_char * size)()
        self._call("cudaMemcpy", data, address, size, TO_HOST)
        return data

    def allocate(self, message: Dict[str, Any], buffers: List[bytes]) -> Sequence[Any]:
        size = message["bytes"]
        self._arrays[message["array"]] = (self._new(size, message["name"]), size)
        return []

    def write(self, message: Dict[str, Any], buffers: List[bytes]) -> Sequence[Any]:
        self._write(self._arrays[message["array"]][0], buffers[0])
        return []

    def read(self, message: Dict[str, Any], buffers: List[bytes]) -> Sequence[Any]:
        return [self._read(*self._arrays[message["array"]])]

    def free(self, message: Dict[str, Any], buffers: List[bytes]) -> Sequence[Any]:
        self._call("cudaFree", self._arrays.pop(message["array"])[0])
        return []

    # ---- Modules ----

    def load(self, message: Dict[str, Any], buffers: List[bytes]) -> Sequence[Any]:
        module = ctypes.c_void_p()
        self._call(
            "cudaLibraryLoadData", ctypes.byref(module), buffers[0], None, None, 0, None, None, 0
        )
        self._modules[message["module"]] = module.value or 0
        return []

    def _symbol(self, message: Dict[str, Any]) -> Tuple[int, int]:
        address, size = ctypes.c_void_p(), ctypes.c_size_t()
        module = self._modules[message["module"]]
        name = message["symbol"].encode()
        self._call("cudaLibraryGetGlobal", ctypes.byref(address), ctypes.byref(size), module, name)
        return address.value or 0, size.value

    def write_symbol(self, message: Dict[str, Any], buffers: List[bytes]) -> Sequence[Any]:
        self._write(self._symbol(message)[0], buffers[0])
        return []

    def read_symbol(self, message: Dict[str, Any], buffers: List[bytes]) -> Sequence[Any]:
        return [self._read(*self._symbol(message))]

    # ---- Launches ----

    def launch(self, message: Dict[str, Any], buffers: List[bytes]) -> Sequence[Any]:
        kernel = ctypes.c_void_p()
        module = self._modules[message["module"]]
        self._call("cudaLibraryGetKernel", ctypes.byref(kernel), module, message["kernel"].encode())
        shared = message["shared_bytes"]
        if shared > 48 * 1024:
            self._call("cudaFuncSetAttribute", kernel, DYNAMIC_SHARED_SIZE, shared)
        copies = []  # of arrays of the host: address, size
        for its, data in zip(message["copies"], buffers):
            copies.append((self._new(len(data), its["name"]), len(data)))
            self._write(copies[-1][0], data)
        values: List[Any] = []
        for its in message["arguments"]:
            if "value" in its:
                values.append(ctypes.create_string_buffer(bytes.fromhex(its["value"])))
            elif "copy" in its:
                values.append(ctypes.c_void_p(copies[its["copy"]][0]))
            else:
                address = self._arrays[its["array"]][0]
                values.append(ctypes.c_void_p(address))
                if address != 0:
                    self._cuda.simt_name_allocation(address, its["name"].encode())
        pointers = (ctypes.c_void_p * max(len(values), 1))()
        for number, value in enumerate(values):
            pointers[number] = ctypes.addressof(value)
        limit_time(message["seconds"])
        self._call(
            "cudaLaunchKernel",
            kernel,
            Extent(*message["grid"]),
            Extent(*message["block"]),
            pointers,
            shared,
            None,
        )
        self._call("cudaDeviceSynchronize")
        limit_time(None)
        written = [
            self._read(*there) if its["is_output"] else b""
            for its, there in zip(message["copies"], copies)
        ]
        for address, _ in copies:
            self._call("cudaFree", address)
        return written


def limit_time(seconds: Any) -> None:
    """The process ends when it has used so much more processor time."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = hard
    if seconds is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = math.ceil(used.ru_utime + used.ru_stime + seconds)
        soft = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks ends this process
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What the library prints must not come among the messages.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    device = Device(sys.argv[1])
    while True:
        try:
            message, buffers = receive(sys.stdin.buffer)
        except EOFError:
            os._exit(0)
        error: Optional[str] = None
        data: Sequence[Any] = []
        try:
            data = getattr(device, message["do"])(message, buffers)
        except CudaError as failure:
            error = str(failure)
        limit_time(None)
        is_spoilt = error is not None and device.is_spoilt()
        send(answers, {"error": error, "is_spoilt": is_spoilt, "launches": device.launches()}, data)
        if is_spoilt:
            os._exit(0)


if __name__ == "__main__":
    main()
