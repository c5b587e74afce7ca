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
        lines_.first.back().second += part;
      } else {
        lines_.first.emplace_back(block, part);
      }
    }
    open_ = end == std::string_view::npos;
    rest.remove_prefix(open_ ? rest.size() : end + 1);
  }
}

void PrintLog::move_to(Lines& all) {
  all.total += lines_.total;
  std::move(lines_.first.begin(), lines_.first.end(), std::back_inserter(all.first));
  clear();
}

Printed PrintLog::in_order(Lines&& all) {
  std::stable_sort(all.first.begin(), all.first.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (all.first.size() > Printed::kMostLines) all.first.resize(Printed::kMostLines);
  Printed printed;
  printed.total = all.total;
  for (auto& [block, line] : all.first) printed.lines.push_back(std::move(line));
  return printed;
}

}  // namespace simt
