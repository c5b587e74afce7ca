"""What the scripts share that keep printed text for the pages: parts between [doc:NAME] markers, in a
file that is written anew or, with --check, compared."""

import sys


def keep(path, script, speaker, make, parser):
    """Writes or compares `path`; make(arguments) gives the parts by name. Returns the exit status.

    `parser` has the options of its own; `speaker` is who says what is kept, for messages: "the planner says"."""
    parser.add_argument("--program", required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = "".join(f"[doc:{name}]\n{part}[/doc:{name}]\n\n" for name, part in make(arguments).items())
    if not arguments.check:
        path.write_text(text, encoding="utf-8")
        return 0
    if path.read_text(encoding="utf-8") == text:
        print(f"{path.name}: {len(text.splitlines())} lines as {speaker} them")
        return 0
    print(f"{path} differs from what {speaker}: docs/results/{script} writes it anew", file=sys.stderr)
    return 1
