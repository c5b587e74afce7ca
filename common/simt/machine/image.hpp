// What a texture or surface object stands for: texels in memory, and how they are read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace simt::machine {

struct Image {
  enum class Values : std::uint8_t { whole, with_sign, floating };
  /// PTX ISA 5.3: where a coordinate outside leads.
  enum class Outside : std::uint8_t { wrap, mirror, clamp, border };
  /// Texels in rows in planes; the planes of layers and of a cube's faces are the layers'.
  struct Level {
    std::byte* texels = nullptr;
    std::uint32_t width = 1, height = 1, depth = 1;
    std::size_t row_bytes = 0, plane_bytes = 0;
  };

  std::vector<Level> levels;  // of a mipmap more than one
  std::array<int, 4> bits{};  // of each channel; 0: it has none
  Values values = Values::floating;
  bool is_freed = false;          // its memory
  bool is_linear_memory = false;  // fetched by index: there is nothing outside
  bool is_array = false;          // written by surfaces only
  std::array<Outside, 3> outside{Outside::clamp, Outside::clamp, Outside::clamp};
  bool filters = false;         // else the nearest texel
  bool filters_levels = false;  // else the nearest level
  bool is_normalised = false;   // coordinates of 0 to 1
  bool scales = false;          // whole numbers become 0 to 1, or -1 to 1
  bool is_srgb = false;
  std::array<float, 4> border{};
  float level_bias = 0, least_level = 0, greatest_level = 0;

  std::size_t texel_bytes() const {
    return static_cast<std::size_t>(bits[0] + bits[1] + bits[2] + bits[3]) / 8;
  }
};

/// By the object's number, as kernels have it.
using Images = std::map<std::uint64_t, Image>;

}  // namespace simt::machine
