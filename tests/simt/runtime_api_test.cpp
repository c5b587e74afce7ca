// The CUDA runtime's host functions. Where a case says what is right, the same calls gave the same
// answers on an H200 with CUDA 13.0, except where it says otherwise.
#include "tests/simt/kernels/runtime_api.hpp"

#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "common/gpus/gpu.hpp"
#include "common/simt/simulator.hpp"
#include "tests/catch.hpp"

using halo::test::contains;

namespace {

// Every case starts on a fresh device and looks at its findings itself.
struct Fresh {
  Fresh() {
    cudaDeviceReset();
    simt::simulator()->take_launches();
  }
  ~Fresh() {
    cudaDeviceReset();
    simt::simulator()->take_launches();
  }
};

template <typename T = char>
T* allocate(std::size_t count) {
  T* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, count * sizeof(T)) == cudaSuccess);
  return pointer;
}

// The call failed with this error, and the error was there to be picked up, once.
void require_error(cudaError_t returned, cudaError_t expected) {
  CHECK(returned == expected);
  CHECK(cudaPeekAtLastError() == expected);
  CHECK(cudaGetLastError() == expected);
  CHECK(cudaGetLastError() == cudaSuccess);
}

struct Output {
  int status = 0;  // as waitpid gives it
  std::string text;
};

Output run(const std::string& command) {
  Output output;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.text.append(buffer.data(), n);
  }
  output.status = pclose(pipe);
  return output;
}

// Runs a hidden case of this program in a process of its own.
Output run_case(const std::string& name, const std::string& environment = "") {
  std::array<char, 4096> path{};
  REQUIRE(readlink("/proc/self/exe", path.data(), path.size() - 1) > 0);
  return run("env " + environment + " '" + path.data() + "' '" + name + "'");
}

}  // namespace

TEST_CASE_METHOD(Fresh, "cudaMalloc and cudaFree") {
  void* pointer = &pointer;
  CHECK(cudaMalloc(&pointer, 0) == cudaSuccess);
  CHECK(pointer == nullptr);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  require_error(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  pointer = &pointer;
  require_error(cudaMalloc(&pointer, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  CHECK(pointer == nullptr);

  char* block = allocate(1000);
  CHECK(reinterpret_cast<std::uintptr_t>(block) % 256 == 0);
  int host = 0;
  require_error(cudaFree(block + 4), cudaErrorInvalidValue);
  require_error(cudaFree(&host), cudaErrorInvalidValue);
  require_error(cudaFree(reinterpret_cast<void*>(0x1234)), cudaErrorInvalidValue);
  CHECK(cudaFree(block) == cudaSuccess);
  require_error(cudaFree(block), cudaErrorInvalidValue);

  void* pooled = nullptr;
  CHECK(cudaMallocAsync(&pooled, 100, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(pooled, nullptr) == cudaSuccess);
  CHECK(cudaMallocAsync(&pooled, 100, nullptr) == cudaSuccess);
  CHECK(cudaFree(pooled) == cudaSuccess);
}

TEST_CASE_METHOD(Fresh, "cudaMallocPitch rounds rows up to 512 bytes") {
  for (const auto& [width, expected] :
       {std::pair{1, 512}, {100, 512}, {512, 512}, {513, 1024}, {4000, 4096}}) {
    void* pointer = nullptr;
    std::size_t pitch = 0;
    CHECK(cudaMallocPitch(&pointer, &pitch, width, 3) == cudaSuccess);
    CHECK(pitch == static_cast<std::size_t>(expected));
    CHECK(cudaMemset(pointer, 0, 3 * pitch) == cudaSuccess);
    CHECK(cudaMemset(pointer, 0, 3 * pitch + 1) == cudaErrorInvalidValue);
  }
  void* pointer = nullptr;
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(&pointer, &pitch, ~std::size_t{0} / 2, 4) == cudaErrorMemoryAllocation);
  cudaGetLastError();
}

TEST_CASE_METHOD(Fresh, "cudaMemGetInfo follows allocations") {
  std::size_t before = 0, after = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&before, &total) == cudaSuccess);
  CHECK(total == halo::gpus::find("h200")->memory_bytes);
  CHECK(before == total);
  char* block = allocate(1 << 20);
  REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
  CHECK(before - after == 1 << 20);
  cudaFree(block);
  REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
  CHECK(before == after);
}

TEST_CASE_METHOD(Fresh, "cudaMemset stays inside one allocation") {
  char* block = allocate(1000);
  char host[4] = {};
  CHECK(cudaMemset(block, 7, 1000) == cudaSuccess);
  require_error(cudaMemset(block, 0, 1001), cudaErrorInvalidValue);
  require_error(cudaMemset(block, 0, std::size_t{1} << 24), cudaErrorInvalidValue);
  require_error(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
  require_error(cudaMemset(nullptr, 0, 4), cudaErrorInvalidValue);
  CHECK(cudaMemset(nullptr, 0, 0) == cudaSuccess);
  CHECK(cudaMemset(host, 0, 0) == cudaSuccess);
  CHECK(cudaMemsetAsync(block + 996, 9, 4) == cudaSuccess);
  CHECK(cudaMemcpy(host, block + 995, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(host[0] == 7);
  CHECK(host[1] == 9);
  cudaFree(block);
  require_error(cudaMemset(block, 0, 4), cudaErrorInvalidValue);
}

TEST_CASE_METHOD(Fresh, "cudaMemcpy checks its direction") {
  char* device = allocate(1000);
  std::vector<char> host(1000, 1), other(1000, 2);
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 1000) == cudaSuccess);
  enum Side { kDevice, kHost, kHost2, kPinned };
  const auto pointer = [&](Side side) -> void* {
    return side == kDevice  ? device
           : side == kHost  ? host.data()
           : side == kHost2 ? other.data()
                            : pinned;
  };
  const struct {
    Side to, from;
    cudaMemcpyKind kind;
    cudaError_t expected;
  } cases[] = {
      {kDevice, kHost, cudaMemcpyHostToDevice, cudaSuccess},
      {kDevice, kHost, cudaMemcpyDeviceToHost, cudaErrorInvalidValue},
      {kDevice, kHost, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue},
      {kDevice, kHost, cudaMemcpyHostToHost, cudaSuccess},
      {kDevice, kHost, cudaMemcpyDefault, cudaSuccess},
      {kDevice, kHost, static_cast<cudaMemcpyKind>(7), cudaErrorInvalidMemcpyDirection},
      {kHost, kDevice, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {kHost, kDevice, cudaMemcpyDeviceToHost, cudaSuccess},
      {kHost, kDevice, cudaMemcpyHostToHost, cudaSuccess},
      {kHost, kDevice, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue},
      {kHost, kDevice, cudaMemcpyDefault, cudaSuccess},
      {kHost, kHost2, cudaMemcpyHostToHost, cudaSuccess},
      {kHost, kHost2, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {kHost, kHost2, cudaMemcpyDeviceToHost, cudaErrorInvalidValue},
      {kHost, kHost2, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue},
      {kHost, kHost2, cudaMemcpyDefault, cudaSuccess},
      {kDevice, kDevice, cudaMemcpyDeviceToDevice, cudaSuccess},
      // Not defined, and done by every GPU.
      {kDevice, kDevice, cudaMemcpyHostToDevice, cudaSuccess},
      {kDevice, kDevice, cudaMemcpyDeviceToHost, cudaSuccess},
      {kDevice, kPinned, cudaMemcpyDeviceToHost, cudaSuccess},
      {kPinned, kDevice, cudaMemcpyHostToDevice, cudaSuccess},
      {kPinned, kHost, cudaMemcpyDeviceToHost, cudaErrorInvalidValue},
      {kHost, kPinned, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
  };
  for (const auto& c : cases) {
    CAPTURE(c.to, c.from, c.kind);
    CHECK(cudaMemcpy(pointer(c.to), pointer(c.from), 1000, c.kind) == c.expected);
    CHECK(cudaGetLastError() == c.expected);
    CHECK(cudaMemcpyAsync(pointer(c.to), pointer(c.from), 1000, c.kind) == c.expected);
    CHECK(cudaGetLastError() == c.expected);
  }
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE_METHOD(Fresh, "cudaMemcpy moves bytes, within allocations only") {
  char* device = allocate(1000);
  std::vector<char> host(4000);
  for (int i = 0; i < 1000; ++i) host[i] = static_cast<char>(i * 7);
  CHECK(cudaMemcpy(device, host.data(), 1000, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(device, device + 500, 500, cudaMemcpyDeviceToDevice) == cudaSuccess);
  std::vector<char> back(1000);
  CHECK(cudaMemcpy(back.data(), device, 1000, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(std::equal(back.begin(), back.begin() + 500, host.begin() + 500));
  CHECK(std::equal(back.begin() + 500, back.end(), host.begin() + 500));

  const auto copy_in = [&](void* to, const void* from, std::size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
  };
  require_error(copy_in(device, host.data(), 1001), cudaErrorInvalidValue);
  require_error(copy_in(device + 1, host.data(), 1000), cudaErrorInvalidValue);
  require_error(copy_in(nullptr, host.data(), 4), cudaErrorInvalidValue);
  require_error(copy_in(device, nullptr, 4), cudaErrorInvalidValue);
  require_error(cudaMemcpy(host.data(), device, 4000, cudaMemcpyDeviceToHost),
                cudaErrorInvalidValue);
  CHECK(copy_in(nullptr, nullptr, 0) == cudaSuccess);
  CHECK(cudaMemcpy(host.data(), device, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  cudaFree(device);
  require_error(copy_in(device, host.data(), 4), cudaErrorInvalidValue);
}

TEST_CASE_METHOD(Fresh, "cudaMemcpy2D and cudaMemset2D") {
  char* device = allocate(1000);
  std::vector<char> host(4000);
  for (int i = 0; i < 4000; ++i) host[i] = static_cast<char>(i % 113);
  const auto copy_in = [&](std::size_t to_pitch, std::size_t from_pitch, std::size_t width,
                           std::size_t height) {
    return cudaMemcpy2D(device, to_pitch, host.data(), from_pitch, width, height,
                        cudaMemcpyHostToDevice);
  };
  CHECK(copy_in(100, 16, 8, 10) == cudaSuccess);
  std::vector<char> back(80);
  CHECK(cudaMemcpy2D(back.data(), 8, device, 100, 8, 10, cudaMemcpyDeviceToHost) == cudaSuccess);
  bool same = true;
  for (int row = 0; row < 10; ++row) {
    for (int column = 0; column < 8; ++column) {
      same = same && back[row * 8 + column] == host[row * 16 + column];
    }
  }
  CHECK(same);
  require_error(copy_in(7, 16, 8, 4), cudaErrorInvalidPitchValue);
  require_error(copy_in(8, 7, 8, 4), cudaErrorInvalidPitchValue);
  CHECK(copy_in(8, 7, 8, 0) == cudaSuccess);
  require_error(copy_in(100, 100, 100, 11), cudaErrorInvalidValue);
  CHECK(copy_in(100, 100, 100, 10) == cudaSuccess);
  CHECK(copy_in(111, 100, 1, 10) == cudaSuccess);  // the last row needs no full pitch
  require_error(copy_in(112, 100, 1, 10), cudaErrorInvalidValue);
  require_error(copy_in(~std::size_t{0}, 100, 4, 3), cudaErrorInvalidValue);
  require_error(cudaMemcpy2D(device, 8, host.data(), 8, 8, 4, cudaMemcpyDeviceToHost),
                cudaErrorInvalidValue);
  CHECK(cudaMemset2D(device, 100, 3, 4, 10) == cudaSuccess);
  char cells[2];
  CHECK(cudaMemcpy(cells, device + 903, 2, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(cells[0] == 3);
  CHECK(cells[1] != 3);
  require_error(cudaMemset2D(device, 7, 1, 8, 4), cudaErrorInvalidValue);
  require_error(cudaMemset2D(device, 100, 1, 101, 4), cudaErrorInvalidValue);
}

TEST_CASE_METHOD(Fresh, "symbols are copied within their bounds") {
  float values[11];
  for (int i = 0; i < 11; ++i) values[i] = 100.0f * i;
  constexpr auto kIn = cudaMemcpyHostToDevice;
  constexpr auto kOut = cudaMemcpyDeviceToHost;
  using namespace runtime_api;
  CHECK(to_constant(values, 40, 0, kIn) == cudaSuccess);
  require_error(to_constant(values, 41, 0, kIn), cudaErrorInvalidValue);
  require_error(to_constant(values, 40, 4, kIn), cudaErrorInvalidValue);
  require_error(to_constant(values, 4, ~std::size_t{0}, kIn), cudaErrorInvalidValue);
  CHECK(to_constant(values + 5, 4, 36, kIn) == cudaSuccess);
  CHECK(to_constant(values, 0, 0, kIn) == cudaSuccess);
  require_error(to_constant(nullptr, 4, 0, kIn), cudaErrorInvalidValue);
  require_error(to_constant(values, 4, 0, kOut), cudaErrorInvalidMemcpyDirection);
  require_error(to_constant(values, 4, 0, cudaMemcpyHostToHost), cudaErrorInvalidMemcpyDirection);
  require_error(to_constant(values, 4, 0, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  CHECK(to_constant(values, 4, 0, cudaMemcpyDefault) == cudaSuccess);
  require_error(to_host_variable(values, 4), cudaErrorInvalidSymbol);
  void* address = nullptr;
  require_error(host_variable_address(&address), cudaErrorInvalidSymbol);

  float back[10];
  CHECK(from_constant(back, 40, 0, kOut) == cudaSuccess);
  CHECK(back[0] == 0);
  CHECK(back[8] == 800);
  CHECK(back[9] == 500);
  CHECK(from_device_variable(back, 40, 0, kOut) == cudaSuccess);
  CHECK(back[9] == 9);
  require_error(from_device_variable(back, 44, 0, kOut), cudaErrorInvalidValue);
  require_error(from_device_variable(back, 4, 0, kIn), cudaErrorInvalidMemcpyDirection);

  float* out = allocate<float>(10);
  launch_sum_of_symbols(out);
  CHECK(cudaMemcpy(back, out, 40, kOut) == cudaSuccess);
  CHECK(back[8] == 808);
  CHECK(back[9] == 509);

  // Device memory and symbols, both ways.
  CHECK(to_device_variable(out, 40, 0, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(device_variable_address(&address) == cudaSuccess);
  std::size_t bytes = 0;
  CHECK(device_variable_size(&bytes) == cudaSuccess);
  CHECK(bytes == 40);
  CHECK(cudaMemcpy(back, address, 40, kOut) == cudaSuccess);
  CHECK(back[9] == 509);
  require_error(cudaMemcpy(back, address, 44, kOut), cudaErrorInvalidValue);
  require_error(cudaFree(address), cudaErrorInvalidValue);
  for (int i = 0; i < 10; ++i) back[i] = static_cast<float>(i);
  CHECK(cudaMemcpy(address, back, 40, kIn) == cudaSuccess);

  int number = 7;
  CHECK(to_scalar(&number, 4) == cudaSuccess);
  require_error(to_scalar(&number, 5), cudaErrorInvalidValue);
  number = 0;
  CHECK(from_scalar(&number, 4) == cudaSuccess);
  CHECK(number == 7);
}

TEST_CASE_METHOD(Fresh, "pinned and registered host memory") {
  void* pointer = nullptr;
  CHECK(cudaMallocHost(&pointer, 0) == cudaSuccess);
  CHECK(pointer == nullptr);
  REQUIRE(cudaMallocHost(&pointer, 100) == cudaSuccess);
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, static_cast<char*>(pointer) + 50) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeHost);
  require_error(cudaFree(pointer), cudaErrorInvalidValue);
  CHECK(cudaFreeHost(pointer) == cudaSuccess);
  require_error(cudaFreeHost(pointer), cudaErrorInvalidValue);
  CHECK(cudaFreeHost(nullptr) == cudaSuccess);
  require_error(cudaFreeHost(allocate(10)), cudaErrorInvalidValue);
  require_error(cudaHostAlloc(&pointer, 100, 999), cudaErrorInvalidValue);

  int host[10];
  CHECK(cudaPointerGetAttributes(&attributes, host) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(attributes.device == cudaInvalidDeviceId);
  CHECK(attributes.hostPointer == host);
  require_error(cudaHostRegister(host, sizeof(host), 999), cudaErrorInvalidValue);
  CHECK(cudaHostRegister(host, sizeof(host), 0) == cudaSuccess);
  require_error(cudaHostRegister(host, sizeof(host), 0), cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaHostUnregister(host) == cudaSuccess);
  require_error(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);

  char* device = allocate(10);
  CHECK(cudaPointerGetAttributes(&attributes, device + 8) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.device == 0);
  CHECK(attributes.devicePointer == device + 8);
  CHECK(attributes.hostPointer == nullptr);
}

TEST_CASE_METHOD(Fresh, "managed memory is touched by both sides") {
  int* cells = nullptr;
  REQUIRE(cudaMallocManaged(&cells, 10 * sizeof(int)) == cudaSuccess);
  cells[0] = 5;
  runtime_api::launch_write(cells, 1, 1);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cells[0] == 1);
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, cells) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeManaged);
  int host = 9;
  CHECK(cudaMemcpy(cells, &host, 4, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(&host, cells, 4, cudaMemcpyHostToHost) == cudaSuccess);
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  CHECK(cudaMemPrefetchAsync(cells, 40, device, 0) == cudaSuccess);
  require_error(cudaMemPrefetchAsync(cells, 44, device, 0), cudaErrorInvalidValue);
  require_error(cudaMemPrefetchAsync(&host, 4, device, 0), cudaErrorInvalidValue);
  CHECK(cudaFree(cells) == cudaSuccess);
}

TEST_CASE_METHOD(Fresh, "launch shapes are checked") {
  int* cell = allocate<int>(1);
  // CUDA 12 and the manual; CUDA 13.0 on an H200 said cudaErrorInvalidValue.
  constexpr cudaError_t kShape = cudaErrorInvalidConfiguration;
  const struct {
    dim3 grid, block;
    cudaError_t expected;
  } cases[] = {
      {dim3(1), dim3(1024), cudaSuccess},
      {dim3(1), dim3(1, 1024), cudaSuccess},
      {dim3(1), dim3(1, 1, 64), cudaSuccess},
      {dim3(0), dim3(32), kShape},
      {dim3(1), dim3(0), kShape},
      {dim3(1), dim3(1025), kShape},
      {dim3(1), dim3(1024, 2), kShape},
      {dim3(1), dim3(1, 1, 65), kShape},
      {dim3(1), dim3(1, 1025), kShape},
      {dim3(1), dim3(65536, 65536), kShape},
      {dim3(1, 65536), dim3(1), kShape},
      {dim3(1, 1, 65536), dim3(1), kShape},
      {dim3(2147483648u), dim3(1), kShape},
  };
  for (const auto& c : cases) {
    CAPTURE(c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z);
    REQUIRE(cudaMemset(cell, 0, 4) == cudaSuccess);
    runtime_api::launch_write(
        c.expected == cudaSuccess && c.block.x * c.block.y * c.block.z > 1 ? nullptr : cell, c.grid,
        c.block);
    CHECK(cudaPeekAtLastError() == c.expected);
    CHECK(cudaGetLastError() == c.expected);
    CHECK(cudaGetLastError() == cudaSuccess);
    // A refused kernel does not run, and spoils nothing.
    int value = 5;
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaMemcpy(&value, cell, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(value == 0);
  }
  runtime_api::launch_write(cell, 1, 1);
  int value = 0;
  CHECK(cudaMemcpy(&value, cell, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(value == 1);
}

TEST_CASE_METHOD(Fresh, "a later success does not hide a launch error") {
  runtime_api::launch_write(nullptr, 1, 1025);
  runtime_api::launch_write(nullptr, 1, 32);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  runtime_api::launch_write(nullptr, 1, 1025);
  void* pointer = nullptr;
  cudaMalloc(&pointer, std::size_t{1} << 50);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE_METHOD(Fresh, "errors belong to the host thread that made them") {
  cudaSetDevice(3);
  cudaError_t seen = cudaErrorUnknown;
  std::thread([&] { seen = cudaGetLastError(); }).join();
  CHECK(seen == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE_METHOD(Fresh, "launch bounds limit a launch") {
  int* cell = allocate<int>(1);
  for (const auto& [threads, expected] :
       {std::pair{129, cudaErrorInvalidValue}, {1025, cudaErrorInvalidConfiguration}}) {
    runtime_api::launch_bounded(cell, threads);
    CHECK(cudaGetLastError() == expected);
  }
  runtime_api::launch_bounded(cell, 1);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE_METHOD(Fresh, "shared memory limits a launch") {
  int* cell = allocate<int>(1);
  const auto launch_error = [&](auto launch, std::size_t bytes) {
    launch(cell, bytes);
    return cudaGetLastError();
  };
  const auto plain = [](int* c, std::size_t bytes) { runtime_api::launch_write(c, 1, 1, bytes); };
  CHECK(launch_error(plain, 49152) == cudaSuccess);
  CHECK(launch_error(plain, 49153) == cudaErrorInvalidValue);
  CHECK(launch_error(plain, 300000) == cudaErrorInvalidValue);
  CHECK(launch_error(runtime_api::launch_static_shared, 49152 - 40000) == cudaSuccess);
  CHECK(launch_error(runtime_api::launch_static_shared, 49153 - 40000) == cudaErrorInvalidValue);

  const int optin = halo::gpus::find("h200")->shared_per_block_optin;
  CHECK(runtime_api::allow_dynamic_shared_of_write(optin) == cudaSuccess);
  require_error(runtime_api::allow_dynamic_shared_of_write(optin + 1), cudaErrorInvalidValue);
  CHECK(runtime_api::allow_dynamic_shared(optin - 400) == cudaSuccess);
  require_error(runtime_api::allow_dynamic_shared(optin - 399), cudaErrorInvalidValue);
  require_error(runtime_api::allow_dynamic_shared(-1), cudaErrorInvalidValue);
  CHECK(runtime_api::allow_dynamic_shared(60000) == cudaSuccess);
  CHECK(launch_error(runtime_api::launch_dynamic_shared, 60000) == cudaSuccess);
  int value = 0;
  CHECK(cudaMemcpy(&value, cell, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(value == 60000 / 4);
  CHECK(launch_error(runtime_api::launch_dynamic_shared, 60004) == cudaErrorInvalidValue);
  // The attribute may lower the limit too.
  CHECK(runtime_api::allow_dynamic_shared(1000) == cudaSuccess);
  CHECK(launch_error(runtime_api::launch_dynamic_shared, 1000) == cudaSuccess);
  CHECK(launch_error(runtime_api::launch_dynamic_shared, 1004) == cudaErrorInvalidValue);
  int host = 0;
  CHECK(cudaFuncSetAttribute(static_cast<const void*>(&host),
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             1000) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST_CASE_METHOD(Fresh, "kernels take lambdas, structs and launches among their arguments") {
  int* cells = allocate<int>(100);
  std::vector<int> back(100);
  runtime_api::launch_nested(cells);
  REQUIRE(cudaMemcpy(back.data(), cells, 8, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back[0] == 1);
  CHECK(back[1] == 2);
  runtime_api::launch_strided_struct(cells);
  REQUIRE(cudaMemcpy(back.data(), cells, 12, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back[2] == 3);
  runtime_api::launch_lambda(cells, 100, 3);
  REQUIRE(cudaMemcpy(back.data(), cells, 400, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back[99] == 297);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE_METHOD(Fresh, "an error in a kernel stays until cudaDeviceReset") {
  int* cells = allocate<int>(4);
  const struct {
    cudaError_t expected;
    void (*launch)(int*);
  } cases[] = {
      {cudaErrorIllegalAddress, [](int* c) { runtime_api::launch_write_past_the_end(c, 4); }},
      {cudaErrorLaunchFailure, [](int*) { runtime_api::launch_trap(); }},
      {cudaErrorAssert, [](int*) { runtime_api::launch_assert(0); }},
  };
  for (const auto& c : cases) {
    c.launch(cells);
    CHECK(cudaDeviceSynchronize() == c.expected);
    void* pointer = nullptr;
    CHECK(cudaMalloc(&pointer, 4) == c.expected);
    CHECK(cudaFree(cells) == c.expected);
    CHECK(cudaGetLastError() == c.expected);
    CHECK(cudaGetLastError() == c.expected);
    cudaEvent_t event = nullptr;
    CHECK(cudaEventCreate(&event) == c.expected);
    int host[2] = {};
    CHECK(cudaMemcpy(host, host + 1, 4, cudaMemcpyHostToHost) == c.expected);
    // A kernel is not run any more.
    runtime_api::launch_write(cells, 1, 1);
    CHECK(cudaPeekAtLastError() == c.expected);
    // Questions about the device are still answered.
    int value = 0;
    CHECK(cudaGetDeviceCount(&value) == cudaSuccess);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0) == cudaSuccess);
    CHECK(cudaSetDevice(0) == cudaSuccess);
    CHECK(cudaRuntimeGetVersion(&value) == cudaSuccess);
    // A GPU's process has to end now. Here a reset does.
    CHECK(cudaDeviceReset() == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(cudaFree(cells) == cudaErrorInvalidValue);
    cudaGetLastError();
    cells = allocate<int>(4);
    runtime_api::launch_write(cells, 1, 1);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
  }
  runtime_api::launch_assert(1);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE_METHOD(Fresh, "streams") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  int* cell = allocate<int>(1);
  runtime_api::launch_write(cell, 1, 1, 0, stream);
  int value = 0;
  CHECK(cudaMemcpyAsync(&value, cell, 4, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(value == 1);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(cudaStreamQuery(nullptr) == cudaSuccess);
  CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  int called = 0;
  CHECK(cudaLaunchHostFunc(
            stream, [](void* data) { ++*static_cast<int*>(data); }, &called) == cudaSuccess);
  CHECK(called == 1);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  require_error(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  runtime_api::launch_write(cell, 1, 1, 0, stream);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  require_error(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  require_error(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  require_error(cudaStreamCreateWithFlags(&stream, 77), cudaErrorInvalidValue);
}

TEST_CASE_METHOD(Fresh, "events") {
  cudaEvent_t first = nullptr, second = nullptr, silent = nullptr;
  REQUIRE(cudaEventCreate(&first) == cudaSuccess);
  REQUIRE(cudaEventCreate(&second) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&silent, cudaEventDisableTiming) == cudaSuccess);
  float milliseconds = -1;
  require_error(cudaEventElapsedTime(&milliseconds, first, second), cudaErrorInvalidResourceHandle);
  CHECK(cudaEventQuery(first) == cudaSuccess);
  const auto start = std::chrono::steady_clock::now();
  CHECK(cudaEventRecord(first) == cudaSuccess);
  runtime_api::launch_write(nullptr, 100, 32);
  CHECK(cudaEventRecord(second, nullptr) == cudaSuccess);
  // As on a GPU that is still at it.
  require_error(cudaEventElapsedTime(&milliseconds, first, second), cudaErrorNotReady);
  CHECK_THAT(simt::simulator()->last_error_detail(), contains("cudaEventSynchronize"));
  CHECK(cudaEventSynchronize(second) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, first, second) == cudaSuccess);
  CHECK(milliseconds > 0);
  const std::chrono::duration<float, std::milli> since = std::chrono::steady_clock::now() - start;
  CHECK(milliseconds < since.count());
  CHECK(cudaStreamWaitEvent(nullptr, second) == cudaSuccess);
  CHECK(cudaEventRecord(silent) == cudaSuccess);
  require_error(cudaEventElapsedTime(&milliseconds, first, silent), cudaErrorInvalidResourceHandle);
  require_error(cudaEventElapsedTime(nullptr, first, second), cudaErrorInvalidValue);
  require_error(cudaEventRecord(nullptr), cudaErrorInvalidResourceHandle);
  require_error(cudaEventCreate(nullptr), cudaErrorInvalidValue);
  require_error(cudaEventDestroy(nullptr), cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(first) == cudaSuccess);
  require_error(cudaEventDestroy(first), cudaErrorInvalidResourceHandle);
}

TEST_CASE_METHOD(Fresh, "there is one device") {
  int value = -1;
  CHECK(cudaGetDeviceCount(&value) == cudaSuccess);
  CHECK(value == 1);
  CHECK(cudaGetDevice(&value) == cudaSuccess);
  CHECK(value == 0);
  require_error(cudaSetDevice(1), cudaErrorInvalidDevice);
  require_error(cudaSetDevice(-1), cudaErrorInvalidDevice);
  cudaDeviceProp properties{};
  require_error(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
  require_error(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0),
                cudaErrorInvalidValue);
  require_error(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 3), cudaErrorInvalidDevice);
  require_error(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  require_error(cudaGetDevice(nullptr), cudaErrorInvalidValue);
  std::size_t limit = 0;
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize) == cudaSuccess);
  CHECK(limit == 1024);
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096) == cudaSuccess);
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize) == cudaSuccess);
  CHECK(limit == 4096);
  require_error(cudaDeviceSetLimit(cudaLimitStackSize, std::size_t{1} << 40),
                cudaErrorInvalidValue);
  require_error(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 4), cudaErrorInvalidValue);
  unsigned int flags = 0;
  CHECK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync) == cudaSuccess);
  CHECK(cudaGetDeviceFlags(&flags) == cudaSuccess);
  CHECK(flags == (cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
  require_error(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimeSyncDepth),
                cudaErrorUnsupportedLimit);
}

TEST_CASE_METHOD(Fresh, "properties and attributes agree") {
  cudaDeviceProp p{};
  REQUIRE(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  const std::pair<cudaDeviceAttr, long long> pairs[] = {
      {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
      {cudaDevAttrWarpSize, p.warpSize},
      {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
      {cudaDevAttrL2CacheSize, p.l2CacheSize},
      {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<long long>(p.sharedMemPerBlock)},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<long long>(p.sharedMemPerBlockOptin)},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
       static_cast<long long>(p.sharedMemPerMultiprocessor)},
      {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
      {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
      {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
      {cudaDevAttrComputeCapabilityMajor, p.major},
      {cudaDevAttrComputeCapabilityMinor, p.minor},
      {cudaDevAttrTotalConstantMemory, static_cast<long long>(p.totalConstMem)},
      {cudaDevAttrMaxTexture2DHeight, p.maxTexture2D[1]},
      {cudaDevAttrMaxTexture2DLinearPitch, p.maxTexture2DLinear[2]},
      {cudaDevAttrMaxTexture3DDepthAlt, p.maxTexture3DAlt[2]},
      {cudaDevAttrMaxSurfaceCubemapLayeredLayers, p.maxSurfaceCubemapLayered[1]},
      {cudaDevAttrClusterLaunch, p.clusterLaunch},
      {cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize},
      {cudaDevAttrMaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize},
  };
  for (const auto& [attribute, expected] : pairs) {
    int value = -1;
    CAPTURE(attribute);
    CHECK(cudaDeviceGetAttribute(&value, attribute, 0) == cudaSuccess);
    CHECK(value == expected);
    CHECK(value > (attribute == cudaDevAttrComputeCapabilityMinor ? -1 : 0));
  }
  CHECK_THAT(std::string(p.name), contains("(simulated)"));
  CHECK(p.totalGlobalMem == halo::gpus::find("h200")->memory_bytes);
  // As cudaGetDeviceProperties says on one.
  CHECK(p.maxTexture2D[1] == 65536);
  CHECK(p.maxSurface3D[2] == 16384);
  CHECK(p.maxTextureCubemapLayered[1] == 2046);
  CHECK(p.clusterLaunch == 1);
  CHECK(p.persistingL2CacheMaxSize == 39321600);
}

TEST_CASE_METHOD(Fresh, "kernels tell their attributes") {
  cudaFuncAttributes attributes{};
  REQUIRE(cudaFuncGetAttributes(&attributes, runtime_api::static_shared_kernel()) == cudaSuccess);
  CHECK(attributes.sharedSizeBytes == 40000);
  CHECK(attributes.maxDynamicSharedSizeBytes == 49152 - 40000);
  CHECK(attributes.maxThreadsPerBlock == 1024);
  require_error(cudaFuncGetAttributes(&attributes, static_cast<const void*>(nullptr)),
                cudaErrorInvalidDeviceFunction);
}

TEST_CASE_METHOD(Fresh, "occupancy of the H200") {
  if (std::string(halo::gpus::find("h200")->key) != "h200") {
    halo::test::skip("SIMT_GPU names another GPU");
  }
  const struct {
    int threads;
    std::size_t shared;
    int blocks;
  } cases[] = {
      {32, 0, 32},     {96, 0, 21},     {100, 0, 16},    {768, 0, 2},     {1024, 0, 2},
      {1025, 0, 0},    {64, 1000, 32},  {32, 10000, 20}, {96, 10000, 20}, {100, 10000, 16},
      {256, 32768, 6}, {512, 32768, 4}, {32, 49152, 4},  {768, 49152, 2}, {32, 49153, 0},
  };
  for (const auto& c : cases) {
    int blocks = -1;
    CAPTURE(c.threads, c.shared);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, runtime_api::write_kernel(),
                                                        c.threads, c.shared) == cudaSuccess);
    CHECK(blocks == c.blocks);
  }
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, runtime_api::write_kernel(), 0, 0) ==
        cudaErrorInvalidValue);
  cudaGetLastError();
  int grid = 0, block = 0;
  CHECK(runtime_api::largest_block(&grid, &block, 0, 0) == cudaSuccess);
  CHECK(grid == 264);
  CHECK(block == 1024);
  CHECK(runtime_api::largest_block(&grid, &block, 20000, 0) == cudaSuccess);
  CHECK(grid == 264);
  CHECK(block == 1024);
  CHECK(runtime_api::largest_block(&grid, &block, 0, 200) == cudaSuccess);
  CHECK(grid == 2112);
  CHECK(block == 128);
  // 132 KiB of an SM are the next that are half of its 228.
  std::size_t available = 0;
  const auto left = [&](int of) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(&available, runtime_api::write_kernel(), of,
                                                     256);
  };
  CHECK(left(2) == cudaSuccess);
  CHECK(available == 49152);
  REQUIRE(runtime_api::allow_dynamic_shared_of_write(100'000) == cudaSuccess);
  CHECK(left(2) == cudaSuccess);
  CHECK(available == 100'000);
  REQUIRE(cudaFuncSetAttribute(runtime_api::write_kernel(),
                               cudaFuncAttributePreferredSharedMemoryCarveout, 50) == cudaSuccess);
  cudaFuncAttributes attributes{};
  CHECK(cudaFuncGetAttributes(&attributes, runtime_api::write_kernel()) == cudaSuccess);
  CHECK(attributes.preferredShmemCarveout == 50);
  CHECK(left(2) == cudaSuccess);
  CHECK(available == 67584);
  for (const auto& [shared, expected] : {std::pair{10'000, 12}, {49'152, 2}}) {
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, runtime_api::write_kernel(), 32,
                                                        static_cast<std::size_t>(shared)) ==
          cudaSuccess);
    CHECK(blocks == expected);
  }
  // A preference below what one block needs is that block's.
  REQUIRE(cudaFuncSetAttribute(runtime_api::write_kernel(),
                               cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxL1) == cudaSuccess);
  for (const auto& [shared, expected] : {std::pair{0, 8}, {10'000, 1}, {49'152, 1}}) {
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, runtime_api::write_kernel(), 32,
                                                        static_cast<std::size_t>(shared)) ==
          cudaSuccess);
    CHECK(blocks == expected);
  }
  CHECK(left(1) == cudaSuccess);
  CHECK(available == 100'000);
  CHECK(left(2) == cudaSuccess);
  CHECK(available == 4096);
  REQUIRE(cudaDeviceReset() == cudaSuccess);
}

TEST_CASE("a cluster lies within a group of SMs") {
  // So an H200 answered for another kernel, of which an SM held a block, too.
  constexpr int kShared = 160'000;
  REQUIRE(runtime_api::allow_dynamic_shared_of_write(kShared) == cudaSuccess);
  REQUIRE(cudaFuncSetAttribute(runtime_api::write_kernel(),
                               cudaFuncAttributeNonPortableClusterSizeAllowed, 1) == cudaSuccess);
  struct {
    unsigned blocks;
    int clusters;
  } cases[] = {{1, 132}, {2, 66}, {4, 30}, {8, 15}, {16, 7}};
  for (const auto& c : cases) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {c.blocks, 1, 1};
    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = dim3(16 * c.blocks);
    configuration.blockDim = dim3(256);
    configuration.dynamicSmemBytes = kShared;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    int clusters = 0;
    CAPTURE(c.blocks);
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, runtime_api::write_kernel(), &configuration) ==
          cudaSuccess);
    CHECK(clusters == c.clusters);
  }
  CHECK(cudaFuncSetAttribute(runtime_api::write_kernel(),
                             cudaFuncAttributeNonPortableClusterSizeAllowed, 0) == cudaSuccess);
}

TEST_CASE("errors have names and texts") {
  CHECK(std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue");
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid argument");
  CHECK(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) ==
        "an illegal memory access was encountered");
  CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(9999))) ==
        "unrecognized error code");
  CHECK(static_cast<int>(cudaErrorInvalidConfiguration) == 9);
  CHECK(static_cast<int>(cudaErrorAssert) == 710);
}

// ---- what ends the program ----

TEST_CASE("child: a wrong direction twice", "[.child]") {
  char host[4] = {}, other[4] = {};
  cudaMemcpy(host, other, 4, cudaMemcpyHostToDevice);
  cudaMemcpy(host, other, 4, cudaMemcpyHostToDevice);
  CHECK(true);
}

TEST_CASE("child: the multiprocessors of the GPU", "[.child]") {
  int count = 0;
  CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  std::printf("multiprocessors: %d\n", count);
}

TEST_CASE("a copy that cannot be is told once, and fails the run") {
  const Output output = run_case("child: a wrong direction twice");
  REQUIRE(WIFEXITED(output.status));
  CHECK(WEXITSTATUS(output.status) == 3);
  const std::string line =
      "error: invalid_copy in cudaMemcpy: cudaMemcpyHostToDevice, but the destination";
  const std::size_t at = output.text.find(line);
  REQUIRE(at != std::string::npos);
  CHECK(output.text.find(line, at + 1) == std::string::npos);  // once for each line
}

TEST_CASE("SIMT_GPU chooses the GPU") {
  const std::string name = "child: the multiprocessors of the GPU";
  CHECK_THAT(run_case(name, "SIMT_GPU=gtx1080ti").text, contains("multiprocessors: 28"));
  CHECK_THAT(run_case(name, "-u SIMT_GPU").text, contains("multiprocessors: 132"));
  const Output wrong = run_case(name, "SIMT_GPU=gtx9999");
  REQUIRE(WIFEXITED(wrong.status));
  CHECK(WEXITSTATUS(wrong.status) == 2);
  CHECK_THAT(wrong.text, contains("simt: SIMT_GPU=gtx9999 is not a GPU"));
  CHECK_THAT(wrong.text, contains("h200, h100, a100, v100, t4, rtx3060"));
}
