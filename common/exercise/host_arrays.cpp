#include "common/exercise/host_arrays.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>

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
  std::int64_t held = 0;
  std::uint32_t key = 0;  // of values in registers; 0 while nothing is counted

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
  counting_now = {this, {}, 0, std::random_device()() | 1};
}

HostCounts HostArrays::finish(std::vector<Hazard>& hazards) {
  for (Array& array : arrays_) {
    std::copy(array.held.begin(), array.held.end(), array.memory.begin());
    if (array.missed.count > 0) hazards.push_back(array.missed);
  }
  counting_now.arrays = nullptr;
  counting_now.key = 0;
  return counting_now.counts;
}

}  // namespace halo::exercises

namespace halo::counting {

using exercises::counting_now;

float sealed(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ counting_now.key);
}

float load(const void* cell, float kept) {
  if (counting_now.arrays == nullptr) return kept;
  const float* const held = counting_now.cell_at(cell, "reads");
  if (held == nullptr) return sealed(kept);
  ++counting_now.counts.loads;
  return *held;
}

bool store(const void* cell, float value) {
  if (counting_now.arrays == nullptr) return false;
  float* const held = counting_now.cell_at(cell, "writes");
  if (held == nullptr) return false;
  ++counting_now.counts.stores;
  *held = value;
  return true;
}

void multiply() { ++counting_now.counts.products; }

void begin(const void* value) {
  if (counting_now.arrays == nullptr || counting_now.cell_at(value, nullptr) != nullptr) return;
  ++counting_now.held;
  counting_now.counts.values =
      std::max(counting_now.counts.values,
               static_cast<std::uint64_t>(std::max<std::int64_t>(counting_now.held, 0)));
}

void end(const void* value) {
  if (counting_now.arrays != nullptr && counting_now.cell_at(value, nullptr) == nullptr)
    --counting_now.held;
}

}  // namespace halo::counting
