"""What a kernel's parameters are, from nvcc's PTX, the kernel's name and its declaration, and
arguments made to fit."""

from __future__ import annotations

import ctypes
import re
import sys
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._results import Error


class ArgumentError(Error, TypeError):
    """An argument does not fit the kernel's parameter."""


# ---- Types ----

_ELEMENTS = {
    "float": "f4",
    "double": "f8",
    "bool": "?",
    "__half": "f2",
    "half": "f2",
    "int8_t": "i1",
    "int16_t": "i2",
    "int32_t": "i4",
    "int64_t": "i8",
    "uint8_t": "u1",
    "uint16_t": "u2",
    "uint32_t": "u4",
    "uint64_t": "u8",
    "size_t": "u8",
    "ptrdiff_t": "i8",
    "uchar": "u1",
    "ushort": "u2",
    "uint": "u4",
    "ulong": "u8",
    "longlong": "i8",
    "ulonglong": "u8",
}
# NumPy has no such types; ml_dtypes has.
_FOREIGN = {"__nv_bfloat16": ("bfloat16", "uint16"), "nv_bfloat16": ("bfloat16", "uint16")}
_NO_MEANING = re.compile(
    r"\b(?:__restrict__|__restrict|__grid_constant__|volatile|struct|class|enum|typename)\b"
    r"|\b(?:cuda::)?std::|^\s*::|\[\[\w+\]\]"
)
_INTEGER_WORDS = {"signed", "unsigned", "char", "short", "int", "long"}


def _integer(words: Sequence[str]) -> Optional[str]:
    if not words or not set(words) <= _INTEGER_WORDS:
        return None
    if "char" in words:
        size = 1
    elif "short" in words:
        size = 2
    else:
        size = 8 if "long" in words else 4
    return f"{'u' if 'unsigned' in words else 'i'}{size}"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel."""

    name: str
    #: Its type, as it is written; "" if it is not known.
    type: str
    #: Bytes that the launch hands over.
    bytes: int
    is_pointer: bool = False
    #: A pointer through which the kernel cannot write.
    is_const: bool = False
    #: A pointer, or as large as one and of no type that is known.
    may_be_pointer: bool = False
    #: Of its elements, or its own; None if it is not known.
    dtype: Optional[np.dtype] = None
    #: Elements of a vector such as float4.
    lanes: int = 1
    #: What PTX knows of it: "u32", "f64"; "" for a structure.
    kind: str = ""
    #: Names of types that NumPy knows only from other packages.
    foreign: Tuple[str, ...] = ()
    is_char: bool = False

    def __str__(self) -> str:
        return f"{self.type} {self.name}".strip()


def _parameter(name: str, written: str, kind: str, size: int) -> Parameter:
    text = _NO_MEANING.sub("", written)
    text = re.sub(r"\(\s*\*\s*\)\s*(?:\[\d*\])+", "*", text)
    text = re.sub(r"\[\w*\]", "*", text)
    depth = text.count("*")
    base = text.split("*")[0]
    words = [word for word in re.findall(r"[\w:]+", base) if word not in ("const", "__const")]
    known: Dict[str, Any] = {}
    if len(words) == 1 and words[0] in _FOREIGN:
        known["foreign"] = _FOREIGN[words[0]]
    elif len(words) == 1 and words[0].startswith("__nv_fp8"):
        known["foreign"] = ("float8_" + words[0][len("__nv_fp8_") :], "uint8")
    else:
        code = _integer(words) or (_ELEMENTS.get(words[0]) if len(words) == 1 else None)
        vector = re.fullmatch(r"([a-z_]+?)([1-4])", words[0]) if len(words) == 1 else None
        if code is None and vector:
            code = _integer([vector[1]]) or _ELEMENTS.get(vector[1])
            if code is not None:
                known["lanes"] = int(vector[2])
        if code is not None:
            known["dtype"] = np.dtype(code)
            known["is_char"] = words == ["char"]
    if depth > 1:
        known = {}
    its = Parameter(
        name=name,
        type=" ".join(written.split()),
        bytes=size,
        is_pointer=depth > 0,
        is_const=depth == 1 and re.search(r"\bconst\b", base) is not None,
        may_be_pointer=depth > 0 or (kind in ("u64", "b64") and not known),
        kind=kind,
        **known,
    )
    # The name that somebody has given to a type may stand for another one here.
    own = its.dtype.itemsize * its.lanes if its.dtype else size
    if not its.is_pointer and own != size:
        maybe = kind in ("u64", "b64")
        return Parameter(name, its.type, size, may_be_pointer=maybe, kind=kind)
    return its


# ---- Names and declarations ----


def demangled(symbol: str) -> str:
    """A C++ name as people write it, with the types of parameters; `symbol` itself if it is
    none."""
    if not symbol.startswith("_Z"):
        return symbol
    library = ctypes.CDLL("libstdc++.so.6")
    function = getattr(library, "__cxa_demangle")
    function.restype = ctypes.c_void_p
    status = ctypes.c_int()
    text = function(symbol.encode(), None, None, ctypes.byref(status))
    if not text:
        return symbol
    name = ctypes.string_at(text).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(text))
    return name


def _parts(text: str) -> List[str]:
    """What commas separate, but for those inside brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        if letter in "(<[{":
            depth += 1
        elif letter in ")>]}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def _split_name(full: str) -> Tuple[str, Optional[List[str]]]:
    """Name and parameters' types of "void k<int>(int*, float)"; None: it does not say them."""
    if not full.endswith(")"):
        return full, None
    depth = 0
    for at in range(len(full) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(full[at], 0)
        if depth == 0:
            break
    name = full[:at]
    # A template's name begins with what it returns.
    return name[len("void ") :] if name.startswith("void ") else name, _parts(full[at + 1 : -1])


def _bare(source: str) -> str:
    """Without comments and texts."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda found: '""' if found[0][0] == '"' else " ", source, flags=re.S)


def _declared(source: str, name: str) -> Optional[List[Tuple[str, str]]]:
    """Types and names of parameters where `source` declares the kernel, best where it names them;
    None: it does not."""
    best: Optional[List[Tuple[str, str]]] = None
    for found in re.finditer(rf"\b{re.escape(name)}\s*\(", source):
        before = re.split(r"[;{}]", source[: found.start()])[-1]
        if "__global__" not in before:
            continue
        depth, at = 1, found.end()
        while at < len(source) and depth > 0:
            depth += {"(": 1, ")": -1}.get(source[at], 0)
            at += 1
        its = [_type_and_name(part) for part in _parts(source[found.end() : at - 1])]
        if best is None or sum(one[1] != "" for one in its) > sum(one[1] != "" for one in best):
            best = its
    return best


def _type_and_name(declaration: str) -> Tuple[str, str]:
    declaration = _parts(declaration.replace("=", ","))[0]
    inside = re.search(r"\(\s*[*&]\s*(?:__restrict__\s*)?(\w+)\s*\)", declaration)
    if inside:
        return declaration.replace(inside[0], "(*)"), inside[1]
    found = re.fullmatch(r"(.*[\s*&>])(\w+)\s*((?:\[\w*\])*)", declaration, flags=re.S)
    if found is None or found[2] in _INTEGER_WORDS | {"float", "double", "const"}:
        return declaration, ""
    return found[1].strip() + found[3], found[2]


# ---- Kernels of PTX ----

_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


@dataclass(frozen=True)
class Entry:
    """A kernel of a module."""

    symbol: str
    #: For people: "axpy<float>".
    name: str
    parameters: Tuple[Parameter, ...]

    @property
    def short_name(self) -> str:
        return re.sub(r"<.*", "", self.name.replace("(anonymous namespace)::", "")).split("::")[-1]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"


def entries_of(ptx: str, source: str = "") -> List[Entry]:
    """The kernels of a module's PTX; `source` may say more of their parameters."""
    source = _bare(source)
    entries = []
    # A kernel whose address is taken is declared, too, before it is defined.
    entry = r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?"
    for found in {one[1]: one for one in re.finditer(entry, ptx)}.values():
        symbol, places = found[1], _parts(found[2] or "")
        name, types = _split_name(demangled(symbol))
        short = re.sub(r"<.*", "", name).split("::")[-1]
        declared = _declared(source, short)
        if declared is None or len(declared) != len(places):
            declared = [("", "")] * len(places)
        parameters = []
        for number, place in enumerate(places):
            kind = re.search(r"\.([busf](?:8|16|32|64))\b", place)
            length = re.search(r"\[(\d+)\]$", place)
            code = kind[1] if kind else "b8"
            size = _BYTES[code[1:]] * (int(length[1]) if length else 1)
            code = "" if length else code
            written, own_name = declared[number]
            if types is not None and len(types) == len(places):
                written = types[number]
            parameters.append(_parameter(own_name or f"arg{number}", written, code, size))
        entries.append(Entry(symbol, name, tuple(parameters)))
    return entries


# ---- Arguments ----


def scalar_bytes(kernel: str, number: int, parameter: Parameter, value: Any) -> bytes:
    """A parameter that is no pointer, as the launch wants it."""

    def fail(what: str) -> ArgumentError:
        return ArgumentError(f"{kernel}: argument {number} ({parameter}) {what}")

    if isinstance(value, ctypes.Structure) or isinstance(value, (bytes, bytearray, np.void)):
        data = bytes(value) if not isinstance(value, np.void) else value.tobytes()
        if len(data) != parameter.bytes:
            raise fail(f"has {parameter.bytes} bytes, not {len(data)}")
        return data
    if parameter.dtype is None:
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.size == 1):
            if parameter.kind:
                value = value.item()
            elif value.nbytes == parameter.bytes:
                return bytes(value.tobytes())
            else:
                raise fail(f"has {parameter.bytes} bytes, not the {value.nbytes} of {value.dtype}")
        bits = 8 * parameter.bytes
        # An enum, or a name that stands for a number: it may be signed or not.
        if parameter.kind[:1] in ("u", "s", "b") and isinstance(value, int):
            if not -(2 ** (bits - 1)) <= value < 2**bits:
                raise fail(f"cannot hold {value}")
            return (int(value) % (1 << bits)).to_bytes(parameter.bytes, sys.byteorder)
        if parameter.kind[:1] == "f":
            return _number(fail, np.dtype(f"f{parameter.bytes}"), value)
        raise fail(
            f"wants {parameter.bytes} bytes: give one element of a structured array, a "
            f"ctypes.Structure or bytes, not {_called(value)}"
        )
    if parameter.lanes > 1:
        try:
            lanes = np.asarray(value)
        except ValueError:
            lanes = np.empty(0)
        if lanes.shape != (parameter.lanes,):
            raise fail(f"wants {parameter.lanes} numbers, not {_called(value)}")
        return b"".join(_number(fail, parameter.dtype, one) for one in lanes)
    return _number(fail, parameter.dtype, value)


def _called(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return "None" if value is None else f"{value!r:.60}"


def _number(fail: Any, dtype: np.dtype, value: Any) -> bytes:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.ndarray):
        raise fail(f"is one number, not {_called(value)}")
    is_whole = isinstance(value, (bool, int, np.integer, np.bool_))
    if not is_whole and not isinstance(value, (float, np.floating)):
        raise fail(f"is a number, not {_called(value)}")
    if dtype.kind in "iu":
        if not is_whole:
            raise fail(f"is a whole number, not {value!r}")
        range_ = np.iinfo(dtype)
        if not range_.min <= int(value) <= range_.max:
            raise fail(f"cannot hold {value}")
    elif dtype.kind == "b" and not (is_whole and int(value) in (0, 1)):
        raise fail(f"is True or False, not {value!r}")
    with np.errstate(over="ignore"):
        return np.array(value).astype(dtype).tobytes()


def require_fit(kernel: str, number: int, parameter: Parameter, array: Any) -> None:
    """Raises ArgumentError if the array's elements are not what the pointer points to."""

    def fail(what: str) -> ArgumentError:
        return ArgumentError(f"{kernel}: argument {number} ({parameter}) {what}")

    if not parameter.may_be_pointer:
        raise fail("is no pointer: give it a number, not an array")
    given = array.dtype
    if given.hasobject:
        raise fail("cannot be an array of Python objects")
    if not given.isnative:
        raise fail("has the other byte order: use array.astype(array.dtype.newbyteorder('='))")
    if parameter.foreign:
        if given.name not in parameter.foreign:
            raise fail(f"wants an array of {' or '.join(parameter.foreign)}, not of {given}")
        return
    wanted = parameter.dtype
    if wanted is None or given.kind == "V":
        return
    good = given == wanted or (parameter.is_char and given.itemsize == 1 and given.kind in "iuS")
    if parameter.lanes == 2 and given.kind == "c" and given.itemsize == 2 * wanted.itemsize:
        return
    if not good:
        raise fail(f"wants an array of {wanted}, not of {given}: use array.astype(numpy.{wanted})")
    if array.nbytes % (wanted.itemsize * parameter.lanes) != 0:
        raise fail(
            f"wants whole vectors of {parameter.lanes}, and the array has {array.size} numbers"
        )
