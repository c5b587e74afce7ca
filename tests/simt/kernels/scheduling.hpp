// Kernels about threads, barriers and warps (scheduling.cu); scheduler_test.cpp says what must come
// out of them. Each function launches one kernel and returns what it wrote, empty after an error.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace scheduling {

// Six numbers a thread in grid order, then block order: its position in the block and in the grid.
std::vector<unsigned> positions(dim3 grid, dim3 block);

// The sizes that every thread sees, checked in the kernel: the number of threads that saw them
// right.
std::vector<unsigned> sizes_seen(dim3 grid, dim3 block);

// Each of `rounds` rounds moves every thread's number to its right neighbour and adds 1.
std::vector<int> rotate(int threads, int rounds);

// Four numbers a block: __syncthreads_count, _or, _and of the predicate bits[thread], and again.
std::vector<int> barrier_votes(const std::vector<int>& bits);

// Threads above limits[k] leave before barrier k; each thread's number of barriers passed.
std::vector<int> leave_early(int threads, const std::vector<int>& limits);

enum class Shuffle { index, up, down, butterfly };
// One warp: lane n offers values[n].
template <typename T>
std::vector<T> shuffle(const std::vector<T>& values, Shuffle kind, int operand, int width);

// Lanes 0-15 and 16-31 shuffle (butterfly, 1) apart, each half in a branch and with a mask of its
// own.
std::vector<int> shuffle_in_halves();

// Five numbers a lane: ballot, any, all, match_any of keys[lane], and the active mask.
std::vector<unsigned> votes(const std::vector<int>& keys);

// Every third thread takes a number from a counter, all lanes of a warp with one atomic update (of the
// lanes in __activemask); -1 for the others.
std::vector<int> aggregated_increments(int threads);

// Sum over a block of any number of threads: shuffles within warps, then over the warps' sums.
std::vector<int> block_sums(int blocks, int threads);

// Blocks add up their numbers; the last one to come adds the blocks' sums (__threadfence).
std::vector<int> last_block_sums(int blocks);

// Every block adds 1 to one counter.
std::vector<unsigned> count_blocks(dim3 grid, dim3 block);

// Each thread fills an array of 16 KiB of its own, meets a barrier and adds it up.
std::vector<int> large_local_arrays(int threads);

// Each thread changes its copy of a kernel argument, meets a barrier and writes it.
std::vector<int> private_arguments(int threads);

// What every atomic function returns on cells of five types, and the cells' last values.
std::vector<long long> atomics();

// Host variables may be called threadIdx and blockIdx.
int host_variables_of_the_same_name();

}  // namespace scheduling
