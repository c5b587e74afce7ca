// Pictures as channels of float.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/data/file.hpp"

namespace halo::data {

/// Most pixels a picture may have: 16,384 x 16,384.
inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 28;

/// 0 is black and `white` is full brightness. The values are those that the file stores, which most
/// programs mean in sRGB: no gamma is applied, in neither direction.
struct Picture {
  int height = 0;
  int width = 0;
  std::vector<std::vector<float>> channels;  // [channel][row * width + column]: grey, or R, G, B
  float white = 255;  // of a picture file, whatever its depth; an array may have another
};

/// Reads a PNG file (grey, RGB or palette, 1 to 16 bits, interlaced or not), a binary PGM or PPM file
/// (P5, P6), or an NPY file ([rows][columns] or [channels][rows][columns], at most 4 channels); the
/// content decides, not the name.
///
/// Stored whole numbers v of 0 ... m become 255 * v / m, rounded to float: with 8 bits v itself, exact.
/// Values of an NPY file are taken as they are; white is 1 for float32 and float64 that stay within
/// -1 ... 1, as most libraries have pictures, 65535 for uint16 that go beyond 255, else 255. An alpha
/// channel that is opaque everywhere is left out.
///
/// Throws DataError for a file that is missing, empty, truncated, damaged, of another kind, a folder,
/// or unreadable; that has no pixels, more than kMaxPixels, or transparent ones; for an NPY file what
/// read_array throws for; and for a PNG file when the build has no libpng.
Picture read_picture(const std::string& path);

/// Writes a picture, whole or not at all; the ending of the name decides: `.png`, `.pgm` (one channel)
/// or `.ppm` (three). 8 bits: each value, 255 being white, is rounded to the nearest whole number,
/// halves to the even one, and what is below 0 or above 255 becomes 0 or 255. The same picture always
/// gives the same bytes. Returns the share of values that were below or above, 0 to 1.
///
/// Throws DataError for another ending, a target that cannot be written, other numbers of channels
/// than 1 and 3, and `.png` when the build has no libpng.
double write_picture(const std::string& path, const Picture& picture);

/// Throws the DataError that write_picture would throw for this name and number of channels, before
/// any work is done.
void require_picture_target(const std::string& path, int channels);

/// Whether this build reads and writes PNG files.
bool has_png();

}  // namespace halo::data
