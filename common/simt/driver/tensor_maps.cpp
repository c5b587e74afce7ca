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

// What all kinds of maps have, looked at.
class Encoding {
 public:
  Encoding(const char* name, CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
           void* address)
      : name_(name), map_(map), type_(type), rank_(rank) {
    made.mark = TensorMap::kMark;
    made.type = static_cast<TensorMap::Type>(type);
    made.rank = static_cast<std::uint8_t>(rank);
    made.element_bytes = static_cast<std::uint8_t>(bytes_of(type));
    made.address = reinterpret_cast<std::uintptr_t>(address);
  }

  /// What is wrong, as one line of stderr.
  CUresult wrong(const char* what) const {
    cudart::explain(what, "%s: %s", name_, what);
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUresult unknown(const char* what) const {
    cudart::explain(what, "%s: %s is not in the simulator", name_, what);
    return CUDA_ERROR_NOT_SUPPORTED;
  }

  CUresult tensor(unsigned least_rank, const cuuint64_t* sizes, const cuuint64_t* strides,
                  const cuuint32_t* steps, CUtensorMapInterleave interleave,
                  CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill) {
    if (map_ == nullptr || sizes == nullptr || steps == nullptr) return wrong("a null pointer");
    if (reinterpret_cast<std::uintptr_t>(map_) % 64 != 0) {
      return wrong("the map lies at no multiple of 64");
    }
    if (rank_ < least_rank || rank_ > 5) {
      return wrong(least_rank == 1 ? "a tensor has 1 to 5 dimensions"
                                   : "a tensor of pixels has 3 to 5 dimensions");
    }
    if (rank_ > 1 && strides == nullptr) return wrong("a null pointer");
    if (bytes_of(type_) == 0) return unknown("a type of less than a byte");
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return unknown("an interleaved layout");
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return unknown("a swizzle of larger atoms");
    made.fills_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    made.width =
        static_cast<std::uint8_t>(swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16 << swizzle);
    if (made.address % 16 != 0) return wrong("the tensor lies at no multiple of 16 bytes");
    for (unsigned i = 0; i < rank_; ++i) {
      if (sizes[i] == 0 || sizes[i] > std::uint64_t{1} << 32) {
        return wrong("a dimension has 1 to 2^32 elements");
      }
      if (steps[i] == 0 || steps[i] > 8) return wrong("a step is 1 to 8 elements");
      made.last[i] = static_cast<std::uint32_t>(sizes[i] - 1);
      made.steps[i] = static_cast<std::uint8_t>(steps[i]);
      if (i == 0) continue;
      if (strides[i - 1] % 16 != 0 || strides[i - 1] >= std::uint64_t{1} << 40) {
        return wrong("a stride is a multiple of 16 bytes, below 2^40");
      }
      made.strides[i - 1] = strides[i - 1];
    }
    return CUDA_SUCCESS;
  }
  CUresult tile(unsigned row_elements) {
    const unsigned bytes = row_elements * bytes_of(type_);
    if (bytes % 16 != 0) return wrong("a row of a tile is a multiple of 16 bytes");
    if (made.width != 0 && bytes > made.width) {
      return wrong("a row of a tile is wider than its swizzle");
    }
    *map_ = {};
    std::memcpy(map_->opaque, &made, sizeof made);
    return CUDA_SUCCESS;
  }

  TensorMap made;

 private:
  const char* name_;
  CUtensorMap* map_;
  CUtensorMapDataType type_;
  unsigned rank_;
};

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  const std::lock_guard lock(cudart::turn());
  Encoding its(__func__, map, type, rank, address);
  if (box == nullptr) return its.wrong("a null pointer");
  const CUresult status = its.tensor(1, sizes, strides, steps, interleave, swizzle, fill);
  if (status != CUDA_SUCCESS) return status;
  for (unsigned i = 0; i < rank; ++i) {
    if (box[i] == 0 || box[i] > 256) {
      return its.wrong("a tile has 1 to 256 elements along a dimension");
    }
    its.made.box[i] = static_cast<std::uint16_t>(box[i]);
  }
  return its.tile(box[0]);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  const std::lock_guard lock(cudart::turn());
  Encoding its(__func__, map, type, rank, address);
  if (lower == nullptr || upper == nullptr) return its.wrong("a null pointer");
  const CUresult status = its.tensor(3, sizes, strides, steps, interleave, swizzle, fill);
  if (status != CUDA_SUCCESS) return status;
  if (channels == 0 || channels > 256) return its.wrong("a tile has 1 to 256 channels");
  if (pixels == 0 || pixels > 1024) return its.wrong("a tile has 1 to 1024 pixels");
  // Corners have 16 bits in all.
  const int beyond = rank == 3 ? 1 << 15 : rank == 4 ? 1 << 7 : 1 << 4;
  for (unsigned i = 0; i + 2 < rank; ++i) {
    if (lower[i] < -beyond || lower[i] >= beyond || upper[i] < -beyond || upper[i] >= beyond) {
      return its.wrong(
          "a corner of the box is -2^15 to 2^15 - 1, with two axes 2^7, with three 2^4");
    }
    its.made.lower[i] = static_cast<std::int16_t>(lower[i]);
    its.made.upper[i] = static_cast<std::int16_t>(upper[i]);
  }
  its.made.is_im2col = true;
  its.made.box[0] = static_cast<std::uint16_t>(channels);
  its.made.pixels = static_cast<std::uint16_t>(pixels);
  return its.tile(channels);
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
