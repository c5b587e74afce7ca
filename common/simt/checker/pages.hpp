// The cells of global memory: pages of them, made as launches touch the memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "common/simt/checker/cells.hpp"

namespace simt::checker {

class Pages {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 16;  // of memory, a page
  static constexpr std::size_t kGroups = kBytes / (4 * kCellWords);
  struct Page {
    std::array<Cells, kGroups> cells;
    std::array<Others, kGroups> others;
    std::int32_t written_in = 0;  // the last launch that has written there
  };

  /// For addresses from `begin` on. At most so many bytes of cells at a time.
  Pages(std::uint64_t begin, std::size_t bytes, std::size_t most_bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  /// Null if there is no more room: what lies there is not checked for races.
  Page* at(std::uint64_t address) {
    Page* const page = directory_[(address - begin_) / kBytes].load(std::memory_order_acquire);
    return page != nullptr ? page : make((address - begin_) / kBytes);
  }
  std::uint64_t begin() const { return begin_; }
  /// Numbers of the pages that there are.
  const std::vector<std::size_t>& made() const { return made_; }
  const Page& number(std::size_t number) const { return *directory_[number].load(); }
  /// A launch begins. What cells say of earlier ones counts no more: they serve again, for whatever address comes first,
  /// and are still in the processor's caches. Nobody may hold a page.
  void begin_launch();
  /// The same, and all cells are zero.
  void clear();
  bool is_full() const { return is_full_; }

 private:
  static constexpr std::size_t kOfSlab = 16;  // pages that are made together: 6 MB
  static constexpr std::size_t kMostLarge = 16;

  Page* make(std::size_t number);
  std::uint64_t begin_;
  std::size_t entries_, most_pages_;
  std::atomic<Page*>* directory_;
  std::mutex mutex_;
  std::vector<std::size_t> made_;
  std::vector<void*> slabs_;  // where they lie
  std::atomic<bool> is_full_{false};
};

}  // namespace simt::checker
