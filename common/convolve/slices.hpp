// How many images a method in several kernels computes together, whose temporaries have a limit.
#pragma once

#include <cstdint>
#include <string>

#include "common/conv/quotient.hpp"

namespace halo::convolve {

/// Floats of temporaries that a slice may have at most, 1 GiB: as much workspace as cuDNN is given beside it.
inline constexpr std::int64_t kMostTemporaries = std::int64_t{1} << 28;

struct Slices {
  std::string refusal;      // empty: there are slices
  int images = 0;           // of a slice; the last one may have fewer
  std::int64_t floats = 0;  // its temporaries
};

/// As few slices of `all` images as possible, and all alike. temporaries(images) are the floats that so many
/// take, no fewer for more of them. Refuses an image that takes more than `most`.
template <class Temporaries>
Slices slices_of(int all, std::int64_t most, Temporaries temporaries) {
  if (temporaries(1) > most) {
    return {"the temporaries of one image are " + std::to_string(4 * temporaries(1)) +
                " bytes, more than " + std::to_string(4 * most),
            0, 0};
  }
  std::int64_t slices = 1;
  while (temporaries(quotient_up(all, slices)) > most) ++slices;
  const std::int64_t images = quotient_up(all, slices);
  return {{}, static_cast<int>(images), temporaries(images)};
}

/// For people: the blocks of the products, and a slice's images and temporaries.
inline std::string described(int filters, int tiles, int images, std::int64_t floats) {
  return "blocks of " + std::to_string(filters) + " filters x " + std::to_string(tiles) +
         " tiles, " + std::to_string(images) + (images == 1 ? " image" : " images") +
         " at a time, " + std::to_string(floats * 4) + " bytes of temporaries";
}

}  // namespace halo::convolve
