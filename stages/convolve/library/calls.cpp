#include "stages/convolve/library/calls.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "stages/convolve/library/convolve.h"

namespace halo::library {

namespace {

thread_local std::string last_error;

int failed(const char* function, int status, const std::string& why) {
  last_error = std::string(function) + ": " + why;
  return status;
}

}  // namespace

int guarded(const char* function, const std::function<void()>& work) {
  try {
    work();
    return HALO_CONVOLVE_OK;
  } catch (const std::invalid_argument& error) {
    return failed(function, HALO_CONVOLVE_WRONG_USE, error.what());
  } catch (const NotSupported& error) {
    return failed(function, HALO_CONVOLVE_NOT_SUPPORTED, error.what());
  } catch (const std::bad_alloc&) {
    return failed(function, HALO_CONVOLVE_FAILED, "not enough memory on the host");
  } catch (const std::exception& error) {
    return failed(function, HALO_CONVOLVE_FAILED, error.what());
  }
}

void require(int cuda_error, const char* what) {
  if (cuda_error == cudaSuccess) return;
  // Where there is no driver at all, CUDA says that it is too old.
  const bool lacks_gpu =
      cuda_error == cudaErrorNoDevice || cuda_error == cudaErrorInsufficientDriver;
  throw std::runtime_error(
      std::string(what) + " failed: " + cudaGetErrorString(static_cast<cudaError_t>(cuda_error)) +
      (lacks_gpu ? ": it needs an NVIDIA GPU and its driver (nvidia-smi)" : ""));
}

void require_array(const char* name, const void* array, std::uintptr_t multiple) {
  if (array == nullptr) throw WrongUse(std::string(name) + " is null: it must be device memory");
  if (reinterpret_cast<std::uintptr_t>(array) % multiple != 0) {
    throw WrongUse(std::string(name) + " does not begin at a multiple of " +
                   std::to_string(multiple) + " bytes: copy it to memory of cudaMalloc's");
  }
}

void require_size(const char* name, const void* from, std::size_t size, std::size_t least,
                  std::size_t known) {
  constexpr std::size_t kMost = 4096;  // of any version; more is no size at all
  if (size < least || size > kMost) {
    throw WrongUse(std::string(name) + ".size is " + std::to_string(size) +
                   ": set it to the structure's sizeof");
  }
  const auto* const bytes = static_cast<const unsigned char*>(from);
  if (size > known &&
      std::any_of(bytes + known, bytes + size, [](unsigned char byte) { return byte != 0; })) {
    throw NotSupported(std::string(name) +
                       " asks for what this library is too old for: install a newer one");
  }
}

Device Device::present() {
  Device device;
  require(cudaGetDevice(&device.number), "cudaGetDevice");
  return device;
}

void Device::require_present() const {
  const int now = present().number;
  if (now != number) {
    throw WrongUse("the plan is of device " + std::to_string(number) + ", the present one is " +
                   std::to_string(now) + ": call cudaSetDevice, or make a plan for each");
  }
}

Event::Event() {
  require(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
}
Event::~Event() { cudaEventDestroy(event_); }
void Event::record(cudaStream_t stream) const {
  require(cudaEventRecord(event_, stream), "cudaEventRecord");
}
void Event::let_wait(cudaStream_t stream) const {
  require(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
}

}  // namespace halo::library

extern "C" const char* halo_convolve_last_error(void) { return halo::library::last_error.c_str(); }
