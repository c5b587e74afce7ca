#include "common/simt/declaration.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace simt {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_specifier(std::string_view word) {
  return is_one_of(
      word, {"static",      "extern",       "inline",          "__inline",         "__inline__",
             "const",       "__const",      "volatile",        "__volatile__",     "constexpr",
             "consteval",   "constinit",    "__constinit",     "thread_local",     "__thread",
             "mutable",     "virtual",      "explicit",        "friend",           "register",
             "typedef",     "typename",     "__extension__",   "__restrict",       "__restrict__",
             "__global__",  "__device__",   "__host__",        "__shared__",       "__constant__",
             "__managed__", "__noinline__", "__forceinline__", "__grid_constant__"});
}

bool is_builtin_type(std::string_view word) {
  return is_one_of(
      word, {"void",     "bool",     "char",     "short",  "int",        "long",     "float",
             "double",   "signed",   "unsigned", "auto",   "wchar_t",    "char8_t",  "char16_t",
             "char32_t", "__int128", "_Float16", "__bf16", "__float128", "_Complex", "__signed__"});
}

bool is_class_key(std::string_view word) { return is_one_of(word, {"class", "struct", "union"}); }

bool is_type_operator(std::string_view word) {
  return is_one_of(word, {"decltype", "typeof", "__typeof__", "__typeof", "__underlying_type"});
}

// Reads forward with one position; every step either moves it or says no.
class Parser {
 public:
  Parser(const TokenStream& tokens, std::size_t begin) : tokens_(tokens), at_(begin) {}

  Declaration declaration() {
    Declaration result;
    const std::size_t behind_head = skip_template_head(tokens_, at_);
    result.is_template = behind_head != at_;
    at_ = behind_head;
    if (is("extern") && tokens_[at_ + 1].is("template")) ++at_;
    if (is("template")) {
      result.is_instantiation = true;
      ++at_;
    }
    result.begin = at_;
    const bool has_type = specifiers(result);
    result.declarators_begin = at_;
    // A constructor, a destructor or an operator: its "type" was its name.
    if (is("~") || is("operator") || (has_type && is("(") && !opens_grouped_declarator())) {
      return function(result, is("(") ? at_ - 1 : at_);
    }
    if (!has_type) return result;
    while (true) {
      Declarator declarator;
      if (!parse_declarator(declarator)) {
        if (function_name_ != kNone) return function(result, function_name_);
        return result;
      }
      result.declarators.push_back(declarator);
      if (is(";")) break;
      ++at_;  // the comma
    }
    result.end = at_;
    result.kind = DeclarationKind::variable;
    return result;
  }

 private:
  const Token& here() const { return tokens_[at_]; }
  bool is(std::string_view text) const { return here().is(text); }
  bool at_end() const { return here().kind == TokenKind::end; }

  bool skip_brackets() {
    if (here().match == kNone || here().match < at_) return false;
    at_ = here().match + 1;
    return true;
  }

  bool skip_attributes() {
    const std::size_t begin = at_;
    while (skip_attribute(tokens_, at_) != at_) at_ = skip_attribute(tokens_, at_);
    return at_ != begin;
  }

  // A::B<C>::d, leaving the position behind it. `name` gets its last identifier.
  bool qualified_name(std::size_t& name, bool& qualified) {
    qualified = false;
    if (is("::")) ++at_;
    while (true) {
      if (is("template")) ++at_;
      if (is("operator") || is("~")) {
        name = at_;
        return true;
      }
      if (!here().is_identifier() || is_keyword(here().text)) return false;
      name = at_++;
      if (is("<")) {
        const std::size_t behind = skip_angles(tokens_, at_);
        if (behind == kNone) return false;
        at_ = behind;
      }
      if (!is("::")) return true;
      if (tokens_[at_ + 1].is("*")) return true;  // pointer to member: T A::*
      qualified = true;
      ++at_;
    }
  }

  // Returns true if a type was among them.
  bool specifiers(Declaration& result) {
    bool has_type = false;
    bool builtin = false;
    while (!at_end()) {
      const std::size_t begin = at_;
      if (is("explicit") && tokens_[at_ + 1].is("(")) {
        ++at_;
        if (!skip_brackets()) return has_type;
      } else if (is_specifier(here().text)) {
        result.specifiers.push_back(at_++);
        if (here().kind == TokenKind::string) ++at_;  // extern "C"
      } else if (skip_attributes()) {
        result.attributes.emplace_back(begin, at_);
      } else if (is_builtin_type(here().text) && (!has_type || builtin || is("auto"))) {
        has_type = builtin = true;
        result.specifiers.push_back(at_++);
      } else if (has_type) {
        return true;
      } else if (is_class_key(here().text) || is("enum")) {
        if (!elaborated_type(result)) return false;
        has_type = true;
      } else if (is_type_operator(here().text) && tokens_[at_ + 1].is("(")) {
        ++at_;
        if (!skip_brackets()) return false;
        if (is("::") && !nested_type_name()) return false;
        has_type = true;
      } else if (is("::") || (here().is_identifier() && !is_keyword(here().text))) {
        if (!nested_type_name()) return false;
        result.specifiers.push_back(type_name_);
        has_type = true;
      } else {
        return false;
      }
    }
    return false;
  }

  bool nested_type_name() {
    bool qualified = false;
    return qualified_name(type_name_, qualified) && !is("::");
  }

  // class/struct/union/enum, its name, its bases and its body, as far as they are there.
  bool elaborated_type(Declaration& result) {
    const bool is_enum = is("enum");
    ++at_;
    if (is_enum && is_class_key(here().text)) ++at_;
    skip_attributes();
    if (here().is_identifier() || is("::")) {
      if (!nested_type_name()) return false;
    }
    if (is("final")) ++at_;
    if (is(":")) {
      while (!at_end() && !is("{") && !is(";")) ++at_;
    }
    if (is("{")) {
      result.defines_type = true;
      return skip_brackets();
    }
    return true;
  }

  // At '(' behind the type: does it open a declarator such as (*f)(int) or (&r)[3]?
  bool opens_grouped_declarator() const {
    const Token& next = tokens_[at_ + 1];
    if (next.is("*") || next.is("&") || next.is("&&")) return true;
    if (next.is_identifier() && tokens_[at_ + 2].is("::") && tokens_[at_ + 3].is("*")) return true;
    // void (f)(int)
    return next.is_identifier() && tokens_[at_ + 2].is(")") && tokens_[at_ + 3].is("(");
  }

  void pointer_operators(Declarator& declarator) {
    while (true) {
      if (is("*") || is("&") || is("&&")) {
        declarator.last_pointer = at_++;
      } else if (is("const") || is("volatile") || is("__restrict__") || is("__restrict") ||
                 is_specifier(here().text)) {
        ++at_;
      } else if (here().is_identifier() && tokens_[at_ + 1].is("::") && tokens_[at_ + 2].is("*")) {
        at_ += 2;
      } else if (!skip_attributes()) {
        return;
      }
    }
  }

  // False for a function (then function_name_ is set) and for what is no declarator.
  bool parse_declarator(Declarator& declarator) {
    declarator.begin = at_;
    pointer_operators(declarator);
    if (is("(")) {
      if (!opens_grouped_declarator()) return false;
      return grouped_declarator(declarator) && rest_of_declarator(declarator);
    }
    if (!qualified_name(declarator.name, declarator.qualified)) return false;
    if (is("operator") || is("~")) {
      function_name_ = at_;
      return false;
    }
    return rest_of_declarator(declarator);
  }

  bool grouped_declarator(Declarator& declarator) {
    const std::size_t close = here().match;
    if (close == kNone) return false;
    ++at_;
    Declarator inner;
    pointer_operators(inner);
    if (!qualified_name(declarator.name, declarator.qualified)) return false;
    const bool has_pointer = inner.last_pointer != kNone || tokens_[at_ - 2].is("*");
    if (is("(") || (!has_pointer && tokens_[close + 1].is("("))) {
      function_name_ = declarator.name;
      if (!is("(")) at_ = close + 1;
      return false;
    }
    declarator.grouped = true;
    at_ = close + 1;
    if (is("(")) skip_brackets();  // the parameters of the function it points to
    return true;
  }

  // From behind the name to the ',' or ';'.
  bool rest_of_declarator(Declarator& declarator) {
    while (!at_end()) {
      if (is("[") && !tokens_[at_ + 1].is("[")) {
        declarator.dimensions.push_back(at_);
        if (!skip_brackets()) return false;
      } else if (skip_attributes()) {
        continue;
      } else if (is("(")) {
        if (!is_paren_initialiser()) {
          function_name_ = declarator.name;
          return false;
        }
        declarator.initialiser = at_;
        if (!skip_brackets()) return false;
      } else if (is("{")) {
        declarator.initialiser = at_;
        if (!skip_brackets()) return false;
      } else if (is("=")) {
        declarator.initialiser = at_;
        skip_initialiser();
      } else if (is(",") || is(";")) {
        declarator.end = at_;
        return true;
      } else {
        return false;
      }
    }
    return false;
  }

  // int x(3); against int f(int);
  bool is_paren_initialiser() const {
    const Token& first = tokens_[at_ + (tokens_[at_ + 1].is("-") ? 2 : 1)];
    return first.kind == TokenKind::number || first.kind == TokenKind::string ||
           first.kind == TokenKind::character || first.is("true") || first.is("false") ||
           first.is("nullptr");
  }

  // To the ',' or ';' that ends it. A comma inside template arguments does not.
  void skip_initialiser() {
    while (!at_end() && !is(",") && !is(";")) {
      if (is("<") && tokens_[at_ - 1].is_identifier()) {
        const std::size_t behind = skip_angles(tokens_, at_);
        const Token& next = tokens_[behind];
        if (behind != kNone &&
            (next.is("(") || next.is("{") || next.is("::") || next.is(";") || next.is(","))) {
          at_ = behind;
          continue;
        }
      }
      if (!skip_brackets()) ++at_;
    }
  }

  Declaration& function(Declaration& result, std::size_t name) {
    result.kind = DeclarationKind::function;
    result.name = name;
    std::size_t i = name;
    if (tokens_[i].is("operator") && tokens_[i + 1].is("(")) i = tokens_[i + 1].match + 1;
    while (tokens_[i].kind != TokenKind::end && !tokens_[i].is("(") && !tokens_[i].is(";") &&
           !tokens_[i].is("{")) {
      ++i;
    }
    // void (f)(int): the name's own parentheses are no parameters.
    if (tokens_[i].is("(")) result.parameters = i;
    return result;
  }

  const TokenStream& tokens_;
  std::size_t at_;
  std::size_t function_name_ = kNone;
  std::size_t type_name_ = kNone;  // last part of the type's name
};

// A requires-clause from behind its `requires` to the token behind it.
std::size_t skip_constraint(const TokenStream& tokens, std::size_t i) {
  const auto behind_brackets = [&](std::size_t open) {
    return tokens[open].match == kNone ? open + 1 : tokens[open].match + 1;
  };
  while (true) {
    if (tokens[i].is("requires")) {
      ++i;
      if (tokens[i].is("(")) i = behind_brackets(i);
      if (tokens[i].is("{")) i = behind_brackets(i);
    } else if (tokens[i].is("(")) {
      i = behind_brackets(i);
    } else {
      while (tokens[i].is_identifier() || tokens[i].is("::")) {
        // Two names in a row: the second begins the declaration.
        if (tokens[i].is_identifier() && tokens[i - 1].is_identifier() &&
            !tokens[i - 1].is("requires")) {
          return i;
        }
        ++i;
        if (tokens[i].is("<")) {
          const std::size_t behind = skip_angles(tokens, i);
          if (behind == kNone) return i;
          i = behind;
          if (!tokens[i].is("::")) break;
        }
      }
    }
    if (!tokens[i].is("&&") && !tokens[i].is("||")) return i;
    ++i;
  }
}

}  // namespace

Declaration parse_declaration(const TokenStream& tokens, std::size_t begin) {
  return Parser(tokens, begin).declaration();
}

std::size_t skip_template_head(const TokenStream& tokens, std::size_t i) {
  while (tokens[i].is("template") && tokens[i + 1].is("<")) {
    const std::size_t behind = skip_angles(tokens, i + 1);
    if (behind == kNone) return i;
    i = behind;
    if (tokens[i].is("requires")) i = skip_constraint(tokens, i + 1);
  }
  return i;
}

std::size_t skip_angles(const TokenStream& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; tokens[i].kind != TokenKind::end; ++i) {
    const Token& token = tokens[i];
    if (token.match != kNone && token.match > i) {
      i = token.match;
    } else if (token.is("<") && !tokens[i - 1].is("operator")) {
      ++depth;
    } else if (token.is(">") && --depth == 0) {
      return i + 1;
    } else if (token.is(";") || token.is("}") || token.is(")") || token.is("]")) {
      return kNone;
    }
  }
  return kNone;
}

std::size_t skip_attribute(const TokenStream& tokens, std::size_t i) {
  const auto behind = [&](std::size_t open) {
    return tokens[open].match == kNone ? i : tokens[open].match + 1;
  };
  if (tokens[i].is("[") && tokens[i + 1].is("[")) return behind(i);
  static constexpr std::string_view kWords[] = {
      "__attribute__",     "__attribute", "alignas", "_Alignas", "__declspec",      "__align__",
      "__launch_bounds__", "__maxnreg__", "__asm__", "asm",      "__cluster_dims__"};
  const bool word =
      std::find(std::begin(kWords), std::end(kWords), tokens[i].text) != std::end(kWords);
  return word && tokens[i + 1].is("(") ? behind(i + 1) : i;
}

bool is_keyword(std::string_view word) {
  return is_specifier(word) || is_builtin_type(word) || is_class_key(word) ||
         is_type_operator(word) ||
         is_one_of(word, {"alignas",       "alignof",     "asm",
                          "break",         "case",        "catch",
                          "const_cast",    "continue",    "co_await",
                          "co_return",     "co_yield",    "default",
                          "delete",        "do",          "dynamic_cast",
                          "else",          "enum",        "false",
                          "for",           "goto",        "if",
                          "namespace",     "new",         "noexcept",
                          "nullptr",       "operator",    "private",
                          "protected",     "public",      "reinterpret_cast",
                          "requires",      "return",      "sizeof",
                          "static_assert", "static_cast", "switch",
                          "template",      "this",        "throw",
                          "true",          "try",         "typeid",
                          "using",         "while",       "__attribute__",
                          "__asm__",       "__asm"});
}

}  // namespace simt
