#include "common/exercise/traced.hpp"

#include <cstdlib>

#include "common/build/errors.hpp"
#include "common/exercise/attempt.hpp"

namespace halo {

namespace fs = std::filesystem;

TracedRun::TracedRun(const fs::path& report) : report_(report) {
  std::error_code ignored;
  fs::remove(report_, ignored);
  setenv("SIMT_REPORT", report_.c_str(), 1);
  setenv("SIMT_TRACE", "1", 1);
}

TracedRun::~TracedRun() {
  unsetenv("SIMT_REPORT");
  unsetenv("SIMT_TRACE");
}

trace::Document trace_exercise_file(const BuildFolder& build, const Exercise& exercise,
                                    const std::string& numbers, const std::string& seed) {
  const fs::path report = workplace_of(build, exercise) / "trace.json";
  {
    const TracedRun environment(report);
    trace_exercise(build, exercise, numbers, seed);
  }
  if (!fs::exists(report)) {
    throw CannotRun(exercise.name + " launched no kernel, so there is nothing to be drawn");
  }
  return trace::read({{exercise.name, report}}, {fs::current_path(), build.source()});
}

}  // namespace halo
