#include "common/harness/core/guarded_values.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace halo {

namespace {

constexpr std::size_t kGuardBytes = 64 << 10;  // a kernel's whole constant memory

// What is watched now. The handler opens the guard and lets the read go on: jumping out of it would leave
// a library's locks held.
unsigned char* volatile watched = nullptr;
volatile sig_atomic_t was_read = 0;
struct sigaction before;

void on_fault(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto guard = reinterpret_cast<std::uintptr_t>(watched);
  if (guard != 0 && at - guard < kGuardBytes) {
    was_read = 1;
    mprotect(watched, kGuardBytes, PROT_READ);
    return;
  }
  sigaction(signal, &before, nullptr);  // not ours: it comes again
}

}  // namespace

GuardedValues::GuardedValues(std::span<const float> values, std::size_t count) : count_(count) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t wanted = (count * sizeof(float) + page - 1) / page * page;
  bytes_ = wanted + kGuardBytes;
  void* const memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<unsigned char*>(memory);
  guard_ = memory_ + wanted;
  data_ = reinterpret_cast<float*>(guard_) - count;
  for (std::size_t at = 0; at < count; at += values.size()) {
    std::copy_n(values.begin(), std::min(values.size(), count - at), data_ + at);
  }
}

GuardedValues::~GuardedValues() { munmap(memory_, bytes_); }

bool GuardedValues::reads_beyond(const std::function<void()>& use) {
  struct Watch {
    explicit Watch(unsigned char* guard) {
      struct sigaction action = {};
      action.sa_sigaction = on_fault;
      action.sa_flags = SA_SIGINFO;
      sigaction(SIGSEGV, &action, &before);
      was_read = 0;
      watched = guard;
      mprotect(guard, kGuardBytes, PROT_NONE);
    }
    ~Watch() {
      mprotect(watched, kGuardBytes, PROT_READ);
      watched = nullptr;
      sigaction(SIGSEGV, &before, nullptr);
    }
  };
  const Watch watch(guard_);
  use();
  return was_read != 0;
}

}  // namespace halo
