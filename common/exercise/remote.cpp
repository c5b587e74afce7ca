#include "common/exercise/remote.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <stdexcept>

#include "common/conv/accuracy.hpp"
#include "common/data/file.hpp"
#include "common/exercise/wire.hpp"
#include "common/json/json.hpp"
#include "common/process/patience.hpp"
#include "common/process/sandbox.hpp"

namespace halo::exercises {

namespace {

// The simulator stops a kernel that does not end; this is for hosts that do not.
constexpr int kPatience = 20;  // seconds
// It is started again after that, so often, and each time has half the patience: another case may be right, and what
// never ends is not waited for thrice.
constexpr int kMostSilences = 3;
// What has closed its socket is about to end, and what was asked to end does so.
constexpr std::chrono::seconds kGrace(5);
// A profiler writes first.
constexpr std::chrono::seconds kGraceOfProfiler(60);

// More than any exercise has.
constexpr int kMostParameters = 64;
constexpr std::uint64_t kMostGuardCells = 1 << 16;
const std::string kNonsense = "the exercise's program does not answer as one: ";

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

// A file of its own, for a sandbox's report.
class Report {
 public:
  Report() {
    const int file = mkstemp(path_.data());
    if (file < 0) throw Hindered("no temporary file in /tmp for the sandbox's report");
    close(file);
  }
  ~Report() { unlink(path_.c_str()); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/halo-report-XXXXXX";
};

// An answer without an array: a report on a launch has a line for each of the file's, and some findings.
constexpr std::uint64_t kMostSaid = 16 << 20;

// What it has noted of a call, with the bytes of its own that it copies.
constexpr std::uint64_t kMostNoted = std::uint64_t{1} << 29;

// What a worker says of itself goes into lines for people, where nothing in it obeys a terminal.
constexpr std::size_t kLongestName = 300;
constexpr std::size_t kLongestMessage = 2000;
constexpr std::size_t kMostFindings = 1000;

Observation believed(Observation seen) {
  if (seen.kernels < 0) fail("it reports a negative number of kernels");
  if (seen.hazards.size() > kMostFindings || seen.printed.lines.size() > kMostFindings) {
    fail("it reports more than is possible");
  }
  seen.error = data::printable(seen.error, kLongestMessage);
  for (std::string& line : seen.printed.lines) line = data::printable(line, kLongestMessage);
  for (auto* lines : {&seen.lines, &seen.fp64_lines, &seen.tensor_lines}) {
    for (LineCounts& line : *lines) line.file = data::printable(line.file, kLongestName);
  }
  for (Hazard& hazard : seen.hazards) {
    for (std::string* name :
         {&hazard.kind, &hazard.file, &hazard.other_file, &hazard.array, &hazard.call_file}) {
      *name = data::printable(*name, kLongestName);
    }
    hazard.message = data::printable(hazard.message, kLongestMessage);
  }
  return seen;
}

// The worker's process and its socket.
class Process {
 public:
  Process(const WorkerCommand& asked, const std::vector<std::string>& program)
      : is_confined_(!asked.within.empty()) {
    if (is_confined_) report_ = std::make_unique<Report>();
    const std::vector<std::string> command =
        confined(asked.within, {is_confined_ ? report_->path() : ""}, program);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw Hindered(std::string("no socket for the exercise's program: ") + std::strerror(errno));
    }
    const pid_t parent = getpid();
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(126);
      // What it prints is for whoever looks at errors: stdout is the judge's own.
      dup2(STDERR_FILENO, STDOUT_FILENO);
      if (ends[1] == kSocket) {
        fcntl(kSocket, F_SETFD, 0);
      } else {
        dup2(ends[1], kSocket);
      }
      std::vector<char*> words;
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      execvp(words[0], words.data());
      std::fprintf(stderr, "cannot run %s: %s\n", words[0], std::strerror(errno));
      _exit(127);
    }
    close(ends[1]);
    socket_ = ends[0];
    if (child_ < 0) {
      close(socket_);
      throw Hindered(std::string("no process for the exercise's program: ") + std::strerror(errno));
    }
  }
  ~Process() { end(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool is_there() const { return child_ > 0; }

  // Throws Gone, and then it has ended: how() says how.
  Answer ask(const Request& request, int patience, std::uint64_t most) {
    if (!is_there()) throw Gone{false};
    Patience waits(child_, patience);
    auto lost = Patience::Lost::not_yet;
    Look look;
    if (patience > 0) {
      look = [&] {
        lost = waits.look();
        if (lost != Patience::Lost::not_yet) throw Gone{true};
      };
    }
    try {
      send(socket_, request, look);
      return receive_answer(socket_, look, most);
    } catch (const Gone& gone) {
      is_hindered_ = lost == Patience::Lost::waited;
      end(gone.silent, waits.words(lost));
      throw;
    } catch (const Nonsense&) {
      end();
      throw;
    }
  }
  const std::string& how() const { return how_; }
  // It was the machine that ended it, or kept it from running.
  bool is_hindered() const { return is_hindered_; }
  bool was_ended_by_sandbox() const { return was_ended_by_sandbox_; }
  bool has_read_astray() const { return has_read_astray_; }
  // It hears that nothing more is asked of it, and is given the time to end.
  void leave() {
    grace_ = kGraceOfProfiler;
    end(false);
  }

 private:
  // Whether it has ended within the grace.
  bool has_ended(int& status) {
    const auto start = std::chrono::steady_clock::now();
    while (waitpid(child_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() - start > grace_) return false;
      usleep(500);
    }
    return true;
  }

  void end(bool silent = true, const std::string& words = {}) {
    if (child_ <= 0) return;
    close(socket_);
    int status = 0;
    bool ended = !silent && has_ended(status);
    const bool is_left = !silent && !ended;  // it goes on without its socket
    if (!ended && is_confined_) {
      // A sandbox is asked, so that nothing of the program is left when it has ended.
      kill(child_, SIGTERM);
      ended = has_ended(status);
    }
    if (!ended) {
      kill(child_, SIGKILL);
      while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
      }
    }
    child_ = -1;
    const std::string reason = is_confined_ ? reason_in_report(report_->path()) : "";
    was_ended_by_sandbox_ = !reason.empty();
    // Who ends a program of its own accord is the sandbox, or a machine without memory.
    const bool is_killed =
        is_confined_ && ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    is_hindered_ =
        is_hindered_ || is_machines_fault(reason) || (is_killed && !silent && reason.empty());
    if (!reason.empty()) {
      how_ = "it " + reason;
    } else if (is_left) {
      how_ = "it closed its connection to the judge";
    } else if (silent) {
      how_ = "it " + words;
    } else if (WIFSIGNALED(status)) {
      has_read_astray_ = WTERMSIG(status) == SIGSEGV;
      how_ = "it ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
             strsignal(WTERMSIG(status)) + ")";
    } else {
      how_ = "it ended itself with exit status " + std::to_string(WEXITSTATUS(status));
    }
  }

  bool is_confined_;
  std::chrono::seconds grace_ = kGrace;
  std::unique_ptr<Report> report_;
  pid_t child_ = -1;
  int socket_ = -1;
  std::string how_;
  bool was_ended_by_sandbox_ = false;
  bool has_read_astray_ = false;
  bool is_hindered_ = false;
};

}  // namespace

struct RemoteBackend::State {
  explicit State(const WorkerCommand& asked)
      : command(asked), patience(asked.is_held || asked.is_profiled ? 0 : kPatience) {
    begin();
  }
  ~State() {
    if (command.is_profiled) process->leave();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void begin() {
    arrays.clear();
    std::vector<std::string> words = command.words;
    if (has_device()) words.emplace_back(kRecordWord);
    process = std::make_unique<Process>(command, words);
    if (!has_device()) {
      hello = hello_from(ask({Ask::hello, 0, 0, 0, {}}).bytes, {});
      return;
    }
    device = std::make_unique<Process>(command, std::vector<std::string>{command.device});
    const std::string of_device = ask_device({Ask::hello, 0, 0, 0, {}}).bytes;
    const Answer answer = ask({Ask::hello, 0, 0, 0, {}}, kMostNoted);
    hello = hello_from(said_in(answer), of_device);
    replay(answer);
  }

  bool has_device() const { return !command.device.empty(); }

  // What it says, and what it has noted.
  static std::string said_in(const Answer& answer) {
    if (answer.number > answer.bytes.size()) fail(kNonsense + "more than it says");
    return answer.bytes.substr(0, static_cast<std::size_t>(answer.number));
  }
  Observation replay(const Answer& answer) {
    const std::string noted = answer.bytes.substr(static_cast<std::size_t>(answer.number));
    return believed(observation_from_text(ask_device({Ask::replay, 0, 0, 0, noted}).bytes));
  }

  // Whoever has the memory.
  Answer ask_owner(const Request& request, std::uint64_t bytes = 0) {
    return has_device() ? ask_device(request, bytes) : ask(request, bytes);
  }
  // Both, who must agree.
  Answer ask_both(const Request& request) {
    const Answer answer = ask(request);
    if (has_device() && ask_device(request).number != answer.number) {
      fail(kNonsense + "memory that it cannot have");
    }
    return answer;
  }
  Answer ask_device(const Request& request, std::uint64_t bytes = 0) {
    return ask_of(*device, request, bytes);
  }

  // Throws Hindered the first time, and whatever is asked later is in vain.
  [[noreturn]] void hinder(const std::string& how) {
    hindrance = how;
    throw Hindered(how);
  }

  // `bytes` of an array that the answer brings.
  Answer ask(const Request& request, std::uint64_t bytes = 0) {
    return ask_of(*process, request, bytes);
  }
  Answer ask_of(Process& asked, const Request& request, std::uint64_t bytes) {
    Answer answer;
    try {
      answer = asked.ask(request, patience, kMostSaid + bytes);
    } catch (const Gone& gone) {
      if (gone.silent) {
        ++silences;
        patience = std::max(patience / 2, 1);
      }
      std::string how = "the exercise's program is gone: " + asked.how();
      if (&asked == process.get() && request.ask == Ask::hello) {
        how += how.find("ended itself") == std::string::npos
                   ? " (before the first call: does anything in the file run before main?)"
                   : " (before the first call: has the file a main of its own, or does anything in "
                     "it run before main?)";
      }
      if (has_device() && &asked == process.get() && asked.has_read_astray()) {
        how += " in host code: does it read an array of the device?";
      }
      if (asked.is_hindered()) hinder(how);
      fail(how);
    } catch (const Nonsense& nonsense) {
      fail(kNonsense + nonsense.what);
    }
    if (!answer.error.empty()) fail(data::printable(answer.error, kLongestMessage));
    return answer;
  }

  // What is asked for again and again; the same worker does not change it.
  // Of the device it is the device that tells, where there is one.
  static json::Value hello_from(const std::string& text, const std::string& of_device) {
    try {
      json::Value hello = json::Value::parse(text);
      if (!of_device.empty()) {
        if (hello.get<std::string>("backend") != "sim") fail("a backend that does not take notes");
        for (const json::Member& member : json::Value::parse(of_device).members()) {
          hello[member.name] = member.value;
        }
      }
      hello.get<bool>("on_the_host");
      for (const char* name : {"observes", "times"}) hello.get<bool>(name);
      for (const char* name : {"backend", "unavailable", "blind", "not_counted", "not_searched"}) {
        hello[name] = data::printable(hello.get<std::string>(name), kLongestMessage);
      }
      for (const char* name : {"inputs", "outputs", "numbers"}) {
        const int count = hello.get<int>(name);
        if (count < 0 || count > kMostParameters) fail("so many " + std::string(name));
      }
      if (hello.get<std::uint64_t>("guard_cells") > kMostGuardCells) fail("so many guard cells");
      if (static_cast<int>(hello.get<std::vector<bool>>("whole").size()) !=
          hello.get<int>("outputs")) {
        fail("other outputs than it has");
      }
      const std::string backend = hello.get<std::string>("backend");
      if (backend != "sim" && backend != "gpu") fail("a backend that there is not");
      // What the simulator cannot run it would not have compiled.
      if (backend == "sim" && !hello.get<std::string>("unavailable").empty()) {
        fail("that it cannot run");
      }
      return hello;
    } catch (const std::runtime_error& error) {
      fail(kNonsense + data::printable(error.what(), kLongestName));
    }
  }

  // An address that is nobody else's yet.
  void* take(std::uint64_t address, std::uint64_t bytes) {
    const auto behind = arrays.upper_bound(address);
    const bool is_free = (behind == arrays.end() || address + bytes <= behind->first) &&
                         (behind == arrays.begin() ||
                          std::prev(behind)->first + std::prev(behind)->second <= address);
    if (address == 0 || address + bytes < address || !is_free) {
      fail(kNonsense + "memory that it cannot have");
    }
    arrays[address] = std::max<std::uint64_t>(bytes, 1);
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  }

  bool is_there() const { return process->is_there() && (device == nullptr || device->is_there()); }
  // Whether it is worth starting the program again. A debugger that was left stays away.
  bool may_begin_again() const {
    return !command.is_held && !command.is_profiled && hindrance.empty() &&
           !process->was_ended_by_sandbox() &&
           (device == nullptr || !device->was_ended_by_sandbox()) && silences < kMostSilences;
  }

  WorkerCommand command;
  int patience;
  int silences = 0;
  std::string hindrance;
  std::unique_ptr<Process> process;
  std::unique_ptr<Process> device;
  json::Value hello;
  Observation seen;
  std::vector<std::span<const float>> whole;      // the worker's addresses of ints
  std::map<std::uint64_t, std::uint64_t> arrays;  // bytes at each address
};

RemoteBackend::RemoteBackend(const WorkerCommand& command)
    : state_(std::make_unique<State>(command)) {}

RemoteBackend::~RemoteBackend() = default;

void RemoteBackend::set_patience(int seconds) { state_->patience = seconds; }
const std::string& RemoteBackend::hindrance() const { return state_->hindrance; }

RemoteBackend::Parameters RemoteBackend::parameters() const {
  return {state_->hello.get<int>("inputs"), state_->hello.get<int>("outputs"),
          state_->hello.get<int>("numbers"), state_->hello.get<bool>("on_the_host")};
}

namespace {

RemoteCall remote(const std::vector<const float*>& inputs, const std::vector<float*>& outputs,
                  const std::vector<long long>& numbers) {
  RemoteCall call;
  for (const float* input : inputs) call.inputs.push_back(address_of(input));
  for (float* output : outputs) call.outputs.push_back(address_of(output));
  call.numbers = numbers;
  return call;
}

}  // namespace

int RemoteBackend::call(const std::vector<const float*>& inputs, const std::vector<float*>& outputs,
                        std::size_t cells, const std::vector<long long>& numbers) {
  const auto whole = state_->hello.get<std::vector<bool>>("whole");
  state_->whole.clear();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (whole.at(i)) state_->whole.push_back({outputs[i], cells});
  }
  const Answer answer = state_->ask({Ask::run, 0, 0, 0, to_text(remote(inputs, outputs, numbers))},
                                    state_->has_device() ? kMostNoted : 0);
  try {
    if (state_->has_device()) {
      const Observation said = believed(observation_from_text(state_->said_in(answer)));
      state_->seen = state_->replay(answer);
      // What is wrong in a call that does nothing is known where it was made.
      state_->seen.hazards.insert(state_->seen.hazards.end(), said.hazards.begin(),
                                  said.hazards.end());
      // Whether the launch failed is the host code's to say.
      if (state_->seen.error.empty()) {
        state_->seen.error = said.error;
        state_->seen.unsupported = said.unsupported;
      }
    } else {
      state_->seen = believed(observation_from_text(answer.bytes));
    }
  } catch (const std::runtime_error& error) {
    // How it ended, or what it did not say, is told by now.
    if (!state_->is_there() || std::string(error.what()).starts_with(kNonsense)) throw;
    fail(kNonsense + data::printable(error.what(), kLongestName));
  }
  return 0;
}

std::vector<double> RemoteBackend::time(const std::vector<const float*>& inputs,
                                        const std::vector<float*>& outputs,
                                        const std::vector<long long>& numbers, int calls) {
  const Answer answer = state_->ask({Ask::time, 0, static_cast<std::uint64_t>(calls), 0,
                                     to_text(remote(inputs, outputs, numbers))});
  const auto times = json::Value::parse(answer.bytes).get<std::vector<double>>();
  if (times.empty()) fail(kNonsense + "no times");
  return times;
}

const Observation& RemoteBackend::last() const { return state_->seen; }

std::string RemoteBackend::name() const { return state_->hello.get<std::string>("backend"); }
bool RemoteBackend::observes() const { return state_->hello.get<bool>("observes"); }
std::string RemoteBackend::blind_reason() const { return state_->hello.get<std::string>("blind"); }
std::string RemoteBackend::not_counted() const {
  return state_->hello.get<std::string>("not_counted");
}
std::string RemoteBackend::not_searched() const {
  return state_->hello.get<std::string>("not_searched");
}
bool RemoteBackend::times() const { return state_->hello.get<bool>("times"); }
std::string RemoteBackend::unavailable() { return state_->hello.get<std::string>("unavailable"); }
std::size_t RemoteBackend::guard_cells() const {
  return state_->hello.get<std::size_t>("guard_cells");
}

CounterList RemoteBackend::by_name(const simt::Counters& counters) const {
  CounterList list;
  if (!not_counted().empty()) return list;
  for (const simt::CounterField& field : simt::counter_fields()) {
    if (field.is_told(counters)) list.emplace_back(field.name, counters.*field.member);
  }
  return list;
}

bool RemoteBackend::be_tiny(bool is_tiny) {
  if (!state_->is_there()) return false;
  return state_->ask_both({Ask::be_tiny, 0, is_tiny, 0, {}}).number != 0;
}

void* RemoteBackend::allocate(std::size_t bytes) {
  return state_->take(state_->ask_both({Ask::allocate, 0, bytes, 0, {}}).number, bytes);
}

void RemoteBackend::release(void* memory) noexcept {
  // It went with a worker that has ended, or with the device in recover().
  if (state_->arrays.erase(address_of(memory)) == 0) return;
  try {
    if (state_->is_there()) state_->ask_both({Ask::release, address_of(memory), 0, 0, {}});
  } catch (const std::exception&) {
  }
}

void RemoteBackend::name_memory(const void* memory, const std::string& name) {
  state_->ask_both({Ask::name, address_of(memory), 0, 0, name});
}

void RemoteBackend::copy_in(void* to, const void* from, std::size_t bytes) {
  state_->ask_owner(
      {Ask::copy_in, address_of(to), 0, 0, std::string(static_cast<const char*>(from), bytes)});
}

void RemoteBackend::copy_out(void* to, const void* from, std::size_t bytes) {
  const Answer answer = state_->ask_owner({Ask::copy_out, address_of(from), bytes, 0, {}}, bytes);
  if (answer.bytes.size() != bytes) fail(kNonsense + "bytes other than those asked for");
  std::memcpy(to, answer.bytes.data(), bytes);
  for (const std::span<const float> ints : state_->whole) {
    const std::span<float> cells(static_cast<float*>(to), bytes / sizeof(float));
    const std::ptrdiff_t first = ints.data() - static_cast<const float*>(from);
    for (std::size_t i = 0; i < ints.size(); ++i) {
      const std::ptrdiff_t at = first + static_cast<std::ptrdiff_t>(i);
      if (at < 0 || at >= static_cast<std::ptrdiff_t>(cells.size())) continue;
      float& cell = cells[static_cast<std::size_t>(at)];
      if (!conv::is_poison(cell)) cell = static_cast<float>(std::bit_cast<std::int32_t>(cell));
    }
  }
}

void RemoteBackend::poison(float* memory, std::size_t count, float with) {
  state_->ask_owner({Ask::poison, address_of(memory), count, with, {}});
}

Observation RemoteBackend::run(const std::function<int()>& launch) {
  state_->seen = {};
  try {
    launch();
  } catch (const std::runtime_error& error) {
    state_->seen.error = error.what();
  }
  return state_->seen;
}

std::unique_ptr<Batch> RemoteBackend::batch(std::function<int(int)>, int) {
  throw std::logic_error("a remote backend times calls by time()");
}

bool RemoteBackend::recover() {
  try {
    if (state_->is_there()) {
      state_->arrays.clear();
      return state_->ask_both({Ask::recover, 0, 0, 0, {}}).number != 0;
    }
    if (!state_->may_begin_again()) return false;
    state_->begin();
    return true;
  } catch (const Hindered& hindered) {
    state_->hindrance = hindered.what();
    return false;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace halo::exercises
