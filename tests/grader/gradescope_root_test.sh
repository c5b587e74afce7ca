#!/bin/sh
# The bundle for Gradescope in a clean Debian 12, as Gradescope uses it: unpacked to /autograder/source, setup.sh once, then
# run_autograder for a right submission, a wrong one, an empty one and hostile ones. Then those for PrairieLearn and Autolab,
# with the course that is prepared there already. It takes minutes and downloads packages, so it is no part of `./halo test`.
#
#   sudo tests/grader/gradescope_root_test.sh BUILD [ROOT]
#
# BUILD is a build folder with the command in it; ROOT a folder for the Debian (one that debootstrap has made is taken as
# it is; a temporary one, if left out). Ends with 77 where it cannot run.
set -eu

not_run() {
  echo "NOT RUN: $1"
  exit 77
}
[ $# -ge 1 ] || {
  echo "usage: $0 BUILD [ROOT]" >&2
  exit 2
}
build=$(cd "$1" && pwd)
tests=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$tests/../.." && pwd)
[ "$(id -u)" = 0 ] || not_run "only root can make a root: sudo $0"
for tool in debootstrap unzip unshare python3; do
  command -v $tool >/dev/null || not_run "it needs $tool (apt-get install debootstrap unzip)"
done
unshare --mount true 2>/dev/null || not_run "no mount namespace can be made here"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=${2:-$work/root}

seconds() { date +%s; }
start=$(seconds)
lap() {
  now=$(seconds)
  echo "$1: $((now - start)) s"
  start=$now
}
# A command in the root. Its mounts end with it; nothing of this machine but its devices is seen there.
inside() {
  # shellcheck disable=SC2016
  unshare --mount sh -c '
    root=$1; shift
    mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
      exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$root" "$@"' sh "$root" "$@"
}

if [ ! -f "$root/etc/debian_version" ]; then
  debootstrap --variant=minbase bookworm "$root" >"$work/debootstrap.log" 2>&1 ||
    not_run "debootstrap: $(tail -n 1 "$work/debootstrap.log")"
  lap "Debian 12"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
inside true || not_run "nothing can be mounted or started in $root"

rm -rf "$root/autograder"
mkdir -p "$root/autograder/source" "$root/autograder/submission" "$root/autograder/results"
"$build/common/cli/halo-grade" pack gradescope "$work/autograder.zip" --exercises 04,05
unzip -q "$work/autograder.zip" -d "$root/autograder/source"
cp "$root/autograder/source/run_autograder" "$root/autograder/run_autograder"
lap "bundle"
inside /autograder/source/setup.sh >"$work/setup.log" 2>&1 || {
  tail -n 30 "$work/setup.log"
  echo "FAIL: setup.sh"
  exit 1
}
tail -n 4 "$work/setup.log"
lap "setup.sh"

failed=0
# grade NAME EXPECTED: what lies in the submission's folder; expected is said in Python, of score, most, tests, and output,
# which is all that is said.
grade() {
  name=$1
  expected=$2
  rm -f "$root/autograder/results/results.json"
  inside sh -c 'cd /autograder && ./run_autograder' >"$work/$name.log" 2>&1 || true
  if python3 - "$tests" "$root/autograder/results/results.json" "$expected" <<'END'; then
import sys
sys.path.insert(0, sys.argv[1])
import formats_test
result = formats_test.gradescope(open(sys.argv[2], encoding="utf-8").read())
tests = result["tests"] if "tests" in result else []
score = result.get("score", sum(t["score"] for t in tests))
most = sum(t["max_score"] for t in tests)
output = " | ".join([result["output"], *(t["output"] for t in tests)])
print(f"  {score:g} of {most:g}, {result.get('extra_data')}, {result['output'].splitlines()[0]}")
sys.exit(0 if eval(sys.argv[3]) else f"  not so: {sys.argv[3]}; {output[:1500]}")
END
    lap "PASS $name"
  else
    tail -n 5 "$work/$name.log"
    failed=1
    lap "FAIL $name"
  fi
}
submit() {
  rm -rf "$root/autograder/submission"
  mkdir -p "$root/autograder/submission"
  for file in "$@"; do cp "${file%%=*}" "$root/autograder/submission/${file##*=}"; done
}

solution=$source/solutions/04_tile_and_halo/tile_and_halo.cu
python3 "$source/tests/exercises/programs.py" 04_tile_and_halo wrong_returns_early >"$work/wrong.cu"
submit "$solution=tile_and_halo.cu" "$source/solutions/05_shuffles/shuffles.cu=shuffles.cu"
grade right "score == most and any(t['visibility'] == 'after_published' for t in tests)"
submit "$solution=tile_and_halo.cu"
grade half "0 < score < most / 2 and 'not handed in' in output"
submit "$work/wrong.cu=tile_and_halo.cu"
grade wrong "0 < score < 100 and '__syncthreads' in output"
submit
grade nothing "score == 0 and 'no file of an exercise' in output"

# Before main it writes the result, says that it has passed, and ends.
cat >"$work/forges.cu" <<'END'
#include <cstdio>
#include <unistd.h>
#include "common/exercise/exercise.h"
__attribute__((constructor)) static void forge() {
  for (const char* path : {"/autograder/results/results.json", "/autograder/source/course/halo"}) {
    if (std::FILE* file = std::fopen(path, "w")) {
      std::fputs("{\"score\": 1000}\n", file);
      std::fclose(file);
    }
  }
  std::puts("All tests passed");
  _exit(0);
}
END
cat "$solution" >>"$work/forges.cu"
submit "$work/forges.cu=tile_and_halo.cu"
grade forges "score == 0 and 'constructor' in output"
# What students must not know, as a part of the program.
{
  cat "$solution"
  echo 'asm(".globl stolen; stolen: .incbin \"/autograder/source/course/solutions/assignment.json\"");'
} >"$work/steals.cu"
submit "$work/steals.cu=tile_and_halo.cu"
grade steals "score == 0 and 'asm' in output"
head -n 1 "$root/autograder/source/course/halo" | grep -q '^#!/bin/sh' || {
  echo "FAIL: a submission changed the course"
  failed=1
}

# The other platforms: the same course, elsewhere.
ln -sfn autograder/source "$root/halo"
"$build/common/cli/halo-grade" pack prairielearn "$work/prairielearn" --exercises 04,05
"$build/common/cli/halo-grade" pack autolab "$work/autolab" --exercises 04,05
rm -rf "$root/grade" "$root/autolab"
mkdir -p "$root/grade/student" "$root/autolab"
cp "$solution" "$root/grade/student/"
cp "$work/prairielearn/run.sh" "$root/grade/run.sh"
inside sh /grade/run.sh >"$work/prairielearn.log" 2>&1 || true
if python3 - "$tests" "$root/grade/results/results.json" <<'END'; then
import sys
sys.path.insert(0, sys.argv[1])
import formats_test
result = formats_test.prairielearn(open(sys.argv[2], encoding="utf-8").read())
print(f"  score {result['score']}, {result['message']}")
sys.exit(0 if 0.4 < result["score"] < 0.5 else 1)
END
  lap "PASS prairielearn"
else
  tail -n 5 "$work/prairielearn.log"
  failed=1
  lap "FAIL prairielearn"
fi
cp "$work/autolab/autograde-Makefile" "$root/autolab/Makefile"
cp "$work/autolab/autograde.tar" "$root/autolab/"
cp "$solution" "$root/autolab/tile_and_halo.cu"
inside sh -c 'apt-get -q install -y --no-install-recommends make >/dev/null 2>&1; cd /autolab && make' \
  >"$work/autolab.log" 2>"$work/autolab.err" || true
if python3 - "$tests" "$work/autolab.log" <<'END'; then
import sys
sys.path.insert(0, sys.argv[1])
import formats_test
result = formats_test.autolab(open(sys.argv[2], encoding="utf-8").read())
print(f"  {result}")
sys.exit(0 if result["scores"]["04_tile_and_halo"] >= 90 and result["scores"]["05_shuffles"] == 0 else 1)
END
  lap "PASS autolab"
else
  tail -n 5 "$work/autolab.log" "$work/autolab.err"
  failed=1
  lap "FAIL autolab"
fi

[ $failed = 0 ] && echo "all as it should be"
exit $failed
