// What kernels ask of the runtime: printf, assert, malloc, the end of the launch.
#pragma once

#include <driver_types.h>

#include <optional>
#include <string>

#include "common/simt/machine/services.hpp"
#include "common/simt/simt.hpp"

namespace simt::cudart {

class Watch;

class KernelServices : public machine::Services {
 public:
  /// It is told how the launch ended where a kernel ends it.
  explicit KernelServices(Watch& watch) : watch_(watch) {}

  std::optional<std::uint64_t> call(const machine::LaneCall& call) override;

 private:
  Watch& watch_;
};

/// What device code's printf makes of its format and its arguments, which lie one behind the other, each at a multiple of
/// its size.
std::string formatted(const machine::LaneCall& call, std::uint64_t format, std::uint64_t arguments);

}  // namespace simt::cudart
