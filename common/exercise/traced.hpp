// Runs of programs in the simulator that leave a trace.
#pragma once

#include <filesystem>
#include <string>

#include "common/build/build_folder.hpp"
#include "common/exercise/exercises.hpp"
#include "common/trace/trace.hpp"

namespace halo {

/// As long as this lives, simulated programs that are started write their report there, with a trace of the
/// first launch of each kernel. What was there is gone.
class TracedRun {
 public:
  explicit TracedRun(const std::filesystem::path& report);
  ~TracedRun();
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;

 private:
  std::filesystem::path report_;
};

/// The student's kernels on this problem ("1000,9,256"; empty: the check's choice), after prepare_exercise. Throws
/// WrongUse, CannotRun, trace::NoTrace.
trace::Document trace_exercise_file(const BuildFolder& build, const Exercise& exercise,
                                    const std::string& numbers, const std::string& seed);

}  // namespace halo
