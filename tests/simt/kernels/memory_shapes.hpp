// The kernels of memory_shapes.cu: each function launches one kernel once and returns true if its
// values came out right.
#pragma once

namespace memory_shapes {

bool run_offset_by_one();
bool run_first_eight_lanes();
bool run_odd_lanes();
bool run_broadcast();
bool run_strided();
bool run_eight_lanes_share_a_cell();
bool run_read_only_cache();
bool run_volatile_pointers();
bool run_device_variable();
bool run_copy_uchar();
bool run_copy_short();
bool run_copy_uchar2();
bool run_copy_char4();
bool run_copy_short4();
bool run_copy_long_long();
bool run_copy_double();
bool run_copy_float2();
bool run_copy_float3();
bool run_copy_float4();
bool run_copy_int4();
bool run_copy_double2();
bool run_copy_33_threads();
bool run_copy_1000_threads();
bool run_copy_8x4x2_threads();
bool run_copy_5x7_threads();
bool run_z_runs_fastest_in_memory();
bool run_grid_stride();
bool run_reverse_dynamic_64_kib();
bool run_shared_double_stride_two();
bool run_constant_one_address();
bool run_constant_16_addresses();
bool run_constant_32_addresses();
bool run_atomic_global_distinct();
bool run_atomic_global_same();
bool run_atomic_global_swap();
bool run_atomic_shared_histogram();

}  // namespace memory_shapes
