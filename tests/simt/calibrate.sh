#!/bin/sh
# Reads the memory counters of the test kernels with Nsight Compute on this machine's GPU and prints
# them beside the figures that the simulator is held to. Needs nvcc, ncu, python3 and a GPU whose
# counters may be read (as root, or NVreg_RestrictProfilingToAdminUsers=0).
#
#   tests/simt/calibrate.sh [--arch sm_90] [--out DIR] [--measure-patterns]
#
# --measure-patterns also writes what the GPU counted into kernels/bank_patterns.csv.
# Exit status: 0 all equal, 1 some differ, 2 wrong use, 77 not run.
set -eu

arch=native
out=${TMPDIR:-/tmp}/halo-calibrate
measure=
while [ $# -gt 0 ]; do
  case $1 in
    --arch) arch=${2:?--arch needs a value}; shift 2 ;;
    --out) out=${2:?--out needs a folder}; shift 2 ;;
    --measure-patterns) measure=--measure-patterns; shift ;;
    *) echo "usage: $0 [--arch sm_90] [--out DIR] [--measure-patterns]" >&2; exit 2 ;;
  esac
done

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
PATH=$PATH:/usr/local/cuda/bin
for tool in nvcc ncu python3; do
  command -v $tool >/dev/null || { echo "NOT RUN: $tool was not found" >&2; exit 77; }
done

mkdir -p "$out"
cd "$here/kernels"
nvcc -std=c++20 -O3 -arch="$arch" -lineinfo -I"$root" known_answers.cu memory_shapes.cu \
  control_paths.cu bank_patterns.cu bank_patterns_table.cpp counted_cases.cpp \
  counted_cases_main.cpp -o "$out/counted_cases"
"$out/counted_cases" --list >"$out/expected.csv"
if ! "$out/counted_cases" bank_patterns.csv; then
  echo "NOT RUN: the kernels do not run right on this machine (is there a GPU?)" >&2
  exit 77
fi

metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics=$metrics,smsp__inst_executed_op_shared_ld.sum
metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
metrics=$metrics,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
metrics=$metrics,smsp__inst_executed_op_shared_st.sum
metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics=$metrics,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum
metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
metrics=$metrics,smsp__inst_executed_op_shared_atom.sum
# The clocks are left alone: no figure here depends on them.
ncu --clock-control none --cache-control none --print-units base --csv --page raw \
  --metrics "$metrics" "$out/counted_cases" bank_patterns.csv >"$out/ncu.csv" 2>"$out/ncu.log" || {
  echo "NOT RUN: ncu failed:" >&2
  cat "$out/ncu.log" "$out/ncu.csv" | tail -5 >&2
  exit 77
}
status=0
python3 "$here/compare_counters.py" $measure "$out/expected.csv" bank_patterns.csv \
  "$out/ncu.csv" || status=$?

# Asynchronous copies have metrics of their own.
nvcc -std=c++20 -O3 -arch="$arch" copies.cu copies_main.cpp -o "$out/copies"
"$out/copies" --list >"$out/copies_expected.csv"
copies=smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum
copies=$copies,smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum
copies=$copies,smsp__inst_executed_op_ldgsts.sum
copies=$copies,smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum
copies=$copies,smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum
ncu --clock-control none --cache-control none --print-units base --csv --page raw \
  --metrics "$copies" "$out/copies" >"$out/copies_ncu.csv" 2>"$out/copies_ncu.log" || {
  echo "NOT RUN: ncu failed on the asynchronous copies:" >&2
  tail -5 "$out/copies_ncu.log" >&2
  exit 77
}
python3 "$here/compare_counters.py" --copies "$out/copies_expected.csv" "$out/copies_ncu.csv" ||
  status=1

# Tensor cores, and the loads and stores of their matrices.
nvcc -std=c++20 -O3 -arch="$arch" -I"$root" matrices.cu matrices_main.cpp -o "$out/matrices"
"$out/matrices" --list >"$out/matrices_expected.csv"
matrices=$metrics,smsp__sass_inst_executed_op_shared_ld.sum,smsp__sass_inst_executed_op_shared_st.sum
matrices=$matrices,smsp__inst_executed_op_ldsm.sum,sm__inst_executed_pipe_tensor.sum
ncu --clock-control none --cache-control none --print-units base --csv --page raw \
  --metrics "$matrices" "$out/matrices" >"$out/matrices_ncu.csv" 2>"$out/matrices_ncu.log" || {
  echo "NOT RUN: ncu failed on the matrices:" >&2
  tail -5 "$out/matrices_ncu.log" >&2
  exit 77
}
python3 "$here/compare_counters.py" --matrices "$out/matrices_expected.csv" \
  "$out/matrices_ncu.csv" || status=1

# Stores that arrive at a barrier in another block's shared memory.
nvcc -std=c++20 -O3 -arch="$arch" sends.cu sends_main.cpp -o "$out/sends"
"$out/sends" --list >"$out/sends_expected.csv"
sends=l1tex__t_requests_pipe_lsu_mem_dshared_op_st.sum
sends=$sends,l1tex__t_sectors_pipe_lsu_mem_dshared_op_st.sum
ncu --clock-control none --cache-control none --print-units base --csv --page raw \
  --metrics "$sends" "$out/sends" >"$out/sends_ncu.csv" 2>"$out/sends_ncu.log" || {
  echo "NOT RUN: ncu failed on the stores that arrive at a barrier:" >&2
  tail -5 "$out/sends_ncu.log" >&2
  exit 77
}
python3 "$here/compare_counters.py" --sends "$out/sends_expected.csv" "$out/sends_ncu.csv" ||
  status=1
exit $status
