#include "common/simt/runtime/crashes.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace simt {

thread_local constinit CrashWatch crash_watch;

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, kEndThread};
struct sigaction programs_own[std::size(kSignals)];

#if defined(__x86_64__)
std::uintptr_t program_counter(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}
// Only if it has put nothing on its stack: a guess, to be believed if it is a line of a kernel.
std::uintptr_t caller(const ucontext_t& context, const CrashWatch& watch) {
  const auto top = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  if (top < watch.stack_low || top >= watch.stack_top - 8) return 0;
  return *reinterpret_cast<const std::uintptr_t*>(top);
}
void go_on_in(ucontext_t& context, void (*function)(), std::uintptr_t stack_top) {
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(function);
  // As after a call: the address to return to lies at the end of 16 bytes.
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>((stack_top & ~std::uintptr_t{15}) - 8);
}
#elif defined(__aarch64__)
std::uintptr_t program_counter(const ucontext_t& context) { return context.uc_mcontext.pc; }
std::uintptr_t caller(const ucontext_t& context, const CrashWatch&) {
  return context.uc_mcontext.regs[30];
}
void go_on_in(ucontext_t& context, void (*function)(), std::uintptr_t stack_top) {
  context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(function);
  context.uc_mcontext.sp = stack_top & ~std::uintptr_t{15};
}
#else
#error "say here how a signal handler's context names the instruction and the stack"
#endif

void on_signal(int signal, siginfo_t* info, void* opaque) {
  CrashWatch& watch = crash_watch;
  if (watch.stack_top == 0) {
    if (signal == kEndThread) return;
    // Not a simulated thread's: once this returns the instruction is tried again.
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      if (kSignals[i] == signal) sigaction(signal, &programs_own[i], nullptr);
    }
    return;
  }
  ucontext_t& context = *static_cast<ucontext_t*>(opaque);
  watch.crash = {signal, reinterpret_cast<std::uintptr_t>(info->si_addr), program_counter(context),
                 caller(context, watch)};
  go_on_in(context, watch.landing, watch.stack_top - 256);
}

}  // namespace

void prepare_for_crashes() {
  // The crash may be that there is no stack left.
  constexpr std::size_t kHandlerStack = 64 << 10;
  stack_t stack{};
  stack.ss_sp = mmap(nullptr, kHandlerStack, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack.ss_sp == MAP_FAILED) {
    std::fprintf(stderr, "simt: no memory for a signal handler's stack\n");
    std::_Exit(2);
  }
  stack.ss_size = kHandlerStack;
  sigaltstack(&stack, nullptr);
}

CrashHandlers::CrashHandlers() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &action, &programs_own[i]);
  }
}

CrashHandlers::~CrashHandlers() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &programs_own[i], nullptr);
  }
}

}  // namespace simt
