#include "common/simt/memory/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <new>
#include <system_error>

#include "common/simt/memory/repeated.hpp"

namespace simt::memory {
namespace {

constexpr std::uint64_t kAlignment = 512;  // as a GPU has it, and textures need
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
  // The same pages twice. They are no file's: a limit on the size of files (ulimit -f, a sandbox's) is none on device memory.
  void* const device = mmap(reinterpret_cast<void*>(kBegin), bytes, PROT_NONE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void* alias = device == MAP_FAILED ? device : mremap(device, 0, bytes, MREMAP_MAYMOVE);
  if (alias == MAP_FAILED && device != MAP_FAILED) {
    // QEMU, which runs programs of another processor, maps no pages twice so. A file's it does.
    file_ = memfd_create("device memory", MFD_CLOEXEC);
    if (ftruncate(file_, static_cast<off_t>(bytes)) == 0 &&
        mmap(device, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file_, 0) ==
            device) {
      alias = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file_, 0);
    }
  }
  if (alias == MAP_FAILED || mprotect(alias, bytes, PROT_READ | PROT_WRITE) != 0) {
    fail("addresses for device memory, which need ulimit -v unlimited");
  }
  begin_ = reinterpret_cast<std::uint64_t>(device);
  alias_ = static_cast<std::byte*>(alias);
  next_ = begin_;
  of_kernels_ = next_of_kernels_ = rounded_up(begin_ + bytes_ / 8 * 7, kSparseUnit);
}

Arena::~Arena() {
  munmap(reinterpret_cast<void*>(begin_), bytes_);
  munmap(alias_, bytes_);
  if (file_ >= 0) close(file_);
}

std::uint64_t Arena::reserve(std::size_t bytes, std::uint64_t alignment, std::uint64_t from,
                             std::uint64_t limit) const {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t at = rounded_up(from, alignment);
  if (at > limit || bytes > limit - at || limit - at - bytes < std::max(alignment, page) + kGap) {
    throw std::bad_alloc();
  }
  return at;
}

std::uint64_t Arena::allocate(std::size_t bytes, const std::string& name, bool is_open) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t at = reserve(bytes, is_open ? page : kAlignment, next_, of_kernels_);
  const std::uint64_t end = at + bytes;
  if (is_open && mprotect(reinterpret_cast<void*>(at), std::max<std::size_t>(bytes, 1),
                          PROT_READ | PROT_WRITE) != 0) {
    throw std::bad_alloc();
  }
  next_ = is_open ? rounded_up(end + kGap, page) : end + kGap;
  allocations_[end] = {at, bytes, name, false, is_open};
  return at;
}

std::uint64_t Arena::allocate_for_kernel(std::size_t bytes, const std::string& name) {
  const std::uint64_t at = reserve(bytes, kAlignment, next_of_kernels_, begin_ + bytes_);
  next_of_kernels_ = at + bytes + kGap;
  allocations_[at + bytes] = {at, bytes, name};
  return at;
}

std::uint64_t Arena::allocate_sparse(std::size_t bytes, std::span<const std::byte> values,
                                     bool is_open) {
  const std::uint64_t at = reserve(bytes, kSparseUnit, next_, of_kernels_);
  const std::uint64_t room = rounded_up(bytes, kSparseUnit);
  if (!values.empty() && !memory::map_repeated(host(at), room, values)) {
    put_back(at, room);
    throw std::bad_alloc();
  }
  if (is_open) let_host(at, bytes, HostAccess::all);
  next_ = at + room + kGap;
  allocations_[at + bytes] = {at, bytes, "", false, is_open, true};
  return at;
}

std::uint64_t Arena::reserve_range(std::size_t bytes, std::uint64_t alignment) {
  const std::uint64_t at = reserve(bytes, alignment, next_, of_kernels_);
  next_ = at + bytes + kGap;
  return at;
}

void Arena::give_range(std::uint64_t begin, std::size_t bytes, const std::string& name) {
  std::uint64_t first = begin, end = begin + bytes;
  if (const auto before = allocations_.find(begin); before != allocations_.end()) {
    first = before->second.begin;
    allocations_.erase(before);
  }
  if (const auto behind = allocations_.upper_bound(end);
      behind != allocations_.end() && behind->second.begin == end) {
    end = behind->second.end();
    allocations_.erase(behind);
  }
  allocations_[end] = {first, end - first, name};
}

void Arena::take_range(std::uint64_t begin, std::size_t bytes) {
  const auto found = allocations_.upper_bound(begin);
  const Allocation its = found->second;
  const std::uint64_t end = begin + bytes;
  allocations_.erase(found);
  if (its.begin < begin) allocations_[begin] = {its.begin, begin - its.begin, its.name};
  if (end < its.end()) allocations_[its.end()] = {end, its.end() - end, its.name};
  madvise(host(begin), bytes, MADV_REMOVE);
}

// The arena's own pages, with nothing in them.
void Arena::put_back(std::uint64_t begin, std::size_t bytes) {
  void* const put =
      file_ < 0 ? mremap(reinterpret_cast<void*>(begin), 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                         host(begin))
                : mmap(host(begin), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file_,
                       static_cast<off_t>(begin - begin_));
  if (put == MAP_FAILED || mprotect(host(begin), bytes, PROT_READ | PROT_WRITE) != 0) {
    fail("device memory");
  }
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
  if (its.is_sparse) put_back(address, rounded_up(its.bytes, kSparseUnit));
  if (its.is_open) mprotect(reinterpret_cast<void*>(address), its.bytes, PROT_NONE);
  // Pages that it had to itself go back; the addresses stay, so that who uses them still is told.
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = rounded_up(address, page),
                      last = its.is_sparse ? rounded_up(its.end(), page) : its.end() / page * page;
  if (first < last) madvise(host(first), last - first, MADV_REMOVE);
  // Sparse memory is so large that its addresses are soon used up.
  for (auto last = allocations_.lower_bound(of_kernels_); last != allocations_.begin();) {
    --last;
    if (!last->second.is_sparse || !last->second.is_freed) break;
    next_ = last->second.begin;
    last = allocations_.erase(last);
  }
  return true;
}

bool Arena::is_open(std::uint64_t page) const {
  const Allocation* const its = nearest(page);
  return its != nullptr && its->is_open && !its->is_freed && its->begin <= page;
}

void Arena::let_host(std::uint64_t page, std::size_t bytes, HostAccess access) {
  mprotect(reinterpret_cast<void*>(page), bytes,
           access == HostAccess::none    ? PROT_NONE
           : access == HostAccess::reads ? PROT_READ
                                         : PROT_READ | PROT_WRITE);
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
