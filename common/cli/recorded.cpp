// `halo report` and `halo compare`: what results files say, without another run.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "common/cli/commands.hpp"
#include "common/cli/program_runs.hpp"
#include "common/data/file.hpp"
#include "common/report/compare.hpp"
#include "common/report/json.hpp"
#include "common/report/results_page.hpp"
#include "common/report/row_tables.hpp"
#include "common/report/summary.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

Results read_results(const std::string& file) {
  try {
    return read_json(file);
  } catch (const std::exception& error) {
    throw WrongUse(error.what());
  }
}

// Leaves only the stage's rows, and those of what it is compared with.
void keep_stage(Results& results, const std::string& file, const std::string& stage) {
  if (results.rows.empty()) throw CannotRun(file + " holds no rows");
  if (stage.empty()) return;
  const std::string number = (stage.size() == 1 ? "0" : "") + stage;
  std::erase_if(results.rows, [&](const Row& row) {
    return row.role == Role::variant && row.stage != number && !row.stage.starts_with(number + "_");
  });
  const bool any = std::any_of(results.rows.begin(), results.rows.end(),
                               [](const Row& row) { return row.role == Role::variant; });
  if (!any) throw WrongUse("--stage: " + file + " holds no rows of stage " + stage);
}

void write_page(const ReportOptions& options, Results results) {
  std::vector<NamedResults> files = {{options.file, std::move(results)}};
  std::string command = "./halo report " + options.file;
  if (!options.beside.empty()) {
    Results beside = read_results(options.beside);
    keep_stage(beside, options.beside, options.stage);
    files.push_back({options.beside, std::move(beside)});
    command += " " + options.beside;
  }
  if (!options.with.empty()) command += " --with " + options.with;
  if (!options.stage.empty()) command += " --stage " + options.stage;
  std::string page;
  try {
    page = results_page(files, command + " --html " + fs::path(options.html).filename().string());
  } catch (const std::invalid_argument& error) {
    throw CannotRun(error.what());
  }
  data::write_file(options.html, page);
  std::printf("%s\n", options.html.c_str());
}

}  // namespace

int run_report(const ReportOptions& options) {
  const TableOptions table = table_options(options.color, stdout, options.format);
  Results results = read_results(options.file);
  if (!options.with.empty()) {
    const Results more = read_results(options.with);
    results.rows.insert(results.rows.end(), more.rows.begin(), more.rows.end());
    results.machine = merged_machine(results.machine, more.machine);
  }
  keep_stage(results, options.file, options.stage);
  if (!options.html.empty()) {
    write_page(options, results);
    return 0;
  }
  if (!options.summary) {
    std::fputs(render(results, render_table, table).c_str(), stdout);
    return 0;
  }
  for (const std::string& field : options.by) {
    const bool known = std::any_of(results.rows.begin(), results.rows.end(), [&](const Row& row) {
      return std::any_of(row.problem.begin(), row.problem.end(),
                         [&](const auto& one) { return one.first == field; });
    });
    if (!known) throw WrongUse("--by: no problem in " + options.file + " has a field " + field);
  }
  const std::string machine = render_machine(results.machine, table);
  if (!machine.empty()) std::printf("%s\n", machine.c_str());
  std::fputs(render_summary(results.rows, options.by, table).c_str(), stdout);
  return 0;
}

int run_compare(const CompareOptions& options) {
  const TableOptions table = table_options(options.color, stdout, options.format);
  // One after the other: of two files that cannot be read the first is named.
  const NamedResults a{options.a, read_results(options.a)};
  const NamedResults b{options.b, read_results(options.b)};
  const Comparison comparison = compare(a, b, options.threshold);
  if (options.format == Format::csv && !comparison.machines.empty()) {
    std::fprintf(stderr, "halo: machines differ: %s\n", comparison.machines.c_str());
  }
  std::fputs(render_comparison(comparison, table).c_str(), stdout);
  const auto rows = static_cast<int>(comparison.rows.size());
  if (comparison.count(Verdict::not_compared) == rows) {
    throw CannotRun(std::string("no row could be compared: ") +
                    (rows == 0 ? "the files hold none"
                               : "none has a time in both files, or a check that got worse"));
  }
  return options.fail_on_regression && comparison.count(Verdict::regression) > 0 ? 1 : 0;
}

}  // namespace halo
