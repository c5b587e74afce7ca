#include "common/data/layer_table.hpp"

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>

#include "common/data/csv.hpp"
#include "common/data/paper_layers.hpp"

namespace halo::data {

namespace {

constexpr std::int64_t kMostBytes = 1'000'000;

// One row of a table, and what a complaint about it begins with.
class Line {
 public:
  Line(const std::string& table, CsvRow row) : table_(table), row_(std::move(row)) {}

  int number() const { return row_.line; }
  const std::vector<std::string>& cells() const { return row_.cells; }

  DataError error(const std::string& reason) const {
    return DataError(quoted(table_) + ", line " + std::to_string(row_.line) + ": " + reason);
  }

 private:
  const std::string& table_;
  CsvRow row_;
};

constexpr std::string_view kNeeded[] = {"C", "H", "W", "K", "R", "S"};
constexpr std::string_view kOptional[] = {"N",      "stride",   "padding",
                                          "groups", "dilation", "network"};
constexpr const char* kColumns =
    "the columns are C,H,W,K,R,S and, if wanted, N, stride, padding, groups, dilation and network";

// Where each column stands.
class Header {
 public:
  explicit Header(const Line& line) : count_(line.cells().size()) {
    for (std::size_t at = 0; at < count_; ++at) {
      const std::string_view name = line.cells()[at];
      if (!is_in(name, kNeeded) && !is_in(name, kOptional)) {
        throw line.error("unknown column " + quoted(name) + "; " + kColumns);
      }
      if (!columns_.emplace(name, at).second) {
        throw line.error("the column " + quoted(name) + " is there twice");
      }
    }
    for (const std::string_view name : kNeeded) {
      if (!columns_.contains(name)) {
        throw line.error("the column " + quoted(name) + " is missing; " + kColumns);
      }
    }
  }

  std::size_t count() const { return count_; }

  std::string_view text(const Line& line, std::string_view column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() ? std::string_view() : line.cells()[found->second];
  }

  std::int64_t number(const Line& line, std::string_view column, std::int64_t otherwise = 0) const {
    if (!columns_.contains(column)) return otherwise;
    const std::string_view digits = text(line, column);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      throw line.error(std::string(column) + " is " + quoted(digits) + ", not a whole number");
    }
    return value;
  }

 private:
  template <std::size_t size>
  static bool is_in(std::string_view name, const std::string_view (&names)[size]) {
    for (const std::string_view known : names) {
      if (name == known) return true;
    }
    return false;
  }

  std::map<std::string, std::size_t, std::less<>> columns_;
  std::size_t count_;
};

conv::ConvLayer parse_layer(const Header& header, const Line& line) {
  conv::LayerShape shape;
  shape.N = header.number(line, "N", 1);
  shape.C = header.number(line, "C");
  shape.H = header.number(line, "H");
  shape.W = header.number(line, "W");
  shape.K = header.number(line, "K");
  shape.R = header.number(line, "R");
  shape.S = header.number(line, "S");
  shape.stride_h = shape.stride_w = header.number(line, "stride", 1);
  shape.padding_h = shape.padding_w = header.number(line, "padding", 0);
  shape.groups = header.number(line, "groups", 1);
  shape.dilation_h = shape.dilation_w = header.number(line, "dilation", 1);
  try {
    return conv::ConvLayer(shape);
  } catch (const std::invalid_argument& error) {
    throw line.error(error.what());
  }
}

}  // namespace

std::vector<NamedLayer> parse_layer_table(std::string_view text, const std::string& name) {
  std::optional<Header> header;
  std::vector<NamedLayer> layers;
  std::map<std::string, int> line_of;
  for (CsvRow& row : parse_csv(text, name, '#')) {
    const Line line(name, std::move(row));
    if (!header) {
      header.emplace(line);
      continue;
    }
    if (line.cells().size() != header->count()) {
      throw line.error(std::to_string(line.cells().size()) + " values, but " +
                       std::to_string(header->count()) + " columns");
    }
    const conv::ConvLayer layer = parse_layer(*header, line);
    NamedLayer named{conv::label(layer), std::string(header->text(line, "network")), layer};
    const auto [place, is_new] = line_of.emplace(named.name, line.number());
    if (!is_new) {
      throw line.error("the layer " + named.name + " is there twice, first on line " +
                       std::to_string(place->second));
    }
    layers.push_back(std::move(named));
  }
  if (layers.empty()) {
    throw DataError(quoted(name) + ": there is no layer in it; " + kColumns);
  }
  return layers;
}

std::vector<NamedLayer> read_layer_table(const std::string& path) {
  const InputFile file(path);
  if (file.size() > kMostBytes) {
    throw file.error("a table of layers has at most " + std::to_string(kMostBytes) +
                     " bytes, this has " + std::to_string(file.size()));
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  return parse_layer_table(text, path);
}

std::vector<NamedLayer> paper_layer_table(std::string_view name) {
  std::string known;
  for (const PaperLayers& table : paper_layers()) {
    if (table.name == name) return parse_layer_table(table.csv, std::string(name) + ".csv");
    known += (known.empty() ? "" : ", ") + std::string(table.name);
  }
  throw DataError("there is no table of layers " + quoted(name) + "; there are: " + known);
}

std::vector<std::string> paper_layer_tables() {
  std::vector<std::string> names;
  for (const PaperLayers& table : paper_layers()) names.emplace_back(table.name);
  return names;
}

}  // namespace halo::data
