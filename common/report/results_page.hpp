// Results of `halo bench` as a page to look at: one HTML file that asks for no other.
#pragma once

#include <string>
#include <vector>

#include "common/report/compare.hpp"

namespace halo {

/// The page of one results file, or of two (two runs, or two machines) side by side: ratios against the fastest
/// library, sorted; each problem's variants as bars against the roofs; all of them on a roofline. `command` is what
/// made it. Throws std::invalid_argument, in one line, if no row has a time.
std::string results_page(const std::vector<NamedResults>& files, const std::string& command);

}  // namespace halo
