// What the running program's own ELF file says: functions, the shared-memory arrays of kernels
// (thread-local symbols), the ranges of __constant__ and __device__ variables, and source lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simt {

// A __shared__ array. The translator makes it a thread-local variable of the function it stands in.
struct SharedArray {
  std::size_t offset = 0;  // in the program's TLS segment
  std::size_t size = 0;
  std::string name;    // as in the source
  std::string symbol;  // mangled: tells which function declares it
};

// A __constant__ or __device__ variable.
struct DeviceVariable {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  std::string name;
  bool managed = false;
};

struct SourceLine {
  std::string file;
  int line = 0;
  std::string function;      // it stands in, also where that was inlined
  bool in_stand_in = false;  // the code is that of a header of the simulator, called in this line
};

class ProgramImage {
 public:
  // The image of this program; read at the first call. Ends the program with one line if the file
  // has no symbol table.
  static const ProgramImage& get();

  struct Function {
    std::uintptr_t begin;
    std::uintptr_t end;
    std::string mangled;
  };
  const std::vector<Function>& functions() const { return functions_; }  // by where they begin
  // The function that contains `address`; null if unknown.
  const Function* function_at(std::uintptr_t address) const;
  // Its mangled name; "" if unknown. Names a kernel.
  std::string function_symbol(std::uintptr_t address) const;
  // From the load address to the end of the last function.
  std::size_t code_bytes() const;

  const std::vector<SharedArray>& shared_arrays() const { return shared_; }

  // True if the kernel with this symbol declares the array.
  static bool owns(const std::string& kernel, const SharedArray& array);
  // True if that kernel may use it: it is its own, or it belongs to a device function or a
  // namespace.
  static bool may_use(const std::string& kernel, const SharedArray& array);

  const std::vector<DeviceVariable>& constants() const { return constants_; }
  const std::vector<DeviceVariable>& device_variables() const { return device_; }

  // Address range of the program's own data (.rodata, .data, .bss).
  bool in_program_data(std::uintptr_t address) const;
  // Of that: .data and .bss, and .rodata.
  bool in_variable_data(std::uintptr_t address) const;
  bool in_constant_data(std::uintptr_t address) const;
  // The host's variable or constant that holds the address, or nullptr.
  const DeviceVariable* host_object(std::uintptr_t address) const;

  // Offset of a TLS symbol in the TLS segment and the segment's size.
  std::size_t tls_anchor_offset() const { return tls_anchor_offset_; }
  std::size_t tls_size() const { return tls_size_; }

  std::uintptr_t load_address() const { return load_address_; }

  // Source line of a program counter (an address inside the instruction): the innermost inlined
  // frame that is not in the simulator's own stand-in headers.
  SourceLine line_of(std::uintptr_t program_counter) const;

 private:
  ProgramImage();
  std::vector<Function> functions_;  // sorted by begin
  std::vector<SharedArray> shared_;
  std::vector<DeviceVariable> constants_;
  std::vector<DeviceVariable> device_;
  using Ranges = std::vector<std::pair<std::uintptr_t, std::uintptr_t>>;
  Ranges data_ranges_, variable_ranges_, constant_ranges_;
  std::vector<DeviceVariable> host_objects_;  // sorted by begin
  std::size_t tls_anchor_offset_ = 0;
  std::size_t tls_size_ = 0;
  std::uintptr_t load_address_ = 0;
};

// A thread-local variable of the runtime with a known symbol: where it lies tells where the calling
// OS thread's TLS segment begins.
extern "C" __thread char simt_tls_anchor;

// The name as in C++ source; the mangled one if it is not a C++ name.
std::string demangle(const char* mangled);

}  // namespace simt
