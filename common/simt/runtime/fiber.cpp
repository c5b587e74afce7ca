#include "common/simt/runtime/fiber.hpp"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>

namespace simt {

namespace context = boost::context::detail;

namespace {
// Addresses; memory is used as it is touched. A GPU's thread has 512 kB of local memory at most.
constexpr std::size_t kStackBytes = 576 << 10;
constexpr std::size_t kColourStep = 13 * 64;
constexpr std::size_t kColourRange = 16 << 10;
}  // namespace

struct FiberEntry {
  static void run(context::transfer_t from) {
    auto* pool = static_cast<FiberPool*>(from.data);
    pool->scheduler_ = from.fctx;
    for (;;) {
      pool->entry_();
      pool->suspend();
    }
  }
};

void FiberPool::start(Fiber* fiber) {
  fiber->context = context::make_fcontext(reinterpret_cast<void*>(fiber->high),
                                          fiber->high - fiber->low, &FiberEntry::run);
}

Fiber* FiberPool::acquire() {
  if (!idle_.empty()) {
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return fiber;
  }
  void* memory = mmap(nullptr, kStackBytes + kStackGuardBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kStackGuardBytes, PROT_NONE) != 0) {
    std::fprintf(stderr, "simt: no memory for a thread's stack of %zu kB; set SIMT_THREADS lower\n",
                 kStackBytes >> 10);
    std::_Exit(2);
  }
  // Stacks that all began at the same page offset would share a few cache sets: spread them.
  const std::size_t colour = (created_++ * kColourStep) % kColourRange;
  auto* fiber = new Fiber;
  fiber->low = reinterpret_cast<std::uintptr_t>(memory) + kStackGuardBytes;
  fiber->high = fiber->low + kStackBytes - colour;
  start(fiber);
  return fiber;
}

void FiberPool::discard(Fiber* fiber) {
  start(fiber);
  idle_.push_back(fiber);
}

void FiberPool::resume(Fiber* fiber) {
  fiber->context = context::jump_fcontext(fiber->context, this).fctx;
}

void FiberPool::suspend() { scheduler_ = context::jump_fcontext(scheduler_, nullptr).fctx; }

}  // namespace simt
