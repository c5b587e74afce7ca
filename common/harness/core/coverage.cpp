#include "common/harness/core/coverage.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace halo {

namespace {

namespace fs = std::filesystem;

std::string normal(const std::string& file) { return fs::path(file).lexically_normal().string(); }

// Where the repository lies for the compiler, with a slash at its end: what stands before the source, or
// before another file of its folder.
std::optional<std::string> root_of(const std::string& source, const simt::Coverage& ran) {
  for (const std::string& known : {source, fs::path(source).parent_path().string() + "/"}) {
    for (const simt::FileCoverage& file : ran.files) {
      const std::string path = normal(file.file);
      const std::size_t at = ("/" + path).rfind("/" + known);
      if (at != std::string::npos) return path.substr(0, at);
    }
  }
  return {};
}

}  // namespace

void TriedLines::add(const simt::Coverage& ran) {
  const std::optional<std::string> root = root_of(source_, ran);
  if (!root) return;
  for (const simt::FileCoverage& file : ran.files) {
    const std::string path = normal(file.file);
    if (!path.starts_with(*root)) continue;
    const std::string name = path.substr(root->size());
    for (const simt::LineCoverage& line : file.lines) {
      if (line.launched || (name == source_ && !is_shared_)) {
        lines_[{name, line.line}] |= line.reached;
      }
    }
    for (const simt::BranchCoverage& way : file.branches) {
      if (!way.launched) continue;
      ways_[{name, way.line, way.column, way.to_line, way.again}] |= way.taken;
    }
  }
}

Coverage TriedLines::so_far() const {
  Coverage coverage;
  const bool any =
      std::any_of(lines_.begin(), lines_.end(), [](const auto& line) { return line.second; });
  if (!any) return coverage;
  coverage.outcome = Outcome::good;
  coverage.lines = static_cast<int>(lines_.size());
  const std::pair<std::string, int>* last = nullptr;  // that was not reached, with no other since
  for (const auto& [place, reached] : lines_) {
    const auto& [file, line] = place;
    if (reached) {
      last = nullptr;
      continue;
    }
    coverage.outcome = Outcome::bad;
    // Lines without code between two belong to them.
    if (last != nullptr && last->first == file) {
      coverage.unreached.back().last = line;
    } else {
      coverage.unreached.push_back({file, line, line});
    }
    last = &place;
  }
  for (const auto& [way, taken] : ways_) {
    const auto& [file, line, column, to_line, again] = way;
    if (taken) continue;
    coverage.untaken.push_back({file, line, column, to_line, again});
  }
  return coverage;
}

}  // namespace halo
