#include "common/simt/cudart/watch.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/record.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/waiting.hpp"
#include "common/simt/machine/probes.hpp"
#include "common/simt/memory/requests.hpp"

namespace simt::cudart {
namespace {

using machine::coordinates;
using machine::WarpAccess;

// A line of the host's code, in a finding that names a file already.
std::string place_words(const HostLine& line, const std::string& named) {
  if (line.file.empty()) return "";
  if (line.file == named) return "line " + std::to_string(line.line);
  return line.file.substr(line.file.rfind('/') + 1) + ":" + std::to_string(line.line);
}

// What the host calls while the kernel runs: its launch.
HostLine line_of_launch() { return line_of_call(callers_of_runtime()); }

const char* verb(WarpAccess::Kind kind) {
  return kind == WarpAccess::Kind::load    ? "reads"
         : kind == WarpAccess::Kind::store ? "writes"
                                           : "updates";
}

bool is_strong(const WarpAccess& access) {
  return access.kind == WarpAccess::Kind::atomic || access.step->order != machine::Order::weak;
}

// Calls visit(word, bytes) for each word of a range, with a bit for each of its bytes.
template <class Visit>
void for_each_word(std::uint64_t begin, std::size_t size, Visit visit) {
  const std::uint64_t end = begin + size;
  for (std::uint64_t at = begin / 4 * 4; at < end; at += 4) {
    const std::uint64_t first = std::max(begin, at) - at, behind = std::min(end, at + 4) - at;
    visit(at / 4, static_cast<std::uint8_t>((1u << behind) - (1u << first)));
  }
}

// The same as visit(lane, word, bytes), for each word that a lane touches.
template <class Visit>
void for_each_word(const WarpAccess& access, Visit visit) {
  machine::each_lane(access.lanes.mask, [&](std::size_t lane) {
    for_each_word(access.lanes.address[lane], static_cast<unsigned>(access.lanes.bytes),
                  [&](std::uint64_t word, std::uint8_t bytes) { visit(lane, word, bytes); });
  });
}

// As it is now: the host may write it at any time.
std::uint32_t word_at(std::uint64_t word) {
  return *reinterpret_cast<const volatile std::uint32_t*>(reach(word * 4));
}

std::string name_at_word(std::uint64_t word) {
  const Block* const block = block_at(word * 4);
  return block == nullptr ? "memory" : block->name();
}

timeline::Touch touch_of(WarpAccess::Kind kind) {
  return kind == WarpAccess::Kind::load    ? timeline::Touch::reads
         : kind == WarpAccess::Kind::store ? timeline::Touch::writes
                                           : timeline::Touch::updates;
}

// What is wrong with an access of global memory.
struct Wrong {
  Hazard hazard = Hazard::out_of_bounds;
  std::string array;
  std::string what;         // behind "reads"
  bool is_of_host = false;  // a pointer that the launch should not have passed
  Remedy remedy = Remedy::none;
};

Wrong wrong_on_host(std::uint64_t address, const std::string& size) {
  const HostVariable its = host_variable_at(address);
  if (its.name.empty()) return {Hazard::invalid_address, "", size + "of host memory", true};
  if (its.is_shadow) {
    return {Hazard::invalid_address, its.name,
            size + "through the name of " + its.name +
                ", which in host code is no address on the device: cudaGetSymbolAddress has it",
            true};
  }
  return {Hazard::invalid_address, its.name, size + "of " + its.name + ", in the host's memory",
          true, its.name.starts_with(kTable) ? Remedy::function : Remedy::none};
}

// The live block that an address belongs to, or is nearest to.
const Block* nearest_block(std::uint64_t address) {
  const memory::Allocation* const near =
      arena().contains(address) ? arena().nearest(address) : nullptr;
  return near == nullptr ? nullptr : block_at(near->begin);
}

Wrong wrong_in_global(std::uint64_t address, int bytes) {
  const std::string size = std::to_string(bytes) + " bytes ";
  if (address < 4096) {
    return {Hazard::invalid_address, "", size + "through a null pointer", false,
            heap_was_full() ? Remedy::heap : Remedy::none};
  }
  for (const auto& [begin, whose] : {std::pair(machine::kSharedWindow, "a block's shared memory"),
                                     std::pair(machine::kLocalWindow, "a thread's own memory")}) {
    if (address - begin < machine::kWindowBytes) {
      return {Hazard::invalid_address, "",
              size + "by an address of " + whose + ", which is none of global memory", false,
              Remedy::own_memory};
    }
  }
  if (!arena().contains(address) && block_at(address) == nullptr) {
    return wrong_on_host(address, size);
  }
  const memory::Allocation* const near = arena().nearest(address);
  if (near == nullptr) return {Hazard::invalid_address, "", size + "in no allocation"};
  const std::string array = name_at(near->begin);
  const std::uint64_t past = address - near->end();
  if (near->is_freed && address - near->begin < near->bytes) {
    const Block* const freed = freed_at(near->begin);
    if (freed != nullptr && freed->kind == MemoryKind::heap) {
      return {Hazard::use_after_free, array, array + " after free()", false, Remedy::heap};
    }
    return {Hazard::use_after_free, array, "memory after cudaFree: " + array};
  }
  std::string where = "across its end";
  if (address >= near->end()) where = std::to_string(past) + " bytes past its end";
  if (address < near->begin) {
    where = std::to_string(near->begin - address) + " bytes before its start";
  }
  return {Hazard::out_of_bounds, array,
          size + "outside " + array + " (" + std::to_string(near->bytes) + " bytes): " + where};
}

Wrong wrong_access(const WarpAccess& access, std::uint64_t address, bool is_misaligned) {
  const int bytes = access.lanes.bytes;
  const std::string size = std::to_string(bytes) + " bytes ";
  const bool is_global = access.space == WarpAccess::Space::global;
  if (is_misaligned) {
    const Block* const block = is_global ? block_at(address) : nullptr;
    const std::string array = block != nullptr ? block->name() : "";
    return {Hazard::misaligned, array,
            size + "at an address that is not a multiple of " + std::to_string(bytes) +
                (array.empty() ? "" : " in " + array)};
  }
  switch (access.space) {
    case WarpAccess::Space::global:
      return wrong_in_global(address, bytes);
    case WarpAccess::Space::shared:
    case WarpAccess::Space::reserved:
      return {Hazard::out_of_bounds, "shared memory",
              size + "outside shared memory: at byte " + std::to_string(address) +
                  ", and the block has " + std::to_string(access.warp->block->shared.size())};
    case WarpAccess::Space::constant:
      if (access.kind != WarpAccess::Kind::load) {
        return {Hazard::invalid_address, "", size + "to constant memory"};
      }
      return {Hazard::out_of_bounds, "", size + "outside the __constant__ variables"};
    case WarpAccess::Space::local:
      break;
  }
  return {Hazard::out_of_bounds, "", size + "outside the thread's own memory"};
}

// Whether a lane stores what is there already.
bool is_there(const WarpAccess& access, std::size_t lane) {
  const machine::Step& step = *access.step;
  if (!step.has_values) return false;
  const auto each = static_cast<std::size_t>(access.lanes.bytes / step.count);
  const std::byte* at = reach(access.lanes.address[lane]);
  for (int i = 0; i < step.count; ++i, at += each) {
    const std::byte* const value = access.warp->registers + machine::value_slot(step, i);
    if (std::memcmp(at, value + lane * each, each) != 0) return false;
  }
  return true;
}

}  // namespace

Watch::Watch(Kernel& kernel, const machine::Grid& grid, unsigned checks,
             timeline::Operation& operation, std::optional<std::size_t> worker)
    : kernel_(kernel),
      grid_(grid),
      module_(kernel.module->ptx()),
      operation_(operation),
      counts_(checks != 0),
      keeps_(worker.has_value()),
      number_(worker.value_or(waiting::free_checker())),
      checker_(memory_checker(number_)),
      constants_(grid.constants.empty() ? 0 : kernel.module->constants_begin()),
      constants_read_(grid.constants.size() / sizeof(std::uint32_t) + 1),
      sites_(grid.code->sites.size() + 1) {
  const checker::LaunchCheck::Looks looks{
      (checks & kCheckRaces) != 0, (checks & kCheckUninitialized) != 0,
      (checks & kCheckBounds) != 0, (checks & kCheckBarriers) != 0, worker.has_value()};
  if ((checks & ~kCheckCounters) == 0) return;
  check_.emplace(checker_, kernel.facts(), grid, kernel.module->addresses(), looks,
                 [serial = 0, name = std::string()](std::uint64_t address) mutable {
                   const Block* const block = block_at(address);
                   if (block == nullptr) return std::string("memory");
                   // Of a million conflicts most are in one array. (Only those of the program have numbers.)
                   if (serial == 0 || block->serial != serial) {
                     serial = block->serial;
                     name = block->name();
                   }
                   return name;
                 });
}

Watch::~Watch() {
  if (tell_) checker_.tell(nullptr);
}

void Watch::tell(std::function<void(const Finding&)> to) {
  tell_ = std::move(to);
  checker_.tell([this](const checker::Finding& one) {
    if (!is_note(one.hazard)) tell_(finding_of(one));
  });
}

void Watch::add(Finding finding) {
  if (tell_ && !finding.note) tell_(finding);
  findings_.push_back(std::move(finding));
}

void Watch::keep(const WarpAccess& access) {
  const memory::WarpAddresses& lanes = access.lanes;
  const auto bytes = static_cast<std::size_t>(lanes.bytes);
  if (lanes.consecutive || lanes.least + bytes == lanes.beyond) {
    memory_undo().before_write(lanes.least, lanes.beyond - lanes.least);
    return;
  }
  machine::each_lane(lanes.mask, [&](std::size_t lane) {
    memory_undo().before_write(lanes.address[lane], bytes);
  });
}

bool Watch::is_quiet() const {
  return error_ == cudaSuccess && findings_.empty() && (!check_ || checker_.is_quiet());
}

void Watch::add(const Watch& other) {
  for (std::size_t i = 0; i < sites_.size(); ++i) sites_[i] += other.sites_[i];
  for (const auto& [site, sectors] : other.local_sectors_) local_sectors_[site] += sectors;
  other_ += other.other_;
  tallies_.resize(std::max(tallies_.size(), other.tallies_.size()));
  for (std::size_t i = 0; i < other.tallies_.size(); ++i) tallies_[i] += other.tallies_[i];
}

std::uint32_t Watch::parameter(const WarpAccess& access) {
  const std::uint32_t faulty = check_ ? check_->parameter(access) : 0;
  if (faulty != 0) error_ = cudaErrorIllegalAddress;
  return faulty;
}

std::uint32_t Watch::access(const WarpAccess& access) {
  if (keeps_ && access.kind != WarpAccess::Kind::load &&
      access.space == WarpAccess::Space::global) {
    keep(access);
  }
  if (settings().devices > 1 && access.space == WarpAccess::Space::global) {
    if (const std::uint32_t faulty = of_closed_devices(access); faulty != 0) return faulty;
  }
  const std::uint32_t faulty = check_ ? check_->access(access) : 0;
  if (faulty != 0) {
    error_ = cudaErrorIllegalAddress;
    return faulty;
  }
  if (check_ && access.kind != WarpAccess::Kind::load &&
      access.space == WarpAccess::Space::global &&
      access.lanes.least - constants_ < grid_.constants.size()) {
    of_constants(access);
  }
  if (access.space == WarpAccess::Space::global) {
    if (launches_ != 0) after_launch(access);
    if (!parents_.empty()) beside_others(access);
    if (polled_ != nullptr) poll(access);
  }
  if (counts_ && access.step->joined_bytes != 0) {
    count(machine::JoinedAccess(access).told);
  } else if (counts_) {
    count(access);
  }
  if (!operation_.remembers()) return 0;
  if (access.space == WarpAccess::Space::global) remember(access);
  if (access.space == WarpAccess::Space::constant) remember_constants(access);
  return 0;
}

std::uint32_t Watch::async_access(const machine::AsyncAccess& access) {
  if (const std::uint32_t faulty = check_ ? check_->async_access(access) : 0; faulty != 0) {
    error_ = cudaErrorIllegalAddress;
    return faulty;
  }
  if (counts_) count(access);
  if (access.space != WarpAccess::Space::global) return 0;
  for (const machine::AsyncAccess::Piece& piece : access.pieces) {
    if (keeps_ && access.kind != WarpAccess::Kind::load) {
      memory_undo().before_write(piece.begin, piece.end - piece.begin);
    }
    if (operation_.remembers()) {
      operation_.touch(piece.begin, piece.end - piece.begin, touch_of(access.kind),
                       access.step->site,
                       !operation_.is_early() || !is_early(*access.warp, 1u << access.lane));
    }
  }
  return 0;
}

void Watch::image_access(const machine::Warp& warp, const machine::Step& step, std::size_t lane,
                         WarpAccess::Kind kind, const machine::Image& image, const std::byte* first,
                         std::size_t bytes) {
  const std::uint64_t begin = arena().begin();
  const std::uint64_t address = begin + static_cast<std::uint64_t>(first - reach(begin));
  // Nobody writes an array but by a surface.
  if (check_ && (!image.is_array || kernel_.facts().writes_surfaces)) {
    check_->image_access(warp, static_cast<int>(lane), step.site, kind, address, bytes);
  }
  if (!operation_.remembers()) return;
  operation_.touch(address, bytes, touch_of(kind), step.site,
                   !operation_.is_early() || !is_early(warp, 1u << lane));
}

void Watch::frees(const machine::LaneCall& call, const Block& block) {
  if (check_) check_->frees(call.warp, call.lane, call.step->site, block.begin, block.bytes);
}

// Lanes that touch memory of another device, which has not been opened to this one.
std::uint32_t Watch::of_closed_devices(const WarpAccess& access) {
  std::uint32_t faulty = 0;
  machine::each_lane(access.lanes.mask, [&](std::size_t lane) {
    const Block* const block = block_at(access.lanes.address[lane]);
    if (block == nullptr || !block->is_of_device() || block->kind == MemoryKind::managed ||
        block->kind == MemoryKind::managed_variable || block->device == device_) {
      return;
    }
    const std::optional<bool> by_pool = is_opened_by_pool(block->begin, device_);
    if (by_pool.value_or(may_access(device_, block->device))) return;
    faulty |= 1u << lane;
    error_ = cudaErrorIllegalAddress;
    const auto [known, is_new] =
        faults_.try_emplace({access.step->site, "closed_device"}, findings_.size());
    if (!is_new) {
      ++findings_[known->second].count;
      return;
    }
    const std::string name = block->name();
    add_finding(Hazard::invalid_address, access.step->site, *access.warp, static_cast<int>(lane),
                name,
                std::string(verb(access.kind)) + " " + name + ", which is memory of device " +
                    std::to_string(block->device) + ", on device " + std::to_string(device_),
                by_pool.has_value() ? Remedy::peer_of_pool : Remedy::peer);
  });
  return faulty;
}

// Who writes a constant by its address may count on it in the next launch only.
void Watch::of_constants(const WarpAccess& access) {
  const ptx::Variable* const its = constant_before(access.lanes.least - constants_);
  if (its == nullptr || !check_->reads_constant(its->name)) return;
  const auto [known, is_new] =
      faults_.try_emplace({access.step->site, "constant"}, findings_.size());
  if (!is_new) {
    ++findings_[known->second].count;
    return;
  }
  const std::string name = ptx::variable_name(its->name);
  add_finding(Hazard::race, access.step->site, *access.warp, std::countr_zero(access.lanes.mask),
              name,
              std::string(verb(access.kind)) + " " + name +
                  ", a __constant__ variable that this kernel reads",
              Remedy::constant);
}

// What comes after a launch in the order in which all is done here comes before it in no other.
void Watch::after_launch(const WarpAccess& access) {
  for_each_word(access, [&](std::size_t, std::uint64_t word, std::uint8_t bytes) {
    AfterLaunch& its = after_launch_[word][static_cast<std::size_t>(access.kind)];
    const auto all = static_cast<std::uint8_t>(its.bytes | bytes);
    its = {launches_, access.step->site, all, is_strong(access)};
  });
}

// What one is beside another that runs at the same time: one above it, or one that such a kernel launches. `is_there`: whether
// what one stores is what the other has stored.
template <class IsThere>
std::optional<Hazard> Watch::beside(const Party& one, const Party& other, bool is_parent,
                                    IsThere is_there) {
  using enum WarpAccess::Kind;
  if ((other.kind == load && one.kind == load) || (other.is_strong && one.is_strong)) {
    return std::nullopt;
  }
  const auto reading = [](const Party& its) {
    const auto& sites = its.kernel.facts().sites;
    const auto at = static_cast<std::size_t>(its.site);
    return at < sites.size() ? sites[at].reading : checker::Reading::plain;
  };
  if (other.kind == atomic && one.kind == load) {
    return checker::beside_atomic(reading(one), false);
  }
  // Who reads what a kernel that it has launched updates means to read its result.
  if (other.kind == load && one.kind == atomic) {
    return checker::beside_atomic(reading(other), is_parent);
  }
  return other.kind == store && one.kind == store && is_there() ? Hazard::same_value_write
                                                                : Hazard::race;
}

template <class IsThere>
std::optional<Watch::Conflict> Watch::conflict(const std::vector<Parent>& others, const Party& one,
                                               std::uint64_t word, std::uint8_t bytes,
                                               IsThere is_there) {
  using enum WarpAccess::Kind;
  std::optional<Conflict> result;
  const auto compare = [&](const Party& other, bool is_parent) {
    const auto hazard = beside(one, other, is_parent, is_there);
    if (hazard && !result) result.emplace(Conflict{*hazard, other, is_parent});
  };
  for (const Parent& parent : others) {
    const auto found = parent.watch->after_launch_.find(word);
    if (found == parent.watch->after_launch_.end()) continue;
    for (const WarpAccess::Kind kind : {store, atomic, load}) {
      const AfterLaunch& its = found->second[static_cast<std::size_t>(kind)];
      if (its.launches < parent.launches || (its.bytes & bytes) == 0) continue;
      compare({parent.watch->kernel_, its.site, kind, its.is_strong}, true);
    }
  }
  // Kernels that hand data on by fences may be in an order of their own, and what is in the heap may have been given back
  // between the two.
  if (one.kernel.facts().hands_on) return result;
  for (const Parent& parent : others) {
    if (parent.siblings == nullptr) continue;
    auto& words = parent.siblings->words;
    if (words.size() >= Siblings::kMostWords && !words.contains(word)) continue;
    auto& kinds = words[word];
    auto& own = kinds[static_cast<std::size_t>(one.kind)];
    Siblings::Access& mine = own[0].stream == 0 || own[0].stream == parent.stream ? own[0] : own[1];
    if (mine.stream == 0 || mine.stream == parent.stream) {
      const bool was_strong = mine.stream == 0 || mine.is_strong;
      mine = {parent.stream, one.site, &one.kernel, static_cast<std::uint8_t>(mine.bytes | bytes),
              was_strong && one.is_strong};
    }
    for (const WarpAccess::Kind kind : {store, atomic, load}) {
      for (const Siblings::Access& its : kinds[static_cast<std::size_t>(kind)]) {
        if (its.stream == 0 || its.stream == parent.stream || (its.bytes & bytes) == 0) continue;
        const Block* const block = block_at(word * 4);
        if (block == nullptr || block->kind == MemoryKind::heap ||
            block->kind == MemoryKind::launch) {
          continue;
        }
        compare({*its.kernel, its.site, kind, its.is_strong}, false);
      }
    }
  }
  return result;
}

DeviceLine Watch::Conflict::line() const {
  return report::line_of(other.kernel.module->ptx(), other.kernel.code(), other.site);
}

std::string Watch::Conflict::words(const std::string& array, WarpAccess::Kind kind) const {
  const DeviceLine there = line();
  return std::string(verb(kind)) + " " + array + ", which " + short_name(other.kernel.name) + " " +
         verb(other.kind) +
         (there.line == 0 ? "" : " at " + there.file + ":" + std::to_string(there.line));
}

void Watch::beside_others(const WarpAccess& access) {
  const Party one{kernel_, access.step->site, access.kind, is_strong(access)};
  for_each_word(access, [&](std::size_t lane, std::uint64_t word, std::uint8_t bytes) {
    const auto is_same = [&] { return is_there(access, lane); };
    const std::optional<Conflict> found = conflict(parents_, one, word, bytes, is_same);
    if (!found) return;
    const char* const when =
        found->is_of_parent ? " after it has launched this kernel" : " beside this kernel";
    const auto [known, is_new] = faults_.try_emplace(
        {access.step->site, std::string(when) + hazard_name(found->hazard)}, findings_.size());
    if (!is_new) {
      ++findings_[known->second].count;
      return;
    }
    const std::string name = name_at_word(word);
    add_finding(found->hazard, access.step->site, *access.warp, static_cast<int>(lane), name,
                found->words(name, access.kind) + when, found->remedy(), {}, found->line());
  });
}

std::optional<Finding> Watch::copy_beside(const std::vector<Parent>& others, const char* name,
                                          Kernel& kernel, std::int32_t site, std::uint64_t address,
                                          std::size_t bytes, bool writes) {
  const Party one{kernel, site, writes ? WarpAccess::Kind::store : WarpAccess::Kind::load};
  std::optional<Finding> result;
  for_each_word(address, bytes, [&](std::uint64_t word, std::uint8_t its) {
    const std::optional<Conflict> found = conflict(others, one, word, its, [] { return false; });
    if (!found) return;
    if (result) {
      ++result->count;
      return;
    }
    const DeviceLine line = report::line_of(kernel.module->ptx(), kernel.code(), site);
    const DeviceLine other = found->line();
    result.emplace();
    result->kind = hazard_name(found->hazard);
    result->note = is_note(found->hazard);
    result->file = line.file;
    result->line = line.line;
    result->array = name_at_word(word);
    result->count = 1;
    result->other_file = other.file;
    result->other_line = other.line;
    result->message = std::string(name) + " " + found->words(result->array, one.kind) +
                      (found->is_of_parent ? " after it has asked for it" : " beside it") + ". " +
                      advice(found->hazard, found->remedy());
  });
  return result;
}

bool Polled::has_changed(const std::unordered_set<std::uint64_t>& but) const {
  return std::any_of(words.begin(), words.end(), [&](const auto& one) {
    return !but.contains(one.first) && word_at(one.first) != one.second;
  });
}

bool Polled::renew_own() {
  bool any = false;
  for (const std::uint64_t word : own) {
    const auto its = words.find(word);
    if (its == words.end()) continue;
    any |= std::exchange(its->second, word_at(word)) != its->second;
  }
  return any;
}

void Watch::poll(const WarpAccess& access) {
  constexpr std::size_t kMostWords = 4096;
  std::uint64_t last = UINT64_MAX;  // lanes usually ask the same
  for_each_word(access, [&](std::size_t, std::uint64_t word, std::uint8_t) {
    if (std::exchange(last, word) == word) return;
    if (access.kind == WarpAccess::Kind::load && polled_->words.contains(word)) {
      polled_->own.erase(word);
      return;
    }
    const Block* const block = block_at(word * 4);
    if (block == nullptr || block->kind == MemoryKind::launch) return;
    if (!block->is_open_to_host() && !polled_->of_device) return;
    polled_->is_full |= std::max(polled_->words.size(), polled_->own.size()) >= kMostWords;
    if (polled_->is_full) return;
    if (access.kind == WarpAccess::Kind::store) {
      polled_->own.insert(word);
      return;
    }
    const std::uint32_t now = word_at(word);
    polled_->words.try_emplace(word, now);
    if (access.kind == WarpAccess::Kind::load) return;
    // A lock that is asked for in vain stays as it was.
    const auto [before, is_first] = polled_->updated.try_emplace(word, now);
    if (is_first || std::exchange(before->second, now) == now) {
      polled_->own.erase(word);
    } else {
      polled_->own.insert(word);
    }
  });
}

// For the order among streams.
void Watch::remember(const WarpAccess& access) {
  const memory::WarpAddresses& lanes = access.lanes;
  timeline::Touch touch = touch_of(access.kind);
  if (touch != timeline::Touch::updates && access.step->order != machine::Order::weak &&
      access.step->scope == machine::Scope::sys) {
    touch = touch == timeline::Touch::reads ? timeline::Touch::polls : timeline::Touch::tells;
  }
  if (touch == timeline::Touch::updates && access.step->scope != machine::Scope::sys) {
    operation_.updates_for_device();
  }
  const auto bytes = static_cast<std::size_t>(lanes.bytes);
  if (is_strong(access)) by_flags(access);
  const bool are_early = operation_.is_early() && is_early(*access.warp, lanes.mask);
  if (!are_early && (lanes.consecutive || lanes.least + bytes == lanes.beyond)) {
    operation_.touch(lanes.least, lanes.beyond - lanes.least, touch, access.step->site);
    return;
  }
  machine::each_lane(lanes.mask, [&](std::size_t lane) {
    operation_.touch(lanes.address[lane], bytes, touch, access.step->site,
                     !are_early || !is_early(*access.warp, 1u << lane));
  });
}

// Of strong accesses: by such others on other streams know what comes before.
void Watch::by_flags(const WarpAccess& access) {
  const auto at = static_cast<std::size_t>(access.step->site);
  const auto& sites = kernel_.facts().sites;
  if (at >= sites.size()) return;
  const auto bytes = static_cast<std::size_t>(access.lanes.bytes);
  const bool asks =
      access.kind == WarpAccess::Kind::load ? sites[at].decides : sites[at].only_reads;
  if (!asks && access.kind != WarpAccess::Kind::store) return;
  std::uint64_t last = UINT64_MAX;  // lanes usually ask the same
  machine::each_lane(access.lanes.mask, [&](std::size_t lane) {
    const std::uint64_t address = access.lanes.address[lane];
    if (std::exchange(last, address) == address) return;
    asks ? operation_.asks(address, bytes) : operation_.tells(address, bytes);
  });
}

// Their addresses are counted from the first constant on. Most loads are of what others have read before.
void Watch::remember_constants(const WarpAccess& access) {
  const auto bytes = static_cast<std::size_t>(access.lanes.bytes);
  std::uint64_t known = ~std::uint64_t{0};  // lanes usually read one constant
  machine::each_lane(access.lanes.mask, [&](std::size_t lane) {
    const std::uint64_t at = access.lanes.address[lane];
    if (at == known) return;
    const bool has_waited = !operation_.is_early() || !is_early(*access.warp, 1u << lane);
    bool is_known = has_waited;
    for (std::uint64_t word = at / 4; word <= (at + bytes - 1) / 4; ++word) {
      is_known = is_known && constants_read_[word] != 0;
      if (has_waited) constants_read_[word] = 1;
    }
    if (is_known) {
      known = at;
      return;
    }
    operation_.touch(constants_ + at, bytes, timeline::Touch::reads, access.step->site, has_waited);
  });
}

// Whether some of these lanes run before the launches before theirs have ended.
bool Watch::is_early(const machine::Warp& warp, std::uint32_t lanes) const {
  const auto its = have_waited_.find(&warp);
  return its == have_waited_.end() || (lanes & ~its->second) != 0;
}

void Watch::launches_waited(const machine::Warp& warp) {
  if (operation_.is_early()) have_waited_[&warp] |= warp.active;
}

void Watch::next_launch_begins(const machine::Warp& warp) {
  operation_.lets_next_begin();
  if (operation_.is_early() && is_early(warp, warp.active)) operation_.hurries();
}

// One thread of the block has, and the others come after that.
void Watch::all_have_waited(const machine::Block& block) {
  const auto has_waited = [&](const machine::Warp& warp) { return have_waited_.contains(&warp); };
  if (std::none_of(block.warps.begin(), block.warps.end(), has_waited)) return;
  for (const machine::Warp& warp : block.warps) have_waited_[&warp] = ~0u;
}

void Watch::count(const WarpAccess& access) {
  if (!access.is_counted()) return;
  Counters& c = at(access.step->site);
  const bool is_load = access.kind == WarpAccess::Kind::load;
  using machine::Traffic;
  const Traffic how = access.step->traffic;
  const bool is_of_half = how == Traffic::half_of_word || how == Traffic::half_compared;
  switch (access.space) {
    case WarpAccess::Space::global: {
      const bool is_atomic = access.kind == WarpAccess::Kind::atomic;
      if (is_atomic) {
        // As if no other warp came between.
        const int rounds = how == Traffic::half_of_word ? memory::most_of_a_word(access.lanes) : 1;
        c.global_atomic_requests += static_cast<std::uint64_t>(rounds);
        if (!is_of_half) return;
      }
      const auto sectors = static_cast<std::uint64_t>(access.sectors());
      const bool loads = is_load || is_atomic;
      (loads ? c.global_load_requests : c.global_store_requests) += 1;
      (loads ? c.global_load_sectors : c.global_store_sectors) += sectors;
      return;
    }
    case WarpAccess::Space::shared:
    case WarpAccess::Space::reserved: {
      if (access.is_sent()) {
        count_dshared(access, c);
        return;
      }
      if (access.kind == WarpAccess::Kind::atomic) {
        if (how == Traffic::swapped) return count_swaps(access.lanes, c);
        if (is_of_half) return count_load(access.wavefronts(), c);
        // Nsight Compute counts none by an address that may lie anywhere.
        const bool is_generic = access.step->window == machine::Window::generic;
        (is_generic ? other_.hidden_requests : c.shared_atomic_requests) += 1;
        return;
      }
      const memory::Wavefronts its = access.wavefronts();
      if (is_load) return count_load(its, c);
      c.shared_store_requests += 1;
      c.shared_store_wavefronts += static_cast<std::uint64_t>(its.taken);
      c.shared_store_conflicts += static_cast<std::uint64_t>(its.conflicts);
      return;
    }
    case WarpAccess::Space::constant:
      c.constant_load_requests += static_cast<std::uint64_t>(memory::distinct(access.lanes));
      return;
    case WarpAccess::Space::local:
      local_sectors_[access.step->site] +=
          static_cast<std::uint64_t>(memory::local_sectors(access.lanes));
      return;
  }
}

// Of shared memory.
void Watch::count_load(const memory::Wavefronts& its, Counters& c) {
  c.shared_load_requests += 1;
  c.shared_load_wavefronts += static_cast<std::uint64_t>(its.taken);
  c.shared_load_conflicts += static_cast<std::uint64_t>(its.conflicts);
}

// As if no other warp came between. Each round is a load and a swap.
void Watch::count_swaps(memory::WarpAddresses left, Counters& c) {
  left.consecutive = false;
  for (; left.mask != 0; left.mask &= ~memory::swapped(left)) {
    count_load(memory::wavefronts(left, true), c);
    c.shared_atomic_requests += 1;
  }
}

void Watch::count(const machine::AsyncAccess& access) {
  Counters& c = at(access.step->site);
  if (access.space == WarpAccess::Space::shared) {
    if (access.lane < 0) c.wgmma_wavefronts += access.taken;
    return;
  }
  const bool is_load = access.kind == WarpAccess::Kind::load;
  (is_load ? c.bulk_load_requests : c.bulk_store_requests) += 1;
  // Once for each block that gets it.
  (is_load ? c.bulk_load_sectors : c.bulk_store_sectors) += access.taken * access.blocks;
}

// Of another block of the cluster. It is reached as global memory is; an instruction that reaches several counts once.
void Watch::count_dshared(const WarpAccess& access, Counters& c) {
  const std::uint64_t requests = access.is_further ? 0 : 1;
  const auto sectors = static_cast<std::uint64_t>(memory::sectors(access.lanes));
  switch (access.kind) {
    case WarpAccess::Kind::atomic:
      c.dshared_atomic_requests += requests;
      return;
    case WarpAccess::Kind::load:
      c.dshared_load_requests += requests;
      c.dshared_load_sectors += sectors;
      return;
    case WarpAccess::Kind::store:
      c.dshared_store_requests += requests;
      c.dshared_store_sectors += sectors;
      return;
  }
}

void Watch::fault(const WarpAccess& access, int lane, const std::string& what) {
  const bool is_misaligned = what == "misaligned";
  const bool is_over = error_ != cudaSuccess;
  error_ = is_misaligned                                       ? cudaErrorMisalignedAddress
           : what == "tile_column" || what == "foreign_shared" ? cudaErrorIllegalInstruction
                                                               : cudaErrorIllegalAddress;
  if (!is_misaligned && check_ && check_->fault(access, lane)) return;
  // It was stopped before, which is told.
  if (what.starts_with("lacking_") && is_over) return;
  const auto [known, is_new] = faults_.try_emplace({access.step->site, what}, findings_.size());
  if (!is_new) {
    ++findings_[known->second].count;
    return;
  }
  if (what == "lacking_lane") {
    const std::uint32_t live = access.warp->live;
    add_finding(Hazard::warp_deadlock, access.step->site, *access.warp, lane, "",
                "works on a matrix with lanes that are not there: lane " +
                    std::to_string(std::countr_one(live)) + " of the warp has ended or never was",
                Remedy::whole_warp);
    return;
  }
  struct Told {
    const char* what;
    Hazard hazard;
    const char* text;
    Remedy remedy;
  };
  static constexpr Told kTold[] = {
      {"invalid_function", Hazard::invalid_address, "calls an address where no function begins",
       Remedy::function},
      {"foreign_copy", Hazard::invalid_copy,
       "copies asynchronously to the shared memory of another block", Remedy::none},
      {"foreign_barrier", Hazard::invalid_copy,
       "stores to one block of the cluster, to arrive at a barrier of another", Remedy::arrival},
      {"foreign_wait", Hazard::invalid_address, "waits at a barrier of another block",
       Remedy::barrier_in_memory},
      {"foreign_shared", Hazard::invalid_address,
       "has an address of another block's shared memory for an instruction that reaches only its "
       "own block's",
       Remedy::cluster},
      {"stack_overflow", Hazard::stack_overflow, "calls deeper than its local memory reaches",
       Remedy::none},
      {"stack_full", Hazard::stack_overflow, "asks alloca for more than its local memory has left",
       Remedy::none},
      {"lacking_warp", Hazard::warp_deadlock,
       "multiplies in a group of four warps of which one has ended or never was",
       Remedy::whole_group},
      {"bulk_size", Hazard::invalid_copy, "copies a number of bytes that is no multiple of 16",
       Remedy::bulk},
      {"outside_box", Hazard::invalid_copy,
       "begins a copy outside the bounding box of its tensor map", Remedy::tensor_box},
      {"no_tensor_map", Hazard::invalid_address,
       "copies a tile by a tensor map that no cuTensorMapEncode... has made, or of another rank or "
       "kind",
       Remedy::tensor_map},
      {"tile_column", Hazard::misaligned,
       "copies a tile whose first column is at no multiple of 16 bytes", Remedy::tensor_map},
      {"no_reduction", Hazard::invalid_copy,
       "reduces a tile by an operation that its type does not have", Remedy::tensor_map},
      {"foreign_bulk_barrier", Hazard::invalid_copy,
       "copies to one block of the cluster, to arrive at a barrier of another", Remedy::bulk},
  };
  for (const Told& one : kTold) {
    if (what != one.what) continue;
    add_finding(one.hazard, access.step->site, *access.warp, lane, "", one.text, one.remedy);
    return;
  }
  const std::uint64_t address = access.lanes.address[static_cast<std::size_t>(lane)];
  Wrong wrong = wrong_access(access, address, is_misaligned);
  if (access.space == WarpAccess::Space::constant && access.kind == WarpAccess::Kind::load) {
    if (const ptx::Variable* const its = constant_before(address); its != nullptr) {
      wrong.array = ptx::variable_name(its->name);
    }
  }
  HostLine launched;
  if (wrong.is_of_host) launched = line_of_launch();
  add_finding(wrong.hazard, access.step->site, *access.warp, lane, wrong.array,
              std::string(verb(access.kind)) + " " + wrong.what, wrong.remedy, launched);
}

bool Watch::is_of_grid(const machine::LaneCall& call) const {
  const std::int32_t at = grid_.code->sites[static_cast<std::size_t>(call.step->site)]->location;
  if (at < 0) return false;
  const int file = module_.locations[static_cast<std::size_t>(at)].file;
  return module_.files[static_cast<std::size_t>(file)].ends_with("/cooperative_groups.h");
}

void Watch::end_launch(const machine::LaneCall& call, Hazard hazard, const std::string& what) {
  error_ = hazard == Hazard::failed_assert ? cudaErrorAssert : cudaErrorLaunchFailure;
  add_finding(hazard, call.step->site, call.warp, call.lane, "", what);
}

std::string Watch::place_of(const machine::LaneCall& call) const {
  const auto told = [](const std::array<unsigned, 3>& of) {
    return "[" + std::to_string(of[0]) + "," + std::to_string(of[1]) + "," + std::to_string(of[2]) +
           "]";
  };
  return "block: " + told(call.warp.block->index.triple()) +
         ", thread: " + told(thread_of(call.warp, call.lane));
}

std::array<unsigned, 3> Watch::thread_of(const machine::Warp& warp, int lane) const {
  const unsigned number = warp.index * machine::kLanes + static_cast<unsigned>(lane);
  return machine::place_at(number, grid_.threads).triple();
}

void Watch::add_finding(Hazard hazard, std::int32_t site, const machine::Warp& warp, int lane,
                        const std::string& array, const std::string& what, Remedy remedy,
                        const HostLine& launched, const DeviceLine& other) {
  const DeviceLine line = line_at(site);
  Finding f;
  f.kind = hazard_name(hazard);
  f.note = is_note(hazard);
  f.file = line.file;
  f.line = line.line;
  tell_call(site, f);
  f.block = warp.block->index.triple();
  f.thread = thread_of(warp, lane);
  f.array = array;
  f.count = 1;
  f.other_file = other.file;
  f.other_line = other.line;
  f.message = "thread " + coordinates(f.thread) + " of block " + coordinates(f.block) + " " + what +
              ". " + advice(hazard, remedy);
  if (const std::string place = place_words(launched, f.file); !place.empty()) {
    f.message += " The launch that passes it: " + place + ".";
    f.other_file = launched.file;
    f.other_line = launched.line;
  }
  add(std::move(f));
}

void Watch::cluster_arrival(const machine::Warp& warp, const machine::Step& step) {
  if (check_) check_->cluster_arrival(warp, step);
}

void Watch::cluster_barrier(const machine::Cluster& cluster) {
  if (check_) check_->cluster_barrier(cluster);
  if (operation_.is_early()) {
    for (const auto& block : cluster.blocks) all_have_waited(*block);
  }
  if (!counts_) return;
  // Of a block that has ended nobody waited.
  for (const auto& block : cluster.blocks) at(-1).barriers += block->live() != 0 ? 1 : 0;
}

void Watch::arrived(const machine::Warp& warp, std::uint32_t number) {
  if (check_) check_->arrived(warp, number);
}

void Watch::warp_barrier(const machine::Warp& warp, std::uint32_t lanes) {
  if (check_) check_->warp_barrier(warp, lanes);
  if (const auto its = have_waited_.find(&warp); its != have_waited_.end()) {
    if ((its->second & lanes) != 0) its->second |= lanes;
  }
}

void Watch::fence(const machine::Warp& warp, const machine::Step& step) {
  if (check_) check_->fence(warp, step);
}

void Watch::copied(const machine::Warp& warp, const machine::PendingCopy& copy) {
  if (check_) check_->copied(warp, copy);
}

void Watch::products_waited(const machine::Warp& warp, std::uint32_t but) {
  if (check_) check_->products_waited(warp, but);
}

void Watch::stores_waited(const machine::Warp& warp, std::uint32_t but, bool are_written) {
  if (check_) check_->stores_waited(warp, but, are_written);
}

void Watch::landed(const machine::Block& block, std::uint64_t begin, std::uint64_t end) {
  if (check_) check_->landed(block, begin, end);
}

void Watch::phase_completed(const machine::Block& block, std::uint32_t barrier) {
  if (check_) check_->phase_completed(block, barrier);
}

void Watch::meaningless(const machine::Warp& warp, const machine::Step& step, std::uint32_t lanes,
                        const char* what) {
  if (check_) check_->meaningless(warp, step, lanes, what);
}

void Watch::begin(const machine::Block& block) {
  if (check_) check_->begin(block);
}

void Watch::end(const machine::Block& block) {
  if (operation_.is_early()) {
    bool has_waited = false;
    for (const machine::Warp& warp : block.warps) has_waited |= have_waited_.erase(&warp) != 0;
    if (!has_waited) operation_.hurries();
  }
  tallies_.resize(block.tallies.size());
  for (std::size_t i = 0; i < tallies_.size(); ++i) tallies_[i] += block.tallies[i];
  // None waits at so many; but what they hold is read and written by arriving.
  constexpr std::uint64_t kMostBarriers = 64;
  std::uint64_t waits = block.phases;
  for (const machine::Warp& warp : block.warps) waits = std::max(waits, warp.waits);
  other_ += {.waits = waits,
             .hidden_requests = block.barriers_made - std::min(block.barriers_made, kMostBarriers)};
  std::uint64_t most = 0, in_memory = 0;
  for (const machine::Warp& warp : block.warps) {
    most = std::max(most, warp.instructions);
    in_memory += warp.global_requests > 0 ? 1 : 0;
    other_ += {.instructions = warp.instructions,
               .lane_instructions = warp.lane_instructions,
               .products = warp.products,
               .shuffles = warp.exchanged / 32,
               .most_requests = warp.global_requests,
               .most_products = warp.products};
  }
  other_ += {.if_all_worked = most * in_memory};
  if (check_) check_->end(block);
}

void Watch::barrier(const machine::Block& block, std::uint32_t number) {
  if (check_) check_->barrier(block, number);
  if (operation_.is_early()) all_have_waited(block);
  if (!counts_) return;
  // Who waits is behind the instruction.
  for (const machine::Warp& warp : block.warps) {
    for (const machine::Group& one : warp.others) {
      if (one.state != machine::Group::State::in_block || one.awaited != number) continue;
      at((one.at - 1)->site).barriers += 1;
      return;
    }
  }
}

void Watch::take(const std::vector<machine::Stuck>& stuck, const Polled* polled) {
  if (check_) {
    const auto line_of_site = [&](std::int32_t site) {
      const DeviceLine line = line_at(site);
      return checker::Line{line.file, line.line};
    };
    for (const checker::Finding& one : check_->findings(line_of_site)) {
      findings_.push_back(finding_of(one));
    }
  }
  for (Finding& one : operation_.findings([&](std::int32_t site) {
         DeviceLine line = line_at(site);
         return std::pair(std::move(line.file), line.line);
       })) {
    findings_.push_back(std::move(one));
  }
  if (checker_.is_partial()) {
    explain("partial", "%s touches so much memory that not all of it was looked at for races",
            kernel_.name.c_str());
  }
  if (stuck.empty() || error_ != cudaSuccess) return;
  error_ = cudaErrorLaunchTimeout;
  enum class Waits : std::uint8_t { nowhere, in_memory, in_warp, in_block };
  const auto waits = [&](const machine::Stuck& one) {
    const ptx::Instruction* const at =
        one.site < 0 ? nullptr : grid_.code->sites[static_cast<std::size_t>(one.site)];
    if (one.spins) return Waits::nowhere;
    if (at == nullptr) return Waits::in_warp;
    if (at->opcode == "mbarrier") return Waits::in_memory;
    return at->opcode.starts_with("bar") && !at->has("warp") ? Waits::in_block : Waits::in_warp;
  };
  // Who waits for a barrier of the block may wait for those that are stuck elsewhere.
  const machine::Stuck& first =
      *std::min_element(stuck.begin(), stuck.end(),
                        [&](const auto& a, const auto& b) { return waits(a) < waits(b); });
  const auto is_elsewhere = [&](const machine::Stuck& one) { return one.site != first.site; };
  const auto other = std::find_if(stuck.begin(), stuck.end(), is_elsewhere);
  static constexpr std::array<std::pair<Hazard, const char*>, 4> kTold{
      {{Hazard::endless_kernel, " repeats this and nothing changes"},
       {Hazard::endless_kernel, " waits for a barrier in shared memory that nobody completes"},
       {Hazard::warp_deadlock, " waits in a warp operation for lanes that never come"},
       {Hazard::divergent_barrier, " waits at this barrier for threads that never come"}}};
  const auto& [hazard, told] = kTold[static_cast<std::size_t>(waits(first))];
  const DeviceLine line = line_at(first.site);
  Finding f;
  f.kind = hazard_name(hazard);
  f.file = line.file;
  f.line = line.line;
  tell_call(first.site, f);
  f.block = first.block.triple();
  f.thread = machine::place_at(first.thread, grid_.threads).triple();
  f.count = 1;
  f.message = "thread " + coordinates(f.thread) + " of block " + coordinates(f.block) + told;
  const bool is_of_others = waits(first) == Waits::nowhere && polled != nullptr;
  bool is_of_host = false;
  if (is_of_others) {
    // What the host may write itself comes first.
    std::uint64_t least = UINT64_MAX;
    for (const auto& [word, value] : polled->words) {
      const Block* const block = block_at(word * 4);
      const bool is_open = block != nullptr && block->is_open_to_host();
      if (is_open == is_of_host ? word < least : is_open) least = word;
      is_of_host |= is_open;
    }
    f.array = name_at_word(least);
    f.message += ": it reads " + f.array + ", and " +
                 (polled->bars_others ? "another kernel has no room beside its blocks"
                  : is_of_host        ? "the host does not write that any more"
                                      : "nothing on another stream writes that any more");
  }
  // One that lacked nothing would have opened.
  const bool is_ended =
      waits(first) == Waits::in_memory && first.missing.arrivals == 0 && first.missing.bytes == 0;
  if (is_ended) {
    f.message += ": there is none, it was never set up or has ended";
  } else if (waits(first) == Waits::in_memory) {
    const auto [arrivals, bytes] = first.missing;
    const std::string how_many = std::to_string(std::abs(bytes)) + " bytes";
    f.message += ": it lacks " + std::to_string(arrivals) + " arrivals and " +
                 (bytes < 0 ? "no bytes: " + how_many + " came that nobody expects" : how_many);
  }
  if (other != stuck.end()) {
    const DeviceLine there = line_at(other->site);
    f.other_file = there.file;
    f.other_line = there.line;
    f.other = {other->block.triple(), machine::place_at(other->thread, grid_.threads).triple()};
    f.message += ": thread " + coordinates(f.other->thread) + " waits at " + there.file + ":" +
                 std::to_string(there.line);
  }
  const bool is_of_matrices = std::any_of(stuck.begin(), stuck.end(), [&](const auto& one) {
    return one.site >= 0 &&
           grid_.code->sites[static_cast<std::size_t>(one.site)]->opcode.ends_with("mma");
  });
  // bar.sync number, threads
  const bool is_named =
      hazard == Hazard::divergent_barrier && other == stuck.end() && first.site >= 0 &&
      grid_.code->sites[static_cast<std::size_t>(first.site)]->operands.size() >
          (grid_.code->sites[static_cast<std::size_t>(first.site)]->has("red") ? 3 : 1);
  f.message +=
      std::string(". ") + advice(hazard, is_ended ? Remedy::barrier_in_memory
                                         : waits(first) == Waits::in_memory ? Remedy::arrival
                                         : is_named                         ? Remedy::named_barrier
                                         : is_of_host                       ? Remedy::host
                                         : is_of_others                     ? Remedy::another_stream
                                         : is_of_matrices                   ? Remedy::whole_warp
                                                                            : Remedy::none);
  add(std::move(f));
}

Finding Watch::finding_of(const checker::Finding& finding) const {
  const auto line_of_site = [&](std::int32_t site) {
    const DeviceLine line = line_at(site);
    return checker::Line{line.file, line.line};
  };
  const auto block_of = [&](const checker::Party& its) {
    return machine::place_at(its.block, grid_.blocks).triple();
  };
  const auto thread_in = [&](const checker::Party& its) {
    return machine::place_at(its.thread, grid_.threads).triple();
  };
  Finding f;
  f.kind = hazard_name(finding.hazard);
  f.note = is_note(finding.hazard);
  const DeviceLine line = line_at(finding.site);
  f.file = line.file;
  f.line = line.line;
  tell_call(finding.site, f);
  if (finding.other_site >= 0) {
    const DeviceLine other = line_at(finding.other_site);
    f.other_file = other.file;
    f.other_line = other.line;
  }
  f.block = block_of(finding.party);
  f.thread = thread_in(finding.party);
  if (finding.has_other() && finding.other.thread != checker::kNoThread) {
    f.other = {block_of(finding.other), thread_in(finding.other)};
  }
  f.array = finding.array;
  f.count = finding.count;
  checker::Finding told = finding;
  if (finding.outside.element != 0) {
    const Block* const outside_of =
        finding.outside.is_dynamic ? nullptr : nearest_block(finding.address);
    HostLine maker;
    if (finding.outside.is_dynamic) maker = line_of_launch();
    if (outside_of != nullptr) maker = line_of_call(outside_of->callers);
    told.maker = place_words(maker, f.file);
    if (finding.outside.is_dynamic || finding.outside.is_in_elements()) {
      f.other_file = maker.file;
      f.other_line = maker.line;
    }
  }
  f.message = checker::message(told, grid_.blocks.triple(), grid_.threads.triple(), line_of_site);
  f.remedy = static_cast<int>(finding.remedy);
  return f;
}

// The __constant__ variable that begins nearest before an address, counted from the first constant on.
const ptx::Variable* Watch::constant_before(std::uint64_t address) const {
  const ptx::Variable* nearest = nullptr;
  std::uint64_t begin = 0;
  for (const ptx::Variable& one : module_.variables) {
    if (one.space != ptx::Space::constant) continue;
    const auto found = kernel_.module->addresses().find(one.name);
    if (found == kernel_.module->addresses().end()) continue;
    const std::uint64_t at = found->second;
    if (at > address || (nearest != nullptr && at < begin)) continue;
    begin = at;
    nearest = &one;
  }
  return nearest;
}

void Watch::tell_call(std::int32_t site, Finding& finding) const {
  if (site < 0) return;
  const DeviceLine call =
      report::call_of(module_, *grid_.code->sites[static_cast<std::size_t>(site)]);
  finding.call_file = call.file;
  finding.call_line = call.line;
}

DeviceLine Watch::line_at(std::int32_t site) const {
  return report::line_of(module_, *grid_.code, site);
}

bool Watch::keep_printed(const machine::Block& block, const std::string& text) {
  if (!program_reads_findings()) return false;
  printed_.add(machine::linear(block.index, grid_.blocks), text);
  return true;
}

Launch Watch::launch() {
  Launch launch;
  launch.kernel = kernel_.name;
  launch.other = other_;
  launch.grid = grid_.blocks.triple();
  launch.block = grid_.threads.triple();
  launch.shared_bytes = grid_.code->static_shared + grid_.dynamic_shared;
  launch.blocks_run = grid_.only_clusters ? grid_.only_clusters->size() * grid_.cluster.count()
                                          : grid_.blocks.count();
  std::map<std::pair<std::string, int>, LineCounters> lines;
  const auto line_in = [&](std::int32_t site) -> LineCounters& {
    const DeviceLine line = line_at(site);
    return lines[{line.file, line.line}];
  };
  const Counters none;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (sites_[i] == none) continue;
    launch.counters += sites_[i];
    line_in(static_cast<std::int32_t>(i) - 1).counters += sites_[i];
  }
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    if (tallies_[i] == 0) continue;
    const machine::Probes::Tally& tally = grid_.probes->tallies()[i];
    LineCounters& line = line_in(tally.site);
    (tally.is_of_warp ? line.tensor_instructions : line.fp64_operations) += tallies_[i];
    (tally.is_of_warp ? launch.tensor_instructions : launch.fp64_operations) += tallies_[i];
  }
  for (const auto& [site, sectors] : local_sectors_) {
    line_in(site).local_sectors += sectors;
    launch.other.local_sectors += sectors;
  }
  for (auto& [place, line] : lines) {
    if (place.second == 0) continue;
    std::tie(line.file, line.line) = place;
    launch.lines.push_back(std::move(line));
  }
  launch.findings = findings_;
  PrintLog::Lines printed;
  printed_.move_to(printed);
  launch.printed = PrintLog::in_order(std::move(printed));
  return launch;
}

}  // namespace simt::cudart
