// 1D convolution by cuFFT, overlap-save: tiles of the signal are transformed together, multiplied by the mask's spectrum,
// and transformed back. The tiles are read from the signal as they lie, overlapping; only those at its ends are padded.
#include <cuda_runtime.h>

#include <memory>

#include "common/peers/cufft.hpp"
#include "common/peers/fft_signal.hpp"
#include "common/peers/libraries.hpp"
#include "common/peers/plan.hpp"

namespace halo::peers {

namespace {

// Of all sizes from 4,096 to 65,536 the fastest on an H200, for 255 to 1,023 taps.
constexpr int kCells = 4096;
constexpr int kFrequencies = kCells / 2 + 1;
constexpr int kPitch = 2 * kFrequencies;  // cells of a tile that is transformed back in place

// A plan of cuFFT for so many tiles; none for no tile.
class Transforms {
 public:
  Transforms() = default;
  Transforms(const Transforms&) = delete;
  Transforms& operator=(const Transforms&) = delete;
  ~Transforms() {
    if (made_ && context_ == context_number()) cufftDestroy(plan_);
  }

  // Once only: tiles are `step` cells apart where they are read.
  cufftResult make(cufftType type, int tiles, int step) {
    if (tiles == 0) return CUFFT_SUCCESS;
    int size[] = {kCells}, real[] = {kCells}, spectrum[] = {kFrequencies};
    const bool forward = type == CUFFT_R2C;
    const cufftResult result =
        forward
            ? cufftPlanMany(&plan_, 1, size, real, 1, step, spectrum, 1, kFrequencies, type, tiles)
            : cufftPlanMany(&plan_, 1, size, spectrum, 1, kFrequencies, real, 1, step, type, tiles);
    if (result != CUFFT_SUCCESS) return result;
    made_ = true;
    context_ = context_number();
    return cufftSetStream(plan_, cudaStreamPerThread);
  }

  cufftResult forward(const float* cells, float* spectra) const {
    // cuFFT only reads what is transformed to another place.
    return made_ ? cufftExecR2C(plan_, const_cast<float*>(cells),
                                reinterpret_cast<cufftComplex*>(spectra))
                 : CUFFT_SUCCESS;
  }
  cufftResult backward(float* spectra) const {
    return cufftExecC2R(plan_, reinterpret_cast<cufftComplex*>(spectra), spectra);
  }

 private:
  cufftHandle plan_ = 0;
  bool made_ = false;
  std::uint64_t context_ = 0;
};

struct SignalPlan {
  Transforms inner, ends, back;
  DeviceMemory padded;   // [tiles at the ends][kCells]
  DeviceMemory spectra;  // [tiles][kFrequencies], then [tiles][kPitch]
};

class CufftSignal {
 public:
  int set_mask(const float* mask, int width) {
    mask_ = std::make_unique<DeviceMemory>();
    spectrum_ = std::make_unique<DeviceMemory>();
    for (DeviceMemory* memory : {mask_.get(), spectrum_.get()}) {
      if (const int code = memory->allocate(kPitch * sizeof(float)); code != cudaSuccess)
        return code;
    }
    int code = cudaMemset(mask_->data(), 0, kPitch * sizeof(float));
    if (code == cudaSuccess) {
      code = cudaMemcpy(mask_->data(), mask, static_cast<std::size_t>(width) * sizeof(float),
                        cudaMemcpyHostToDevice);
    }
    if (code != cudaSuccess) return code;
    Transforms one;
    if (code = fft_code(one.make(CUFFT_R2C, 1, kCells)); code != cudaSuccess) return code;
    if (code = fft_code(one.forward(mask_->floats(), spectrum_->floats())); code != cudaSuccess)
      return code;
    return cudaStreamSynchronize(cudaStreamPerThread);
  }

  int launch(const Conv1dCall& call) {
    if (!spectrum_) return cudaErrorInvalidValue;  // set_mask was not called
    const SignalTiles tiles(call.length, call.mask_width, kCells);
    const auto make = [&](SignalPlan& fresh) { return prepare(tiles, fresh); };
    SignalPlan* plan = nullptr;
    if (const int code = plans_.find(SignalShape(call), make, plan); code != cudaSuccess)
      return code;
    float* const spectra = plan->spectra.floats();
    float* const of_ends = spectra + static_cast<std::int64_t>(tiles.inner) * kPitch;
    int code = fft_signal_ends(tiles, call.input, call.length, plan->padded.floats());
    if (code == cudaSuccess) {
      code = fft_code(plan->inner.forward(call.input + tiles.start(1) - tiles.halo, spectra));
    }
    if (code == cudaSuccess) code = fft_code(plan->ends.forward(plan->padded.floats(), of_ends));
    if (code == cudaSuccess) {
      code = fft_signal_multiply(spectra, spectrum_->floats(), tiles.count, kFrequencies,
                                 1.0f / kCells);
    }
    if (code == cudaSuccess) code = fft_code(plan->back.backward(spectra));
    if (code != cudaSuccess) return code;
    return fft_signal_outputs(tiles, spectra, kPitch, call.output, call.first, call.last);
  }

 private:
  static int prepare(const SignalTiles& tiles, SignalPlan& plan) {
    const auto all = static_cast<std::size_t>(tiles.count);
    const auto ends = static_cast<std::size_t>(tiles.count - tiles.inner);
    if (const int code = plan.padded.allocate(ends * kCells * sizeof(float)); code != cudaSuccess)
      return code;
    if (const int code = plan.spectra.allocate(all * kPitch * sizeof(float)); code != cudaSuccess)
      return code;
    cufftResult result = plan.inner.make(CUFFT_R2C, tiles.inner, tiles.step);
    if (result == CUFFT_SUCCESS) {
      result = plan.ends.make(CUFFT_R2C, tiles.count - tiles.inner, kCells);
    }
    if (result == CUFFT_SUCCESS) result = plan.back.make(CUFFT_C2R, tiles.count, kPitch);
    return fft_code(result);
  }

  std::unique_ptr<DeviceMemory> mask_, spectrum_;
  LastPlan<SignalShape, SignalPlan> plans_;
};

}  // namespace

void use_cufft(Conv1dVariant& variant) {
  const auto signal = std::make_shared<CufftSignal>();
  variant.also([signal](const Conv1dProblem& problem, auto& made) {
    made.set_up = [signal, width = problem.mask_width](const float* mask) {
      return signal->set_mask(mask, width);
    };
  });
  variant.launches([signal](const Conv1dCall& call) { return signal->launch(call); });
  variant.version = cufft_version();
  variant.tells([](const Conv1dProblem&) {
    return cufft_version() + ", overlap-save with tiles of 4,096 cells";
  });
}

}  // namespace halo::peers
