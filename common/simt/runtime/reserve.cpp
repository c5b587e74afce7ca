#include "common/simt/runtime/reserve.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace simt {

void* reserve_addresses(std::size_t bytes, const char* what_for) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(
        stderr,
        "simt: cannot reserve %zu MB of addresses for %s: raise the limit of virtual memory "
        "(ulimit -v)\n",
        bytes >> 20, what_for);
    std::_Exit(2);
  }
  return memory;
}

}  // namespace simt
