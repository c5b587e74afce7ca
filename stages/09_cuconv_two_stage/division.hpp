// How stage 09 divides a layer: the products of a filter row over thread blocks, and the temporaries
// into chunks that fit a limit. Host arithmetic only.
//
// A filter row is the C values of one tap (r, s) of one filter k. It has N*P*Q products to make, one
// for each output it takes part in, numbered m = (n*P + p)*Q + q.
#pragma once

#include <cstdint>

namespace halo::cuconv_two_stage {

// The most threads of a block.
constexpr int kMaxThreads = 1024;

// The longest filter row that a block can keep: 48 KB of shared memory, which every GPU gives to a
// block without being asked. 12,288 channels.
constexpr int kMaxChannels = 48 * 1024 / 4;

// The most that temporaries may take. cuConv, section 4: "We limit the temporary allocation size to
// 1 GB"; read as 2^30 bytes.
constexpr std::int64_t kTemporariesCap = std::int64_t{1} << 30;

// The products of one filter row over blocks: block b makes the products b*share ... b*share +
// share - 1, less those that do not exist; a thread makes each threads-th of them.
struct Division {
  int blocks;   // for one filter row
  int share;    // products of a block
  int threads;  // of a block: a multiple of 32
  bool operator==(const Division&) const = default;
};

// The two ways to divide the products of a row.
enum class Rows {
  // A thread makes one product, so a row with more products than kMaxThreads is split over several
  // blocks. If the rows then give fewer blocks than the GPU has multiprocessors, they are split
  // further: over as many blocks as bring the grid to that number, as long as each has a warp's worth
  // of products. Blocks of a row get equal shares, rounded up to warps.
  split,
  // One block makes all products of its row: as many threads as there are products, rounded up to a
  // warp, but no more than kMaxThreads, so that beyond it a thread makes several.
  one_block,
};

// How `products` products of each of `rows` rows are divided on a GPU of so many multiprocessors.
// All >= 1.
Division divide(Rows how, int products, int rows, int multiprocessors);

// What one pair of launches computes: for the filters first_filter, first_filter + 1, ... the
// products first_product, first_product + 1, ... of each of their rows.
struct Chunk {
  int first_filter, filters;
  int first_product, products;
};

// The temporaries of a layer in pieces: chunks of `filters` filters and `products` products (less in
// the last ones), each computed by a pair of launches that uses the same memory again.
struct Chunks {
  int filters;               // in a chunk
  int products;              // in a chunk: all N*P*Q, unless one filter alone is too large
  std::int64_t count;        // of chunks
  std::int64_t floats;       // temporaries of the largest chunk
  std::int64_t whole_bytes;  // what all temporaries would take at once: 4 * R*S*K*N*P*Q
  bool operator==(const Chunks&) const = default;
};

// As few chunks as fit `cap` bytes: of whole filters if one filter's temporaries fit, else of one
// filter and some of its products. Chunks are of equal size, less what does not divide. Without taps
// to add (R*S = 1) there are no temporaries: one chunk of 0 floats.
// Throws std::invalid_argument if cap is below 4*taps bytes (one product) or above kTemporariesCap
// (so that a kernel's indices fit an int). K, products, taps >= 1.
Chunks chunk_temporaries(int K, int products, int taps, std::int64_t cap = kTemporariesCap);

// Calls visit(Chunk) for each chunk, in the order of the launches: filters outside, products inside.
template <class Visit>
void for_each_chunk(const Chunks& chunks, int K, int products, Visit visit) {
  for (std::int64_t k = 0; k < K; k += chunks.filters) {
    for (std::int64_t m = 0; m < products; m += chunks.products) {
      const std::int64_t filters_left = K - k, products_left = products - m;
      visit(Chunk{
          static_cast<int>(k),
          filters_left < chunks.filters ? static_cast<int>(filters_left) : chunks.filters,
          static_cast<int>(m),
          products_left < chunks.products ? static_cast<int>(products_left) : chunks.products});
    }
  }
}

}  // namespace halo::cuconv_two_stage
