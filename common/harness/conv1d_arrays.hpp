// The arrays of one 1D problem in a backend's memory, which checks and timing share: a billion cells
// are not sent twice. Private to the harness.
#pragma once

#include <span>

#include "common/harness/conv1d.hpp"

namespace halo {

struct Conv1dArrays {
  Conv1dArrays(Backend& backend, const conv::Problem1d& problem, std::span<const float> mask_values,
               int threads)
      : mask(backend, mask_values.size()),
        input(backend, problem.length()),
        output(backend, problem.length()) {
    mask.write(mask_values);
    call.length = static_cast<int>(problem.length());
    call.mask_width = problem.mask_width();
    call.first = static_cast<int>(problem.first_output());
    call.last = static_cast<int>(problem.end_output());
    call.threads = threads;
    call.input = input.data();
    call.mask = mask.data();
    call.output = output.data();
  }

  Array mask;    // [mask_width]
  Array input;   // [length], to be written
  Array output;  // [length]
  Conv1dCall call;
};

// check_workload with the arrays given: they hold the workload's mask. The input is written for each
// channel, unless it holds the only one already (`loaded`, which is set).
void check_workload(const Conv1dVariant& variant, Backend& backend, const Conv1dWorkload& workload,
                    Conv1dArrays& arrays, bool& loaded, Row& row,
                    std::vector<std::vector<float>>* outputs);

}  // namespace halo
