// Both stages, chunk by chunk.
#include "stages/09_cuconv_two_stage/two_stage.hpp"

#include <stdexcept>

#include "common/gpus/present_gpu.hpp"

namespace halo::cuconv_two_stage {

int multiprocessors() {
  try {
    return gpus::present_limits().sms;
  } catch (const std::runtime_error&) {
    return 0;
  }
}

int two_stage(const LayerCall& call, Rows rows, const Chunks& chunks) {
  const LayerNumbers& layer = call.layer;
  const int products = layer.N * layer.P * layer.Q;
  const int taps = layer.R * layer.S;

  int error = 0;
  for_each_chunk(chunks, layer.K, products, [&](const Chunk& chunk) {
    if (error != 0) return;
    const Division division = divide(rows, chunk.products, taps * chunk.filters, multiprocessors());
    error = scalar_products(call, chunk, division);
    // 1x1 filters: the products are the outputs.
    if (error == 0 && taps > 1) error = sum(call, chunk);
  });
  return error;
}

}  // namespace halo::cuconv_two_stage
