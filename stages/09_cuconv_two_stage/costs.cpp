#include "stages/09_cuconv_two_stage/costs.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "common/harness/traffic.hpp"

namespace halo::cuconv_two_stage {

namespace {

using conv::ConvLayer;
using conv::kSectorFloats;

// Requests of one pattern of cells that differ only in where the pattern begins: how many of them
// begin at each place within a sector. Their sectors depend on nothing else.
class Places {
 public:
  void add(std::int64_t begin) { ++requests_[begin % kSectorFloats]; }

  std::uint64_t sectors(const std::vector<std::int64_t>& cells) const {
    std::uint64_t sum = 0;
    std::vector<std::int64_t> moved(cells.size());
    for (int place = 0; place < kSectorFloats; ++place) {
      if (requests_[place] == 0) continue;
      std::transform(cells.begin(), cells.end(), moved.begin(),
                     [&](std::int64_t cell) { return cell + place; });
      sum += requests_[place] * sectors_of(moved);
    }
    return sum;
  }

 private:
  std::array<std::uint64_t, kSectorFloats> requests_{};
};

// Places of begin, begin + step, ..., `count` of them.
Places places(std::int64_t begin, std::int64_t step, std::int64_t count) {
  Places result;
  for (std::int64_t i = 0; i < count; ++i) result.add(begin + i * step);
  return result;
}

int products_of_row(const ConvLayer& layer) { return layer.N() * layer.P() * layer.Q(); }

// Where the product m of a row stands, and the cell that the tap (r, s) meets there.
struct Product {
  std::int64_t n, p, q;
  std::int64_t y, x;

  Product(const ConvLayer& layer, std::int64_t m, int r, int s)
      : n(m / layer.Q() / layer.P()),
        p(m / layer.Q() % layer.P()),
        q(m % layer.Q()),
        y(p * layer.stride_h() - layer.padding_h() + r),
        x(q * layer.stride_w() - layer.padding_w() + s) {}

  bool exists(const ConvLayer& layer) const {
    return y >= 0 && y < layer.H() && x >= 0 && x < layer.W();
  }
};

// Calls visit(m's) for each warp and turn of the blocks of one row. Lanes are neighbouring products,
// and shares are whole warps, so it does not matter how a row is divided.
template <class Visit>
void for_each_warp_of_row(const Chunk& chunk, Visit visit) {
  const Cells all = {0, chunk.products};
  for (std::int64_t i = 0; i < chunk.products; i += kWarpSize) {
    visit(Cells{i, i + kWarpSize}.within(all).shifted(chunk.first_product));
  }
}

// The requests of one warp for the input, the same for every filter: one for each channel.
InputReads reads_of_warp(const ConvLayer& layer, const Cells& warp, int r, int s,
                         const Places& channels) {
  std::vector<std::int64_t> cells;
  std::vector<std::int64_t> neighbours;
  bool other_row = false;
  bool other_image = false;
  std::int64_t n = -1;
  std::int64_t y = -1;
  for (std::int64_t m = warp.begin; m < warp.end; ++m) {
    const Product product(layer, m, r, s);
    if (!product.exists(layer)) continue;
    if (!cells.empty()) {
      other_image |= product.n != n;
      other_row |= product.n != n || product.y != y;
    }
    n = product.n;
    y = product.y;
    cells.push_back((n * layer.C() * layer.H() + y) * layer.W() + product.x);
    neighbours.push_back(cells.front() + static_cast<std::int64_t>(neighbours.size()));
  }
  InputReads reads;
  if (cells.empty()) return reads;
  reads.requests = layer.C();
  reads.sectors = channels.sectors(cells);
  reads.rows_crossed = other_row ? layer.C() : 0;
  reads.images_crossed = other_image ? layer.C() : 0;
  reads.sectors_without_gaps = channels.sectors(neighbours);
  return reads;
}

// The channels' planes of the input begin H*W cells apart.
Places channels_of(const ConvLayer& layer) {
  return places(0, std::int64_t{layer.H()} * layer.W(), layer.C());
}

// Stage one, one tap: what all its blocks cost.
void add_scalar_products(const ConvLayer& layer, const Chunk& chunk, const Division& division,
                         int r, int s, simt::Counters& counters) {
  const std::int64_t taps = std::int64_t{layer.R()} * layer.S();
  const std::int64_t tap = std::int64_t{r} * layer.S() + s;
  const bool final = taps == 1;  // into the output, ghosts as zeros
  const std::uint64_t filters = chunk.filters;
  const std::uint64_t blocks = filters * division.blocks;
  counters.barriers += blocks;

  // The filter row, once for each block.
  const std::int64_t filter_floats = layer.C() * taps;
  const Places filter_rows =
      places(chunk.first_filter * filter_floats + tap, filter_floats, chunk.filters);
  for (std::int64_t first = 0; first < layer.C(); first += kWarpSize) {
    const Cells lanes = Cells{first, first + kWarpSize}.within({0, layer.C()});
    std::vector<std::int64_t> cells;
    for (std::int64_t c = lanes.begin; c < lanes.end; ++c) cells.push_back(c * taps);
    counters.global_load_requests += blocks;
    counters.global_load_sectors += filter_rows.sectors(cells) * division.blocks;
    counters.shared_store_requests += blocks;
    counters.shared_store_wavefronts += blocks;
  }

  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  const Places channels = channels_of(layer);
  const Places results =
      final ? places(chunk.first_filter * map, map, chunk.filters)
            : places(tap * chunk.filters * chunk.products, chunk.products, chunk.filters);
  for_each_warp_of_row(chunk, [&](const Cells& warp) {
    const InputReads reads = reads_of_warp(layer, warp, r, s, channels);
    counters.global_load_requests += reads.requests * filters;
    counters.global_load_sectors += reads.sectors * filters;
    // With each channel's cells, that channel's value of the row: one word for all lanes.
    counters.shared_load_requests += reads.requests * filters;
    counters.shared_load_wavefronts += reads.requests * filters;

    std::vector<std::int64_t> stored;
    for (std::int64_t m = warp.begin; m < warp.end; ++m) {
      const Product product(layer, m, r, s);
      if (final) {
        stored.push_back(product.n * layer.K() * map + product.p * layer.Q() + product.q);
      } else if (product.exists(layer)) {
        stored.push_back(m - chunk.first_product);
      }
    }
    if (stored.empty()) return;
    counters.global_store_requests += filters;
    counters.global_store_sectors += results.sectors(stored);
  });
}

// Stage two: threads are the outputs of the chunk, [chunk.filters][chunk.products].
void add_sum(const ConvLayer& layer, const Chunk& chunk, simt::Counters& counters) {
  const std::int64_t outputs = std::int64_t{chunk.filters} * chunk.products;
  for (std::int64_t first = 0; first < outputs; first += kWarpSize) {
    const Cells warp = Cells{first, first + kWarpSize}.within({0, outputs});
    for (int r = 0; r < layer.R(); ++r) {
      for (int s = 0; s < layer.S(); ++s) {
        std::vector<std::int64_t> read;
        for (std::int64_t i = warp.begin; i < warp.end; ++i) {
          const Product product(layer, chunk.first_product + i % chunk.products, r, s);
          if (product.exists(layer)) read.push_back((r * layer.S() + s) * outputs + i);
        }
        if (read.empty()) continue;
        counters.global_load_requests += 1;
        counters.global_load_sectors += sectors_of(read);
      }
    }
    std::vector<std::int64_t> written;
    for (std::int64_t i = warp.begin; i < warp.end; ++i) {
      const Product output(layer, chunk.first_product + i % chunk.products, 0, 0);
      const std::int64_t k = chunk.first_filter + i / chunk.products;
      written.push_back(((output.n * layer.K() + k) * layer.P() + output.p) * layer.Q() + output.q);
    }
    counters.global_store_requests += 1;
    counters.global_store_sectors += sectors_of(written);
  }
}

}  // namespace

InputReads input_reads(const ConvLayer& layer, std::int64_t cap) {
  const int products = products_of_row(layer);
  const Chunks chunks = chunk_temporaries(layer.K(), products, layer.R() * layer.S(), cap);
  const Places channels = channels_of(layer);
  InputReads sum;
  // All filters read alike: the chunks of one filter, times K.
  for_each_chunk(chunks, 1, products, [&](const Chunk& chunk) {
    for (int r = 0; r < layer.R(); ++r) {
      for (int s = 0; s < layer.S(); ++s) {
        for_each_warp_of_row(chunk, [&](const Cells& warp) {
          const InputReads reads = reads_of_warp(layer, warp, r, s, channels);
          sum.requests += reads.requests * layer.K();
          sum.sectors += reads.sectors * layer.K();
          sum.rows_crossed += reads.rows_crossed * layer.K();
          sum.images_crossed += reads.images_crossed * layer.K();
          sum.sectors_without_gaps += reads.sectors_without_gaps * layer.K();
        });
      }
    }
  });
  return sum;
}

simt::Counters predict(const ConvLayer& layer, Rows rows, int multiprocessors, std::int64_t cap) {
  const int taps = layer.R() * layer.S();
  const int products = products_of_row(layer);
  const Chunks chunks = chunk_temporaries(layer.K(), products, taps, cap);
  simt::Counters counters;
  for_each_chunk(chunks, layer.K(), products, [&](const Chunk& chunk) {
    const Division division = divide(rows, chunk.products, taps * chunk.filters, multiprocessors);
    for (int r = 0; r < layer.R(); ++r) {
      for (int s = 0; s < layer.S(); ++s) {
        add_scalar_products(layer, chunk, division, r, s, counters);
      }
    }
    if (taps > 1) add_sum(layer, chunk, counters);
  });
  return counters;
}

}  // namespace halo::cuconv_two_stage
