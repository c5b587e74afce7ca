// The JSON of results, both ways.
#include "common/report/json.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "common/data/file.hpp"
#include "common/json/json.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

using Json = json::Value;

struct Words {
  const char* good;
  const char* bad;
};
constexpr Words kCheckWords{"PASS", "FAIL"};
constexpr Words kHazardWords{"none", "FOUND"};
constexpr Words kTrafficWords{"EQUAL", "DIFFERS"};
constexpr Words kCoverageWords{"REACHED", "UNREACHED"};
constexpr Words kTimeWords{"MEASURED", "FAIL"};

// Dozens of times what the largest bench writes.
constexpr std::int64_t kLargestFile = 64 << 20;

const char* word(Outcome outcome, const Words& words) {
  if (outcome == Outcome::good) return words.good;
  return outcome == Outcome::bad ? words.bad : kNotRun;
}

Outcome outcome(const std::string& text, const Words& words) {
  if (text == words.good) return Outcome::good;
  if (text == words.bad) return Outcome::bad;
  if (text == kNotRun) return Outcome::not_run;
  throw std::runtime_error("unknown status " + data::quoted(text));
}

// Six digits: no clock is better, and a file of thousands of rows is half as long.
double six_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5e", value);
  double rounded = value;
  std::from_chars(text, text + std::strlen(text), rounded);
  return rounded;
}

// JSON has no infinity: a share that is infinite (a NaN in the output) is written as a string.
Json share_to_json(double share) {
  if (std::isfinite(share)) return six_digits(share);
  return "infinite";
}

double share_from_json(const Json& json) {
  if (json.is_string() && json.get<std::string>() == "infinite") {
    return std::numeric_limits<double>::infinity();
  }
  const double share = json.get<double>();
  if (share < 0) throw std::runtime_error("\"worst_share\" is negative");
  return share;
}

// What is left out of a row: what a reader takes for granted, and figures that do not exist (they
// are negative in the row). A machine's are null instead.
Json figure_to_json(double value) { return value < 0 ? Json() : Json(six_digits(value)); }

void add(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}
void add(Json& json, const char* name, int number) {
  if (number != 0) json[name] = number;
}
void add_figure(Json& json, const char* name, double value) {
  if (value >= 0) json[name] = six_digits(value);
}
void add_part(Json& json, const char* name, const Json& part) {
  if (!part.empty()) json[name] = part;
}
double figure_from_json(const Json& json, const char* name) {
  const Json* const found = json.find(name);
  if (!found || found->is_null()) return -1.0;
  const double figure = json.get<double>(name);
  if (figure < 0) throw std::runtime_error("\"" + std::string(name) + "\" is negative");
  return figure;
}

// What comes from a file is not believed: a name fits a table, and no text has bytes that a terminal
// would obey. A sentence may have lines.
constexpr std::size_t kLongestName = 120;
constexpr std::size_t kLongestText = 4000;
std::string name_from(const std::string& text) { return data::printable(text, kLongestName); }
std::string name_from(const Json& json, const char* name) {
  return name_from(json.get<std::string>(name));
}
std::string text_from(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += data::printable(std::string_view(text).substr(at, end - at), kLongestText);
    if (end == text.size() || lines.size() > kLongestText) return lines;
    lines += '\n';
    at = end + 1;
  }
}
std::string text_from(const Json& json, const char* name) {
  return text_from(json.get_or(name, std::string()));
}
int count_from(const Json& json, const char* name) {
  const int count = json.get_or(name, 0);
  if (count < 0) throw std::runtime_error("\"" + std::string(name) + "\" is negative");
  return count;
}

Json counters_to_json(const CounterList& counters) {
  Json json = Json::object();
  for (const auto& [name, value] : counters) json[name] = value;
  return json;
}

CounterList counters_from_json(const Json& json) {
  CounterList counters;
  for (const auto& [name, value] : json.members()) {
    counters.emplace_back(name_from(name), json.get<std::uint64_t>(name));
  }
  return counters;
}

Json lines_to_json(const std::vector<LineCounts>& lines) {
  Json json = Json::array();
  for (const LineCounts& line : lines) {
    json.push_back(Json::object(
        {{"file", line.file}, {"line", line.line}, {"counted", counters_to_json(line.counted)}}));
  }
  return json;
}

std::vector<LineCounts> lines_from_json(const Json& json, const char* name) {
  std::vector<LineCounts> lines;
  const Json* const found = json.find(name);
  if (!found) return lines;
  for (const Json& line : found->elements()) {
    lines.push_back({line.at("file").get<std::string>(), line.at("line").get<int>(),
                     counters_from_json(line.at("counted"))});
  }
  return lines;
}

struct LaunchField {
  const char* name;
  std::uint64_t LaunchFigures::*member;
};
constexpr LaunchField kLaunchFields[] = {{"launches", &LaunchFigures::launches},
                                         {"blocks", &LaunchFigures::blocks},
                                         {"threads", &LaunchFigures::threads},
                                         {"shared_bytes", &LaunchFigures::shared_bytes}};

Json launches_to_json(const std::vector<LaunchFigures>& launches) {
  Json json = Json::array();
  for (const LaunchFigures& alike : launches) {
    Json one = Json::object();
    for (const LaunchField& field : kLaunchFields) one[field.name] = alike.*field.member;
    json.push_back(one);
  }
  return json;
}

std::vector<LaunchFigures> launches_from_json(const Json& json, const char* name) {
  std::vector<LaunchFigures> launches;
  const Json* const found = json.find(name);
  if (!found) return launches;
  for (const Json& one : found->elements()) {
    LaunchFigures alike;
    for (const LaunchField& field : kLaunchFields) {
      alike.*field.member = one.at(field.name).get<std::uint64_t>();
    }
    launches.push_back(alike);
  }
  return launches;
}

Json figures_to_json(const Figures& figures) {
  Json json = Json::object();
  add_part(json, "predicted", launches_to_json(figures.predicted));
  add_part(json, "counted", launches_to_json(figures.counted));
  add_part(json, "fp64_lines", lines_to_json(figures.fp64_lines));
  add_part(json, "tensor_lines", lines_to_json(figures.tensor_lines));
  const auto figure = [&](const char* name, std::int64_t value) {
    if (value >= 0) json[name] = value;
  };
  figure("fp64_predicted", figures.fp64_predicted);
  figure("fp64_counted", figures.fp64_counted);
  figure("tensor_predicted", figures.tensor_predicted);
  figure("tensor_counted", figures.tensor_counted);
  figure("unfreed_bytes", figures.unfreed_bytes);
  figure("registers", figures.registers);
  figure("local_bytes", figures.local_bytes);
  return json;
}

Figures figures_from_json(const Json& traffic) {
  Figures figures;
  const Json* const json = traffic.find("figures");
  if (!json) return figures;
  figures.predicted = launches_from_json(*json, "predicted");
  figures.counted = launches_from_json(*json, "counted");
  figures.fp64_lines = lines_from_json(*json, "fp64_lines");
  figures.tensor_lines = lines_from_json(*json, "tensor_lines");
  figures.fp64_predicted = json->get_or("fp64_predicted", figures.fp64_predicted);
  figures.fp64_counted = json->get_or("fp64_counted", figures.fp64_counted);
  figures.tensor_predicted = json->get_or("tensor_predicted", figures.tensor_predicted);
  figures.tensor_counted = json->get_or("tensor_counted", figures.tensor_counted);
  figures.unfreed_bytes = json->get_or("unfreed_bytes", figures.unfreed_bytes);
  figures.registers = json->get_or("registers", figures.registers);
  figures.local_bytes = json->get_or("local_bytes", figures.local_bytes);
  return figures;
}

Json hazard_to_json(const Hazard& hazard) {
  Json json = Json::object({{"kind", hazard.kind},
                            {"file", hazard.file},
                            {"line", hazard.line},
                            {"other_file", hazard.other_file},
                            {"other_line", hazard.other_line},
                            {"block", hazard.block},
                            {"thread", hazard.thread},
                            {"array", hazard.array},
                            {"count", hazard.count},
                            {"message", hazard.message}});
  if (hazard.call_line > 0) {
    json["call_file"] = hazard.call_file;
    json["call_line"] = hazard.call_line;
  }
  return json;
}

Hazard hazard_from_json(const Json& json) {
  Hazard hazard;
  hazard.kind = name_from(json, "kind");
  hazard.file = name_from(json, "file");
  hazard.line = json.get<int>("line");
  hazard.other_file = name_from(json, "other_file");
  hazard.other_line = json.get<int>("other_line");
  hazard.block = json.get<std::array<unsigned, 3>>("block");
  hazard.thread = json.get<std::array<unsigned, 3>>("thread");
  hazard.array = name_from(json, "array");
  hazard.count = json.get<std::uint64_t>("count");
  hazard.message = text_from(json, "message");
  if (json.find("call_line") != nullptr) {
    hazard.call_file = name_from(json, "call_file");
    hazard.call_line = json.get<int>("call_line");
  }
  return hazard;
}

Json range_to_json(const LineRange& range) {
  return Json::object({{"file", range.file}, {"first", range.first}, {"last", range.last}});
}

LineRange range_from_json(const Json& json) {
  LineRange range;
  range.file = name_from(json, "file");
  range.first = json.get<int>("first");
  range.last = json.get<int>("last");
  return range;
}

struct DiagnosisText {
  const char* name;
  std::string Diagnosis::*member;
};
constexpr DiagnosisText kDiagnosisTexts[] = {
    {"smallest", &Diagnosis::smallest}, {"place", &Diagnosis::place},
    {"found", &Diagnosis::found},       {"expected", &Diagnosis::expected},
    {"origin", &Diagnosis::origin},     {"pattern", &Diagnosis::pattern},
    {"kind", &Diagnosis::kind},         {"again", &Diagnosis::again},
};

Json diagnosis_to_json(const Diagnosis& diagnosis) {
  Json json = Json::object();
  for (const DiagnosisText& text : kDiagnosisTexts) add(json, text.name, diagnosis.*text.member);
  add(json, "tried", diagnosis.tried);
  add(json, "wrong", diagnosis.wrong);
  return json;
}

Diagnosis diagnosis_from_json(const Json& json) {
  Diagnosis diagnosis;
  for (const DiagnosisText& text : kDiagnosisTexts) {
    diagnosis.*text.member = text_from(json, text.name);
  }
  diagnosis.tried = count_from(json, "tried");
  diagnosis.wrong = count_from(json, "wrong");
  return diagnosis;
}

Json branch_to_json(const UntakenBranch& branch) {
  return Json::object({{"file", branch.file},
                       {"line", branch.line},
                       {"column", branch.column},
                       {"to_line", branch.to_line},
                       {"again", branch.again}});
}

UntakenBranch branch_from_json(const Json& json) {
  UntakenBranch branch;
  branch.file = name_from(json, "file");
  branch.line = json.get<int>("line");
  branch.column = json.get<int>("column");
  branch.to_line = json.get<int>("to_line");
  branch.again = json.get<bool>("again");
  return branch;
}

Json spread_to_json(const Spread& spread) {
  Json json = Json::object();
  add(json, "rounds", spread.rounds);
  add_figure(json, "median_ms", spread.median_ms);
  add_figure(json, "p10_ms", spread.p10_ms);
  add_figure(json, "p90_ms", spread.p90_ms);
  add_figure(json, "repeat_spread", spread.repeat_spread);
  return json;
}

Spread spread_from_json(const Json& json, const char* name) {
  Spread spread;
  const Json* const found = json.find(name);
  if (!found) return spread;
  spread.rounds = count_from(*found, "rounds");
  spread.median_ms = figure_from_json(*found, "median_ms");
  spread.p10_ms = figure_from_json(*found, "p10_ms");
  spread.p90_ms = figure_from_json(*found, "p90_ms");
  spread.repeat_spread = figure_from_json(*found, "repeat_spread");
  return spread;
}

struct TimeField {
  const char* name;
  double Time::*member;
};
constexpr TimeField kTimeFields[] = {
    {"gb_per_s", &Time::gb_per_s},           {"cold_gb_per_s", &Time::cold_gb_per_s},
    {"gflop_per_s", &Time::gflop_per_s},     {"share_of_copy", &Time::share_of_copy},
    {"share_of_fp32", &Time::share_of_fp32}, {"ratio_to_previous", &Time::ratio_to_previous},
    {"ratio_to_copy", &Time::ratio_to_copy}, {"ratio_to_best_peer", &Time::ratio_to_best_peer},
    {"packing_ms", &Time::packing_ms},
};

constexpr const char* kRoles[] = {"variant", "peer", "copy", "beside"};

Role role_from(const std::string& text) {
  for (int i = 0; i < 4; ++i) {
    if (text == kRoles[i]) return static_cast<Role>(i);
  }
  throw std::runtime_error("unknown role " + data::quoted(text));
}

struct RoofField {
  const char* name;
  double Roofs::*member;
};
constexpr RoofField kRoofFields[] = {
    {"copy_gb_per_s", &Roofs::copy_gb_per_s},
    {"fp32_gflop_per_s", &Roofs::fp32_gflop_per_s},
    {"clock_mhz", &Roofs::clock_mhz},
    {"to_gpu_gb_per_s", &Roofs::to_gpu_gb_per_s},
    {"from_gpu_gb_per_s", &Roofs::from_gpu_gb_per_s},
    {"to_gpu_pinned_gb_per_s", &Roofs::to_gpu_pinned_gb_per_s},
    {"from_gpu_pinned_gb_per_s", &Roofs::from_gpu_pinned_gb_per_s},
};

Json machine_to_json(const Machine& machine) {
  Json libraries = Json::object();
  for (const auto& [name, version] : machine.libraries) libraries[name] = version;
  Json roofs = Json::object();
  for (const auto& [backend, values] : machine.roofs) {
    for (const RoofField& field : kRoofFields) {
      roofs[backend][field.name] = figure_to_json(values.*field.member);
    }
  }
  return Json::object({{"cpu", machine.cpu},
                       {"cpu_threads", machine.cpu_threads},
                       {"gpu", machine.gpu},
                       {"multiprocessors", machine.multiprocessors},
                       {"l2_bytes", machine.l2_bytes},
                       {"driver", machine.driver},
                       {"cuda", machine.cuda},
                       {"compiler", machine.compiler},
                       {"build", machine.build},
                       {"libraries", libraries},
                       {"roofs", roofs}});
}

Machine machine_from_json(const Json& json) {
  Machine machine;
  for (const auto& [name, text] : {std::pair{"cpu", &machine.cpu},
                                   {"gpu", &machine.gpu},
                                   {"driver", &machine.driver},
                                   {"cuda", &machine.cuda},
                                   {"compiler", &machine.compiler}}) {
    *text = name_from(json, name);
  }
  machine.build = text_from(json, "build");
  machine.cpu_threads = count_from(json, "cpu_threads");
  machine.multiprocessors = count_from(json, "multiprocessors");
  machine.l2_bytes = json.get_or("l2_bytes", std::int64_t{0});
  for (const auto& [name, version] : json.at("libraries").members()) {
    machine.libraries.emplace_back(name_from(name), name_from(version.get<std::string>()));
  }
  for (const auto& [backend, values] : json.at("roofs").members()) {
    Roofs roofs;
    for (const RoofField& field : kRoofFields) {
      roofs.*field.member = figure_from_json(values, field.name);
    }
    machine.roofs.emplace_back(name_from(backend), roofs);
  }
  return machine;
}

Json row_to_json(const Row& row) {
  Json problem = Json::object();
  for (const auto& [name, value] : row.problem) {
    std::visit([&, key = name](const auto& held) { problem[key] = held; }, value);
  }
  Json json = Json::object({{"stage", row.stage},
                            {"backend", row.backend},
                            {"variant", row.variant},
                            {"source", row.source}});
  add(json, "description", row.description);
  json["role"] = kRoles[static_cast<int>(row.role)];
  add(json, "detail", row.detail);
  add(json, "runs_as", row.runs_as);
  if (!row.chooses_from.empty()) json["chooses_from"] = row.chooses_from;
  add(json, "layout", row.layout);
  json["problem"] = problem;
  add(json, "label", row.label);

  const auto part = [&](const char* name, Outcome outcome, const Words& words,
                        const std::string& reason) -> Json& {
    Json& object = json[name];
    object["status"] = word(outcome, words);
    add(object, "reason", reason);
    return object;
  };
  Json& check = part("check", row.check.outcome, kCheckWords, row.check.reason);
  add(check, "shapes", row.check.shapes);
  add(check, "trials", row.check.trials);
  add(check, "crash", row.check.crash);
  add_part(check, "diagnosis", diagnosis_to_json(row.check.diagnosis));
  if (const LargeProblems& large = row.check.large; large.tried > 0 || !large.reason.empty()) {
    Json& object = check["large"];
    object["tried"] = large.tried;
    add(object, "which", large.which);
    add(object, "reason", large.reason);
  }
  if (row.check.shapes > 0) check["worst_share"] = share_to_json(row.check.worst_share);

  Json& hazards = part("hazards", row.hazards.outcome, kHazardWords, row.hazards.reason);
  for (const Hazard& hazard : row.hazards.findings) {
    hazards["findings"].push_back(hazard_to_json(hazard));
  }

  if (row.printed.total > 0) {
    json["printed"] = Json::object(
        {{"where", row.printed.where}, {"lines", row.printed.lines}, {"total", row.printed.total}});
  }

  const Traffic& counts = row.traffic;
  Json& traffic = part("traffic", counts.outcome, kTrafficWords, counts.reason);
  add_part(traffic, "predicted", counters_to_json(counts.predicted));
  add_part(traffic, "counted", counters_to_json(counts.counted));
  add_figure(traffic, "bytes_per_output_predicted", counts.bytes_per_output_predicted);
  add_figure(traffic, "bytes_per_output_counted", counts.bytes_per_output_counted);
  add_figure(traffic, "sectors_per_request", counts.sectors_per_request);
  add_figure(traffic, "shared_conflicts", counts.shared_conflicts);
  add_part(traffic, "lines", lines_to_json(counts.lines));
  add_part(traffic, "figures", figures_to_json(counts.figures));

  // Where nothing looks at lines there is nothing to say of them.
  const Coverage& covered = row.coverage;
  if (covered.outcome != Outcome::not_run || !covered.reason.empty()) {
    Json& coverage = part("coverage", covered.outcome, kCoverageWords, covered.reason);
    add(coverage, "lines", covered.lines);
    for (const LineRange& range : covered.unreached) {
      coverage["unreached"].push_back(range_to_json(range));
    }
    for (const UntakenBranch& branch : covered.untaken) {
      coverage["untaken"].push_back(branch_to_json(branch));
    }
  }

  Json& time = part("time", row.time.outcome, kTimeWords, row.time.reason);
  add(time, "method", row.time.method);
  add_part(time, "hot", spread_to_json(row.time.hot));
  add_part(time, "cold", spread_to_json(row.time.cold));
  add_part(time, "transfers", spread_to_json(row.time.transfers));
  add_part(time, "overlapped", spread_to_json(row.time.overlapped));
  add(time, "discarded_rounds", row.time.discarded_rounds);
  add_figure(time, "low_clock_mhz", row.time.low_clock_mhz);
  for (const TimeField& field : kTimeFields) add_figure(time, field.name, row.time.*field.member);
  add(time, "best_peer", row.time.best_peer);

  if (!row.start.compiled) json["compiled"] = false;

  if (!row.published.source.empty()) {
    json["published"]["source"] = row.published.source;
    for (const auto& [name, value] : row.published.figures) json["published"][name] = value;
  }
  return json;
}

// The fields of problems that are numbers; others may be words.
bool is_number(const std::string& field) {
  constexpr const char* kNumbers[] = {"length", "mask_width", "threads", "channels", "N", "C",
                                      "H",      "W",          "K",       "R",        "S"};
  return std::find(std::begin(kNumbers), std::end(kNumbers), field) != std::end(kNumbers);
}

// A part that is not there was not run, and nothing is known of it.
const Json& part_of(const Json& row, const char* name) {
  static const Json nothing = Json::object({{"status", kNotRun}});
  const Json* const found = row.find(name);
  return found ? *found : nothing;
}

CounterList counters_of(const Json& traffic, const char* name) {
  const Json* const found = traffic.find(name);
  return found ? counters_from_json(*found) : CounterList{};
}

Row row_from_json(const Json& json) {
  Row row;
  row.stage = name_from(json, "stage");
  row.backend = name_from(json, "backend");
  row.variant = name_from(json, "variant");
  row.source = name_from(json, "source");
  row.description = text_from(json, "description");
  row.detail = text_from(json, "detail");
  row.runs_as = name_from(text_from(json, "runs_as"));
  for (const std::string& name : json.get_or("chooses_from", std::vector<std::string>())) {
    row.chooses_from.push_back(name_from(name));
  }
  row.layout = name_from(text_from(json, "layout"));
  row.label = name_from(text_from(json, "label"));
  row.role = role_from(json.get_or("role", std::string(kRoles[0])));
  const Json& problem = json.at("problem");
  for (const auto& [name, value] : problem.members()) {
    if (value.is_string() && !is_number(name)) {
      row.problem.emplace_back(name_from(name), name_from(value.get<std::string>()));
      continue;
    }
    const auto number = problem.get<std::int64_t>(name);
    if (number < 0) throw std::runtime_error("\"" + name_from(name) + "\" is negative");
    row.problem.emplace_back(name_from(name), number);
  }
  const auto reason = [](const Json& part) { return text_from(part, "reason"); };
  const Json& check = json.at("check");
  row.check.outcome = outcome(check.get<std::string>("status"), kCheckWords);
  row.check.reason = reason(check);
  row.check.shapes = count_from(check, "shapes");
  row.check.trials = count_from(check, "trials");
  row.check.crash = text_from(check, "crash");
  if (const Json* const diagnosis = check.find("diagnosis")) {
    row.check.diagnosis = diagnosis_from_json(*diagnosis);
  }
  if (const Json* const large = check.find("large")) {
    row.check.large = {count_from(*large, "tried"), text_from(*large, "which"), reason(*large)};
  }
  if (const Json* const share = check.find("worst_share")) {
    row.check.worst_share = share_from_json(*share);
  }

  const Json& hazards = part_of(json, "hazards");
  row.hazards.outcome = outcome(hazards.get<std::string>("status"), kHazardWords);
  row.hazards.reason = reason(hazards);
  if (const Json* const findings = hazards.find("findings")) {
    for (const Json& finding : findings->elements()) {
      row.hazards.findings.push_back(hazard_from_json(finding));
    }
  }

  if (const Json* const printed = json.find("printed")) {
    printed->at("where").get_to(row.printed.where);
    printed->at("lines").get_to(row.printed.lines);
    printed->at("total").get_to(row.printed.total);
  }

  const Json& traffic = part_of(json, "traffic");
  row.traffic.outcome = outcome(traffic.get<std::string>("status"), kTrafficWords);
  row.traffic.reason = reason(traffic);
  row.traffic.predicted = counters_of(traffic, "predicted");
  row.traffic.counted = counters_of(traffic, "counted");
  row.traffic.bytes_per_output_predicted = figure_from_json(traffic, "bytes_per_output_predicted");
  row.traffic.bytes_per_output_counted = figure_from_json(traffic, "bytes_per_output_counted");
  row.traffic.sectors_per_request = figure_from_json(traffic, "sectors_per_request");
  row.traffic.shared_conflicts = figure_from_json(traffic, "shared_conflicts");
  row.traffic.lines = lines_from_json(traffic, "lines");
  row.traffic.figures = figures_from_json(traffic);

  const Json& coverage = part_of(json, "coverage");
  row.coverage.outcome = outcome(coverage.at("status").get<std::string>(), kCoverageWords);
  row.coverage.reason = reason(coverage);
  row.coverage.lines = coverage.get_or("lines", 0);
  if (const Json* const unreached = coverage.find("unreached")) {
    for (const Json& range : unreached->elements()) {
      row.coverage.unreached.push_back(range_from_json(range));
    }
  }
  if (const Json* const untaken = coverage.find("untaken")) {
    for (const Json& branch : untaken->elements()) {
      row.coverage.untaken.push_back(branch_from_json(branch));
    }
  }

  const Json& time = part_of(json, "time");
  row.time.outcome = outcome(time.get<std::string>("status"), kTimeWords);
  row.time.reason = reason(time);
  row.time.method = text_from(time, "method");
  row.time.hot = spread_from_json(time, "hot");
  row.time.cold = spread_from_json(time, "cold");
  row.time.transfers = spread_from_json(time, "transfers");
  row.time.overlapped = spread_from_json(time, "overlapped");
  row.time.discarded_rounds = count_from(time, "discarded_rounds");
  row.time.low_clock_mhz = figure_from_json(time, "low_clock_mhz");
  for (const TimeField& field : kTimeFields) {
    row.time.*field.member = figure_from_json(time, field.name);
  }
  row.time.best_peer = name_from(text_from(time, "best_peer"));
  row.start.compiled = json.get_or("compiled", true);
  if (const Json* const published = json.find("published")) {
    for (const auto& [name, value] : published->members()) {
      if (name == "source") {
        row.published.source = name_from(value.get<std::string>());
      } else {
        row.published.figures.emplace_back(name_from(name), value.get<double>());
      }
    }
  }
  return row;
}

Json head_to_json(const Results& results) {
  return Json::object({{"schema_version", 4},
                       {"command", results.command},
                       {"date", results.date},
                       {"seed", results.seed},
                       {"machine", machine_to_json(results.machine)}});
}

Results head_from_json(const Json& json) {
  const int version = json.get<int>("schema_version");
  if (version != 3 && version != 4) {
    throw std::runtime_error("schema_version " + std::to_string(version) +
                             " is not 3 or 4, which this program reads: measure again");
  }
  Results results;
  results.command = text_from(json.get<std::string>("command"));
  results.date = name_from(json, "date");
  results.seed = json.get<std::uint64_t>("seed");
  results.machine = machine_from_json(json.at("machine"));
  return results;
}

std::string whole_text(const Results& head, CompactRows& rows) {
  std::string text = head_to_json(head).dump(1);
  text.erase(text.rfind("\n}"));
  return text + ",\n" + rows.text() + "\n}\n";
}

// Where the JSON goes that is asked for on standard output; negative: nobody asked.
int json_output = -1;

bool is_standard_output(const std::string& path) {
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    if (path == name) return true;
  }
  return false;
}

// A pipe or a device, not a file or a folder.
bool is_stream(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode));
}

data::NotWritten not_written(const std::string& path) {
  const std::string reason = errno == ENXIO ? "nobody reads that pipe" : std::strerror(errno);
  return data::NotWritten("cannot write " + data::quoted(path) + ": " + reason);
}

void write_all(int stream, const std::string& path, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t put = write(stream, text.data() + at, text.size() - at);
    if (put >= 0) {
      at += static_cast<std::size_t>(put);
    } else if (errno != EINTR) {
      throw not_written(path);
    }
  }
}

}  // namespace

std::string head_line(const Results& results) { return head_to_json(results).dump(); }

std::string row_line(const Row& row) { return row_to_json(row).dump(); }

std::string begin_line(const Row& row) {
  return Json::object({{"begin", row_to_json(row)}}).dump();
}

std::string progress_line(const std::string& text) {
  return Json::object({{"progress", text}}).dump();
}

Told told_from_json(const std::string& line, const std::string& origin) {
  try {
    const Json json = Json::parse(line);
    Told told;
    if (json.find("progress")) {
      told.progress = text_from(json, "progress");
    } else if (const Json* const row = json.find("begin")) {
      told.kind = Told::Kind::begin;
      told.row = row_from_json(*row);
    } else if (json.find("schema_version")) {
      told.kind = Told::Kind::head;
      told.head = head_from_json(json);
    } else {
      told.kind = Told::Kind::row;
      told.row = row_from_json(json);
    }
    return told;
  } catch (const std::exception& error) {
    throw std::runtime_error(origin + ": not what a program of Halo tells: " + error.what());
  }
}

std::string to_json(const Results& results) {
  CompactRows rows;
  for (const Row& row : results.rows) rows.add(row_to_json(row));
  return whole_text(results, rows);
}

Results results_from_json(const std::string& text, const std::string& origin) {
  try {
    const Json json = Json::parse(text);
    Results results = head_from_json(json);
    for (const Json& row : whole_rows(json)) {
      try {
        results.rows.push_back(row_from_json(row));
      } catch (const std::exception& error) {
        throw std::runtime_error("row " + std::to_string(results.rows.size() + 1) + ": " +
                                 error.what());
      }
    }
    return results;
  } catch (const std::exception& error) {
    throw std::runtime_error(data::printable(origin) +
                             ": not a results file of Halo: " + data::printable(error.what()));
  }
}

void prepare_json(const std::string& path) {
  if (is_standard_output(path)) {
    if (json_output >= 0) return;
    std::fflush(stdout);
    json_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (json_output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
      throw data::DataError("cannot write " + data::quoted(path) + ": " + std::strerror(errno));
    }
  } else if (!is_stream(path)) {
    data::require_writable(path);
  } else if (access(path.c_str(), W_OK) != 0) {
    throw data::DataError("cannot write " + data::quoted(path) + ": " + std::strerror(errno));
  }
}

bool is_json_file(const std::string& path) { return !is_standard_output(path) && !is_stream(path); }

void write_json(const std::string& path, const Results& results) {
  const std::string text = to_json(results);
  if (is_standard_output(path)) {
    write_all(json_output < 0 ? STDOUT_FILENO : json_output, path, text);
  } else if (is_stream(path)) {
    // Without O_NONBLOCK a pipe that nobody reads would be waited for.
    const int stream = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (stream < 0) throw not_written(path);
    fcntl(stream, F_SETFL, 0);
    try {
      write_all(stream, path, text);
    } catch (const data::NotWritten&) {
      close(stream);
      throw;
    }
    if (close(stream) != 0) throw not_written(path);
  } else {
    data::write_file(path, text);
  }
}

GrowingResults::GrowingResults(const std::string& path, const Results& results)
    : path_(path), head_(results) {
  head_.rows.clear();
  for (const Row& row : results.rows) rows_.add(row_to_json(row));
}

void GrowingResults::add(const std::vector<Row>& rows) {
  for (const Row& row : rows) rows_.add(row_to_json(row));
  if (!is_json_file(path_)) return;
  data::write_file(path_, whole_text(head_, rows_));
}

Results read_json(const std::string& path) {
  const data::InputFile file(path);
  if (file.size() > kLargestFile) {
    throw file.error("it has more than " + std::to_string(kLargestFile >> 20) +
                     " MiB: no results file is so large");
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  return results_from_json(text, path);
}

}  // namespace halo
