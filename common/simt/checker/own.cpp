// What threads do with memory of their own: local arrays, and variables of functions that have returned.
#include <algorithm>
#include <bit>

#include "common/simt/checker/block_check.hpp"

namespace simt::checker {

// What an element lacks that is read at a place which is worked out, and not only moved: structures are copied with padding
// and with what nobody has set.
void BlockCheck::own_unwritten(const Access& access, const Site& site, int lane) {
  const unsigned thread = access.warp * 32 + static_cast<unsigned>(lane);
  const std::uint64_t at = thread * checker_.launch_.own_bytes + address_of(access, lane);
  const auto bytes = static_cast<std::size_t>(access.lanes.bytes);
  if (access.act != Act::load) {
    own_->mark(at, bytes);
    for (std::uint64_t i = at / 4; !own_->left_at.empty() && i * 4 < at + bytes; ++i) {
      own_->left_at.erase(i);
    }
    return;
  }
  if (access.unwritten == nullptr || own_->initialised.all(at, bytes)) return;
  const std::uint64_t lacking = ~own_->initialised.bits(at, bytes);
  const auto each = static_cast<unsigned>(access.value_bytes);
  const std::uint64_t all = each >= 8 ? 255 : (std::uint64_t{1} << each) - 1;
  for (unsigned v = 0; v * each < bytes && v < site.values.size(); ++v) {
    const Site::Value& value = site.values[v];
    const std::uint64_t its = lacking >> v * each & all & value.used;
    const bool is_piece = its != (all & value.used);
    if (its == 0 || value.is_moved || (is_piece && (its & value.matters) == 0)) continue;
    const auto left = own_->left_at.find((at + v * each) / 4);
    std::uint32_t origin = left == own_->left_at.end() ? 0 : left->second;
    if (origin == 0 && !site.is_indexed) continue;
    if (origin == 0) {
      Finding finding;
      finding.hazard = Hazard::uninitialized_local_read;
      finding.site = access.site;
      finding.array = "a local array";
      finding.what = "reads an element that it has not written, of";
      finding.detail = finding.array;
      finding.party = {block_, thread};
      finding.address = address_of(access, lane);
      finding.count = 1;
      origin = new_origin({std::move(finding)});
    }
    access.unwritten->push_back({lane, static_cast<int>(v), origin});
  }
}

std::uint32_t BlockCheck::own_access(const Access& access) {
  if (const std::uint32_t leaving = leaves_variable(access); leaving != 0) return leaving;
  const Launch& launch = checker_.launch_;
  const Site& site = launch.sites[static_cast<std::size_t>(access.site)];
  for (std::uint32_t rest = access.lanes.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t at = address_of(access, lane);
    const auto behind = std::upper_bound(
        launch.own.begin(), launch.own.end(), at,
        [](std::uint64_t place, const Launch::Own& one) { return place < one.begin; });
    if (behind == launch.own.begin()) continue;
    const Launch::Own& its = behind[-1];
    // What calls are given, and the frames of functions that are known by their address only.
    if (at >= its.end) continue;
    if (access.site < its.first_site || access.site >= its.end_site) {
      report(Hazard::use_after_free, access.site, access.warp * 32 + static_cast<unsigned>(lane),
             access.act == Act::load ? "reads a local variable of a function that has returned"
                                     : "writes to a local variable of a function that has returned",
             -1, {}, Remedy::returned);
    } else if (own_ != nullptr) {
      own_unwritten(access, site, lane);
    }
  }
  return 0;
}

void BlockCheck::leaves_own_unwritten(unsigned thread, std::uint64_t address, std::size_t bytes,
                                      std::uint32_t origin) {
  // Beyond lie alloca() and frames of functions that are known by their address only.
  if (own_ == nullptr || address + bytes > checker_.launch_.own_bytes) return;
  const std::uint64_t at = thread * checker_.launch_.own_bytes + address;
  own_->initialised.forget(at, bytes);
  for (std::uint64_t word = at / 4; word * 4 < at + bytes; ++word) own_->left_at[word] = origin;
}

}  // namespace simt::checker
