#include "common/simt/cudart/module.hpp"

#include <algorithm>
#include <cstring>

#include "common/simt/cudart/allocations.hpp"
#include "common/simt/cudart/coverage.hpp"
#include "common/simt/cudart/fat_binary.hpp"
#include "common/simt/cudart/recording.hpp"
#include "common/simt/cudart/waiting.hpp"
#include "common/simt/machine/decode.hpp"
#include "common/simt/ptx/parse.hpp"
#include "common/simt/ptxas/unroll.hpp"

namespace simt::cudart {
namespace {

// Never destroyed: a program's static objects may still launch kernels while they go.
struct Registered {
  std::vector<std::unique_ptr<Module>> modules;
  std::map<const void*, std::unique_ptr<Kernel>> kernels;  // by host function
  std::map<const void*, Symbol> symbols;                   // by where the shadow begins
};
Registered& registered() {
  static Registered& all = *new Registered;
  return all;
}

bool is_placed(const ptx::Variable& one) {
  return (one.space == ptx::Space::global || one.space == ptx::Space::constant) && one.bytes > 0 &&
         !one.is_extern;
}

}  // namespace

// ---- Module ----

Module::~Module() {
  for (const auto& [device, placed] : placed_) {
    for (const std::uint64_t one : placed.variables) release(one);
  }
}

const ptx::Module& Module::ptx() {
  if (ptx_ == nullptr) {
    if (wrapper_ != nullptr) text_ = ptx_of_wrapper(wrapper_), is_linked_ = is_linked(wrapper_);
    std::unique_ptr<ptx::Module> read = ptx::parse(text_, "the program's PTX", is_linked_);
    machine::order_modifiers(*read);
    ptxas::write_out_counted_loops(*read);
    ptx_ = std::move(read);
    if (!is_recording()) text_.clear();
  }
  return *ptx_;
}

const machine::Addresses& Module::addresses() { return load().addresses; }

std::uint64_t Module::constants_begin() { return load().constants_begin; }

std::size_t Module::constants_bytes() { return load().constants_bytes; }

std::uint64_t Module::address_of(const std::string& variable) {
  const Placed& placed = load();
  const auto found = placed.addresses.find(variable);
  if (found == placed.addresses.end()) return 0;
  const ptx::Variable* const its = ptx_->variable(variable);
  const bool is_constant = its != nullptr && its->space == ptx::Space::constant;
  return found->second + (is_constant ? placed.constants_begin : 0);
}

Module::Placed& Module::load() {
  const auto [found, is_new] = placed_.try_emplace(current_device());
  if (!is_new) return found->second;
  try {
    ptx();
  } catch (...) {
    placed_.erase(found);
    throw;
  }
  if (is_recording()) note_module(*this, text_, is_linked_);
  const NotRecording parts;
  place_variables(found->second);
  set_initial_values(found->second);
  return found->second;
}

void Module::place_variables(Placed& placed) {
  const auto managed_elsewhere = [&](const std::string& name) -> std::uint64_t {
    for (const auto& [device, other] : placed_) {
      const auto found = other.addresses.find(name);
      if (&other != &placed && found != other.addresses.end()) return found->second;
    }
    return 0;
  };
  std::uint64_t constants = 0;
  for (const ptx::Variable& one : ptx_->variables) {
    if (!is_placed(one)) continue;
    if (one.space == ptx::Space::constant) {
      constants = ptx::place_behind(constants, one.align);
      placed.addresses[one.name] = constants;
      constants += static_cast<std::uint64_t>(one.bytes);
    } else if (const std::uint64_t there = one.is_managed ? managed_elsewhere(one.name) : 0;
               there != 0) {
      placed.addresses[one.name] = there;
    } else {
      const MemoryKind kind = one.is_managed ? MemoryKind::managed_variable : MemoryKind::variable;
      placed.variables.push_back(
          allocate(static_cast<std::size_t>(one.bytes), kind, ptx::variable_name(one.name)));
      placed.addresses[one.name] = placed.variables.back();
    }
  }
  placed.constants_bytes = static_cast<std::size_t>(constants);
  if (constants == 0) return;
  placed.constants_begin =
      allocate(placed.constants_bytes, MemoryKind::variable, "constant memory");
  placed.variables.push_back(placed.constants_begin);
}

void Module::set_initial_values(const Placed& placed) {
  for (const ptx::Variable& one : ptx_->variables) {
    if (!is_placed(one) || (one.is_managed && placed_.size() > 1)) continue;
    std::byte* const its = reach(address_of(one.name));
    std::memset(its, 0, static_cast<std::size_t>(one.bytes));
    std::memcpy(its, one.initial.data(), one.initial.size());
    for (const ptx::Relocation& there : one.relocations) {
      // A symbol of constant memory is told by its offset, but in the generic space by its address.
      const auto found = placed.addresses.find(there.symbol);
      const ptx::Function* const function = ptx_->function(there.symbol);
      if (found == placed.addresses.end() && function == nullptr) continue;
      std::uint64_t value = function != nullptr ? machine::address_of_function(*ptx_, *function)
                            : there.generic     ? address_of(there.symbol)
                                                : found->second;
      value = (value + static_cast<std::uint64_t>(there.addend)) >> there.shift;
      std::memcpy(its + there.at, &value, static_cast<std::size_t>(there.bytes));
    }
  }
}

// ---- Kernel ----

const ptx::Function* Kernel::function() {
  // Every launch asks, and a module may have thousands.
  if (function_ == nullptr) function_ = module->ptx().function(symbol);
  return function_;
}

const machine::Code& Kernel::code() { return code_to_debug(); }

machine::Code& Kernel::code_to_debug() {
  std::unique_ptr<machine::Code>& its = here().code;
  if (its == nullptr) {
    const ptx::Function* const text = function();
    if (text == nullptr) throw machine::Unsupported("the program's PTX has no kernel " + symbol);
    its = machine::decode(module->ptx(), *text, module->addresses());
  }
  return *its;
}

machine::Probes& Kernel::make_probes() {
  machine::Code& its = code_to_debug();
  std::unique_ptr<machine::Probes>& probes = here().probes;
  if (probes == nullptr) probes = std::make_unique<machine::Probes>(its);
  return *probes;
}

const checker::Facts& Kernel::facts() {
  std::unique_ptr<const checker::Facts>& facts = here().facts;
  if (facts == nullptr) {
    facts = std::make_unique<checker::Facts>(checker::facts_of(module->ptx(), code()));
  }
  return *facts;
}

// ---- What is registered ----

Module& add_module(std::string ptx, bool is_linked) {
  auto made = std::make_unique<Module>(std::move(ptx), is_linked);
  for (const ptx::Function& function : made->ptx().functions) {
    for (const ptx::Instruction& one : function.body) {
      if (machine::is_opcode(one.opcode)) continue;
      throw ptx::ParseError("the program's PTX:" + std::to_string(one.line) + ": " +
                            std::string(one.opcode) + " is the name of no instruction");
    }
  }
  Module& module = *registered().modules.emplace_back(std::move(made));
  for (const ptx::Function& one : module.ptx().functions) {
    if (one.is_entry) add_kernel(&one, module, one.name.c_str());
  }
  return module;
}

Module& add_module(const void* wrapper) {
  return *registered().modules.emplace_back(std::make_unique<Module>(wrapper));
}

void remove_module(Module& module) {
  // A kernel that runs may be one of its own.
  waiting::end();
  keep_coverage(module);
  Registered& all = registered();
  std::erase_if(all.kernels, [&](const auto& entry) { return entry.second->module == &module; });
  std::erase_if(all.symbols, [&](const auto& entry) { return entry.second.module == &module; });
  std::erase_if(all.modules, [&](const auto& one) { return one.get() == &module; });
}

void add_kernel(const void* host_function, Module& module, const char* symbol) {
  auto made = std::make_unique<Kernel>();
  made->module = &module;
  made->symbol = symbol;
  made->name = ptx::demangled(symbol);
  registered().kernels[host_function] = std::move(made);
}

void add_symbol(const void* shadow, Symbol symbol) {
  registered().symbols[shadow] = std::move(symbol);
}

void open_managed_variables(Module& module) {
  for (const auto& [shadow, symbol] : registered().symbols) {
    if (symbol.module == &module && symbol.managed != nullptr) {
      *symbol.managed = reinterpret_cast<void*>(symbol.address());
    }
  }
}

Kernel* find_kernel(const void* function) {
  const Registered& all = registered();
  const auto found = all.kernels.find(function);
  if (found != all.kernels.end()) return found->second.get();
  for (const auto& [host_function, kernel] : all.kernels) {
    if (kernel.get() == function) return kernel.get();
  }
  return nullptr;
}

const void* host_function_of(Kernel& kernel) {
  const auto& all = registered().kernels;
  const auto is_its = [&](const auto& one) { return one.second.get() == &kernel; };
  const void* const its = std::find_if(all.begin(), all.end(), is_its)->first;
  return its == kernel.function() ? &kernel : its;
}

cudaError_t no_kernel(const void* function) {
  // CUDA takes any other address for a cudaKernel_t.
  return function == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle;
}

std::vector<Module*> all_modules() {
  std::vector<Module*> all;
  for (const auto& one : registered().modules) all.push_back(one.get());
  return all;
}

Kernel* find_kernel(Module& module, std::uint64_t address) {
  for (const auto& [host_function, kernel] : registered().kernels) {
    if (kernel->module != &module) continue;
    const ptx::Function* const its = kernel->function();
    if (its != nullptr && machine::address_of_function(module.ptx(), *its) == address) {
      return kernel.get();
    }
  }
  return nullptr;
}

bool is_kernel(std::string_view symbol) {
  const auto& all = registered().kernels;
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& one) { return one.second->symbol == symbol; });
}

std::vector<Kernel*> all_kernels() {
  std::vector<Kernel*> all;
  for (const auto& [host_function, kernel] : registered().kernels) all.push_back(kernel.get());
  std::sort(all.begin(), all.end(),
            [](const Kernel* a, const Kernel* b) { return a->name < b->name; });
  return all;
}

std::vector<Kernel*> kernels_of(const Module& module) {
  std::vector<Kernel*> all = all_kernels();
  std::erase_if(all, [&](const Kernel* one) { return one->module != &module; });
  return all;
}

const Symbol* find_symbol(const void* shadow) {
  const Registered& all = registered();
  const auto address = reinterpret_cast<std::uintptr_t>(shadow);
  for (const auto& [begin, symbol] : all.symbols) {
    // Host code's name for a managed variable is the variable itself.
    const void* const its = symbol.managed != nullptr ? *symbol.managed : begin;
    if (address - reinterpret_cast<std::uintptr_t>(its) < symbol.bytes) return &symbol;
  }
  return nullptr;
}

}  // namespace simt::cudart
