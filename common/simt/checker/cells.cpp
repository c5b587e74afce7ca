#include "common/simt/checker/cells.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// Vectors are passed within this file only, to functions that are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace simt::checker {
namespace {

// Eight words; the compiler makes of them what the processor has.
using Words = std::int32_t __attribute__((vector_size(32)));

// The rules below are written once, for eight words and for one. What is true is -1.
[[gnu::always_inline]] inline Words less(const Words& a, const Words& b) { return a < b; }
[[gnu::always_inline]] inline Words equal(const Words& a, const Words& b) { return a == b; }
[[gnu::always_inline]] inline std::int32_t less(const std::int32_t& a, const std::int32_t& b) {
  return -static_cast<std::int32_t>(a < b);
}
[[gnu::always_inline]] inline std::int32_t equal(const std::int32_t& a, const std::int32_t& b) {
  return -static_cast<std::int32_t>(a == b);
}
template <class V>
[[gnu::always_inline]] inline V choose(const V& mask, const V& a, const V& b) {
  return (mask & a) | (~mask & b);
}

template <class V>
struct State {
  V owner, write, read, sites;
};

// Vector by vector: a copy of the whole would go by way of memory.
[[gnu::always_inline]] inline State<Words> load(const Cells& cells) {
  State<Words> state;
  std::memcpy(&state.owner, cells.owner.data(), sizeof(Words));
  std::memcpy(&state.write, cells.write.data(), sizeof(Words));
  std::memcpy(&state.read, cells.read.data(), sizeof(Words));
  std::memcpy(&state.sites, cells.sites.data(), sizeof(Words));
  return state;
}
[[gnu::always_inline]] inline void store(const State<Words>& state, Cells& cells) {
  std::memcpy(cells.owner.data(), &state.owner, sizeof(Words));
  std::memcpy(cells.write.data(), &state.write, sizeof(Words));
  std::memcpy(cells.read.data(), &state.read, sizeof(Words));
  std::memcpy(cells.sites.data(), &state.sites, sizeof(Words));
}

// What becomes of a word's state; `simple` says of which words, the others are as they were. `theirs`: of those the
// ones whose last access was another block's, which is to be kept as such.
template <Act act, bool is_shared, class V>
[[gnu::always_inline]] inline void advance(State<V>& state, const V& place, const Who& who,
                                           std::uint32_t site, WordShape shape, V& simple,
                                           V& theirs) {
  const V zero = place ^ place;
  const V since = zero + who.since, warp_since = zero + who.warp_since;
  const V owner = zero + who.owner, thread = zero + kThreadMask, warp = zero + kWarpMask;
  const V exact = zero - static_cast<std::int32_t>(who.is_exact);
  const V& o = state.owner;
  const V& r = state.read;
  const auto has = [&](std::int32_t flag) __attribute__((always_inline)) {
    return ~equal(o & flag, zero);
  };
  const V second = has(kSecond), is_atomic = has(kAtomic);
  const V w = state.write & ~(second & ~is_atomic);
  const V w_old = less(w, since), r_old = less(r, since);
  const V exactly_kept = less(o, zero);
  const V same = equal(o & ~kFlags, owner);
  V stale = ~exactly_kept & less(o, zero + who.stale);
  if (is_shared) stale |= same & w_old & r_old;
  const V shaped = equal(state.sites & static_cast<std::int32_t>(kShapeMask),
                         zero + static_cast<std::int32_t>(shape));
  const V w_same = equal((w ^ place) & thread, zero), w_warp = equal((w ^ place) & warp, zero);
  const V r_same = equal((r ^ place) & thread, zero), r_warp = equal((r ^ place) & warp, zero);
  const V w_before = w_warp & less(w, warp_since), r_before = r_warp & less(r, warp_since);
  const std::int32_t read_bits = static_cast<std::int32_t>(kSiteMask << kReadSiteShift);
  const std::int32_t shape_bits = static_cast<std::int32_t>(shape);
  const auto site_bits = [&](int shift) __attribute__((always_inline)) {
    return zero + static_cast<std::int32_t>(site << shift);
  };
  const V read_as_write = (state.sites & read_bits) << (kWriteSiteShift - kReadSiteShift);

  if (act == Act::load) {
    V mine = same & shaped & ~is_atomic & (w_old | w_same | w_before) & ~stale;
    mine &= ~exact | r_old | r_same | r_before;
    theirs = is_shared
                 ? zero
                 : ~same & ~stale & ~exactly_kept & ~is_atomic & equal(w, zero) & shaped & ~exact;
    const V unordered = ~r_old & ~r_same & ~r_before;
    const V warps = ~r_old & (~r_warp | has(kWarps));
    const V lanes = ~r_old & r_warp & ~r_before & (~r_same | has(kLanes));
    const V room = is_shared ? w_old : equal(w, zero) & ~has(kBlocks);
    const V seconded = mine & unordered & room;
    const V still = mine & second & ~r_old & ~seconded;
    const V flags =
        (o & kBlocks) | (warps & kWarps) | (lanes & kLanes) | ((seconded | still) & kSecond);
    simple = stale | mine | theirs;
    V sites = (state.sites & ~read_bits & ~static_cast<std::int32_t>(kShapeMask)) |
              site_bits(kReadSiteShift) | shape_bits;
    const V write_bits = zero + static_cast<std::int32_t>(kSiteMask << kWriteSiteShift);
    sites = choose(seconded, (sites & ~write_bits) | read_as_write, sites);
    const V write = choose(mine, choose(seconded, r, choose<V>(still, state.write, w)), zero);
    state.owner = choose(simple, owner | (mine & flags) | (theirs & kBlocks), o);
    state.write = choose(simple, write, state.write);
    state.read = choose(simple, place, r);
    state.sites = choose(simple, sites, state.sites);
  } else if (act == Act::store) {
    const V reads_before = r_old | (~has(kWarps) & ((r_same & ~has(kLanes)) | r_before));
    const V mine =
        same & shaped & ~is_atomic & ~has(kBlocks) & (w_old | w_same | w_before) & reads_before;
    theirs = zero;
    simple = stale | mine;
    state.owner = choose(simple, owner, o);
    state.write = choose(simple, place, state.write);
    state.read = r & ~simple;
    state.sites = choose<V>(simple, site_bits(kWriteSiteShift) | shape_bits, state.sites);
  } else {
    V mine = same & shaped & is_atomic & ~stale;
    mine &= ~exact | w_old | w_same | w_before;
    theirs = is_shared ? zero : ~same & ~stale & ~exactly_kept & is_atomic & shaped & ~exact;
    const V warps = ~w_old & (~w_warp | has(kWarps));
    const V lanes = ~w_old & w_warp & ~w_before & (~w_same | has(kLanes));
    const V seconded = mine & ~w_old & ~w_same & ~w_before & ~has(kBlocks);
    const V flags = (o & kBlocks) | (warps & kWarps) | (lanes & kLanes);
    simple = stale | mine | theirs;
    const V second_site = (state.sites >> (kWriteSiteShift - kReadSiteShift)) & read_bits;
    const V sites = site_bits(kWriteSiteShift) | shape_bits |
                    choose<V>(seconded, second_site, state.sites & read_bits & (mine | theirs));
    const V read = choose(seconded, w, mine & r);
    state.owner = choose(simple, owner | kAtomic | (mine & flags) | (theirs & kBlocks), o);
    state.write = choose(simple, place, state.write);
    state.read = choose(simple, read, r);
    state.sites = choose<V>(simple, sites, state.sites);
  }
}

// The last access of the word was another block's: it is kept if none is, or one of the block that comes now. Its site
// goes where there is room.
void keep_other(const Cells& cells, std::uint32_t& sites, Others& others, unsigned i,
                std::int32_t owner) {
  if ((cells.owner[i] & kBlocks) != 0 && others.owner[i] != owner) return;
  others.owner[i] = cells.owner[i] & ~kFlags;
  const std::uint32_t read_bits = kSiteMask << kReadSiteShift,
                      write_bits = kSiteMask << kWriteSiteShift;
  constexpr int kShift = kWriteSiteShift - kReadSiteShift;
  if ((cells.owner[i] & kAtomic) != 0) {
    others.place[i] = cells.write[i];
    sites = (sites & ~read_bits) | ((cells.sites[i] & write_bits) >> kShift);
  } else {
    others.place[i] = cells.read[i];
    sites = (sites & ~write_bits) | ((cells.sites[i] & read_bits) << kShift);
  }
}

[[gnu::always_inline]] inline bool any(const Words& mask) {
  const Words both = mask | __builtin_shuffle(mask, Words{4, 5, 6, 7, 4, 5, 6, 7});
  std::array<std::uint64_t, 2> parts;
  std::memcpy(parts.data(), &both, sizeof parts);
  return (parts[0] | parts[1]) != 0;
}

// Words for which an access changes nothing: several others have done the same, none of which comes before whoever
// might conflict.
template <Act act, bool is_shared, class V>
[[gnu::always_inline]] inline V absorbed(const State<V>& state, const V& place, const Who& who) {
  const V zero = place ^ place;
  if (act == Act::store) return zero;
  const V& last = act == Act::load ? state.read : state.write;
  const std::int32_t kind = act == Act::load ? kSecond : kAtomic;
  const V in_block = ~less(last, zero + who.since);
  const V warps = equal(state.owner & ~kLanes, zero + (who.owner | kind | kWarps));
  const V lanes = equal(state.owner, zero + (who.owner | kind | kLanes)) &
                  equal((last ^ place) & kWarpMask, zero) & ~less(last, zero + who.warp_since);
  V result = in_block & (warps | lanes);
  if (!is_shared) {
    const V blocks = equal(state.owner & (kBlocks | kAtomic),
                           zero + (act == Act::load ? kBlocks : kBlocks | kAtomic));
    result |= blocks & ~less(state.owner, zero + who.stale);
  }
  return result;
}
// Words of shared memory that two warps have read since the barrier: another reader changes nothing, whoever it is.
[[gnu::always_inline]] inline Words settled(const State<Words>& state, const Who& who) {
  const Words zero = state.owner ^ state.owner;
  return equal(state.owner & ~kLanes, zero + (who.owner | kSecond | kWarps)) &
         ~less(state.read, zero + who.since);
}
// Words that two lanes of the warp have read since its last __syncwarp: none of them changes anything.
[[gnu::always_inline]] inline Words settled_for_warp(const State<Words>& state, const Who& who,
                                                     std::int32_t place) {
  const Words zero = state.owner ^ state.owner;
  return equal(state.owner, zero + (who.owner | kSecond | kLanes)) &
         equal((state.read ^ place) & kWarpMask, zero) & ~less(state.read, zero + who.since) &
         ~less(state.read, zero + who.warp_since);
}
// Words that the block has only read since the barrier, and now reads once more: another thread, unordered with the
// last one.
template <bool is_shared>
[[gnu::always_inline]] inline Words again(const State<Words>& state, const Words& place,
                                          const Who& who, WordShape shape) {
  const Words zero = place ^ place;
  const Words second = ~equal(state.owner & kSecond, zero);
  const Words write = state.write & ~second;
  const Words in_warp = equal((state.read ^ place) & kWarpMask, zero);
  const Words is_ordered = less(state.read, zero + who.since) |
                           equal((state.read ^ place) & kThreadMask, zero) |
                           (in_warp & less(state.read, zero + who.warp_since));
  return equal(state.owner & ~(kWarps | kLanes | kSecond), zero + who.owner) &
         (is_shared ? less(write, zero + who.since) : equal(write, zero)) & ~is_ordered &
         equal(state.sites & static_cast<std::int32_t>(kShapeMask),
               zero + static_cast<std::int32_t>(shape));
}
// Words that nobody has touched yet, as far as it matters: in shared memory that is since the last barrier. In global
// memory other blocks may still meet what lies before it, but a store of the same block stands for that.
template <Act act, bool is_shared, class V>
[[gnu::always_inline]] inline V untouched(const State<V>& state, const Who& who) {
  const V zero = state.owner ^ state.owner;
  V result = less(state.owner, zero + who.stale);
  if (is_shared || act == Act::store) {
    const V mine = is_shared ? equal(state.owner & ~kFlags, zero + who.owner)
                             : equal(state.owner & ~(kWarps | kLanes | kSecond), zero + who.owner);
    result |= mine & less(state.write, zero + who.since) & less(state.read, zero + who.since);
  }
  return result & ~less(state.owner, zero);
}
template <Act act>
constexpr int kSiteShift = act == Act::load ? kReadSiteShift : kWriteSiteShift;

template <Act act, bool is_shared>
[[gnu::always_inline]] inline void run_of(const Run& its_run, const Who& its_who,
                                          RunResult& result) {
  // Copies, which no store to the cells can change.
  const Run run = its_run;
  const Who who = its_who;
  const unsigned skipped = run.first % kCellWords;
  const unsigned groups = (skipped + run.words + kCellWords - 1) / kCellWords;
  Words index = {0, 1, 2, 3, 4, 5, 6, 7};
  index -= static_cast<std::int32_t>(skipped);
  const Words zero = index ^ index;
  const auto words = static_cast<std::int32_t>(run.words);
  const auto sites = static_cast<std::int32_t>(run.site << kSiteShift<act> |
                                               static_cast<std::uint32_t>(run.shape));
  if (!is_shared) {
    // The next warp is likely to come to the words behind these: their lines are here by then.
    for (unsigned group = groups; group < 2 * groups; ++group) {
      const Cells& cells = run.cells[group_of(run.first + group * kCellWords)];
      __builtin_prefetch(&cells, 1);
      __builtin_prefetch(cells.read.data(), 1);
    }
  }
  for (unsigned group = 0; group < groups; ++group, index += kCellWords) {
    result.left[group] = 0;
    const std::size_t place_of_group = group_of(run.first + group * kCellWords);
    Cells& cells = run.cells[place_of_group];
    const Words inactive = less(index, zero) | ~less(index, zero + words);
    const Words place =
        run.place + ((index << static_cast<int>(run.up)) >> static_cast<int>(run.down));
    State<Words> state = load(cells);
    Words idle = inactive;
    if (act != Act::store && !who.is_exact) idle |= absorbed<act, is_shared>(state, place, who);
    if (act != Act::store && !any(~idle)) {
      if (act == Act::load && is_shared && !who.is_exact) {
        const Words for_all = settled(state, who);
        const Words for_warp = settled_for_warp(state, who, run.place);
        result.settled |= static_cast<std::uint32_t>(!any(~for_all)) << group;
        result.settled_for_warp |= static_cast<std::uint32_t>(!any(~(for_all | for_warp))) << group;
      }
      continue;
    }
    const Words fresh = untouched<act, is_shared>(state, who);
    if (!any(~(inactive | fresh))) {
      const std::int32_t owner = who.owner | (act == Act::atomic ? kAtomic : 0);
      state.owner = choose<Words>(inactive, state.owner, zero + owner);
      state.write = choose<Words>(inactive, state.write, act == Act::load ? zero : place);
      state.read = choose<Words>(inactive, state.read, act == Act::load ? place : zero);
      state.sites = choose<Words>(inactive, state.sites, zero + sites);
      store(state, cells);
      continue;
    }
    if (act == Act::load && !who.is_exact &&
        !any(~(idle | fresh | again<is_shared>(state, place, who, run.shape)))) {
      const Words read_bits = zero + static_cast<std::int32_t>(kSiteMask << kReadSiteShift);
      const Words other_warp = ~equal((state.read ^ place) & kWarpMask, zero);
      const Words flags = (state.owner & kWarps) | (other_warp & kWarps) | (~other_warp & kLanes);
      const Words second_site = (state.sites & read_bits) << (kWriteSiteShift - kReadSiteShift);
      state.owner = choose<Words>(idle, state.owner, who.owner | (~fresh & (flags | kSecond)));
      state.write = choose<Words>(idle, state.write, ~fresh & state.read);
      state.read = choose<Words>(idle, state.read, place);
      state.sites = choose<Words>(idle, state.sites, sites | (~fresh & second_site));
      store(state, cells);
      continue;
    }
    const State<Words> before = state;
    Words simple, theirs;
    advance<act, is_shared>(state, place, who, run.site, run.shape, simple, theirs);
    theirs &= ~inactive;
    if (!is_shared && any(theirs)) [[unlikely]] {
      for (unsigned i = 0; i < kCellWords; ++i) {
        if (theirs[i] == 0) continue;
        auto its = static_cast<std::uint32_t>(state.sites[i]);
        keep_other(cells, its, run.others[place_of_group], i, who.owner);
        state.sites[i] = static_cast<std::int32_t>(its);
      }
    }
    state.owner = choose(inactive, before.owner, state.owner);
    state.write = choose(inactive, before.write, state.write);
    state.read = choose(inactive, before.read, state.read);
    state.sites = choose(inactive, before.sites, state.sites);
    store(state, cells);
    const Words open = ~(inactive | simple);
    if (any(open)) [[unlikely]] {
      unsigned bits = 0;
      for (unsigned i = 0; i < kCellWords; ++i) bits |= (open[i] != 0 ? 1u : 0u) << i;
      result.left[group] = static_cast<std::uint8_t>(bits);
      result.is_done = false;
    }
  }
}

// The rules, for a word whose case is not one of the common ones.
template <Act act, bool is_shared>
[[gnu::noinline]] bool word_by_rules(Cells& cells, Others* others, unsigned i, std::int32_t place,
                                     std::uint32_t site, WordShape shape, const Who& who) {
  State<std::int32_t> state{cells.owner[i], cells.write[i], cells.read[i],
                            static_cast<std::int32_t>(cells.sites[i])};
  std::int32_t simple, theirs;
  advance<act, is_shared>(state, place, who, site, shape, simple, theirs);
  if (simple == 0) return false;
  auto sites = static_cast<std::uint32_t>(state.sites);
  if (!is_shared && theirs != 0) keep_other(cells, sites, *others, i, who.owner);
  cells.owner[i] = state.owner;
  cells.write[i] = state.write;
  cells.read[i] = state.read;
  cells.sites[i] = sites;
  return true;
}

template <Act act, bool is_shared>
[[gnu::always_inline]] inline bool word_of(Cells& cells, Others* others, unsigned i,
                                           std::int32_t place, std::uint32_t site, WordShape shape,
                                           const Who& who) {
  const State<std::int32_t> state{cells.owner[i], cells.write[i], cells.read[i], 0};
  if (untouched<act, is_shared>(state, who) != 0) {
    cells.owner[i] = who.owner | (act == Act::atomic ? kAtomic : 0);
    cells.write[i] = act == Act::load ? 0 : place;
    cells.read[i] = act == Act::load ? place : 0;
    cells.sites[i] = site << kSiteShift<act> | static_cast<std::uint32_t>(shape);
    return true;
  }
  if (act != Act::store && !who.is_exact && absorbed<act, is_shared>(state, place, who) != 0) {
    return true;
  }
  const std::int32_t write = (state.owner & kSecond) != 0 ? 0 : state.write;
  if (act == Act::load && (state.owner & ~(kWarps | kLanes | kSecond)) == who.owner &&
      write < who.since && state.read < who.since &&
      (cells.sites[i] & kShapeMask) == static_cast<std::uint32_t>(shape)) {
    cells.owner[i] = who.owner;
    cells.write[i] = write;
    cells.read[i] = place;
    cells.sites[i] = (cells.sites[i] & kSiteMask << kWriteSiteShift) | site << kReadSiteShift |
                     static_cast<std::uint32_t>(shape);
    return true;
  }
  return word_by_rules<act, is_shared>(cells, others, i, place, site, shape, who);
}

}  // namespace

#if defined(__x86_64__)
[[gnu::target("avx2")]]
#endif
void touch_vectors(const Run& run, const Who& who, Act act, RunResult& result) {
  if (run.others == nullptr) {
    if (act == Act::load) return run_of<Act::load, true>(run, who, result);
    if (act == Act::store) return run_of<Act::store, true>(run, who, result);
    return run_of<Act::atomic, true>(run, who, result);
  }
  if (act == Act::load) return run_of<Act::load, false>(run, who, result);
  if (act == Act::store) return run_of<Act::store, false>(run, who, result);
  return run_of<Act::atomic, false>(run, who, result);
}

void touch_words(const Run& run, const Who& who, Act act, RunResult& result) {
  const unsigned skipped = run.first % kCellWords;
  std::fill_n(result.left.begin(), (skipped + run.words + kCellWords - 1) / kCellWords,
              std::uint8_t{0});
  for (unsigned i = 0; i < run.words; ++i) {
    const std::size_t group = group_of(run.first + i);
    Others* const others = run.others == nullptr ? nullptr : run.others + group;
    const auto place = run.place + static_cast<std::int32_t>(i << run.up >> run.down);
    const unsigned word = skipped + i;
    if (touch_word(run.cells[group], others, word % kCellWords, place, run.site, run.shape, who,
                   act)) {
      continue;
    }
    const auto bit = static_cast<std::uint8_t>(1u << word % kCellWords);
    result.left[word / kCellWords] |= bit;
    result.is_done = false;
  }
}

void touch_run(const Run& run, const Who& who, Act act, RunResult& result) {
#if defined(__x86_64__)
  // Vectors of eight words are 86 KB of code for a processor without them, and a newcomer waits for the compiler.
  static const bool has_vectors = __builtin_cpu_supports("avx2");
  if (!has_vectors) return touch_words(run, who, act, result);
#endif
  touch_vectors(run, who, act, result);
}

bool touch_word(Cells& cells, Others* others, unsigned word, std::int32_t place, std::uint32_t site,
                WordShape shape, const Who& who, Act act) {
  if (others == nullptr) {
    if (act == Act::load)
      return word_of<Act::load, true>(cells, others, word, place, site, shape, who);
    if (act == Act::store)
      return word_of<Act::store, true>(cells, others, word, place, site, shape, who);
    return word_of<Act::atomic, true>(cells, others, word, place, site, shape, who);
  }
  if (act == Act::load)
    return word_of<Act::load, false>(cells, others, word, place, site, shape, who);
  if (act == Act::store)
    return word_of<Act::store, false>(cells, others, word, place, site, shape, who);
  return word_of<Act::atomic, false>(cells, others, word, place, site, shape, who);
}

namespace {

template <Act act, bool is_shared>
bool twice(Cells& cells, Others* others, unsigned i, std::int32_t place, std::int32_t step,
           std::uint32_t site, const Who& who) {
  const State<std::int32_t> state{cells.owner[i], cells.write[i], cells.read[i], 0};
  if (!who.is_exact) {
    if (absorbed<act, is_shared>(state, place, who) != 0) return true;
    if (untouched<act, is_shared>(state, who) != 0) {
      const bool is_load = act == Act::load;
      cells.owner[i] = who.owner | kLanes | (is_load ? kSecond : kAtomic);
      cells.write[i] = is_load ? place : place + step;
      cells.read[i] = is_load ? place + step : place;
      cells.sites[i] = site << kWriteSiteShift | site << kReadSiteShift;
      return true;
    }
  }
  return word_of<act, is_shared>(cells, others, i, place, site, WordShape::whole, who) &&
         word_of<act, is_shared>(cells, others, i, place + step, site, WordShape::whole, who);
}

}  // namespace

bool touch_word_twice(Cells& cells, Others* others, unsigned word, std::int32_t place,
                      std::int32_t step, std::uint32_t site, const Who& who, Act act) {
  if (others == nullptr) {
    return act == Act::load ? twice<Act::load, true>(cells, others, word, place, step, site, who)
                            : twice<Act::atomic, true>(cells, others, word, place, step, site, who);
  }
  return act == Act::load ? twice<Act::load, false>(cells, others, word, place, step, site, who)
                          : twice<Act::atomic, false>(cells, others, word, place, step, site, who);
}

namespace {

template <Act act, bool is_shared>
std::uint32_t each_of(const Each& each, std::uint32_t mask, unsigned words, std::int32_t place,
                      std::uint32_t site, const Who& who) {
  std::uint32_t left = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    for (unsigned i = 0; i < words; ++i) {
      if (!word_of<act, is_shared>(*each.cells[lane], is_shared ? nullptr : each.others[lane],
                                   each.word[lane] + i, place + static_cast<std::int32_t>(lane),
                                   site, WordShape::whole, who)) {
        left |= rest & -rest;
      }
    }
  }
  return left;
}

}  // namespace

std::uint32_t touch_each(const Each& each, std::uint32_t mask, unsigned words, std::int32_t place,
                         std::uint32_t site, const Who& who, Act act, bool is_shared) {
  const auto call = [&]<Act its>() {
    return is_shared ? each_of<its, true>(each, mask, words, place, site, who)
                     : each_of<its, false>(each, mask, words, place, site, who);
  };
  if (act == Act::load) return call.template operator()<Act::load>();
  if (act == Act::store) return call.template operator()<Act::store>();
  return call.template operator()<Act::atomic>();
}

}  // namespace simt::checker
