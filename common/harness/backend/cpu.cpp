// The CPU as a backend: host memory, wall-clock time.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "common/conv/accuracy.hpp"
#include "common/harness/backend/backend.hpp"
#include "common/harness/backend/roofs_cpu.hpp"

namespace halo {

namespace {

class CpuBatch final : public Batch {
 public:
  CpuBatch(std::function<int(int call)> launch, int calls)
      : launch_(std::move(launch)), calls_(calls) {}

  double run() override {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls_; ++i) {
      if (launch_(i) != 0) throw std::runtime_error("a timed call failed");
    }
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count();
  }
  std::string method() const override {
    return "wall clock, " + std::to_string(calls_) + (calls_ == 1 ? " call" : " calls");
  }

 private:
  std::function<int(int call)> launch_;
  int calls_;
};

class CpuBackend final : public Backend {
 public:
  std::string name() const override { return "cpu"; }
  bool observes() const override { return false; }
  std::string blind_reason() const override { return "the simulator runs CUDA kernels only"; }
  bool times() const override { return true; }

  void* allocate(std::size_t bytes) override {
    const std::size_t rounded = (bytes + 255) / 256 * 256;
    void* memory = std::aligned_alloc(256, rounded);
    if (memory == nullptr) throw std::runtime_error("not enough memory: choose a smaller problem");
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }
  void copy_in(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copy_out(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void poison(float* memory, std::size_t count, float with) override {
    std::fill_n(memory, count, with);
  }
  std::size_t guard_cells() const override { return 4096; }

  Observation run(const std::function<int()>& launch) override {
    Observation seen;
    if (const int code = launch(); code != 0) {
      seen.error = "it returned the error code " + std::to_string(code);
    }
    return seen;
  }

  std::unique_ptr<Batch> batch(std::function<int(int call)> launch, int calls) override {
    return std::make_unique<CpuBatch>(std::move(launch), calls);
  }
  Roofs measure_roofs() override { return measure_cpu_roofs(); }
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace halo
