// What a program has registered: modules of device code, their kernels and variables. PTX is read and kernels are
// decoded when they are first asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/simt/checker/facts.hpp"
#include "common/simt/cudart/devices.hpp"
#include "common/simt/machine/code.hpp"
#include "common/simt/machine/probes.hpp"
#include "common/simt/ptx/module.hpp"

namespace simt::cudart {

class Module {
 public:
  /// `wrapper` as nvcc writes it; it must stay where it is.
  explicit Module(const void* wrapper) : wrapper_(wrapper) {}
  Module(std::string ptx, bool is_linked) : text_(std::move(ptx)), is_linked_(is_linked) {}
  /// Its variables leave device memory.
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Throws NoPtx or ptx::ParseError, each time.
  const ptx::Module& ptx();
  /// Where its global and constant variables are on the current device, as machine::decode() wants it: each has its own, but
  /// for managed ones.
  const machine::Addresses& addresses();
  /// The device address of a variable, also of one in constant memory; 0: it has none of that name.
  std::uint64_t address_of(const std::string& variable);
  /// Constant memory as kernels see it.
  std::uint64_t constants_begin();
  std::size_t constants_bytes();

 private:
  // On a device.
  struct Placed {
    machine::Addresses addresses;
    std::vector<std::uint64_t> variables;  // device memory of its own
    std::uint64_t constants_begin = 0;
    std::size_t constants_bytes = 0;
  };
  Placed& load();
  void place_variables(Placed& placed);
  void set_initial_values(const Placed& placed);

  const void* wrapper_ = nullptr;
  std::string text_;  // its PTX, where nothing else has it
  bool is_linked_ = false;
  std::unique_ptr<const ptx::Module> ptx_;
  std::map<int, Placed> placed_;  // by device; on none before it is loaded there
};

/// A kernel as host code knows it. Its code names addresses of variables, so each device has its own.
struct Kernel {
  Module* module = nullptr;
  std::string symbol;             // mangled, as PTX names it
  std::string name;               // for people
  int dynamic_shared_limit = -1;  // what the program set; -1: nothing
  bool allows_large_clusters = false;
  int shared_carveout = -1;  // per cent of the most that an SM's shared memory can be; -1: not said
  std::uint64_t launches = 0;  // with checks
  bool runs_alone = false;     // its blocks have met, or something was wrong: one after the other

  /// Throws what Module::ptx() does, and machine::Unsupported.
  const machine::Code& code();
  machine::Code& code_to_debug();
  /// As on a GPU, where it has been launched, or asked for: whether it was not there before on the current device.
  bool load() { return decoded_.try_emplace(current_device()).second; }
  const checker::Facts& facts();
  /// Made when they are first wanted; null until then.
  machine::Probes* probes() { return here().probes.get(); }
  machine::Probes& make_probes();
  /// Null if the module has no such kernel. Throws what Module::ptx() does.
  const ptx::Function* function();

 private:
  struct Decoded {
    std::unique_ptr<machine::Code> code;
    std::unique_ptr<machine::Probes> probes;
    std::unique_ptr<const checker::Facts> facts;
  };
  Decoded& here() { return decoded_[current_device()]; }
  const ptx::Function* function_ = nullptr;  // once it has been asked for
  std::map<int, Decoded> decoded_;           // by device
};

/// A __device__, __constant__ or __managed__ variable as host code knows it: by the address of its shadow.
struct Symbol {
  Module* module = nullptr;
  std::string symbol;
  std::string name;  // for people
  std::size_t bytes = 0;
  bool is_constant = false;
  void** managed = nullptr;  // of __managed__: where host code looks for its address

  std::uint64_t address() const { return module->address_of(symbol); }
};

// ---- What is registered ----

Module& add_module(const void* wrapper);
/// Of PTX, with all its kernels. Throws what Module::ptx() does, and then nothing is added.
Module& add_module(std::string ptx, bool is_linked);
/// With all that was registered for it.
void remove_module(Module& module);
void add_kernel(const void* host_function, Module& module, const char* symbol);
void add_symbol(const void* shadow, Symbol symbol);
/// Gives host code the addresses of a module's managed variables.
void open_managed_variables(Module& module);

/// By the function's address in host code or by the kernel's own handle; null if it is neither.
Kernel* find_kernel(const void* function);
/// What host code calls it by; of a module that was loaded, its handle.
const void* host_function_of(Kernel& kernel);
/// What a call answers where it finds none.
cudaError_t no_kernel(const void* function);
/// Of a module, by what device code has as its address; null if that is none.
Kernel* find_kernel(Module& module, std::uint64_t address);
bool is_kernel(std::string_view symbol);
/// All of them, by name.
std::vector<Kernel*> all_kernels();
std::vector<Kernel*> kernels_of(const Module& module);
std::vector<Module*> all_modules();
/// By an address inside the shadow; null if it lies in none.
const Symbol* find_symbol(const void* shadow);

}  // namespace simt::cudart
