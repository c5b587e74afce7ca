// What a program can ask the simulator about the kernels it ran. The same data that SIMT_REPORT
// writes to a file, without the file: the harness of a course stage or a test reads it in process.
//
// A program built with simcc needs none of this; it is for programs that know they are simulated.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace simt {

// Warp-level memory figures, named as the report names them. A request is one warp instruction with
// at least one active lane; a sector is an aligned block of 32 bytes touched by a request, whatever
// the caches hold; a wavefront is one pass through the 32 banks of shared memory; a conflict is a
// wavefront beyond what the width and the number of active lanes need. `constant_load_requests`
// counts distinct addresses per warp. `barriers` counts barriers completed, one per block.
// Shared memory of other blocks is reached as global memory is, by requests of sectors.
struct Counters {
  std::uint64_t global_load_requests = 0;
  std::uint64_t global_load_sectors = 0;
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t shared_load_requests = 0;
  std::uint64_t shared_load_wavefronts = 0;
  std::uint64_t shared_load_conflicts = 0;
  std::uint64_t shared_store_requests = 0;
  std::uint64_t shared_store_wavefronts = 0;
  std::uint64_t shared_store_conflicts = 0;
  std::uint64_t constant_load_requests = 0;
  std::uint64_t global_atomic_requests = 0;
  std::uint64_t shared_atomic_requests = 0;
  std::uint64_t barriers = 0;
  // Shared memory of another block of the cluster.
  std::uint64_t dshared_load_requests = 0;
  std::uint64_t dshared_load_sectors = 0;
  std::uint64_t dshared_store_requests = 0;
  std::uint64_t dshared_store_sectors = 0;
  std::uint64_t dshared_atomic_requests = 0;
  // Copies in bulk: of a thread each, with what goes through a cluster's network once for each block that it reaches.
  std::uint64_t bulk_load_requests = 0;
  std::uint64_t bulk_load_sectors = 0;
  std::uint64_t bulk_store_requests = 0;
  std::uint64_t bulk_store_sectors = 0;
  std::uint64_t wgmma_wavefronts = 0;  // of shared memory, for its operands

  Counters& operator+=(const Counters& other);
  bool operator==(const Counters&) const = default;
};

// One row of the table of counters: its name in reports and where it lives in Counters. What few kernels
// have is left out of reports where it is 0.
struct CounterField {
  const char* name;
  std::uint64_t Counters::*member;
  bool is_rare = false;

  bool is_told(const Counters& counters) const { return !is_rare || counters.*member != 0; }
};

// All counters, in the order in which reports list them. (Here, as arithmetic on counters is: who only
// predicts them needs no simulator.)
inline const std::array<CounterField, 24>& counter_fields() {
  static const std::array<CounterField, 24> fields{{
      {"global_load_requests", &Counters::global_load_requests},
      {"global_load_sectors", &Counters::global_load_sectors},
      {"global_store_requests", &Counters::global_store_requests},
      {"global_store_sectors", &Counters::global_store_sectors},
      {"shared_load_requests", &Counters::shared_load_requests},
      {"shared_load_wavefronts", &Counters::shared_load_wavefronts},
      {"shared_load_conflicts", &Counters::shared_load_conflicts},
      {"shared_store_requests", &Counters::shared_store_requests},
      {"shared_store_wavefronts", &Counters::shared_store_wavefronts},
      {"shared_store_conflicts", &Counters::shared_store_conflicts},
      {"constant_load_requests", &Counters::constant_load_requests},
      {"global_atomic_requests", &Counters::global_atomic_requests},
      {"shared_atomic_requests", &Counters::shared_atomic_requests},
      {"barriers", &Counters::barriers},
      {"dshared_load_requests", &Counters::dshared_load_requests, true},
      {"dshared_load_sectors", &Counters::dshared_load_sectors, true},
      {"dshared_store_requests", &Counters::dshared_store_requests, true},
      {"dshared_store_sectors", &Counters::dshared_store_sectors, true},
      {"dshared_atomic_requests", &Counters::dshared_atomic_requests, true},
      {"bulk_load_requests", &Counters::bulk_load_requests, true},
      {"bulk_load_sectors", &Counters::bulk_load_sectors, true},
      {"bulk_store_requests", &Counters::bulk_store_requests, true},
      {"bulk_store_sectors", &Counters::bulk_store_sectors, true},
      {"wgmma_wavefronts", &Counters::wgmma_wavefronts, true},
  }};
  return fields;
}

inline Counters& Counters::operator+=(const Counters& other) {
  for (const CounterField& field : counter_fields()) this->*field.member += other.*field.member;
  return *this;
}

struct LineCounters {
  std::string file;
  int line = 0;
  Counters counters;
  std::uint64_t fp64_operations = 0;      // in double precision, of all threads; conversions too
  std::uint64_t tensor_instructions = 0;  // of tensor cores, one for a warp
  std::uint64_t local_sectors = 0;        // of arrays that a thread has in local memory
};

// The closed list of finding kinds.
//   race, same_value_write, read_beside_atomic, out_of_bounds, use_after_free, misaligned, invalid_address,
//   uninitialized_shared_read, uninitialized_global_read, uninitialized_local_read,
//   divergent_barrier, missed_barrier, warp_deadlock, undefined_shuffle, unfinished_copy, invalid_copy, endless_kernel,
//   failed_assert, trap, division_by_zero, stack_overflow, unordered_streams, absent_block,
//   unordered_launches, missing_fence, unwritten_output, unordered_stores, unfinished_product,
//   missing_proxy_fence
struct Finding {
  std::string kind;
  std::string file;
  int line = 0;
  // The second party of a race or a divergent barrier; of a wrong size or pointer, where the host gave it. Empty: none.
  std::string other_file;
  int other_line = 0;
  std::array<unsigned, 3> block{};   // first block (in grid order) in which it was seen
  std::array<unsigned, 3> thread{};  // first thread of that block
  std::string array;                 // name of the array or allocation; empty if unknown
  std::uint64_t count = 0;           // how many times
  std::string message;               // one sentence that names the parties and teaches
  int remedy = 0;                    // the greater, the more its advice asks for; not in the report
  bool note = false;                 // it does not fail a run
  // Where the kernel calls the function that the line is in; line 0: it is the kernel's own. Not in the report.
  std::string call_file = {};
  int call_line = 0;
  bool is_note() const { return note; }
  struct Other {
    std::array<unsigned, 3> block{};
    std::array<unsigned, 3> thread{};
  };
  std::optional<Other> other;  // of the second party, where its thread is known
};

// What the threads of a kernel printed with printf: the first lines, in the order of blocks, and how
// many there were.
struct Printed {
  static constexpr std::size_t kMostLines = 100;
  std::vector<std::string> lines;
  std::uint64_t total = 0;
};

// An array, as a trace's lanes touch it. `space`: global, shared, constant, or dshared for the shared memory
// of another block of the cluster.
struct TracedArray {
  std::string name;
  std::string space;
  std::size_t bytes = 0;
  // Where it begins: of global and constant memory its address mod 32, so that (phase + offset) / 32 numbers
  // the sectors; of shared memory the distance mod 128 from the first array of the kernel, for the banks.
  unsigned phase = 0;
  auto operator<=>(const TracedArray&) const = default;
};

// Lanes `lane`, lane + 1, ... of a warp that touch bytes `offset`, offset + stride, ... of an array.
struct LaneRun {
  unsigned lane = 0;
  unsigned count = 0;
  const TracedArray* array = nullptr;  // lives as long as the program
  std::int64_t offset = 0;
  std::int64_t stride = 0;
  bool operator==(const LaneRun&) const = default;
};

// A warp instruction that touched memory.
struct TracedRequest {
  std::uint32_t step = 0;  // how many such instructions of the warp came before
  std::string kind;        // global_load, shared_store, ..., as counters are named
  std::string file;
  int line = 0;
  unsigned bytes = 0;  // of each lane
  // Sectors of global memory, wavefronts of shared memory, distinct addresses of constant memory; and the
  // fewest for as many bytes. 0: atomics of shared memory, which have no such figure.
  unsigned taken = 0;
  unsigned fewest = 0;
  std::vector<LaneRun> lanes;
};

// Of a warp the first requests of those lines for which it was kept.
struct TracedWarp {
  std::array<unsigned, 3> block{};
  unsigned warp = 0;                    // of the block
  std::uint32_t steps = 0;              // all its requests
  std::vector<TracedRequest> requests;  // by step
};

// The warps that were kept for a line, as indices of Trace::warps: the first that came there, the one in
// the middle of the grid (-1: it was not there), and the one that took most beyond the fewest.
struct TracedLine {
  std::string file;
  int line = 0;
  // What all requests of the launch would need for as many bytes: of these counters the fewest.
  std::uint64_t fewest_load_sectors = 0;
  std::uint64_t fewest_store_sectors = 0;
  std::uint64_t fewest_constant_loads = 0;  // of constant_load_requests
  std::uint64_t requests = 0;               // all of the launch, of every memory
  std::uint64_t lanes = 0;                  // that took part in them
  int first = -1;
  int middle = -1;
  int worst = -1;
};

// Which blocks touch which part of an array of global memory, over the whole launch. The array is cut into kParts equal
// parts, or as many as it has words, the grid into kRows rows of blocks that follow each other, or as many as it has.
struct ArrayMap {
  static constexpr std::size_t kParts = 48;  // bits: exact in JavaScript too
  static constexpr std::size_t kRows = 32;
  std::vector<std::uint64_t> loads, stores;  // of each row a bit for each part
};

// Which lane touched what: a bounded sample (SIMT_TRACE, trace_launches).
struct Trace {
  std::vector<TracedWarp> warps;  // by block, then warp
  std::vector<TracedLine> lines;  // by file and line
  // Of arrays of global memory the fewest sectors that all loads of the launch could take, by those places of the
  // code that were seen to load from one array only: more than it has, and its bytes are asked for again.
  std::map<const TracedArray*, std::uint64_t> fewest_load_sectors;
  std::map<const TracedArray*, ArrayMap> maps;
};

// What a kernel did besides, of which no counter knows and which nobody predicts.
struct OtherCounts {
  std::uint64_t local_sectors = 0;  // of arrays that a thread has in local memory
  // Of each block: phases of mbarriers that came to an end, or how often a warp went round until others had done something.
  std::uint64_t waits = 0;
  /// Of shared memory: atomics by generic addresses, and mbarriers beyond 64 of a block.
  std::uint64_t hidden_requests = 0;
  // Instructions of warps.
  std::uint64_t instructions = 0;
  std::uint64_t lane_instructions = 0;  // of each lane, added up
  // How many there were if each warp of a block that reaches global memory had as many as the block's busiest.
  std::uint64_t if_all_worked = 0;
  std::uint64_t products = 0;  // that multiply or divide floating-point numbers
  std::uint64_t shuffles = 0;  // or other ways by which lanes have a register of each other
  // By the one warp that has most.
  std::uint64_t most_requests = 0;  // of global memory
  std::uint64_t most_products = 0;

  OtherCounts& operator+=(const OtherCounts& other);
  bool operator==(const OtherCounts&) const = default;
};

inline OtherCounts& OtherCounts::operator+=(const OtherCounts& other) {
  local_sectors += other.local_sectors;
  waits += other.waits;
  hidden_requests += other.hidden_requests;
  instructions += other.instructions;
  lane_instructions += other.lane_instructions;
  if_all_worked += other.if_all_worked;
  products += other.products;
  shuffles += other.shuffles;
  most_requests = std::max(most_requests, other.most_requests);
  most_products = std::max(most_products, other.most_products);
  return *this;
}

// One kernel launch, in launch order; or a copy, a memset or an access of the host that is not ordered
// with what streams do, which has findings and no figures: its grid is 0, `kernel` says what it is.
struct Launch {
  std::string kernel;  // demangled, with template arguments
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  std::size_t shared_bytes = 0;  // static + dynamic
  std::uint64_t blocks_run = 0;  // fewer than the grid has with run_only_blocks
  Counters counters;
  std::uint64_t fp64_operations = 0;      // of all lines
  std::uint64_t tensor_instructions = 0;  // of all lines
  OtherCounts other;
  std::vector<LineCounters> lines;  // sorted by file and line
  std::vector<Finding> findings;    // sorted: file, line, kind
  Printed printed;                  // empty while the program does not read its findings itself
  std::optional<Trace> trace;       // of a launch for which it was asked
};

// The launches since the last call, moved out. Also tells the simulator that this program reads its
// findings itself: from the first call on they are no longer printed to stderr and no longer make
// the program end with status 3, and what kernels print is kept in their launch.
std::vector<Launch> take_launches();

// From now on of each kernel (of a template each instantiation) the first so many launches have a trace; what
// came before does not count. 0, as without SIMT_TRACE: none have.
void trace_launches(unsigned of_each_kernel);

// A line of device code.
struct LineCoverage {
  int line = 0;
  bool reached = false;   // some thread executed code of it
  bool launched = false;  // a kernel that can get there was launched
};

// One way that a branch can go: an if, the ?: or && of an expression, or a loop's way back (`again`),
// which is not taken if the loop turns once at most. Told only where it is sure, and not where the way
// leads to lines that were not reached: those say it.
struct BranchCoverage {
  int line = 0;
  int column = 0;   // 0: unknown
  int to_line = 0;  // where it leads; 0: to another file, or out of the function
  bool again = false;
  bool taken = false;  // by some thread
  bool launched = false;
};

struct FileCoverage {
  std::string file;
  std::vector<LineCoverage> lines;  // those with code, in order
  std::vector<BranchCoverage>
      branches;  // of those that were reached; what cannot be told is left out
};

// A kernel of the program; of a template each instantiation.
struct KernelCoverage {
  std::string kernel;  // as in Launch
  std::uint64_t launches = 0;
};

// Which lines of the program's kernels, and of the functions that they call, were executed. A line of
// which the compiler made several copies, in a loop or for several instantiations, counts as reached if
// any of them was. The simulator's headers and those of the system are left out.
struct Coverage {
  std::vector<FileCoverage> files;      // by name
  std::vector<KernelCoverage> kernels;  // by name, also those that were never launched
};

// What was executed since the last call, and what not of the files (of the modules) that kernels were launched of.
// Nothing counts while checks are "none".
Coverage take_coverage();

// Which checks run: "all", "none" or a comma-separated list of counters, races, bounds,
// uninitialized, barriers (as SIMT_CHECKS). "none" also stops counting. Throws
// std::invalid_argument on other words.
void set_checks(const std::string& list);

// Findings and messages call the allocation that holds the address by this name instead of "cudaMalloc
// number 3". Nothing happens if there is none.
void name_allocation(const void* pointer, const std::string& name);

// Memory that the program has allocated and not freed.
struct LiveAllocation {
  std::string name;  // as given by name_allocation, or "cudaMalloc number 3"
  std::size_t bytes = 0;
  std::string file;  // the line that allocated it; empty if unknown
  int line = 0;
};

// How many allocations were made so far, freed or not.
int allocations_made();
// Those of allocation number `made` + 1 and later that are still there, in the order in which they were
// made. live_allocations(allocations_made()) after some work is empty if it has freed what it took.
std::vector<LiveAllocation> live_allocations(int made = 0);

// By cudaMemcpy and its like so far, in whatever direction.
std::uint64_t bytes_copied();

// Kernels and copies on non-blocking streams for which neither the host nor the default stream has
// waited: whoever reads their results next on the default stream reads too early.
std::vector<Finding> unjoined_work();

// ---- Problems too large to be run as a whole: some blocks of them, on memory that is not all there ----

// Blocks first ... last - 1 of a grid, numbered in the order of blockIdx.x, then y, then z.
struct BlockRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// From now on a launch runs only those of its blocks that `choose` names, in their order, apart and none
// of them empty, and with each the others of its cluster; it is told how many there are. Without a function: all again. What they write is noted
// for written_parts, unless the checks are "none".
void run_only_blocks(std::function<std::vector<BlockRange>(std::uint64_t blocks)> choose);

// Memory as cudaMalloc gives it, for cudaFree, of which only the pages that are touched cost anything. It
// reads as `values`, over and over, and counts as initialised; without any it is not. The values have a
// multiple of sparse_floats() floats. nullptr if there is none to be had.
float* allocate_sparse(std::size_t floats, std::span<const float> values);
std::size_t sparse_floats();

// Floats [begin, end) of such memory that launches with run_only_blocks have written, in order; of memory
// with values whole pages of sparse_floats() that have such floats.
struct WrittenPart {
  std::size_t begin = 0;
  std::size_t end = 0;
};
std::vector<WrittenPart> written_parts(const float* memory);

// Why the last call of this host thread that failed did so, with the numbers that were asked for and
// the limit, where the runtime knows more than the error's name. Empty if it does not.
std::string last_error_detail();

}  // namespace simt
