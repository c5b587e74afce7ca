// At which of a program's lines a thread can be stopped, and at which instructions of a kernel that is.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/simt/debug/dwarf.hpp"
#include "common/simt/machine/code.hpp"
#include "common/simt/report/lines.hpp"

namespace simt::debug {

using report::DeviceLine;

/// Lines of device code where there is something to be done. CUDA's own headers have none.
class Lines {
 public:
  void add(const ptx::Module& module);
  /// The file as the compiler named it; empty: no device code comes from it.
  std::string file(const std::string& path) const;
  /// The first line with code from here on; 0: there is none.
  int at_or_behind(const std::string& file, int line) const;

 private:
  std::map<std::string, std::set<int>> lines_;
};

/// What is known of an instruction of a kernel.
struct Site {
  DeviceLine line;
  bool is_code =
      false;  // a line begins or goes on here; not what enters a function, nor CUDA's headers
  std::uint32_t depth = 0;  // of the functions that it stands in
  bool is_entry = false;    // the kernel's first line begins
  bool is_first = false;    // of its line in its function: breakpoints are there
};
std::vector<Site> sites_of(const ptx::Module& module, const machine::Code& code,
                           const DebugInfo& info);

}  // namespace simt::debug
