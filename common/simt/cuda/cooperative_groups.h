// Stands in for NVIDIA's <cooperative_groups.h>: the cluster, the block, tiles of up to a warp, the lanes
// that run together. A group is a set of lanes and the operations of its warp (or __syncthreads) on it; all of
// them are inlined, so that reports name the kernel's own line.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_group;

namespace details {

SIMT_INLINE unsigned int rank_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
SIMT_INLINE unsigned int threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }
SIMT_INLINE unsigned int lane() { return rank_in_block() % 32; }
SIMT_INLINE unsigned int count(unsigned int lanes) {
  return static_cast<unsigned int>(__builtin_popcount(lanes));
}

// Lane that holds the `rank`-th bit of `lanes`; 32 if there are not so many.
SIMT_INLINE unsigned int lane_of_rank(unsigned int lanes, unsigned int rank) {
  for (; lanes; lanes &= lanes - 1, --rank) {
    if (rank == 0) return static_cast<unsigned int>(__builtin_ctz(lanes));
  }
  return 32;
}

// The bits of `votes` at the lanes of `lanes`, moved together.
SIMT_INLINE unsigned int pack(unsigned int votes, unsigned int lanes) {
  unsigned int packed = 0;
  for (unsigned int rank = 0; lanes; lanes &= lanes - 1, ++rank) {
    if (votes & lanes & (~lanes + 1)) packed |= 1u << rank;
  }
  return packed;
}

// The aligned tile of `size` lanes round the caller.
SIMT_INLINE unsigned int tile_mask(unsigned int size) {
  return size >= 32 ? ~0u : ((1u << size) - 1) << (lane() & ~(size - 1));
}

template <typename T>
SIMT_INLINE T exchange(unsigned int mask, T value, simt::Exchange kind, unsigned int operand,
                       unsigned int width) {
  static_assert(sizeof(T) <= 32, "a shuffle of a group takes at most 32 bytes");
  return simt::detail::exchange_value(mask, value, kind, operand, static_cast<int>(width));
}

}  // namespace details

// ---- the block ----

class thread_block {
 public:
  SIMT_INLINE static void sync(const void* place = __builtin_source_location()) {
    simt::block_barrier(place);
  }
  SIMT_INLINE static unsigned int thread_rank() { return details::rank_in_block(); }
  SIMT_INLINE static unsigned int num_threads() { return details::threads_in_block(); }
  SIMT_INLINE static unsigned int size() { return num_threads(); }
  SIMT_INLINE static dim3 group_index() { return blockIdx; }
  SIMT_INLINE static dim3 thread_index() { return threadIdx; }
  SIMT_INLINE static dim3 dim_threads() { return blockDim; }
  SIMT_INLINE static dim3 group_dim() { return blockDim; }
};

SIMT_INLINE thread_block this_thread_block() { return thread_block(); }

// ---- lanes that met at the call of coalesced_threads() ----

class coalesced_group {
 public:
  SIMT_INLINE void sync() const { simt::warp_barrier(mask_); }
  SIMT_INLINE unsigned int num_threads() const { return details::count(mask_); }
  SIMT_INLINE unsigned int size() const { return num_threads(); }
  SIMT_INLINE unsigned int thread_rank() const {
    return details::count(mask_ & ((1u << details::lane()) - 1));
  }
  SIMT_INLINE unsigned int meta_group_rank() const { return meta_rank_; }
  SIMT_INLINE unsigned int meta_group_size() const { return meta_size_; }

  // Ranks count the group's members. A source beyond them is the caller itself.
  template <typename T>
  SIMT_INLINE T shfl(T value, int source) const {
    return from_rank(value, static_cast<unsigned int>(source));
  }
  template <typename T>
  SIMT_INLINE T shfl_up(T value, int delta) const {
    return from_rank(value, thread_rank() - static_cast<unsigned int>(delta));
  }
  template <typename T>
  SIMT_INLINE T shfl_down(T value, unsigned int delta) const {
    return from_rank(value, thread_rank() + delta);
  }

  SIMT_INLINE int any(int predicate) const { return simt::warp_ballot(mask_, predicate) != 0; }
  SIMT_INLINE int all(int predicate) const { return simt::warp_ballot(mask_, !predicate) == 0; }
  SIMT_INLINE unsigned int ballot(int predicate) const {
    return details::pack(simt::warp_ballot(mask_, predicate), mask_);
  }
  template <typename T>
  SIMT_INLINE unsigned int match_any(T value) const {
    return details::pack(__match_any_sync(mask_, value), mask_);
  }
  template <typename T>
  SIMT_INLINE unsigned int match_all(T value, int& predicate) const {
    return details::pack(__match_all_sync(mask_, value, &predicate), mask_);
  }

 private:
  friend coalesced_group coalesced_threads();
  friend coalesced_group tiled_partition(const coalesced_group& parent, unsigned int tile_size);
  friend class thread_group;
  SIMT_INLINE explicit coalesced_group(unsigned int mask, unsigned int meta_rank = 0,
                                       unsigned int meta_size = 1)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  template <typename T>
  SIMT_INLINE T from_rank(T value, unsigned int rank) const {
    unsigned int source = rank < 32 ? details::lane_of_rank(mask_, rank) : 32;
    if (source >= 32) source = details::lane();
    return details::exchange(mask_, value, simt::Exchange::index, source, 32);
  }
  unsigned int mask_;
  unsigned int meta_rank_;
  unsigned int meta_size_;
};

SIMT_INLINE coalesced_group coalesced_threads() { return coalesced_group(simt::active_mask()); }

// Consecutive members, `tile_size` (a power of two up to 32) together; the last tile may be smaller.
SIMT_INLINE coalesced_group tiled_partition(const coalesced_group& parent, unsigned int tile_size) {
  if (tile_size == 0 || tile_size > 32 || (tile_size & (tile_size - 1))) __trap();
  const unsigned int tile = parent.thread_rank() / tile_size;
  unsigned int mask = 0, rank = 0;
  for (unsigned int rest = parent.mask_; rest; rest &= rest - 1, ++rank) {
    if (rank / tile_size == tile) mask |= rest & (~rest + 1);
  }
  return coalesced_group(mask, tile, (parent.size() + tile_size - 1) / tile_size);
}

// ---- tiles of a size that is known when the kernel is compiled ----

template <unsigned int Size, typename Parent = void>
class thread_block_tile {
  static_assert(Size != 0 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two");
  static_assert(Size <= 32,
                "a tile of more than a warp is outside the simulator's subset: use tiles of 32 and "
                "shared memory between them");

 public:
  // Any tile of this size passes where the parent does not matter.
  template <typename OtherParent>
  SIMT_INLINE thread_block_tile(const thread_block_tile<Size, OtherParent>& other)
      : meta_rank_(other.meta_group_rank()), meta_size_(other.meta_group_size()) {
    static_assert(__is_same(Parent, void), "the tile has another parent");
  }

  SIMT_INLINE void sync() const { simt::warp_barrier(mask()); }
  SIMT_INLINE static unsigned int thread_rank() { return details::lane() % Size; }
  SIMT_INLINE static constexpr unsigned int num_threads() { return Size; }
  SIMT_INLINE static constexpr unsigned int size() { return Size; }
  SIMT_INLINE unsigned int meta_group_rank() const { return meta_rank_; }
  SIMT_INLINE unsigned int meta_group_size() const { return meta_size_; }

  template <typename T>
  SIMT_INLINE T shfl(T value, int source) const {
    return details::exchange(mask(), value, simt::Exchange::index,
                             static_cast<unsigned int>(source), Size);
  }
  template <typename T>
  SIMT_INLINE T shfl_up(T value, unsigned int delta) const {
    return details::exchange(mask(), value, simt::Exchange::up, delta, Size);
  }
  template <typename T>
  SIMT_INLINE T shfl_down(T value, unsigned int delta) const {
    return details::exchange(mask(), value, simt::Exchange::down, delta, Size);
  }
  template <typename T>
  SIMT_INLINE T shfl_xor(T value, unsigned int lane_mask) const {
    return details::exchange(mask(), value, simt::Exchange::butterfly, lane_mask, Size);
  }

  SIMT_INLINE int any(int predicate) const { return simt::warp_ballot(mask(), predicate) != 0; }
  SIMT_INLINE int all(int predicate) const { return simt::warp_ballot(mask(), !predicate) == 0; }
  SIMT_INLINE unsigned int ballot(int predicate) const {
    return simt::warp_ballot(mask(), predicate) >> shift();
  }
  template <typename T>
  SIMT_INLINE unsigned int match_any(T value) const {
    return __match_any_sync(mask(), value) >> shift();
  }
  template <typename T>
  SIMT_INLINE unsigned int match_all(T value, int& predicate) const {
    return __match_all_sync(mask(), value, &predicate) >> shift();
  }

 private:
  template <unsigned int OtherSize, typename OtherParent>
  friend thread_block_tile<OtherSize, OtherParent> tiled_partition(const OtherParent& parent);
  friend class thread_group;
  SIMT_INLINE thread_block_tile(unsigned int meta_rank, unsigned int meta_size)
      : meta_rank_(meta_rank), meta_size_(meta_size) {}
  SIMT_INLINE static unsigned int mask() { return details::tile_mask(Size); }
  SIMT_INLINE static unsigned int shift() { return details::lane() & ~(Size - 1) & 31; }
  unsigned int meta_rank_;
  unsigned int meta_size_;
};

namespace details {
template <unsigned int Size, typename Parent>
struct can_divide {
  enum : bool { value = false };  // no static member: with -fno-weak each file would have its own
};
template <unsigned int Size>
struct can_divide<Size, thread_block> {
  enum : bool { value = true };
};
template <unsigned int Size, unsigned int ParentSize, typename GrandParent>
struct can_divide<Size, thread_block_tile<ParentSize, GrandParent>> {
  enum : bool { value = Size < ParentSize };
};
}  // namespace details

template <unsigned int Size, typename Parent>
SIMT_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  static_assert(details::can_divide<Size, Parent>::value,
                "tiled_partition divides a block, or a tile into smaller ones");
  return {parent.thread_rank() / Size, (parent.num_threads() + Size - 1) / Size};
}

SIMT_INLINE thread_block_tile<1> this_thread() { return tiled_partition<1>(this_thread_block()); }

// ---- a group of any kind, with what all kinds have ----

class thread_group {
 public:
  SIMT_INLINE thread_group(const thread_block&) : mask_(0) {}
  SIMT_INLINE thread_group(const coalesced_group& group) : mask_(group.mask_) {}
  template <unsigned int Size>
  SIMT_INLINE thread_group(const thread_block_tile<Size, void>&)
      : mask_(details::tile_mask(Size)) {}

  SIMT_INLINE void sync(const void* place = __builtin_source_location()) const {
    if (mask_ == 0) {
      simt::block_barrier(place);
    } else {
      simt::warp_barrier(mask_);
    }
  }
  SIMT_INLINE unsigned long long num_threads() const {
    return mask_ == 0 ? details::threads_in_block() : details::count(mask_);
  }
  SIMT_INLINE unsigned long long size() const { return num_threads(); }
  SIMT_INLINE unsigned long long thread_rank() const {
    return mask_ == 0 ? details::rank_in_block()
                      : details::count(mask_ & ((1u << details::lane()) - 1));
  }

 private:
  friend thread_group tiled_partition(const thread_group& parent, unsigned int tile_size);
  SIMT_INLINE explicit thread_group(unsigned int mask) : mask_(mask) {}
  unsigned int mask_;  // lanes of the warp; 0 for the block
};

SIMT_INLINE thread_group tiled_partition(const thread_group& parent, unsigned int tile_size) {
  if (tile_size == 0 || tile_size > 32 || (tile_size & (tile_size - 1))) __trap();
  const unsigned int tile = details::tile_mask(tile_size);
  return thread_group(parent.mask_ == 0 ? tile : parent.mask_ & tile);
}
SIMT_INLINE thread_group tiled_partition(const thread_block& parent, unsigned int tile_size) {
  return tiled_partition(thread_group(parent), tile_size);
}

template <typename Group>
SIMT_INLINE void sync(const Group& group) {
  group.sync();
}
SIMT_INLINE void sync(const thread_block& group, const void* place = __builtin_source_location()) {
  group.sync(place);
}
SIMT_INLINE void sync(const thread_group& group, const void* place = __builtin_source_location()) {
  group.sync(place);
}
template <typename Group>
SIMT_INLINE auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
SIMT_INLINE auto group_size(const Group& group) {
  return group.num_threads();
}

// ---- the grid: who is where, but no barrier ----

class grid_group {
 public:
  SIMT_INLINE static bool is_valid() { return false; }  // as after an ordinary launch
  template <typename... None>
  SIMT_INLINE void sync(None...) const {
    static_assert(
        sizeof...(None) > 999,
        "grid_group::sync is outside the simulator's subset: it needs a cooperative "
        "launch, which the simulator does not have, so end the kernel and launch the next");
  }
  SIMT_INLINE static dim3 dim_blocks() { return gridDim; }
  SIMT_INLINE static dim3 group_dim() { return gridDim; }
  SIMT_INLINE static dim3 dim_threads() {
    return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  }
  SIMT_INLINE static dim3 block_index() { return blockIdx; }
  SIMT_INLINE static dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }
  SIMT_INLINE static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  SIMT_INLINE static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  SIMT_INLINE static unsigned long long num_threads() {
    return num_blocks() * details::threads_in_block();
  }
  SIMT_INLINE static unsigned long long size() { return num_threads(); }
  SIMT_INLINE static unsigned long long thread_rank() {
    return block_rank() * details::threads_in_block() + details::rank_in_block();
  }
};

SIMT_INLINE grid_group this_grid() { return grid_group(); }

// ---- the cluster: the blocks that run together and reach each other's shared memory ----

class cluster_group {
 public:
  struct arrival_token {};
  SIMT_INLINE static void sync(const void* place = __builtin_source_location()) {
    simt::cluster_sync(place);
  }
  SIMT_INLINE static arrival_token barrier_arrive(const void* place = __builtin_source_location()) {
    simt::cluster_arrive(place);
    return {};
  }
  SIMT_INLINE static void barrier_wait(const void* place = __builtin_source_location()) {
    simt::cluster_wait(place);
  }
  SIMT_INLINE static void barrier_wait(arrival_token&&,
                                       const void* place = __builtin_source_location()) {
    simt::cluster_wait(place);
  }
  template <typename T>
  SIMT_INLINE static T* map_shared_rank(T* pointer, int rank) {
    return static_cast<T*>(__cluster_map_shared_rank(pointer, static_cast<unsigned int>(rank)));
  }
  SIMT_INLINE static unsigned int query_shared_rank(const void* pointer) {
    return __cluster_query_shared_rank(pointer);
  }
  SIMT_INLINE static dim3 block_index() { return __clusterRelativeBlockIdx(); }
  SIMT_INLINE static unsigned int block_rank() { return __clusterRelativeBlockRank(); }
  SIMT_INLINE static dim3 dim_blocks() { return __clusterDim(); }
  SIMT_INLINE static unsigned int num_blocks() { return __clusterSizeInBlocks(); }
  SIMT_INLINE static dim3 thread_index() {
    const dim3 block = block_index();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z);
  }
  SIMT_INLINE static unsigned int thread_rank() {
    return block_rank() * details::threads_in_block() + details::rank_in_block();
  }
  SIMT_INLINE static dim3 dim_threads() {
    const dim3 blocks = dim_blocks();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  SIMT_INLINE static unsigned int num_threads() {
    return num_blocks() * details::threads_in_block();
  }
  SIMT_INLINE static unsigned int size() { return num_threads(); }
};

SIMT_INLINE cluster_group this_cluster() { return cluster_group(); }

// ---- outside the subset ----

class multi_grid_group {};
SIMT_OUTSIDE(multi_grid_group, this_multi_grid, "it has one device, use this_thread_block()")
SIMT_OUTSIDE(int, labeled_partition, "use match_any and the mask that it returns")
SIMT_OUTSIDE(int, binary_partition, "use ballot and the mask that it returns")

}  // namespace cooperative_groups
