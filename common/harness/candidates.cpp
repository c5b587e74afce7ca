#include "common/harness/candidates.hpp"

#include <fstream>
#include <limits>

#include "common/report/command_line.hpp"

namespace halo {

namespace {

// Products, or steps as large, that the simulator is asked for at once: some ten seconds of its time.
constexpr std::int64_t kSimulatedWork = 200'000'000;
// Arrays that are together this many times as large as the cache push each other out of it.
constexpr std::int64_t kCacheTimes = 2;

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("MemAvailable:", 0) == 0) return std::stoll(line.substr(13)) * 1024;
  }
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

int cold_sets(Backend& backend, std::int64_t bytes_of_a_call) {
  return static_cast<int>((kCacheTimes * backend.cache_bytes() + bytes_of_a_call - 1) /
                          bytes_of_a_call);
}

Sets::Sets(Backend& backend, const Array& first, int count)
    : stride_((static_cast<std::int64_t>(first.size()) + 63) / 64 * 64),
      cells_(backend, static_cast<std::size_t>(count * stride_)) {}

void Sets::write(const KeptArray& kept, int index) {
  halo::write(kept, cells_, static_cast<std::size_t>(index * stride_));
}

Value down_and_across(int down, int across) {
  if (down == across) return std::int64_t{down};
  return std::to_string(down) + "x" + std::to_string(across);
}

std::string too_large_for_simulator(std::int64_t work, const std::string& units) {
  if (work <= kSimulatedWork) return {};
  return "too large for the simulator: " + with_commas(work) + " " + units + ", it is given " +
         with_commas(kSimulatedWork) + " at most";
}

std::string too_large_for_memory(const std::string& what, std::int64_t host_bytes,
                                 std::int64_t device_bytes, Backend& backend) {
  const auto complaint = [&](const char* where, std::int64_t wanted, std::int64_t free) {
    return std::string("too large for ") + where + ": " + what + " needs " +
           with_commas(wanted >> 20) + " MiB of memory, " + with_commas(free >> 20) +
           " MiB are free";
  };
  const std::int64_t available = available_memory();
  if (host_bytes > available) return complaint("this machine", host_bytes, available);
  const std::int64_t on_device = device_bytes + (std::int64_t{1} << 20);
  if (const std::int64_t free = backend.free_memory(); on_device > free) {
    return complaint("this GPU", on_device, free);
  }
  return {};
}

void check_candidate(Row& row, Progress& progress, const std::string& reason,
                     const std::function<void()>& trials, const std::function<void()>& problem) {
  if (trials) trials();
  // What fails on a small problem may take the device down on a large one.
  if (reason.empty() && row.check.outcome != Outcome::bad) {
    progress.show(row.stage + " " + row.variant + ": checking");
    problem();
    return;
  }
  row.traffic.reason = reason.empty() ? "it failed its check" : reason;
  if (reason.empty()) return;
  row.time.reason = reason;
  if (row.check.outcome == Outcome::not_run) row.check.reason = row.hazards.reason = reason;
}

}  // namespace halo
