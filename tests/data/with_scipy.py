"""What the comparisons with SciPy share: which Python has it, how an error is judged, and how a stage's program is run
with each of their cases."""
import argparse
import os
import subprocess
import sys
import tempfile


def not_run(reason):
    print(f"NOT RUN: {reason}")
    sys.exit(77)


try:
    import numpy as np
    import scipy
except ImportError as error:
    # Debian's package is only seen by Debian's Python, which need not be the first on the path.
    debian_python = "/usr/bin/python3"
    if os.path.exists(debian_python) and os.path.realpath(debian_python) != os.path.realpath(
            sys.executable):
        os.execv(debian_python, [debian_python] + sys.argv)
    not_run(f"{error}; install SciPy (Debian, Ubuntu: apt-get install python3-scipy)")


def worst_share(output, value, bound):
    """The largest error as a share of its bound, and its index, of one axis a number. NaN counts as infinite."""
    error = np.abs(output.astype(np.float64) - value)
    share = np.where(error == 0, 0.0, error / np.where(bound > 0, bound, 1e-300))
    share = np.where(np.isnan(share), np.inf, share)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(share)), share.shape))
    return share[index], index[0] if len(index) == 1 else index


def require_found(case, what, wrong, value, bound):
    """Before anything is believed: a mistake must be outside the bound."""
    if not worst_share(wrong, value, bound)[0] > 1:
        sys.exit(f"{case.name}: a {what} result would pass; this comparison is worth nothing")


def variants_of(command):
    """The names that --list prints, without peers and those that say NOT RUN."""
    listed = subprocess.run(command + ["--list"], capture_output=True, text=True)
    if listed.returncode != 0:
        sys.exit(f"{' '.join(command)} --list failed: {listed.stderr.strip()}")
    names = []
    for line in listed.stdout.splitlines():
        if line[:1].isspace():
            if "NOT RUN" in line and names:
                print(f"NOT RUN: variant {names.pop()}: {line.split('NOT RUN:')[1].strip()}")
        elif line.strip() and line.split()[1:2] != ["peer"]:
            names.append(line.split()[0])
    return names


def run(command, case, variant):
    """Prints one line; returns True, False, or None if the program could not run. Of a case: `name`; `options` and
    `target`, the output's file; judge(), which returns a complaint, or none and the worst share of the bound; and
    `said(share)`, what was compared."""
    title = case.name + (f", variant {variant}" if variant else "")
    arguments = case.options + ["--output", case.target] + (["--variant", variant] if variant else [])
    if os.path.exists(case.target):
        os.remove(case.target)  # that of another variant must not pass for this one's
    done = subprocess.run(command + arguments, capture_output=True, text=True)
    last_words = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
    if done.returncode == 77 or (done.returncode == 2 and "no variant takes this" in last_words):
        print(f"NOT RUN: {title}: {last_words}")
        return None
    if done.returncode != 0:
        print(f"FAIL {title}: exit status {done.returncode}: {last_words}")
        return False
    if not os.path.exists(case.target):
        print(f"FAIL {title}: exit status 0, but nothing was written")
        return False
    try:
        complaint, share = case.judge()
    except (ValueError, OSError) as error:
        complaint, share = str(error), np.inf
    if complaint:
        print(f"FAIL {title}: {complaint}")
        return False
    print(f"pass {title}: {case.said(share)}", flush=True)
    return True


def main(description, cases_in, **flags):
    """Runs the cases of cases_in(folder, options), and ends the program. `flags` are options that are there or not."""
    parser = argparse.ArgumentParser(
        description=description,
        epilog="Exit status: 0 all right, 1 something differs, 2 wrong use, 77 not run.")
    parser.add_argument("--variant", action="append", metavar="NAME",
                        help="a variant to run; may be given several times (default: the program's)")
    parser.add_argument("--all-variants", action="store_true", help="each that PROGRAM --list names")
    for name, text in flags.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGUMENT...]",
                        help="a stage program, or `halo run STAGE`")
    options = parser.parse_args()
    if not options.command:
        parser.error("name a stage program, or ./halo run STAGE")
    program = options.command[0]
    if os.sep in program and not os.path.exists(program):
        not_run(f"there is no {program}; build it first")

    with tempfile.TemporaryDirectory(prefix="halo-scipy-") as folder:
        cases = cases_in(folder, options)
        variants = options.variant or [None]
        if options.all_variants:
            variants = variants_of(options.command)
        results = [run(options.command, case, variant) for variant in variants for case in cases]
    passed, failed = results.count(True), results.count(False)
    print(f"SciPy {scipy.__version__}: {passed} passed, {failed} failed, "
          f"{results.count(None)} not run")
    if failed:
        sys.exit(1)
    sys.exit(0 if passed else 77)
