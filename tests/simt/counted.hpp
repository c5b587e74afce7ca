// What the tests of counters share: running one case and holding it to its figures.
#pragma once

#include "kernels/counted_cases.hpp"

/// Runs the case, checks that its values are right, that it raised no finding and that every
/// counter is as expected, and returns its launch.
simt::Launch check_case(const CountedCase& one);
