#include "counted_cases.hpp"

#include "control_paths.hpp"
#include "known_answers.hpp"
#include "memory_shapes.hpp"

namespace {

using simt::Counters;

Counters with_constant(Counters counters, std::uint64_t requests) {
  counters.constant_load_requests = requests;
  return counters;
}

Counters with_atomics(Counters counters, std::uint64_t global, std::uint64_t shared) {
  counters.global_atomic_requests = global;
  counters.shared_atomic_requests = shared;
  return counters;
}

constexpr const char* kRecursion = "the lanes do not meet again on return from a recursion";

}  // namespace

const std::vector<CountedCase>& known_answers_cases() {
  using namespace known_answers;
  static const std::vector<CountedCase> cases = {
      {"conv1d_mask_global", run_conv1d_mask_global, global_only(56250, 165617, 3125, 12500)},
      {"conv1d_mask_constant", run_conv1d_mask_constant,
       with_constant(global_only(28125, 137492, 3125, 12500), 28125)},
      {"conv1d_tile_and_halo", run_conv1d_tile_and_halo,
       with_constant(with_shared(global_only(3516, 16405, 3125, 12500), {28125, 28125, 0},
                                 {3519, 3519, 0}, 391),
                     28125)},
      {"transpose_global", run_transpose_global, global_only(4096, 16384, 4096, 131072)},
      {"transpose_tile_32", run_transpose_tile_32,
       with_shared(global_only(4096, 16384, 4096, 16384), {4096, 131072, 126976}, {4096, 4096, 0},
                   128)},
      {"transpose_tile_33", run_transpose_tile_33,
       with_shared(global_only(4096, 16384, 4096, 16384), {4096, 4096, 0}, {4096, 4096, 0}, 128)},
      {"reverse_float4", run_reverse_float4,
       with_shared(global_only(1024, 16384, 1024, 16384), {1024, 4096, 0}, {1024, 4096, 0}, 128)},
      // Each of the two reductions of a row: 4 stores and, in 7 rounds on 2, 1, ... 1 warps, 2
      // loads and a store a warp; then 4 loads of the result.
      {"softmax_three_passes", run_softmax_three_passes,
       with_shared(global_only(6144, 24000, 2048, 8000), {2560, 2560, 0}, {1536, 1536, 0}, 1152)},
      {"conv3x3_zero_padded", run_conv3x3_zero_padded,
       with_constant(global_only(132, 572, 16, 64), 132)},
  };
  return cases;
}

const std::vector<CountedCase>& memory_shape_cases() {
  using namespace memory_shapes;
  static const std::vector<CountedCase> cases = {
      {"offset_by_one", run_offset_by_one, global_only(1, 5, 1, 5)},
      {"first_eight_lanes", run_first_eight_lanes, global_only(1, 1, 1, 1)},
      {"odd_lanes", run_odd_lanes, global_only(1, 4, 1, 4)},
      {"broadcast", run_broadcast, global_only(1, 1, 1, 4)},
      {"strided", run_strided, global_only(1, 8, 1, 32)},
      {"eight_lanes_share_a_cell", run_eight_lanes_share_a_cell, global_only(1, 4, 1, 4)},
      {"read_only_cache", run_read_only_cache, global_only(1, 4, 1, 4)},
      {"volatile_pointers", run_volatile_pointers, global_only(1, 4, 1, 4)},
      {"device_variable", run_device_variable, global_only(2, 8, 1, 4)},
      {"copy_uchar", run_copy_uchar, global_only(1, 1, 1, 1)},
      {"copy_short", run_copy_short, global_only(1, 2, 1, 2)},
      {"copy_uchar2", run_copy_uchar2, global_only(1, 2, 1, 2)},
      {"copy_char4", run_copy_char4, global_only(1, 4, 1, 4)},
      {"copy_short4", run_copy_short4, global_only(1, 8, 1, 8)},
      {"copy_long_long", run_copy_long_long, global_only(1, 8, 1, 8)},
      {"copy_double", run_copy_double, global_only(1, 8, 1, 8)},
      {"copy_float2", run_copy_float2, global_only(1, 8, 1, 8)},
      // float3 has no load of its own: three of 4 bytes, each with a stride of 12 bytes.
      {"copy_float3", run_copy_float3, global_only(3, 36, 3, 36)},
      {"copy_float4", run_copy_float4, global_only(1, 16, 1, 16)},
      {"copy_int4", run_copy_int4, global_only(1, 16, 1, 16)},
      {"copy_double2", run_copy_double2, global_only(1, 16, 1, 16)},
      {"copy_33_threads", run_copy_33_threads, global_only(2, 5, 2, 5)},
      {"copy_1000_threads", run_copy_1000_threads, global_only(32, 125, 32, 125)},
      {"copy_8x4x2_threads", run_copy_8x4x2_threads, global_only(2, 8, 2, 8)},
      {"copy_5x7_threads", run_copy_5x7_threads, global_only(2, 5, 2, 5)},
      {"z_runs_fastest_in_memory", run_z_runs_fastest_in_memory, global_only(2, 16, 2, 16)},
      {"grid_stride", run_grid_stride, global_only(32, 125, 32, 125)},
      {"reverse_dynamic_64_kib", run_reverse_dynamic_64_kib,
       with_shared(global_only(0, 0, 512, 2048), {512, 512, 0}, {512, 512, 0}, 1)},
      {"shared_double_stride_two", run_shared_double_stride_two,
       with_shared(global_only(0, 0, 1, 8), {1, 4, 2}, {2, 4, 0}, 1)},
      {"constant_one_address", run_constant_one_address, with_constant(global_only(1, 4, 1, 4), 1)},
      {"constant_16_addresses", run_constant_16_addresses,
       with_constant(global_only(1, 4, 1, 4), 16)},
      {"constant_32_addresses", run_constant_32_addresses,
       with_constant(global_only(1, 4, 1, 4), 32)},
      {"atomic_global_distinct", run_atomic_global_distinct,
       with_atomics(global_only(0, 0, 0, 0), 1, 0)},
      {"atomic_global_same", run_atomic_global_same, with_atomics(global_only(0, 0, 0, 0), 2, 0)},
      {"atomic_global_swap", run_atomic_global_swap, with_atomics(global_only(0, 0, 1, 4), 1, 0)},
      {"atomic_shared_histogram", run_atomic_shared_histogram,
       with_atomics(with_shared(global_only(2, 8, 1, 1), {1, 1, 0}, {1, 1, 0}, 2), 0, 2)},
  };
  return cases;
}

const std::vector<CountedCase>& control_path_cases() {
  using namespace control_paths;
  static const std::vector<CountedCase> cases = {
      {"if_else", run_if_else, global_only(2, 8, 1, 4)},
      {"some_then_all", run_some_then_all, global_only(2, 6, 1, 4)},
      // Lanes k to 31 take part in round k: 4 sectors for k < 8, 3 for k < 16, ...
      {"unequal_loops", run_unequal_loops, global_only(32, 80, 1, 4)},
      {"loop_with_break", run_loop_with_break, global_only(7, 28, 1, 4)},
      {"nested_loops", run_nested_loops, global_only(15, 15, 1, 4)},
      {"collatz", run_collatz, global_only(111, 290, 1, 4)},
      {"four_way_switch", run_four_way_switch, global_only(4, 16, 1, 4)},
      // 32 lanes, then 24, then the 12 even ones of them.
      {"short_circuit", run_short_circuit, global_only(3, 10, 1, 3)},
      {"early_return", run_early_return, global_only(1, 3, 1, 3)},
      {"continue_and_helper", run_continue_and_helper, global_only(8, 32, 1, 4)},
      {"inline_helper_twice", run_inline_helper_twice, global_only(2, 8, 1, 4)},
      {"helper_in_both_branches", run_helper_in_both_branches, global_only(2, 4, 1, 4)},
      // At descent d the lanes with t % 4 >= d load from 4 - d rows: 16 + 12 + 8 + 4 sectors.
      {"recursion", run_recursion, global_only(4, 40, 1, 4), kRecursion},
      {"recursion_loads_last", run_recursion_loads_last, global_only(4, 40, 1, 4), kRecursion},
      {"shuffle_between_loads", run_shuffle_between_loads, global_only(2, 8, 1, 4)},
      // 3 blocks, each: 2 warps fill, 6 rounds of one warp (2 loads, a store), one load at the end.
      {"barriers_in_loop", run_barriers_in_loop,
       with_shared(global_only(6, 24, 3, 3), {39, 39, 0}, {24, 24, 0}, 18)},
  };
  return cases;
}
