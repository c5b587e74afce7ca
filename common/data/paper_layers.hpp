// The texts of common/data/layers, as the build compiled them in. Not for use outside this room.
#pragma once

#include <span>
#include <string_view>

namespace halo::data {

struct PaperLayers {
  std::string_view name;  // of the file, without ".csv"
  std::string_view csv;   // the whole file
};

/// One for each file of common/data/layers, in the order of the build description.
std::span<const PaperLayers> paper_layers();

}  // namespace halo::data
