// What the device has, and the program has set of it.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace simt::cudart {

/// All devices are alike; SIMT_DEVICES says how many there are.
bool is_device(int device);
/// That this host thread uses.
int current_device();
/// As if the host thread used this one, for a while.
class UseDevice {
 public:
  explicit UseDevice(int device);
  ~UseDevice();
  UseDevice(const UseDevice&) = delete;
  UseDevice& operator=(const UseDevice&) = delete;

 private:
  int before_;
};
/// Whether kernels of the one may touch the other's memory.
bool may_access(int device, int other);

/// Bytes that malloc may give out in kernels.
std::size_t heap_limit();

/// As cudaDeviceGetAttribute tells it; 0 of one that there is not.
int value_of(cudaDeviceAttr attribute);

}  // namespace simt::cudart
