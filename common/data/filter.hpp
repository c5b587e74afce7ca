// What may stand behind `--filter`.
#pragma once

#include <string>
#include <vector>

#include "common/data/file.hpp"

namespace halo::data {

/// Filters for a picture, each applied to each of its channels.
struct Filters {
  int K = 0;                  // how many
  int R = 0;                  // rows, odd
  int S = 0;                  // columns, odd
  std::vector<float> values;  // [K][R][S], finite
  // The filters are the parts of one direction: what a picture shows of K results is the length of
  // the vector that they are.
  bool magnitude = false;
};

/// Widest filter, either way.
inline constexpr int kMaxFilterSize = 1023;

/// Reads a filter specification:
///   sobel             two filters of 3 x 3: how much brighter it becomes to the right,
///                     -1 0 1 / -2 0 2 / -1 0 1, and downwards, its transpose
///   gaussian:N        N x N weights exp(-(x^2 + y^2) / (2 sigma^2)), x and y the distances from the
///                     middle, divided by their sum; sigma is N/6, so that the filter reaches
///                     3 sigma, as of a mask (mask.hpp)
///   gaussian:N:SIGMA  the same with a sigma in pixels
///   box:N             N x N weights of 1/N^2
///   FILE              an NPY file, [R][S] or [K][R][S]. A file whose name looks like one of the above
///                     needs a path: ./sobel
///
/// Sizes are odd, so that a filter has a middle, and at most kMaxFilterSize. Throws DataError, in one
/// line, for everything else.
Filters read_filters(const std::string& spec);

/// One line for --help: the forms above.
inline constexpr const char* kFilterHelp =
    "sobel, gaussian:N, gaussian:N:SIGMA, box:N, or a .npy file of [R][S] or [K][R][S]";

}  // namespace halo::data
