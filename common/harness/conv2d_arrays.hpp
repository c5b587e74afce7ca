// A layer's data on the host and in a backend's memory, which checks and timing share. Private to the
// harness.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

  // The whole arrays, [N][C][H][W] or [C][H][W][N] and [K][C][R][S].
  std::vector<float> all_input(conv::Layout layout = conv::Layout::nchw) const;
  std::vector<float> all_filters() const;
};

Conv2dData adversarial_data(const conv::ConvLayer& layer, std::uint64_t seed,
                            conv::Repeat repeat = {});
Conv2dData exact_data(const conv::ConvLayer& layer, std::uint64_t seed);

// The arrays of one layer in the backend's memory: filters and output, and the input in each layout
// that was asked for.
class Conv2dArrays {
 public:
  // With the filters written. Keeps a view of the data, which must outlive it.
  Conv2dArrays(Backend& backend, const Conv2dData& data);

  KeptArray input(conv::Layout layout);
  KeptArray filters() { return {"filters", &filters_, data_.filters}; }
  Array& output() { return output_; }
  Conv2dCall call(conv::Layout layout);  // without a workspace

 private:
  // [N][C][H][W] is one period of the data over and over, [C][H][W][N] has none.
  struct Chwn {
    Chwn(Backend& backend, const Conv2dData& data);
    std::vector<float> values;
    Array array;
  };

  Backend& backend_;
  const Conv2dData& data_;
  Array filters_;
  Array output_;
  std::optional<Array> nchw_;
  std::optional<Chwn> chwn_;
};

// The floats that a call of the variant needs besides; 0 if none.
std::int64_t workspace_floats(const Conv2dVariant& variant, const conv::ConvLayer& layer);

// check_layer with the arrays given: they hold the data. `checker` judges by the variant's demand, in its
// layout. `outputs` gets the results, [N][K][P][Q], if it is not null.
void check_layer(const Conv2dVariant& variant, Backend& backend, const Conv2dData& data,
                 const conv::LayerChecker& checker, Conv2dArrays& arrays, Row& row,
                 std::vector<float>* outputs = nullptr);

}  // namespace halo
