// Words of a text, as a table of programs or a file of nvcc's options has them.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

/// Those between blanks, which quotes keep together.
inline std::vector<std::string> quoted_words(std::string_view text) {
  std::vector<std::string> words;
  bool is_open = false, is_quoted = false;
  for (const char c : text) {
    if (!is_quoted && std::isspace(static_cast<unsigned char>(c)) != 0) {
      is_open = false;
      continue;
    }
    if (!is_open) words.emplace_back();
    is_open = true;
    if (c == '"') {
      is_quoted = !is_quoted;
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace simt
