// The figures that the BU report (Dong, Deng et al., "CNN Optimizations") prints for its 1D kernels.
#pragma once

#include <cstdint>
#include <optional>

namespace halo::data {

/// One line of the report's Tables 1 to 4: a mask of 3 taps, the GPU's time with its transfers.
struct BuReportLine {
  int table;
  std::int64_t length;
  double cpu_ms;  // one core of an Intel Xeon Gold 6242, 2.80 GHz, g++ -O1 -pg
  double gpu_ms;  // NVIDIA Tesla V100-SXM2, nvcc -G
};

/// The line for a task of the report (2 to 5: its Codes 2 to 5) and a length, if it has one.
std::optional<BuReportLine> bu_report_line(int task, std::int64_t length);

}  // namespace halo::data
