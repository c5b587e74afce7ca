// Memory that is larger than it costs: values, over and over, of which a page is there once it is written.
#pragma once

#include <cstddef>
#include <span>

namespace simt::memory {

/// Puts them behind `bytes` from `begin` on, in place of what was there. Both are of whole pages. False where that fails.
bool map_repeated(void* begin, std::size_t bytes, std::span<const std::byte> values);

}  // namespace simt::memory
