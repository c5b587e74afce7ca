#include "common/simt/cudart/recording.hpp"

#include <dlfcn.h>
#include <driver_types.h>

#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/cudart/notes.hpp"
#include "common/simt/cudart/streams.hpp"

namespace simt::cudart {
namespace {

// More than a call of an exercise has any use for.
constexpr std::size_t kMostBytes = std::size_t{1} << 28;

struct Recording {
  bool is_on = false;
  bool is_refused = false;
  NoteWriter notes;
  std::map<std::vector<std::uintptr_t>, std::uint64_t> places;  // by the callers
  std::map<const Module*, std::uint64_t> modules;
  // Of memory that host code may touch too: what was told of it last.
  std::map<std::uint64_t, std::vector<std::byte>> shared;
  std::set<std::uintptr_t> looked_up;
  std::uint32_t events = 0;
  int streams = 0;
};
Recording& recording() {
  static Recording& instance = *new Recording;
  return instance;
}
NoteWriter& notes() { return recording().notes; }

void add_sides(const Side& to, const Extent& extent) {
  for (const std::uint64_t number :
       {reinterpret_cast<std::uint64_t>(to.pointer), std::uint64_t{to.row_pitch},
        std::uint64_t{to.plane_pitch}, std::uint64_t{extent.width}, std::uint64_t{extent.rows},
        std::uint64_t{extent.planes}}) {
    notes().number(number);
  }
}

// Where the program is: its line is looked up once for each way that leads there.
void note_place() {
  const std::vector<std::uintptr_t> callers = callers_of_runtime();
  auto& places = recording().places;
  const auto [found, is_new] = places.try_emplace(callers, places.size() + 1);
  notes().add(Note::place, found->second, is_new);
  if (!is_new) return;
  const HostLine line = line_of_call(callers);
  notes().number(static_cast<std::uint64_t>(line.line));
  notes().text(line.file);
  const auto all = [&] {
    std::vector<std::vector<std::uintptr_t>> others;
    for (const auto& [other, number] : places) others.push_back(other);
    return others;
  };
  notes().text(variable_in_call(callers, all));
}

void note_issue(Note note, const Issue& issue) {
  note_place();
  notes().add(note, number_of(issue.stream), issue.waits);
  notes().text(issue.name);
}

// A kernel that is given one's address may say so in what it does wrong.
void note_host_variables(const std::vector<std::byte>& parameters) {
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= parameters.size();
       at += sizeof(std::uintptr_t)) {
    std::uintptr_t address = 0;
    std::memcpy(&address, parameters.data() + at, sizeof address);
    Dl_info its{};
    if (arena().contains(address) || !recording().looked_up.insert(address).second ||
        dladdr(reinterpret_cast<const void*>(address), &its) == 0) {
      continue;
    }
    const HostVariable variable = host_variable_at(address);
    if (variable.name.empty()) continue;
    notes().add(Note::host_variable, variable.begin, variable.bytes, variable.is_shadow);
    notes().text(variable.name);
  }
}

// Memory that host code may have written to without a call.
void note_shared() {
  for (const Block& block : blocks()) {
    if (block.kind != MemoryKind::managed && block.kind != MemoryKind::pinned) continue;
    std::vector<std::byte>& told = recording().shared[block.begin];
    const std::byte* const now = reach(block.begin);
    if (told.size() == block.bytes && std::memcmp(told.data(), now, block.bytes) == 0) continue;
    told.assign(now, now + block.bytes);
    const Side side{reinterpret_cast<const void*>(block.begin), block.bytes, block.bytes};
    notes().add(Note::copy_from_host, 0, false);
    notes().text("the host");
    add_sides(side, {.width = block.bytes});
    notes().text({reinterpret_cast<const char*>(told.data()), told.size()});
  }
}

}  // namespace

bool is_recording() { return recording().is_on; }

void set_recording(bool is_on) {
  const std::lock_guard lock(turn());
  recording().is_on = is_on;
}

std::string take_recorded() {
  const std::lock_guard lock(turn());
  recording().is_refused = false;
  return std::exchange(notes().bytes(), {});
}

NotRecording::NotRecording() : before_(std::exchange(recording().is_on, false)) {}
NotRecording::~NotRecording() { recording().is_on = before_; }

void note_module(const Module& module, const std::string& ptx, bool is_linked) {
  auto& modules = recording().modules;
  modules.emplace(&module, modules.size());
  notes().add(Note::module, is_linked);
  notes().text(ptx);
}

void note_allocation(const Block& block) {
  note_place();
  notes().add(Note::allocation, block.begin, block.bytes, block.kind);
}

void note_release(std::uint64_t address) {
  recording().shared.erase(address);
  notes().add(Note::release, address);
}

void note_copy(const Issue& issue, const Side& to, const Side& from, const Extent& extent) {
  if (block_at(from.pointer) != nullptr) {
    note_shared();
    note_issue(Note::copy, issue);
    add_sides(to, extent);
    add_sides(from, {});
    return;
  }
  const std::size_t bytes = extent.width * extent.rows * extent.planes;
  if (bytes > kMostBytes || notes().bytes().size() > kMostBytes) {
    refuse_to_note("it copies more than a call has any use for");
    return;
  }
  std::string packed;
  packed.reserve(bytes);
  for (std::size_t plane = 0; plane < extent.planes; ++plane) {
    for (std::size_t row = 0; row < extent.rows; ++row) {
      packed.append(
          static_cast<const char*>(from.pointer) + plane * from.plane_pitch + row * from.row_pitch,
          extent.width);
    }
  }
  note_issue(Note::copy_from_host, issue);
  add_sides(to, extent);
  notes().text(packed);
}

void note_set(const Issue& issue, const Side& to, int value, const Extent& extent) {
  note_issue(Note::set, issue);
  add_sides(to, extent);
  notes().number(static_cast<unsigned char>(value));
}

void note_launch(const Kernel& kernel, const Launching& what, int stream,
                 const std::vector<std::byte>& parameters) {
  note_shared();
  note_host_variables(parameters);
  note_place();
  notes().add(Note::launch, recording().modules.at(kernel.module), stream, what.grid.x, what.grid.y,
              what.grid.z, what.block.x, what.block.y, what.block.z, what.dynamic_shared,
              what.is_cooperative, what.may_begin_early, what.cluster.x, what.cluster.y,
              what.cluster.z, kernel.dynamic_shared_limit, kernel.allows_large_clusters);
  notes().text(kernel.symbol);
  notes().text({reinterpret_cast<const char*>(parameters.data()), parameters.size()});
}

void note_limit(int limit, std::uint64_t value) { notes().add(Note::limit, limit, value); }

void note_free_in_order(std::uint64_t address, int stream) {
  note_place();
  notes().add(Note::free_in_order, address, stream);
}

cudaError_t refuse_to_note(const std::string& what) {
  explain("graded", "%s", what.c_str());
  // The first is what there is to be told.
  if (!std::exchange(recording().is_refused, true)) {
    note_place();
    notes().add(Note::refusal);
    notes().text(what);
  }
  return cudaErrorNotSupported;
}

int note_stream(bool is_non_blocking) {
  notes().add(Note::stream, is_non_blocking);
  return ++recording().streams;
}
void note_end_of_stream(int stream) { notes().add(Note::end_of_stream, stream); }

std::uint32_t note_event(int stream) {
  notes().add(Note::event, stream);
  return ++recording().events;
}
void note_wait(int stream, std::uint32_t event) { notes().add(Note::wait, stream, event); }
void note_order_of_blocking_streams() { notes().add(Note::order_of_blocking_streams); }
void note_host_waits(std::uint32_t event) { notes().add(Note::host_waits, event); }
void note_host_waits_for_all() { notes().add(Note::host_waits_for_all); }
void note_shared_memory() { notes().add(Note::shared_memory); }
void note_host_task(int stream) { notes().add(Note::host_task, stream); }
void note_end_of_host_task() { notes().add(Note::end_of_host_task); }

}  // namespace simt::cudart
