#include "common/data/paper_claims.hpp"

namespace halo::data {

const std::vector<PaperClaim>& paper_claims() {
  constexpr const char* kChangOnishi =
      "Chang et al., section 4: GTX 1080 Ti, cuDNN 7.1 (the conclusion has 5.5 for 5.6)";
  constexpr const char* kCuConv = "cuConv, section 4.1: Tesla V100-SXM2, cuDNN 7.1";
  static const std::vector<PaperClaim> claims = {
      {"07_single_channel_adaptive", {"adaptive"}, {}, "mean 2.6, from 1.5 to 5.6", kChangOnishi},
      {"08_multi_channel_stride_fixed",
       {"stride_fixed_32", "stride_fixed_64"},
       {},
       "mean 1.39, from 1.05 to 2",
       kChangOnishi},
      {"09_cuconv_two_stage",
       {"two_stage", "two_stage_simple"},
       {},
       "wins 50 of 602, mean of these 1.46",
       kCuConv},
      {"09_cuconv_two_stage",
       {"two_stage", "two_stage_simple"},
       {{"R", "1"}, {"N", "1"}},
       "mean 1.23, best 2.29",
       kCuConv},
      {"09_cuconv_two_stage",
       {"two_stage", "two_stage_simple"},
       {{"R", "5"}, {"N", "1"}},
       "mean 1.36, best 1.97",
       kCuConv},
  };
  return claims;
}

}  // namespace halo::data
