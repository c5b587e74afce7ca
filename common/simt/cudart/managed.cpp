// Managed memory: where the program wants it, by advice and prefetches, of which it can ask. Nothing moves: both sides
// reach the same pages.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/streams.hpp"

namespace simt::cudart {
namespace {

constexpr cudaMemLocation kNowhere{cudaMemLocationTypeInvalid, cudaInvalidDeviceId};
bool are_same(const cudaMemLocation& one, const cudaMemLocation& other) {
  return one.type == other.type && one.id == other.id;
}

struct Advice {
  bool is_mostly_read = false;
  cudaMemLocation preferred = kNowhere, prefetched = kNowhere;
  std::set<int> accessed_by = {};  // devices, or cudaCpuDeviceId
};

// Of an allocation's pages: from each address on to the next.
struct Advised {
  int serial = 0;
  std::map<std::uint64_t, Advice> from = {};

  std::map<std::uint64_t, Advice>::iterator part_at(std::uint64_t address) {
    return from.emplace(address, std::prev(from.upper_bound(address))->second).first;
  }
};

struct AdvisedRange {
  std::uint64_t begin, end;  // of whole pages, as far as the allocation reaches
  Advised& advised;

  void each(Body<void(Advice&)> body) const {
    const auto first = advised.part_at(begin), last = advised.part_at(end);
    for (auto part = first; part != last; ++part) body(part->second);
  }
  bool all(auto holds) const {
    bool do_all = true;
    each([&](const Advice& part) { do_all &= holds(part); });
    return do_all;
  }
  cudaMemLocation common(cudaMemLocation Advice::*which) const {
    const cudaMemLocation first = advised.part_at(begin)->second.*which;
    return all([&](const Advice& part) { return are_same(part.*which, first); }) ? first : kNowhere;
  }
};

Advised& advised_of(const Block& block) {
  static auto& all = *new std::map<std::uint64_t, Advised>;
  Advised& its = all[block.begin];
  if (its.from.empty() || its.serial != block.serial) {
    its.serial = block.serial;
    its.from = {std::pair(block.begin, Advice{})};
  }
  return its;
}

// Of managed memory; otherwise an error.
cudaError_t in_range(const void* pointer, std::size_t bytes,
                     Body<cudaError_t(const AdvisedRange&)> body) {
  constexpr std::uint64_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uint64_t>(pointer);
  const Block* const block = block_at(pointer);
  if (block == nullptr || bytes == 0 || bytes > block->begin + block->bytes - begin ||
      (block->kind != MemoryKind::managed && block->kind != MemoryKind::managed_variable)) {
    return cudaErrorInvalidValue;
  }
  return body(AdvisedRange{
      std::max(begin / kPage * kPage, block->begin),
      std::min((begin + bytes + kPage - 1) / kPage * kPage, block->begin + block->bytes),
      advised_of(*block)});
}

cudaError_t check_location(cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      return is_device(location.id) ? cudaSuccess : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost:
      location.id = cudaCpuDeviceId;
      return cudaSuccess;
    case cudaMemLocationTypeHostNuma:
      return location.id >= 0 ? cudaSuccess : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHostNumaCurrent:
      location = {cudaMemLocationTypeHostNuma, 0};
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t prefetch(const void* pointer, std::size_t bytes, cudaMemLocation location) {
  const cudaError_t error = check_location(location);
  if (error != cudaSuccess) return error;
  return in_range(pointer, bytes, [&](const AdvisedRange& range) {
    range.each([&](Advice& part) { part.prefetched = location; });
    return cudaSuccess;
  });
}

// What is read before it is written again means nothing.
cudaError_t discard(const Issue& issue, void* pointer, std::size_t bytes) {
  return in_range(pointer, bytes, [&](const AdvisedRange&) {
    return set(issue, {pointer, bytes, bytes}, 0xff, {.width = bytes});
  });
}

cudaError_t each_of_batch(const Issue& issue, void** pointers, const std::size_t* sizes,
                          std::size_t count, unsigned long long flags,
                          Body<cudaError_t(std::size_t)> body) {
  return on_stream(issue.name, issue.stream, [&]() -> cudaError_t {
    if (pointers == nullptr || sizes == nullptr || count == 0 || flags != 0 ||
        issue.stream == nullptr || issue.stream == cudaStreamLegacy) {
      return cudaErrorInvalidValue;
    }
    cudaError_t error = check_not_captured(issue.stream);
    for (std::size_t i = 0; i < count && error == cudaSuccess; ++i) error = body(i);
    return error;
  });
}

cudaError_t each_of_batch(const Issue& issue, void** pointers, const std::size_t* sizes,
                          std::size_t count, const cudaMemLocation* locations,
                          const std::size_t* first, std::size_t number, unsigned long long flags,
                          Body<cudaError_t(std::size_t, const cudaMemLocation&)> body) {
  const bool is_valid = locations != nullptr && first != nullptr && number != 0 &&
                        number <= count && first[0] == 0 && std::is_sorted(first, first + number) &&
                        first[number - 1] < count;
  return each_of_batch(issue, pointers, sizes, is_valid ? count : 0, flags, [&](std::size_t i) {
    return body(i, locations[std::upper_bound(first, first + number, i) - first - 1]);
  });
}

cudaError_t tell_advice(void* data, std::size_t bytes, cudaMemRangeAttribute attribute,
                        const AdvisedRange& range) {
  constexpr std::size_t kEach = sizeof(int);
  if (data == nullptr || bytes == 0 || bytes % kEach != 0) return cudaErrorInvalidValue;
  auto* const numbers = static_cast<int*>(data);
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    std::fill_n(numbers, bytes / kEach, cudaInvalidDeviceId);
    std::size_t told = 0;
    for (const int device : std::set(range.advised.part_at(range.begin)->second.accessed_by)) {
      if (told < bytes / kEach &&
          range.all([&](const Advice& part) { return part.accessed_by.contains(device); })) {
        numbers[told++] = device;
      }
    }
    return cudaSuccess;
  }
  if (bytes != kEach) return cudaErrorInvalidValue;
  const bool is_preferred = attribute == cudaMemRangeAttributePreferredLocation ||
                            attribute == cudaMemRangeAttributePreferredLocationType ||
                            attribute == cudaMemRangeAttributePreferredLocationId;
  const cudaMemLocation location =
      range.common(is_preferred ? &Advice::preferred : &Advice::prefetched);
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      *numbers = range.all([](const Advice& part) { return part.is_mostly_read; }) ? 1 : 0;
      return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation:
    case cudaMemRangeAttributeLastPrefetchLocation:
      *numbers = location.type == cudaMemLocationTypeHostNuma ? cudaInvalidDeviceId : location.id;
      return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationType:
    case cudaMemRangeAttributeLastPrefetchLocationType:
      *numbers = location.type;
      return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationId:
    case cudaMemRangeAttributeLastPrefetchLocationId:
      *numbers = location.id;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t tell_all(const char* name, void** data, const std::size_t* data_bytes,
                     const cudaMemRangeAttribute* attributes, std::size_t number,
                     const void* pointer, std::size_t bytes) {
  return call(name, [&]() -> cudaError_t {
    if (data == nullptr || data_bytes == nullptr || attributes == nullptr || number == 0) {
      return cudaErrorInvalidValue;
    }
    return in_range(pointer, bytes, [&](const AdvisedRange& range) {
      cudaError_t error = cudaSuccess;
      for (std::size_t i = 0; i < number && error == cudaSuccess; ++i) {
        error = tell_advice(data[i], data_bytes[i], attributes[i], range);
      }
      return error;
    });
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
  return on_stream("cudaMemPrefetchAsync", stream, [&] {
    if (const cudaError_t error = check_not_captured(stream); error != cudaSuccess) return error;
    return flags == 0 ? prefetch(pointer, bytes, location) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return call("cudaMemAdvise", [&]() -> cudaError_t {
    const bool is_by =
        advice == cudaMemAdviseSetAccessedBy || advice == cudaMemAdviseUnsetAccessedBy;
    if (is_by || advice == cudaMemAdviseSetPreferredLocation) {
      if (const cudaError_t error = check_location(location); error != cudaSuccess) return error;
      if (is_by && location.type == cudaMemLocationTypeHostNuma) return cudaErrorInvalidValue;
    }
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) {
      return cudaErrorInvalidValue;
    }
    return in_range(pointer, bytes, [&](const AdvisedRange& range) {
      range.each([&](Advice& part) {
        if (advice == cudaMemAdviseSetAccessedBy) {
          part.accessed_by.insert(location.id);
        } else if (advice == cudaMemAdviseUnsetAccessedBy) {
          part.accessed_by.erase(location.id);
        } else if (advice == cudaMemAdviseSetPreferredLocation) {
          part.preferred = location;
        } else if (advice == cudaMemAdviseUnsetPreferredLocation) {
          part.preferred = kNowhere;
        } else {
          part.is_mostly_read = advice == cudaMemAdviseSetReadMostly;
        }
      });
      return cudaSuccess;
    });
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t data_bytes,
                                     cudaMemRangeAttribute attribute, const void* pointer,
                                     std::size_t bytes) {
  return tell_all("cudaMemRangeGetAttribute", &data, &data_bytes, &attribute, 1, pointer, bytes);
}

cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes,
                                      cudaMemRangeAttribute* attributes, std::size_t number,
                                      const void* pointer, std::size_t bytes) {
  return tell_all("cudaMemRangeGetAttributes", data, data_bytes, attributes, number, pointer,
                  bytes);
}

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                      cudaMemLocation* locations, std::size_t* first,
                                      std::size_t number, unsigned long long flags,
                                      cudaStream_t stream) {
  return each_of_batch({"cudaMemPrefetchBatchAsync", stream}, pointers, sizes, count, locations,
                       first, number, flags, [&](std::size_t i, const cudaMemLocation& location) {
                         return prefetch(pointers[i], sizes[i], location);
                       });
}

cudaError_t cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                     unsigned long long flags, cudaStream_t stream) {
  const Issue issue("cudaMemDiscardBatchAsync", stream);
  return each_of_batch(issue, pointers, sizes, count, flags,
                       [&](std::size_t i) { return discard(issue, pointers[i], sizes[i]); });
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes,
                                                std::size_t count, cudaMemLocation* locations,
                                                std::size_t* first, std::size_t number,
                                                unsigned long long flags, cudaStream_t stream) {
  const Issue issue("cudaMemDiscardAndPrefetchBatchAsync", stream);
  return each_of_batch(issue, pointers, sizes, count, locations, first, number, flags,
                       [&](std::size_t i, const cudaMemLocation& location) {
                         const cudaError_t error = prefetch(pointers[i], sizes[i], location);
                         return error == cudaSuccess ? discard(issue, pointers[i], sizes[i])
                                                     : error;
                       });
}

}  // extern "C"

}  // namespace simt::cudart
