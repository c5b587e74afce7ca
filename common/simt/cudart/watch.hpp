// Watches a launch: counts what it moves, keeps what it does wrong, and makes the launch's entry in the report of both.
#pragma once

#include <driver_types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/simt/checker/hazards.hpp"
#include "common/simt/checker/launch_check.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/cudart/module.hpp"
#include "common/simt/cudart/printed.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/machine/grid.hpp"
#include "common/simt/machine/services.hpp"
#include "common/simt/report/lines.hpp"
#include "common/simt/simt.hpp"

namespace simt::cudart {

using report::DeviceLine;

/// Words of memory that others may write, and that a kernel has read: what they held before.
struct Polled {
  bool of_device = false;  // others than the host too: other streams
  std::unordered_map<std::uint64_t, std::uint32_t> words = {};    // by address / 4
  std::unordered_map<std::uint64_t, std::uint32_t> updated = {};  // what its last atomic found
  std::unordered_set<std::uint64_t> own = {};  // that the kernel has changed since it read them
  bool is_full = false;                        // there are more
  bool bars_others = false;                    // who reads them: another launch has no room
  bool has_changed() const { return has_changed({}); }
  /// Any but these.
  bool has_changed(const std::unordered_set<std::uint64_t>& but) const;
  /// Of its own the present values. Whether any is another than before.
  bool renew_own();
};

/// What kernels touch that one kernel has launched, and those that these launch. Of each word and WarpAccess::Kind what two
/// of its streams did: a third is beside one of them, whichever.
struct Siblings {
  struct Access {
    std::uint32_t stream = 0;  // 0: there is none
    std::int32_t site = -1;
    Kernel* kernel = nullptr;
    std::uint8_t bytes = 0;  // of the word, a bit each
    bool is_strong = false;
  };
  static constexpr std::size_t kMostWords = 1 << 20;  // what lies beyond is not compared
  std::unordered_map<std::uint64_t, std::array<std::array<Access, 2>, 3>> words;
};

class Watch : public machine::Observer {
 public:
  /// `checks` as Settings has them. All of the arguments must outlive it. `worker`: it watches some of the blocks, others
  /// the rest at the same time, and what memory held is kept in memory_undo().
  Watch(Kernel& kernel, const machine::Grid& grid, unsigned checks, timeline::Operation& operation,
        std::optional<std::size_t> worker = std::nullopt);
  ~Watch() override;

  Kernel& kernel() const { return kernel_; }
  /// Its kernel launches another, or asks for a copy, which runs beside it. Returns how many it has launched now.
  std::uint32_t launches() { return ++launches_; }
  /// A kernel that launched this one, or one that this one comes from; how many it had launched then; and, where it has
  /// launched on several streams, what was touched there, and the stream of this one.
  struct Parent {
    const Watch* watch;
    std::uint32_t launches;
    Siblings* siblings;
    std::uint32_t stream;
  };
  void runs_beside(std::vector<Parent> parents) { parents_ = std::move(parents); }
  /// A copy or memset, `name`, which the kernel has asked for at the site, touches memory beside those. What is wrong, once.
  static std::optional<Finding> copy_beside(const std::vector<Parent>& others, const char* name,
                                            Kernel& kernel, std::int32_t site,
                                            std::uint64_t address, std::size_t bytes, bool writes);
  /// Its kernel has touched memory after a launch.
  bool has_gone_on() const { return !after_launch_.empty(); }
  /// The number of its checker.
  std::size_t checker() const { return number_; }
  /// From now on reads of such words are noted there; null: no longer.
  void note_polled(Polled* polled) { polled_ = polled; }

  /// What is wrong is told when it happens, too.
  void tell(std::function<void(const Finding&)> to);
  std::uint32_t access(const machine::WarpAccess& access) override;
  std::uint32_t parameter(const machine::WarpAccess& access) override;
  std::uint32_t async_access(const machine::AsyncAccess& access) override;
  machine::Undefined::Origin joined(const machine::Warp& warp, machine::Undefined::Origin a,
                                    machine::Undefined::Origin b) override {
    return check_->joined(warp, a, b);
  }
  void matters(const machine::Warp& warp, machine::Undefined::Origin origin) override {
    check_->matters(warp, origin);
  }
  void image_access(const machine::Warp& warp, const machine::Step& step, std::size_t lane,
                    machine::WarpAccess::Kind kind, const machine::Image& image,
                    const std::byte* first, std::size_t bytes) override;
  void fault(const machine::WarpAccess& access, int lane, const std::string& what) override;
  void barrier(const machine::Block& block, std::uint32_t number) override;
  void cluster_arrival(const machine::Warp& warp, const machine::Step& step) override;
  void cluster_barrier(const machine::Cluster& cluster) override;
  void arrived(const machine::Warp& warp, std::uint32_t number) override;
  void warp_barrier(const machine::Warp& warp, std::uint32_t lanes) override;
  void fence(const machine::Warp& warp, const machine::Step& step) override;
  void launches_waited(const machine::Warp& warp) override;
  void next_launch_begins(const machine::Warp& warp) override;
  void copied(const machine::Warp& warp, const machine::PendingCopy& copy) override;
  void products_waited(const machine::Warp& warp, std::uint32_t but) override;
  void stores_waited(const machine::Warp& warp, std::uint32_t but, bool are_written) override;
  void phase_completed(const machine::Block& block, std::uint32_t barrier) override;
  void landed(const machine::Block& block, std::uint64_t begin, std::uint64_t end) override;
  void meaningless(const machine::Warp& warp, const machine::Step& step, std::uint32_t lanes,
                   const char* what) override;
  void begin(const machine::Block& block) override;
  void end(const machine::Block& block) override;
  /// A lane gives memory of malloc back: whoever touches it must come before.
  void frees(const machine::LaneCall& call, const Block& block);
  /// A lane ends the launch: it "fails the assertion `n > 0`".
  void end_launch(const machine::LaneCall& call, Hazard hazard, const std::string& what);
  /// Whether the lane is in the code that cooperative_groups has for a whole grid: what else ends a launch there is in files
  /// that this one includes.
  bool is_of_grid(const machine::LaneCall& call) const;
  /// "block: [0,0,0], thread: [1,0,0]"
  std::string place_of(const machine::LaneCall& call) const;
  /// What the launch has left behind. `polled`: what those that are stuck wait for, if the host could have written it.
  void take(const std::vector<machine::Stuck>& stuck, const Polled* polled = nullptr);

  /// Nothing was wrong. (Before take().)
  bool is_quiet() const;
  /// What it has counted as well.
  void add(const Watch& other);
  /// How the launch ended.
  cudaError_t error() const { return error_; }
  /// Its entry.
  virtual Launch launch();
  /// Keeps what a kernel prints, if the program reads that itself; else false.
  bool keep_printed(const machine::Block& block, const std::string& text);

 private:
  Counters& at(std::int32_t site) { return sites_[static_cast<std::size_t>(site + 1)]; }
  DeviceLine line_at(std::int32_t site) const;
  void tell_call(std::int32_t site, Finding& finding) const;
  const ptx::Variable* constant_before(std::uint64_t address) const;
  std::array<unsigned, 3> thread_of(const machine::Warp& warp, int lane) const;
  void add(Finding finding);
  void add_finding(Hazard hazard, std::int32_t site, const machine::Warp& warp, int lane,
                   const std::string& array, const std::string& what, Remedy remedy = Remedy::none,
                   const HostLine& launched = {}, const DeviceLine& other = {});
  bool is_early(const machine::Warp& warp, std::uint32_t lanes) const;
  std::uint32_t of_closed_devices(const machine::WarpAccess& access);
  void of_constants(const machine::WarpAccess& access);
  void after_launch(const machine::WarpAccess& access);
  void beside_others(const machine::WarpAccess& access);
  void poll(const machine::WarpAccess& access);
  // A copy's kernel and site are those where it was asked for.
  struct Party {
    Kernel& kernel;
    std::int32_t site;
    machine::WarpAccess::Kind kind;
    bool is_strong = false;
  };
  struct Conflict {
    Hazard hazard;
    Party other;
    bool is_of_parent;
    DeviceLine line() const;
    /// Of what another does there.
    std::string words(const std::string& array, machine::WarpAccess::Kind kind) const;
    Remedy remedy() const { return is_of_parent ? Remedy::beside_parent : Remedy::beside_sibling; }
  };
  template <class IsThere>
  static std::optional<Hazard> beside(const Party& one, const Party& other, bool is_parent,
                                      IsThere is_there);
  template <class IsThere>
  static std::optional<Conflict> conflict(const std::vector<Parent>& others, const Party& one,
                                          std::uint64_t word, std::uint8_t bytes, IsThere is_there);
  void all_have_waited(const machine::Block& block);
  void count(const machine::WarpAccess& access);
  void count(const machine::AsyncAccess& access);
  static void count_dshared(const machine::WarpAccess& access, Counters& c);
  static void count_swaps(memory::WarpAddresses left, Counters& c);
  static void count_load(const memory::Wavefronts& its, Counters& c);
  void keep(const machine::WarpAccess& access);
  void remember(const machine::WarpAccess& access);
  void by_flags(const machine::WarpAccess& access);
  void remember_constants(const machine::WarpAccess& access);
  Finding finding_of(const checker::Finding& finding) const;

  Kernel& kernel_;
  const machine::Grid& grid_;
  const int device_ = current_device();
  const ptx::Module& module_;
  timeline::Operation& operation_;
  bool counts_;
  bool keeps_;  // what memory held
  std::size_t number_;
  checker::Checker& checker_;
  std::optional<checker::LaunchCheck> check_;
  // Of an early launch: the lanes that have waited for those before it.
  std::unordered_map<const machine::Warp*, std::uint32_t> have_waited_;
  // Of constant memory: where it is, and of which words the operation knows that they are read.
  std::uint64_t constants_ = 0;
  std::vector<char> constants_read_;
  std::vector<Counters> sites_;         // by site, behind one for what has none
  std::vector<std::uint64_t> tallies_;  // by Probes::tallies()
  std::unordered_map<std::int32_t, std::uint64_t> local_sectors_;  // by site
  OtherCounts other_;                                              // all but local_sectors
  std::vector<Finding> findings_;
  std::function<void(const Finding&)> tell_;
  PrintLog printed_;
  // An access after a launch by the kernel: by WarpAccess::Kind, the last to a word.
  struct AfterLaunch {
    std::uint32_t launches = 0;  // that there had been; 0: there is none
    std::int32_t site = -1;
    std::uint8_t bytes = 0;  // of the word, a bit each, of all of them
    bool is_strong = false;
  };
  std::unordered_map<std::uint64_t, std::array<AfterLaunch, 3>> after_launch_;
  std::uint32_t launches_ = 0;
  std::vector<Parent> parents_;
  Polled* polled_ = nullptr;
  std::map<std::pair<std::int32_t, std::string>, std::size_t> faults_;  // which finding tells them
  cudaError_t error_ = cudaSuccess;
};

}  // namespace simt::cudart
