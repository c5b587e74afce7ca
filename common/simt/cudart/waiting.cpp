#include "common/simt/cudart/waiting.hpp"

#include <cuda_runtime_api.h>
#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/cudart/record.hpp"
#include "common/simt/cudart/streams.hpp"
#include "common/simt/cudart/timeline.hpp"

namespace simt::cudart::waiting {
namespace {

struct Kept {
  Ticket ticket = 0;
  int stream = 0;
  int device = current_device();
  std::vector<std::uintptr_t> callers = callers_of_runtime();
  std::unique_ptr<Begun> launch = nullptr;  // or work
  Work work = nullptr;
  std::vector<Ticket> after = {};
  std::function<bool()> has_room = nullptr;
  std::function<bool()> has_value = nullptr;
};

struct State {
  std::list<Kept> all;  // in the order of the host's calls
  Ticket last = 0;
  // The work that is done now: what it keeps takes its place, between it and what is behind it.
  std::list<Kept>::iterator doing = all.end(), behind = all.end();
  bool is_doing = false;
  bool is_watched = false;  // by a thread
  std::set<pid_t> threads;  // that watch, or wait here
};
State& state() {
  static State& instance = *new State;
  return instance;
}

// ---- Whether anybody can write ----

// Of the process's threads: by their numbers how often they have run, and whether they wait for another thread, without
// a limit.
struct Thread {
  std::string switches;
  bool waits = false;
  bool operator==(const Thread&) const = default;
};
std::map<pid_t, Thread> other_threads() {
  std::map<pid_t, Thread> all;
  DIR* const folder = opendir("/proc/self/task");
  if (folder == nullptr) return all;
  while (const dirent* const entry = readdir(folder)) {
    const auto id = static_cast<pid_t>(std::atoi(entry->d_name));
    if (id <= 0 || state().threads.contains(id)) continue;
    const std::string its = std::string("/proc/self/task/") + entry->d_name;
    Thread& thread = all[id];
    std::ifstream status(its + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.find("ctxt_switches") != std::string::npos) thread.switches += line;
    }
    // The number of the call and its arguments, of which the fourth is the limit. (Who may not see it takes it that the
    // thread waits.)
    std::ifstream call(its + "/syscall");
    long number = call.is_open() ? -1 : SYS_futex;
    std::string address, operation, value, limit = "0x0";
    call >> number >> address >> operation >> value >> limit;
    thread.waits = number == SYS_futex && limit == "0x0";
  }
  closedir(folder);
  return all;
}

// All other threads wait for one another: seen twice, so that none has run between.
bool nobody_can_write() {
  const auto before = other_threads();
  const auto waits = [](const auto& one) { return one.second.waits; };
  return turn().waiting() == 0 && std::all_of(before.begin(), before.end(), waits) &&
         other_threads() == before && turn().waiting() == 0;
}

// ---- What is kept ----

bool is_held(std::list<Kept>::iterator begin, std::list<Kept>::iterator end, int stream) {
  return std::any_of(begin, end,
                     [&](const Kept& one) { return timeline::are_in_order(one.stream, stream); });
}

bool can_advance(std::list<Kept>::iterator at, bool is_last_time) {
  if (is_held(state().all.begin(), at, at->stream)) return false;
  if (std::any_of(at->after.begin(), at->after.end(), waits)) return false;
  if (at->launch != nullptr) return at->launch->may_go_on(is_last_time);
  return (!at->has_room || at->has_room()) && (!at->has_value || at->has_value());
}

// Whether it is over.
bool advance(Kept& one) {
  const UseDevice device(one.device);
  const CallersOf callers(one.callers);
  const GraphOnStream on(one.stream, false);
  cudaError_t error = cudaSuccess;
  try {
    if (one.launch != nullptr) return one.launch->go_on();
    error = one.work();
  } catch (...) {
    error = error_of_exception("kept work");
  }
  if (error != cudaSuccess) {
    explain("kept work", "what was put behind a kernel that waits for the host has failed: %s",
            cudaGetErrorName(error));
  }
  return true;
}

// How far those that are kept have come: some may have gone round once more and be where they were.
enum class Progress : std::uint8_t { none, round, real };

// `is_last_time`: only what comes to its end counts.
Progress advance_any(bool is_last_time = false) {
  State& s = state();
  Progress all = Progress::none;
  if (s.is_doing) return all;
  for (auto at = s.all.begin(); at != s.all.end() && spoilt() == cudaSuccess;) {
    bool is_over = false;
    if (can_advance(at, is_last_time)) {
      const bool goes_round = at->launch != nullptr && at->launch->goes_round();
      s.is_doing = true;
      s.doing = at;
      s.behind = std::next(at);
      is_over = advance(*at);
      s.is_doing = false;
      const Progress its = is_over        ? Progress::real
                           : is_last_time ? Progress::none
                           : goes_round   ? Progress::round
                                          : Progress::real;
      all = std::max(all, its);
    }
    at = is_over ? s.all.erase(at) : std::next(at);
  }
  // The context is lost, and what it was to do.
  if (spoilt() != cudaSuccess) s.all.clear();
  return all;
}

void tell_endless(const Kept& wait) {
  const UseDevice device(wait.device);
  const CallersOf callers(wait.callers);
  const HostLine here = line_of_call(wait.callers);
  Finding its;
  its.kind = hazard_name(Hazard::endless_kernel);
  its.file = here.file;
  its.line = here.line;
  its.count = 1;
  its.message =
      "a stream waits here for a value that nothing writes any more: on a GPU it waits without an "
      "end. Look at who should write it, and whether that is put behind this wait.";
  record_of_host(std::move(its));
  spoil(cudaErrorLaunchTimeout);
}

// Nobody writes any more, or all only go round. The kernel that waits is at its end, and the device with it, unless one
// goes on even so. There is none where the device is lost already.
void give_up(bool go_round) {
  State& s = state();
  if (!go_round && (advance_any() != Progress::none || advance_any(true) != Progress::none)) {
    return;
  }
  const bool bars_others = std::any_of(s.all.begin(), s.all.end(),
                                       [](const Kept& one) { return one.has_room != nullptr; });
  const auto first = std::find_if(s.all.begin(), s.all.end(),
                                  [](const Kept& one) { return one.launch != nullptr; });
  if (first != s.all.end()) {
    const UseDevice device(first->device);
    const CallersOf callers(first->callers);
    first->launch->give_up(bars_others);
  } else if (const auto wait =
                 std::find_if(s.all.begin(), s.all.end(),
                              [](const Kept& one) { return one.has_value != nullptr; });
             wait != s.all.end()) {
    tell_endless(*wait);
  }
  s.all.clear();
}

// Kernels that count their attempts in the same word wake one another.
class Rounds {
 public:
  bool are_too_many(Progress its) {
    if (its == Progress::real) count_ = 0;
    if (its == Progress::round) ++count_;
    return count_ >= kMost;
  }

 private:
  static constexpr int kMost = 8;
  int count_ = 0;
};

// As long as something is kept.
void watch() {
  {
    const std::lock_guard lock(turn());
    state().threads.insert(static_cast<pid_t>(syscall(SYS_gettid)));
  }
  using std::chrono::microseconds;
  constexpr microseconds kLeast{20}, kMost{1000};
  for (microseconds pause = kLeast;; pause = std::min(2 * pause, kMost)) {
    std::this_thread::sleep_for(pause);
    const std::unique_lock lock(turn(), std::try_to_lock);
    if (!lock.owns_lock()) continue;
    if (advance_any() == Progress::real) pause = kLeast;
    if (!state().all.empty()) continue;
    state().threads.erase(static_cast<pid_t>(syscall(SYS_gettid)));
    state().is_watched = false;
    return;
  }
}

void add(Kept one) {
  State& s = state();
  one.ticket = ++s.last;
  s.all.insert(s.is_doing ? s.behind : s.all.end(), std::move(one));
  if (std::exchange(s.is_watched, true)) return;
  std::thread(watch).detach();
}

// Once so often nothing has gone on while the host waited.
void note_wait_in_vain(int times) {
  constexpr int kLong = 50'000;
  if (times != kLong) return;
  explain("long wait",
          "the host waits for a kernel, which waits until another thread of the host writes what "
          "it polls, or puts that on another stream: a kernel that never ends looks like this "
          "too");
}

template <class Waits>
void finish_those(Waits is_waiting) {
  State& s = state();
  if (s.is_doing || !is_waiting()) return;
  const auto own = static_cast<pid_t>(syscall(SYS_gettid));
  s.threads.insert(own);
  Rounds rounds;
  for (int pauses = 0; is_waiting();) {
    const Progress its = advance_any();
    const bool in_vain = rounds.are_too_many(its);
    if (its != Progress::none && !in_vain) continue;
    if (nobody_can_write()) {
      give_up(in_vain);  // what was written before that is seen now
      continue;
    }
    turn().let_others();
    note_wait_in_vain(++pauses);
  }
  s.threads.erase(own);
  if (spoilt() != cudaSuccess) throw DeviceIsSpoilt{};
}

}  // namespace

void keep(int stream, std::unique_ptr<Begun> launch) {
  add({.stream = stream, .launch = std::move(launch)});
}

bool is_any() { return !state().all.empty(); }

Room taken() {
  Room all;
  for (const Kept& one : state().all) {
    if (one.launch == nullptr || one.device != current_device()) continue;
    const Room its = one.launch->takes();
    all.blocks += its.blocks;
    all.threads += its.threads;
    all.shared += its.shared;
  }
  return all;
}

std::size_t free_checker() {
  std::size_t number = 0;
  const auto has_it = [&](const Kept& one) {
    return one.launch != nullptr && one.launch->checker() == number;
  };
  while (std::any_of(state().all.begin(), state().all.end(), has_it)) ++number;
  return number;
}

// What comes before work that is done now is over.
bool holds(int stream) {
  State& s = state();
  return s.is_doing ? is_held(std::next(s.doing), s.behind, stream)
                    : is_held(s.all.begin(), s.all.end(), stream);
}

Ticket put(int stream, Work work, const std::vector<Ticket>& after) {
  add({.stream = stream, .work = std::move(work), .after = after});
  return state().last;
}

void put_until(int stream, Work work, std::function<bool()> has_room) {
  add({.stream = stream, .work = std::move(work), .has_room = std::move(has_room)});
}

void put_until_value(int stream, Work work, std::function<bool()> holds) {
  add({.stream = stream, .work = std::move(work), .has_value = std::move(holds)});
}

bool waits(Ticket ticket) {
  return ticket != 0 && std::any_of(state().all.begin(), state().all.end(),
                                    [&](const Kept& one) { return one.ticket == ticket; });
}

Ticket last_on(int stream) {
  Ticket last = 0;
  for (const Kept& one : state().all) {
    if (one.stream == stream) last = std::max(last, one.ticket);
  }
  return last;
}

void advance() {
  static int times = 0;
  times = advance_any() == Progress::real || state().all.empty() ? 0 : times + 1;
  note_wait_in_vain(times);
}

void finish_stream(int stream) {
  finish_those([&] { return holds(stream); });
}
void finish(Ticket ticket) {
  finish_those([&] { return waits(ticket); });
}
void finish_all() {
  finish_those([] { return !state().all.empty(); });
}

void end() {
  State& s = state();
  for (Rounds rounds; !s.is_doing && !s.all.empty();) {
    const Progress its = advance_any();
    const bool in_vain = rounds.are_too_many(its);
    if (its == Progress::none || in_vain) give_up(in_vain);
  }
}

}  // namespace simt::cudart::waiting
