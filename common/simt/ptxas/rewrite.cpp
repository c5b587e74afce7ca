#include "common/simt/ptxas/rewrite.hpp"

#include <set>

#include "common/simt/ptxas/passes.hpp"
#include "common/simt/ptxas/registers.hpp"

namespace simt::ptxas {

Rewritten rewrite(const ptx::Module& module, const ptx::Function& function,
                  const ptx::SharedPlaces& places) {
  Rewritten rewritten;
  Registers registers(module, function, places);
  const std::set<std::int32_t> labels(function.labels.begin(), function.labels.end());
  const Pass pass{function, labels, registers, rewritten};
  for (const auto run : {narrow_loads, halve_addresses_of_code, fuse_products, join_accesses,
                         choose_loads, hoist_loads, delay_loads, count_stores_once}) {
    run(pass);
  }
  return rewritten;
}

}  // namespace simt::ptxas
