// Does what a program in the sandbox should not, one thing a run: hostile BEHAVIOUR [ARGUMENT]. Its exit status is 0
// where it came through with it, and 1 where it was refused.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace {

// Nothing here needs an optimiser's favour.
volatile long sink = 0;

int through(bool did) { return did ? 0 : 1; }

void write_for_ever(int file, long bytes) {
  static const std::vector<char> megabyte(1 << 20, 'x');
  for (long done = 0; done < bytes; done += static_cast<long>(megabyte.size())) {
    if (write(file, megabyte.data(), megabyte.size()) < 0) return;
  }
}

int fork_bomb() {
  // Not for ever, should nobody stop it.
  for (int i = 0; i < 2000; ++i) {
    if (fork() == 0) {
      sleep(20);
      _exit(0);
    }
  }
  sleep(20);
  return 0;
}

// A grandchild in a session of its own, which leaves a mark after a while.
int daemonise(const char* mark) {
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child > 0) {
    waitpid(child, nullptr, 0);
    return 0;
  }
  setsid();
  if (fork() > 0) _exit(0);
  for (int file = 0; file < 64; ++file) close(file);
  for (const int one : {SIGTERM, SIGHUP, SIGINT}) signal(one, SIG_IGN);
  usleep(400'000);
  close(open(mark, O_WRONLY | O_CREAT, 0600));
  sleep(20);
  _exit(0);
}

int allocate() {
  constexpr std::size_t kStep = 16 << 20;
  for (int i = 0; i < 512; ++i) std::memset(std::malloc(kStep), 1, kStep);
  sleep(20);
  return 0;
}

// Memory that no page table of this process shows.
int allocate_unmapped(bool hides) {
  if (hides && prctl(PR_SET_DUMPABLE, 0) == 0) std::fputs("hidden\n", stderr);
  for (int i = 0; i < 40; ++i) {
    const int file = memfd_create("m", 0);
    if (file < 0) break;
    write_for_ever(file, 48 << 20);
  }
  sleep(20);
  return 0;
}

int fill(const std::string& folder, bool unlinks) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = folder + "/" + std::to_string(i);
    const int file = open(name.c_str(), O_WRONLY | O_CREAT, 0600);
    if (file < 0) return 1;
    if (unlinks) unlink(name.c_str());
    write_for_ever(file, 8 << 20);
    if (!unlinks) close(file);
    usleep(5000);
  }
  sleep(20);
  return 0;
}

int big_file(const std::string& folder) {
  const int file = open((folder + "/big").c_str(), O_WRONLY | O_CREAT, 0600);
  write_for_ever(file, 1 << 30);
  return 0;
}

int many_files(const std::string& folder) {
  for (int i = 0; i < 100'000; ++i)
    close(open((folder + "/" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0600));
  sleep(20);
  return 0;
}

int connect_to(int port) {
  const int line = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return through(line >= 0 &&
                 connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

int read_file(const char* path) {
  std::FILE* const file = std::fopen(path, "r");
  if (file == nullptr) return 1;
  char text[4096];
  const std::size_t got = std::fread(text, 1, sizeof text, file);
  std::fwrite(text, 1, got, stdout);
  return 0;
}

int print_environment() {
  for (char** one = environ; *one != nullptr; ++one) std::puts(*one);
  return 0;
}

int other_descriptors() {
  int written = 0;
  for (int file = 3; file < 1000; ++file) written += write(file, "x", 1) == 1;
  std::printf("%d\n", written);
  return through(written > 0);
}

int print_for_ever() {
  for (long i = 0; i < (1 << 20); ++i)
    std::puts("all tests passed, all tests passed, all tests passed");
  return 0;
}

int open_many() {
  int opened = 0;
  for (int i = 0; i < 10'000; ++i) opened += open("/dev/null", O_RDONLY) >= 0;
  std::printf("%d\n", opened);
  return through(opened == 10'000);
}

int recurse(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  const int deeper = depth < 1'000'000 ? recurse(depth + 1) : 0;
  return deeper + frame[0];
}

int ignore_signals() {
  for (int one = 1; one < 32; ++one) signal(one, SIG_IGN);
  std::puts("here");
  std::fflush(stdout);
  while (true) sleep(20);
}

int start_threads() {
  std::vector<std::thread> threads;
  try {
    for (int i = 0; i < 1000; ++i) threads.emplace_back([] { sleep(20); });
  } catch (const std::exception&) {
    std::puts("refused");
    std::fflush(stdout);
  }
  sleep(20);
  return 0;
}

// What whoever reads the folder later would stumble over.
int leave_traps(const std::string& folder) {
  int left = symlink("/etc/passwd", (folder + "/link").c_str()) == 0;
  left += mkfifo((folder + "/pipe").c_str(), 0600) == 0;
  std::printf("%d\n", left);
  return through(left > 0);
}

// The watcher's own lines stand in /proc, if one can see it.
int read_parent() {
  const std::string folder = "/proc/" + std::to_string(getppid());
  return through(read_file((folder + "/environ").c_str()) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string argument = argc > 2 ? argv[2] : "";
  const std::map<std::string, int (*)(const std::string&)> behaviours = {
      {"nothing", [](const std::string&) { return 0; }},
      {"exit", [](const std::string& status) { return std::atoi(status.c_str()); }},
      {"raise", [](const std::string& signal) { return raise(std::atoi(signal.c_str())); }},
      {"fork_bomb", [](const std::string&) { return fork_bomb(); }},
      {"daemonise", [](const std::string& mark) { return daemonise(mark.c_str()); }},
      {"sleep", [](const std::string&) { return static_cast<int>(sleep(20)); }},
      {"spin",
       [](const std::string&) {
         while (true) sink = sink + 1;
         return 0;
       }},
      {"allocate", [](const std::string&) { return allocate(); }},
      {"allocate_unmapped",
       [](const std::string& how) { return allocate_unmapped(how == "hidden"); }},
      {"reserve",
       [](const std::string&) {
         return through(mmap(nullptr, std::size_t{1} << 40, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED);
       }},
      {"fill", [](const std::string& folder) { return fill(folder, false); }},
      {"fill_unnamed", [](const std::string& folder) { return fill(folder, true); }},
      {"big_file", big_file},
      {"many_files", many_files},
      {"connect", [](const std::string& port) { return connect_to(std::atoi(port.c_str())); }},
      {"read", [](const std::string& path) { return read_file(path.c_str()); }},
      {"write",
       [](const std::string& path) {
         return through(open(path.c_str(), O_WRONLY | O_CREAT, 0600) >= 0);
       }},
      {"environment", [](const std::string&) { return print_environment(); }},
      {"kill_parent", [](const std::string&) { return through(kill(getppid(), SIGKILL) == 0); }},
      {"trace_parent",
       [](const std::string&) {
         return through(ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr) == 0);
       }},
      {"read_parent", [](const std::string&) { return read_parent(); }},
      {"other_descriptors", [](const std::string&) { return other_descriptors(); }},
      {"print", [](const std::string&) { return print_for_ever(); }},
      {"open_many", [](const std::string&) { return open_many(); }},
      {"overflow", [](const std::string&) { return recurse(0); }},
      {"ignore_signals", [](const std::string&) { return ignore_signals(); }},
      {"threads", [](const std::string&) { return start_threads(); }},
      {"execute",
       [](const std::string& program) {
         execl(program.c_str(), program.c_str(), "--version", nullptr);
         return 1;
       }},
      {"leave_traps", leave_traps},
      {"be_root",
       [](const std::string&) {
         return through(setuid(0) == 0 && setgid(0) == 0 && chown("/tmp", 0, 0) == 0);
       }},
  };
  const auto known = behaviours.find(argv[1]);
  return known == behaviours.end() ? 2 : known->second(argument);
}
