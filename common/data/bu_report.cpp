#include "common/data/bu_report.hpp"

namespace halo::data {

namespace {

constexpr BuReportLine kLines[] = {
    // Table 1: Code 2, one thread an output
    {1, 1'000, 0.0600, 0.5790},
    {1, 100'000, 2.5730, 1.3468},
    {1, 10'000'000, 119.0, 33.7104},
    {1, 1'000'000'000, 10150.0, 3327.15},
    // Table 2: Code 3, the mask in constant memory
    {2, 1'000, 0.059, 0.5508},
    {2, 100'000, 2.513, 1.372},
    {2, 10'000'000, 124.8, 34.298},
    {2, 1'000'000'000, 9804.3121, 3110.98877},
    // Table 3: Code 4, tiled, strategy 1
    {3, 1'000, 0.00205, 0.4489},
    {3, 100'000, 1.604, 0.8683},
    {3, 10'000'000, 148.706, 51.3228},
    {3, 1'000'000'000, 20518.374, 6361.1801},
    // Table 4: Code 5, tiled, strategy 2
    {4, 1'000, 0.01804, 0.463392},
    {4, 100'000, 2.4873, 1.288352},
    {4, 10'000'000, 116.99418, 36.04224},
    {4, 1'000'000'000, 9834.4849, 3451.381348},
};

}  // namespace

std::optional<BuReportLine> bu_report_line(int task, std::int64_t length) {
  for (const BuReportLine& line : kLines) {
    if (line.table == task - 1 && line.length == length) return line;
  }
  return {};
}

}  // namespace halo::data
