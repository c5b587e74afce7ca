#include "common/data/cuconv_figures.hpp"

#include <sstream>

namespace halo::data {

namespace {

// The file is part of the program and is read back by its test: no word on what is wrong with it.
std::vector<CuconvFigures> parse(std::string_view csv) {
  std::vector<CuconvFigures> all;
  std::istringstream lines{std::string(csv)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] < '0' || line[0] > '9') continue;  // a comment, or the header
    std::istringstream cells(line);
    std::string table, layer, cuconv, cudnn, name;
    std::getline(cells, table, ',');
    std::getline(cells, layer, ',');
    std::getline(cells, cuconv, ',');
    std::getline(cells, cudnn, ',');
    std::getline(cells, name);
    all.push_back(
        {std::stoi(table), conv::parse_label(layer), std::stod(cuconv), std::stod(cudnn), name});
  }
  return all;
}

}  // namespace

const std::vector<CuconvFigures>& all_cuconv_figures() {
  static const std::vector<CuconvFigures> all = parse(cuconv_figures_csv());
  return all;
}

std::optional<CuconvFigures> cuconv_figures(const conv::ConvLayer& layer) {
  for (const CuconvFigures& line : all_cuconv_figures()) {
    if (line.layer == layer) return line;
  }
  return {};
}

}  // namespace halo::data
