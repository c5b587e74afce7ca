#include "common/simt/cudart/host_access.hpp"

#include <signal.h>

#include <cstdio>
#include <string>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/host_lines.hpp"

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

// Once this returns the instruction is tried again, and the program ends as it would have.
void on_fault(int signal, siginfo_t* info, void*) {
  sigaction(signal, &programs_own, nullptr);
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (arena().contains(address)) tell(address);
}

}  // namespace

void watch_host_accesses() {
  static const bool watches = [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, &programs_own) == 0;
  }();
  static_cast<void>(watches);
}

}  // namespace simt::cudart
