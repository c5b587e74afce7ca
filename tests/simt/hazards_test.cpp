// Every hazard has a kernel with the bug planted in it, which must be named with kind, file and
// line, and a correct twin, which must raise nothing.
#include "kernels/hazards.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/simt/simulator.hpp"
#include "launches.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

namespace {

using simt::Finding;

const HazardCase& case_named(const std::string& name) {
  for (const auto* cases : {&race_cases(), &memory_cases(), &synchronisation_cases(), &copy_cases(),
                            &block_cases(), &failure_cases(), &stream_cases()}) {
    for (const HazardCase& one : *cases) {
      if (one.name == name) return one;
    }
  }
  throw std::runtime_error("no hazard case " + name);
}

struct Outcome {
  int error = 0;  // what cudaDeviceSynchronize said
  simt::Launch launch;
};

// Runs a case and returns its last launch.
Outcome run(const std::string& name) {
  Outcome outcome;
  outcome.launch = last_launch_of([&] { outcome.error = case_named(name).run(); });
  return outcome;
}

// Its findings without notes.
std::vector<Finding> failures_of(const Outcome& outcome) {
  std::vector<Finding> failures = outcome.launch.findings;
  std::erase_if(failures, [](const Finding& f) { return f.is_note(); });
  return failures;
}

std::string describe(const std::vector<Finding>& findings) {
  std::string text = std::to_string(findings.size()) + " findings";
  for (const Finding& f : findings) {
    text += "\n  " + f.kind + " " + f.file + ":" + std::to_string(f.line) + " and " + f.other_file +
            ":" + std::to_string(f.other_line) + " array '" + f.array + "' times " +
            std::to_string(f.count) + ": " + f.message;
  }
  return text;
}

constexpr const char* kRaces = "hazards_races.cu";
constexpr const char* kMemory = "hazards_memory.cu";
constexpr const char* kSynchronisation = "hazards_synchronisation.cu";
constexpr const char* kCopies = "hazards_copies.cu";
constexpr const char* kBlocks = "hazards_blocks.cu";
constexpr const char* kFailures = "hazards_failures.cu";
constexpr const char* kStreams = "hazards_streams.cu";

// The one finding of a case, which must be of this kind and name the line that is marked with BUG.
Finding only_finding(const Outcome& outcome, const std::string& kind, const char* file,
                     const std::string& bug) {
  REQUIRE(outcome.launch.findings.size() == 1);
  const Finding& f = outcome.launch.findings[0];
  CHECK(f.kind == kind);
  CHECK(is_kernel_file(f.file, file));
  CHECK(f.line == line_of(file, "BUG " + bug));
  return f;
}

// True if the finding's two places are the two marked lines, in either order.
bool is_between(const Finding& f, const std::string& file, int line, int other_line) {
  return is_kernel_file(f.file, file) && is_kernel_file(f.other_file, file) &&
         std::minmax(f.line, f.other_line) == std::minmax(line, other_line);
}

}  // namespace

TEST_CASE("a race is named with both lines and the array", "[hazards]") {
  struct Planted {
    const char* name;
    const char* array;    // "" where the name is not defined: it must only be there
    std::uint64_t count;  // conflicting elements over all blocks; 0 where that is not the point
  };
  const Planted planted = GENERATE(values<Planted>({
      {"missing_barrier", "tile", 128},
      {"write_after_read", "tile", 256},  // after rounds 0 and 1
      {"race_in_global", "", 128},
      {"race_in_device_variable", "device_cells", 64},
      {"lanes_without_syncwarp", "tile", 128},
      {"syncwarp_between_warps", "tile", 128},
      {"syncwarp_of_half_a_warp", "tile", 16},
      {"shuffle_orders_nothing", "tile", 32},
      {"vote_orders_nothing", "tile", 32},
      {"race_after_harmless_reads", "cell", 1},
      {"byte_of_another_threads_word", "words", 0},
      {"plain_read_beside_atomics", "count", 2},
      {"plain_read_beside_global_atomics", "", 1},
      {"second_of_two_arrays", "second", 128},
      {"one_block_of_many", "tile", 64},
      {"race_in_a_helper", "tile", 128},
      {"race_in_dynamic_shared", "", 128},
      {"race_on_float4", "tile", 0},
      {"flag_before_data", "second", 2},
      {"fences_in_a_warp", "tile", 32},
  }));
  const Outcome outcome = run(planted.name);
  INFO(planted.name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == cudaSuccess);  // a race is found, the kernel still ends
  const std::vector<Finding> failures = failures_of(outcome);
  REQUIRE(failures.size() == 1);
  const Finding& f = failures[0];
  CHECK(f.kind == "race");
  const std::string name = planted.name;
  CHECK(is_between(f, kRaces, line_of(kRaces, "BUG " + name), line_of(kRaces, "OTHER " + name)));
  if (*planted.array) {
    CHECK(f.array == planted.array);
  } else {
    CHECK(!f.array.empty());
  }
  if (planted.count) {
    CHECK(f.count == planted.count);
  } else {
    CHECK(f.count >= 1);
  }
  CHECK(!f.message.empty());
  CHECK(!f.is_note());
}

TEST_CASE("a race between two writers", "[hazards]") {
  const Outcome outcome = run("two_writers");
  INFO(describe(outcome.launch.findings));
  const Finding f = only_finding(outcome, "race", kRaces, "two_writers");
  CHECK(f.other_line == f.line);
  CHECK(f.array == "tile");
  CHECK(f.block == std::array<unsigned, 3>{0, 0, 0});
  CHECK(f.thread == std::array<unsigned, 3>{0, 0, 0});
  CHECK(f.count == 64);
}

TEST_CASE("a lock without fences protects nothing", "[hazards]") {
  const Outcome outcome = run("lock_without_fences");
  INFO(describe(outcome.launch.findings));
  REQUIRE(!outcome.launch.findings.empty());
  for (const Finding& f : outcome.launch.findings) {
    CHECK(f.kind == "race");
    CHECK(f.line == line_of(kRaces, "BUG lock_without_fences"));
  }
}

TEST_CASE("a counter that is reset beside its atomic updates", "[hazards]") {
  const Outcome outcome = run("reset_beside_atomics");
  INFO(describe(outcome.launch.findings));
  int races = 0;
  for (const Finding& f : outcome.launch.findings) {
    // An update that comes before the reset also reads an unset counter.
    if (f.kind == "uninitialized_shared_read") continue;
    CHECK(f.kind == "race");
    CHECK(is_between(f, kRaces, line_of(kRaces, "BUG reset_beside_atomics"),
                     line_of(kRaces, "OTHER reset_beside_atomics")));
    ++races;
  }
  CHECK(races == 1);
}

TEST_CASE("the lanes of a warp do not move in step", "[hazards]") {
  const Outcome outcome = run("warp_synchronous_reduction");
  INFO(describe(outcome.launch.findings));
  REQUIRE(!outcome.launch.findings.empty());
  const int bug = line_of(kRaces, "BUG warp_synchronous_reduction");
  for (const Finding& f : outcome.launch.findings) {
    CHECK(f.kind == "race");
    CHECK((f.line == bug || f.other_line == bug));
    CHECK(f.array == "tile");
  }
}

TEST_CASE("a race names the block and the thread", "[hazards]") {
  const Outcome outcome = run("one_block_of_many");
  REQUIRE(outcome.launch.findings.size() == 1);
  const Finding& f = outcome.launch.findings[0];
  CHECK(f.block == std::array<unsigned, 3>{1, 2, 0});
  CHECK(f.thread == std::array<unsigned, 3>{0, 0, 0});
}

TEST_CASE("the same race in many blocks is one finding", "[hazards]") {
  const Outcome two = run("missing_barrier");
  const Outcome eight = run("missing_barrier_in_8_blocks");
  REQUIRE(two.launch.findings.size() == 1);
  REQUIRE(eight.launch.findings.size() == 1);
  CHECK(eight.launch.findings[0].count == 4 * two.launch.findings[0].count);
  CHECK(eight.launch.findings[0].block == std::array<unsigned, 3>{0, 0, 0});
  CHECK(eight.launch.findings[0].line == two.launch.findings[0].line);
}

TEST_CASE("correct kernels raise nothing", "[hazards]") {
  const std::string name = GENERATE(values<const char*>({
      "missing_barrier_fixed",
      "write_after_read_fixed",
      "race_in_global_fixed",
      "syncwarp_orders_lanes",
      "syncwarp_of_half_a_warp_fixed",
      "bytes_of_a_word",
      "atomics_among_themselves",
      "cas_loop",
      "cas_loop_in_global",
      "lock",
      "flag_between_warps",
      "global_read_past_end_fixed",
      "shared_cell_not_written_fixed",
      "global_written_in_every_way",
      "barrier_after_both_branches",
      "whole_block_returns",
      "barrier_counts",
      "asserts_what_holds",
      "divides_by_zero_as_float",
      "local_array",
      "shuffle_with_its_own_mask",
      "shuffle_among_lanes_left",
      "waits_for_another_thread",
  }));
  const Outcome outcome = run(name);
  INFO(name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == cudaSuccess);
  CHECK(outcome.launch.findings.empty());
}

TEST_CASE("a bad access is named and never performed", "[hazards]") {
  using Position = std::array<unsigned, 3>;
  struct Planted {
    const char* name;
    const char* kind;
    const char* array;  // "" where the name is not defined
    Position block;
    Position thread;
    std::uint64_t count;  // 0 where it depends on how far the other threads get
    cudaError_t error;
  };
  const cudaError_t illegal = cudaErrorIllegalAddress;
  const Planted planted = GENERATE_COPY(values<Planted>({
      {"global_read_past_end", "out_of_bounds", "", {1, 0, 0}, {63, 0, 0}, 1, illegal},
      {"memcpy_past_end", "out_of_bounds", "", {1, 0, 0}, {63, 0, 0}, 1, illegal},
      {"global_read_before_start", "out_of_bounds", "", {0, 0, 0}, {0, 0, 0}, 1, illegal},
      {"global_write_past_end", "out_of_bounds", "", {1, 0, 0}, {63, 0, 0}, 1, illegal},
      {"global_write_before_start", "out_of_bounds", "", {0, 0, 0}, {0, 0, 0}, 1, illegal},
      {"global_read_far_away", "out_of_bounds", "", {1, 0, 0}, {6, 0, 0}, 1, illegal},
      {"atomic_past_end", "out_of_bounds", "", {0, 0, 0}, {31, 0, 0}, 1, illegal},
      {"byte_past_end", "out_of_bounds", "", {0, 0, 0}, {5, 0, 0}, 1, illegal},
      {"float4_across_the_end", "out_of_bounds", "", {0, 0, 0}, {1, 0, 0}, 1, illegal},
      {"shared_read_past_end", "out_of_bounds", "tile", {0, 0, 0}, {63, 0, 0}, 0, illegal},
      {"shared_read_before_start", "out_of_bounds", "tile", {0, 0, 0}, {0, 0, 0}, 0, illegal},
      {"shared_write_past_end", "out_of_bounds", "tile", {0, 0, 0}, {63, 0, 0}, 0, illegal},
      {"shared_write_before_start", "out_of_bounds", "tile", {0, 0, 0}, {0, 0, 0}, 0, illegal},
      {"shared_read_into_neighbour", "out_of_bounds", "second", {0, 0, 0}, {63, 0, 0}, 0, illegal},
      {"dynamic_read_past_end", "out_of_bounds", "", {0, 0, 0}, {63, 0, 0}, 0, illegal},
      {"dynamic_read_before_start", "out_of_bounds", "", {0, 0, 0}, {0, 0, 0}, 0, illegal},
      {"dynamic_write_past_end", "out_of_bounds", "", {0, 0, 0}, {63, 0, 0}, 0, illegal},
      {"constant_past_end", "out_of_bounds", "nine_constants", {0, 0, 0}, {9, 0, 0}, 1, illegal},
      {"device_variable_past_end", "out_of_bounds", "ten_cells", {0, 0, 0}, {10, 0, 0}, 1, illegal},
      {"use_after_free", "use_after_free", "", {0, 0, 0}, {0, 0, 0}, 0, illegal},
      {"misaligned_int", "misaligned", "", {0, 0, 0}, {0, 0, 0}, 0, cudaErrorMisalignedAddress},
      {"misaligned_store", "misaligned", "", {0, 0, 0}, {0, 0, 0}, 0, cudaErrorMisalignedAddress},
  }));
  const Outcome outcome = run(planted.name);
  INFO(planted.name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == planted.error);
  const Finding f = only_finding(outcome, planted.kind, kMemory, planted.name);
  // Beside a dynamic array that is too short stands the launch that asked for it.
  CHECK((f.other_line == 0 || f.message.find("he launch at") != std::string::npos));
  CHECK(f.block == planted.block);
  CHECK(f.thread == planted.thread);
  if (planted.count) CHECK(f.count == planted.count);
  if (*planted.array) {
    CHECK(f.array == planted.array);
  } else {
    CHECK(!f.array.empty());
  }
}

TEST_CASE("an address that is no GPU memory", "[hazards]") {
  const std::string name =
      GENERATE(values<const char*>({"null_pointer", "host_pointer_read", "host_pointer_write"}));
  const Outcome outcome = run(name);
  INFO(name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == cudaErrorIllegalAddress);  // host_pointer_write: -1 if it was performed
  const Finding f = only_finding(outcome, "invalid_address", kMemory, name);
  CHECK(f.thread == std::array<unsigned, 3>{0, 0, 0});
  CHECK(f.message.find(name == "null_pointer" ? "null" : "host") != std::string::npos);
}

TEST_CASE("a bad access leaves a sticky error until the device is reset", "[hazards]") {
  run("global_read_past_end");
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  void* pointer = nullptr;
  CHECK(cudaMalloc(&pointer, 64) == cudaErrorIllegalAddress);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaMalloc(&pointer, 64) == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaSuccess);
}

TEST_CASE("memory that nobody wrote", "[hazards]") {
  struct Planted {
    const char* name;
    const char* kind;
    const char* array;
    std::array<unsigned, 3> block;
    std::array<unsigned, 3> thread;
    std::uint64_t count;
    const char* line = nullptr;  // marker; null: the name
  };
  const char* shared = "uninitialized_shared_read";
  const char* global = "uninitialized_global_read";
  const Planted planted = GENERATE_COPY(values<Planted>({
      {"shared_cell_not_written", shared, "tile", {0, 0, 0}, {23, 0, 0}, 2},
      {"shared_of_an_earlier_block", shared, "tile", {1, 0, 0}, {0, 0, 0}, 64},
      {"dynamic_cell_not_written", shared, "", {0, 0, 0}, {60, 0, 0}, 8},
      {"shared_counter_not_set", shared, "count", {0, 0, 0}, {0, 0, 0}, 2},
      {"one_byte_of_a_word_not_written", shared, "bytes", {0, 0, 0}, {0, 0, 0}, 128},
      {"global_partly_copied", global, "", {0, 0, 0}, {48, 0, 0}, 16, "copy_all"},
      {"global_partly_set", global, "", {0, 0, 0}, {63, 0, 0}, 1, "copy_all"},
      {"global_copied_unwritten", global, "", {0, 0, 0}, {32, 0, 0}, 32, "copy_all"},
      {"global_allocated_again", global, "", {0, 0, 0}, {0, 0, 0}, 64, "copy_all"},
  }));
  const Outcome outcome = run(planted.name);
  INFO(planted.name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == cudaSuccess);
  const Finding f =
      only_finding(outcome, planted.kind, kMemory, planted.line ? planted.line : planted.name);
  CHECK(f.block == planted.block);
  CHECK(f.thread == planted.thread);
  CHECK(f.count == planted.count);
  if (*planted.array) {
    CHECK(f.array == planted.array);
  } else {
    CHECK(!f.array.empty());
  }
}

TEST_CASE("a barrier that part of the block does not reach", "[hazards]") {
  const std::string name = GENERATE(values<const char*>(
      {"barrier_in_both_branches", "barrier_missed", "same_branches", "same_branches_on_a_line"}));
  const bool on_a_line = name == "same_branches_on_a_line";
  const Outcome outcome = run(name);
  INFO(name << ": " << describe(outcome.launch.findings));
  REQUIRE(!outcome.launch.findings.empty());
  const Finding& f = outcome.launch.findings[0];
  CHECK(f.kind == "divergent_barrier");
  CHECK(is_between(f, kSynchronisation, line_of(kSynchronisation, "BUG " + name),
                   line_of(kSynchronisation, (on_a_line ? "BUG " : "OTHER ") + name)));
  CHECK(f.count == 2);  // once a block
  CHECK(f.block == std::array<unsigned, 3>{0, 0, 0});
}

TEST_CASE("the advice on a race fits it", "[hazards]") {
  const auto message = [](const char* name) { return run(name).launch.findings.at(0).message; };
  CHECK(message("missing_barrier").find("Put a __syncthreads()") != std::string::npos);
  CHECK(message("lanes_without_syncwarp").find("put a __syncwarp()") != std::string::npos);
  CHECK(message("race_in_global").find("write to another") != std::string::npos);
}

TEST_CASE("a race between blocks is named with both lines and the array", "[hazards][blocks]") {
  struct Planted {
    const char* name;
    const char* array;  // "" where the name is not defined
    const char* other;  // marks the second party's line
    std::uint64_t count;
  };
  const Planted planted = GENERATE(values<Planted>({
      {"tile_of_all_blocks", "shared_by_all", "OTHER tile_of_all_blocks", 64},
      {"sum_without_atomic", "", "BUG sum_without_atomic", 2},
      {"overlapping_outputs", "", "BUG overlapping_outputs", 28},
      {"neighbours_in_place", "", "OTHER neighbours_in_place", 7},
      {"reset_by_one_block", "", "OTHER reset_by_one_block", 1},
      {"bytes_of_two_blocks", "", "BUG bytes_of_two_blocks", 7},
      {"last_block_without_fence", "parts", "adds the parts", 7},
      {"part_after_fence", "parts", "adds the parts", 7},
      {"lock_of_blocks_without_fence", "", "BUG lock_of_blocks_without_fence", 2},
  }));
  const Outcome outcome = run(planted.name);
  INFO(planted.name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == cudaSuccess);
  REQUIRE(outcome.launch.findings.size() == 1);
  const Finding& f = outcome.launch.findings[0];
  CHECK(f.kind == "race");
  CHECK(!f.is_note());
  CHECK(is_kernel_file(f.file, kBlocks));
  CHECK(is_kernel_file(f.other_file, kBlocks));
  CHECK(f.line == line_of(kBlocks, std::string("BUG ") + planted.name));
  CHECK(f.other_line == line_of(kBlocks, planted.other));
  if (*planted.array) CHECK(f.array == planted.array);
  CHECK(f.count == planted.count);
  CHECK(f.message.find("race between blocks: thread (") == 0);
  CHECK(f.message.find("__syncthreads") == std::string::npos);
}

TEST_CASE("what is right between blocks raises nothing", "[hazards][blocks]") {
  const std::string name = GENERATE(values<const char*>({
      "last_block",
      "last_block_resets",
      "lock_of_blocks",
      "look_back",
      "atomics_of_all_blocks",
      "halo_read_by_two",
      "updates_its_own",
      "bytes_of_a_row",
  }));
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome = run(name);
    INFO(name << ": " << describe(outcome.launch.findings));
    CHECK(outcome.error == cudaSuccess);
    REQUIRE(outcome.launch.findings.empty());
  }
}

TEST_CASE("what may be meant between blocks is a note", "[hazards][blocks]") {
  const std::string name = GENERATE("flag_of_all_blocks", "relaxation");
  const Outcome outcome = run(name);
  INFO(name << ": " << describe(outcome.launch.findings));
  REQUIRE(outcome.launch.findings.size() == 1);
  const Finding& f = outcome.launch.findings[0];
  CHECK(f.is_note());
  CHECK(f.kind == (name == "relaxation" ? "read_beside_atomic" : "same_value_write"));
  CHECK(f.line == line_of(kBlocks, "BUG " + name));
  CHECK(f.other_line == (name == "relaxation" ? line_of(kBlocks, "OTHER " + name) : f.line));
}

// What is right where the value is only a first guess, and the fence that most GPUs do without.
TEST_CASE("what nvcc or a GPU may do otherwise is a note", "[hazards]") {
  const auto [name, kind] = GENERATE(table<const char*, const char*>({
      {"test_before_atomic", "read_beside_atomic"},
      {"visited_by_blocks", "read_beside_atomic"},
      {"atomic_flag_between_warps", "missing_fence"},
  }));
  const Outcome outcome = run(name);
  INFO(name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == cudaSuccess);
  REQUIRE(outcome.launch.findings.size() == 1);
  CHECK(outcome.launch.findings[0].kind == kind);
  CHECK(outcome.launch.findings[0].is_note());
}

TEST_CASE("a warp operation whose lanes do not agree", "[hazards]") {
  const std::string name =
      GENERATE(values<const char*>({"shuffle_with_lanes_elsewhere", "mask_without_the_caller",
                                    "syncwarp_with_lanes_elsewhere"}));
  const Outcome outcome = run(name);
  INFO(name << ": " << describe(outcome.launch.findings));
  // A lane that its own mask does not name waits for nobody; the others wait for ever.
  CHECK((outcome.error == cudaSuccess) == (name == "mask_without_the_caller"));
  const Finding f = only_finding(outcome, "warp_deadlock", kSynchronisation, name);
  CHECK(f.block == std::array<unsigned, 3>{0, 0, 0});
}

TEST_CASE("a shuffle from a lane that has ended", "[hazards]") {
  const Outcome outcome = run("shuffle_from_ended_lane");
  INFO(describe(outcome.launch.findings));
  only_finding(outcome, "undefined_shuffle", kSynchronisation, "shuffle_from_ended_lane");
}

TEST_CASE("an access to a block of the cluster that may have ended", "[hazards]") {
  const Outcome outcome = run("block_may_have_ended");
  INFO(describe(outcome.launch.findings));
  CHECK(outcome.error == cudaSuccess);
  only_finding(outcome, "absent_block", kSynchronisation, "block_may_have_ended");
  CHECK(run("block_has_not_ended").launch.findings.empty());
}

TEST_CASE("a kernel that never ends", "[hazards]") {
  const std::string name =
      GENERATE(values<const char*>({"waits_for_nobody", "loops_without_memory"}));
  const Outcome outcome = run(name);
  INFO(name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == cudaErrorLaunchTimeout);
  const Finding f = only_finding(outcome, "endless_kernel", kSynchronisation, name);
  CHECK(f.thread == std::array<unsigned, 3>{name == "waits_for_nobody" ? 3u : 0u, 0, 0});
}

TEST_CASE("a kernel that ends itself or crashes", "[hazards]") {
  struct Planted {
    const char* name;
    const char* kind;
    int error;
    unsigned block, thread;
  };
  const Planted planted = GENERATE(values<Planted>({
      {"asserts_too_much", "failed_assert", cudaErrorAssert, 1, 36},
      {"traps", "trap", cudaErrorLaunchFailure, 0, 5},
      {"divides_by_zero", "division_by_zero", cudaSuccess, 0, 3},
      {"recursion_without_end", "stack_overflow", cudaErrorIllegalAddress, 0, 7},
  }));
  const std::string name = planted.name;
  const Outcome outcome = run(name);
  INFO(name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == planted.error);
  const Finding f = only_finding(outcome, planted.kind, kFailures,
                                 name == "recursion_without_end" ? "deep" : name);
  CHECK(f.block == std::array<unsigned, 3>{planted.block, 0, 0});
  CHECK(f.thread == std::array<unsigned, 3>{planted.thread, 0, 0});
}

namespace {

// What all launches and calls of the host of a case say.
std::vector<Finding> findings_of(const std::string& name, int* error) {
  simt::simulator()->take_launches();
  *error = case_named(name).run();
  std::vector<Finding> all;
  for (const simt::Launch& launch : simt::simulator()->take_launches()) {
    all.insert(all.end(), launch.findings.begin(), launch.findings.end());
  }
  return all;
}

}  // namespace

TEST_CASE("work on streams that nothing orders", "[hazards]") {
  struct Planted {
    const char* name;
    const char* bug;
    const char* other;
    const char* array;
    const char* message;
  };
  const Planted planted = GENERATE(values<Planted>({
      {"kernel_on_another_stream", "copy_cells reads", "kernel_on_another_stream", "a",
       ", and nothing orders that after fill on the default stream, which writes it"},
      {"event_not_waited_for", "copy_cells reads", "event_not_waited_for", "a",
       "after fill on a non-blocking stream"},
      {"event_recorded_too_soon", "recorded", "recorded", "a", "cudaMemcpyAsync reads"},
      {"writes_what_another_reads", "copy_cells writes", "writes_read", "b",
       "after cudaMemcpyAsync on a non-blocking stream, which reads it"},
      {"memset_and_kernel", "copy_cells reads", "memset_and_kernel", "a",
       "after cudaMemset on the default stream, which writes it"},
      {"copy_and_kernel", "copy_cells reads", "copy_first", "a", "after cudaMemcpyAsync"},
      {"copied_back_too_soon", "copied_back", "copied_back", "a", "cudaMemcpy reads"},
      {"pinned_read_too_soon", "pinned_read", "pinned_read", "pinned", "The host reads"},
      {"pinned_copied_too_soon", "pinned_copied", "pinned_copied", "pinned", "The host reads"},
      {"pinned_written_too_soon", "pinned_written", "pinned_written", "pinned", "The host writes"},
      {"managed_read_too_soon", "managed_read", "managed_read", "managed", "The host reads"},
      {"one_of_several_readers", "several", "several", "a", "cudaMemsetAsync writes"},
      {"count_read_too_soon", "count_read", "count_read", "a", "which updates it"},
      {"freed_too_soon", "freed", "freed", "cells", "cudaFreeAsync writes"},
      {"per_thread_streams", "copy_cells reads", "per_thread_streams", "a",
       "after fill on a non-blocking stream"},
  }));
  int error = 0;
  const std::vector<Finding> findings = findings_of(planted.name, &error);
  INFO(planted.name << ": " << describe(findings));
  CHECK(error == cudaSuccess);
  REQUIRE(findings.size() == 1);
  const Finding& f = findings[0];
  CHECK(f.kind == "unordered_streams");
  CHECK(is_kernel_file(f.file, kStreams));
  CHECK(f.line == line_of(kStreams, std::string("BUG ") + planted.bug));
  CHECK(is_kernel_file(f.other_file, kStreams));
  CHECK(f.other_line == line_of(kStreams, std::string("OTHER ") + planted.other));
  CHECK(f.array == planted.array);
  CHECK_THAT(f.message, halo::test::contains(planted.message));
  const bool is_host = f.message.rfind("The host", 0) == 0;
  CHECK_THAT(f.message,
             halo::test::contains(is_host ? "cudaStreamSynchronize" : "cudaStreamWaitEvent"));
}

TEST_CASE("work on streams that something orders", "[hazards]") {
  const std::string name = GENERATE(values<const char*>({
      "kernel_on_a_blocking_stream",
      "event_waited_for",
      "blocking_copy_and_kernel",
      "pinned_in_turn",
      "managed_read_in_time",
      "halves_on_two_streams",
      "both_read",
      "both_count",
      "freed_in_time",
      "streams_that_are_gone",
      "mapped_memory",
  }));
  int error = 0;
  const std::vector<Finding> findings = findings_of(name, &error);
  INFO(name << ": " << describe(findings));
  CHECK(error == cudaSuccess);
  CHECK(findings.empty());
}

TEST_CASE("memory of the host that is open to kernels has its bounds", "[hazards]") {
  int error = 0;
  const std::vector<Finding> findings = findings_of("past_mapped_memory", &error);
  INFO(describe(findings));
  CHECK(error == cudaErrorIllegalAddress);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == "out_of_bounds");
}

TEST_CASE("blocks that wait for blocks that have not started", "[hazards][blocks]") {
  const Outcome outcome = run("barrier_of_the_grid");
  INFO(describe(outcome.launch.findings));
  CHECK(outcome.error == cudaErrorLaunchTimeout);
  only_finding(outcome, "endless_kernel", kBlocks, "barrier_of_the_grid");
}

// As PTX has it: volatile accesses are relaxed ones.
TEST_CASE("waiting for a volatile variable ends, and is no race", "[hazards]") {
  const Outcome outcome = run("waits_for_a_volatile");
  INFO(describe(outcome.launch.findings));
  CHECK(outcome.error == cudaSuccess);
  CHECK(failures_of(outcome).empty());
}

TEST_CASE("what an asynchronous copy has not finished is left alone", "[hazards][copies]") {
  struct Planted {
    const char* name;
    const char* array;
    const char* verb;     // in the message: what the hasty access does
    std::uint64_t count;  // words over both blocks
  };
  const Planted planted = GENERATE(values<Planted>({
      {"read_before_wait", "tile", "reads tile", 128},
      {"copy_not_committed", "tile", "reads tile", 128},
      {"barrier_without_wait", "tile", "reads tile", 128},
      {"syncwarp_before_wait", "tile", "reads tile", 128},
      {"last_of_many", "cells", "reads cells", 128},
      {"overwritten_in_flight", "tile", "writes tile", 66},
      {"source_overwritten", "", "may not have read yet", 128},
      {"source_overwritten_by_another", "", "may not have read yet", 64},
      {"two_copies_at_once", "tile", "writes tile", 128},
  }));
  const Outcome outcome = run(planted.name);
  INFO(planted.name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == cudaSuccess);  // read_before_wait: -1 if the old value was not read
  REQUIRE(outcome.launch.findings.size() == 1);
  const Finding& f = outcome.launch.findings[0];
  CHECK(f.kind == "unfinished_copy");
  const std::string name = planted.name;
  CHECK(is_kernel_file(f.file, kCopies));
  CHECK(is_kernel_file(f.other_file, kCopies));
  CHECK(f.line == line_of(kCopies, "BUG " + name));
  CHECK(f.other_line == line_of(kCopies, "OTHER " + name));
  if (*planted.array) CHECK(f.array == planted.array);
  CHECK(f.count == planted.count);
  CHECK(f.message.find(planted.verb) != std::string::npos);
  CHECK(f.message.find("__pipeline_wait_prior") != std::string::npos);
  CHECK(!f.is_note());
}

TEST_CASE("a wait that leaves one batch too many pending", "[hazards][copies]") {
  const Outcome outcome = run("one_batch_too_many");
  INFO(describe(outcome.launch.findings));
  const int copy = line_of(kCopies, "OTHER one_batch_too_many");
  const int read = line_of(kCopies, "BUG one_batch_too_many");
  // Both the first tile's copy and the loop's are read too early, and copied over by the loop's.
  REQUIRE(outcome.launch.findings.size() == 4);
  std::multiset<int> hasty, copies;
  for (const Finding& f : outcome.launch.findings) {
    CHECK(f.kind == "unfinished_copy");
    hasty.insert(f.line);
    copies.insert(f.other_line);
  }
  CHECK(hasty == std::multiset<int>{copy, copy, read, read});
  CHECK(copies.count(copy) == 2);
}

TEST_CASE("a copy that is waited for is still its own thread's only", "[hazards][copies]") {
  const std::string name = GENERATE(values<const char*>(
      {"wait_without_barrier", "copy_over_what_is_read", "copies_of_two_threads"}));
  const Outcome outcome = run(name);
  INFO(name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == cudaSuccess);
  REQUIRE(outcome.launch.findings.size() == 1);
  const Finding& f = outcome.launch.findings[0];
  CHECK(f.kind == "race");
  CHECK(f.array == "tile");
  const int bug = line_of(kCopies, "BUG " + name);
  CHECK(is_between(f, kCopies, bug,
                   name == "copies_of_two_threads" ? bug : line_of(kCopies, "OTHER " + name)));
  CHECK(f.count == (name == "copies_of_two_threads" ? 64 : 128));
}

TEST_CASE("a barrier before the wait orders nothing of a copy", "[hazards][copies]") {
  const Outcome outcome = run("barrier_before_wait");
  INFO(describe(outcome.launch.findings));
  // The first warp reads before the second has waited, which then reads what the first one's copy has brought.
  std::multiset<std::string> kinds;
  std::uint64_t count = 0;
  for (const Finding& f : outcome.launch.findings) {
    kinds.insert(f.kind);
    count += f.count;
    CHECK(is_between(f, kCopies, line_of(kCopies, "BUG barrier_before_wait"),
                     line_of(kCopies, "OTHER barrier_before_wait")));
  }
  CHECK(kinds == std::multiset<std::string>{"race", "unfinished_copy"});
  CHECK(count == 128);
}

TEST_CASE("the same element copied twice to one place is a note", "[hazards][copies]") {
  const Outcome outcome = run("same_copy_twice");
  INFO(describe(outcome.launch.findings));
  REQUIRE(outcome.launch.findings.size() == 1);
  CHECK(outcome.launch.findings[0].kind == "same_value_write");
  CHECK(outcome.launch.findings[0].line == line_of(kCopies, "BUG same_copy_twice"));
}

TEST_CASE("correct copies raise nothing and bring their data", "[hazards][copies]") {
  const char* name = GENERATE(values<const char*>(
      {"read_after_wait", "wait_then_barrier", "double_buffered", "three_buffers",
       "copy_of_device_variable", "many_copies", "overwritten_after_wait",
       "source_overwritten_after_wait", "syncwarp_after_wait", "syncwarp_after_late_wait",
       "zeros_past_end", "part_past_end"}));
  const RestoreChecks restore;
  for (const char* checks : {"all", "none", "counters", "bounds", "races"}) {
    simt::simulator()->set_checks(checks);
    const Outcome outcome = run(name);
    INFO(name << " with " << checks << ": " << describe(outcome.launch.findings));
    CHECK(outcome.error == cudaSuccess);
    CHECK(outcome.launch.findings.empty());
  }
}

TEST_CASE("a copy that cannot be is named at its line", "[hazards][copies]") {
  struct Planted {
    const char* name;
    const char* kind;
    const char* words;  // of the message
    unsigned thread;
    int error;
  };
  const Planted planted = GENERATE(values<Planted>({
      // What CUDA's header makes of them.
      {"copy_of_12_bytes", "trap", "__trap()", 0, cudaErrorLaunchFailure},
      {"fill_beyond_size", "trap", "__trap()", 0, cudaErrorLaunchFailure},
      {"copy_from_shared", "invalid_address", "which is none of global memory", 0,
       cudaErrorIllegalAddress},
      {"copy_to_global", "out_of_bounds", "outside", 0, cudaErrorIllegalAddress},
      {"copy_from_misaligned", "misaligned", "reads 16 bytes", 0, cudaErrorMisalignedAddress},
      {"copy_to_misaligned", "misaligned", "writes 16 bytes", 0, cudaErrorMisalignedAddress},
      {"copy_from_past_end", "out_of_bounds", "at byte 1024", 10, cudaErrorIllegalAddress},
      {"copy_to_past_end", "out_of_bounds", "tile (252 bytes)", 63, cudaErrorIllegalAddress},
      {"copy_from_null", "invalid_address", "null pointer", 0, cudaErrorIllegalAddress},
      {"copy_of_unwritten", "uninitialized_global_read", "nothing has written", 0, cudaSuccess},
  }));
  const Outcome outcome = run(planted.name);
  INFO(planted.name << ": " << describe(outcome.launch.findings));
  CHECK(outcome.error == planted.error);
  const Finding f = only_finding(outcome, planted.kind, kCopies, planted.name);
  CHECK(f.thread == std::array<unsigned, 3>{planted.thread, 0, 0});
  CHECK(f.message.find(planted.words) != std::string::npos);
}

TEST_CASE("findings are the same every time", "[hazards]") {
  for (const char* name : {"missing_barrier", "warp_synchronous_reduction", "barrier_missed",
                           "shared_read_past_end", "reset_beside_atomics", "tile_of_all_blocks",
                           "race_on_float4", "one_batch_too_many", "copies_of_two_threads"}) {
    INFO(name);
    const std::string first = describe(run(name).launch.findings);
    for (int i = 0; i < 3; ++i) CHECK(describe(run(name).launch.findings) == first);
  }
}

TEST_CASE("a list of checks", "[hazards]") {
  const RestoreChecks restore;
  const auto kinds = [](const char* checks, const char* name) {
    simt::simulator()->set_checks(checks);
    std::string text;
    for (const Finding& f : run(name).launch.findings) text += f.kind + " ";
    return text;
  };
  CHECK(kinds("races", "missing_barrier") == "race ");
  CHECK(kinds("counters,races", "missing_barrier") == "race ");
  CHECK(kinds("uninitialized", "missing_barrier") == "");
  CHECK(kinds("bounds,barriers,counters", "missing_barrier") == "");
  CHECK(kinds("uninitialized", "shared_cell_not_written") == "uninitialized_shared_read ");
  CHECK(kinds("uninitialized", "global_partly_set") == "uninitialized_global_read ");
  CHECK(kinds("races,bounds,barriers", "shared_cell_not_written") == "");
  CHECK(kinds("bounds", "global_read_past_end") == "out_of_bounds ");
  CHECK(kinds("bounds", "shared_cell_not_written") == "");
  CHECK(kinds("barriers", "barrier_in_both_branches") == "divergent_barrier ");
  CHECK(kinds("races", "barrier_in_both_branches") == "");
  CHECK(kinds("none", "missing_barrier") == "");

  simt::simulator()->set_checks("counters");
  CHECK(run("missing_barrier_fixed").launch.counters.shared_load_requests == 4);
  simt::simulator()->set_checks("none");
  CHECK(run("missing_barrier_fixed").launch.counters == simt::Counters{});

  CHECK_THROWS_AS(simt::simulator()->set_checks("rases"), std::invalid_argument);
  CHECK_THROWS_AS(simt::simulator()->set_checks("races,"), std::invalid_argument);
  CHECK_THROWS_AS(simt::simulator()->set_checks(""), std::invalid_argument);
}
