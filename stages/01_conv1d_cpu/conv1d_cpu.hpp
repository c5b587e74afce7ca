// Stage 01: 1D convolution on the CPU.
//
// All compute, for first <= i < last and with halo = (width - 1) / 2,
//     output[i] = sum over j of mask[j] * input[i - halo + j],   cells beyond the ends are zero.
// input[n], mask[width], output[n] in host memory; n >= 1, width odd, 0 <= first, last <= n;
// outputs outside [first, last) are left alone.
#pragma once

namespace halo::conv1d_cpu {

void loop(const float* input, const float* mask, float* output, int n, int width, int first,
          int last);

void simd(const float* input, const float* mask, float* output, int n, int width, int first,
          int last);

// As simd, on `threads` threads, 1 or more.
void threaded(const float* input, const float* mask, float* output, int n, int width, int first,
              int last, int threads);

// As threaded; width <= conv::kMaxMaskWidth.
void streaming(const float* input, const float* mask, float* output, int n, int width, int first,
               int last, int threads);
void shared_loads(const float* input, const float* mask, float* output, int n, int width, int first,
                  int last, int threads);

}  // namespace halo::conv1d_cpu
