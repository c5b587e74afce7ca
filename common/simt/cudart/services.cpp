#include "common/simt/cudart/services.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/module.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/watch.hpp"

namespace simt::cudart {
namespace {

using machine::LaneCall;
using machine::Service;

// Takes arguments one after the other; zeros where there are no more.
class Arguments {
 public:
  explicit Arguments(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (at_ + sizeof(T) <= bytes_.size()) std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    ++taken_;
    return value;
  }
  int taken() const { return taken_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  int taken_ = 0;
};

template <class T>
std::string one(const std::string& directive, T value) {
  char text[512];
  const int length = std::snprintf(text, sizeof text, directive.c_str(), value);
  if (length < 0) return "";
  if (static_cast<std::size_t>(length) < sizeof text) return text;
  std::string longer(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(longer.data(), longer.size(), directive.c_str(), value);
  longer.pop_back();
  return longer;
}

// "%-8.3f" in its parts.
struct Directive {
  std::string flags;   // "%-8.3"
  std::string length;  // "ll"
  char kind = '\0';
};

Directive directive_at(const std::string& format, std::size_t& at, Arguments& arguments) {
  Directive its;
  its.flags = "%";
  for (++at; at < format.size() && std::strchr("-+ #0123456789.*", format[at]) != nullptr; ++at) {
    its.flags +=
        format[at] == '*' ? std::to_string(arguments.next<int>()) : std::string(1, format[at]);
  }
  for (; at < format.size() && std::strchr("hlLqjzt", format[at]) != nullptr; ++at) {
    its.length += format[at];
  }
  if (at < format.size()) its.kind = format[at++];
  return its;
}

std::string converted(const Directive& its, Arguments& arguments, const LaneCall& call) {
  switch (its.kind) {
    case '%':
      return "%";
    case 'c':
      return one(its.flags + "c", arguments.next<int>());
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      if (its.length.find_first_of("lqjzt") != std::string::npos) {
        return one(its.flags + "ll" + its.kind, arguments.next<long long>());
      }
      return one(its.flags + (its.length.starts_with("h") ? its.length : "") + its.kind,
                 arguments.next<int>());
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return one(its.flags + its.kind, arguments.next<double>());
    case 'p':
      return one(its.flags + "p", arguments.next<const void*>());
    case 's': {
      const auto address = arguments.next<std::uint64_t>();
      return one(its.flags + "s", (address == 0 ? "(null)" : call.text(address)).c_str());
    }
    default:
      return its.flags + its.length + (its.kind != '\0' ? std::string(1, its.kind) : "");
  }
}

// Its arguments lie one behind the other, each at a multiple of its size. Returns what device code's printf does: how many
// it has used (CUDA C++ Programming Guide, "Formatted Output").
int print(const LaneCall& call, Watch& watch) {
  if (call.arguments[0] == 0) return -1;
  const std::string format = call.text(call.arguments[0]);
  Arguments rest(call.memory(call.arguments[1]));
  std::string text;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      text += format[at++];
      continue;
    }
    const Directive its = directive_at(format, at, rest);
    text += converted(its, rest, call);
  }
  if (!watch.keep_printed(*call.warp.block, text)) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return rest.taken();
}

constexpr std::uint64_t kTailLaunch = 3;  // cudaStreamTailLaunch, of device code only
constexpr std::uint64_t kFireAndForget = 4;

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

struct Rows {
  std::uint64_t to, to_pitch, from, from_pitch, width, height;
};
Work copied(const Rows& its, const char* by) {
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = {pointer(its.from), its.from_pitch, its.width, its.height};
  parameters.dstPtr = {pointer(its.to), its.to_pitch, its.width, its.height};
  parameters.extent = {its.width, its.height, 1};
  parameters.kind = cudaMemcpyDefault;
  return copy_of(parameters, {by, nullptr});
}
Work filled(std::uint64_t to, std::uint64_t pitch, std::uint64_t value, std::uint64_t width,
            std::uint64_t height, const char* by) {
  return set_of({pointer(to), pitch, static_cast<unsigned>(value), 1, width, height},
                {by, nullptr});
}

// Where kernels find the name or the text of an error; it stays there.
std::uint64_t address_of_text(const std::string& text) {
  static std::map<std::string, std::uint64_t>& known = *new std::map<std::string, std::uint64_t>;
  std::uint64_t& address = known[text];
  if (address == 0) {
    address = allocate(text.size() + 1, MemoryKind::launch, "the text of an error");
    std::memcpy(reach(address), text.c_str(), text.size() + 1);
  }
  return address;
}

std::uint64_t allocate_for_kernel(std::uint64_t bytes) {
  if (bytes == 0) return 0;
  if (bytes > heap_limit() || heap_bytes_in_use() > heap_limit() - bytes) {
    heap_was_full() = true;
    return 0;
  }
  return allocate(bytes, MemoryKind::heap, "memory of malloc in a kernel");
}

}  // namespace

KernelServices::~KernelServices() {
  for (const auto& [address, child] : buffers_) release(address);
}

// __cudaCDP2GetParameterBufferV2(kernel, grid, block, dynamic shared memory)
std::uint64_t KernelServices::buffer_for(const LaneCall& call) {
  const std::span<const std::uint64_t> its = call.arguments;
  const auto extent = [&](std::size_t first) {
    return dim3{static_cast<unsigned>(its[first]), static_cast<unsigned>(its[first + 1]),
                static_cast<unsigned>(its[first + 2])};
  };
  ChildLaunch child;
  child.kernel = find_kernel(*kernel_.module, its[0]);
  if (child.kernel == nullptr) return 0;
  child.what = {.grid = extent(1), .block = extent(4), .dynamic_shared = its[7]};
  if (check_launch(*child.kernel, child.what) != cudaSuccess) return 0;
  child.parameters.resize(child.kernel->code().parameters);
  const std::uint64_t address = allocate(std::max<std::size_t>(child.parameters.size(), 1),
                                         MemoryKind::launch, "arguments of a launch by a kernel");
  buffers_[address] = std::move(child);
  return address;
}

std::uint64_t KernelServices::launch(const LaneCall& call) {
  const auto found = buffers_.find(call.arguments[0]);
  if (found == buffers_.end()) return cudaErrorInvalidValue;
  ChildLaunch child = std::move(found->second);
  buffers_.erase(found);
  std::memcpy(child.parameters.data(), reach(call.arguments[0]), child.parameters.size());
  release(call.arguments[0]);
  return add(std::move(child), call, call.arguments[1]);
}

std::uint64_t KernelServices::add(ChildLaunch child, const LaneCall& call, std::uint64_t stream) {
  child.is_last = stream == kTailLaunch;
  if (!child.is_last) {
    child.launches = watch_.launches();
    child.stream = stream_of(call, stream);
  }
  children_.push_back(std::move(child));
  return cudaSuccess;
}

std::uint64_t KernelServices::add_copy(Work copy, const LaneCall& call, std::uint64_t stream) {
  return add({.copy = std::move(copy), .what = {}, .parameters = {}, .site = call.step->site}, call,
             stream);
}

// Threads of a block share what has no handle of its own. What is launched to be forgotten has a stream for itself.
std::uint32_t KernelServices::stream_of(const LaneCall& call, std::uint64_t handle) {
  const bool is_forgotten = handle == kFireAndForget;
  const std::uint64_t of_block =
      machine::linear(call.warp.block->index, call.warp.block->grid->blocks) + 1;
  const auto key = handle > kFireAndForget ? std::pair(handle, std::uint64_t{0})
                   : is_forgotten          ? std::pair(handle, std::uint64_t{counted_as_.size()})
                                           : std::pair(std::uint64_t{0}, of_block);
  const auto [its, is_new] =
      streams_.try_emplace(key, static_cast<std::uint32_t>(counted_as_.size()));
  if (is_new) counted_as_.push_back(its->second);
  return its->second;
}

std::uint32_t KernelServices::stream_now(std::uint32_t stream) const {
  while (counted_as_[stream] != stream) stream = counted_as_[stream];
  return stream;
}

std::vector<ChildLaunch> KernelServices::children() {
  std::vector<ChildLaunch> all;
  for (const bool is_last : {false, true}) {
    for (ChildLaunch& one : children_) {
      if (one.is_last != is_last) continue;
      one.stream = stream_now(one.stream);
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::optional<std::uint64_t> KernelServices::call(const LaneCall& call) {
  const std::span<const std::uint64_t> its = call.arguments;
  switch (call.service) {
    case Service::print:
      return static_cast<std::uint64_t>(print(call, watch_));
    case Service::assertion: {
      // __assertfail(assertion, file, line, function, bytes of a character)
      const std::string assertion = call.text(call.arguments[0]);
      if (watch_.error() != cudaErrorAssert) {
        watch_.end_launch(call, Hazard::failed_assert, "fails the assertion `" + assertion + "`");
      }
      const std::string text = call.text(call.arguments[1]) + ":" +
                               std::to_string(call.arguments[2]) + ": " +
                               call.text(call.arguments[3]) + ": " + watch_.place_of(call) +
                               ": Assertion `" + assertion + "` failed.\n";
      if (!watch_.keep_printed(*call.warp.block, text)) std::fputs(text.c_str(), stderr);
      return std::nullopt;
    }
    case Service::trap:
      // As cooperative_groups does where a grid has no barrier.
      watch_.end_launch(call, Hazard::trap,
                        call.warp.block->grid->workspace == 0 && watch_.is_of_grid(call)
                            ? "waits for its whole grid in a launch that is not cooperative: use "
                              "cudaLaunchCooperativeKernel()"
                            : "reaches a __trap()");
      return std::nullopt;
    case Service::no_image:
      watch_.end_launch(call, Hazard::invalid_address,
                        "uses a texture or surface object that was not created, or was destroyed");
      return std::nullopt;
    case Service::freed_image:
      watch_.end_launch(call, Hazard::use_after_free,
                        "uses a texture or surface object whose memory was freed");
      return std::nullopt;
    case Service::outside_image:
      watch_.end_launch(call, Hazard::out_of_bounds,
                        "reads or writes outside its surface, or not at a multiple of the access's "
                        "size (x is counted in bytes)");
      return std::nullopt;
    case Service::launch_buffer:
      return buffer_for(call);
    case Service::launch:
      return launch(call);
    case Service::copy_row: {
      const std::uint64_t bytes = its[2];
      return add_copy(
          copied({its[0], bytes, its[1], bytes, bytes, 1}, "cudaMemcpyAsync of a kernel"), call,
          its[4]);
    }
    case Service::copy_rows:
      return add_copy(
          copied({its[0], its[1], its[2], its[3], its[4], its[5]}, "cudaMemcpy2DAsync of a kernel"),
          call, its[7]);
    case Service::copy_planes: {
      cudaMemcpy3DParms parameters{};
      const std::span<const std::byte> given = call.memory(its[0]);
      if (given.size() < sizeof parameters) return cudaErrorInvalidValue;
      std::memcpy(&parameters, given.data(), sizeof parameters);
      return add_copy(copy_of(parameters, {"cudaMemcpy3DAsync of a kernel", nullptr}), call,
                      its[1]);
    }
    case Service::set_row:
      return add_copy(filled(its[0], its[2], its[1], its[2], 1, "cudaMemsetAsync of a kernel"),
                      call, its[3]);
    case Service::set_rows:
      return add_copy(
          filled(its[0], its[1], its[2], its[3], its[4], "cudaMemset2DAsync of a kernel"), call,
          its[5]);
    case Service::set_planes: {
      // A pitched pointer, the value, an extent, the stream.
      const Side to{pointer(its[0]), its[1], its[1] * its[3]};
      const Extent extent{its[5], its[6], its[7]};
      const int value = static_cast<int>(its[4]);
      return add_copy(
          [=] {
            return set({"cudaMemset3DAsync of a kernel", nullptr}, to, value, extent);
          },
          call, its[8]);
    }
    case Service::device:
      return call.put(its[0], current_device()) ? cudaSuccess : cudaErrorInvalidValue;
    case Service::device_count:
      return call.put(its[0], settings().devices) ? cudaSuccess : cudaErrorInvalidValue;
    case Service::device_attribute:
      return call.put(its[0], value_of(static_cast<cudaDeviceAttr>(its[1])))
                 ? cudaSuccess
                 : cudaErrorInvalidValue;
    case Service::device_limit: {
      std::size_t limit = 0;
      const cudaError_t error = cudaDeviceGetLimit(&limit, static_cast<cudaLimit>(its[1]));
      if (error != cudaSuccess) return error;
      return call.put(its[0], limit) ? cudaSuccess : cudaErrorInvalidValue;
    }
    case Service::be_zero:
      return call.put(its[0], 0) ? cudaSuccess : cudaErrorInvalidValue;
    case Service::runtime_version:
      return call.put(its[0], CUDART_VERSION) ? cudaSuccess : cudaErrorInvalidValue;
    case Service::function_attributes: {
      Kernel* const kernel = find_kernel(*kernel_.module, its[1]);
      if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
      return call.put(its[0], attributes_of(*kernel)) ? cudaSuccess : cudaErrorInvalidValue;
    }
    case Service::occupancy: {
      Kernel* const kernel = find_kernel(*kernel_.module, its[1]);
      if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
      const int threads = static_cast<int>(its[2]);
      if (threads <= 0) return cudaErrorInvalidValue;
      return call.put(its[0], resident_blocks(*kernel, threads, its[3])) ? cudaSuccess
                                                                         : cudaErrorInvalidValue;
    }
    case Service::error_name:
      return address_of_text(cudaGetErrorName(static_cast<cudaError_t>(its[0])));
    case Service::error_text:
      return address_of_text(cudaGetErrorString(static_cast<cudaError_t>(its[0])));
    case Service::give_handle:
      return call.put(call.arguments[0], ++last_handle_ << 8) ? cudaSuccess : cudaErrorInvalidValue;
    case Service::record_event:
      recorded_[its[0]] = stream_of(call, its[1]);
      return cudaSuccess;
    case Service::wait_for_event:
      if (const auto found = recorded_.find(its[1]); found != recorded_.end()) {
        counted_as_[stream_now(stream_of(call, its[0]))] = stream_now(found->second);
      }
      return cudaSuccess;
    case Service::succeed:
      return cudaSuccess;
    case Service::allocate_global: {
      const std::uint64_t address = allocate_for_kernel(call.arguments[1]);
      return call.put(call.arguments[0], address) && address != 0 ? cudaSuccess
                                                                  : cudaErrorMemoryAllocation;
    }
    case Service::allocate:
      return allocate_for_kernel(call.arguments[0]);
    case Service::set_condition:
      if (!set_condition(call.arguments[0], static_cast<unsigned>(call.arguments[1]))) {
        watch_.end_launch(call, Hazard::trap,
                          "sets a condition whose handle cudaGraphConditionalHandleCreate did not "
                          "give");
        return std::nullopt;
      }
      return 0;
    case Service::free:
    case Service::free_global: {
      const std::uint64_t address = call.arguments[0];
      const Block* const block = block_at(address);
      if (address == 0) return 0;
      const bool is_given = block != nullptr && block->kind == MemoryKind::heap;
      if (is_given) watch_.frees(call, *block);
      for (const auto& one : call.warp.block->cluster->blocks) one->known = {};
      if (!is_given || !release(address)) {
        watch_.end_launch(call, Hazard::trap,
                          "frees what malloc did not give in a kernel, or frees it twice");
        return std::nullopt;
      }
      return 0;
    }
  }
  return 0;
}

}  // namespace simt::cudart
