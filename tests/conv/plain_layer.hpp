// A layer as a plain kernel computes it: in float, output by output, product by product, with knobs
// that make it wrong. It shares no code with the reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/layer.hpp"

namespace halo::test {

struct LayerData {
  std::vector<float> input, filters;
};

struct PlainLayer {
  // Other orders of the sum, equally right.
  bool backward = false;
  bool fused = false;
  // Mistakes. A product is c*R*S + r*S + s; `only_output` restricts what happens to it to one.
  std::int64_t dropped_product = -1;
  std::int64_t doubled_product = -1;
  std::int64_t only_output = -1;
  bool flipped_rows = false;
  bool flipped_columns = false;
  bool filter_transposed = false;        // [s][r] for [r][s], in memory of the right size
  bool filter_channels_last = false;     // [K][R][S][C] for [K][C][R][S]
  bool filter_first_is_channel = false;  // [C][K][R][S] for [K][C][R][S]
  bool input_transposed = false;         // [N][C][W][H] for [N][C][H][W]
  bool input_channels_last = false;      // [N][H][W][C]
  bool input_batch_last = false;         // [C][H][W][N]
  bool output_filters_first = false;     // [K][N][P][Q]
  bool output_transposed = false;        // [N][K][Q][P]
  bool first_image_only = false;
  bool clamps = false;         // the nearest cell in place of a ghost cell
  bool wraps = false;          // the cell of the row before or behind in place of a ghost cell
  int down = 0;                // everything is looked up so many rows further down,
  int right = 0;               // columns further right,
  int channels_on = 0;         // channels on,
  int filters_on = 0;          // filters on,
  int images_on = 0;           // images on
  std::int64_t unwritten = 0;  // outputs left out at the end
  // In place of the layer's own, if not below 0.
  int stride_h = -1, stride_w = -1, padding_h = -1, padding_w = -1;

  std::vector<float> run(const conv::ConvLayer& layer, const LayerData& data) const {
    const std::int64_t N = layer.N(), C = layer.C(), H = layer.H(), W = layer.W(), K = layer.K();
    const std::int64_t R = layer.R(), S = layer.S(), P = layer.P(), Q = layer.Q();
    const std::int64_t u = stride_h < 0 ? layer.stride_h() : stride_h;
    const std::int64_t v = stride_w < 0 ? layer.stride_w() : stride_w;
    const std::int64_t a = padding_h < 0 ? layer.padding_h() : padding_h;
    const std::int64_t b = padding_w < 0 ? layer.padding_w() : padding_w;
    std::vector<float> output(static_cast<std::size_t>(N * K * P * Q), conv::poison());
    std::int64_t computed = 0;
    for (std::int64_t n = 0; n < N; ++n) {
      for (std::int64_t k = 0; k < K; ++k) {
        for (std::int64_t p = 0; p < P; ++p) {
          for (std::int64_t q = 0; q < Q; ++q, ++computed) {
            if (computed >= N * K * P * Q - unwritten) continue;
            const bool is_wrong = only_output < 0 || only_output == computed;
            float sum = 0;
            for (std::int64_t step = 0; step < C * R * S; ++step) {
              const std::int64_t product = backward ? C * R * S - 1 - step : step;
              if (is_wrong && product == dropped_product) continue;
              const std::int64_t c = product / (R * S), r = product / S % R, s = product % S;
              std::int64_t h = p * u - a + r + down;
              std::int64_t w = q * v - b + s + right;
              if (clamps) {
                h = std::clamp<std::int64_t>(h, 0, H - 1);
                w = std::clamp<std::int64_t>(w, 0, W - 1);
              }
              if (!wraps && (h < 0 || h >= H || w < 0 || w >= W)) continue;
              const std::int64_t image = first_image_only ? 0 : (n + images_on) % N;
              const std::int64_t channel = (c + channels_on) % C;
              std::int64_t cell = ((image * C + channel) * H + h) * W + w;
              if (input_transposed) cell = ((image * C + channel) * W + w) * H + h;
              if (input_channels_last) cell = ((image * H + h) * W + w) * C + channel;
              if (input_batch_last) cell = ((channel * H + h) * W + w) * N + image;
              if (cell < 0 || cell >= N * C * H * W) continue;
              const std::int64_t filter = (k + filters_on) % K;
              const std::int64_t row = flipped_rows ? R - 1 - r : r;
              const std::int64_t column = flipped_columns ? S - 1 - s : s;
              std::int64_t tap = ((filter * C + c) * R + row) * S + column;
              if (filter_transposed) tap = ((filter * C + c) * S + column) * R + row;
              if (filter_channels_last) tap = ((filter * R + row) * S + column) * C + c;
              if (filter_first_is_channel) tap = ((c * K + filter) * R + row) * S + column;
              const float x = data.input[static_cast<std::size_t>(cell)];
              const float y = data.filters[static_cast<std::size_t>(tap)];
              for (int times = is_wrong && product == doubled_product ? 2 : 1; times > 0; --times) {
                sum = fused ? std::fma(x, y, sum) : sum + x * y;
              }
            }
            std::int64_t at = ((n * K + k) * P + p) * Q + q;
            if (output_filters_first) at = ((k * N + n) * P + p) * Q + q;
            if (output_transposed) at = ((n * K + k) * Q + q) * P + p;
            output[static_cast<std::size_t>(at)] = sum;
          }
        }
      }
    }
    return output;
  }
};

}  // namespace halo::test
