// Which lines of device code ran, and which ways its branches never went: what Coverage (simt.hpp) is made of.
//
// A line counts as reached if one of those of its instructions ran that nvcc leaves where they belong: accesses to memory,
// calls, barriers, branches. Arithmetic may stand elsewhere, ahead of a loop or down in a branch; a line that has nothing
// else is told as not reached only where the code around it says so too.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/simt/ptx/module.hpp"
#include "common/simt/simt.hpp"

namespace simt::report {

/// A kernel, and how often it was launched.
struct KernelRun {
  const ptx::Function* function = nullptr;
  std::uint64_t launches = 0;
};

/// Joins what is known of the modules of a program.
class CoverageFacts {
 public:
  /// `ran` has of each line of the module's text what its instruction did, as machine::Probes has it.
  void add(const ptx::Module& module, std::span<const std::uint8_t> ran,
           std::span<const KernelRun> kernels);
  void add(const CoverageFacts& others);
  void add(const std::string& kernel, std::uint64_t launches) { kernels_[kernel] += launches; }
  Coverage told() const;

 private:
  friend class ModuleFacts;
  struct Line {
    struct Part {
      bool is_there = false;
      bool is_reached = false;
      bool is_launched = false;  // a launch could get to one that has it
      void add(const Part& other) {
        is_there |= other.is_there;
        is_reached |= other.is_reached;
        is_launched |= other.is_launched;
      }
    };
    Part sure, rest;
    bool branched = false;  // it decides something, and did
    bool follows = false;   // the rest: what is sure of the code around it never ran
    bool follows_launched = false;
    // Whether it counts as a line of what was launched.
    bool launched() const {
      return sure.is_launched || follows_launched || (rest.is_launched && reached());
    }
    bool reached() const { return branched || (sure.is_there ? sure.is_reached : rest.is_reached); }
  };
  using LineOfAll = std::map<std::pair<std::string, int>, Line>::value_type;
  using Place = std::tuple<std::string, int, int>;  // file, line, column
  using Lines = std::set<std::pair<std::string, int>>;
  // Of all copies that nvcc made of it.
  struct Branch {
    std::map<std::pair<Place, Place>, std::pair<bool, bool>> copies;  // where they lead, and went
    std::map<Place, Lines> lines;  // of the code that begins there
    bool launched = false;
    // What closes a loop is apart from what decides whether it is entered.
    bool is_loop = false;
    bool closed = false;
    bool again = false;
    bool closed_launched = false;

    /// Where it can go, and whether it did.
    std::vector<std::pair<Place, bool>> ways() const;
  };

  std::map<std::pair<std::string, int>, Line> lines_;
  std::map<Place, Branch> branches_;
  std::map<std::string, std::uint64_t> kernels_;  // launches
};

}  // namespace simt::report
