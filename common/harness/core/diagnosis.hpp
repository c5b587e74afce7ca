// What a variant that fails has to say: with which problems, of what kind they are, what the wrong numbers
// look like, and how to run the smallest again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/harness/core/variant.hpp"
#include "common/report/rows.hpp"

namespace halo {

// A problem that a variant was tried with.
struct Attempt {
  AnyProblemPtr problem;
  std::uint64_t seed = 0;  // of its data
  bool wrong = false;
  TrialOn on = TrialOn::device;
  // The data, if they were not made from the seed.
  DatasetPtr given = {};
};

// "exact" and "edges:2", as --data takes them; empty: ordinary.
std::string name_of(const DataKind& kind);
// Throws UsageError.
DataKind parse_data_kind(const std::string& text);

// Which of the problems are wrong, in the words of their traits: "right: mask 1 only", "wrong only where the
// length is no multiple of the threads". Empty if no words fit, or if all are alike.
std::string kind_of_wrong(const std::vector<Attempt>& attempts);

// The command that runs the variant with all its trials, made from the program's seed; empty for what is no
// variant of a stage.
std::string command_of(const Row& row, std::uint64_t seed);
// The command that runs the variant on this problem and nothing else; empty if none can.
std::string command_of(const Row& row, const Attempt& attempt, const DataKind& kind);

// To whoever started this program: if nothing more is heard, this problem ("length 5, mask 3") took it down, and
// this command shows it again.
void tell_begin(const Row& row, const std::string& problem, const std::string& again);

// Runs the variant on the data once more, and gives its outputs as they lie in memory. What comes of it is
// told in a row of its own.
using Rerun = std::function<void(const Attempt& attempt, const Dataset& data, Row& row,
                                 std::vector<float>& outputs)>;

// Fills row.check.diagnosis, if an attempt is wrong. The smallest is run again with each kind of data until
// it fails; where nothing is to be launched any more, `rerun` is empty.
void diagnose(const About& variant, const std::vector<Attempt>& attempts,
              const std::function<bool(const DataKind&)>& suits, const Rerun& rerun, Row& row);

}  // namespace halo
