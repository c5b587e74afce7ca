// What the kernels of stage 10's transforms must cost, and the copy that stands beside them.
#include "common/harness/backend/copy.hpp"
#include "common/harness/families/transform.hpp"
#include "common/harness/traffic.hpp"

namespace halo::layout_transform {

namespace {

using conv::Transform;

constexpr int kTile = 32;  // the side of a tile

struct Batch {
  int N, cells;
};
Batch batch_of(const Transform& transform) {
  const conv::Images& images = transform.images();
  return {.N = images.N(), .cells = images.C() * images.H() * images.W()};
}

// What one of the two layouts costs, read or written: requests of warps and sectors they touch.
struct Access {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
};

// A matrix of `rows` x `columns` floats that warps go through along its rows, `width` floats a request,
// or what is left of the row. A row begins row * columns % 8 floats after the start of a sector, the
// same in every eighth row; within a row all requests begin alike, since width is a multiple of 8.
Access along_rows(std::int64_t rows, std::int64_t columns, std::int64_t width) {
  const std::int64_t full = columns / width;
  const std::int64_t rest = columns % width;
  Access access;
  access.requests = rows * (full + (rest > 0));
  for (std::int64_t row = 0; row < std::min<std::int64_t>(rows, 8); ++row) {
    const std::int64_t start = row * columns % 8;
    const std::uint64_t alike = (rows - row + 7) / 8;
    access.sectors += alike * (full * Cells{start, start + width}.sectors() +
                               Cells{start, start + rest}.sectors());
  }
  return access;
}

// The same matrix gone through down its columns, a lane a row, 32 rows a request.
Access down_columns(std::int64_t rows, std::int64_t columns) {
  const std::int64_t full = rows / kWarpSize;
  const std::int64_t rest = rows % kWarpSize;
  Access access;
  access.requests = columns * (full + (rest > 0));
  // Rows of 8 floats and more are in sectors of their own. Shorter ones share some, and there are at
  // most seven columns to try; 32 rows are whole sectors, so every full request begins alike.
  if (columns >= 8) {
    access.sectors = rows * columns;
    return access;
  }
  for (std::int64_t column = 0; column < columns; ++column) {
    std::vector<std::int64_t> cells;
    for (std::int64_t row = 0; row < kWarpSize; ++row) cells.push_back(row * columns + column);
    access.sectors += full * sectors_of(cells);
    cells.resize(rest);
    access.sectors += sectors_of(cells);
  }
  return access;
}

// Both layouts of a batch, read and written as the direction says.
simt::Counters global_counters(conv::Layout to, Access chwn, Access nchw) {
  const Access& loads = to == conv::Layout::nchw ? chwn : nchw;
  const Access& stores = to == conv::Layout::nchw ? nchw : chwn;
  simt::Counters counters;
  counters.global_load_requests = loads.requests;
  counters.global_load_sectors = loads.sectors;
  counters.global_store_requests = stores.requests;
  counters.global_store_sectors = stores.sectors;
  return counters;
}

simt::Counters predict_naive(const Transform& transform) {
  const Batch batch = batch_of(transform);
  return global_counters(transform.to(), along_rows(batch.cells, batch.N, kWarpSize),
                         down_columns(batch.N, batch.cells));
}

std::uint64_t tiles(std::int64_t rows, std::int64_t columns) {
  return ((rows - 1) / kTile + 1) * ((columns - 1) / kTile + 1);
}

// Each float is written to the tile by the request that follows its load, and read by the one that its
// store follows; the padding keeps both free of conflicts.
simt::Counters predict_tiled(const Transform& transform) {
  const Batch batch = batch_of(transform);
  simt::Counters counters = global_counters(transform.to(), along_rows(batch.cells, batch.N, kTile),
                                            along_rows(batch.N, batch.cells, kTile));
  counters.shared_store_requests = counters.global_load_requests;
  counters.shared_store_wavefronts = counters.global_load_requests;
  counters.shared_load_requests = counters.global_store_requests;
  counters.shared_load_wavefronts = counters.global_store_requests;
  counters.barriers = tiles(batch.cells, batch.N);
  return counters;
}

// Requests to shared memory for `rows` x `columns` pairs, along the rows, 32 pairs a request or what
// is left, without conflicts. 8 bytes a lane are a wavefront for each half of the warp that takes part.
struct PairAccess {
  std::uint64_t requests;
  std::uint64_t wavefronts;
};
PairAccess pairs_along_rows(std::int64_t rows, std::int64_t columns) {
  const std::int64_t rest = columns % kTile;
  return {
      .requests = static_cast<std::uint64_t>(rows * ((columns - 1) / kTile + 1)),
      .wavefronts = static_cast<std::uint64_t>(rows * (columns / kTile * 2 + (rest + 15) / 16))};
}

simt::Counters predict_tiled_float2(const Transform& transform) {
  const Batch batch = batch_of(transform);
  if (batch.N % 2 != 0) return predict_tiled(transform);
  const std::int64_t pairs = batch.N / 2;
  // In CHWN a request has 32 pairs, 64 floats. In NCHW it has 32 floats, of one image.
  const conv::Layout to = transform.to();
  simt::Counters counters = global_counters(to, along_rows(batch.cells, batch.N, 2 * kTile),
                                            along_rows(batch.N, batch.cells, kTile));
  // In the tile, the side of CHWN is gone through pair by pair, that of NCHW cell by cell.
  const PairAccess chwn_side = pairs_along_rows(batch.cells, pairs);
  const PairAccess nchw_side = pairs_along_rows(pairs, batch.cells);
  const PairAccess& written = to == conv::Layout::nchw ? chwn_side : nchw_side;
  const PairAccess& read = to == conv::Layout::nchw ? nchw_side : chwn_side;
  counters.shared_store_requests = written.requests;
  counters.shared_store_wavefronts = written.wavefronts;
  counters.shared_load_requests = read.requests;
  counters.shared_load_wavefronts = read.wavefronts;
  counters.barriers = tiles(batch.cells, pairs);
  return counters;
}

// The harness's copy: 16 bytes a lane, and what is left over of 16 bytes in a request of its own.
simt::Counters predict_copy(const Transform& transform) {
  const std::int64_t floats = transform.input_size();
  const std::int64_t in_vectors = floats / 4 * 4;
  Access access = along_rows(in_vectors > 0, in_vectors, 4 * kWarpSize);
  if (floats > in_vectors) {
    ++access.requests;
    ++access.sectors;
  }
  return global_counters(conv::Layout::nchw, access, access);
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
