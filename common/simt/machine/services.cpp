#include "common/simt/machine/services.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "common/simt/machine/access.hpp"
#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/grid.hpp"

namespace simt::machine {
namespace {

// What nvcc puts before the names of the runtime's functions in device code.
constexpr std::string_view kOfLaunches = "__cudaCDP2";

// Of a lane the bytes that each thread has for itself.
std::byte* own_memory(Warp& warp, int lane, const ServiceCall& call) {
  return warp.block->own(warp, lane) +
         (call.is_in_frame ? warp.frames[static_cast<std::size_t>(lane)] : 0);
}

void build_trap(Decoder& decoder, const ptx::Instruction&) {
  decoder.emit_service({.service = Service::trap, .arguments = {}});
}

}  // namespace

std::span<const std::byte> LaneCall::memory(std::uint64_t address) const {
  return readable(warp, lane, address);
}

std::string LaneCall::text(std::uint64_t address) const {
  const std::span<const std::byte> bytes = memory(address);
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  return bytes.empty() ? "" : std::string(begin, strnlen(begin, bytes.size()));
}

bool LaneCall::put(std::uint64_t address, const void* from, std::size_t bytes) const {
  const std::span<const std::byte> there = memory(address);
  if (there.size() < bytes) return false;
  std::memcpy(const_cast<std::byte*>(there.data()), from, bytes);
  return true;
}

bool is_of_device_runtime(std::string_view function) { return function.starts_with(kOfLaunches); }

std::optional<Service> service_named(std::string_view function) {
  if (is_of_device_runtime(function)) {
    std::string_view name = function.substr(kOfLaunches.size());
    if (name.ends_with("_ptsz")) name.remove_suffix(5);
    if (name == "GetParameterBufferV2") return Service::launch_buffer;
    if (name == "LaunchDeviceV2") return Service::launch;
    if (name == "StreamCreateWithFlags" || name == "EventCreateWithFlags") {
      return Service::give_handle;
    }
    for (const std::string_view other :
         {"GetLastError", "PeekAtLastError", "StreamDestroy", "EventDestroy"}) {
      if (name == other) return Service::succeed;
    }
    static constexpr std::pair<std::string_view, Service> kOthers[] = {
        {"StreamWaitEvent", Service::wait_for_event},
        {"EventRecord", Service::record_event},
        {"EventRecordWithFlags", Service::record_event},
        {"MemcpyAsync", Service::copy_row},
        {"Memcpy2DAsync", Service::copy_rows},
        {"Memcpy3DAsync", Service::copy_planes},
        {"MemsetAsync", Service::set_row},
        {"Memset2DAsync", Service::set_rows},
        {"Memset3DAsync", Service::set_planes},
        {"GetDevice", Service::device},
        {"GetDeviceCount", Service::device_count},
        {"DeviceGetAttribute", Service::device_attribute},
        {"DeviceGetLimit", Service::device_limit},
        {"DeviceGetCacheConfig", Service::be_zero},
        {"DeviceGetSharedMemConfig", Service::be_zero},
        {"RuntimeGetVersion", Service::runtime_version},
        {"FuncGetAttributes", Service::function_attributes},
        {"OccupancyMaxActiveBlocksPerMultiprocessor", Service::occupancy},
        {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", Service::occupancy},
        {"GetErrorName", Service::error_name},
        {"GetErrorString", Service::error_text},
        {"Malloc", Service::allocate_global},
        {"Free", Service::free_global},
    };
    for (const auto& [its, service] : kOthers) {
      if (name == its) return service;
    }
    return std::nullopt;
  }
  if (function == "vprintf") return Service::print;
  if (function == "__assertfail") return Service::assertion;
  if (function == "malloc") return Service::allocate;
  if (function == "free") return Service::free;
  if (function == "cudaGraphSetConditional") return Service::set_condition;
  return std::nullopt;
}

const Step* call_service(const Step* step, Warp& warp) {
  const Grid& grid = *warp.block->grid;
  const ServiceCall& called = grid.code->service_calls[static_cast<std::size_t>(step->offset)];
  std::array<std::uint64_t, ServiceCall::kMostArguments> arguments{};
  for (std::uint32_t open = warp.active; open != 0; open &= open - 1) {
    const int lane = std::countr_zero(open);
    for (std::size_t i = 0; i < called.arguments.size(); ++i) {
      const ServiceCall::Value& one = called.arguments[i];
      arguments[i] = 0;
      std::memcpy(&arguments[i], own_memory(warp, lane, called) + one.at, one.bytes);
    }
    const std::optional<std::uint64_t> result = grid.services->call(
        {called.service, warp, lane, step, std::span(arguments).first(called.arguments.size())});
    if (!result) {
      warp.block->cluster->is_ended = true;
      // Each lane whose assertion fails says so.
      if (called.service != Service::assertion) break;
      continue;
    }
    std::memcpy(own_memory(warp, lane, called) + called.result.at, &*result, called.result.bytes);
  }
  return warp.block->cluster->is_ended ? nullptr : step + 1;
}

void add_service_forms(std::vector<Form>& forms) { add_built(forms, "trap", &build_trap); }

}  // namespace simt::machine
