// Where a variant runs: the CPU, the simulator or a GPU. Everything that touches CUDA is behind
// this interface. A program links the processor's backend, or CUDA's: that is the simulator's or a GPU's, as the runtime
// that the program found has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/harness/traffic/cost.hpp"
#include "common/report/rows.hpp"
#include "common/simt/simt.hpp"

namespace halo {

// What one launch did.
struct Observation {
  std::string error;         // the launch's error in words, empty if there was none
  bool unsupported = false;  // the error says: not for this shape (cudaErrorNotSupported)
  int kernels = 0;           // kernels counted (simulator)
  Cost cost;
  std::vector<LineCounts> lines;  // of the counters, by the simulator's names
  std::vector<LineCounts> fp64_lines;
  std::vector<LineCounts> tensor_lines;
  std::vector<Hazard> hazards;
  simt::Printed printed;                      // by its kernels (simulator)
  std::vector<simt::LiveAllocation> unfreed;  // memory it took and has not freed (simulator)
};

// What the kernels of one call take, where the device says it. Negative: it does not.
struct KernelFigures {
  std::vector<LaunchFigures> launches;
  int registers = -1;    // of a thread, the most of all kernels
  int local_bytes = -1;  // of a thread: arrays, and registers that were spilled
};

// Serial calls that are timed together, so that the clock's own step and the time that the host
// takes to start a call are small beside them.
class Batch {
 public:
  virtual ~Batch() = default;
  // Makes all the calls and waits. Milliseconds for all of them. Throws std::runtime_error if one
  // fails.
  virtual double run() = 0;
  // How, for people: "graph of 200 calls", "stream, 20 calls", "wall clock, 3 calls".
  virtual std::string method() const = 0;
  virtual KernelFigures figures() const { return {}; }
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;  // sim, gpu or cpu
  // Whether launches are counted and searched for hazards; if not, why.
  virtual bool observes() const = 0;
  virtual std::string blind_reason() const { return {}; }
  // Why nothing is counted, or no hazards are searched for; empty if it is done. Where launches are
  // observed, either may be switched off.
  virtual std::string not_counted() const { return observes() ? std::string() : blind_reason(); }
  virtual std::string not_searched() const { return observes() ? std::string() : blind_reason(); }
  // Which lines ran since the last call; empty where nothing is observed.
  virtual simt::Coverage take_coverage() { return {}; }
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

  // From now on programs find a tiny GPU here (gpus::tiny), so that those who divide their work by what
  // a GPU has do so for small problems too; or no longer. False: this backend has no other device.
  virtual bool be_tiny(bool) { return false; }
  // What kernels print goes to stdout as well, if it does not anyway.
  virtual void pass_on_output(bool) {}
  // Bytes that allocate could still give, as far as known.
  virtual std::int64_t free_memory() { return std::numeric_limits<std::int64_t>::max(); }
  // Memory, 256-byte aligned. allocate throws std::runtime_error with one line if there is not
  // enough; the copies throw it if the device has failed.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  // What findings call the memory that `allocate` gave.
  virtual void name_memory(const void*, const std::string&) {}
  virtual void copy_in(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, const void* from, std::size_t bytes) = 0;
  // Host memory through which copies are fastest; what it holds is anybody's.
  virtual std::span<float> staging();
  // Fills with conv::poison() or conv::unset(). In the simulator the cells do not count as initialised.
  virtual void poison(float* memory, std::size_t count, float with) = 0;
  // ---- Problems too large to be run as a whole (simt.hpp, which see) ----

  // Input data of such a problem repeat after a multiple of so many floats. 0: this backend runs none.
  virtual std::size_t sparse_floats() const { return 0; }
  // Throws std::runtime_error with one line if there is no such memory.
  virtual float* allocate_sparse(std::size_t, std::span<const float>) { return nullptr; }
  virtual std::vector<simt::WrittenPart> written_parts(const float*) const { return {}; }
  using ChooseBlocks = std::function<std::vector<simt::BlockRange>(std::uint64_t blocks)>;
  virtual void run_only_blocks(ChooseBlocks) {}

  // Cells that Array keeps on each side of its data to see stray writes; 0 where every access is
  // checked, since a guard would hide an off-by-one there.
  virtual std::size_t guard_cells() const = 0;

  // Calls `launch` (which returns a CUDA error code), waits, and says what happened.
  virtual Observation run(const std::function<int()>& launch) = 0;
  // Prepares `calls` serial calls; launch(i) starts the i-th of them and returns an error code. On a
  // GPU they are captured into a CUDA graph, unless they can't be (a library that waits inside).
  virtual std::unique_ptr<Batch> batch(std::function<int(int call)> launch, int calls) = 0;
  // Bytes of the last cache before memory, where calls can be timed with that cache cold; else 0.
  virtual std::int64_t cache_bytes() { return 0; }
  // Measures what this machine can do at most: some seconds.
  virtual Roofs measure_roofs() { return {}; }
  // The processors' clock now, in MHz; negative if it can't be known.
  virtual double clock_mhz() { return -1; }
  // Microseconds from one launch of nothing to the next; negative if that can't be known. It is not the same for the
  // life of a process: what a library has loaded can make each launch slower from then on.
  virtual double launch_us() { return -1; }
  // After an error that outlives its launch: makes the device usable again, with nothing in its memory and no kernels
  // loaded. False if that failed.
  virtual bool recover() { return true; }

 private:
  std::vector<float> staging_;
};

// Whether what goes over cells was compiled for speed.
bool is_optimised();

// The backend of this program.
std::unique_ptr<Backend> make_backend();

// The backend's tiny GPU, for as long as this lives.
class TinyGpu {
 public:
  explicit TinyGpu(Backend& backend) : backend_(backend), is_there_(backend.be_tiny(true)) {}
  ~TinyGpu() { backend_.be_tiny(false); }
  TinyGpu(const TinyGpu&) = delete;
  TinyGpu& operator=(const TinyGpu&) = delete;

  bool is_there() const { return is_there_; }

 private:
  Backend& backend_;
  bool is_there_;
};

// The backend runs only these blocks of a launch, for as long as this lives.
class OnlyBlocks {
 public:
  OnlyBlocks(Backend& backend, Backend::ChooseBlocks choose) : backend_(backend) {
    backend_.run_only_blocks(std::move(choose));
  }
  ~OnlyBlocks() { backend_.run_only_blocks({}); }
  OnlyBlocks(const OnlyBlocks&) = delete;
  OnlyBlocks& operator=(const OnlyBlocks&) = delete;

 private:
  Backend& backend_;
};

// An array in a backend's memory, with guard cells on both sides where the backend wants them. The
// guards hold poison, a NaN, so that reading them shows as well.
class Array {
 public:
  Array(Backend& backend, std::size_t count);
  // A sparse one: it holds the values, over and over, or nothing that was ever written. It has no guard
  // cells, stays as it is until a kernel writes to it, and only what kernels have written is visited.
  Array(Backend& backend, std::size_t count, std::span<const float> values);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  float* data() const { return data_; }
  std::size_t size() const { return count_; }
  bool is_sparse() const { return sparse_; }
  // Both the cells first, first + 1, ...
  void write(std::span<const float> values, std::size_t first = 0);
  void read(std::span<float> values, std::size_t first = 0) const;
  // Calls visit(first, cells) for the whole array, part by part: no host memory of its size.
  void for_each_part(
      const std::function<void(std::size_t first, std::span<const float> cells)>& visit) const;
  void poison();  // as an output is before a launch
  void unset();   // as temporaries are
  // What findings call it from now on.
  void set_name(const std::string& name) { backend_.name_memory(block_, name); }
  // Empty if the guard cells are as they were, else where the first stray write is, in one sentence
  // that calls the array `name`.
  std::string stray_write(const std::string& name) const;

 private:
  Backend& backend_;
  std::size_t count_;
  std::size_t guard_;
  bool sparse_ = false;
  float* block_;
  float* data_;
};

}  // namespace halo
