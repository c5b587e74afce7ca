// What the functions of halo/convolve.h have in common: failures in one line, streams, devices.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

namespace halo::library {

/// HALO_CONVOLVE_WRONG_USE; as are std::invalid_argument, which the mathematics throws.
struct WrongUse : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
/// HALO_CONVOLVE_NOT_SUPPORTED.
struct NotSupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Does the work. If that throws, what it threw becomes halo_convolve_last_error, "function: ...", and the status.
int guarded(const char* function, const std::function<void()>& work);

/// Throws std::runtime_error if a call of CUDA's has failed.
void require(int cuda_error, const char* what);
/// Throws WrongUse unless the address is one at which an array may begin, at a multiple of so many bytes.
void require_array(const char* name, const void* array, std::uintptr_t multiple = 256);

void require_size(const char* name, const void* from, std::size_t size, std::size_t least,
                  std::size_t known);
/// What the caller has set in a structure whose `size` says how much of it the caller knows: at least the first version's, and
/// the rest is 0. Throws WrongUse, or NotSupported where a newer header has more, and it is set.
template <class Structure>
Structure given(const char* name, const Structure* from, std::size_t first_version) {
  if (from == nullptr) throw WrongUse(std::string(name) + " is null: give one");
  require_size(name, from, from->size, first_version, sizeof *from);
  Structure known = {};
  std::memcpy(&known, from, std::min(from->size, sizeof known));
  return known;
}

/// 0 in an interface means the legacy default stream, whatever this library was compiled with.
inline cudaStream_t named(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamLegacy : stream;
}

inline std::size_t bytes_of(std::int64_t floats) {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

/// The device that a plan was made for.
struct Device {
  int number = 0;
  static Device present();
  /// Throws WrongUse if another one is the present one.
  void require_present() const;
};

/// A place in a stream's work.
class Event {
 public:
  Event();
  explicit Event(cudaStream_t stream) : Event() { record(stream); }
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) const;
  /// What comes on the stream from now on waits for it.
  void let_wait(cudaStream_t stream) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace halo::library
