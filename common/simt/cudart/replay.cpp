// Does what another process has noted. Nothing in the notes is believed: a program that forges them has written another
// program for the device, and no more.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/current_gpu.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/cudart/notes.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/streams.hpp"
#include "common/simt/cudart/timeline.hpp"

namespace simt::cudart {
namespace {

constexpr std::size_t kMostStreams = 1 << 12;
constexpr std::size_t kMostEvents = 1 << 20;

// What there is in this process of what the notes speak of.
class Replay {
 public:
  void run(NoteReader notes) {
    refusal_.clear();
    while (!notes.is_at_end()) one(notes);
    // Memory goes on as it was noted, so that addresses stay the same.
    if (!refusal_.empty()) throw std::runtime_error(refusal_);
  }

 private:
  void one(NoteReader& notes) {
    switch (static_cast<Note>(notes.number())) {
      case Note::place:
        return place(notes);
      case Note::host_variable: {
        const std::uint64_t begin = notes.number(), bytes = notes.number();
        const bool is_shadow = notes.number() != 0;
        return tell_host_variable({text(notes), begin, bytes, is_shadow});
      }
      case Note::module: {
        const bool is_linked = notes.number() != 0;
        modules_.push_back(&add_module(std::string(notes.text()), is_linked));
        modules_.back()->addresses();
        return;
      }
      case Note::allocation:
        return allocation(notes);
      case Note::release:
        release(notes.number());
        return;
      case Note::copy:
        return copy_within(notes);
      case Note::copy_from_host:
        return copy_from_host(notes);
      case Note::set:
        return set_bytes(notes);
      case Note::launch:
        return launch(notes);
      case Note::limit: {
        const auto limit = static_cast<cudaLimit>(notes.number());
        cudaDeviceSetLimit(limit, notes.number());
        return;
      }
      case Note::free_in_order: {
        const std::uint64_t address = notes.number();
        return expect_order_of_free(reinterpret_cast<void*>(address), stream(notes));
      }
      case Note::refusal:
        refusal_ = text(notes) + place_now();
        return;
      case Note::stream:
        if (streams_.size() >= kMostStreams) fail("more streams than there can be");
        streams_.push_back(timeline::create_stream(notes.number() != 0));
        return;
      case Note::end_of_stream:
        return timeline::destroy_stream(stream(notes));
      case Note::event:
        if (events_.size() >= kMostEvents) fail("more events than there can be");
        events_.push_back(timeline::record(stream(notes)));
        return;
      case Note::wait: {
        const int its = stream(notes);
        return timeline::wait(its, event(notes));
      }
      case Note::order_of_blocking_streams:
        return timeline::order_blocking_streams();
      case Note::host_waits:
        return timeline::host_waited_for(event(notes));
      case Note::host_waits_for_all:
        return timeline::host_waited_for_all();
      case Note::shared_memory:
        return timeline::begin();
      case Note::host_task:
        tasks_.push_back(std::make_unique<timeline::HostTask>(stream(notes)));
        return;
      case Note::end_of_host_task:
        if (tasks_.empty()) fail("the end of what did not begin");
        return tasks_.pop_back();
    }
    fail("a note of what there is not");
  }

  [[noreturn]] static void fail(const std::string& what) {
    throw std::runtime_error("what it asks of the device makes no sense: " + what);
  }
  static void require(bool is_right, const char* what) {
    if (!is_right) fail(what);
  }
  static std::string text(NoteReader& notes) { return std::string(notes.text()); }

  int stream(NoteReader& notes) const {
    const std::uint64_t number = notes.number();
    require(number <= streams_.size(), "a stream that was not made");
    return number == 0 ? timeline::kLegacyDefault : streams_[number - 1];
  }
  const timeline::Clock& event(NoteReader& notes) const {
    const std::uint64_t number = notes.number() - 1;
    require(number < events_.size(), "an event that was not recorded");
    return events_[number];
  }

  void place(NoteReader& notes) {
    const std::uint64_t number = notes.number();
    if (notes.number() != 0) {
      const auto line = static_cast<int>(notes.number());
      std::string file = text(notes);
      tell_place(number, {{file, line, number}, text(notes)});
    }
    set_place(number);
  }
  static std::string place_now() {
    const HostLine line = line_of_call(callers_of_runtime());
    if (line.file.empty()) return "";
    return " (" + line.file.substr(line.file.rfind('/') + 1) + ":" + std::to_string(line.line) +
           ")";
  }

  void allocation(NoteReader& notes) {
    const std::uint64_t address = notes.number(), bytes = notes.number();
    const auto kind = static_cast<MemoryKind>(notes.number());
    require(kind == MemoryKind::device || kind == MemoryKind::managed ||
                kind == MemoryKind::pinned || kind == MemoryKind::graph,
            "memory of no kind");
    require(allocate(bytes, kind) == address, "memory in another place");
  }

  struct Asked {
    int stream;
    bool waits;
    std::string name;
    Issue issue() const {
      Issue its(name.c_str());
      its.waits = waits;
      return its;
    }
  };
  Asked asked(NoteReader& notes) const {
    const int its = stream(notes);
    const bool waits = notes.number() != 0;
    return {its, waits, text(notes)};
  }
  // Memory of this device, and of nothing else in this process.
  static Side side(NoteReader& notes, Extent& extent) {
    Side its{reinterpret_cast<const void*>(notes.number()), notes.number(), notes.number()};
    extent.width = notes.number();
    extent.rows = notes.number();
    extent.planes = notes.number();
    require(arena().contains(reinterpret_cast<std::uint64_t>(its.pointer)),
            "an address that is none of the device's");
    return its;
  }
  static void require_done(cudaError_t error) {
    if (error != cudaSuccess) fail(cudaGetErrorString(error));
  }

  bool is_over() const { return !refusal_.empty() || spoilt() != cudaSuccess; }

  void copy_within(NoteReader& notes) const {
    const Asked its = asked(notes);
    Extent extent, unused;
    const Side to = side(notes, extent), from = side(notes, unused);
    if (is_over()) return;
    const GraphOnStream on(its.stream);
    require_done(copy(its.issue(), to, from, extent, cudaMemcpyDefault));
  }
  void copy_from_host(NoteReader& notes) const {
    const Asked its = asked(notes);
    Extent extent;
    const Side to = side(notes, extent);
    const std::string_view bytes = notes.text();
    std::uint64_t plane = 0, all = 0;
    require(!__builtin_mul_overflow(extent.width, extent.rows, &plane) &&
                !__builtin_mul_overflow(plane, extent.planes, &all) && all == bytes.size(),
            "other bytes than it copies");
    if (is_over()) return;
    const GraphOnStream on(its.stream);
    require_done(
        copy(its.issue(), to, {bytes.data(), extent.width, plane}, extent, cudaMemcpyDefault));
  }
  void set_bytes(NoteReader& notes) const {
    const Asked its = asked(notes);
    Extent extent;
    const Side to = side(notes, extent);
    const auto value = static_cast<int>(notes.number());
    if (is_over()) return;
    const GraphOnStream on(its.stream);
    require_done(set(its.issue(), to, value, extent));
  }

  static dim3 extents(NoteReader& notes) {
    const auto x = static_cast<unsigned>(notes.number()), y = static_cast<unsigned>(notes.number()),
               z = static_cast<unsigned>(notes.number());
    return {x, y, z};
  }
  void launch(NoteReader& notes) const {
    const std::uint64_t module = notes.number();
    require(module < modules_.size(), "a kernel of no module");
    const int its_stream = stream(notes);
    Launching what;
    what.grid = extents(notes);
    what.block = extents(notes);
    what.dynamic_shared = notes.number();
    what.is_cooperative = notes.number() != 0;
    what.may_begin_early = notes.number() != 0;
    what.cluster = extents(notes);
    const auto limit = static_cast<std::int64_t>(notes.number());
    const bool allows_large_clusters = notes.number() != 0;
    const std::string symbol = text(notes);
    const std::string_view bytes = notes.text();
    const ptx::Function* const function = modules_[module]->ptx().function(symbol);
    require(function != nullptr && function->is_entry, "a kernel that there is not");
    require(bytes.size() == ptx::parameter_places(*function).back(), "arguments of another kernel");
    if (is_over()) return;
    Kernel& kernel = *find_kernel(function);
    const int most =
        current_gpu().shared_per_block_optin - static_cast<int>(kernel.code().static_shared);
    kernel.dynamic_shared_limit =
        limit < 0 ? -1 : static_cast<int>(std::min<std::int64_t>(limit, most));
    kernel.allows_large_clusters = allows_large_clusters;
    const GraphOnStream on(its_stream);
    require_done(check_launch(kernel, what));
    const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
    simt::cudart::run(kernel, what, {first, first + bytes.size()});
  }

  std::vector<Module*> modules_;
  std::vector<int> streams_;
  std::vector<timeline::Clock> events_;
  std::vector<std::unique_ptr<timeline::HostTask>> tasks_;
  std::string refusal_;
};

}  // namespace

void replay(const std::string& recorded) {
  static Replay& instance = *new Replay;
  const std::lock_guard lock(turn());
  const struct Elsewhere {
    ~Elsewhere() { set_place(0); }
  } elsewhere;
  instance.run(NoteReader(recorded));
}

}  // namespace simt::cudart
