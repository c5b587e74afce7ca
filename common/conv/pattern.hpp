// What the wrong outputs of one problem have in common: the classical mistakes of convolutions leave
// classical traces.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halo::conv {

/// A dimension of an output array: "k" of "filter", 16 of them.
struct OutputAxis {
  std::string letter;  // empty: outputs have a plain index
  std::string name;    // one of it: "filter", "column"
  std::int64_t size = 0;
  std::vector<std::string> each = {};  // where one is an array of its own: their names
};

/// A period that outputs are made in: "block" of 256 threads, "warp" of 32.
struct Period {
  std::string name;
  std::int64_t size = 0;
};

/// What came out and what should have, cell by cell.
struct WrongOutputs {
  std::span<const float> found;
  std::vector<double> expected;
  std::vector<double> bound;     // an error above it is wrong
  std::vector<OutputAxis> axes;  // outermost first; their sizes multiply to the cells
  std::vector<Period> periods;   // of the innermost axis
};

/// Whether a cell is wrong: never written, NaN, or further off than its bound.
bool is_wrong(const WrongOutputs& outputs, std::size_t cell);

/// "output[4]", "output[n 0, k 3, p 1, q 2]"; of several arrays "slope[i 4]".
std::string place_of(const std::vector<OutputAxis>& axes, std::int64_t cell);

/// What all wrong outputs have in common, and where they are, in a sentence or two ("every wrong output is
/// the one that belongs 1 place further on; only the last output of each block"); empty if nothing is
/// recognised. Recognised are: never written, NaN, zero, a constant multiple or difference, a shift along an
/// axis, rows and columns exchanged; and the places: one filter, image or channel, the first or last of
/// an axis, the beginning or the end of each period, and what is left after the last whole one.
std::string recognise(const WrongOutputs& outputs);

}  // namespace halo::conv
