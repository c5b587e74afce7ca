// Reading one C++ declaration from its tokens: enough to tell a variable from a function and to
// find its specifiers and declarators. It knows no types, so it decides by shape.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "common/simt/lexer.hpp"

namespace simt {

// All positions are token indices; ranges are half open.
struct Declarator {
  std::size_t begin = kNone;            // first token behind the specifiers or the comma
  std::size_t end = kNone;              // the ',' or ';' behind it
  std::size_t name = kNone;             // the (last part of the) declared name
  bool qualified = false;               // a name such as A::b
  bool grouped = false;                 // the name stands in parentheses, as in float (*f)(int)
  std::size_t last_pointer = kNone;     // the last `*`, `&` ahead of an ungrouped name
  std::vector<std::size_t> dimensions;  // the '[' of each array bound
  std::size_t initialiser = kNone;      // its '=', '{' or '('
};

enum class DeclarationKind { variable, function, unknown };

struct Declaration {
  DeclarationKind kind = DeclarationKind::unknown;
  std::size_t begin = kNone;              // first token behind the template head
  std::size_t declarators_begin = kNone;  // first token behind the specifiers
  std::size_t end = kNone;                // the ';' of a variable declaration
  bool is_template = false;               // has a template head (also template<>)
  bool is_instantiation = false;          // template void f<int>(int);
  bool defines_type = false;              // the type is a class or enum with its body
  std::size_t name = kNone;               // of a function
  std::size_t parameters = kNone;         // '(' of a function's parameter list
  std::vector<std::size_t> specifiers;    // its words such as static, const, __shared__, unsigned
  std::vector<std::pair<std::size_t, std::size_t>> attributes;  // among the specifiers
  std::vector<Declarator> declarators;                          // of a variable declaration
};

// Reads the declaration whose first token is `begin`.
Declaration parse_declaration(const TokenStream& tokens, std::size_t begin);

// The token behind a template head, or `begin` if there is none at `begin`.
std::size_t skip_template_head(const TokenStream& tokens, std::size_t begin);

// From '<' of a template argument list to the token behind its '>', or kNone if there is none.
std::size_t skip_angles(const TokenStream& tokens, std::size_t open);

// If an attribute begins at `index` (__attribute__((..)), alignas(..), [[..]],
// __launch_bounds__(..) and the like): the token behind it. Otherwise `index`.
std::size_t skip_attribute(const TokenStream& tokens, std::size_t index);

// True for the words of C++ that cannot be the name of anything.
bool is_keyword(std::string_view word);

}  // namespace simt
