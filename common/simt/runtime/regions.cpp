#include "common/simt/runtime/regions.hpp"

#include <cstring>
#include <mutex>
#include <set>

#include "common/simt/runtime/cluster.hpp"
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

namespace {

struct AskedFor {
  std::mutex mutex;
  std::set<std::uintptr_t> variables;
};
AskedFor& asked_for() {
  static AskedFor& all = *new AskedFor;
  return all;
}

// Of the launch in progress.
std::vector<Region>& given_by_host() {
  static std::vector<Region>& given = *new std::vector<Region>;
  return given;
}

// Calls visit for each word of the arguments that could be a pointer.
template <class F>
void for_each_pointer(const void* arguments, std::size_t bytes, F visit) {
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const char*>(arguments) + at, sizeof word);
    visit(word);
  }
}

}  // namespace

void note_asked_for(std::uintptr_t variable) {
  const std::lock_guard lock(asked_for().mutex);
  asked_for().variables.insert(variable);
}

bool was_asked_for(std::uintptr_t variable) {
  const std::lock_guard lock(asked_for().mutex);
  return asked_for().variables.count(variable) != 0;
}

void set_given_by_host(const void* arguments, std::size_t bytes) {
  const ProgramImage& image = ProgramImage::get();
  std::vector<Region>& given = given_by_host();
  given.clear();
  for_each_pointer(arguments, bytes, [&](std::uintptr_t word) {
    if (!image.in_program_data(word)) return;
    if (const DeviceVariable* const object = image.host_object(word)) {
      given.push_back({object->begin, object->size, object->name});
    } else if (image.in_constant_data(word)) {  // the symbol table does not know strings
      given.push_back({word, std::strlen(reinterpret_cast<const char*>(word)) + 1, "a string"});
    }
  });
}

std::optional<Region> host_variable(std::uintptr_t address) {
  for (const Region& region : given_by_host()) {
    if (address - region.begin < region.size) return region;
  }
  const ProgramImage& image = ProgramImage::get();
  if (!image.in_variable_data(address)) return std::nullopt;
  const DeviceVariable* const object = image.host_object(address);
  if (object == nullptr) return Region{address, 1, ""};
  return Region{object->begin, object->size, object->name};
}

std::vector<std::string> shadows_among(const void* arguments, std::size_t bytes) {
  std::vector<std::string> names;
  const ProgramImage& image = ProgramImage::get();
  for_each_pointer(arguments, bytes, [&](std::uintptr_t word) {
    for (const auto* list : {&image.constants(), &image.device_variables()}) {
      for (const DeviceVariable& variable : *list) {
        if (word - variable.begin < variable.size && !variable.managed &&
            !was_asked_for(variable.begin)) {
          names.push_back(variable.name);
        }
      }
    }
  });
  return names;
}

Region nearest_shared(std::uintptr_t address) {
  const Hot& hot = simt_hot;
  std::uintptr_t dynamic_begin = hot.dynamic_begin, tls_begin = hot.tls_begin;
  bool is_dynamic = near_dynamic_shared(address);
  if (hot.cluster != nullptr && !is_dynamic && address - tls_begin >= hot.tls_bytes) {
    if (const unsigned owner = hot.cluster->owner_near(address, hot.cluster_rank);
        owner != hot.cluster->size()) {
      dynamic_begin = hot.cluster->windows[owner].dynamic_begin;
      tls_begin = hot.cluster->windows[owner].tls_begin;
      is_dynamic = is_near_dynamic(address, dynamic_begin);
    }
  }
  if (is_dynamic) return {dynamic_begin, hot.dynamic_bytes, "dynamic shared memory"};
  Region best;
  for (const SharedArray& array : ProgramImage::get().shared_arrays()) {
    // Only what the running kernel may touch.
    if (array.size == 0 || !(hot.tls_map[array.offset >> 2] & 0xf0)) continue;
    keep_nearer(best, {tls_begin + array.offset, array.size, array.name}, address);
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
