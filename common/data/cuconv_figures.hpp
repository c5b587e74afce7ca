// What cuConv's authors published for single layers (common/data/published/cuconv.csv, which names the
// source), beside which our measurements are set.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/conv/layer.hpp"

namespace halo::data {

/// One line of cuConv's Tables 3 to 5: microseconds on a Tesla V100.
struct CuconvFigures {
  int table;
  conv::ConvLayer layer;
  double cuconv_us;        // "Our impl.", all its kernels together
  double best_cudnn_us;    // the fastest cuDNN algorithm that the table lists,
  std::string best_cudnn;  // and its name
};

/// All lines, in the paper's order.
const std::vector<CuconvFigures>& all_cuconv_figures();

/// The line of a layer, if the paper has one.
std::optional<CuconvFigures> cuconv_figures(const conv::ConvLayer& layer);

/// The text of the file. Not for use outside this room.
std::string_view cuconv_figures_csv();

}  // namespace halo::data
