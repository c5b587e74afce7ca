#include "common/simt/checker/initialised.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <vector>

#include "common/simt/memory/repeated.hpp"

namespace simt::checker {

Initialised::Initialised(std::uint64_t begin, std::size_t bytes)
    : begin_(begin), count_(bytes / 64 + 2) {
  void* const at = mmap(nullptr, count_ * sizeof *words_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(),
                            "memory for the check of what is initialised");
  }
  words_ = static_cast<std::uint64_t*>(at);
}

Initialised::~Initialised() { munmap(words_, count_ * sizeof *words_); }

void Initialised::clear() { std::fill(words_, words_ + count_, 0); }

void Initialised::mark_many(std::uint64_t at, std::size_t bytes) {
  while (bytes != 0) {
    const std::size_t here = std::min<std::size_t>(bytes, 64 - at % 64);
    mark_word(at / 64, mask_of(at % 64, here));
    at += here;
    bytes -= here;
  }
}

void Initialised::forget(std::uint64_t address, std::size_t bytes) {
  std::uint64_t at = address - begin_;
  // Whole pages go back.
  constexpr std::uint64_t kPage = 4096 * 64;
  while (bytes != 0) {
    if (at % kPage == 0 && bytes >= kPage) {
      madvise(words_ + at / 64, bytes / kPage * 4096, MADV_DONTNEED);
      const std::size_t whole = bytes / kPage * kPage;
      at += whole;
      bytes -= whole;
      continue;
    }
    const std::size_t here = std::min<std::size_t>(bytes, 64 - at % 64);
    __atomic_fetch_and(&words_[at / 64], ~mask_of(at % 64, here), __ATOMIC_RELAXED);
    at += here;
    bytes -= here;
  }
}

void Initialised::mark_sparse(std::uint64_t address, std::size_t bytes) {
  const std::vector<std::byte> ones(std::size_t{1} << 21, std::byte{0xff});
  if (!memory::map_repeated(words_ + (address - begin_) / 64, bytes / 8, ones)) {
    throw std::bad_alloc();
  }
}

void Initialised::forget_sparse(std::uint64_t address, std::size_t bytes) {
  if (mmap(words_ + (address - begin_) / 64, bytes / 8, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    throw std::bad_alloc();
  }
}

std::uint64_t Initialised::bits(std::uint64_t address, std::size_t bytes) const {
  const std::uint64_t at = address - begin_;
  std::uint64_t found = load(at / 64) >> at % 64;
  if (at % 64 + bytes > 64) found |= load(at / 64 + 1) << (64 - at % 64);
  return found & mask_of(0, bytes);
}

void Initialised::copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  const auto copy_bits = [&](std::uint64_t done, std::size_t here) {
    const std::uint64_t its = bits(from + done, here);
    const std::uint64_t at = to + done - begin_;
    const auto put = [&](std::uint64_t word, std::uint64_t mask, std::uint64_t value) {
      __atomic_fetch_and(&words_[word], ~mask, __ATOMIC_RELAXED);
      __atomic_fetch_or(&words_[word], value & mask, __ATOMIC_RELAXED);
    };
    const std::size_t first = std::min<std::size_t>(here, 64 - at % 64);
    put(at / 64, mask_of(at % 64, first), its << at % 64);
    if (first < here) put(at / 64 + 1, mask_of(0, here - first), its >> first);
  };
  // Backwards where a forward copy would read what it has written.
  const bool is_backwards = to > from;
  const std::size_t pieces = (bytes + 63) / 64;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t piece = is_backwards ? pieces - 1 - i : i;
    copy_bits(piece * 64, std::min<std::size_t>(64, bytes - piece * 64));
  }
}

}  // namespace simt::checker
