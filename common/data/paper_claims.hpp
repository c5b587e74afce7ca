// What the papers say of their own methods over whole sets of layers, to be set beside what was
// measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace halo::data {

struct PaperClaim {
  std::string stage;  // 09_cuconv_two_stage
  std::vector<std::string>
      variants;  // those that are the paper's method, not what it argues against
  // The layers it is about, as fields of a problem: {{"R", "1"}, {"N", "1"}}. Empty: all of them.
  std::vector<std::pair<std::string, std::string>> layers;
  std::string claim;   // in few words: "mean 1.23, best 2.29"
  std::string source;  // "cuConv, section 4.1: Tesla V100-SXM2, cuDNN 7.1"
};

/// All of them.
const std::vector<PaperClaim>& paper_claims();

}  // namespace halo::data
