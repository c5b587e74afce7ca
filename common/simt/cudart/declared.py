#!/usr/bin/env python3
"""declared.py MARK HEADER... [-- SOURCE...] > FILE.inc: of the functions that the headers declare behind this mark, such
as CUDAAPI, those that the sources do not define.

SIMT_REFUSED(name)
    One that we have not. Also by the name that it has for programs of older headers: what a header makes of such a name
    by a macro ends there, so FILE.inc is included last.
SIMT_PER_THREAD(cudaX_ptsz, cudaX, (parameters), (arguments))
    One that we have, by its name in programs that were compiled with --default-stream per-thread: streams are given as
    of_thread(stream).
"""

import re
import sys
from pathlib import Path


def main() -> None:
    mark, *rest = sys.argv[1:]
    at = rest.index("--") if "--" in rest else len(rest)
    declared, renamed, per_thread = {}, {}, {}
    for header in rest[:at]:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", Path(header).read_text(errors="replace"), flags=re.DOTALL)
        declared.update(re.findall(rf"\b{mark}\s+(\w+)\s*\(([^;{{]*)\)\s*;", text))
        for name, kind in re.findall(r"define\s+(\w+)\s+__CUDART_API_(PT[DS][SZ])", text):
            per_thread[f"{name}_{kind.lower()}"] = name
        renamed.update(re.findall(r"#\s*define\s+(cu[A-Z]\w+)\s+(?:__CUDA_API_PT[DS][SZ]\()?(cu[A-Z]\w+)", text))
    names = {renamed.get(name, name) for name in declared} | set(declared) | set(per_thread)
    defined = set()
    for source in rest[at + 1 :]:
        text = Path(source).read_text()
        kept = set(re.findall(r"#undef (\w+)", text))
        functions = re.findall(r"^\w[^(\n]* \*?(\w+)\(", text, flags=re.MULTILINE)
        defined |= {name if name in kept else renamed.get(name, name) for name in functions}
        for names_of_another in re.findall(r"\.irp name, (.*?)\\n", text, flags=re.DOTALL):
            defined |= set(re.findall(r"\w+", names_of_another))
    for name in sorted(names - defined):
        if per_thread.get(name) in defined:
            # Without what a header says of parameters that are left out.
            parameters = re.sub(r"\s*__dv\([^)]*\)|\s*=\s*\w+", "", declared[per_thread[name]]).split(",")
            arguments = [re.search(r"(\w+)\s*$", one)[1] for one in parameters]
            given = [f"of_thread({its})" if "cudaStream_t" in one else its for one, its in zip(parameters, arguments)]
            text = ", ".join(" ".join(one.split()) for one in parameters)
            print(f"SIMT_PER_THREAD({name}, {per_thread[name]}, ({text}), ({', '.join(given)}))")
        else:
            print(f"#undef {name}\nSIMT_REFUSED({name})" if name in renamed else f"SIMT_REFUSED({name})")


if __name__ == "__main__":
    main()
