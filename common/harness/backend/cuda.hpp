// What the simulator and a GPU have in common as backends: the CUDA runtime. Private to the
// harness.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "common/harness/backend/backend.hpp"
#include "common/simt/simulator.hpp"

namespace halo {

// Throws std::runtime_error with `what` and the error's name.
void require(cudaError_t error, const char* what);

class CudaBackend : public Backend {
 public:
  std::string unavailable() override;
  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  void copy_in(void* to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, const void* from, std::size_t bytes) override;
  Observation run(const std::function<int()>& launch) override;
  bool recover() override;

 protected:
  virtual void begin_observation() {}
  // Between the launch and the wait for it.
  virtual void after_launch(Observation&) {}
  virtual void end_observation(Observation&) {}
  // What is known of the last error beyond its name; may be empty.
  virtual std::string error_detail() { return {}; }
};

std::unique_ptr<Backend> make_simulated_backend(const simt::Simulator& simulator);

}  // namespace halo
