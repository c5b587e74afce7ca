// Address ranges of the program's __constant__ and __device__ variables and of its shared arrays,
// with a byte per word that says which bytes belong to a variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simt {

struct Region {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  std::string name;
};

// A section of variables. `map[(address - begin) / 4]` has bits 4-7 set for the bytes 0-3 of the
// word that belong to a variable, as in device_memory.hpp.
struct VariableSection {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::vector<std::uint8_t> map;

  bool allows(std::uintptr_t address, unsigned size) const {
    std::size_t offset = address - begin;
    if (offset + size > bytes) return false;
    if (size < 4) {
      unsigned mask = ((1u << size) - 1) << (offset & 3);
      return (map[offset >> 2] >> 4 & mask) == mask;
    }
    for (unsigned w = 0; w < size / 4; ++w) {
      if ((map[(offset >> 2) + w] & 0xf0) != 0xf0) return false;
    }
    return true;
  }
};

struct Regions {
  VariableSection constant;
  VariableSection device;
};

const Regions& program_regions();

// Whether the program has asked for the address of the variable that begins there, with
// cudaGetSymbolAddress.
void note_asked_for(std::uintptr_t variable);
bool was_asked_for(std::uintptr_t variable);

// What a launch was given of the host's memory, found among its arguments: the program's own arrays and
// strings, which are no different from the tables that a kernel may use.
void set_given_by_host(const void* arguments, std::size_t bytes);
// Of these, or of the program's own variables that can be written, the one that holds the address.
std::optional<Region> host_variable(std::uintptr_t address);
// The __device__ and __constant__ variables among a launch's arguments whose address nobody has asked
// for: what was given is their shadow on the host.
std::vector<std::string> shadows_among(const void* arguments, std::size_t bytes);

// The shared array (static or dynamic, of the running block's OS thread) or the variable that holds
// the address, or else the nearest one that the running kernel may use.
Region nearest_shared(std::uintptr_t address);
Region nearest_variable(std::uintptr_t address);

}  // namespace simt
