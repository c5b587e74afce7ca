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

// The same, at a multiple of the size of a large page of the processor's: accesses that are spread out would else wait
// for addresses to be translated.
void* large_zeros(std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{2} << 20;
  auto* const at = static_cast<std::byte*>(zeros(bytes + kLarge));
  const std::size_t before = (kLarge - reinterpret_cast<std::uintptr_t>(at) % kLarge) % kLarge;
  if (before != 0) munmap(at, before);
  if (before != kLarge) munmap(at + before + bytes, kLarge - before);
  madvise(at + before, bytes, MADV_HUGEPAGE);
  return at + before;
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
  if (made_.size() == slabs_.size() * kOfSlab) {
    // With so many they are of single accesses, far apart: then a large page is mostly zeros that nobody needs.
    constexpr std::size_t kBytes = kOfSlab * sizeof(Page);
    slabs_.push_back(slabs_.size() < kMostLarge ? large_zeros(kBytes) : zeros(kBytes));
  }
  page = static_cast<Page*>(slabs_[made_.size() / kOfSlab]) + made_.size() % kOfSlab;
  made_.push_back(number);
  directory_[number].store(page, std::memory_order_release);
  return page;
}

void Pages::begin_launch() {
  for (const std::size_t number : made_) directory_[number] = nullptr;
  made_.clear();
  is_full_ = false;
}

void Pages::clear() {
  begin_launch();
  for (void* const slab : slabs_) munmap(slab, kOfSlab * sizeof(Page));
  slabs_.clear();
}

}  // namespace simt::checker
