// Copies in bulk (PTX ISA 9.7.9.25.4 and .5): a thread asks for one, and the async proxy does it. What goes to shared
// memory comes when its barrier is asked for; what leaves it, when the thread waits: each as late as it may.
#include "common/simt/machine/bulk.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "common/simt/machine/access.hpp"
#include "common/simt/machine/mbarrier.hpp"
#include "common/simt/machine/rounding.hpp"

namespace simt::machine {
namespace {

constexpr std::uint64_t kBulkBytes = 16;  // what sizes and addresses are multiples of

// A copy that a lane asks for, while it is looked at.
class BulkRequest {
 public:
  BulkRequest(const Step* step, Warp& warp, std::size_t lane)
      : step_(step),
        warp_(warp),
        lane_(lane),
        its_(warp.block->grid->code->bulk_copies[static_cast<std::size_t>(step->offset)]) {}

  // False, and told, if it may not be so.
  bool ask() {
    bytes_ = warp_.values<const std::uint32_t>(its_.bytes)[lane_];
    if (bytes_ % kBulkBytes != 0) return fail("bulk_size");
    if (its_.way == BulkCopy::Way::to_global) return ask_to_global();
    return ask_to_shared();
  }

 private:
  bool fail(const char* what) {
    stop(step_, warp_, lane_, what);
    return false;
  }
  bool fail(WarpAccess::Space space, WarpAccess::Kind kind, std::uint64_t address,
            const char* what) {
    Addresses64 addresses;
    addresses.fill(address);
    const WarpAccess access{space, kind,   {addresses, 1u << lane_, static_cast<int>(kBulkBytes)},
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
    Block* const block = rank == 0               ? warp_.block
                         : rank <= blocks.size() ? blocks[rank - 1].get()
                                                 : nullptr;
    return {block, at % static_cast<std::uint32_t>(kSharedStride)};
  }
  bool is_in_shared(const Block* block, std::uint32_t at, WarpAccess::Kind kind) {
    constexpr auto kShared = WarpAccess::Space::shared;
    if (at % kBulkBytes != 0) return fail(kShared, kind, at, "misaligned");
    const std::size_t size = block == nullptr ? 0 : block->shared.size();
    if (at + std::uint64_t{bytes_} <= size) return true;
    return fail(kShared, kind, std::max<std::uint64_t>(at, size / kBulkBytes * kBulkBytes),
                "out_of_bounds");
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
    warp_.faulty |= warp_.block->grid->observer->async_access(
        {space, kind, {&piece, 1}, step_, &warp_, static_cast<int>(lane_), block});
    return warp_.faulty == 0;
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
    PendingLoad load{to.at, barrier.at, std::vector<std::byte>(bytes_), its_.combine,
                     its_.element_bytes};
    if (its_.way == BulkCopy::Way::to_block) {
      const SharedPlace from = shared(its_.from);
      if (!is_in_shared(warp_.block, from.at, kLoad)) return false;
      if (!tell(kShared, kLoad, from.at, from.at + std::uint64_t{bytes_}, warp_.block))
        return false;
      std::memcpy(load.data.data(), warp_.block->shared.data() + from.at, bytes_);
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

  bool ask_to_global() {
    const auto store = its_.combine != nullptr ? WarpAccess::Kind::atomic : WarpAccess::Kind::store;
    const std::uint32_t from = shared(its_.from).at;
    if (!is_in_shared(warp_.block, from, WarpAccess::Kind::load)) return false;
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
// Of the committed groups all but the last `offset`. (They are written when they have been read.)
const Step* wait_for_bulk(const Step* step, Warp& warp) {
  const auto but = static_cast<std::uint32_t>(step->offset);
  std::erase_if(warp.stores, [&](const PendingStore& one) {
    const bool is_due =
        (warp.active >> one.lane & 1) != 0 && one.group + but < warp.bulk_group[one.lane];
    if (is_due) store_now(one, *warp.block);
    return is_due;
  });
  warp.block->grid->observer->stores_waited(warp, but);
  return step + 1;
}

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
  static const std::vector<Combination> all = [] {
    using R32 = std::uint32_t;
    using R64 = std::uint64_t;
    std::vector<Combination> made;
    const auto add = [](auto a, auto b) { return a + b; };
    made.push_back(combination<R32>("add.u32", add));
    made.push_back(combination<R32>("add.s32", add));
    made.push_back(combination<R64>("add.u64", add));
    made.push_back(combination<float>("add.f32", add));
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
  }();
  return all;
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

void build_wait_for_bulk(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 1 || one.operands[0].kind != ptx::Operand::Kind::number) {
    decoder.refuse("a count that is no number");
  }
  decoder.emit(&wait_for_bulk).offset = static_cast<std::int64_t>(one.operands[0].bits);
}

}  // namespace

void land_loads(Block& block, std::uint32_t barrier) {
  std::erase_if(block.loads, [&](const PendingLoad& one) {
    if (one.barrier != barrier) return false;
    move_bytes(block.shared.data() + one.to, one.data.data(), one.data.size(), one.combine,
               one.element_bytes);
    Mbarrier its;
    std::memcpy(&its.word, block.shared.data() + barrier, sizeof its.word);
    its.arrive(0, -static_cast<std::int32_t>(one.data.size()));
    std::memcpy(block.shared.data() + barrier, &its.word, sizeof its.word);
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
  add_built(forms, "cp.async.bulk.prefetch.L2.global" + hint,
            [](Decoder& decoder, const ptx::Instruction&) {
              decoder.emit([](const Step* step, Warp&) { return step + 1; });
            });
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
