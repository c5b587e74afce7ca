// A layer's data on the host and in a backend's memory, which checks and timing share. Private to the
// harness.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/harness/conv2d.hpp"
#include "common/harness/verify.hpp"

namespace halo {

// A layer with its data. Only one period of them is held: a batch of images that is many times as
// large as any of them never exists on the host.
struct Conv2dData {
  conv::ConvLayer layer;
  conv::Repeat repeat;
  std::vector<float> input;    // [images][C][H][W], all N images without a repeat
  std::vector<float> filters;  // [filters][C][R][S], all K filters without a repeat

  // The whole arrays, [N][C][H][W] and [K][C][R][S].
  std::vector<float> all_input() const;
  std::vector<float> all_filters() const;
};

Conv2dData adversarial_data(const conv::ConvLayer& layer, std::uint64_t seed,
                            conv::Repeat repeat = {});
Conv2dData exact_data(const conv::ConvLayer& layer, std::uint64_t seed);

// The arrays of one layer in the backend's memory.
struct Conv2dArrays {
  Conv2dArrays(Backend& backend, const conv::ConvLayer& layer);

  KeptArray kept_input(const Conv2dData& data) { return {"input", &input, data.input}; }
  KeptArray kept_filters(const Conv2dData& data) { return {"filters", &filters, data.filters}; }
  void write(const Conv2dData& data);

  Array input;    // [N][C][H][W], to be written
  Array filters;  // [K][C][R][S], to be written
  Array output;   // [N][K][P][Q]
  Conv2dCall call;
};

// The floats that a call of the variant needs besides; 0 if none.
std::int64_t workspace_floats(const Conv2dVariant& variant, const conv::ConvLayer& layer);

// check_layer with the arrays given: they hold the data. `checker` judges by variant.demand. `outputs`
// gets the results, [N][K][P][Q], if it is not null.
void check_layer(const Conv2dVariant& variant, Backend& backend, const Conv2dData& data,
                 const conv::LayerChecker& checker, Conv2dArrays& arrays, Row& row,
                 std::vector<float>* outputs = nullptr);

}  // namespace halo
