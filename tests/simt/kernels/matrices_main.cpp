// The kernels of matrices.cu as a program, to be profiled on a GPU (calibrate.sh).
//
//   matrices --list    what each must count, as CSV
//   matrices           runs them in that order; exit status 1 if a result is wrong
#include <cstdio>
#include <cstring>

#include "matrices.hpp"

int main(int argc, char** argv) {
  const bool list = argc > 1 && std::strcmp(argv[1], "--list") == 0;
  if (list) {
    std::fputs("name", stdout);
    for (const simt::CounterField& field : simt::counter_fields()) std::printf(",%s", field.name);
    std::puts(",tensor_instructions");
  }
  bool good = true;
  for (const matrices::Case& one : matrices::cases()) {
    if (!list) {
      const bool its = one.run();
      if (!its) std::printf("%s is wrong\n", one.name);
      good = good && its;
      continue;
    }
    std::fputs(one.name, stdout);
    for (const simt::CounterField& field : simt::counter_fields()) {
      std::printf(",%llu", static_cast<unsigned long long>(one.expected.*field.member));
    }
    std::printf(",%d\n", one.tensor_instructions);
  }
  return good ? 0 : 1;
}
