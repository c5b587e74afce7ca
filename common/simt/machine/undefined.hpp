// Values that nobody has written, while they are in a warp's registers. What such a value is worth is known only where it is
// used: `false AND what nobody wrote` is false. From the load that brings one on, a warp is followed step by step until
// none is left; a warp that has none costs nothing.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "common/simt/machine/code.hpp"

namespace simt::machine {

class Undefined {
 public:
  /// Where such a value comes from: a number that the observer gives; 0: from somebody who wrote it.
  using Origin = std::uint32_t;

  bool empty() const { return slots_.empty(); }
  void clear() { slots_.clear(); }
  /// The load that runs brings this into a register. By the observer.
  void bring(std::uint32_t slot, std::size_t lane, Origin origin) { slots_[slot][lane] = origin; }
  Origin at(std::uint32_t slot, std::size_t lane) const {
    const auto found = slots_.find(slot);
    return found == slots_.end() ? 0 : found->second[lane];
  }
  /// Before the warp runs the step: tells the observer what matters to it, and what its result is then.
  void pass(const Step& step, Warp& warp);

 private:
  using Origins = std::array<Origin, kLanes>;

  void needs(std::uint32_t slot, std::uint32_t lanes, Warp& warp) const;
  void put(std::uint32_t slot, std::uint32_t lanes, const Origins& origins);
  Origins made_by(const Step& step, Warp& warp, std::uint32_t lanes) const;

  std::unordered_map<std::uint32_t, Origins> slots_;  // of registers
};

/// How the steps of an instruction pass values on, but for those that say it themselves.
Flow flow_of(const ptx::Instruction& one);

}  // namespace simt::machine
