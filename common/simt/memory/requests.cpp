#include "common/simt/memory/requests.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace simt::memory {
namespace {

constexpr int kLanes = 32;
constexpr int kBanks = 32;

bool has(std::uint32_t mask, int lane) { return (mask >> lane & 1) != 0; }

// Different values of address >> shift, of the lanes of a mask.
int different(const WarpAddresses& access, int shift) {
  std::array<std::uint64_t, kLanes> values;
  int count = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!has(access.mask, lane)) continue;
    const std::uint64_t value = access.address[static_cast<std::size_t>(lane)] >> shift;
    if (count == 0 || value != values[static_cast<std::size_t>(count - 1)]) {
      values[static_cast<std::size_t>(count++)] = value;
    }
  }
  // Most rise from lane to lane.
  if (std::is_sorted(values.begin(), values.begin() + count)) return count;
  std::sort(values.begin(), values.begin() + count);
  return static_cast<int>(std::unique(values.begin(), values.begin() + count) - values.begin());
}

// Words that are as far from lane to lane, in words; 0: they are not.
std::uint64_t stride_of(const WarpAddresses& access) {
  const std::uint64_t first = access.address[0], stride = access.address[1] - first;
  std::uint64_t out_of_step = stride & 3;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
    out_of_step |= access.address[lane] ^ (first + lane * stride);
  }
  return out_of_step == 0 ? stride / 4 : 0;
}

// What lies in the banks of shared memory: of each group of them the words found there, as a rule one. What a lane reads is
// aligned to its size: the banks of its words are no others' but of lanes whose words all are there.
class Banks {
 public:
  explicit Banks(int bytes)
      : shift_(2 + std::countr_zero(static_cast<unsigned>(words_of(bytes)))),
        groups_(kBanks / words_of(bytes)) {}
  std::size_t group_of(std::uint64_t address) const { return (address >> shift_) % groups_; }
  // Whether it is the first of its words.
  bool add(std::uint64_t address) {
    auto& words = found_[group_of(address)];
    std::uint8_t& many = count_[group_of(address)];
    const auto end = words.begin() + many;
    if (std::find(words.begin(), end, address >> shift_) != end) return false;
    words[many++] = address >> shift_;
    depth_ = std::max<int>(depth_, many);
    return true;
  }
  int depth() const { return depth_; }

 private:
  static int words_of(int bytes) { return std::max(1, bytes / 4); }

  int shift_;
  std::size_t groups_;
  int depth_ = 0;
  std::array<std::array<std::uint64_t, kLanes>, kBanks> found_;
  std::array<std::uint8_t, kBanks> count_{};
};

// The most different words of these lanes that lie in one bank.
int depth(const WarpAddresses& access, std::uint32_t lanes) {
  if (access.bytes == 4 && lanes == ~0u) {
    // As many lanes fall together as the stride and the number of banks have factors in common: powers of two.
    const std::uint64_t stride = stride_of(access);
    if (stride != 0) return static_cast<int>(std::min<std::uint64_t>(stride & -stride, kBanks));
  }
  Banks banks(access.bytes);
  for (; lanes != 0; lanes &= lanes - 1) {
    banks.add(access.address[static_cast<std::size_t>(std::countr_zero(lanes))]);
  }
  return banks.depth();
}

// Whether each lane's neighbour at this distance reads the same; one that does not read agrees.
bool neighbours_agree(const WarpAddresses& access, int distance) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int other = lane ^ distance;
    if (has(access.mask, lane) && has(access.mask, other) &&
        access.address[static_cast<std::size_t>(lane)] !=
            access.address[static_cast<std::size_t>(other)]) {
      return false;
    }
  }
  return true;
}

// Of copies through the first cache: in a pass a bank of either side serves one lane, even of two that read one word.
Wavefronts passes_of_banks(const WarpAddresses& to, std::span<const std::uint64_t> from) {
  const int lanes = to.bytes <= 4 ? kLanes : to.bytes == 8 ? kLanes / 2 : kLanes / 4;
  const int words = to.bytes / 4;
  Wavefronts result;
  for (int begin = 0; begin < kLanes; begin += lanes) {
    std::array<int, kBanks> read{}, written{};
    for (int lane = begin; lane < begin + lanes; ++lane) {
      if (!has(to.mask, lane)) continue;
      const auto at = static_cast<std::size_t>(lane);
      for (int w = 0; w < words; ++w) {
        const auto word = static_cast<std::uint64_t>(w);
        if (from[at] != kNowhere) ++read[(from[at] / 4 + word) % kBanks];
        ++written[(to.address[at] / 4 + word) % kBanks];
      }
    }
    const int most = std::max(*std::max_element(read.begin(), read.end()),
                              *std::max_element(written.begin(), written.end()));
    result.taken += most;
    result.fewest += most != 0 ? 1 : 0;
  }
  result.conflicts = result.taken - result.fewest;
  return result;
}

// Of copies past it: from one line of 128 bytes to another.
int passes_of_lines(const WarpAddresses& to, std::span<const std::uint64_t> from) {
  // From a sector to a sector: which half goes to which, a bit each. Both go together, straight or crosswise.
  struct Way {
    std::uint64_t from, to;
    unsigned halves;
    int turn;  // how many others have the same source and would go with it
  };
  constexpr unsigned kStraight = 0b1001, kCrosswise = 0b0110;
  std::array<Way, kLanes> all;
  auto end = all.begin();
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto at = static_cast<std::size_t>(lane);
    if (!has(to.mask, lane) || from[at] == kNowhere) continue;
    const std::uint64_t source = from[at] >> 4, target = to.address[at] >> 4;
    const unsigned half = 1u << (source % 2 * 2 + target % 2);
    const auto found = std::find_if(all.begin(), end, [&](const Way& its) {
      const unsigned both = its.halves | half;
      return its.from == source / 2 && its.to == target / 2 && its.halves != half &&
             (both == kStraight || both == kCrosswise);
    });
    if (found != end) {
      found->halves |= half;
    } else {
      *end++ = {source / 2, target / 2, half, 0};
    }
  }
  // A pass moves the same halves of all its sectors; either each lands on an even place if it comes from one, or none does.
  const auto go_together = [](const Way& a, const Way& b) {
    return a.from / 4 == b.from / 4 && a.to / 4 == b.to / 4 &&
           (a.from ^ a.to) % 2 == (b.from ^ b.to) % 2 && a.halves == b.halves;
  };
  int passes = 0;
  for (auto one = all.begin(); one != end; ++one) {
    bool is_new = true;
    for (auto its = all.begin(); its != one; ++its) {
      if (go_together(*its, *one)) one->turn += its->from == one->from ? 1 : 0;
    }
    for (auto its = all.begin(); its != one; ++its) {
      is_new = is_new && !(go_together(*its, *one) && its->turn == one->turn);
    }
    passes += is_new ? 1 : 0;
  }
  return passes;
}

}  // namespace

int sectors(const WarpAddresses& access) {
  if (access.mask == 0) return 0;
  const std::uint64_t spanned = ((access.beyond - 1) >> 5) - (access.least >> 5) + 1;
  if (access.consecutive || spanned == 1) return static_cast<int>(spanned);
  return different(access, 5);  // an access is aligned to its size, so it lies in one sector
}

int local_sectors(const WarpAddresses& access) {
  constexpr int kLanesOfSector = 8;
  const auto words = static_cast<std::uint64_t>(std::max(1, access.bytes / 4));
  int sectors = 0;
  for (int group = 0; group < kLanes; group += kLanesOfSector) {
    std::array<std::uint64_t, kLanesOfSector> first;
    std::size_t count = 0;
    for (int lane = group; lane < group + kLanesOfSector; ++lane) {
      const std::uint64_t word = access.address[static_cast<std::size_t>(lane)] / 4;
      const auto end = first.begin() + static_cast<std::ptrdiff_t>(count);
      if (has(access.mask, lane) && std::find(first.begin(), end, word) == end) {
        first[count++] = word;
      }
    }
    sectors += static_cast<int>(count * words);
  }
  return sectors;
}

int distinct(const WarpAddresses& access) {
  return access.beyond - access.least == static_cast<std::uint64_t>(access.bytes)
             ? 1
             : different(access, 0);
}

int most_of_a_word(const WarpAddresses& access) {
  int most = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    int count = 0;
    for (int other = 0; other < kLanes; ++other) {
      const bool is_beside = access.address[static_cast<std::size_t>(other)] / 4 ==
                             access.address[static_cast<std::size_t>(lane)] / 4;
      count += has(access.mask, lane) && has(access.mask, other) && is_beside ? 1 : 0;
    }
    most = std::max(most, count);
  }
  return most;
}

// Up to 4 bytes wide all lanes share a pass, 8 bytes half of them, 16 bytes a quarter; of loads whose neighbours agree
// twice as many do. A pass without an active lane costs nothing. Measured on an H200.
Wavefronts wavefronts(const WarpAddresses& access, bool is_load) {
  int lanes = access.bytes <= 4 ? kLanes : access.bytes == 8 ? kLanes / 2 : kLanes / 4;
  if (access.bytes > 4 && is_load && (neighbours_agree(access, 1) || neighbours_agree(access, 2))) {
    lanes *= 2;
  }
  const std::uint32_t all = lanes == kLanes ? ~0u : (1u << lanes) - 1;
  // Neighbours have all banks to themselves, and one word is for all.
  const bool is_free = access.consecutive ||
                       access.beyond - access.least == static_cast<std::uint64_t>(access.bytes);
  if (is_free && lanes == kLanes) return {1, 1, 0};
  Wavefronts result;
  for (int begin = 0; begin < kLanes; begin += lanes) {
    const std::uint32_t members = access.mask & all << begin;
    if (members == 0) continue;
    result.taken += is_free ? 1 : depth(access, members);
    result.fewest += 1;
  }
  result.conflicts = result.taken - result.fewest;
  return result;
}

std::uint32_t swapped(const WarpAddresses& access) {
  const int together = kLanes * 4 / access.bytes;
  Banks changed(access.bytes);
  std::uint32_t lanes = 0;
  for (int begin = 0; begin < kLanes; begin += together) {
    std::uint32_t taken = 0;  // banks, or pairs
    for (int lane = begin; lane < begin + together; ++lane) {
      if (!has(access.mask, lane)) continue;
      const std::uint64_t address = access.address[static_cast<std::size_t>(lane)];
      const std::uint32_t bank = 1u << changed.group_of(address);
      if ((taken & bank) != 0 || !changed.add(address)) continue;
      taken |= bank;
      lanes |= 1u << lane;
    }
  }
  return lanes;
}

int copied_sectors(Copy way, const WarpAddresses& from, std::span<const std::uint64_t> to) {
  if (way == Copy::cached) return sectors(from);
  // Of each line those that it fills on the other side.
  std::array<std::pair<std::uint64_t, std::uint64_t>, kLanes> all;
  auto end = all.begin();
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!has(from.mask, lane)) continue;
    const auto at = static_cast<std::size_t>(lane);
    *end++ = {from.address[at] >> 7, to[at] >> 5};
  }
  std::sort(all.begin(), end);
  return static_cast<int>(std::unique(all.begin(), end) - all.begin());
}

Wavefronts copied_wavefronts(Copy way, const WarpAddresses& to,
                             std::span<const std::uint64_t> from) {
  Wavefronts result = passes_of_banks(to, from);
  if (way == Copy::cached) return result;
  bool has_zeros = false;
  for (int lane = 0; lane < kLanes; ++lane) {
    has_zeros |= has(to.mask, lane) && from[static_cast<std::size_t>(lane)] == kNowhere;
  }
  if (!has_zeros) result.conflicts = 0;
  // What is read goes as always; zeros go as a store does, in passes of their own.
  result.taken = (way != Copy::past_cache_or_zeros ? passes_of_lines(to, from) : 0) +
                 (way != Copy::past_cache ? wavefronts(to, false).taken : 0);
  result.fewest = std::min(result.fewest, result.taken);
  return result;
}

}  // namespace simt::memory
