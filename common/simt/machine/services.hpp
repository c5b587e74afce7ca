// What device code calls and no module has: printf, assert, malloc. The machine finds the lanes' arguments; whoever runs
// the grid does what is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/simt/machine/code.hpp"

namespace simt::machine {

/// A call by one lane.
struct LaneCall {
  Service service;
  Warp& warp;
  int lane = 0;
  const Step* step = nullptr;
  std::span<const std::uint64_t> arguments;  // each widened to 64 bits with zeros

  /// What the lane may touch from this generic address on, to the end of the variable or allocation: empty if nothing.
  std::span<const std::byte> memory(std::uint64_t address) const;
  /// The text there, up to its zero.
  std::string text(std::uint64_t address) const;
  /// Stores this there; false if the lane may not.
  bool put(std::uint64_t address, const void* from, std::size_t bytes) const;
  template <class T>
  bool put(std::uint64_t address, const T& value) const {
    return put(address, &value, sizeof value);
  }
};

class Services {
 public:
  virtual ~Services() = default;
  /// What the function returns, 0 if that is nothing; no value: the launch ends here. Called by the thread that runs
  /// the block, for the lanes of a warp in their order.
  virtual std::optional<std::uint64_t> call(const LaneCall& call) = 0;
};

std::optional<Service> service_named(std::string_view function);
/// Whether it is asked for even where the module has such a function, which NVIDIA's library brought.
bool is_of_device_runtime(std::string_view function);

/// Calls the service for all active lanes.
const Step* call_service(const Step* step, Warp& warp);

}  // namespace simt::machine
