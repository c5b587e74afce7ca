#include "common/simt/checker/findings.hpp"

#include <algorithm>
#include <set>

namespace simt::checker {
namespace {

std::string triple(std::uint64_t index, const Shape& shape) {
  return "(" + std::to_string(index % shape[0]) + "," +
         std::to_string(index / shape[0] % shape[1]) + "," +
         std::to_string(index / shape[0] / shape[1]) + ")";
}

std::string name_of(const Party& party, const Shape& grid, const Shape& block) {
  const std::string thread =
      party.thread == kNoThread ? "a thread" : "thread " + triple(party.thread, block);
  return thread + " of block " + triple(party.block, grid);
}

// Counts one more; the first in the order of the grid stands for all.
void join(Finding& kept, Finding finding) {
  if (kept.count == 0) {
    kept = std::move(finding);
    return;
  }
  const std::uint64_t count = kept.count + finding.count;
  const Remedy remedy = std::max(kept.remedy, finding.remedy);
  Outside outside = kept.outside;
  outside.join(finding.outside);
  if (std::tie(finding.party, finding.other) < std::tie(kept.party, kept.other)) {
    kept = std::move(finding);
  }
  kept.count = count;
  kept.remedy = remedy;
  kept.outside = outside;
}

}  // namespace

void Findings::add(Finding finding) {
  Finding& kept =
      found_[Key{finding.site, finding.other_site, finding.hazard, finding.array, finding.what}];
  const bool is_new = kept.count == 0;
  join(kept, std::move(finding));
  if (is_new && tell_) tell_(kept);
}

std::vector<Finding> Findings::all(const LineOf& line_of) const {
  // Where lines are not known each site is a place of its own.
  const auto place_of = [&](std::int32_t site) {
    Line line = site >= 0 ? line_of(site) : Line{};
    if (line.number == 0) line.number = -site;
    return line;
  };
  using Places = std::tuple<Line, Line, Hazard, std::string, std::string>;
  std::map<Places, std::size_t> numbers;
  std::vector<Finding> result;
  for (const auto& [key, finding] : found_) {
    const auto [found, is_new] =
        numbers.try_emplace({place_of(finding.site), place_of(finding.other_site), finding.hazard,
                             finding.array, finding.what},
                            result.size());
    if (is_new) result.emplace_back();
    join(result[found->second], finding);
  }
  // That a value is stored twice adds nothing to a race of the store.
  std::set<std::pair<Line, std::string>> races;
  for (const Finding& one : result) {
    if (one.hazard == Hazard::race) races.insert({place_of(one.site), one.array});
  }
  std::erase_if(result, [&](const Finding& one) {
    return one.hazard == Hazard::same_value_write &&
           races.contains({place_of(one.site), one.array});
  });
  return result;
}

std::string message(const Finding& finding, const Shape& grid, const Shape& block,
                    const LineOf& line_of) {
  const bool is_between_blocks = finding.is_between_blocks();
  std::string text;
  if (is_between_blocks && finding.hazard == Hazard::race) text = "race between blocks: ";
  text += name_of(finding.party, grid, block) + " " + finding.what;
  if (!finding.detail.empty()) text += " " + finding.detail;
  if (finding.has_other()) {
    if (is_between_blocks) {
      text += " " + name_of(finding.other, grid, block);
    } else {
      text += finding.other.thread == kNoThread ? " another thread"
                                                : " thread " + triple(finding.other.thread, block);
    }
  }
  if (finding.other_site >= 0) {
    const Line line = line_of(finding.other_site);
    if (line.number != 0) text += " at " + line.file + ":" + std::to_string(line.number);
  }
  text += ". ";
  if (finding.hazard == Hazard::race && finding.has_other() && !is_between_blocks &&
      ((finding.remedy >= Remedy::blocks && finding.remedy <= Remedy::flag) ||
       finding.remedy == Remedy::one_for_all)) {
    text += "It is a race between blocks as well. ";
  }
  if (finding.hazard == Hazard::out_of_bounds) return text + advice(finding.outside, finding.maker);
  return text + advice(finding.hazard, finding.remedy);
}

}  // namespace simt::checker
