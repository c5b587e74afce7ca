// Texture and surface objects.
#pragma once

#include "common/simt/machine/image.hpp"

namespace simt::cudart {

/// As kernels see them.
const machine::Images& images();
/// As cudaDeviceReset does.
void forget_textures();

}  // namespace simt::cudart
