// A GPU as a backend: launches are timed; traffic and hazards are the simulator's to see.
//
// Everything that is timed runs on the per-thread default stream: kernels are launched without naming a stream, and
// that one, unlike the legacy default stream, can be captured into a graph (the GPU code is compiled
// with --default-stream per-thread).
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/harness/backend/copy.hpp"
#include "common/harness/backend/cuda.hpp"
#include "common/harness/backend/roofs.hpp"

namespace halo {

namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// The display driver's own version, such as 580.159.04, as the kernel module gives it; where it can't
// be read, the newest CUDA that the driver supports.
std::string driver_version() {
  std::ifstream module("/sys/module/nvidia/version");
  std::string text;
  if (module >> text) return text;
  int supported = 0;
  if (cudaDriverGetVersion(&supported) != cudaSuccess) return {};
  return "for CUDA " + version(supported);
}

const cudaStream_t kStream = cudaStreamPerThread;

// A pair of events round some work on the stream.
class Stopwatch {
 public:
  Stopwatch() {
    require(cudaEventCreate(&start_), "cudaEventCreate failed");
    require(cudaEventCreate(&stop_), "cudaEventCreate failed");
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Milliseconds from the first of the work to the last.
  double time(const std::function<void()>& enqueue) {
    require(cudaEventRecord(start_, kStream), "cudaEventRecord failed");
    enqueue();
    require(cudaEventRecord(stop_, kStream), "cudaEventRecord failed");
    require(cudaEventSynchronize(stop_), "a timed kernel failed");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime failed");
    return milliseconds;
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

// Launches that the host starts one by one. Between two short kernels the GPU then waits for it.
class StreamBatch final : public Batch {
 public:
  StreamBatch(std::function<int(int)> launch, int calls)
      : launch_(std::move(launch)), calls_(calls) {}
  double run() override {
    return watch_.time([&] {
      for (int call = 0; call < calls_; ++call) {
        require(static_cast<cudaError_t>(launch_(call)), "a timed launch failed");
      }
    });
  }
  std::string method() const override {
    return "stream, " + std::to_string(calls_) + (calls_ == 1 ? " call" : " calls");
  }

 private:
  std::function<int(int)> launch_;
  int calls_;
  Stopwatch watch_;
};

// Of the kernels that a graph of so many calls holds: each call's are the same.
KernelFigures figures_of(cudaGraph_t graph, int calls) {
  std::size_t count = 0;
  if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess) return {};
  std::vector<cudaGraphNode_t> nodes(count);
  if (cudaGraphGetNodes(graph, nodes.data(), &count) != cudaSuccess) return {};
  Cost all;
  KernelFigures figures;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type;
    cudaKernelNodeParams kernel;
    cudaFuncAttributes attributes;
    if (cudaGraphNodeGetType(node, &type) != cudaSuccess) return {};
    if (type != cudaGraphNodeTypeKernel) continue;
    // A library's kernel may be one that only the driver knows.
    if (cudaGraphKernelNodeGetParams(node, &kernel) != cudaSuccess ||
        cudaFuncGetAttributes(&attributes, kernel.func) != cudaSuccess) {
      cudaGetLastError();
      return {};
    }
    const auto product = [](dim3 size) { return std::uint64_t{1} * size.x * size.y * size.z; };
    all.add({.launches = 1,
             .blocks = product(kernel.gridDim),
             .threads = product(kernel.blockDim),
             .shared_bytes = attributes.sharedSizeBytes + kernel.sharedMemBytes});
    figures.registers = std::max(figures.registers, attributes.numRegs);
    figures.local_bytes =
        std::max(figures.local_bytes, static_cast<int>(attributes.localSizeBytes));
  }
  figures.launches = all.launches;
  for (LaunchFigures& alike : figures.launches) alike.launches /= static_cast<unsigned>(calls);
  return figures;
}

// The same launches as one graph: the GPU starts each as soon as the one before has ended.
class GraphBatch final : public Batch {
 public:
  GraphBatch(cudaGraphExec_t graph, KernelFigures figures, int calls)
      : graph_(graph), figures_(std::move(figures)), calls_(calls) {}
  ~GraphBatch() override { cudaGraphExecDestroy(graph_); }
  KernelFigures figures() const override { return figures_; }
  double run() override {
    return watch_.time([&] { require(cudaGraphLaunch(graph_, kStream), "a timed graph failed"); });
  }
  std::string method() const override {
    return "graph of " + std::to_string(calls_) + (calls_ == 1 ? " call" : " calls");
  }

 private:
  cudaGraphExec_t graph_;
  KernelFigures figures_;
  int calls_;
  Stopwatch watch_;
};

// Null if the launches can't be captured: a library that waits inside, for one. A launch that fails
// is no reason: it fails again, and is told, when it is timed.
cudaGraphExec_t capture(const std::function<int(int)>& launch, int calls, KernelFigures& figures) {
  if (cudaStreamBeginCapture(kStream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  bool captured = true;
  try {
    for (int call = 0; call < calls && captured; ++call) captured = launch(call) == cudaSuccess;
  } catch (const std::exception&) {
    captured = false;
  }
  cudaGraph_t graph = nullptr;
  captured &= cudaStreamEndCapture(kStream, &graph) == cudaSuccess && graph != nullptr;
  cudaGraphExec_t ready = nullptr;
  if (captured) captured = cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess;
  if (captured) captured = cudaGraphUpload(ready, kStream) == cudaSuccess;
  if (captured) figures = figures_of(graph, calls);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();
  return captured ? ready : nullptr;
}

// Memory of the device or, page-locked, of the host, while it lives.
class Memory {
 public:
  Memory(std::size_t bytes, bool pinned) : pinned_(pinned) {
    require(pinned ? cudaMallocHost(&data_, bytes) : cudaMalloc(&data_, bytes),
            "no memory to measure the roofs with");
  }
  ~Memory() { pinned_ ? cudaFreeHost(data_) : cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  float* data() const { return static_cast<float*>(data_); }

 private:
  void* data_ = nullptr;
  bool pinned_;
};

double median_of(int rounds, const std::function<double()>& round) {
  round();  // the first call loads code
  std::vector<double> values;
  for (int i = 0; i < rounds; ++i) values.push_back(round());
  std::nth_element(values.begin(), values.begin() + rounds / 2, values.end());
  return values[rounds / 2];
}

double measure_copy() {
  constexpr std::int64_t kCount = std::int64_t{1} << 28;
  constexpr int kCalls = 5;
  const Memory from(kCount * sizeof(float), false);
  const Memory to(kCount * sizeof(float), false);
  Stopwatch watch;
  const double ms = median_of(9, [&] {
    return watch.time([&] {
      for (int i = 0; i < kCalls; ++i) {
        require(static_cast<cudaError_t>(launch_copy(from.data(), to.data(), kCount)),
                "the copy that measures the roof failed");
      }
    });
  });
  return 2.0 * kCount * sizeof(float) * kCalls / ms * 1e-6;
}

double measure_multiply_adds(int multiprocessors) {
  constexpr int kTurns = 8192;  // some 8 ms
  const Memory sink(sizeof(float), false);
  Stopwatch watch;
  const double ms = median_of(9, [&] {
    return watch.time([&] {
      require(static_cast<cudaError_t>(launch_multiply_adds(sink.data(), multiprocessors, kTurns)),
              "the loop that measures the roof failed");
    });
  });
  return multiply_add_flops(multiprocessors, kTurns) / ms * 1e-6;
}

// GB/s of one copy between host and device.
double measure_transfer(void* to, const void* from, std::size_t bytes) {
  const double ms = median_of(5, [&] {
    const auto start = std::chrono::steady_clock::now();
    require(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "a copy to or from the device failed");
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count();
  });
  return static_cast<double>(bytes) / ms * 1e-6;
}

class GpuBackend final : public CudaBackend {
 public:
  std::string name() const override { return "gpu"; }
  bool observes() const override { return false; }
  std::string blind_reason() const override { return "counted and searched in the simulator only"; }
  bool times() const override { return true; }
  bool has_transfers() const override { return true; }

  void describe(Machine& machine) override {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
      machine.gpu = properties.name;
      machine.multiprocessors = properties.multiProcessorCount;
      machine.l2_bytes = properties.l2CacheSize;
    }
    machine.driver = driver_version();
    int runtime = 0;
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) machine.cuda = version(runtime);
  }

  std::int64_t free_memory() override {
    std::size_t free = 0;
    std::size_t total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
    return static_cast<std::int64_t>(free + idle_bytes_);
  }

  // Released blocks wait to be used again: a run of hundreds of layers would else spend its time in
  // cudaMalloc and cudaFree.
  void* allocate(std::size_t bytes) override {
    if (const auto idle = idle_.lower_bound(bytes);
        idle != idle_.end() && idle->first - bytes <= kMostWaste) {
      void* const memory = idle->second;
      sizes_[memory] = idle->first;
      idle_bytes_ -= idle->first;
      idle_.erase(idle);
      return memory;
    }
    void* memory = nullptr;
    try {
      memory = CudaBackend::allocate(bytes);
    } catch (const std::runtime_error&) {
      if (idle_.empty()) throw;
      free_idle_beyond(0);
      memory = CudaBackend::allocate(bytes);
    }
    sizes_[memory] = bytes;
    return memory;
  }
  void release(void* memory) noexcept override {
    const auto known = sizes_.find(memory);
    if (known == sizes_.end()) return;  // it went with the device, in recover()
    idle_.emplace(known->second, memory);
    idle_bytes_ += known->second;
    sizes_.erase(known);
    free_idle_beyond(kMostIdle);
  }

  std::unique_ptr<Batch> batch(std::function<int(int)> launch, int calls) override {
    KernelFigures figures;
    if (cudaGraphExec_t graph = capture(launch, calls, figures)) {
      return std::make_unique<GraphBatch>(graph, std::move(figures), calls);
    }
    return std::make_unique<StreamBatch>(std::move(launch), calls);
  }

  std::int64_t cache_bytes() override {
    int bytes = 0;
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, 0) != cudaSuccess) return 0;
    return bytes;
  }

  Roofs measure_roofs() override {
    cudaDeviceProp properties{};
    require(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties failed");
    Roofs roofs;
    roofs.fp32_gflop_per_s = measure_multiply_adds(properties.multiProcessorCount);
    roofs.clock_mhz = clock_mhz();
    roofs.copy_gb_per_s = measure_copy();
    // A millisecond at the fastest: what starts a copy is nothing beside it. Four times as much takes each program half a
    // second more, most of it to lock and to touch the pages.
    constexpr std::size_t kBytes = std::size_t{1} << 26;
    const Memory device(kBytes, false);
    const Memory pinned(kBytes, true);
    std::vector<char> pageable(kBytes, 1);
    roofs.to_gpu_gb_per_s = measure_transfer(device.data(), pageable.data(), kBytes);
    roofs.from_gpu_gb_per_s = measure_transfer(pageable.data(), device.data(), kBytes);
    roofs.to_gpu_pinned_gb_per_s = measure_transfer(device.data(), pinned.data(), kBytes);
    roofs.from_gpu_pinned_gb_per_s = measure_transfer(pinned.data(), device.data(), kBytes);
    return roofs;
  }

  double clock_mhz() override {
    constexpr std::uint64_t kNanoseconds = 50'000;
    if (!seen_) seen_ = std::make_unique<Memory>(2 * sizeof(std::uint64_t), false);
    auto* const device = reinterpret_cast<std::uint64_t*>(seen_->data());
    std::uint64_t seen[2] = {};
    if (launch_clock_probe(device, kNanoseconds) != cudaSuccess ||
        cudaMemcpy(seen, device, sizeof seen, cudaMemcpyDeviceToHost) != cudaSuccess ||
        seen[1] == 0) {
      throw std::runtime_error("the GPU's clock can't be read: the device has failed");
    }
    return 1e3 * static_cast<double>(seen[0]) / static_cast<double>(seen[1]);
  }

  // Page-locked memory: several times as fast as memory of new.
  std::span<float> staging() override {
    constexpr std::size_t kCells = std::size_t{1} << 24;
    if (!staging_) staging_ = std::make_unique<Memory>(kCells * sizeof(float), true);
    return {staging_->data(), kCells};
  }

  // A first part from the host, then ever longer copies of it.
  void poison(float* memory, std::size_t count, float with) override {
    const std::vector<float> cells(std::min<std::size_t>(count, std::size_t{1} << 14), with);
    copy_in(memory, cells.data(), cells.size() * sizeof(float));
    for (std::size_t done = cells.size(); done < count; done += std::min(done, count - done)) {
      require(cudaMemcpyAsync(memory + done, memory, std::min(done, count - done) * sizeof(float),
                              cudaMemcpyDeviceToDevice, kStream),
              "a copy on the device failed");
    }
    require(cudaStreamSynchronize(kStream), "a copy on the device failed");
  }
  double launch_us() override {
    constexpr int kCalls = 200;
    const std::unique_ptr<Batch> calls = batch([](int) { return launch_nothing(); }, kCalls);
    double least = calls->run();  // loads code
    for (int i = 0; i < 5; ++i) least = std::min(least, calls->run());
    return least / kCalls * 1e3;
  }

  bool recover() override {
    seen_.reset();
    staging_.reset();
    idle_.clear();
    idle_bytes_ = 0;
    sizes_.clear();
    return CudaBackend::recover();
  }
  // Farther than the rounding of a grid and the widest mask together can reach.
  std::size_t guard_cells() const override { return 4096; }

 private:
  // Of a block that is used for less than it holds.
  static constexpr std::size_t kMostWaste = std::size_t{32} << 20;
  // Libraries allocate for themselves: most of the memory is to be free for them.
  static constexpr std::size_t kMostIdle = std::size_t{4} << 30;

  void free_idle_beyond(std::size_t bytes) noexcept {
    while (idle_bytes_ > bytes) {
      const auto largest = std::prev(idle_.end());
      idle_bytes_ -= largest->first;
      CudaBackend::release(largest->second);
      idle_.erase(largest);
    }
  }

  std::unique_ptr<Memory> seen_;  // of the clock's probe
  std::unique_ptr<Memory> staging_;
  std::map<void*, std::size_t> sizes_;  // of the blocks in use
  std::multimap<std::size_t, void*> idle_;
  std::size_t idle_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_backend() {
  if (const simt::Simulator* const simulator = simt::simulator()) {
    return make_simulated_backend(*simulator);
  }
  return std::make_unique<GpuBackend>();
}

}  // namespace halo
