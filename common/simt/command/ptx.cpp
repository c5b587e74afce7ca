// What is in a file of PTX.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "common/simt/command/commands.hpp"
#include "common/simt/machine/access.hpp"
#include "common/simt/machine/code.hpp"
#include "common/simt/machine/tensor.hpp"
#include "common/simt/ptx/parse.hpp"
#include "common/simt/ptxas/rewrite.hpp"
#include "common/simt/ptxas/unroll.hpp"

namespace simt::command {
namespace {

std::string file_text(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  // Of a folder the first letter says that it is one.
  if (!file || (file.peek(), file.bad())) {
    throw std::runtime_error(name + " cannot be read: " + std::strerror(errno));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

void show(const simt::ptx::Module& module, const simt::ptx::Function& function) {
  std::printf("  %s\n    %zu instructions", simt::ptx::demangled(function.name).c_str(),
              function.body.size());
  std::printf(", %llu bytes of parameters",
              static_cast<unsigned long long>(simt::ptx::parameter_places(function).back()));
  const auto tell = [](const simt::ptx::Variable& one) {
    const char* const where = one.space == simt::ptx::Space::shared ? "shared" : "local";
    if (one.bytes == 0) {
      std::printf("\n    %s %s: as large as the launch says", where,
                  simt::ptx::demangled(one.name).c_str());
    } else {
      std::printf("\n    %s %s: %lld bytes", where, simt::ptx::demangled(one.name).c_str(),
                  static_cast<long long>(one.bytes));
    }
  };
  for (const simt::ptx::Variable& one : function.variables) {
    if (one.space == simt::ptx::Space::shared || one.space == simt::ptx::Space::local) tell(one);
  }
  for (const simt::ptx::Variable& one : module.variables) {
    if (one.space == simt::ptx::Space::shared && function.uses(one.name)) tell(one);
  }
  // As ptxas would write them: so many of each width, of a lane.
  const simt::ptxas::Rewritten rewritten =
      simt::ptxas::rewrite(module, function, simt::ptx::shared_places(module, function));
  std::map<std::string, int> widths;
  const auto add = [&](const std::string& where, bool loads, int bytes) {
    ++widths[where + (loads ? " loads of " : " stores of ") + std::to_string(bytes) + " bytes"];
  };
  const auto count = [&](const simt::ptx::Instruction& one) {
    const char* const where = one.has("global") ? "global" : one.has("shared") ? "shared" : nullptr;
    if (where == nullptr || !one.is_counted) return;
    for (const int bytes : simt::machine::widths_of_matrix(one)) add(where, one.has("load"), bytes);
    if (one.opcode == "atom" || one.opcode == "red") {
      const int bytes = simt::machine::loaded_by_atomic(one);
      if (bytes != 0) add(where, true, bytes);
    }
    if (one.opcode != "ld" && one.opcode != "st") return;
    const int own = simt::ptx::bytes_of(one.type()) * (one.has("v4") ? 4 : one.has("v2") ? 2 : 1);
    add(where, one.opcode == "ld", one.joined_bytes != 0 ? one.joined_bytes : own);
  };
  for (const simt::ptx::Instruction& one : function.body) {
    const auto found = rewritten.find(&one);
    if (found == rewritten.end()) {
      count(one);
    } else {
      for (const simt::ptx::Instruction& its : found->second) count(its);
    }
  }
  for (const auto& [width, times] : widths) std::printf("\n    %d %s", times, width.c_str());
  for (const std::string& form : simt::machine::unknown_forms(function)) {
    std::printf("\n    LACKS %s", form.c_str());
  }
  std::printf("\n");
}

void show_file(const std::string& name) {
  const auto module = simt::ptx::parse(file_text(name), name);
  if (module->version.empty()) {
    throw std::runtime_error(name + " is no PTX: nvcc -ptx -lineinfo writes such files");
  }
  simt::machine::order_modifiers(*module);
  simt::ptxas::write_out_counted_loops(*module);
  std::printf("%s: PTX %s for %s\n", name.c_str(), module->version.c_str(), module->target.c_str());
  std::map<std::string, int> forms;
  for (const simt::ptx::Function& function : module->functions) {
    for (const simt::ptx::Instruction& one : function.body) ++forms[one.form()];
    if (function.is_entry) show(*module, function);
  }
  std::printf("  %zu forms of instructions\n", forms.size());
  for (const auto& [form, times] : forms) std::printf("  %6d %s\n", times, form.c_str());
}

}  // namespace

int ptx(char** words) {
  for (; *words != nullptr; ++words) show_file(*words);
  return std::fflush(stdout) == 0 ? kGood : kNotWritten;
}

}  // namespace simt::command
