#include "common/simt/checker/launch_check.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace simt::checker {
namespace {

using machine::WarpAccess;

Act act_of(WarpAccess::Kind kind) {
  return kind == WarpAccess::Kind::load    ? Act::load
         : kind == WarpAccess::Kind::store ? Act::store
                                           : Act::atomic;
}

Access told(const WarpAccess& its) {
  const Space space = its.space == WarpAccess::Space::global     ? Space::global
                      : its.space == WarpAccess::Space::local    ? Space::local
                      : its.space == WarpAccess::Space::constant ? Space::constant
                                                                 : Space::shared;
  return {space, act_of(its.kind), its.lanes, its.step->site, its.warp->index};
}

// What one lane touches.
struct OfLane {
  std::array<std::uint64_t, machine::kLanes> addresses;
  memory::WarpAddresses lanes;
  OfLane(int lane, std::uint64_t at, std::uint64_t bytes)
      : lanes{addresses, 1u << lane, static_cast<int>(bytes), true, at, at + bytes} {
    addresses.fill(at);
  }
};

}  // namespace

LaunchCheck::LaunchCheck(Checker& checker, const Facts& facts, const machine::Grid& grid,
                         const machine::Addresses& variables, Looks looks, NameOfGlobal name_of)
    : checker_(checker),
      facts_(facts),
      grid_(grid),
      sites_(facts.sites),
      looks_for_races_(looks.for_races),
      looks_for_barriers_(looks.for_barriers),
      looks_for_uninitialised_(looks.for_uninitialised) {
  if (looks.for_bounds) bound(variables);
  Launch launch;
  launch.sites = sites_;
  launch.threads = static_cast<unsigned>(grid.threads.count());
  launch.shared_bytes = grid.code->static_shared + grid.dynamic_shared;
  launch.is_async = facts.is_async;
  launch.has_clusters = grid.cluster.count() > 1;
  launch.hands_on = facts.hands_on || launch.has_clusters;
  launch.by_barriers = !facts.hands_on;
  launch.is_parallel = looks.is_parallel;
  launch.is_quick = looks.is_parallel && launch.has_clusters && facts.may_be_quick;
  launch.looks_for_races = looks.for_races;
  launch.looks_for_uninitialised = looks.for_uninitialised;
  if (looks.for_bounds || looks.for_uninitialised) own_variables(launch);
  launch.name_of = [this, name_of = std::move(name_of)](Space space, std::uint64_t address) {
    return space == Space::shared ? name_in_shared(address) : name_of(address);
  };
  checker_.begin_launch(launch);
}

LaunchCheck::~LaunchCheck() = default;

// Where the variables are that addresses are derived from, in this launch.
void LaunchCheck::bound(const machine::Addresses& variables) {
  const std::uint64_t shared_bytes = grid_.code->static_shared + grid_.dynamic_shared;
  const std::vector<std::uint64_t> places = ptx::parameter_places(*grid_.code->function);
  const std::vector<ptx::Variable>& parameters = grid_.code->function->parameters;
  const auto named = [&](const std::string& name) {
    return std::find_if(parameters.begin(), parameters.end(),
                        [&](const ptx::Variable& one) { return one.name == name; });
  };
  const auto variable_of = [&](const Origin& origin) {
    Site::Variable its;
    if (origin.kind == Origin::Kind::variable) {
      const auto shared = std::find_if(grid_.code->shared.begin(), grid_.code->shared.end(),
                                       [&](const auto& one) { return one.name == origin.name; });
      if (shared != grid_.code->shared.end()) {
        const bool is_dynamic = shared->bytes == 0;
        return Site::Variable{Space::shared, shared->begin,
                              is_dynamic ? shared_bytes : shared->begin + shared->bytes, is_dynamic,
                              ptx::variable_name(origin.name)};
      }
      if (const auto own = named(origin.name); own != parameters.end()) {
        const std::uint64_t begin = places[static_cast<std::size_t>(own - parameters.begin())];
        return Site::Variable{Space::parameter, begin,
                              begin + static_cast<std::uint64_t>(own->bytes), false, "a parameter"};
      }
      const auto global = variables.find(origin.name);
      if (global == variables.end()) return its;
      if (origin.end != 0) {
        return Site::Variable{Space::constant, global->second,
                              global->second + static_cast<std::uint64_t>(origin.end), false,
                              ptx::variable_name(origin.name)};
      }
      const memory::Allocation* const all = grid_.arena->find(global->second);
      if (all == nullptr || all->begin != global->second) return its;
      return Site::Variable{Space::global, all->begin, all->end(), false, all->name};
    }
    if (origin.kind == Origin::Kind::object) {
      return Site::Variable{Space::local, static_cast<std::uint64_t>(origin.offset),
                            static_cast<std::uint64_t>(origin.end), false, "a local array"};
    }
    if (origin.kind == Origin::Kind::parameter) {
      std::uint64_t pointer = 0;
      const auto own = named(origin.name);
      if (own != parameters.end()) {
        const std::uint64_t from = places[static_cast<std::size_t>(own - parameters.begin())] +
                                   static_cast<std::uint64_t>(origin.offset);
        if (from + sizeof pointer <= grid_.parameters.size()) {
          std::memcpy(&pointer, grid_.parameters.data() + from, sizeof pointer);
        }
      }
      const memory::Allocation* const there = grid_.arena->find(pointer);
      if (pointer == 0 || there == nullptr || there->is_freed) return its;
      its.begin = there->begin;
      its.end = there->end();
    }
    return its;
  };
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    sites_[i].variable = variable_of(facts_.origins[i]);
    sites_[i].source = variable_of(facts_.sources[i]);
  }
}

void LaunchCheck::own_variables(Launch& launch) const {
  const machine::Code& code = *grid_.code;
  // Functions that are known by their address lie behind the kernel, whose variables are there while it runs.
  const auto has_called = [&](const machine::Body& body) {
    return body.outer < 0 || !code.called.empty();
  };
  for (const machine::Body& body : code.bodies) {
    if (body.called >= 0) continue;
    for (const ptx::Variable& one : body.function->variables) {
      const auto its = body.locals.find(one.name);
      const bool is_passed = one.space == ptx::Space::param && code.bodies.size() > 1;
      if ((one.space != ptx::Space::local && !is_passed) || its == body.locals.end()) continue;
      const bool is_open = is_passed || has_called(body);
      launch.own.push_back({its->second, its->second + static_cast<std::uint64_t>(one.bytes),
                            is_open ? 0 : body.first_site,
                            is_open ? std::numeric_limits<std::int32_t>::max() : body.end_site});
    }
  }
  std::sort(launch.own.begin(), launch.own.end(),
            [](const Launch::Own& a, const Launch::Own& b) { return a.begin < b.begin; });
  // What the system leaves there nobody tells.
  using machine::Service;
  const bool writes = std::any_of(
      code.service_calls.begin(), code.service_calls.end(), [](const machine::ServiceCall& one) {
        return one.service != Service::print && one.service != Service::assertion &&
               one.service != Service::allocate && one.service != Service::free &&
               one.service != Service::trap;
      });
  if (launch.looks_for_uninitialised && !launch.own.empty() && !writes) {
    launch.own_bytes = code.local;
  }
}

std::string LaunchCheck::name_in_shared(std::uint64_t address) const {
  const machine::PlacedVariable* found = nullptr;
  for (const machine::PlacedVariable& one : grid_.code->shared) {
    if (address < one.begin || (one.bytes != 0 && address >= one.begin + one.bytes)) continue;
    if (found == nullptr || one.begin >= found->begin) found = &one;
  }
  return found == nullptr ? "shared memory" : ptx::variable_name(found->name);
}

BlockCheck& LaunchCheck::check_of(const machine::Block& block) {
  if (&block != last_) {
    last_ = &block;
    last_check_ = blocks_.at(&block).get();
  }
  return *last_check_;
}

void LaunchCheck::begin(const machine::Block& block) {
  last_ = nullptr;
  auto& its = blocks_[&block];
  its.reset();
  its = std::make_unique<BlockCheck>(checker_, machine::linear(block.index, grid_.blocks));
}

void LaunchCheck::end(const machine::Block& block) {
  wrote(block, [](const Unwaited&) { return true; });
  if (!has_faults_) check_of(block).end();
  last_ = nullptr;
  blocks_.erase(&block);
}

std::uint32_t LaunchCheck::joined(const machine::Warp& warp, std::uint32_t a, std::uint32_t b) {
  return check_of(*warp.block).joined(a, b);
}

void LaunchCheck::matters(const machine::Warp& warp, std::uint32_t origin) {
  check_of(*warp.block).matters(origin);
}

// What a load has found that nobody wrote goes to its registers.
void LaunchCheck::bring(const WarpAccess& its, const Access& access) {
  if (access.space != Space::local) check_of(*its.warp->block).complete(access);
  for (const Access::Unwritten& one : unwritten_) {
    its.warp->undefined->bring(machine::value_slot(*its.step, one.value),
                               static_cast<std::size_t>(one.lane), one.origin);
  }
  unwritten_.clear();
}

// A store of what nobody wrote leaves the block's own shared memory unwritten, or the thread's; elsewhere it matters.
void LaunchCheck::take(const WarpAccess& its) {
  BlockCheck& check = check_of(*its.warp->block);
  const bool is_own = its.space == WarpAccess::Space::shared && its.block == its.warp->block;
  const int bytes = its.lanes.bytes / its.step->count;
  machine::each_lane(its.lanes.mask, [&](std::size_t lane) {
    for (int i = 0; i < its.step->count; ++i) {
      const std::uint32_t origin = its.warp->undefined->at(machine::value_slot(*its.step, i), lane);
      if (origin == 0) continue;
      if (is_own) {
        check.leaves_unwritten(its.lanes.address[lane] + static_cast<unsigned>(i * bytes),
                               static_cast<std::size_t>(bytes), origin);
      } else if (const Site& site = sites_[static_cast<std::size_t>(its.step->site)];
                 its.space == WarpAccess::Space::local &&
                 (site.is_passed ||
                  !grid_.code->sites[static_cast<std::size_t>(its.step->site)]->has("param"))) {
        // Of a bit field some bits may mean something.
        if (site.values[static_cast<std::size_t>(i)].is_mixed) continue;
        check.leaves_own_unwritten(its.warp->index * machine::kLanes + static_cast<unsigned>(lane),
                                   its.lanes.address[lane] + static_cast<unsigned>(i * bytes),
                                   static_cast<std::size_t>(bytes), origin);
      } else {
        check.matters(origin);
      }
    }
  });
}

std::uint32_t LaunchCheck::access(const WarpAccess& its) {
  const std::uint32_t faulty = look(its);
  if (its.step->flow == machine::Flow::stores && !its.warp->undefined->empty()) take(its);
  return faulty;
}

std::uint32_t LaunchCheck::parameter(const WarpAccess& its) {
  return leaves_read_only(its, Space::parameter);
}

std::uint32_t LaunchCheck::leaves_read_only(const WarpAccess& its, Space space) {
  const Site::Variable& its_variable = sites_[static_cast<std::size_t>(its.step->site)].variable;
  if (its_variable.begin <= its.lanes.least && its.lanes.beyond <= its_variable.end) return 0;
  Access access = told(its);
  access.space = space;
  const std::uint32_t leaving = check_of(*its.warp->block).leaves_variable(access);
  has_faults_ |= leaving != 0;
  return leaving;
}

std::uint32_t LaunchCheck::look(const WarpAccess& its) {
  if (its.space == WarpAccess::Space::constant) return leaves_read_only(its, Space::constant);
  if (its.space == WarpAccess::Space::reserved) {
    check_of(*its.warp->block).hand_on(told(its));
    return 0;
  }
  const machine::Block& block = *its.warp->block;
  const auto remember = [&](std::uint32_t faulty) {
    has_faults_ |= faulty != 0;
    return faulty;
  };
  if (its.space == WarpAccess::Space::local) {
    Access access = told(its);
    access.value_bytes = its.lanes.bytes / its.step->count;
    if (its.step->flow == machine::Flow::loads) access.unwritten = &unwritten_;
    const std::uint32_t faulty = check_of(block).own_access(access);
    if (!unwritten_.empty()) bring(its, access);
    return remember(faulty);
  }
  const bool is_shared = its.space == WarpAccess::Space::shared;
  // Memory that the host has lent is not looked at.
  if (!is_shared &&
      (!grid_.arena->contains(its.lanes.least) || !grid_.arena->contains(its.lanes.beyond - 1))) {
    return 0;
  }
  Access access = told(its);
  access.memory =
      is_shared ? its.block->shared.data() : grid_.arena->host(its.lanes.least) - its.lanes.least;
  access.value_bytes = its.lanes.bytes / its.step->count;
  if (access.act == Act::store && its.step->has_values) {
    for (int i = 0; i < its.step->count; ++i) {
      access.values[static_cast<std::size_t>(i)] =
          its.warp->registers + machine::value_slot(*its.step, i);
    }
  }
  if (!is_shared && looks_for_races_ && !unwaited_.empty()) {
    std::uint32_t lanes = 0;
    for (const Unwaited& one : unwaited_) {
      if (one.block == &block && one.warp == its.warp->index) lanes |= 1u << one.lane;
    }
    machine::each_lane(its.lanes.mask & lanes, [&](std::size_t lane) {
      const std::uint64_t at = its.lanes.address[lane];
      before_its_own({&block,
                      its.warp->index,
                      static_cast<int>(lane),
                      0,
                      its.step->site,
                      access.act,
                      {{at, at + static_cast<unsigned>(its.lanes.bytes)}},
                      UINT64_MAX});
    });
  }
  if ((its.warp->at_cluster & its.lanes.mask) != 0) check_of(block).acts_after_arrival();
  if (!is_shared || its.block == &block) {
    if (its.step->flow == machine::Flow::loads) access.unwritten = &unwritten_;
    const std::uint32_t faulty = check_of(block).access(access);
    if (!unwritten_.empty()) bring(its, access);
    return remember(faulty);
  }
  return remember(check_of(block).access_of(check_of(*its.block), access));
}

std::uint32_t LaunchCheck::async_access(const machine::AsyncAccess& its) {
  const bool is_shared = its.space == WarpAccess::Space::shared;
  const machine::Block& block = *its.warp->block;
  BlockCheck& check = check_of(block);
  if (is_shared && its.kind == WarpAccess::Kind::load) {
    std::vector<BlockCheck::Piece> pieces;
    for (const machine::AsyncAccess::Piece& one : its.pieces) {
      pieces.push_back({one.begin, one.end});
    }
    const bool is_product = its.lane < 0;
    std::optional<std::uint32_t> group;
    if (is_product) {
      group = its.warp->product_group;
    } else if (grid_.code->sites[static_cast<std::size_t>(its.step->site)]->has("bulk_group")) {
      group = its.warp->bulk_group[static_cast<std::size_t>(its.lane)];
    }
    check.async_read(pieces, its.step->site, its.warp->index, its.lane, group);
    source_ = pieces.empty() ? 0 : pieces.front().begin;
    return 0;
  }
  Unwaited asked{&block,
                 its.warp->index,
                 its.lane,
                 its.warp->bulk_group[static_cast<std::size_t>(its.lane)],
                 its.step->site,
                 act_of(its.kind),
                 {its.pieces.begin(), its.pieces.end()},
                 source_};
  BlockCheck& memory = is_shared && its.block != &block ? check_of(*its.block) : check;
  if (!is_shared && its.kind == WarpAccess::Kind::store && is_twice(asked)) return 0;
  if (!is_shared && looks_for_races_) before_its_own(asked);
  const std::uint32_t faulty = touch(asked, is_shared ? Space::shared : Space::global, memory);
  has_faults_ |= faulty != 0;
  if (faulty != 0) return faulty;
  if (is_shared && its.kind == WarpAccess::Kind::store) {
    for (const machine::AsyncAccess::Piece& one : its.pieces) {
      memory.start_bulk({one.begin, one.end}, its.step->site, check,
                        its.warp->index * machine::kLanes + static_cast<unsigned>(its.lane));
    }
  }
  if (!is_shared && its.kind != WarpAccess::Kind::load) unwaited_.push_back(std::move(asked));
  return 0;
}

// Whether another lane of the warp copies the same to the same place, which is told.
bool LaunchCheck::is_twice(const Unwaited& its) {
  const auto other = std::find_if(unwaited_.begin(), unwaited_.end(), [&](const Unwaited& one) {
    return one.block == its.block && one.warp == its.warp && one.lane != its.lane &&
           one.site == its.site && one.group == its.group && one.source == its.source &&
           std::equal(
               one.pieces.begin(), one.pieces.end(), its.pieces.begin(), its.pieces.end(),
               [](const auto& a, const auto& b) { return a.begin == b.begin && a.end == b.end; });
  });
  if (other == unwaited_.end() || its.pieces.empty()) return false;
  const auto thread_of = [](const Unwaited& one) {
    return one.warp * machine::kLanes + static_cast<unsigned>(one.lane);
  };
  check_of(*its.block)
      .report(Hazard::same_value_write, its.site, thread_of(*other),
              "writes " + checker_.name_of(Space::global, its.pieces.front().begin) +
                  ", which is also written by",
              its.site, {machine::linear(its.block->index, grid_.blocks), thread_of(its)});
  return true;
}

// A thread's own copies in bulk that it has not waited for come at any moment for it too. (The same copy once more likely
// brings the same.)
void LaunchCheck::before_its_own(const Unwaited& its) {
  for (const Unwaited& one : unwaited_) {
    const bool is_own = one.block == its.block && one.warp == its.warp && one.lane == its.lane;
    const bool is_again = one.act == its.act && one.source == its.source;
    if (!is_own || is_again || (one.act == Act::atomic && its.act == Act::atomic)) continue;
    for (const auto& [begin, end] : its.pieces) {
      if (std::none_of(one.pieces.begin(), one.pieces.end(),
                       [&](const auto& other) { return other.begin < end && begin < other.end; })) {
        continue;
      }
      check_of(*its.block)
          .report(Hazard::unfinished_copy, its.site,
                  its.warp * machine::kLanes + static_cast<unsigned>(its.lane),
                  (its.act == Act::load ? "reads " : "writes ") +
                      checker_.name_of(Space::global, begin) +
                      ", while a copy in bulk may still write it, which it has asked for itself:",
                  one.site, {}, Remedy::bulk_store);
      break;
    }
  }
}

// Of one lane, in pieces as large as an access may be: a power of two, and less where bytes may lack.
std::uint32_t LaunchCheck::touch(const Unwaited& its, Space space, BlockCheck& memory) {
  BlockCheck& check = check_of(*its.block);
  const bool is_shared = space == Space::shared;
  std::uint32_t faulty = 0;
  for (const machine::AsyncAccess::Piece& piece : its.pieces) {
    if (!is_shared &&
        (!grid_.arena->contains(piece.begin) || !grid_.arena->contains(piece.end - 1))) {
      continue;
    }
    constexpr std::uint64_t kMost = 512, kLeast = 4;
    const bool is_simple = its.act == Act::store || is_shared ||
                           checker_.initialised().all(piece.begin, piece.end - piece.begin);
    for (std::uint64_t at = piece.begin; at < piece.end && faulty == 0;) {
      std::uint64_t bytes = is_simple ? kMost : 16;
      while (bytes > piece.end - at) bytes /= 2;
      bytes = std::max(bytes, kLeast);
      const OfLane one(its.lane, at, bytes);
      const Access access{space, its.act, one.lanes, its.site, its.warp};
      faulty = &memory == &check ? check.access(access) : check.access_of(memory, access);
      at += bytes;
    }
  }
  return faulty;
}

void LaunchCheck::image_access(const machine::Warp& warp, int lane, std::int32_t site,
                               WarpAccess::Kind kind, std::uint64_t address, std::size_t bytes) {
  const OfLane one(lane, address, bytes);
  check_of(*warp.block).access({Space::global, act_of(kind), one.lanes, site, warp.index});
}

void LaunchCheck::frees(const machine::Warp& warp, int lane, std::int32_t site, std::uint64_t begin,
                        std::size_t bytes) {
  touch({warp.block, warp.index, lane, 0, site, Act::store, {{begin, begin + bytes}}, 0},
        Space::global, check_of(*warp.block));
}

// A store in bulk is over when it has been waited for, or its block ends: for others it is made once more then.
template <class Is>
void LaunchCheck::wrote(const machine::Block& block, Is is_over) {
  std::erase_if(unwaited_, [&](const Unwaited& one) {
    if (one.block != &block || !is_over(one)) return false;
    if (!has_faults_) touch(one, Space::global, check_of(block));
    return true;
  });
}

bool LaunchCheck::reads_constant(const std::string& name) const {
  return std::any_of(facts_.origins.begin(), facts_.origins.end(), [&](const Origin& its) {
    return its.kind == Origin::Kind::variable && its.end != 0 && its.name == name;
  });
}

void LaunchCheck::products_waited(const machine::Warp& warp, std::uint32_t but) {
  if (warp.product_group >= but) {
    check_of(*warp.block).products_waited(warp.index, warp.product_group - but);
  }
}

void LaunchCheck::stores_waited(const machine::Warp& warp, std::uint32_t but, bool are_written) {
  machine::each_lane(warp.active, [&](std::size_t lane) {
    if (warp.bulk_group[lane] < but) return;
    const std::uint32_t before = warp.bulk_group[lane] - but;
    check_of(*warp.block).stores_waited(warp.index, static_cast<int>(lane), before);
    if (!are_written) return;
    wrote(*warp.block, [&](const Unwaited& one) {
      return one.warp == warp.index && one.lane == static_cast<int>(lane) && one.group < before;
    });
  });
}

void LaunchCheck::landed(const machine::Block& block, std::uint64_t begin, std::uint64_t end) {
  check_of(block).landed({begin, end});
}

void LaunchCheck::phase_completed(const machine::Block& block, std::uint32_t barrier) {
  check_of(block).phase_completed(barrier);
}

bool LaunchCheck::fault(const WarpAccess& its, int lane) {
  has_faults_ = true;
  Access access = told(its);
  const Space named = sites_[static_cast<std::size_t>(its.step->site)].variable.space;
  if (access.space == Space::local && named == Space::parameter) access.space = named;
  access.lanes.mask = 1u << lane;
  return check_of(*its.warp->block).leaves_variable(access) != 0;
}

void LaunchCheck::barrier(const machine::Block& block, std::uint32_t number) {
  BlockCheck& check = check_of(block);
  const auto party_of = [&](unsigned thread) {
    return Party{machine::linear(block.index, grid_.blocks), thread};
  };
  std::array<std::uint32_t, 32> there{};
  bool are_all = true;
  const machine::Group* first = nullptr;
  unsigned first_thread = 0, gone = kNoThread;
  std::int32_t other_site = -1;
  unsigned other_thread = kNoThread;
  // Each says for how many it is, in whole warps, or nothing: all. An H200 stops where one says nothing and another says how
  // many all are, too.
  const auto named = [](unsigned threads) {
    return (threads + machine::kLanes - 1) / machine::kLanes * machine::kLanes;
  };
  std::optional<unsigned> others;
  for (const machine::Warp& warp : block.warps) {
    const unsigned begin = warp.index * machine::kLanes;
    for (const machine::Group& one : warp.others) {
      if (one.state != machine::Group::State::in_block || one.awaited != number) continue;
      if (first != nullptr && named(one.threads) != named(first->threads)) others = one.threads;
      there[warp.index] |= one.lanes;
      const unsigned thread = begin + static_cast<unsigned>(std::countr_zero(one.lanes));
      if (first == nullptr) {
        first = &one;
        first_thread = thread;
      } else if (other_site < 0 && (one.at - 1)->site != (first->at - 1)->site) {
        other_site = (one.at - 1)->site;
        other_thread = thread;
      }
    }
    are_all &= (warp.live & ~there[warp.index]) == 0;
    const unsigned threads = std::min(block.threads() - begin, 32u);
    const std::uint32_t all = threads == 32 ? ~0u : (1u << threads) - 1;
    if (gone == kNoThread && (all & ~warp.live) != 0) {
      gone = begin + static_cast<unsigned>(std::countr_zero(all & ~warp.live));
    }
  }
  const machine::Block::Barrier& barrier = block.barriers[number];
  if (first != nullptr && barrier.arrived != 0 &&
      named(barrier.arrived_for) != named(first->threads)) {
    others = barrier.arrived_for;
  }
  if (others && looks_for_barriers_) {
    const auto or_else = [&](unsigned threads, const char* nothing) {
      return threads == 0 ? nothing : std::to_string(named(threads));
    };
    check.report(Hazard::divergent_barrier, (first->at - 1)->site, first_thread,
                 "waits at this barrier for " + or_else(first->threads, "all") +
                     " threads, for which others name " + or_else(*others, "no number"));
  }
  // Those who did not wait may have ended since they arrived, or the barrier is for fewer than the block has.
  const bool is_for_some = gone != kNoThread && first != nullptr && first->threads != 0;
  if (!are_all || is_for_some || barrier.arrived != 0) {
    check.meet(std::span(there).first(block.warps.size()), number);
    return;
  }
  if (first != nullptr && looks_for_barriers_) {
    const std::int32_t site = (first->at - 1)->site;
    if (gone != kNoThread && !has_faults_) {
      check.report(Hazard::missed_barrier, site, first_thread,
                   "waits at this __syncthreads(), which another thread cannot reach any more, "
                   "since it has ended:",
                   -1, party_of(gone));
    }
    // Threads with parts of their own meet at a barrier by its name.
    if (other_site >= 0 && number == 0) {
      check.report(Hazard::divergent_barrier, site, first_thread,
                   "waits at this __syncthreads() while another waits at a different one:",
                   other_site, party_of(other_thread));
    }
  }
  check.barrier();
}

void LaunchCheck::cluster_arrival(const machine::Warp& warp, const machine::Step& step) {
  BlockCheck& check = check_of(*warp.block);
  const std::uint32_t again = looks_for_barriers_ ? warp.owes_wait & warp.active : 0;
  for (std::uint32_t rest = again; rest != 0; rest &= rest - 1) {
    check.report(Hazard::divergent_barrier, step.site,
                 warp.index * machine::kLanes + static_cast<unsigned>(std::countr_zero(rest)),
                 "arrives at the barrier of the cluster again, before it has waited there", -1, {},
                 Remedy::cluster);
  }
  check.arrive(warp.index, warp.active, step.order != machine::Order::relaxed, step.site);
}

// Threads that have ended without the barrier that others wait at.
void LaunchCheck::find_missing(const machine::Cluster& cluster) {
  const machine::Block* waiting = nullptr;
  unsigned first = kNoThread;
  Party gone;
  for (const auto& block : cluster.blocks) {
    for (const machine::Warp& warp : block->warps) {
      const unsigned begin = warp.index * machine::kLanes;
      const unsigned threads = std::min(block->threads() - begin, 32u);
      const std::uint32_t all = threads == 32 ? ~0u : (1u << threads) - 1;
      const std::uint32_t missing = all & ~warp.live & ~warp.at_cluster;
      if (missing != 0 && gone.thread == kNoThread) {
        gone = {machine::linear(block->index, grid_.blocks),
                begin + static_cast<unsigned>(std::countr_zero(missing))};
      }
      if (const std::uint32_t there = warp.live & warp.at_cluster;
          there != 0 && waiting == nullptr) {
        waiting = block.get();
        first = begin + static_cast<unsigned>(std::countr_zero(there));
      }
    }
  }
  if (waiting == nullptr || gone.thread == kNoThread) return;
  BlockCheck& check = check_of(*waiting);
  check.report(Hazard::missed_barrier, check.arrival_site(), first,
               "waits at the barrier of the cluster, which another thread cannot reach any more, "
               "since it has ended:",
               -1, gone, Remedy::cluster);
}

// It orders what the threads of each of its blocks do.
void LaunchCheck::cluster_barrier(const machine::Cluster& cluster) {
  if (looks_for_barriers_ && !has_faults_) find_missing(cluster);
  std::vector<BlockCheck*> all;
  for (const auto& block : cluster.blocks) all.push_back(&check_of(*block));
  if (all.size() == 1) {
    all.front()->barrier();
  } else {
    BlockCheck::meet(all);
  }
}

void LaunchCheck::copied(const machine::Warp& warp, const machine::PendingCopy& copy) {
  check_of(*warp.block)
      .copied(warp.index, copy.lane, copy.to, copy.bytes, copy.site, copy.data.data(),
              warp.block->shared.data(), copy.arrives);
}

void LaunchCheck::meaningless(const machine::Warp& warp, const machine::Step& step,
                              std::uint32_t lanes, std::string_view what) {
  if (!looks_for_barriers_) return;
  struct Told {
    std::string_view what;
    Hazard hazard;
    const char* text;
    Remedy remedy = Remedy::none;
  };
  static constexpr Told kTold[] = {
      {"undefined_shuffle", Hazard::undefined_shuffle,
       "reads the value of a lane that takes no part, as it has ended or is not in the mask"},
      {"unfinished_product", Hazard::unfinished_product,
       "uses a result of a wgmma, or overwrites a register of it, before it has waited for it"},
      {"unfenced_product", Hazard::missing_fence,
       "begins a wgmma whose registers were written without a wgmma.fence after it",
       Remedy::products},
      {"division_by_zero", Hazard::division_by_zero, "divides an integer by zero"},
      {"foreign_mask", Hazard::warp_deadlock,
       "gives a warp operation a mask that does not name its own lane"},
  };
  const Told& told = *std::find_if(std::begin(kTold), std::end(kTold),
                                   [&](const Told& one) { return one.what == what; });
  BlockCheck& check = check_of(*warp.block);
  machine::each_lane(lanes, [&](std::size_t lane) {
    const unsigned thread = warp.index * machine::kLanes + static_cast<unsigned>(lane);
    // Partial warps shuffle and leave out what came from nowhere.
    if (told.hazard == Hazard::undefined_shuffle && looks_for_uninitialised_) {
      warp.undefined->bring(step.to, lane,
                            check.meaningless(told.hazard, step.site, thread, told.text));
    } else {
      check.report(told.hazard, step.site, thread, told.text, -1, {}, told.remedy);
    }
  });
}

void LaunchCheck::arrived(const machine::Warp& warp, std::uint32_t number) {
  check_of(*warp.block).arrive_at(number, warp.index, warp.active);
}

void LaunchCheck::warp_barrier(const machine::Warp& warp, std::uint32_t lanes) {
  check_of(*warp.block).sync_warp(warp.index, lanes, warp.live);
}

void LaunchCheck::fence(const machine::Warp& warp, const machine::Step& step) {
  const ptx::Instruction& one = *grid_.code->sites[static_cast<std::size_t>(step.site)];
  if (one.has("async") || one.has("async::generic")) {
    const bool is_of_shared = one.has("shared::cta") || one.has("shared::cluster");
    const unsigned of = is_of_shared        ? BlockCheck::kOfShared | BlockCheck::kOfBarriers
                        : one.has("global") ? BlockCheck::kOfGlobal
                                            : BlockCheck::kOfAll;
    check_of(*warp.block).proxy_fence(warp.index, warp.active, of);
    return;
  }
  if (one.has("mbarrier_init")) {
    check_of(*warp.block).proxy_fence(warp.index, warp.active, BlockCheck::kOfBarriers);
  }
  const bool is_narrow = one.has("cta");
  check_of(*warp.block).fence(warp.index, warp.active, is_narrow ? Scope::block : Scope::gpu);
}

std::vector<Finding> LaunchCheck::findings(const LineOf& line_of) {
  last_ = nullptr;
  blocks_.clear();
  return checker_.end_launch(line_of);
}

}  // namespace simt::checker
