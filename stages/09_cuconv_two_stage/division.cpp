#include "stages/09_cuconv_two_stage/division.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "common/conv/quotient.hpp"

namespace halo::cuconv_two_stage {

namespace {

constexpr int kWarp = 32;

}  // namespace

Division divide(Rows how, int products, int rows, int multiprocessors) {
  const std::int64_t warps = quotient_up(products, kWarp);
  if (how == Rows::one_block) {
    return {1, products, static_cast<int>(std::min<std::int64_t>(warps * kWarp, kMaxThreads))};
  }
  std::int64_t blocks = quotient_up(products, kMaxThreads);
  if (rows * blocks < multiprocessors) {
    blocks = std::max(blocks, std::min(quotient_up(multiprocessors, rows), warps));
  }
  const std::int64_t threads = rounded_up(quotient_up(products, blocks), kWarp);
  // Rounded up to warps, the shares may leave the last block without any.
  blocks = quotient_up(products, threads);
  return {static_cast<int>(blocks), static_cast<int>(threads), static_cast<int>(threads)};
}

Chunks chunk_temporaries(int K, int products, int taps, std::int64_t cap) {
  const std::int64_t needed = std::int64_t{4} * taps;
  if (cap < needed || cap > kTemporariesCap) {
    throw std::invalid_argument(
        "a limit of " + std::to_string(cap) + " bytes for temporaries: it must be from " +
        std::to_string(needed) + " (one product) to " + std::to_string(kTemporariesCap));
  }
  if (taps == 1) return {K, products, 1, 0, 0};
  const std::int64_t filter_bytes = needed * products;  // at most 2^26 * 2^31
  const std::int64_t filters_that_fit = std::max<std::int64_t>(cap / filter_bytes, 1);
  const std::int64_t filter_chunks = quotient_up(K, filters_that_fit);
  const std::int64_t filters = quotient_up(K, filter_chunks);
  const std::int64_t product_chunks = filter_bytes <= cap ? 1 : quotient_up(products, cap / needed);
  const std::int64_t part = quotient_up(products, product_chunks);
  return {static_cast<int>(filters), static_cast<int>(part),
          quotient_up(K, filters) * quotient_up(products, part), taps * filters * part,
          filter_bytes * K};
}

}  // namespace halo::cuconv_two_stage
