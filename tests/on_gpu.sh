#!/bin/sh
# All that needs a real GPU, in one run: builds with nvcc, runs the GPU tests and the stages, searches
# every stage with compute-sanitizer, compares the figures that the simulator is held to with Nsight Compute's,
# and times everything.
#
#   tests/on_gpu.sh [--arch sm_90] [--out DIR] [PART...]
#
# Parts: build, tests, run, exercises, sanitize, foreign, calibrate, profile, bench; all of them if none is named. A part
# without the build before it uses what was built last.
#
# Needs nvcc, a GPU and what docs/install.md lists; compute-sanitizer, ncu and python3 where present (a part
# that cannot run says NOT RUN). The simulator is not needed; of its tests those run that hold on a GPU, too. Results and logs go to
# DIR (build-gpu/out).
# A part that takes longer than HALO_PART_SECONDS (300) has failed.
# Exit status: 0 all good, 1 something failed, 2 wrong use, 77 no GPU.
set -u

arch=native
out=
parts=
while [ $# -gt 0 ]; do
  case $1 in
    --arch) arch=${2:?--arch needs a value, such as sm_90}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    build | tests | run | exercises | sanitize | foreign | calibrate | profile | bench) parts="$parts $1"; shift ;;
    *) echo "usage: $0 [--arch sm_90] [--out DIR] [build|tests|run|exercises|sanitize|foreign|calibrate|profile|bench ...]" >&2
       exit 2 ;;
  esac
done
wanted() {
  case " ${parts:-$1} " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

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

if wanted build; then
  [ -f "$build/build.ninja" ] || meson setup "$build" "$root" -Dcuda=enabled -Ddocs=disabled \
    "-Dgpu_arch=$arch" >"$out/setup.log" 2>&1 || { tail -5 "$out/setup.log" >&2; exit 1; }
  ninja -C "$build" >"$out/build.log" 2>&1 || { grep -m5 -E 'error|FAILED' "$out/build.log" >&2; exit 1; }
  report 0 build
fi
[ -x "$build/common/cli/halo-cli" ] || { echo "nothing is built yet: begin with the part build" >&2; exit 2; }

halo=$build/common/cli/halo-cli
# Programs look for the simulator first; here they are to find NVIDIA's runtime.
with_nvidia="env LD_LIBRARY_PATH=$(sed -n 's/^gpu cuda //p' "$build/stages/places.txt")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

if wanted tests; then
  for suite in network stages convolve harness peers; do
    HALO_BUILD=$build $limit "$halo" test $suite --on gpu >"$out/tests_$suite.log" 2>&1
    report $? "tests: $suite" "$(grep ' passed, ' "$out/tests_$suite.log" | tail -1)"
  done
fi

if wanted run; then
  HALO_BUILD=$build $limit "$halo" run --on gpu --json "$out/run.json" >"$out/run.txt" 2>&1
  status=$?
  [ $status -ne 77 ] || { cat "$out/run.txt" >&2; exit 77; }
  report $status "halo run --on gpu"
fi

# The solutions of the exercises: right, and how fast.
if wanted exercises; then
  ninja -C "$build" exercise-checks >"$out/exercises.build.log" 2>&1
  $limit python3 "$root/tests/exercises/course_test.py" "$build/tests/exercises" --on gpu \
    --table "$out/exercises.json" >"$out/exercises.log" 2>&1
  report $? exercises "$(tail -1 "$out/exercises.log")"
fi

if wanted sanitize; then
  for program in "$build"/stages/[0-9]*-cuda; do
    [ -f "$program" ] || continue
    name=$(basename "$program")
    # A problem of each family that is over soon.
    case $name in
      0[1-5]*) small="--length 1000" ;;
      10_layout_transform*) small="--problem 9x11-37-3-to-nchw,9x11-37-3-to-chwn,8-64-32-to-nchw" ;;
      11_*) small="--problem 13-33-3-5-s2-ceil,12-2-2-3-average" ;;
      12_*) small="--problem 37x10,3x1500,2x20000" ;;
      13_*) small="--network digits --batch 3" ;;
      *) small="--layer 28-1-3-16-1,14-2-3-24-16,13-1-1-32-16" ;;
    esac
    if ! command -v compute-sanitizer >/dev/null; then
      report 77 "sanitize $name" "compute-sanitizer was not found"
      continue
    fi
    # Our kernels only: the tools would search the libraries that they are compared with as well. All four at once: each
    # leaves most of the GPU idle.
    for tool in memcheck racecheck initcheck synccheck; do
      # racecheck doesn't know that an arrival at an mbarrier by one lane hands over what its warp wrote before __syncwarp(),
      # and calls all of warpgroup's sums races; a network's small trials take it many minutes. The simulator searches both.
      less=
      case $tool-$name in
        racecheck-08_*) less="--without winograd_split,fourier_split" ;;
        racecheck-09_*) less="--without warpgroup" ;;
        racecheck-13_*) less="--without planned_split,planned_split_overlapped --no-trials" ;;
      esac
      # shellcheck disable=SC2086
      (
        $limit $with_nvidia compute-sanitizer --tool $tool "$program" $small $less --no-peers --no-times \
          >"$out/$name.$tool.log" 2>&1
        echo "exit status $?" >>"$out/$name.$tool.log"
      ) &
    done
    wait
    for tool in memcheck racecheck initcheck synccheck; do
      log=$out/$name.$tool.log
      # Green only if the program has passed and the sanitizer has said that it found nothing. racecheck does not know that
      # an mbarrier's initialisation is ordered before its use by the fence and the cluster's barrier behind it.
      status=1
      if tail -1 "$log" | grep -qx 'exit status 77'; then
        status=77
      elif tail -1 "$log" | grep -qx 'exit status 0' &&
        grep -qE 'ERROR SUMMARY: 0 errors|hazards? displayed \(0 errors' "$log" &&
        ! grep 'Race reported' "$log" | grep -qv 'Write access at .*mbarrier_init'; then
        status=0
      fi
      report $status "$tool $name" "$(grep -E 'SUMMARY|^exit status' "$log" | tail -2 | tr '=\n' '  ')"
    done
  done
fi

if wanted foreign; then
  nvcc -std=c++17 -O2 -arch="$arch" "$root"/tests/simt/foreign/*.cu -o "$out/foreign" \
    >"$out/foreign.log" 2>&1 && $limit "$out/foreign" >>"$out/foreign.log" 2>&1
  report $? "foreign program with nvcc"
  # The tests of the simulator's runtime and driver, by NVIDIA's: what they expect holds there, too.
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>"$out/capability.log" | head -1)
  if [ "$capability" != 9.0 ]; then
    report 77 "tests/simt/cudart" "they are for compute capability 9.0, and this GPU's is ${capability:-not known}"
    report 77 "single instructions as recorded" "they are an H200's"
  else
    nvcc -fatbin -arch="$arch" "$root/tests/simt/cudart/loaded.cu" -o "$out/loaded.fatbin" >"$out/loaded.log" 2>&1
    report $? "nvcc -fatbin"
    for name in capture cluster conditions driver graphs grid_barrier library memory tensor_map_types tensor_maps textures \
      threads; do
      case $name in driver | library) loaded=loaded.fatbin ;; *) loaded= ;; esac
      # shellcheck disable=SC2086
      (
        cd "$out" && nvcc -std=c++20 -arch="$arch" "$root/tests/simt/cudart/$name.cu" -o "$name" -lcuda &&
          $limit "./$name" $loaded
      ) >"$out/cudart_$name.log" 2>&1
      report $? "tests/simt/cudart/$name.cu" "$(tail -1 "$out/cudart_$name.log")"
    done
    if command -v python3 >/dev/null; then
      $limit python3 "$root/tests/simt/fidelity/answers.py" compare "$root/tests/simt/fidelity/answers.csv" \
        >"$out/answers.log" 2>&1
      report $? "single instructions as recorded" "$(tail -1 "$out/answers.log")"
    else
      report 77 "single instructions as recorded" "python3 was not found"
    fi
  fi
fi

if wanted calibrate; then
  $limit sh "$root/tests/simt/calibrate.sh" --arch "$arch" --out "$out/calibrate" >"$out/calibrate.txt" 2>&1
  report $? "simulator's counters against Nsight Compute's" "$(tail -1 "$out/calibrate.txt")"
fi

# What the pages quote of Nsight Compute: why wide masks are slow, and what the caches hold.
if wanted profile; then
  $with_nvidia python3 "$root/docs/results/profile_launches.py" "$build/stages/03_conv1d_constant-cuda:constant" \
    "$build/stages/04_conv1d_tiled_halo-cuda:tiled_halo,warp_tile" \
    "$build/stages/05_conv1d_tiled_cached-cuda:tiled_cached" --figures stalls \
    --problem 10000000x63,10000000x127,10000000x191,10000000x255 --json "$out/masks_stalls_gpu.json" \
    >"$out/profile.log" 2>&1
  report $? "profile of wide masks" "$(tail -1 "$out/profile.log")"
  $with_nvidia python3 "$root/docs/results/profile_launches.py" \
    "$build/stages/11_fused_pooling-cuda:nchw,chwn,chwn_reuse,nchw_reuse" --figures caches \
    --problem 24-128-3-64-s2-ceil,55-128-3-96-s2,27-128-3-192-s2,110-64-3-96-s2-ceil \
    --json "$out/pooling_caches_gpu.json" >"$out/profile.log" 2>&1
  report $? "profile of pooling" "$(tail -1 "$out/profile.log")"
fi

# Arrays of up to a billion numbers, and the CPU's time for them: this takes minutes.
if wanted bench; then
  # Without cuConv's 602 layers, which take six minutes: halo bench conv2d cuconv --on gpu
  for set in conv1d "conv2d chang_onishi_single" "conv2d chang_onishi_multi" "conv2d sc16" \
    "conv2d sc16_sensitivity" transform pooling softmax network; do
    name=bench_$(echo "$set" | tr ' ' _)
    # shellcheck disable=SC2086
    HALO_BUILD=$build $limit "$halo" bench $set --seed 2024 --json "$out/$name.json" \
      >"$out/$name.txt" 2>&1
    report $? "halo bench $set"
  done
fi

echo "results in $out"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
