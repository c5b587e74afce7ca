// What goes on while a thread does other things, and the barriers that say when it is over: copies to shared memory,
// mbarriers, stores to another block of the cluster, and the cluster's own barrier (PTX ISA 9.7.9.25 and 9.7.13).
#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simt/machine/access.hpp"
#include "common/simt/machine/bulk.hpp"
#include "common/simt/machine/lanes.hpp"
#include "common/simt/machine/mbarrier.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;
using ptx::Type;

void need_operands(const Decoder& decoder, const ptx::Instruction& one, std::size_t least,
                   std::size_t most) {
  if (one.operands.size() < least || one.operands.size() > most) {
    decoder.refuse("another number of operands than known here");
  }
}

// ---- Whose shared memory ----

std::uint32_t rank_at(std::uint64_t address) {
  return static_cast<std::uint32_t>(address) / kSharedStride;
}

// False, and told as `what`, if lanes would have a block do for another what it can do only for itself.
bool are_of(Warp& warp, const Step* step, const Addresses64& addresses, const char* what,
            const Addresses64* others = nullptr) {
  each_lane(warp.active, [&](std::size_t lane) {
    const std::uint32_t wanted = others == nullptr ? warp.block->rank : rank_at((*others)[lane]);
    if (rank_at(addresses[lane]) != wanted) stop(step, warp, lane, what);
  });
  return warp.faulty == 0;
}

// ---- cp.async: a copy is counted and checked where it starts; its data come with the wait, as late as they may. ----

const Step* copy_async(const Step* step, Warp& warp) {
  const int bytes = step->bytes;
  const auto all = static_cast<std::uint32_t>(bytes);
  Addresses64 from = addresses_of(warp, step->from[1], step->source_offset);
  Addresses64 to = addresses_of(warp, step->from[0], step->offset);
  const std::uint32_t* const read = warp.values<const std::uint32_t>(step->from[2]);
  std::uint32_t readers = 0;
  std::array<std::uint32_t, kLanes> left{};
  each_lane(warp.active, [&](std::size_t lane) {
    if (read[lane] == 0) return;
    readers |= 1u << lane;
    // Of a part the address must be right for the whole.
    left[lane] = from[lane] % all == 0 ? std::min(read[lane], all) : all;
  });
  std::array<PendingCopy, kLanes> copies{};
  if (!are_of(warp, step, to, "foreign_copy")) return nullptr;
  // Behind what is read there may be nothing, as at the end of an array. It counts as one request of whole copies.
  for (std::uint32_t rest = readers, done = 0; rest != 0;) {
    std::uint32_t count = done == 0 ? all : done & -done;
    each_lane(rest, [&](std::size_t lane) { count = std::min(count, std::bit_floor(left[lane])); });
    Step its = *step;
    if (done != 0) its.traffic = Traffic::none;
    if (count != all) its.joined_bytes = step->bytes;
    Addresses64 at = from;
    for (std::uint64_t& one : at) one += done;
    if (!access(
            &its, warp, WarpAccess::Kind::load, Window::global, static_cast<int>(count), at, rest,
            [&](const Places& places, const memory::WarpAddresses& lanes, const Block*) {
              each_lane(lanes.mask, [&](std::size_t lane) {
                std::memcpy(copies[lane].data.data() + done, places.of(lanes, lane), count);
              });
            },
            to)) {
      return nullptr;
    }
    done += count;
    each_lane(rest, [&](std::size_t lane) {
      left[lane] -= count;
      if (left[lane] == 0) rest &= ~(1u << lane);
    });
  }
  each_lane(~readers, [&](std::size_t lane) { from[lane] = memory::kNowhere; });
  if (!access(
          step, warp, WarpAccess::Kind::store, Window::shared, bytes, to, warp.active,
          [&](const Places&, const memory::WarpAddresses& lanes, const Block*) {
            each_lane(lanes.mask, [&](std::size_t lane) {
              PendingCopy& copy = copies[lane];
              copy.to = static_cast<std::uint32_t>(lanes.address[lane]);
              copy.lane = static_cast<std::uint8_t>(lane);
              copy.bytes = static_cast<std::uint8_t>(bytes);
              copy.group = warp.copy_group[lane];
              copy.site = step->site;
              warp.copies.push_back(copy);
            });
          },
          from)) {
    return nullptr;
  }
  return step + 1;
}

// Brings the data of those of the active lanes' copies that `is_due` names.
template <class IsDue>
void land(Warp& warp, IsDue is_due) {
  std::erase_if(warp.copies, [&](const PendingCopy& copy) {
    if ((warp.active >> copy.lane & 1) == 0 || !is_due(copy)) return false;
    warp.block->grid->observer->copied(warp, copy);
    std::memcpy(warp.block->shared.data() + copy.to, copy.data.data(), copy.bytes);
    return true;
  });
}
// What has been waited for among the copies that arrive at a barrier.
template <class IsOver>
void end_arriving(Block& block, std::vector<Block::ArrivingCopy>& copies, IsOver is_over) {
  std::erase_if(copies, [&](const Block::ArrivingCopy& copy) {
    if (!is_over(copy)) return false;
    block.grid->observer->landed(block, copy.to, copy.to + copy.bytes);
    return true;
  });
}
void end_arriving_of_lanes(Warp& warp) {
  for (auto& [barrier, copies] : warp.block->arriving) {
    end_arriving(*warp.block, copies, [&](const Block::ArrivingCopy& copy) {
      return copy.thread / kLanes == warp.index && (warp.active >> copy.thread % kLanes & 1) != 0;
    });
  }
}
const Step* commit_copies(const Step* step, Warp& warp) {
  each_lane(warp.active, [&](std::size_t lane) { ++warp.copy_group[lane]; });
  return step + 1;
}
// Of the committed groups all but the last `offset`.
const Step* wait_group(const Step* step, Warp& warp) {
  const auto but = static_cast<std::uint32_t>(step->offset);
  land(warp,
       [&](const PendingCopy& copy) { return copy.group + but < warp.copy_group[copy.lane]; });
  end_arriving_of_lanes(warp);
  return step + 1;
}
const Step* wait_all(const Step* step, Warp& warp) {
  land(warp, [](const PendingCopy&) { return true; });
  end_arriving_of_lanes(warp);
  return step + 1;
}

// cp.async.ca.shared.global [to], [from], bytes{, read|ignores}{, how to cache}
void build_copy_async(Decoder& decoder, const ptx::Instruction& written) {
  ptx::Instruction one = written;
  if (one.has("L2::cache_hint") && !one.operands.empty()) one.operands.pop_back();
  need_operands(decoder, one, 3, 4);
  if (one.operands[2].kind != Operand::Kind::number) decoder.refuse("a size that is no number");
  const Decoder::Address to = decoder.address(one.operands[0]);
  const Decoder::Address from = decoder.address(one.operands[1]);
  const std::uint64_t bytes = one.operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) decoder.refuse("a copy of 4, 8 or 16 bytes");
  const bool may_ignore =
      one.operands.size() == 4 && decoder.type_of(one.operands[3]) == Type::pred;
  std::uint32_t read = one.operands.size() == 4 && !may_ignore
                           ? decoder.source(one.operands[3], Type::u32)
                           : decoder.constant(bytes, 4);
  if (may_ignore) {
    const std::uint32_t ignores = decoder.source(one.operands[3], Type::pred);
    const std::uint32_t chosen = decoder.fresh(4);
    Step& choose = decoder.emit([](const Step* step, Warp& warp) {
      const std::uint32_t none = warp.predicate(step->from[1]) ^ (step->keeps ? 0 : kAllLanes);
      const std::uint32_t* const all = warp.values<const std::uint32_t>(step->from[0]);
      each_lane(warp.active, [&](std::size_t lane) {
        warp.values<std::uint32_t>(step->to)[lane] = (none >> lane & 1) != 0 ? 0 : all[lane];
      });
      return step + 1;
    });
    choose.from[0] = read;
    choose.from[1] = ignores;
    choose.keeps = !one.operands[3].negated;
    choose.to = read = chosen;
  }
  Step& step = decoder.emit(&copy_async);
  step.from[0] = to.base;
  step.offset = to.offset;
  step.from[1] = from.base;
  step.source_offset = from.offset;
  step.from[2] = read;
  step.bytes = static_cast<std::uint8_t>(bytes);
  step.has_values = false;
  if (one.has("cg")) {
    const bool may_fill = one.operands.size() == 4;
    const std::uint64_t is_read =
        may_fill && one.operands[3].kind == Operand::Kind::number ? one.operands[3].bits : 0;
    step.traffic = !may_fill || is_read == 16 ? Traffic::past_cache
                   : is_read != 0             ? Traffic::past_cache_in_part
                                              : Traffic::past_cache_or_zeros;
  }
}
void build_wait_group(Decoder& decoder, const ptx::Instruction& one) {
  need_operands(decoder, one, 1, 1);
  if (one.operands[0].kind != Operand::Kind::number) decoder.refuse("a count that is no number");
  decoder.emit(&wait_group).offset = static_cast<std::int64_t>(one.operands[0].bits);
}

// ---- mbarriers ----

// Reads, changes and writes the barrier of each lane in turn: change(lane, barrier). Whoever sets one up, or gives its
// place back, stores: what was there does not matter.
template <class Change>
const Step* change_barriers(const Step* step, Warp& warp, Change change,
                            WarpAccess::Kind kind = WarpAccess::Kind::atomic) {
  Addresses64 addresses = addresses_of(warp, step->from[kAddress], step->offset);
  if (is_of_shared(step->window)) {
    for (std::uint64_t& one : addresses) one &= 0xffff'ffff;
  }
  const auto move = [&](const Places& places, const memory::WarpAddresses& lanes,
                        const Block* block) {
    each_lane(lanes.mask, [&](std::size_t lane) {
      Mbarrier barrier;
      std::memcpy(&barrier.word, places.of(lanes, lane), 8);
      const std::uint32_t phase = barrier.phase();
      change(lane, barrier);
      if (kind == WarpAccess::Kind::atomic && barrier.phase() != phase) ++warp.block->phases;
      std::memcpy(places.of(lanes, lane), &barrier.word, 8);
      if (kind == WarpAccess::Kind::atomic && barrier.phase() != phase) {
        warp.block->grid->observer->phase_completed(
            *block, static_cast<std::uint32_t>(lanes.address[lane]));
      }
    });
  };
  return access(step, warp, kind, step->window, 8, addresses, warp.active, move) ? step + 1
                                                                                 : nullptr;
}

const Step* init_barrier(const Step* step, Warp& warp) {
  const std::uint32_t* const count = warp.values<const std::uint32_t>(step->from[0]);
  warp.advanced = true;
  warp.block->barriers_made += static_cast<std::uint64_t>(std::popcount(warp.active));
  return change_barriers(
      step, warp,
      [&](std::size_t lane, Mbarrier& barrier) { barrier.set(count[lane], count[lane], 0, 0); },
      WarpAccess::Kind::store);
}
const Step* invalidate_barrier(const Step* step, Warp& warp) {
  return change_barriers(
      step, warp, [](std::size_t, Mbarrier& barrier) { barrier.word = 0; },
      WarpAccess::Kind::store);
}

enum class Arrival : std::uint8_t {
  arrive,
  expect_and_arrive,
  drop,
  expect_and_drop,
  expect,
  complete
};
template <Arrival which>
const Step* arrive_at_barrier(const Step* step, Warp& warp) {
  const std::uint32_t* const number = warp.values<const std::uint32_t>(step->from[0]);
  std::uint64_t* const state = warp.values<std::uint64_t>(step->to);
  warp.advanced = true;
  return change_barriers(step, warp, [&](std::size_t lane, Mbarrier& barrier) {
    const auto bytes = static_cast<std::int32_t>(number[lane]);
    if (step->keeps) state[lane] = barrier.word;
    switch (which) {
      case Arrival::arrive:
        return barrier.arrive(number[lane], 0);
      case Arrival::expect_and_arrive:
        return barrier.arrive(1, bytes);
      case Arrival::drop:
        return barrier.arrive(number[lane], 0, number[lane]);
      case Arrival::expect_and_drop:
        return barrier.arrive(1, bytes, 1);
      case Arrival::expect:
        return barrier.set(barrier.pending(), barrier.expected(), barrier.bytes() + bytes,
                           barrier.phase());
      case Arrival::complete:
        return barrier.arrive(0, -bytes);
    }
  });
}

// In what is no shared memory there is none.
Mbarrier barrier_at(const Block& block, std::uint32_t at) {
  Mbarrier barrier;
  if (at + sizeof barrier.word <= block.shared.size()) {
    std::memcpy(&barrier.word, block.shared.data() + at, sizeof barrier.word);
  }
  return barrier;
}

// Whether the phase of a state, or of a parity, is over. A lane that asks in vain with try_wait lets others run first.
template <bool by_parity, bool waits>
const Step* ask_barrier(const Step* step, Warp& warp) {
  std::uint32_t over = 0;
  Addresses64 addresses = addresses_of(warp, step->from[kAddress], step->offset);
  if (!are_of(warp, step, addresses, "foreign_wait")) return nullptr;
  const auto is_over = [&](const Mbarrier& barrier, std::size_t lane) {
    return by_parity ? (barrier.phase() & 1) !=
                           (warp.values<const std::uint32_t>(step->from[0])[lane] & 1)
                     : barrier.phase() !=
                           Mbarrier{warp.values<const std::uint64_t>(step->from[0])[lane]}.phase();
  };
  // What it waits for comes now.
  if (Block& block = *warp.block; !block.loads.empty()) {
    each_lane(warp.active, [&](std::size_t lane) {
      const auto at = static_cast<std::uint32_t>(addresses[lane] % kSharedStride);
      if (at + sizeof(Mbarrier::word) > block.shared.size()) return;
      if (!is_over(barrier_at(block, at), lane)) land_loads(block, at);
    });
  }
  if (!access(step, warp, WarpAccess::Kind::load, step->window, 8, addresses, warp.active,
              [&](const Places& places, const memory::WarpAddresses& lanes, const Block*) {
                each_lane(lanes.mask, [&](std::size_t lane) {
                  Mbarrier barrier;
                  std::memcpy(&barrier.word, places.of(lanes, lane), 8);
                  over |= (is_over(barrier, lane) ? 1u : 0u) << lane;
                });
              })) {
    return nullptr;
  }
  bool& gives_up = warp.block->cluster->gives_up;
  if (waits && over != warp.active && !gives_up) {
    warp.set_aside(step, warp.active & ~over, Group::State::polling);
  }
  std::uint32_t& to = warp.predicate(step->to);
  to = (to & ~warp.active) | over;
  if (warp.active == 0) return warp.choose();
  if (over != 0) warp.advanced = true;
  if (over != 0 && !warp.block->arriving.empty()) {
    each_lane(over, [&](std::size_t lane) {
      const auto at = static_cast<std::uint32_t>(addresses[lane] % kSharedStride);
      const auto its = warp.block->arriving.find(at);
      if (its == warp.block->arriving.end() || its->second.empty()) return;
      // Those of a phase that is not over may have come meanwhile.
      const std::uint32_t phase = barrier_at(*warp.block, at).phase();
      end_arriving(*warp.block, its->second,
                   [&](const Block::ArrivingCopy& copy) { return copy.phase != phase; });
    });
  }
  gives_up = false;
  return step + 1;
}

void set_address(Step& step, Decoder::Address at, const Decoder& decoder,
                 const ptx::Instruction& one, std::size_t operand, Order usual) {
  step.from[kAddress] = at.base;
  step.offset = at.offset;
  step.window = window_named(decoder, one, one.operands[operand]);
  step.order = order_of(one, usual);
  step.scope = one.has("cluster") ? Scope::cluster : Scope::cta;
  step.traffic = Traffic::none;
}

void build_init_barrier(Decoder& decoder, const ptx::Instruction& one) {
  need_operands(decoder, one, 2, 2);
  const Decoder::Address at = decoder.address(one.operands[0]);
  const std::uint32_t count = decoder.source(one.operands[1], Type::u32);
  Step& step = decoder.emit(&init_barrier);
  step.from[0] = count;
  step.has_values = false;
  set_address(step, at, decoder, one, 0, Order::weak);
}
void build_invalidate_barrier(Decoder& decoder, const ptx::Instruction& one) {
  need_operands(decoder, one, 1, 1);
  const Decoder::Address at = decoder.address(one.operands[0]);
  Step& step = decoder.emit(&invalidate_barrier);
  step.has_values = false;
  set_address(step, at, decoder, one, 0, Order::weak);
}
// mbarrier.arrive state, [a]{, number}; without a state where the barrier is another block's.
template <Arrival which>
void build_arrive(Decoder& decoder, const ptx::Instruction& one) {
  need_operands(decoder, one, 1, 3);
  const bool has_state = one.operands[0].kind != Operand::Kind::address;
  const std::size_t at_operand = has_state ? 1 : 0;
  need_operands(decoder, one, at_operand + 1, at_operand + 2);
  const Decoder::Address at = decoder.address(one.operands[at_operand]);
  const std::uint32_t number = one.operands.size() == at_operand + 2
                                   ? decoder.source(one.operands[at_operand + 1], Type::u32)
                                   : decoder.constant(1, 4);
  const std::uint32_t to = has_state ? decoder.destination(one.operands[0], Type::b64) : 0;
  Step& step = decoder.emit(&arrive_at_barrier<which>);
  step.from[0] = number;
  step.to = to;
  step.keeps = has_state;
  set_address(step, at, decoder, one, at_operand, Order::release);
}
template <bool by_parity, bool waits>
void build_ask(Decoder& decoder, const ptx::Instruction& one) {
  need_operands(decoder, one, 3, 4);  // the fourth: how long to wait at most
  const Decoder::Address at = decoder.address(one.operands[1]);
  const std::uint32_t asked = decoder.source(one.operands[2], by_parity ? Type::u32 : Type::b64);
  const std::uint32_t to = decoder.destination(one.operands[0], Type::pred);
  Step& step = decoder.emit(&ask_barrier<by_parity, waits>);
  step.from[0] = asked;
  step.to = to;
  set_address(step, at, decoder, one, 1, Order::acquire);
}

// The lane's copies arrive at a barrier: here they are brought at once, and are there for who has waited.
const Step* copies_arrive(const Step* step, Warp& warp) {
  const Addresses64 at = addresses_of(warp, step->from[kAddress], step->offset);
  for (PendingCopy& copy : warp.copies) {
    if ((warp.active >> copy.lane & 1) == 0) continue;
    copy.arrives = true;
    const auto barrier = static_cast<std::uint32_t>(at[copy.lane] % kSharedStride);
    warp.block->arriving[barrier].push_back({copy.to, copy.bytes, warp.index * kLanes + copy.lane,
                                             barrier_at(*warp.block, barrier).phase()});
  }
  land(warp, [](const PendingCopy&) { return true; });
  warp.advanced = true;
  return change_barriers(step, warp, [&](std::size_t, Mbarrier& barrier) {
    if (step->keeps) barrier.arrive(1, 0);  // .noinc: else the arrival was added first
  });
}
void build_copies_arrive(Decoder& decoder, const ptx::Instruction& one) {
  need_operands(decoder, one, 1, 1);
  const Decoder::Address at = decoder.address(one.operands[0]);
  Step& step = decoder.emit(&copies_arrive);
  step.keeps = one.has("noinc");
  set_address(step, at, decoder, one, 0, Order::release);
}

// st.async [a], b, [mbarrier]: a store to a block of the cluster, whose bytes arrive at a barrier there.
template <class T>
const Step* store_async(const Step* step, Warp& warp) {
  const auto bytes = static_cast<int>(sizeof(T)) * step->count;
  const bool is_done =
      access(step, warp, WarpAccess::Kind::store, bytes,
             [&](const Places& places, const memory::WarpAddresses& lanes) {
               each_lane(lanes.mask, [&](std::size_t lane) {
                 for (int i = 0; i < step->count; ++i) {
                   std::memcpy(places.of(lanes, lane) + static_cast<std::size_t>(i) * sizeof(T),
                               warp.values<const T>(value_slot(*step, i)) + lane, sizeof(T));
                 }
               });
             }) != nullptr;
  return is_done ? step + 1 : nullptr;
}
const Step* bytes_arrive(const Step* step, Warp& warp) {
  const Addresses64 data = addresses_of(warp, step->from[0], step->source_offset);
  if (!are_of(warp, step, addresses_of(warp, step->from[kAddress], step->offset), "foreign_barrier",
              &data)) {
    return nullptr;
  }
  warp.advanced = true;
  return change_barriers(step, warp, [&](std::size_t, Mbarrier& barrier) {
    barrier.arrive(0, -static_cast<std::int32_t>(step->bytes));
  });
}
void build_store_async(Decoder& decoder, const ptx::Instruction& one) {
  need_operands(decoder, one, 3, 3);
  const Operand& values = one.operands[1];
  const Type type = one.type();
  const bool is_vector = values.kind == Operand::Kind::vector;
  const std::size_t count = is_vector ? values.parts.size() : 1;
  if (count > 4) decoder.refuse("a vector of more than four");
  const Decoder::Address at = decoder.address(one.operands[0]);
  const Decoder::Address barrier = decoder.address(one.operands[2]);
  std::uint32_t slots[4] = {};
  for (std::size_t i = 0; i < count; ++i) {
    slots[i] = decoder.source(is_vector ? values.parts[i] : values, type);
  }
  Step& stores =
      decoder.emit(bytes_of(type) == 4 ? &store_async<std::uint32_t> : &store_async<std::uint64_t>);
  stores.to = slots[0];
  std::copy(slots + 1, slots + 4, stores.from);
  stores.count = static_cast<std::uint8_t>(count);
  set_address(stores, at, decoder, one, 0, Order::weak);
  stores.traffic = Traffic::sent;
  Step& arrives = decoder.emit(&bytes_arrive);
  arrives.bytes = static_cast<std::uint8_t>(count * static_cast<std::size_t>(bytes_of(type)));
  arrives.from[0] = at.base;
  arrives.source_offset = at.offset;
  set_address(arrives, barrier, decoder, one, 2, Order::release);
}

// ---- The cluster ----

// mapa: where a block of the cluster has what this one has at an address of shared memory.
template <class T>
const Step* map_address(const Step* step, Warp& warp) {
  const T* const from = warp.values<const T>(step->from[0]);
  const std::uint32_t* const rank = warp.values<const std::uint32_t>(step->from[1]);
  T* const to = warp.values<T>(step->to);
  each_lane(warp.active, [&](std::size_t lane) {
    to[lane] = static_cast<T>(from[lane] % kSharedStride + T{rank[lane]} * kSharedStride +
                              (sizeof(T) == 8 && step->keeps ? kSharedWindow : 0));
  });
  return step + 1;
}
void build_map_address(Decoder& decoder, const ptx::Instruction& one) {
  need_operands(decoder, one, 3, 3);
  const Type type = one.type();
  const std::uint32_t from = decoder.source(one.operands[1], type);
  const std::uint32_t rank = decoder.source(one.operands[2], Type::u32);
  const std::uint32_t to = decoder.destination(one.operands[0], type);
  Step& step =
      decoder.emit(bytes_of(type) == 8 ? &map_address<std::uint64_t> : &map_address<std::uint32_t>);
  step.from[0] = from;
  step.from[1] = rank;
  step.to = to;
  step.keeps = !one.has("shared::cluster");  // a generic address
  decoder.finish();
}
// getctarank: whose shared memory an address is.
template <class T>
const Step* rank_of_address(const Step* step, Warp& warp) {
  const T* const from = warp.values<const T>(step->from[0]);
  each_lane(warp.active, [&](std::size_t lane) {
    warp.values<std::uint32_t>(step->to)[lane] = rank_at(from[lane]);
  });
  return step + 1;
}
void build_rank(Decoder& decoder, const ptx::Instruction& one) {
  need_operands(decoder, one, 2, 2);
  const Type type = one.type();
  const std::uint32_t from = decoder.source(one.operands[1], type);
  const std::uint32_t to = decoder.destination(one.operands[0], Type::u32);
  Step& step = decoder.emit(bytes_of(type) == 8 ? &rank_of_address<std::uint64_t>
                                                : &rank_of_address<std::uint32_t>);
  step.from[0] = from;
  step.to = to;
}

const Step* arrive_at_cluster(const Step* step, Warp& warp) {
  Cluster& cluster = *warp.block->cluster;
  cluster.grid->observer->cluster_arrival(warp, *step);
  each_lane(warp.active, [&](std::size_t lane) { warp.cluster_phase[lane] = cluster.phase; });
  warp.at_cluster |= warp.active;
  warp.owes_wait |= warp.active;
  warp.advanced = true;
  return step + 1;
}
const Step* wait_for_cluster(const Step* step, Warp& warp) {
  warp.block->cluster->pass_barrier();
  const std::uint32_t phase = warp.block->cluster->phase;
  std::uint32_t waiting = 0;
  each_lane(warp.active, [&](std::size_t lane) {
    waiting |= (warp.cluster_phase[lane] == phase ? 1u : 0u) << lane;
  });
  if (waiting != 0) warp.set_aside(step, waiting, Group::State::polling);
  if (warp.active == 0) return warp.choose();
  warp.owes_wait &= ~warp.active;
  warp.advanced = true;
  return step + 1;
}

}  // namespace

void build_async_reduction(Decoder& decoder, const ptx::Instruction& one, Execute run) {
  need_operands(decoder, one, 3, 3);
  const Type type = one.type();
  const Decoder::Address at = decoder.address(one.operands[0]);
  const Decoder::Address barrier = decoder.address(one.operands[2]);
  const std::uint32_t value = decoder.source(one.operands[1], type);
  const std::uint32_t unread = decoder.fresh(bytes_of(type));
  Step& combines = decoder.emit(run);
  combines.to = unread;
  combines.from[0] = combines.from[1] = value;
  combines.keeps = false;
  set_address(combines, at, decoder, one, 0, Order::relaxed);
  combines.traffic = Traffic::sent;
  Step& arrives = decoder.emit(&bytes_arrive);
  arrives.bytes = static_cast<std::uint8_t>(bytes_of(type));
  arrives.from[0] = at.base;
  arrives.source_offset = at.offset;
  set_address(arrives, barrier, decoder, one, 2, Order::release);
}

Missing missing_at(const Step& step, Warp& warp, std::size_t lane) {
  const Block& block = *warp.block;
  const std::uint64_t at = (warp.values<const std::uint64_t>(step.from[kAddress])[lane] +
                            static_cast<std::uint64_t>(step.offset)) %
                           kSharedStride;
  Mbarrier barrier;
  if (at + sizeof barrier.word > block.shared.size()) return {};
  std::memcpy(&barrier.word, block.shared.data() + at, sizeof barrier.word);
  return {barrier.pending(), barrier.bytes()};
}

void add_async_forms(std::vector<Form>& forms) {
  const auto built = [&](const std::string& pattern,
                         void (*build)(Decoder&, const ptx::Instruction&),
                         Form::Guarding guarding = Form::Guarding::mask) {
    add_built(forms, pattern, build, guarding);
  };
  const std::string caches = "[.L2::cache_hint][.L2::64B|.L2::128B|.L2::256B]";
  built("cp.async(.ca|.cg)(.shared|.shared::cta).global" + caches, &build_copy_async);
  built("cp.async.wait_group", &build_wait_group);
  add_built(forms, "cp.async.commit_group",
            [](Decoder& decoder, const ptx::Instruction&) { decoder.emit(&commit_copies); });
  add_built(forms, "cp.async.wait_all",
            [](Decoder& decoder, const ptx::Instruction&) { decoder.emit(&wait_all); });
  built("cp.async.mbarrier.arrive[.noinc][.shared|.shared::cta].b64", &build_copies_arrive);

  const std::string where = "[.shared|.shared::cta|.shared::cluster].b64";
  const std::string how = "[.release|.relaxed][.cta|.cluster]";
  built("mbarrier.init" + where, &build_init_barrier);
  built("mbarrier.inval" + where, &build_invalidate_barrier);
  built("mbarrier.arrive" + how + where, &build_arrive<Arrival::arrive>);
  built("mbarrier.arrive.noComplete" + how + where, &build_arrive<Arrival::arrive>);
  built("mbarrier.arrive.expect_tx" + how + where, &build_arrive<Arrival::expect_and_arrive>);
  built("mbarrier.arrive_drop[.noComplete]" + how + where, &build_arrive<Arrival::drop>);
  built("mbarrier.arrive_drop.expect_tx" + how + where, &build_arrive<Arrival::expect_and_drop>);
  const auto pending = [](std::uint64_t state) { return Mbarrier{state}.pending(); };
  forms.push_back({.pattern = "mbarrier.pending_count.b64",
                   .to = Type::u32,
                   .from = {Type::u64},
                   .run = &map_seldom<decltype(pending), std::uint32_t, std::uint64_t>});
  built("mbarrier.expect_tx" + how + where, &build_arrive<Arrival::expect>);
  built("mbarrier.complete_tx" + how + where, &build_arrive<Arrival::complete>);
  const std::string asks = "[.acquire|.relaxed][.cta|.cluster]";
  constexpr auto apart = Form::Guarding::apart;
  built("mbarrier.test_wait" + asks + where, &build_ask<false, false>, apart);
  built("mbarrier.test_wait.parity" + asks + where, &build_ask<true, false>, apart);
  built("mbarrier.try_wait" + asks + where, &build_ask<false, true>, apart);
  built("mbarrier.try_wait.parity" + asks + where, &build_ask<true, true>, apart);
  built(
      "st.async[.weak](.shared::cluster)(.mbarrier::complete_tx::bytes)[.v2|.v4]"
      "(.b32|.b64|.u32|.u64|.s32|.s64|.f32|.f64)",
      &build_store_async);

  built("mapa[.shared::cluster](.u32|.u64)", &build_map_address);
  built("getctarank[.shared::cluster](.u32|.u64)", &build_rank);
  add_built(
      forms, "barrier.cluster.arrive[.release|.relaxed][.aligned]",
      [](Decoder& decoder, const ptx::Instruction& one) {
        decoder.emit(&arrive_at_cluster).order = order_of(one, Order::release);
      },
      apart);
  add_built(
      forms, "barrier.cluster.wait[.acquire][.aligned]",
      [](Decoder& decoder, const ptx::Instruction&) {
        decoder.emit(&wait_for_cluster).order = Order::acquire;
      },
      apart);
}

}  // namespace simt::machine
