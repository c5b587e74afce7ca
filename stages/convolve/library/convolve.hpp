// halo/convolve.h in C++: plans that end by themselves, and errors that are thrown.
//
//   halo::ConvolvePlan plan({.size = sizeof(halo_convolve_layer), .images = 1, ...});
//   plan.pack(filters, packed, stream);
//   plan.run(input, packed, output, workspace, stream);
#ifndef HALO_CONVOLVE_HPP
#define HALO_CONVOLVE_HPP

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "halo/convolve.h"

namespace halo {

/// One line that says what to do, and which kind of failure it is.
class ConvolveError : public std::runtime_error {
 public:
  explicit ConvolveError(int status)
      : std::runtime_error(halo_convolve_last_error()), status_(status) {}
  halo_convolve_status status() const { return static_cast<halo_convolve_status>(status_); }

 private:
  int status_;
};

inline void require_convolve(int status) {
  if (status != HALO_CONVOLVE_OK) throw ConvolveError(status);
}

/// A halo_convolve_plan. Functions throw ConvolveError.
class ConvolvePlan {
 public:
  /// `layer.size` need not be set.
  explicit ConvolvePlan(halo_convolve_layer layer) {
    layer.size = sizeof layer;
    halo_convolve_plan* made = nullptr;
    require_convolve(halo_convolve_create(&made, &layer));
    plan_.reset(made);
  }

  std::size_t packed_bytes() const { return halo_convolve_packed_bytes(plan_.get()); }
  std::size_t workspace_bytes() const { return halo_convolve_workspace_bytes(plan_.get()); }
  std::string kernel() const { return halo_convolve_kernel(plan_.get()); }

  void pack(const float* filters, float* packed, cudaStream_t stream = nullptr) const {
    require_convolve(halo_convolve_pack(plan_.get(), filters, packed, stream));
  }
  void run(const float* input, const float* packed, float* output, float* workspace,
           cudaStream_t stream = nullptr) const {
    require_convolve(
        halo_convolve_run(plan_.get(), input, packed, nullptr, 0, output, workspace, stream));
  }
  void run(const float* input, const float* packed, const float* bias, bool relu, float* output,
           float* workspace, cudaStream_t stream = nullptr) const {
    require_convolve(
        halo_convolve_run(plan_.get(), input, packed, bias, relu, output, workspace, stream));
  }

 private:
  struct Destroy {
    void operator()(halo_convolve_plan* plan) const { halo_convolve_destroy(plan); }
  };
  std::unique_ptr<halo_convolve_plan, Destroy> plan_;
};

/// A halo_convolve1d_plan.
class Convolve1dPlan {
 public:
  /// `taps` of them, odd, up to 1,023, in the host's memory.
  Convolve1dPlan(int length, const float* mask, int taps) {
    const halo_convolve1d_signal signal = {sizeof signal, length, taps, mask};
    halo_convolve1d_plan* made = nullptr;
    require_convolve(halo_convolve1d_create(&made, &signal));
    plan_.reset(made);
  }

  std::string kernel() const { return halo_convolve1d_kernel(plan_.get()); }
  void run(const float* input, float* output, cudaStream_t stream = nullptr) const {
    require_convolve(halo_convolve1d_run(plan_.get(), input, output, stream));
  }

 private:
  struct Destroy {
    void operator()(halo_convolve1d_plan* plan) const { halo_convolve1d_destroy(plan); }
  };
  std::unique_ptr<halo_convolve1d_plan, Destroy> plan_;
};

}  // namespace halo

#endif
