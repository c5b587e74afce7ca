// What the text of a kernel says of its accesses: which variable an address is derived from, what becomes of a value
// that is read, how strong an access is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/simt/checker/checker.hpp"
#include "common/simt/machine/code.hpp"

namespace simt::checker {

/// The one variable that all addresses of an access are derived from.
struct Origin {
  enum class Kind : std::uint8_t { none, variable, object, parameter, several } kind = Kind::none;
  std::string name;  // of the variable, or of the kernel's parameter
  /// In the parameter: where the pointer is; of an object of local memory: in the thread's.
  std::int64_t offset = 0;
  std::int64_t end = 0;    // of an object; of a variable of constant memory its bytes
  std::int32_t part = -1;  // of an object: whose it is (Texts::owner)
  bool operator==(const Origin&) const = default;
};

struct Facts {
  std::vector<Site> sites;      // by Code::sites
  std::vector<Origin> origins;  // the same; of those that touch memory
  std::vector<Origin> sources;  // of copies, what they read
  bool hands_on = false;        // see Launch
  bool is_async = false;        // the same
  bool writes_surfaces = false;
  bool may_be_quick = false;  // the same: is_quick
};

/// `module` is the one that the code comes from. Bounds are not filled in.
Facts facts_of(const ptx::Module& module, const machine::Code& code);

}  // namespace simt::checker
