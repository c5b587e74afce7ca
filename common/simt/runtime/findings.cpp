#include "common/simt/runtime/findings.hpp"

#include <algorithm>

#include "common/simt/runtime/program_image.hpp"

namespace simt {
namespace {

std::array<unsigned, 3> unflatten(std::uint64_t index, const unsigned shape[3]) {
  return {static_cast<unsigned>(index % shape[0]),
          static_cast<unsigned>(index / shape[0] % shape[1]),
          static_cast<unsigned>(index / shape[0] / shape[1])};
}

std::string triple(const std::array<unsigned, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

SourceLine line_of(std::uint32_t pc) {
  if (pc == 0) return {};
  const ProgramImage& image = ProgramImage::get();
  return image.line_of(image.load_address() + pc);
}

}  // namespace

void HazardRecord::add(const HazardRecord& other) {
  count += other.count;
  prescribe(other.remedy);
  beside_atomic |= other.beside_atomic;
  if (std::tie(other.block, other.thread, other.other_thread, other.other_block) <
      std::tie(block, thread, other_thread, other_block)) {
    block = other.block;
    thread = other.thread;
    other_thread = other.other_thread;
    other_block = other.other_block;
    detail = other.detail;
  }
}

void HazardRecord::add(std::uint64_t at_block, unsigned at_thread, unsigned at_other,
                       const std::string& its_detail, std::uint64_t times) {
  HazardRecord one;
  one.block = at_block;
  one.thread = at_thread;
  one.other_thread = at_other;
  one.detail = its_detail;
  one.count = times;
  add(one);
}

void merge(HazardTable& into, const HazardTable& from) {
  for (const auto& [key, record] : from) {
    into[key].add(record);
  }
}

std::vector<Finding> to_findings(const HazardTable& table, const unsigned grid[3],
                                 const unsigned block[3]) {
  struct LineKey {
    Hazard hazard;
    SourceLine line, other;
    std::string array, what;
  };
  auto less = [](const LineKey& a, const LineKey& b) {
    return std::tie(a.line.file, a.line.line, a.hazard, a.other.file, a.other.line, a.array,
                    a.what) < std::tie(b.line.file, b.line.line, b.hazard, b.other.file,
                                       b.other.line, b.array, b.what);
  };
  std::map<LineKey, HazardRecord, decltype(less)> by_line(less);
  for (const auto& [key, record] : table) {
    LineKey line_key{key.hazard, line_of(key.pc), line_of(key.other_pc), key.array, key.what};
    by_line[line_key].add(record);
  }

  std::vector<Finding> findings;
  for (const auto& [key, record] : by_line) {
    Finding f;
    f.kind = hazard_name(key.hazard);
    f.note = is_note(key.hazard) || key.hazard == Hazard::missed_barrier;
    f.file = key.line.file;
    f.line = key.line.line;
    f.other_file = key.other.file;
    f.other_line = key.other.line;
    f.block = unflatten(record.block, grid);
    f.thread = unflatten(record.thread, block);
    f.array = key.array;
    f.count = record.count;
    const bool is_absent = key.hazard == Hazard::absent_block;
    const bool between_blocks = record.between_blocks() && !is_absent;
    if (between_blocks) {
      f.message = key.hazard == Hazard::race ? "race between blocks: " : "";
      f.message += "block " + triple(f.block) + " " + key.what;
    } else {
      f.message = "thread " + triple(f.thread) + " of block " + triple(f.block) + " " + key.what;
    }
    if (!record.detail.empty()) f.message += " " + record.detail;
    if (record.other_thread != UINT32_MAX) {
      f.message += " thread " + triple(unflatten(record.other_thread, block));
    }
    if (between_blocks) f.message += " block " + triple(unflatten(record.other_block, grid));
    if (!between_blocks && record.other_block != UINT64_MAX) {
      f.message +=
          (is_absent ? " block " : " of block ") + triple(unflatten(record.other_block, grid));
    }
    if (f.other_line) {
      f.message += " at " + f.other_file + ":" + std::to_string(f.other_line);
    }
    f.message += ". ";
    if (key.hazard == Hazard::race && !between_blocks &&
        (record.remedy == Remedy::blocks || record.remedy == Remedy::blocks_in_place)) {
      f.message += "It is a race between blocks as well. ";
    }
    f.message += advice(key.hazard, record.remedy);
    f.remedy = static_cast<int>(record.remedy);
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace simt
