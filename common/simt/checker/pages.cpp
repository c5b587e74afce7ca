#include "common/simt/checker/pages.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>

namespace simt::checker {
namespace {

// Zeros that cost nothing until they are touched.
void* zeros(std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "memory for the race check");
  }
  return at;
}

}  // namespace

Pages::Pages(std::uint64_t begin, std::size_t bytes, std::size_t most_bytes)
    : begin_(begin),
      entries_(bytes / kBytes + 1),
      most_pages_(most_bytes / sizeof(Page) + 1),
      directory_(static_cast<std::atomic<Page*>*>(zeros(entries_ * sizeof(*directory_)))) {}

Pages::~Pages() {
  clear();
  munmap(static_cast<void*>(directory_), entries_ * sizeof(*directory_));
}

Pages::Page* Pages::make(std::size_t number) {
  const std::lock_guard lock(mutex_);
  Page* page = directory_[number].load(std::memory_order_acquire);
  if (page != nullptr) return page;
  if (made_.size() >= most_pages_) {
    is_full_ = true;
    return nullptr;
  }
  page = static_cast<Page*>(zeros(sizeof(Page)));
  made_.push_back(number);
  directory_[number].store(page, std::memory_order_release);
  return page;
}

void Pages::clear() {
  for (const std::size_t number : made_) {
    munmap(static_cast<void*>(directory_[number].load()), sizeof(Page));
    directory_[number] = nullptr;
  }
  made_.clear();
  is_full_ = false;
}

}  // namespace simt::checker
