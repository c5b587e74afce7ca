// Copies in bulk (PTX ISA 9.7.9.25.4 and .5): a thread asks for one, and the async proxy does it. What goes to shared
// memory comes when its barrier is asked for; what leaves it, when the thread waits: each as late as it may.
#include "common/simt/machine/bulk.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/simt/machine/access.hpp"
#include "common/simt/machine/floating.hpp"
#include "common/simt/machine/mbarrier.hpp"
#include "common/simt/machine/tensor_map.hpp"

namespace simt::machine {
namespace {

constexpr std::uint64_t kBulkBytes = 16;   // what sizes and addresses are multiples of
constexpr std::uint64_t kTileBytes = 128;  // and where in shared memory a tile begins
constexpr std::uint64_t kMapBytes = 128;   // of a tensor map

// ---- Reductions ----

template <class T, class Operation>
void combine_values(std::byte* to, const std::byte* from) {
  T old, value;
  std::memcpy(&old, to, sizeof old);
  std::memcpy(&value, from, sizeof value);
  const T made = Operation{}(old, value);
  std::memcpy(to, &made, sizeof made);
}

struct Combination {
  std::string name;  // "add.u32"
  BulkCopy::Combine combine;
  std::uint8_t bytes;
};
template <class T, class Operation>
Combination combination(const std::string& name, Operation) {
  return {name, &combine_values<T, Operation>, sizeof(T)};
}
template <class T>
void add_least_and_greatest(std::vector<Combination>& all, const std::string& type) {
  all.push_back(combination<T>("min." + type, [](T a, T b) { return b < a ? b : a; }));
  all.push_back(combination<T>("max." + type, [](T a, T b) { return b > a ? b : a; }));
}
template <class T>
void add_bits(std::vector<Combination>& all, const std::string& type) {
  all.push_back(combination<T>("and." + type, [](T a, T b) { return a & b; }));
  all.push_back(combination<T>("or." + type, [](T a, T b) { return a | b; }));
  all.push_back(combination<T>("xor." + type, [](T a, T b) { return a ^ b; }));
}
template <Format format>
void add_halves(std::vector<Combination>& all, const std::string& type) {
  using U16 = std::uint16_t;
  all.push_back(combination<U16>("add.noftz." + type, [](U16 a, U16 b) {
    return static_cast<U16>(narrow<format>(
        multiply_add_to_odd(widen<format>(a), 1, widen<format>(b)), Rounding::nearest));
  }));
  all.push_back(combination<U16>(
      "min." + type, [](U16 a, U16 b) { return widen<format>(b) < widen<format>(a) ? b : a; }));
  all.push_back(combination<U16>(
      "max." + type, [](U16 a, U16 b) { return widen<format>(b) > widen<format>(a) ? b : a; }));
}

const std::vector<Combination>& combinations() {
  static const auto& all = *new std::vector<Combination>([] {
    using R32 = std::uint32_t;
    using R64 = std::uint64_t;
    std::vector<Combination> made;
    const auto add = [](auto a, auto b) { return a + b; };
    made.push_back(combination<R32>("add.u32", add));
    made.push_back(combination<R32>("add.s32", add));
    made.push_back(combination<R64>("add.u64", add));
    const auto add_floats = [](float a, float b) { return settled(a + b, a, b); };
    made.push_back(combination<float>("add.f32", add_floats));
    made.push_back(combination<float>("add.ftz.f32", Flushed<decltype(add_floats)>{}));
    made.push_back(combination<double>("add.f64", add));
    made.push_back(combination<R32>("inc.u32", [](R32 a, R32 b) { return a >= b ? 0 : a + 1; }));
    made.push_back(
        combination<R32>("dec.u32", [](R32 a, R32 b) { return a == 0 || a > b ? b : a - 1; }));
    add_least_and_greatest<R32>(made, "u32");
    add_least_and_greatest<std::int32_t>(made, "s32");
    add_least_and_greatest<R64>(made, "u64");
    add_least_and_greatest<std::int64_t>(made, "s64");
    add_bits<R32>(made, "b32");
    add_bits<R64>(made, "b64");
    add_halves<kF16>(made, "f16");
    add_halves<kBf16>(made, "bf16");
    return made;
  }());
  return all;
}

// What a map's elements are called in a reduction: "u32"; numbers and bits have names of their own. TF32 is added as f32:
// only what a copy brings to shared memory is rounded.
BulkCopy::Combine combination_of(const std::string& operation, TensorMap::Type type) {
  constexpr std::string_view kNames[] = {"",    "",    "u32",  "s32",     "u64", "s64",    "f16",
                                         "f32", "f64", "bf16", "ftz.f32", "f32", "ftz.f32"};
  const std::string_view its = kNames[static_cast<std::size_t>(type)];
  const std::string bits = its.ends_with("64") ? "b64" : "b32";
  for (const std::string& name :
       {operation + "." + std::string(its), operation + ".noftz." + std::string(its),
        operation + "." + bits}) {
    if (name.ends_with(bits) && (its.empty() || its[0] == 'f')) continue;
    for (const Combination& one : combinations()) {
      if (one.name == name) return one.combine;
    }
  }
  return nullptr;
}

// ---- Tiles ----

// A run of a tile's elements that lie together in global memory.
struct TileRun {
  std::uint64_t from;
  std::uint32_t at, bytes;  // in the tile, as if it had no swizzle
};

std::uint32_t elements_of(const TensorMap& map, int i) {
  const std::uint32_t step = i == 0 ? 1 : map.steps[i];
  return (map.box[i] + step - 1) / step;
}
std::uint32_t rows_of(const TensorMap& map) {
  if (map.is_im2col) return map.pixels;
  std::uint32_t rows = 1;
  for (int i = 1; i < map.rank; ++i) rows *= elements_of(map, i);
  return rows;
}
std::uint32_t row_bytes_of(const TensorMap& map) { return map.box[0] * map.element_bytes; }
// From row to row in shared memory: as wide as the swizzle, also where the rows are not.
std::uint32_t pitch_of(const TensorMap& map) {
  return map.width == 0 ? row_bytes_of(map) : map.width;
}

// Where a pixel is in the box: the first dimension behind the channels goes on, at its end the next one, at last the image.
void go_to_next_pixel(const TensorMap& map, std::int64_t (&pixel)[5]) {
  const int image = map.rank - 1;
  for (int i = 1; i < image; ++i) {
    pixel[i] += map.steps[i];
    if (pixel[i] <= std::int64_t{map.last[i]} + map.upper[i - 1]) return;
    pixel[i] = map.lower[i - 1];
  }
  ++pixel[image];
}
bool is_in_box(const TensorMap& map, const std::int32_t (&at)[5]) {
  for (int i = 1; i < map.rank - 1; ++i) {
    if (at[i] < map.lower[i - 1] || at[i] > std::int64_t{map.last[i]} + map.upper[i - 1]) {
      return false;
    }
  }
  return true;
}

// Those of a tile at these coordinates that the tensor has; of im2col each pixel's so far on.
std::vector<TileRun> runs_of(const TensorMap& map, const std::int32_t (&at)[5],
                             const std::uint32_t (&offsets)[3]) {
  std::vector<TileRun> runs;
  std::int64_t pixel[5] = {at[0], at[1], at[2], at[3], at[4]};
  const std::uint32_t size = map.element_bytes, pitch = pitch_of(map);
  const std::uint32_t rows = rows_of(map);
  // Of the first dimension the same for all rows.
  const std::int64_t first = std::max<std::int64_t>(0, -std::int64_t{at[0]});
  const std::int64_t end =
      std::min<std::int64_t>(map.box[0], std::int64_t{map.last[0]} + 1 - at[0]);
  if (first >= end) return runs;
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::uint64_t from = map.address + static_cast<std::uint64_t>(at[0] + first) * size;
    std::uint32_t rest = row;
    bool is_there = true;
    for (int i = 1; i < map.rank; ++i) {
      std::int64_t index = pixel[i];
      if (!map.is_im2col) {
        index += std::int64_t{rest % elements_of(map, i)} * map.steps[i];
        rest /= elements_of(map, i);
      } else if (i < map.rank - 1) {
        index += offsets[i - 1];
      }
      is_there &= index >= 0 && index <= map.last[i];
      from += static_cast<std::uint64_t>(index) * map.strides[i - 1];
    }
    if (map.is_im2col) go_to_next_pixel(map, pixel);
    if (!is_there) continue;
    runs.push_back({from, row * pitch + static_cast<std::uint32_t>(first) * size,
                    static_cast<std::uint32_t>(end - first) * size});
  }
  return runs;
}

// As an H200 does it: to the nearest, subnormal numbers too; what it fills with beyond the tensor stays as it is.
void round_to_tf32(std::span<std::byte> floats) {
  for (std::size_t at = 0; at < floats.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, &floats[at], sizeof value);
    const std::uint32_t rounded = narrow<kTf32>(value, Rounding::nearest)
                                  << (kF32.places - kTf32.places);
    std::memcpy(&floats[at], &rounded, sizeof rounded);
  }
}

// Where a byte of a tile lies in shared memory, of which it would be at this place.
std::uint32_t swizzled(const TensorMap& map, std::uint32_t at) {
  return map.width == 0 ? at : at ^ (at >> 3 & (map.width / 16u - 1) << 4);
}

// ---- A copy that a lane asks for, while it is looked at. ----

class BulkRequest {
 public:
  BulkRequest(const Step* step, Warp& warp, std::size_t lane)
      : step_(step),
        warp_(warp),
        lane_(lane),
        its_(warp.block->grid->code->bulk_copies[static_cast<std::size_t>(step->offset)]) {}

  // False, and told, if it may not be so.
  bool ask() {
    if (its_.rank == 0) {
      bytes_ = warp_.values<const std::uint32_t>(its_.bytes)[lane_];
      if (bytes_ % kBulkBytes != 0) return fail("bulk_size");
    } else {
      const std::uint64_t at = address(its_.way == BulkCopy::Way::to_global ? its_.to : its_.from);
      const std::span<const std::byte> map = readable(warp_, static_cast<int>(lane_), at);
      if (at % 64 != 0 || map.size() < sizeof map_) return fail("no_tensor_map");
      std::memcpy(&map_, map.data(), sizeof map_);
      if (map_.mark != TensorMap::kMark || map_.rank != its_.rank ||
          map_.is_im2col != its_.is_im2col) {
        return fail("no_tensor_map");
      }
      bytes_ = rows_of(map_) * pitch_of(map_);
      std::int32_t coordinates[5] = {};
      for (int i = 0; i < its_.rank; ++i) {
        coordinates[i] = warp_.values<const std::int32_t>(its_.at[i])[lane_];
      }
      if (coordinates[0] * map_.element_bytes % static_cast<int>(kBulkBytes) != 0) {
        return fail("tile_column");
      }
      std::uint32_t offsets[3] = {};
      for (int i = 0; i < 3 && its_.offsets[i] != kNoSlot; ++i) {
        offsets[i] = warp_.values<const std::uint16_t>(its_.offsets[i])[lane_];
      }
      if (its_.is_im2col && !is_in_box(map_, coordinates)) return fail("outside_box");
      runs_ = runs_of(map_, coordinates, offsets);
      // As a GPU counts them of a load: of rows that the tensor has all of the tile's columns, and of others as many.
      const std::uint64_t row_bytes = row_bytes_of(map_);
      taken_ = (rows_of(map_) - runs_.size()) * ((row_bytes + 31) / 32);
      for (const TileRun& run : runs_) {
        const std::uint64_t begin = run.from - run.at % pitch_of(map_);
        taken_ += sectors(begin, begin + row_bytes);
      }
    }
    if (its_.way == BulkCopy::Way::to_global) return ask_to_global();
    return ask_to_shared();
  }

 private:
  bool fail(const char* what) {
    stop(step_, warp_, lane_, what);
    return false;
  }
  bool fail(WarpAccess::Space space, WarpAccess::Kind kind, std::uint64_t address, const char* what,
            std::uint64_t bytes = kBulkBytes) {
    Addresses64 addresses;
    addresses.fill(address);
    const WarpAccess access{space, kind,   {addresses, 1u << lane_, static_cast<int>(bytes)},
                            step_, &warp_, warp_.block};
    warp_.faulty |= 1u << lane_;
    warp_.block->grid->observer->fault(access, static_cast<int>(lane_), what);
    return false;
  }

  std::uint64_t address(const BulkCopy::Operand& operand) const {
    return warp_.values<const std::uint64_t>(operand.base)[lane_] +
           static_cast<std::uint64_t>(operand.offset);
  }

  struct SharedPlace {
    Block* block = nullptr;  // null: the cluster has no such block
    std::uint32_t at = 0;
  };
  SharedPlace shared(const BulkCopy::Operand& operand) const {
    const auto at = static_cast<std::uint32_t>(address(operand));
    const std::uint32_t rank = at / static_cast<std::uint32_t>(kSharedStride);
    const auto& blocks = warp_.block->cluster->blocks;
    return {rank < blocks.size() ? blocks[rank].get() : nullptr,
            at % static_cast<std::uint32_t>(kSharedStride)};
  }
  bool is_in_shared(const Block* block, std::uint32_t at, WarpAccess::Kind kind) {
    constexpr auto kShared = WarpAccess::Space::shared;
    const std::uint64_t aligned = its_.rank == 0 ? kBulkBytes : kTileBytes;
    if (at % aligned != 0) return fail(kShared, kind, at, "misaligned", aligned);
    const std::size_t size = block == nullptr ? 0 : block->shared.size();
    if (at + std::uint64_t{bytes_} <= size) return true;
    return fail(kShared, kind, std::max<std::uint64_t>(at, size / kBulkBytes * kBulkBytes),
                "out_of_bounds");
  }
  // What it takes of shared memory is its own block's.
  bool is_own(const SharedPlace& source) {
    if (source.block != nullptr && source.block != warp_.block) return fail("foreign_shared");
    return is_in_shared(source.block, source.at, WarpAccess::Kind::load);
  }
  // Where the engine finds so many bytes of global memory; null, and told, if they are not there.
  std::byte* in_global(std::uint64_t at, std::uint64_t bytes, WarpAccess::Kind kind) {
    constexpr auto kGlobal = WarpAccess::Space::global;
    memory::Arena& arena = *warp_.block->grid->arena;
    const memory::Allocation* const all = arena.find(at);
    if (all == nullptr || all->is_freed) {
      fail(kGlobal, kind, at, "out_of_bounds");
      return nullptr;
    }
    if (bytes > all->end() - at) {
      fail(kGlobal, kind, all->end() / kBulkBytes * kBulkBytes, "out_of_bounds");
      return nullptr;
    }
    return arena.host(all->begin) + (at - all->begin);
  }
  bool tell(WarpAccess::Space space, WarpAccess::Kind kind, std::uint64_t begin, std::uint64_t end,
            const Block* block) {
    const AsyncAccess::Piece piece{begin, end};
    return tell(space, kind, {&piece, 1}, block, begin == end ? 0 : sectors(begin, end));
  }
  bool tell(WarpAccess::Space space, WarpAccess::Kind kind,
            std::span<const AsyncAccess::Piece> pieces, const Block* block, std::uint64_t taken) {
    warp_.faulty |= warp_.block->grid->observer->async_access(
        {space, kind, pieces, step_, &warp_, static_cast<int>(lane_), block, blocks_, taken});
    return warp_.faulty == 0;
  }
  static std::uint64_t sectors(std::uint64_t begin, std::uint64_t end) {
    return ((end - 1) >> 5) - (begin >> 5) + 1;
  }

  // From global memory, or from the block's own shared memory.
  bool ask_to_shared() {
    constexpr auto kShared = WarpAccess::Space::shared;
    constexpr auto kLoad = WarpAccess::Kind::load;
    const auto store = its_.combine != nullptr ? WarpAccess::Kind::atomic : WarpAccess::Kind::store;
    const SharedPlace to = shared(its_.to), barrier = shared(its_.barrier);
    if (!is_in_shared(to.block, to.at, store)) return false;
    if (barrier.block != to.block) return fail("foreign_bulk_barrier");
    if (barrier.at % 8 != 0 || barrier.at + 8 > barrier.block->shared.size()) {
      return fail(kShared, WarpAccess::Kind::atomic, barrier.at,
                  barrier.at % 8 != 0 ? "misaligned" : "out_of_bounds");
    }
    if (its_.is_multicast) {
      const std::uint32_t mask = warp_.values<const std::uint16_t>(its_.blocks)[lane_];
      blocks_ = static_cast<unsigned>(std::popcount(mask));
    }
    PendingLoad load{to.at,        barrier.at,         std::vector<std::byte>(bytes_),
                     its_.combine, its_.element_bytes, bytes_};
    if (its_.way == BulkCopy::Way::to_block) {
      const SharedPlace from = shared(its_.from);
      if (!is_own(from)) return false;
      if (!tell(kShared, kLoad, from.at, from.at + std::uint64_t{bytes_}, warp_.block))
        return false;
      std::memcpy(load.data.data(), warp_.block->shared.data() + from.at, bytes_);
    } else if (its_.rank != 0) {
      if (!read_tile(load)) return false;
    } else {
      const std::uint64_t from = address(its_.from);
      if (from % kBulkBytes != 0) return fail(WarpAccess::Space::global, kLoad, from, "misaligned");
      if (bytes_ != 0) {
        const std::byte* const bytes = in_global(from, bytes_, kLoad);
        if (bytes == nullptr) return false;
        if (!tell(WarpAccess::Space::global, kLoad, from, from + bytes_, nullptr)) return false;
        std::memcpy(load.data.data(), bytes, bytes_);
      }
    }
    const auto& blocks = warp_.block->cluster->blocks;
    for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
      Block* const block = blocks[rank].get();
      const bool is_named =
          its_.is_multicast
              ? (warp_.values<const std::uint16_t>(its_.blocks)[lane_] >> rank & 1) != 0
              : block == to.block;
      if (!is_named) continue;
      // The bytes, and then that they are there.
      if (!tell(kShared, store, to.at, to.at + std::uint64_t{bytes_}, block) ||
          !tell(kShared, WarpAccess::Kind::atomic, barrier.at, barrier.at + 8ull, block)) {
        return false;
      }
      block->loads.push_back(load);
    }
    warp_.advanced = true;
    return true;
  }

  bool read_tile(PendingLoad& load) {
    constexpr auto kLoad = WarpAccess::Kind::load;
    if (map_.fills_nan) {
      // Numbers beyond the tensor are one that is none, of which fma.oob makes 0.
      for (std::size_t i = 0; i < load.data.size(); ++i) {
        load.data[i] = i % 2 == 0 ? std::byte{0xf7} : std::byte{0x7f};
      }
    }
    std::vector<AsyncAccess::Piece> pieces;
    for (const TileRun& run : runs_) {
      const std::byte* const bytes = in_global(run.from, run.bytes, kLoad);
      if (bytes == nullptr) return false;
      std::memcpy(load.data.data() + run.at, bytes, run.bytes);
      if (map_.is_tf32()) round_to_tf32({load.data.data() + run.at, run.bytes});
      pieces.push_back({run.from, run.from + run.bytes});
    }
    if (map_.width != 0) {
      for (std::uint32_t at = 0; at < bytes_; at += 16) {
        const bool is_gap = at % map_.width >= row_bytes_of(map_);
        load.chunks.push_back(is_gap ? PendingLoad::kGap : swizzled(map_, load.to + at));
      }
    }
    load.arrives = rows_of(map_) * row_bytes_of(map_);
    return tell(WarpAccess::Space::global, kLoad, pieces, nullptr, taken_);
  }

  bool ask_to_store_tile() {
    const std::string operation = its_.operation;
    const auto combine = operation.empty() ? nullptr : combination_of(operation, map_.type);
    if (!operation.empty() && combine == nullptr) return fail("no_reduction");
    const auto store = combine != nullptr ? WarpAccess::Kind::atomic : WarpAccess::Kind::store;
    const SharedPlace source = shared(its_.from);
    if (!is_own(source)) return false;
    const std::uint32_t from = source.at;
    PendingStore pending{static_cast<std::uint8_t>(lane_),
                         warp_.bulk_group[lane_],
                         step_,
                         combine,
                         map_.element_bytes,
                         {}};
    std::vector<AsyncAccess::Piece> pieces;
    std::uint64_t taken = 0;
    for (const TileRun& run : runs_) {
      taken += sectors(run.from, run.from + run.bytes);
      std::byte* const to = in_global(run.from, run.bytes, store);
      if (to == nullptr) return false;
      pieces.push_back({run.from, run.from + run.bytes});
      // By sixteen bytes of the tile, which stay together.
      for (std::uint32_t at = run.at; at < run.at + run.bytes;) {
        const std::uint32_t end =
            map_.width == 0 ? run.at + run.bytes : std::min(run.at + run.bytes, at / 16 * 16 + 16);
        pending.pieces.push_back({to + (at - run.at), swizzled(map_, from + at), end - at});
        at = end;
      }
    }
    if (!tell(WarpAccess::Space::shared, WarpAccess::Kind::load, from, from + std::uint64_t{bytes_},
              warp_.block) ||
        !tell(WarpAccess::Space::global, store, pieces, nullptr, taken)) {
      return false;
    }
    warp_.stores.push_back(std::move(pending));
    return true;
  }

  bool ask_to_global() {
    if (its_.rank != 0) return ask_to_store_tile();
    const auto store = its_.combine != nullptr ? WarpAccess::Kind::atomic : WarpAccess::Kind::store;
    const SharedPlace source = shared(its_.from);
    if (!is_own(source)) return false;
    const std::uint32_t from = source.at;
    const std::uint64_t to = address(its_.to);
    if (to % kBulkBytes != 0) return fail(WarpAccess::Space::global, store, to, "misaligned");
    PendingStore pending{static_cast<std::uint8_t>(lane_),
                         warp_.bulk_group[lane_],
                         step_,
                         its_.combine,
                         its_.element_bytes,
                         {}};
    if (bytes_ != 0) {
      std::byte* const bytes = in_global(to, bytes_, store);
      if (bytes == nullptr) return false;
      if (!tell(WarpAccess::Space::shared, WarpAccess::Kind::load, from,
                from + std::uint64_t{bytes_}, warp_.block) ||
          !tell(WarpAccess::Space::global, store, to, to + bytes_, nullptr)) {
        return false;
      }
      pending.pieces.push_back({bytes, from, bytes_});
    }
    warp_.stores.push_back(std::move(pending));
    return true;
  }

  const Step* step_;
  Warp& warp_;
  std::size_t lane_;
  const BulkCopy& its_;
  std::uint32_t bytes_ = 0;
  unsigned blocks_ = 1;  // that it goes to
  std::uint64_t taken_ = 0;
  TensorMap map_;  // of a tile
  std::vector<TileRun> runs_;
};

const Step* copy_in_bulk(const Step* step, Warp& warp) {
  each_lane(warp.active, [&](std::size_t lane) {
    if (warp.faulty == 0) BulkRequest(step, warp, lane).ask();
  });
  return warp.faulty == 0 ? step + 1 : nullptr;
}

void move_bytes(std::byte* to, const std::byte* from, std::size_t bytes, BulkCopy::Combine combine,
                std::size_t each) {
  if (combine == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (std::size_t at = 0; at < bytes; at += each) combine(to + at, from + at);
}

void store_now(const PendingStore& its, Block& block) {
  for (const PendingStore::Piece& piece : its.pieces) {
    move_bytes(piece.to, block.shared.data() + piece.from, piece.bytes, its.combine,
               its.element_bytes);
  }
}

const Step* commit_bulk(const Step* step, Warp& warp) {
  each_lane(warp.active, [&](std::size_t lane) { ++warp.bulk_group[lane]; });
  return step + 1;
}
// Of the committed groups all but the last `offset`. (They are written when they have been read; Step::keeps: nobody may
// count on that.)
const Step* wait_for_bulk(const Step* step, Warp& warp) {
  const auto but = static_cast<std::uint32_t>(step->offset);
  std::erase_if(warp.stores, [&](const PendingStore& one) {
    const bool is_due =
        (warp.active >> one.lane & 1) != 0 && one.group + but < warp.bulk_group[one.lane];
    if (is_due) store_now(one, *warp.block);
    return is_due;
  });
  warp.block->grid->observer->stores_waited(warp, but, !step->keeps);
  return step + 1;
}

// ---- Forms ----

BulkCopy::Operand bulk_operand(Decoder& decoder, const ptx::Operand& operand) {
  const Decoder::Address at = decoder.address(operand);
  return {at.base, at.offset};
}

// cp.async.bulk.to.from... [to], [from], bytes[, [barrier]][, blocks][, how to cache]
void build_bulk(Decoder& decoder, const ptx::Instruction& one) {
  BulkCopy its;
  its.way = !one.has("global")                        ? BulkCopy::Way::to_block
            : one.has("mbarrier::complete_tx::bytes") ? BulkCopy::Way::from_global
                                                      : BulkCopy::Way::to_global;
  const bool has_barrier = its.way != BulkCopy::Way::to_global;
  its.is_multicast = one.has("multicast::cluster");
  const std::size_t operands = 3u + (has_barrier ? 1u : 0u) + (its.is_multicast ? 1u : 0u) +
                               (one.has("L2::cache_hint") ? 1u : 0u);
  if (one.operands.size() != operands) decoder.refuse("another number of operands than known here");
  its.to = bulk_operand(decoder, one.operands[0]);
  its.from = bulk_operand(decoder, one.operands[1]);
  its.bytes = decoder.source(one.operands[2], ptx::Type::u32);
  if (has_barrier) its.barrier = bulk_operand(decoder, one.operands[3]);
  if (its.is_multicast) its.blocks = decoder.source(one.operands[4], ptx::Type::u16);
  for (const Combination& reduces : combinations()) {
    if (!one.has("reduce")) break;
    if (one.form().ends_with("." + reduces.name)) {
      its.combine = reduces.combine;
      its.element_bytes = reduces.bytes;
    }
  }
  decoder.emit_bulk_copy(&copy_in_bulk, its);
}

// cp.async.bulk.tensor.2d.to.from... [to], [map, {x, y}], [barrier][, {offsets}][, blocks]...; of a store [map, {x, y}],
// [from]...
void build_tile(Decoder& decoder, const ptx::Instruction& one) {
  BulkCopy its;
  const bool stores = one.has("bulk_group");
  its.way = stores ? BulkCopy::Way::to_global : BulkCopy::Way::from_global;
  its.is_multicast = one.has("multicast::cluster");
  its.is_im2col = one.has("im2col") || one.has("im2col_no_offs");
  std::fill(std::begin(its.offsets), std::end(its.offsets), kNoSlot);
  const bool has_offsets = one.has("im2col");
  const std::size_t operands = (stores ? 2u : 3u) + (has_offsets ? 1u : 0u) +
                               (its.is_multicast ? 1u : 0u) + (one.has("L2::cache_hint") ? 1u : 0u);
  if (one.operands.size() != operands) decoder.refuse("another number of operands than known here");
  const ptx::Operand& tile = one.operands[stores ? 0 : 1];
  while (!one.has(std::to_string(its.rank) + "d")) ++its.rank;
  if (tile.parts.size() != 2 ||
      (its.rank > 1 || tile.parts[1].kind == ptx::Operand::Kind::vector) !=
          (tile.parts[1].kind == ptx::Operand::Kind::vector)) {
    decoder.refuse("an address of another kind than known here");
  }
  ptx::Operand map = tile;
  map.parts.resize(1);
  const std::vector<ptx::Operand> alone = {tile.parts[1]};
  const std::vector<ptx::Operand>& coordinates =
      tile.parts[1].kind == ptx::Operand::Kind::vector ? tile.parts[1].parts : alone;
  if (static_cast<int>(coordinates.size()) != its.rank) {
    decoder.refuse("another number of coordinates than the tensor has");
  }
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    its.at[i] = decoder.source(coordinates[i], ptx::Type::s32);
  }
  (stores ? its.to : its.from) = bulk_operand(decoder, map);
  (stores ? its.from : its.to) = bulk_operand(decoder, one.operands[stores ? 1 : 0]);
  if (!stores) its.barrier = bulk_operand(decoder, one.operands[2]);
  if (has_offsets) {
    const ptx::Operand& list = one.operands[3];
    const std::vector<ptx::Operand> single = {list};
    const auto& all = list.kind == ptx::Operand::Kind::vector ? list.parts : single;
    if (static_cast<int>(all.size()) != its.rank - 2) {
      decoder.refuse("another number of offsets than the tensor has");
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      its.offsets[i] = decoder.source(all[i], ptx::Type::u16);
    }
  }
  if (its.is_multicast) {
    its.blocks = decoder.source(one.operands[has_offsets ? 4 : 3], ptx::Type::u16);
  }
  for (const char* const operation : {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
    if (one.has("reduce") && one.has(operation)) {
      std::copy_n(operation, std::strlen(operation), its.operation);
    }
  }
  decoder.emit_bulk_copy(&copy_in_bulk, its);
}

// ---- Tensor maps that kernels change ----

// The 128 bytes of a lane's map; null, and told, if they are not there.
std::byte* map_of(const Step* step, Warp& warp, std::size_t lane, WarpAccess::Kind kind,
                  Window window, std::uint32_t slot, std::int64_t offset) {
  std::byte* first = nullptr;
  for (std::uint64_t at = 0; at < kMapBytes; at += kBulkBytes) {
    Addresses64 addresses = addresses_of(warp, slot, offset + static_cast<std::int64_t>(at));
    const bool is_there =
        access(step, warp, kind, window, static_cast<int>(kBulkBytes), addresses, 1u << lane,
               [&](const Places& places, const memory::WarpAddresses& lanes, const Block*) {
                 if (at == 0) first = places.of(lanes, lane);
               });
    if (!is_there) return nullptr;
  }
  return first;
}

// The fields of a map, as tensormap.replace names them.
constexpr std::string_view kFields[] = {
    "global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
    "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"};
// As its immediate operand numbers the types of elements.
constexpr TensorMap::Type kTypes[] = {
    TensorMap::Type::u8,      TensorMap::Type::u16, TensorMap::Type::u32,  TensorMap::Type::s32,
    TensorMap::Type::u64,     TensorMap::Type::s64, TensorMap::Type::f16,  TensorMap::Type::f32,
    TensorMap::Type::f32_ftz, TensorMap::Type::f64, TensorMap::Type::bf16, TensorMap::Type::tf32,
    TensorMap::Type::tf32_ftz};
constexpr std::uint8_t kTypeBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};

void replace_field(TensorMap& map, std::string_view field, std::uint64_t which,
                   std::uint64_t value) {
  if (field == "global_address") map.address = value;
  if (field == "rank") map.rank = static_cast<std::uint8_t>(value + 1);
  if (field == "box_dim") map.box[which] = static_cast<std::uint16_t>(value);
  if (field == "global_dim") map.last[which] = static_cast<std::uint32_t>(value) - 1;
  if (field == "global_stride") map.strides[which] = value;
  if (field == "element_stride") map.steps[which] = static_cast<std::uint8_t>(value);
  if (field == "elemtype") {
    map.type = kTypes[value];
    map.element_bytes = kTypeBytes[value];
  }
  if (field == "swizzle_mode") {
    map.width = static_cast<std::uint8_t>(value == 0 ? 0 : 16 << value);
  }
  if (field == "fill_mode") map.fills_nan = value != 0;
}

// Step::from[0]: the value, or, where `keeps` is false, an immediate one in source_offset; from[1]: which field, from[2]: of
// which dimension.
const Step* replace_in_map(const Step* step, Warp& warp) {
  each_lane(warp.active, [&](std::size_t lane) {
    if (warp.faulty != 0) return;
    std::byte* const at = map_of(step, warp, lane, WarpAccess::Kind::store, step->window,
                                 step->from[kAddress], step->offset);
    if (at == nullptr) return;
    TensorMap map;
    std::memcpy(static_cast<void*>(&map), at, sizeof map);
    if (map.mark != TensorMap::kMark) {
      stop(step, warp, lane, "no_tensor_map");
      return;
    }
    const std::uint64_t value = step->keeps ? warp.values<const std::uint64_t>(step->from[0])[lane]
                                            : static_cast<std::uint64_t>(step->source_offset);
    replace_field(map, kFields[step->from[1]], step->from[2], value);
    std::memcpy(at, &map, sizeof map);
  });
  return warp.faulty == 0 ? step + 1 : nullptr;
}

// tensormap.replace.tile.field.space.b1024.type [map], [which dimension, ]value
void build_replace(Decoder& decoder, const ptx::Instruction& one) {
  const bool is_of_dimension = one.has("box_dim") || one.has("global_dim") ||
                               one.has("global_stride") || one.has("element_stride");
  if (one.operands.size() != (is_of_dimension ? 3 : 2)) {
    decoder.refuse("another number of operands than known here");
  }
  const auto number = [&](std::size_t i, std::uint64_t most) {
    if (one.operands[i].kind != ptx::Operand::Kind::number || one.operands[i].bits > most) {
      decoder.refuse("a number that is not known here");
    }
    return one.operands[i].bits;
  };
  std::uint8_t field = 0;
  while (!one.has(kFields[field])) ++field;
  const ptx::Operand& value = one.operands.back();
  const bool is_immediate = value.kind == ptx::Operand::Kind::number;
  if (one.has("elemtype")) number(1, std::size(kTypes) - 1);
  if (one.has("interleave_layout")) number(1, 0);
  if (one.has("swizzle_mode")) number(1, 3);
  const Decoder::Address at = decoder.address(one.operands[0]);
  std::uint32_t from = 0;
  if (!is_immediate) {
    const bool is_wide = one.type() == ptx::Type::b64;
    from = decoder.source(value, one.type());
    if (!is_wide) {
      const std::uint32_t wide = decoder.fresh(8);
      Step& step = decoder.emit(resize(4, 8, false));
      step.from[0] = from;
      step.to = from = wide;
    }
  }
  Step& step = decoder.emit(&replace_in_map);
  step.window = window_named(decoder, one, one.operands[0]);
  step.from[kAddress] = at.base;
  step.offset = at.offset;
  step.from[0] = from;
  step.keeps = !is_immediate;
  step.source_offset = static_cast<std::int64_t>(value.bits);
  step.from[1] = field;
  step.from[2] =
      static_cast<std::uint32_t>(is_of_dimension ? number(1, one.has("global_stride") ? 3 : 4) : 0);
  step.has_values = false;
  step.traffic = Traffic::none;
}

// tensormap.cp_fenceproxy... [to], [from], 128: the warp does it once.
const Step* hand_on_map(const Step* step, Warp& warp) {
  const auto lane = static_cast<std::size_t>(std::countr_zero(warp.active));
  const std::byte* const from = map_of(step, warp, lane, WarpAccess::Kind::load, Window::shared,
                                       step->from[0], step->source_offset);
  std::byte* const to = from == nullptr
                            ? nullptr
                            : map_of(step, warp, lane, WarpAccess::Kind::store, Window::global,
                                     step->from[kAddress], step->offset);
  if (to == nullptr) return nullptr;
  std::memcpy(to, from, kMapBytes);
  warp.block->grid->observer->fence(warp, *step);
  return step + 1;
}
void build_hand_on_map(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 3) decoder.refuse("another number of operands than known here");
  const Decoder::Address to = decoder.address(one.operands[0]);
  const Decoder::Address from = decoder.address(one.operands[1]);
  Step& step = decoder.emit(&hand_on_map);
  step.from[0] = from.base;
  step.source_offset = from.offset;
  step.from[kAddress] = to.base;
  step.offset = to.offset;
  step.has_values = false;
  step.traffic = Traffic::none;
  step.order = Order::release;
  step.scope = scope_of(one);
}

void build_no_copy(Decoder& decoder, const ptx::Instruction&) {
  decoder.emit([](const Step* step, Warp&) { return step + 1; });
}

void build_wait_for_bulk(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 1 || one.operands[0].kind != ptx::Operand::Kind::number) {
    decoder.refuse("a count that is no number");
  }
  Step& step = decoder.emit(&wait_for_bulk);
  step.offset = static_cast<std::int64_t>(one.operands[0].bits);
  step.keeps = one.has("read");
}

}  // namespace

void land_loads(Block& block, std::uint32_t barrier) {
  bool is_over = false;
  std::erase_if(block.loads, [&](const PendingLoad& one) {
    // What the phase has not waited for is as late as the others.
    if (one.barrier != barrier || is_over) return false;
    if (one.chunks.empty()) {
      move_bytes(block.shared.data() + one.to, one.data.data(), one.data.size(), one.combine,
                 one.element_bytes);
    }
    for (std::size_t i = 0; i < one.chunks.size(); ++i) {
      if (one.chunks[i] == PendingLoad::kGap) continue;
      std::memcpy(block.shared.data() + one.chunks[i], one.data.data() + 16 * i, 16);
    }
    Mbarrier its;
    std::memcpy(&its.word, block.shared.data() + barrier, sizeof its.word);
    const std::uint32_t phase = its.phase();
    its.arrive(0, -static_cast<std::int32_t>(one.arrives));
    std::memcpy(block.shared.data() + barrier, &its.word, sizeof its.word);
    block.grid->observer->landed(block, one.to, one.to + std::uint64_t{one.data.size()});
    is_over = its.phase() != phase;
    if (is_over) block.grid->observer->phase_completed(block, barrier);
    return true;
  });
}

void finish_stores(Block& block) {
  for (Warp& warp : block.warps) {
    for (const PendingStore& one : warp.stores) store_now(one, block);
    warp.stores.clear();
  }
}

void add_bulk_forms(std::vector<Form>& forms) {
  const std::string arrives = ".mbarrier::complete_tx::bytes", hint = "[.L2::cache_hint]";
  const std::string to_global = ".global.shared::cta.bulk_group" + hint;
  add_built(forms,
            "cp.async.bulk(.shared::cluster|.shared::cta).global" + arrives +
                "[.multicast::cluster]" + hint,
            &build_bulk);
  add_built(forms, "cp.async.bulk.shared::cluster.shared::cta" + arrives, &build_bulk);
  add_built(forms, "cp.async.bulk" + to_global, &build_bulk);
  add_built(forms, "cp.async.bulk.prefetch.L2.global" + hint, &build_no_copy);
  const std::string ranks = "(.1d|.2d|.3d|.4d|.5d)";
  add_built(forms,
            "cp.async.bulk.tensor" + ranks + "(.shared::cluster|.shared::cta).global[.tile]" +
                arrives + "[.multicast::cluster]" + hint,
            &build_tile);
  const std::string tile_to_global = ranks + ".global.shared::cta";
  add_built(forms, "cp.async.bulk.tensor" + tile_to_global + "[.tile].bulk_group" + hint,
            &build_tile);
  add_built(forms,
            "cp.reduce.async.bulk.tensor" + tile_to_global +
                "(.add|.min|.max|.inc|.dec|.and|.or|.xor)[.tile].bulk_group" + hint,
            &build_tile);
  add_built(forms, "cp.async.bulk.prefetch.tensor" + ranks + ".L2.global[.tile|.im2col]" + hint,
            &build_no_copy);
  const std::string deep = "(.3d|.4d|.5d)";
  add_built(forms,
            "cp.async.bulk.tensor" + deep + "(.shared::cluster|.shared::cta).global.im2col" +
                arrives + "[.multicast::cluster]" + hint,
            &build_tile);
  add_built(forms,
            "cp.async.bulk.tensor" + deep + ".global.shared::cta.im2col_no_offs.bulk_group" + hint,
            &build_tile);
  add_built(forms,
            "cp.reduce.async.bulk.tensor" + deep +
                ".global.shared::cta(.add|.min|.max|.inc|.dec|.and|.or|.xor).im2col_no_offs"
                ".bulk_group" +
                hint,
            &build_tile);
  add_built(forms,
            "tensormap.replace.tile(.global_address|.global_stride)[.global|.shared::cta].b1024"
            ".b64",
            &build_replace);
  add_built(forms,
            "tensormap.replace.tile(.rank|.box_dim|.global_dim|.element_stride|.elemtype|"
            ".interleave_layout|.swizzle_mode|.fill_mode)[.global|.shared::cta].b1024.b32",
            &build_replace);
  add_built(forms,
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release"
            "(.cta|.cluster|.gpu|.sys).sync.aligned",
            &build_hand_on_map, Form::Guarding::apart);
  for (const Combination& one : combinations()) {
    add_built(forms, "cp.reduce.async.bulk" + to_global + "." + one.name, &build_bulk);
    add_built(forms, "cp.reduce.async.bulk.shared::cluster.shared::cta" + arrives + "." + one.name,
              &build_bulk);
  }
  add_built(forms, "cp.async.bulk.commit_group",
            [](Decoder& decoder, const ptx::Instruction&) { decoder.emit(&commit_bulk); });
  add_built(forms, "cp.async.bulk.wait_group[.read]", &build_wait_for_bulk);
}

}  // namespace simt::machine
