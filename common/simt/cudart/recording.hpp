// What a program asks of the device, noted instead of done: its kernels do not run, and of the device's memory it has the
// addresses and nothing else. Another process does what was noted (replay()): host code can neither see what the device's
// memory holds nor touch what is counted there. Work of streams and graphs is noted in the order in which it would be done.
// All of this is called under turn().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/launches.hpp"
#include "common/simt/cudart/module.hpp"
#include "common/simt/cudart/operations.hpp"

namespace simt::cudart {

/// Whether this process notes. Where it does, what is noted must not be done.
bool is_recording();
/// Begins to note, or pauses.
void set_recording(bool is_on);
/// What was noted since the last time.
std::string take_recorded();

/// Does what was noted, in this process, whose device memory has the same addresses. Whatever kernels do wrong is told as
/// of any launch. Throws std::runtime_error, in one line, if nothing could have been noted so, or if something was asked
/// that is not done for a program of which nothing is seen but its notes: what() says it.
void replay(const std::string& recorded);

/// For a program that does not note, and while something is done whose parts are not to be noted.
class NotRecording {
 public:
  NotRecording();
  ~NotRecording();
  NotRecording(const NotRecording&) = delete;
  NotRecording& operator=(const NotRecording&) = delete;

 private:
  bool before_;
};

// ---- What there is to be noted ----

void note_module(const Module& module, const std::string& ptx, bool is_linked);
void note_allocation(const Block& block);
void note_release(std::uint64_t address);
/// From the host's memory or within the device's. Bytes of the host's are kept as they are now.
void note_copy(const Issue& issue, const Side& to, const Side& from, const Extent& extent);
void note_set(const Issue& issue, const Side& to, int value, const Extent& extent);
void note_launch(const Kernel& kernel, const Launching& what, int stream,
                 const std::vector<std::byte>& parameters);
void note_limit(int limit, std::uint64_t value);
void note_free_in_order(std::uint64_t address, int stream);
/// It was asked for something that cannot be noted: a sentence without its stop, which ends the replay.
cudaError_t refuse_to_note(const std::string& what);

// Of streams (timeline.hpp).
int note_stream(bool is_non_blocking);
void note_end_of_stream(int stream);
std::uint32_t note_event(int stream);
void note_wait(int stream, std::uint32_t event);
void note_order_of_blocking_streams();
void note_host_waits(std::uint32_t event);
void note_host_waits_for_all();
void note_shared_memory();
void note_host_task(int stream);
void note_end_of_host_task();

}  // namespace simt::cudart
