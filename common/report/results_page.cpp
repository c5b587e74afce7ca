#include "common/report/results_page.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/json/json.hpp"
#include "common/report/html.hpp"
#include "common/report/results_page_parts.hpp"
#include "common/report/row_tables.hpp"
#include "common/report/summary.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

// Null for what was not measured.
json::Value figure(double value) { return value < 0 ? json::Value() : json::Value(value); }

json::Value spread(const Spread& of) {
  if (of.median_ms <= 0) return json::Value();
  return json::Value::object({{"median", of.median_ms},
                              {"p10", figure(of.p10_ms)},
                              {"p90", figure(of.p90_ms)},
                              {"aa", figure(of.repeat_spread)},
                              {"rounds", of.rounds}});
}

json::Value problem_of(const Row& row) {
  json::Value problem = json::Value::object();
  for (const auto& [name, value] : row.problem) {
    std::visit([&](const auto& one) { problem[name] = one; }, value);
  }
  return problem;
}

const char* check_word(Outcome outcome) {
  return outcome == Outcome::good ? "PASS" : outcome == Outcome::bad ? "FAIL" : "NOT RUN";
}

json::Value row_of(const Row& row, std::size_t file) {
  json::Value one = json::Value::object({{"file", file},
                                         {"backend", row.backend},
                                         {"stage", row.stage},
                                         {"variant", row.variant},
                                         {"role", role_name(row.role)},
                                         {"problem", problem_of(row)},
                                         {"check", check_word(row.check.outcome)}});
  if (!row.label.empty()) one["label"] = row.label;
  if (!row.description.empty()) one["description"] = row.description;
  if (!row.detail.empty()) one["detail"] = row.detail;
  if (!row.runs_as.empty()) one["runs_as"] = row.runs_as;
  if (!timed(row)) {
    const bool checked = row.check.outcome == Outcome::good || row.check.reason.empty();
    const std::string& why = checked ? row.time.reason : row.check.reason;
    if (!why.empty()) one["reason"] = why;
    return one;
  }
  const Time& time = row.time;
  one["method"] = time.method;
  one["hot"] = spread(time.hot);
  one["cold"] = spread(time.cold);
  one["gb_per_s"] = figure(time.gb_per_s);
  one["cold_gb_per_s"] = figure(time.cold_gb_per_s);
  one["gflop_per_s"] = figure(time.gflop_per_s);
  if (time.discarded_rounds > 0) one["discarded"] = time.discarded_rounds;
  if (time.low_clock_mhz > 0) one["low_clock_mhz"] = time.low_clock_mhz;
  return one;
}

json::Value file_of(const NamedResults& file) {
  const Machine& machine = file.results.machine;
  json::Value roofs = json::Value::object();
  for (const auto& [backend, one] : machine.roofs) {
    roofs[backend] = json::Value::object({{"copy_gb_per_s", figure(one.copy_gb_per_s)},
                                          {"fp32_gflop_per_s", figure(one.fp32_gflop_per_s)}});
  }
  json::Value libraries = json::Value::array();
  for (const auto& [name, version] : machine.libraries) libraries.push_back(name + " " + version);
  return json::Value::object({{"name", file.name},
                              {"command", file.results.command},
                              {"date", file.results.date},
                              {"seed", file.results.seed},
                              {"gpu", machine.gpu},
                              {"cpu", machine.cpu},
                              {"cpu_threads", machine.cpu_threads},
                              {"driver", machine.driver},
                              {"cuda", machine.cuda},
                              {"compiler", machine.compiler},
                              {"build", machine.build},
                              {"libraries", std::move(libraries)},
                              {"roofs", std::move(roofs)}});
}

const char* verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::improvement:
      return "improvement";
    case Verdict::tie:
      return "tie";
    case Verdict::regression:
      return "regression";
    case Verdict::not_compared:
      break;
  }
  return "not compared";
}

json::Value ratio_of(const TimeRatio& ratio) {
  if (ratio.median < 0) return json::Value();
  return json::Value::object(
      {{"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}, {"tie", ratio.tie}});
}

json::Value comparison_of(const NamedResults& a, const NamedResults& b) {
  const Comparison comparison = compare(a, b);
  json::Value pairs = json::Value::array();
  for (const ComparedRow& pair : comparison.rows) {
    const Row& row = pair.row();
    pairs.push_back(json::Value::object({{"backend", row.backend},
                                         {"stage", row.stage},
                                         {"variant", row.variant},
                                         {"role", role_name(row.role)},
                                         {"problem", problem_of(row)},
                                         {"hot", ratio_of(pair.hot)},
                                         {"cold", ratio_of(pair.cold)},
                                         {"verdict", verdict_word(pair.verdict)},
                                         {"cause", pair.cause}}));
  }
  return json::Value::object({{"machines", comparison.machines}, {"pairs", std::move(pairs)}});
}

// What the page shows, for whoever has no JavaScript.
std::string as_text(const NamedResults& file) {
  const TableOptions options{.width = 110};
  const std::string text = file.name + ": " + file.results.command + ", " + file.results.date +
                           "\n" + render_machine(file.results.machine, options) + "\n" +
                           render_brief(file.results.rows, options);
  return text;
}

}  // namespace

std::string results_page(const std::vector<NamedResults>& files, const std::string& command) {
  json::Value rows = json::Value::array();
  json::Value heads = json::Value::array();
  std::string title, text;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Results& results = files[i].results;
    if (std::none_of(results.rows.begin(), results.rows.end(), timed)) {
      throw std::invalid_argument(files[i].name +
                                  " holds no times: a page needs the results of halo bench");
    }
    heads.push_back(file_of(files[i]));
    for (const Row& row : results.rows) rows.push_back(row_of(row, i));
    const std::string machine =
        results.machine.gpu.empty() ? results.machine.cpu : results.machine.gpu;
    title += (i == 0 ? "" : " beside ") + (machine.empty() ? files[i].name : machine);
    text += (i == 0 ? "" : "\n") + as_text(files[i]);
  }
  json::Value data = json::Value::object({{"files", std::move(heads)}, {"rows", std::move(rows)}});
  if (files.size() == 2) data["comparison"] = comparison_of(files[0], files[1]);
  return fill_page(kResultsPage, {{"TITLE", html_escaped("Times on " + title)},
                                  {"COMMAND", html_escaped(command)},
                                  {"STYLE", kResultsStyle},
                                  {"TEXT", html_escaped(text)},
                                  {"DATA", json_in_script(data.dump())},
                                  {"SCRIPT", kResultsScript}});
}

}  // namespace halo
