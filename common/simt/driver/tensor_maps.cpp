// Tensor maps, which copies of tiles go by.
#include <cuda.h>

#include <array>
#include <cstring>
#include <mutex>

#include "common/simt/driver/calls.hpp"
#include "common/simt/machine/tensor_map.hpp"

namespace simt::driver {
namespace {

using machine::TensorMap;

// 0: of types that copies of tiles do not know here.
unsigned bytes_of(CUtensorMapDataType type) {
  static constexpr std::array<std::uint8_t, 13> kBytes = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  const auto its = static_cast<std::size_t>(type);
  return its < kBytes.size() ? kBytes[its] : 0;
}

// What is wrong, as one line of stderr.
CUresult wrong(const char* what) {
  cudart::explain(what, "cuTensorMapEncodeTiled: %s", what);
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult unknown(const char* what) {
  cudart::explain(what, "cuTensorMapEncodeTiled: %s is not in the simulator", what);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  const std::lock_guard lock(cudart::turn());
  if (map == nullptr || sizes == nullptr || box == nullptr || steps == nullptr) {
    return wrong("a null pointer");
  }
  if (reinterpret_cast<std::uintptr_t>(map) % 64 != 0) {
    return wrong("the map lies at no multiple of 64");
  }
  if (rank < 1 || rank > 5) return wrong("a tensor has 1 to 5 dimensions");
  if (rank > 1 && strides == nullptr) return wrong("a null pointer");
  const unsigned bytes = bytes_of(type);
  if (bytes == 0) return unknown("a type of less than a byte");
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return unknown("an interleaved layout");
  if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return unknown("a swizzle of larger atoms");
  TensorMap made;
  made.mark = TensorMap::kMark;
  made.type = static_cast<TensorMap::Type>(type);
  made.rank = static_cast<std::uint8_t>(rank);
  made.element_bytes = static_cast<std::uint8_t>(bytes);
  made.fills_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  made.address = reinterpret_cast<std::uintptr_t>(address);
  made.width = static_cast<std::uint8_t>(swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16 << swizzle);
  if (made.address % 16 != 0) return wrong("the tensor lies at no multiple of 16 bytes");
  for (unsigned i = 0; i < rank; ++i) {
    if (sizes[i] == 0 || sizes[i] > std::uint64_t{1} << 32) {
      return wrong("a dimension has 1 to 2^32 elements");
    }
    if (box[i] == 0 || box[i] > 256) return wrong("a tile has 1 to 256 elements along a dimension");
    if (steps[i] == 0 || steps[i] > 8) return wrong("a step is 1 to 8 elements");
    made.last[i] = static_cast<std::uint32_t>(sizes[i] - 1);
    made.box[i] = static_cast<std::uint16_t>(box[i]);
    made.steps[i] = static_cast<std::uint8_t>(steps[i]);
    if (i == 0) continue;
    if (strides[i - 1] % 16 != 0 || strides[i - 1] >= std::uint64_t{1} << 40) {
      return wrong("a stride is a multiple of 16 bytes, below 2^40");
    }
    made.strides[i - 1] = strides[i - 1];
  }
  if (box[0] * bytes % 16 != 0) return wrong("a row of a tile is a multiple of 16 bytes");
  if (made.width != 0 && box[0] * bytes > made.width) {
    return wrong("a row of a tile is wider than its swizzle");
  }
  *map = {};
  std::memcpy(map->opaque, &made, sizeof made);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  if (map == nullptr || reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  TensorMap its;
  std::memcpy(static_cast<void*>(&its), map, sizeof its);
  its.address = reinterpret_cast<std::uintptr_t>(address);
  std::memcpy(map->opaque, &its, sizeof its);
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace simt::driver
