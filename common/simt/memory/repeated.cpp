#include "common/simt/memory/repeated.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace simt::memory {
namespace {

// A process has some 65,000 mappings.
constexpr std::size_t kMostPieces = 10'000;

bool write_all(int file, std::span<const std::byte> values) {
  while (!values.empty()) {
    const ssize_t written = write(file, values.data(), values.size());
    if (written <= 0) return false;
    values = values.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool map_repeated(void* begin, std::size_t bytes, std::span<const std::byte> values) {
  if (values.empty()) return false;
  const std::size_t times = bytes / values.size() / kMostPieces + 1;
  const std::size_t piece = times * values.size();
  // Who writes beyond it is ended by a signal.
  rlimit largest{};
  if (getrlimit(RLIMIT_FSIZE, &largest) != 0 || piece > largest.rlim_cur) return false;
  const int file = memfd_create("repeated", MFD_CLOEXEC);
  if (file < 0) return false;
  bool is_there = true;
  for (std::size_t i = 0; is_there && i < times; ++i) is_there = write_all(file, values);
  for (std::size_t at = 0; is_there && at < bytes; at += piece) {
    is_there = mmap(static_cast<std::byte*>(begin) + at, std::min(piece, bytes - at),
                    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
                    0) != MAP_FAILED;
  }
  close(file);
  // A huge page for each word that is touched would be a thousand times as much.
  if (is_there) madvise(begin, bytes, MADV_NOHUGEPAGE);
  return is_there;
}

}  // namespace simt::memory
