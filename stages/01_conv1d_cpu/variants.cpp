// The variants of stage 01. They are no kernels: the simulator has nothing to count.
#include "stages/01_conv1d_cpu/conv1d_cpu.hpp"
#include "stages/01_conv1d_cpu/stage.hpp"

namespace halo::conv1d_cpu {

Conv1dStage stage() {
  const char* const no_kernel = "this stage runs on the CPU: there is no kernel to watch";

  Conv1dVariant one;
  one.name = "loop";
  one.source = "stages/01_conv1d_cpu/1_loop.cpp";
  one.description = "one output at a time, one core";
  one.launch = [](const Conv1dCall& c) {
    loop(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last);
    return 0;
  };
  one.uncounted = no_kernel;
  one.refuses = up_to_products(4'000'000'000, "one core needs more than ten seconds for this");

  Conv1dVariant vector;
  vector.name = "simd";
  vector.source = "stages/01_conv1d_cpu/2_simd.cpp";
  vector.description = "64 outputs at once in vector registers, one core";
  vector.launch = [](const Conv1dCall& c) {
    simd(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last);
    return 0;
  };
  vector.uncounted = no_kernel;

  Conv1dVariant cores;
  cores.name = "threads";
  cores.source = "stages/01_conv1d_cpu/3_threads.cpp";
  cores.description = "as simd, on all cores";
  cores.launch = [](const Conv1dCall& c) {
    threaded(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
    return 0;
  };
  cores.uncounted = no_kernel;

  Conv1dVariant streaming_stores;
  streaming_stores.name = "streaming";
  streaming_stores.source = "stages/01_conv1d_cpu/tuned/4_streaming.cpp";
  streaming_stores.description = "as threads, stores past the caches, cells asked for ahead";
  streaming_stores.launch = [](const Conv1dCall& c) {
    streaming(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
    return 0;
  };
  streaming_stores.uncounted = no_kernel;

  Conv1dVariant sharing;
  sharing.name = "shared_loads";
  sharing.source = "stages/01_conv1d_cpu/tuned/5_shared_loads.cpp";
  sharing.description = "as streaming, cells loaded once for four taps";
  sharing.launch = [](const Conv1dCall& c) {
    shared_loads(c.input, c.mask, c.output, c.length, c.mask_width, c.first, c.last, c.threads);
    return 0;
  };
  sharing.uncounted = no_kernel;

  return {"01_conv1d_cpu", {one, vector, cores, streaming_stores, sharing}};
}

}  // namespace halo::conv1d_cpu
