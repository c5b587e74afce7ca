// Kinds of findings, and what to do about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace simt {

enum class Hazard : std::uint8_t {
  race,
  same_value_write,
  read_beside_atomic,
  out_of_bounds,
  use_after_free,
  misaligned,
  invalid_address,
  uninitialized_shared_read,
  uninitialized_global_read,
  uninitialized_local_read,
  divergent_barrier,
  missed_barrier,
  warp_deadlock,
  undefined_shuffle,
  unfinished_copy,
  invalid_copy,
  endless_kernel,
  failed_assert,
  trap,
  division_by_zero,
  stack_overflow,
  unordered_streams,
  absent_block,
  unordered_launches,
  missing_fence,
  unwritten_output,
  unordered_stores,
  unfinished_product,
  missing_proxy_fence,
};

const char* hazard_name(Hazard hazard);
/// Nothing if no kind is called so.
std::optional<Hazard> hazard_named(std::string_view name);
/// True if it does not fail a run.
bool is_note(Hazard hazard);
/// What is wrong where it is found, in any program: one sentence.
const char* description(Hazard hazard);

// What the reader should do about it, where that depends on who the two parties are. Of a finding's
// occurrences the greatest counts.
enum class Remedy : std::uint8_t {
  none,               // the hazard says all
  lanes,              // a race within a warp
  block,              // a race between warps
  global,             // a race in global memory: a barrier may not be enough
  atomics,            // the same, beside an atomic
  one_statement,      // that several threads run, on one element
  cluster,            // between blocks of a cluster
  block_begin,        // one of them may not have begun
  block_end,          // or may have ended
  blocks,             // a race between blocks
  blocks_in_place,    // one of them only reads
  flag,               // and goes where the value says
  change,             // of an element that both read and write
  whole_warp,         // a deadlock in an instruction that needs every lane
  arrival,            // of a store at a barrier in shared memory
  named_barrier,      // of the block, for a number of threads
  waiting,            // for the phase of such a barrier that the other arrives at
  barrier_in_memory,  // how such a barrier is set up and kept
  scope,              // atomics whose scope does not include the other party
  announced,          // a volatile value, by a flag
  guard,              // a plain read that decides whether an atomic is done
  fence,              // what is handed on without a fence
  one_for_all,        // what one thread hands on for others of its block
  function,           // a call through a pointer
  whole_group,        // a deadlock in an instruction of four warps
  products,           // registers of them, which a fence hands over
  bulk,               // a copy in bulk
  tensor_map,         // what it goes by
  tensor_box,         // and where pixels of it begin
  bulk_load,          // what it brings is used too early
  copy_at_barrier,    // the same of an asynchronous copy that arrives there
  bulk_reuse,         // it brings something to where others may still read
  bulk_source,        // what it takes is overwritten too early
  bulk_store,         // what it leaves in global memory is used too early
  bulk_sent,          // what it takes to a block's shared memory is overwritten too early
  peer,               // memory of another device
  peer_of_pool,       // the same, of a pool
  constant,           // a launch writes what it reads as one
  as_constant,        // the same of global memory
  beside_parent,      // of a kernel and one that it launches
  beside_sibling,     // of two that it launches
  launch_over,        // a launch before it that lets the next one begin at its end only
  heap,               // memory that kernels allocate and free
  own_memory,         // of a block or a thread: its address means nothing to others
  returned,           // a variable of a function that has
  host,               // what a kernel waits for
  another_stream,     // the same
  polled_by_host,     // what a kernel tells it while it runs
};

// What the reader should do about it: one sentence or two.
const char* advice(Hazard hazard, Remedy remedy = Remedy::none);

/// What was touched outside an array, in bytes from its begin.
struct Outside {
  std::int64_t least = 0;   // the first byte
  std::int64_t end = 0;     // behind the last
  std::int64_t size = 0;    // of the array
  int element = 0;          // of an access; 0: nothing is known
  bool is_dynamic = false;  // the launch says how large it is

  void join(const Outside& other);
  /// As many elements as the array has bytes.
  bool is_in_elements() const;
};

/// What to do about it. `maker` is where the array got its size, the allocation or the launch: "line 57"; empty: not
/// known.
std::string advice(const Outside& outside, const std::string& maker);

}  // namespace simt
