#include "common/data/suggestion.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "common/data/file.hpp"

namespace halo::data {

namespace fs = std::filesystem;

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Letters to be put in, taken out, changed, or swapped with their neighbour to make b of a.
std::size_t difference(const std::string& a, const std::string& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);  // [letters of a][letters of b]
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return table[i * width + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = i + j;
        continue;
      }
      at(i, j) = std::min(
          {at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

bool has_part(const std::string& name, const std::string& word) {
  for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || name[at - 1] == '_') && (end == name.size() || name[end] == '_')) return true;
  }
  return false;
}

}  // namespace

std::string nearest(std::string_view typed, const std::vector<std::string>& choices) {
  constexpr std::size_t kLongest = 60;  // no name of ours is longer
  const std::string word = lower(typed);
  if (word.size() < 2 || word.size() > kLongest) return {};
  std::string best;
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::size_t least = letters / 3 + 2;  // not as many
  for (const std::string& choice : choices) {
    const std::size_t far = difference(word, lower(choice));
    if (far < least && far + 1 < letters) {
      least = far;
      best = choice;
    }
  }
  if (!best.empty() && least <= 1) return best;
  for (const std::string& choice : choices) {
    if (word.size() > 2 && (lower(choice).starts_with(word) || has_part(lower(choice), word)))
      return choice;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices) {
  const std::string meant = nearest(word, choices);
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

std::string did_you_mean_path(const std::string& path) {
  constexpr std::size_t kMost = 10'000;  // of a folder; nobody waits for more
  std::error_code error;
  fs::path meant;
  for (const fs::path& part : fs::path(path)) {
    if (fs::exists(fs::symlink_status(meant / part, error))) {
      meant /= part;
      continue;
    }
    std::vector<std::string> names;
    const fs::path folder = meant.empty() ? "." : meant;
    for (fs::directory_iterator at(folder, error), end; !error && at != end && names.size() < kMost;
         at.increment(error)) {
      names.push_back(at->path().filename().string());
    }
    std::sort(names.begin(), names.end());
    const std::string name = nearest(part.string(), names);
    if (name.empty()) return "";
    meant /= name;
  }
  return meant.empty() ? "" : "; did you mean " + data::quoted(meant.string()) + "?";
}

}  // namespace halo::data
