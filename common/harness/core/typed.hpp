// What stages, peers and tests do with variants of a family, by their types. Each function is there for
// every family (families/*.hpp), which puts the types off and calls the one that is written once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/harness/core/check.hpp"
#include "common/harness/core/timing.hpp"
#include "common/harness/core/variant.hpp"

namespace halo {

// The problems that every variant must get right, less those it refuses: everything 1, odd, prime,
// smaller and larger than a tile, a warp and a block, not square; and some random ones from the seed.
// Small enough for the simulator.
template <class Given>
std::vector<Given> adversarial(std::uint64_t seed);

// The problems that this variant is tried with: those of adversarial() that it takes; some round each of
// its tiles, with several tiles and several of everything else that it takes; more, if these are few; and
// if it plans, some on a tiny GPU, which it may refuse there; and some near 2^31 cells, of which a few
// blocks are run. (A library has the first only.)
template <class Given>
std::vector<Trial<Given>> trials(const Variant<Given>& variant, std::uint64_t seed);
// So many at least, if there are so many that it takes.
inline constexpr std::size_t kFewestTrials = 20;

template <class Given>
AnyProblemPtr erased(const Given& problem);
template <class Given>
AnyVariant erased(const Variant<Given>& variant);
template <class Given>
AnyStage erased(const Stage<Given>& stage);

// check_trials and check_problem of check.hpp.
template <class Given>
void check_trials(const Variant<Given>& variant, Backend& backend,
                  const std::vector<Given>& problems, std::uint64_t seed, Row& row,
                  Progress& progress);
template <class Given>
void check_trials(const Variant<Given>& variant, Backend& backend,
                  const std::vector<Trial<Given>>& trials, std::uint64_t seed, Row& row,
                  Progress& progress);
template <class Given>
void check_problem(const Variant<Given>& variant, Backend& backend, const Given& problem,
                   std::uint64_t seed, Row& row, std::vector<DatasetPtr> datasets = {},
                   SavedOutputs* outputs = nullptr);

// The main function of a program of one family: one stage, or several, whose variants are then timed
// in turn. `peers` are timed beside them. Returns its exit status: 0 good, 1 a check or a hazard
// failed, 2 wrong use, 77 not run.
template <class Given>
int run_program(int argc, const char* const* argv, const std::vector<Stage<Given>>& stages,
                const std::vector<Variant<Given>>& peers, std::unique_ptr<Backend> backend,
                const TimingSettings& timing = kRunTiming);

}  // namespace halo
