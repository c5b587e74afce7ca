#!/usr/bin/env python3
"""The README's commands on clean machines: a Debian or Ubuntu that holds nothing but its base, made for the purpose,
in which ./halo has to find, say and install what is missing.

    sudo nice tests/roots.py                        # all of them, one after the other
    sudo nice tests/roots.py debian-13 --test       # one; its tests too, which take long
    sudo nice tests/roots.py debian-12-arm64        # AArch64, as in a container on Apple Silicon: emulated elsewhere
    sudo nice tests/roots.py codespace wsl          # for a user with sudo: .devcontainer's commands, Ubuntu as in WSL2
    sudo nice tests/roots.py --record               # and write docs/results/roots.md; others' rows there stay

A root is a container where docker answers, else a folder made by debootstrap and entered by chroot, whose mounts end
with each command. It takes minutes and downloads packages, so it is no part of `./halo test`. A line for each
distribution: PASS, FAIL with what was said last, or NOT RUN with the reason. Exit status: 0 all that ran passed, 1 one
failed, 77 none ran.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

SOURCE = pathlib.Path(__file__).resolve().parent.parent
RECORD = SOURCE / "docs" / "results" / "roots.md"
DEBIAN, UBUNTU = "http://deb.debian.org/debian", "http://archive.ubuntu.com/ubuntu"
# Name: suite, mirror, docker's image, what people call it, the processor if it is not to be this machine's.
ROOTS = {
    "debian-12": ("bookworm", DEBIAN, "debian:12", "Debian 12", None),
    "debian-13": ("trixie", DEBIAN, "debian:13", "Debian 13", None),
    "ubuntu-22.04": ("jammy", UBUNTU, "ubuntu:22.04", "Ubuntu 22.04", None),
    "ubuntu-24.04": ("noble", UBUNTU, "ubuntu:24.04", "Ubuntu 24.04", None),
    "debian-12-arm64": ("bookworm", DEBIAN, "debian:12", "Debian 12 on AArch64", "arm64"),
    "codespace": ("bookworm", DEBIAN, "mcr.microsoft.com/devcontainers/base:bookworm", "a Codespace's Debian 12, a user with sudo", None),
    "wsl": ("noble", UBUNTU, "ubuntu:24.04", "WSL2's Ubuntu 24.04, a user with sudo", None),
}
# There one is not root, but has sudo. Whom one is:
USERS = {"codespace": "vscode", "wsl": "student"}
MAKE_USER = """set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends sudo git ca-certificates
id -u {user} || useradd --create-home --shell /bin/bash {user}
echo '{user} ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/halo
echo 'Defaults env_keep += "http_proxy https_proxy PIP_CERT"' >> /etc/sudoers.d/halo
chown -R {user} /halo
"""
DEVCONTAINER = SOURCE / ".devcontainer" / "devcontainer.json"
# Debian has no package of Ubuntu's keys. Its own server has them, and is asked by https.
UBUNTU_KEYS = "https://archive.ubuntu.com/ubuntu/pool/main/u/ubuntu-keyring/ubuntu-keyring_2021.03.26_all.deb"
SCRIPTS = pathlib.Path("/usr/share/debootstrap/scripts")
UBUNTU_KEYRING = "usr/share/keyrings/ubuntu-archive-keyring.gpg"
# How a command of the README begins: its exit status, and what it must say.
EXPECTED = {
    "./halo run 04": (0, ["tiled_halo PASS", "warp_tile PASS", "EQUAL"]),
    "./halo toolkit": (0, []),
    "build/common/simt/cudart/simcc docs/examples/reverse.cu": (3, ["race of tile", "Put a __syncthreads()"]),
}
# After them: an exercise as it is handed out, whose check needs Catch2, and fails. And a stage that takes nvcc's Thrust.
AFTERWARDS = [("./halo try 04", 1, ["0 of 100 points", "was never written"]),
              ("./halo run 02", 0, ["single_block PASS", "thrust PASS", "EQUAL"])]
# On another processor also the other stages of one dimension; of the tests, those of the simulator.
ELSEWHERE = [("./halo run 01", 0, ["loop PASS", "shared_loads PASS"]),
             ("./halo run 03", 0, ["constant PASS", "EQUAL"]),
             ("./halo run 05", 0, ["tiled_cached PASS", "quad PASS", "EQUAL"])]
# An emulated compiler takes a hundred times as long as its program. In its place one of this machine's own, which makes
# the same code. It is unpacked, not installed: apt would have it depend on packages of the wrong processor.
OWN_COMPILER = """set -e
export DEBIAN_FRONTEND=noninteractive
dpkg --add-architecture amd64
apt-get update
apt-get install -y --no-install-recommends libstdc++-12-dev-arm64-cross libc6-dev-arm64-cross \\
  libbinutils:amd64 libgmp10:amd64 libisl23:amd64 libjansson4:amd64 libmpc3:amd64 libmpfr6:amd64 libstdc++6:amd64 \\
  libzstd1:amd64 zlib1g:amd64
mkdir /tmp/own
cd /tmp/own
for part in g++ gcc g++-12 gcc-12 cpp-12 binutils; do apt-get download $part-aarch64-linux-gnu:amd64; done
for package in *.deb; do dpkg-deb --extract $package /; done
for tool in g++ nm; do ln -s aarch64-linux-gnu-$tool /usr/bin/$tool; done  # tests call them so
echo 'int main() {}' > main.cpp
g++ main.cpp -o main
./main
"""
OWN_CXX, OWN_AR = "aarch64-linux-gnu-g++", "aarch64-linux-gnu-gcc-ar"  # Meson does not look for that one by itself
VERSIONS = {
    "g++": "for c in $CXX g++ g++-12 g++-13 g++-14; do v=$($c -dumpfullversion 2>/dev/null) || continue; "
           "[ ${v%%.*} -lt 12 ] || { echo $c $v; break; }; done",
    "Meson": "meson --version",
    "Catch2": "dpkg-query -W -f '${Version}' catch2 2>/dev/null || echo none",
}


EMULATOR = pathlib.Path("/proc/sys/fs/binfmt_misc/qemu-aarch64")


def is_emulated(arch):
    return arch == "arm64" and platform.machine() != "aarch64"


class NotRun(Exception):
    """Why there is no such machine here."""


class Failed(Exception):
    """What went wrong on one."""


def run(command, **options):
    return subprocess.run(command, text=True, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def readme_commands():
    """The README's sessions: lines that begin with a prompt."""
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^\$ (.*)$", text, re.M)
    commands = []
    for command in found:
        known = [expected for begin, expected in EXPECTED.items() if command.startswith(begin)]
        if not known:
            sys.exit(f"README.md has a command that this does not know: {command}")
        commands.append((command, *known[0]))
    if len(commands) != len(EXPECTED):
        sys.exit(f"README.md has {len(commands)} commands, not {len(EXPECTED)}")
    return commands


def codespace():
    """What .devcontainer sets, and the command that it runs once."""
    said = json.loads(re.sub(r"^\s*//.*$", "", DEVCONTAINER.read_text(encoding="utf-8"), flags=re.M))
    return ([f"{name}={value}" for name, value in said["containerEnv"].items()],
            [(command, 0, []) for command in said["postCreateCommand"].split(" && ")])


class Container:
    """A machine that docker makes."""

    def __init__(self, name, _folder, _certificates=None):
        _, _, image, _, arch = ROOTS[name]
        other = ["--platform", f"linux/{arch}"] if arch else []
        made = run(["docker", "run", "--detach", *other, image, "sleep", "infinity"])
        if made.returncode != 0:
            raise NotRun(f"docker: {last_line(made.stdout)}")
        self.id = last_line(made.stdout)
        self.environment = []

    def copy(self, archive):
        self.check(run(["docker", "cp", str(archive), f"{self.id}:/halo.tar"]))

    def inside(self, command):
        set_there = [word for value in self.environment for word in ("--env", value)]
        return run(["docker", "exec", *set_there, self.id, "sh", "-c", command])

    def close(self):
        run(["docker", "rm", "--force", self.id])

    @staticmethod
    def check(done):
        if done.returncode != 0:
            raise NotRun(f"docker: {last_line(done.stdout)}")


class Folder:
    """A machine in a folder, by debootstrap."""

    # The mounts are the command's own. Nothing of this machine but its devices is seen there.
    ENTER = ('root=$1; shift; mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && '
             'exec chroot "$root" "$@"')

    def __init__(self, name, folder, certificates=None):
        suite, mirror, _, _, arch = ROOTS[name]
        if os.geteuid() != 0:
            raise NotRun("only root can make one: sudo tests/roots.py")
        for tool in ("debootstrap", "unshare"):
            if not shutil.which(tool):
                raise NotRun(f"it needs docker, or {tool} (apt-get install debootstrap)")
        if run(["unshare", "--mount", "true"]).returncode != 0:
            raise NotRun("no mount namespace can be made here")
        try:
            urllib.request.urlopen(f"{mirror}/dists/{suite}/Release", timeout=20).close()
        except OSError as error:
            raise NotRun(f"{mirror} cannot be reached: {error}") from error
        self.root = folder / name
        command = ["debootstrap", "--variant=minbase"]
        if arch:
            command.append(f"--arch={arch}")
            if is_emulated(arch) and not EMULATOR.exists():
                raise NotRun("programs for AArch64 do not run here (apt-get install qemu-user-static, and binfmt_misc)")
        parts = "main"
        if mirror == UBUNTU:
            parts = "main,universe"
            command += [f"--components={parts}", f"--keyring={self.ubuntu_keyring(folder)}"]
        # A debootstrap that is older than the release knows no script for it; all of a family are the same one.
        script = [] if (SCRIPTS / suite).exists() else [str(SCRIPTS / ("gutsy" if mirror == UBUNTU else "sid"))]
        made = run([*command, suite, str(self.root), mirror, *script])
        if made.returncode != 0:
            raise NotRun(f"debootstrap: {last_line(made.stdout)}")
        # An installed system has the updates, and in them another compiler than at the release.
        with open(self.root / "etc" / "apt" / "sources.list", "a", encoding="utf-8") as sources:
            sources.write(f"deb {mirror} {suite}-updates {parts.replace(',', ' ')}\n")
        shutil.copy("/etc/resolv.conf", self.root / "etc" / "resolv.conf")
        self.environment = [f"{name}={os.environ[name]}" for name in ("http_proxy", "https_proxy") if name in os.environ]
        if certificates:
            shutil.copy(certificates, self.root / "certificates.pem")
            self.environment.append("PIP_CERT=/certificates.pem")
        if self.inside("true").returncode != 0:
            raise NotRun("nothing can be mounted or started in a folder here")

    @staticmethod
    def ubuntu_keyring(folder):
        installed = pathlib.Path("/") / UBUNTU_KEYRING
        if installed.exists():
            return installed
        package = folder / "ubuntu-keyring.deb"
        try:
            urllib.request.urlretrieve(UBUNTU_KEYS, package)
        except OSError as error:
            raise NotRun(f"Ubuntu's keys cannot be fetched: {error}") from error
        unpacked = folder / "keys"
        if run(["dpkg-deb", "--extract", str(package), str(unpacked)]).returncode != 0:
            raise NotRun("Ubuntu's keys cannot be unpacked (dpkg-deb)")
        return unpacked / UBUNTU_KEYRING

    def copy(self, archive):
        shutil.copy(archive, self.root / "halo.tar")

    def inside(self, command):
        return run(["unshare", "--mount", "sh", "-c", self.ENTER, "sh", str(self.root), "env", "-i",
                    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
                    *self.environment, "sh", "-c", command])

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)


def pack(folder):
    """What belongs to the course, as an archive."""
    listed = run(["git", "-C", str(SOURCE), "-c", f"safe.directory={SOURCE}", "ls-files", "-z"])
    names = [name for name in listed.stdout.split("\0") if name and (SOURCE / name).exists()]
    if listed.returncode != 0 or not names:
        sys.exit(f"git cannot say which files belong to the course: {last_line(listed.stdout)}")
    archive = folder / "halo.tar"
    packed = subprocess.run(["tar", "--create", "--file", archive, "--directory", SOURCE, "--null", "--files-from=-"],
                            input="\0".join(names), text=True, check=False)
    if packed.returncode != 0:
        sys.exit("the course cannot be packed")
    return archive


def take_own_compiler(machine):
    """In an emulated root on x86-64: a compiler that is not emulated."""
    if platform.machine() == "x86_64":
        done = machine.inside(OWN_COMPILER)
        if done.returncode != 0:
            raise NotRun(f"no compiler that is not emulated: {last_line(done.stdout)}")
        machine.environment += [f"CXX={OWN_CXX}", f"AR={OWN_AR}"]


def try_on(machine, commands, log, user=None):
    """What each command took, in seconds."""
    took = []
    as_user = f"sudo --preserve-env --set-home --user={user} " if user else ""
    for command, status, words in commands:
        begin = time.monotonic()
        done = machine.inside(f"{as_user}sh -c {shlex.quote('cd /halo && ' + command)}")
        took.append((command, time.monotonic() - begin))
        log.write(f"$ {command}\n{done.stdout}\n")
        log.flush()
        said = " ".join(done.stdout.split())  # lines are as long as the terminal is wide
        missing = [word for word in words if word not in said]
        if done.returncode != status:
            raise Failed(f"{command}: exit status {done.returncode}, not {status}: {last_line(done.stdout)}")
        if missing:
            raise Failed(f"{command}: it does not say: {missing[0]}")
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ROOTS))
    parser.add_argument("--test", action="store_true", help="the tests too; on AArch64 those of the simulator")
    parser.add_argument("--logs", type=pathlib.Path, help="keep here what was said")
    parser.add_argument("--certificates", type=pathlib.Path, metavar="PEM",
                        help="whom pip trusts there, where a network has certificates of its own")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.relative_to(SOURCE)}")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in ROOTS:
            parser.error(f"unknown: {name} ({', '.join(ROOTS)})")
    has_docker = shutil.which("docker") and run(["docker", "info"]).returncode == 0
    lines, passed, failed = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="halo-roots-") as place:
        folder = pathlib.Path(place)
        logs = arguments.logs or folder
        logs.mkdir(parents=True, exist_ok=True)
        archive = pack(folder)
        for name in arguments.names or [name for name, root in ROOTS.items() if not is_emulated(root[4])]:
            machine, versions, took = None, {}, []
            arch = ROOTS[name][4]
            commands = readme_commands() + AFTERWARDS + (ELSEWHERE if arch else [])
            if arguments.test:
                commands.append(("./halo test simt" if arch else "./halo test --all", 0, [" passed, 0 failed"]))
            try:
                machine = (Container if has_docker else Folder)(name, folder, arguments.certificates)
                machine.copy(archive)
                unpacked = machine.inside("mkdir /halo && tar --extract --no-same-owner --file /halo.tar --directory /halo")
                if unpacked.returncode != 0:
                    raise NotRun(f"the course cannot be unpacked: {last_line(unpacked.stdout)}")
                if is_emulated(arch):
                    take_own_compiler(machine)
                user = USERS.get(name)
                if user:
                    done = machine.inside(MAKE_USER.format(user=user))
                    if done.returncode != 0:
                        raise NotRun(f"no user with sudo: {last_line(done.stdout)}")
                if name == "codespace":
                    set_there, commands = codespace()
                    machine.environment += set_there
                elif user:
                    machine.environment.append("HALO_INSTALL=yes")  # there is nobody to ask
                with open(logs / f"{name}.txt", "w", encoding="utf-8") as log:
                    took = try_on(machine, commands, log, user)
                outcome, why = "PASS", ""
                passed += 1
            except NotRun as error:
                outcome, why = "NOT RUN", str(error)
            except Failed as error:
                outcome, why = "FAIL", str(error)
                failed += 1
            if machine:
                versions = {what: last_line(machine.inside(command).stdout) for what, command in VERSIONS.items()}
                machine.close()
            # The first command installs and builds what it needs.
            times = "; ".join(f"{command.split(' && ')[0]}: {seconds:.0f} s" for command, seconds in took)
            print(f"{name:14} {outcome:8} {why or times}", flush=True)
            title = ROOTS[name][3] + (f", emulated on {platform.machine()}" if is_emulated(arch) else "")
            lines.append((title, outcome, versions, took, why))
    if arguments.record:
        record(lines, ("docker" if has_docker else "debootstrap") + (", and its tests" if arguments.test else ""))
    return 1 if failed else 0 if passed else 77


def record(lines, way):
    """Rows of machines that were not tried this time stay."""
    text = ["# Clean machines", "",
            "What the README's commands and the check of an exercise do on machines that hold nothing but their base: each is",
            "made for the purpose, without a GPU, and `./halo` has to find and install what is missing. The seconds of the first",
            "command are those of downloading, installing, building and running.", "",
            "| machine | outcome | g++ | Meson | Catch2 | `./halo run 04`, s | `./halo try 04`, s | tried | |",
            "|---|---|---|---|---|---:|---:|---|---|"]
    before = RECORD.read_text(encoding="utf-8") if RECORD.exists() else ""
    rows = {row.split(" | ")[0][2:]: row for row in before.splitlines()
            if row.startswith("| ") and not row.startswith("| machine |")}
    for name, outcome, versions, took, why in lines:
        cells = [name, outcome, *(versions.get(what, "") for what in VERSIONS),
                 *(next((f"{seconds:.0f}" for command, seconds in took if what in command), "")
                   for what in ("./halo run 04", "./halo try 04")), f"{datetime.date.today()}, {way}",
                 why.replace("|", " ")]
        rows[name] = "| " + " | ".join(cells) + " |"
    text += rows.values()
    text += ["", "On AArch64 also stages 01, 03 and 05 are run. \"Emulated\": all programs by QEMU but g++, which would "
             f"take hours so: it is `{OWN_CXX}` of the machine itself.", "",
             f"*`sudo tests/roots.py --record`, on {os.cpu_count()} cores that others used as well.*", ""]
    RECORD.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
