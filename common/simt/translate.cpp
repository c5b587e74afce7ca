#include "common/simt/translate.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/simt/declaration.hpp"
#include "common/simt/inline_ptx.hpp"
#include "common/simt/lexer.hpp"

namespace simt {
namespace {

// ---- Output: the tokens again, with text changed, added, dropped or moved
// -------------------------

struct Edit {
  std::string before;
  std::string after;
  std::optional<std::string> replacement;
};

// k<<<config>>>(arguments), as token indices.
struct LaunchSite {
  std::size_t callee = kNone;      // first token of k
  std::size_t open = kNone;        // `<<` of `<<<`
  std::size_t config_end = kNone;  // first `>` of `>>>`
  std::size_t arguments = kNone;   // '('
};

class Writer {
 public:
  Writer(const TokenStream& tokens, const std::map<std::size_t, LaunchSite>& launches,
         const std::vector<Edit>& edits)
      : tokens_(tokens), launches_(launches), edits_(edits) {
    out_.reserve(tokens.text.size() + tokens.text.size() / 16);
  }

  std::string write() {
    range(0, tokens_.size());
    lead(tokens_.size());
    return std::move(out_);
  }

 private:
  void range(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) {
      const auto launch = launches_.find(i);
      if (launch != launches_.end() && launch->second.callee >= begin && i != moved_callee_) {
        i = launch_site(launch->second);
      } else {
        token(i++);
      }
    }
  }

  // Returns the index of the '(' of the arguments, still to be written.
  std::size_t launch_site(const LaunchSite& site) {
    lead(site.callee);
    out_ += "(::simt::configure(";
    range(site.open + 2, site.config_end);
    out_ += "), ";
    const std::size_t outer = moved_callee_;
    moved_callee_ = site.callee;
    range(site.callee, site.open);
    moved_callee_ = outer;
    return site.arguments;
  }

  void token(std::size_t i) {
    lead(i);
    const Edit& edit = edits_[i];
    out_ += edit.before;
    out_ += edit.replacement ? std::string_view(*edit.replacement) : tokens_[i].text;
    out_ += edit.after;
    line_ = tokens_[i].end_line;
  }

  // What stands before a token. A token that does not follow the last one written gets a line
  // marker if it comes from another line.
  void lead(std::size_t i) {
    const Token& token = tokens_[i];
    if (i == next_) {
      out_ += token.lead;
    } else if (token.line != line_ || token.file != file_) {
      out_ += "\n# " + std::to_string(token.line) + " " +
              tokens_.files[static_cast<std::size_t>(token.file)].marker + "\n";
    }
    line_ = token.line;
    file_ = token.file;
    next_ = i + 1;
  }

  const TokenStream& tokens_;
  const std::map<std::size_t, LaunchSite>& launches_;
  const std::vector<Edit>& edits_;
  std::string out_;
  std::size_t next_ = 0;
  std::size_t moved_callee_ = kNone;  // its launch is being written
  int line_ = 0;
  int file_ = 0;
};

// ---- The translation
// ------------------------------------------------------------------------------

enum class ScopeKind {
  names,        // a namespace, the file, or extern "C" { }
  type,         // a class, struct or union
  code,         // statements: a function body, a block, a lambda
  initialiser,  // a braced list, an enum: nothing to translate but what its expressions hold
};

struct Scope {
  ScopeKind kind = ScopeKind::names;
  bool continues = false;  // its '}' does not end the declaration or statement round it
  bool device = false;     // the code runs on the device only
  bool in_template = false;
  bool function = false;     // the body of a function that is no lambda
  bool uses_shared = false;  // the function may name dynamic shared memory of the file
  bool on_host = false;      // the code runs on the host only
  std::string class_name;    // of a type
  std::size_t open = kNone;  // its '{'
  std::size_t head = 0;      // first token of the current declaration or statement
  int parentheses = 0;       // how many ( and [ are open within it
  bool saw_device = false;   // specifiers of the current declaration
  bool saw_host = false;
  std::size_t function_head = kNone;        // of a function: its first token
  std::set<std::string> file_shared_names;  // of a function: such arrays that its body names
};

// nvcc inlines all that a kernel calls and can be inlined, and so must g++: a structure that is a
// call's argument or result moves in the call itself, where no access is seen.
const char* const kKernelBody = "[=]() mutable __attribute__((flatten)) -> void {";

const char* const kHostFunction =
    "it is a function of the host, which device code cannot call (nvcc refuses it): write "
    "__device__, "
    "or __host__ __device__, ahead of it";
const char* const kHostVariable =
    "it is a variable of the host, which device code cannot reach (nvcc refuses it): hand its "
    "value to "
    "the kernel, or declare it __device__ or __constant__";

const char* const kSubset = " is outside the simulator's subset: ";

class Translator {
 public:
  Translator(const TokenStream& tokens, bool relaxed_constexpr)
      : tokens_(tokens), relaxed_constexpr_(relaxed_constexpr), edits_(tokens.tokens.size()) {
    scopes_.emplace_back();
  }

  std::string run() {
    if (tokens_.unbalanced != kNone) {
      fail(tokens_.unbalanced,
           "this '" + std::string(tokens_[tokens_.unbalanced].text) + "' has no partner");
    }
    for (std::size_t i = 0; i < tokens_.size(); ++i) visit(i);
    refuse_calls_of_kernels();
    mark_host_code();
    return Writer(tokens_, launches_, edits_).write();
  }

 private:
  [[noreturn]] void fail(std::size_t i, const std::string& message) const {
    const Token& token = tokens_[i];
    throw TranslateError(tokens_.files[static_cast<std::size_t>(token.file)].name, token.line,
                         message);
  }

  bool is(std::size_t i, std::string_view text) const { return tokens_[i].is(text); }
  Scope& scope() { return scopes_.back(); }
  const Scope& scope() const { return scopes_.back(); }
  void drop(std::size_t i) { replace(i, ""); }
  void replace(std::size_t i, std::string text) { edits_[i].replacement = std::move(text); }
  void drop_range(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) edits_[i] = {"", "", ""};
  }

  // The tokens as text on one line, without what was dropped.
  std::string text_of(std::size_t begin, std::size_t end) const {
    std::string text;
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view word =
          edits_[i].replacement ? std::string_view(*edits_[i].replacement) : tokens_[i].text;
      if (word.empty()) continue;
      if (!text.empty()) text += ' ';
      text += word;
    }
    return text;
  }

  // ---- One token ----

  void visit(std::size_t i) {
    const Token& token = tokens_[i];
    if (token.kind == TokenKind::identifier) {
      visit_word(i);
    } else if (token.kind == TokenKind::punctuation) {
      visit_punctuation(i);
    }
  }

  void visit_punctuation(std::size_t i) {
    const Token& token = tokens_[i];
    if (scope().device && is_users(i)) device_words_.insert(std::string(token.text));
    switch (token.text[0]) {
      case '(':
      case '[':
        ++scope().parentheses;
        break;
      case ')':
      case ']':
        if (scope().parentheses > 0) --scope().parentheses;
        if (ends_statement_head(i)) begin_statement(i + 1);
        break;
      case '{':
        vector_designators(i);
        open_scope(i);
        break;
      case '}':
        close_scope(i);
        break;
      case ';':
        if (scope().parentheses == 0) {
          note_declaration(i);
          begin_statement(i + 1);
        }
        break;
      case ':':
        if (token.text.size() == 1 && ends_label(i)) begin_statement(i + 1);
        break;
      case '<':
        if (is(i, "<<") && is(i + 1, "<") && !(i > 0 && is(i - 1, "operator"))) launch(i);
        break;
      default:
        break;
    }
  }

  void visit_word(std::size_t i) {
    const Token& token = tokens_[i];
    const std::string_view word = token.text;
    if (scope().kind == ScopeKind::code && is_users(i)) {
      if (scope().device) device_word(i);
      note_call(i);
    } else if (scope().kind == ScopeKind::names && is(i + 1, "(") && !is_users(i)) {
      library_names_.insert(std::string(word));
    }
    if (edits_[i].replacement) return;  // its declaration is translated
    if (word[0] != '_') {
      if (word == "asm") {
        inline_assembly(i);
      } else if ((word == "else" || word == "do" || word == "try") &&
                 scope().kind == ScopeKind::code && scope().parentheses == 0) {
        begin_statement(i + 1);
      } else if (word == "static" && scope().kind == ScopeKind::code && scope().device) {
        static_local(i);
      } else if ((word == "memcpy" || word == "memset") && scope().device &&
                 scope().kind == ScopeKind::code) {
        library_function(i);
      } else if ((word == "memcpy" || word == "memmove" || word == "memset") && !scope().device &&
                 scope().kind == ScopeKind::code) {
        library_function(i, "::simt::host_");
      } else if ((word == "malloc" || word == "free") && scope().device &&
                 scope().kind == ScopeKind::code) {
        library_function(i);
      } else if ((word == "new" || word == "delete") && scope().device &&
                 scope().kind == ScopeKind::code) {
        heap_object(i);
      } else if (word == "clock" && scope().device && scope().kind == ScopeKind::code &&
                 is(i + 2, ")")) {
        library_function(i);
      }
      note_file_shared(i);
      return;
    }
    if (word == "__global__") {
      kernel(i);
    } else if (word == "__device__") {
      if (scope().parentheses == 0) scope().saw_device = true;
      memory_space(i);
    } else if (word == "__constant__" || word == "__managed__" || word == "__shared__") {
      memory_space(i);
    } else if (word == "__host__") {
      if (scope().parentheses == 0) scope().saw_host = true;
      drop(i);
    } else if (word == "__grid_constant__") {
      drop(i);
    } else if (word == "__launch_bounds__" || word == "__maxnreg__" || word == "__cluster_dims__") {
      drop(i);
      if (is(i + 1, "(")) drop_range(i + 1, tokens_[i + 1].match + 1);
    } else if (word == "__block_size__") {
      fail(i, std::string(word) + kSubset + "say __cluster_dims__");
    } else if (word == "__noinline__") {
      // As an attribute's own word it is g++'s.
      const bool in_attribute = i > 0 && (is(i - 1, "(") || is(i - 1, ",")) && is_attribute_word(i);
      if (!in_attribute) replace(i, "__attribute__((noinline))");
    } else if (word == "__forceinline__") {
      replace(i, "__inline__ __attribute__((always_inline))");
    } else if (word == "__align__" && is(i + 1, "(")) {
      replace(i, "__attribute__((aligned");
      edits_[tokens_[i + 1].match].after += "))";
    } else if (word == "__asm__" || word == "__asm") {
      inline_assembly(i);
    } else if (word == "__func__" || word == "__FUNCTION__" || word == "__PRETTY_FUNCTION__") {
      function_name(i);
    }
    note_file_shared(i);
  }

  // Is the identifier at `i` inside the parentheses of an __attribute__?
  bool is_attribute_word(std::size_t i) const {
    std::size_t j = i;
    while (j-- > 0 && (is(j, ",") || is(j, "(") || tokens_[j].is_identifier() || is(j, ")"))) {
      if (is(j, "__attribute__") || is(j, "__attribute")) return true;
      if (is(j, ")") && tokens_[j].match != kNone) j = tokens_[j].match;
    }
    return false;
  }

  // ---- Vectors ----

  // float4 and its kin are no aggregates here (vector_types.h): {.x = 1, .y = 2} becomes {1, 2}.
  void vector_designators(std::size_t brace) {
    if (!is(brace + 1, ".")) return;
    std::size_t type = brace - 1;
    if (is(type, "=") && type > 0) --type;
    if (is(type, ")")) --type;  // (float2){..}
    if (!is_vector_type(tokens_[type].text) && type > 0) --type;
    if (!is_vector_type(tokens_[type].text)) return;
    std::vector<std::size_t> designators;
    std::size_t i = brace + 1;
    for (const char* member : {"x", "y", "z", "w"}) {
      if (!is(i, ".") || !is(i + 1, member) || !is(i + 2, "=")) break;
      designators.push_back(i);
      while (i < tokens_[brace].match && !is(i, ",")) {
        i = tokens_[i].match != kNone && tokens_[i].match > i ? tokens_[i].match + 1 : i + 1;
      }
      if (is(i, ",")) ++i;
    }
    if (i < tokens_[brace].match) return;  // not the first members in their order
    for (const std::size_t at : designators) drop_range(at, at + 3);
  }

  static bool is_vector_type(std::string_view word) {
    if (word.size() < 4 || word.back() < '1' || word.back() > '4') return false;
    word.remove_suffix(1);
    if (word[0] == 'u') word.remove_prefix(1);
    for (const std::string_view element :
         {"char", "short", "int", "long", "longlong", "float", "double"}) {
      if (word == element) return true;
    }
    return false;
  }

  // ---- Scopes and statements ----

  void begin_statement(std::size_t i) {
    scope().head = i;
    scope().saw_device = scope().saw_host = false;
  }

  // Behind `if (...)` and its like a statement begins. `i` is a ')'.
  bool ends_statement_head(std::size_t i) const {
    const std::size_t open = tokens_[i].match;
    if (!is(i, ")") || open == kNone || open == 0) return false;
    if (scope().kind != ScopeKind::code || scope().parentheses != 0) return false;
    return is_statement_word(open - 1);
  }

  bool is_statement_word(std::size_t i) const {
    if (is(i, "constexpr")) return i > 0 && is(i - 1, "if");
    return is(i, "if") || is(i, "for") || is(i, "while") || is(i, "switch") || is(i, "catch");
  }

  // public:, case 3:, label:
  bool ends_label(std::size_t i) const {
    if (scope().parentheses != 0) return false;
    const std::size_t head = scope().head;
    if (scope().kind == ScopeKind::code) {
      return is(head, "case") || is(head, "default") ||
             (head + 1 == i && tokens_[head].is_identifier());
    }
    return scope().kind == ScopeKind::type && head + 1 == i &&
           (is(head, "public") || is(head, "private") || is(head, "protected"));
  }

  void open_scope(std::size_t i) {
    Scope inner;
    inner.open = i;
    inner.head = i + 1;
    inner.in_template = scope().in_template || is(scope().head, "template");
    inner.device = scope().device;
    const bool is_kernel = kernel_bodies_.count(i) != 0;
    inner.on_host = scope().on_host;
    if (is_kernel) {
      inner.kind = ScopeKind::code;
      inner.function = inner.device = inner.uses_shared = true;
    } else if (scope().parentheses > 0 || scope().kind == ScopeKind::code ||
               scope().kind == ScopeKind::initialiser) {
      classify_inside_statement(i, inner);
    } else {
      classify_in_declaration(i, inner);
    }
    if (inner.function) {
      inner.function_head = scope().head;
      inner.on_host = !inner.uses_shared;
      note_declaration(i);
    }
    if (inner.kind == ScopeKind::type) inner.class_name = class_name(scope().head, i);
    scopes_.push_back(std::move(inner));
  }

  void classify_inside_statement(std::size_t i, Scope& inner) {
    inner.kind = ScopeKind::initialiser;
    inner.continues = true;
    if (scope().kind == ScopeKind::code && i == scope().head) {
      inner.kind = ScopeKind::code;
      inner.continues = false;
    } else if (const std::size_t introducer = lambda_introducer(i); introducer != kNone) {
      open_lambda(introducer, i, inner);
      if (scope().on_host && introducer > 1 && is(introducer - 1, "=")) {
        const std::string name(tokens_[introducer - 2].text);
        host_lambdas_.erase(name);
        if (is_host_lambda(introducer) && !is_called(introducer)) host_lambdas_[name] = introducer;
      }
    } else if (i > 0 && is(i - 1, "(")) {
      inner.kind = ScopeKind::code;  // ({ statements })
    } else if (scope().parentheses == 0 && head_defines_class(i)) {
      inner.kind = ScopeKind::type;
    }
  }

  void open_lambda(std::size_t introducer, std::size_t brace, Scope& inner) {
    inner.kind = ScopeKind::code;
    inner.continues = true;
    bool device = false;
    bool host = false;
    for (std::size_t j = introducer; j < brace; ++j) {
      device = device || is(j, "__device__");
      host = host || is(j, "__host__");
    }
    if (device && !host) inner.device = true;
    if (device) inner.on_host = false;
  }

  // A '{' in a namespace or class, outside parentheses.
  void classify_in_declaration(std::size_t i, Scope& inner) {
    const std::size_t head = scope().head;
    inner.kind = ScopeKind::initialiser;
    inner.continues = true;
    if (is(head, "namespace") || (is(head, "inline") && is(head + 1, "namespace")) ||
        (i > 1 && tokens_[i - 1].kind == TokenKind::string && is(i - 2, "extern"))) {
      inner.kind = ScopeKind::names;
      inner.continues = false;
      return;
    }
    const Head shape = read_head(head, i);
    if (shape.assigned) {
      if (const std::size_t introducer = lambda_introducer(i); introducer != kNone) {
        open_lambda(introducer, i, inner);
      }
    } else if (shape.is_class) {
      inner.kind = ScopeKind::type;
    } else if (!shape.is_enum && shape.has_parameters && !begins_requirement(i) &&
               !(shape.member_initialisers &&
                 (is(i - 1, ">") ||
                  (tokens_[i - 1].is_identifier() && !is_keyword(tokens_[i - 1].text))))) {
      inner.kind = ScopeKind::code;
      inner.function = true;
      inner.continues = false;
      inner.device = scope().saw_device && !scope().saw_host;
      inner.uses_shared = scope().saw_device;
    }
  }

  // requires { ... } and requires (T t) { ... }, but not a function's body behind its
  // requires-clause: an expression stands where an operand may stand.
  bool begins_requirement(std::size_t i) const {
    if (is(i - 1, "requires")) return true;
    const std::size_t open = tokens_[i - 1].match;
    if (!is(i - 1, ")") || open == kNone || open < 2 || !is(open - 1, "requires")) return false;
    const Token& before = tokens_[open - 2];
    return before.is("requires") || before.is("&&") || before.is("||") || before.is("=") ||
           before.is("(") || before.is("!");
  }

  struct Head {
    bool is_class = false;
    bool is_enum = false;
    bool has_parameters = false;
    bool member_initialisers = false;
    bool assigned = false;
  };

  // The shape of the declaration in [begin, end), where `end` is a '{'.
  Head read_head(std::size_t begin, std::size_t end) const {
    Head shape;
    bool class_key = false;
    for (std::size_t i = skip_template_head(tokens_, begin); i < end; ++i) {
      const std::size_t behind_attribute = skip_attribute(tokens_, i);
      if (behind_attribute != i) {
        i = behind_attribute - 1;
      } else if (is(i, "operator")) {
        shape.has_parameters = true;
        while (i + 1 < end && !is(i + 1, "(")) ++i;
        if (is(i + 1, "(") && is(i + 2, ")")) i += 2;  // operator()
      } else if (is(i, "(")) {
        class_key = shape.is_enum = false;  // struct S f() {
        shape.has_parameters = true;
        i = std::max(i, std::min(tokens_[i].match, end));
      } else if (is(i, "[") || is(i, "{")) {
        i = std::max(i, std::min(tokens_[i].match, end));
      } else if (is(i, "<") && i > begin && tokens_[i - 1].is_identifier()) {
        const std::size_t behind = skip_angles(tokens_, i);
        if (behind != kNone && behind <= end) i = behind - 1;
      } else if (is(i, "=")) {
        shape.assigned = true;
        class_key = false;  // struct S s = {
      } else if (is(i, "class") || is(i, "struct") || is(i, "union")) {
        if (!shape.has_parameters && !shape.is_enum) class_key = true;
      } else if (is(i, "enum")) {
        if (!shape.has_parameters) shape.is_enum = true;
      } else if (is(i, ":")) {
        if (class_key) break;  // bases
        if (shape.has_parameters) shape.member_initialisers = true;
      }
    }
    shape.is_class = class_key;
    return shape;
  }

  // A class body inside a function: its key is the only thing ahead of a '{' that can begin one.
  bool head_defines_class(std::size_t i) const { return read_head(scope().head, i).is_class; }

  // If '{' at `brace` opens a lambda's body: the index of its '[', else kNone.
  std::size_t lambda_introducer(std::size_t brace) const {
    for (std::size_t j = brace; j-- > 0;) {
      const Token& token = tokens_[j];
      if (token.is("]")) {
        const std::size_t open = token.match;
        if (open == kNone) return kNone;
        if (open > 0 && is(open - 1, "[")) {  // [[attribute]]
          j = open - 1;
          continue;
        }
        const Token& before = tokens_[open - (open > 0 ? 1 : 0)];
        const bool subscript = open > 0 && ((before.is_identifier() && !is_keyword(before.text)) ||
                                            before.is(")") || before.is("]"));
        const bool array_new = open > 0 && before.is_identifier() && is_keyword(before.text) &&
                               !before.is("return") && !before.is("co_return") &&
                               !before.is("co_yield") && !before.is("else");
        return subscript || array_new ? kNone : open;
      }
      if (token.is(")")) {
        if (token.match == kNone) return kNone;
        j = token.match;
      } else if (token.is(">")) {
        const std::size_t open = angle_open(j);
        if (open == kNone) return kNone;
        j = open;
      } else if (!token.is_identifier() && !token.is("->") && !token.is("::") && !token.is("*") &&
                 !token.is("&") && !token.is("&&")) {
        return kNone;
      }
    }
    return kNone;
  }

  void close_scope(std::size_t i) {
    if (scopes_.size() == 1) return;
    const Scope closed = std::move(scopes_.back());
    scopes_.pop_back();
    if (closed.function) finish_function(closed, i);
    if (closed.kind == ScopeKind::code && closed.device && !scope().device && is_users(i)) {
      // A kernel's arguments are the host's to copy. Members are compiled behind their class.
      const bool inside = kernel_bodies_.count(closed.open) != 0 || !closed.function;
      device_code_.push_back({inside ? closed.open : closed.function_head, i, inside});
    }
    if (!closed.continues) begin_statement(i + 1);
  }

  // ---- Kernels ----

  void kernel(std::size_t i) {
    const std::size_t head = scope().head;
    bool is_friend = false;
    for (std::size_t j = head; j < i; ++j) is_friend = is_friend || is(j, "friend");
    if (scope().kind == ScopeKind::type && !is_friend) {
      fail(i, "a kernel as a member of a class is not CUDA C++: move it out of the class");
    }
    const Declaration declaration = parse_declaration(tokens_, head);
    if (declaration.kind == DeclarationKind::function) check_kernel(declaration, head);
    if (declaration.is_instantiation || is_friend) {
      drop(i);
    } else {
      // The runtime finds a kernel by an address inside it: it must be neither inlined nor cloned.
      replace(i, "__attribute__((noipa))");
    }

    std::string bounds, clusters;
    std::size_t body = i;
    while (tokens_[body].kind != TokenKind::end && !is(body, ";")) {
      if (is(body, "{") && !begins_requirement(body)) break;
      if (is(body, "__launch_bounds__") && is(body + 1, "(")) bounds = first_argument(body + 1);
      if (is(body, "__cluster_dims__") && is(body + 1, "(")) clusters = all_arguments(body + 1);
      const std::size_t match = tokens_[body].match;
      body = match != kNone && match > body ? match + 1 : body + 1;
    }
    for (std::size_t j = head; j < i; ++j) {
      if (is(j, "__launch_bounds__") && is(j + 1, "(")) bounds = first_argument(j + 1);
      if (is(j, "__cluster_dims__") && is(j + 1, "(")) clusters = all_arguments(j + 1);
    }
    if (!is(body, "{")) return;
    const std::size_t close = tokens_[body].match;
    if (close == kNone) fail(body, "this kernel's body has no end");
    std::string call = " ::simt::run_kernel(";
    if (!bounds.empty() || !clusters.empty()) {
      call +=
          "::simt::launch_bounds{static_cast<unsigned>(" + (bounds.empty() ? "0" : bounds) + ")}";
      if (!clusters.empty()) call += ".in_clusters(" + clusters + ")";
      call += ", ";
    }
    // The compiler says of all reads of an argument, wherever they are, that they stand where it is named
    // first. Named here, no line of the body looks as if it ran because an argument was read elsewhere.
    std::string named;
    for (const std::string& name : parameter_names(declaration.parameters)) {
      bool used = false;  // else the compiler's warning would be lost
      for (std::size_t j = body + 1; j < close && !used; ++j) used = is(j, name);
      if (used) named += " (void)" + name + ";";
    }
    edits_[body].after = call + kKernelBody + named + edits_[body].after;
    edits_[close].before += "}); ";
    const std::size_t name =
        declaration.kind == DeclarationKind::function ? declaration.name : kNone;
    kernel_bodies_[body] = name == kNone ? std::string() : std::string(tokens_[name].text);
  }

  // The names in the parameter list that opens at `open`, as far as their shape is plain: `T name`,
  // `T name[N]`, `T name = value`.
  std::vector<std::string> parameter_names(std::size_t open) const {
    std::vector<std::string> names;
    if (open == kNone || tokens_[open].match == kNone) return names;
    const std::size_t close = tokens_[open].match;
    for (std::size_t i = open + 1; i < close; ++i) {
      std::size_t name = kNone;  // the last word that may be one
      int words = 0;             // of the type and the name
      bool plain = true;
      bool before_value = true;
      for (; i < close && !is(i, ","); ++i) {
        const std::size_t behind_angles = is(i, "<") ? skip_angles(tokens_, i) : kNone;
        if (behind_angles != kNone && behind_angles <= close) {
          i = behind_angles - 1;
          name = kNone;
        } else if (tokens_[i].match != kNone && tokens_[i].match > i) {
          plain &= !before_value || is(i, "[");
          i = tokens_[i].match;
        } else if (is(i, "=")) {
          before_value = false;
        } else if (is(i, "...")) {
          plain = false;
        } else if (before_value) {
          const Token& token = tokens_[i];
          const bool is_word = token.is_identifier() && !token.text.starts_with("__");
          if (is_word && !is_one_of_cv(token.text)) ++words;
          const bool may_be_name = is_word && !is_keyword(token.text) && !is(i - 1, "::") &&
                                   !is(i - 1, "struct") && !is(i - 1, "class") &&
                                   !is(i - 1, "enum") && !is(i - 1, "union");
          if (may_be_name) {
            name = i;
          } else if (!token.text.starts_with("__")) {
            name = kNone;
          }
        }
      }
      if (plain && name != kNone && (words > 1 || is_type_end(name - 1))) {
        names.emplace_back(tokens_[name].text);
      }
    }
    return names;
  }

  static bool is_one_of_cv(std::string_view word) { return word == "const" || word == "volatile"; }

  // Whether a type may end with this token: then what follows is its variable's name.
  bool is_type_end(std::size_t i) const {
    return is(i, ">") || is(i, "*") || is(i, "&") || is(i, ")") || is(i, "__restrict__") ||
           is(i, "__restrict");
  }

  void check_kernel(const Declaration& declaration, std::size_t head) const {
    const std::string name(tokens_[declaration.name].text);
    const std::size_t open = declaration.parameters;
    if (open == kNone || tokens_[open].match == kNone) return;
    const std::size_t close = tokens_[open].match;
    // Its type may be a template's (std::enable_if), of which nothing is known.
    bool is_void = true;
    for (std::size_t j = head; j < declaration.name; ++j) {
      const std::string_view word = tokens_[j].text;
      if (is(j, "__device__") || is(j, "__host__")) {
        fail(j, "'" + name + "' cannot be __global__ and " + std::string(word) + " at once");
      }
      const std::size_t behind_head = skip_template_head(tokens_, j);
      if (behind_head != j) {
        j = behind_head - 1;
        continue;
      }
      if (is(j, "(") && tokens_[j].match != kNone) j = tokens_[j].match;
      if (is(j, "<") && j > 0 && skip_angles(tokens_, j) != kNone) j = skip_angles(tokens_, j) - 1;
      if (is_one_of(word, {"int", "float", "double", "bool", "char", "short", "long", "unsigned",
                           "*", "&"})) {
        is_void = false;
      }
      if (word == "auto" && !(is(close + 1, "->") && is(close + 2, "void"))) is_void = false;
    }
    if (!is_void) {
      fail(
          declaration.name,
          "kernel '" + name + "' must return void: nobody waits for its value; write it to memory");
    }
    bool in_default = false;
    for (std::size_t j = open + 1; j < close; ++j) {
      if (is(j, ",")) in_default = false;
      if (is(j, "=")) in_default = true;
      const std::size_t behind =
          is(j, "<") && tokens_[j - 1].is_identifier() ? skip_angles(tokens_, j) : kNone;
      if (behind != kNone && behind < close) {
        j = behind - 1;
      } else if (is(j, "(") && !is(j + 1, "&") && tokens_[j].match != kNone) {
        j = tokens_[j].match;
      } else if (is(j, "...") && (is(j + 1, ")"))) {
        fail(j, "kernel '" + name + "' cannot take an open list of arguments (...)");
      } else if (!in_default && (is(j, "&") || is(j, "&&"))) {
        fail(j, "kernel '" + name +
                    "' cannot take a parameter by reference: it would be the address of memory of "
                    "the host; take a value or a pointer to memory of the device");
      }
    }
  }

  // The text of the first argument in the parentheses that open at `open`.
  std::string all_arguments(std::size_t open) const {
    return text_between(open + 1, tokens_[open].match);
  }
  std::string text_between(std::size_t begin, std::size_t end) const {
    std::string text;
    for (std::size_t j = begin; j < end; ++j) {
      if (j > begin) text += ' ';
      text += tokens_[j].text;
    }
    return text;
  }
  std::string first_argument(std::size_t open) const {
    std::size_t end = open + 1;
    while (end < tokens_[open].match && !is(end, ",")) {
      const std::size_t behind_angles =
          is(end, "<") && tokens_[end - 1].is_identifier() ? skip_angles(tokens_, end) : kNone;
      if (behind_angles != kNone) {
        end = behind_angles;
      } else {
        end = tokens_[end].match != kNone && tokens_[end].match > end ? tokens_[end].match + 1
                                                                      : end + 1;
      }
    }
    return text_between(open + 1, end);
  }

  // In a kernel's closure these would name the closure.
  void function_name(std::size_t i) {
    for (const Scope& outer : scopes_) {
      const auto kernel = kernel_bodies_.find(outer.open);
      if (kernel != kernel_bodies_.end() && !kernel->second.empty()) {
        replace(i, "\"" + kernel->second + "\"");
      }
    }
  }

  // ---- Launches ----

  void launch(std::size_t i) {
    if (scope().device) {
      fail(i, std::string("a launch from device code (dynamic parallelism)") + kSubset +
                  "launch this kernel from the host");
    }
    LaunchSite site;
    site.open = i;
    site.callee = callee_begin(i);
    if (site.callee == kNone || site.callee == i) {
      fail(i, "cannot tell which kernel is launched here: put the expression in parentheses");
    }
    site.config_end = config_end(i + 2);
    if (site.config_end == kNone) fail(i, "this launch has a <<< without >>>( behind it");
    if (site.config_end == i + 2)
      fail(i, "this launch needs a grid and a block: <<<grid, block>>>");
    site.arguments = site.config_end + 3;
    const std::size_t close = tokens_[site.arguments].match;
    if (close == kNone) fail(i, "this launch's argument list has no end");
    check_lambdas(site.arguments, close);
    edits_[close].after += ")";
    launches_[site.callee] = site;
  }

  // A lambda that a kernel calls needs __device__, here or where it has its name.
  void check_lambdas(std::size_t open, std::size_t close) const {
    for (std::size_t j = open + 1; j < close; ++j) {
      const bool whole = (is(j - 1, "(") || is(j - 1, ",")) && is_users(j);
      if (whole && is(j, "[") && is_host_lambda(j) && !is_called(j)) refuse_lambda(j);
      if (whole && tokens_[j].is_identifier() && (is(j + 1, ",") || j + 1 == close)) {
        const auto found = host_lambdas_.find(std::string(tokens_[j].text));
        if (found != host_lambdas_.end() && found->second > function_open()) {
          refuse_lambda(found->second);
        }
      }
      if (tokens_[j].match != kNone && tokens_[j].match > j) j = tokens_[j].match;
    }
  }

  // The '{' of the function round this place.
  std::size_t function_open() const {
    for (const Scope& outer : scopes_) {
      if (outer.function) return outer.open;
    }
    return 0;
  }

  // Of the '[' that may introduce it.
  bool is_host_lambda(std::size_t open) const {
    std::size_t j = tokens_[open].match;
    if (j == kNone || is(open + 1, "[")) return false;
    for (++j; !is(j, "{"); ++j) {
      if (is(j, "__device__") || is(j, ";") || tokens_[j].kind == TokenKind::end) return false;
      if (is(j, "(") && tokens_[j].match != kNone) j = tokens_[j].match;
    }
    return true;
  }

  // [](int n) { .. }(4)
  bool is_called(std::size_t open) const {
    std::size_t j = tokens_[open].match;
    while (!is(j, "{")) ++j;
    return tokens_[j].match != kNone && is(tokens_[j].match + 1, "(");
  }

  [[noreturn]] void refuse_lambda(std::size_t i) const {
    fail(i,
         "a kernel cannot call this lambda of the host: write __device__ behind its [], as in "
         "[=] __device__ (int i)");
  }

  // The first token of the postfix expression that ends ahead of `end`.
  std::size_t callee_begin(std::size_t end) const {
    std::size_t begin = kNone;  // of the operand read so far
    std::size_t i = end;        // behind the next operand to read
    while (i > 0) {
      const Token& last = tokens_[i - 1];
      if (last.is(")") || last.is("]")) {
        if (last.match == kNone) return kNone;
        begin = last.match;
        if (begin == 0) return begin;
        const Token& before = tokens_[begin - 1];
        // What stands ahead of it is a part of it if it is a function called or an array indexed.
        if (before.is(")") && last.is(")")) {
          const std::size_t open = before.match;
          if (open != kNone && open > 0 && is_statement_word(open - 1)) return begin;  // if (x) (k)
        }
        const bool template_call = before.is(">") && angle_open(begin - 1) != kNone;
        const bool word = before.is_identifier() && (!is_keyword(before.text) || before.is("this"));
        if (before.is("decltype")) return begin - 1;
        if (!before.is(")") && !before.is("]") && !template_call && !word) return begin;
        i = begin;
        continue;
      }
      if (last.is(">")) {
        const std::size_t open = angle_open(i - 1);
        if (open == kNone || open == 0) return begin;
        if (tokens_[open - 1].text.ends_with("_cast")) return open - 1;
        i = open;
        if (!tokens_[i - 1].is_identifier()) return begin;
      }
      if (!tokens_[i - 1].is_identifier() ||
          (is_keyword(tokens_[i - 1].text) && !is(i - 1, "this"))) {
        return begin;
      }
      begin = --i;
      if (i > 0 && is(i - 1, "template")) --i;
      if (i == 0) return begin;
      if (is(i - 1, "::")) {
        begin = --i;
        if (i == 0) return begin;
        const Token& qualifier = tokens_[i - 1];
        const bool is_name = qualifier.is_identifier() && !is_keyword(qualifier.text);
        if (!is_name && !qualifier.is(">") && !qualifier.is(")")) return begin;  // ::k
      } else if (is(i - 1, ".") || is(i - 1, "->")) {
        --i;
      } else {
        return begin;
      }
    }
    return begin;
  }

  // From '>' of a template argument list back to its '<', or kNone.
  std::size_t angle_open(std::size_t close) const {
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
      const Token& token = tokens_[i];
      if (token.is(")") || token.is("]") || token.is("}")) {
        if (token.match == kNone) return kNone;
        i = token.match;
      } else if (token.is(">")) {
        ++depth;
      } else if (token.is("<") && --depth == 0) {
        return i > 0 && tokens_[i - 1].is_identifier() ? i : kNone;
      } else if (token.is(";") || token.is("{") || token.is("(") || token.is("[")) {
        return kNone;
      }
    }
    return kNone;
  }

  // The first of the three '>' that end a launch configuration which begins at `i`. Template
  // arguments in it may end in '>' too: a closer leaves no '<' open. A comparison with '<' does, so
  // if no closer is perfect, the first possible one counts.
  std::size_t config_end(std::size_t i) const {
    std::size_t fallback = kNone;
    int depth = 0;
    for (; tokens_[i].kind != TokenKind::end; ++i) {
      const Token& token = tokens_[i];
      if (token.match != kNone && token.match > i) {
        i = token.match;
      } else if (token.is(";") || token.is(")") || token.is("}") || token.is("]")) {
        break;
      } else if (token.is("<")) {
        ++depth;
      } else if (token.is(">")) {
        int run = 1;
        while (is(i + static_cast<std::size_t>(run), ">")) ++run;
        const std::size_t behind = i + static_cast<std::size_t>(run);
        const bool closes = run >= 3 && is(behind, "(") && tokens_.glued(behind - 2);
        if (closes && run - 3 == depth) return behind - 3;
        if (closes && fallback == kNone) fallback = behind - 3;
        depth -= std::min(depth, run);
        i = behind - 1;
      }
    }
    return fallback;
  }

  // ---- Variables in the memories of the device ----

  // __shared__, __constant__, __managed__, or __device__ (which a function can have as well).
  void memory_space(std::size_t i) {
    const std::size_t head = scope().head;
    drop(i);
    if (scope().parentheses > 0) return;  // a lambda handed to a function
    for (std::size_t j = head; j < i; ++j) {
      if (is(j, "=")) return;  // a lambda
    }
    const Declaration declaration = parse_declaration(tokens_, head);
    const bool is_function_word = is(i, "__device__");
    if (declaration.kind != DeclarationKind::variable) {
      if (!is_function_word && declaration.kind == DeclarationKind::unknown) {
        fail(i, "cannot read this " + std::string(tokens_[i].text) + " declaration" +
                    ": write it as specifiers, type, name");
      }
      return;
    }
    if (declaration.declarators_begin <= i) return;
    variable(declaration, i);
  }

  // A plain static variable in device code lives in the device's global memory.
  void static_local(std::size_t i) {
    if (scope().parentheses > 0) return;
    const Declaration declaration = parse_declaration(tokens_, scope().head);
    if (declaration.kind != DeclarationKind::variable) return;
    // Constants stay what they are, part of the code; the rest has a keyword that says its place.
    for (const char* word : {"const", "constexpr", "__shared__", "__constant__", "__device__",
                             "__managed__", "thread_local"}) {
      if (has_specifier(declaration, word)) return;
    }
    if (i >= declaration.declarators_begin) return;
    variable(declaration, i);
  }

  void variable(const Declaration& declaration, std::size_t keyword) {
    if (scope().kind == ScopeKind::type) {
      fail(keyword, "a data member cannot be " + std::string(tokens_[keyword].text) +
                        ": declare the variable at namespace scope");
    }
    const bool is_extern = has_specifier(declaration, "extern");
    if (scope().kind == ScopeKind::code && !is_extern && !is(keyword, "static") &&
        !has_specifier(declaration, "__shared__") && !has_specifier(declaration, "static") &&
        !has_specifier(declaration, "constexpr")) {
      fail(keyword, "a local variable cannot be " + std::string(tokens_[keyword].text) +
                        ": leave the word out, or declare the variable at namespace scope");
    }
    if (!has_specifier(declaration, "__shared__")) {
      const bool constant = has_specifier(declaration, "__constant__");
      global_variable(declaration, keyword, constant ? "simt_constant" : "simt_device", is_extern);
    } else if (is_extern) {
      dynamic_shared(declaration, keyword);
    } else {
      static_shared(declaration, keyword);
    }
  }

  // extern "C" is linkage, not the storage class.
  bool has_specifier(const Declaration& declaration, std::string_view word) const {
    return std::any_of(
        declaration.specifiers.begin(), declaration.specifiers.end(),
        [&](std::size_t j) { return is(j, word) && tokens_[j + 1].kind != TokenKind::string; });
  }

  void drop_specifier(const Declaration& declaration, std::string_view word) {
    for (const std::size_t j : declaration.specifiers) {
      if (!is(j, word)) continue;
      drop(j);
      if (tokens_[j + 1].kind == TokenKind::string) drop(j + 1);  // extern "C"
    }
  }

  // Puts `text` where storage specifiers may stand: alignas(16) and [[..]] have to come first.
  void add_storage(const Declaration& declaration, const std::string& text) {
    std::size_t place = kNone;
    for (const auto& [begin, end] : declaration.attributes) {
      for (std::size_t j = begin; j < end; j = skip_attribute(tokens_, j)) {
        if (is(j, "alignas") || is(j, "[")) place = skip_attribute(tokens_, j) - 1;
      }
    }
    if (place == kNone) {
      edits_[declaration.begin].before += text + " ";
    } else {
      edits_[place].after += " " + text;
    }
  }

  // What the C library has and CUDA has too, under one name. The library's copies would go unseen,
  // the stand-ins copy by words that are counted; its clock is the host's.
  void library_function(std::size_t i, const char* instead = "::simt::device_") {
    if (!is(i + 1, "(") || i == 0 || is(i - 1, ".") || is(i - 1, "->")) return;
    if (is(i - 1, "::")) {
      if (i >= 2 && is(i - 2, "std")) {
        drop(i - 2);
      } else if (i >= 2 && tokens_[i - 2].kind == TokenKind::identifier) {
        return;  // somebody else's function of that name
      }
      drop(i - 1);
    }
    replace(i, instead + std::string(tokens_[i].text));
  }

  // new and delete use the device's heap; new with a place of its own does not.
  void heap_object(std::size_t i) {
    if (i > 0 && (is(i - 1, "operator") || is(i - 1, "="))) {
      if (is(i - 1, "operator") || is(i + 1, ";")) return;  // a declaration: = delete
    }
    if (is(i, "new")) {
      if (!is(i + 1, "(")) edits_[i].after += " (::simt::device_heap)";
      return;
    }
    const bool array = is(i + 1, "[") && is(i + 2, "]");
    replace(i, "::simt::DeviceDelete<" + std::string(array ? "true" : "false") + ">{} ->*");
    if (array) {
      drop(i + 1);
      drop(i + 2);
    }
  }

  void static_shared(const Declaration& declaration, std::size_t keyword) {
    if (scope().kind != ScopeKind::code) {
      fail(keyword, std::string("a __shared__ variable at namespace scope") + kSubset +
                        "declare it in the kernel");
    }
    if (scope().on_host) {
      fail(keyword,
           "a __shared__ variable belongs to a block, and host code has none: declare it in "
           "a kernel or a __device__ function");
    }
    for (const Declarator& declarator : declaration.declarators) {
      if (declarator.initialiser != kNone) {
        fail(declarator.name, "__shared__ variable '" + std::string(tokens_[declarator.name].text) +
                                  "' cannot have an initialiser: let one thread assign it, then "
                                  "call __syncthreads()");
      }
    }
    // __constinit keeps g++ from guarding an array of a type with a constructor.
    for (const char* word : {"static", "__shared__", "__device__"})
      drop_specifier(declaration, word);
    for (const Declarator& declarator : declaration.declarators)
      align_shared(declaration, declarator);
    add_storage(declaration, "__constinit static thread_local");
    // What lies behind an array belongs to nobody, so that one past its end is not its neighbour.
    edits_[declaration.end].after +=
        " __constinit static thread_local __attribute__((used)) char simt_guard_" +
        std::to_string(guards_++) + "[64];";
  }

  // An array of 16 bytes or more begins at a multiple of 16, as a kernel's only array does on a GPU,
  // whatever other variables the program has: vectors may be read from an array of floats. (Behind
  // an int of the same kernel nvcc promises the alignment of the elements only.)
  void align_shared(const Declaration& declaration, const Declarator& declarator) {
    if (declarator.dimensions.empty()) return;
    std::string type;
    if (!declaration.defines_type && !declarator.grouped) {
      type = type_text(declaration) + text_of(declarator.begin, declarator.name);
      for (const std::size_t open : declarator.dimensions) type += bounds_text(open);
    }
    const std::string alignment = type.empty() ? "16" : "::simt::shared_alignment<" + type + ">()";
    edits_[declarator.end - 1].after += " __attribute__((aligned(" + alignment + ")))";
  }

  // An array's bounds as a part of a template argument, which a > in them must not end.
  std::string bounds_text(std::size_t open) const {
    const std::size_t close = tokens_[open].match;
    for (std::size_t j = open + 1; j < close; ++j) {
      if (tokens_[j].text.find('>') != std::string_view::npos) {
        return "[(" + text_of(open + 1, close) + ")]";
      }
    }
    return text_of(open, close + 1);
  }

  // The specifiers of a variable without storage, memory space and attributes.
  std::string type_text(const Declaration& declaration) const {
    std::string text;
    for (std::size_t j = declaration.begin; j < declaration.declarators_begin; ++j) {
      const std::size_t behind = skip_attribute(tokens_, j);
      if (behind != j) {
        j = behind - 1;
      } else if (!is_storage_word(tokens_[j].text)) {
        if (!text.empty()) text += ' ';
        text += tokens_[j].text;
      }
    }
    return text;
  }

  static bool is_storage_word(std::string_view word) {
    for (const std::string_view known :
         {"static", "extern", "inline", "thread_local", "register", "__shared__", "__device__",
          "constexpr", "__constinit", "constinit"}) {
      if (word == known) return true;
    }
    return false;
  }

  void dynamic_shared(const Declaration& declaration, std::size_t keyword) {
    if (declaration.defines_type) {
      fail(keyword, "name the type of this extern __shared__ array ahead of its declaration");
    }
    // What is left of the specifiers is the type; alignment is not needed, the memory is aligned.
    for (const char* word : {"extern", "__shared__", "__device__", "static"}) {
      drop_specifier(declaration, word);
    }
    for (const auto& [begin, end] : declaration.attributes) drop_range(begin, end);
    const std::string base = text_of(declaration.begin, declaration.declarators_begin);
    std::string code;
    for (const Declarator& declarator : declaration.declarators) {
      const std::string name(tokens_[declarator.name].text);
      if (declarator.dimensions.empty() || declarator.grouped || declarator.initialiser != kNone) {
        fail(declarator.name, "extern __shared__ '" + name +
                                  "' must be an array without a size, such as extern __shared__ "
                                  "float " +
                                  name + "[];");
      }
      std::string inner;  // the bounds behind the first
      for (std::size_t d = 1; d < declarator.dimensions.size(); ++d) {
        inner += bounds_text(declarator.dimensions[d]);
      }
      const std::string element = base + " " + text_of(declarator.begin, declarator.name);
      const auto pointer_to = [&](const std::string& what) {
        return element + (inner.empty() ? "*" + what : "(*" + what + ")" + inner);
      };
      const std::string pointer = "__attribute__((unused)) " + pointer_to(" const " + name) +
                                  " = reinterpret_cast<" + pointer_to("") +
                                  ">(::simt::dynamic_shared());";
      if (scope().kind == ScopeKind::code) {
        code += pointer;
      } else {
        code += "static constexpr ::simt::DynamicShared<" + element + inner + "> " + name + "{};";
        file_shared_[name] = pointer;
      }
      code += ' ';
    }
    code.pop_back();
    drop_range(declaration.begin, declaration.end + 1);
    replace(declaration.begin, code);
  }

  // An array of dynamic shared memory declared in the file rather than in a kernel: the functions
  // that name it get the pointer that a declaration inside them would have given.
  void note_file_shared(std::size_t i) {
    if (file_shared_.empty() || scope().kind == ScopeKind::names) return;
    const std::string name(tokens_[i].text);
    if (file_shared_.count(name) == 0) return;
    if (i > 0 && (is(i - 1, ".") || is(i - 1, "->") || is(i - 1, "::"))) return;
    for (Scope& outer : scopes_) {
      if (!outer.function || !outer.uses_shared) continue;
      for (std::size_t j = outer.function_head; j < outer.open; ++j) {
        if (is(j, name)) return;  // a parameter of that name
      }
      outer.file_shared_names.insert(name);
      return;
    }
  }

  void finish_function(const Scope& closed, std::size_t close) {
    if (closed.file_shared_names.empty()) return;
    std::string declarations = " ";
    for (const std::string& name : closed.file_shared_names)
      declarations += file_shared_[name] + " ";
    // A block of its own, since the body may declare the name again.
    edits_[closed.open].after += declarations + "{";
    edits_[close].before = "}" + edits_[close].before;
  }

  static bool is_integer_word(std::string_view word) {
    for (const std::string_view known :
         {"int", "unsigned", "signed", "long", "short", "char", "bool", "size_t", "int8_t",
          "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"}) {
      if (word == known) return true;
    }
    return false;
  }

  // A const integer with a value is a constant expression, as in nvcc: it names no memory.
  bool is_named_constant(const Declaration& declaration) const {
    const bool is_constexpr = has_specifier(declaration, "constexpr");
    const bool is_integer =
        std::any_of(declaration.specifiers.begin(), declaration.specifiers.end(),
                    [&](std::size_t j) { return is_integer_word(tokens_[j].text); });
    for (const Declarator& declarator : declaration.declarators) {
      if (!declarator.dimensions.empty() || declarator.initialiser == kNone) return false;
      if (!is_constexpr && declarator.last_pointer != kNone) return false;
    }
    return is_constexpr || (is_integer && has_specifier(declaration, "const"));
  }

  void drop_memory_words(const Declaration& declaration) {
    for (const char* word : {"__constant__", "__device__", "__managed__"}) {
      drop_specifier(declaration, word);
    }
  }

  void global_variable(const Declaration& declaration, std::size_t keyword,
                       const std::string& section, bool is_extern) {
    if (is_named_constant(declaration)) {
      drop_memory_words(declaration);
      return;
    }
    if (is_extern && declaration.declarators.front().initialiser == kNone) {
      for (const Declarator& declarator : declaration.declarators) {
        extern_names_.insert(std::string(tokens_[declarator.name].text));
      }
      strip_const(declaration);
      drop_memory_words(declaration);
      return;
    }
    // g++ ignores the section of a variable in a template.
    if (scope().in_template || declaration.is_template) {
      fail(keyword, std::string("a static or __device__ variable inside a template") + kSubset +
                        "declare it outside the template");
    }
    strip_const(declaration);
    // Internal linkage, as nvcc gives it, unless an extern declaration went before.
    bool external = false;
    for (const Declarator& declarator : declaration.declarators) {
      external = external || (scope().kind == ScopeKind::names &&
                              extern_names_.count(std::string(tokens_[declarator.name].text)) != 0);
    }
    const std::string in_section = "__attribute__((section(\"" + section + "\"), used";
    const std::string attribute = in_section + "))";
    // Variables in global memory begin where cudaMalloc would (CUDA's guide, "Size and Alignment Requirement").
    const bool is_global = section == "simt_device";
    drop_memory_words(declaration);
    for (const char* word : {"static", "extern", "inline"}) drop_specifier(declaration, word);
    add_storage(declaration, (external ? "" : "static ") +
                                 (is_global ? in_section + ", aligned(256)))" : attribute));
    // The runtime knows __managed__ variables, which the host may use by name, by their guards.
    const std::string managed = has_specifier(declaration, "__managed__") ? "managed_" : "";
    edits_[declaration.end].after += " static " + attribute + " char simt_guard_" + managed +
                                     std::to_string(guards_++) + "[64];";
  }

  // The variables must be writable, whatever their types say: a host copies into them. The const of
  // what a pointer points to is left alone.
  void strip_const(const Declaration& declaration) {
    bool pointers = false;
    bool objects = false;
    for (const Declarator& declarator : declaration.declarators) {
      const bool pointer = declarator.last_pointer != kNone || declarator.grouped;
      (pointer ? pointers : objects) = true;
      if (!pointer) continue;
      const std::size_t from = declarator.grouped ? declarator.begin : declarator.last_pointer;
      for (std::size_t j = from; j < declarator.name; ++j) {
        if (is(j, "const")) drop(j);
      }
    }
    drop_specifier(declaration, "constexpr");
    if (!has_specifier(declaration, "const")) return;
    if (pointers && objects) {
      fail(declaration.begin,
           "declare the pointers among these const variables in a declaration of their own");
    }
    if (!pointers) drop_specifier(declaration, "const");
  }

  // ---- What nvcc refuses ----

  bool is_users(std::size_t i) const {
    return !tokens_.files[static_cast<std::size_t>(tokens_[i].file)].is_system;
  }

  // A name that stands for itself: no member, and of no namespace but std.
  bool is_plain_name(std::size_t i) const {
    if (i == 0) return true;
    if (is(i - 1, ".") || is(i - 1, "->")) return false;
    if (!is(i - 1, "::")) return true;
    return i < 2 || !tokens_[i - 2].is_identifier() || is(i - 2, "std") ||
           is_keyword(tokens_[i - 2].text);
  }

  void device_word(std::size_t i) {
    const std::string_view word = tokens_[i].text;
    device_words_.insert(std::string(word));
    for (std::size_t j = scope().head; j < i; ++j) {
      if (!is(j, "constexpr") && !is(j, "static_assert")) continue;
      constants_.insert(std::string(word));
      break;
    }
    if (word == "try" || word == "throw" || word == "catch") {
      fail(i, "device code cannot throw or catch exceptions (nvcc refuses '" + std::string(word) +
                  "'): report an error through memory, or with assert");
    } else if (word == "dynamic_cast" || word == "typeid") {
      fail(i, "device code has no type information at run time (nvcc refuses '" +
                  std::string(word) + "'): use a virtual function or an enum");
    } else if (word == "thread_local") {
      fail(i,
           "device code has no thread_local variables: a plain local variable is a thread's own");
    } else if (word == "sizeof" || word == "decltype" || word == "alignof") {
      // What is only measured is not used.
      if (!is(i + 1, "(") || tokens_[i + 1].match == kNone) return;
      for (std::size_t j = i + 2; j < tokens_[i + 1].match; ++j) {
        measured_.insert(std::string(tokens_[j].text));
      }
    } else if (!is_plain_name(i)) {
      return;
    } else if (is_stream(word) && (is(i + 1, "<<") || is(i + 1, ">>") || is(i - 1, "::"))) {
      fail(i, "std::" + std::string(word) + " belongs to the host: device code prints with printf");
    } else if (is(i - (i > 0 ? 1 : 0), "::") && is_host_class(word)) {
      std::size_t behind = i + 1;
      if (is(behind, "<")) behind = skip_angles(tokens_, behind);
      if (behind == kNone || is(behind, "::") || is(behind, "*") || is(behind, "&")) return;
      fail(i, "std::" + std::string(word) +
                  " belongs to the host, whose memory it takes: device code uses arrays");
    } else if (is(i + 1, "(") && is_library_function(word) && !declared_here(i)) {
      library_calls_.push_back(i);
    }
  }

  static bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  static bool is_stream(std::string_view word) {
    return is_one_of(word, {"cout", "cerr", "clog", "cin", "wcout", "wcerr"});
  }
  static bool is_host_class(std::string_view word) {
    return is_one_of(
        word,
        {"vector",   "string",   "map",           "set",           "list",          "deque",
         "queue",    "stack",    "unordered_map", "unordered_set", "multimap",      "multiset",
         "function", "thread",   "mutex",         "ostringstream", "istringstream", "stringstream",
         "ofstream", "ifstream", "shared_ptr",    "wstring",       "any",           "future"});
  }
  // Functions of the C library that the device has not.
  static bool is_library_function(std::string_view word) {
    return is_one_of(
        word,
        {"rand",         "srand",        "rand_r", "drand48", "exit",    "_Exit",    "abort",
         "atexit",       "system",       "getenv", "fprintf", "sprintf", "snprintf", "vsnprintf",
         "puts",         "putchar",      "fputs",  "fputc",   "fflush",  "scanf",    "sscanf",
         "fscanf",       "getchar",      "fgets",  "fopen",   "fclose",  "fread",    "fwrite",
         "time",         "difftime",     "usleep", "sleep",   "strlen",  "strcpy",   "strncpy",
         "strcmp",       "strncmp",      "strcat", "strchr",  "strstr",  "atoi",     "atof",
         "atol",         "strtol",       "strtod", "strtof",  "qsort",   "bsearch",  "memmove",
         "div",          "ldiv",         "memcmp", "memchr",  "realloc", "calloc",   "perror",
         "gettimeofday", "clock_gettime"});
  }

  // Is the name at `i` that of a parameter or a variable of the function round it?
  bool declared_here(std::size_t i) const {
    for (const Scope& outer : scopes_) {
      if (!outer.function) continue;
      for (std::size_t j = outer.function_head + 1; j < i; ++j) {
        if (!tokens_[j].is(tokens_[i].text)) continue;
        const Token& before = tokens_[j - 1];
        const bool type =
            before.is_identifier() &&
            !is_one_of(before.text, {"return", "else", "do", "case", "goto", "throw"});
        if (type || before.is("*") || before.is("&") || before.is(">")) return true;
      }
      return false;
    }
    return false;
  }

  // A function or a variable of the user's, and where it runs or lies.
  struct Named {
    std::size_t begin = kNone;  // where an attribute may stand
    std::size_t name = kNone;
    std::string key;  // with its class
    bool constructs = false;
    bool variable = false;
    bool is_constexpr = false;
  };

  // `end` is the ';' or the '{' behind a declaration.
  void note_declaration(std::size_t end) {
    const std::size_t head = scope().head;
    if (scope().kind != ScopeKind::names && scope().kind != ScopeKind::type) return;
    if (head >= end || scope().device || !is_users(head)) return;
    for (const char* word : {"using", "typedef", "friend", "namespace", "static_assert", "asm"}) {
      for (std::size_t j = head; j < end; ++j) {
        if (is(j, word)) return;
        if (is(j, "(")) break;
      }
    }
    const Declaration declaration = parse_declaration(tokens_, head);
    if (declaration.is_instantiation) return;
    const auto has = [&](const char* word) {
      for (std::size_t j = head; j < end && !is(j, "("); ++j) {
        if (is(j, word)) return true;
      }
      return has_specifier(declaration, word);
    };
    if (declaration.kind == DeclarationKind::function && declaration.name != kNone) {
      Named named;
      named.name = declaration.name;
      named.key = class_of(declaration.name) + "::" + function_text(declaration.name);
      named.begin = place_of_attribute(declaration);
      named.constructs = tokens_[declaration.name].is("~") ||
                         tokens_[declaration.name].is("operator") ||
                         tokens_[declaration.name].is(class_of(declaration.name));
      const std::string name(tokens_[declaration.name].text);
      if (has("__global__")) {
        kernel_names_.insert(name);
      } else if (has("__device__")) {
        device_names_.insert(named.key);
        (has("__host__") ? host_names_ : device_only_names_).insert(name);
      } else {
        host_names_.insert(name);
        // A macro's call or a deduction guide has no type and no class.
        const bool bare = declaration.name == declaration.declarators_begin - 1 &&
                          named.key.starts_with("::") && !named.constructs;
        const bool relaxed = relaxed_constexpr_ && has("constexpr");
        if (!is_defaulted(declaration, end) && name != "main" && !bare && !relaxed) {
          host_code_.push_back(named);
        }
      }
    } else if (declaration.kind == DeclarationKind::variable) {
      note_variables(declaration);
    }
  }

  void note_variables(const Declaration& declaration) {
    for (const Declarator& declarator : declaration.declarators) {
      host_names_.insert(std::string(tokens_[declarator.name].text));
    }
    for (const char* word :
         {"__device__", "__constant__", "__managed__", "__shared__", "mutable"}) {
      if (has_specifier(declaration, word)) return;
    }
    if (scope().kind == ScopeKind::type && !has_specifier(declaration, "static")) return;
    const bool is_constexpr = has_specifier(declaration, "constexpr");
    const bool is_const = is_constexpr || has_specifier(declaration, "const");
    for (const Declarator& declarator : declaration.declarators) {
      const bool pointer = declarator.last_pointer != kNone || declarator.grouped;
      if (declarator.qualified || (pointer && is(declarator.last_pointer, "&"))) return;
      // Constants are part of the code, arrays of them are memory.
      if (is_const && (is_constexpr || !pointer) && declarator.dimensions.empty()) return;
    }
    Named named;
    named.variable = true;
    named.is_constexpr = is_constexpr;
    named.begin = place_of_attribute(declaration);
    named.name = declaration.declarators.front().name;
    for (const Declarator& declarator : declaration.declarators) {
      named.name = declarator.name;
      host_code_.push_back(named);
    }
  }

  std::string class_of(std::size_t name) const {
    if (name > 1 && is(name - 1, "::")) {
      std::size_t j = name - 2;
      if (is(j, ">") && angle_open(j) != kNone) j = angle_open(j) - 1;
      return std::string(tokens_[j].text);
    }
    return scope().kind == ScopeKind::type ? scope().class_name : std::string();
  }

  std::string function_text(std::size_t name) const {
    std::string text(tokens_[name].text);
    for (std::size_t j = name + 1; text.starts_with("operator") || text == "~"; ++j) {
      if (is(j, "(") && !(text == "operator" && is(j + 1, ")"))) break;
      text += tokens_[j].text;
      if (j > name + 4) break;
    }
    return text;
  }

  // Of the class whose head is [head, brace).
  std::string class_name(std::size_t head, std::size_t brace) const {
    for (std::size_t j = skip_template_head(tokens_, head); j < brace; ++j) {
      if (!is(j, "class") && !is(j, "struct") && !is(j, "union")) continue;
      for (++j; j < brace; ++j) {
        const std::size_t behind = skip_attribute(tokens_, j);
        if (behind != j) {
          j = behind - 1;
        } else {
          return std::string(tokens_[j].text);
        }
      }
    }
    return {};
  }

  // Where an attribute of g++ may stand: ahead of a declaration's type, behind extern "C" and [[..]].
  std::size_t place_of_attribute(const Declaration& declaration) const {
    std::size_t place = declaration.begin;
    if (is(place, "extern") && tokens_[place + 1].kind == TokenKind::string) place += 2;
    while ((is(place, "[") || is(place, "alignas")) && skip_attribute(tokens_, place) != place) {
      place = skip_attribute(tokens_, place);
    }
    return place;
  }

  // = default, = delete or = 0: implicit functions are for both worlds.
  bool is_defaulted(const Declaration& declaration, std::size_t end) const {
    if (declaration.parameters == kNone || tokens_[declaration.parameters].match == kNone) {
      return true;
    }
    for (std::size_t j = tokens_[declaration.parameters].match; j < end; ++j) {
      if (is(j, "default") || is(j, "delete") || is(j, "=")) return true;
    }
    return false;
  }

  // g++ knows which function a call means, this translation does not. So what belongs to the host is
  // marked as deprecated, and using it is an error within device code alone.
  void mark_host_code() {
    for (const std::size_t i : library_calls_) {
      const std::string name(tokens_[i].text);
      if (host_names_.count(name) + device_only_names_.count(name) != 0) continue;
      fail(i, name + " is a function of the host's C library: device code cannot call it");
    }
    bool marked = false;
    std::set<std::size_t> places;
    for (const Named& named : host_code_) {
      if (!is_used_in_device_code(named) || !places.insert(named.begin).second) continue;
      marked = true;
      edits_[named.begin].before += std::string("__attribute__((deprecated(\"") +
                                    (named.variable ? kHostVariable : kHostFunction) + "\"))) ";
    }
    const std::string pragma = "#pragma GCC diagnostic ";
    const std::string deprecated = " \"-Wdeprecated-declarations\"\n";
    std::string enter = "\n" + pragma + "push\n";
    if (marked) enter += pragma + "error" + deprecated;
    for (const DeviceCode& code : device_code_) {
      const bool unknown_bounds = has_unknown_bounds(code);
      if (!marked && !unknown_bounds) continue;
      const std::string begin =
          enter + (unknown_bounds ? pragma + "error \"-Wvla\"\n" : "") + marker(code.begin);
      const std::string end = "\n" + pragma + "pop\n" + marker(code.end);
      if (code.inside) {
        edits_[code.begin].after += begin;
        edits_[code.end].before = end + edits_[code.end].before;
      } else {
        edits_[code.begin].before = begin + edits_[code.begin].before;
        edits_[code.end].after += end;
      }
    }
    if (marked) {
      edits_[0].before = "\n" + pragma + "ignored" + deprecated + marker(0) + edits_[0].before;
    }
  }

  // Code of the device only: from the '{' of its body, or from its declaration's first token.
  struct DeviceCode {
    std::size_t begin;
    std::size_t end;  // its '}'
    bool inside;      // begins and ends within the braces
  };

  // Is there anything that may be an array with a bound that only a run knows? g++ has such arrays.
  bool has_unknown_bounds(const DeviceCode& code) const {
    for (std::size_t j = code.begin + 2; j < code.end; ++j) {
      if (!is(j, "[") || tokens_[j].match == kNone || !tokens_[j - 1].is_identifier()) continue;
      const Token& before = tokens_[j - 2];
      const bool type = before.is_identifier()
                            ? !is_keyword(before.text) || is_type_word(before.text)
                            : before.is(">") || before.is("*") || before.is(",");
      if (!type) continue;
      for (std::size_t bound = j + 1; bound < tokens_[j].match; ++bound) {
        if (tokens_[bound].is_identifier()) return true;
      }
    }
    return false;
  }

  static bool is_type_word(std::string_view word) {
    return is_one_of(word, {"int", "float", "double", "char", "bool", "short", "long", "unsigned",
                            "signed", "auto"});
  }

  bool is_used_in_device_code(const Named& named) const {
    const std::string name(tokens_[named.name].text);
    if (measured_.count(name) != 0) return false;
    if (named.variable) {
      return device_words_.count(name) != 0 && !(named.is_constexpr && constants_.count(name) != 0);
    }
    if (device_names_.count(named.key) != 0) return false;
    const std::size_t separator = named.key.find("::");
    if (name == "operator") {
      const std::string symbol = named.key.substr(separator + 2 + name.size());
      return symbol == "()" || symbol == "[]" || tokens_[named.name + 1].is_identifier() ||
             device_words_.count(symbol) != 0;
    }
    if (named.constructs) return device_words_.count(named.key.substr(0, separator)) != 0;
    return device_words_.count(name) != 0;
  }

  // The line marker of a token.
  std::string marker(std::size_t i) const {
    return "# " + std::to_string(tokens_[i].line) + " " +
           tokens_.files[static_cast<std::size_t>(tokens_[i].file)].marker + "\n";
  }

  void note_call(std::size_t i) {
    const std::string name(tokens_[i].text);
    if (kernel_names_.count(name) + device_only_names_.count(name) == 0) return;
    if (i > 0 && (is(i - 1, ".") || is(i - 1, "->"))) return;
    const std::size_t behind = is(i + 1, "<") ? skip_angles(tokens_, i + 1) : i + 1;
    if (behind != kNone && is(behind, "(") && !declared_here(i)) {
      calls_.push_back({i, scope().on_host});
    }
  }

  // Kernels need a launch, and device functions a kernel.
  void refuse_calls_of_kernels() {
    for (const auto& [i, in_host_code] : calls_) {
      const std::string name(tokens_[i].text);
      if (host_names_.count(name) != 0) continue;
      if (kernel_names_.count(name) != 0 && device_only_names_.count(name) == 0) {
        fail(i, "'" + name + "' is a kernel and cannot be called as a function: launch it with " +
                    name + "<<<grid, block>>>(...)");
      }
      if (in_host_code && device_only_names_.count(name) != 0 && kernel_names_.count(name) == 0 &&
          library_names_.count(name) == 0) {
        fail(i, "'" + name +
                    "' is a __device__ function and cannot be called from host code: "
                    "call it in a kernel, or write __host__ __device__ ahead of it");
      }
    }
  }

  // ---- Inline assembly ----

  // asm("mma..." : "=f"(d) : "r"(a)) becomes ::simt::ptx::mma...<0, 1>(out_f(d), in_r(a)), the operands
  // where they stand.
  void inline_assembly(std::size_t i) {
    if (!scope().device) return;
    std::size_t open = i + 1;
    while (tokens_[open].is_identifier()) ++open;        // volatile, goto, inline
    if (!is(open, "(") || is(open + 1, "\"\"")) return;  // asm("") only holds the compiler back
    const std::size_t close = tokens_[open].match;
    std::string text;
    std::size_t j = open + 1;
    for (; tokens_[j].kind == TokenKind::string; ++j) {
      text += literal_text(tokens_[j].text);
      drop(j);
    }
    std::vector<std::string> constraints;
    for (int section = 0; j < close; ++j) {  // outputs, inputs, clobbered
      if (is(j, ":") || is(j, "::")) {
        section += static_cast<int>(tokens_[j].text.size());
        const bool divides =
            !constraints.empty() && section == 2 && tokens_[j + 1].kind == TokenKind::string;
        replace(j, divides ? "," : "");
      } else if (section > 2) {
        drop(j);
      } else if (tokens_[j].kind == TokenKind::string && is(j + 1, "(")) {
        constraints.push_back(literal_text(tokens_[j].text));
        replace(j, "::simt::ptx::" + operand_function(constraints.back()));
        j = tokens_[j + 1].match;
      } else if (!is(j, ",")) {
        fail(i, "an asm operand is a constraint and an expression, as in \"r\"(x)");
      }
    }
    PtxCall call;
    try {
      call = read_ptx(text, constraints);
    } catch (const PtxError& error) {
      fail(i, error.what());
    }
    std::string numbers;
    for (const std::size_t number : call.operands) {
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
    }
    replace(i, "::simt::ptx::" + call.function + "<" + numbers + ">");
    for (j = i + 1; j < open; ++j) drop(j);
  }

  // Of cuda/inline_ptx.h. What it makes of a constraint that there is not, nobody compiles.
  static std::string operand_function(const std::string& constraint) {
    const bool written = constraint.starts_with('=') || constraint.starts_with('+');
    return std::string(written ? "out_" : "in_") + (constraint.ends_with('f') ? "f" : "r");
  }

  const TokenStream& tokens_;
  const bool relaxed_constexpr_;
  std::vector<Edit> edits_;
  std::vector<Scope> scopes_;
  std::map<std::size_t, LaunchSite> launches_;        // by first token
  std::map<std::size_t, std::string> kernel_bodies_;  // '{' of the body -> the kernel's name
  std::map<std::string, std::string> file_shared_;    // name -> declaration of the pointer
  std::set<std::string> extern_names_;                // variables declared extern so far
  int guards_ = 0;
  // What nvcc refuses.
  std::vector<DeviceCode> device_code_;
  std::vector<Named> host_code_;        // what device code may not use
  std::set<std::string> device_words_;  // that stand in device code
  std::set<std::string> measured_;      // in sizeof and its like
  std::set<std::string> constants_;     // in what is computed when it is compiled
  std::set<std::string> device_names_;  // functions, with their classes
  std::set<std::string> device_only_names_, host_names_, kernel_names_, library_names_;
  std::vector<std::size_t> library_calls_;
  std::map<std::string, std::size_t> host_lambdas_;  // by name, the last of it: its '['
  std::vector<std::pair<std::size_t, bool>> calls_;  // of plain names; in host code?
};

}  // namespace

std::string translate(std::string_view preprocessed, const std::string& main_file,
                      bool relaxed_constexpr) {
  const TokenStream tokens(preprocessed, main_file);
  return Translator(tokens, relaxed_constexpr).run();
}

}  // namespace simt
