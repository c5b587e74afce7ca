// The peer of the CPU stage: moving the bytes and computing nothing.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "common/peers/conv1d.hpp"

namespace halo::peers {

namespace {

// Copies the cells of the outputs, cut into one run a thread as stage 01 cuts them.
int copy(const Conv1dCall& call) {
  const std::int64_t cells = std::max(0, call.last - call.first);
  if (cells == 0) return 0;
  const float* const from = call.input + call.first;
  float* const to = call.output + call.first;
  // Multiples of 16 floats are whole cache lines.
  const std::int64_t run = ((cells - 1) / call.threads / 16 + 1) * 16;
  const auto copy_run = [=](std::int64_t start) {
    const auto count = static_cast<std::size_t>(std::min(run, cells - start));
    std::memcpy(to + start, from + start, count * sizeof(float));
  };
  std::vector<std::jthread> others;
  for (std::int64_t start = run; start < cells; start += run) others.emplace_back(copy_run, start);
  copy_run(0);
  return 0;  // after the others: leaving the function waits for them
}

}  // namespace

std::vector<Conv1dVariant> conv1d() {
  Conv1dVariant bytes;
  bytes.name = "copy";
  bytes.source = "common/peers/conv1d_cpu.cpp";
  bytes.description = "no convolution: memcpy of as many bytes, on all threads";
  bytes.role = Role::copy;
  bytes.launches(copy);
  return {bytes};
}

}  // namespace halo::peers
