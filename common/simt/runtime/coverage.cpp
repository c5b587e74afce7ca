#include "common/simt/runtime/coverage.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/simt/runtime/fp64.hpp"
#include "common/simt/runtime/line_table.hpp"
#include "common/simt/runtime/program_image.hpp"

extern "C" void __sanitizer_cov_trace_pc();

namespace simt {

std::uint8_t* g_block_reached = nullptr;

namespace {

// Where code comes from: a line of a file, and the function that it stands in.
struct Place {
  std::size_t file = 0;  // DeviceCode::file
  int line = 0;
  std::string function;
  bool operator==(const Place&) const = default;
};

// A basic block of the source, as the compiler left it: from its call to the next one. What it moved
// into a block of its own afterwards counts to the one before.
struct Block {
  std::uint32_t call = 0;          // what note_block() is told
  std::vector<Place> places;       // of all its code
  std::vector<Place> sure_places;  // of its calls, which cannot have been moved here
};

struct DeviceFunction {
  std::vector<Block> blocks;
  std::vector<std::uintptr_t> callees;  // where they begin
};

struct KernelEntry {
  std::string name;
  std::string symbol;  // of its host function
  std::uintptr_t body = 0;
};

// The program's device code. Blocks are looked for when they are first asked for.
class DeviceCode {
 public:
  static DeviceCode& get() {
    static DeviceCode& instance = *new DeviceCode;
    return instance;
  }

  const std::vector<KernelEntry>& kernels() const { return kernels_; }
  const std::string& file(std::size_t number) const { return files_[number]; }

  // All functions that calls lead to from there, that function too. By where they begin.
  std::set<std::uintptr_t> closure(std::uintptr_t begin) {
    std::set<std::uintptr_t> found;
    std::vector<std::uintptr_t> open = {begin};
    while (!open.empty()) {
      const std::uintptr_t at = open.back();
      open.pop_back();
      const DeviceFunction* const function = find(at);
      if (!function || !found.insert(at).second) continue;
      open.insert(open.end(), function->callees.begin(), function->callees.end());
    }
    return found;
  }

  // Null if no instrumented function begins there.
  const DeviceFunction* find(std::uintptr_t begin) {
    const auto known = functions_.find(begin);
    if (known != functions_.end()) return known->second.blocks.empty() ? nullptr : &known->second;
    DeviceFunction& function = functions_[begin];
    read(begin, function);
    return function.blocks.empty() ? nullptr : &function;
  }

 private:
  DeviceCode() {
    // Each kernel has a function that calls its body, or holds it:
    // simt::run_kernel<KERNEL::{lambda()#1}>(..)::{lambda(void*)#1}::_FUN(void*).
    constexpr std::string_view kBefore = "_ZZN4simt10run_kernelIZ";
    constexpr std::string_view kBehind = "EUlvE_E";
    for (const ProgramImage::Function& function : image_.functions()) {
      const std::string_view symbol = function.mangled;
      if (!symbol.starts_with(kBefore) || symbol.find("4_FUN") == symbol.npos) continue;
      const std::size_t end = symbol.find(kBehind);
      if (end == symbol.npos) continue;
      const std::string encoding(symbol.substr(kBefore.size(), end - kBefore.size()));
      KernelEntry kernel;
      kernel.symbol = "_Z" + encoding;
      kernel.name = demangle(kernel.symbol.c_str());
      if (kernel.name == kernel.symbol) {  // extern "C": length and name
        kernel.symbol = encoding.substr(encoding.find_first_not_of("0123456789"));
        kernel.name = kernel.symbol;
      }
      kernel.body = function.begin;
      kernels_.push_back(std::move(kernel));
    }
    std::sort(kernels_.begin(), kernels_.end(),
              [](const KernelEntry& a, const KernelEntry& b) { return a.name < b.name; });
  }

  void read(std::uintptr_t begin, DeviceFunction& result) {
    const ProgramImage::Function* const function = image_.function_at(begin);
    if (!function || function->begin != begin) return;
    const auto trace = reinterpret_cast<std::uintptr_t>(&__sanitizer_cov_trace_pc);
    std::vector<std::uintptr_t> starts;  // of blocks
    std::vector<std::uintptr_t> calls;   // all
    for (std::uintptr_t at = begin; at + 5 <= function->end; ++at) {
      const auto* const code = reinterpret_cast<const unsigned char*>(at);
      if (*code != 0xe8) continue;
      std::int32_t distance;
      std::memcpy(&distance, code + 1, sizeof distance);
      const std::uintptr_t target = at + 5 + static_cast<std::intptr_t>(distance);
      if (target == trace) {
        starts.push_back(at);
      } else if (const ProgramImage::Function* callee = image_.function_at(target);
                 callee && callee->begin == target) {
        result.callees.push_back(target);
      } else {
        continue;  // bytes that look like a call
      }
      calls.push_back(at);
    }
    if (starts.empty()) return;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      Block block;
      block.call = static_cast<std::uint32_t>(starts[i] + 4 - image_.load_address());
      const std::uintptr_t from = i == 0 ? begin : starts[i];
      const std::uintptr_t to = i + 1 < starts.size() ? starts[i + 1] : function->end;
      for (auto row = table_.covering(from); row != table_.rows().end() && row->address < to;
           ++row) {
        add_place(block.places, std::max(row->address, from));
      }
      for (auto call = std::lower_bound(calls.begin(), calls.end(), from);
           call != calls.end() && *call < to; ++call) {
        add_place(block.sure_places, *call);
      }
      result.blocks.push_back(std::move(block));
    }
  }

  void add_place(std::vector<Place>& places, std::uintptr_t address) {
    const SourceLine source = image_.line_of(address);
    if (source.line == 0 || is_system_file(source.file)) return;
    const auto [known, is_new] = file_numbers_.try_emplace(source.file, files_.size());
    if (is_new) files_.push_back(source.file);
    const Place place{known->second, source.line, source.function};
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }

  static bool is_system_file(const std::string& file) {
    return file.empty() || file.starts_with("/usr/") || file.find("common/simt/cuda/") != file.npos;
  }

  const ProgramImage& image_ = ProgramImage::get();
  const LineTable table_;
  std::vector<KernelEntry> kernels_;
  std::vector<std::string> files_;
  std::map<std::string, std::size_t> file_numbers_;
  std::map<std::uintptr_t, DeviceFunction>
      functions_;  // by where they begin; not device code: empty
};

// What ran, as the launches left it.
struct Reached {
  std::set<std::uint32_t> calls;
  std::map<std::string, std::uint64_t> launches;  // by the host function's symbol

  void add(const Reached& other) {
    calls.insert(other.calls.begin(), other.calls.end());
    for (const auto& [symbol, count] : other.launches) launches[symbol] += count;
  }
};

struct CoverageState {
  std::mutex mutex;
  Reached before;  // what has been taken
  std::map<std::string, std::uint64_t> launches;
};

CoverageState& coverage_state() {
  static CoverageState& instance = *new CoverageState;
  return instance;
}

constexpr std::size_t kMapBytes = std::size_t{1} << 30;  // for all of 32 bits

// Moves what the launches left out of the map.
Reached collect(CoverageState& s) {
  Reached reached;
  reached.launches = std::exchange(s.launches, {});
  if (!g_block_reached) return reached;
  const std::size_t bytes = (ProgramImage::get().code_bytes() / 4 + 8) & ~std::size_t{7};
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, g_block_reached + at, sizeof eight);
    if (eight == 0) continue;
    for (std::size_t i = at; i < at + 8; ++i) {
      if (g_block_reached[i] & kBlockReached) reached.calls.insert(static_cast<std::uint32_t>(i));
      g_block_reached[i] &= static_cast<std::uint8_t>(~kBlockReached);
    }
  }
  return reached;
}

Coverage to_coverage(const Reached& reached) {
  DeviceCode& code = DeviceCode::get();
  const ProgramImage& image = ProgramImage::get();
  Coverage coverage;
  // Functions and whether a launch could get there.
  std::map<std::uintptr_t, bool> functions;
  for (const KernelEntry& kernel : code.kernels()) {
    const auto launches = reached.launches.find(kernel.symbol);
    const std::uint64_t count = launches == reached.launches.end() ? 0 : launches->second;
    coverage.kernels.push_back({kernel.name, count});
    for (const std::uintptr_t function : code.closure(kernel.body)) {
      functions[function] |= count > 0;
    }
  }
  // What is called through pointers is known when it was.
  for (const std::uint32_t call : reached.calls) {
    const auto* const function = image.function_at(image.load_address() + 4 * call);
    if (function && code.find(function->begin)) functions[function->begin] = true;
  }

  // What ran of each line: of its calls, which stay where they are written; and of the rest, which the
  // compiler may have moved to where it is needed, or out of a loop.
  struct Seen {
    bool has_calls = false;
    bool calls_reached = false;
    bool rest_reached = false;
    bool follows = false;  // the rest: a line before it in its block has calls that never ran
    bool launched = false;
    bool reached() const { return has_calls ? calls_reached : rest_reached; }
  };
  std::map<std::pair<std::size_t, int>, Seen> lines;
  const auto seen_of = [&](const Place& place) -> Seen& { return lines[{place.file, place.line}]; };
  const auto for_each_block = [&](const auto& visit) {
    for (const auto& [begin, launched] : functions) {
      for (const Block& block : code.find(begin)->blocks) {
        visit(block, launched, reached.calls.count(block.call >> 2) > 0);
      }
    }
  };
  for_each_block([&](const Block& block, bool launched, bool ran) {
    for (const Place& place : block.sure_places) {
      Seen& seen = seen_of(place);
      seen.has_calls = true;
      seen.calls_reached |= ran;
      seen.launched |= launched;
    }
    for (const Place& place : block.places) {
      Seen& seen = seen_of(place);
      seen.rest_reached |= ran;
      seen.launched |= launched;
    }
  });
  // Arithmetic of a line that seems not to be reached may have been moved down into a block that was not:
  // then it stands there before what is really of that block.
  for_each_block([&](const Block& block, bool, bool) {
    for (const Place& place : block.places) {
      bool alone = true;
      bool behind = false;
      for (const Place& sure : block.sure_places) {
        if (sure.file != place.file || sure.function != place.function) continue;
        alone = false;
        behind |= sure.line <= place.line && !seen_of(sure).reached();
      }
      if (alone || behind) seen_of(place).follows = true;
    }
  });
  std::erase_if(lines, [](const auto& entry) {
    const Seen& seen = entry.second;
    return !seen.reached() && !seen.has_calls && !seen.follows;
  });
  std::size_t file = static_cast<std::size_t>(-1);
  for (const auto& [where, seen] : lines) {
    if (where.first != file) coverage.files.push_back({code.file(where.first), {}});
    file = where.first;
    coverage.files.back().lines.push_back({where.second, seen.reached(), seen.launched});
  }
  std::sort(coverage.files.begin(), coverage.files.end(),
            [](const FileCoverage& a, const FileCoverage& b) { return a.file < b.file; });
  return coverage;
}

}  // namespace

void expect_coverage(std::uintptr_t program_counter) {
  CoverageState& s = coverage_state();
  std::lock_guard lock(s.mutex);
  if (!g_block_reached) {
    void* const memory = mmap(nullptr, kMapBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      std::fputs("simt: cannot reserve addresses for the coverage of lines\n", stderr);
      std::_Exit(2);
    }
    g_block_reached = static_cast<std::uint8_t*>(memory);
    mark_fp64_blocks(g_block_reached);
  }
  ++s.launches[ProgramImage::get().function_symbol(program_counter)];
}

Coverage take_coverage() {
  CoverageState& s = coverage_state();
  std::lock_guard lock(s.mutex);
  Reached reached = collect(s);
  Coverage coverage = to_coverage(reached);
  s.before.add(reached);
  return coverage;
}

Coverage whole_coverage() {
  CoverageState& s = coverage_state();
  std::lock_guard lock(s.mutex);
  s.before.add(collect(s));
  return to_coverage(s.before);
}

}  // namespace simt
