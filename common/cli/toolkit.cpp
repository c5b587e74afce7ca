// `halo toolkit`: what the simulator needs to take any CUDA program. The script ./halo has seen to nvcc.
#include <cstdio>

#include "common/build/builder.hpp"
#include "common/build/compiler_output.hpp"
#include "common/build/errors.hpp"
#include "common/cli/commands.hpp"
#include "common/report/terminal.hpp"

namespace halo {

namespace fs = std::filesystem;

int run_toolkit(const BuildFolder& build) {
  const fs::path folder = build.simulator();
  const fs::path simcc = folder / "simcc";
  if (!build.makes(simcc)) {
    throw CannotRun("simcc needs nvcc of CUDA 13, libzstd and libbacktrace (./halo doctor)");
  }
  Progress progress(Progress::Elsewhere::lines);
  std::vector<fs::path> needed = build.simulated_runtime();
  for (const char* const name : {"simcc", "simt", "libsimt-debug.so", "libcudadevrt.a"}) {
    needed.push_back(folder / name);
  }
  // Without them a program that links one gets NVIDIA's, which finds no GPU.
  for (const char* const name : {"libcublas.so.13", "libcurand.so.10", "libsimt-nvrtc.so"}) {
    const fs::path library = build.simulated_libraries() / name;
    if (build.makes(library)) needed.push_back(library);
  }
  if (!build_all(build, needed, "simcc", progress).empty()) {
    throw WrongUse("simcc does not compile");
  }
  std::printf(
      "nvcc    %s\n"
      "simcc   %s\n"
      "next: %s FILE.cu -o PROGRAM   as nvcc, and ./PROGRAM runs in the simulator\n",
      HALO_NVCC, simcc.c_str(), seen_from_here(simcc).c_str());
  return 0;
}

}  // namespace halo
