// What a kernel's lanes ran. A step that is not known to have run is replaced by one that notes it; once nothing about it
// can be news, it is itself again and costs nothing. Only what is counted each time stays replaced.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/simt/machine/code.hpp"

namespace simt::machine {

/// Of an instruction, a bit each.
inline constexpr std::uint8_t kRan =
    1;  // by some lane; of a branch, and of one under a predicate that held
inline constexpr std::uint8_t kTaken = 2;   // a conditional branch: some lane jumped
inline constexpr std::uint8_t kPassed = 4;  // some lane did not

class Probes {
 public:
  /// Of a kernel that decode() has made, which it must not outlive.
  explicit Probes(Code& code);

  /// From the next launch on, or no longer. Not while a launch runs.
  void look(bool looks);
  /// Of each of Code::sites what it did since the last call. Not while a launch runs.
  std::vector<std::uint8_t> take();

  /// What is counted at each execution: of the sites' numbers here, in Block::tallies.
  struct Tally {
    std::int32_t site = -1;
    std::uint8_t weight = 1;
    bool is_of_warp = false;  // once for a warp, not for each lane
  };
  const std::vector<Tally>& tallies() const { return tallies_; }

  /// In place of a step.
  const Step* run(const Step* step, Warp& warp);

 private:
  struct Probe {
    Execute run =
        nullptr;  // the step's own; null: it is the second of an instruction, which nobody asks about
    std::uint8_t wanted = 0;  // flags that it can have
    std::int32_t tally = -1;
  };

  void arm();

  Code& code_;
  std::vector<Probe> probes_;  // by step
  std::vector<Tally> tallies_;
  std::vector<std::atomic<std::uint8_t>> flags_;  // by site
  bool looks_ = false;
};

}  // namespace simt::machine
