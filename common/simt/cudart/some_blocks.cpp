#include "common/simt/cudart/some_blocks.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <new>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/simt.hpp"

namespace simt::cudart {
namespace {

struct Choice {
  std::function<std::vector<BlockRange>(std::uint64_t)> choose;
  std::set<std::uint64_t> written;  // pages
};
Choice& choice() {
  static Choice& instance = *new Choice;
  return instance;
}

std::uint64_t cluster_of(std::uint64_t block, const machine::Grid& grid) {
  const machine::Dim3 &all = grid.blocks, &cluster = grid.cluster;
  const machine::Dim3 at = machine::place_at(block, all);
  return machine::linear({at.x / cluster.x, at.y / cluster.y, at.z / cluster.z},
                         {all.x / cluster.x, all.y / cluster.y, all.z / cluster.z});
}

}  // namespace

std::optional<std::vector<std::uint64_t>> chosen_clusters(const machine::Grid& grid) {
  if (!choice().choose) return std::nullopt;
  std::set<std::uint64_t> chosen;
  for (const BlockRange& range : choice().choose(grid.blocks.count())) {
    for (std::uint64_t block = range.first; block < range.last; ++block) {
      chosen.insert(cluster_of(block, grid));
    }
  }
  return std::vector<std::uint64_t>(chosen.begin(), chosen.end());
}

void note_written(const std::set<std::uint64_t>& pages) {
  for (const std::uint64_t page : pages) {
    const Block* const block = block_at(page * kNotedPage);
    if (block != nullptr && block->is_sparse) choice().written.insert(page);
  }
}

}  // namespace simt::cudart

namespace simt {

using namespace cudart;

void run_only_blocks(std::function<std::vector<BlockRange>(std::uint64_t blocks)> choose) {
  const std::lock_guard lock(turn());
  choice().choose = std::move(choose);
}

float* allocate_sparse(std::size_t floats, std::span<const float> values) {
  const std::lock_guard lock(turn());
  const std::size_t bytes = floats * sizeof(float);
  if (bytes == 0 || values.size_bytes() % kNotedPage != 0) return nullptr;
  try {
    const std::uint64_t begin = cudart::allocate_sparse(bytes, std::as_bytes(values));
    std::set<std::uint64_t>& written = choice().written;
    written.erase(written.lower_bound(begin / kNotedPage),
                  written.lower_bound((begin + bytes - 1) / kNotedPage + 1));
    return reinterpret_cast<float*>(begin);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::size_t sparse_floats() { return kNotedPage / sizeof(float); }

std::vector<WrittenPart> written_parts(const float* memory) {
  const std::lock_guard lock(turn());
  std::vector<WrittenPart> parts;
  const cudart::Block* const block = block_at(memory);
  if (block == nullptr) return parts;
  const auto add = [&](std::size_t begin, std::size_t end) {
    if (parts.empty() || parts.back().end < begin) parts.push_back({begin, begin});
    parts.back().end = end;
  };
  const std::uint64_t end = block->begin + block->bytes;
  const std::set<std::uint64_t>& written = choice().written;
  for (auto page = written.lower_bound(block->begin / kNotedPage);
       page != written.end() && *page * kNotedPage < end; ++page) {
    const std::uint64_t begin_of_page = *page * kNotedPage;
    const std::uint64_t end_of_page = std::min(begin_of_page + kNotedPage, end);
    for (std::uint64_t at = begin_of_page; at < end_of_page; at += sizeof(float)) {
      if (memory_checker().initialised().bits(at, sizeof(float)) == 0) continue;
      const std::size_t number = (at - block->begin) / sizeof(float);
      add(number, number + 1);
    }
  }
  return parts;
}

}  // namespace simt
