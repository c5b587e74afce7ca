// What stage 09 must cost in memory traffic, worked out from the method: warps are walked as the
// division lays them out; no kernel is run.
#pragma once

#include "common/conv/layer.hpp"
#include "common/harness/traffic/cost.hpp"
#include "stages/09_cuconv_two_stage/division.hpp"

namespace halo::cuconv_two_stage {

// Stage one's reads of the input. Cells are those that exist: lanes with ghost cells take no part,
// and where all have one there is no request.
struct InputReads {
  std::int64_t requests = 0;
  std::int64_t sectors = 0;
  std::int64_t rows_crossed = 0;    // requests whose cells lie in more than one row of a map
  std::int64_t images_crossed = 0;  // of those, requests whose cells lie in more than one image
  // What `sectors` would be if each request's cells were neighbours in memory, beginning with the
  // same cell: what is more is the price of the gaps.
  std::int64_t sectors_without_gaps = 0;
};

// For all filters of the layer, in chunks of at most `cap` bytes of temporaries. How a row is divided
// over blocks makes no difference.
InputReads input_reads(const conv::ConvLayer& layer, std::int64_t cap = kTemporariesCap);

// What the simulator must count for one call: both stages, all chunks.
Cost predict(const conv::ConvLayer& layer, Rows rows, int multiprocessors,
             std::int64_t cap = kTemporariesCap);

// The same for one call of steps 3 and 4.
Cost predict_gemm_tile(const conv::ConvLayer& layer);
Cost predict_three_products(const conv::ConvLayer& layer);

}  // namespace halo::cuconv_two_stage
