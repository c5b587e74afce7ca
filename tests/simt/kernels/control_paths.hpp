// The kernels of control_paths.cu: each function launches one kernel once and returns true if its
// values came out right.
#pragma once

namespace control_paths {

bool run_if_else();
bool run_some_then_all();
bool run_unequal_loops();
bool run_loop_with_break();
bool run_nested_loops();
bool run_collatz();
bool run_four_way_switch();
bool run_short_circuit();
bool run_early_return();
bool run_continue_and_helper();
bool run_inline_helper_twice();
bool run_helper_in_both_branches();
bool run_recursion();
bool run_recursion_loads_last();
bool run_shuffle_between_loads();
bool run_barriers_in_loop();

}  // namespace control_paths
