#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "common/conv/accuracy.hpp"
#include "common/harness/backend/backend.hpp"

namespace halo {

bool is_optimised() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

std::span<float> Backend::staging() {
  staging_.resize(std::size_t{1} << 20);
  return staging_;
}

Array::Array(Backend& backend, std::size_t count)
    : backend_(backend),
      count_(count),
      guard_(backend.guard_cells()),
      block_(static_cast<float*>(backend.allocate((count + 2 * guard_) * sizeof(float)))),
      data_(block_ + guard_) {
  backend_.poison(block_, count_ + 2 * guard_, conv::unset());
}

Array::Array(Backend& backend, std::size_t count, std::span<const float> values)
    : backend_(backend),
      count_(count),
      guard_(0),
      sparse_(true),
      block_(backend.allocate_sparse(count, values)),
      data_(block_) {}

Array::~Array() { backend_.release(block_); }

void Array::write(std::span<const float> values, std::size_t first) {
  backend_.copy_in(data_ + first, values.data(), values.size_bytes());
}

void Array::read(std::span<float> values, std::size_t first) const {
  backend_.copy_out(values.data(), data_ + first, values.size_bytes());
}

void Array::for_each_part(
    const std::function<void(std::size_t first, std::span<const float> cells)>& visit) const {
  const std::span<float> buffer = backend_.staging();
  std::vector<simt::WrittenPart> parts = {{0, count_}};
  if (sparse_) parts = backend_.written_parts(data_);
  for (const auto& [begin, end] : parts) {
    for (std::size_t first = begin; first < end; first += buffer.size()) {
      const auto part = buffer.first(std::min(buffer.size(), end - first));
      read(part, first);
      visit(first, part);
    }
  }
}

void Array::poison() {
  if (!sparse_) backend_.poison(data_, count_, conv::poison());
}

void Array::unset() {
  if (!sparse_) backend_.poison(data_, count_, conv::unset());
}

std::string Array::stray_write(const std::string& name) const {
  if (guard_ == 0) return {};
  std::vector<float> cells(guard_);
  const auto changed = [&](const float* from) -> std::ptrdiff_t {
    backend_.copy_out(cells.data(), from, guard_ * sizeof(float));
    for (std::size_t i = 0; i < guard_; ++i) {
      if (std::bit_cast<std::uint32_t>(cells[i]) != conv::kUnsetBits) {
        return static_cast<std::ptrdiff_t>(i);
      }
    }
    return -1;
  };
  if (const auto at = changed(data_ + count_); at >= 0) {
    return name + "[" + std::to_string(count_ + at) + "] was written, past the end of " + name +
           "[" + std::to_string(count_) + "]";
  }
  if (const auto at = changed(block_); at >= 0) {
    return name + "[" + std::to_string(at - static_cast<std::ptrdiff_t>(guard_)) +
           "] was written, before the start of " + name;
  }
  return {};
}

}  // namespace halo
