// Tables of convolution layers: those of the papers, which are part of the program, and a reader's
// own.
//
// A table is CSV (csv.hpp): a row of column names, then a row for each layer. Rows that begin with # and
// empty rows are skipped. Columns, in any order, with the letters of docs/notation.md:
//   C,H,W,K,R,S       needed: whole numbers
//   N,stride,padding  1, 1 and 0 where the column is missing; stride and padding both ways
//   groups,dilation   1 where the column is missing; dilation both ways
//   network           any text; empty where the column is missing
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/data/file.hpp"

namespace halo::data {

struct NamedLayer {
  std::string name;     // conv::label(layer): no two layers of a table have the same
  std::string network;  // the network or networks it comes from; may be empty
  conv::ConvLayer layer;
};

/// Reads a table from a file of at most 1 MB. Throws DataError, one line that names the file and,
/// where there is one, the line: for what InputFile refuses, an unknown, missing or repeated column,
/// a line with too few or too many values, what is not a whole number, a layer that ConvLayer
/// refuses, a layer that stands there twice, and a table without layers.
std::vector<NamedLayer> read_layer_table(const std::string& path);

/// As read_layer_table, from the text itself; `name` is what messages call it.
std::vector<NamedLayer> parse_layer_table(std::string_view text, const std::string& name);

/// The papers' tables, in common/data/layers; batch size 1, but for SC'16's. They are compiled in,
/// so that a program finds them from whatever folder it is run, and after it was installed or copied.
///   "cuconv"               the 86 layers of cuConv
///   "chang_onishi_single"  27 layers of one channel, after Chang et al.
///   "chang_onishi_multi"   27 layers of many channels, after Chang et al.
///   "sc16"                 CV1 to CV12 of Li et al. (SC'16) at the paper's batch sizes, CV5 twice
///   "sc16_sensitivity"     its CV7 with other numbers of images, and of channels
///   "unseen"               41 layers of other networks, to which no rule was fitted
///   "sparse"               36 layers with groups (depthwise ones among them) or dilation, of eight networks
/// Throws DataError, naming those that exist, for another name.
std::vector<NamedLayer> paper_layer_table(std::string_view name);

/// The names above.
std::vector<std::string> paper_layer_tables();

}  // namespace halo::data
