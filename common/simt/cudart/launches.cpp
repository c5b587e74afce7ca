#include "common/simt/cudart/launches.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include "common/simt/checker/hazards.hpp"
#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/close_watch.hpp"
#include "common/simt/cudart/coverage.hpp"
#include "common/simt/cudart/current_gpu.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/cudart/module.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/record.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/services.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/some_blocks.hpp"
#include "common/simt/cudart/streams.hpp"
#include "common/simt/cudart/textures.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/cudart/waiting.hpp"
#include "common/simt/cudart/watch.hpp"
#include "common/simt/cudart/workers.hpp"
#include "common/simt/debug/debugger.hpp"
#include "common/simt/machine/grid.hpp"
#include "common/simt/nudge.hpp"
#include "common/simt/report/verdict.hpp"

namespace simt::cudart {
namespace {

// CUDA C++ Programming Guide, thread block clusters.
constexpr unsigned kPortableClusterBlocks = 8;
constexpr unsigned kMostClusterBlocks = 16;

constexpr std::uint32_t kWorkspaceBytes = 8;

// How often a thread that runs blocks takes some, if all are as fast.
constexpr std::uint64_t kTurnsEach = 8;

// Null unless SIMT_DEBUG asks for it; the same each time.
debug::Debugger* debugger_asked_for() {
  static debug::Debugger* const its = []() -> debug::Debugger* {
    const char* const socket = std::getenv("SIMT_DEBUG");
    if (socket == nullptr || *socket == '\0') return nullptr;
    Dl_info own{};
    dladdr(reinterpret_cast<void*>(&debugger_asked_for), &own);
    std::string path = own.dli_fname;
    path = path.substr(0, path.rfind('/') + 1) + debug::kLibrary;
    void* const library = dlopen(path.c_str(), RTLD_NOW);
    void* const maker = library == nullptr ? nullptr : dlsym(library, debug::kMaker);
    if (maker == nullptr) {
      std::fprintf(stderr, "simt: SIMT_DEBUG: %s (./halo toolkit builds it)\n", dlerror());
      std::_Exit(2);
    }
    return reinterpret_cast<debug::Maker*>(maker)(socket);
  }();
  return its;
}

std::uint64_t count(const dim3& extents) {
  return std::uint64_t{extents.x} * extents.y * extents.z;
}

// CUDA 13.0 answers 1 (invalid argument) to wrong extents too; the manual and CUDA 12 say 9 (invalid configuration),
// which says more.
cudaError_t check_extents(const Kernel& kernel, const Launching& what) {
  const unsigned int grid[] = {what.grid.x, what.grid.y, what.grid.z};
  const unsigned int block[] = {what.block.x, what.block.y, what.block.z};
  for (int i = 0; i < 3; ++i) {
    const char axis = "xyz"[i];
    if (grid[i] == 0 || grid[i] > kMaxGridExtent[i]) {
      refuse_launch("grid extent", kernel.name.c_str(), "gridDim.%c is %u, it must be 1 to %u%s",
                    axis, grid[i], kMaxGridExtent[i],
                    grid[i] == 0 ? " (a division of whole numbers rounds down)" : "");
      return cudaErrorInvalidConfiguration;
    }
    if (block[i] == 0 || block[i] > static_cast<unsigned>(kMaxBlockExtent[i])) {
      refuse_launch("block extent", kernel.name.c_str(), "blockDim.%c is %u, it must be 1 to %d",
                    axis, block[i], kMaxBlockExtent[i]);
      return cudaErrorInvalidConfiguration;
    }
  }
  if (count(what.block) > kMaxThreadsPerBlock) {
    refuse_launch("block size", kernel.name.c_str(), "a block of %llu threads, the limit is %d",
                  static_cast<unsigned long long>(count(what.block)), kMaxThreadsPerBlock);
    return cudaErrorInvalidConfiguration;
  }
  return cudaSuccess;
}

cudaError_t check_bounds(const Kernel& kernel, const ptx::Function& function,
                         const Launching& what) {
  const int* const most = function.max_threads;
  const auto threads = static_cast<unsigned long long>(count(what.block));
  const auto allowed = static_cast<unsigned long long>(most[0]) * static_cast<unsigned>(most[1]) *
                       static_cast<unsigned>(most[2]);
  if (most[0] != 0 && threads > allowed) {
    refuse_launch("launch bounds", kernel.name.c_str(),
                  "a block of %llu threads, but its __launch_bounds__ allow %llu", threads,
                  allowed);
    return cudaErrorInvalidValue;
  }
  const int* const wanted = function.required_threads;
  const unsigned int block[] = {what.block.x, what.block.y, what.block.z};
  if (wanted[0] != 0 && !std::equal(block, block + 3, wanted, [](unsigned int a, int b) {
        return a == static_cast<unsigned int>(b);
      })) {
    refuse_launch("block dims", kernel.name.c_str(),
                  "blocks of %u x %u x %u threads, but its __block_size__ says %d x %d x %d",
                  block[0], block[1], block[2], wanted[0], wanted[1], wanted[2]);
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t check_shared(Kernel& kernel, const Launching& what) {
  const halo::gpus::Gpu& gpu = current_gpu();
  const std::size_t its = kernel.code().static_shared;
  if (its > static_cast<std::size_t>(gpu.shared_per_block)) {
    refuse_launch("static shared", kernel.name.c_str(),
                  "its __shared__ arrays have %zu bytes and nvcc allows %d: declare "
                  "extern __shared__ and ask for more with cudaFuncSetAttribute",
                  its, gpu.shared_per_block);
    return cudaErrorInvalidValue;
  }
  const int limit = dynamic_shared_limit(kernel);
  if (what.dynamic_shared <= static_cast<std::size_t>(limit)) return cudaSuccess;
  const int most = gpu.shared_per_block_optin - static_cast<int>(its);
  if (what.dynamic_shared > static_cast<std::size_t>(most)) {
    refuse_launch("too much dynamic shared", kernel.name.c_str(),
                  "%zu bytes of dynamic shared memory, and %s has %d for a block",
                  what.dynamic_shared, gpu.key, most);
  } else {
    refuse_launch("dynamic shared", kernel.name.c_str(),
                  "%zu bytes of dynamic shared memory, the limit is %d (cudaFuncAttributeMax"
                  "DynamicSharedMemorySize raises it to %d)",
                  what.dynamic_shared, limit, most);
  }
  return cudaErrorInvalidValue;
}

// CUDA's technical specifications, "amount of local memory per thread".
constexpr std::size_t kMostLocalBytes = 512 << 10;

cudaError_t check_local(Kernel& kernel) {
  const std::size_t its = kernel.code().local;
  if (its <= kMostLocalBytes) return cudaSuccess;
  refuse_launch("local memory", kernel.name.c_str(),
                "%zu bytes of local memory per thread, the limit is %zu: make its arrays smaller, "
                "or keep them in global memory",
                its, kMostLocalBytes);
  return cudaErrorInvalidValue;
}

// Blocks that the GPU holds at a time.
std::uint64_t most_resident(Kernel& kernel, const Launching& what) {
  const int on_each =
      resident_blocks(kernel, static_cast<int>(count(what.block)), what.dynamic_shared);
  return static_cast<std::uint64_t>(on_each) * static_cast<std::uint64_t>(current_gpu().sms);
}

// The extents of its clusters: those of the launch, of the kernel, or one block.
dim3 cluster_of(const ptx::Function& function, const Launching& what) {
  const int* const declared = function.required_cluster;
  if (declared[0] != 0) {
    return {static_cast<unsigned>(declared[0]), static_cast<unsigned>(declared[1]),
            static_cast<unsigned>(declared[2])};
  }
  return count(what.cluster) != 0 ? what.cluster : dim3{1, 1, 1};
}

cudaError_t check_cluster(const Kernel& kernel, const ptx::Function& function,
                          const Launching& what) {
  const char* const name = kernel.name.c_str();
  const dim3 cluster = cluster_of(function, what);
  const dim3& given = what.cluster;
  if (count(given) != 0 && (given.x != cluster.x || given.y != cluster.y || given.z != cluster.z)) {
    refuse_launch("two clusters", name,
                  "a cluster of %u x %u x %u blocks, and its __cluster_dims__ say %u x %u x %u",
                  given.x, given.y, given.z, cluster.x, cluster.y, cluster.z);
    return cudaErrorInvalidClusterSize;
  }
  const unsigned grid[] = {what.grid.x, what.grid.y, what.grid.z};
  const unsigned extents[] = {cluster.x, cluster.y, cluster.z};
  for (int i = 0; i < 3; ++i) {
    if (extents[i] != 0 && grid[i] % extents[i] == 0) continue;
    refuse_launch("cluster extent", name,
                  "gridDim.%c is %u, no multiple of its cluster's extent %u", "xyz"[i], grid[i],
                  extents[i]);
    return cudaErrorInvalidClusterSize;
  }
  const halo::gpus::Gpu& gpu = current_gpu();
  if (count(cluster) > 1 && gpu.major < 9) {
    refuse_launch("no clusters", name,
                  "%s has no thread block clusters: they came with compute capability 9.0",
                  gpu.key);
    return cudaErrorInvalidClusterSize;
  }
  const unsigned int most = most_cluster_blocks(kernel);
  if (count(cluster) > most) {
    refuse_launch("cluster size", name, "a cluster of %llu blocks, the limit is %u%s",
                  static_cast<unsigned long long>(count(cluster)), most,
                  kernel.allows_large_clusters
                      ? ""
                      : " (16 with cudaFuncAttributeNonPortableClusterSizeAllowed)");
    return cudaErrorInvalidClusterSize;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t check_launch(Kernel& kernel, const Launching& what) {
  if (const cudaError_t error = check_extents(kernel, what); error != cudaSuccess) return error;
  const ptx::Function* const function = kernel.function();
  if (function == nullptr) {
    refuse_launch("no function", kernel.name.c_str(), "the program's PTX does not have it");
    return cudaErrorInvalidDeviceFunction;
  }
  if (const cudaError_t error = check_bounds(kernel, *function, what); error != cudaSuccess) {
    return error;
  }
  try {
    kernel.code();
  } catch (const machine::Unsupported& error) {
    refuse_launch(kernel.symbol.c_str(), kernel.name.c_str(), "%s", error.what());
    return cudaErrorNotSupported;
  }
  if (const cudaError_t error = check_shared(kernel, what); error != cudaSuccess) return error;
  if (const cudaError_t error = check_local(kernel); error != cudaSuccess) return error;
  if (const cudaError_t error = check_cluster(kernel, *function, what); error != cudaSuccess) {
    return error;
  }
  if (!is_stream(what.stream)) {
    refuse_launch("stream", kernel.name.c_str(), "its stream was destroyed, or never created");
    return cudaErrorInvalidResourceHandle;
  }
  if (what.is_cooperative) {
    const std::uint64_t fit = most_resident(kernel, what);
    if (count(what.grid) > fit) {
      refuse_launch("cooperative", kernel.name.c_str(),
                    "a cooperative launch of %llu blocks, of which %s holds %llu at a time",
                    static_cast<unsigned long long>(count(what.grid)), current_gpu().key,
                    static_cast<unsigned long long>(fit));
      return cudaErrorCooperativeLaunchTooLarge;
    }
  }
  return cudaSuccess;
}

namespace {

std::vector<std::byte> parameters_of(const ptx::Function& function, void** arguments) {
  const std::vector<std::uint64_t> places = ptx::parameter_places(function);
  std::vector<std::byte> bytes(places.back());
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    std::memcpy(bytes.data() + places[i], arguments[i],
                static_cast<std::size_t>(function.parameters[i].bytes));
  }
  return bytes;
}

machine::Dim3 extents(const dim3& its) { return {its.x, its.y, its.z}; }

// What a kernel that ended itself said.
std::string detail_of(const std::vector<Finding>& findings) {
  for (const Finding& f : findings) {
    if (f.kind != "failed_assert" && f.kind != "trap") continue;
    return f.file.substr(f.file.rfind('/') + 1) + ":" + std::to_string(f.line) + ": " +
           f.message.substr(0, f.message.find(". "));
  }
  return "";
}

// Whether its blocks can only meet by plain accesses, which the checker sees: then they may run in any order, unless they
// have met. (What atomics leave depends on it where they add floating-point numbers, or return what was there.)
bool are_blocks_apart(Kernel& kernel) {
  const machine::Code& code = kernel.code();
  if (kernel.facts().hands_on) return false;
  return std::none_of(code.sites.begin(), code.sites.end(), [](const ptx::Instruction* one) {
    const bool is_atomic = one->opcode == "atom" || one->opcode == "red";
    const bool is_shared = one->has("shared") || one->has("shared::cta");
    return (is_atomic && !is_shared) || one->has("reduce");
  });
}

bool may_repeat(Kernel& kernel) {
  const machine::Code& code = kernel.code();
  return code.service_calls.empty() && code.image_accesses.empty();
}

// So many threads are worth their start for it; one is where clusters are looked at more quickly so. 0: its blocks run
// one after the other. `in_order`: it is remembered who touches what first.
std::size_t workers_for(Kernel& kernel, const machine::Grid& grid, bool in_order) {
  if (kernel.runs_alone || grid.workspace != 0 || grid.only_clusters || !may_repeat(kernel)) {
    return 0;
  }
  constexpr std::uint64_t kThreadsEach = 4096;
  const std::uint64_t most =
      in_order
          ? 1
          : std::min({std::uint64_t{settings().threads}, grid.blocks.count() / grid.cluster.count(),
                      grid.blocks.count() * grid.threads.count() / kThreadsEach});
  if (most >= 2 && are_blocks_apart(kernel)) return static_cast<std::size_t>(most);
  const bool are_quicker = grid.cluster.count() > 1 && (settings().checks & kCheckRaces) != 0 &&
                           kernel.facts().may_be_quick;
  return are_quicker ? 1 : 0;
}

// Blocks on such threads. False, and nothing is changed, if something was wrong or blocks met: what is to be told of
// that, and what memory holds then, is as they run one after the other.
bool run_together(Kernel& kernel, const machine::Grid& grid, std::size_t workers,
                  timeline::Operation& operation) {
  const unsigned checks = settings().checks;
  std::vector<machine::Grid> grids(workers, grid);
  std::deque<Watch> watches;
  std::vector<checker::Checker*> checkers;
  for (std::size_t i = 0; i < workers; ++i) {
    grids[i].observer = &watches.emplace_back(kernel, grids[i], checks, operation, i);
    checkers.push_back(&memory_checker(i));
  }
  memory_undo().begin();
  machine::Clusters clusters{
      .at_once = std::max<std::uint64_t>(
          grid.blocks.count() / grid.cluster.count() / (workers * kTurnsEach), 1)};
  std::atomic<bool> is_stuck = false;
  work_together(workers, [&](std::size_t i) {
    if (!machine::run(grids[i], clusters).empty()) is_stuck = true;
  });
  const bool are_quiet =
      std::all_of(watches.begin(), watches.end(), [](const Watch& one) { return one.is_quiet(); });
  std::atomic<bool> have_met = false;
  if ((checks & kCheckRaces) != 0 && are_quiet && !is_stuck) {
    work_together(workers, [&](std::size_t i) {
      if (checker::Checker::have_met(checkers, i, workers)) have_met = true;
    });
  }
  if (is_stuck || !are_quiet || have_met) {
    memory_undo().put_back();
    operation.begin_again();
    return false;
  }
  for (std::size_t i = 1; i < workers; ++i) watches.front().add(watches[i]);
  watches.front().take({});
  record_launch(watches.front().launch());
  return true;
}

// As long as a kernel runs.
class Nudged {
 public:
  Nudged() { change(); }
  ~Nudged() { change(); }
  Nudged(const Nudged&) = delete;
  Nudged& operator=(const Nudged&) = delete;

 private:
  static void change() {
    if (settings().nudge == 0) return;
    change_words([](std::uint32_t word) { return nudged(word, settings().nudge); });
  }
};

// What a block takes of a multiprocessor.
waiting::Room room_of_block(Kernel& kernel, const Launching& what) {
  const int granule = current_gpu().shared_granularity;
  const int shared = static_cast<int>(kernel.code().static_shared + what.dynamic_shared) +
                     current_gpu().shared_reserved_per_block;
  const int threads = static_cast<int>(count(what.block));
  return {1, (threads + machine::kLanes - 1) / machine::kLanes * machine::kLanes,
          (shared + granule - 1) / granule * granule};
}

// Kernels that wait for others may fill the GPU, and then no other begins.
bool has_room(Kernel& kernel, const Launching& what) {
  const waiting::Room taken = waiting::taken(), block = room_of_block(kernel, what);
  const halo::gpus::Gpu& gpu = current_gpu();
  return taken.blocks == 0 || (taken.blocks + block.blocks <= gpu.blocks_per_sm &&
                               taken.threads + block.threads <= gpu.threads_per_sm &&
                               taken.shared + block.shared <= gpu.shared_per_sm);
}

// A launch that has begun, and what belongs to it.
class Launched final : public waiting::Begun {
 public:
  Launched(Kernel& kernel, const Launching& what, std::vector<Watch::Parent> its_parents)
      : operation(number_of(what.stream), short_name(kernel.name),
                  what.may_begin_early ? timeline::Operation::Kind::early_kernel
                                       : timeline::Operation::Kind::kernel),
        parents(std::move(its_parents)),
        block(room_of_block(kernel, what)),
        stream_(number_of(what.stream)) {}

  bool may_go_on(bool is_last_time) const override {
    return polled_.has_changed() || (is_last_time && changes_polled_);
  }
  bool goes_round() const override {
    return blocks->any_counts() && !polled_.has_changed(polled_.own);
  }
  bool go_on() override {
    operation.goes_on();
    stuck = blocks->go_on(goes_round());
    do {
      if (waits_for_others()) return false;
    } while (leaps());
    end(nullptr);
    return true;
  }
  void give_up(bool bars_others) override {
    polled_.bars_others = bars_others;
    while (leaps()) {
    }
    end(&polled_);
  }
  std::size_t checker() const override { return watch->checker(); }
  waiting::Room takes() const override {
    const auto on_each = static_cast<int>(blocks->resident() / grid.multiprocessors);
    return {on_each * block.blocks, on_each * block.threads, on_each * block.shared};
  }

  /// Whether those that are stuck poll what the host may write, or another stream. They may go on meanwhile.
  bool waits_for_others();
  /// If some wait and read a clock, their time goes on, and they do.
  bool leaps();
  /// `polled`: what they have polled in vain.
  void end(const Polled* polled);

  std::optional<Nudged> nudged{std::in_place};
  machine::Grid grid;
  timeline::Operation operation;
  std::unique_ptr<Watch> watch;
  std::optional<KernelServices> services;
  machine::Clusters clusters;
  std::optional<machine::Run> blocks;
  std::vector<machine::Stuck> stuck;

  std::vector<Watch::Parent> parents;
  waiting::Room block;  // that it needs

 private:
  int stream_;
  Polled polled_;
  bool changes_polled_ = false;  // itself
  std::vector<machine::Stuck> before_leap_;
};

// What they poll is as it was before they were stuck once more: they have seen nothing else. Of what they change themselves,
// as who counts his attempts in memory, nothing is known.
bool Launched::waits_for_others() {
  const bool of_device = !stuck.empty() && timeline::may_be_beside(stream_);
  if (stuck.empty() || (!of_device && !is_any_open_to_host())) return false;
  for (bool was_full = false;; was_full = polled_.is_full) {
    polled_ = {.of_device = of_device};
    watch->note_polled(&polled_);
    stuck = blocks->go_on(true);
    watch->note_polled(nullptr);
    if (stuck.empty() || (polled_.is_full && was_full)) return false;
    changes_polled_ = polled_.renew_own();
    if (!polled_.is_full && !polled_.has_changed()) return !polled_.words.empty();
  }
}

bool Launched::leaps() {
  if (stuck.empty() || !blocks->leap()) return false;
  if (before_leap_.empty()) before_leap_ = stuck;
  stuck = blocks->go_on(true);
  return true;
}

std::vector<const ptx::Module*> modules_in_ptx() {
  std::vector<const ptx::Module*> all;
  for (Module* const one : all_modules()) all.push_back(&one->ptx());
  return all;
}

// What goes wrong spoils the device.
void run(Kernel& kernel, const Launching& what, const std::vector<std::byte>& parameters,
         const std::vector<Watch::Parent>& parents) {
  if (is_recording()) return note_launch(kernel, what, number_of(what.stream), parameters);
  if (what.may_wait_for_host && !is_in_body() && !has_room(kernel, what)) {
    const auto begin = [&kernel, what, parameters] {
      run(kernel, what, parameters, {});
      return cudaSuccess;
    };
    return waiting::put_until(number_of(what.stream), begin,
                              [&kernel, what] { return has_room(kernel, what); });
  }
  auto launched = std::make_unique<Launched>(kernel, what, parents);
  timeline::Operation& operation = launched->operation;
  const machine::Code& code = kernel.code();
  machine::Grid& grid = launched->grid;
  grid.code = &code;
  grid.blocks = extents(what.grid);
  grid.threads = extents(what.block);
  grid.cluster = extents(cluster_of(*code.function, what));
  grid.dynamic_shared = static_cast<std::uint32_t>(what.dynamic_shared);
  grid.parameters = parameters;
  grid.arena = &arena();
  grid.multiprocessors = static_cast<unsigned>(current_gpu().sms);
  grid.most_resident = most_resident(kernel, what);
  if (kernel.module->constants_bytes() > 0) {
    grid.constants = {reach(kernel.module->constants_begin()), kernel.module->constants_bytes()};
  }
  // Its two words are as the driver's: how large it is, and a barrier (cooperative_groups/details/driver_abi.h).
  if (what.is_cooperative) {
    grid.workspace = allocate(kWorkspaceBytes, MemoryKind::launch, "the barrier of the grid");
    std::memset(reach(grid.workspace), 0, kWorkspaceBytes);
    std::memcpy(reach(grid.workspace), &kWorkspaceBytes, sizeof kWorkspaceBytes);
  }
  grid.only_clusters = chosen_clusters(grid);
  const unsigned checks = settings().checks;
  debug::Debugger* const debugger = debugger_asked_for();
  if (checks != 0 && debugger == nullptr) grid.probes = &expect_coverage(kernel);
  if (kernel.probes() != nullptr) kernel.probes()->look(grid.probes != nullptr);
  const bool traces = checks != 0 && wants_trace(kernel.name);
  grid.images = &images();
  const bool is_followed = traces || debugger != nullptr || !parents.empty() || waiting::is_any();
  if (const std::size_t workers =
          is_followed ? 0 : workers_for(kernel, grid, operation.remembers());
      workers > 0) {
    if (run_together(kernel, grid, workers, operation)) return;
    kernel.runs_alone = true;
  }
  std::unique_ptr<Watch>& watch = launched->watch;
  if (checks != 0 && (traces || grid.only_clusters)) {
    watch = std::make_unique<CloseWatch>(kernel, grid, checks, operation, traces);
  } else {
    watch = std::make_unique<Watch>(kernel, grid, checks, operation);
  }
  if ((checks & kCheckRaces) != 0) watch->runs_beside(parents);
  grid.observer = watch.get();
  grid.services = &launched->services.emplace(*watch, kernel);
  if (debugger != nullptr) {
    watch->tell([debugger](const Finding& f) { debugger->found(f); });
    debugger->begin({short_name(kernel.name), kernel.module->ptx(), kernel.code_to_debug(),
                     kernel.module->addresses(), grid},
                    modules_in_ptx());
  }
  launched->clusters.at_once = grid.blocks.count();
  launched->stuck = launched->blocks.emplace(grid, launched->clusters).go_on();
  if (debugger != nullptr) debugger->end();
  const bool may_wait = what.may_wait_for_host && !is_in_body() && parents.empty() &&
                        debugger == nullptr && settings().nudge == 0;
  do {
    if (may_wait && launched->waits_for_others()) {
      operation.waits_for_host();
      return waiting::keep(number_of(what.stream), std::move(launched));
    }
  } while (launched->leaps());
  launched->end(nullptr);
}

void Launched::end(const Polled* polled) {
  blocks.reset();
  // Where they were found first says what they wait for.
  watch->take(stuck.empty() || before_leap_.empty() ? stuck : before_leap_, polled);
  if (grid.workspace != 0) release(grid.workspace);
  Launch told = watch->launch();
  nudged.reset();
  if (watch->error() != cudaSuccess) spoil(watch->error(), detail_of(told.findings));
  record_launch(std::move(told));
  // A grid is over when those that it has launched are: they go on where it ends, one after the other, and what comes
  // behind it on its stream comes behind them.
  const GraphOnStream on(stream_, is_in_body());
  const std::vector<ChildLaunch> children = services->children();
  const bool is_on_several =
      std::any_of(children.begin(), children.end(), [&](const ChildLaunch& one) {
        return !one.is_last && one.stream != children.front().stream;
      });
  Siblings siblings;
  for (const ChildLaunch& child : children) {
    if (spoilt() != cudaSuccess) break;
    // One on cudaStreamTailLaunch comes after all that the kernel does.
    std::vector<Watch::Parent> beside = parents;
    if (!child.is_last && (is_on_several || watch->has_gone_on())) {
      beside.push_back(
          {watch.get(), child.launches, is_on_several ? &siblings : nullptr, child.stream});
    }
    if (child.kernel != nullptr) {
      run(*child.kernel, child.what, child.parameters, beside);
      continue;
    }
    std::vector<Finding> wrong;
    watched_copy(
        child.copy, [&](const char* name, std::uint64_t address, std::size_t bytes, bool writes) {
          if (beside.empty() || (settings().checks & kCheckRaces) == 0) return;
          auto found =
              Watch::copy_beside(beside, name, watch->kernel(), child.site, address, bytes, writes);
          if (found) wrong.push_back(std::move(*found));
        });
    if (!wrong.empty()) {
      Launch copied;
      copied.kernel = "a copy that " + short_name(watch->kernel().name) + " asks for";
      copied.findings = std::move(wrong);
      record_launch(std::move(copied));
    }
  }
}

// As take_attribute() has them.
std::vector<cudaLaunchAttribute> launch_attributes(const Launching& what) {
  std::vector<cudaLaunchAttribute> all;
  const auto add = [&all](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
    all.emplace_back().id = id;
    return all.back().val;
  };
  if (what.is_cooperative) add(cudaLaunchAttributeCooperative).cooperative = 1;
  if (what.may_begin_early) {
    add(cudaLaunchAttributeProgrammaticStreamSerialization).programmaticStreamSerializationAllowed =
        1;
  }
  if (what.cluster.x != 0) {
    add(cudaLaunchAttributeClusterDimension).clusterDim = {what.cluster.x, what.cluster.y,
                                                           what.cluster.z};
  }
  return all;
}

cudaError_t prepare(const void* function, const Launching& what, Work& work, NodeParameters& kept) {
  Kernel* const kernel = find_kernel(function);
  if (kernel == nullptr) return no_kernel(function);
  load(*kernel);
  if (const cudaError_t error = check_launch(*kernel, what); error != cudaSuccess) return error;
  kept.kernel = {const_cast<void*>(function),
                 what.grid,
                 what.block,
                 static_cast<unsigned int>(what.dynamic_shared),
                 nullptr,
                 nullptr};
  kept.arguments = parameters_of(*kernel->function(), what.arguments);
  work = [function, what, arguments = kept.arguments] {
    // A graph may outlive its module.
    Kernel* const its = find_kernel(function);
    if (its == nullptr) return no_kernel(function);
    run(*its, what, arguments);
    return cudaSuccess;
  };
  return cudaSuccess;
}

}  // namespace

void run(Kernel& kernel, const Launching& what, const std::vector<std::byte>& parameters) {
  run(kernel, what, parameters, {});
}

// CUDA loads a kernel when it is launched first or asked for, and may wait for what runs to do so (CUDA C++ Programming Guide,
// "Lazy Loading").
void load(Kernel& kernel, const char* by) {
  if (!kernel.load() || !waiting::is_any() || settings().checks == 0) return;
  const HostLine here = line_of_call(callers_of_runtime());
  const std::string name = short_name(kernel.name);
  Finding note;
  note.kind = hazard_name(Hazard::endless_kernel);
  note.file = here.file;
  note.line = here.line;
  note.count = 1;
  note.note = true;
  const bool is_of_driver = by != nullptr;
  note.message =
      name +
      (is_of_driver ? std::string(" is loaded by ") + by : " is launched for the first time") +
      " while another kernel waits for the host: a GPU may have to wait for that one before it "
      "loads this. " +
      (is_of_driver ? "Call cuModuleGetFunction or cuFuncLoad before."
                    : "Ask for the cudaFuncGetAttributes of " + name + " before.");
  record_of_host(std::move(note));
}

cudaError_t launch(const void* function, const Launching& what) {
  const std::lock_guard lock(turn());
  if (is_to_fail("launch")) return record(cudaErrorLaunchOutOfResources);
  Launching asked = what;
  asked.may_wait_for_host = true;
  return call("cudaLaunchKernel", [&]() -> cudaError_t {
    if (is_stream(what.stream) && device_of(what.stream) != current_device()) {
      explain(
          "stream of another device",
          "cudaLaunchKernel: the stream is of device %d, and cudaSetDevice has chosen device %d",
          device_of(what.stream), current_device());
      return cudaErrorInvalidResourceHandle;
    }
    cudaError_t error = check_legacy("cudaLaunchKernel", what.stream);
    if (error != cudaSuccess) return error;
    NodeParameters kept;
    Work work;
    error = prepare(function, asked, work, kept);
    kept.attributes = launch_attributes(asked);
    if (error == cudaSuccess) return enqueue(what.stream, cudaGraphNodeTypeKernel, work, kept);
    spoil_capture(what.stream);
    return error;
  });
}

cudaError_t launch_of(const cudaKernelNodeParams& parameters, Work& work, NodeParameters& kept) {
  Launching what{.grid = parameters.gridDim,
                 .block = parameters.blockDim,
                 .dynamic_shared = parameters.sharedMemBytes,
                 .arguments = parameters.kernelParams,
                 .may_wait_for_host = true};
  for (const cudaLaunchAttribute& one : kept.attributes) {
    if (const cudaError_t error = take_attribute(one, what); error != cudaSuccess) return error;
  }
  return prepare(parameters.func, what, work, kept);
}

cudaError_t take_attribute(const cudaLaunchAttribute& attribute, Launching& what) {
  const cudaLaunchAttributeValue& value = attribute.val;
  switch (attribute.id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      return cudaSuccess;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      what.may_begin_early = value.programmaticStreamSerializationAllowed != 0;
      return cudaSuccess;
    case cudaLaunchAttributeCooperative:
      what.is_cooperative = value.cooperative != 0;
      return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
      what.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
      return count(what.cluster) != 0 ? cudaSuccess : cudaErrorInvalidClusterSize;
    default:
      break;
  }
  explain("launch attribute", "launches with the attribute %d are not in the simulator",
          static_cast<int>(attribute.id));
  return cudaErrorNotSupported;
}

unsigned int most_cluster_blocks(const Kernel& kernel) {
  return kernel.allows_large_clusters ? kMostClusterBlocks : kPortableClusterBlocks;
}

int dynamic_shared_limit(Kernel& kernel) {
  if (kernel.dynamic_shared_limit >= 0) return kernel.dynamic_shared_limit;
  return std::max(0,
                  current_gpu().shared_per_block - static_cast<int>(kernel.code().static_shared));
}

// GPUs divide the cache in these ways only.
int shared_of_sm(const Kernel& kernel, int of_block) {
  const int most = current_gpu().shared_per_sm;
  if (kernel.shared_carveout < 0) return most;
  const double wanted = std::max<double>(most / 100.0 * kernel.shared_carveout, of_block);
  constexpr int kKilobytes[] = {0, 8, 16, 32, 64, 100, 132, 164, 196};
  for (const int one : kKilobytes) {
    if (one << 10 >= wanted) return std::min(one << 10, most);
  }
  return most;
}

int resident_blocks(Kernel& kernel, int threads, std::size_t dynamic_shared) {
  const halo::gpus::Gpu& gpu = current_gpu();
  if (threads > kMaxThreadsPerBlock ||
      dynamic_shared > static_cast<std::size_t>(dynamic_shared_limit(kernel))) {
    return 0;
  }
  constexpr int kLanes = machine::kLanes;
  const int warps = (threads + kLanes - 1) / kLanes;
  const int fit = std::min(gpu.blocks_per_sm, gpu.threads_per_sm / kLanes / warps);
  const int granule = gpu.shared_granularity;
  const int used = static_cast<int>(kernel.code().static_shared + dynamic_shared) +
                   gpu.shared_reserved_per_block;
  if (used <= 0) return fit;
  const int shared = (used + granule - 1) / granule * granule;
  return std::min(fit, shared_of_sm(kernel, shared) / shared);
}

}  // namespace simt::cudart
