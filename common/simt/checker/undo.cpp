#include "common/simt/checker/undo.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

namespace simt::checker {

Undo::Undo(const memory::Arena& arena, std::size_t bytes, Initialised& initialised)
    : arena_(arena), initialised_(initialised), count_(bytes / kPieceBytes + 1) {
  void* const at = mmap(nullptr, count_ * sizeof *marks_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "memory to run a launch once more");
  }
  marks_ = static_cast<std::atomic<std::uint32_t>*>(at);
}

Undo::~Undo() { munmap(static_cast<void*>(marks_), count_ * sizeof *marks_); }

void Undo::begin() {
  kept_ += 2;
  used_ = 0;
  lent_.clear();
}

void Undo::before_write(std::uint64_t address, std::size_t bytes) {
  if (!arena_.contains(address)) {
    const std::lock_guard lock(mutex_);
    std::byte* const host = arena_.host(address);
    for (std::size_t i = 0; i < bytes; ++i) lent_.emplace_back(host + i, host[i]);
    return;
  }
  const std::uint64_t offset = address - arena_.begin();
  for (std::size_t piece = offset / kPieceBytes; piece <= (offset + bytes - 1) / kPieceBytes;
       ++piece) {
    if (marks_[piece].load(std::memory_order_acquire) != kept_) keep(piece);
  }
}

void Undo::keep(std::size_t piece) {
  std::atomic<std::uint32_t>& mark = marks_[piece];
  std::uint32_t seen = mark.load(std::memory_order_acquire);
  const bool is_first = seen < kept_ - 1 && mark.compare_exchange_strong(seen, kept_ - 1);
  if (!is_first) {
    while (mark.load(std::memory_order_acquire) != kept_) std::this_thread::yield();
    return;
  }
  Piece* its = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (used_ == pieces_.size()) pieces_.push_back(std::make_unique<Piece>());
    its = pieces_[used_++].get();
  }
  its->begin = arena_.begin() + piece * kPieceBytes;
  std::memcpy(its->bytes.data(), arena_.host(its->begin), kPieceBytes);
  for (std::size_t i = 0; i < its->initialised.size(); ++i) {
    its->initialised[i] = initialised_.bits(its->begin + i * 64, 64);
  }
  mark.store(kept_, std::memory_order_release);
}

void Undo::put_back() {
  for (std::size_t p = 0; p < used_; ++p) {
    const Piece& one = *pieces_[p];
    std::memcpy(arena_.host(one.begin), one.bytes.data(), kPieceBytes);
    for (std::size_t i = 0; i < one.initialised.size(); ++i) {
      initialised_.put(one.begin + i * 64, one.initialised[i]);
    }
  }
  for (auto one = lent_.rbegin(); one != lent_.rend(); ++one) *one->first = one->second;
}

}  // namespace simt::checker
