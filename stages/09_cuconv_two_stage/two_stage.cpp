// Both stages, chunk by chunk.
#include "stages/09_cuconv_two_stage/cuconv_two_stage.hpp"

namespace halo::cuconv_two_stage {

int multiprocessors() {
  int count = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  return error == cudaSuccess ? count : 0;
}

// [doc:two_stage]
cudaError_t two_stage(const float* input, const float* filters, float* output, float* temporaries,
                      const Layer& layer, Rows rows, std::int64_t cap) {
  const int products = layer.N * layer.P * layer.Q;
  const int taps = layer.R * layer.S;
  const Chunks chunks = chunk_temporaries(layer.K, products, taps, cap);

  cudaError_t error = cudaSuccess;
  for_each_chunk(chunks, layer.K, products, [&](const Chunk& chunk) {
    if (error != cudaSuccess) return;
    const Division division = divide(rows, chunk.products, taps * chunk.filters, multiprocessors());
    // 1x1 filters: the products are the outputs.
    float* const results = taps == 1 ? output : temporaries;
    error = scalar_products(input, filters, results, layer, chunk, division);
    if (error == cudaSuccess && taps > 1) error = sum(temporaries, output, layer, chunk);
  });
  return error;
}
// [/doc:two_stage]

}  // namespace halo::cuconv_two_stage
