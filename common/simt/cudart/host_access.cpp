#include "common/simt/cudart/host_access.hpp"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/cudart/timeline.hpp"

namespace simt::cudart {
namespace {

struct sigaction programs_own;

void tell(std::uint64_t address) {
  const HostLine line = line_of_call(callers_of_runtime());
  const memory::Allocation* const its = arena().nearest(address);
  const std::string name = its != nullptr ? name_at(its->begin) : "";
  const bool is_freed = its != nullptr && its->is_freed && address - its->begin < its->bytes;
  std::fflush(stdout);
  std::fprintf(stderr,
               "%s:%d: error: host code touches %s, which is memory of the device%s: copy it with "
               "cudaMemcpy, or allocate it with cudaMallocManaged\n",
               line.file.empty() ? "?" : line.file.c_str(), line.line,
               name.empty() ? "an address of the device" : name.c_str(),
               is_freed ? " and was freed" : "");
}

// Our own data lie in the program's heap, which is not to be used now.
void tell_of_heap(const char* call) {
  dprintf(
      STDERR_FILENO,
      "simt: %s meets memory that is none: host code of the program has probably written beyond "
      "an array of its own; -Xcompiler -fsanitize=address names the line\n",
      call);
}

#if defined(__x86_64__)
// Whether the instruction is atomic: it has the prefix that locks, or exchanges with memory.
bool is_locked(const std::uint8_t* at) {
  constexpr std::uint8_t kLock = 0xf0;
  constexpr std::array<std::uint8_t, 5> kOthers = {0x66, 0xf2, 0xf3, 0x64, 0x65};
  while (std::find(kOthers.begin(), kOthers.end(), *at) != kOthers.end()) ++at;
  if (*at == kLock) return true;
  if ((*at & 0xf0) == 0x40) ++at;  // REX
  return *at == 0x86 || *at == 0x87;
}
#endif

timeline::Touch touch_of(const void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  if ((registers[REG_ERR] & 2) == 0) return timeline::Touch::reads;
  return is_locked(reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]))
             ? timeline::Touch::updates
             : timeline::Touch::writes;
#else
  // Not known here: what it wants to write it may also want to read.
  static_cast<void>(context);
  return timeline::Touch::writes;
#endif
}

// Once this returns the instruction is tried again: memory that was closed for a while is open now, else the program ends
// as it would have.
void on_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  // Of an address that no memory can have none is told.
  const bool is_of_device = info->si_code != SI_KERNEL && arena().contains(address);
  if (is_of_device) {
    const std::lock_guard lock(turn());
    if (timeline::host_touches(address, touch_of(context))) return;
  }
  sigaction(signal, &programs_own, nullptr);
  // A handler that calls the one before it calls this one again.
  programs_own = {};
  if (is_of_device) {
    tell(address);
  } else if (call_in_progress() != nullptr) {
    tell_of_heap(call_in_progress());
  }
}

}  // namespace

void watch_host_accesses() {
  struct sigaction now {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0 || now.sa_sigaction == on_fault) return;
  programs_own = now;
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace simt::cudart
