// What lanes of a warp and warps of a block do together: barriers, shuffles, votes (PTX ISA 9.7.9 and 9.7.13).
//
// An instruction with .sync waits for the lanes of its mask. Each lane names its own mask: lanes of different masks are
// different parties that happen to be at one instruction. A lane that its own mask does not name (undefined in PTX) waits
// for nobody, as on GPUs, and finds what the lanes of its mask that are there have.
#include <algorithm>
#include <bit>
#include <iterator>
#include <string>
#include <string_view>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/grid.hpp"
#include "common/simt/machine/lanes.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;
using ptx::Type;

// Lanes of one mask that are at an instruction.
struct Party {
  std::uint32_t lanes;    // who has the result
  std::uint32_t sources;  // whose values count: the same, unless lanes are not in their own mask
  bool is_foreign() const { return (lanes & ~sources) != 0; }
};

// Calls exchange(Party) for each party of the active lanes that is complete; the others wait. `masks` is a slot.
template <class Exchange>
const Step* by_parties(const Step* step, Warp& warp, std::uint32_t masks, Exchange exchange) {
  const std::uint32_t* const mask = warp.values<const std::uint32_t>(masks);
  if (warp.active == warp.live) {
    // As a rule all are here, and name each other.
    std::uint32_t other = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      other |= (mask[lane] ^ kAllLanes) &
               static_cast<std::uint32_t>(warp.lanes[static_cast<std::size_t>(lane)]);
    }
    if (other == 0) {
      exchange(Party{warp.active, warp.active});
      return step + 1;
    }
  }
  std::uint32_t foreign = 0;
  each_lane(warp.active, [&](std::size_t lane) { foreign |= (~mask[lane] >> lane & 1) << lane; });
  if (foreign != 0) {
    warp.block->grid->observer->meaningless(warp, *step, foreign, "foreign_mask");
  }
  const auto each_party = [&](std::uint32_t lanes, auto visit) {
    while (lanes != 0) {
      const std::uint32_t party_mask = mask[std::countr_zero(lanes)];
      std::uint32_t party = 0;
      each_lane(lanes, [&](std::size_t lane) {
        party |= static_cast<std::uint32_t>(mask[lane] == party_mask) << lane;
      });
      lanes &= ~party;
      visit(party, party_mask);
    }
  };
  // What they find is from before the others exchange anything.
  each_party(foreign, [&](std::uint32_t party, std::uint32_t party_mask) {
    exchange(Party{party, party_mask & warp.active});
  });
  std::uint32_t waiting = 0;
  each_party(warp.active & ~foreign, [&](std::uint32_t party, std::uint32_t party_mask) {
    if ((party_mask & warp.live & ~party & ~foreign & ~warp.elsewhere) == 0) {
      exchange(Party{party, party | (party_mask & (foreign | warp.elsewhere))});
    } else {
      waiting |= party;
    }
  });
  if (waiting == 0) return step + 1;
  each_party(waiting, [&](std::uint32_t party, std::uint32_t party_mask) {
    warp.set_aside(step, party, Group::State::in_warp, party_mask);
  });
  return warp.active != 0 ? step + 1 : warp.choose();
}

void note_met(Warp& warp, std::uint32_t lanes) {
  each_lane(lanes, [&](std::size_t lane) { ++warp.epochs[lane]; });
  warp.block->grid->observer->warp_barrier(warp, lanes);
}
const Step* sync_warp(const Step* step, Warp& warp) {
  return by_parties(step, warp, step->from[0], [&](Party party) {
    if (!party.is_foreign()) note_met(warp, party.sources);
  });
}

void build_sync_warp(Decoder& decoder, const ptx::Instruction& one) {
  const std::uint32_t mask = decoder.source(one.operands.at(0), Type::b32);
  decoder.emit(&sync_warp).from[0] = mask;
}

// ---- Barriers of the block: bar.sync, .arrive, .red a[, b][, p], of which a and b are the same for all lanes of a warp. ----

// What a lane has of others by one instruction: a register, or less.
constexpr std::uint64_t kRegister = 32, kBit = 1;

constexpr std::uint32_t kBarriers = 16;
constexpr int kNumber = 0, kThreads = 1,
              kPredicate = 2;  // in Step::from; of count 0 there are no threads named

struct Named {
  std::uint32_t number, threads;
};
Named named_by(const Step* step, Warp& warp) {
  const auto lane = static_cast<std::size_t>(std::countr_zero(warp.active));
  return {warp.values<const std::uint32_t>(step->from[kNumber])[lane] % kBarriers,
          step->count == 0 ? 0 : warp.values<const std::uint32_t>(step->from[kThreads])[lane]};
}

const Step* sync_block(const Step* step, Warp& warp) {
  const Named its = named_by(step, warp);
  return warp.leave(step + 1, Group::State::in_block, its.number, its.threads);
}
const Step* arrive_block(const Step* step, Warp& warp) {
  const Named its = named_by(step, warp);
  warp.block->grid->observer->arrived(warp, its.number);
  // A warp counts as a whole (9.7.13.1).
  Block::Barrier& barrier = warp.block->barriers[its.number];
  barrier.arrived += kLanes;
  barrier.arrived_for = its.threads;
  warp.advanced = true;
  return step + 1;
}
const Step* sync_and_reduce(const Step* step, Warp& warp) {
  const Named its = named_by(step, warp);
  Block::Barrier& barrier = warp.block->barriers[its.number];
  std::uint32_t holds = warp.predicate(step->from[kPredicate]);
  if (step->keeps) holds = ~holds;  // of a negated predicate
  barrier.holds += static_cast<std::uint32_t>(std::popcount(holds & warp.active));
  barrier.asked += static_cast<std::uint32_t>(std::popcount(warp.active));
  return warp.leave(step + 1, Group::State::in_block, its.number, its.threads);
}
// The step behind it, once all have come: what they found.
enum class Reduction : std::uint8_t { count, all, any };
template <Reduction which>
const Step* reduced(const Step* step, Warp& warp) {
  warp.exchanged += which == Reduction::count ? kRegister : kBit;
  const Block::Barrier& barrier = warp.block->barriers[named_by(step, warp).number];
  if constexpr (which == Reduction::count) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (warp.lanes[lane] != 0) warp.values<std::uint32_t>(step->to)[lane] = barrier.held;
    }
  } else {
    const bool result =
        which == Reduction::all ? barrier.held == barrier.all_asked : barrier.held > 0;
    std::uint32_t& to = warp.predicate(step->to);
    to = (to & ~warp.active) | (result ? warp.active : 0);
  }
  return step + 1;
}

// The barrier's number and threads: the operands from `first` on.
void name_barrier(Decoder& decoder, const ptx::Instruction& one, std::size_t first,
                  std::size_t count, Step& step, const std::uint32_t (&slots)[2]) {
  if (count == 0 || first + count > one.operands.size()) {
    decoder.refuse("another number of operands than known here");
  }
  step.from[kNumber] = slots[0];
  step.from[kThreads] = slots[1];
  step.count = count > 1 ? 1 : 0;
}
template <bool waits>
void build_barrier(Decoder& decoder, const ptx::Instruction& one) {
  std::uint32_t slots[2] = {};
  for (std::size_t i = 0; i < std::min<std::size_t>(one.operands.size(), 2); ++i) {
    slots[i] = decoder.source(one.operands[i], Type::u32);
  }
  name_barrier(decoder, one, 0, one.operands.size(),
               decoder.emit(waits ? &sync_block : &arrive_block), slots);
}
// bar.red.popc.u32 d, a[, b], {!}p; bar.red.op.pred p, a[, b], {!}c
template <Reduction which>
void build_reduction(Decoder& decoder, const ptx::Instruction& one) {
  const std::size_t count = one.operands.size() - 2;
  if (one.operands.size() < 3) decoder.refuse("another number of operands than known here");
  std::uint32_t slots[2] = {};
  for (std::size_t i = 0; i < count; ++i) slots[i] = decoder.source(one.operands[1 + i], Type::u32);
  const Operand& asked = one.operands.back();
  const std::uint32_t predicate = decoder.source(asked, Type::pred);
  const std::uint32_t to =
      decoder.destination(one.operands[0], which == Reduction::count ? Type::u32 : Type::pred);
  Step& arrives = decoder.emit(&sync_and_reduce);
  name_barrier(decoder, one, 1, count, arrives, slots);
  arrives.from[kPredicate] = predicate;
  arrives.keeps = asked.negated;
  Step& reads = decoder.emit(&reduced<which>);
  name_barrier(decoder, one, 1, count, reads, slots);
  reads.to = to;
  decoder.finish();
}

// shfl.sync.mode.b32 d|p, a, b, c, mask: 9.7.9.6. `c` holds the clamp in bits 0-4 and the segment's mask in 8-12.
enum class Shuffle : std::uint8_t { up, down, butterfly, index };

template <Shuffle mode>
const Step* shuffle(const Step* step, Warp& warp) {
  return by_parties(step, warp, step->from[3], [&](Party party) {
    warp.exchanged += kRegister;
    const std::uint32_t* const a = warp.values<const std::uint32_t>(step->from[0]);
    const std::uint32_t* const b = warp.values<const std::uint32_t>(step->from[1]);
    const std::uint32_t* const c = warp.values<const std::uint32_t>(step->from[2]);
    std::uint32_t* const to = warp.values<std::uint32_t>(step->to);
    // Lane by lane without branches: what inactive lanes hold does no harm.
    std::array<std::uint32_t, kLanes> read;
    std::uint32_t in_range = 0, from_absent = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      const int distance = static_cast<int>(b[lane] & 31);
      const int clamp = static_cast<int>(c[lane] & 31);
      const int segment = static_cast<int>(c[lane] >> 8 & 31);
      const int most = (lane & segment) | (clamp & ~segment);
      const int from = mode == Shuffle::up          ? lane - distance
                       : mode == Shuffle::down      ? lane + distance
                       : mode == Shuffle::butterfly ? lane ^ distance
                                                    : (lane & segment) | (distance & ~segment);
      const bool good = mode == Shuffle::up ? from >= most : from <= most;
      read[static_cast<std::size_t>(lane)] = a[good ? from & 31 : lane];
      in_range |= static_cast<std::uint32_t>(good) << lane;
      from_absent |= (good ? ~party.sources >> (from & 31) & 1 : 0) << lane;
    }
    if (from_absent &= party.lanes; from_absent != 0 && !party.is_foreign()) {
      // An H200 reads zero there.
      for (std::uint32_t left = from_absent; left != 0; left &= left - 1) {
        read[static_cast<std::size_t>(std::countr_zero(left))] = 0;
      }
      warp.block->grid->observer->meaningless(warp, *step, from_absent, "undefined_shuffle");
      if (!warp.undefined->empty()) warp.begin_to_follow();
    }
    if (party.lanes == kAllLanes) {
      std::copy(read.begin(), read.end(), to);
    } else {
      for (int lane = 0; lane < kLanes; ++lane) {
        if ((party.lanes >> lane & 1) != 0) to[lane] = read[static_cast<std::size_t>(lane)];
      }
    }
    in_range &= party.lanes;
    if (step->count == 2) {
      std::uint32_t& good = warp.predicate(static_cast<std::uint32_t>(step->offset));
      good = (good & ~party.lanes) | in_range;
    }
  });
}

template <Shuffle mode>
void build_shuffle(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 5) decoder.refuse("another number of operands than known here");
  std::uint32_t from[4];
  for (std::size_t i = 0; i < 4; ++i) from[i] = decoder.source(one.operands[i + 1], Type::b32);
  const Operand& to = one.operands[0];
  const bool two = to.kind == Operand::Kind::pair;
  const std::uint32_t value = decoder.destination(two ? to.parts[0] : to, Type::b32);
  const std::uint32_t good = two ? decoder.destination(to.parts[1], Type::pred) : 0;
  Step& step = decoder.emit(&shuffle<mode>);
  step.to = value;
  std::copy(std::begin(from), std::end(from), std::begin(step.from));
  step.count = two ? 2 : 1;
  step.offset = good;
}

// vote.sync.mode d, {!}a, mask
enum class Vote : std::uint8_t { all, any, uniform, ballot };

template <Vote mode>
const Step* vote(const Step* step, Warp& warp) {
  return by_parties(step, warp, step->from[1], [&](Party party) {
    warp.exchanged += mode == Vote::ballot ? kRegister : kBit;
    std::uint32_t yes = warp.predicate(step->from[0]);
    if (step->count == 2) yes = ~yes;  // of a negated predicate
    yes &= party.sources;
    if constexpr (mode == Vote::ballot) {
      for (int lane = 0; lane < kLanes; ++lane) {
        if ((party.lanes >> lane & 1) != 0) warp.values<std::uint32_t>(step->to)[lane] = yes;
      }
    } else {
      const bool result = mode == Vote::all   ? yes == party.sources
                          : mode == Vote::any ? yes != 0
                                              : yes == 0 || yes == party.sources;
      std::uint32_t& to = warp.predicate(step->to);
      to = (to & ~party.lanes) | (result ? party.lanes : 0);
    }
  });
}

template <Vote mode>
void build_vote(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 3) decoder.refuse("another number of operands than known here");
  const std::uint32_t asked = decoder.source(one.operands[1], Type::pred);
  const std::uint32_t mask = decoder.source(one.operands[2], Type::b32);
  const std::uint32_t to =
      decoder.destination(one.operands[0], mode == Vote::ballot ? Type::b32 : Type::pred);
  Step& step = decoder.emit(&vote<mode>);
  step.from[0] = asked;
  step.from[1] = mask;
  step.to = to;
  step.count = one.operands[1].negated ? 2 : 1;
  decoder.finish();
}

const Step* active_mask(const Step* step, Warp& warp) {
  warp.exchanged += kRegister;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((warp.active >> lane & 1) != 0) warp.values<std::uint32_t>(step->to)[lane] = warp.active;
  }
  return step + 1;
}
void build_active_mask(Decoder& decoder, const ptx::Instruction& one) {
  const std::uint32_t to = decoder.destination(one.operands.at(0), Type::b32);
  decoder.emit(&active_mask).to = to;
}

// redux.sync.op.type d, a, mask
template <class T, class Operation>
const Step* reduce(const Step* step, Warp& warp) {
  return by_parties(step, warp, step->from[1], [&](Party party) {
    warp.exchanged += kRegister;
    const T* const a = warp.values<const T>(step->from[0]);
    const std::uint32_t sources = party.sources != 0 ? party.sources : party.lanes;
    T result = a[std::countr_zero(sources)];
    for (int lane = std::countr_zero(sources) + 1; lane < kLanes; ++lane) {
      if ((sources >> lane & 1) != 0) result = Operation{}(result, a[lane]);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((party.lanes >> lane & 1) != 0) warp.values<T>(step->to)[lane] = result;
    }
  });
}
template <class T, class Operation>
void add_reduction(std::vector<Form>& forms, const std::string& pattern, Operation) {
  forms.push_back({.pattern = pattern,
                   .to = Type::b32,
                   .from = {Type::b32, Type::b32},
                   .run = &reduce<T, Operation>,
                   .guarding = Form::Guarding::apart});
}

// match.any.sync: of each lane those of its party that have its value.
template <class T>
const Step* match_any(const Step* step, Warp& warp) {
  return by_parties(step, warp, step->from[1], [&](Party party) {
    warp.exchanged += kRegister;
    const T* const a = warp.values<const T>(step->from[0]);
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((party.lanes >> lane & 1) == 0) continue;
      std::uint32_t same = 0;
      for (int other = 0; other < kLanes; ++other) {
        if ((party.sources >> other & 1) != 0 && a[other] == a[lane]) same |= 1u << other;
      }
      warp.values<std::uint32_t>(step->to)[lane] = same;
    }
  });
}

// match.all.sync d|p, a, mask: the party if all of it have the same value, else none.
template <class T>
const Step* match_all(const Step* step, Warp& warp) {
  return by_parties(step, warp, step->from[1], [&](Party party) {
    warp.exchanged += kBit;
    const T* const a = warp.values<const T>(step->from[0]);
    bool is_same = true;
    each_lane(party.sources, [&](std::size_t lane) {
      is_same = is_same && a[lane] == a[std::countr_zero(party.sources)];
    });
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((party.lanes >> lane & 1) != 0) {
        warp.values<std::uint32_t>(step->to)[lane] = is_same ? party.sources : 0;
      }
    }
    if (step->count == 2) {
      std::uint32_t& all = warp.predicate(static_cast<std::uint32_t>(step->offset));
      all = (all & ~party.lanes) | (is_same ? party.lanes : 0);
    }
  });
}
template <class T>
void build_match_all(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 3) decoder.refuse("another number of operands than known here");
  const std::uint32_t a = decoder.source(one.operands[1], one.type());
  const std::uint32_t mask = decoder.source(one.operands[2], Type::b32);
  const Operand& to = one.operands[0];
  const bool two = to.kind == Operand::Kind::pair;
  const std::uint32_t value = decoder.destination(two ? to.parts[0] : to, Type::b32);
  const std::uint32_t all = two ? decoder.destination(to.parts[1], Type::pred) : 0;
  Step& step = decoder.emit(&match_all<T>);
  step.to = value;
  step.from[0] = a;
  step.from[1] = mask;
  step.count = two ? 2 : 1;
  step.offset = all;
}

// elect.sync d|p, mask: the least lane of the party is chosen.
const Step* elect(const Step* step, Warp& warp) {
  return by_parties(step, warp, step->from[0], [&](Party party) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((party.lanes >> lane & 1) == 0) continue;
      warp.values<std::uint32_t>(step->to)[lane] =
          static_cast<std::uint32_t>(std::countr_zero(party.lanes));
    }
    std::uint32_t& chosen = warp.predicate(static_cast<std::uint32_t>(step->offset));
    chosen = (chosen & ~party.lanes) | (party.lanes & (0 - party.lanes));
  });
}
void build_elect(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 2 || one.operands[0].kind != Operand::Kind::pair) {
    decoder.refuse("other operands than known here");
  }
  const std::uint32_t mask = decoder.source(one.operands[1], Type::b32);
  const std::uint32_t value = decoder.destination(one.operands[0].parts[0], Type::b32);
  const std::uint32_t chosen = decoder.destination(one.operands[0].parts[1], Type::pred);
  Step& step = decoder.emit(&elect);
  step.to = value;
  step.from[0] = mask;
  step.offset = chosen;
}

}  // namespace

void Warp::meet_apart(const Group& one) {
  const auto what_runs = [](const Step* at) { return at->inner != nullptr ? at->inner : at->run; };
  const auto is_there = [&](const Group& other) {
    return other.state == Group::State::in_warp && other.awaited == one.awaited &&
           what_runs(other.at) == what_runs(one.at);
  };
  std::uint32_t met = 0;
  for (const Group& other : others) met |= is_there(other) ? other.lanes : 0;
  if ((one.awaited & live & ~met) != 0) return;
  const ptx::Instruction& its = *block->grid->code->sites[static_cast<std::size_t>(one.at->site)];
  constexpr std::string_view kKinds[] = {"bar", "shfl", "vote", "redux", "match"};
  if (std::find(std::begin(kKinds), std::end(kKinds), its.opcode) == std::end(kKinds)) return;
  std::vector<Group> there;
  std::copy_if(others.begin(), others.end(), std::back_inserter(there), is_there);
  // Each place has its own registers: what a lane brings lies, while another place has its turn, in that one's.
  const bool is_vote = its.opcode == "vote", is_wide = its.type() == Type::b64;
  const auto bring = [&](const Step* at, std::size_t lane, std::uint64_t value) {
    if (is_vote) {
      std::uint32_t& all = predicate(at->from[0]);
      all = (all & ~(1u << lane)) | static_cast<std::uint32_t>(value) << lane;
    } else if (is_wide) {
      values<std::uint64_t>(at->from[0])[lane] = value;
    } else {
      values<std::uint32_t>(at->from[0])[lane] = static_cast<std::uint32_t>(value);
    }
  };
  const auto has = [&](const Step* at, std::size_t lane) -> std::uint64_t {
    if (is_vote) return predicate(at->from[0]) >> lane & 1;
    return is_wide ? values<const std::uint64_t>(at->from[0])[lane]
                   : values<const std::uint32_t>(at->from[0])[lane];
  };
  const auto is_negated = [&](const Step* at) { return is_vote && at->count == 2 ? 1u : 0u; };
  std::array<std::uint64_t, kLanes> brought{}, before{};
  for (const Group& its_own : there) {
    each_lane(its_own.lanes, [&](std::size_t lane) {
      brought[lane] = has(its_own.at, lane) ^ is_negated(its_own.at);
    });
  }
  for (const Group& its_own : there) {
    const Step* const at = its_own.at;
    elsewhere = met & ~its_own.lanes;
    each_lane(elsewhere, [&](std::size_t lane) {
      before[lane] = has(at, lane);
      bring(at, lane, brought[lane] ^ is_negated(at));
    });
    activate(its_own.lanes);
    at->run(at, *this);
    each_lane(elsewhere, [&](std::size_t lane) { bring(at, lane, before[lane]); });
  }
  elsewhere = 0;
  for (Group& other : others) {
    if (other.state == Group::State::in_warp && (other.lanes & met) != 0) {
      other = {other.at + 1, other.lanes};
    }
  }
}

void add_exchange_forms(std::vector<Form>& forms) {
  constexpr auto apart = Form::Guarding::apart;
  const auto built = [&](const char* pattern, void (*build)(Decoder&, const ptx::Instruction&)) {
    add_built(forms, pattern, build, apart);
  };
  built("bar.warp.sync", &build_sync_warp);
  for (const std::string name : {"bar[.cta]", "barrier[.cta]"}) {
    built((name + ".sync[.aligned]").c_str(), &build_barrier<true>);
    built((name + ".arrive[.aligned]").c_str(), &build_barrier<false>);
    built((name + ".red.popc[.aligned].u32").c_str(), &build_reduction<Reduction::count>);
    built((name + ".red.and[.aligned].pred").c_str(), &build_reduction<Reduction::all>);
    built((name + ".red.or[.aligned].pred").c_str(), &build_reduction<Reduction::any>);
  }
  built("shfl.sync.up.b32", &build_shuffle<Shuffle::up>);
  built("shfl.sync.down.b32", &build_shuffle<Shuffle::down>);
  built("shfl.sync.bfly.b32", &build_shuffle<Shuffle::butterfly>);
  built("shfl.sync.idx.b32", &build_shuffle<Shuffle::index>);
  built("vote.sync.all.pred", &build_vote<Vote::all>);
  built("vote.sync.any.pred", &build_vote<Vote::any>);
  built("vote.sync.uni.pred", &build_vote<Vote::uniform>);
  built("vote.sync.ballot.b32", &build_vote<Vote::ballot>);
  built("vote.ballot.sync.b32", &build_vote<Vote::ballot>);  // as CUB writes it
  built("match.all.sync.b32", &build_match_all<std::uint32_t>);
  built("match.all.sync.b64", &build_match_all<std::uint64_t>);
  built("elect.sync", &build_elect);
  built("activemask.b32", &build_active_mask);
  using U32 = std::uint32_t;
  using S32 = std::int32_t;
  const auto least = [](auto a, auto b) { return a < b ? a : b; };
  const auto greatest = [](auto a, auto b) { return a > b ? a : b; };
  add_reduction<U32>(forms, "redux.sync.add(.u32|.s32)", [](U32 a, U32 b) { return a + b; });
  add_reduction<U32>(forms, "redux.sync.min.u32", least);
  add_reduction<S32>(forms, "redux.sync.min.s32", least);
  add_reduction<U32>(forms, "redux.sync.max.u32", greatest);
  add_reduction<S32>(forms, "redux.sync.max.s32", greatest);
  add_reduction<U32>(forms, "redux.sync.and.b32", [](U32 a, U32 b) { return a & b; });
  add_reduction<U32>(forms, "redux.sync.or.b32", [](U32 a, U32 b) { return a | b; });
  add_reduction<U32>(forms, "redux.sync.xor.b32", [](U32 a, U32 b) { return a ^ b; });
  forms.push_back({.pattern = "match.any.sync.b32",
                   .to = Type::b32,
                   .from = {Type::b32, Type::b32},
                   .run = &match_any<U32>,
                   .guarding = apart});
  forms.push_back({.pattern = "match.any.sync.b64",
                   .to = Type::b32,
                   .from = {Type::b64, Type::b32},
                   .run = &match_any<std::uint64_t>,
                   .guarding = apart});
}

}  // namespace simt::machine
