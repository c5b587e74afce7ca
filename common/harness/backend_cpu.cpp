// The CPU as a backend: host memory, wall-clock time.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "common/conv/accuracy.hpp"
#include "common/harness/backend.hpp"

namespace halo {

namespace {

class CpuBackend final : public Backend {
 public:
  std::string name() const override { return "cpu"; }
  bool observes() const override { return false; }
  std::string blind_reason() const override { return "the simulator runs CUDA kernels only"; }
  bool times() const override { return true; }

  void* allocate(std::size_t bytes) override {
    const std::size_t rounded = (bytes + 255) / 256 * 256;
    void* memory = std::aligned_alloc(256, rounded);
    if (memory == nullptr) throw std::runtime_error("not enough memory: choose a smaller --length");
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }
  void copy_in(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copy_out(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void poison(float* memory, std::size_t count) override {
    std::fill_n(memory, count, conv::poison());
  }
  std::size_t guard_cells() const override { return 4096; }

  Observation run(const std::function<int()>& launch) override {
    Observation seen;
    if (const int code = launch(); code != 0) {
      seen.error = "it returned the error code " + std::to_string(code);
    }
    return seen;
  }

  double time_launches(const std::function<int()>& launch, int repeats) override {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
      if (launch() != 0) throw std::runtime_error("a timed call failed");
    }
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count() / repeats;
  }
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace halo
