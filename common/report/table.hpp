// A table of words and figures, and the three ways to write one down. Knows nothing of what the
// table is about.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace halo {

enum class Format { terminal, markdown, csv };

struct TableOptions {
  bool color = false;  // on a terminal; the other formats have none
  Format format = Format::terminal;
  int width = 0;            // of the terminal, in letters; 0: without end
  std::string source = {};  // the folder of the repository, whose lines are quoted; empty: this one
};

/// "table", "markdown" or "csv". Throws UsageError for another word.
Format parse_format(const std::string& word);

enum class Tone { plain, strong, good, bad, caution };

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

struct Column {
  std::string header;
  bool right = true;  // figures to the right, words to the left
};

struct Note {
  Cell mark;  // NOT RUN, say; may be empty
  std::string text;
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // a cell for each column
  std::vector<Note> notes;              // under the table, one line each
};

/// The table as text that ends with a line end; without columns only the notes are written. Terminal:
/// columns in line; one that is wider than the terminal is folded: its leading columns of words stand
/// before each part. Markdown: a table with pipes, the notes as a list. CSV (RFC 4180): header and rows
/// only.
std::string lay_out(const Table& table, const TableOptions& options);

/// A column together with what it says of an item.
template <class Item>
struct Field {
  std::string header;
  bool right = true;
  std::function<Cell(const Item&)> cell;
  bool may_go = false;  // left out if it is "-" for every item
};

/// A table with a row for each item.
template <class Item>
Table tabulate(std::string title, const std::vector<const Item*>& items,
               const std::vector<Field<Item>>& fields) {
  Table table;
  table.title = std::move(title);
  table.rows.resize(items.size());
  for (const Field<Item>& field : fields) {
    std::vector<Cell> cells;
    for (const Item* item : items) cells.push_back(field.cell(*item));
    const auto empty = [](const Cell& cell) { return cell.text == "-"; };
    if (field.may_go && std::all_of(cells.begin(), cells.end(), empty)) continue;
    table.columns.push_back({field.header, field.right});
    for (std::size_t i = 0; i < cells.size(); ++i) table.rows[i].push_back(std::move(cells[i]));
  }
  return table;
}

/// Text with the terminal's colour for the tone, if it has any.
std::string paint(const std::string& text, Tone tone, const TableOptions& options);

/// Text in lines of the terminal's width, broken between words; all but the first begin with `indent`.
/// `before` letters stand in the first already. Its own line ends stay. Without a line end.
std::string wrapped(const std::string& text, const TableOptions& options,
                    const std::string& indent = "  ", std::size_t before = 0);

/// Text for a line of Markdown: what would be taken for its marks is escaped.
std::string markdown_text(const std::string& text);

// Figures. None of them depends on the locale; a figure that does not exist is negative.

/// `significant` digits, never an exponent; "-" if there is none.
std::string rounded(double value, int significant = 3);
/// `decimals` digits behind the point; "-" if there is none.
std::string fixed(double value, int decimals);
/// All digits that the number has, for a program to read; empty if there is none.
std::string exact(double value);

}  // namespace halo
