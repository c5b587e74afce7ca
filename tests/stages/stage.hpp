// What the tests of all families' stages share.
#pragma once

#include <memory>
#include <string>

#include "tests/backend.hpp"
#include "tests/stages/lines.hpp"

namespace halo::test {

// As usable_backend(), and skips where nothing is counted, so that a GPU's test does not pass by arithmetic
// alone.
std::unique_ptr<Backend> counting_backend();

// Fails if anything is wrong with the lines that were reached, beside those of unreached_lines.csv.
void require_all_lines(const LinesOf& lines);

// Everything that a row has to say against its variant.
std::string faults(const Row& row);

}  // namespace halo::test
