// Copies and memsets, by address and by symbol.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/arrays.hpp"
#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/cudart/graphs.hpp"
#include "common/simt/cudart/host_lines.hpp"
#include "common/simt/cudart/module.hpp"
#include "common/simt/cudart/operations.hpp"
#include "common/simt/cudart/record.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/streams.hpp"
#include "common/simt/cudart/timeline.hpp"
#include "common/simt/cudart/waiting.hpp"

namespace simt {

namespace {

std::atomic<std::uint64_t> copied_so_far{0};

}  // namespace

std::uint64_t bytes_copied() { return copied_so_far; }

}  // namespace simt

namespace simt::cudart {
namespace {

thread_local constinit bool is_only_checked = false;
thread_local constinit bool has_unlocked = false;  // one that was only checked
thread_local constinit const Touched* touched = nullptr;

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

bool is_managed(const void* pointer) {
  const Block* const block = block_at(pointer);
  return block != nullptr &&
         (block->kind == MemoryKind::managed || block->kind == MemoryKind::managed_variable);
}

// Also an address of the device that is nobody's.
bool is_device_pointer(const void* pointer) {
  const Block* const block = block_at(pointer);
  return block != nullptr ? block->is_of_device() : arena().contains(address_of(pointer));
}

void tell(const char* name, const std::string& array, const std::string& message) {
  if ((settings().checks & kCheckBounds) == 0) return;
  const HostLine line = line_of_call(callers_of_runtime());
  Finding finding;
  finding.kind = hazard_name(Hazard::invalid_copy);
  finding.file = line.file;
  finding.line = line.line;
  finding.array = array;
  finding.count = 1;
  finding.message = message;
  Launch launch;
  launch.kernel = name;
  launch.findings.push_back(std::move(finding));
  record_launch(std::move(launch));
}

// A copy or memset that cannot be is told as what kernels do wrong is: many programs don't look at its error.
void refuse(const char* name, const std::string& array, const std::string& what,
            const std::string& what_to_do) {
  set_detail(std::string(name) + ": " + what);
  tell(name, array, what + ", so nothing is copied or set. " + what_to_do);
}

// The name of a __device__ or __constant__ variable is in host code a shadow on the host. Says so; false if the pointer
// is none.
bool refuse_shadow(const char* name, const void* pointer) {
  const Symbol* const symbol = find_symbol(pointer);
  if (symbol == nullptr || symbol->managed != nullptr) return false;
  refuse(name, symbol->name,
         "`" + symbol->name +
             "` is a variable of the device, and its name in host code is no address there",
         "Use cudaMemcpyToSymbol or cudaMemcpyFromSymbol, or ask cudaGetSymbolAddress.");
  return true;
}

std::string told(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

// True if all of the range is live device memory; else says what is wrong with it. `role` is "the destination" or the
// like.
bool check_device_range(const char* name, const char* role, const void* pointer,
                        std::size_t bytes) {
  if (refuse_shadow(name, pointer)) return false;
  const std::uint64_t address = address_of(pointer);
  if (const Block* const block = block_at(address)) {
    const std::size_t offset = address - block->begin;
    if (bytes <= block->bytes - offset) return true;
    refuse(name, block->name(),
           std::string(role) + " is " + std::to_string(bytes) + " bytes from byte " +
               std::to_string(offset) + " of " + block->name() + ", which has " +
               std::to_string(block->bytes) + " bytes",
           "Sizes are in bytes: the number of elements times the size of one.");
    return false;
  }
  const memory::Allocation* const near = arena().find(address);
  if (!arena().contains(address)) {
    refuse(
        name, host_variable_at(address).name,
        std::string(role) + " must be device memory, but " + told(pointer) + " is a host pointer",
        "Pass a pointer from cudaMalloc.");
  } else if (near != nullptr && near->is_freed) {
    const std::string array = name_at(near->begin);
    refuse(name, array, std::string(role) + " lies in " + array + ", which was freed",
           "Free the memory after the last call that uses it.");
  } else {
    refuse(name, "", std::string(role) + ", " + told(pointer) + ", lies in no allocation",
           "Pass a pointer from cudaMalloc.");
  }
  return false;
}

// Whether both sides are where the kind says. CUDA takes HostToHost for Default. What else the device reaches a GPU copies
// whatever the kind says, though CUDA does not define that.
cudaError_t check_sides(const char* name, const void* to, const void* from, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  for (const void* pointer : {to, from}) {
    if (refuse_shadow(name, pointer)) return cudaErrorInvalidValue;
  }
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDefault) return cudaSuccess;
  const bool want_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool want_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const auto fits = [](const void* pointer, bool want) {
    // Memory of both sides is on either.
    const Block* const block = block_at(pointer);
    const bool is_shared = is_managed(pointer) || (block != nullptr && !block->is_of_device());
    return is_shared || is_device_pointer(pointer) == want;
  };
  const bool to_fits = fits(to, want_to), from_fits = fits(from, want_from);
  if (to_fits && from_fits) return cudaSuccess;
  static const char* const kKinds[] = {"HostToHost", "HostToDevice", "DeviceToHost",
                                       "DeviceToDevice"};
  const void* const wrong = to_fits ? from : to;
  const std::string what = std::string("cudaMemcpy") + kKinds[kind] + ", but the " +
                           (to_fits ? "source, " : "destination, ") + told(wrong) + ", is a " +
                           (is_array(wrong)            ? "cudaArray_t"
                            : is_device_pointer(wrong) ? "device pointer"
                                                       : "host pointer");
  const auto is_done = [](const void* pointer, bool is_there) {
    return is_there || block_at(pointer) != nullptr;
  };
  if (is_done(to, to_fits) && is_done(from, from_fits)) {
    tell(name, "",
         what + ": CUDA does not define what is copied then. cudaMemcpyDefault asks the pointers.");
    return cudaSuccess;
  }
  refuse(name, "", what,
         is_array(wrong) ? "Texels are copied by cudaMemcpy2DToArray and cudaMemcpy2DFromArray."
                         : "The order is cudaMemcpy(to, from, bytes, kind); cudaMemcpyDefault asks "
                           "the pointers.");
  return cudaErrorInvalidValue;
}

// Bytes from the first to the last; the most there can be if they are more than that.
std::size_t span(const Side& side, const Extent& extent) {
  std::size_t rows = 0, bytes = 0;
  const bool overflows = __builtin_mul_overflow(extent.planes - 1, side.plane_pitch, &bytes) ||
                         __builtin_mul_overflow(extent.rows - 1, side.row_pitch, &rows) ||
                         __builtin_add_overflow(bytes, rows, &bytes) ||
                         __builtin_add_overflow(bytes, extent.width, &bytes);
  return overflows ? ~std::size_t{0} : bytes;
}

std::uint64_t address_of(const Side& side, std::size_t plane, std::size_t row) {
  return address_of(side.pointer) + plane * side.plane_pitch + row * side.row_pitch;
}
std::byte* row_of(const Side& side, std::size_t plane, std::size_t row) {
  return reach(side.pointer) + plane * side.plane_pitch + row * side.row_pitch;
}

bool is_of_host(const void* pointer) {
  return block_at(pointer) == nullptr && !arena().contains(address_of(pointer));
}

// A copy or memset while it is done.
class Doing {
 public:
  explicit Doing(const Issue& issue)
      : issue_(issue), operation_(number_of(issue.stream), issue.name) {}
  ~Doing() {
    std::vector<Finding> early = operation_.findings();
    findings_.insert(findings_.end(), early.begin(), early.end());
    if (findings_.empty()) return;
    Launch launch;
    launch.kernel = issue_.name;
    launch.findings = std::move(findings_);
    record_launch(std::move(launch));
  }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

  // Of the host's memory only what the device may touch has an order to keep.
  void touch(std::uint64_t address, std::size_t bytes, timeline::Touch touch) {
    if (touched != nullptr)
      (*touched)(issue_.name, address, bytes, touch == timeline::Touch::writes);
    if (operation_.remembers() && block_at(address) != nullptr) {
      operation_.touch(address, bytes, touch);
    }
  }
  void note_unwritten(const Side& from, const Extent& extent);
  void note_overlap(const Side& to, const Side& from, const Extent& extent);

 private:
  Finding finding(Hazard hazard, const std::string& array) const;
  const Issue& issue_;
  timeline::Operation operation_;
  std::vector<Finding> findings_;
};

Finding Doing::finding(Hazard hazard, const std::string& array) const {
  const HostLine line = line_of_call(callers_of_runtime());
  Finding its;
  its.kind = hazard_name(hazard);
  its.note = is_note(hazard);
  its.file = line.file;
  its.line = line.line;
  its.array = array;
  its.count = 1;
  return its;
}

// CUDA leaves open what arrives then.
void Doing::note_overlap(const Side& to, const Side& from, const Extent& extent) {
  const Block* const block = block_at(from.pointer);
  const std::uint64_t begin = address_of(from.pointer), other = address_of(to.pointer);
  if (block == nullptr || extent.rows * extent.planes != 1 || begin == other ||
      std::max(begin, other) - std::min(begin, other) >= extent.width ||
      (settings().checks & kCheckBounds) == 0) {
    return;
  }
  Finding its = finding(Hazard::invalid_copy, block->name());
  its.message = std::string(issue_.name) + " copies " + std::to_string(extent.width) +
                " bytes within " + its.array + ", from byte " +
                std::to_string(begin - block->begin) + " to byte " +
                std::to_string(other - block->begin) +
                ": the two overlap, and what arrives is undefined. Copy by way of another array.";
  findings_.push_back(std::move(its));
}

// What is copied to the host and nothing has written, but for the padding of structures: gaps of less than 16 bytes that
// come again and again.
void Doing::note_unwritten(const Side& from, const Extent& extent) {
  const Block* const block = block_at(from.pointer);
  if (block == nullptr || (settings().checks & kCheckUninitialized) == 0) return;
  const checker::Initialised& initialised = memory_checker().initialised();
  std::uint64_t unwritten = 0, gaps = 0, longest = 0, first = 0, last = 0, next = 0;
  for (std::size_t plane = 0; plane < extent.planes; ++plane) {
    for (std::size_t row = 0; row < extent.rows; ++row) {
      const std::uint64_t begin = address_of(from, plane, row);
      if (initialised.all(begin, extent.width)) continue;
      std::uint64_t length = 0;
      for (std::size_t i = 0; i < extent.width; ++i) {
        if (initialised.all(begin + i, 1)) {
          length = 0;
          continue;
        }
        const std::uint64_t at = begin + i - block->begin;
        if (++length == 1) ++gaps;
        if (gaps == 1) {
          first = unwritten == 0 ? at : first;
          next = at;
        }
        last = at;
        ++unwritten;
        longest = std::max(longest, length);
      }
    }
  }
  const bool may_be_padding = longest < 16 && (gaps > 1 || extent.width <= 32);
  if (unwritten == 0 || may_be_padding) return;
  Finding its = finding(Hazard::unwritten_output, block->name());
  its.message = std::string(issue_.name) + " copies " + std::to_string(unwritten) + " bytes of " +
                its.array + " that nothing has written: bytes " + std::to_string(first) + " to " +
                std::to_string(next) +
                (gaps > 1 ? ", and others up to byte " + std::to_string(last) : "") + " of " +
                std::to_string(block->bytes) + ". " + advice(Hazard::unwritten_output);
  findings_.push_back(std::move(its));
}

// Of a program that sees no device memory: whose bytes come from there and go to the host.
bool wants_to_see(const Side& to, const Side& from) {
  const Block* const block = block_at(to.pointer);
  const bool arrives = block != nullptr ? !block->is_of_device() : is_of_host(to.pointer);
  return arrives && !is_of_host(from.pointer);
}

}  // namespace

cudaError_t only_checked(const std::function<cudaError_t()>& work) {
  is_only_checked = true;
  const cudaError_t error = work();
  is_only_checked = false;
  return error;
}

cudaError_t watched_copy(const std::function<cudaError_t()>& work, const Touched& its) {
  touched = &its;
  const cudaError_t error = work();
  touched = nullptr;
  return error;
}

bool is_of_unlocked_memory(const std::function<cudaError_t()>& work) {
  has_unlocked = false;
  return only_checked(work) == cudaSuccess && has_unlocked;
}

cudaError_t copy(const Issue& issue, const Side& to, const Side& from, const Extent& extent,
                 cudaMemcpyKind kind) {
  if (extent.is_empty()) return cudaSuccess;
  if (extent.width > to.row_pitch || extent.width > from.row_pitch) {
    return cudaErrorInvalidPitchValue;
  }
  if (const cudaError_t error = check_sides(issue.name, to.pointer, from.pointer, kind);
      error != cudaSuccess) {
    return error;
  }
  const auto is_right = [&](const Side& side, const char* role) {
    const bool is_known = is_device_pointer(side.pointer) || block_at(side.pointer) != nullptr;
    return !is_known || check_device_range(issue.name, role, side.pointer, span(side, extent));
  };
  if (!is_right(to, "the destination") || !is_right(from, "the source")) {
    return cudaErrorInvalidValue;
  }
  if (is_only_checked) {
    const auto is_unlocked = [](const Side& side) {
      return is_of_host(side.pointer) && block_at(side.pointer) == nullptr;
    };
    has_unlocked |= is_unlocked(to) || is_unlocked(from);
    return cudaSuccess;
  }
  if (issue.waits) waiting::finish_stream(number_of(issue.stream));
  if (is_recording() && wants_to_see(to, from)) {
    return refuse_to_note(std::string(issue.name) +
                          " copies device memory to the host, "
                          "but kernels run later: print what it holds in a kernel");
  }
  if (is_recording() && !is_of_host(to.pointer)) {
    note_copy(issue, to, from, extent);
    return cudaSuccess;
  }
  copied_so_far += std::uint64_t{extent.width} * extent.rows * extent.planes;
  Doing doing(issue);
  const bool arrives = is_of_host(to.pointer) && !is_of_host(from.pointer);
  if (arrives) doing.note_unwritten(from, extent);
  doing.note_overlap(to, from, extent);
  for (std::size_t plane = 0; plane < extent.planes; ++plane) {
    for (std::size_t row = 0; row < extent.rows; ++row) {
      doing.touch(address_of(from, plane, row), extent.width, timeline::Touch::reads);
      doing.touch(address_of(to, plane, row), extent.width, timeline::Touch::writes);
      std::memmove(row_of(to, plane, row), row_of(from, plane, row), extent.width);
      mark_copied(address_of(to, plane, row), address_of(from, plane, row), extent.width);
    }
  }
  const bool is_on_device = is_device_pointer(to.pointer) && is_device_pointer(from.pointer);
  if ((issue.waits && !is_on_device) || arrives) timeline::host_waited_for(number_of(issue.stream));
  return cudaSuccess;
}

namespace {

cudaError_t copy_bytes(const Issue& issue, void* to, const void* from, std::size_t bytes,
                       cudaMemcpyKind kind) {
  return copy(issue, {to, bytes, bytes}, {from, bytes, bytes}, {.width = bytes}, kind);
}

cudaError_t copy_rows(const Issue& issue, void* to, std::size_t to_pitch, const void* from,
                      std::size_t from_pitch, std::size_t width, std::size_t height,
                      cudaMemcpyKind kind) {
  return copy(issue, {to, to_pitch, 0}, {from, from_pitch, 0}, {.width = width, .rows = height},
              kind);
}

// From a texel on: `x` is counted in bytes.
Side side_of(const cudaArray& array, std::size_t x, std::size_t row, std::size_t plane = 0) {
  const std::uint64_t at =
      array.address + plane * array.plane_bytes() + row * array.row_bytes() + x;
  return {reinterpret_cast<const void*>(at), array.row_bytes(), array.plane_bytes()};
}

// Whether the array has all of that; where not, refuses it. `x` and the extent's width are in bytes.
bool check_texels(const char* name, const cudaArray& array, std::size_t x, std::size_t row,
                  std::size_t plane, const Extent& extent) {
  if (extent.is_empty() || (x <= array.row_bytes() && extent.width <= array.row_bytes() - x &&
                            row <= array.rows() && extent.rows <= array.rows() - row &&
                            plane <= array.planes() && extent.planes <= array.planes() - plane)) {
    return true;
  }
  const auto box = [](std::size_t width, std::size_t rows, std::size_t planes) {
    return std::to_string(width) + " bytes of " + std::to_string(rows) + " rows of " +
           std::to_string(planes) + " planes";
  };
  const std::string its = name_at(array.address);
  refuse(name, its,
         box(extent.width, extent.rows, extent.planes) + " from byte " + std::to_string(x) +
             " of row " + std::to_string(row) + " of plane " + std::to_string(plane) +
             " on do not lie in " + its + ", which has " +
             box(array.row_bytes(), array.rows(), array.planes()),
         "Widths are in bytes, but in cudaMemcpy3DParms in texels.");
  return false;
}

// Positions and widths are in texels where an array takes part, else in bytes.
cudaError_t copy_planes(const Issue& issue, const cudaMemcpy3DParms& p) {
  const auto side = [](cudaArray_const_t array, const cudaPitchedPtr& memory,
                       const cudaPos& at) -> Side {
    if (array != nullptr) return side_of(*array, at.x * array->texel_bytes(), at.y, at.z);
    const std::size_t plane = memory.pitch * memory.ysize;
    const auto* const begin = static_cast<const char*>(memory.ptr);
    return {begin + at.z * plane + at.y * memory.pitch + at.x, memory.pitch, plane};
  };
  const cudaArray_const_t array = p.srcArray != nullptr ? p.srcArray : p.dstArray;
  const std::size_t unit = array != nullptr ? array->texel_bytes() : 1;
  const Extent extent{p.extent.width * unit, p.extent.height, p.extent.depth};
  const auto has_all = [&](cudaArray_const_t its, const cudaPos& at) {
    return its == nullptr ||
           check_texels(issue.name, *its, at.x * its->texel_bytes(), at.y, at.z, extent);
  };
  if (!has_all(p.dstArray, p.dstPos) || !has_all(p.srcArray, p.srcPos)) {
    return cudaErrorInvalidValue;
  }
  return copy(issue, side(p.dstArray, p.dstPtr, p.dstPos), side(p.srcArray, p.srcPtr, p.srcPos),
              extent, p.kind);
}

cudaError_t copy_to_array(const Issue& issue, cudaArray_t to, std::size_t x, std::size_t row,
                          const void* from, std::size_t pitch, std::size_t width,
                          std::size_t height, cudaMemcpyKind kind) {
  if (to == nullptr) return cudaErrorInvalidResourceHandle;
  const Extent extent{.width = width, .rows = height};
  if (!check_texels(issue.name, *to, x, row, 0, extent)) return cudaErrorInvalidValue;
  return copy(issue, side_of(*to, x, row), {from, pitch, 0}, extent, kind);
}
cudaError_t copy_from_array(const Issue& issue, void* to, std::size_t pitch, cudaArray_const_t from,
                            std::size_t x, std::size_t row, std::size_t width, std::size_t height,
                            cudaMemcpyKind kind) {
  if (from == nullptr) return cudaErrorInvalidResourceHandle;
  const Extent extent{.width = width, .rows = height};
  if (!check_texels(issue.name, *from, x, row, 0, extent)) return cudaErrorInvalidValue;
  return copy(issue, {to, pitch, 0}, side_of(*from, x, row), extent, kind);
}
// So many bytes from a texel on, row by row: rows lie without gaps.
cudaError_t copy_to_array(const Issue& issue, cudaArray_t to, std::size_t x, std::size_t row,
                          const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (to == nullptr) return cudaErrorInvalidResourceHandle;
  return copy_bytes(issue, const_cast<void*>(side_of(*to, x, row).pointer), from, bytes, kind);
}
cudaError_t copy_from_array(const Issue& issue, void* to, cudaArray_const_t from, std::size_t x,
                            std::size_t row, std::size_t bytes, cudaMemcpyKind kind) {
  if (from == nullptr) return cudaErrorInvalidResourceHandle;
  return copy_bytes(issue, to, side_of(*from, x, row).pointer, bytes, kind);
}

}  // namespace

cudaError_t set(const Issue& issue, const Side& to, int value, const Extent& extent) {
  if (extent.is_empty()) return cudaSuccess;
  if (extent.width > to.row_pitch ||
      !check_device_range(issue.name, "the memory to set", to.pointer, span(to, extent))) {
    return cudaErrorInvalidValue;
  }
  if (is_only_checked) return cudaSuccess;
  if (issue.waits) waiting::finish_stream(number_of(issue.stream));
  if (is_recording()) {
    note_set(issue, to, value, extent);
    return cudaSuccess;
  }
  Doing doing(issue);
  for (std::size_t plane = 0; plane < extent.planes; ++plane) {
    for (std::size_t row = 0; row < extent.rows; ++row) {
      doing.touch(address_of(to, plane, row), extent.width, timeline::Touch::writes);
      std::memset(row_of(to, plane, row), value, extent.width);
      mark_written(address_of(to, plane, row), extent.width);
    }
  }
  // Only memory of both sides is waited for.
  const Block* const block = block_at(to.pointer);
  if (issue.waits && block != nullptr && block->kind != MemoryKind::device &&
      block->kind != MemoryKind::variable) {
    timeline::host_waited_for(number_of(issue.stream));
  }
  return cudaSuccess;
}

namespace {

Side side_of(const cudaPitchedPtr& memory) {
  return {memory.ptr, memory.pitch, memory.pitch * memory.ysize};
}

// The part of a symbol that a copy names; null if there is no such symbol or it is shorter.
cudaError_t part_of_symbol(const char* name, const void* shadow, std::size_t bytes,
                           std::size_t offset, std::byte*& part) {
  const Symbol* const symbol = find_symbol(shadow);
  if (symbol == nullptr || symbol->address() == 0) return cudaErrorInvalidSymbol;
  if (offset > symbol->bytes || bytes > symbol->bytes - offset) {
    refuse(name, symbol->name,
           std::to_string(bytes) + " bytes at offset " + std::to_string(offset) + " of `" +
               symbol->name + "`, which has " + std::to_string(symbol->bytes) + " bytes",
           "Sizes and offsets are in bytes.");
    return cudaErrorInvalidValue;
  }
  part = reinterpret_cast<std::byte*>(symbol->address()) + offset;
  return cudaSuccess;
}

cudaError_t copy_to_symbol(const Issue& issue, const void* symbol, const void* from,
                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  std::byte* to = nullptr;
  const cudaError_t error = part_of_symbol(issue.name, symbol, bytes, offset, to);
  if (error != cudaSuccess) return error;
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  return copy_bytes(issue, to, from, bytes, kind);
}

cudaError_t copy_from_symbol(const Issue& issue, void* to, const void* symbol, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind) {
  std::byte* from = nullptr;
  const cudaError_t error = part_of_symbol(issue.name, symbol, bytes, offset, from);
  if (error != cudaSuccess) return error;
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  return copy_bytes(issue, to, from, bytes, kind);
}

cudaMemcpy3DParms between_devices(const cudaMemcpy3DPeerParms& its) {
  cudaMemcpy3DParms parameters{};
  parameters.srcArray = its.srcArray;
  parameters.srcPos = its.srcPos;
  parameters.srcPtr = its.srcPtr;
  parameters.dstArray = its.dstArray;
  parameters.dstPos = its.dstPos;
  parameters.dstPtr = its.dstPtr;
  parameters.extent = its.extent;
  parameters.kind = cudaMemcpyDefault;
  return parameters;
}

}  // namespace

Work copy_of(const cudaMemcpy3DParms& parameters, const Issue& by) {
  return [parameters, by] { return copy_planes(by, parameters); };
}

Work set_of(const cudaMemsetParams& p, const Issue& by) {
  return [p, by]() -> cudaError_t {
    const Side to{p.dst, p.height > 1 ? p.pitch : p.width * p.elementSize, 0};
    const Extent extent{.width = p.width * p.elementSize, .rows = p.height};
    if (p.elementSize == 1) {
      return set(by, to, static_cast<int>(p.value), extent);
    }
    if (p.elementSize != 2 && p.elementSize != 4) return cudaErrorInvalidValue;
    if (extent.is_empty()) return cudaSuccess;
    if (!check_device_range(by.name, "the memory to set", to.pointer, span(to, extent))) {
      return cudaErrorInvalidValue;
    }
    if (is_only_checked) return cudaSuccess;
    if (is_recording()) {
      std::vector<std::byte> values(extent.width);
      for (std::size_t i = 0; i < p.width; ++i) {
        std::memcpy(values.data() + i * p.elementSize, &p.value, p.elementSize);
      }
      note_copy(by, to, {values.data(), 0, 0}, extent);
      return cudaSuccess;
    }
    Doing doing(by);
    for (std::size_t row = 0; row < extent.rows; ++row) {
      doing.touch(address_of(to, 0, row), extent.width, timeline::Touch::writes);
      for (std::size_t i = 0; i < p.width; ++i) {
        std::memcpy(row_of(to, 0, row) + i * p.elementSize, &p.value, p.elementSize);
      }
      mark_written(address_of(to, 0, row), extent.width);
    }
    return cudaSuccess;
  };
}

extern "C" {

// ---- Copies ----

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpy", nullptr,
                   [&] { return copy_bytes("cudaMemcpy", to, from, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return work_on_stream("cudaMemcpyAsync", stream, cudaGraphNodeTypeMemcpy, [=] {
    return copy_bytes({"cudaMemcpyAsync", stream}, to, from, bytes, kind);
  });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpy2D", nullptr, [&] {
    return copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return work_on_stream("cudaMemcpy2DAsync", stream, cudaGraphNodeTypeMemcpy, [=] {
    return copy_rows({"cudaMemcpy2DAsync", stream}, to, to_pitch, from, from_pitch, width, height,
                     kind);
  });
}

// Where memory on one side has fewer rows.
static cudaError_t check_rows(const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const cudaMemcpy3DParms& p = *parameters;
  const auto has = [&](cudaArray_const_t array, const cudaPitchedPtr& memory, const cudaPos& at) {
    return array != nullptr || at.y + p.extent.height <= memory.ysize;
  };
  if (p.extent.width == 0 || p.extent.depth == 0 ||
      (has(p.srcArray, p.srcPtr, p.srcPos) && has(p.dstArray, p.dstPtr, p.dstPos))) {
    return cudaSuccess;
  }
  return p.extent.depth > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return on_stream("cudaMemcpy3D", nullptr, [&] {
    const cudaError_t error = check_rows(parameters);
    return error == cudaSuccess ? copy_planes("cudaMemcpy3D", *parameters) : error;
  });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return on_stream("cudaMemcpy3DAsync", stream, [&] {
    if (const cudaError_t error = check_rows(parameters); error != cudaSuccess) return error;
    const Work work = [its = *parameters, stream] {
      return copy_planes({"cudaMemcpy3DAsync", stream}, its);
    };
    return enqueue(stream, cudaGraphNodeTypeMemcpy, work, {.copy = *parameters});
  });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t row, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return on_stream("cudaMemcpy2DToArray", nullptr, [&] {
    return copy_to_array("cudaMemcpy2DToArray", to, x, row, from, pitch, width, height, kind);
  });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t row,
                                     const void* from, std::size_t pitch, std::size_t width,
                                     std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return work_on_stream("cudaMemcpy2DToArrayAsync", stream, cudaGraphNodeTypeMemcpy, [=] {
    return copy_to_array({"cudaMemcpy2DToArrayAsync", stream}, to, x, row, from, pitch, width,
                         height, kind);
  });
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t row, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpy2DFromArray", nullptr, [&] {
    return copy_from_array("cudaMemcpy2DFromArray", to, pitch, from, x, row, width, height, kind);
  });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t row, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return work_on_stream("cudaMemcpy2DFromArrayAsync", stream, cudaGraphNodeTypeMemcpy, [=] {
    return copy_from_array({"cudaMemcpy2DFromArrayAsync", stream}, to, pitch, from, x, row, width,
                           height, kind);
  });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t x, std::size_t row,
                                     cudaArray_const_t from, std::size_t from_x,
                                     std::size_t from_row, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind) {
  return on_stream("cudaMemcpy2DArrayToArray", nullptr, [&] {
    if (from == nullptr) return cudaErrorInvalidResourceHandle;
    const Side side = side_of(*from, from_x, from_row);
    return copy_to_array("cudaMemcpy2DArrayToArray", to, x, row, side.pointer, side.row_pitch,
                         width, height, kind);
  });
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t row, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpyToArray", nullptr, [&] {
    return copy_to_array("cudaMemcpyToArray", to, x, row, from, bytes, kind);
  });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t row, const void* from,
                                   std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return work_on_stream("cudaMemcpyToArrayAsync", stream, cudaGraphNodeTypeMemcpy, [=] {
    return copy_to_array({"cudaMemcpyToArrayAsync", stream}, to, x, row, from, bytes, kind);
  });
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t row,
                                std::size_t bytes, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpyFromArray", nullptr, [&] {
    return copy_from_array("cudaMemcpyFromArray", to, from, x, row, bytes, kind);
  });
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x,
                                     std::size_t row, std::size_t bytes, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return work_on_stream("cudaMemcpyFromArrayAsync", stream, cudaGraphNodeTypeMemcpy, [=] {
    return copy_from_array({"cudaMemcpyFromArrayAsync", stream}, to, from, x, row, bytes, kind);
  });
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t x, std::size_t row,
                                   cudaArray_const_t from, std::size_t from_x, std::size_t from_row,
                                   std::size_t bytes, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpyArrayToArray", nullptr, [&] {
    if (from == nullptr) return cudaErrorInvalidResourceHandle;
    return copy_to_array("cudaMemcpyArrayToArray", to, x, row,
                         side_of(*from, from_x, from_row).pointer, bytes, kind);
  });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes) {
  return on_stream("cudaMemcpyPeer", nullptr, [&] {
    if (!is_device(to_device) || !is_device(from_device)) return cudaErrorInvalidDevice;
    return copy_bytes("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDefault);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  return work_on_stream("cudaMemcpyPeerAsync", stream, cudaGraphNodeTypeMemcpy, [=] {
    if (!is_device(to_device) || !is_device(from_device)) return cudaErrorInvalidDevice;
    return copy_bytes({"cudaMemcpyPeerAsync", stream}, to, from, bytes, cudaMemcpyDefault);
  });
}

// One after the other, as any order is right. Their attributes are hints to who copies.
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes,
                                 std::size_t count, cudaMemcpyAttributes* attributes,
                                 std::size_t* first, std::size_t kinds, cudaStream_t stream) {
  return on_stream("cudaMemcpyBatchAsync", stream, [&]() -> cudaError_t {
    if (stream == nullptr || stream == cudaStreamLegacy || to == nullptr || from == nullptr ||
        bytes == nullptr || attributes == nullptr || first == nullptr || kinds == 0 ||
        kinds > count || first[0] != 0) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto copy_one = [stream, to = to[i], from = from[i], bytes = bytes[i]] {
        return copy_bytes({"cudaMemcpyBatchAsync", stream}, to, from, bytes, cudaMemcpyDefault);
      };
      const cudaError_t error = enqueue(stream, cudaGraphNodeTypeMemcpy, copy_one);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return on_stream("cudaMemcpy3DPeer", nullptr, [&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    return copy_planes("cudaMemcpy3DPeer", between_devices(*parameters));
  });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  if (parameters == nullptr) return record(cudaErrorInvalidValue);
  return work_on_stream("cudaMemcpy3DPeerAsync", stream, cudaGraphNodeTypeMemcpy,
                        [its = between_devices(*parameters), stream] {
                          return copy_planes({"cudaMemcpy3DPeerAsync", stream}, its);
                        });
}

// ---- Memsets ----

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  return on_stream("cudaMemset", nullptr, [&] {
    return set("cudaMemset", {pointer, bytes, bytes}, value, {.width = bytes});
  });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  return work_on_stream("cudaMemsetAsync", stream, cudaGraphNodeTypeMemset, [=] {
    return set({"cudaMemsetAsync", stream}, {pointer, bytes, bytes}, value, {.width = bytes});
  });
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return on_stream("cudaMemset2D", nullptr, [&] {
    return set("cudaMemset2D", {pointer, pitch, 0}, value, {.width = width, .rows = height});
  });
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return work_on_stream("cudaMemset2DAsync", stream, cudaGraphNodeTypeMemset, [=] {
    return set({"cudaMemset2DAsync", stream}, {pointer, pitch, 0}, value,
               {.width = width, .rows = height});
  });
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return on_stream("cudaMemset3D", nullptr, [&] {
    return set("cudaMemset3D", side_of(memory), value, {extent.width, extent.height, extent.depth});
  });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return work_on_stream("cudaMemset3DAsync", stream, cudaGraphNodeTypeMemset, [=] {
    return set({"cudaMemset3DAsync", stream}, side_of(memory), value,
               {extent.width, extent.height, extent.depth});
  });
}

// ---- Variables ----

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpyToSymbol", nullptr, [&] {
    return copy_to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind);
  });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return work_on_stream("cudaMemcpyToSymbolAsync", stream, cudaGraphNodeTypeMemcpy, [=] {
    return copy_to_symbol({"cudaMemcpyToSymbolAsync", stream}, symbol, from, bytes, offset, kind);
  });
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpyFromSymbol", nullptr, [&] {
    return copy_from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind);
  });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return work_on_stream("cudaMemcpyFromSymbolAsync", stream, cudaGraphNodeTypeMemcpy, [=] {
    return copy_from_symbol({"cudaMemcpyFromSymbolAsync", stream}, to, symbol, bytes, offset, kind);
  });
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return call("cudaGetSymbolAddress", [&] {
    if (address == nullptr) return cudaErrorInvalidValue;
    const Symbol* const its = find_symbol(symbol);
    if (its == nullptr || its->address() == 0) return cudaErrorInvalidSymbol;
    *address = reinterpret_cast<void*>(its->address());
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return call("cudaGetSymbolSize", [&] {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    const Symbol* const its = find_symbol(symbol);
    if (its == nullptr) return cudaErrorInvalidSymbol;
    *bytes = its->bytes;
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace simt::cudart
