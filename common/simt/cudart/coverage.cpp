#include "common/simt/cudart/coverage.hpp"

#include <map>
#include <stdexcept>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/report/coverage.hpp"

namespace simt::cudart {
namespace {

// Of each line of a module's text what its instruction did.
using Ran = std::vector<std::uint8_t>;

struct Known {
  Ran recent, before;  // since the program last asked, and until then
  std::map<const Kernel*, std::uint64_t> recent_launches;
};

struct Recorded {
  std::map<Module*, Known> modules;
  report::CoverageFacts gone;  // of modules that are there no longer
};
Recorded& recorded() {
  static Recorded& instance = *new Recorded;
  return instance;
}

void add(Ran& to, const Ran& more) {
  if (to.size() < more.size()) to.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) to[i] |= more[i];
}

// Moves what launches of the module's kernels left out of their probes.
Known& collect(Module& module) {
  Known& known = recorded().modules[&module];
  const auto take = [&](Kernel* kernel) {
    if (kernel->module != &module || kernel->probes() == nullptr) return;
    const std::vector<std::uint8_t> flags = kernel->probes()->take();
    const machine::Code& code = kernel->code();
    for (std::size_t site = 0; site < flags.size(); ++site) {
      const auto line = static_cast<std::size_t>(code.sites[site]->line);
      if (known.recent.size() <= line) known.recent.resize(line + 1);
      known.recent[line] |= flags[site];
    }
  };
  for (int device = 0; is_device(device); ++device) {
    const UseDevice use(device);
    for (Kernel* const kernel : all_kernels()) take(kernel);
  }
  return known;
}

void add_facts(Module& module, const Ran& ran, bool all_launches, report::CoverageFacts& facts) {
  const Known& known = recorded().modules[&module];
  try {
    std::vector<report::KernelRun> kernels;
    for (Kernel* const kernel : all_kernels()) {
      if (kernel->module != &module) continue;
      const auto recent = known.recent_launches.find(kernel);
      const std::uint64_t its = recent == known.recent_launches.end() ? 0 : recent->second;
      kernels.push_back({kernel->function(), all_launches ? kernel->launches : its});
    }
    facts.add(module.ptx(), ran, kernels);
  } catch (const std::exception&) {
    // It has no PTX that can be read: then no kernel of it was launched, and who launches one is told.
  }
}

Ran all_of(Module& module) {
  const Known& known = collect(module);
  Ran all = known.before;
  add(all, known.recent);
  return all;
}

}  // namespace

machine::Probes& expect_coverage(Kernel& kernel) {
  ++kernel.launches;
  ++recorded().modules[kernel.module].recent_launches[&kernel];
  return kernel.make_probes();
}

void keep_coverage(Module& module) {
  if (!settings().report_path.empty()) {
    add_facts(module, all_of(module), true, recorded().gone);
  }
  recorded().modules.erase(&module);
}

}  // namespace simt::cudart

namespace simt {

Coverage take_coverage() {
  using namespace cudart;
  const std::lock_guard lock(turn());
  report::CoverageFacts facts;
  for (Module* const module : all_modules()) {
    Known& known = collect(*module);
    // Of others nothing is to be said but that there are kernels.
    if (known.recent_launches.empty()) {
      for (Kernel* const kernel : all_kernels()) {
        if (kernel->module == module) facts.add(kernel->name, 0);
      }
      continue;
    }
    add_facts(*module, known.recent, false, facts);
    add(known.before, known.recent);
    known.recent.clear();
    known.recent_launches.clear();
  }
  return facts.told();
}

Coverage whole_coverage() {
  using namespace cudart;
  const std::lock_guard lock(turn());
  report::CoverageFacts facts;
  facts.add(recorded().gone);
  for (Module* const module : all_modules()) add_facts(*module, all_of(*module), true, facts);
  return facts.told();
}

}  // namespace simt
