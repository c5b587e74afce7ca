// Steps that the next ones begin with: near the ends 2_simd computes as 1_loop, and each of 3_threads'
// threads as 2_simd.
#pragma once

namespace halo::conv1d_cpu {

// For first <= i < last: output[i] = sum over j of mask[j] * input[i - halo + j], as step 1 or 2.
void loop_kernel(const float* input, const float* mask, float* output, int n, int width, int first,
                 int last);
void simd_kernel(const float* input, const float* mask, float* output, int n, int width, int first,
                 int last);

}  // namespace halo::conv1d_cpu
