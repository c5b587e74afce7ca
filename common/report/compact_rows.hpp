// The rows of a results file: what all rows of a variant say alike stands in it once.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/json/json.hpp"

namespace halo {

/// Rows (JSON objects) to be written, and more of them later.
///
/// Two members of the file's object come of them. `variants` has an object for each variant with two rows
/// and more: its stage, backend and name, and all that its rows share. `rows` has a line for each row, with
/// the names of its variant, its problem, and what is its own.
class CompactRows {
 public:
  void add(json::Value row);
  /// `"variants": [...], "rows": [...]`, the first left out if it would be empty. A line a variant and a
  /// row. Only what changed since the last call is put into words again.
  std::string text();

 private:
  struct Variant {
    json::Value shared;
    std::string text;
    std::vector<std::size_t> rows;
  };
  struct Row {
    json::Value whole;
    std::size_t variant;
    std::string text;  // empty: not in words yet
  };
  std::vector<Variant> variants_;
  std::map<std::string, std::size_t> places_;  // in variants_
  std::vector<Row> rows_;
};

/// The rows of a file's object, each whole again. Throws json::Error.
std::vector<json::Value> whole_rows(const json::Value& file);

}  // namespace halo
