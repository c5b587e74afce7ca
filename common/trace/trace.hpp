// The simulator's traces for people: a page that draws them, and the same of the worst lines in words. What is
// read is the report that SIMT_REPORT names, with SIMT_TRACE (docs/simulator.md); of the simulator itself nothing
// is known here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/json/json.hpp"
#include "common/report/table.hpp"

namespace halo::trace {

/// A report that cannot be drawn: one line that says why.
struct NoTrace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A program's report, and what the program is called beside others: a variant, a file.
struct Traced {
  std::string name;
  std::filesystem::path report;
};

/// Where the files are that a report names, and what they are called.
struct Places {
  std::filesystem::path base;  // what paths that are not absolute begin from
  std::filesystem::path root;  // files in it are named from here
};

/// One launch that has a trace.
struct View {
  std::string name;          // of its program; with several launches also the kernel's
  std::string short_kernel;  // without namespaces and arguments
  json::Value launch;        // its entry in the report, files named as in Document::files
};

struct Document {
  std::vector<View> views;
  std::map<std::string, std::vector<std::string>> files;  // lines; none: the file could not be read
};

/// The launches of these reports that have a trace, in order. Throws NoTrace, data::DataError.
Document read(const std::vector<Traced>& traced, const Places& places);

/// What the page says of itself.
struct Heading {
  std::string title;
  std::string command;  // that makes it
  bool beside = false;  // the first two views side by side
};

/// The whole page: one file that needs no other and no network.
std::string page(const Document& document, const Heading& heading);

/// A line that costs more than its bytes need, and why.
struct Culprit {
  std::string file;
  int line = 0;
  std::uint64_t excess =
      0;              // sectors, conflicts and addresses beyond the fewest, in the whole launch
  std::string words;  // sentences
};

/// What about the lanes of a request that was kept makes it take more than its bytes need, as a sentence. Empty:
/// it does not, or no more can be said. The arrays are those of its trace.
std::string why(const json::Value& request, const json::Value& arrays);

/// Those of a view, the worst first.
std::vector<Culprit> culprits(const Document& document, const View& view);

/// An array of global memory whose bytes are asked for more often than once, by all loads of the launch: so many
/// times over, in so many sectors of 32 bytes if none was touched in vain.
struct Repeated {
  std::string array;
  std::uint64_t sectors = 0;
  double times = 0;
};

/// Those of a view that are asked for 1.5 times and more, by their sectors.
std::vector<Repeated> repeated(const View& view);

/// For a terminal: of each view its figures, and so many of its worst lines, quoted.
std::string explain(const Document& document, std::size_t most_lines, const TableOptions& options);

}  // namespace halo::trace
