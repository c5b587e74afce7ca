// The tiles of steps 4 and 5 of the transforms, said once for the kernels and for their costs.
#pragma once

namespace halo::layout_transform {

constexpr int kFloats = 64;         // the side of a tile of single floats
constexpr int kFloatThreads = 512;  // of its block

enum class Way {
  registers,  // 16 bytes at a time, turned in registers, no tile on chip
  quads,      // 16 bytes at a time, through a tile
  runs,       // 16 bytes at a time, where the number of images is no multiple of four
  floats,     // 4 bytes at a time
};

// A matrix [rows][columns] that is turned; the images are its columns, or on the way to CHWN its rows.
struct TileShape {
  int rows, columns;  // of a block
  Way way;
};

// Pieces of 16 bytes that four columns of the turned tile begin later than the four before: then eight threads that write
// together meet eight different places of the 128 bytes that shared memory takes at a time.
template <int kColumns>
constexpr int kQuadShift = kColumns >= 32 ? 1 : 32 / kColumns;

constexpr int tiles_of(const TileShape& shape, int rows, int columns) {
  return ((rows - 1) / shape.rows + 1) * ((columns - 1) / shape.columns + 1);
}

// Fewer cells than this in all: no tile. A block has nothing else to do while it waits at its barrier, and what the
// 64 bytes of a row cost more than 256 is little. Fewer than that: small tiles, so that every SM has a dozen.
constexpr int kFewCells = 1 << 19, kSomeCells = 6 << 20;
constexpr int kRunThreads = 128, kRunCells = 64, kMostRunImages = 192;

// The shorter side of the matrix, mostly the images, decides how wide tiles are: no wider than it needs. Up to 128 images
// that are no whole number of tiles have one tile for all.
constexpr TileShape shape_of(int rows, int columns, bool images_down) {
  const int least = rows < columns ? rows : columns;
  const int images = images_down ? rows : columns, cells = images_down ? columns : rows;
  const long long all = (long long)rows * columns;
  if (cells % 4 == 0 && images % 4 != 0 && images <= kMostRunImages) {
    return images_down ? TileShape{images, kRunCells, Way::runs}
                       : TileShape{kRunCells, images, Way::runs};
  }
  if (cells % 4 != 0 || images % 4 != 0) {
    const int side = least <= 8 ? 8 : kFloats, other = kFloats * kFloats / side;
    return rows <= columns ? TileShape{side, other, Way::floats}
                           : TileShape{other, side, Way::floats};
  }
  if (all < kFewCells) return {64, 16, Way::registers};
  int side = 64;
  while (side > 4 &&
         (least + side / 2 - 1) / (side / 2) * (side / 2) < (least + side - 1) / side * side) {
    side /= 2;
  }
  if (side >= 32 && all < kSomeCells) return {32, 32, Way::quads};
  if (side == 64 && least > 64 && least < 128) side = 128;
  const int other = side >= 64 ? 64 : 4096 / side;
  return rows <= columns ? TileShape{side, other, Way::quads} : TileShape{other, side, Way::quads};
}

}  // namespace halo::layout_transform
