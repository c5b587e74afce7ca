#include "common/simt/report/lines.hpp"

#include <algorithm>

namespace simt::report {
namespace {

// The innermost one.
const machine::Body* body_at(const machine::Code& code, std::int32_t site) {
  const auto its = std::find_if(
      code.bodies.rbegin(), code.bodies.rend(),
      [&](const machine::Body& one) { return one.first_site <= site && site < one.end_site; });
  return its == code.bodies.rend() ? nullptr : &*its;
}

}  // namespace

DeviceLine line_of(const ptx::Module& module, const ptx::Instruction& instruction) {
  DeviceLine line;
  for (std::int32_t at = instruction.location; at >= 0;) {
    const ptx::Location& here = module.locations[static_cast<std::size_t>(at)];
    line = {module.files[static_cast<std::size_t>(here.file)], here.line};
    if (!is_of_toolkit(line.file)) break;
    at = here.inlined_at;
  }
  return line;
}

DeviceLine line_of(const ptx::Module& module, const machine::Code& code, std::int32_t site) {
  const auto line_at = [&](std::int32_t at) {
    return line_of(module, *code.sites[static_cast<std::size_t>(at)]);
  };
  const auto is_own = [](const DeviceLine& line) {
    return line.line != 0 && !is_of_toolkit(line.file);
  };
  DeviceLine first;
  while (site >= 0) {
    const DeviceLine line = line_at(site);
    if (is_own(line)) return line;
    if (first.line == 0) first = line;
    // Code that nvcc made by itself has no line: it belongs to what is before it. A function without lines, as nvcc -G has
    // for assert, belongs to its call, and so does one of the toolkit.
    if (line.line == 0 && !line.file.empty()) {
      --site;
      continue;
    }
    const machine::Body* const body = body_at(code, site);
    if (body == nullptr) break;
    // What nvcc -G puts in place of a call itself has only its own lines.
    if (is_own(line_at(body->first_site))) {
      for (std::int32_t before = site; --before > body->first_site;) {
        const machine::Body* const its = body_at(code, before);
        if (its != body) before = its->first_site;
        if (its == body && is_own(line_at(before))) return line_at(before);
      }
    }
    site = body->call_site;
  }
  return first;
}

DeviceLine call_of(const ptx::Module& module, const ptx::Instruction& instruction) {
  const DeviceLine own = line_of(module, instruction);
  DeviceLine call;
  for (std::int32_t at = instruction.location; at >= 0;) {
    const ptx::Location& here = module.locations[static_cast<std::size_t>(at)];
    call = {module.files[static_cast<std::size_t>(here.file)], here.line};
    at = here.inlined_at;
  }
  return call.file == own.file && call.line == own.line ? DeviceLine{} : call;
}

bool is_of_toolkit(const std::string& file) {
  const std::size_t include = file.find("/include/");
  if (include == file.npos) return false;
  for (const char* const mark : {"/cuda", "/nvidia/cu", "/targets/", "/cccl/"}) {
    if (file.find(mark) < include + 9) return true;
  }
  return file.find("/cuda_runtime") != file.npos || file.find("/crt/") != file.npos;
}

bool is_of_system(const std::string& file) {
  return is_of_toolkit(file) || file.starts_with("/usr/include/") ||
         file.starts_with("/usr/lib/") || file.find("/include/c++/") != file.npos;
}

}  // namespace simt::report
