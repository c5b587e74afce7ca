// The tiles of step 4 of the transforms, said once for the kernel and for its costs.
#pragma once

namespace halo::layout_transform {

constexpr int kFloats = 64;         // the side of a tile of single floats
constexpr int kFloatThreads = 512;  // of its block

// Of the input, a matrix [rows][columns].
struct TileShape {
  int rows, columns;
  bool by_fours;  // 16 bytes at a time
};

// Pieces of 16 bytes that four columns of the turned tile begin later than the four before: then eight threads that write
// together meet eight different places of the 128 bytes that shared memory takes at a time.
template <int kColumns>
constexpr int kQuadShift = kColumns >= 32 ? 1 : 32 / kColumns;

constexpr int tiles_of(const TileShape& shape, int rows, int columns) {
  return ((rows - 1) / shape.rows + 1) * ((columns - 1) / shape.columns + 1);
}

// Tiles have 4,096 cells. The shorter side of the matrix, mostly the images, decides how wide they are: no wider than it
// needs. A matrix that has less than two such tiles for an SM of a large GPU gets smaller ones.
constexpr TileShape shape_of(int rows, int columns) {
  const int least = rows < columns ? rows : columns;
  const bool by_fours = rows % 4 == 0 && columns % 4 == 0;
  int side = 64;
  if (by_fours) {
    while (side > 4 &&
           (least + side / 2 - 1) / (side / 2) * (side / 2) < (least + side - 1) / side * side) {
      side /= 2;
    }
  } else if (least <= 8) {
    side = 8;
  }
  const int other = 4096 / side;
  const TileShape shape = side == 64        ? TileShape{64, 64, by_fours}
                          : rows <= columns ? TileShape{side, other, by_fours}
                                            : TileShape{other, side, by_fours};
  if (by_fours && side >= 32 && tiles_of(shape, rows, columns) < 256) return {32, 32, true};
  return shape;
}

}  // namespace halo::layout_transform
