#include "common/simt/machine/probes.hpp"

#include <algorithm>
#include <bit>

#include "common/simt/machine/forms.hpp"
#include "common/simt/machine/grid.hpp"

namespace simt::machine {
namespace {

const Step* probe(const Step* step, Warp& warp) {
  return warp.block->grid->probes->run(step, warp);
}

// How often an instruction computes in double precision for a lane: a product that is added at once is two.
unsigned fp64_operations(const ptx::Instruction& one) {
  const bool is_of_double =
      std::find(one.modifiers.begin(), one.modifiers.end(), "f64") != one.modifiers.end();
  if (!is_of_double) return 0;
  if (one.opcode == "fma" || one.opcode == "mad") return 2;
  for (const char* const opcode :
       {"add", "sub", "mul", "div", "min", "max", "sqrt", "rsqrt", "rcp", "cvt"}) {
    if (one.opcode == opcode) return 1;
  }
  return 0;
}

// Instructions of tensor cores that ptxas makes of it.
unsigned tensor_instructions(const ptx::Instruction& one) {
  if (one.opcode == "mma" || (one.opcode == "wgmma" && one.has("mma_async"))) return 1;
  if (one.opcode != "wmma" || !one.has("mma")) return 0;
  return one.has("tf32") ? 4 : one.has("f64") ? 1 : 2;
}

}  // namespace

Probes::Probes(Code& code) : code_(code), probes_(code.steps.size()), flags_(code.sites.size()) {
  std::int32_t last = -1;
  for (std::size_t i = 0; i < code.steps.size(); ++i) {
    const Step& step = code.steps[i];
    if (step.site < 0 || step.site == last) continue;
    last = step.site;
    const ptx::Instruction& one = *code.sites[static_cast<std::size_t>(step.site)];
    Probe& its = probes_[i];
    its.run = step.run;
    its.wanted = is_conditional_jump(step.run) ? kRan | kTaken | kPassed : kRan;
    const unsigned of_lane = fp64_operations(one), of_warp = tensor_instructions(one);
    if (of_lane + of_warp == 0) continue;
    its.tally = static_cast<std::int32_t>(tallies_.size());
    tallies_.push_back({step.site, static_cast<std::uint8_t>(of_lane + of_warp), of_warp != 0});
  }
}

void Probes::look(bool looks) {
  if (looks == looks_) return;
  looks_ = looks;
  arm();
}

void Probes::arm() {
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    const Probe& its = probes_[i];
    if (its.run == nullptr) continue;
    Step& step = code_.steps[i];
    const std::uint8_t known = flags_[static_cast<std::size_t>(step.site)];
    const bool is_news = its.tally >= 0 || (its.wanted & ~known) != 0;
    step.run = looks_ && is_news ? &probe : its.run;
  }
}

std::vector<std::uint8_t> Probes::take() {
  std::vector<std::uint8_t> taken(flags_.begin(), flags_.end());
  for (std::atomic<std::uint8_t>& one : flags_) one = 0;
  arm();
  return taken;
}

const Step* Probes::run(const Step* step, Warp& warp) {
  const auto index = static_cast<std::size_t>(step - code_.steps.data());
  const Probe& its = probes_[index];
  const bool is_jump = (its.wanted & kTaken) != 0;
  std::uint32_t lanes = warp.active;
  if (is_jump || step->inner != nullptr) {
    const std::uint32_t guard = warp.predicate(step->guard);
    lanes &= step->guard_negated ? ~guard : guard;
  }
  std::uint8_t seen = lanes != 0 ? kRan : 0;
  if (is_jump) {
    seen = kRan;
    if (lanes != 0) seen |= kTaken;
    if (lanes != warp.active) seen |= kPassed;
  }
  std::atomic<std::uint8_t>& flags = flags_[static_cast<std::size_t>(step->site)];
  const std::uint8_t known = flags.load(std::memory_order_relaxed);
  if ((seen & ~known) != 0) flags.fetch_or(seen, std::memory_order_relaxed);
  if (its.tally < 0) {
    if (((known | seen) & its.wanted) == its.wanted) {
      // Other threads may run it just now: they find the one or the other.
      __atomic_store_n(&code_.steps[index].run, its.run, __ATOMIC_RELAXED);
    }
    return its.run(step, warp);
  }
  const auto number = static_cast<std::size_t>(its.tally);
  const Tally& tally = tallies_[number];
  const auto times = tally.is_of_warp ? std::uint64_t{lanes != 0}
                                      : static_cast<std::uint64_t>(std::popcount(lanes));
  const Step* const next = its.run(step, warp);
  // A wgmma that waits for the other warps is tried again.
  if (next == step + 1) warp.block->tallies[number] += tally.weight * times;
  return next;
}

}  // namespace simt::machine
