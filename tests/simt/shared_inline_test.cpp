// Linked twice, with the instrumented and the uninstrumented copy of a template in either order: the
// kernel's 15 loads must be counted both times.
#include "kernels/shared_inline.hpp"

#include <cstdio>

#include "common/simt/simt.hpp"

int main() {
  int values[15];
  for (int i = 0; i < 15; ++i) values[i] = i * i;
  const int on_host = sum_on_host(values);
  const int on_gpu = sum_on_gpu(values);
  const auto launches = simt::take_launches();
  const auto loads = launches.empty() ? 0 : launches[0].counters.global_load_requests;
  std::printf("sums %d and %d, %llu loads counted (15 expected)\n", on_host, on_gpu,
              static_cast<unsigned long long>(loads));
  return on_host == 1015 && on_gpu == 1015 && launches.size() == 1 && loads == 15 ? 0 : 1;
}
