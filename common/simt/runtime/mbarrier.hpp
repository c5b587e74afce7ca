// Barriers in shared memory (PTX's mbarrier objects), and the stores that arrive at them (PTX's st.async).
//
// A barrier's phase is complete when as many threads have arrived as it was set up for, and as many bytes as they
// have said to expect. A store is on its way until a thread has waited for its phase: then what it brings is written,
// so that who reads too early reads old values, and is ordered before whatever that thread does next. Nothing else
// that the storing thread did is. What threads did before they arrived comes before what others do who have waited.
//
// Each block of a cluster uses its own barriers, and others only as a store's; so all this happens in turns
// (cluster.hpp) and needs no locks.
#pragma once

#include <cstdint>
#include <vector>

namespace simt {

struct Mbarrier {
  // A store to shared memory of the barrier's block.
  struct Store {
    std::uintptr_t to;
    unsigned bytes;  // 4, 8 or 16
    std::uint32_t pc;
    unsigned rank, thread;  // whose it is
    std::uint32_t phase;    // in which it arrives
    alignas(16) unsigned char data[16];
  };

  unsigned rank = 0;          // of its block
  std::uint32_t count = 0;    // arrivals of a phase
  std::uint32_t pending = 0;  // of them, in this phase
  std::int64_t bytes = 0;  // expected in this phase and not there; below 0 if they were there first
  std::uint32_t phase = 0;  // how many are complete

  // Who set it up: the thread had arrived so often at the barrier of the cluster.
  unsigned thread = 0;
  std::uint32_t pc = 0;
  std::uint32_t epoch = 0;
  std::uint32_t interval = 0;  // of the block
  std::uint32_t arrives = 0;
  bool fenced = false;  // and said so by fence.mbarrier_init before it arrived again

  std::vector<Store> on_their_way;
  // By thread of the block: up to this epoch, what it did comes before what others do who have waited for a phase
  // that is complete; or for this one.
  std::vector<std::uint32_t> released, gathered;

  // True if the phase with this parity is complete, as mbarrier.try_wait.parity asks.
  bool is_complete(unsigned parity) const { return (phase & 1) != (parity & 1); }
};

}  // namespace simt
