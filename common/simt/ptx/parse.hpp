#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "common/simt/ptx/module.hpp"

namespace simt::ptx {

/// What is wrong with a text, in one line: "file:12: what".
class ParseError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Reads PTX as nvcc and clang write it. `name` is told in errors. Throws ParseError for what is no PTX, for a
/// register, label or type that is not declared, and for a directive that it does not know. Several texts one behind the
/// other, each from its .version on, make one module; `is_linked`: see Module.
std::unique_ptr<Module> parse(std::string text, const std::string& name, bool is_linked = false);

}  // namespace simt::ptx
