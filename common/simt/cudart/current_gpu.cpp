#include "common/simt/cudart/current_gpu.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace simt {

using halo::gpus::Gpu;

namespace {

std::atomic<const Gpu*> instead = nullptr;

}  // namespace

void set_current_gpu(const Gpu* gpu) { instead = gpu; }

const Gpu& current_gpu() {
  if (const Gpu* gpu = instead) return *gpu;
  static const Gpu& current = []() -> const Gpu& {
    const char* wanted = std::getenv("SIMT_GPU");
    if (wanted == nullptr || *wanted == '\0') return halo::gpus::all().front();
    if (const Gpu* gpu = halo::gpus::find(wanted)) return *gpu;
    std::string keys;
    for (const Gpu& gpu : halo::gpus::all()) {
      keys += (keys.empty() ? "" : ", ") + std::string(gpu.key);
    }
    std::fprintf(stderr, "simt: SIMT_GPU=%s is not a GPU the simulator knows: use one of %s\n",
                 wanted, keys.c_str());
    std::exit(2);
  }();
  return current;
}

}  // namespace simt
