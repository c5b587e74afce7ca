// What a program asks the simulator that it runs on (common/simt/simulator.hpp). Elsewhere there is none to ask.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/simt/simulator.hpp"
#include "expect.hpp"

__global__ void copy(const float* from, float* to, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) to[i] = from[i];
}
__global__ void root(const float* from, float* to) {
  to[threadIdx.x] = std::sqrt(static_cast<double>(from[threadIdx.x])) * 3.0;
}
__global__ void talk() { printf("block %d\nends\n", blockIdx.x); }
__global__ void fail() { __trap(); }  // trap
__global__ void __cluster_dims__(2, 2) note_blocks(int* to) {
  if (threadIdx.x == 0) to[blockIdx.y * gridDim.x + blockIdx.x] = 1;
}

namespace {

constexpr long long kMany = (1LL << 31) - 1;

std::vector<simt::BlockRange> first_and_last(std::uint64_t blocks) {
  return {{0, 2}, {blocks - 1, blocks}};
}

// Arrays of 8 GiB of which two pieces are copied.
void try_large(const simt::Simulator& simulator) {
  std::vector<float> values(simulator.sparse_floats() * 1021);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  for (int again = 0; again < 80; ++again) {
    float* const from = simulator.allocate_sparse(
        kMany, again < 79 ? std::span<const float>() : std::span<const float>(values));
    float* const to = simulator.allocate_sparse(kMany, {});
    expect(from != nullptr && to != nullptr, "sparse arrays", __LINE__);
    if (again < 79) {
      cudaFree(from);
      cudaFree(to);
      continue;
    }
    simulator.run_only_blocks(&first_and_last);
    copy<<<(kMany + 255) / 256, 256>>>(from, to, kMany);
    simulator.run_only_blocks({});
    const std::vector<simt::Launch> launches = simulator.take_launches();
    expect(launches.size() == 1 && launches[0].blocks_run == 3, "three blocks", __LINE__);
    expect(launches[0].findings.empty(), "nothing is wrong", __LINE__);
    const std::vector<simt::WrittenPart> parts = simulator.written_parts(to);
    expect(parts.size() == 2 && parts[0].begin == 0 && parts[0].end == 512 &&
               parts[1].begin == kMany / 256 * 256 && parts[1].end == kMany,
           "what they wrote", __LINE__);
    expect(simulator.written_parts(from).empty(), "the input is as it was", __LINE__);
    float last = 0;
    expect_error(cudaMemcpy(&last, to + kMany - 1, sizeof last, cudaMemcpyDefault), cudaSuccess,
                 __LINE__);
    expect(last == static_cast<float>((kMany - 1) % static_cast<long long>(values.size())),
           "the last value", __LINE__);
    // Beyond what was written nothing is.
    copy<<<1, 256>>>(to + 1024, from, 256);
    const simt::Launch unwritten = simulator.take_launches().at(0);
    expect(
        unwritten.findings.size() == 1 && unwritten.findings[0].kind == "uninitialized_global_read",
        "what no block wrote is not there", __LINE__);
    cudaFree(from);
    cudaFree(to);
  }
}

void try_clusters(const simt::Simulator& simulator) {
  int* to;
  cudaMalloc(&to, 12 * sizeof(int));
  cudaMemset(to, 0, 12 * sizeof(int));
  simulator.run_only_blocks([](std::uint64_t) -> std::vector<simt::BlockRange> {
    return {{1, 2}};
  });
  note_blocks<<<dim3(6, 2), 32>>>(to);
  simulator.run_only_blocks([](std::uint64_t) -> std::vector<simt::BlockRange> { return {}; });
  note_blocks<<<dim3(6, 2), 32>>>(to);
  simulator.run_only_blocks({});
  int host[12];
  cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost);
  const int expected[12] = {1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0};
  expect(std::memcmp(host, expected, sizeof host) == 0, "the whole cluster ran", __LINE__);
  const std::vector<simt::Launch> launches = simulator.take_launches();
  expect(launches.at(0).blocks_run == 4 && launches.at(1).blocks_run == 0, "blocks", __LINE__);
  cudaFree(to);
}

void try_figures(const simt::Simulator& simulator) {
  const int made = simulator.allocations_made();
  float *from, *to;
  cudaMalloc(&from, 32 * sizeof(float));
  cudaMalloc(&to, 32 * sizeof(float));
  simulator.name_allocation(to, "result");
  simulator.poison(from, 32, 4.0f);
  simulator.trace_launches(1);
  root<<<1, 32>>>(from, to);
  root<<<1, 32>>>(from, to);
  const std::vector<simt::Launch> launches = simulator.take_launches();
  expect(launches.size() == 2 && launches[0].trace && !launches[1].trace, "a trace", __LINE__);
  expect(launches[0].counters.global_load_sectors == 4, "sectors", __LINE__);
  expect(!launches[0].findings.empty() && launches[0].findings[0].array == "from",
         "what is poisoned is not written", __LINE__);
  // Two conversions, the root and the product.
  expect(launches[0].fp64_operations == 4 * 32, "double precision", __LINE__);
  float value = 0;
  cudaMemcpy(&value, to, sizeof value, cudaMemcpyDeviceToHost);
  expect(value == 6.0f, "the value that it was given", __LINE__);
  simulator.trace_launches(0);
  simulator.set_checks("none");
  root<<<1, 32>>>(from, to);
  simulator.set_checks("all");
  const simt::Launch unchecked = simulator.take_launches().at(0);
  expect(unchecked.counters == simt::Counters() && unchecked.findings.empty(), "no checks",
         __LINE__);
  cudaFree(from);
  const std::vector<simt::LiveAllocation> live = simulator.live_allocations(made);
  expect(live.size() == 1 && live[0].name == "result" && live[0].bytes == 128, "one is left",
         __LINE__);
  cudaFree(to);
}

void try_words(const simt::Simulator& simulator) {
  talk<<<2, 1>>>();
  const simt::Printed printed = simulator.take_launches().at(0).printed;
  expect(printed.total == 4 && printed.lines.at(2) == "block 1", "what it prints", __LINE__);
  talk<<<1, 2000>>>();
  expect(simulator.last_error_detail() == "blockDim.x is 2000, it must be 1 to 1024", "the detail",
         __LINE__);
  cudaDeviceProp properties;
  expect(simulator.set_gpu("t4"), "there is one", __LINE__);
  cudaGetDeviceProperties(&properties, 0);
  expect(properties.major == 7 && properties.minor == 5, "another GPU", __LINE__);
  expect(!simulator.set_gpu("nonesuch"), "there is none", __LINE__);
  simulator.set_gpu("");
  simulator.take_launches();
  fail<<<1, 1>>>();
  const std::string detail = simulator.last_error_detail();
  expect(detail.starts_with("ask.cu:") && detail.ends_with("reaches a __trap()"), "why", __LINE__);
}

}  // namespace

int main() {
  const simt::Simulator* const simulator = simt::simulator();
  if (simulator == nullptr) {
    std::printf("there is none\n");
    return 0;
  }
  simulator->take_launches();
  try_large(*simulator);
  try_clusters(*simulator);
  try_figures(*simulator);
  cudaDeviceReset();
  try_words(*simulator);
  return verdict();
}
