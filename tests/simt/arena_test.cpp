// Device memory where the kernel does not map pages twice by mremap, as under QEMU: a filter refuses it here.
#include "common/simt/memory/arena.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>

#include "tests/catch.hpp"

namespace {

// From here on this process cannot duplicate pages: mremap of 0 bytes fails.
bool refuse_duplicates() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + 8),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof(rules) / sizeof(rules[0]), rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum Ended { good, wrong_bytes, not_fresh, refused, no_filter };

Ended use_memory() {
  try {
    simt::memory::Arena arena(std::size_t{1} << 24);
    const std::uint64_t open = arena.allocate(64, "open", true);
    std::memset(arena.host(open), 7, 64);
    if (reinterpret_cast<const unsigned char*>(open)[63] != 7) return wrong_bytes;

    std::array<std::byte, 65'536> values;  // whole pages, of any size
    values.fill(std::byte{4});
    const std::uint64_t sparse = arena.allocate_sparse(1 << 20, values);
    if (arena.host(sparse)[(1 << 20) - 1] != std::byte{4}) return wrong_bytes;
    arena.free(sparse);
    const std::uint64_t again = arena.allocate_sparse(1 << 20, {});
    return again == sparse && arena.host(again)[3] == std::byte{0} ? good : not_fresh;
  } catch (const std::exception&) {
    return refused;
  }
}

}  // namespace

TEST_CASE("arena: device memory is there where pages cannot be mapped twice by mremap") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(refuse_duplicates() ? use_memory() : no_filter);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == no_filter) halo::test::skip("no filter of system calls can be set");
  CHECK(WEXITSTATUS(status) == good);
}

TEST_CASE("arena: both views of an allocation show the same bytes") { CHECK(use_memory() == good); }
