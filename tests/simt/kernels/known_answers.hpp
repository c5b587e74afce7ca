// The kernels of known_answers.cu: each function launches one kernel once and returns true if its
// values came out right.
#pragma once

namespace known_answers {

bool run_conv1d_mask_global();
bool run_conv1d_mask_constant();
bool run_conv1d_tile_and_halo();
bool run_transpose_global();
bool run_transpose_tile_32();
bool run_transpose_tile_33();
bool run_reverse_float4();
bool run_softmax_three_passes();
bool run_conv3x3_zero_padded();

}  // namespace known_answers
