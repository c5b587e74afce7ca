#include "common/simt/cudart/close_watch.hpp"

#include <algorithm>
#include <map>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/some_blocks.hpp"

namespace simt {
namespace {

// The launches of each kernel so far, of which the first are traced.
std::map<std::string, unsigned>& launches_of_kernels() {
  static auto& launches = *new std::map<std::string, unsigned>;
  return launches;
}

}  // namespace

void trace_launches(unsigned of_each_kernel) {
  const std::lock_guard lock(cudart::turn());
  settings().traced = of_each_kernel;
  launches_of_kernels().clear();
}

namespace cudart {

bool wants_trace(const std::string& kernel) {
  const unsigned wanted = settings().traced;
  return wanted != 0 && launches_of_kernels()[kernel]++ < wanted;
}

namespace {

using machine::WarpAccess;
using report::TraceLog;

std::pair<TracedArray, std::uint64_t> in_global(std::uint64_t address) {
  const Block* const block = block_at(address);
  if (block == nullptr) {
    return {{"global memory", "global", 0, static_cast<unsigned>(address % 32)}, address};
  }
  return {{block->name(), "global", block->bytes, static_cast<unsigned>(block->begin % 32)},
          block->begin};
}

std::pair<TracedArray, std::uint64_t> in_shared(const machine::Grid& grid, std::uint64_t address,
                                                bool is_own) {
  const std::uint64_t all = grid.code->static_shared + grid.dynamic_shared;
  TracedArray array{"shared memory", is_own ? "shared" : "dshared", all, 0};
  std::uint64_t begin = 0;
  for (const machine::PlacedVariable& one : grid.code->shared) {
    const std::uint64_t bytes = one.bytes != 0 ? one.bytes : all - one.begin;
    if (address - one.begin >= bytes) continue;
    array.name = ptx::variable_name(one.name);
    array.bytes = bytes;
    begin = one.begin;
  }
  array.phase = static_cast<unsigned>(begin % (is_own ? 128 : 32));
  return {array, begin};
}

std::pair<TracedArray, std::uint64_t> in_constant(Module& module, std::uint64_t address) {
  TracedArray array{"constant memory", "constant", module.constants_bytes(), 0};
  std::uint64_t begin = 0;
  for (const ptx::Variable& one : module.ptx().variables) {
    if (one.space != ptx::Space::constant) continue;
    const auto found = module.addresses().find(one.name);
    const auto bytes = static_cast<std::uint64_t>(one.bytes);
    if (found == module.addresses().end() || address - found->second >= bytes) continue;
    array.name = ptx::variable_name(one.name);
    array.bytes = bytes;
    begin = found->second;
  }
  array.phase = static_cast<unsigned>(begin % 32);
  return {array, begin};
}

// The block that stands for the middle of the grid.
std::uint64_t middle_of(const machine::Grid& grid) {
  const machine::Dim3& all = grid.blocks;
  if (!grid.only_clusters) return machine::linear({all.x / 2, all.y / 2, all.z / 2}, all);
  const std::vector<std::uint64_t>& chosen = *grid.only_clusters;
  return chosen.empty()
             ? 0
             : machine::linear(machine::first_block(grid, chosen[chosen.size() / 2]), all);
}

}  // namespace

CloseWatch::CloseWatch(Kernel& kernel, const machine::Grid& grid, unsigned checks,
                       timeline::Operation& operation, bool traces)
    : Watch(kernel, grid, checks, operation), notes_pages_(grid.only_clusters.has_value()) {
  if (!traces) return;
  trace_.emplace(grid, kernel.module->ptx(), middle_of(grid),
                 [&grid, module = kernel.module](TraceLog::Space space, std::uint64_t address) {
                   if (space == TraceLog::Space::global) return in_global(address);
                   if (space == TraceLog::Space::constant) return in_constant(*module, address);
                   return in_shared(grid, address, space == TraceLog::Space::shared);
                 });
}

CloseWatch::~CloseWatch() { note_written(pages_); }

std::uint32_t CloseWatch::access(const WarpAccess& access) {
  if (const std::uint32_t faulty = Watch::access(access); faulty != 0) return faulty;
  const bool is_counted = access.space != WarpAccess::Space::local &&
                          access.space != WarpAccess::Space::reserved && access.is_counted();
  if (trace_ && is_counted && access.step->joined_bytes != 0) {
    trace_->access(machine::JoinedAccess(access).told);
  } else if (trace_ && is_counted) {
    trace_->access(access);
  }
  if (notes_pages_) note_pages(access);
  return 0;
}

void CloseWatch::note_pages(const WarpAccess& access) {
  if (access.space != WarpAccess::Space::global || access.kind == WarpAccess::Kind::load) return;
  machine::each_lane(access.lanes.mask, [&](std::size_t lane) {
    const std::uint64_t page = access.lanes.address[lane] / kNotedPage;
    if (page != last_page_) pages_.insert(page);
    last_page_ = page;
  });
}

void CloseWatch::end(const machine::Block& block) {
  Watch::end(block);
  if (trace_) trace_->end(block);
}

Launch CloseWatch::launch() {
  Launch launch = Watch::launch();
  if (trace_) launch.trace = trace_->told();
  return launch;
}

}  // namespace cudart
}  // namespace simt
