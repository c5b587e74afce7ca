#include <cuda_runtime.h>

#include "common/peers/fft_signal.hpp"

namespace halo::peers {

namespace {

constexpr int kThreads = 256;

// Blocks for so many threads.
unsigned blocks_for(long long threads) {
  return static_cast<unsigned>((threads - 1) / kThreads + 1);
}

__global__ void ends_kernel(SignalTiles tiles, const float* input,  // [n]
                            int n, float* ends) {                   // [gridDim.y][cells]
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (place >= tiles.cells) return;
  const int number = static_cast<int>(blockIdx.y);
  const int tile = number == 0 ? 0 : tiles.inner + number;
  const long long start = tile == 0 ? 0 : tiles.first_step + (tile - 1LL) * tiles.step;
  const long long cell = start - tiles.halo + place;
  ends[static_cast<long long>(number) * tiles.cells + place] =
      cell >= 0 && cell < n ? input[cell] : 0.0f;
}

__global__ void multiply_kernel(float2* spectra,     // [numbers]
                                const float2* mask,  // [frequencies]
                                long long numbers, int frequencies, float scale) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= numbers) return;
  const float2 a = spectra[i], b = mask[i % frequencies];
  spectra[i] = {scale * (a.x * b.x + a.y * b.y), scale * (a.y * b.x - a.x * b.y)};
}

__global__ void outputs_kernel(SignalTiles tiles, const float* planes,  // [count][pitch]
                               int pitch, float* output, int first, int last) {
  const long long i = first + static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= last) return;
  // SignalTiles::slot and start, on the device.
  const long long behind = i - tiles.first_step;
  const int tile = behind < 0 ? 0 : static_cast<int>(behind / tiles.step) + 1;
  const int slot = tile == 0 ? tiles.inner : tile <= tiles.inner ? tile - 1 : tile;
  output[i] = planes[static_cast<long long>(slot) * pitch + (tile == 0 ? i : behind % tiles.step)];
}

}  // namespace

int fft_signal_ends(const SignalTiles& tiles, const float* input, int n, float* ends) {
  const dim3 blocks(blocks_for(tiles.cells), static_cast<unsigned>(tiles.count - tiles.inner));
  ends_kernel<<<blocks, kThreads, 0, cudaStreamPerThread>>>(tiles, input, n, ends);
  return cudaGetLastError();
}

int fft_signal_multiply(float* spectra, const float* mask, int count, int frequencies,
                        float scale) {
  const long long numbers = static_cast<long long>(count) * frequencies;
  multiply_kernel<<<blocks_for(numbers), kThreads, 0, cudaStreamPerThread>>>(
      reinterpret_cast<float2*>(spectra), reinterpret_cast<const float2*>(mask), numbers,
      frequencies, scale);
  return cudaGetLastError();
}

int fft_signal_outputs(const SignalTiles& tiles, const float* planes, int pitch, float* output,
                       int first, int last) {
  if (first >= last) return cudaSuccess;
  outputs_kernel<<<blocks_for(last - first), kThreads, 0, cudaStreamPerThread>>>(
      tiles, planes, pitch, output, first, last);
  return cudaGetLastError();
}

}  // namespace halo::peers
