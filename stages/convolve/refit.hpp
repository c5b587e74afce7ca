// Fits the dispatcher's rule to times: measured here, or of results files.
#pragma once

namespace halo::convolve {

/// `refit`, with its own options (--help lists them). Returns its exit status: 0 good, 2 wrong use, 77 there is
/// no GPU to measure on. Throws for the rest, in one line.
int refit(int argc, const char* const* argv);

}  // namespace halo::convolve
