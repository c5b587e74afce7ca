// What the kernels of stage 10's transforms must cost, and the copy that stands beside them.
#include <algorithm>

#include "common/harness/backend/copy.hpp"
#include "common/harness/families/transform.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::layout_transform {

namespace {

using conv::Transform;

constexpr std::int64_t kTile = 32;  // the side of a tile

bool to_nchw(const Transform& transform) { return transform.to() == conv::Layout::nchw; }
std::int64_t images(const Transform& transform) { return transform.images().N(); }
std::int64_t cells_of_image(const Transform& transform) {
  return transform.input_size() / transform.images().N();
}

std::int64_t tiles(std::int64_t rows, std::int64_t columns) {
  return ((rows - 1) / kTile + 1) * ((columns - 1) / kTile + 1);
}

// A block a cell, a lane an image: in CHWN, [cells][N], lanes are neighbours; in NCHW, [N][cells], they
// are an image apart.
Cost predict_naive(const Transform& transform) {
  const std::int64_t N = images(transform), cells = cells_of_image(transform);
  Tally tally;
  tally.launch(cells, std::min<std::int64_t>(N, 1024));
  if (to_nchw(transform)) {
    tally.load(Cells{0, N}, every(N, cells));
    tally.store(strided(0, N, cells), every(1, cells));
  } else {
    tally.load(strided(0, N, cells), every(1, cells));
    tally.store(Cells{0, N}, every(N, cells));
  }
  return tally.cost();
}

// The input is a matrix whose rows are gone through by warps of neighbours, and so is the output, whose
// rows are the columns of the input. A tile is written by rows and read by columns.
Cost predict_tiled(const Transform& transform) {
  const std::int64_t N = images(transform), cells = cells_of_image(transform);
  const std::int64_t rows = to_nchw(transform) ? cells : N;
  const std::int64_t columns = to_nchw(transform) ? N : cells;
  Tally tally;
  tally.launch(tiles(rows, columns), kTile * kTile, kTile * (kTile + 1) * sizeof(float));
  tally.load(Cells{0, columns}, every(columns, rows));
  tally.shared_store(Cells{0, columns}, rows);
  tally.barriers(tiles(rows, columns));
  tally.shared_load(strided(0, rows, kTile + 1), columns);
  tally.store(Cells{0, rows}, every(rows, columns));
  return tally.cost();
}

// In CHWN a lane has two images, 8 bytes. In NCHW it has a cell of the one and then of the other, both
// with one access to the tile [cell][pair].
Cost predict_tiled_float2(const Transform& transform) {
  const std::int64_t N = images(transform), cells = cells_of_image(transform);
  if (N % 2 != 0) return predict_tiled(transform);
  const Run chwn = pairs({0, N});
  const Run nchw = Cells{0, cells};
  const Run column{.lanes = cells, .stride = 2 * (kTile + 1), .width = 2};
  Tally tally;
  tally.launch(tiles(cells, N / 2), kTile * kTile, kTile * (kTile + 1) * 2 * sizeof(float));
  if (to_nchw(transform)) {
    tally.load(chwn, every(N, cells));
    tally.shared_store(chwn, cells);
    tally.shared_load(column, N / 2);
    tally.store(nchw, every(cells, N));
  } else {
    tally.load(nchw, every(cells, N));
    tally.shared_store(column, N / 2);
    tally.shared_load(chwn, cells);
    tally.store(chwn, every(N, cells));
  }
  tally.barriers(tiles(cells, N / 2));
  return tally.cost();
}

// 16 bytes a lane, and what is left over of 16 bytes in a request of its own.
Cost predict_copy(const Transform& transform) {
  const std::int64_t floats = transform.input_size();
  const Cells whole{0, floats / 4 * 4};
  const Cells rest{whole.end, floats};
  Tally tally;
  constexpr int kCopyThreads = 128;
  tally.launch(std::max<std::int64_t>((floats / 4 + kCopyThreads - 1) / kCopyThreads, 1),
               kCopyThreads);
  tally.load(quads(whole));
  tally.load(rest);
  tally.store(quads(whole));
  tally.store(rest);
  return tally.cost();
}

}  // namespace

void complete(TransformStage& stage) {
  variant(stage, "naive").predict = predict_naive;
  variant(stage, "tiled").predict = predict_tiled;
  TransformVariant& pairs = variant(stage, "tiled_float2");
  pairs.predict = predict_tiled_float2;
  pairs.detail = [](const Transform& transform) -> std::string {
    return transform.images().N() % 2 == 0 ? "" : "odd N: as tiled";
  };

  TransformVariant copy;
  copy.name = "copy";
  copy.source = "common/harness/backend/copy.cu";
  copy.description = "no transform: our kernel that copies as many bytes";
  copy.role = Role::copy;
  copy.launch = [](const ProblemCall<Transform>& c) {
    return launch_copy(c.input, c.output, c.problem.input_size());
  };
  copy.predict = predict_copy;
  stage.variants.push_back(copy);
}

}  // namespace halo::layout_transform
