#!/usr/bin/env python3
"""README.md shows what ./halo really prints: its sessions (a line `$ ./halo run ...` and what follows) are run again on
the simulator, and must come out the same.

    tests/docs/readme_test.py --halo build/common/cli/halo-cli --build build
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SESSION = re.compile(r"^```\n\$ \./halo (run [^\n]*)\n(.*?)^```$", re.M | re.S)
# Each run draws other data; README's were drawn with this one.
SEED = ["--seed", "2024", "--on", "sim"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--halo", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    sessions = SESSION.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    wrong = 0
    for command, shown in sessions:
        done = subprocess.run(
            [arguments.halo.resolve(), "--build", arguments.build.resolve(), *command.split(), *SEED], cwd=ROOT,
            env={**os.environ, "COLUMNS": "112"}, capture_output=True, text=True, check=False)
        # The README leaves out the remarks below the table.
        if done.returncode != 0 or not done.stdout.startswith(shown):
            wrong += 1
            print(f"./halo {command} prints something else (exit status {done.returncode}); README.md has\n{shown}\n"
                  f"and it prints\n{done.stdout}{done.stderr}")
    print(f"{len(sessions)} sessions, {wrong} wrong")
    return 0 if sessions and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
