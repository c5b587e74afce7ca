// A layer as Winograd's method computes it: F(4x4, 3x3) of Lavin & Gray ("Fast Algorithms for
// Convolutional Neural Networks", section 4.2), all of it in float, for stride 1 and filters of 3x3.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "common/conv/layer.hpp"
#include "tests/conv/plain_layer.hpp"

namespace halo::test {

struct WinogradLayer {
  std::int64_t dropped_channel = -1;  // left out of the sum over channels

  using Tile = std::array<std::array<float, 6>, 6>;

  // M X M^T, [rows][rows], of a matrix M [rows][columns] and X [columns][columns].
  template <int rows, int columns>
  static Tile both_sides(const float (&m)[rows][columns], const Tile& x) {
    Tile half{};
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        for (int k = 0; k < columns; ++k) half[i][j] += m[i][k] * x[k][j];
      }
    }
    Tile whole{};
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) {
        for (int k = 0; k < columns; ++k) whole[i][j] += half[i][k] * m[j][k];
      }
    }
    return whole;
  }

  std::vector<float> run(const conv::ConvLayer& layer, const LayerData& data) const {
    static constexpr float kInput[6][6] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0},
                                           {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0},
                                           {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
    static constexpr float kFilter[6][3] = {
        {1.0f / 4, 0, 0},
        {-1.0f / 6, -1.0f / 6, -1.0f / 6},
        {-1.0f / 6, 1.0f / 6, -1.0f / 6},
        {1.0f / 24, 1.0f / 12, 1.0f / 6},
        {1.0f / 24, -1.0f / 12, 1.0f / 6},
        {0, 0, 1},
    };
    static constexpr float kOutput[4][6] = {
        {1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};
    const std::int64_t C = layer.C(), H = layer.H(), W = layer.W(), K = layer.K();
    const std::int64_t P = layer.P(), Q = layer.Q();
    std::vector<Tile> filters(static_cast<std::size_t>(K * C));
    for (std::size_t at = 0; at < filters.size(); ++at) {
      Tile taps{};
      for (std::size_t tap = 0; tap < 9; ++tap) taps[tap / 3][tap % 3] = data.filters[at * 9 + tap];
      filters[at] = both_sides(kFilter, taps);
    }
    std::vector<float> output(static_cast<std::size_t>(layer.output_size()));
    std::vector<Tile> inputs(static_cast<std::size_t>(C));
    for (std::int64_t n = 0; n < layer.N(); ++n) {
      for (std::int64_t p = 0; p < P; p += 4) {
        for (std::int64_t q = 0; q < Q; q += 4) {
          for (std::int64_t c = 0; c < C; ++c) {
            Tile cells{};
            for (std::int64_t i = 0; i < 36; ++i) {
              const std::int64_t h = p + i / 6 - layer.padding_h();
              const std::int64_t w = q + i % 6 - layer.padding_w();
              if (h < 0 || h >= H || w < 0 || w >= W) continue;
              cells[static_cast<std::size_t>(i / 6)][static_cast<std::size_t>(i % 6)] =
                  data.input[static_cast<std::size_t>(((n * C + c) * H + h) * W + w)];
            }
            inputs[static_cast<std::size_t>(c)] = both_sides(kInput, cells);
          }
          for (std::int64_t k = 0; k < K; ++k) {
            Tile sum{};
            for (std::int64_t c = 0; c < C; ++c) {
              if (c == dropped_channel) continue;
              const Tile& filter = filters[static_cast<std::size_t>(k * C + c)];
              for (std::size_t i = 0; i < 36; ++i) {
                sum[i / 6][i % 6] +=
                    filter[i / 6][i % 6] * inputs[static_cast<std::size_t>(c)][i / 6][i % 6];
              }
            }
            const Tile tile = both_sides(kOutput, sum);
            for (std::int64_t i = 0; i < std::min<std::int64_t>(4, P - p); ++i) {
              for (std::int64_t j = 0; j < std::min<std::int64_t>(4, Q - q); ++j) {
                output[static_cast<std::size_t>(((n * K + k) * P + p + i) * Q + q + j)] =
                    tile[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
              }
            }
          }
        }
      }
    }
    return output;
  }
};

}  // namespace halo::test
