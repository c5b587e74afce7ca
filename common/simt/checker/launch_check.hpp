// Tells the checker what a launch on the machine does.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/simt/checker/checker.hpp"
#include "common/simt/checker/facts.hpp"
#include "common/simt/machine/grid.hpp"

namespace simt::checker {

class LaunchCheck {
 public:
  using NameOfGlobal = std::function<std::string(std::uint64_t address)>;
  struct Looks {
    bool for_races = true, for_uninitialised = true, for_bounds = true;
    bool is_parallel = false;  // see Launch
  };
  /// All arguments must outlive it. `name_of` names global memory.
  LaunchCheck(Checker& checker, const Facts& facts, const machine::Grid& grid,
              const machine::Addresses& variables, Looks looks, NameOfGlobal name_of);
  ~LaunchCheck();

  /// As machine::Observer has them. False if the access must not be made, which is told.
  bool access(const machine::WarpAccess& access);
  /// A lane's address is no memory that it may touch. True, and told, if it has left the variable that it comes from.
  bool fault(const machine::WarpAccess& access);
  void barrier(const machine::Block& block, std::uint32_t number);
  void cluster_barrier(const machine::Cluster& cluster);
  void warp_barrier(const machine::Warp& warp, std::uint32_t lanes);
  void fence(const machine::Warp& warp, const machine::Step& step);
  void begin(const machine::Block& block);
  void end(const machine::Block& block);

  /// Once, after the launch.
  std::vector<Finding> findings(const LineOf& line_of);

 private:
  void bound(const machine::Addresses& variables);
  Access described(const machine::WarpAccess& access) const;
  BlockCheck& check_of(const machine::Block& block);
  std::string name_in_shared(std::uint64_t address) const;

  Checker& checker_;
  const Facts& facts_;
  const machine::Grid& grid_;
  std::vector<Site> sites_;
  std::unordered_map<const machine::Block*, std::unique_ptr<BlockCheck>> blocks_;
  const machine::Block* last_ = nullptr;
  BlockCheck* last_check_ = nullptr;
};

}  // namespace simt::checker
