// What is remembered of each word of memory while a launch runs, eight words at a time.
//
// A cell has the last write and the last read, each as who (thread of the block) and when (moments, which a block
// counts), and flags for what the two do not say: that other lanes, warps or blocks have read as well, unordered with
// the last one. As long as no rule is broken that is enough: a write that nothing races with comes after every access
// before it, so they can be forgotten; reads that come one after the other in order leave the last one. Whatever is not
// so simple is told to the caller, who keeps the word exactly (words.hpp), and marks its cell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace simt::checker {

enum class Act : std::uint8_t { load, store, atomic };

inline constexpr unsigned kCellWords = 8;

/// Two cache lines for 32 bytes of memory, so that accesses that are spread out touch few.
struct alignas(64) Cells {
  // Number of the block << kOwnerShift | flags; negative: the word is kept exactly, under the number in `write`.
  std::array<std::int32_t, kCellWords> owner;
  std::array<std::int32_t, kCellWords> write;   // a place, 0: none in this launch
  std::array<std::int32_t, kCellWords> read;    // the same
  std::array<std::uint32_t, kCellWords> sites;  // of write << 17 | of read << 2 | shape
};

/// Which of the cells have this word of a page or of a block's shared memory. Columns of a matrix would all fall into
/// the same few sets of the processor's caches if they were simply counted through.
inline std::size_t group_of(std::size_t word) {
  const std::size_t group = word / kCellWords;
  return group ^ (group >> 7 & 31);
}
/// So many cells for so many words.
inline std::size_t groups_for(std::size_t words) { return words / (32 * kCellWords) * 32 + 32; }

/// Of words that several blocks have read (or updated by atomics): one of another block than the last one. Its site is
/// that of the write (of atomics: of the read), which the word does not have.
struct alignas(64) Others {
  std::array<std::int32_t, kCellWords> owner;
  std::array<std::int32_t, kCellWords> place;
};

inline constexpr int kOwnerShift = 5;
inline constexpr std::int32_t kBlocks = 1;  // another block has done the same
inline constexpr std::int32_t kWarps = 2;   // another warp of the block, since its last barrier
inline constexpr std::int32_t kLanes = 4;   // another lane of the warp, since its last __syncwarp
inline constexpr std::int32_t kAtomic = 8;  // `write` is an atomic
inline constexpr std::int32_t kSecond =
    16;  // `write` is one more read (of atomics `read` is one more atomic)
inline constexpr std::int32_t kFlags = 31;
inline constexpr std::int32_t kMostOwners = (1 << (31 - kOwnerShift)) - 1;

// A place: moment << 10 | thread.
inline constexpr int kThreadBits = 10;
inline constexpr std::int32_t kThreadMask = (1 << kThreadBits) - 1;
inline constexpr std::int32_t kWarpMask = kThreadMask & ~31;
inline constexpr std::int32_t kMostMoments = (1 << (31 - kThreadBits)) - 1;
inline std::int32_t place_of(std::int32_t moment, unsigned thread) {
  return moment << kThreadBits | static_cast<std::int32_t>(thread);
}
inline unsigned thread_of(std::int32_t place) { return static_cast<unsigned>(place & kThreadMask); }
inline std::int32_t moment_of(std::int32_t place) { return place >> kThreadBits; }

inline constexpr std::uint32_t kSiteMask = 0x7fff;
inline constexpr int kReadSiteShift = 2, kWriteSiteShift = 17;
inline constexpr std::uint32_t kShapeMask = 3;
/// How threads and bytes of the word belong together: the place is that of byte 0, and byte b is its thread's, the
/// thread's b / 2 further on, or the b-th's.
enum class WordShape : std::uint8_t { whole = 0, halves = 1, bytes = 2 };

/// Who touches words, and what is ordered before it.
struct Who {
  std::int32_t owner;  // the block's number << kOwnerShift
  std::int32_t stale;  // owners below are of earlier launches; in shared memory of earlier blocks
  std::int32_t since;  // places of the block below it come before its last barrier
  std::int32_t warp_since;  // of the warp: before its last __syncwarp
  bool is_exact;            // nothing may be forgotten that a flag stands for
};

/// Consecutive words that one instruction touches, each once.
struct Run {
  Cells* cells;
  Others* others;  // null: of shared memory
  unsigned first;  // word behind cells
  unsigned words;
  std::int32_t place;  // of the first word
  // The i-th word is of the thread that is (i << up) >> down further on.
  unsigned up, down;
  std::uint32_t site;
  WordShape shape;
};
inline constexpr unsigned kMostRunGroups = 17;  // 32 lanes of 16 bytes

/// What came of a run, by group of eight from the first word's.
struct RunResult {
  bool is_done = true;  // all words were simple
  /// A bit for each word that is not simple: nothing has changed there.
  std::array<std::uint8_t, kMostRunGroups> left;
  /// A bit for each group of shared memory for which no load changes anything until the block's next barrier, or until
  /// something else is done there: no load of anybody's; none of this warp's until its next __syncwarp.
  std::uint32_t settled = 0, settled_for_warp = 0;
};

/// Does what is simple: eight words at a time where the processor can, else one by one.
void touch_run(const Run& run, const Who& who, Act act, RunResult& result);
void touch_vectors(const Run& run, const Who& who, Act act, RunResult& result);
void touch_words(const Run& run, const Who& who, Act act, RunResult& result);
/// The same for a single word behind cells. False, and nothing changed, if it is not simple.
bool touch_word(Cells& cells, Others* others, unsigned word, std::int32_t place, std::uint32_t site,
                WordShape shape, const Who& who, Act act);

/// The same for two lanes of a warp that load (or update) the word together, the second `step` lanes further on.
bool touch_word_twice(Cells& cells, Others* others, unsigned word, std::int32_t place,
                      std::int32_t step, std::uint32_t site, const Who& who, Act act);

/// Lanes of an instruction that each touch a few words of their own: the first of them.
struct Each {
  std::array<Cells*, 32> cells;
  std::array<Others*, 32> others;     // null: of shared memory
  std::array<std::uint8_t, 32> word;  // behind cells; further ones are in the same eight
};
/// Does what is simple for the lanes of `mask`, whose first is of `place`. Returns the lanes that are not: some of their
/// words may have been touched.
std::uint32_t touch_each(const Each& each, std::uint32_t mask, unsigned words, std::int32_t place,
                         std::uint32_t site, const Who& who, Act act, bool is_shared);

}  // namespace simt::checker
