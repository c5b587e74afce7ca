// halo-jail: runs one program so that it can do no harm, and says why it was ended if it was. Its words are
// made by Sandbox (sandbox.hpp); nobody types them.
//
//   halo-jail           what its starter sees: hands on signals, ends as the program ended
//     warden            starts the program, watches what it takes, ends all that it started
//       [bubblewrap     and in it halo-jail once more, which starts the program]
//         the program
//
// If halo-jail is killed, the warden is told and ends the program all the same.
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/process/confine.hpp"
#include "common/process/jail_options.hpp"
#include "common/process/watchdog.hpp"

#if HALO_HAVE_SECCOMP
#include <seccomp.h>
#endif

namespace halo {
namespace {

using Clock = std::chrono::steady_clock;

// Between two looks at what the program takes.
constexpr std::chrono::milliseconds kLook(50);
// How long all that was killed may take to be gone.
constexpr std::chrono::seconds kGrace(5);
constexpr std::uint64_t kMostFiles = 1000;

std::string own_path() {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) throw_errno("/proc/self/exe");
  return {path.data(), static_cast<std::size_t>(length)};
}

std::string bytes_in_words(std::uint64_t bytes) {
  char text[40];
  const double value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) {
    std::snprintf(text, sizeof text, "%.3g GB", value / 1e9);
  } else if (bytes >= 1'000'000) {
    std::snprintf(text, sizeof text, "%.3g MB", value / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.4g kB", value / 1e3);
  }
  return text;
}

std::string seconds_in_words(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g s", seconds);
  return text;
}

// ---- A user that nobody else is

class OwnUser {
 public:
  // Nobody takes a number twice: whoever has it holds a socket of that name.
  OwnUser() {
    constexpr uid_t kFirst = 45'000, kCount = 15'000;
    const auto start = static_cast<uid_t>(getpid()) % kCount;
    for (uid_t tried = 0; tried < 1000; ++tried) {
      const uid_t user = kFirst + (start + tried) % kCount;
      if (getpwuid(user) != nullptr) continue;
      const int held = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un name = {};
      name.sun_family = AF_UNIX;
      const int length =
          std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "halo-user-%u", user);
      if (bind(held, reinterpret_cast<const sockaddr*>(&name),
               static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length)) == 0) {
        held_ = held;
        user_ = user;
        return;
      }
      close(held);
    }
    throw std::runtime_error("no user is free");
  }
  ~OwnUser() { close(held_); }
  OwnUser(const OwnUser&) = delete;
  OwnUser& operator=(const OwnUser&) = delete;
  uid_t number() const { return user_; }

 private:
  int held_ = -1;
  uid_t user_ = 0;
};

// A folder that is another user's for a while.
class LentFolder {
 public:
  LentFolder(const std::string& path, uid_t to) {
    if (path.empty()) return;
    folder_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder_ < 0 || fstat(folder_, &before_) != 0 || fchown(folder_, to, to) != 0 ||
        fchmod(folder_, 0700) != 0) {
      throw_errno(path);
    }
  }
  ~LentFolder() {
    if (folder_ < 0) return;
    if (fchown(folder_, before_.st_uid, before_.st_gid) == 0) {
      fchmod(folder_, before_.st_mode & 07777);
    }
    close(folder_);
  }
  LentFolder(const LentFolder&) = delete;
  LentFolder& operator=(const LentFolder&) = delete;

 private:
  int folder_ = -1;
  struct stat before_ = {};
};

// ---- What the program prints, handed on until it is too much

class Relay {
 public:
  Relay(int from, int to, std::uint64_t& left, std::uint64_t most)
      : from_(from), to_(to), left_(left), most_(most) {
    fcntl(from_, F_SETFL, fcntl(from_, F_GETFL) | O_NONBLOCK);
  }
  ~Relay() {
    if (from_ >= 0) close(from_);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Whoever reads slowly is not waited for.
  void ask_for(std::vector<pollfd>& polled) const {
    if (!kept_.empty()) {
      polled.push_back({to_, POLLOUT, 0});
    } else if (from_ >= 0) {
      polled.push_back({from_, POLLIN, 0});
    }
  }

  // False: nothing more can be done now.
  bool step() {
    if (kept_.empty() && !take()) return false;
    return hand_on();
  }

  // The rest, when all have gone that could print.
  void finish(Clock::time_point until) {
    while (Clock::now() < until) {
      if (step()) continue;
      if (kept_.empty()) return;
      pollfd polled{to_, POLLOUT, 0};
      poll(&polled, 1, 50);
    }
  }

 private:
  bool take() {
    if (from_ < 0) return false;
    std::array<char, 65536> buffer;
    const ssize_t got = read(from_, buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
      close(from_);
      from_ = -1;
      return false;
    }
    if (is_cut_) return true;
    const auto bytes = std::min<std::uint64_t>(static_cast<std::uint64_t>(got), left_);
    left_ -= bytes;
    kept_.append(buffer.data(), static_cast<std::size_t>(bytes));
    if (bytes < static_cast<std::uint64_t>(got)) {
      is_cut_ = true;
      kept_ += "\n(it printed more than " + bytes_in_words(most_) + ", which is left out)\n";
    }
    return true;
  }

  bool hand_on() {
    if (kept_.empty()) return true;
    pollfd polled{to_, POLLOUT, 0};
    if (poll(&polled, 1, 0) <= 0) return false;
    // So much a pipe takes without waiting.
    const ssize_t written = write(to_, kept_.data(), std::min<std::size_t>(kept_.size(), 4096));
    if (written < 0) {
      if (errno != EAGAIN && errno != EINTR) kept_.clear();  // nobody reads
      return false;
    }
    kept_.erase(0, static_cast<std::size_t>(written));
    return true;
  }

  int from_;
  int to_;
  std::uint64_t& left_;
  std::uint64_t most_;
  bool is_cut_ = false;
  std::string kept_;
};

// ---- bubblewrap's words

std::vector<std::string> bubblewrap_words(JailOptions options, int line) {
  const Confinement& confinement = options.confinement;
  std::vector<std::string> words = {options.bubblewrap,
                                    "--unshare-all",
                                    "--die-with-parent",
                                    "--new-session",
                                    "--clearenv",
                                    "--proc",
                                    "/proc",
                                    "--tmpfs",
                                    "/dev",
                                    "--tmpfs",
                                    "/tmp"};
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  for (const std::string& device : harmless_devices()) {
    if (access(device.c_str(), F_OK) == 0) add({"--dev-bind", device, device});
  }
  if (confinement.profile == Confinement::Profile::gpu) {
    for (const std::string& device : gpu_devices()) add({"--dev-bind", device, device});
    add({"--ro-bind", "/sys", "/sys"});
  }
  for (const std::string& path : system_paths()) {
    struct stat file = {};
    if (lstat(path.c_str(), &file) != 0) continue;
    if (!S_ISLNK(file.st_mode)) {
      add({"--ro-bind", path, path});
      continue;
    }
    std::array<char, 4096> target;
    const ssize_t length = readlink(path.c_str(), target.data(), target.size());
    if (length > 0) add({"--symlink", {target.data(), static_cast<std::size_t>(length)}, path});
  }
  // The folder first: what is named is perhaps in it.
  const std::string& folder = confinement.folder;
  if (!folder.empty()) add({"--bind", folder, folder});
  // What is in /usr is there already, and nothing can be made there for a path that leads through a link.
  const auto is_there = [](const std::string& path) { return path.starts_with("/usr/"); };
  for (const std::string& path : confinement.readable) {
    if (!is_there(path)) add({"--ro-bind", path, path});
  }
  const std::string own = own_path();
  add({"--ro-bind", own, own});
  const std::string& program = options.command[0];
  if (!is_there(program)) add({"--ro-bind", program, program});
  add({"--remount-ro", "/dev", "--remount-ro", "/tmp", "--remount-ro", "/", "--chdir", "/", "--",
       own});
  options.bubblewrap.clear();
  options.own_user = false;
  options.report.clear();
  options.line = line;
  const std::vector<std::string> inner = to_words(options);
  words.insert(words.end(), inner.begin(), inner.end());
  return words;
}

[[noreturn]] void become(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  char* none[] = {nullptr};
  execve(argv[0], argv.data(), none);
  throw_errno("cannot run " + words[0]);
}

// ---- Within bubblewrap: starts the program and tells how it ended, which bubblewrap would not

int be_inside(const JailOptions& options) {
  const int line = options.line;
  fcntl(line, F_SETFD, FD_CLOEXEC);
  const pid_t child = fork();
  if (child == 0) become_confined(options, 0, line);
  close(kHandedOn);
  LineMessage message;
  message.kind = LineMessage::Kind::status;
  if (child < 0) {
    message.kind = LineMessage::Kind::failed;
    message.text = std::string("cannot start a process: ") + std::strerror(errno);
  }
  while (child > 0 && waitpid(child, &message.status, 0) < 0 && errno == EINTR) {
  }
  send_on_line(line, message);
  return 0;
}

// ---- The warden

struct Outcome {
  int status = 0;  // as waitpid has it
  std::array<char, 240> reason = {};
};

class Warden {
 public:
  explicit Warden(const JailOptions& options)
      : options_(options), limits_(options.confinement.limits), printed_left_(limits_.printed) {}

  Outcome run() {
    Outcome outcome;
    try {
      std::string reason = watch_over(outcome.status);
      if (!reason.empty()) {
        std::snprintf(outcome.reason.data(), outcome.reason.size(), "%s", reason.c_str());
      }
    } catch (const std::exception& error) {
      outcome.status = 126 << 8;
      std::snprintf(outcome.reason.data(), outcome.reason.size(), "%s%s", kNotStarted,
                    error.what());
    }
    return outcome;
  }

 private:
  std::string watch_over(int& status) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    std::unique_ptr<OwnUser> user;
    if (options_.own_user) user = std::make_unique<OwnUser>();
    user_ = user ? user->number() : 0;
    const LentFolder lent(user ? options_.confinement.folder : "", user_);

    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    const int news = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);

    int lines[2], out[2], err[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, lines) != 0 ||
        pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
      throw_errno("cannot make a pipe");
    }
    // Where both go to one place they are one, so that lines keep their order.
    struct stat first = {}, second = {};
    fstat(STDOUT_FILENO, &first);
    fstat(STDERR_FILENO, &second);
    const bool are_one = first.st_dev == second.st_dev && first.st_ino == second.st_ino;

    start_ = Clock::now();
    child_ = fork();
    if (child_ < 0) throw_errno("cannot start a process");
    if (child_ == 0) begin(lines[1], out[1], are_one ? out[1] : err[1]);
    close(lines[1]);
    close(out[1]);
    close(err[1]);
    close(kHandedOn);
    line_ = lines[0];
    Relay outputs[2] = {{out[0], STDOUT_FILENO, printed_left_, limits_.printed},
                        {err[0], STDERR_FILENO, printed_left_, limits_.printed}};

    auto look = Clock::now();
    while (!has_ended_ && reason_.empty()) {
      std::vector<pollfd> polled = {{news, POLLIN, 0}};
      if (line_ >= 0) polled.push_back({line_, POLLIN, 0});
      if (listener_ >= 0) polled.push_back({listener_, POLLIN, 0});
      for (const Relay& output : outputs) output.ask_for(polled);
      const auto now = Clock::now();
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(look + kLook - now);
      poll(polled.data(), polled.size(), static_cast<int>(std::clamp<long>(left.count(), 0, 50)));
      for (Relay& output : outputs) output.step();
      hear_line();
      hear_filter();
      hear_signals(news);
      if (Clock::now() - look >= kLook) {
        look = Clock::now();
        look_at_usage();
      }
    }
    const auto until = Clock::now() + kGrace;
    end_everything(until);
    hear_line();
    if (reason_.empty()) look_at_folder();
    for (Relay& output : outputs) output.finish(until);
    if (is_ended_by_us_ || !reason_.empty()) {
      status = has_failed_ ? 126 << 8 : SIGKILL;
    } else {
      status = status_;
      reason_ = reason_of_signal(status);
    }
    return reason_;
  }

  // The program's process, or bubblewrap's.
  [[noreturn]] void begin(int line, int out, int err) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (options_.bubblewrap.empty()) become_confined(options_, user_, line);
    try {
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, nullptr);
      const std::vector<std::string> words = bubblewrap_words(options_, line);
      close_on_exec(line);
      if (user_ != 0 && !become_user(user_)) throw_errno("another user");
      become(words);
    } catch (const std::exception& error) {
      LineMessage message;
      message.text = error.what();
      send_on_line(line, message);
      _exit(126);
    }
  }

  void hear_line() {
    LineMessage message;
    while (line_ >= 0 && receive_from_line(line_, message)) {
      switch (message.kind) {
        case LineMessage::Kind::failed:
          has_failed_ = true;
          reason_ = kNotStarted + message.text;
          break;
        case LineMessage::Kind::filter:
          listener_ = message.listener;
          break;
        case LineMessage::Kind::status:
          has_ended_ = true;
          has_told_ = true;
          status_ = message.status;
          break;
        case LineMessage::Kind::closed:
          close(line_);
          line_ = -1;
          break;
      }
    }
  }

  // A call that the filter stopped: its process waits for us, and is ended.
  void hear_filter() {
#if HALO_HAVE_SECCOMP
    if (listener_ < 0) return;
    pollfd polled{listener_, POLLIN, 0};
    if (poll(&polled, 1, 0) <= 0) return;
    if ((polled.revents & POLLIN) != 0) {
      seccomp_notif* request = nullptr;
      seccomp_notif_resp* response = nullptr;
      if (seccomp_notify_alloc(&request, &response) == 0) {
        std::memset(request, 0, sizeof *request);
        if (seccomp_notify_receive(listener_, request) == 0)
          reason_ = words_of_call(request->data.nr);
        seccomp_notify_free(request, response);
      }
    } else {
      close(listener_);  // nobody is left whom it could tell of
      listener_ = -1;
    }
#endif
  }

  void hear_signals(int news) {
    signalfd_siginfo one;
    while (read(news, &one, sizeof one) == sizeof one) {
      if (one.ssi_signo != SIGCHLD) {
        is_ended_by_us_ = true;
        has_ended_ = true;
      }
    }
    reap();
  }

  void reap() {
    int status = 0;
    for (pid_t gone; (gone = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (gone != child_) continue;
      has_ended_ = true;
      hear_line();
      if (has_told_ || has_failed_) continue;
      status_ = status;
      if (options_.bubblewrap.empty()) continue;
      // It never came to the program, or was killed before it could tell.
      if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
        has_failed_ = true;
        reason_ =
            kNotStarted + ("bubblewrap ended with status " + std::to_string(WEXITSTATUS(status)));
      }
    }
  }

  void look_at_usage() {
    const double wall = std::chrono::duration<double>(Clock::now() - start_).count();
    // A root without all its rights, in a container, cannot look at the open files of other users.
    const int group = user_ != 0 ? setfsgid(user_) : 0;
    const int owner = user_ != 0 ? setfsuid(user_) : 0;
    const Usage usage = usage_of(processes_below(getpid()));
    if (user_ != 0) {
      setfsuid(static_cast<uid_t>(owner));
      setfsgid(static_cast<gid_t>(group));
      // Whoever changes his user hears no more of his parent's end.
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent_) raise(SIGTERM);
    }
    // Those of bubblewrap, and of the second halo-jail.
    const int ours = options_.bubblewrap.empty() ? 0 : 3;
    if (usage.memory > limits_.memory) {
      reason_ = "took more than " + bytes_in_words(limits_.memory) + " of memory";
    } else if (usage.threads - ours > limits_.processes) {
      reason_ = "had more than " + std::to_string(limits_.processes) + " processes and threads";
    } else if (usage.processor > limits_.processor) {
      reason_ = "took more than " + seconds_in_words(limits_.processor) + " of processor time";
    } else if (wall > limits_.wall) {
      reason_ = kTooLong + seconds_in_words(limits_.wall);
    } else {
      look_at_folder(usage.unnamed);
    }
  }

  void look_at_folder(std::uint64_t unnamed = 0) {
    FolderUsage usage;
    const std::string& folder = options_.confinement.folder;
    if (!folder.empty()) usage = usage_of_folder(folder, kMostFiles);
    if (usage.bytes + unnamed > limits_.written) {
      reason_ = "wrote more than " + bytes_in_words(limits_.written);
    } else if (usage.files > kMostFiles) {
      reason_ = "made more than " + std::to_string(kMostFiles) + " files";
    }
  }

  std::string reason_of_signal(int status) const {
    if (!WIFSIGNALED(status)) return {};
    switch (WTERMSIG(status)) {
      case SIGXCPU:
        return "took more than " + seconds_in_words(limits_.processor) + " of processor time";
      case SIGXFSZ:
        return "wrote a file of more than " + bytes_in_words(limits_.file);
      case SIGSYS:
        return "called what no program may call here";
      default:
        return {};
    }
  }

  // Until nobody is left, also of those that changed their group or lost their parent.
  void end_everything(Clock::time_point until) {
    while (Clock::now() < until) {
      for (const pid_t process : processes_below(getpid())) kill(process, SIGKILL);
      if (user_ != 0) end_user();
      reap();
      if (waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
      usleep(500);
    }
  }

  // All of a user's processes at once, so that none can start another meanwhile.
  void end_user() const {
    const pid_t child = fork();
    if (child == 0) {
      if (become_user(user_)) kill(-1, SIGKILL);
      _exit(0);
    }
    while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  const JailOptions& options_;
  const SandboxLimits& limits_;
  std::uint64_t printed_left_;
  const pid_t parent_ = getppid();
  uid_t user_ = 0;
  pid_t child_ = -1;
  int line_ = -1;
  int listener_ = -1;
  Clock::time_point start_;
  bool has_ended_ = false;
  bool has_told_ = false;
  bool has_failed_ = false;
  bool is_ended_by_us_ = false;
  int status_ = 0;
  std::string reason_;
};

// ---- What the starter sees

volatile sig_atomic_t warden_process = 0;
void hand_on(int) {
  if (warden_process > 0) kill(static_cast<pid_t>(warden_process), SIGTERM);
}

// As the program ended.
[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    const rlimit none = {1, 1};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
  }
  _exit(WEXITSTATUS(status));
}

int run(const JailOptions& options) {
  int report = -1;
  if (!options.report.empty()) {
    report =
        open(options.report.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (report < 0) throw_errno(options.report);
  }
  int told[2];
  if (pipe2(told, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
  struct sigaction action = {};
  action.sa_handler = hand_on;
  for (const int one : {SIGTERM, SIGINT, SIGHUP}) sigaction(one, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  sigset_t stops, before;
  sigemptyset(&stops);
  for (const int one : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&stops, one);
  sigprocmask(SIG_BLOCK, &stops, &before);
  const pid_t parent = getpid();
  const pid_t warden = fork();
  if (warden < 0) throw_errno("cannot start a process");
  if (warden == 0) {
    // Its own group: whoever kills ours leaves it the time to end the program.
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(126);
    const Outcome outcome = Warden(options).run();
    if (write(told[1], &outcome, sizeof outcome) < 0) _exit(1);
    _exit(0);
  }
  warden_process = warden;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(told[1]);
  close(kHandedOn);
  Outcome outcome;
  ssize_t got;
  while ((got = read(told[0], &outcome, sizeof outcome)) < 0 && errno == EINTR) {
  }
  if (got != sizeof outcome) {
    outcome.status = SIGKILL;
    std::snprintf(outcome.reason.data(), outcome.reason.size(), "ended whoever watched it");
  }
  while (waitpid(warden, nullptr, 0) < 0 && errno == EINTR) {
  }
  const std::string reason = outcome.reason.data();
  if (report >= 0 && !reason.empty()) {
    const std::string line = reason + "\n";
    if (write(report, line.data(), line.size()) < 0) throw_errno(options.report);
  }
  if (report < 0 && reason.starts_with(kNotStarted)) {
    std::fprintf(stderr, "halo-jail: %s\n", reason.c_str());
  }
  end_as(outcome.status);
}

// What Sandbox starts to see whether a level works: the folder can be written in here, and these files not read.
int try_level(const std::string& folder, const std::vector<std::string>& secrets) {
  const std::string tried = folder + "/tried";
  if (open(tried.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0) {
    std::fprintf(stderr, "%s cannot be written\n", folder.c_str());
    return 1;
  }
  unlink(tried.c_str());
  for (const std::string& secret : secrets) {
    if (open(secret.c_str(), O_RDONLY | O_CLOEXEC) < 0) continue;
    std::fprintf(stderr, "%s can be read by every user\n", secret.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace halo

int main(int argc, char** argv) {
  // So that no descriptor of our own stands where the program's is, if it has none.
  while (fcntl(halo::kHandedOn, F_GETFD) < 0) {
    if (open("/dev/null", O_RDONLY) < 0) return 126;
  }
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (argc == 2 && words[0] == "--means") {
      std::puts(halo::means_here().c_str());
      return 0;
    }
    if (argc > 2 && words[0] == "--try") {
      return halo::try_level(words[1], {words.begin() + 2, words.end()});
    }
    const halo::JailOptions options = halo::jail_options(words);
    return options.line >= 0 ? halo::be_inside(options) : halo::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "halo-jail: %s\n", error.what());
    return 126;
  }
}
