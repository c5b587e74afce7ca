#include "common/exercise/host_arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "common/conv/accuracy.hpp"
#include "common/exercise/counted.h"

namespace halo::exercises {

namespace {

// Cells before and behind an array. Who misses it by more may meet anything, as always in C++.
constexpr std::size_t kRoom = 1 << 16;

}  // namespace

// What is counted at present; a friend of HostArrays, whose arrays it searches.
struct Counting {
  HostArrays* arrays = nullptr;
  HostCounts counts;
  std::unordered_map<const float*, float> registers;  // values outside of arrays

  // Of one that was never begun too, in raw memory say.
  void hold(const float* value, float number) {
    registers[value] = number;
    counts.values = std::max(counts.values, static_cast<std::uint64_t>(registers.size()));
  }

  // What a cell of an array holds, or of the room beside one, where it is a mistake of the function's; null: it is no cell.
  float* cell_at(const void* address, const char* verb) {
    const auto* const cell = static_cast<const float*>(address);
    for (HostArrays::Array& array : arrays->arrays_) {
      const std::ptrdiff_t at = cell - array.memory.data();
      if (cell < array.memory.data() || cell >= array.memory.data() + array.memory.size()) continue;
      const std::ptrdiff_t index = at - static_cast<std::ptrdiff_t>(kRoom);
      const bool is_inside = index >= 0 && index < static_cast<std::ptrdiff_t>(array.cells.size());
      if (!is_inside && verb != nullptr && array.missed.count++ == 0) {
        array.missed.kind = "out_of_bounds";
        array.missed.array = array.name;
        array.missed.message = std::string("the function ") + verb + " " + array.name + "[" +
                               std::to_string(index) + "], but " + array.name + " has " +
                               std::to_string(array.cells.size()) + " cells";
      }
      return &array.held[static_cast<std::size_t>(at)];
    }
    return nullptr;
  }
};

namespace {

Counting counting_now;

}  // namespace

std::span<float> HostArrays::add(std::span<const float> cells, const std::string& name) {
  Array& array = arrays_.emplace_back();
  array.name = name;
  array.memory.assign(cells.size() + 2 * kRoom, conv::poison());
  array.cells = std::span(array.memory).subspan(kRoom, cells.size());
  std::copy(cells.begin(), cells.end(), array.cells.begin());
  return array.cells;
}

void HostArrays::start() {
  for (Array& array : arrays_) {
    array.held = array.memory;
    std::fill(array.memory.begin(), array.memory.end(), conv::poison());
  }
  counting_now = {this, {}, {}};
}

HostCounts HostArrays::finish(std::vector<Hazard>& hazards) {
  for (Array& array : arrays_) {
    std::copy(array.held.begin(), array.held.end(), array.memory.begin());
    if (array.missed.count > 0) hazards.push_back(array.missed);
  }
  counting_now.arrays = nullptr;
  counting_now.registers.clear();
  return counting_now.counts;
}

}  // namespace halo::exercises

namespace halo::counting {

using exercises::counting_now;

namespace {

float load(const float* place) {
  if (counting_now.arrays == nullptr) return *place;
  if (const float* const held = counting_now.cell_at(place, "reads"); held != nullptr) {
    ++counting_now.counts.loads;
    return *held;
  }
  const auto its = counting_now.registers.find(place);
  return its == counting_now.registers.end() ? conv::poison() : its->second;
}

void store(float* place, float number) {
  if (counting_now.arrays == nullptr) {
    *place = number;
  } else if (float* const held = counting_now.cell_at(place, "writes"); held != nullptr) {
    ++counting_now.counts.stores;
    *held = number;
  } else {
    counting_now.hold(place, number);
  }
}

}  // namespace

void begin(float* value, float number) {
  *value = counting_now.arrays == nullptr ? number : conv::poison();
  if (counting_now.arrays == nullptr || counting_now.cell_at(value, nullptr) != nullptr) return;
  counting_now.hold(value, number);
}

void copy(float* to, const float* from) { store(to, load(from)); }

void compute(float* to, const float* a, char operation, const float* b) {
  const float left = load(a), right = load(b);
  if (operation == '*') ++counting_now.counts.products;
  store(to, operation == '*' ? left * right : operation == '+' ? left + right : left - right);
}

void end(const float* value) {
  if (counting_now.arrays == nullptr || counting_now.cell_at(value, nullptr) != nullptr) return;
  counting_now.registers.erase(value);
}

}  // namespace halo::counting
