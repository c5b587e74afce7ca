#include "common/process/confine.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#if HALO_HAVE_SECCOMP
#include <seccomp.h>
#endif

namespace halo {

void throw_errno(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

namespace {

namespace fs = std::filesystem;
using Profile = Confinement::Profile;

// ---- Landlock, by its raw calls: libc knows none of them, and older headers not all

struct LandlockRules {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};
struct [[gnu::packed]] LandlockPath {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};
constexpr int kLandlockCreate = 444;
constexpr int kLandlockAdd = 445;
constexpr int kLandlockRestrict = 446;

constexpr std::uint64_t bit(int which) { return std::uint64_t{1} << which; }
constexpr std::uint64_t kExecute = bit(0), kWriteFile = bit(1), kReadFile = bit(2),
                        kReadFolder = bit(3), kRemoveFolder = bit(4), kRemoveFile = bit(5),
                        kMakeFolder = bit(7), kMakeFile = bit(8), kMove = bit(13),
                        kTruncate = bit(14);
constexpr std::uint64_t kDeviceCalls = bit(15);
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceCalls;
// No links, pipes or sockets are made: whoever reads the folder afterwards finds files.
constexpr std::uint64_t kAllOfFolder = kWriteFile | kReadFile | kReadFolder | kRemoveFolder |
                                       kRemoveFile | kMakeFolder | kMakeFile | kMove | kTruncate;

int landlock_version() { return static_cast<int>(syscall(kLandlockCreate, nullptr, 0, 1)); }

class Landlock {
 public:
  Landlock() {
    const int version = landlock_version();
    if (version < 1) throw_errno("no Landlock");
    LandlockRules rules;
    rules.files = bit(13) - 1;
    if (version >= 2) rules.files |= bit(13);
    if (version >= 3) rules.files |= bit(14);
    if (version >= 5) rules.files |= kDeviceCalls;
    if (version >= 4) rules.network = bit(0) | bit(1);
    if (version >= 6) rules.scopes = bit(0) | bit(1);  // abstract sockets and signals
    const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    handled_ = rules.files;
    rules_ = static_cast<int>(syscall(kLandlockCreate, &rules, size, 0));
    if (rules_ < 0) throw_errno("no Landlock");
  }
  ~Landlock() { close(rules_); }
  Landlock(const Landlock&) = delete;
  Landlock& operator=(const Landlock&) = delete;

  void allow(const std::string& path, std::uint64_t what) {
    LandlockPath rule;
    rule.parent = open(path.c_str(), O_PATH | O_CLOEXEC);
    if (rule.parent < 0) {
      if (errno == ENOENT) return;
      throw_errno(path);
    }
    struct stat file = {};
    fstat(rule.parent, &file);
    rule.allowed = what & handled_ & (S_ISDIR(file.st_mode) ? ~std::uint64_t{0} : kOfFiles);
    const long added = syscall(kLandlockAdd, rules_, 1, &rule, 0);
    close(rule.parent);
    if (added != 0) throw_errno(path);
  }

  void restrict() {
    if (syscall(kLandlockRestrict, rules_, 0) != 0) throw_errno("Landlock");
  }

 private:
  int rules_ = -1;
  std::uint64_t handled_ = 0;
};

// What CUDA's driver reads to find its devices.
constexpr const char* kReadByDriver[] = {"/proc/devices", "/proc/driver", "/proc/modules",
                                         "/proc/stat",    "/proc/sys",    "/sys"};

void restrict_files(const JailOptions& options) {
  Landlock landlock;
  constexpr std::uint64_t kRead = kExecute | kReadFile | kReadFolder;
  for (const std::string& path : system_paths()) landlock.allow(path, kRead);
  for (const std::string& path : options.confinement.readable) landlock.allow(path, kRead);
  landlock.allow(options.command[0], kRead);
  for (const std::string& path : harmless_devices()) {
    landlock.allow(path, kReadFile | kWriteFile);
  }
  // Its own pages of /proc: the simulator reads the program's debug information.
  landlock.allow("/proc/" + std::to_string(getpid()), kReadFile | kReadFolder);
  landlock.allow("/proc/meminfo", kReadFile);
  landlock.allow("/proc/cpuinfo", kReadFile);
  if (options.confinement.profile == Profile::gpu) {
    for (const std::string& path : gpu_devices()) {
      landlock.allow(path, kReadFile | kWriteFile | kReadFolder | kDeviceCalls);
    }
    for (const char* path : kReadByDriver) landlock.allow(path, kReadFile | kReadFolder);
    // Where it writes the names of its threads.
    landlock.allow("/proc/" + std::to_string(getpid()), kWriteFile | kTruncate);
  }
  const std::string& folder = options.confinement.folder;
  if (!folder.empty()) landlock.allow(folder, kAllOfFolder);
  landlock.restrict();
}

// ---- Limits that the kernel keeps by itself

void limit(int what, std::uint64_t soft, std::uint64_t hard) {
  rlimit now = {};
  getrlimit(static_cast<__rlimit_resource>(what), &now);
  const rlimit wanted = {std::min<rlim_t>(soft, now.rlim_max),
                         std::min<rlim_t>(hard, now.rlim_max)};
  if (setrlimit(static_cast<__rlimit_resource>(what), &wanted) != 0) throw_errno("a limit");
}

// Threads of this user, in all of the machine: they count against the limit of processes too.
std::uint64_t threads_of_user(uid_t user) {
  std::uint64_t threads = 0;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename().string();
    if (name[0] < '0' || name[0] > '9') continue;
    struct stat file = {};
    if (stat(entry.path().c_str(), &file) != 0 || file.st_uid != user) continue;
    for (const auto& thread : fs::directory_iterator(entry.path() / "task", gone)) {
      threads += !thread.path().empty();
    }
  }
  return threads;
}

void set_limits(const SandboxLimits& limits, uid_t user) {
  // One byte, not none: with none, the kernel still starts a program that takes core dumps.
  limit(RLIMIT_CORE, 1, 1);
  limit(RLIMIT_FSIZE, limits.file, limits.file);
  limit(RLIMIT_NOFILE, static_cast<std::uint64_t>(limits.open_files),
        static_cast<std::uint64_t>(limits.open_files));
  const auto seconds = static_cast<std::uint64_t>(limits.processor) + 1;
  limit(RLIMIT_CPU, seconds, seconds + 2);
  limit(RLIMIT_MEMLOCK, 65536, 65536);
  limit(RLIMIT_MSGQUEUE, 0, 0);
  limit(RLIMIT_SIGPENDING, 1024, 1024);
  // The watchdog counts exactly; this stops what would be faster than it.
  const std::uint64_t processes =
      static_cast<std::uint64_t>(limits.processes) + 8 + threads_of_user(user);
  limit(RLIMIT_NPROC, processes, processes);
}

void drop_capabilities() {
  for (int capability = 0; capability < 64; ++capability) {
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (syscall(SYS_capset, &header, none) != 0) throw_errno("capabilities");
  // Without it, a program that root executes would have them all again.
  prctl(PR_SET_SECUREBITS, 0x2f, 0, 0, 0);
}

// ---- The filter of system calls

#if HALO_HAVE_SECCOMP

struct Filter {
  Filter(std::uint32_t otherwise, std::uint32_t on_offence)
      : context(seccomp_init(otherwise)), offence(on_offence) {
    if (context == nullptr) throw std::runtime_error("no filter of system calls");
  }
  ~Filter() { seccomp_release(context); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  // What this machine has no such call for is left out.
  template <class... Conditions>
  void rule(std::uint32_t action, const char* name, Conditions... conditions) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;
    const int error =
        seccomp_rule_add(context, action, number, sizeof...(conditions), conditions...);
    if (error != 0) {
      errno = -error;
      throw_errno(std::string("a filter of ") + name);
    }
  }
  template <class... Conditions>
  void allow(const char* name, Conditions... conditions) {
    rule(SCMP_ACT_ALLOW, name, conditions...);
  }

  scmp_filter_ctx context;
  std::uint32_t offence;
};

// No program of a student has a reason for these, and each can do harm or reach further than its own process.
constexpr const char* kOffences[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_open",
    "pidfd_getfd",
    "pidfd_send_signal",
    "kcmp",
    "mount",
    "umount2",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "keyctl",
    "add_key",
    "request_key",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "sethostname",
    "setdomainname",
    "iopl",
    "ioperm",
    "open_by_handle_at",
    "name_to_handle_at",
    "vhangup",
    "syslog",
    "fanotify_init",
    "personality",
    "modify_ldt",
    "seccomp",
};
// These of the worker beside them.
constexpr const char* kWorkerOffences[] = {
    "fork",     "vfork",    "execveat",  "connect",         "bind",
    "listen",   "accept",   "accept4",   "shmget",          "shmat",
    "semget",   "msgget",   "mq_open",   "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "tkill",    "setsid",   "setpgid",   "setuid",          "setgid",
    "setreuid", "setregid", "setresuid", "setresgid",       "setgroups",
    "capset",
};
// All that a program of C++ with threads, the simulator among it, needs.
constexpr const char* kWorkerCalls[] = {
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "close",
    "close_range",
    "fstat",
    "newfstatat",
    "stat",
    "lstat",
    "statx",
    "statfs",
    "fstatfs",
    "lseek",
    "access",
    "faccessat",
    "faccessat2",
    "open",
    "openat",
    "openat2",
    "creat",
    "readlink",
    "readlinkat",
    "getcwd",
    "chdir",
    "fchdir",
    "getdents",
    "getdents64",
    "dup",
    "dup2",
    "dup3",
    "pipe",
    "pipe2",
    "eventfd",
    "eventfd2",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "mmap",
    "munmap",
    "mprotect",
    "mremap",
    "madvise",
    "brk",
    "mincore",
    "msync",
    "mlock",
    "munlock",
    "pkey_alloc",
    "pkey_free",
    "pkey_mprotect",
    "memfd_create",
    "ftruncate",
    "truncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "fadvise64",
    "sync_file_range",
    "copy_file_range",
    "sendfile",
    "splice",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "rename",
    "renameat",
    "renameat2",
    "chmod",
    "fchmod",
    "fchmodat",
    "umask",
    "utimensat",
    "flock",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigpending",
    "rt_sigtimedwait",
    "rt_sigsuspend",
    "sigaltstack",
    "pause",
    "nanosleep",
    "clock_nanosleep",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "times",
    "getpid",
    "gettid",
    "getppid",
    "getpgrp",
    "getpgid",
    "getsid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getresuid",
    "getresgid",
    "getgroups",
    "uname",
    "sysinfo",
    "getrusage",
    "getrlimit",
    "getcpu",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "getpriority",
    "futex",
    "futex_waitv",
    "set_robust_list",
    "get_robust_list",
    "rseq",
    "set_tid_address",
    "arch_prctl",
    "exit",
    "exit_group",
    "recvfrom",
    "sendto",
    "recvmsg",
    "sendmsg",
    "shutdown",
    "getsockopt",
    "getsockname",
    "getpeername",
    "getrandom",
    "membarrier",
    "timer_create",
    "timer_settime",
    "timer_gettime",
    "timer_delete",
    "timer_getoverrun",
    "setitimer",
    "getitimer",
    "alarm",
    "timerfd_create",
    "timerfd_settime",
    "timerfd_gettime",
    "restart_syscall",
    "wait4",
    "waitid",
};

void allow_worker(Filter& filter, const char* program) {
  for (const char* call : kWorkerCalls) filter.allow(call);
  for (const char* call : kWorkerOffences) filter.rule(filter.offence, call);
  // Threads only. What clone3 is asked for stands in memory, where no filter looks; libc takes clone instead.
  filter.allow("clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  filter.rule(filter.offence, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  // The program itself, whose name stands at an address that nobody can guess. Nothing can be executed from
  // another one, and a wrong guess ends it.
  const auto name = static_cast<scmp_datum_t>(reinterpret_cast<std::uintptr_t>(program));
  filter.allow("execve", SCMP_A0(SCMP_CMP_EQ, name));
  filter.rule(filter.offence, "execve", SCMP_A0(SCMP_CMP_NE, name));
  const auto self = static_cast<scmp_datum_t>(getpid());
  for (const char* call : {"kill", "tgkill"}) {
    filter.allow(call, SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, self));
    filter.rule(filter.offence, call, SCMP_A0(SCMP_CMP_LT, self));
    filter.rule(filter.offence, call, SCMP_A0(SCMP_CMP_GT, self));
  }
  filter.allow("prlimit64", SCMP_A0(SCMP_CMP_EQ, 0));
  // Not to whom signals of a file go: F_SETOWN and its like reach other processes.
  for (const int command :
       {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC,
        F_GETPIPE_SZ, 1033 /* F_ADD_SEALS */, 1034 /* F_GET_SEALS */}) {
    filter.allow("fcntl", SCMP_A1(SCMP_CMP_EQ, static_cast<scmp_datum_t>(command)));
  }
  // Whether a file is a terminal, its window, and what waits in a pipe.
  for (const unsigned request : {0x5401u, 0x5413u, 0x541bu}) {
    filter.allow("ioctl", SCMP_A1(SCMP_CMP_EQ, request));
  }
  for (const int asked :
       {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_CAPBSET_READ, 0x53564d41 /* PR_SET_VMA */}) {
    filter.allow("prctl", SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(asked)));
  }
}

// What a worker may not do, and nothing else: which calls a driver makes changes from one to the next. CUDA's listens on a
// socket of the machine's own, and asks for a server that shares the GPU: it is told that there is none.
void forbid_gpu(Filter& filter, const char* program) {
  for (const std::string_view call : kWorkerOffences) {
    if (call == "bind" || call == "listen") continue;
    filter.rule(call == "connect" ? SCMP_ACT_ERRNO(ECONNREFUSED) : filter.offence, call.data());
  }
  const auto name = static_cast<scmp_datum_t>(reinterpret_cast<std::uintptr_t>(program));
  filter.rule(filter.offence, "execve", SCMP_A0(SCMP_CMP_NE, name));
  filter.rule(filter.offence, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  filter.rule(SCMP_ACT_ERRNO(EACCES), "socket", SCMP_A0(SCMP_CMP_NE, AF_UNIX));
  const auto self = static_cast<scmp_datum_t>(getpid());
  for (const char* call : {"kill", "tgkill"}) {
    filter.rule(filter.offence, call, SCMP_A0(SCMP_CMP_LT, self));
    filter.rule(filter.offence, call, SCMP_A0(SCMP_CMP_GT, self));
  }
}

void forbid_compiler(Filter& filter) {
  // It is told that there is no network, and goes on.
  filter.rule(SCMP_ACT_ERRNO(EACCES), "socket");
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  constexpr int kNew = 0x7e020000 | 0x00000080;  // all of CLONE_NEW*
  for (int flag = 0; flag < 32; ++flag) {
    const std::uint32_t one = std::uint32_t{1} << flag;
    if ((one & kNew) == 0) continue;
    filter.rule(SCMP_ACT_ERRNO(EPERM), "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, one, one));
  }
  for (const int asked : {PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER}) {
    filter.rule(SCMP_ACT_ERRNO(EPERM), "prctl",
                SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(asked)));
  }
}

// Its listener; -1 where the kernel cannot tell of calls: then an offence ends the program, without a name.
int load_filter(Profile profile, const char* program) {
  for (const std::uint32_t offence :
       {static_cast<std::uint32_t>(SCMP_ACT_NOTIFY), SCMP_ACT_KILL_PROCESS}) {
    const bool is_worker = profile == Profile::worker;
    Filter filter(is_worker ? SCMP_ACT_ERRNO(ENOSYS) : SCMP_ACT_ALLOW, offence);
    seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    for (const char* call : kOffences) filter.rule(offence, call);
    if (is_worker) {
      allow_worker(filter, program);
      filter.allow("socketpair", SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
      filter.rule(SCMP_ACT_ERRNO(EACCES), "socket", SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
      filter.rule(offence, "socket", SCMP_A0(SCMP_CMP_NE, AF_UNIX));
    } else if (profile == Profile::gpu) {
      forbid_gpu(filter, program);
    } else {
      forbid_compiler(filter);
    }
    if (seccomp_load(filter.context) != 0) continue;
    return offence == SCMP_ACT_NOTIFY ? seccomp_notify_fd(filter.context) : -1;
  }
  throw std::runtime_error("the filter of system calls could not be loaded");
}

#endif

// Whether a step can be made, tried in a process of its own.
template <class Step>
bool can(Step step) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    try {
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      step();
      _exit(0);
    } catch (const std::exception&) {
      _exit(1);
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The text at an address that cannot be guessed.
const char* at_a_secret_place(const std::string& text) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (text.size() / page + 1) * page;
  for (int time = 0; time < 100; ++time) {
    std::uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) break;
    // Anywhere in the lower half of the addresses.
    const std::uintptr_t address = (random & 0x3fff'ffff'f000) | 0x1'0000'0000;
    void* const memory = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | 0x100000 /* FIXED_NOREPLACE */, -1, 0);
    if (memory == MAP_FAILED) continue;
    std::memcpy(memory, text.c_str(), text.size() + 1);
    return static_cast<const char*>(memory);
  }
  return text.c_str();
}

}  // namespace

const std::vector<std::string>& system_paths() {
  static const std::vector<std::string> paths = {"/usr",
                                                 "/lib",
                                                 "/lib32",
                                                 "/lib64",
                                                 "/libx32",
                                                 "/bin",
                                                 "/etc/alternatives",
                                                 "/etc/ld.so.cache"};
  return paths;
}

const std::vector<std::string>& harmless_devices() {
  static const std::vector<std::string> devices = {"/dev/null", "/dev/zero", "/dev/full",
                                                   "/dev/urandom", "/dev/random"};
  return devices;
}

std::vector<std::string> gpu_devices() {
  std::vector<std::string> devices;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/dev", none)) {
    if (entry.path().filename().string().starts_with("nvidia")) devices.push_back(entry.path());
  }
  return devices;
}

std::string means_here() {
  std::string means;
  if (can([] {
        Landlock landlock;
        landlock.restrict();
      })) {
    means += "landlock ";
  }
#if HALO_HAVE_SECCOMP
  if (can([] { load_filter(Profile::worker, ""); })) means += "seccomp ";
#endif
  return means;
}

void close_on_exec(int also) {
  constexpr unsigned kCloexec = 1u << 2;
  if (syscall(436 /* close_range */, kHandedOn, ~0u, kCloexec) != 0) {
    for (int descriptor = kHandedOn; descriptor < 65536; ++descriptor) {
      fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
  }
  fcntl(kHandedOn, F_SETFD, 0);
  if (also >= 0) fcntl(also, F_SETFD, 0);
}

bool become_user(uid_t user) {
  return setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 &&
         setresuid(user, user, user) == 0;
}

void become_confined(const JailOptions& options, uid_t user, int line) {
  try {
    const Confinement& confinement = options.confinement;
    const pid_t parent = getppid();
    setsid();
    close_on_exec();
    // Where memory is short after all, the kernel takes this program.
    if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
      if (write(score, "1000", 4) < 0) errno = 0;
      close(score);
    }
    set_limits(confinement.limits, user != 0 ? user : getuid());
    if (user != 0 && !become_user(user)) throw_errno("another user");
    drop_capabilities();
    umask(022);
    if (chdir(confinement.folder.empty() ? "/" : confinement.folder.c_str()) != 0) {
      throw_errno(confinement.folder);
    }
    std::vector<std::string> settings = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
    if (!confinement.folder.empty()) {
      settings.insert(settings.end(),
                      {"HOME=" + confinement.folder, "TMPDIR=" + confinement.folder});
    }
    settings.insert(settings.end(), confinement.environment.begin(), confinement.environment.end());
    std::vector<char*> words, environment;
    for (const std::string& word : options.command)
      words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    for (const std::string& one : settings) environment.push_back(const_cast<char*>(one.c_str()));
    environment.push_back(nullptr);
    const char* const program = at_a_secret_place(options.command[0]);
    for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw_errno("no_new_privs");
    if (options.landlock) restrict_files(options);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
#if HALO_HAVE_SECCOMP
    if (options.seccomp) {
      LineMessage filter;
      filter.kind = LineMessage::Kind::filter;
      filter.listener = load_filter(confinement.profile, program);
      if (filter.listener >= 0) {
        fcntl(filter.listener, F_SETFD, FD_CLOEXEC);
        send_on_line(line, filter);
      }
    }
#endif
    execve(program, words.data(), environment.data());
    throw_errno("cannot run " + options.command[0]);
  } catch (const std::exception& error) {
    LineMessage message;
    message.text = error.what();
    send_on_line(line, message);
    _exit(126);
  }
}

std::string words_of_call(int number) {
  std::string name = "system call " + std::to_string(number);
#if HALO_HAVE_SECCOMP
  if (char* known = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number)) {
    name = known;
    free(known);
  }
#endif
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view one : names) {
      if (name == one) return true;
    }
    return false;
  };
  const char* what = "called what no program may call here";
  if (is_one_of({"fork", "vfork", "clone", "execve", "execveat"})) {
    what = "tried to start another program";
  } else if (is_one_of({"socket", "connect", "bind", "listen", "accept", "accept4"})) {
    what = "tried to use the network";
  } else if (is_one_of({"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
                        "pidfd_send_signal"})) {
    what = "tried to send a signal to another process";
  } else if (is_one_of({"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
                        "pidfd_open", "pidfd_getfd", "kcmp"})) {
    what = "tried to reach into another process";
  }
  return std::string(what) + " (" + name + ")";
}

// ---- The line

bool send_on_line(int line, const LineMessage& message) {
  int head[2] = {static_cast<int>(message.kind), message.status};
  iovec parts[2] = {{head, sizeof head},
                    {const_cast<char*>(message.text.data()), message.text.size()}};
  msghdr all = {};
  all.msg_iov = parts;
  all.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (message.listener >= 0) {
    all.msg_control = control;
    all.msg_controllen = sizeof control;
    cmsghdr* const part = CMSG_FIRSTHDR(&all);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &message.listener, sizeof(int));
  }
  return sendmsg(line, &all, MSG_NOSIGNAL) >= 0;
}

bool receive_from_line(int line, LineMessage& message) {
  int head[2] = {};
  char text[1024];
  iovec parts[2] = {{head, sizeof head}, {text, sizeof text}};
  msghdr all = {};
  all.msg_iov = parts;
  all.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  all.msg_control = control;
  all.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(line, &all, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  message = {};
  if (got == 0) {
    message.kind = LineMessage::Kind::closed;
    return true;
  }
  if (got < static_cast<ssize_t>(sizeof head)) return false;
  message.kind = static_cast<LineMessage::Kind>(head[0]);
  message.status = head[1];
  message.text.assign(text, static_cast<std::size_t>(got) - sizeof head);
  for (cmsghdr* part = CMSG_FIRSTHDR(&all); part != nullptr; part = CMSG_NXTHDR(&all, part)) {
    if (part->cmsg_type == SCM_RIGHTS) std::memcpy(&message.listener, CMSG_DATA(part), sizeof(int));
  }
  return true;
}

}  // namespace halo
