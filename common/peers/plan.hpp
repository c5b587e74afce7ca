// What a library peer keeps between calls: a plan for the shape of the last call, made in the first
// call of that shape, so that the calls after it only launch. Private to the peers.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "common/harness/families/conv1d.hpp"

namespace halo::peers {

/// A number of the CUDA context in use; another one after cudaDeviceReset. What was made in a
/// context that is gone must be neither used nor freed. 0 if the driver can't say.
std::uint64_t context_number();

/// Whether the thread's default stream is being captured: then nothing may be allocated or waited
/// for.
bool is_capturing();

/// Device memory that is freed with its owner, unless the device was reset in between.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  ~DeviceMemory() { release(); }
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  /// Gives back what it had. After an error, which is no more to be found with cudaGetLastError, it
  /// has nothing.
  cudaError_t allocate(std::size_t bytes);
  void release();

  /// Null before allocate and after the device was reset.
  float* floats() const;
  void* data() const { return floats(); }

 private:
  void* data_ = nullptr;
  std::uint64_t context_ = 0;
};

/// What a plan for a signal is for: its shape, without the number of threads.
struct SignalShape {
  explicit SignalShape(const Conv1dShape& shape)
      : length(shape.length), mask_width(shape.mask_width), first(shape.first), last(shape.last) {}
  bool operator==(const SignalShape&) const = default;

  int length, mask_width, first, last;
};

/// The plan of the last call's shape, `Key`. Only one is kept: a table goes through its problems in
/// turn, and a workspace may take a gigabyte.
template <typename Key, typename Plan>
class LastPlan {
 public:
  /// Sets `plan` to the plan for the shape `key`. If that has to be made, the old one is given up
  /// first; make(plan) fills the new one and returns a CUDA error code.
  int find(const Key& key, const std::function<int(Plan&)>& make, Plan*& plan) {
    const std::uint64_t context = context_number();
    if (!plan_ || context != context_ || !(key == *key_)) {
      if (is_capturing()) return cudaErrorStreamCaptureUnsupported;
      plan_ = nullptr;
      auto made = std::make_unique<Plan>();
      if (const int code = make(*made); code != cudaSuccess) return code;
      plan_ = std::move(made);
      key_ = key;
      context_ = context;
    }
    plan = plan_.get();
    return cudaSuccess;
  }

  /// The last plan; null if there is none, or if it is for another shape than `key`.
  const Plan* last() const { return plan_.get(); }
  const Plan* last(const Key& key) const { return plan_ && *key_ == key ? plan_.get() : nullptr; }

  /// Gives the plan up.
  void forget() { plan_ = nullptr; }

 private:
  std::unique_ptr<Plan> plan_;
  std::optional<Key> key_;
  std::uint64_t context_ = 0;
};

}  // namespace halo::peers
