#include "common/data/csv.hpp"

#include <algorithm>

namespace halo::data {

namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name, char comment)
      : text_(text), name_(name), comment_(comment) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
      throw DataError(quoted(name) + ": it is UTF-16; save it as CSV in UTF-8");
    }
    if (text.starts_with("\xef\xbb\xbf")) at_ = 3;
    for (std::size_t at = 0, size = 0; at < text.size(); at += size) {
      size = letter_at(text, at);
      if (size != 0) continue;
      throw DataError(
          quoted(name) + ", line " +
          std::to_string(
              1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
          ": it is not UTF-8; save it as CSV in UTF-8");
    }
  }

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      if (comment_ != '\0') skip_comment();
      CsvRow row{line_, {}};
      if (separator_ == '\0') separator_ = separator_of_line();
      do {
        row.cells.push_back(cell());
      } while (accept(separator_));
      accept('\n');
      const bool is_empty = std::all_of(row.cells.begin(), row.cells.end(),
                                        [](const std::string& each) { return each.empty(); });
      if (!is_empty) rows.push_back(std::move(row));
      if (rows.empty()) separator_ = '\0';
    }
    return rows;
  }

 private:
  bool accept(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    if (wanted == '\n') ++line_;
    ++at_;
    return true;
  }

  bool is_blank(char c) const { return c == ' ' || c == '\r' || (c == '\t' && separator_ != '\t'); }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  // Up to the end of its line.
  void skip_comment() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == comment_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  char separator_of_line() const {
    bool inside = false;
    bool semicolon = false, tab = false;
    for (std::size_t i = at_; i < text_.size() && (inside || text_[i] != '\n'); ++i) {
      if (text_[i] == '"') inside = !inside;
      if (inside) continue;
      if (text_[i] == ',') return ',';
      semicolon |= text_[i] == ';';
      tab |= text_[i] == '\t';
    }
    return semicolon ? ';' : tab ? '\t' : ',';
  }

  std::string cell() {
    skip_blanks();
    std::string result;
    const int line = line_;
    if (accept('"')) {
      for (;;) {
        if (at_ >= text_.size()) {
          throw DataError(quoted(name_) + ", line " + std::to_string(line) +
                          ": a quote begins here and does not end");
        }
        const char c = text_[at_];
        if (accept('"') && !accept('"')) break;
        if (c != '"') accept(c);
        result += c;
      }
    }
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n') ++at_;
    result += text_.substr(from, at_ - from);
    while (!result.empty() && is_blank(result.back())) result.pop_back();
    return result;
  }

  std::string_view text_;
  const std::string& name_;
  char comment_;
  char separator_ = '\0';
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& name, char comment) {
  return CsvReader(text, name, comment).rows();
}

}  // namespace halo::data
