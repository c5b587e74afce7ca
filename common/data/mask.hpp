// What may stand behind `--mask`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/data/file.hpp"

namespace halo::data {

/// Reads a mask specification:
///   box:W             W weights of 1/W
///   gaussian:W        W weights exp(-x^2 / (2 sigma^2)), x the distance from the middle tap,
///   divided gaussian:W:SIGMA  by their sum; sigma in samples, W/6 if not given, so that the mask
///   reaches 3 sigma random:W          W asymmetric weights from the seed (conv::adversarial_mask)
///   0.3,0.2,0.8       the weights themselves; a single number is a mask of width 1
///   FILE              anything read_signal reads, with one channel; its samples are the weights.
///                     A file whose name looks like one of the above needs a path: ./box:9
///
/// The result holds an odd number of finite weights, at most conv::kMaxMaskWidth. Throws DataError,
/// in one line, for everything else.
std::vector<float> read_mask(const std::string& spec, std::uint64_t seed = 1);

/// One line for --help: the forms above.
inline constexpr const char* kMaskHelp =
    "box:W, gaussian:W, gaussian:W:SIGMA, random:W, numbers such as 0.3,0.2,0.8, or a file";

}  // namespace halo::data
