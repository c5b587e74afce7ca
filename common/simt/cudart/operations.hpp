// What the functions of the runtime have done to memory, for whoever does what another process has noted.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace simt::cudart {

struct Kernel;
struct Launching;

/// The call, and where it puts its work.
struct Issue {
  Issue(const char* its_name) : name(its_name) {}
  Issue(const char* its_name, cudaStream_t its_stream)
      : name(its_name), stream(its_stream), waits(false) {}
  const char* name;
  cudaStream_t stream = nullptr;
  bool waits = true;  // the host does
};

/// Rows of planes.
struct Side {
  const void* pointer;
  std::size_t row_pitch;
  std::size_t plane_pitch;
};
struct Extent {
  std::size_t width = 0, rows = 1, planes = 1;
  bool is_empty() const { return width == 0 || rows == 0 || planes == 0; }
};

/// Checked as the program's own call is.
cudaError_t copy(const Issue& issue, const Side& to, const Side& from, const Extent& extent,
                 cudaMemcpyKind kind);
cudaError_t set(const Issue& issue, const Side& to, int value, const Extent& extent);
/// Copies and memsets that the work makes are looked at, and not done.
cudaError_t only_checked(const std::function<cudaError_t()>& work);
/// What copies and memsets that the work makes touch is told, with the name of the call.
using Touched =
    std::function<void(const char* name, std::uint64_t address, std::size_t bytes, bool writes)>;
cudaError_t watched_copy(const std::function<cudaError_t()>& work, const Touched& touched);
/// Whether a copy that it makes is from or to memory of the host that is not page-locked.
bool is_of_unlocked_memory(const std::function<cudaError_t()>& work);
/// A launch that check_launch() has let pass.
void run(Kernel& kernel, const Launching& what, const std::vector<std::byte>& parameters);
/// As cudaDeviceReset does: those of the current device.
void forget_pools(int device);
/// Of an allocation of a pool, whether it is opened to that other device; nothing of other memory.
std::optional<bool> is_opened_by_pool(std::uint64_t begin, int device);
/// Whoever still touches the memory on another stream must come before it is freed.
void expect_order_of_free(void* pointer, int stream);

}  // namespace simt::cudart
