#include "common/simt/runtime/regions.hpp"

#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/program_image.hpp"

namespace simt {
namespace {

VariableSection make_section(const std::vector<DeviceVariable>& variables) {
  VariableSection section;
  if (variables.empty()) return section;
  section.begin = variables.front().begin & ~std::uintptr_t{3};
  for (const DeviceVariable& v : variables) {
    std::size_t end = v.begin + v.size - section.begin;
    if (end > section.bytes) section.bytes = end;
  }
  // Room behind the last variable, so that an access just past it is recognised.
  section.bytes += 64;
  section.map.assign(section.bytes / 4 + 8, 0);
  for (const DeviceVariable& v : variables) {
    for (std::size_t i = 0; i < v.size; ++i) {
      std::size_t offset = v.begin - section.begin + i;
      section.map[offset >> 2] |= 16 << (offset & 3);
    }
  }
  return section;
}

std::uintptr_t distance(const Region& r, std::uintptr_t address) {
  if (address < r.begin) return r.begin - address;
  if (address >= r.begin + r.size) return address - r.begin - r.size + 1;
  return 0;
}

// An access past the end is likelier than one before the start, so the array before wins a tie.
void keep_nearer(Region& best, const Region& candidate, std::uintptr_t address) {
  if (best.size == 0 || distance(candidate, address) < distance(best, address) ||
      (distance(candidate, address) == distance(best, address) && candidate.begin < best.begin)) {
    best = candidate;
  }
}

}  // namespace

const Regions& program_regions() {
  static const Regions& regions =
      *new Regions{make_section(ProgramImage::get().constants()),
                   make_section(ProgramImage::get().device_variables())};
  return regions;
}

Region nearest_shared(std::uintptr_t address) {
  const Hot& hot = simt_hot;
  if (near_dynamic_shared(address)) {
    return {hot.dynamic_begin, hot.dynamic_bytes, "dynamic shared memory"};
  }
  Region best;
  for (const SharedArray& array : ProgramImage::get().shared_arrays()) {
    // Only what the running kernel may touch.
    if (array.size == 0 || !(hot.tls_map[array.offset >> 2] & 0xf0)) continue;
    keep_nearer(best, {hot.tls_begin + array.offset, array.size, array.name}, address);
  }
  return best;
}

Region nearest_variable(std::uintptr_t address) {
  Region best;
  for (const auto* list :
       {&ProgramImage::get().constants(), &ProgramImage::get().device_variables()}) {
    for (const DeviceVariable& v : *list) keep_nearer(best, {v.begin, v.size, v.name}, address);
  }
  return best;
}

}  // namespace simt
