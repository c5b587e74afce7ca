#include "stages/09_cuconv_two_stage/costs.hpp"

#include "common/harness/traffic/tally.hpp"

namespace halo::cuconv_two_stage {

namespace {

using conv::ConvLayer;

int row_products(const ConvLayer& layer) { return layer.N() * layer.P() * layer.Q(); }

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

// The requests of one warp for the input, the same for every filter: one for each channel.
struct Asked {
  Lanes cells;
  Lanes neighbours;  // as many, beginning with the same one
  bool other_row = false;
  bool other_image = false;
};

Asked asked_by(const ConvLayer& layer, const Cells& warp, int r, int s) {
  Asked asked;
  std::int64_t first = kNoCell;
  std::int64_t n = -1;
  std::int64_t y = -1;
  int count = 0;
  asked.cells = lanes(warp, [&](std::int64_t m) {
    const Product product(layer, m, r, s);
    if (!product.exists(layer)) return kNoCell;
    const std::int64_t cell =
        (product.n * layer.C() * layer.H() + product.y) * layer.W() + product.x;
    if (count == 0) {
      first = cell;
    } else {
      asked.other_image |= product.n != n;
      asked.other_row |= product.n != n || product.y != y;
    }
    n = product.n;
    y = product.y;
    asked.neighbours.set(count, first + count);
    ++count;
    return cell;
  });
  return asked;
}

// The channels' planes of the input begin H*W cells apart.
Times channels_of(const ConvLayer& layer) {
  return every(std::int64_t{layer.H()} * layer.W(), layer.C());
}

Cells products_of(const Chunk& chunk) {
  return Cells{0, chunk.products}.shifted(chunk.first_product);
}

// Stage one, one tap: what all its blocks cost. Lanes are neighbouring products, and shares are whole
// warps, so it does not matter how a row is divided.
void add_scalar_products(const ConvLayer& layer, const Chunk& chunk, const Division& division,
                         int r, int s, Tally& tally) {
  const std::int64_t taps = std::int64_t{layer.R()} * layer.S();
  const std::int64_t tap = std::int64_t{r} * layer.S() + s;
  const std::int64_t filter_floats = layer.C() * taps;
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  const bool final = taps == 1;  // into the output, ghosts as zeros

  // The filter row, once for each block.
  tally.load(strided(chunk.first_filter * filter_floats + tap, layer.C(), taps),
             every(filter_floats, chunk.filters) * division.blocks);
  tally.shared_store(Cells{0, layer.C()}, std::int64_t{chunk.filters} * division.blocks);
  tally.barriers(std::int64_t{chunk.filters} * division.blocks);

  const Times channels = channels_of(layer) * chunk.filters;
  const Times results = every(final ? map : chunk.products, chunk.filters);
  for (const Cells warp : products_of(chunk).pieces(kWarpSize)) {
    // With each channel's cells, that channel's value of the row: one word for all lanes. nvcc takes four channels a turn,
    // and their four words are one request; so are those of the last, which may be fewer.
    const Asked asked = asked_by(layer, warp, r, s);
    tally.load(asked.cells, channels);
    const auto of_row = wide_lanes(4, warp, [&](std::int64_t m) {
      return Product(layer, m, r, s).exists(layer) ? 0 : kNoCell;
    });
    tally.shared_load(of_row, std::int64_t{chunk.filters} * ((layer.C() + 3) / 4));
    const auto result_of = [&](std::int64_t m) {
      const Product product(layer, m, r, s);
      if (final) {
        return (product.n * layer.K() + chunk.first_filter) * map + product.p * layer.Q() +
               product.q;
      }
      if (!product.exists(layer)) return kNoCell;
      return tap * chunk.filters * chunk.products + m - chunk.first_product;
    };
    tally.store(lanes(warp, result_of), results);
  }
}

// Stage two: threads are the outputs of the chunk, [chunk.filters][chunk.products].
void add_sum(const ConvLayer& layer, const Chunk& chunk, Tally& tally) {
  constexpr int kSumThreads = 256;
  const std::int64_t outputs = std::int64_t{chunk.filters} * chunk.products;
  tally.launch(Cells{0, outputs}.pieces(kSumThreads).count(), kSumThreads);
  const auto product_of = [&](std::int64_t i, int r, int s) {
    return Product(layer, chunk.first_product + i % chunk.products, r, s);
  };
  for (const Cells warp : Cells{0, outputs}.pieces(kWarpSize)) {
    for (int r = 0; r < layer.R(); ++r) {
      for (int s = 0; s < layer.S(); ++s) {
        tally.load(lanes(warp, [&](std::int64_t i) {
          return product_of(i, r, s).exists(layer) ? (r * layer.S() + s) * outputs + i : kNoCell;
        }));
      }
    }
    tally.store(lanes(warp, [&](std::int64_t i) {
      const Product output = product_of(i, 0, 0);
      const std::int64_t k = chunk.first_filter + i / chunk.products;
      return ((output.n * layer.K() + k) * layer.P() + output.p) * layer.Q() + output.q;
    }));
  }
}

}  // namespace

InputReads input_reads(const ConvLayer& layer, std::int64_t cap) {
  const int products = row_products(layer);
  const Chunks chunks = chunk_temporaries(layer.K(), products, layer.R() * layer.S(), cap);
  const Times channels = channels_of(layer) * layer.K();
  const auto requests = static_cast<std::int64_t>(channels.total());
  InputReads sum;
  // All filters read alike: the chunks of one filter, times K.
  for_each_chunk(chunks, 1, products, [&](const Chunk& chunk) {
    for (int r = 0; r < layer.R(); ++r) {
      for (int s = 0; s < layer.S(); ++s) {
        for (const Cells warp : products_of(chunk).pieces(kWarpSize)) {
          const Asked asked = asked_by(layer, warp, r, s);
          if (asked.cells.empty()) continue;
          const auto sectors = [&](const Lanes& cells) {
            return static_cast<std::int64_t>(
                channels.sum([&](std::int64_t behind) { return cells.sectors(behind); }));
          };
          sum.requests += requests;
          sum.sectors += sectors(asked.cells);
          sum.rows_crossed += asked.other_row ? requests : 0;
          sum.images_crossed += asked.other_image ? requests : 0;
          sum.sectors_without_gaps += sectors(asked.neighbours);
        }
      }
    }
  });
  return sum;
}

Cost predict(const ConvLayer& layer, Rows rows, int multiprocessors, std::int64_t cap) {
  const int taps = layer.R() * layer.S();
  const int products = row_products(layer);
  const Chunks chunks = chunk_temporaries(layer.K(), products, taps, cap);
  Tally tally;
  for_each_chunk(chunks, layer.K(), products, [&](const Chunk& chunk) {
    const Division division = divide(rows, chunk.products, taps * chunk.filters, multiprocessors);
    // The row of a filter, in whole float4.
    const std::int64_t row_floats = (layer.C() + 3) / 4 * 4;
    tally.launch(std::int64_t{taps} * chunk.filters * division.blocks, division.threads,
                 row_floats * sizeof(float));
    for (int r = 0; r < layer.R(); ++r) {
      for (int s = 0; s < layer.S(); ++s) {
        add_scalar_products(layer, chunk, division, r, s, tally);
      }
    }
    if (taps > 1) add_sum(layer, chunk, tally);
  });
  return tally.cost();
}

}  // namespace halo::cuconv_two_stage
