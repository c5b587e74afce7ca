// What a variant of a method computes, its filters packed before.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "common/harness/families/conv2d.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"

namespace halo::test {

// From 1 to 2, so that roundings towards zero add up.
inline std::vector<float> positive_values(std::int64_t count, std::mt19937_64& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = 1 + static_cast<float>(random() % (1 << 23)) * 0x1p-23f;
  return values;
}

// Skips where the GPU's plan refuses the layer.
inline std::vector<float> outputs_of(const Conv2dVariant& variant, const conv::ConvLayer& layer,
                                     const std::vector<float>& input,
                                     const std::vector<float>& filters, bool overlaps = false) {
  const auto backend = usable_backend();
  const auto prepared = variant.prepared(layer);
  if (!prepared.refusal.empty()) skip(prepared.refusal);
  const auto some = [](std::int64_t floats) {
    return static_cast<std::size_t>(std::max<std::int64_t>(floats, 1));
  };
  Array on_input(*backend, input.size()), on_filters(*backend, filters.size());
  Array packed(*backend, some(prepared.packed_floats));
  Array workspace(*backend, some(prepared.workspace_floats));
  Array output(*backend, static_cast<std::size_t>(layer.output_size()));
  on_input.write(input);
  on_filters.write(filters);
  if (prepared.packed_floats > 0) {
    const auto pack = [&] { return prepared.pack(on_filters.data(), packed.data()); };
    CHECK(backend->run(pack).error.empty());
  }
  CHECK(backend
            ->run([&] {
              return prepared.launch({.layer = layer,
                                      .input = on_input.data(),
                                      .filters = on_filters.data(),
                                      .output = output.data(),
                                      .workspace = workspace.data(),
                                      .packed = packed.data(),
                                      .overlaps = overlaps});
            })
            .error.empty());
  std::vector<float> found(output.size());
  output.read(found);
  return found;
}

}  // namespace halo::test
