// What kernels print, kept for Launch::printed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/simt/simt.hpp"

namespace simt {

// The lines of the blocks that one worker ran, in that order.
class PrintLog {
 public:
  void add(std::uint64_t block, const std::string& text);
  void clear() { *this = {}; }

  // Adds the worker's lines to what others have printed, and makes of all what Launch holds.
  struct Lines {
    std::multimap<std::uint64_t, std::string> first;  // by block
    std::uint64_t total = 0;
  };
  void move_to(Lines& all);
  static Printed in_order(Lines&& all);

 private:
  Lines lines_;
  std::uint64_t block_ = 0;
  bool open_ = false;  // the last line has not ended
};

}  // namespace simt
