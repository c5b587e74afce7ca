// One launch of a variant with everything round it that a wrong one can be caught by: the same for
// every family of problems.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/harness/backend/backend.hpp"

namespace halo {

// An array that a launch reads and must leave as it is. It holds `values` over and over: once, unless
// the data repeat.
struct KeptArray {
  std::string name;
  Array* array;
  std::span<const float> values;
};

// Fills the array with what it is to keep; or, with the same, that many cells of another from `first`
// on.
void write(const KeptArray& kept);
void write(const KeptArray& kept, Array& array, std::size_t first);

// What is verified, and how it is judged.
struct Verified {
  std::string where;   // the problem, in words that begin a complaint: "length 1,000, mask 9"
  std::string source;  // of the variant, as its rows name it
  std::vector<KeptArray> kept;
  Array* output = nullptr;     // poisoned before the launch
  Array* workspace = nullptr;  // as well, but what is left in it is anybody's; null: none
  // Before the launch, on the device too; returns a CUDA error code. May be empty.
  std::string set_up_name;  // "setting the mask"
  std::function<int()> set_up;
  // Set by set_up: the array in host memory of which it read more than there is.
  std::string set_up_misread;
  // Before the launch as well, twice, with the same result; returns a CUDA error code. `packed` is as the
  // workspace is before it, and neither it nor the launch may change what is kept. Null: nothing is packed;
  // empty: it is already.
  Array* packed = nullptr;
  std::function<int()> pack;
  std::function<int()> launch;  // returns a CUDA error code
  // Not empty: the launch may refuse the problem (cudaErrorNotSupported), and this says why.
  std::function<std::string()> unsupported;
  // Judges the outputs first, first + 1, ...
  std::function<conv::Comparison(std::size_t first, std::span<const float> cells)> judge;
  bool exact = false;      // the outputs have no error to be shown
  std::string arithmetic;  // that the bound is about, in words; empty: there is none
  // Gets the whole output, part by part. May be empty.
  std::function<void(std::span<const float> cells)> keep;
};

// Sets up, launches, and adds to row.check and row.hazards what came of it: errors, hazards, wrong
// and missing outputs, arrays that were changed (they are mended: the next variant is to find them
// whole) and stray writes beside them. `seen` gets the launch's counters. False if the device failed:
// nothing more can be run on it before Backend::recover().
bool verify(const Verified& verified, Backend& backend, Row& row, Observation* seen = nullptr);

// Adds to the row what the kernels of a variant's launches were seen to do, and names files from the root.
// `source`: the variant's. `where`: the problem, in words.
void add_seen(const std::string& source, const std::string& where, Observation& launched, Row& row);

// A problem that could not even be launched.
void add_failure(Check& check, const std::string& where, const std::string& what);

// After a launch that broke the device. What can't be repaired is said in the row.
void repair(Backend& backend, Row& row);

// What can be said when a variant's launches are over.
void settle(const Backend& backend, Row& row);

// Fills row.traffic from `seen`, launches of the same work (the row shows the first that differs
// from the prediction, if any does). `finished`: they all ended well. `predict` may be empty: then it
// has what was counted, and is not run. What differs is bad traffic, which is no mistake by itself.
void compare_traffic(const Backend& backend, bool finished, const std::function<Cost()>& predict,
                     const std::vector<Observation>& seen, double outputs, const std::string& where,
                     Row& row);

}  // namespace halo
