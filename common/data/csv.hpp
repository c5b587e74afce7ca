// Tables as text: what spreadsheets write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/data/file.hpp"

namespace halo::data {

/// A row that is not empty.
struct CsvRow {
  int line = 0;  // where it begins, from 1
  std::vector<std::string> cells;
};

/// CSV as in RFC 4180, and what spreadsheets make of it: cells end at a comma, or where the first row has
/// none at a semicolon, or at a tab; ends of line may be CRLF; a byte order mark is left out, blanks round
/// a cell too. Rows without a word in them are left out, and those that begin with `comment`, if there is
/// such a sign. `name` is what messages call the text. Throws DataError, one line, for what is not
/// UTF-8 and for a quote without an end.
std::vector<CsvRow> parse_csv(std::string_view text, const std::string& name, char comment = '\0');

}  // namespace halo::data
