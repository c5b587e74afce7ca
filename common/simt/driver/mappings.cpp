// Addresses that a program reserves, and memory that it puts there. Neighbours within a reservation are one array.
#include <cuda.h>

#include <cstring>
#include <map>
#include <vector>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/driver/calls.hpp"

namespace simt::driver {
namespace {

constexpr std::size_t kGranularity = std::size_t{2} << 20;

// Memory without an address; while it has one its bytes are there.
struct Physical {
  std::size_t bytes = 0;
  CUmemAllocationProp properties{};
  CUdeviceptr at = 0;  // 0: nowhere
  bool is_open = false;
  bool is_released = false;
  std::vector<std::byte> kept = {};  // what it held when it lost its address
};

// Under turn().
struct Mappings {
  std::map<CUdeviceptr, std::size_t> reserved;  // bytes, by where they begin
  std::map<CUmemGenericAllocationHandle, Physical> memory;
  CUmemGenericAllocationHandle last = 0;
};
Mappings& mappings() {
  static Mappings& all = *new Mappings;
  return all;
}

bool is_reserved(CUdeviceptr address, std::size_t bytes) {
  const auto behind = mappings().reserved.upper_bound(address);
  if (behind == mappings().reserved.begin()) return false;
  const auto& [begin, room] = *std::prev(behind);
  return address - begin <= room && bytes <= room - (address - begin);
}

// Those that lie in the range, which must be whole.
template <class Body>
bool each_mapped(CUdeviceptr address, std::size_t bytes, Body body) {
  std::size_t covered = 0;
  for (auto& [handle, its] : mappings().memory) {
    if (its.at == 0 || its.at < address || its.at - address >= bytes) continue;
    covered += its.bytes;
  }
  if (covered != bytes) return false;
  for (auto it = mappings().memory.begin(); it != mappings().memory.end();) {
    Physical& its = it->second;
    if (its.at != 0 && its.at >= address && its.at - address < bytes) body(its);
    it = its.is_released && its.at == 0 ? mappings().memory.erase(it) : std::next(it);
  }
  return true;
}

void open(Physical& its) {
  if (its.is_open) return;
  its.is_open = true;
  cudart::open_range(its.at, its.bytes, "cuMemMap");
  if (its.kept.empty()) return;
  std::memcpy(cudart::reach(its.at), its.kept.data(), its.bytes);
  cudart::mark_written(its.at, its.bytes);
  its.kept.clear();
}

void close(Physical& its) {
  if (!its.is_open) return;
  its.is_open = false;
  if (!its.is_released) {
    const std::byte* const bytes = cudart::reach(its.at);
    its.kept.assign(bytes, bytes + its.bytes);
  }
  cudart::close_range(its.at, its.bytes);
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  return answer("cuMemGetAllocationGranularity", [&] {
    if (bytes == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = kGranularity;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr, unsigned long long) {
  return answer("cuMemAddressReserve", [&] {
    if (address == nullptr || bytes == 0 || bytes % kGranularity != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (cudart::is_recording()) {
      return result_of(cudart::refuse_to_note("cuMemAddressReserve takes addresses"));
    }
    *address = cudart::reserve_addresses(bytes, std::max(alignment, kGranularity));
    mappings().reserved[*address] = bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return answer("cuMemAddressFree", [&] {
    const auto found = mappings().reserved.find(address);
    if (found == mappings().reserved.end() || found->second != bytes) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    mappings().reserved.erase(found);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long) {
  return answer("cuMemCreate", [&] {
    if (handle == nullptr || properties == nullptr || bytes == 0 || bytes % kGranularity != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // What may be asked for; what is refused is to give it to another process.
    if ((properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
      cudart::explain("shared handle",
                      "cuMemCreate: memory for other processes is not in the simulator");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    *handle = ++mappings().last;
    mappings().memory[*handle] = {.bytes = bytes, .properties = *properties};
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return answer("cuMemRelease", [&] {
    const auto found = mappings().memory.find(handle);
    if (found == mappings().memory.end() || found->second.is_released) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    found->second.is_released = true;
    if (found->second.at == 0) mappings().memory.erase(found);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return answer("cuMemGetAllocationPropertiesFromHandle", [&] {
    const auto found = mappings().memory.find(handle);
    if (properties == nullptr || found == mappings().memory.end()) return CUDA_ERROR_INVALID_VALUE;
    *properties = found->second.properties;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long) {
  return answer("cuMemMap", [&] {
    const auto found = mappings().memory.find(handle);
    if (found == mappings().memory.end() || found->second.is_released || offset != 0 ||
        bytes != found->second.bytes || !is_reserved(address, bytes)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (found->second.at != 0) {
      cudart::explain("mapped twice",
                      "cuMemMap: memory at two addresses at a time is not in the simulator");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    found->second.at = address;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return answer("cuMemUnmap", [&] {
    cudart::timeline::host_waited_for_all();
    const bool is_whole = each_mapped(address, bytes, [](Physical& its) {
      close(its);
      its.at = 0;
    });
    return is_whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  return answer("cuMemSetAccess", [&] {
    if (access == nullptr || count != 1 || access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        access->location.id != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const bool is_open = access->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    const bool is_whole =
        each_mapped(address, bytes, [&](Physical& its) { is_open ? open(its) : close(its); });
    return is_whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
  return answer("cuMemGetAccess", [&] {
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const bool is_open = location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == 0 &&
                         cudart::block_at(address) != nullptr;
    *flags = is_open ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace simt::driver
