// Addresses for tables that are far larger than what is ever used of them.
#pragma once

#include <cstddef>

namespace simt {

// Zeroed memory at `bytes` addresses, of which only the pages that are touched are taken. If there are
// not so many, one line on stderr that says what they are for and what helps, and exit status 2.
void* reserve_addresses(std::size_t bytes, const char* what_for);

}  // namespace simt
