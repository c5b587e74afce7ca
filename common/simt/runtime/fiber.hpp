// Stacks on which simulated threads run, and the switch between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

// What lies below a stack and can't be accessed. g++ touches what a large frame takes in steps of a page on x86-64
// and of 64 kB on AArch64: no access that is meant for the stack gets past this.
inline constexpr std::size_t kStackGuardBytes = 64 << 10;

// A context on a stack of its own. After its function has returned a fiber is kept and started
// again for another thread.
struct Fiber {
  void* context = nullptr;  // where to resume
  std::uintptr_t low = 0;   // lowest usable address; the guard lies below it
  std::uintptr_t high = 0;  // the same distance above every fiber's first frame
};

// The fibers of one OS thread. Not shared between OS threads.
class FiberPool {
 public:
  // `entry` is started on a fresh fiber at its first resume, and again after every finish().
  explicit FiberPool(void (*entry)()) : entry_(entry) {}

  Fiber* acquire();
  void release(Fiber* fiber) { idle_.push_back(fiber); }  // its entry has returned
  void discard(Fiber* fiber);  // it was left in the middle; its stack is used again from the start

  // Runs the fiber until it suspends or its entry returns. Called by the scheduler.
  void resume(Fiber* fiber);
  // Goes back to the scheduler. Called on a fiber.
  void suspend();

 private:
  void start(Fiber* fiber);
  void (*entry_)();
  std::vector<Fiber*> idle_;
  std::size_t created_ = 0;
  void* scheduler_ = nullptr;
  friend struct FiberEntry;
};

}  // namespace simt
