// coverage {KERNEL VALUE}: launches these of kernels/coverage.cu; prints the lines that it left, as the simulator tells it.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/simt/simulator.hpp"
#include "kernels/coverage.cu"

int main(int count, char** arguments) {
  const simt::Simulator* const simulator = simt::simulator();
  if (simulator == nullptr) return 1;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    const int value = std::atoi(arguments[i + 1]);
    if (name == "none") simulator->set_checks("none");
    if (name == "branch") coverage::run_one_side_of_a_branch(value != 0);
    if (name == "loop") coverage::run_loop(value);
    if (name == "template") coverage::run_template(value != 0);
    if (name == "helpers") coverage::run_helpers(value != 0);
    if (name == "expression") coverage::run_conditional_expression(value != 0);
    if (name == "included") coverage::run_included(value);
    if (name == "hoisted") coverage::run_hoisted(value);
    if (name == "unrolled") coverage::run_unrolled(value);
  }
  const simt::Coverage ran = simulator->take_coverage();
  for (const simt::FileCoverage& file : ran.files) {
    for (const simt::LineCoverage& line : file.lines) {
      if (line.launched && !line.reached) std::printf("unreached %d\n", line.line);
    }
    for (const simt::BranchCoverage& way : file.branches) {
      if (way.launched && !way.taken) std::printf("untaken %d\n", way.line);
    }
  }
  for (const simt::KernelCoverage& kernel : ran.kernels) {
    if (kernel.launches > 0) {
      std::printf("%llu %s\n", static_cast<unsigned long long>(kernel.launches),
                  kernel.kernel.substr(kernel.kernel.rfind("::") + 2).c_str());
    }
  }
}
