#include "common/report/table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/report/command_line.hpp"

namespace halo {

namespace {

const char* color_of(Tone tone) {
  switch (tone) {
    case Tone::strong:
      return "\033[1m";
    case Tone::good:
      return "\033[32m";
    case Tone::bad:
      return "\033[1;31m";
    case Tone::caution:
      return "\033[33m";
    case Tone::plain:
      break;
  }
  return nullptr;
}

// The columns of each part of a table that is folded: the leading ones that hold words, and as many of
// the others as the width has room for.
std::vector<std::vector<std::size_t>> parts_of(const Table& table,
                                               const std::vector<std::size_t>& widths, int width) {
  constexpr std::size_t kMostKeys = 2;
  constexpr std::size_t kGap = 2;
  std::size_t keys = 0;
  while (keys < std::min(kMostKeys, widths.size()) && !table.columns[keys].right) ++keys;
  std::vector<std::size_t> part;
  std::size_t begun = 0;
  for (; part.size() < keys; part.push_back(part.size())) begun += widths[part.size()] + kGap;
  const std::vector<std::size_t> leading = part;
  std::vector<std::vector<std::size_t>> parts;
  std::size_t taken = begun;
  for (std::size_t i = keys; i < widths.size(); ++i) {
    const bool full = width > 0 && taken + widths[i] > static_cast<std::size_t>(width);
    if (full && part.size() > keys) {
      parts.push_back(part);
      part = leading;
      taken = begun;
    }
    part.push_back(i);
    taken += widths[i] + kGap;
  }
  parts.push_back(part);
  return parts;
}

std::string terminal(const Table& table, const TableOptions& options) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = table.columns[i].header.size();
    for (const auto& row : table.rows) width = std::max(width, row[i].text.size());
    widths.push_back(width);
  }
  std::string text = table.title.empty() ? "" : wrapped(table.title, options) + "\n";
  const auto line = [&](const std::vector<std::size_t>& part, const auto& cell_of) {
    std::string out;
    for (const std::size_t i : part) {
      const Cell cell = cell_of(i);
      const std::string space(widths[i] - cell.text.size(), ' ');
      const std::string painted = paint(cell.text, cell.tone, options);
      if (i != part.front()) out += "  ";
      out += table.columns[i].right ? space + painted : painted + space;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  if (!table.columns.empty()) {
    for (const auto& part : parts_of(table, widths, options.width)) {
      line(part, [&](std::size_t i) { return Cell{table.columns[i].header, Tone::strong}; });
      for (const auto& row : table.rows) {
        line(part, [&](std::size_t i) { return row[i]; });
      }
    }
  }
  for (const Note& note : table.notes) {
    text += paint(note.mark.text, note.mark.tone, options) + (note.mark.text.empty() ? "" : " ");
    const std::size_t before = note.mark.text.empty() ? 0 : note.mark.text.size() + 1;
    text += wrapped(note.text, options, "  ", before) + "\n";
  }
  return text;
}

std::string markdown(const Table& table) {
  std::string text;
  if (!table.title.empty()) text += "**" + markdown_text(table.title) + "**\n\n";
  const auto line = [&](const auto& cell_of) {
    text += "|";
    for (std::size_t i = 0; i < table.columns.size(); ++i) text += " " + cell_of(i) + " |";
    text += "\n";
  };
  if (!table.columns.empty()) {
    line([&](std::size_t i) { return markdown_text(table.columns[i].header); });
    line([&](std::size_t i) { return std::string(table.columns[i].right ? "---:" : ":---"); });
  }
  for (const auto& row : table.rows) {
    line([&](std::size_t i) { return markdown_text(row[i].text); });
  }
  if (!table.notes.empty() && !table.columns.empty()) text += "\n";
  for (const Note& note : table.notes) {
    text += "- ";
    if (!note.mark.text.empty()) text += "**" + markdown_text(note.mark.text) + "** ";
    text += markdown_text(note.text) + "\n";
  }
  return text;
}

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char letter : field) {
    if (letter == '"') text += '"';
    text += letter;
  }
  return text + '"';
}

std::string csv(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    text += (i > 0 ? "," : "") + quoted(table.columns[i].header);
  }
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i > 0 ? "," : "") + quoted(row[i].text);
    text += "\r\n";
  }
  return text;
}

}  // namespace

Format parse_format(const std::string& word) {
  if (word == "table") return Format::terminal;
  if (word == "markdown") return Format::markdown;
  if (word == "csv") return Format::csv;
  throw UsageError("--format: '" + word + "' is not one of table, markdown, csv");
}

std::string lay_out(const Table& table, const TableOptions& options) {
  switch (options.format) {
    case Format::markdown:
      return markdown(table);
    case Format::csv:
      return csv(table);
    case Format::terminal:
      break;
  }
  return terminal(table, options);
}

std::string paint(const std::string& text, Tone tone, const TableOptions& options) {
  const char* color = color_of(tone);
  const bool on = options.color && options.format == Format::terminal;
  if (!on || color == nullptr || text.empty()) return text;
  return color + text + "\033[0m";
}

std::string wrapped(const std::string& text, const TableOptions& options, const std::string& indent,
                    std::size_t before) {
  if (options.width <= 0 || options.format != Format::terminal) return text;
  const auto width = static_cast<std::size_t>(options.width);
  std::string out;
  std::size_t column = before;
  bool fresh = true;  // nothing stands in the line yet but its beginning
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      out += text[at++];
      column = 0;
      fresh = true;
      continue;
    }
    // A word with the spaces before it, which go where the line is broken.
    const std::size_t word = std::min(text.find_first_not_of(' ', at), text.size());
    const std::size_t end = std::min(text.find_first_of(" \n", word), text.size());
    if (!fresh && column + (end - at) > width) {
      out += "\n" + indent;
      column = indent.size();
      at = word;
    }
    out += text.substr(at, end - at);
    column += end - at;
    at = end;
    fresh = false;
  }
  return out;
}

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\n') {
      out += "<br>";
      continue;
    }
    if (letter == '<') {  // "\<" is no escape everywhere
      out += "&lt;";
      continue;
    }
    if (std::string("\\`*|[").find(letter) != std::string::npos) out += '\\';
    out += letter;
  }
  return out;
}

std::string rounded(double value, int significant) {
  int decimals = significant - 1;
  if (value > 0 && std::isfinite(value))
    decimals -= static_cast<int>(std::floor(std::log10(value)));
  return fixed(value, std::clamp(decimals, 0, 9));
}

std::string fixed(double value, int decimals) {
  if (value < 0) return "-";
  if (std::isinf(value)) return "inf";
  std::array<char, 400> text;  // 309 digits before the point at most
  const auto end =
      std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, decimals);
  return {text.data(), end.ptr};
}

std::string exact(double value) {
  if (value < 0) return "";
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.begin(), text.end(), value).ptr};
}

}  // namespace halo
