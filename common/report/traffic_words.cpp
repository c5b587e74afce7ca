#include "common/report/traffic_words.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/report/command_line.hpp"
#include "common/report/table.hpp"

namespace halo {

namespace {

constexpr const char* kLaunches = "launches";

std::string count_text(std::uint64_t value) {
  return with_commas(static_cast<std::int64_t>(value));
}

// Global memory is what is meant where nothing is said.
std::string counter_words(std::string name) {
  if (name.starts_with("global_")) name.erase(0, 7);
  if (name.starts_with("dshared_")) name.replace(0, 8, "distributed shared ");
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::optional<std::uint64_t> value_of(const CounterList& counters, const std::string& name) {
  for (const auto& [known, value] : counters) {
    if (known == name) return value;
  }
  return {};
}

std::vector<TrafficDifference::Part> parts_of(const std::vector<LineCounts>& lines,
                                              const std::string& name) {
  std::vector<std::pair<std::uint64_t, const LineCounts*>> found;
  for (const LineCounts& line : lines) {
    if (const auto value = value_of(line.counted, name)) found.emplace_back(*value, &line);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<TrafficDifference::Part> parts;
  for (const auto& [value, line] : found)
    parts.push_back({line->file, line->line, count_text(value)});
  return parts;
}

TrafficDifference difference(const std::string& what, const std::string& name,
                             std::uint64_t predicted, std::uint64_t counted) {
  return {what,
          name,
          count_text(predicted),
          count_text(counted),
          predicted == 0
              ? ""
              : told_change(static_cast<double>(predicted), static_cast<double>(counted)),
          {}};
}

std::string told(const LaunchFigures& alike) {
  return (alike.launches == 1 ? "" : count_text(alike.launches) + " times ") +
         count_text(alike.blocks) + (alike.blocks == 1 ? " block" : " blocks") + " of " +
         count_text(alike.threads) + (alike.threads == 1 ? " thread" : " threads") +
         (alike.shared_bytes == 0
              ? ""
              : " with " + count_text(alike.shared_bytes) + " bytes of shared memory");
}

std::string told(const std::vector<LaunchFigures>& launches) {
  std::string text;
  for (const LaunchFigures& alike : launches) text += (text.empty() ? "" : " and ") + told(alike);
  return text.empty() ? "none" : text;
}

std::string told(const TrafficDifference& one) {
  std::string text;
  if (one.lines.size() == 1) text = "line " + std::to_string(one.lines.front().line) + ": ";
  if (one.what == kLaunches) return text + one.counted + " instead of " + one.predicted;
  if (one.predicted != "0") text += one.predicted + " -> ";
  return text + one.counted + " " + one.what;
}

// One launch beside one differs figure by figure; of several all are told.
void add_launches(const Figures& figures, std::vector<TrafficDifference>& all) {
  if (figures.predicted.empty() || figures.predicted == figures.counted) return;
  if (figures.predicted.size() != 1 || figures.counted.size() != 1) {
    all.push_back({kLaunches, "", told(figures.predicted), told(figures.counted), "", {}});
    return;
  }
  const LaunchFigures& predicted = figures.predicted.front();
  const LaunchFigures& counted = figures.counted.front();
  const std::pair<const char*, std::uint64_t LaunchFigures::*> fields[] = {
      {"launches", &LaunchFigures::launches},
      {"blocks", &LaunchFigures::blocks},
      {"threads per block", &LaunchFigures::threads},
      {"bytes of shared memory per block", &LaunchFigures::shared_bytes}};
  for (const auto& [what, field] : fields) {
    if (predicted.*field == counted.*field) continue;
    all.push_back(difference(what, "", predicted.*field, counted.*field));
  }
}

}  // namespace

std::string told_change(double predicted, double counted) {
  const double ratio = counted / predicted;
  const char* const way = ratio < 1 ? "less" : "more";
  if (ratio >= 10) return fixed(ratio, 0) + " times as much";
  if (ratio >= 2) return rounded(ratio, 2) + " times as much";
  const double percent = std::abs(ratio - 1) * 100;
  return (percent < 0.5 ? std::string("under 1 % ") : fixed(percent, 0) + " % ") + way;
}

std::vector<TrafficDifference> traffic_differences(const Row& row) {
  const Traffic& traffic = row.traffic;
  std::vector<TrafficDifference> all;
  for (const auto& [name, counted] : traffic.counted) {
    const auto predicted = value_of(traffic.predicted, name);
    if (traffic.predicted.empty() || predicted == counted) continue;
    all.push_back(difference(counter_words(name), name, predicted.value_or(0), counted));
    all.back().lines = parts_of(traffic.lines, name);
  }
  for (const auto& [name, predicted] : traffic.predicted) {  // nothing of it was counted
    if (traffic.counted.empty() || value_of(traffic.counted, name)) continue;
    all.push_back(difference(counter_words(name), name, predicted, 0));
  }
  const Figures& figures = traffic.figures;
  add_launches(figures, all);
  if (figures.fp64_predicted >= 0 && figures.fp64_counted != figures.fp64_predicted) {
    all.push_back(difference("operations in double precision", "fp64_operations",
                             static_cast<std::uint64_t>(figures.fp64_predicted),
                             static_cast<std::uint64_t>(figures.fp64_counted)));
    all.back().lines = parts_of(figures.fp64_lines, "fp64_operations");
  }
  if (figures.tensor_predicted >= 0 && figures.tensor_counted != figures.tensor_predicted) {
    all.push_back(difference("instructions of tensor cores", "tensor_instructions",
                             static_cast<std::uint64_t>(figures.tensor_predicted),
                             static_cast<std::uint64_t>(figures.tensor_counted)));
    all.back().lines = parts_of(figures.tensor_lines, "tensor_instructions");
  }
  if (!figures.predicted.empty() && figures.unfreed_bytes > 0) {
    all.push_back(difference("bytes allocated and not freed", "", 0,
                             static_cast<std::uint64_t>(figures.unfreed_bytes)));
  }
  return all;
}

std::string told_traffic(const Row& row) {
  const Traffic& traffic = row.traffic;
  std::string text;
  if (row.check.outcome == Outcome::good && row.hazards.outcome != Outcome::bad) text = "right";
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  const std::string predicted = fixed(traffic.bytes_per_output_predicted, 2);
  const std::string counted = fixed(traffic.bytes_per_output_counted, 2);
  if (predicted != counted) {
    add(counted + " bytes per output instead of " + predicted +
        (traffic.bytes_per_output_predicted > 0
             ? ", " +
                   told_change(traffic.bytes_per_output_predicted, traffic.bytes_per_output_counted)
             : ""));
  }
  const std::vector<TrafficDifference> all = traffic_differences(row);
  if (all.empty()) return "";
  constexpr std::size_t kMostTold = 4;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == kMostTold && all.size() > kMostTold + 1) {
      add(std::to_string(all.size() - kMostTold) + " more");
      break;
    }
    add(told(all[i]));
  }
  return text;
}

}  // namespace halo
