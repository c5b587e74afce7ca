#include "common/simt/runtime/coverage.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/simt/runtime/fp64.hpp"
#include "common/simt/runtime/instructions.hpp"
#include "common/simt/runtime/line_table.hpp"
#include "common/simt/runtime/program_image.hpp"
#include "common/simt/runtime/reserve.hpp"

extern "C" void __sanitizer_cov_trace_pc();
#if defined(__aarch64__)
extern "C" void __ubsan_handle_divrem_overflow_abort(void*, std::uintptr_t, std::uintptr_t);
#endif

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
  std::uint32_t call = 0;  // what note_block() is told
  // Where its code is from. Calls cannot have been moved here. The call at its start names the line of
  // the first statement, which nearly always belongs here.
  std::vector<Place> calls;
  Place start;
  std::vector<Place> rest;
};

// A conditional jump of the machine and the two ways from there.
struct Jump {
  struct Way {
    std::vector<std::uint32_t> to;  // the blocks that come next, by Block::call
    bool known = true;              // it always gets to one of them
    Place place;                    // where the first of them begins
    int column = 0;
    bool again = false;  // it leads backwards
  };
  Place place;
  int column = 0;
  std::vector<std::uint32_t> from;  // the blocks that it may end
  Way ways[2];
  bool closes_loop() const { return ways[0].again || ways[1].again; }
};

struct DeviceFunction {
  std::vector<Block> blocks;
  std::vector<Jump> jumps;
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
    // Starts of blocks that are not the user's: the compiler's own for a divisor that is zero.
    std::set<std::uintptr_t> added;
    for (std::uintptr_t at = begin; at + kCallBytes <= function->end; at += kInstructionStep) {
      const std::uintptr_t target = called_from(at);
      if (target == 0) continue;
      if (target == trace) {
        starts.push_back(at);
      } else if (target == divides_by_zero()) {
        if (!starts.empty()) added.insert(starts.back());
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
      if (added.count(starts[i]) > 0) continue;
      Block block;
      block.call = block_at(starts[i]);
      const std::uintptr_t from = i == 0 ? begin : starts[i];
      const std::uintptr_t to = i + 1 < starts.size() ? starts[i + 1] : function->end;
      for (auto row = table_.covering(from); row != table_.rows().end() && row->address < to;
           ++row) {
        add_place(block.rest, std::max(row->address, from));
      }
      for (auto call = std::lower_bound(calls.begin(), calls.end(), from);
           call != calls.end() && *call < to; ++call) {
        if (*call != starts[i]) add_place(block.calls, *call);
      }
      block.start = place_of(starts[i]);
      result.blocks.push_back(std::move(block));
    }
    read_jumps(*function, starts, added, result);
  }

  // What g++ calls before a division whose divisor is zero, where the processor does not mind (scheduler.cpp).
  static std::uintptr_t divides_by_zero() {
#if defined(__aarch64__)
    return reinterpret_cast<std::uintptr_t>(&__ubsan_handle_divrem_overflow_abort);
#else
    return 0;
#endif
  }

  std::uint32_t block_at(std::uintptr_t start) const {
    return static_cast<std::uint32_t>(start + kCallBytes - 1 - image_.load_address());
  }

  // Follows the code from instruction `at` to the blocks that come next.
  struct Ahead {
    std::vector<std::size_t> starts;  // instructions that begin a block
    std::vector<std::size_t> jumps;   // conditional ones on the way
    bool known = true;                // no other end was seen
  };
  static Ahead look_ahead(const std::vector<Instruction>& code, const std::vector<bool>& starts,
                          std::size_t at) {
    using Kind = Instruction::Kind;
    Ahead ahead;
    std::set<std::size_t> seen;
    std::vector<std::size_t> open = {at};
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      if (i >= code.size()) {
        ahead.known = false;
        continue;
      }
      if (!seen.insert(i).second) continue;
      const Instruction& one = code[i];
      if (starts[i]) {
        ahead.starts.push_back(i);
        continue;
      }
      if (one.kind == Kind::leaves || one.kind == Kind::indirect) {
        ahead.known = false;
        continue;
      }
      if (one.kind == Kind::branch) ahead.jumps.push_back(i);
      if (one.kind == Kind::jump || one.kind == Kind::branch)
        open.push_back(index_of(code, one.target));
      if (one.kind != Kind::jump) open.push_back(i + 1);
    }
    std::sort(ahead.starts.begin(), ahead.starts.end());
    return ahead;
  }

  // Past the end if no instruction begins there.
  static std::size_t index_of(const std::vector<Instruction>& code, std::uintptr_t address) {
    const auto at = std::lower_bound(
        code.begin(), code.end(), address,
        [](const Instruction& one, std::uintptr_t wanted) { return one.address < wanted; });
    if (at == code.end() || at->address != address) return code.size();
    return static_cast<std::size_t>(at - code.begin());
  }

  // Nothing if the function's instructions are not all understood.
  // `added` are those of the starts that are not the user's, and the jumps that lead there are not either.
  void read_jumps(const ProgramImage::Function& function, const std::vector<std::uintptr_t>& starts,
                  const std::set<std::uintptr_t>& added, DeviceFunction& result) {
    const std::vector<Instruction> code = decode(function.begin, function.end);
    std::vector<bool> is_start(code.size());
    for (const std::uintptr_t start : starts) {
      const std::size_t at = index_of(code, start);
      if (at == code.size() || code[at].kind != Instruction::Kind::call) return;
      is_start[at] = true;
    }
    std::map<std::size_t, std::vector<std::uint32_t>> from;  // of each jump
    for (const std::uintptr_t start : starts) {
      for (const std::size_t jump : look_ahead(code, is_start, index_of(code, start) + 1).jumps) {
        from[jump].push_back(block_at(start));
      }
    }
    for (const auto& [at, before] : from) {
      Jump jump;
      const auto row = table_.covering(code[at].address);
      jump.place = place_of(code[at].address);
      // Not of a line's code from the simulator's headers: those branches are not the user's.
      if (jump.place.line == 0 || row == table_.rows().end() || row->line != jump.place.line)
        continue;
      jump.column = row->column;
      jump.from = before;
      const std::size_t next[2] = {index_of(code, code[at].target), at + 1};
      bool is_added = false;
      for (int i = 0; i < 2; ++i) {
        Jump::Way& way = jump.ways[i];
        Ahead ahead = look_ahead(code, is_start, next[i]);
        const auto dropped = std::erase_if(
            ahead.starts, [&](std::size_t start) { return added.count(code[start].address) > 0; });
        is_added |= dropped > 0 && ahead.starts.empty();
        way.known = ahead.known;
        way.again = next[i] <= at;
        for (const std::size_t start : ahead.starts)
          way.to.push_back(block_at(code[start].address));
        if (ahead.starts.empty()) continue;
        const std::uintptr_t first = code[ahead.starts.front()].address;
        way.place = place_of(first);
        const auto first_row = table_.covering(first);
        if (first_row != table_.rows().end()) way.column = first_row->column;
      }
      if (!is_added) result.jumps.push_back(std::move(jump));
    }
  }

  // Line 0 if it is not the user's.
  Place place_of(std::uintptr_t address) {
    const SourceLine source = image_.line_of(address);
    if (source.line == 0 || is_system_file(source.file)) return {};
    const auto [known, is_new] = file_numbers_.try_emplace(source.file, files_.size());
    if (is_new) files_.push_back(source.file);
    return {known->second, source.line, source.function};
  }

  void add_place(std::vector<Place>& places, std::uintptr_t address) {
    const Place place = place_of(address);
    if (place.line == 0 || std::find(places.begin(), places.end(), place) != places.end()) return;
    places.push_back(place);
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
  BlockEdges edges;
  std::map<std::string, std::uint64_t> launches;  // by the host function's symbol

  void add(const Reached& other) {
    calls.insert(other.calls.begin(), other.calls.end());
    edges.add(other.edges);
    for (const auto& [symbol, count] : other.launches) launches[symbol] += count;
  }
};

struct CoverageState {
  std::mutex mutex;
  BlockEdges edges;
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
  reached.edges.add(s.edges);
  s.edges.clear();
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

// A branch of the source, of all the copies that the compiler made of it.
struct BranchName {
  std::size_t file;
  int line;
  int column;
  auto operator<=>(const BranchName&) const = default;
};
// Where it leads: file, line, column.
using WayName = std::tuple<std::size_t, int, int>;
struct BranchSeen {
  std::set<WayName> taken;
  std::map<WayName, std::vector<const Block*>>
      left;           // by copies that were reached, and what follows
  bool both = false;  // some copy went, or may have gone, both ways
  bool launched = false;
  // Jumps that close a loop are apart from those that decide whether it is entered.
  bool is_loop = false;
  bool closed = false;  // such a jump was reached
  bool again = false;   // it went, or may have gone, back
  bool closed_launched = false;
};
using Branches = std::map<BranchName, BranchSeen>;

// False if the jump was not reached. `block_of` finds a block by its call.
template <class BlockOf>
bool add_jump(const Jump& jump, bool launched, const Reached& reached, const BlockOf& block_of,
              Branches& branches) {
  BranchSeen& seen = branches[{jump.place.file, jump.place.line, jump.column}];
  seen.is_loop |= jump.closes_loop();
  const bool ran = std::any_of(jump.from.begin(), jump.from.end(), [&](std::uint32_t block) {
    return reached.calls.count(block >> 2) > 0;
  });
  if (!ran) return false;
  bool maybe[2];
  for (int i = 0; i < 2; ++i) {
    const Jump::Way& way = jump.ways[i];
    bool taken = false;
    for (const std::uint32_t to : way.to) {
      taken |= reached.edges.has(BlockEdges::kElsewhere, to);
      for (const std::uint32_t from : jump.from) taken |= reached.edges.has(from, to);
    }
    maybe[i] = taken || !way.known;
    if (jump.closes_loop()) {
      if (way.again) seen.again |= maybe[i];
      continue;
    }
    const WayName name{way.place.file, way.place.line, way.column};
    if (taken) {
      seen.taken.insert(name);
    } else if (!maybe[i]) {
      for (const std::uint32_t to : way.to) seen.left[name].push_back(block_of(to));
    }
  }
  if (jump.closes_loop()) {
    seen.closed = true;
    seen.closed_launched |= launched;
  } else {
    seen.both |= maybe[0] && maybe[1];
    seen.launched |= launched;
  }
  return true;
}

// The ways of a file's branches. `has_gap` says whether a block has a line that was not reached: then
// that says enough.
template <class HasGap>
std::vector<BranchCoverage> ways_of(std::size_t file, const Branches& branches,
                                    const HasGap& has_gap) {
  std::vector<BranchCoverage> ways;
  for (const auto& [name, seen] : branches) {
    if (name.file != file) continue;
    if (seen.closed) {
      ways.push_back({name.line, name.column, name.line, true, seen.again, seen.closed_launched});
    }
    // Whether a loop is entered shows in its lines; that it is never passed by is no gap.
    if (seen.is_loop) continue;
    const auto add = [&, &name = name, &seen = seen](const WayName& to, bool taken) {
      const auto& [to_file, line, column] = to;
      ways.push_back(
          {name.line, name.column, to_file == file ? line : 0, false, taken, seen.launched});
    };
    for (const WayName& to : seen.taken) add(to, true);
    // Where copies lead to more than two places, which of them are the same way is not known.
    std::set<WayName> all = seen.taken;
    for (const auto& [to, blocks] : seen.left) all.insert(to);
    if (seen.both || all.size() != 2) continue;
    for (const auto& [to, blocks] : seen.left) {
      if (seen.taken.count(to) > 0 || std::any_of(blocks.begin(), blocks.end(), has_gap)) continue;
      add(to, false);
    }
  }
  return ways;
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

  // What ran of each line, by what is surest of the code that it has.
  struct Seen {
    struct Part {
      bool there = false;
      bool reached = false;
      void add(bool ran) {
        there = true;
        reached |= ran;
      }
    };
    Part calls;
    Part starts;
    Part rest;
    bool follows =
        false;  // the rest: a line before it in its block has surer code, and that never ran
    bool branched =
        false;  // it decides something, and did: what calls it has beside that may be optional
    bool launched = false;
    bool is_sure() const { return calls.there || starts.there; }
    bool reached() const {
      return branched || (calls.there    ? calls.reached
                          : starts.there ? starts.reached
                                         : rest.reached);
    }
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
    const auto see = [&](const Place& place, Seen::Part Seen::*part) {
      Seen& seen = seen_of(place);
      (seen.*part).add(ran);
      seen.launched |= launched;
    };
    for (const Place& place : block.calls) see(place, &Seen::calls);
    if (block.start.line != 0) see(block.start, &Seen::starts);
    for (const Place& place : block.rest) see(place, &Seen::rest);
  });
  Branches branches;
  for (const auto& [begin, launched] : functions) {
    const DeviceFunction& function = *code.find(begin);
    const auto block_of = [&](std::uint32_t call) -> const Block* {
      return &*std::lower_bound(function.blocks.begin(), function.blocks.end(), call,
                                [](const Block& block, std::uint32_t c) { return block.call < c; });
    };
    for (const Jump& jump : function.jumps) {
      if (add_jump(jump, launched, reached, block_of, branches)) {
        seen_of(jump.place).branched = true;
      }
    }
  }
  // Arithmetic of a line that seems not to be reached may have been moved down into a block that was not:
  // then it stands there before what is really of that block.
  for_each_block([&](const Block& block, bool, bool) {
    for (const Place& place : block.rest) {
      bool alone = true;
      bool behind = false;
      const auto compare = [&](const Place& sure) {
        if (sure.file != place.file || sure.function != place.function) return;
        alone = false;
        behind |= sure.line <= place.line && !seen_of(sure).reached();
      };
      for (const Place& sure : block.calls) compare(sure);
      if (block.start.line != 0) compare(block.start);
      if (alone || behind) seen_of(place).follows = true;
    }
  });
  std::erase_if(lines, [](const auto& entry) {
    const Seen& seen = entry.second;
    return !seen.reached() && !seen.is_sure() && !seen.follows;
  });
  const auto has_gap = [&](const Block* block) {
    return std::any_of(block->rest.begin(), block->rest.end(), [&](const Place& place) {
      const auto line = lines.find({place.file, place.line});
      return line != lines.end() && !line->second.reached();
    });
  };
  std::size_t file = static_cast<std::size_t>(-1);
  for (const auto& [where, seen] : lines) {
    if (where.first != file) {
      coverage.files.push_back(
          {code.file(where.first), {}, ways_of(where.first, branches, has_gap)});
    }
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
    g_block_reached =
        static_cast<std::uint8_t*>(reserve_addresses(kMapBytes, "the coverage of lines"));
    mark_fp64_blocks(g_block_reached);
  }
  ++s.launches[ProgramImage::get().function_symbol(program_counter)];
}

void note_edges(const BlockEdges& edges) {
  CoverageState& s = coverage_state();
  std::lock_guard lock(s.mutex);
  s.edges.add(edges);
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
