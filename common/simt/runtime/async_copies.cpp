// Asynchronous copies from global to shared memory, as __pipeline_memcpy_async starts them.
//
// A copy is counted and checked where it starts. Its data move at the wait that completes it, and in
// between the race detector knows the words that it reads and fills (races.hpp).
#include <algorithm>
#include <cstring>
#include <string>

#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/program_image.hpp"
#include "common/simt/runtime/settings.hpp"

namespace simt {
namespace {

// `cp.async.wait_group` takes a constant; CUDA's header offers 0 to 8.
constexpr std::size_t kMostPrior = 8;
constexpr int kLaunchFailure = 719;

const char* space_name(Space space) {
  switch (space) {
    case Space::global:
      return "global memory";
    case Space::shared:
      return "shared memory";
    case Space::constant:
      return "constant memory";
    case Space::local:
      return "the thread's own local memory";
    case Space::cluster:
      return "another block's shared memory";
    case Space::other:
      break;
  }
  return "host memory";
}

[[noreturn]] void refuse(std::uint32_t pc, const std::string& what, const std::string& detail) {
  if (simt_hot.checks & kCheckBounds) {
    note_hazard(Hazard::invalid_copy, pc, "", what.c_str(), detail);
  }
  abandon_lane(kLaunchFailure);
}

// Checks and counts both sides and puts the flights of the copy's words on record.
void observe(PendingCopy& copy, const void* from, unsigned read, std::uintptr_t frame) {
  Hot& hot = simt_hot;
  const auto source = reinterpret_cast<std::uintptr_t>(from);
  const auto destination = reinterpret_cast<std::uintptr_t>(copy.to);
  if (hot.checks & kCheckBounds) {
    if (const Space space = space_of(destination);
        space != Space::shared && space != Space::other) {
      refuse(copy.pc, std::string("starts an asynchronous copy to ") + space_name(space), "");
    }
    if (const Space space = space_of(source);
        read && space != Space::global && space != Space::other) {
      refuse(copy.pc, std::string("starts an asynchronous copy from ") + space_name(space), "");
    }
  }
  // Between here and the last flight the lane must not be suspended.
  if (hot.log_limit - hot.log_next < kCopyEvents) log_is_full();
  RaceDetector& races = *hot.races;
  races.settle_writes();  // the lane's earlier stores: memory holds their values by now
  if (read) note_copy_source(source, read, copy.bytes, copy.pc, frame);
  if (read) std::memcpy(copy.data, from, read);
  note_copy_destination(destination, copy.bytes, copy.pc, frame);
  races.settle_copy(copy.data, destination);
  if (!(hot.checks & kCheckRaces)) return;
  const AccessId id = hot.access_id | copy.pc;
  auto start = [&](std::uintptr_t word, bool writes, std::uint32_t value) {
    const auto number = start_flight(word, id, writes, value);
    if (number && copy.flights++ == 0) copy.first_flight = *number;
  };
  for (unsigned b = 0; b < copy.bytes; b += 4) {
    std::uint32_t value;
    std::memcpy(&value, copy.data + b, 4);
    start(destination + b, true, value);
  }
  for (unsigned b = 0; b + 4 <= read; b += 4) start(source + b, false, 0);
}

void land(const PendingCopy& copy) {
  if (simt_hot.active && copy.flights) {
    RaceDetector& races = *simt_hot.races;
    races.settle_writes();
    for (std::uint32_t i = 0; i < copy.flights; ++i) {
      races.land(copy.first_flight + i, simt_hot.access_id | copy.pc);
    }
    races.settle_copy(copy.data, reinterpret_cast<std::uintptr_t>(copy.to));
    note_copy_landed(reinterpret_cast<std::uintptr_t>(copy.to), copy.bytes, copy.pc);
  }
  std::memcpy(copy.to, copy.data, copy.bytes);
}

}  // namespace

void async_copy(void* to, const void* from, std::size_t bytes, std::size_t zero_fill) {
  const auto call = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const auto pc = static_cast<std::uint32_t>(call - 1 - ProgramImage::get().load_address());
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    refuse(pc, "starts an asynchronous copy of a size that there is not:",
           std::to_string(bytes) + " bytes");
  }
  if (zero_fill > bytes) {
    refuse(pc, "starts an asynchronous copy with a zfill beyond its size:",
           std::to_string(zero_fill) + " of " + std::to_string(bytes) + " bytes");
  }
  CopyPipeline& pipeline = running_pipeline();
  PendingCopy copy{};
  copy.to = to;
  copy.bytes = static_cast<std::uint32_t>(bytes);
  copy.pc = pc;
  copy.batch = pipeline.batch;
  const auto read = static_cast<unsigned>(bytes - zero_fill);
  if (simt_hot.active) {
    observe(copy, from, read, frame);
  } else if (read) {
    std::memcpy(copy.data, from, read);
  }
  pipeline.copies.push_back(copy);
}

void commit_copies() { ++running_pipeline().batch; }

void wait_for_copies(std::size_t prior) {
  CopyPipeline& pipeline = running_pipeline();
  prior = std::min(prior, kMostPrior);
  auto copy = pipeline.copies.begin();
  for (; copy != pipeline.copies.end() && copy->batch + prior < pipeline.batch; ++copy) land(*copy);
  pipeline.copies.erase(pipeline.copies.begin(), copy);
}

}  // namespace simt
