// Tells the checker what a launch on the machine does.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/simt/checker/checker.hpp"
#include "common/simt/checker/facts.hpp"
#include "common/simt/machine/grid.hpp"

namespace simt::checker {

class LaunchCheck {
 public:
  using NameOfGlobal = std::function<std::string(std::uint64_t address)>;
  struct Looks {
    bool for_races = true, for_uninitialised = true, for_bounds = true, for_barriers = true;
    bool is_parallel = false;  // see Launch
  };
  /// All arguments must outlive it. `name_of` names global memory.
  LaunchCheck(Checker& checker, const Facts& facts, const machine::Grid& grid,
              const machine::Addresses& variables, Looks looks, NameOfGlobal name_of);
  ~LaunchCheck();

  /// As machine::Observer has them. Lanes for which the access must not be made are told.
  std::uint32_t access(const machine::WarpAccess& access);
  std::uint32_t parameter(const machine::WarpAccess& access);
  std::uint32_t async_access(const machine::AsyncAccess& access);
  std::uint32_t joined(const machine::Warp& warp, std::uint32_t a, std::uint32_t b);
  void matters(const machine::Warp& warp, std::uint32_t origin);
  /// A lane's address is no memory that it may touch. True, and told, if it has left the variable that it comes from.
  bool fault(const machine::WarpAccess& access, int lane);
  void image_access(const machine::Warp& warp, int lane, std::int32_t site,
                    machine::WarpAccess::Kind kind, std::uint64_t address, std::size_t bytes);
  /// The lane makes it nobody's: as a store, for the order.
  void frees(const machine::Warp& warp, int lane, std::int32_t site, std::uint64_t begin,
             std::size_t bytes);
  void barrier(const machine::Block& block, std::uint32_t number);
  void cluster_arrival(const machine::Warp& warp, const machine::Step& step);
  void cluster_barrier(const machine::Cluster& cluster);
  void arrived(const machine::Warp& warp, std::uint32_t number);
  void warp_barrier(const machine::Warp& warp, std::uint32_t lanes);
  void fence(const machine::Warp& warp, const machine::Step& step);
  void copied(const machine::Warp& warp, const machine::PendingCopy& copy);
  void products_waited(const machine::Warp& warp, std::uint32_t but);
  void stores_waited(const machine::Warp& warp, std::uint32_t but, bool are_written);
  void landed(const machine::Block& block, std::uint64_t begin, std::uint64_t end);
  void phase_completed(const machine::Block& block, std::uint32_t barrier);
  void meaningless(const machine::Warp& warp, const machine::Step& step, std::uint32_t lanes,
                   std::string_view what);
  /// Whether an instruction of the kernel loads from this __constant__ variable.
  bool reads_constant(const std::string& name) const;
  void begin(const machine::Block& block);
  void end(const machine::Block& block);

  /// Once, after the launch.
  std::vector<Finding> findings(const LineOf& line_of);

 private:
  void bound(const machine::Addresses& variables);
  Access described(const machine::WarpAccess& access) const;
  BlockCheck& check_of(const machine::Block& block);
  void find_missing(const machine::Cluster& cluster);
  // Of constants or parameters, in which nothing but the bounds is looked at.
  std::uint32_t leaves_read_only(const machine::WarpAccess& access, Space space);
  std::uint32_t look(const machine::WarpAccess& its);
  void own_variables(Launch& launch) const;
  void bring(const machine::WarpAccess& its, const Access& access);
  void take(const machine::WarpAccess& its);
  std::string name_in_shared(std::uint64_t address) const;
  /// A store in bulk to global memory that its lane has not waited for.
  struct Unwaited {
    const machine::Block* block;
    unsigned warp;
    int lane;
    std::uint32_t group;
    std::int32_t site;
    Act act;
    std::vector<machine::AsyncAccess::Piece> pieces;
    std::uint64_t source;  // in shared memory
  };
  std::uint32_t touch(const Unwaited& its, Space space, BlockCheck& memory);
  bool is_twice(const Unwaited& its);
  void before_its_own(const Unwaited& its);
  template <class Is>
  void wrote(const machine::Block& block, Is is_over);

  Checker& checker_;
  const Facts& facts_;
  const machine::Grid& grid_;
  std::vector<Site> sites_;
  bool looks_for_races_;
  bool looks_for_barriers_;
  bool looks_for_uninitialised_;
  std::vector<Access::Unwritten> unwritten_;  // by the access that is looked at
  std::vector<Unwaited> unwaited_;
  std::uint64_t source_ = 0;  // what a copy in bulk has read last
  bool has_faults_ = false;   // threads have ended where they should not have
  std::unordered_map<const machine::Block*, std::unique_ptr<BlockCheck>> blocks_;
  const machine::Block* last_ = nullptr;
  BlockCheck* last_check_ = nullptr;
};

}  // namespace simt::checker
