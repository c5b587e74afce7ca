// Stage 01's steps for a race checker: this program is built with -fsanitize=thread, which ends it with
// another exit status than 0 when two threads touch a cell and nothing orders them.
//
//   races --list     the steps, one a line
//   races STEP...    runs these, on signals that are cut into several runs
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/harness/kernel.h"

namespace halo::conv1d_cpu {

Conv1dKernel loop();
Conv1dKernel simd();
Conv1dKernel threads();
Conv1dKernel streaming();
Conv1dKernel shared_loads();

// Not of the stage: `threads` with runs that overlap, in overlapping_threads.cpp.
Conv1dKernel overlapping_threads();

}  // namespace halo::conv1d_cpu

namespace {

using namespace halo;

struct Step {
  const char* name;
  Conv1dKernel (*kernel)();
};
constexpr Step kSteps[] = {{"loop", conv1d_cpu::loop},
                           {"simd", conv1d_cpu::simd},
                           {"threads", conv1d_cpu::threads},
                           {"streaming", conv1d_cpu::streaming},
                           {"shared_loads", conv1d_cpu::shared_loads},
                           {"overlapping_threads", conv1d_cpu::overlapping_threads}};

void run(const Conv1dKernel& kernel, int length, int width, int threads, bool report_border) {
  std::vector<float> input(static_cast<std::size_t>(length), 1.0f);
  std::vector<float> mask(static_cast<std::size_t>(width), 1.0f);
  std::vector<float> output(static_cast<std::size_t>(length));
  Conv1dCall call;
  call.length = length;
  call.mask_width = width;
  call.first = report_border ? call.halo() : 0;
  call.last = report_border ? length - call.halo() : length;
  call.threads = threads;
  call.input = input.data();
  call.mask = mask.data();
  call.output = output.data();
  kernel.launch(call);
  // What the threads have written is read here: who does not wait for them is found too.
  double sum = 0;
  for (const float value : output) sum += value;
  if (sum == 0) std::puts("no output");
}

}  // namespace

int main(int argc, char** argv) {
  for (const Step& step : kSteps) {
    bool wanted = false;
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "--list") == 0) std::puts(step.name);
      wanted |= std::strcmp(argv[i], step.name) == 0;
    }
    if (!wanted) continue;
    for (const bool report_border : {false, true}) {
      run(step.kernel(), 10'007, 9, 4, report_border);
      run(step.kernel(), 3'000, 255, 3, report_border);
      run(step.kernel(), 300'000, 3, 2, report_border);  // streamed past the caches
    }
    std::printf("%s: no race\n", step.name);
  }
  return 0;
}
