// A GPU as a backend: launches are timed; traffic and hazards are the simulator's to see.
#include <cuda_runtime.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/harness/backend_cuda.hpp"

namespace halo {

namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// The display driver's own version, such as 580.159.04, as the kernel module gives it; where it can't
// be read, the newest CUDA that the driver supports.
std::string driver_version() {
  std::ifstream module("/sys/module/nvidia/version");
  std::string text;
  if (module >> text) return text;
  int supported = 0;
  if (cudaDriverGetVersion(&supported) != cudaSuccess) return {};
  return "for CUDA " + version(supported);
}

class GpuBackend final : public CudaBackend {
 public:
  std::string name() const override { return "gpu"; }
  bool observes() const override { return false; }
  std::string blind_reason() const override { return "counted and searched in the simulator only"; }
  bool times() const override { return true; }
  bool has_transfers() const override { return true; }

  void describe(Machine& machine) override {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) machine.gpu = properties.name;
    machine.driver = driver_version();
    int runtime = 0;
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) machine.cuda = version(runtime);
  }

  std::int64_t free_memory() override {
    std::size_t free = 0;
    std::size_t total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
    return static_cast<std::int64_t>(free);
  }

  void poison(float* memory, std::size_t count) override {
    const std::vector<float> cells(std::min<std::size_t>(count, std::size_t{1} << 20),
                                   conv::poison());
    for (std::size_t done = 0; done < count; done += cells.size()) {
      const std::size_t now = std::min(cells.size(), count - done);
      copy_in(memory + done, cells.data(), now * sizeof(float));
    }
  }
  // Farther than the rounding of a grid and the widest mask together can reach.
  std::size_t guard_cells() const override { return 4096; }
};

}  // namespace

std::unique_ptr<Backend> make_backend() { return std::make_unique<GpuBackend>(); }

}  // namespace halo
