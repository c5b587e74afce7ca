// Names of hazards, and what to do about them.
#include <algorithm>

#include "common/simt/checker/hazards.hpp"

namespace simt {
namespace {

struct Kind {
  Hazard hazard;
  const char* name;
  bool is_note;
  const char* description;
};

constexpr const char* kBulkStore =
    "A copy in bulk to global memory is over when the thread that asked for it has called "
    "cp_async_bulk_wait_group(), without _read: let others come behind that, and a barrier or "
    "flag.";

// In the order of Hazard.
constexpr Kind kKinds[] = {
    {Hazard::race, "race", false,
     "Two threads touch the same byte, at least one of them writes, and nothing orders them."},
    {Hazard::same_value_write, "same_value_write", true,
     "Several threads write the same value to the same place, and nothing orders them."},
    {Hazard::read_beside_atomic, "read_beside_atomic", true,
     "A plain read of global memory that other threads update atomically."},
    {Hazard::out_of_bounds, "out_of_bounds", false, "An access outside its array."},
    {Hazard::use_after_free, "use_after_free", false,
     "An access to memory that was given back with cudaFree, or of a function that has returned."},
    {Hazard::misaligned, "misaligned", false,
     "An address that is no multiple of the access's size."},
    {Hazard::invalid_address, "invalid_address", false,
     "An access by a null pointer, to host memory, or a call where no function begins."},
    {Hazard::uninitialized_shared_read, "uninitialized_shared_read", false,
     "A read of shared memory that nobody has written."},
    {Hazard::uninitialized_global_read, "uninitialized_global_read", false,
     "A read of global memory that nobody has written."},
    {Hazard::uninitialized_local_read, "uninitialized_local_read", false,
     "A read of an element of a local array that its thread has not written."},
    {Hazard::divergent_barrier, "divergent_barrier", false,
     "Threads of a block wait at different barriers, or for threads that never come."},
    {Hazard::missed_barrier, "missed_barrier", false,
     "Threads wait at a barrier that others cannot reach, as they have ended."},
    {Hazard::warp_deadlock, "warp_deadlock", false,
     "A warp's operation waits for lanes that never come."},
    {Hazard::undefined_shuffle, "undefined_shuffle", false,
     "A shuffle reads from a lane that has ended, or that takes no part."},
    {Hazard::unfinished_copy, "unfinished_copy", false,
     "Shared memory is touched that an asynchronous copy is still filling."},
    {Hazard::invalid_copy, "invalid_copy", false,
     "A copy or memset beyond an allocation, of freed memory, or of the wrong side's."},
    {Hazard::endless_kernel, "endless_kernel", false,
     "Threads repeat something, and nothing changes."},
    {Hazard::failed_assert, "failed_assert", false, "An assert of the kernel does not hold."},
    {Hazard::trap, "trap", false, "The kernel ends itself by __trap() or a wrong free."},
    {Hazard::division_by_zero, "division_by_zero", false, "An integer is divided by zero."},
    {Hazard::stack_overflow, "stack_overflow", false,
     "Calls go deeper than a thread's local memory reaches."},
    {Hazard::unordered_streams, "unordered_streams", false,
     "Kernels, copies or the host touch the same bytes, one of them writing, and no stream, event "
     "or wait orders them."},
    {Hazard::absent_block, "absent_block", false,
     "An access to the shared memory of another block of the cluster, which may not have begun or "
     "may have ended."},
    {Hazard::unordered_launches, "unordered_launches", false,
     "A launch with programmatic stream serialization meets what the kernel before it does, and "
     "has not waited for it."},
    {Hazard::missing_fence, "missing_fence", true,
     "Data behind a lock or flag are used without a fence after it."},
    {Hazard::unwritten_output, "unwritten_output", true,
     "A copy to the host takes bytes that nothing has written."},
    {Hazard::unordered_stores, "unordered_stores", true,
     "Volatile, relaxed or atomic stores of one word that nothing orders, or a volatile load of "
     "it."},
    {Hazard::unfinished_product, "unfinished_product", false,
     "What a wgmma reads or writes is touched before it has been waited for."},
    {Hazard::missing_proxy_fence, "missing_proxy_fence", false,
     "Ordinary stores are read by wgmma or a copy in bulk with no fence of proxies between."},
};

constexpr bool is_in_order() {
  std::size_t next = 0;
  for (const Kind& kind : kKinds) {
    if (static_cast<std::size_t>(kind.hazard) != next++) return false;
  }
  return true;
}
static_assert(is_in_order());

const Kind& kind_of(Hazard hazard) { return kKinds[static_cast<std::size_t>(hazard)]; }

}  // namespace

const char* hazard_name(Hazard hazard) { return kind_of(hazard).name; }

std::optional<Hazard> hazard_named(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return kind.hazard;
  }
  return {};
}

bool is_note(Hazard hazard) { return kind_of(hazard).is_note; }

const char* description(Hazard hazard) { return kind_of(hazard).description; }

// One sentence per kind, of a race one per remedy.
const char* advice(Hazard hazard, Remedy remedy) {
  switch (hazard) {
    case Hazard::race:
      switch (remedy) {
        case Remedy::lanes:
          return "The lanes of a warp do not move in step: put a __syncwarp() between the two (a "
                 "__syncthreads() where other warps use it too), or give each thread its own "
                 "element.";
        case Remedy::global:
          return "Read from one array and write to another, or give each thread its own element; a "
                 "__syncthreads() between the two helps only if no other block touches these "
                 "elements.";
        case Remedy::atomics:
          return "Let both be atomics (atomicExch stores, atomicAdd(p, 0) reads), or put a "
                 "__syncthreads() between the two, which orders the threads of one block only.";
        case Remedy::one_statement:
          return "Both run the same statement: give each thread its own element, or have one "
                 "thread write it; a barrier helps only between turns of a loop.";
        case Remedy::blocks:
          return "Nothing orders the blocks of a launch, no barrier either: give each block "
                 "elements of its own, use an atomic, or make it two launches.";
        case Remedy::blocks_in_place:
          return "Nothing orders the blocks of a launch, no barrier either: write to another array "
                 "than is read, or make it two launches.";
        case Remedy::flag:
          return "Nothing orders the blocks of a launch, no barrier either: make it two launches. "
                 "If it is a flag, raise it and read it by atomics or a volatile pointer, and put "
                 "a __threadfence() before it is raised.";
        case Remedy::change:
          return "Threads that change one element lose each other's changes, and no barrier helps: "
                 "use an atomic (atomicAdd), or give each thread its own element.";
        case Remedy::cluster:
          return "__syncthreads() orders one block only: put this_cluster().sync() between the "
                 "two, or give each block elements of its own.";
        case Remedy::scope:
          return "An atomic with the scope of a block (atomicAdd_block) is atomic among the "
                 "threads of one block only: use the one of the whole device.";
        case Remedy::guard:
          return "The memory model gives a plain read beside an atomic no value that a test may "
                 "rely on: leave the test out, or read through a volatile pointer or a "
                 "cuda::atomic_ref.";
        case Remedy::fence:
          return "The lock or flag that one passes to the other orders nothing without a fence: "
                 "put a __threadfence() before the atomic or volatile store that opens the lock or "
                 "raises the flag.";
        case Remedy::one_for_all:
          return "One thread hands on, or takes over, what concerns all threads of its block: they "
                 "need a __syncthreads() between what they have done and its flag (or lock, or "
                 "counter), with a __threadfence(), and one between the flag that it has seen and "
                 "what they go on with.";
        case Remedy::waiting:
          return "The first of them arrives at a barrier afterwards: let the other wait there "
                 "before (cuda::barrier::wait(); of a cuda::pipeline consumer_wait() or "
                 "producer_acquire()), or give each thread its own element.";
        case Remedy::arrival:
          return "What st_async stores is there for threads that have waited for its barrier with "
                 "mbarrier_try_wait_parity(), and for those that a barrier orders after them.";
        case Remedy::bulk_reuse:
          return "The copy may come at any moment after it was asked for: let those that use what "
                 "was there arrive at a barrier, and wait for that barrier before.";
        case Remedy::bulk_store:
          return kBulkStore;
        case Remedy::constant:
          return "A GPU keeps constants for the whole launch, so what it reads may be what was "
                 "there before: write them in a launch of their own, or read a __device__ array.";
        case Remedy::as_constant:
          return "Such a load goes through a cache that keeps for the whole launch what it has "
                 "read, so it may find what was there before: leave out __ldg() or __restrict__ "
                 "there, or write in a launch of its own.";
        case Remedy::beside_parent:
          return "The two run side by side, and no kernel can wait for one that it launches: let "
                 "it do this before the launch, behind a barrier of its block, or put what comes "
                 "after both on cudaStreamTailLaunch.";
        case Remedy::beside_sibling:
          return "Launches of different blocks, and those on different streams, run side by side: "
                 "put both on one stream of one block, order the streams with an event, or give "
                 "each its own elements.";
        case Remedy::barrier_in_memory:
          return "Between mbarrier_init() and the first use by another thread put a "
                 "__syncthreads(), for other blocks fence_mbarrier_init() and a barrier of the "
                 "cluster; and keep its eight bytes for nothing else.";
        default:
          break;
      }
      return "Put a __syncthreads() between the two, or give each thread its own element.";
    case Hazard::same_value_write:
      return "Both write the same value, so the result is defined in practice; let one thread "
             "write it.";
    case Hazard::read_beside_atomic:
      return "The value is any of those that the variable goes through: right for a test or a "
             "first guess, wrong where the last one is meant.";
    case Hazard::out_of_bounds:
      return "Guard the access with the array's length.";
    case Hazard::use_after_free:
      if (remedy == Remedy::heap) {
        return "Free it after its last use by any thread: a barrier, or a launch of its own, "
               "between "
               "the two.";
      }
      if (remedy == Remedy::returned) {
        return "A function's variables end with it: let it return the value itself, or fill an "
               "array that its caller has.";
      }
      return "Free the memory after the last kernel that uses it.";
    case Hazard::misaligned:
      if (remedy == Remedy::tensor_map) {
        return "The first coordinate, times the size of an element, must be a multiple of 16: a "
               "GPU stops there with an illegal instruction.";
      }
      return "A GPU needs an address that is a multiple of the access's size; use a narrower type "
             "here.";
    case Hazard::invalid_address:
      if (remedy == Remedy::tensor_map) {
        return "Pass the CUtensorMap as a const __grid_constant__ parameter, and its address to "
               "the copy; the map lies at a multiple of 64.";
      }
      if (remedy == Remedy::barrier_in_memory) {
        return "A barrier lies in the shared memory of its own block, whose threads arrive and "
               "wait, at an address that is a multiple of 8.";
      }
      if (remedy == Remedy::own_memory) {
        return "What an asynchronous copy takes lies in global memory. An address of shared memory "
               "means something to its own block only, one of a local variable to its own thread, "
               "while they run: leave others the values, not their address.";
      }
      if (remedy == Remedy::heap) {
        return "Pass a pointer from cudaMalloc. If it is malloc()'s in a kernel: that has given "
               "null, as it does once its heap is full. Look at what it returns, free() what is "
               "done with, or make the heap larger with "
               "cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes).";
      }
      if (remedy == Remedy::function) {
        return "A pointer to a function must hold the address of a __device__ function, taken in "
               "device code, and an object with virtual functions must be made there.";
      }
      if (remedy == Remedy::cluster) {
        return "A GPU stops there with an illegal instruction. From bit 24 on an address holds the "
               "rank of its block: leave it there in one's own, and reach others by pointers from "
               "map_shared_rank() or by .shared::cluster.";
      }
      if (remedy == Remedy::peer) {
        return "Open it before the launch: with the kernel's device chosen by cudaSetDevice, call "
               "cudaDeviceEnablePeerAccess() for the other; or copy it over by cudaMemcpyPeer.";
      }
      if (remedy == Remedy::peer_of_pool) {
        return "Open its pool before the launch: call cudaMemPoolSetAccess() with the kernel's "
               "device, "
               "for which cudaDeviceEnablePeerAccess() is no substitute.";
      }
      return "Pass a pointer from cudaMalloc; a host pointer or a null pointer cannot be used in a "
             "kernel.";
    case Hazard::uninitialized_shared_read:
      if (remedy == Remedy::barrier_in_memory) {
        return "Set it up with mbarrier_init(), by one thread of its own block.";
      }
      return "Shared memory holds garbage at the start of a block: write the element (and "
             "synchronise) before it is read.";
    case Hazard::uninitialized_global_read:
      return "cudaMalloc does not clear memory: copy to it, cudaMemset it, or write it first.";
    case Hazard::uninitialized_local_read:
      return "A local array holds garbage at first: write each element before it is read.";
    case Hazard::divergent_barrier:
      if (remedy == Remedy::cluster) return "To each barrier_arrive() belongs one barrier_wait().";
      if (remedy == Remedy::named_barrier) {
        return "A barrier that names a number of threads (bar.sync number, threads) waits until so "
               "many have come, whole warps: name as many as reach it.";
      }
      return "Every thread of the block must reach the same __syncthreads().";
    case Hazard::missed_barrier:
      if (remedy == Remedy::cluster) {
        return "A barrier does not wait for threads that have ended, but what they should have "
               "done before it is missing: guard the work with the condition, not the way to the "
               "barrier.";
      }
      return "A barrier does not wait for threads that have ended, but what they should have done "
             "before it is missing, and CUDA allows __syncthreads() in conditional code only if "
             "the whole block takes it: guard the work with the condition, not the way to the "
             "barrier.";
    case Hazard::warp_deadlock:
      if (remedy == Remedy::whole_group) {
        return "All lanes of four warps in a row, the first with a number that is a multiple of "
               "four, must execute the same wgmma: make blocks of 128 threads or a multiple, and "
               "put it under no condition that parts the four.";
      }
      if (remedy == Remedy::whole_warp) {
        return "All 32 lanes of a warp must execute the same one: make blocks of whole warps, let "
               "no lane end before the last, and put it under no condition that parts them.";
      }
      return "Every lane named in the mask must execute the same warp operation with the same "
             "mask.";
    case Hazard::undefined_shuffle:
      return "The value is undefined: read from lanes that the mask names, and keep all lanes of "
             "the warp alive until the last shuffle.";
    case Hazard::unfinished_copy:
      if (remedy == Remedy::bulk_load) {
        return "What a copy in bulk brings is there for threads that have waited for the phase of "
               "its barrier (mbarrier_try_wait_parity), and for those that a barrier orders behind "
               "them.";
      }
      if (remedy == Remedy::copy_at_barrier) {
        return "What the copy brings is there for threads that have waited for the barrier that it "
               "arrives at (cuda::barrier::wait(), cuda::pipeline::consumer_wait()).";
      }
      if (remedy == Remedy::bulk_store) return kBulkStore;
      if (remedy == Remedy::bulk_sent) {
        return "A copy in bulk to shared memory has read its source when the barrier that it "
               "arrives at says so: let the block that waits there pass that on, such as by "
               "this_cluster().sync().";
      }
      if (remedy == Remedy::bulk_source) {
        return "A copy in bulk reads its source until the thread that asked for it has called "
               "cp_async_bulk_commit_group() and cp_async_bulk_wait_group_read(); others need a "
               "barrier behind that wait.";
      }
      return "A barrier does not complete an asynchronous copy: between the two, the copy's own "
             "thread must call __pipeline_commit() and a __pipeline_wait_prior(n) that leaves it "
             "no longer pending, and other threads need a __syncthreads() after that wait.";
    case Hazard::invalid_copy:
      if (remedy == Remedy::arrival) {
        return "Both of st_async's addresses come from map_shared_rank() with the same rank.";
      }
      if (remedy == Remedy::tensor_map) {
        return "Numbers have add, min, max, inc and dec, whole numbers and, or and xor besides.";
      }
      if (remedy == Remedy::tensor_box) {
        return "A GPU stops there with an illegal instruction: begin at a pixel of the box, from "
               "its lower corner to its upper one, and let the offsets lead beyond.";
      }
      if (remedy == Remedy::bulk) {
        return "A copy in bulk moves a multiple of 16 bytes, from and to addresses that are "
               "multiples of 16, and its barrier lies in the block that it goes to.";
      }
      return "An asynchronous copy fills the shared memory of its own block: copy there, and let "
             "the other block read it after this_cluster().sync().";
    case Hazard::endless_kernel:
      if (remedy == Remedy::arrival) {
        return "Compare what it was set up to expect with what the blocks send to it.";
      }
      if (remedy == Remedy::barrier_in_memory) {
        return "Set it up and put a __syncthreads() behind that, and another one before its "
               "destructor, or mbarrier_inval(): all must have done with it by then.";
      }
      if (remedy == Remedy::host) {
        return "Check the loop's end condition, and let the host write what the kernel waits for "
               "before it waits for the kernel.";
      }
      if (remedy == Remedy::another_stream) {
        return "Check the loop's end condition, and put what writes it on a stream that does not "
               "wait for the kernel.";
      }
      return "Check the loop's end condition.";
    case Hazard::failed_assert:
      return "What the kernel takes for granted does not hold here.";
    case Hazard::trap:
      return "The kernel ends there, and the launch with it.";
    case Hazard::division_by_zero:
      return "A GPU does not stop there: it goes on with a number that means nothing.";
    case Hazard::stack_overflow:
      return "On a GPU local arrays lie in local memory, 512 kB a thread at most and slow: make "
             "them smaller or move them to shared or global memory, and see that recursion ends.";
    case Hazard::unordered_streams:
      if (remedy == Remedy::polled_by_host) {
        return "That is right where the host polls it until it has the value that it waits for; "
               "else let the host wait first.";
      }
      return "Put both on one stream, let the second's stream wait with cudaEventRecord and "
             "cudaStreamWaitEvent, or let the host wait in between.";
    case Hazard::unordered_launches:
      if (remedy == Remedy::launch_over) {
        return "That kernel lets no other begin before its end, so on today's GPUs it is over; "
               "CUDA "
               "promises only after cudaGridDependencySynchronize() that what it wrote is seen.";
      }
      return "A launch with programmatic stream serialization may begin before the one before it "
             "has ended: call cudaGridDependencySynchronize() first.";
    case Hazard::missing_fence:
      if (remedy == Remedy::products) {
        return "Call wgmma.fence between what writes accumulators, or registers of A, and the "
               "first wgmma that has them: ptxas adds one only where it sees it, and says so "
               "(C7519).";
      }
      if (remedy == Remedy::barrier_in_memory) {
        return "A copy in bulk may find such a barrier as it was before: after mbarrier_init() the "
               "same thread calls fence.mbarrier_init or fence.proxy.async "
               "(cuda::ptx::fence_mbarrier_init, fence_proxy_async), and then comes the barrier.";
      }
      return "A GPU may make this access before it has read the lock or flag that allows it: put a "
             "__threadfence() between the two.";
    case Hazard::unordered_stores:
      if (remedy == Remedy::announced) {
        return "Both are volatile, so the value is the one before or the one behind: if a flag "
               "announces it, store it before the flag is raised, with a __threadfence() between "
               "the two; within a block put a barrier between.";
      }
      return "Both are volatile, relaxed or atomic, so one of the values stays: right for a flag, "
             "wrong where it matters which.";
    case Hazard::unwritten_output:
      return "Has the launch a thread for each element, and does each write where it should? If "
             "these are not meant to be used, copy less, or cudaMemset them.";
    case Hazard::absent_block:
      return remedy == Remedy::block_begin
                 ? "The blocks of a cluster do not begin at the same moment: call "
                   "this_cluster().sync() before the first access to another block's shared memory."
                 : "A block's shared memory goes when it ends: call this_cluster().sync() after "
                   "the last access, before the block ends.";
    case Hazard::unfinished_product:
      return "A wgmma goes on until wgmma.wait_group leaves its group no longer pending: wait "
             "before its operands are overwritten or its results are used, and let other threads "
             "do so behind a barrier.";
    case Hazard::missing_proxy_fence:
      return "wgmma and copies in bulk see what ordinary stores leave only behind a fence: between "
             "the two, the thread that stores calls fence.proxy.async "
             "(cuda::ptx::fence_proxy_async), and then comes the barrier.";
  }
  return "";
}

void Outside::join(const Outside& other) {
  if (other.element == 0) return;
  const bool is_first = element == 0;
  least = is_first ? other.least : std::min(least, other.least);
  end = is_first ? other.end : std::max(end, other.end);
  size = other.size;
  element = other.element;
  is_dynamic = other.is_dynamic;
}

bool Outside::is_in_elements() const { return element > 1 && end / element == size; }

std::string advice(const Outside& outside, const std::string& maker) {
  const std::int64_t element = std::max(outside.element, 1), elements = outside.size / element;
  const std::string used = std::to_string(outside.end / element), all = std::to_string(elements);
  const std::string at = maker.empty() ? "" : " at " + maker;
  if (outside.element == 0) return advice(Hazard::out_of_bounds);
  if (outside.least < 0) {
    const std::string first = std::to_string((outside.least - element + 1) / element);
    // The access that is told may be at the other end.
    if (outside.end > outside.size && elements > 0) {
      return "Beyond both ends: the kernel touches " + first + " to " +
             std::to_string((outside.end - 1) / element) + " of the elements 0 to " +
             std::to_string(elements - 1) + ". Guard the access at both, or fix the index.";
    }
    return "Index " + first + " is before the first element: guard the access, or fix the index.";
  }
  const bool is_one_too_far = outside.end == (elements + 1) * element;
  const std::string one_too_far = "One too far: index " + all + " of " + all + " elements, 0 to " +
                                  std::to_string(elements - 1) + ". ";
  if (outside.is_dynamic) {
    const std::string asked =
        "he launch" + at + " asked for " +
        (outside.size == 0 ? "no" : std::to_string(outside.size) + " bytes of") +
        " dynamic shared memory, and this kernel touches at least " + std::to_string(outside.end) +
        (outside.size == 0 ? " bytes" : "");
    if (outside.size == 0) return "T" + asked + ": give it a third argument, in bytes.";
    if (outside.is_in_elements()) {
      return "Bytes or elements? T" + asked + ", which are " + used +
             " elements: its third argument is in bytes, so sizeof is missing.";
    }
    return is_one_too_far && elements > 0
               ? one_too_far + "Or t" + asked + ": its third argument."
               : "T" + asked + ": fix its third argument (in bytes), its blocks, or the index.";
  }
  // Memory that a call asked for in bytes; a declaration is in elements.
  if (outside.is_in_elements() && !maker.empty()) {
    return "Bytes or elements? The allocation at " + maker + " has " +
           std::to_string(outside.size) + " bytes, which are " + all + " elements of " +
           std::to_string(element) + " bytes, and " + used + " are used: sizeof is missing.";
  }
  if (is_one_too_far) return one_too_far + "Guard the access, or fix the index.";
  if (element == 1) return advice(Hazard::out_of_bounds);
  return "Guard the access with the array's length, or fix the index: it has " + all +
         (elements == 1 ? " element" : " elements") + ", and the kernel touches " + used + ".";
}

}  // namespace simt
