// The JSON of results, both ways. The only file of the harness that includes nlohmann/json.
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/data/file.hpp"
#include "common/harness/report.hpp"

namespace halo {

namespace {

using Json = nlohmann::ordered_json;

struct Words {
  const char* good;
  const char* bad;
};
constexpr Words kCheckWords{"PASS", "FAIL"};
constexpr Words kHazardWords{"none", "FOUND"};
constexpr Words kTrafficWords{"EQUAL", "DIFFERS"};
constexpr Words kTimeWords{"MEASURED", "FAIL"};
constexpr const char* kNotRun = "NOT RUN";

const char* word(Outcome outcome, const Words& words) {
  if (outcome == Outcome::good) return words.good;
  return outcome == Outcome::bad ? words.bad : kNotRun;
}

Outcome outcome(const std::string& text, const Words& words) {
  if (text == words.good) return Outcome::good;
  if (text == words.bad) return Outcome::bad;
  if (text == kNotRun) return Outcome::not_run;
  throw std::runtime_error("unknown status '" + text + "'");
}

// JSON has no infinity: a share that is infinite (a NaN in the output) is written as a string.
Json share_to_json(double share) {
  if (std::isfinite(share)) return share;
  return "infinite";
}

double share_from_json(const Json& json) {
  if (json.is_string()) return std::numeric_limits<double>::infinity();
  return json.get<double>();
}

// A figure that does not exist is negative in the row and null in JSON.
Json figure_to_json(double value) { return value < 0 ? Json() : Json(value); }
double figure_from_json(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? -1.0 : found->get<double>();
}

Json counters_to_json(const CounterList& counters) {
  Json json = Json::object();
  for (const auto& [name, value] : counters) json[name] = value;
  return json;
}

CounterList counters_from_json(const Json& json) {
  CounterList counters;
  for (const auto& [name, value] : json.items()) {
    counters.emplace_back(name, value.get<std::uint64_t>());
  }
  return counters;
}

Json hazard_to_json(const Hazard& hazard) {
  return {{"kind", hazard.kind},
          {"file", hazard.file},
          {"line", hazard.line},
          {"other_file", hazard.other_file},
          {"other_line", hazard.other_line},
          {"block", hazard.block},
          {"thread", hazard.thread},
          {"array", hazard.array},
          {"count", hazard.count},
          {"message", hazard.message}};
}

Hazard hazard_from_json(const Json& json) {
  Hazard hazard;
  json.at("kind").get_to(hazard.kind);
  json.at("file").get_to(hazard.file);
  json.at("line").get_to(hazard.line);
  json.at("other_file").get_to(hazard.other_file);
  json.at("other_line").get_to(hazard.other_line);
  json.at("block").get_to(hazard.block);
  json.at("thread").get_to(hazard.thread);
  json.at("array").get_to(hazard.array);
  json.at("count").get_to(hazard.count);
  json.at("message").get_to(hazard.message);
  return hazard;
}

Json spread_to_json(const Spread& spread) {
  return {{"rounds", spread.rounds},
          {"median_ms", figure_to_json(spread.median_ms)},
          {"p10_ms", figure_to_json(spread.p10_ms)},
          {"p90_ms", figure_to_json(spread.p90_ms)},
          {"repeat_spread", figure_to_json(spread.repeat_spread)}};
}

Spread spread_from_json(const Json& json, const char* name) {
  Spread spread;
  const auto found = json.find(name);
  if (found == json.end()) return spread;
  spread.rounds = found->value("rounds", 0);
  spread.median_ms = figure_from_json(*found, "median_ms");
  spread.p10_ms = figure_from_json(*found, "p10_ms");
  spread.p90_ms = figure_from_json(*found, "p90_ms");
  spread.repeat_spread = figure_from_json(*found, "repeat_spread");
  return spread;
}

constexpr const char* kRoles[] = {"variant", "peer", "copy"};

Role role_from(const std::string& text) {
  for (int i = 0; i < 3; ++i) {
    if (text == kRoles[i]) return static_cast<Role>(i);
  }
  throw std::runtime_error("unknown role '" + text + "'");
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
  return {{"cpu", machine.cpu},
          {"cpu_threads", machine.cpu_threads},
          {"gpu", machine.gpu},
          {"multiprocessors", machine.multiprocessors},
          {"l2_bytes", machine.l2_bytes},
          {"driver", machine.driver},
          {"cuda", machine.cuda},
          {"compiler", machine.compiler},
          {"build", machine.build},
          {"libraries", libraries},
          {"roofs", roofs}};
}

Machine machine_from_json(const Json& json) {
  Machine machine;
  json.at("cpu").get_to(machine.cpu);
  json.at("gpu").get_to(machine.gpu);
  json.at("driver").get_to(machine.driver);
  json.at("cuda").get_to(machine.cuda);
  json.at("compiler").get_to(machine.compiler);
  machine.build = json.value("build", std::string());
  machine.cpu_threads = json.value("cpu_threads", 0);
  machine.multiprocessors = json.value("multiprocessors", 0);
  machine.l2_bytes = json.value("l2_bytes", std::int64_t{0});
  for (const auto& [name, version] : json.at("libraries").items()) {
    machine.libraries.emplace_back(name, version.get<std::string>());
  }
  for (const auto& [backend, values] : json.at("roofs").items()) {
    Roofs roofs;
    for (const RoofField& field : kRoofFields) {
      roofs.*field.member = figure_from_json(values, field.name);
    }
    machine.roofs.emplace_back(backend, roofs);
  }
  return machine;
}

Json row_to_json(const Row& row) {
  Json problem = Json::object();
  for (const auto& [name, value] : row.problem) {
    std::visit([&, key = name](const auto& held) { problem[key] = held; }, value);
  }
  Json findings = Json::array();
  for (const Hazard& hazard : row.hazards.findings) findings.push_back(hazard_to_json(hazard));
  const Traffic& traffic = row.traffic;
  const Time& time = row.time;
  Json published = Json::object();
  if (!row.published.source.empty()) published["source"] = row.published.source;
  for (const auto& [name, value] : row.published.figures) published[name] = value;
  return {{"stage", row.stage},
          {"backend", row.backend},
          {"variant", row.variant},
          {"source", row.source},
          {"description", row.description},
          {"task", row.task},
          {"role", kRoles[static_cast<int>(row.role)]},
          {"detail", row.detail},
          {"problem", problem},
          {"check",
           {{"status", word(row.check.outcome, kCheckWords)},
            {"reason", row.check.reason},
            {"shapes", row.check.shapes},
            {"worst_share", share_to_json(row.check.worst_share)}}},
          {"hazards",
           {{"status", word(row.hazards.outcome, kHazardWords)},
            {"reason", row.hazards.reason},
            {"findings", findings}}},
          {"traffic",
           {{"status", word(traffic.outcome, kTrafficWords)},
            {"reason", traffic.reason},
            {"predicted", counters_to_json(traffic.predicted)},
            {"counted", counters_to_json(traffic.counted)},
            {"bytes_per_output_predicted", figure_to_json(traffic.bytes_per_output_predicted)},
            {"bytes_per_output_counted", figure_to_json(traffic.bytes_per_output_counted)},
            {"sectors_per_request", figure_to_json(traffic.sectors_per_request)},
            {"shared_conflicts", figure_to_json(traffic.shared_conflicts)}}},
          {"time",
           {{"status", word(time.outcome, kTimeWords)},
            {"reason", time.reason},
            {"method", time.method},
            {"hot", spread_to_json(time.hot)},
            {"cold", spread_to_json(time.cold)},
            {"transfers", spread_to_json(time.transfers)},
            {"discarded_rounds", time.discarded_rounds},
            {"gb_per_s", figure_to_json(time.gb_per_s)},
            {"cold_gb_per_s", figure_to_json(time.cold_gb_per_s)},
            {"gflop_per_s", figure_to_json(time.gflop_per_s)},
            {"share_of_copy", figure_to_json(time.share_of_copy)},
            {"share_of_fp32", figure_to_json(time.share_of_fp32)},
            {"ratio_to_previous", figure_to_json(time.ratio_to_previous)},
            {"ratio_to_copy", figure_to_json(time.ratio_to_copy)},
            {"ratio_to_best_peer", figure_to_json(time.ratio_to_best_peer)},
            {"best_peer", time.best_peer}}},
          {"published", published}};
}

Row row_from_json(const Json& json) {
  Row row;
  json.at("stage").get_to(row.stage);
  json.at("backend").get_to(row.backend);
  json.at("variant").get_to(row.variant);
  json.at("source").get_to(row.source);
  row.description = json.value("description", std::string());
  row.task = json.value("task", 0);
  row.detail = json.value("detail", std::string());
  row.role = role_from(json.value("role", std::string(kRoles[0])));
  for (const auto& [name, value] : json.at("problem").items()) {
    if (value.is_string()) {
      row.problem.emplace_back(name, value.get<std::string>());
    } else {
      row.problem.emplace_back(name, value.get<std::int64_t>());
    }
  }
  const Json& check = json.at("check");
  row.check.outcome = outcome(check.at("status"), kCheckWords);
  check.at("reason").get_to(row.check.reason);
  check.at("shapes").get_to(row.check.shapes);
  row.check.worst_share = share_from_json(check.at("worst_share"));

  const Json& hazards = json.at("hazards");
  row.hazards.outcome = outcome(hazards.at("status"), kHazardWords);
  hazards.at("reason").get_to(row.hazards.reason);
  for (const Json& finding : hazards.at("findings")) {
    row.hazards.findings.push_back(hazard_from_json(finding));
  }

  const Json& traffic = json.at("traffic");
  row.traffic.outcome = outcome(traffic.at("status"), kTrafficWords);
  traffic.at("reason").get_to(row.traffic.reason);
  row.traffic.predicted = counters_from_json(traffic.at("predicted"));
  row.traffic.counted = counters_from_json(traffic.at("counted"));
  row.traffic.bytes_per_output_predicted = figure_from_json(traffic, "bytes_per_output_predicted");
  row.traffic.bytes_per_output_counted = figure_from_json(traffic, "bytes_per_output_counted");
  row.traffic.sectors_per_request = figure_from_json(traffic, "sectors_per_request");
  row.traffic.shared_conflicts = figure_from_json(traffic, "shared_conflicts");

  const Json& time = json.at("time");
  row.time.outcome = outcome(time.at("status"), kTimeWords);
  time.at("reason").get_to(row.time.reason);
  row.time.method = time.value("method", std::string());
  row.time.hot = spread_from_json(time, "hot");
  row.time.cold = spread_from_json(time, "cold");
  row.time.transfers = spread_from_json(time, "transfers");
  row.time.discarded_rounds = time.value("discarded_rounds", 0);
  row.time.gb_per_s = figure_from_json(time, "gb_per_s");
  row.time.cold_gb_per_s = figure_from_json(time, "cold_gb_per_s");
  row.time.gflop_per_s = figure_from_json(time, "gflop_per_s");
  row.time.share_of_copy = figure_from_json(time, "share_of_copy");
  row.time.share_of_fp32 = figure_from_json(time, "share_of_fp32");
  row.time.ratio_to_previous = figure_from_json(time, "ratio_to_previous");
  row.time.ratio_to_copy = figure_from_json(time, "ratio_to_copy");
  row.time.ratio_to_best_peer = figure_from_json(time, "ratio_to_best_peer");
  row.time.best_peer = time.value("best_peer", std::string());
  if (const auto published = json.find("published"); published != json.end()) {
    for (const auto& [name, value] : published->items()) {
      if (name == "source") {
        value.get_to(row.published.source);
      } else {
        row.published.figures.emplace_back(name, value.get<double>());
      }
    }
  }
  return row;
}

}  // namespace

std::string to_json(const Results& results) {
  Json rows = Json::array();
  for (const Row& row : results.rows) rows.push_back(row_to_json(row));
  const Json json = {{"schema_version", 2},
                     {"command", results.command},
                     {"date", results.date},
                     {"seed", results.seed},
                     {"machine", machine_to_json(results.machine)},
                     {"rows", rows}};
  // A path that is not UTF-8 must not make the whole report fail.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Results results_from_json(const std::string& text, const std::string& origin) {
  try {
    const Json json = Json::parse(text);
    const int version = json.at("schema_version").get<int>();
    if (version != 2) {
      throw std::runtime_error("schema_version " + std::to_string(version) +
                               " is not 2, the one this program reads");
    }
    Results results;
    json.at("command").get_to(results.command);
    json.at("date").get_to(results.date);
    json.at("seed").get_to(results.seed);
    results.machine = machine_from_json(json.at("machine"));
    for (const Json& row : json.at("rows")) results.rows.push_back(row_from_json(row));
    return results;
  } catch (const std::exception& error) {
    throw std::runtime_error(origin + ": not a results file of Halo: " + error.what());
  }
}

std::vector<Row> rows_from_json(const std::string& text, const std::string& origin) {
  return results_from_json(text, origin).rows;
}

void write_json(const std::string& path, const Results& results) {
  data::write_file(path, to_json(results));
}

Results read_json(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return results_from_json(text, path);
}

}  // namespace halo
