// What ptxas makes of accesses that PTX has one by one. PTX is not the last word: neighbouring loads of shared memory become
// one wide load, and of a wide load the parts that nobody uses are left out. Accesses to global memory are merged where a
// wide one beside them says how they lie, a word that has been loaded is not loaded again, and a load waits for the jump of
// those who do not need it. Found by comparing PTX with what nvdisasm prints of ptxas's SASS for sm_90.
// A product and the sum that uses it become one fused multiply-add, as there.
#pragma once

#include <map>
#include <vector>

#include "common/simt/ptx/module.hpp"

namespace simt::ptxas {

/// Of instructions of the function that ptxas writes otherwise: what stands there instead.
using Rewritten = std::map<const ptx::Instruction*, std::vector<ptx::Instruction>>;

/// `places`: of the kernel that the function is, or that calls it.
Rewritten rewrite(const ptx::Module& module, const ptx::Function& function,
                  const ptx::SharedPlaces& places);

}  // namespace simt::ptxas
