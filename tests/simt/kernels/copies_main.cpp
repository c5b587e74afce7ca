// The kernels of copies.cu as a program, to be profiled on a GPU (calibrate.sh).
//
//   copies --list    what each must count, as CSV
//   copies           runs them in that order; exit status 1 if data did not arrive
#include <cstdio>
#include <cstring>

#include "copies.hpp"

int main(int argc, char** argv) {
  const bool list = argc > 1 && std::strcmp(argv[1], "--list") == 0;
  if (list) {
    std::puts("name,load_requests,load_sectors,store_requests,store_wavefronts,store_conflicts");
  }
  bool good = true;
  for (const copies::Case& one : copies::cases()) {
    if (list) {
      std::printf("%s,%d,%d,%d,%d,%d\n", one.name, one.load_requests, one.load_sectors,
                  one.store_requests, one.store_wavefronts, one.store_conflicts);
    } else {
      good = one.run() && good;
    }
  }
  return good ? 0 : 1;
}
