#include "common/exercise/profiled.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/build/errors.hpp"
#include "common/data/csv.hpp"
#include "common/data/file.hpp"
#include "common/exercise/attempt.hpp"
#include "common/exercise/traced.hpp"
#include "common/json/json.hpp"
#include "common/process/process.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargestReport = std::int64_t{256} << 20;

// A counter of the simulator, and the metrics that add up to it.
struct Counter {
  const char* name;
  std::vector<std::string> metrics;
};

std::string l1(const char* what, const char* operation) {
  return std::string("l1tex__t_") + what + "_pipe_lsu_mem_global_op_" + operation + ".sum";
}

const std::vector<Counter>& counters() {
  static const std::vector<Counter> all = {
      {"global_load_requests", {l1("requests", "ld")}},
      {"global_load_sectors", {l1("sectors", "ld")}},
      {"global_store_requests", {l1("requests", "st")}},
      {"global_store_sectors", {l1("sectors", "st")}},
      {"global_atomic_requests", {l1("requests", "atom"), l1("requests", "red")}},
      {"shared_load_requests",
       {"smsp__sass_inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_ldsm.sum"}},
      {"shared_load_wavefronts", {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"}},
      {"shared_load_conflicts", {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"}},
      {"shared_store_requests",
       {"smsp__sass_inst_executed_op_shared_st.sum", "smsp__inst_executed_op_ldgsts.sum"}},
      {"shared_store_wavefronts",
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"}},
      {"shared_store_conflicts",
       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"}},
      {"shared_atomic_requests", {"smsp__inst_executed_op_shared_atom.sum"}},
  };
  return all;
}

// Nsight Compute's words, behind which the program's come. Clocks and caches stay as they are.
std::vector<std::string> profiler(const fs::path& ncu, const fs::path& log) {
  std::string metrics;
  for (const Counter& counter : counters()) {
    for (const std::string& metric : counter.metrics) {
      metrics += (metrics.empty() ? "" : ",") + metric;
    }
  }
  return {ncu.string(), "--clock-control",
          "none",       "--cache-control",
          "none",       "--print-units",
          "base",       "--csv",
          "--page",     "raw",
          "--log-file", log.string(),
          "--metrics",  metrics};
}

// Of all launches of a report of the simulator's.
double counted_by_simulator(const json::Value& report, const std::string& name) {
  double sum = 0;
  for (const json::Value& launch : report.at("launches").elements()) {
    sum += static_cast<double>(launch.at("counters").get<std::uint64_t>(name));
  }
  return sum;
}

}  // namespace

std::vector<std::pair<std::string, double>> counters_of_ncu(const std::string& text) {
  if (text.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    throw std::runtime_error(
        "this user may not read the GPU's counters (ERR_NVGPUCTRPERM): run it as root, or have "
        "them allowed for all");
  }
  std::vector<std::string> names;
  std::vector<double> sums;
  std::string said;  // by Nsight Compute, of an error
  int launches = 0;
  std::string rows;  // every cell of them is in quotes
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("==ERROR== ") && said.empty()) said = line.substr(10);
    if (line.starts_with('"')) rows += line + "\n";
  }
  for (const auto& [number, cells] : data::parse_csv(rows, "Nsight Compute's table")) {
    if (names.empty()) {
      names = cells;
      sums.resize(names.size());
      continue;
    }
    if (cells.size() != names.size() || cells[0].empty()) continue;  // the units
    ++launches;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string digits = cells[i];
      std::erase(digits, ',');
      sums[i] += std::strtod(digits.c_str(), nullptr);
    }
  }
  if (launches == 0) {
    throw std::runtime_error("Nsight Compute counted no launch" +
                             (said.empty() ? "" : ": " + data::printable(said, 200)));
  }
  std::vector<std::pair<std::string, double>> counted;
  for (const Counter& counter : counters()) {
    double sum = 0;
    for (const std::string& metric : counter.metrics) {
      const auto at = std::find(names.begin(), names.end(), metric);
      if (at == names.end()) throw std::runtime_error("Nsight Compute does not say " + metric);
      sum += sums[static_cast<std::size_t>(at - names.begin())];
    }
    counted.emplace_back(counter.name, sum);
  }
  return counted;
}

std::string counters_beside(const BuildFolder& build, const Exercise& exercise,
                            const std::string& seed, const TableOptions& options) {
  const auto not_run = [](const std::string& why) {
    return "counters of the GPU: NOT RUN: " + why + "\n";
  };
  const fs::path ncu = on_path("ncu");
  if (ncu.empty()) return not_run("Nsight Compute (ncu) is not installed");
  const fs::path folder = workplace_of(build, exercise);
  try {
    const fs::path log = folder / "ncu.csv", report = folder / "counters.json";
    std::error_code ignored;
    fs::remove(log, ignored);
    trace_exercise(build, exercise, "", seed, profiler(ncu, log));
    const auto of_gpu = counters_of_ncu(text_of_file(log, true));
    choose_exercise_backend(build, "sim");
    prepare_exercise(build, exercise, "sim");
    std::string problem;
    {
      const TracedRun environment(report);
      problem = trace_exercise(build, exercise, "", seed);
    }
    const json::Value simulated = json::Value::parse(text_of_file(report, false, kLargestReport));
    Table table;
    table.title = "counters with " + problem;
    table.columns = {{"", false}, {"GPU (ncu)"}, {"simulator"}};
    for (const auto& [name, counted] : of_gpu) {
      const double expected = counted_by_simulator(simulated, name);
      if (counted == 0 && expected == 0) continue;
      std::string words = name;
      std::replace(words.begin(), words.end(), '_', ' ');
      const Tone tone = counted == expected ? Tone::plain : Tone::caution;
      table.rows.push_back({{words},
                            {with_commas(static_cast<std::int64_t>(counted)), tone},
                            {with_commas(static_cast<std::int64_t>(expected)), tone}});
    }
    return lay_out(table, options);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::runtime_error& error) {
    return not_run(error.what());
  }
}

}  // namespace halo
