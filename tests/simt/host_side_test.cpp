// What the simulator tells a program about the kernels it ran, beyond counters and hazards: what they
// printed, whose memory it was, what was not freed, why a call failed; and that several host threads
// may launch.
#include "kernels/host_side.hpp"

#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "common/simt/simulator.hpp"
#include "tests/catch.hpp"

using halo::test::contains;

namespace {

struct Fresh {
  Fresh() { start(); }
  ~Fresh() { start(); }
  static void start() {
    cudaDeviceReset();
    simt::simulator()->take_launches();
  }
};

simt::Launch the_launch() {
  std::vector<simt::Launch> launches = simt::simulator()->take_launches();
  REQUIRE(launches.size() == 1);
  return launches.front();
}

}  // namespace

TEST_CASE_METHOD(Fresh, "what a kernel prints is kept with its launch") {
  host_side::launch_greetings(2, 2);
  const simt::Printed printed = the_launch().printed;
  CHECK(printed.total == 8);
  // A warp prints what its lanes print with one instruction.
  CHECK(printed.lines == std::vector<std::string>{"block 0 thread 0", "block 0 thread 1", "a line",
                                                  "a line", "block 1 thread 0", "block 1 thread 1",
                                                  "a line", "a line"});
  host_side::launch_pieces();
  CHECK(the_launch().printed.lines == std::vector<std::string>{"one and two", "three"});
}

TEST_CASE_METHOD(Fresh, "of many printed lines the first are kept, and all are counted") {
  host_side::launch_many_lines(40, 60);
  const simt::Printed printed = the_launch().printed;
  CHECK(printed.total == 2400);
  REQUIRE(printed.lines.size() == simt::Printed::kMostLines);
  CHECK(printed.lines[0] == "line 0 of block 0");
  CHECK(printed.lines[59] == "line 59 of block 0");
  CHECK(printed.lines[60] == "line 0 of block 1");
}

TEST_CASE_METHOD(Fresh, "a failed assert is named") {
  host_side::launch_failing_assert();
  CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
  CHECK_THAT(simt::simulator()->last_error_detail(), contains("host_side.cu:"));
  CHECK_THAT(simt::simulator()->last_error_detail(),
             contains("fails the assertion `threadIdx.x < 3`"));
  CHECK_THAT(simt::simulator()->last_error_detail(), contains("thread (3,0,0) of block (0,0,0)"));
  const simt::Launch launch = the_launch();
  REQUIRE(launch.findings.size() == 1);
  CHECK(launch.findings[0].kind == "failed_assert");
  REQUIRE(launch.printed.total == 5);
  CHECK_THAT(launch.printed.lines[0], contains("Assertion `threadIdx.x < 3` failed."));
}

TEST_CASE_METHOD(Fresh, "a loop that does nothing that could be seen is ended") {
  simt::simulator()->set_checks("none");
  host_side::launch_endless_loop();
  simt::simulator()->set_checks("all");
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
  const simt::Launch launch = the_launch();
  REQUIRE(launch.findings.size() == 1);
  CHECK(launch.findings[0].kind == "endless_kernel");
  CHECK_THAT(launch.findings[0].file, contains("host_side.cu"));
}

TEST_CASE_METHOD(Fresh, "findings call an allocation by its name") {
  float* const cells = host_side::allocate_floats(10);
  simt::simulator()->name_allocation(cells + 5, "signal");
  int on_host = 0;
  simt::simulator()->name_allocation(&on_host, "nothing");
  host_side::launch_write_at(cells, 10);
  const simt::Launch launch = the_launch();
  REQUIRE(launch.findings.size() == 1);
  CHECK(launch.findings[0].array == "signal");
  CHECK_THAT(launch.findings[0].message, contains("outside signal (40 bytes)"));
}

TEST_CASE_METHOD(Fresh, "what was not freed is listed with its line") {
  float* const before = host_side::allocate_floats(3);
  const int made = simt::simulator()->allocations_made();
  CHECK(simt::simulator()->live_allocations(made).empty());
  float* const freed = host_side::allocate_floats(4);
  float* const kept = host_side::allocate_floats(5);
  cudaFree(freed);
  cudaFree(before);
  const std::vector<simt::LiveAllocation> live = simt::simulator()->live_allocations(made);
  REQUIRE(live.size() == 1);
  CHECK(live[0].bytes == 20);
  CHECK(live[0].name == "cells");
  CHECK_THAT(live[0].file, contains("host_side.cu"));
  CHECK(live[0].line == host_side::allocating_line);
  cudaFree(kept);
  CHECK(simt::simulator()->live_allocations(made).empty());
}

TEST_CASE_METHOD(Fresh, "a call that fails says why, with its numbers") {
  host_side::launch_add_one(nullptr, 0);  // no blocks
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(simt::simulator()->last_error_detail() ==
        "gridDim.x is 0, it must be 1 to 2147483647 (a division of whole numbers rounds down)");
  float* const cells = host_side::allocate_floats(10);
  CHECK(cudaMemset(cells, 0, 44) == cudaErrorInvalidValue);
  CHECK_THAT(simt::simulator()->last_error_detail(), contains("which has 40 bytes"));
  int host = 0;
  CHECK(cudaMemset(&host, 0, 4) == cudaErrorInvalidValue);
  CHECK_THAT(simt::simulator()->last_error_detail(), contains("is a host pointer"));
  // Of a call that can't say more, there is nothing of an earlier one.
  CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
  CHECK(simt::simulator()->last_error_detail().empty());
  cudaGetLastError();
}

TEST_CASE_METHOD(Fresh, "a kernel cannot use the host's memory, whichever it is") {
  const int kind = GENERATE(0, 1, 2, 3, 4, 5, 6);
  INFO(kind);
  host_side::launch_reading_host_array(kind);
  const cudaError_t error = cudaDeviceSynchronize();
  const simt::Launch launch = the_launch();
  REQUIRE(launch.findings.size() == 1);
  CHECK(launch.findings[0].kind == "invalid_address");
  CHECK_THAT(launch.findings[0].file, contains("host_side.cu"));
  if (kind == 6) {
    CHECK(launch.findings[0].array == "constant_cells");
    CHECK_THAT(launch.findings[0].message, contains("no address on the device"));
    return;
  }
  CHECK(error == cudaErrorIllegalAddress);
  const char* const names[] = {"local_cells", "table_cells", "namespace_cells", "", "", ""};
  CHECK(launch.findings[0].array == names[kind]);
  CHECK_THAT(launch.findings[0].message,
             contains(kind < 3 ? "in the host's memory" : "host memory"));
}

TEST_CASE_METHOD(Fresh, "the address of a symbol may be given to a kernel") {
  host_side::launch_reading_host_array(7);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(the_launch().findings.empty());
}

// As on a GPU, where the name is a variable of the host.
TEST_CASE_METHOD(Fresh, "the name of a variable of the device is no address of it") {
  const std::vector<cudaError_t> errors = host_side::copy_by_name();
  CHECK(errors == std::vector<cudaError_t>{cudaErrorInvalidValue, cudaErrorInvalidValue,
                                           cudaErrorInvalidValue, cudaSuccess, cudaSuccess,
                                           cudaSuccess, cudaSuccess});
  CHECK_THAT(simt::simulator()->last_error_detail(), contains("is no address there"));
  cudaGetLastError();
}

TEST_CASE_METHOD(Fresh, "kernels have a heap of the size that was asked for") {
  CHECK(host_side::use_the_heap(10000) == std::vector<int>{20, 190 + 1000 + 30});
  CHECK(host_side::use_the_heap(8 * 16) == std::vector<int>{8, 0});
  for (const simt::Launch& launch : simt::simulator()->take_launches())
    CHECK(launch.findings.empty());
}

TEST_CASE_METHOD(Fresh, "the heap is guarded as other memory is") {
  host_side::launch_use_after_free_of_heap();
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  simt::Launch launch = the_launch();
  REQUIRE(launch.findings.size() == 1);
  CHECK(launch.findings[0].kind == "use_after_free");
  CHECK_THAT(launch.findings[0].array, contains("malloc in a kernel"));
  cudaDeviceReset();
  host_side::launch_free_twice();
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  launch = the_launch();
  REQUIRE(launch.findings.size() == 1);
  CHECK_THAT(launch.findings[0].message, contains("frees it twice"));
}

TEST_CASE_METHOD(Fresh, "several host threads launch") {
  constexpr int kThreads = 8;
  constexpr int kRounds = 5;
  constexpr int kCount = 1000;
  int wrong[kThreads] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &wrong] {
      for (int round = 0; round < kRounds; ++round) {
        std::vector<int> cells(kCount);
        for (int i = 0; i < kCount; ++i) cells[i] = t + i;
        int* device = nullptr;
        cudaMalloc(&device, kCount * sizeof(int));
        cudaMemcpy(device, cells.data(), kCount * sizeof(int), cudaMemcpyHostToDevice);
        host_side::launch_add_one(device, kCount);
        cudaMemcpy(cells.data(), device, kCount * sizeof(int), cudaMemcpyDeviceToHost);
        for (int i = 0; i < kCount; ++i) wrong[t] += cells[i] != t + i + 1;
        cudaFree(device);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) CHECK(wrong[t] == 0);
  CHECK(simt::simulator()->take_launches().size() == kThreads * kRounds);
}

TEST_CASE_METHOD(Fresh, "an error of one host thread is not another's") {
  CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
  cudaError_t seen = cudaErrorUnknown;
  std::thread([&seen] { seen = cudaGetLastError(); }).join();
  CHECK(seen == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}
