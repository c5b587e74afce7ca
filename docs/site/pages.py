"""How the pages are read and set: their marks, links and code, names of layers and formulas."""

import os
import re
import shutil
import sys

FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$")
COMMENT = re.compile(r"<!--\s*/?(?:excerpt|table|contest|report|findings|value)\b.*?-->")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")

LAYER = re.compile(r"(?<![\w-])\d+(?:-\d+){3,}(?:-(?:[sp]\d+|ceil))*(?![\w-])")
INDEXED = re.compile(r"(?<!\w)([NV])_(\w+)")
FORMULA = re.compile(r"<p>(?=[a-z]+(?:\[\w\])+ = |[A-Z] = ⌊)")


def typeset(html):
    """Names of layers stay on one line, N_SM gets its index, and a paragraph that is a formula its class."""
    inside, out = [], []
    for part in re.split(r"(<!--.*?-->|<[^>]+>)", FORMULA.sub('<p class="formula">', html), flags=re.S):
        tag = re.match(r"<(/?)(script|style|svg|title|pre|code)\b", part)
        if tag and not tag[1]:
            inside.append(tag[2])
        elif tag and inside and inside[-1] == tag[2]:
            inside.pop()
        if not part.startswith("<") and inside in ([], ["code"]):
            part = LAYER.sub(r'<span class="layer">\g<0></span>', part)
            if not inside:
                part = INDEXED.sub(r"\1<sub>\2</sub>", part)
        out.append(part)
    return "".join(out)


def outside_code(line, change):
    """The line with `change` applied to all but its inline code."""
    parts = re.split(r"(`+[^`]*`+)", line)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def use_python_of_mkdocs():
    """Starts the present program anew in the Python that mkdocs runs in, if that is another one."""
    program = shutil.which("mkdocs")
    first = open(program, encoding="utf-8").readline() if program else ""
    words = first[2:].split() if first.startswith("#!") else []
    if words and os.path.realpath(words[0]) != os.path.realpath(sys.executable):
        os.execv(words[0], words + [os.path.abspath(sys.argv[0])] + sys.argv[1:])
