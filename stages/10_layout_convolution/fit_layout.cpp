// Fits the paper's rule to the measured times of a results file:
//   10_layout_convolution-fit docs/results/bench_sc16_convolution.json
// prints what the published thresholds and the fitted ones choose for each layer, and what that costs.
#include <algorithm>
#include <cstdio>
#include <set>

#include "common/harness/core/program.hpp"
#include "common/network/layout_choice.hpp"
#include "common/report/command_line.hpp"
#include "common/report/json.hpp"
#include "common/report/rows.hpp"
#include "common/report/text.hpp"

namespace halo::network {

namespace {

using conv::Layout;

struct Options {
  std::string file;
  std::string chwn;
  std::string nchw;
  std::string part = "both";
  std::string format = "table";
};

std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> names;
  if (text.empty()) return names;
  std::size_t begin = 0;
  for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
    comma = text.find(',', begin);
    names.insert(text.substr(begin, comma - begin));
  }
  return names;
}

// The layers of which both layouts have a time, in the order of the file; how many have one only is
// written to `left_out`. Times are hot medians: every layer has them.
std::vector<LayerTimes> layer_times(const std::vector<Row>& rows, const Options& options,
                                    int& left_out) {
  const std::set<std::string> chwn = names_in(options.chwn);
  const std::set<std::string> nchw = names_in(options.nchw);
  std::set<std::string> unseen = chwn;
  unseen.insert(nchw.begin(), nchw.end());
  std::vector<LayerTimes> layers;
  for (const Row& row : rows) {
    unseen.erase(row.variant);
    const bool is_chwn = !row.layout.empty() && conv::parse_layout(row.layout) == Layout::chwn;
    const std::set<std::string>& chosen = is_chwn ? chwn : nchw;
    if (!timed(row) || (!chosen.empty() && !chosen.contains(row.variant))) continue;
    if (row.label.empty()) throw UsageError(options.file + " is of an older version: no labels");
    const conv::ConvLayer layer = conv::parse_label(row.label);
    auto times = std::find_if(layers.begin(), layers.end(),
                              [&](const LayerTimes& each) { return each.layer == layer; });
    if (times == layers.end()) times = layers.insert(layers.end(), {layer, 0, 0});
    double& time = is_chwn ? times->chwn_ms : times->nchw_ms;
    const double median = row.time.hot.median_ms;
    time = time > 0 ? std::min(time, median) : median;
  }
  if (!unseen.empty()) {
    throw UsageError(options.file + " has no variant '" + *unseen.begin() + "'");
  }
  left_out = static_cast<int>(std::erase_if(
      layers, [](const LayerTimes& each) { return each.chwn_ms <= 0 || each.nchw_ms <= 0; }));
  if (layers.empty()) throw UsageError(options.file + ": no layer has times of both layouts");
  return layers;
}

const char* capitals(Layout layout) { return layout == Layout::chwn ? "CHWN" : "NCHW"; }

Table layers_table(const std::vector<LayerTimes>& layers, const std::vector<Thresholds>& all) {
  std::vector<const LayerTimes*> items;
  for (const LayerTimes& layer : layers) items.push_back(&layer);
  std::vector<Field<LayerTimes>> fields = {
      {"layer", false, [](const LayerTimes& l) { return Cell{conv::label(l.layer)}; }},
      {"C", true, [](const LayerTimes& l) { return Cell{std::to_string(l.layer.C())}; }},
      {"N", true, [](const LayerTimes& l) { return Cell{std::to_string(l.layer.N())}; }},
      {"CHWN ms", true, [](const LayerTimes& l) { return Cell{rounded(l.chwn_ms)}; }},
      {"NCHW ms", true, [](const LayerTimes& l) { return Cell{rounded(l.nchw_ms)}; }},
      {"faster", false, [](const LayerTimes& l) { return Cell{capitals(l.best())}; }},
  };
  for (const Thresholds& one : all) {
    fields.push_back({one.name, false, [one](const LayerTimes& l) {
                        const Layout chosen = chosen_layout(one, l.layer.C(), l.layer.N());
                        const bool right = l.of(chosen) <= l.of(l.best());
                        return Cell{std::string(capitals(chosen)) + (right ? "" : ", wrong"),
                                    right ? Tone::plain : Tone::caution};
                      }});
  }
  return tabulate("", items, fields);
}

Table thresholds_table(const std::vector<LayerTimes>& layers, const std::vector<Thresholds>& all,
                       const Fit& fit, int left_out) {
  std::vector<const Thresholds*> items;
  for (const Thresholds& one : all) items.push_back(&one);
  const auto of = [&layers](const Thresholds& one) { return judge(one, layers); };
  Table table = tabulate<Thresholds>(
      "", items,
      {{"thresholds", false, [](const Thresholds& t) { return Cell{t.name}; }},
       {"Ct", true, [](const Thresholds& t) { return Cell{std::to_string(t.Ct)}; }},
       {"Nt", true, [](const Thresholds& t) { return Cell{std::to_string(t.Nt)}; }},
       {"right", true,
        [of](const Thresholds& t) {
          return Cell{std::to_string(of(t).right) + " of " + std::to_string(of(t).layers)};
        }},
       {"all layers ms", true,
        [of](const Thresholds& t) { return Cell{rounded(of(t).chosen_ms)}; }},
       {"over the best choices", true,
        [of](const Thresholds& t) { return Cell{fixed(100 * of(t).regret(), 1) + " %"}; }},
       {"worst choice", false, [of](const Thresholds& t) {
          const Judgement judgement = of(t);
          return judgement.worst_layer.empty()
                     ? Cell{"none"}
                     : Cell{judgement.worst_layer + ", " + fixed(judgement.worst, 2) + " times"};
        }}});
  const auto range = [](const std::string& name, std::int64_t lowest, std::int64_t value) {
    return lowest == value
               ? name + " " + std::to_string(value)
               : "any " + name + " from " + std::to_string(lowest) + " to " + std::to_string(value);
  };
  table.notes.push_back({{},
                         "The fit chooses the same with " +
                             range("Ct", fit.lowest_Ct, fit.thresholds.Ct) + " and " +
                             range("Nt", fit.lowest_Nt, fit.thresholds.Nt) + "."});
  if (left_out > 0) {
    table.notes.push_back({{},
                           std::to_string(left_out) +
                               (left_out == 1 ? " layer has" : " layers have") +
                               " times of one layout only, and no part in it."});
  }
  return table;
}

int run(int argc, const char* const* argv) {
  Options options;
  CommandLine line(
      "Fits the rule 'CHWN if C < Ct or N >= Nt' to measured times",
      "Example: 10_layout_convolution-fit results.json --chwn images_chwn --nchw cudnn\n"
      "Exit status: 0 good, 2 wrong use, or a file with nothing to fit.");
  line.positional("FILE", options.file, "results of a GPU's run, from --json");
  line.option("--chwn", "NAME[,NAME]", options.chwn, "of those with CHWN maps only these");
  line.option("--nchw", "NAME[,NAME]", options.nchw, "of those with NCHW maps only these");
  line.option("--part", "PART", options.part, "layers, thresholds or both");
  line.option("--format", "FORMAT", options.format, "table, markdown or csv");
  if (!line.parse(argc, argv)) return 0;
  if (options.file.empty()) throw UsageError("FILE is missing: the results of a GPU's run");
  if (options.part != "layers" && options.part != "thresholds" && options.part != "both") {
    throw UsageError("--part is layers, thresholds or both, not '" + options.part + "'");
  }
  const TableOptions looks{.format = parse_format(options.format)};
  int left_out = 0;
  const std::vector<LayerTimes> layers =
      layer_times(read_json(options.file).rows, options, left_out);
  const Fit fitted = fit(layers);
  std::vector<Thresholds> all = published_thresholds();
  all.push_back(fitted.thresholds);
  std::string text;
  if (options.part != "thresholds") text += lay_out(layers_table(layers, all), looks);
  if (options.part == "both") text += "\n";
  if (options.part != "layers") {
    text += lay_out(thresholds_table(layers, all, fitted, left_out), looks);
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

}  // namespace halo::network

int main(int argc, char** argv) {
  return halo::guarded_main("10_layout_convolution-fit",
                            [&] { return halo::network::run(argc, argv); });
}
