#include "common/simt/cudart/printed.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace simt {

void PrintLog::add(std::uint64_t block, const std::string& text) {
  if (block != block_) open_ = false;
  block_ = block;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view part = rest.substr(0, end);
    if (!open_) ++lines_.total;
    // A worker's blocks come in grid order, so its first lines are all that can be among the first.
    if (lines_.total <= Printed::kMostLines) {
      if (open_) {
        std::prev(lines_.first.end())->second += part;
      } else {
        lines_.first.emplace_hint(lines_.first.end(), block, part);
      }
    }
    open_ = end == std::string_view::npos;
    rest.remove_prefix(open_ ? rest.size() : end + 1);
  }
}

void PrintLog::move_to(Lines& all) {
  all.total += lines_.total;
  all.first.merge(lines_.first);
  clear();
}

Printed PrintLog::in_order(Lines&& all) {
  Printed printed;
  printed.total = all.total;
  for (auto& [block, line] : all.first) {
    if (printed.lines.size() < Printed::kMostLines) printed.lines.push_back(std::move(line));
  }
  return printed;
}

}  // namespace simt
