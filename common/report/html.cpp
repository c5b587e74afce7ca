#include "common/report/html.hpp"

#include <algorithm>
#include <stdexcept>

namespace halo {

std::string html_escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string json_in_script(const std::string& json) {
  std::string safe;
  for (const char c : json) {
    // What JSON reads the same.
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string fill_page(const std::string& whole,
                      const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string text;
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t mark = whole.find('@', at);
    if (mark == std::string::npos) return text + whole.substr(at);
    const std::size_t end = whole.find('@', mark + 1);
    const std::string name = whole.substr(mark + 1, end - mark - 1);
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const auto& one) { return one.first == name; });
    if (end == std::string::npos || part == parts.end()) {
      throw std::logic_error("a page's template asks for " + name);
    }
    text += whole.substr(at, mark - at) + part->second;
    at = end + 1;
  }
  return text;
}

}  // namespace halo
