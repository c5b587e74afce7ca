#include "common/simt/memory/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <new>
#include <system_error>

namespace simt::memory {
namespace {

constexpr std::uint64_t kAlignment = 256;
// Beyond an allocation: what is read past its end is nobody's.
constexpr std::uint64_t kGap = 256;
// Where device memory begins, if it is free: far from all that the host's memory grows to.
constexpr std::uint64_t kBegin = 0x2000'0000'0000;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Arena::Arena(std::size_t bytes) : bytes_(bytes) {
  const int file = memfd_create("device memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) fail("device memory");
  void* const device =
      mmap(reinterpret_cast<void*>(kBegin), bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  void* const alias =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  close(file);
  if (device == MAP_FAILED || alias == MAP_FAILED) fail("addresses for device memory");
  begin_ = reinterpret_cast<std::uint64_t>(device);
  alias_ = static_cast<std::byte*>(alias);
  next_ = begin_;
}

Arena::~Arena() {
  munmap(reinterpret_cast<void*>(begin_), bytes_);
  munmap(alias_, bytes_);
}

std::uint64_t Arena::allocate(std::size_t bytes, const std::string& name, bool is_open) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t at = rounded_up(next_, is_open ? page : kAlignment);
  const std::uint64_t limit = begin_ + bytes_;
  if (at > limit || bytes > limit - at || limit - at - bytes < page + kGap) throw std::bad_alloc();
  const std::uint64_t end = at + bytes;
  if (is_open && mprotect(reinterpret_cast<void*>(at), std::max<std::size_t>(bytes, 1),
                          PROT_READ | PROT_WRITE) != 0) {
    throw std::bad_alloc();
  }
  next_ = is_open ? rounded_up(end + kGap, page) : end + kGap;
  allocations_[end] = {at, bytes, name, false, is_open};
  return at;
}

void Arena::lend(std::uint64_t begin, std::size_t bytes, const std::string& name) {
  allocations_[begin + bytes] = {begin, bytes, name, false, true};
}

bool Arena::free(std::uint64_t address) {
  const auto found = allocations_.upper_bound(address);
  if (found == allocations_.end() || found->second.begin != address || found->second.is_freed) {
    return false;
  }
  Allocation& its = found->second;
  if (!contains(address)) {
    allocations_.erase(found);  // whose it is may use it for something else
    return true;
  }
  its.is_freed = true;
  if (its.is_open) mprotect(reinterpret_cast<void*>(address), its.bytes, PROT_NONE);
  // The pages go back; the addresses stay, so that who uses them still is told.
  madvise(host(address), its.bytes, MADV_REMOVE);
  return true;
}

const Allocation* Arena::find(std::uint64_t address) const {
  const auto found = allocations_.upper_bound(address);
  if (found == allocations_.end() || found->second.begin > address) return nullptr;
  return &found->second;
}

const Allocation* Arena::nearest(std::uint64_t address) const {
  const auto after = allocations_.upper_bound(address);
  const Allocation* const next = after == allocations_.end() ? nullptr : &after->second;
  if (after == allocations_.begin()) return next;
  const Allocation* const before = &std::prev(after)->second;
  if (next == nullptr) return before;
  if (next->begin <= address) return next;
  // Who is past an end is likelier to have gone too far than to have begun too early.
  return next->begin - address < address - before->end() ? next : before;
}

}  // namespace simt::memory
