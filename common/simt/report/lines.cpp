#include "common/simt/report/lines.hpp"

namespace simt::report {

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
