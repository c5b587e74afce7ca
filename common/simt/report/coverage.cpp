#include "common/simt/report/coverage.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "common/simt/machine/probes.hpp"
#include "common/simt/report/lines.hpp"

namespace simt::report {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

bool is_branch(const Instruction& one) { return one.opcode == "bra" && one.guard >= 0; }

bool ends_block(const Instruction& one) {
  return one.opcode == "bra" || one.opcode == "brx" || one.opcode == "ret" || one.opcode == "exit";
}

// An address that is known before the launch: such a load can be made ahead of what decides whether it is wanted.
bool has_fixed_address(const Instruction& one) {
  return std::all_of(one.operands.begin(), one.operands.end(), [](const Operand& operand) {
    return operand.kind != Operand::Kind::address || operand.parts.empty() ||
           operand.parts.front().kind != Operand::Kind::reg;
  });
}

// What nvcc leaves where the source has it. An array, which needs no destructor: modules are read while the program ends.
bool stays(const Instruction& one) {
  static constexpr std::string_view kAll[] = {
      "st",    "atom",       "red",      "bar",      "barrier",  "call", "shfl",  "vote",
      "match", "activemask", "redux",    "cp",       "mma",      "wmma", "wgmma", "tex",
      "tld4",  "suld",       "sust",     "sured",    "ret",      "exit", "trap",  "membar",
      "fence", "mbarrier",   "ldmatrix", "stmatrix", "nanosleep"};
  if (one.opcode == "ld" || one.opcode == "ldu") {
    return !one.has("param") && !one.has("local") && !has_fixed_address(one);
  }
  return std::ranges::find(kAll, one.opcode) != std::end(kAll) || is_branch(one);
}

}  // namespace

// What one module adds.
class ModuleFacts {
 public:
  ModuleFacts(const ptx::Module& module, std::span<const std::uint8_t> ran, CoverageFacts& facts)
      : module_(module), ran_(ran), facts_(facts) {
    line_starts_.push_back(0);
    for (std::size_t at = module.text.find('\n'); at != module.text.npos;
         at = module.text.find('\n', at + 1)) {
      line_starts_.push_back(at + 1);
    }
    std::map<std::string_view, int> known;
    for (const std::string& name : module.files) {
      const bool is_own = !name.empty() && !is_of_system(name);
      files_.push_back({known.emplace(name, static_cast<int>(known.size())).first->second, is_own});
    }
  }

  void add(const Function& function, bool launched) {
    read_blocks(function);
    const bool ran =
        std::any_of(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.ran; });
    launched |= ran;  // what is called by its address is known when it was
    for (Block& block : blocks_) {
      block.launched = launched;
      add_lines(block);
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) add_branch(function, b, launched);
    for (const auto& [location, closers] : closers_) close(location, closers, launched);
    blocks_of_all_.insert(blocks_of_all_.end(), blocks_.begin(), blocks_.end());
  }

  // Arithmetic of a line that seems not to be reached may have been moved down into a block that was not: then it stands
  // there before what is really of that block.
  void end() {
    for (const Block& block : blocks_of_all_) {
      // They are sorted: those of one file and scope stand together, of one line what stays first.
      for (auto first = block.visits.begin(); first != block.visits.end();) {
        const auto last = std::find_if(first, block.visits.end(), [&](const Visit& one) {
          return one.file != first->file || one.scope != first->scope;
        });
        const bool is_alone = std::none_of(first, last, [](const Visit& one) { return one.stays; });
        bool is_behind = false;
        for (; first != last; ++first) {
          if (first->stays) {
            is_behind |= !first->told->reached();
          } else if (is_alone || is_behind) {
            first->told->follows = true;
            first->told->follows_launched |= block.launched;
          }
        }
      }
    }
  }

 private:
  struct File {
    int number;  // the same for all of one name
    bool is_own;
  };
  struct Visit {
    int file;
    std::int32_t scope;  // where it was inlined
    int line;
    bool stays;
    bool ran;
    CoverageFacts::Line* told;
    const std::pair<std::string, int>* place;

    auto order() const { return std::tuple(file, scope, line, !stays); }
  };
  struct Block {
    std::size_t begin = 0, end = 0;  // instructions
    bool ran = false;
    bool launched = false;
    bool is_rolled = false;  // the turn of a loop that nvcc was told not to unroll
    std::vector<Visit> visits;
    CoverageFacts::Place place;  // where it begins
  };
  // What nvcc made of a loop's test: of one place in the source, inlined at one place.
  struct Closers {
    int forwards = 0;
    struct Closer {
      bool ran, back, is_rolled;
    };
    std::vector<Closer> all;
  };

  std::uint8_t flags_of(const Instruction& one) const {
    const auto line = static_cast<std::size_t>(one.line);
    return line < ran_.size() ? ran_[line] : std::uint8_t{0};
  }
  // The innermost that is the program's, as an index; -1: there is none.
  std::int32_t own_location(std::int32_t at) const {
    while (at >= 0 && !is_own(at)) at = location(at).inlined_at;
    return at;
  }
  const ptx::Location& location(std::int32_t at) const {
    return module_.locations[static_cast<std::size_t>(at)];
  }
  const std::string& file_of(std::int32_t at) const {
    return module_.files[static_cast<std::size_t>(location(at).file)];
  }
  const File& known_file(std::int32_t at) const {
    return files_[static_cast<std::size_t>(location(at).file)];
  }
  bool is_own(std::int32_t at) const { return location(at).line != 0 && known_file(at).is_own; }
  CoverageFacts::LineOfAll& line_at(std::int32_t at) {
    CoverageFacts::LineOfAll*& known = lines_[{known_file(at).number, location(at).line}];
    if (known == nullptr) {
      known = &*facts_.lines_.try_emplace({file_of(at), location(at).line}).first;
    }
    return *known;
  }
  CoverageFacts::Place place_of(std::int32_t at) const {
    if (at < 0) return {};
    return {file_of(at), location(at).line, location(at).column};
  }

  void read_blocks(const Function& function) {
    const std::vector<Instruction>& body = function.body;
    std::vector<bool> begins(body.size() + 1);
    begins[0] = true;
    for (const std::int32_t label : function.labels) {
      if (label >= 0) begins[static_cast<std::size_t>(label)] = true;
    }
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (ends_block(body[i])) begins[i + 1] = true;
    }
    blocks_.clear();
    closers_.clear();
    block_at_.assign(body.size() + 1, 0);
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (begins[i]) blocks_.emplace_back().begin = i;
      Block& block = blocks_.back();
      block.end = i + 1;
      block.ran |= (flags_of(body[i]) & machine::kRan) != 0;
      block_at_[i] = blocks_.size() - 1;
    }
    block_at_[body.size()] = blocks_.size();
    for (Block& block : blocks_) read_block(function, block);
  }

  void read_block(const Function& function, Block& block) {
    block.is_rolled = has_pragma(function.body[block.begin]);
    bool has_sure_place = false;
    for (std::size_t i = block.begin; i < block.end; ++i) {
      const Instruction& one = function.body[i];
      const bool is_plain_jump = one.opcode == "bra" && one.guard < 0;
      if (one.has("param") || is_plain_jump || one.location < 0) continue;
      const bool its_stays = stays(one);
      const bool ran =
          one.guard >= 0 && one.opcode != "bra" ? (flags_of(one) & machine::kRan) != 0 : block.ran;
      for (std::int32_t at = own_location(one.location); at >= 0;
           at = own_location(location(at).inlined_at)) {
        CoverageFacts::LineOfAll& line = line_at(at);
        block.visits.push_back({known_file(at).number, location(at).inlined_at, location(at).line,
                                its_stays, ran, &line.second, &line.first});
      }
      if (!has_sure_place && (its_stays || std::get<1>(block.place) == 0)) {
        block.place = place_of(own_location(one.location));
        has_sure_place = its_stays;
      }
    }
    merge(block.visits);
  }

  // Sorts them, and makes one of those that are alike.
  static void merge(std::vector<Visit>& visits) {
    std::sort(visits.begin(), visits.end(),
              [](const Visit& a, const Visit& b) { return a.order() < b.order(); });
    std::size_t count = 0;
    for (const Visit& visit : visits) {
      if (count > 0 && visits[count - 1].order() == visit.order()) {
        visits[count - 1].ran |= visit.ran;
      } else {
        visits[count++] = visit;
      }
    }
    visits.resize(count);
  }

  // .pragma "nounroll" stands before the first instruction of the block.
  bool has_pragma(const Instruction& first) const {
    const std::string_view text = module_.text;
    for (auto line = static_cast<std::size_t>(std::max(first.line, 1)) - 1; line > 0; --line) {
      const std::size_t begin = line_starts_[line - 1];
      const std::string_view its = text.substr(begin, line_starts_[line] - begin);
      const std::size_t at = its.find_first_not_of(" \t");
      if (at == its.npos || its[at] == '\n') continue;
      if (its.substr(at).starts_with(".pragma")) return its.find("nounroll") != its.npos;
      if (!its.substr(at).starts_with(".loc")) return false;
    }
    return false;
  }

  void add_lines(const Block& block) {
    for (const Visit& visit : block.visits) {
      (visit.stays ? visit.told->sure : visit.told->rest).add({true, visit.ran, block.launched});
    }
  }

  void add_branch(const Function& function, std::size_t number, bool launched) {
    const Block& block = blocks_[number];
    const Instruction& jump = function.body[block.end - 1];
    if (!is_branch(jump) || jump.operands.empty() ||
        jump.operands[0].kind != Operand::Kind::label) {
      return;
    }
    const std::int32_t at = own_location(jump.location);
    if (at < 0) return;
    const auto label = static_cast<std::size_t>(jump.operands[0].index);
    const auto target = static_cast<std::size_t>(function.labels[label]);
    const bool leads_back = target < block.end;
    const std::uint8_t flags = flags_of(jump);
    const bool went[2] = {(flags & machine::kTaken) != 0, (flags & machine::kPassed) != 0};
    CoverageFacts::Branch& branch = facts_.branches_[place_of(at)];
    branch.is_loop |= leads_back;
    Closers& closers = closers_[at];
    if (leads_back) {
      closers.all.push_back({block.ran, went[0], blocks_[block_at_[target]].is_rolled});
      return;
    }
    ++closers.forwards;
    if (!block.ran) return;
    line_at(at).second.branched = true;
    branch.launched |= launched;
    const std::size_t to[2] = {first_code(function, block_at_[target]),
                               first_code(function, number + 1)};
    CoverageFacts::Place places[2];
    for (int i = 0; i < 2; ++i) {
      if (to[i] >= blocks_.size()) return;
      const Block& its = blocks_[to[i]];
      places[i] = its.place;
      if (went[i]) continue;  // they are asked for where no copy went there
      CoverageFacts::Lines& lines = branch.lines[its.place];
      for (const Visit& visit : its.visits) lines.insert(*visit.place);
    }
    const bool is_swapped = places[1] < places[0];
    auto& [first, second] = branch.copies[{places[is_swapped], places[!is_swapped]}];
    first |= went[is_swapped];
    second |= went[!is_swapped];
  }

  // Where a block only jumps on, the one that has code.
  std::size_t first_code(const Function& function, std::size_t block) const {
    for (std::size_t steps = 0; block < blocks_.size() && steps < blocks_.size(); ++steps) {
      const Instruction& first = function.body[blocks_[block].begin];
      if (first.opcode != "bra" || first.guard >= 0 ||
          first.operands[0].kind != Operand::Kind::label) {
        break;
      }
      const auto label = static_cast<std::size_t>(first.operands[0].index);
      block = block_at_[static_cast<std::size_t>(function.labels[label])];
    }
    return block;
  }

  // A loop that nvcc unrolls becomes one of several turns at a time and, with its own tests, what is left: where the
  // former ran, the source's loop went round.
  void close(std::int32_t location, const Closers& closers, bool launched) {
    if (closers.all.empty()) return;
    CoverageFacts::Branch& branch = facts_.branches_[place_of(location)];
    const bool is_unrolled = closers.all.size() > 1 || closers.forwards > 1;
    for (const Closers::Closer& one : closers.all) {
      if (!one.ran) continue;
      branch.closed = true;
      branch.closed_launched |= launched;
      branch.again |= one.back || (is_unrolled && !one.is_rolled);
    }
  }

  const ptx::Module& module_;
  std::span<const std::uint8_t> ran_;
  CoverageFacts& facts_;
  std::vector<std::size_t> line_starts_;
  std::vector<File> files_;                                         // of the module
  std::map<std::pair<int, int>, CoverageFacts::LineOfAll*> lines_;  // by file and line
  std::vector<Block> blocks_, blocks_of_all_;
  std::vector<std::size_t> block_at_;  // by instruction
  std::map<std::int32_t, Closers> closers_;
};

// Copies of a loop's body lead to one place in common, and else to what comes next in each. Where they don't, which of
// their ways are the same is not known, and only those are told that were taken.
std::vector<std::pair<CoverageFacts::Place, bool>> CoverageFacts::Branch::ways() const {
  if (copies.empty()) return {};
  const auto& [one, another] = copies.begin()->first;
  for (const Place* const common : {&one, &another}) {
    std::pair<Place, bool> its{*common, false}, other{common == &one ? another : one, false};
    const bool is_common = std::all_of(copies.begin(), copies.end(), [&](const auto& copy) {
      const auto& [to, went] = copy;
      if ((to.first == *common) == (to.second == *common)) return false;
      its.second |= to.first == *common ? went.first : went.second;
      other.second |= to.first == *common ? went.second : went.first;
      return true;
    });
    if (is_common) return {its, other};
  }
  std::vector<std::pair<Place, bool>> taken;
  for (const auto& [to, went] : copies) {
    if (went.first) taken.emplace_back(to.first, true);
    if (went.second) taken.emplace_back(to.second, true);
  }
  return taken;
}

void CoverageFacts::add(const ptx::Module& module, std::span<const std::uint8_t> ran,
                        std::span<const KernelRun> kernels) {
  std::map<const Function*, bool> functions;  // and whether a launch could get there
  for (const KernelRun& kernel : kernels) {
    if (kernel.function == nullptr) continue;
    kernels_[ptx::demangled(kernel.function->name)] += kernel.launches;
    for (const Function* const one : ptx::reachable(module, *kernel.function)) {
      functions[one] |= kernel.launches > 0;
    }
  }
  ModuleFacts its(module, ran, *this);
  for (const Function& one : module.functions) {
    if (!one.has_body) continue;
    const auto found = functions.find(&one);
    its.add(one, found != functions.end() && found->second);
  }
  its.end();
}

void CoverageFacts::add(const CoverageFacts& others) {
  for (const auto& [name, launches] : others.kernels_) kernels_[name] += launches;
  for (const auto& [place, other] : others.lines_) {
    Line& line = lines_[place];
    line.sure.add(other.sure);
    line.rest.add(other.rest);
    line.branched |= other.branched;
    line.follows |= other.follows;
    line.follows_launched |= other.follows_launched;
  }
  for (const auto& [place, other] : others.branches_) {
    Branch& branch = branches_[place];
    for (const auto& [to, went] : other.copies) {
      branch.copies[to].first |= went.first;
      branch.copies[to].second |= went.second;
    }
    for (const auto& [to, lines] : other.lines) branch.lines[to].insert(lines.begin(), lines.end());
    branch.launched |= other.launched;
    branch.is_loop |= other.is_loop;
    branch.closed |= other.closed;
    branch.again |= other.again;
    branch.closed_launched |= other.closed_launched;
  }
}

Coverage CoverageFacts::told() const {
  Coverage coverage;
  for (const auto& [name, launches] : kernels_) coverage.kernels.push_back({name, launches});
  const auto is_told = [](const Line& line) {
    return line.reached() || line.sure.is_there || line.follows;
  };
  // Where a way leads to lines that were not reached, they say it.
  const auto has_gap = [&](const Lines& lines) {
    return std::any_of(lines.begin(), lines.end(), [&](const auto& place) {
      const Line& line = lines_.at(place);
      return is_told(line) && !line.reached();
    });
  };
  for (const auto& [place, line] : lines_) {
    if (!is_told(line)) continue;
    if (coverage.files.empty() || coverage.files.back().file != place.first) {
      coverage.files.push_back({place.first, {}, {}});
    }
    coverage.files.back().lines.push_back({place.second, line.reached(), line.launched()});
  }
  for (const auto& [place, branch] : branches_) {
    const auto& [file, line, column] = place;
    const auto its = std::find_if(coverage.files.begin(), coverage.files.end(),
                                  [&, &name = file](const auto& one) { return one.file == name; });
    if (its == coverage.files.end()) continue;
    if (branch.closed) {
      its->branches.push_back({line, column, line, true, branch.again, branch.closed_launched});
    }
    // Whether a loop is entered shows in its lines; that it is never passed by is no gap.
    if (branch.is_loop) continue;
    for (const auto& [to, taken] : branch.ways()) {
      if (!taken && has_gap(branch.lines.at(to))) continue;
      const auto& [to_file, to_line, to_column] = to;
      its->branches.push_back(
          {line, column, to_file == file ? to_line : 0, false, taken, branch.launched});
    }
  }
  return coverage;
}

}  // namespace simt::report
