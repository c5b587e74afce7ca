#!/usr/bin/env python3
"""What a GPU answers to single instructions, bit for bit, and whether the engine answers the same.

    answers.py record answers.csv      on a GPU with the toolkit
    answers.py compare answers.csv     with the libcuda.so.1 that is found: under `simt run`, the engine's

The instructions are those of ../ptx_forms.inc that take and leave registers only, approximations and carries too. A row is
a line of that file: how many forms it stands for were tried, which of them ptxas refuses, and a hash of what they leave in
each of 8 warps, whose lanes hold edge cases and numbers of chance. Exit status: 0 all equal, 1 some differ, 2 wrong use.
"""

import csv
import ctypes
import datetime
import hashlib
import itertools
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

FORMS = pathlib.Path(__file__).resolve().parent.parent / "ptx_forms.inc"
OPCODES = """add addc sub subc mul mad madc mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext
    bmsk dp4a dp2a testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh set setp selp slct and or xor not cnot lop3 shf
    shl shr mov prmt cvt shfl vote match redux vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2
    vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4""".split()
OPEN = ("div.f32",)  # what no .version of today has
MOST = 96  # forms of a line
WARPS, SLOTS, LANES = 8, 61, 32
TYPES = {"p": "pred", "h": "b16", "r": "b32", "d": "b64", "f": "f32", "e": "f64"}
OPERAND = re.compile(r"%([phrdfe])(\d+)")

EDGES_32 = [0, 1, 2, 31, 32, 33, 0x400, 0x3C00, 0x7C00, 0x7E00, 0x7FFF, 0x8000, 0xFC00, 0xFFFF, 0x10001, 0x7C017C00,
            0x80008000, 0x3F800000, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
EDGES_F32 = [0, 1, 0x007FFFFF, 0x00800000, 0x33800000, 0x387FC000, 0x38800000, 0x3F000000, 0x3F800000, 0x477FE000,
             0x47800000, 0x4EFFFFFF, 0x4F000000, 0x5F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x80000000,
             0x80000001, 0xBF800000, 0xCF000000, 0xFF7FFFFF, 0xFF800000]
EDGES_64 = [0, 1, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000,
            0x3690000000000000, 0x380FFFFFC0000000, 0x3FF0000000000000, 0x41E0000000000000, 0x43E0000000000000,
            0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000,
            0xBFF0000000000000, 0xC1E0000000000000]


def numbers_of_chance(state=42):
    """Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators: the same everywhere."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        yield z ^ z >> 31


def inputs():
    """[type][warp][slot][lane], 8 bytes each: a third are edge cases; half of the other floats are near 1."""
    chance = numbers_of_chance()

    def value(kind):
        which, number = next(chance), next(chance)
        edges = {"r": EDGES_32, "f": EDGES_F32}.get(kind, EDGES_64)
        if which % 3 == 0:
            return edges[number % len(edges)]
        if kind == "r":
            return number % 64 if which % 12 < 3 else number % 2**32
        if kind == "d" or which % 2 == 0:
            return number if kind in "de" else number % 2**32
        if kind == "f":
            return number & 0x807FFFFF | (107 + which // 8 % 40) << 23
        return number & 0x800FFFFFFFFFFFFF | (1003 + which // 8 % 40) << 52

    return {kind: struct.pack(f"<{WARPS * SLOTS * LANES}Q", *(value(kind) for _ in range(WARPS * SLOTS * LANES)))
            for kind in "rdfe"}


def lines():
    """Those of ptx_forms.inc that are tried."""
    for text in re.findall(r'R"forms\((.*?)\)forms"', FORMS.read_text(), re.S):
        for line in text.split("\n"):
            opcode = re.match(r"\{?([a-z0-9|]*)", line).group(1).split("|")
            if not set(opcode) <= set(OPCODES) or re.search(r"\{[^}]*%|\[|%[cq]|_,|%A", line):
                continue
            if OPERAND.search(line.split(",")[0]):
                yield line


def forms_of(line):
    parts = re.split(r"\{([^}]*)\}", line)
    every = ["".join(one) for one in itertools.product(*(p.split("|") if i % 2 else [p] for i, p in enumerate(parts)))]
    some = [every[i * len(every) // MOST] for i in range(MOST)] if len(every) > MOST else every
    return [one for one in some if not any(word in one for word in OPEN)]


def block(form, index):
    """The form with operands from slots that depend on `index`, and its one or two results to places of the same number; a
    carry is a result."""
    name, operands = form.split(" ", 1)
    opcode = name.split(".")[0]
    operands = operands.split(",")
    results = OPERAND.findall(operands[0])
    sources = [one for operand in operands[1:] for one in OPERAND.findall(operand)]
    text = ["{ .reg .b32 t, c;"] + [f".reg .{TYPES[k]} x{k}{n};" for k, n in dict.fromkeys(results + sources)]
    for i, (kind, number) in enumerate(sources):
        register, slot = f"x{kind}{number}", (index * 5 + i * 11) % SLOTS * 256
        if opcode in ("shfl", "vote", "match", "redux") and i == len(sources) - 1:
            text.append(f"mov.b32 {register}, -1;")  # the lanes that take part: all
            continue
        array = "r" if kind in "ph" else kind
        if kind == "p":
            text.append(f"ld.global.b32 t, [i{array}+{slot}]; and.b32 t, t, 1; setp.ne.u32 {register}, t, 0;")
            continue
        text.append(f"ld.global.{TYPES[kind]} {register}, [i{array}+{slot}];")
        bits = TYPES[kind][1:]
        if opcode in ("div", "rem") and kind in "hrd" and i == 1:  # no zero, nor the least number by -1
            most = 2 ** (int(bits) - 1) - 1
            text.append(f"or.b{bits} {register}, {register}, 2; and.b{bits} {register}, {register}, {most};")
        elif opcode in ("shfl", "fns") and i in (1, 2) and kind == "r":
            text.append(f"and.b32 {register}, {register}, {31 if i == 1 else 0x1F1F};")
        elif opcode in ("shl", "shr", "shf", "bfe", "bfi", "szext", "bmsk") and kind == "r" and i and index % 3:
            text.append(f"and.b32 {register}, {register}, 63;")
    if opcode in ("addc", "subc", "madc"):  # the carry that they take
        slots = [(index * 7 + i * 13) % SLOTS * 256 for i in (0, 1)]
        text.append(f"ld.global.b32 t, [ir+{slots[0]}]; ld.global.b32 c, [ir+{slots[1]}]; add.cc.u32 t, t, c;")
    text.append(name + " " + ",".join(OPERAND.sub(r"x\1\2", one) for one in operands) + ";")
    for i, (kind, number) in enumerate(results):
        place = f"[o+{(2 * index + i) * 256}]"
        if kind == "p":
            text.append(f"selp.b32 t, 1, 0, x{kind}{number}; st.global.b32 {place}, t;")
        else:
            text.append(f"st.global.{TYPES[kind]} {place}, x{kind}{number};")
    if ".cc" in name:  # the carry that they leave
        text.append(f"addc.u32 t, 0, 0; st.global.b32 [o+{(2 * index + 1) * 256}], t;")
    return " ".join(text) + " }"


def module(forms):
    text = [".version 9.0", ".target sm_90a", ".address_size 64",
            ".visible .entry k(.param .u64 pr, .param .u64 pd, .param .u64 pf, .param .u64 pe, .param .u64 po) {",
            ".reg .b64 ir, id, if, ie, o, at, own; .reg .b32 t;",
            "mov.u32 t, %tid.x; mul.wide.u32 own, t, 8;",
            f"mov.u32 t, %ctaid.x; mul.wide.u32 at, t, {SLOTS * 256}; add.u64 at, at, own;"]
    text += [f"ld.param.u64 i{kind}, [p{kind}]; add.u64 i{kind}, i{kind}, at;" for kind in "rdfe"]
    text.append(f"ld.param.u64 o, [po]; mul.wide.u32 at, t, {len(forms) * 512}; add.u64 o, o, own; add.u64 o, o, at;")
    return "\n".join(text + [block(form, i) for i, form in enumerate(forms)] + ["ret; }", ""])


def refused_by_ptxas(forms):
    """Their numbers."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(module(forms))
        file.flush()
        said = subprocess.run(["ptxas", "-arch=sm_90a", "-o", "/dev/null", file.name], capture_output=True, text=True)
    first = module(forms).split("\n").index(block(forms[0], 0)) + 1
    refused = {int(line) - first for line in re.findall(r"line (\d+); error", said.stderr + said.stdout)}
    if said.returncode != 0 and not refused:
        sys.exit(f"ptxas: {said.stderr}")
    return refused


class Driver:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.inputs = [self.array(data) for data in inputs().values()]

    def call(self, name, *arguments):
        result = getattr(self.cuda, name)(*arguments)
        if result != 0:
            raise RuntimeError(f"{name}: error {result}")

    def array(self, data):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(len(data)))
        return pointer

    def answers(self, forms):
        """Bytes, [warp][form][result][lane], 8 each: zero where there is none."""
        loaded, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(loaded), module(forms).encode())
        self.call("cuModuleGetFunction", ctypes.byref(kernel), loaded, b"k")
        got = ctypes.create_string_buffer(WARPS * len(forms) * 512)
        results = self.array(got.raw)
        pointers = [*self.inputs, results]
        arguments = (ctypes.c_void_p * len(pointers))(*map(ctypes.addressof, pointers))
        self.call("cuLaunchKernel", kernel, WARPS, 1, 1, LANES, 1, 1, 0, None, arguments, None)
        self.call("cuMemcpyDtoH_v2", got, results, ctypes.c_size_t(len(got)))
        self.call("cuMemFree_v2", results)
        self.call("cuModuleUnload", loaded)
        return got.raw


def hash_of(driver, forms):
    return hashlib.sha256(driver.answers(forms)).hexdigest()[:16]


def record(file):
    driver, rows = Driver(), []
    for line in lines():
        forms = forms_of(line)
        if not forms:
            continue
        without = refused_by_ptxas(forms)
        kept = [form for i, form in enumerate(forms) if i not in without]
        if kept:
            rows.append([line, len(kept), " ".join(map(str, sorted(without))), hash_of(driver, kept)])
    about = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                           capture_output=True, text=True, check=True).stdout.strip().replace(", ", ", driver ")
    toolkit = re.search(r"release ([\d.]+)", subprocess.run(["ptxas", "--version"], capture_output=True, text=True).stdout)
    with open(file, "w", newline="") as to:
        to.write(f"# {about}, CUDA {toolkit.group(1)}, {datetime.date.today()}: tests/simt/fidelity/answers.py record\n")
        csv.writer(to, lineterminator="\n").writerows([["forms", "tried", "refused", "hash"], *rows])
    print(sum(row[1] for row in rows), "forms of", len(rows), "lines recorded")


def compare(file):
    driver, tried, wrong = Driver(), 0, 0
    with open(file, newline="") as recorded:
        next(recorded)
        rows = list(csv.DictReader(recorded))
    for row in rows:
        without = set(map(int, row["refused"].split()))
        forms = [form for i, form in enumerate(forms_of(row["forms"])) if i not in without]
        tried += len(forms)
        if len(forms) != int(row["tried"]) or hash_of(driver, forms) != row["hash"]:
            print("differs:", row["forms"])
            wrong += 1
    missing = {line for line in lines() if forms_of(line)} - {row["forms"] for row in rows}
    print(f"{tried} forms of {len(rows)} lines, {wrong} lines differ, {len(missing)} lines not recorded")
    return 1 if wrong or missing or not rows else 0


def main(words):
    if len(words) != 2 or words[0] not in ("record", "compare"):
        print(__doc__)
        return 2
    return record(words[1]) if words[0] == "record" else compare(words[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
