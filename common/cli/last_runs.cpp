#include "common/cli/last_runs.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>

#include "common/data/file.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

struct Run {
  long long when = 0;  // seconds since 1970
  std::string outcome;
};

fs::path file_of(const BuildFolder& build) { return build.path() / "halo-runs.txt"; }

// A line each: "04_conv1d_tiled_halo 1700000000 ok".
std::map<std::string, Run> read_runs(const BuildFolder& build) {
  std::map<std::string, Run> runs;
  std::ifstream stream(file_of(build));
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string stage;
    Run run;
    if (words >> stage >> run.when && std::getline(words >> std::ws, run.outcome)) {
      runs[stage] = run;
    }
  }
  return runs;
}

std::string outcome_of(const std::vector<Row>& rows) {
  switch (exit_status(rows)) {
    case 0:
      return "ok";
    case 1:
      return "FAIL";
    case 2:
      return "does not compile";
    default:
      return "NOT RUN";
  }
}

std::string ago(long long seconds) {
  if (seconds < 60) return "just now";
  if (seconds < 3600) return std::to_string(seconds / 60) + " min ago";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h ago";
  return std::to_string(seconds / (24 * 3600)) + " days ago";
}

// Whether a file of the stage is newer than the run.
bool edited_since(const fs::path& folder, long long when) {
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    const fs::file_time_type written = entry.last_write_time(ignored);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(
        std::chrono::file_clock::to_sys(written).time_since_epoch());
    if (!ignored && entry.is_regular_file() && seconds.count() > when) return true;
  }
  return false;
}

}  // namespace

void note_runs(const BuildFolder& build, const Results& results) {
  std::map<std::string, std::vector<Row>> rows;
  for (const Row& row : results.rows) {
    if (row.role == Role::variant) rows[row.stage].push_back(row);
  }
  std::map<std::string, Run> runs = read_runs(build);
  for (const auto& [stage, of_stage] : rows) {
    runs[stage] = {std::time(nullptr), outcome_of(of_stage)};
  }
  std::string text;
  for (const auto& [stage, run] : runs) {
    text += stage + " " + std::to_string(run.when) + " " + run.outcome + "\n";
  }
  try {
    data::write_file(file_of(build), text);
  } catch (const data::DataError&) {
    // A folder that cannot be written: nobody will miss it.
  }
}

std::string last_run(const BuildFolder& build, const std::string& stage) {
  const std::map<std::string, Run> runs = read_runs(build);
  const auto run = runs.find(stage);
  if (run == runs.end()) return "";
  const std::string edited =
      edited_since(build.source() / "stages" / stage, run->second.when) ? ", edited since" : "";
  return data::printable(run->second.outcome, 30) + " " +
         ago(std::max(0LL, std::time(nullptr) - run->second.when)) + edited;
}

}  // namespace halo
