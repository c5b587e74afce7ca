// Times of the contenders, measured here or of results files, with the terms of their cost models: what refit.py fits
// the rule to.
#pragma once

namespace halo::convolve {

/// `measure`, with its own options (--help lists them). Returns its exit status: 0 good, 2 wrong use, 77 there is
/// no GPU to measure on. Throws for the rest, in one line.
int measure(int argc, const char* const* argv);

}  // namespace halo::convolve
