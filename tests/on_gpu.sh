#!/bin/sh
# All that needs a real GPU, in one run: builds with nvcc, runs the GPU tests and the stages, searches
# every stage with compute-sanitizer, and compares the simulator's counters with Nsight Compute's.
#
#   tests/on_gpu.sh [--arch sm_90] [--out DIR]
#
# Needs nvcc, a GPU and what the README lists; compute-sanitizer, ncu and python3 where present (a part
# that cannot run says NOT RUN). The simulator is not needed. Results and logs go to DIR (build-gpu/out).
# A part that takes longer than HALO_PART_SECONDS (300) has failed.
# Exit status: 0 all good, 1 something failed, 2 wrong use, 77 no GPU.
set -u

arch=native
out=
while [ $# -gt 0 ]; do
  case $1 in
    --arch) arch=${2:?--arch needs a value, such as sm_90}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    *) echo "usage: $0 [--arch sm_90] [--out DIR]" >&2; exit 2 ;;
  esac
done

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build-gpu
out=${out:-$build/out}
mkdir -p "$out" || exit 2
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "NOT RUN: nvcc was not found" >&2; exit 77; }

failed=0
passed=0
limit="timeout ${HALO_PART_SECONDS:-300}"
report() {  # report STATUS NAME [DETAIL]
  case $1 in
    0) passed=$((passed + 1)); echo "PASS     $2 ${3-}" ;;
    77) echo "NOT RUN  $2 ${3-}" ;;
    *) failed=$((failed + 1)); echo "FAIL     $2 ${3-}" ;;
  esac
}

[ -f "$build/build.ninja" ] || meson setup "$build" "$root" -Dcuda=enabled -Ddocs=disabled \
  "-Dgpu_arch=$arch" >"$out/setup.log" 2>&1 || { tail -5 "$out/setup.log" >&2; exit 1; }
ninja -C "$build" >"$out/build.log" 2>&1 || { grep -m5 -E 'error|FAILED' "$out/build.log" >&2; exit 1; }
report 0 build

$limit meson test -C "$build" --suite stages --suite harness >"$out/tests.log" 2>&1
report $? tests "$(grep -E '^(Ok|Fail|Skipped):' "$out/tests.log" | tr -s ' \n' ' ')"

halo=$build/common/cli/halo-cli
HALO_BUILD=$build $limit "$halo" run --on gpu --json "$out/run.json" >"$out/run.txt" 2>&1
status=$?
[ $status -ne 77 ] || { cat "$out/run.txt" >&2; exit 77; }
report $status "halo run --on gpu"

for program in "$build"/stages/*/*-gpu; do
  name=$(basename "$program")
  for tool in memcheck racecheck initcheck synccheck; do
    log=$out/$name.$tool.log
    if ! command -v compute-sanitizer >/dev/null; then
      report 77 "$tool $name" "compute-sanitizer was not found"
      continue
    fi
    $limit compute-sanitizer --tool $tool --error-exitcode 9 "$program" --length 1000 >"$log" 2>&1
    status=$?
    # Green only if the sanitizer has said so.
    grep -qE 'ERROR SUMMARY: 0 errors|0 hazards displayed' "$log" || [ $status -ne 0 ] || status=1
    report $status "$tool $name" "$(tail -1 "$log" | tr -d '=')"
  done
done

nvcc -std=c++17 -O2 -arch="$arch" "$root"/tests/simt/foreign/*.cu -o "$out/foreign" \
  >"$out/foreign.log" 2>&1 && $limit "$out/foreign" >>"$out/foreign.log" 2>&1
report $? "foreign program with nvcc"

$limit sh "$root/tests/simt/calibrate.sh" --arch "$arch" --out "$out/calibrate" >"$out/calibrate.txt" 2>&1
report $? "simulator's counters against Nsight Compute's" "$(tail -1 "$out/calibrate.txt")"

# Arrays of up to a billion numbers, and the CPU's time for them: this takes minutes.
HALO_BUILD=$build $limit "$halo" run --on gpu --report-table >"$out/report_table.txt" 2>&1
report $? "halo run --on gpu --report-table"

echo "results in $out"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
