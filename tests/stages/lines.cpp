#include "tests/stages/lines.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace halo::test {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// RFC 4180, one row a line.
std::vector<std::string> fields_of(const std::string& row) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '"' && quoted && i + 1 < row.size() && row[i + 1] == '"') {
      fields.back() += row[i++];
    } else if (row[i] == '"') {
      quoted = !quoted;
    } else if (row[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += row[i];
    }
  }
  return fields;
}

// The lines of the file that are meant; 1 is the first.
std::vector<int> places_of(const KnownLine& known, const std::vector<std::string>& lines) {
  std::vector<int> places;
  bool below = known.after.empty();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!known.after.empty() && lines[i].find(known.after) != std::string::npos) {
      places.clear();
      below = true;
    } else if (below && lines[i] == known.text) {
      places.push_back(static_cast<int>(i) + 1);
      if (!known.after.empty()) below = false;
    }
  }
  return places;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(trimmed(line));
  return lines;
}

}  // namespace

std::vector<KnownLine> read_known_lines(const std::string& path) {
  std::ifstream in(path);
  std::string row;
  if (!std::getline(in, row) || row != "file,after,text,what,reason") {
    throw std::runtime_error(path + ": the first row is not file,after,text,what,reason");
  }
  std::vector<KnownLine> known;
  while (std::getline(in, row)) {
    const std::vector<std::string> fields = fields_of(row);
    if (fields.size() != 5 || fields[0].empty() || fields[2].empty() || fields[4].empty() ||
        (fields[3] != "line" && fields[3] != "branch")) {
      throw std::runtime_error(path + ": not a file, a text, line or branch, and a reason: " + row);
    }
    known.push_back({fields[0], fields[1], fields[2], fields[3], fields[4]});
  }
  return known;
}

void LinesOf::add(const simt::Coverage& ran) {
  for (const simt::FileCoverage& file : ran.files) {
    const std::string path = std::filesystem::path(file.file).lexically_normal().string();
    std::size_t at = std::string::npos;
    for (const std::string& beginning : beginnings_) {
      const std::size_t found = ("/" + path).rfind("/" + beginning);
      if (found == std::string::npos || path.find('/', found + beginning.size()) != path.npos)
        continue;
      at = found;
    }
    if (at == std::string::npos) continue;
    std::map<int, bool>& lines = reached_[path.substr(at)];
    for (const simt::LineCoverage& line : file.lines) lines[line.line] |= line.reached;
    std::map<Way, bool>& ways = taken_[path.substr(at)];
    for (const simt::BranchCoverage& way : file.branches) {
      ways[{way.line, way.column, way.to_line, way.again}] |= way.taken;
    }
  }
}

std::vector<std::string> LinesOf::complaints(const std::vector<KnownLine>& known,
                                             const std::string& root) const {
  std::vector<std::string> complaints;
  std::map<std::pair<std::string, int>, std::string> excused;  // what of the line
  for (const KnownLine& line : known) {
    const bool is_here =
        std::any_of(beginnings_.begin(), beginnings_.end(),
                    [&](const std::string& beginning) { return line.file.starts_with(beginning); });
    if (!is_here) continue;
    const std::vector<int> places = places_of(line, lines_of(root + "/" + line.file));
    const std::string name = line.file + ": '" + line.text + "'";
    if (places.size() != 1) {
      complaints.push_back(name + " stands there " + std::to_string(places.size()) +
                           " times: name the line that is meant");
      continue;
    }
    excused[{line.file, places[0]}] = line.what;
    const auto file = reached_.find(line.file);
    const bool has_code = file != reached_.end() && file->second.count(places[0]) > 0;
    if (!has_code) {
      complaints.push_back(name + " has no code of a kernel: strike it out");
    } else if (line.what == "line" && file->second.at(places[0])) {
      complaints.push_back(name + " was reached after all: strike it out");
    } else if (line.what == "branch") {
      const std::map<Way, bool>& ways = taken_.at(line.file);
      const bool one_way = std::any_of(ways.begin(), ways.end(), [&](const auto& way) {
        return std::get<0>(way.first) == places[0] && !way.second;
      });
      if (!one_way) complaints.push_back(name + " went all ways after all: strike it out");
    }
  }
  bool any = false;
  for (const auto& [file, lines] : reached_) {
    const std::vector<std::string> texts = lines_of(root + "/" + file);
    const auto complain = [&, &file = file](int line, const std::string& what,
                                            const std::string& text) {
      const auto known_as = excused.find({file, line});
      if (known_as != excused.end() && known_as->second == what) return;
      const auto index = static_cast<std::size_t>(line) - 1;
      complaints.push_back(file + ":" + std::to_string(line) + " " + text + ": " +
                           (index < texts.size() ? texts[index] : "no such line"));
    };
    for (const auto& [line, reached] : lines) {
      any |= reached;
      if (!reached) complain(line, "line", "was never reached");
    }
    for (const auto& [way, taken] : taken_.at(file)) {
      const auto& [line, column, to_line, again] = way;
      if (taken || !lines.at(line)) continue;
      const std::string column_text = " (column " + std::to_string(column) + ")";
      complain(line, "branch",
               again          ? "never turned a second time" + column_text
               : to_line == 0 ? "never left" + column_text
                              : "never went to line " + std::to_string(to_line) + column_text);
    }
  }
  if (!any) complaints.push_back("no line of " + beginnings_.front() + " was reached: nothing ran");
  return complaints;
}

}  // namespace halo::test
