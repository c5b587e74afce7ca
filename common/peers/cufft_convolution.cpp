// Convolution with cuFFT and cuBLAS: fft_convolution.hpp says how.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <string>

#include "common/peers/cublas.hpp"
#include "common/peers/cufft.hpp"
#include "common/peers/fft_planes.hpp"
#include "common/peers/libraries.hpp"

namespace halo::peers {

namespace {

constexpr cuComplex kOne = {1.0f, 0.0f};
constexpr cuComplex kZero = {0.0f, 0.0f};

// Matrices that cuBLAS multiplies in one call: below the most blocks that a grid may have in its third
// dimension, which some kernels give to them.
constexpr int kMostMatrices = 32'768;

// A transform of `planes` planes at once, in place.
class Transform {
 public:
  Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  ~Transform() {
    if (made_ && context_ == context_number()) cufftDestroy(plan_);
  }

  // Once only. Sets the bytes that it wants for itself.
  cufftResult make(const FftPlan& fft, cufftType type, int planes, std::size_t& bytes) {
    cufftResult result = cufftCreate(&plan_);
    if (result != CUFFT_SUCCESS) return result;
    made_ = true;
    context_ = context_number();
    result = cufftSetAutoAllocation(plan_, 0);
    int size[2] = {fft.rows, fft.columns};
    int real[2] = {fft.rows, fft.pitch()};
    int spectrum[2] = {fft.rows, fft.pitch() / 2};
    const bool forward = type == CUFFT_R2C;
    const int real_plane = fft.rows * fft.pitch();
    if (result == CUFFT_SUCCESS) {
      result = cufftMakePlanMany(plan_, 2, size, forward ? real : spectrum, 1,
                                 forward ? real_plane : real_plane / 2, forward ? spectrum : real,
                                 1, forward ? real_plane / 2 : real_plane, type, planes, &bytes);
    }
    if (result == CUFFT_SUCCESS) result = cufftSetStream(plan_, cudaStreamPerThread);
    return result;
  }
  cufftResult use(void* work_area) { return cufftSetWorkArea(plan_, work_area); }

  int forward(cuComplex* planes) const {
    return fft_code(cufftExecR2C(plan_, reinterpret_cast<float*>(planes), planes));
  }
  int backward(cuComplex* planes) const {
    return fft_code(cufftExecC2R(plan_, planes, reinterpret_cast<float*>(planes)));
  }

 private:
  cufftHandle plan_ = 0;
  bool made_ = false;
  std::uint64_t context_ = 0;
};

// What is kept for one layer.
struct CufftPlan {
  FftPlan fft;
  Transform images;
  Transform filters;
  Transform outputs;
  DeviceMemory work_area;  // of cuFFT, for one transform at a time
  std::string refusal;     // not empty: cuFFT does not do it, and why
};

// Does not depend on the tiles of images: filters are cut into planes as they are.
FftTiles whole_filters(const FftPlan& fft, int filters, int channels) {
  return {fft.rows, fft.columns, fft.pitch(), 1, 1, fft.rows, fft.columns, filters, channels};
}

class CufftConvolution {
 public:
  explicit CufftConvolution(FftTiling tiling) : tiling_(tiling) {}

  std::string refuses(const conv::ConvLayer& layer) const {
    FftPlan fft;
    return plan_fft(layer, tiling_, fft);
  }

  std::int64_t workspace_floats(const conv::ConvLayer& layer) const {
    FftPlan fft;
    return plan_fft(layer, tiling_, fft).empty() ? fft.workspace_floats() : 0;
  }

  int launch(const Conv2dCall& call) {
    if (!refuses(call.layer).empty()) return cudaErrorNotSupported;
    CufftPlan* plan = nullptr;
    const auto make = [&](CufftPlan& fresh) { return prepare(call.layer, fresh); };
    if (const int code = plans_.find(call.layer, make, plan); code != cudaSuccess) return code;
    if (!plan->refusal.empty()) return cudaErrorNotSupported;
    return run(*plan, call);
  }

  std::string detail(const conv::ConvLayer& layer) const {
    if (const std::string refusal = refuses(layer); !refusal.empty()) return refusal;
    if (!cublas_->problem().empty()) return cublas_->problem();
    const std::string libraries = version();
    const CufftPlan* const plan = plans_.last(layer);
    if (plan == nullptr) return libraries;
    if (!plan->refusal.empty()) return libraries + ", " + plan->refusal;
    const FftPlan& fft = plan->fft;
    const int image_passes = (layer.N() - 1) / fft.images + 1;
    const int filter_passes = (layer.K() - 1) / fft.filters + 1;
    return libraries + ", " + std::to_string(fft.tiles()) +
           (fft.tiles() == 1 ? " transform of " : " transforms of ") + std::to_string(fft.rows) +
           "x" + std::to_string(fft.columns) + " cells per image and channel, " +
           std::to_string(image_passes * filter_passes) +
           (image_passes * filter_passes == 1 ? " pass" : " passes") + ", workspace " +
           std::to_string(fft.workspace_floats() * 4) + " bytes and " +
           std::to_string(area_bytes_) + " for cuFFT";
  }

  static std::string version() { return cufft_version() + ", cuBLAS " + cublas_version(); }

 private:
  int prepare(const conv::ConvLayer& layer, CufftPlan& plan) {
    if (const int code = cublas_->open(); code != cudaSuccess) return code;
    plan_fft(layer, tiling_, plan.fft);
    const FftPlan& fft = plan.fft;
    std::size_t bytes[3] = {};
    cufftResult result = plan.images.make(fft, CUFFT_R2C, fft.image_planes, bytes[0]);
    if (result == CUFFT_SUCCESS) {
      result = plan.filters.make(fft, CUFFT_R2C, fft.filter_planes, bytes[1]);
    }
    if (result == CUFFT_SUCCESS) {
      result = plan.outputs.make(fft, CUFFT_C2R, fft.output_planes, bytes[2]);
    }
    area_bytes_ = std::max({bytes[0], bytes[1], bytes[2]});
    if (result != CUFFT_SUCCESS) {
      plan.refusal = "which makes no plan for it: cufftResult " + std::to_string(result);
    } else if (static_cast<std::int64_t>(area_bytes_) + fft.workspace_floats() * 4 >
               kMostFftBytes) {
      plan.refusal = "which wants " + std::to_string(area_bytes_) + " bytes for itself";
    }
    if (!plan.refusal.empty()) {
      cudaGetLastError();
      return cudaSuccess;
    }
    // Not null even where cuFFT wants nothing.
    if (const cudaError_t error = plan.work_area.allocate(area_bytes_ + 1); error != cudaSuccess) {
      return error;
    }
    for (Transform* transform : {&plan.images, &plan.filters, &plan.outputs}) {
      result = transform->use(plan.work_area.data());
      if (result != CUFFT_SUCCESS) return fft_code(result);
    }
    return cudaSuccess;
  }

  int run(const CufftPlan& plan, const Conv2dCall& call) const {
    const FftPlan& fft = plan.fft;
    const conv::ConvLayer& layer = call.layer;
    const int C = layer.C();
    const std::int64_t image_size = std::int64_t{C} * layer.H() * layer.W();
    const std::int64_t filter_size = std::int64_t{C} * layer.R() * layer.S();
    const std::int64_t plane_size = std::int64_t{layer.P()} * layer.Q();
    auto* const scratch = reinterpret_cast<cuComplex*>(call.workspace);
    cuComplex* const image_spectra = scratch + fft.scratch;
    cuComplex* const filter_spectra = image_spectra + fft.image_spectra;
    cuComplex* const output_spectra = filter_spectra + fft.filter_spectra;
    const float scale = 1.0f / (static_cast<float>(fft.rows) * static_cast<float>(fft.columns));

    for (int k = 0; k < layer.K(); k += fft.filters) {
      const int filters = std::min(fft.filters, layer.K() - k);
      int code = analyse(plan.filters, fft, fft.filter_planes, whole_filters(fft, filters, C),
                         call.filters + k * filter_size, layer.R(), layer.S(), 0, 0, scratch,
                         filter_spectra);
      for (int n = 0; n < layer.N() && code == cudaSuccess; n += fft.images) {
        const int images = std::min(fft.images, layer.N() - n);
        FftTiles tiles = {fft.rows,       fft.columns,      fft.pitch(),
                          fft.tiles_down, fft.tiles_across, fft.step_h,
                          fft.step_w,     images,           C};
        code = analyse(plan.images, fft, fft.image_planes, tiles, call.input + n * image_size,
                       layer.H(), layer.W(), layer.padding_h(), layer.padding_w(), scratch,
                       image_spectra);
        if (code == cudaSuccess) {
          code = multiply(fft, filters, images * fft.tiles(), C, filter_spectra, image_spectra,
                          output_spectra);
        }
        tiles.channels = filters;
        if (code == cudaSuccess) {
          code = synthesise(plan.outputs, fft, tiles, output_spectra, scratch, scale,
                            call.output + (std::int64_t{n} * layer.K() + k) * plane_size, layer);
        }
      }
      if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
  }

  // Cells [images][channels][height][width] to spectra [frequency][plane].
  int analyse(const Transform& transform, const FftPlan& fft, int at_once, const FftTiles& tiles,
              const float* cells, int height, int width, int padding_h, int padding_w,
              cuComplex* scratch, cuComplex* spectra) const {
    const int planes = tiles.images * tiles.tiles_down * tiles.tiles_across * tiles.channels;
    for (int first = 0; first < planes; first += at_once) {
      int code = fft_pad(tiles, cells, height, width, padding_h, padding_w,
                         reinterpret_cast<float*>(scratch), first, at_once);
      if (code == cudaSuccess) code = transform.forward(scratch);
      if (code == cudaSuccess) {
        // To cuBLAS scratch is `frequencies` x `count`, and the spectra are `planes` x `frequencies`.
        const int count = std::min(at_once, planes - first);
        code = code_of(cublasCgeam(cublas_->get(), CUBLAS_OP_T, CUBLAS_OP_N, count,
                                   fft.frequencies(), &kOne, scratch, fft.frequencies(), &kZero,
                                   spectra + first, planes, spectra + first, planes));
      }
      if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
  }

  // output_spectra[frequency][tile][filter] = image_spectra[frequency][tile][C] times
  // filter_spectra[frequency][filter][C], transposed and conjugated.
  int multiply(const FftPlan& fft, int filters, int tiles, int channels,
               const cuComplex* filter_spectra, const cuComplex* image_spectra,
               cuComplex* output_spectra) const {
    const std::int64_t filter_matrix = std::int64_t{filters} * channels;
    const std::int64_t image_matrix = std::int64_t{tiles} * channels;
    const std::int64_t output_matrix = std::int64_t{tiles} * filters;
    for (int first = 0; first < fft.frequencies(); first += kMostMatrices) {
      const int code = code_of(cublasCgemmStridedBatched(
          cublas_->get(), CUBLAS_OP_C, CUBLAS_OP_N, filters, tiles, channels, &kOne,
          filter_spectra + first * filter_matrix, channels, filter_matrix,
          image_spectra + first * image_matrix, channels, image_matrix, &kZero,
          output_spectra + first * output_matrix, filters, output_matrix,
          std::min(kMostMatrices, fft.frequencies() - first)));
      if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
  }

  // Spectra [frequency][plane] to outputs [images][K][P][Q], of which a pass has `tiles.channels`.
  int synthesise(const Transform& transform, const FftPlan& fft, const FftTiles& tiles,
                 const cuComplex* spectra, cuComplex* scratch, float scale, float* outputs,
                 const conv::ConvLayer& layer) const {
    const int planes = tiles.images * fft.tiles() * tiles.channels;
    for (int first = 0; first < planes; first += fft.output_planes) {
      const int count = std::min(fft.output_planes, planes - first);
      int code = code_of(cublasCgeam(cublas_->get(), CUBLAS_OP_T, CUBLAS_OP_N, fft.frequencies(),
                                     count, &kOne, spectra + first, planes, &kZero, scratch,
                                     fft.frequencies(), scratch, fft.frequencies()));
      if (code == cudaSuccess) code = transform.backward(scratch);
      if (code == cudaSuccess) {
        code = fft_crop(tiles, reinterpret_cast<const float*>(scratch), first, count, scale,
                        outputs, layer.K(), layer.P(), layer.Q());
      }
      if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
  }

  FftTiling tiling_;
  std::shared_ptr<CublasHandle> cublas_ = shared_cublas();
  std::size_t area_bytes_ = 0;
  LastPlan<conv::ConvLayer, CufftPlan> plans_;
};

}  // namespace

void use_cufft(Conv2dVariant& variant, FftTiling tiling) {
  const auto peer = std::make_shared<CufftConvolution>(tiling);
  variant.launches([peer](const Conv2dCall& call) { return peer->launch(call); });
  variant.refuses([peer](const conv::ConvLayer& layer) { return peer->refuses(layer); });
  variant.also([peer](const conv::ConvLayer& layer, auto& made) {
    made.workspace_floats = peer->workspace_floats(layer);
  });
  variant.version = CufftConvolution::version();
  variant.tells([peer](const conv::ConvLayer& layer) { return peer->detail(layer); });
}

}  // namespace halo::peers
