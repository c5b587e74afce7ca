// What the tuned variants share: the outputs cut into parts for the threads and those into blocks
// of a few registers. A variant gives the sums of one block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/conv/limits.hpp"
#include "stages/01_conv1d_cpu/team.hpp"
#include "stages/01_conv1d_cpu/vector.hpp"

namespace halo::conv1d_cpu {

// Calls block(cells, to, past_caches) for each block of the outputs [first, last): it sets
//   to[v] = sum over j of mask[j] * cells[v + j], 0 <= v < kBlock.
template <class Block>
void compute_blocks(const float* input,  // [n]
                    float* output,       // [n], written from first to last - 1
                    int n, int width, int first, int last, int threads, Block block) {
  // 256 KB of output: long enough to get going, short enough to share out evenly.
  constexpr std::int64_t kLargestPart = 1 << 16;
  // Cells asked for ahead of their use, 2 KB: the processor's own prefetching stops at the end of each
  // page of 4 KB, and a block holds so many instructions that the next loads wait behind them.
  constexpr int kAhead = 512;
  // Input and output that are together larger than this do not stay in the caches. If they do, stores
  // past the caches would throw out what the next reader could find there.
  constexpr std::int64_t kCacheBytes = 32 << 20;
  // Waking a thread up takes some 50 microseconds: for less work than this it comes too late.
  constexpr std::int64_t kProductsPerThread = 1 << 21;
  constexpr int kLine = 16;  // floats in a line of a cache
  const int halo = (width - 1) / 2;
  const std::int64_t outputs = last - first;
  if (outputs <= 0) return;
  const bool past_caches = 2 * outputs * std::int64_t{sizeof(float)} > kCacheBytes;

  const std::int64_t worth = outputs * std::max(width, 8) / kProductsPerThread;
  const auto team = static_cast<int>(std::clamp<std::int64_t>(worth, 1, threads));
  // Parts are cut between lines: two threads that write to one would pass it back and forth.
  const std::int64_t blocks = (outputs / team / 4 + kBlock - 1) / kBlock;
  const std::int64_t part_size = std::clamp<std::int64_t>(blocks * kBlock, kBlock, kLargestPart);
  const auto into_line = [&](std::int64_t i) {  // floats since the line's beginning
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(output + i) / sizeof(float) % kLine);
  };
  const std::int64_t origin = first - into_line(first);

  const auto compute_part = [&](int part) {
    const std::int64_t start = std::max<std::int64_t>(origin + part * part_size, first);
    const std::int64_t end = std::min<std::int64_t>(origin + (part + 1) * part_size, last);
    int count = 0;
    for (std::int64_t i = start; i < end; i += count) {
      // The very first block is cut short, so that the others begin with a line.
      const int skipped = into_line(i);
      count = static_cast<int>(
          std::min<std::int64_t>(skipped == 0 ? kBlock : kLine - skipped, end - i));
      if (count == kBlock && i >= halo && i + kBlock + halo <= n) {
        const float* const ahead = input + std::min<std::int64_t>(i + kAhead, n - kBlock);
        for (int k = 0; k < kBlock; k += kLine) __builtin_prefetch(ahead + k);
        block(input + i - halo, output + i, past_caches);
      } else {
        // Few outputs, or cells that do not exist: a whole block all the same, over a copy of the
        // cells with zeros for those that are not there.
        float cells[kBlock + conv::kMaxMaskWidth - 1] = {};
        float outputs_here[kBlock];
        const std::int64_t from = std::max<std::int64_t>(i - halo, 0);
        const std::int64_t to = std::min<std::int64_t>(i + count + halo, n);
        if (from < to) std::copy(input + from, input + to, cells + (from - (i - halo)));
        block(cells, outputs_here, false);
        std::copy(outputs_here, outputs_here + count, output + i);
      }
    }
    if (past_caches) finish_stores();
  };

  const auto parts = static_cast<int>((last - origin + part_size - 1) / part_size);
  if (team > 1) {
    Team::instance().run(team, parts, compute_part);
  } else {
    for (int part = 0; part < parts; ++part) compute_part(part);
  }
}

}  // namespace halo::conv1d_cpu
