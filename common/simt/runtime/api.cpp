// The CUDA runtime's host functions and the checks of a launch.
//
// All work is done before a call returns, on one device. What each call answers to wrong use was read
// off an H200 with CUDA 13.0; where that differs from what CUDA 12 and its manual say, the comment at
// the place says which of the two is followed.
#include <cuda_runtime.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/runtime/cluster.hpp"
#include "common/simt/runtime/current_gpu.hpp"
#include "common/simt/runtime/device_memory.hpp"
#include "common/simt/runtime/launches.hpp"
#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/program_image.hpp"
#include "common/simt/runtime/regions.hpp"
#include "common/simt/runtime/runtime.hpp"
#include "common/simt/runtime/settings.hpp"
#include "common/simt/runtime/stream_api.hpp"
#include "common/simt/runtime/streams.hpp"
#include "common/simt/simt.hpp"

struct CUstream_st {
  unsigned int flags;
  int priority;
  int number;  // streams.hpp
};

struct CUevent_st {
  bool has_time;
  bool recorded;
  std::chrono::steady_clock::time_point time;
  simt::streams::Clock clock;  // what was on its stream when it was recorded
};

namespace simt {
namespace {

// The thread-local variables of the runtime itself are in its namespace and have no destructors: the
// others in a program are its __shared__ arrays.

thread_local constinit cudaError_t last_error = cudaSuccess;

// last_error_detail(): of the call in progress, and of the last that failed. Cut off where they are
// too long.
struct Details {
  char now[512] = "";
  char kept[512] = "";
};
thread_local constinit Details details;

// Launches that wait for their kernel to be called. A stack: the arguments of a launch may launch
// kernels themselves.
struct PendingLaunches {
  static constexpr int kMost = 16;
  LaunchShape shapes[kMost];
  int count = 0;

  void push(const LaunchShape& shape) {
    if (count == kMost) std::move(shapes + 1, shapes + kMost, shapes);  // left by exceptions
    count = std::min(count + 1, kMost);
    shapes[count - 1] = shape;
  }
};
thread_local constinit PendingLaunches pending_launches;

thread_local constinit bool by_symbol = false;  // see BySymbol
thread_local constinit cudaError_t error_of_launch = cudaSuccess;

}  // namespace
}  // namespace simt

namespace {

using simt::current_gpu;
using simt::details;
using simt::last_error;
using simt::pending_launches;
using simt::ProgramImage;
namespace device_memory = simt::device_memory;
namespace streams = simt::streams;
using simt::MemoryKind;

// ---- state ----

struct State {
  std::mutex mutex;
  std::set<void*> blocks;                         // live cudaMalloc blocks
  std::set<void*> reset_blocks;                   // those that cudaDeviceReset freed
  std::set<void*> pinned;                         // cudaMallocHost
  std::map<const void*, std::size_t> registered;  // cudaHostRegister
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
  std::map<std::uintptr_t, int> dynamic_shared_limit;  // by kernel, where the program set it
  std::set<std::uintptr_t> large_clusters;             // kernels that may have more blocks in one
  std::map<int, std::size_t> limits;
  std::set<std::string> explained;
  unsigned int device_flags = 0;
};

// Never destroyed: destructors of static objects may still call the runtime.
State& state() {
  static State& the_state = *new State;
  return the_state;
}

// An error that has spoilt the device: every call that needs the device returns it until
// cudaDeviceReset.
std::atomic<int> sticky_error{0};

cudaError_t record(cudaError_t error) {
  if (error == cudaSuccess) return error;
  last_error = error;
  if (error != sticky_error.load()) std::memcpy(details.kept, details.now, sizeof details.now);
  return error;
}

[[noreturn]] void refuse_inside_kernel(const char* what) {
  const std::string text = std::string("does what only host code can do here (") + what + ")";
  simt::stop_kernel(text.c_str(), __builtin_return_address(0));
}

// Beside the error code that real CUDA gives: the text is the call's last_error_detail(), and a line on
// stderr, once for each kind of mistake. There it follows the name of the kernel that was not launched,
// if `kernel` names one.
__attribute__((format(printf, 3, 0))) void explain_list(const char* key, const char* kernel,
                                                        const char* format,
                                                        std::va_list arguments) {
  std::vsnprintf(details.now, sizeof details.now, format, arguments);
  {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (!s.explained.insert(key).second) return;
  }
  if (kernel == nullptr) {
    std::fprintf(stderr, "simt: %s\n", details.now);
  } else {
    std::fprintf(stderr, "simt: %s was not launched: %s\n", kernel, details.now);
  }
}

__attribute__((format(printf, 2, 3))) void explain(const char* key, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  explain_list(key, nullptr, format, arguments);
  va_end(arguments);
}

// What a call that allocates answers when it fails, and what any other does.
cudaError_t asked_failure(const char* name) {
  return simt::allocates(name) ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}

// A call that works whatever happened on the device.
template <typename Body>
cudaError_t query(const char* name, Body body) {
  if (simt::inside_kernel()) refuse_inside_kernel(name);
  details.now[0] = '\0';
  return record(simt::is_to_fail(name) ? asked_failure(name) : body());
}

// A call that needs a device in order.
template <typename Body>
cudaError_t call(const char* name, Body body) {
  return query(name, [&] {
    const int spoilt = sticky_error.load();
    return spoilt != 0 ? static_cast<cudaError_t>(spoilt) : body();
  });
}

// ---- memory ----

// The __device__ or __constant__ variable that holds the address, or nullptr.
const simt::DeviceVariable* find_variable(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const ProgramImage& image = ProgramImage::get();
  for (const auto* variables : {&image.constants(), &image.device_variables()}) {
    for (const simt::DeviceVariable& variable : *variables) {
      if (address - variable.begin < variable.size) return &variable;
    }
  }
  return nullptr;
}

bool is_kind(const void* pointer, MemoryKind kind) {
  if (!device_memory::contains(pointer)) return false;
  const auto block = device_memory::live_at(pointer);
  return block && block->kind == kind;
}

bool is_managed(const void* pointer) { return is_kind(pointer, MemoryKind::managed); }
bool is_pinned(const void* pointer) { return is_kind(pointer, MemoryKind::pinned); }

// While a call names a variable by its symbol and not by an address.
struct BySymbol {
  BySymbol() { simt::by_symbol = true; }
  ~BySymbol() { simt::by_symbol = false; }
};

// The name of a __device__ or __constant__ variable is in host code a shadow on the host. Its place on
// the device is the same one here, but only who has asked for that address may use it.
bool is_shadow(const void* pointer) {
  const simt::DeviceVariable* const variable = find_variable(pointer);
  return variable != nullptr && !simt::by_symbol && !variable->managed &&
         !simt::was_asked_for(variable->begin);
}

bool is_device_pointer(const void* pointer) {
  if (device_memory::contains(pointer)) return !is_pinned(pointer);
  return find_variable(pointer) != nullptr && !is_shadow(pointer);
}

// Says what is wrong with such a name; false if the pointer is none.
bool explain_shadow(const char* name, const void* pointer) {
  if (!is_shadow(pointer)) return false;
  explain(
      "shadow",
      "%s: `%s` is a variable of the device, and its name in host code is no address there: use "
      "cudaMemcpyToSymbol or cudaMemcpyFromSymbol, or ask cudaGetSymbolAddress",
      name, find_variable(pointer)->name.c_str());
  return true;
}

// True if all of the range is live device memory; else says what is wrong with it. `role` is "the
// destination" or the like.
bool check_device_range(const char* name, const char* role, const void* pointer,
                        std::size_t bytes) {
  if (explain_shadow(name, pointer)) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (const simt::DeviceVariable* variable = find_variable(pointer)) {
    if (bytes <= variable->size - (address - variable->begin)) return true;
    explain("variable range", "%s: %s is %zu bytes from byte %zu of `%s`, which has %zu bytes",
            name, role, bytes, static_cast<std::size_t>(address - variable->begin),
            variable->name.c_str(), variable->size);
    return false;
  }
  if (!device_memory::contains(pointer)) {
    explain("host pointer", "%s: %s must be device memory, but %p is a host pointer", name, role,
            pointer);
    return false;
  }
  if (is_kind(pointer, MemoryKind::heap)) {
    explain("heap", "%s: %s, %p, is memory of malloc in a kernel, which the host cannot reach",
            name, role, pointer);
    return false;
  }
  if (device_memory::is_live_range(pointer, bytes)) return true;
  const auto block = device_memory::nearest(pointer);
  if (!block || address - block->begin >= block->size) {
    explain("no allocation", "%s: %s, %p, lies in no allocation", name, role, pointer);
  } else if (block->freed) {
    explain("freed allocation", "%s: %s lies in an allocation of %zu bytes that was freed", name,
            role, block->size);
  } else {
    explain("allocation range", "%s: %s is %zu bytes from byte %zu of an allocation of %zu bytes",
            name, role, bytes, static_cast<std::size_t>(address - block->begin), block->size);
  }
  return false;
}

cudaError_t allocate_block(void** pointer, std::size_t bytes, MemoryKind kind, void* caller) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  // One less lies in the call.
  void* block = device_memory::allocate(bytes, current_gpu().memory_bytes,
                                        reinterpret_cast<std::uintptr_t>(caller) - 1, kind);
  if (block == nullptr) return cudaErrorMemoryAllocation;
  if (kind != MemoryKind::device) {
    device_memory::mark_initialised(block, bytes);
    streams::share_memory();
    simt::set_image_base(ProgramImage::get().load_address());  // host code is watched from now on
  }
  State& s = state();
  const std::lock_guard lock(s.mutex);
  (kind == MemoryKind::pinned ? s.pinned : s.blocks).insert(block);
  *pointer = block;
  return cudaSuccess;
}

void give_back(void* pointer) {
  if (const auto block = device_memory::live_at(pointer))
    streams::forget(block->begin, block->size);
  device_memory::release(pointer);
}

cudaError_t free_block(const char* name, void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  State& s = state();
  bool pinned = false;
  {
    const std::lock_guard lock(s.mutex);
    if (s.blocks.erase(pointer) != 0) {
      give_back(pointer);
      return cudaSuccess;
    }
    // Owners of blocks outlive a reset; that is no news.
    if (s.reset_blocks.erase(pointer) != 0) return cudaErrorInvalidValue;
    pinned = s.pinned.count(pointer) != 0;
  }
  if (pinned) {
    explain("free of pinned", "%s: %p is pinned host memory: release it with cudaFreeHost", name,
            pointer);
  } else if (!device_memory::contains(pointer)) {
    explain("free of host", "%s: %p is not a pointer that cudaMalloc gave", name, pointer);
  } else {
    const auto block = device_memory::nearest(pointer);
    const bool start = block && block->begin == reinterpret_cast<std::uintptr_t>(pointer);
    explain(start ? "double free" : "free inside",
            start ? "%s: %p was freed before" : "%s: %p is not the start of an allocation", name,
            pointer);
  }
  return cudaErrorInvalidValue;
}

// ---- copies ----

struct Sides {
  bool to_device = false;
  bool from_device = false;
};

// Which sides are device memory, checked against the kind. CUDA takes HostToHost for Default.
cudaError_t copy_sides(const char* name, const void* to, const void* from, cudaMemcpyKind kind,
                       Sides& sides) {
  for (const void* pointer : {to, from}) {
    if (explain_shadow(name, pointer)) return cudaErrorInvalidValue;
  }
  sides.to_device = is_device_pointer(to);
  sides.from_device = is_device_pointer(from);
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDefault) return cudaSuccess;
  const bool want_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool want_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const auto fits = [](const void* pointer, bool is, bool want) {
    return is == want || (is && is_managed(pointer));
  };
  static const char* const kKinds[] = {"HostToHost", "HostToDevice", "DeviceToHost",
                                       "DeviceToDevice"};
  const bool to_fits = fits(to, sides.to_device, want_to);
  if (to_fits && fits(from, sides.from_device, want_from)) return cudaSuccess;
  explain("copy kind", "%s: cudaMemcpy%s, but the %s, %p, is a %s pointer", name, kKinds[kind],
          to_fits ? "source" : "destination", to_fits ? from : to,
          (to_fits ? sides.from_device : sides.to_device) ? "device" : "host");
  return cudaErrorInvalidValue;
}

// Where a call puts its work, and whether it returns only when that is done.
struct Place {
  const char* name;  // of the call
  int stream;
  bool waits;
  void* caller;  // its return address
  std::uintptr_t program_counter() const { return reinterpret_cast<std::uintptr_t>(caller) - 1; }
};

// A copy or memset, as the streams see it (streams.hpp). What it does too early is a finding when it
// ends.
class HostOperation {
 public:
  explicit HostOperation(const Place& place)
      : place_(place),
        operation_(place.stream, place.name, place.program_counter()),
        toucher_(operation_, [this](streams::Number other, streams::Touch its) {
          ++early_[{touch_, other, its}].second;
          early_[{touch_, other, its}].first = address_;
        }) {}
  ~HostOperation() {
    if (early_.empty() || !(simt::settings().checks & simt::kCheckRaces)) return;
    simt::Launch launch;
    launch.kernel = place_.name;
    for (const auto& [what, seen] : early_) {
      const auto& [touch, other, its] = what;
      const auto block = device_memory::live_at(reinterpret_cast<const void*>(seen.first));
      const simt::DeviceVariable* const variable =
          find_variable(reinterpret_cast<const void*>(seen.first));
      launch.findings.push_back(
          streams::too_early(std::string(place_.name) + " " + streams::verb(touch),
                             block      ? block->name()
                             : variable ? variable->name
                                        : "memory",
                             place_.program_counter(), other, its, seen.second));
    }
    simt::record_launch(std::move(launch));
  }
  void touch(const void* pointer, std::size_t bytes, streams::Touch touch) {
    if (!operation_.remembers()) return;
    // Of the host's memory only what is shared has an order to keep.
    if (!device_memory::contains(pointer) && find_variable(pointer) == nullptr) return;
    address_ = reinterpret_cast<std::uintptr_t>(pointer);
    touch_ = touch;
    toucher_.touch(address_, bytes, touch);
  }

 private:
  Place place_;
  streams::Operation operation_;
  streams::Toucher toucher_;
  streams::Touch touch_{};
  std::uintptr_t address_ = 0;
  std::map<std::tuple<streams::Touch, streams::Number, streams::Touch>,
           std::pair<std::uintptr_t, std::uint64_t>>
      early_;
};

cudaError_t copy_rows(const Place& place, void* to, std::size_t to_pitch, const void* from,
                      std::size_t from_pitch, std::size_t width, std::size_t height,
                      cudaMemcpyKind kind) {
  const char* const name = place.name;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  Sides sides;
  if (const cudaError_t error = copy_sides(name, to, from, kind, sides); error != cudaSuccess) {
    return error;
  }
  const auto span = [&](std::size_t pitch) {
    std::size_t bytes = 0;
    const bool overflow = __builtin_mul_overflow(height - 1, pitch, &bytes) ||
                          __builtin_add_overflow(bytes, width, &bytes);
    return overflow ? ~std::size_t{0} : bytes;
  };
  if (sides.to_device && !check_device_range(name, "the destination", to, span(to_pitch))) {
    return cudaErrorInvalidValue;
  }
  if (sides.from_device && !check_device_range(name, "the source", from, span(from_pitch))) {
    return cudaErrorInvalidValue;
  }
  for (const auto& [pointer, pitch] :
       {std::pair<const void*, std::size_t>(to, to_pitch), {from, from_pitch}}) {
    if (is_pinned(pointer) &&
        !check_device_range(name, "the pinned memory", pointer, span(pitch))) {
      return cudaErrorInvalidValue;
    }
  }
  HostOperation operation(place);
  for (std::size_t row = 0; row < height; ++row) {
    char* target = static_cast<char*>(to) + row * to_pitch;
    const char* source = static_cast<const char*>(from) + row * from_pitch;
    operation.touch(source, width, streams::Touch::reads);
    operation.touch(target, width, streams::Touch::writes);
    std::memmove(target, source, width);
    if (!sides.to_device) continue;
    if (sides.from_device) {
      device_memory::copy_initialised(target, source, width);
    } else {
      device_memory::mark_initialised(target, width);
    }
  }
  // Nobody waits for a copy on the device; and a copy to memory of the host that is not pinned has
  // arrived when its call returns, whichever it was.
  const bool on_device = sides.to_device && sides.from_device;
  const bool arrives = sides.from_device && !sides.to_device && !is_pinned(to);
  if ((place.waits && !on_device) || arrives) streams::host_waited_for(place.stream);
  return cudaSuccess;
}

cudaError_t copy_bytes(const Place& place, void* to, const void* from, std::size_t bytes,
                       cudaMemcpyKind kind) {
  return copy_rows(place, to, bytes, from, bytes, bytes, 1, kind);
}

cudaError_t set_rows(const Place& place, void* pointer, std::size_t pitch, int value,
                     std::size_t width, std::size_t height) {
  const char* const name = place.name;
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > pitch) return cudaErrorInvalidValue;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(height - 1, pitch, &bytes) ||
      __builtin_add_overflow(bytes, width, &bytes) ||
      !check_device_range(name, "the memory to set", pointer, bytes)) {
    return cudaErrorInvalidValue;
  }
  HostOperation operation(place);
  for (std::size_t row = 0; row < height; ++row) {
    char* target = static_cast<char*>(pointer) + row * pitch;
    operation.touch(target, width, streams::Touch::writes);
    std::memset(target, value, width);
    device_memory::mark_initialised(target, width);
  }
  // Only a memset of shared memory is waited for.
  if (place.waits && device_memory::contains(pointer) && !is_kind(pointer, MemoryKind::device)) {
    streams::host_waited_for(place.stream);
  }
  return cudaSuccess;
}

// ---- streams and events ----

// By which streams.hpp knows it.
int number_of(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy) return streams::kLegacyDefault;
  return stream == cudaStreamPerThread ? streams::of_this_thread() : stream->number;
}

bool is_stream(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return true;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.streams.count(stream) != 0;
}

bool is_event(cudaEvent_t event) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.events.count(event) != 0;
}

template <typename Body>
cudaError_t on_stream(const char* name, cudaStream_t stream, Body body) {
  return call(name, [&] { return is_stream(stream) ? body() : cudaErrorInvalidResourceHandle; });
}

// ---- kernels ----

// Where the function that contains the address begins, or 0: identifies a kernel. (A name would not:
// two files may each have a static kernel of one name.)
std::uintptr_t function_start(const void* address) {
  // The unwinder takes a return address, which may lie just past the function.
  char* inside = const_cast<char*>(static_cast<const char*>(address)) + 1;
  return reinterpret_cast<std::uintptr_t>(_Unwind_FindEnclosingFunction(inside));
}

// The kernel that a function pointer names, or 0.
std::uintptr_t kernel_at(const void* function) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  return address != 0 && function_start(function) == address ? address : 0;
}

// For messages.
std::string kernel_name(const void* address) {
  const std::string symbol =
      ProgramImage::get().function_symbol(reinterpret_cast<std::uintptr_t>(address));
  return symbol.empty() ? "a kernel" : simt::demangle(symbol.c_str());
}

int dynamic_shared_limit(std::uintptr_t kernel, std::size_t static_bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto it = s.dynamic_shared_limit.find(kernel);
  if (it != s.dynamic_shared_limit.end()) return it->second;
  return std::max(0, current_gpu().shared_per_block - static_cast<int>(static_bytes));
}

__attribute__((format(printf, 3, 4))) void refuse_launch(void* program_counter, const char* key,
                                                         const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  explain_list(key, kernel_name(program_counter).c_str(), format, arguments);
  va_end(arguments);
}

// What the runtime checks before a kernel runs. CUDA 13.0 answers 1 (invalid argument) to wrong
// extents too; the manual and CUDA 12 say 9 (invalid configuration), which says more.
bool may_have_large_clusters(std::uintptr_t kernel) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.large_clusters.count(kernel) != 0;
}

// Which extents the cluster is to have: those of the launch, of the kernel, or none. They must divide the
// grid.
cudaError_t check_cluster(simt::LaunchShape& shape, const unsigned declared[3],
                          void* program_counter) {
  unsigned* const cluster = shape.cluster;
  const bool is_declared = declared[0] != 0;
  const bool is_given = cluster[0] != 0 || cluster[1] != 0 || cluster[2] != 0;
  if (!is_declared && !is_given) {
    std::fill_n(cluster, 3, 1u);
    return cudaSuccess;
  }
  if (is_declared && is_given && !std::equal(declared, declared + 3, cluster)) {
    refuse_launch(program_counter, "two clusters",
                  "a cluster of %u x %u x %u blocks, and its __cluster_dims__ say %u x %u x %u",
                  cluster[0], cluster[1], cluster[2], declared[0], declared[1], declared[2]);
    return cudaErrorInvalidClusterSize;
  }
  if (is_declared) std::copy_n(declared, 3, cluster);
  const halo::gpus::Gpu& gpu = current_gpu();
  unsigned long long blocks = 1;
  for (int i = 0; i < 3; ++i) {
    blocks *= cluster[i];
    if (cluster[i] == 0 || shape.grid[i] % cluster[i] != 0) {
      refuse_launch(program_counter, "cluster extent",
                    "gridDim.%c is %u, no multiple of its cluster's extent %u", "xyz"[i],
                    shape.grid[i], cluster[i]);
      return cudaErrorInvalidClusterSize;
    }
  }
  if (blocks > 1 && gpu.major < 9) {
    refuse_launch(program_counter, "no clusters",
                  "%s has no thread block clusters: they came with compute capability 9.0",
                  gpu.key);
    return cudaErrorInvalidClusterSize;
  }
  const bool may_be_large = may_have_large_clusters(function_start(program_counter));
  const unsigned most = may_be_large ? simt::kMostClusterBlocks : simt::kPortableClusterBlocks;
  if (blocks > most) {
    refuse_launch(program_counter, "cluster size", "a cluster of %llu blocks, the limit is %u%s",
                  blocks, most,
                  may_be_large ? "" : " (16 with cudaFuncAttributeNonPortableClusterSizeAllowed)");
    return cudaErrorInvalidClusterSize;
  }
  return cudaSuccess;
}

cudaError_t check_launch(simt::LaunchShape& shape, const simt::launch_bounds& bounds,
                         void* program_counter) {
  const unsigned launch_bounds = bounds.max_threads;
  const halo::gpus::Gpu& gpu = current_gpu();
  unsigned long long threads = 1;
  for (int i = 0; i < 3; ++i) {
    const char axis = "xyz"[i];
    if (shape.grid[i] == 0 || shape.grid[i] > simt::kMaxGridExtent[i]) {
      refuse_launch(program_counter, "grid extent", "gridDim.%c is %u, it must be 1 to %u", axis,
                    shape.grid[i], simt::kMaxGridExtent[i]);
      return cudaErrorInvalidConfiguration;
    }
    if (shape.block[i] == 0 || shape.block[i] > static_cast<unsigned>(simt::kMaxBlockExtent[i])) {
      refuse_launch(program_counter, "block extent", "blockDim.%c is %u, it must be 1 to %d", axis,
                    shape.block[i], simt::kMaxBlockExtent[i]);
      return cudaErrorInvalidConfiguration;
    }
    threads *= shape.block[i];
  }
  if (threads > simt::kMaxThreadsPerBlock) {
    refuse_launch(program_counter, "block size", "a block of %llu threads, the limit is %d",
                  threads, simt::kMaxThreadsPerBlock);
    return cudaErrorInvalidConfiguration;
  }
  if (launch_bounds != 0 && threads > launch_bounds) {
    refuse_launch(program_counter, "launch bounds",
                  "a block of %llu threads, but its __launch_bounds__ allow %u", threads,
                  launch_bounds);
    return cudaErrorInvalidValue;
  }
  const std::size_t static_bytes = simt::static_shared_bytes(program_counter);
  if (static_bytes > static_cast<std::size_t>(gpu.shared_per_block)) {
    refuse_launch(program_counter, "static shared",
                  "its __shared__ arrays have %zu bytes and nvcc allows %d: declare "
                  "extern __shared__ and ask for more with cudaFuncSetAttribute",
                  static_bytes, gpu.shared_per_block);
    return cudaErrorInvalidValue;
  }
  const int limit = dynamic_shared_limit(function_start(program_counter), static_bytes);
  if (shape.dynamic_shared_bytes > static_cast<std::size_t>(limit)) {
    const int most = gpu.shared_per_block_optin - static_cast<int>(static_bytes);
    if (shape.dynamic_shared_bytes > static_cast<std::size_t>(most)) {
      refuse_launch(program_counter, "too much dynamic shared",
                    "%zu bytes of dynamic shared memory, and %s has %d for a block",
                    shape.dynamic_shared_bytes, gpu.key, most);
    } else {
      refuse_launch(program_counter, "dynamic shared",
                    "%zu bytes of dynamic shared memory, the limit is %d (cudaFuncAttributeMax"
                    "DynamicSharedMemorySize raises it to %d)",
                    shape.dynamic_shared_bytes, limit, most);
    }
    return cudaErrorInvalidValue;
  }
  if (const cudaError_t error = check_cluster(shape, bounds.cluster, program_counter);
      error != cudaSuccess) {
    return error;
  }
  if (!is_stream(static_cast<cudaStream_t>(shape.stream))) {
    refuse_launch(program_counter, "stream", "its stream was destroyed, or never created");
    return cudaErrorInvalidResourceHandle;
  }
  return cudaSuccess;
}

// ---- properties ----

void fill_properties(cudaDeviceProp& p) {
  const halo::gpus::Gpu& gpu = current_gpu();
  p = {};
  std::snprintf(p.name, sizeof(p.name), "%s (simulated)", gpu.driver_name);
  p.totalGlobalMem = gpu.memory_bytes;
  p.sharedMemPerBlock = static_cast<std::size_t>(gpu.shared_per_block);
  p.regsPerBlock = simt::kRegistersPerBlock;
  p.warpSize = simt::kWarpSize;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = simt::kMaxThreadsPerBlock;
  std::copy_n(simt::kMaxBlockExtent, 3, p.maxThreadsDim);
  std::copy_n(simt::kMaxGridExtent, 3, p.maxGridSize);
  p.clockRate = gpu.boost_clock_mhz * 1000;
  p.totalConstMem = simt::kConstantBytes;
  p.major = gpu.major;
  p.minor = gpu.minor;
  p.textureAlignment = simt::kPitchAlignment;
  p.texturePitchAlignment = 32;
  p.deviceOverlap = 1;
  p.multiProcessorCount = gpu.sms;
  p.surfaceAlignment = simt::kPitchAlignment;
  p.concurrentKernels = 1;
  p.asyncEngineCount = gpu.copy_engines;
  p.unifiedAddressing = 1;
  p.memoryClockRate = gpu.memory_clock_mhz * 1000;
  p.memoryBusWidth = gpu.memory_bus_bits;
  p.l2CacheSize = gpu.l2_bytes;
  p.maxThreadsPerMultiProcessor = gpu.threads_per_sm;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(gpu.shared_per_sm);
  p.regsPerMultiprocessor = gpu.registers_per_sm;
  p.managedMemory = 1;
  p.singleToDoublePrecisionPerfRatio = gpu.fp64_ratio;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(gpu.shared_per_block_optin);
  p.maxBlocksPerMultiProcessor = gpu.blocks_per_sm;
  p.reservedSharedMemPerBlock = static_cast<std::size_t>(gpu.shared_reserved_per_block);
  p.hostRegisterSupported = 1;
  p.canMapHostMemory = 1;
}

// What the simulator does not have (textures, peers, ...) is 0.
int attribute_value(cudaDeviceAttr attribute) {
  const halo::gpus::Gpu& gpu = current_gpu();
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return simt::kMaxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return simt::kMaxBlockExtent[0];
    case cudaDevAttrMaxBlockDimY:
      return simt::kMaxBlockExtent[1];
    case cudaDevAttrMaxBlockDimZ:
      return simt::kMaxBlockExtent[2];
    case cudaDevAttrMaxGridDimX:
      return static_cast<int>(simt::kMaxGridExtent[0]);
    case cudaDevAttrMaxGridDimY:
      return static_cast<int>(simt::kMaxGridExtent[1]);
    case cudaDevAttrMaxGridDimZ:
      return static_cast<int>(simt::kMaxGridExtent[2]);
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return gpu.shared_per_block;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return gpu.shared_per_block_optin;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return gpu.shared_per_sm;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return gpu.shared_reserved_per_block;
    case cudaDevAttrTotalConstantMemory:
      return simt::kConstantBytes;
    case cudaDevAttrWarpSize:
      return simt::kWarpSize;
    case cudaDevAttrMaxPitch:
      return 2147483647;
    case cudaDevAttrMaxRegistersPerBlock:
      return simt::kRegistersPerBlock;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return gpu.registers_per_sm;
    case cudaDevAttrClockRate:
      return gpu.boost_clock_mhz * 1000;
    case cudaDevAttrMemoryClockRate:
      return gpu.memory_clock_mhz * 1000;
    case cudaDevAttrGlobalMemoryBusWidth:
      return gpu.memory_bus_bits;
    case cudaDevAttrL2CacheSize:
      return gpu.l2_bytes;
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrSurfaceAlignment:
      return simt::kPitchAlignment;
    case cudaDevAttrTexturePitchAlignment:
      return 32;
    case cudaDevAttrMultiProcessorCount:
      return gpu.sms;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return gpu.threads_per_sm;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return gpu.blocks_per_sm;
    case cudaDevAttrComputeCapabilityMajor:
      return gpu.major;
    case cudaDevAttrComputeCapabilityMinor:
      return gpu.minor;
    case cudaDevAttrAsyncEngineCount:
      return gpu.copy_engines;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return gpu.fp64_ratio;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrHostRegisterSupported:
      return 1;
    default:
      return 0;
  }
}

constexpr int kLastAttribute = 147;

constexpr std::size_t kHeapBytes = 8388608;  // of malloc in kernels, as long as nobody sets it

constexpr struct {
  cudaLimit limit;
  std::size_t value;
} kLimits[] = {
    {cudaLimitStackSize, 1024},
    {cudaLimitPrintfFifoSize, 8650752},
    {cudaLimitMallocHeapSize, kHeapBytes},
    {cudaLimitDevRuntimePendingLaunchCount, 2048},
    {cudaLimitMaxL2FetchGranularity, 64},
    {cudaLimitPersistingL2CacheSize, 0},
};

}  // namespace

// ---- launches (runtime.hpp, cuda_runtime.h) ----

namespace simt {

void configure(dim3 grid, dim3 block, std::size_t dynamic_shared_bytes, cudaStream_t stream) {
  if (inside_kernel()) refuse_inside_kernel("a launch");
  LaunchShape shape;
  shape.grid[0] = grid.x, shape.grid[1] = grid.y, shape.grid[2] = grid.z;
  shape.block[0] = block.x, shape.block[1] = block.y, shape.block[2] = block.z;
  shape.dynamic_shared_bytes = dynamic_shared_bytes;
  shape.stream = stream;
  shape.program_counter = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1;
  pending_launches.push(shape);
}

namespace {

cudaError_t take_attribute(const cudaLaunchAttribute& attribute, LaunchShape& shape) {
  const cudaLaunchAttributeValue& value = attribute.val;
  switch (attribute.id) {
    case cudaLaunchAttributeIgnore:
      return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
      shape.cluster[0] = value.clusterDim.x;
      shape.cluster[1] = value.clusterDim.y;
      shape.cluster[2] = value.clusterDim.z;
      return cudaSuccess;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      shape.may_begin_early = value.programmaticStreamSerializationAllowed != 0;
      return cudaSuccess;
    default:
      break;
  }
  explain("launch attribute",
          "cudaLaunchKernelEx: attribute %d is outside the simulator's subset, which has "
          "cudaLaunchAttributeClusterDimension and "
          "cudaLaunchAttributeProgrammaticStreamSerialization: leave it out",
          static_cast<int>(attribute.id));
  return cudaErrorNotSupported;
}

}  // namespace

cudaError_t configure(const cudaLaunchConfig_t* config) {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1;
  return query("cudaLaunchKernelEx", [&]() -> cudaError_t {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) {
      return cudaErrorInvalidValue;
    }
    LaunchShape shape;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaError_t error = take_attribute(config->attrs[i], shape);
      if (error != cudaSuccess) return error;
    }
    const dim3 grid = config->gridDim, block = config->blockDim;
    shape.grid[0] = grid.x, shape.grid[1] = grid.y, shape.grid[2] = grid.z;
    shape.block[0] = block.x, shape.block[1] = block.y, shape.block[2] = block.z;
    shape.dynamic_shared_bytes = config->dynamicSmemBytes;
    shape.stream = config->stream;
    shape.program_counter = caller;
    pending_launches.push(shape);
    error_of_launch = cudaSuccess;
    return cudaSuccess;
  });
}

cudaError_t launch_error() { return error_of_launch; }

void launch_kernel(const void* closure, std::size_t closure_bytes, KernelInvoke invoke,
                   const launch_bounds& bounds, void* program_counter) {
  if (inside_kernel()) refuse_inside_kernel("a launch");
  details.now[0] = '\0';
  if (pending_launches.count == 0) {
    explain("no configuration", "%s was called like a function: launch it with <<<grid, block>>>",
            kernel_name(program_counter).c_str());
    record(cudaErrorMissingConfiguration);
    return;
  }
  LaunchShape shape = pending_launches.shapes[--pending_launches.count];
  if (simt::is_to_fail("launch")) {
    error_of_launch = record(cudaErrorLaunchOutOfResources);
    return;
  }
  if (const int spoilt = sticky_error.load(); spoilt != 0) {
    error_of_launch = record(static_cast<cudaError_t>(spoilt));
    return;
  }
  if (const cudaError_t error = check_launch(shape, bounds, program_counter);
      error != cudaSuccess) {
    error_of_launch = record(error);
    return;
  }
  shape.stream_number = number_of(static_cast<cudaStream_t>(shape.stream));
  if (const int error = run_grid(shape, closure, closure_bytes, invoke, program_counter);
      error != 0) {
    record(static_cast<cudaError_t>(error));
    sticky_error = error;
  }
}

void set_error_detail(const char* text) {
  std::snprintf(details.now, sizeof details.now, "%s", text);
}

std::string last_error_detail() { return details.kept; }

std::vector<Finding> unjoined_work() {
  std::vector<Finding> findings;
  if (!(settings().checks & kCheckRaces)) return findings;
  for (const streams::Number last : streams::unjoined()) {
    findings.push_back(streams::unjoined_finding(last));
  }
  return findings;
}

void host_access(std::uintptr_t address, std::size_t bytes, bool writes, std::uint32_t pc) {
  const auto* const pointer = reinterpret_cast<const void*>(address);
  if (!device_memory::contains(pointer) || !(settings().checks & kCheckRaces)) return;
  streams::Touch its{};
  const streams::Number other = streams::not_waited_for(address, bytes, writes, its);
  if (other == 0) return;
  const auto block = device_memory::live_at(pointer);
  if (!block || block->kind == MemoryKind::device) return;
  // Once for each line and operation: a loop of the host would say it for each element.
  static std::mutex mutex;
  static std::set<std::pair<std::uint32_t, streams::Number>> told;
  {
    const std::lock_guard lock(mutex);
    if (!told.emplace(pc, other).second) return;
  }
  Launch launch;
  launch.kernel = "host code";
  launch.findings.push_back(
      streams::too_early(writes ? "The host writes" : "The host reads", block->name(),
                         ProgramImage::get().load_address() + pc, other, its, 1));
  record_launch(std::move(launch));
}

void name_allocation(const void* pointer, const std::string& name) {
  device_memory::set_name(pointer, name);
}

float* allocate_sparse(std::size_t floats, std::span<const float> values) {
  void* const memory = device_memory::allocate_sparse(
      floats * sizeof(float), std::as_bytes(values), current_gpu().memory_bytes,
      reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1);
  if (memory == nullptr) return nullptr;
  State& s = ::state();
  const std::lock_guard lock(s.mutex);
  s.blocks.insert(memory);
  return static_cast<float*>(memory);
}

std::size_t sparse_floats() { return device_memory::sparse_bytes() / sizeof(float); }

std::vector<WrittenPart> written_parts(const float* memory) {
  std::vector<WrittenPart> parts;
  for (const device_memory::Part& part : device_memory::written_parts(memory)) {
    const std::size_t begin = part.begin / sizeof(float);
    const std::size_t end = (part.end + sizeof(float) - 1) / sizeof(float);
    if (parts.empty() || parts.back().end < begin) parts.push_back({begin, begin});
    parts.back().end = end;
  }
  return parts;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned int flags, int priority) {
  return call("cudaStreamCreate", [&] {
    if (stream == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *stream = new CUstream_st{flags, std::clamp(priority, -5, 0),
                              streams::create(flags == cudaStreamNonBlocking)};
    State& s = ::state();
    const std::lock_guard lock(s.mutex);
    s.streams.insert(*stream);
    return cudaSuccess;
  });
}

// ---- the heap of device code ----

void* device_malloc(std::size_t bytes) {
  if (!inside_kernel())
    return std::malloc(bytes);  // a function for both worlds, called on the host
  cannot_be_undone();
  if (bytes == 0) return nullptr;
  State& s = ::state();
  std::size_t limit = kHeapBytes;
  {
    const std::lock_guard lock(s.mutex);
    const auto set = s.limits.find(cudaLimitMallocHeapSize);
    if (set != s.limits.end()) limit = set->second;
  }
  return device_memory::allocate(bytes, limit,
                                 reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1,
                                 MemoryKind::heap);
}

void device_free(void* pointer) {
  if (pointer == nullptr) return;
  if (!inside_kernel()) return std::free(pointer);
  cannot_be_undone();
  if (!is_kind(pointer, MemoryKind::heap) || !device_memory::release(pointer)) {
    stop_kernel("frees what malloc did not give in a kernel, or frees it twice",
                __builtin_return_address(0));
  }
}

int allocations_made() { return device_memory::last_serial(); }

std::vector<LiveAllocation> live_allocations(int made) {
  std::vector<LiveAllocation> live;
  for (const Allocation& block : device_memory::live_after(made)) {
    SourceLine line;
    if (block.program_counter != 0) line = ProgramImage::get().line_of(block.program_counter);
    live.push_back({block.name(), block.size, line.file, line.line});
  }
  return live;
}

cudaError_t copy_to_symbol(const void* symbol, std::size_t size, const void* from,
                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  constexpr const char* kName = "cudaMemcpyToSymbol";
  void* const caller = __builtin_return_address(0);
  return call(kName, [&]() -> cudaError_t {
    if (find_variable(symbol) == nullptr) return cudaErrorInvalidSymbol;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    if (offset > size || bytes > size - offset) {
      explain("symbol range", "%s: %zu bytes at offset %zu of a symbol of %zu bytes", kName, bytes,
              offset, size);
      return cudaErrorInvalidValue;
    }
    char* to = const_cast<char*>(static_cast<const char*>(symbol)) + offset;
    const BySymbol named;
    return copy_bytes({kName, streams::kLegacyDefault, true, caller}, to, from, bytes, kind);
  });
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t size, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind) {
  constexpr const char* kName = "cudaMemcpyFromSymbol";
  void* const caller = __builtin_return_address(0);
  return call(kName, [&]() -> cudaError_t {
    if (find_variable(symbol) == nullptr) return cudaErrorInvalidSymbol;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault) {
      return cudaErrorInvalidMemcpyDirection;
    }
    if (offset > size || bytes > size - offset) {
      explain("symbol range", "%s: %zu bytes at offset %zu of a symbol of %zu bytes", kName, bytes,
              offset, size);
      return cudaErrorInvalidValue;
    }
    const BySymbol named;
    return copy_bytes({kName, streams::kLegacyDefault, true, caller}, to,
                      static_cast<const char*>(symbol) + offset, bytes, kind);
  });
}

cudaError_t symbol_address(void** address, const void* symbol) {
  return call("cudaGetSymbolAddress", [&] {
    if (address == nullptr) return cudaErrorInvalidValue;
    const DeviceVariable* const variable = find_variable(symbol);
    if (variable == nullptr) return cudaErrorInvalidSymbol;
    note_asked_for(variable->begin);
    *address = const_cast<void*>(symbol);
    return cudaSuccess;
  });
}

}  // namespace simt

extern "C" {

// ---- errors ----

// CUDA 13.0 clears even a sticky error here and lets the next call bring it back; the manual says
// that it stays, and so it does here.
cudaError_t cudaGetLastError() {
  if (simt::inside_kernel()) refuse_inside_kernel("cudaGetLastError");
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  if (simt::inside_kernel()) refuse_inside_kernel("cudaPeekAtLastError");
  const int spoilt = sticky_error.load();
  return spoilt != 0 ? static_cast<cudaError_t>(spoilt) : last_error;
}

// ---- the device ----

cudaError_t cudaGetDeviceCount(int* count) {
  return query("cudaGetDeviceCount", [&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return query("cudaGetDevice", [&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return query("cudaSetDevice", [&] { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { return cudaSetDevice(device); }

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return query("cudaChooseDevice", [&] {
    if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return query("cudaGetDeviceFlags", [&] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = state().device_flags;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return query("cudaSetDeviceFlags", [&] {
    if ((flags & ~0xffu) != 0) return cudaErrorInvalidValue;
    state().device_flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return query("cudaGetDeviceProperties", [&] {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    fill_properties(*properties);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return query("cudaDeviceGetAttribute", [&] {
    if (value == nullptr || attribute < 1 || attribute > kLastAttribute) {
      return cudaErrorInvalidValue;
    }
    if (device != 0) return cudaErrorInvalidDevice;
    *value = attribute_value(attribute);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [] {
    streams::host_waited_for_all();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceReset() {
  return query("cudaDeviceReset", [] {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    streams::reset();
    for (void* pointer : s.blocks) {
      give_back(pointer);
      s.reset_blocks.insert(pointer);
    }
    for (void* pointer : s.pinned) give_back(pointer);
    for (const simt::Allocation& block : device_memory::live_after(0)) {
      if (block.kind == MemoryKind::heap) give_back(reinterpret_cast<void*>(block.begin));
    }
    for (cudaStream_t stream : s.streams) delete stream;
    for (cudaEvent_t event : s.events) delete event;
    s.blocks.clear();
    s.pinned.clear();
    s.registered.clear();
    s.streams.clear();
    s.events.clear();
    s.dynamic_shared_limit.clear();
    s.limits.clear();
    s.device_flags = 0;
    sticky_error = 0;
    last_error = cudaSuccess;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call("cudaDeviceGetLimit", [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    for (const auto& known : kLimits) {
      if (known.limit != limit) continue;
      const auto it = s.limits.find(limit);
      *value = it != s.limits.end() ? it->second : known.value;
      return cudaSuccess;
    }
    return cudaErrorUnsupportedLimit;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call("cudaDeviceSetLimit", [&] {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    for (const auto& known : kLimits) {
      if (known.limit != limit) continue;
      s.limits[limit] = value;
      return cudaSuccess;
    }
    return cudaErrorUnsupportedLimit;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call("cudaDeviceGetCacheConfig", [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return call("cudaDeviceSetCacheConfig", [] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call("cudaDeviceGetSharedMemConfig", [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return call("cudaDeviceSetSharedMemConfig", [] { return cudaSuccess; });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", [&] {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return query("cudaDeviceGetPCIBusId", [&] {
    if (text == nullptr || length < 1) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:00:00.0");
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return query("cudaDeviceCanAccessPeer", [&] {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (device != 0 || peer != 0) return cudaErrorInvalidDevice;
    *can = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return query("cudaDriverGetVersion", [&] {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaProfilerStart() {
  return call("cudaProfilerStart", [] { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
  return call("cudaProfilerStop", [] { return cudaSuccess; });
}

// ---- memory ----

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  void* const caller = __builtin_return_address(0);
  return call("cudaMalloc",
              [&] { return allocate_block(pointer, bytes, MemoryKind::device, caller); });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  void* const caller = __builtin_return_address(0);
  return call("cudaMallocPitch", [&]() -> cudaError_t {
    if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
    constexpr std::size_t kAlignment = simt::kPitchAlignment;
    std::size_t bytes = 0;
    if (width > ~std::size_t{0} - kAlignment) return cudaErrorMemoryAllocation;
    const std::size_t row = (width + kAlignment - 1) / kAlignment * kAlignment;
    if (__builtin_mul_overflow(row, height, &bytes)) return cudaErrorMemoryAllocation;
    *pitch = row;
    return allocate_block(pointer, bytes, MemoryKind::device, caller);
  });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int flags) {
  void* const caller = __builtin_return_address(0);
  return call("cudaMallocManaged", [&]() -> cudaError_t {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate_block(pointer, bytes, MemoryKind::managed, caller);
  });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  void* const caller = __builtin_return_address(0);
  return on_stream("cudaMallocAsync", stream, [&] {
    const cudaError_t error = allocate_block(pointer, bytes, MemoryKind::device, caller);
    if (error != cudaSuccess || bytes == 0) return error;
    // It is there for what comes after on this stream.
    HostOperation({"cudaMallocAsync", number_of(stream), false, caller})
        .touch(*pointer, bytes, streams::Touch::writes);
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* pointer) {
  return call("cudaFree", [&] {
    if (pointer != nullptr) streams::host_waited_for_all();  // as cudaFree does
    return free_block("cudaFree", pointer);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  void* const caller = __builtin_return_address(0);
  return on_stream("cudaFreeAsync", stream, [&] {
    if (const auto block = device_memory::live_at(pointer);
        block && block->begin == reinterpret_cast<std::uintptr_t>(pointer)) {
      HostOperation({"cudaFreeAsync", number_of(stream), false, caller})
          .touch(pointer, block->size, streams::Touch::writes);
    }
    return free_block("cudaFreeAsync", pointer);
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
  void* const caller = __builtin_return_address(0);
  return call("cudaHostAlloc", [&]() -> cudaError_t {
    constexpr unsigned int kFlags =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (pointer == nullptr || (flags & ~kFlags) != 0) return cudaErrorInvalidValue;
    return allocate_block(pointer, bytes, MemoryKind::pinned, caller);
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  void* const caller = __builtin_return_address(0);
  return call("cudaMallocHost",
              [&] { return allocate_block(pointer, bytes, MemoryKind::pinned, caller); });
}

// It is where the device sees it: all addresses mean the same on both sides.
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return call("cudaHostGetDevicePointer", [&]() -> cudaError_t {
    if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (!is_pinned(host)) {
      explain("mapped memory",
              "cudaHostGetDevicePointer: %p is not memory of cudaHostAlloc or "
              "cudaMallocHost (memory of cudaHostRegister is not open to kernels here)",
              host);
      return cudaErrorInvalidValue;
    }
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return call("cudaFreeHost", [&] {
    if (pointer == nullptr) return cudaSuccess;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.pinned.erase(pointer) == 0) return cudaErrorInvalidValue;
    streams::host_waited_for_all();
    give_back(pointer);
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int) {
  return call("cudaHostRegister", [&]() -> cudaError_t {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    const bool fresh = s.registered.emplace(pointer, bytes).second;
    return fresh ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call("cudaHostUnregister", [&] {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    return s.registered.erase(pointer) != 0 ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return call("cudaMemGetInfo", [&] {
    if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
    *total_bytes = current_gpu().memory_bytes;
    *free_bytes = *total_bytes - device_memory::bytes_in_use();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return query("cudaPointerGetAttributes", [&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    void* const address = const_cast<void*>(pointer);
    if (is_device_pointer(pointer) &&
        (device_memory::is_live_range(pointer, 1) || find_variable(pointer) != nullptr)) {
      const bool managed = is_managed(pointer);
      *attributes = {managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice, 0, address,
                     managed ? address : nullptr};
      return cudaSuccess;
    }
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, address};
    State& s = state();
    const std::lock_guard lock(s.mutex);
    const auto after = s.registered.upper_bound(address);
    const bool registered =
        after != s.registered.begin() &&
        static_cast<std::size_t>(static_cast<const char*>(pointer) -
                                 static_cast<const char*>(std::prev(after)->first)) <
            std::prev(after)->second;
    if (is_pinned(pointer) || registered) *attributes = {cudaMemoryTypeHost, 0, address, address};
    return cudaSuccess;
  });
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  void* const caller = __builtin_return_address(0);
  return call("cudaMemset", [&] {
    return set_rows({"cudaMemset", streams::kLegacyDefault, true, caller}, pointer, bytes, value,
                    bytes, 1);
  });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  void* const caller = __builtin_return_address(0);
  return on_stream("cudaMemsetAsync", stream, [&] {
    return set_rows({"cudaMemsetAsync", number_of(stream), false, caller}, pointer, bytes, value,
                    bytes, 1);
  });
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  void* const caller = __builtin_return_address(0);
  return call("cudaMemset2D", [&] {
    return set_rows({"cudaMemset2D", streams::kLegacyDefault, true, caller}, pointer, pitch, value,
                    width, height);
  });
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  void* const caller = __builtin_return_address(0);
  return on_stream("cudaMemset2DAsync", stream, [&] {
    return set_rows({"cudaMemset2DAsync", number_of(stream), false, caller}, pointer, pitch, value,
                    width, height);
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  void* const caller = __builtin_return_address(0);
  return call("cudaMemcpy", [&] {
    return copy_bytes({"cudaMemcpy", streams::kLegacyDefault, true, caller}, to, from, bytes, kind);
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  void* const caller = __builtin_return_address(0);
  return on_stream("cudaMemcpyAsync", stream, [&] {
    return copy_bytes({"cudaMemcpyAsync", number_of(stream), false, caller}, to, from, bytes, kind);
  });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  void* const caller = __builtin_return_address(0);
  return call("cudaMemcpy2D", [&] {
    return copy_rows({"cudaMemcpy2D", streams::kLegacyDefault, true, caller}, to, to_pitch, from,
                     from_pitch, width, height, kind);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  void* const caller = __builtin_return_address(0);
  return on_stream("cudaMemcpy2DAsync", stream, [&] {
    return copy_rows({"cudaMemcpy2DAsync", number_of(stream), false, caller}, to, to_pitch, from,
                     from_pitch, width, height, kind);
  });
}

// ---- streams ----

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", [&] {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.streams.erase(stream) == 0) return cudaErrorInvalidResourceHandle;
    streams::destroy(stream->number);
    delete stream;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return on_stream("cudaStreamSynchronize", stream, [&] {
    streams::host_waited_for(number_of(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return on_stream("cudaStreamQuery", stream, [&] {
    streams::host_waited_for(number_of(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return on_stream("cudaStreamWaitEvent", stream, [&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    streams::wait(number_of(stream), event->clock);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return on_stream("cudaStreamGetFlags", stream, [&] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    const bool built_in = reinterpret_cast<std::uintptr_t>(stream) < 3;
    *flags = built_in ? static_cast<unsigned>(cudaStreamDefault) : stream->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return on_stream("cudaStreamGetPriority", stream, [&] {
    if (priority == nullptr) return cudaErrorInvalidValue;
    const bool built_in = reinterpret_cast<std::uintptr_t>(stream) < 3;
    *priority = built_in ? 0 : stream->priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags) {
  return on_stream("cudaStreamAddCallback", stream, [&] {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    streams::host_waited_for(number_of(stream));  // the callback comes after what is there
    callback(stream, cudaSuccess, user_data);
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return on_stream("cudaLaunchHostFunc", stream, [&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    streams::host_waited_for(number_of(stream));
    function(user_data);
    return cudaSuccess;
  });
}

// ---- events ----

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call("cudaEventCreate", [&] {
    if (event == nullptr || flags > 7) return cudaErrorInvalidValue;
    streams::use_events();
    *event = new CUevent_st{(flags & cudaEventDisableTiming) == 0, false, {}, {}};
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.events.insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", [&] {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) {
  return on_stream("cudaEventRecord", stream, [&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    event->recorded = true;
    event->clock = streams::record(number_of(stream));
    event->time = std::chrono::steady_clock::now();
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    streams::host_waited_for(event->clock);
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", [&] {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    for (cudaEvent_t event : {start, end}) {
      if (!is_event(event) || !event->has_time || !event->recorded) {
        return cudaErrorInvalidResourceHandle;
      }
    }
    if (!streams::host_knows(start->clock) || !streams::host_knows(end->clock)) {
      explain("event not ready",
              "cudaEventElapsedTime: nobody has waited for the events: call "
              "cudaEventSynchronize(end) first");
      return cudaErrorNotReady;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
  });
}

}  // extern "C"

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}

// ---- managed memory ----

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int, cudaStream_t stream) {
  return on_stream("cudaMemPrefetchAsync", stream, [&] {
    return is_managed(pointer) && device_memory::is_live_range(pointer, bytes)
               ? cudaSuccess
               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location,
                                 unsigned int, cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, location.id, stream);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise, int device) {
  return cudaMemPrefetchAsync(pointer, bytes, device, nullptr);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return cudaMemAdvise(pointer, bytes, advice, location.id);
}

// ---- kernels ----

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", [&]() -> cudaError_t {
    const std::uintptr_t start = kernel_at(kernel);
    if (start == 0) return cudaErrorInvalidDeviceFunction;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
    }
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
      if (value != 0 && value != 1) return cudaErrorInvalidValue;
      State& s = state();
      const std::lock_guard lock(s.mutex);
      if (value == 1) {
        s.large_clusters.insert(start);
      } else {
        s.large_clusters.erase(start);
      }
      return cudaSuccess;
    }
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaErrorInvalidValue;
    const int most =
        current_gpu().shared_per_block_optin - static_cast<int>(simt::static_shared_bytes(kernel));
    if (value < 0 || value > most) {
      explain("shared attribute",
              "cudaFuncSetAttribute: %d bytes of dynamic shared memory, %s has %d left for %s",
              value, current_gpu().key, most, kernel_name(kernel).c_str());
      return cudaErrorInvalidValue;
    }
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.dynamic_shared_limit[start] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call("cudaFuncGetAttributes", [&]() -> cudaError_t {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    const std::uintptr_t start = kernel_at(kernel);
    if (start == 0) return cudaErrorInvalidDeviceFunction;
    const halo::gpus::Gpu& gpu = current_gpu();
    *attributes = {};
    attributes->sharedSizeBytes = simt::static_shared_bytes(kernel);
    attributes->maxThreadsPerBlock = simt::kMaxThreadsPerBlock;
    attributes->ptxVersion = attributes->binaryVersion = 10 * gpu.major + gpu.minor;
    attributes->maxDynamicSharedSizeBytes =
        dynamic_shared_limit(start, attributes->sharedSizeBytes);
    attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache) {
  return call("cudaFuncSetCacheConfig", [&] {
    return kernel_at(kernel) != 0 ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig) {
  return call("cudaFuncSetSharedMemConfig", [&] {
    return kernel_at(kernel) != 0 ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&]() -> cudaError_t {
    const std::uintptr_t start = kernel_at(kernel);
    if (start == 0) return cudaErrorInvalidDeviceFunction;
    if (blocks == nullptr || block_size <= 0) return cudaErrorInvalidValue;
    const halo::gpus::Gpu& gpu = current_gpu();
    const std::size_t static_bytes = simt::static_shared_bytes(kernel);
    *blocks = 0;
    if (block_size > simt::kMaxThreadsPerBlock ||
        dynamic_shared_bytes >
            static_cast<std::size_t>(dynamic_shared_limit(start, static_bytes))) {
      return cudaSuccess;
    }
    constexpr int kWarpSize = simt::kWarpSize;
    const int warps = (block_size + kWarpSize - 1) / kWarpSize;
    int fit = std::min(gpu.blocks_per_sm, gpu.threads_per_sm / kWarpSize / warps);
    const int granule = gpu.shared_granularity;
    const int shared =
        static_cast<int>(static_bytes + dynamic_shared_bytes) + gpu.shared_reserved_per_block;
    if (shared > 0) {
      const int rounded = (shared + granule - 1) / granule * granule;
      fit = std::min(fit, gpu.shared_per_sm / rounded);
    }
    *blocks = fit;
    return cudaSuccess;
  });
}
