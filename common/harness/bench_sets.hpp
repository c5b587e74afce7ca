// The sets of published problems that --bench knows, by their names: for the programs that run them, and
// for `halo bench`, which refuses a wrong name before anything is started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halo {

struct BenchSet {
  std::string family;  // conv2d, transform, pooling, softmax
  std::string name;
  // conv2d, whose sets are the tables of common/data/layers. The batch sizes that the paper runs; empty:
  // as the table says.
  std::vector<std::int64_t> batches = {};
  std::vector<std::string> stages = {};  // numbers of those that name it in stages/course.csv
};
const std::vector<BenchSet>& bench_sets();

// Whether the stage, by its whole name, has a part in the set.
bool has_stage(const BenchSet& set, const std::string& stage);

// The names of a family's sets, "cuconv, sc16".
std::string bench_set_names(const std::string& family);

// Throws UsageError, in one line, if the family has no such set.
void require_bench_set(const std::string& family, const std::string& name);

}  // namespace halo
