// The sandbox against programs that mean harm, at each level that this machine has: nothing outside is harmed, nothing
// outlives its program, and why it was ended is told.
#include "common/process/sandbox.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/process/patience.hpp"
#include "common/process/process.hpp"
#include "tests/catch.hpp"
#include "tests/folder.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;
using Profile = Confinement::Profile;

struct Namespaces {
  static constexpr SandboxLevel level = SandboxLevel::namespaces;
};
struct Confined {
  static constexpr SandboxLevel level = SandboxLevel::confined;
};
struct Limits {
  static constexpr SandboxLevel level = SandboxLevel::limits;
};

// Skips the case where this machine does not have the level.
template <class Of>
const Sandbox& sandbox() {
  static const Sandbox found(HALO_JAIL, Of::level);
  if (found.level() != Of::level) {
    test::skip("this machine has not the level " + std::string(to_string(Of::level)) + ": " +
               found.why_not_more());
  }
  return found;
}

bool has(const Sandbox& sandbox, const std::string& means) {
  const std::string text = sandbox.made_of();
  return text.find(means) != std::string::npos && text.find("no " + means) == std::string::npos;
}

bool filters(const Sandbox& sandbox) { return has(sandbox, "seccomp"); }
bool names_files(const Sandbox& sandbox) {
  return has(sandbox, "Landlock") || sandbox.level() == SandboxLevel::namespaces;
}
// Then a program that is not kept could do what only root can.
bool is_root(const Sandbox& sandbox) { return geteuid() == 0 && !has(sandbox, "user"); }

// A folder of this test, through which another user may come.
class Folder : public test::Folder {
 public:
  Folder() {
    fs::permissions(path(), fs::perms(0711));
    fs::create_directory(work());
  }
  fs::path work() const { return *this / "work"; }
  // A file that everybody may read, in a folder where nobody else may look.
  fs::path secret() const {
    const fs::path folder = *this / "secret";
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    std::ofstream(folder / "file") << "the seed is 7\n";
    fs::permissions(folder / "file", fs::perms(0644));
    return folder / "file";
  }
  fs::path report() const { return *this / "report"; }
};

struct Run {
  Ended ended;
  std::string reason;
};

// Stopped by the filter, and told as such. Within another sandbox, that of a container say, the kernel does not
// tell which call it was.
bool was_stopped(const Run& run, const std::string& words) {
  if (run.reason == "called what no program may call here") return run.ended.signal == SIGSYS;
  return run.ended.signal == SIGKILL && run.reason.find(words) != std::string::npos;
}

// Small limits, so that each is reached soon.
Confinement confinement() {
  Confinement one;
  one.readable = {HALO_HOSTILE};
  one.limits.wall = 3600;  // however busy the machine is
  one.limits.processor = 10;
  one.limits.memory = 200'000'000;
  one.limits.file = 50'000'000;
  one.limits.written = 100'000'000;
  one.limits.printed = 100'000;
  one.limits.processes = 40;
  return one;
}

Run run(const Sandbox& sandbox, const Confinement& confinement, const Folder& folder,
        std::vector<std::string> words) {
  words.insert(words.begin(), HALO_HOSTILE);
  Run result;
  result.ended = run_program(
      confined(sandbox.words(confinement), {folder.report(), {}, folder.work(), {}}, words));
  result.reason = reason_in_report(folder.report());
  return result;
}

// Waits until nobody is left who works in the folder, as each program does that was started with it.
void wait_until_empty(const Folder& folder) {
  const auto is_empty = [&] {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::error_code gone;
      const fs::path at = fs::read_symlink(entry.path() / "cwd", gone);
      if (at == folder.work()) return false;
    }
    return true;
  };
  test::wait_until("nobody is left in the folder", is_empty);
}

Run run(const Sandbox& sandbox, const std::vector<std::string>& words) {
  const Folder folder;
  return run(sandbox, confinement(), folder, words);
}

// With processes of its own, as a compiler.
Confinement compiler() {
  Confinement one = confinement();
  one.profile = Profile::compiler;
  return one;
}

// With NVIDIA's devices, whether this machine has any or not.
Confinement gpu_worker() {
  Confinement one = confinement();
  one.profile = Profile::gpu;
  return one;
}

#define AT_EACH_LEVEL(name) TEMPLATE_TEST_CASE(name, "", Namespaces, Confined, Limits)
// Where files are named.
#define WHERE_CONFINED(name) TEMPLATE_TEST_CASE(name, "", Namespaces, Confined)

AT_EACH_LEVEL("a program that does nothing wrong ends as it would by itself") {
  const Sandbox& here = sandbox<TestType>();
  const Run good = run(here, {"nothing"});
  CHECK(good.ended.good());
  CHECK(good.reason == "");
  const Run failed = run(here, {"exit", "139"});
  CHECK(failed.ended.status == 139);
  CHECK(failed.ended.signal == 0);
  CHECK(failed.reason == "");
  const Run crashed = run(here, {"raise", "11"});
  CHECK(crashed.ended.signal == SIGSEGV);
  CHECK(crashed.reason == "");
}

AT_EACH_LEVEL("a program that is not there is told by its name") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  const Ended ended = run_program(
      confined(here.words(confinement()), {folder.report()}, {"/usr/bin/no-such-program"}));
  CHECK(ended.status == 126);
  CHECK_THAT(reason_in_report(folder.report()), test::contains("could not be started: "));
  CHECK_THAT(reason_in_report(folder.report()), test::contains("no-such-program"));
}

AT_EACH_LEVEL("addresses that are only reserved cost nothing") {
  const Sandbox& here = sandbox<TestType>();
  CHECK(run(here, {"reserve"}).ended.good());
}

AT_EACH_LEVEL("a program that sleeps is ended after its time") {
  const Sandbox& here = sandbox<TestType>();
  Confinement brief = confinement();
  brief.limits.wall = 0.3;
  const Run slept = run(here, brief, Folder(), {"sleep"});
  CHECK(slept.ended.signal == SIGKILL);
  CHECK(slept.reason == "ran for more than 0.3 s");
}

// What becomes of waiting for a program that says nothing.
Patience::Lost outcome_of(const Patience& begun, Running& program) {
  Patience patience = begun;
  auto lost = Patience::Lost::not_yet;
  while (lost == Patience::Lost::not_yet && !program.has_ended()) {
    watch({&program});
    lost = patience.look();
  }
  return lost;
}

TEST_CASE("of a silent program what it does decides, and not the clock") {
  using Lost = Patience::Lost;
  Running spins({HALO_HOSTILE, "spin"});
  CHECK(outcome_of({spins.process(), 0.3}, spins) == Lost::computes);
  Running sleeps({HALO_HOSTILE, "sleep"});
  CHECK(outcome_of({sleeps.process(), 0.3}, sleeps) == Lost::sleeps);
  // One that is given no processor does neither.
  Running waits({HALO_HOSTILE, "spin"});
  kill(waits.process(), SIGSTOP);
  CHECK(outcome_of({waits.process(), 0.1, 2}, waits) == Lost::waited);
  kill(waits.process(), SIGCONT);
  const Sandbox& here = sandbox<Limits>();
  Running inside(confined(here.words(confinement()), {}, {HALO_HOSTILE, "sleep"}));
  CHECK(outcome_of({inside.process(), 0.3}, inside) == Lost::sleeps);
}

TEST_CASE("time by the clock says nothing of a program, and what it took does") {
  CHECK(is_machines_fault("ran for more than 7200 s"));
  CHECK(is_machines_fault("could not be started: no process"));
  CHECK_FALSE(is_machines_fault("took more than 20 s of processor time"));
  CHECK_FALSE(is_machines_fault(""));
}

AT_EACH_LEVEL("watching a program costs little") {
  const Sandbox& here = sandbox<TestType>();
  const auto used = [] {
    rusage usage = {};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  };
  const double before = used();
  Confinement brief = confinement();
  brief.limits.wall = 1.5;
  const Run slept = run(here, brief, Folder(), {"sleep"});
  CHECK(slept.reason == "ran for more than 1.5 s");
  // Twenty looks a second, and the start.
  CHECK(used() - before < 0.5);
}

AT_EACH_LEVEL("a program that computes for ever is ended after its processor time") {
  const Sandbox& here = sandbox<TestType>();
  Confinement brief = confinement();
  brief.limits.processor = 0.3;
  const Run spun = run(here, brief, Folder(), {"spin"});
  CHECK(spun.ended.signal == SIGKILL);
  CHECK(spun.reason == "took more than 0.3 s of processor time");
}

AT_EACH_LEVEL("a program that takes all memory is ended") {
  const Run took = run(sandbox<TestType>(), {"allocate"});
  CHECK(took.ended.signal == SIGKILL);
  CHECK(took.reason == "took more than 200 MB of memory");
}

AT_EACH_LEVEL("memory that is in no page table counts too") {
  const Sandbox& here = sandbox<TestType>();
  const Run took = run(here, {"allocate_unmapped"});
  CHECK(took.reason == "took more than 200 MB of memory");
  if (!filters(here)) return;
  // One cannot look into a process that has hidden itself, so it may not.
  const Run hid = run(here, {"allocate_unmapped", "hidden"});
  CHECK(hid.reason == "took more than 200 MB of memory");
  CHECK_THAT(hid.ended.err, !test::contains("hidden"));
}

AT_EACH_LEVEL("a program that fills the disk is ended") {
  const Sandbox& here = sandbox<TestType>();
  for (const char* how : {"fill", "fill_unnamed"}) {
    INFO(how);
    const Folder folder;
    const Run filled = run(here, confinement(), folder, {how, folder.work()});
    CHECK(filled.ended.signal == SIGKILL);
    CHECK(filled.reason == "wrote more than 100 MB");
  }
}

AT_EACH_LEVEL("a file has a size that it cannot pass") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  const Run wrote = run(here, confinement(), folder, {"big_file", folder.work()});
  CHECK(wrote.reason == "wrote a file of more than 50 MB");
  CHECK(fs::file_size(folder.work() / "big") <= 50'000'000);
}

AT_EACH_LEVEL("a program that makes files without end is ended") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  const Run made = run(here, confinement(), folder, {"many_files", folder.work()});
  CHECK(made.reason == "made more than 1000 files");
}

AT_EACH_LEVEL("what is printed without end is cut, and said to be") {
  const Run printed = run(sandbox<TestType>(), {"print"});
  CHECK(printed.ended.good());
  CHECK(printed.ended.out.size() < 101'000);
  CHECK_THAT(printed.ended.out, test::contains("(it printed more than 100 kB, which is left out)"));
}

AT_EACH_LEVEL("ten thousand files are not open at once") {
  const Run opened = run(sandbox<TestType>(), {"open_many"});
  CHECK(opened.ended.status == 1);
  CHECK(std::atoi(opened.ended.out.c_str()) < 64);
}

AT_EACH_LEVEL("threads without end are ended, or refused before") {
  const Run started = run(sandbox<TestType>(), {"threads"});
  CHECK(started.ended.signal == SIGKILL);
  CHECK(started.reason == "had more than 40 processes and threads");
}

AT_EACH_LEVEL("a stack that overflows is a crash, and leaves no core") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  const Run crashed = run(here, confinement(), folder, {"overflow"});
  CHECK(crashed.ended.signal == SIGSEGV);
  CHECK(fs::is_empty(folder.work()));
}

AT_EACH_LEVEL("a worker starts no other program") {
  const Sandbox& here = sandbox<TestType>();
  if (!filters(here)) test::skip("no seccomp: it may, and is ended with all that it started");
  const Run forked = run(here, {"fork_bomb"});
  CHECK(was_stopped(forked, "tried to start another program (clone)"));
  const Run executed = run(here, {"execute", "/usr/bin/env"});
  CHECK(was_stopped(executed, "tried to start another program (execve)"));
  CHECK(executed.ended.out == "");
}

AT_EACH_LEVEL("a compiler starts other programs, and not too many") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  const Run executed = run(here, compiler(), folder, {"execute", "/usr/bin/env"});
  CHECK(executed.ended.good());
  CHECK_THAT(executed.ended.out, test::contains("env"));
  // Of root itself the kernel counts no processes: the watchdog alone would have to be faster than the bomb.
  if (is_root(here)) return;
  const Run bombed = run(here, compiler(), folder, {"fork_bomb"});
  CHECK(bombed.ended.signal == SIGKILL);
  CHECK(bombed.reason == "had more than 40 processes and threads");
}

AT_EACH_LEVEL("nothing outlives the program that started it") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  const fs::path mark = folder.work() / "mark";
  const Run left = run(here, compiler(), folder, {"daemonise", mark});
  CHECK(left.ended.good());
  wait_until_empty(folder);
  CHECK_FALSE(fs::exists(mark));
}

AT_EACH_LEVEL("nothing outlives a halo-jail that is killed") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  const fs::path mark = folder.work() / "mark";
  {
    // Its daemon has been started when it has said so.
    Running program(confined(here.words(compiler()), {folder.report(), {}, folder.work(), {}},
                             {HALO_HOSTILE, "ignore_signals"}),
                    {}, Running::Alone::no);
    while (!program.has_ended() && program.ended().out.empty()) watch({&program});
    REQUIRE(program.ended().out == "here\n");
    // Its daemon looks at what is used twenty times a second, and must know of this end behind that too.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    program.end();
    test::wait_until("all who could write have ended", [&] {
      watch({&program});
      return program.has_ended();
    });
    CHECK(program.ended().signal == SIGKILL);
  }
  wait_until_empty(folder);
}

AT_EACH_LEVEL("a program that ignores signals is ended with its halo-jail") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  {
    Running program(confined(here.words(confinement()), {folder.report(), {}, folder.work(), {}},
                             {HALO_HOSTILE, "ignore_signals"}));
    while (!program.has_ended() && program.ended().out.empty()) watch({&program});
    REQUIRE(program.ended().out == "here\n");
  }
  wait_until_empty(folder);
}

// A listener on this machine's loopback.
class Listening {
 public:
  Listening() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, any, size) != 0 || listen(socket_, 1) != 0 ||
        getsockname(socket_, any, &size) != 0) {
      test::skip("no socket on the loopback");
    }
    port_ = std::to_string(ntohs(address.sin_port));
  }
  ~Listening() { close(socket_); }
  const std::string& port() const { return port_; }

 private:
  int socket_;
  std::string port_;
};

AT_EACH_LEVEL("there is no network, not even to the machine itself") {
  const Sandbox& here = sandbox<TestType>();
  const Listening listening;
  const Ended outside = run_program({HALO_HOSTILE, "connect", listening.port()});
  REQUIRE(outside.good());
  if (TestType::level != SandboxLevel::namespaces && !filters(here)) {
    test::skip("no seccomp, and no namespaces");
  }
  const Run connected = run(here, {"connect", listening.port()});
  CHECK_FALSE(connected.ended.good());
  if (filters(here)) CHECK(was_stopped(connected, "tried to use the network (socket)"));
  CHECK_FALSE(run(here, compiler(), Folder(), {"connect", listening.port()}).ended.good());
}

AT_EACH_LEVEL("a worker that may use a GPU starts nothing and reaches nobody") {
  const Sandbox& here = sandbox<TestType>();
  CHECK(run(here, gpu_worker(), Folder(), {"nothing"}).ended.good());
  if (!filters(here)) test::skip("no seccomp");
  const Listening listening;
  CHECK_FALSE(run(here, gpu_worker(), Folder(), {"connect", listening.port()}).ended.good());
  CHECK(was_stopped(run(here, gpu_worker(), Folder(), {"fork_bomb"}),
                    "tried to start another program (clone)"));
  CHECK_FALSE(run(here, gpu_worker(), Folder(), {"execute", "/usr/bin/env"}).ended.good());
}

WHERE_CONFINED("a file that is not named cannot be read") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  const fs::path secret = folder.secret();
  REQUIRE(run_program({HALO_HOSTILE, "read", secret}).out == "the seed is 7\n");
  for (const Confinement& one : {confinement(), compiler(), gpu_worker()}) {
    const Run read = run(here, one, folder, {"read", secret});
    CHECK(read.ended.status == 1);
    CHECK(read.ended.out == "");
  }
  Confinement named = confinement();
  named.readable.push_back(secret);
  if (has(here, "user")) return;  // to another user the folder stays closed
  CHECK(run(here, named, folder, {"read", secret}).ended.out == "the seed is 7\n");
}

WHERE_CONFINED("only the folder can be written") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  const fs::path outside = folder.work().parent_path() / "outside";
  CHECK(run(here, confinement(), folder, {"write", outside}).ended.status == 1);
  CHECK_FALSE(fs::exists(outside));
  CHECK(run(here, confinement(), folder, {"write", folder.work() / "inside"}).ended.good());
  CHECK(fs::exists(folder.work() / "inside"));
  if (!names_files(here)) return;  // another user alone writes what all may write
  for (const char* path : {"/tmp/halo-escaped", "/dev/shm/halo-escaped", "/halo-escaped"}) {
    CHECK(run(here, confinement(), folder, {"write", path}).ended.status == 1);
    CHECK_FALSE(fs::exists(path));
  }
}

AT_EACH_LEVEL("the environment is not handed on") {
  const Sandbox& here = sandbox<TestType>();
  setenv("HALO_SEED_OF_THE_JUDGE", "4711", 1);
  Confinement set = confinement();
  set.environment = {"SIMT_THREADS=1"};
  const Run told = run(here, set, Folder(), {"environment"});
  unsetenv("HALO_SEED_OF_THE_JUDGE");
  CHECK(told.ended.good());
  CHECK_THAT(told.ended.out, !test::contains("4711"));
  CHECK_THAT(told.ended.out, test::contains("SIMT_THREADS=1\n"));
  CHECK_THAT(told.ended.out, test::contains("PATH=/usr/bin:/bin\n"));
}

AT_EACH_LEVEL("another process is neither killed, nor held, nor read") {
  const Sandbox& here = sandbox<TestType>();
  if (TestType::level == SandboxLevel::limits && !filters(here)) test::skip("no seccomp");
  for (const char* how : {"kill_parent", "trace_parent", "read_parent"}) {
    INFO(how);
    // The parent is the warden, or one in the same namespace. If it was harmed, this run does not end well, or
    // its end is not told.
    const Run tried = run(here, {how});
    if (std::string(how) == "read_parent") {
      if (TestType::level != SandboxLevel::limits) CHECK(tried.ended.status == 1);
      continue;
    }
    CHECK_FALSE(tried.ended.good());
    CHECK_THAT(tried.reason, !test::contains("ended whoever watched it"));
    if (filters(here)) {
      CHECK(was_stopped(tried, how == std::string("kill_parent")
                                   ? "a signal to another process (kill)"
                                   : "into another process (ptrace)"));
    }
  }
}

AT_EACH_LEVEL("descriptors of ours are closed") {
  const Run wrote = run(sandbox<TestType>(), {"other_descriptors"});
  CHECK(wrote.ended.out == "0\n");
}

WHERE_CONFINED("no links and no pipes are left for whoever reads the folder") {
  const Sandbox& here = sandbox<TestType>();
  const Folder folder;
  if (!has(here, "Landlock") && !filters(here)) test::skip("neither Landlock nor seccomp");
  CHECK(run(here, confinement(), folder, {"leave_traps", folder.work()}).ended.out == "0\n");
  CHECK(fs::is_empty(folder.work()));
}

WHERE_CONFINED("nobody becomes root") {
  const Sandbox& here = sandbox<TestType>();
  CHECK_FALSE(run(here, {"be_root"}).ended.good());
  CHECK_FALSE(run(here, compiler(), Folder(), {"be_root"}).ended.good());
}

AT_EACH_LEVEL("without a filter the rest holds") {
  const Sandbox& here = sandbox<TestType>();
  if (!filters(here)) test::skip("there is no filter anyway");
  if (is_root(here)) test::skip("what hostile programs do as root would be done");
  const Folder folder;
  const fs::path mark = folder.work() / "mark";
  const auto without = [&](const std::vector<std::string>& behaviour) {
    std::vector<std::string> words = here.words(confinement());
    std::erase(words, "--seccomp");
    std::vector<std::string> command = {HALO_HOSTILE};
    command.insert(command.end(), behaviour.begin(), behaviour.end());
    Run result;
    result.ended = run_program(confined(words, {folder.report(), {}, folder.work(), {}}, command));
    result.reason = reason_in_report(folder.report());
    return result;
  };
  CHECK(without({"nothing"}).ended.good());
  CHECK(without({"fork_bomb"}).reason == "had more than 40 processes and threads");
  CHECK(without({"daemonise", mark}).ended.good());
  if (TestType::level != SandboxLevel::limits) {
    CHECK(without({"read", folder.secret()}).ended.out == "");
    CHECK_FALSE(without({"read_parent"}).ended.good());
    CHECK_FALSE(without({"trace_parent"}).ended.good());
  }
  wait_until_empty(folder);
  CHECK_FALSE(fs::exists(mark));
}

TEST_CASE("another user alone keeps files closed and ends what it started") {
  if (geteuid() != 0) test::skip("only root can be another user");
  const Sandbox& here = sandbox<Confined>();
  const Folder folder;
  std::vector<std::string> words = here.words(compiler());
  std::erase(words, "--landlock");
  if (std::find(words.begin(), words.end(), "--own-user") == words.end()) {
    test::skip("here root cannot be another user");
  }
  const auto alone = [&](const std::vector<std::string>& command) {
    return run_program(confined(words, {folder.report(), {}, folder.work(), {}}, command));
  };
  CHECK(alone({HALO_HOSTILE, "read", folder.secret()}).status == 1);
  const fs::path mark = folder.work() / "mark";
  CHECK(alone({HALO_HOSTILE, "daemonise", mark}).good());
  wait_until_empty(folder);
  CHECK_FALSE(fs::exists(mark));
}

TEST_CASE("what every user can read is no secret where another user is all that there is") {
  if (geteuid() != 0) test::skip("only root can be another user");
  const Folder folder;
  const fs::path open = folder.work().parent_path() / "open";
  std::ofstream(open) << "the seed is 7\n";
  fs::permissions(open, fs::perms(0644));
  const Sandbox with_landlock(HALO_JAIL, SandboxLevel::confined, {open});
  if (has(with_landlock, "Landlock")) {
    // Landlock closes what is open to others.
    CHECK(with_landlock.level() == SandboxLevel::confined);
    return;
  }
  CHECK(with_landlock.level() == SandboxLevel::limits);
  CHECK(with_landlock.why_not_more() == open.string() + " can be read by every user");
}

TEST_CASE("the level is the best up to the one asked for, and says what it is made of") {
  const Sandbox best(HALO_JAIL);
  for (const SandboxLevel most :
       {SandboxLevel::limits, SandboxLevel::confined, SandboxLevel::namespaces}) {
    const Sandbox found(HALO_JAIL, most);
    CHECK(found.level() <= most);
    CHECK(found.level() == std::min(most, best.level()));
    CHECK(parse_sandbox_level(to_string(found.level())) == found.level());
    CHECK(found.made_of() != "");
    CHECK((found.level() < most) == (found.why_not_more() != ""));
  }
  CHECK_THROWS_WITH(parse_sandbox_level("namespace"),
                    "'namespace' is not one of namespaces, confined, limits");
  CHECK_THROWS_WITH(Sandbox("/no/such/halo-jail"),
                    test::contains("no sandbox: /no/such/halo-jail"));
}

}  // namespace
}  // namespace halo
