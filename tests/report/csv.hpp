// A reader of CSV as RFC 4180 has it, for tests of what we write. Strict: what it accepts, a
// spreadsheet accepts.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace halo::test {

/// The records, each by the names in the header. Throws std::runtime_error where the text is not CSV
/// or a record has another number of fields than the header.
inline std::vector<std::map<std::string, std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  std::size_t at = 0;
  while (at < text.size()) {
    records.emplace_back();
    for (bool more = true; more;) {
      std::string field;
      if (at < text.size() && text[at] == '"') {
        for (++at;; ++at) {
          if (at >= text.size()) throw std::runtime_error("a quote is not closed");
          if (text[at] != '"') {
            field += text[at];
          } else if (at + 1 < text.size() && text[at + 1] == '"') {
            field += text[at++];
          } else {
            break;
          }
        }
        ++at;
      } else {
        while (at < text.size() && text[at] != ',' && text[at] != '\r') {
          if (text[at] == '"' || text[at] == '\n') throw std::runtime_error("unquoted " + field);
          field += text[at++];
        }
      }
      records.back().push_back(field);
      if (at < text.size() && text[at] == ',') {
        ++at;
      } else if (text.compare(at, 2, "\r\n") == 0) {
        at += 2;
        more = false;
      } else {
        throw std::runtime_error("a record does not end with CRLF");
      }
    }
    if (records.back().size() != records.front().size()) {
      throw std::runtime_error("a record has another length than the header");
    }
  }
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t i = 1; i < records.size(); ++i) {
    rows.emplace_back();
    for (std::size_t j = 0; j < records[0].size(); ++j) rows.back()[records[0][j]] = records[i][j];
    if (rows.back().size() != records[0].size()) throw std::runtime_error("two columns, one name");
  }
  return rows;
}

}  // namespace halo::test
