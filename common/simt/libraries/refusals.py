#!/usr/bin/env python3
"""refusals.py HEADER... > FILE.cpp: for each function of cuBLAS that the headers declare, one that says it is not here.

Weak: where there is another of that name, it is taken. All take what they like, so the headers are not included.
"""

import re
import sys
from pathlib import Path

NOT_SUPPORTED = 15  # CUBLAS_STATUS_NOT_SUPPORTED


def main() -> None:
    names = set()
    for header in sys.argv[1:]:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", Path(header).read_text(errors="replace"), flags=re.DOTALL)
        names |= set(re.findall(r"\bCUBLASWINAPI\s+(\w+)\s*\(", text))
    print("#include <cstdio>")
    print("static int refuse(const char* name) {")
    print(r'  std::fprintf(stderr, "simt: %s is not in the simulator\n", name);')
    print(f"  return {NOT_SUPPORTED};\n}}")
    for name in sorted(names):
        said = re.sub(r"_v2(_64)?$", r"\1", name)
        print(f'extern "C" __attribute__((weak)) int {name}() {{ return refuse("{said}"); }}')


if __name__ == "__main__":
    main()
