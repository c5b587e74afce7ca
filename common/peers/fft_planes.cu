// Cuts planes for Fourier transforms out of images, and outputs out of planes: see fft_planes.hpp.
#include <cuda_runtime.h>

#include "common/peers/fft_planes.hpp"

namespace halo::peers {

namespace {

constexpr int kThreads = 256;

// A plane's number taken apart.
struct Place {
  int image, y, x, channel;
};

__device__ Place place_of(const FftTiles& tiles, int plane) {
  Place place;
  place.channel = plane % tiles.channels;
  int rest = plane / tiles.channels;
  place.x = rest % tiles.tiles_across;
  rest /= tiles.tiles_across;
  place.y = rest % tiles.tiles_down;
  place.image = rest / tiles.tiles_down;
  return place;
}

__device__ int planes_of(const FftTiles& tiles) {
  return tiles.images * tiles.tiles_down * tiles.tiles_across * tiles.channels;
}

// A row of a plane for each threadIdx.y: the divisions above are made once a row, not once a cell.
// Preconditions: gridDim.x * blockDim.y >= count * rows.
__global__ void __launch_bounds__(kThreads)
    pad_kernel(FftTiles tiles,
               const float* images,  // [tiles.images][tiles.channels][H][W]
               int H, int W, int padding_h, int padding_w,
               float* planes,  // [count][tiles.rows][tiles.pitch]
               int first, int count) {
  const int line = blockIdx.x * blockDim.y + threadIdx.y;
  if (line >= count * tiles.rows) return;
  const int plane = first + line / tiles.rows;
  const float* row = nullptr;  // of the image; null: all ghost cells
  int left = 0;                // column of the image where the plane begins
  if (plane < planes_of(tiles)) {
    const Place place = place_of(tiles, plane);
    const int y = place.y * tiles.step_h + line % tiles.rows - padding_h;
    left = place.x * tiles.step_w - padding_w;
    if (y >= 0 && y < H)
      row = images + ((place.image * tiles.channels + place.channel) * H + y) * W;
  }
  float* const to = planes + line * tiles.pitch;
  for (int j = threadIdx.x; j < tiles.columns; j += blockDim.x) {
    const int x = left + j;
    to[j] = row != nullptr && x >= 0 && x < W ? row[x] : 0.0f;
  }
}

// An output's row for each threadIdx.y.
// Preconditions: gridDim.x * blockDim.y >= count * step_h; step_h < 2 * rows, step_w < 2 * columns.
__global__ void __launch_bounds__(kThreads)
    crop_kernel(FftTiles tiles,
                const float* planes,  // [count][tiles.rows][tiles.pitch]
                int first, int count, float scale,
                float* outputs,  // [tiles.images][all_channels][P][Q]
                int all_channels, int P, int Q) {
  const int line = blockIdx.x * blockDim.y + threadIdx.y;
  const int i = line % tiles.step_h;
  const int plane = line / tiles.step_h;
  if (plane >= count || first + plane >= planes_of(tiles)) return;
  const Place place = place_of(tiles, first + plane);
  const int p = place.y * tiles.step_h + i;
  if (p >= P) return;
  const int wrapped = i < tiles.rows ? i : i - tiles.rows;
  const float* const from = planes + (plane * tiles.rows + wrapped) * tiles.pitch;
  float* const to = outputs + ((place.image * all_channels + place.channel) * P + p) * Q;
  const int left = place.x * tiles.step_w;
  for (int j = threadIdx.x; j < tiles.step_w && left + j < Q; j += blockDim.x) {
    to[left + j] = scale * from[j < tiles.columns ? j : j - tiles.columns];
  }
}

// As many threads along a row as it has cells, but no more than a warp.
dim3 block_for(int cells) {
  int across = 32;
  while (across > 4 && across / 2 >= cells) across /= 2;
  return dim3(across, kThreads / across);
}

int blocks_for(int lines, dim3 block) {
  return static_cast<int>((lines + static_cast<int>(block.y) - 1) / static_cast<int>(block.y));
}

}  // namespace

int fft_pad(const FftTiles& tiles, const float* images, int H, int W, int padding_h, int padding_w,
            float* planes, int first, int count) {
  const dim3 block = block_for(tiles.columns);
  pad_kernel<<<blocks_for(count * tiles.rows, block), block, 0, cudaStreamPerThread>>>(
      tiles, images, H, W, padding_h, padding_w, planes, first, count);
  return cudaGetLastError();
}

int fft_crop(const FftTiles& tiles, const float* planes, int first, int count, float scale,
             float* outputs, int all_channels, int P, int Q) {
  const dim3 block = block_for(tiles.step_w);
  crop_kernel<<<blocks_for(count * tiles.step_h, block), block, 0, cudaStreamPerThread>>>(
      tiles, planes, first, count, scale, outputs, all_channels, P, Q);
  return cudaGetLastError();
}

}  // namespace halo::peers
