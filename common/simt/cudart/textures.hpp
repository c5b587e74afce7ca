// Texture and surface objects.
#pragma once

#include "common/simt/machine/image.hpp"

namespace simt::cudart {

/// As kernels see them.
const machine::Images& images();
/// Memory that is given back: objects of it are no longer any.
void free_images(const std::byte* memory, std::size_t bytes);
/// As cudaDeviceReset does.
void forget_textures();

}  // namespace simt::cudart
