// The source report's own table: its columns, its figures beside ours.
#include <algorithm>
#include <array>
#include <functional>

#include "common/report/command_line.hpp"
#include "common/report/row_tables.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

using RowField = Field<Row>;

// A field of the problem, or -1.
std::int64_t number(const Row& row, const std::string& name) {
  for (const auto& [field, value] : row.problem) {
    if (field == name && std::holds_alternative<std::int64_t>(value)) {
      return std::get<std::int64_t>(value);
    }
  }
  return -1;
}

std::string word(const Row& row, const std::string& name) {
  for (const auto& [field, value] : row.problem) {
    if (field == name && std::holds_alternative<std::string>(value)) {
      return std::get<std::string>(value);
    }
  }
  return {};
}

bool same_but_length(Problem a, Problem b) {
  for (Problem* problem : {&a, &b}) {
    std::erase_if(*problem, [](const auto& field) { return field.first == "length"; });
  }
  return a == b;
}

// Variants of the report's table, and the CPU's loop beside them.
struct ReportTable {
  explicit ReportTable(const std::vector<Row>& all)
      : rows(all),
        // Without any GPU row the CPU's own are shown, with the GPU's columns not run.
        only_cpu(std::none_of(all.begin(), all.end(),
                              [](const Row& row) { return row.backend != "cpu"; })) {
    const bool any_published = std::any_of(all.begin(), all.end(), published);
    for (const Row& row : all) {
      if (shows(row) &&
          (!any_published || std::any_of(all.begin(), all.end(), [&](const Row& other) {
            return published(other) && same_but_length(row.problem, other.problem);
          }))) {
        shown.push_back(&row);
      }
    }
  }

  static bool published(const Row& row) { return !row.published.source.empty(); }

  bool shows(const Row& row) const {
    return row.role == Role::variant && (row.backend != "cpu" || only_cpu);
  }

  const Row* cpu_row(const Row& gpu) const {
    for (const Row& row : rows) {
      if (row.backend == "cpu" && row.variant == "loop" && timed(row) &&
          number(row, "length") == number(gpu, "length") &&
          number(row, "mask_width") == number(gpu, "mask_width") &&
          word(row, "border") == word(gpu, "border")) {
        return &row;
      }
    }
    return nullptr;
  }

  double cpu_ms(const Row& row) const {
    const Row* cpu = only_cpu ? (timed(row) ? &row : nullptr) : cpu_row(row);
    return cpu != nullptr ? cpu->time.hot.median_ms : -1;
  }

  static double gpu_ms(const Row& row) {
    return row.backend == "gpu" && timed(row) ? row.time.transfers.median_ms : -1;
  }

  static double kernel_ms(const Row& row) {
    return row.backend == "gpu" && timed(row) ? row.time.hot.median_ms : -1;
  }

  // Length, our figures and the published ones, each written by `figure`, or by `aside` where there
  // is no need that it exists.
  std::vector<RowField> figures(const std::array<const char*, 8>& names,
                                std::function<Cell(double)> figure,
                                std::function<Cell(double)> aside) const {
    const auto ratio = [](double cpu, double gpu) { return cpu < 0 || gpu < 0 ? -1 : cpu / gpu; };
    return {
        {names[0], true, [=, this](const Row& row) { return figure(cpu_ms(row)); }},
        {names[1], true, [=](const Row& row) { return figure(gpu_ms(row)); }},
        {names[2], true,
         [=, this](const Row& row) { return figure(ratio(cpu_ms(row), gpu_ms(row))); }},
        {names[3], true, [=](const Row& row) { return figure(kernel_ms(row)); }},
        {names[4], true,
         [=, this](const Row& row) { return figure(ratio(cpu_ms(row), kernel_ms(row))); }},
        {names[5], true, [=](const Row& row) { return aside(published_figure(row, "cpu_ms")); },
         true},
        {names[6], true, [=](const Row& row) { return aside(published_figure(row, "gpu_ms")); },
         true},
        {names[7], true,
         [=](const Row& row) {
           return aside(ratio(published_figure(row, "cpu_ms"), published_figure(row, "gpu_ms")));
         },
         true},
    };
  }

  const std::vector<Row>& rows;
  bool only_cpu;
  Rows shown;
};

std::string report_csv(const ReportTable& report, const TableOptions& options) {
  std::vector<RowField> fields =
      identity_fields<Row>(report.shown, [](const Row& row) -> const Row& { return row; });
  const auto figure = [](double value) { return Cell{exact(value)}; };
  for (RowField& field : report.figures(
           {"cpu_ms", "gpu_with_transfers_ms", "speedup_ratio", "kernel_ms", "kernel_speedup_ratio",
            "published_cpu_ms", "published_gpu_ms", "published_speedup_ratio"},
           figure, figure)) {
    fields.push_back(std::move(field));
  }
  fields.push_back(
      {"published_source", false, [](const Row& row) { return Cell{row.published.source}; }});
  fields.push_back({"time", false, [](const Row& row) {
                      return outcome_cell(row.time.outcome, "MEASURED", "FAIL");
                    }});
  fields.push_back({"time_reason", false, [](const Row& row) { return Cell{row.time.reason}; }});
  return lay_out(tabulate("", report.shown, fields), options);
}

}  // namespace

std::string render_report_table(const std::vector<Row>& rows, const TableOptions& options) {
  const ReportTable report(rows);
  if (options.format == Format::csv) return report_csv(report, options);
  std::vector<RowField> fields = {
      {"length", true, [](const Row& row) { return Cell{with_commas(number(row, "length"))}; }}};
  for (RowField& field : report.figures(
           {"CPU (ms)", "GPU (ms)", "speedup", "kernel (ms)", "kernel speedup",
            "published CPU (ms)", "published GPU (ms)", "published speedup"},
           [](double value) { return value < 0 ? not_run_cell() : Cell{fixed(value, 4)}; },
           [](double value) { return Cell{fixed(value, 4)}; })) {
    fields.push_back(std::move(field));
  }
  std::string text;
  const Rows& shown = report.shown;
  std::vector<bool> done(shown.size(), false);
  for (std::size_t at = 0; at < shown.size(); ++at) {
    if (done[at]) continue;
    const Row& first = *shown[at];
    Rows group;
    std::string source;
    for (std::size_t i = at; i < shown.size(); ++i) {
      if (shown[i]->stage != first.stage || shown[i]->variant != first.variant ||
          shown[i]->backend != first.backend ||
          !same_but_length(shown[i]->problem, first.problem)) {
        continue;
      }
      group.push_back(shown[i]);
      done[i] = true;
      if (source.empty()) source = shown[i]->published.source;
    }
    std::stable_sort(group.begin(), group.end(), [](const Row* a, const Row* b) {
      return number(*a, "length") < number(*b, "length");
    });
    std::string title = first.stage + " " + first.variant;
    if (first.task > 0) title += ", task " + std::to_string(first.task);
    title += ": mask " + std::to_string(number(first, "mask_width")) + ", " +
             std::to_string(number(first, "threads")) +
             " threads; GPU times hold the transfers, kernel times do not";
    if (!source.empty()) title += "; published: " + source;
    Table table = tabulate(title, group, fields);
    table.notes = reasons(group);
    if (!text.empty()) text += "\n";
    text += lay_out(table, options);
  }
  if (std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.backend == "gpu"; })) {
    Table none;
    none.notes.push_back({not_run_cell(), "GPU: none of these rows ran on a GPU"});
    text += lay_out(none, options);
  }
  return text + all_faults(rows, options);
}

}  // namespace halo
