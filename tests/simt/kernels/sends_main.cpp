// The counted kernels of sends.cu as a program, to be profiled on a GPU (calibrate.sh).
//
//   sends --list    what each must count, as CSV
//   sends           runs them in that order; exit status 1 if data did not arrive
//   sends --all     those, and the others that are right
#include <cstdio>
#include <cstring>

#include "sends.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--list") == 0) {
    std::puts("name,store_requests,store_sectors");
    for (const sends::Counted& one : sends::counted()) {
      std::printf("%s,%u,%u\n", one.name, one.requests, one.sectors);
    }
    return 0;
  }
  bool good = true;
  for (const sends::Counted& one : sends::counted()) good = one.run() && good;
  const bool all = argc > 1 && std::strcmp(argv[1], "--all") == 0;
  for (const sends::Case& one : all ? sends::cases() : std::vector<sends::Case>{}) {
    const bool is_right = one.run();
    if (!is_right) std::printf("%s: wrong\n", one.name);
    good = is_right && good;
  }
  return good ? 0 : 1;
}
