#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "common/conv/quotient.hpp"
#include "stages/07_single_channel_adaptive/plan.hpp"

namespace halo::single_channel_adaptive {

namespace {

constexpr int kMostBlocks = std::numeric_limits<int>::max();

// The work of one block, and the limits of what it has on chip.
struct BlockWork {
  std::int64_t width;      // of the map
  std::int64_t height;     // of the map
  std::int64_t halo_rows;  // R - 1
  std::int64_t taps;       // of a filter
  std::int64_t rows;       // of outputs
  std::int64_t filters;
  std::int64_t most_on_chip;  // floats
  std::int64_t most_ahead;    // floats

  std::int64_t cells(std::int64_t strips) const {
    return width * std::min(quotient_up(rows, strips) + halo_rows, height);
  }
  std::int64_t on_chip(std::int64_t strips, std::int64_t groups) const {
    return cells(strips) + taps * quotient_up(filters, groups);
  }
  bool fits(std::int64_t strips, std::int64_t groups) const {
    // Of the next piece only what changes arrives.
    const std::int64_t ahead =
        (strips > 1 ? cells(strips) : 0) + (groups > 1 ? taps * quotient_up(filters, groups) : 0);
    return on_chip(strips, groups) <= most_on_chip && ahead <= most_ahead;
  }
};

// The smallest number in [low, high] for which holds(number), 0 if none: false, then true.
template <class Predicate>
std::int64_t smallest(std::int64_t low, std::int64_t high, Predicate holds) {
  if (low > high || !holds(high)) return 0;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Strips and groups, at least those planned. Both 0 if nothing fits.
struct Cuts {
  std::int64_t strips = 0;
  std::int64_t groups = 0;
};

Cuts cut(const BlockWork& work, Cuts planned) {
  planned.strips = std::min(planned.strips, work.rows);
  planned.groups = std::min(planned.groups, work.filters);
  if (work.fits(planned.strips, planned.groups)) return planned;
  // From 2 on more cuts need less room (the first cut makes something arrive at all).
  const Cuts by_rows{smallest(std::max<std::int64_t>(planned.strips, 2), work.rows,
                              [&](std::int64_t n) { return work.fits(n, planned.groups); }),
                     planned.groups};
  const Cuts by_filters{planned.strips,
                        smallest(std::max<std::int64_t>(planned.groups, 2), work.filters,
                                 [&](std::int64_t n) { return work.fits(planned.strips, n); })};
  if (by_rows.strips > 0 && (by_filters.groups == 0 || by_rows.strips * by_rows.groups <=
                                                           by_filters.strips * by_filters.groups)) {
    return by_rows;
  }
  if (by_filters.groups > 0) return by_filters;
  // Both: strips of one row, then as many groups as it takes.
  const std::int64_t groups = smallest(planned.groups, work.filters,
                                       [&](std::int64_t n) { return work.fits(work.rows, n); });
  return groups > 0 ? Cuts{work.rows, groups} : Cuts{};
}

}  // namespace

Division divide(const Plan& plan, const conv::ConvLayer& layer) {
  require_single_channel(layer);
  const bool by_filters = plan.method == Method::filters_over_sms;
  const std::int64_t sm_rows = by_filters ? layer.P() : quotient_up(layer.P(), plan.gpu.sms);
  const std::int64_t sm_filters = by_filters ? quotient_up(layer.K(), plan.gpu.sms) : layer.K();
  const std::int64_t shares =
      by_filters ? quotient_up(layer.K(), sm_filters) : quotient_up(layer.P(), sm_rows);
  const Cuts planned =
      by_filters ? Cuts{plan.P, plan.share_pieces} : Cuts{plan.share_pieces, plan.Q};

  const auto work = [&](std::int64_t row_parts, std::int64_t filter_parts) {
    return BlockWork{.width = layer.W(),
                     .height = layer.H(),
                     .halo_rows = layer.R() - 1,
                     .taps = std::int64_t{layer.R()} * layer.S(),
                     .rows = quotient_up(sm_rows, row_parts),
                     .filters = quotient_up(sm_filters, filter_parts),
                     .most_on_chip = plan.shared_bytes / kBlocksPerSm / std::int64_t{sizeof(float)},
                     .most_ahead = std::int64_t{kFetchedAhead} * kThreadsPerBlock};
  };
  const auto planned_floats = [&](const BlockWork& block) {
    return block.on_chip(std::min(planned.strips, block.rows),
                         std::min(planned.groups, block.filters));
  };
  const bool can_halve_rows = sm_rows > 1;
  const bool can_halve_filters = sm_filters > 1;
  const bool halve_rows = can_halve_rows && (!can_halve_filters || planned_floats(work(2, 1)) <=
                                                                       planned_floats(work(1, 2)));
  const std::int64_t row_parts = halve_rows ? 2 : 1;
  const std::int64_t filter_parts = !halve_rows && can_halve_filters ? 2 : 1;

  const BlockWork block = work(row_parts, filter_parts);
  const Cuts cuts = cut(block, planned);
  if (cuts.strips == 0) {
    throw std::invalid_argument("a block of " + plan.gpu.name + " can't hold " +
                                std::to_string(layer.R()) + " rows of " +
                                std::to_string(layer.W()) + " cells and a filter");
  }
  const std::int64_t blocks = shares * row_parts * filter_parts;
  if (blocks > kMostBlocks / layer.N()) {
    throw std::invalid_argument(std::to_string(layer.N()) + " images of " + std::to_string(blocks) +
                                " blocks are more than a grid can have");
  }
  Division division{};
  division.shares = static_cast<int>(shares);
  division.sm_rows = static_cast<int>(sm_rows);
  division.sm_filters = static_cast<int>(sm_filters);
  division.block_rows = static_cast<int>(block.rows);
  division.block_filters = static_cast<int>(block.filters);
  division.rows = static_cast<int>(quotient_up(block.rows, cuts.strips));
  division.filters = static_cast<int>(quotient_up(block.filters, cuts.groups));
  return division;
}

int strips(const Division& division) {
  return static_cast<int>(quotient_up(division.block_rows, division.rows));
}

int groups(const Division& division) {
  return static_cast<int>(quotient_up(division.block_filters, division.filters));
}

}  // namespace halo::single_channel_adaptive
