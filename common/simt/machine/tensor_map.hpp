// What a tensor map holds here (CUtensorMap, whose 128 bytes are opaque to programs): cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col make it, copies of tiles read it, tensormap.replace changes it.
#pragma once

#include <cstdint>

namespace simt::machine {

struct TensorMap {
  static constexpr std::uint32_t kMark = 0x7a3d'11e5;
  /// As CUtensorMapDataType numbers them.
  enum class Type : std::uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f64,
    bf16,
    f32_ftz,  // flushes what it adds
    tf32,
    tf32_ftz,
  };
  std::uint32_t mark = 0;
  Type type = Type::u8;
  std::uint8_t rank = 0;
  std::uint8_t element_bytes = 0;
  bool fills_nan = false;
  std::uint64_t address = 0;
  std::uint64_t strides[4] = {};  // bytes, of the dimensions behind the first
  std::uint32_t last[5] = {};     // index of each dimension
  std::uint16_t box[5] = {};
  std::uint8_t steps[5] = {};  // of each dimension every so many elements
  std::uint8_t width = 0;      // of the swizzle in bytes; 0: none
  // Of im2col a tile has the channels of so many pixels, which follow one another in a box of the tensor: of each dimension
  // between channels and images its first index, and how far its last one is from the dimension's.
  bool is_im2col = false;
  std::uint16_t pixels = 0;
  std::int16_t lower[3] = {}, upper[3] = {};

  /// Whether elements are rounded on their way to shared memory.
  bool is_tf32() const { return type == Type::tf32 || type == Type::tf32_ftz; }
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace simt::machine
