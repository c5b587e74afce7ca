// The two kernels of the FFT peers that are ours: planes are cut out of images, and outputs out of
// planes. Private to the peers; nvcc need not read the harness.
//
// Planes are real, [plane][rows][pitch], of which the first `columns` cells of a row are used. Both
// work on the thread's default stream, return the launch's CUDA error code and do not wait.
#pragma once

namespace halo::peers {

/// What is cut into planes. Plane number ((image * tiles_down + y) * tiles_across + x) * channels + c
/// is the tile in row y and column x of a channel.
struct FftTiles {
  int rows, columns, pitch;  // of a plane
  int tiles_down, tiles_across;
  int step_h, step_w;    // from one tile to the next
  int images, channels;  // of this pass
};

/// Tiles of images[images][channels][H][W], beginning padding_h rows above and padding_w columns left
/// of the image: the planes first ... first + count - 1, written to planes[count][rows][pitch]. Cells
/// beyond the image, and planes that do not exist, become zero.
int fft_pad(const FftTiles& tiles, const float* images, int H, int W, int padding_h, int padding_w,
            float* planes, int first, int count);

/// Outputs from planes[count][rows][pitch], which are the planes first ... first + count - 1, times
/// `scale`: those of tile (y, x) are the outputs y * step_h, ... and x * step_w, ... of
/// outputs[images][all_channels][P][Q], beginning with result[0][0] and going round at the plane's
/// edge. all_channels >= channels: where the pass has only some of them. Planes that do not exist are
/// left out.
int fft_crop(const FftTiles& tiles, const float* planes, int first, int count, float scale,
             float* outputs, int all_channels, int P, int Q);

}  // namespace halo::peers
