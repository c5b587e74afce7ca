// halo/convolve.h: signals.
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "common/conv/conv1d.hpp"
#include "common/convolve/signal_choice.hpp"
#include "common/harness/kernel.h"
#include "stages/convolve/library/calls.hpp"
#include "stages/convolve/library/convolve.h"

// Each at the end of its kernel's file.
namespace halo::conv1d_tiled_halo {
Conv1dKernel warp_tile();
Conv1dKernel overlap_save();
}  // namespace halo::conv1d_tiled_halo
namespace halo::conv1d_tiled_cached {
Conv1dKernel quad();
}

namespace {

using namespace halo;
using namespace halo::library;

Conv1dKernel kernel_called(const std::string& name) {
  if (name == "quad") return conv1d_tiled_cached::quad();
  return name == "warp_tile" ? conv1d_tiled_halo::warp_tile() : conv1d_tiled_halo::overlap_save();
}

// Floats of the device's.
class DeviceFloats {
 public:
  explicit DeviceFloats(const std::vector<float>& values) {
    if (values.empty()) return;
    const std::size_t bytes = values.size() * sizeof(float);
    require(cudaMalloc(&data_, bytes), "cudaMalloc");
    require(cudaMemcpy(data_, values.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    // Of pageable memory a copy may return earlier, and other streams do not wait for it.
    require(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
  }
  ~DeviceFloats() { cudaFree(data_); }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;
  const float* data() const { return data_; }

 private:
  float* data_ = nullptr;
};

}  // namespace

struct halo_convolve1d_plan {
  Device device;
  int length;
  std::vector<float> taps;
  std::string name;
  Conv1dKernel kernel;
  DeviceFloats prepared;
};

namespace {

halo_convolve1d_plan* planned(const halo_convolve1d_signal& given) {
  if (given.taps % 2 == 0) {
    throw WrongUse("taps is " + std::to_string(given.taps) +
                   ": a mask needs a middle tap, so add one of 0 at an end");
  }
  const conv::Problem1d problem(given.length, given.taps, conv::Border::zero);
  if (given.mask == nullptr) throw WrongUse("mask is null: it is in the host's memory");
  std::vector<float> taps(given.mask, given.mask + given.taps);
  const std::string name = convolve::choose_signal_kernel(given.taps, given.length);
  const Conv1dKernel kernel = kernel_called(name);
  std::vector<float> prepared(static_cast<std::size_t>(kernel.prepared_floats));
  if (kernel.prepare_taps) kernel.prepare_taps(taps.data(), given.taps, prepared.data());
  return new halo_convolve1d_plan{
      Device::present(), given.length, std::move(taps), name, kernel, DeviceFloats(prepared)};
}

void run(const halo_convolve1d_plan& plan, const float* input, float* output, cudaStream_t stream) {
  plan.device.require_present();
  require_array("input", input, 16);
  require_array("output", output, 16);
  Conv1dCall call;
  call.length = call.last = plan.length;
  call.mask_width = static_cast<int>(plan.taps.size());
  call.input = input;
  call.output = output;
  call.taps = plan.taps.data();
  call.prepared = plan.prepared.data();
  call.stream = stream;
  require(plan.kernel.launch_with_taps(call), "run");
}

}  // namespace

extern "C" {

int halo_convolve1d_create(halo_convolve1d_plan** plan, const halo_convolve1d_signal* signal) {
  return guarded("halo_convolve1d_create", [&] {
    if (plan == nullptr) throw WrongUse("plan is null: it is where the plan is put");
    *plan = nullptr;
    *plan = planned(given("signal", signal, sizeof *signal));
  });
}

void halo_convolve1d_destroy(halo_convolve1d_plan* plan) { delete plan; }

const char* halo_convolve1d_kernel(const halo_convolve1d_plan* plan) {
  return plan == nullptr ? "" : plan->name.c_str();
}

int halo_convolve1d_run(const halo_convolve1d_plan* plan, const float* input, float* output,
                        cudaStream_t stream) {
  return guarded("halo_convolve1d_run", [&] {
    if (plan == nullptr) throw WrongUse("plan is null: make one with halo_convolve1d_create");
    run(*plan, input, output, named(stream));
  });
}

}  // extern "C"
