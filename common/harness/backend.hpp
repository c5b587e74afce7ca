// Where a variant runs: the CPU, the simulator or a GPU. Everything that touches CUDA is behind
// this interface, so that the rest of the harness is compiled once. A program links exactly one
// backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/harness/report.hpp"
#include "common/simt/simt.hpp"

namespace halo {

// What one launch did.
struct Observation {
  std::string error;  // the launch's error in words, empty if there was none
  int kernels = 0;    // kernels counted (simulator)
  simt::Counters counters;
  std::vector<Hazard> hazards;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;  // sim, gpu or cpu
  // Whether launches are counted and searched for hazards; if not, why.
  virtual bool observes() const = 0;
  virtual std::string blind_reason() const { return {}; }
  // The counters by name, in the simulator's order; empty where nothing is counted.
  virtual CounterList by_name(const simt::Counters&) const { return {}; }
  // Whether launches can be timed; if not, why.
  virtual bool times() const = 0;
  virtual std::string no_time_reason() const { return {}; }
  // Whether memory is apart from the host's, so that transfers cost time.
  virtual bool has_transfers() const { return false; }
  // Empty if programs can run here, else the reason ("no GPU: ...").
  virtual std::string unavailable() { return {}; }
  virtual void describe(Machine&) {}

  // Bytes that allocate could still give, as far as known.
  virtual std::int64_t free_memory() { return std::numeric_limits<std::int64_t>::max(); }
  // Memory, 256-byte aligned. allocate throws std::runtime_error with one line if there is not
  // enough; the copies throw it if the device has failed.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void copy_in(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, const void* from, std::size_t bytes) = 0;
  // Fills with conv::poison(). In the simulator the cells do not count as initialised.
  virtual void poison(float* memory, std::size_t count) = 0;
  // Cells that Array keeps on each side of its data to see stray writes; 0 where every access is
  // checked, since a guard would hide an off-by-one there.
  virtual std::size_t guard_cells() const = 0;

  // Calls `launch` (which returns a CUDA error code), waits, and says what happened.
  virtual Observation run(const std::function<int()>& launch) = 0;
  // Milliseconds for one of `repeats` serial launches. Throws std::runtime_error if one fails.
  virtual double time_launches(const std::function<int()>& launch, int repeats) = 0;
  // After an error that outlives its launch: makes the device usable again. False if that failed.
  virtual bool recover() { return true; }
};

// The backend that this program was linked with.
std::unique_ptr<Backend> make_backend();

// An array in a backend's memory, with guard cells on both sides where the backend wants them. The
// guards hold poison, a NaN, so that reading them shows as well.
class Array {
 public:
  Array(Backend& backend, std::size_t count);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  float* data() const { return data_; }
  std::size_t size() const { return count_; }
  void write(std::span<const float> values);
  void read(std::span<float> values) const;
  void poison();
  // Empty if the guard cells are as they were, else where the first stray write is, in one sentence
  // that calls the array `name`.
  std::string stray_write(const std::string& name) const;

 private:
  Backend& backend_;
  std::size_t count_;
  std::size_t guard_;
  float* block_;
  float* data_;
};

}  // namespace halo
