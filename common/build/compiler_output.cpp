#include "common/build/compiler_output.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace halo {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLines = 60;

bool has(const std::string& line, std::string_view text) {
  return line.find(text) != std::string::npos;
}

// "[12/48] Compiling ..."
bool is_step(const std::string& line) {
  int done = 0, all = 0;
  return std::sscanf(line.c_str(), "[%d/%d]", &done, &all) == 2;
}

// What is said of where an error stands, beside its line. And what says only that there was something.
bool is_noise(const std::string& line) {
  for (const char* start : {"ninja: Entering", "ninja: build stopped", "ninja: warning",
                            "    inlined from ", "cc1plus: all warnings", "cc1plus: some warnings",
                            "compilation terminated", "collect2: ", "Remark: "}) {
    if (line.starts_with(start)) return true;
  }
  if (has(line, " detected in the compilation of ")) return true;
  const std::size_t at = line.find("In ");
  const bool is_place = at == 0 || (at != std::string::npos && line.compare(at - 2, 2, ": ") == 0);
  const bool ends = line.ends_with(":") || line.ends_with(",");
  return is_place && ends && (has(line, "function") || has(line, "constructor")) &&
         !has(line, "instantiation");
}

// Where the path ends that the line begins with: "../stages/a.cu:40:3: ", of nvcc "../stages/a.cu(40): ". 0:
// with none.
std::size_t path_end(const std::string& line) {
  // The folder of the course may be "my halo (1)".
  const char* const stops = line.starts_with('/') ? ":(" : ":( ";
  for (std::size_t end = line.find_first_of(stops); end != std::string::npos && end > 0;
       end = line.find_first_of(stops, end + 1)) {
    const std::size_t after = line.find_first_not_of("0123456789", end + 1);
    const bool has_number = end + 1 < line.size() && after != end + 1;
    if (line[end] == ':') return has_number ? end : 0;
    if (line[end] == ' ') return 0;
    if (has_number && after != std::string::npos && line.compare(after, 2, "):") == 0) return end;
  }
  return 0;
}

// Whether the line begins with a place in a file: "a.cu:40:", "a.cu:40,", "a.cu(40)".
bool begins_with_place(const std::string& line) {
  const std::size_t end = line.find_first_of(":(");
  if (end == std::string::npos || end == 0) return false;
  const std::size_t after = line.find_first_not_of("0123456789", end + 1);
  if (after == std::string::npos || after == end + 1) return false;
  return line[end] == '(' ? line[after] == ')' : line[after] == ':' || line[after] == ',';
}

// What beginners do about errors that name the rule and not the way.
constexpr std::pair<const char*, const char*> kWays[] = {
    {"a host function call cannot be configured",
     "a function that <<<>>> starts is a kernel: __global__ stands before it"},
    {"a __global__ function call must be configured",
     "a kernel is started by name<<<blocks, threads>>>(arguments)"},
    {"a variable length array cannot have static storage duration",
     "a size that only the launch knows: extern __shared__ float name[], and its bytes as the "
     "third "
     "argument of <<<>>>"},
    {"calling a __host__ function",
     "what a kernel calls is compiled for the device: __device__ stands before it"},
    {"calling a constexpr __host__ function",
     "what a kernel calls is compiled for the device: of the standard library that is what begins "
     "with cuda::std::"},
    {"is undefined in device code",
     "a kernel sees no variable of the host: pass it, or make it constexpr or __constant__"},
    {"has no member \"cout\"", "a kernel prints by printf(\"%g\\n\", value)"},
    {"identifier \"assert\" is undefined", "#include <cassert>"},
    {"identifier \"__shfl",
     "since CUDA 9 the lanes come first: __shfl_sync(0xffffffff, value, lane)"},
};

struct Block {
  std::vector<std::string> lines;
  fs::path file;  // that it is about; empty: unknown
  bool is_error = false;
};

}  // namespace

std::string seen_from_here(const fs::path& path) {
  std::error_code unknown;
  const fs::path here = fs::current_path(unknown);
  const std::string whole = path.lexically_normal().string();
  if (unknown) return whole;
  const std::string relative = path.lexically_normal().lexically_relative(here).string();
  return relative.empty() || relative.size() > whole.size() ? whole : relative;
}

std::string machines_fault(const std::string& text) {
  std::istringstream lines(text);
  std::string fault;
  for (std::string line; std::getline(lines, line);) {
    // With an error of its own a file does not compile on any machine; its words may go on in lines of their own. A
    // fatal one may be of an output that can't be written.
    const bool is_its_error = (begins_with_place(line) && !has(line, "fatal error") &&
                               (has(line, "error: ") || has(line, "Error: "))) ||
                              has(line, "undefined reference") || has(line, "multiple definition");
    if (is_its_error) return {};
    if (!fault.empty()) continue;
    // Of the file's own: its text beside an error, and whatever is told of a place in it, which may have its words. A
    // compiler that lacks something tells so of itself.
    const bool is_quoted =
        line.starts_with(' ') || line.find('|') == line.find_first_not_of(" 0123456789");
    if (is_quoted || begins_with_place(line)) continue;
    for (const char* words :
         {"No space left on device", "Disk quota exceeded", "Cannot allocate memory",
          "out of memory", "virtual memory exhausted", "Killed signal terminated",
          "Resource temporarily unavailable", "Read-only file system", "Input/output error",
          "Could not open output file", "Failed to preprocess host compiler properties"}) {
      if (has(line, words)) fault = line;
    }
    // A file that is nested too deeply has the compiler overflow its stack.
    if (has(line, "internal compiler error") && !has(line, "Segmentation fault")) fault = line;
  }
  return fault;
}

CompilerOutput read_compiler_output(const std::string& text, const fs::path& build) {
  // A line that begins with a path: this as it is seen from here.
  const auto told = [&](const std::string& line, std::size_t from, fs::path* file) {
    const std::size_t end = path_end(line.substr(from));
    if (end == 0) return line;
    const fs::path path = (build / line.substr(from, end)).lexically_normal();
    if (file != nullptr) *file = path;
    return line.substr(0, from) + seen_from_here(path) + line.substr(from + end);
  };
  std::vector<Block> blocks;
  std::istringstream lines(text);
  bool in_command = false;
  std::vector<std::string> before;  // that belongs to the next: "In file included from"
  for (std::string line; std::getline(lines, line);) {
    if (in_command) {
      in_command = false;
      continue;
    }
    if (line.starts_with("FAILED: ")) {
      in_command = true;  // the next line, of a thousand letters
      continue;
    }
    if (line.empty() || is_step(line) || is_noise(line)) continue;
    if (const std::size_t from = line.find("from ");
        line.starts_with("In file included") ||
        (from != std::string::npos && from < 20 && line[0] == ' ')) {
      before.push_back(told(line, from + 5, nullptr));
      continue;
    }
    Block fresh;
    const std::string shown = told(line, 0, &fresh.file);
    // "Error: " is the assembler's.
    fresh.is_error = has(line, "error: ") || has(line, "error #") || has(line, "Error: ") ||
                     has(line, "undefined reference") || line.starts_with("ninja: error");
    const bool is_note = has(line, ": note: ");
    const bool begins = fresh.is_error || has(line, "warning: ") || has(line, "Warning: ") ||
                        has(line, "warning #") || blocks.empty();
    if (begins && !is_note) {
      fresh.lines = std::move(before);
      before.clear();
      blocks.push_back(std::move(fresh));
    }
    blocks.back().lines.push_back(shown);
  }

  CompilerOutput output;
  if (has(text, "relocation truncated to fit") || has(text, "GOTPCREL relocation") ||
      has(text, "relocation overflow")) {
    output.mistake = "the program is too large: its static and global arrays have more than 2 GB";
    output.errors = output.mistake + "\n";
    return output;
  }
  // What an empty file lacks; the linker tells it by names of ours.
  for (const auto& [lost, told] :
       {std::pair{"halo::exercise()'",
                  "there is no halo::exercise(): keep the last line of start.cu, which hands "
                  "`launch` to the check"},
        {"main'", "there is no main(): is the file empty?"}}) {
    // As ld quotes, and as gold does.
    const std::string undefined = "undefined reference to ";
    if (!has(text, undefined + "`" + lost) && !has(text, undefined + "'" + lost)) continue;
    output.mistake = told;
    output.errors = output.mistake + "\n";
    return output;
  }
  const auto add = [&](std::string& to, const Block& block) {
    const auto shown = std::count(to.begin(), to.end(), '\n');
    if (shown >= kMostLines) return;
    for (const std::string& line : block.lines) to += line + "\n";
    for (const auto& [said, way] : kWays) {
      const bool is_said = std::any_of(block.lines.begin(), block.lines.end(),
                                       [&](const std::string& line) { return has(line, said); });
      if (block.is_error && is_said) to += std::string("try: ") + way + "\n";
    }
  };
  const std::string stages = "stages/";
  for (const Block& block : blocks) {
    const bool is_warning =
        !block.is_error && has(block.lines.front() + block.lines.back(), "warning");
    if (is_warning && has(block.file.lexically_relative(build.parent_path()).string(), stages)) {
      add(output.warnings, block);
    }
    add(output.errors, block);
    if (!block.is_error || !output.mistake.empty()) continue;
    for (const std::string& line : block.lines) {
      if (has(line, "rror") || has(line, "undefined reference")) output.mistake = line;
    }
  }
  if (output.mistake.empty() && !blocks.empty()) output.mistake = blocks.back().lines.back();
  return output;
}

}  // namespace halo
