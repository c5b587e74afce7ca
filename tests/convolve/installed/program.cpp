// Signals with masks of all kernels at the same time, on two streams; a layer; and errors that are thrown.
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <halo/convolve.hpp>
#include <memory>
#include <string>
#include <vector>

namespace {

bool good = true;

void need(bool is_so, const std::string& what) {
  if (is_so) return;
  std::printf("failed: %s\n", what.c_str());
  good = false;
}

struct OnDevice {
  explicit OnDevice(const std::vector<float>& values) : OnDevice(values.size()) {
    cudaMemcpy(data, values.data(), 4 * values.size(), cudaMemcpyHostToDevice);
  }
  explicit OnDevice(std::size_t count) { cudaMalloc(&data, 4 * count); }
  ~OnDevice() { cudaFree(data); }
  std::vector<float> values(std::size_t count) const {
    std::vector<float> all(count);
    cudaMemcpy(all.data(), data, 4 * count, cudaMemcpyDeviceToHost);
    return all;
  }
  float* data = nullptr;
};

std::vector<float> numbers(int count, int step) {
  std::vector<float> all(count);
  for (int i = 0; i < count; ++i) all[i] = static_cast<float>(i % 17 * step % 17 - 8) / 8;
  return all;
}

struct Signal {
  int length, taps;
  const char* kernel;
};

void signals() {
  // Two masks of each kernel: none may take another's.
  const Signal cases[] = {{5000, 9, "quad"},
                          {5000, 31, "quad"},
                          {3'000'001, 31, "warp_tile"},
                          {3'000'001, 33, "warp_tile"},
                          {5000, 255, "overlap_save"},
                          {5000, 1023, "overlap_save"}};
  const std::vector<float> cells = numbers(3'000'001, 7);
  const OnDevice input(cells);
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  std::vector<halo::Convolve1dPlan> plans;
  std::vector<std::vector<float>> masks;
  std::vector<std::unique_ptr<OnDevice>> outputs;
  for (const Signal& one : cases) {
    masks.push_back(numbers(one.taps, 3 + static_cast<int>(masks.size())));
    plans.emplace_back(one.length, masks.back().data(), one.taps);
    need(plans.back().kernel() == one.kernel, plans.back().kernel() + " for " + one.kernel);
    outputs.push_back(std::make_unique<OnDevice>(one.length));
  }
  cudaDeviceSynchronize();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].run(input.data, outputs[i]->data, streams[i % 2]);
  }
  cudaDeviceSynchronize();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Signal& one = cases[i];
    const std::vector<float> found = outputs[i]->values(one.length);
    double worst = 0;
    for (int at = 0; at < one.length; at += one.length < 10'000 ? 1 : 11) {
      double sum = 0;
      for (int j = 0; j < one.taps; ++j) {
        const int k = at - one.taps / 2 + j;
        if (k >= 0 && k < one.length) sum += static_cast<double>(masks[i][j]) * cells[k];
      }
      worst = std::fmax(worst, std::fabs(sum - found[at]));
    }
    need(worst < 1e-3, std::string(one.kernel) + " is off by " + std::to_string(worst));
  }
  for (cudaStream_t& stream : streams) cudaStreamDestroy(stream);
}

template <class Work>
void throws(halo_convolve_status status, const char* words, Work work) {
  try {
    work();
    need(false, std::string("nothing was thrown: ") + words);
  } catch (const halo::ConvolveError& error) {
    need(error.status() == status && std::strstr(error.what(), words) != nullptr, error.what());
  }
}

// Its filters packed once, or before each run, where there may be nothing to pack; or its runs may overlap.
void layer(bool filters_change, bool overlap) {
  constexpr int kChannels = 8;
  const halo::ConvolvePlan plan({.images = 1,
                                 .channels = kChannels,
                                 .height = 8,
                                 .width = 8,
                                 .filters = 4,
                                 .filter_height = 1,
                                 .filter_width = 1,
                                 .filters_change = filters_change,
                                 .overlap = overlap});
  const std::vector<float> cells = numbers(kChannels * 64, 5), taps = numbers(4 * kChannels, 7);
  const OnDevice input(cells), filters(taps), output(4 * 64);
  const OnDevice packed(plan.packed_bytes() / 4 + 1), workspace(plan.workspace_bytes() / 4 + 1);
  need(filters_change || plan.packed_bytes() > 0, "filters are kept");
  plan.pack(filters.data, packed.data);
  if (overlap) cudaDeviceSynchronize();  // what is packed is there before the launch before a run
  plan.run(input.data, plan.packed_bytes() > 0 ? packed.data : filters.data, output.data,
           workspace.data);
  const std::vector<float> found = output.values(4 * 64);
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 64; ++i) {
      double sum = 0;
      for (int c = 0; c < kChannels; ++c) {
        sum += static_cast<double>(taps[kChannels * k + c]) * cells[64 * c + i];
      }
      need(std::fabs(sum - found[64 * k + i]) < 1e-5, plan.kernel() + " is wrong");
    }
  }
}

// Of a layer both that its filters change and that its runs overlap.
constexpr halo_convolve_layer kBoth = {.images = 1,
                                       .channels = 1,
                                       .height = 8,
                                       .width = 8,
                                       .filters = 1,
                                       .filter_height = 1,
                                       .filter_width = 1,
                                       .filters_change = 1,
                                       .overlap = 1};

// A program that was compiled before a field was added: what it does not know is 0.
void of_an_older_header() {
  halo_convolve_layer layer = kBoth;
  layer.size = offsetof(halo_convolve_layer, overlap);
  halo_convolve_plan* plan = nullptr;
  need(halo_convolve_create(&plan, &layer) == HALO_CONVOLVE_OK, halo_convolve_last_error());
  halo_convolve_destroy(plan);
  layer.size -= sizeof(int);
  need(halo_convolve_create(&plan, &layer) == HALO_CONVOLVE_WRONG_USE,
       "a size that there never was");
}

// Depthwise, of several channels a group, dilated, and both, with bias and ReLU.
void sparse_layers() {
  struct Case {
    int channels, filters, groups, dilation, stride;
  };
  constexpr int kSize = 11, kPadding = 1;
  for (const auto [C, K, groups, dilation, stride] :
       {Case{6, 6, 6, 1, 1}, Case{6, 4, 2, 1, 2}, Case{3, 5, 1, 2, 1}, Case{4, 4, 4, 3, 1}}) {
    const halo::ConvolvePlan plan({.images = 2,
                                   .channels = C,
                                   .height = kSize,
                                   .width = kSize,
                                   .filters = K,
                                   .filter_height = 3,
                                   .filter_width = 3,
                                   .stride_h = stride,
                                   .stride_w = stride,
                                   .padding_h = kPadding,
                                   .padding_w = kPadding,
                                   .dilation_h = dilation,
                                   .dilation_w = dilation,
                                   .groups = groups,
                                   .bias = 1});
    const int P = (kSize + 2 * kPadding - 2 * dilation - 1) / stride + 1, own = C / groups;
    const std::vector<float> cells = numbers(2 * C * kSize * kSize, 11);
    const std::vector<float> taps = numbers(K * own * 9, 12), shifts = numbers(K, 13);
    const OnDevice input(cells), filters(taps), bias(shifts), output(2 * K * P * P);
    const OnDevice packed(plan.packed_bytes() / 4), workspace(plan.workspace_bytes() / 4 + 1);
    plan.pack(filters.data, packed.data);
    plan.run(input.data, packed.data, bias.data, true, output.data, workspace.data);
    const std::vector<float> found = output.values(2 * K * P * P);
    double worst = 0;
    for (int at = 0; at < 2 * K * P * P; ++at) {
      const int q = at % P, p = at / P % P, k = at / P / P % K, n = at / P / P / K;
      double sum = shifts[k];
      for (int tap = 0; tap < own * 9; ++tap) {
        const int c = k / (K / groups) * own + tap / 9;
        const int h = p * stride - kPadding + tap / 3 % 3 * dilation;
        const int w = q * stride - kPadding + tap % 3 * dilation;
        if (h < 0 || h >= kSize || w < 0 || w >= kSize) continue;
        sum += static_cast<double>(taps[k * own * 9 + tap]) *
               cells[((n * C + c) * kSize + h) * kSize + w];
      }
      worst = std::fmax(worst, std::fabs(std::fmax(sum, 0) - found[at]));
    }
    need(worst < 1e-5, plan.kernel() + " is off by " + std::to_string(worst));
  }
}

}  // namespace

int main() {
  signals();
  layer(false, false);
  layer(true, false);
  layer(false, true);
  sparse_layers();
  const float mask[4] = {};
  throws(HALO_CONVOLVE_WRONG_USE, "taps is 4: a mask needs a middle tap, so add one of 0 at an end",
         [&] { halo::Convolve1dPlan(100, mask, 4); });
  of_an_older_header();
  throws(HALO_CONVOLVE_WRONG_USE, "runs overlap where filters are packed once",
         [] { halo::ConvolvePlan{kBoth}; });
  throws(HALO_CONVOLVE_WRONG_USE, "at most 1023", [&] { halo::Convolve1dPlan(100, mask, 1025); });
  throws(HALO_CONVOLVE_WRONG_USE, "mask is null", [] { halo::Convolve1dPlan(100, nullptr, 3); });
  if (good) std::puts("good");
  return good ? 0 : 1;
}
