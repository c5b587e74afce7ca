#include "common/simt/ptx/parse.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>

namespace simt::ptx {
namespace {

struct Token {
  enum class Kind : std::uint8_t { end, word, number, string, sign };
  Kind kind = Kind::end;
  std::string_view text;
  int line = 1;
};

bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool is_word_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& now() const { return now_; }
  bool next_is_word() const { return here_ < text_.size() && is_word_start(at(here_)); }
  /// The current token, and goes on to the next.
  Token take() {
    const Token taken = now_;
    advance();
    return taken;
  }

 private:
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  void skip_blanks() {
    while (here_ < text_.size()) {
      if (at(here_) == '\n') {
        ++line_;
        ++here_;
      } else if (std::isspace(static_cast<unsigned char>(at(here_)))) {
        ++here_;
      } else if (at(here_) == '/' && at(here_ + 1) == '/') {
        while (here_ < text_.size() && at(here_) != '\n') ++here_;
      } else if (at(here_) == '/' && at(here_ + 1) == '*') {
        const std::size_t close = text_.find("*/", here_ + 2);
        const std::size_t beyond = close == std::string_view::npos ? text_.size() : close + 2;
        line_ +=
            static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(here_),
                                        text_.begin() + static_cast<std::ptrdiff_t>(beyond), '\n'));
        here_ = beyond;
      } else {
        return;
      }
    }
  }

  void advance() {
    skip_blanks();
    const std::size_t from = here_;
    Token::Kind kind = Token::Kind::sign;
    if (here_ >= text_.size()) {
      kind = Token::Kind::end;
    } else if (is_word_start(at(here_))) {
      kind = Token::Kind::word;
      // An opcode with its modifiers is one word: "cp.async.ca.shared::cta.global".
      for (++here_;; ++here_) {
        if (is_word_part(at(here_)) || (at(here_) == '.' && is_word_part(at(here_ + 1)))) continue;
        if (at(here_) != ':' || at(here_ + 1) != ':' || !is_word_part(at(here_ + 2))) break;
        ++here_;
      }
    } else if (std::isdigit(static_cast<unsigned char>(at(here_)))) {
      kind = Token::Kind::number;
      while (is_word_part(at(here_)) || at(here_) == '.') ++here_;
    } else if (at(here_) == '"') {
      kind = Token::Kind::string;
      const std::size_t close = text_.find('"', here_ + 1);
      here_ = close == std::string_view::npos ? text_.size() : close + 1;
    } else {
      ++here_;
    }
    now_ = {kind, text_.substr(from, here_ - from), line_};
  }

  std::string_view text_;
  std::size_t here_ = 0;
  int line_ = 1;
  Token now_;
};

// nvcc writes each byte of a path that is no letter of English as a backslash and three octal digits.
std::string without_escapes(std::string_view text) {
  std::string plain;
  const auto is_octal = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '7';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && is_octal(i + 1) && is_octal(i + 2) && is_octal(i + 3)) {
      plain +=
          static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Of one pair of braces: names that hold inside it.
struct Scope {
  std::map<std::string_view, std::int32_t> registers;
  std::map<std::string_view, std::int32_t> labels;
};

class Parser {
 public:
  Parser(std::string text, const std::string& name, bool is_linked)
      : module_(std::make_unique<Module>()), name_(name), lexer_(keep(std::move(text))) {
    module_->is_linked = is_linked;
  }

  std::unique_ptr<Module> module() {
    while (now().kind != Token::Kind::end) directive();
    end_unit();
    return std::move(module_);
  }

 private:
  std::string_view keep(std::string text) {
    module_->text = std::move(text);
    return module_->text;
  }

  [[noreturn]] void fail(const std::string& what, int line) const {
    throw ParseError(name_ + ":" + std::to_string(line) + ": " + what);
  }
  [[noreturn]] void fail(const std::string& what) const { fail(what, now().line); }

  const Token& now() const { return lexer_.now(); }
  Token take() { return lexer_.take(); }
  bool is(std::string_view text) const {
    return now().kind != Token::Kind::string && now().text == text;
  }
  bool take_if(std::string_view text) {
    if (!is(text)) return false;
    take();
    return true;
  }
  void expect(std::string_view text) {
    if (!take_if(text)) {
      fail("expected " + std::string(text) + " before " +
           (now().text.empty() ? "the end" : std::string(now().text)));
    }
  }
  std::string_view word(const char* what) {
    if (now().kind != Token::Kind::word)
      fail(std::string("expected ") + what + " before " + std::string(now().text));
    return take().text;
  }

  // ---- Numbers ----

  struct Number {
    std::uint64_t bits;
    Type type;  // f32 or f64, of one that is given by its bits
  };

  Number number() {
    const bool negative = take_if("-");
    const Token token = take();
    if (token.kind != Token::Kind::number)
      fail("expected a number before " + std::string(token.text), token.line);
    std::string_view text = token.text;
    if (text.back() == 'U') text.remove_suffix(1);
    int base = 10;
    Type type = Type::none;
    if (text.size() > 2 && text[0] == '0') {
      switch (text[1]) {
        case 'x':
        case 'X':
          base = 16;
          break;
        case 'b':
        case 'B':
          base = 2;
          break;
        case 'f':
        case 'F':
          base = 16;
          type = Type::f32;
          break;
        case 'd':
        case 'D':
          base = 16;
          type = Type::f64;
          break;
        case '.':
          break;
        default:
          base = 8;
          break;
      }
      if (base != 10) text.remove_prefix(base == 8 ? 1 : 2);
    }
    std::uint64_t bits = 0;
    if (base != 16 && text.find('.') != std::string_view::npos) {
      double value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) {
        fail("this is no number: " + std::string(token.text), token.line);
      }
      return {std::bit_cast<std::uint64_t>(negative ? -value : value), Type::f64};
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, base);
    if (error != std::errc() || end != text.data() + text.size()) {
      fail("this is no number: " + std::string(token.text), token.line);
    }
    if (negative && type == Type::f32) bits ^= 0x80000000u;
    if (negative && type == Type::f64) bits ^= 1ull << 63;
    if (negative && type == Type::none) bits = -bits;
    return {bits, type};
  }
  std::int64_t whole() { return static_cast<std::int64_t>(number().bits); }

  // ---- Module ----

  void directive() {
    bool is_extern = false;
    for (;;) {
      if (take_if(".extern"))
        is_extern = true;
      else if (!take_if(".visible") && !take_if(".weak") && !take_if(".common"))
        break;
    }
    if (is(".entry") || is(".func")) {
      function(take().text == ".entry");
    } else if (const std::optional<Space> space = space_here()) {
      Variable made = variable(*space);
      made.is_extern = is_extern;
      expect(";");
      const auto same =
          std::find_if(module_->variables.begin(), module_->variables.end(),
                       [&](const Variable& other) { return other.name == made.name; });
      if (same == module_->variables.end())
        module_->variables.push_back(std::move(made));
      else if (same->is_extern)
        *same = std::move(made);
    } else if (take_if(".version")) {
      end_unit();
      module_->version = take().text;
    } else if (take_if(".target")) {
      module_->target = take().text;
      while (take_if(",")) module_->is_debug |= take().text == "debug";
    } else if (take_if(".address_size")) {
      if (whole() != 64) fail("addresses of 64 bits only: compile with nvcc -m64");
    } else if (take_if(".file")) {
      source_file();
    } else if (take_if(".section")) {
      section();
    } else if (take_if(".loc")) {
      location();
    } else if (take_if(".pragma") || take_if(".alias")) {
      while (!is(";")) take_inside("directive");
      take();
    } else if (!take_if(";")) {
      fail("unknown directive: " + std::string(now().text));
    }
  }

  Token take_inside(const char* what) {
    if (now().kind == Token::Kind::end) fail(std::string("the text ends within a ") + what);
    return take();
  }

  std::optional<Space> space_here() {
    // An array, which needs no destructor: modules are read while the program ends.
    static constexpr std::pair<std::string_view, Space> kSpaces[] = {{".global", Space::global},
                                                                     {".const", Space::constant},
                                                                     {".shared", Space::shared},
                                                                     {".local", Space::local},
                                                                     {".param", Space::param}};
    const auto found = std::find_if(std::begin(kSpaces), std::end(kSpaces),
                                    [&](const auto& one) { return one.first == now().text; });
    if (now().kind != Token::Kind::word || found == std::end(kSpaces)) return std::nullopt;
    take();
    return found->second;
  }

  // Numbers of files and labels of strings hold up to the next .version.
  void end_unit() {
    for (const auto& [function, label] : names_of_inlined_) {
      const auto found = strings_.find(label);
      if (found != strings_.end())
        module_->inlined_functions[static_cast<std::size_t>(function)] = found->second;
    }
    names_of_inlined_.clear();
    functions_by_label_.clear();
    strings_.clear();
    first_file_ = module_->files.size() - 1;
  }

  // .file 1 "path"[, time, size]
  void source_file() {
    const auto index = static_cast<std::size_t>(whole());
    if (index > 100'000) fail("too large a number of a file");
    const std::size_t number_of_all = first_file_ + index;
    const Token path = take();
    if (path.kind != Token::Kind::string || path.text.size() < 2)
      fail("expected a file's name", path.line);
    if (module_->files.size() <= number_of_all) module_->files.resize(number_of_all + 1);
    module_->files[number_of_all] = without_escapes(path.text.substr(1, path.text.size() - 2));
    while (take_if(",")) number();
  }

  // Debug information. Only strings are read: .loc names functions by their labels.
  void section() {
    const bool is_strings = word("a section's name") == ".debug_str";
    expect("{");
    std::string_view label;
    std::string bytes;
    for (int depth = 1; depth > 0;) {
      const Token token = take_inside("section");
      if (token.text == "{") ++depth;
      if (token.text == "}") --depth;
      if (!is_strings || depth == 0) continue;
      if (token.kind == Token::Kind::word && take_if(":")) {
        label = token.text;
        bytes.clear();
      } else if (token.kind == Token::Kind::word && token.text == ".b8") {
        do {
          const auto byte = static_cast<char>(number().bits);
          if (byte != '\0') bytes += byte;
        } while (take_if(","));
        strings_[label] = bytes;
      }
    }
  }

  // .loc file line column[, function_name label[+offset], inlined_at file line column]
  void location() {
    Location here = place();
    if (take_if(",")) {
      if (word("function_name") != "function_name") fail("expected function_name");
      here.function = function_named(word("a function's label"));
      if (take_if("+")) number();
      expect(",");
      if (word("inlined_at") != "inlined_at") fail("expected inlined_at");
      const Location call = place();
      here.inlined_at = known(call);
    }
    location_ = add(here);
  }
  Location place() {
    Location here;
    here.file = static_cast<int>(whole());
    if (here.file != 0) here.file += static_cast<int>(first_file_);
    here.line = static_cast<int>(whole());
    here.column = static_cast<int>(whole());
    return here;
  }
  using Place = std::array<int, 3>;
  static Place place_of(const Location& here) { return {here.file, here.line, here.column}; }
  // Where the call itself was inlined is said by the last .loc of its place.
  std::int32_t known(const Location& call) {
    const auto found = last_at_.find(place_of(call));
    return found != last_at_.end() ? found->second : add(call);
  }
  std::int32_t add(const Location& here) {
    const std::array<int, 5> all = {here.file, here.line, here.column, here.function,
                                    here.inlined_at};
    const auto [found, is_new] =
        all_locations_.emplace(all, static_cast<std::int32_t>(module_->locations.size()));
    if (is_new) module_->locations.push_back(here);
    last_at_[place_of(here)] = found->second;
    return found->second;
  }
  int function_named(std::string_view label) {
    const auto [found, is_new] =
        functions_by_label_.emplace(label, static_cast<int>(module_->inlined_functions.size()));
    if (is_new) {
      module_->inlined_functions.emplace_back(label);
      names_of_inlined_.emplace_back(found->second, label);
    }
    return found->second;
  }

  // ---- Variables ----

  Type type_here() {
    if (now().kind != Token::Kind::word || now().text[0] != '.') return Type::none;
    const Type type = type_of(now().text.substr(1));
    if (type != Type::none) take();
    return type;
  }

  // .align 4 .b8 name[4][8] = {1, 2}
  Variable variable(Space space) {
    Variable made;
    made.space = space;
    int vector = 1;
    while (now().kind == Token::Kind::word && now().text[0] == '.') {
      if (take_if(".align")) {
        made.align = static_cast<int>(whole());
      } else if (take_if(".attribute")) {
        expect("(");
        made.is_managed = is(".managed");
        while (!is(")")) take_inside("variable");
        take();
      } else if (take_if(".v2")) {
        vector = 2;
      } else if (take_if(".v4")) {
        vector = 4;
      } else if (take_if(".ptr")) {
        // What a pointer points to: of no use here, and its alignment is not the parameter's.
        if (!take_if(".global") && !take_if(".shared") && !take_if(".const")) take_if(".local");
        if (take_if(".align")) whole();
      } else {
        const Type type = type_here();
        if (type == Type::none) fail("unknown in a variable: " + std::string(now().text));
        made.type = type;
      }
    }
    if (made.type == Type::none) fail("a variable without a type");
    made.name = word("a variable's name");
    const std::int64_t cell = std::max(1, bytes_of(made.type)) * vector;
    made.align = std::max<int>(made.align, static_cast<int>(std::min<std::int64_t>(cell, 16)));
    made.bytes = cell;
    while (take_if("[")) {
      made.bytes = is("]") ? 0 : made.bytes * whole();
      expect("]");
    }
    if (take_if("=")) {
      std::int64_t at = 0;
      values(made, std::max(1, bytes_of(made.type)), at);
      made.bytes = std::max(made.bytes, at);
    }
    return made;
  }

  void values(Variable& made, int cell, std::int64_t& at) {
    if (take_if("{")) {
      const Deeper within(*this);
      while (!take_if("}")) {
        values(made, cell, at);
        if (!is("}")) expect(",");
      }
      return;
    }
    made.initial.resize(static_cast<std::size_t>(at + cell), '\0');
    if (now().kind == Token::Kind::word) {
      Relocation there{.at = at, .symbol = "", .bytes = cell};
      symbol_of(there, false);
      made.relocations.push_back(there);
    } else {
      const Number value = number();
      if (is("(")) {  // 0xFF00(symbol): the byte of its address that the mask shows
        Relocation there{.at = at, .symbol = "", .bytes = 1};
        while (there.shift < 64 && (value.bits >> there.shift & 0xff) == 0) there.shift += 8;
        symbol_of(there, true);
        made.relocations.push_back(there);
      } else {
        std::memcpy(made.initial.data() + at, &value.bits,
                    static_cast<std::size_t>(std::min(cell, 8)));
      }
    }
    at += cell;
  }
  // name, name+8, generic(name)+8, in parentheses behind a mask
  void symbol_of(Relocation& there, bool in_parentheses) {
    if (in_parentheses) expect("(");
    there.generic = take_if("generic");
    if (there.generic) expect("(");
    there.symbol = word("a symbol");
    if (there.generic) expect(")");
    if (take_if("+") || is("-")) there.addend = whole();
    if (in_parentheses) expect(")");
  }

  // ---- Functions ----

  std::vector<Variable> parameters() {
    std::vector<Variable> all;
    expect("(");
    while (!take_if(")")) {
      const std::optional<Space> space = take_if(".reg") ? std::optional(Space::reg) : space_here();
      if (!space) fail("expected .param");
      all.push_back(variable(*space));
      if (!is(")")) expect(",");
    }
    return all;
  }

  void three(int (&numbers)[3]) {
    for (int& number : numbers) number = 1;
    int i = 0;
    do {
      if (i == 3) fail("more than three numbers");
      numbers[i++] = static_cast<int>(whole());
    } while (take_if(","));
  }

  void function(bool is_entry) {
    Function made;
    made.is_entry = is_entry;
    made.no_return = take_if(".noreturn");
    while (take_if(".attribute")) {
      expect("(");
      while (!is(")")) take_inside("function");
      take();
    }
    if (is("(")) made.returns = parameters();
    made.name = word("a function's name");
    if (is("(")) made.parameters = parameters();
    for (;;) {
      if (take_if(".maxntid"))
        three(made.max_threads);
      else if (take_if(".reqntid"))
        three(made.required_threads);
      else if (take_if(".minnctapersm"))
        made.min_blocks = static_cast<int>(whole());
      else if (take_if(".reqnctapercluster"))
        three(made.required_cluster);
      else if (take_if(".explicitcluster"))
        made.explicit_cluster = true;
      else if (take_if(".maxnreg") || take_if(".maxclusterrank"))
        whole();
      else if (take_if(".noreturn"))
        made.no_return = true;
      else if (take_if(".pragma")) {
        while (!is(";")) take_inside("function");
        take();
      } else
        break;
    }
    if (!take_if(";")) {
      made.has_body = true;
      function_ = &made;
      location_ = -1;
      pending_.clear();
      scopes_.clear();
      expect("{");
      block();
      function_ = nullptr;
    }
    Function* const same = const_cast<Function*>(module_->function(made.name));
    if (same == nullptr)
      module_->functions.push_back(std::move(made));
    else if (made.has_body)
      *same = std::move(made);
  }

  // Braces and brackets within others are calls within calls of what reads them: a text of nothing else is not to end the program.
  class Deeper {
   public:
    explicit Deeper(Parser& parser) : depth_(parser.depth_) {
      if (++depth_ > 1000) parser.fail("braces or brackets within others, deeper than 1000");
    }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    int& depth_;
  };

  // What stands between braces, behind the first one.
  void block() {
    const Deeper within(*this);
    scopes_.emplace_back();
    const std::size_t first_pending = pending_.size();
    while (!take_if("}")) {
      if (now().kind == Token::Kind::end) fail("the text ends within a function");
      statement();
    }
    resolve(first_pending);
    scopes_.pop_back();
  }

  // A label may be used before it stands there: operands wait for the end of each scope, in which it may be.
  struct Pending {
    std::size_t instruction;
    std::size_t operand;
    std::string_view label;
    int line;
  };
  void resolve(std::size_t first) {
    std::size_t kept = first;
    for (std::size_t i = first; i < pending_.size(); ++i) {
      const Pending& use = pending_[i];
      const auto found = scopes_.back().labels.find(use.label);
      if (found != scopes_.back().labels.end()) {
        function_->body[use.instruction].operands[use.operand].index = found->second;
      } else if (scopes_.size() == 1) {
        fail("there is no label " + std::string(use.label), use.line);
      } else {
        pending_[kept++] = use;
      }
    }
    pending_.resize(kept);
  }

  void statement() {
    if (take_if(";")) return;
    if (take_if("{")) return block();
    if (take_if(".reg")) return registers(type_here());
    // cuda_fp16.hpp writes ".reg.b32" in one.
    constexpr std::string_view kReg = ".reg.";
    if (now().text.starts_with(kReg)) return registers(type_of(take().text.substr(kReg.size())));
    if (take_if(".loc")) return location();
    if (take_if(".pragma")) {
      while (!is(";")) {
        if (now().text == "\"nounroll\"") {
          function_->kept_loops.insert(static_cast<std::int32_t>(function_->body.size()));
        }
        take_inside("function");
      }
      take();
      return;
    }
    if (const std::optional<Space> space = space_here()) {
      Variable made = variable(*space);
      // .param of calls stand in braces of their own and are written again and again under one name.
      const auto same =
          std::find_if(function_->variables.begin(), function_->variables.end(),
                       [&](const Variable& other) { return other.name == made.name; });
      if (same == function_->variables.end()) {
        function_->variables.push_back(std::move(made));
      } else {
        same->bytes = std::max(same->bytes, made.bytes);
        same->align = std::max(same->align, made.align);
      }
      expect(";");
      return;
    }
    Instruction made;
    made.line = now().line;
    if (take_if("@")) {
      made.guard_negated = take_if("!");
      made.guard = register_named(word("a predicate"), made.line);
    }
    const Token first = take();
    if (first.kind != Token::Kind::word)
      fail("expected an instruction before " + std::string(first.text), first.line);
    if (is(":")) {
      take();
      return label(first.text);
    }
    split(first.text, made);
    made.location = location_;
    operands(made);
    function_->body.push_back(std::move(made));
  }

  void registers(Type type) {
    if (type == Type::none) fail("a register without a type");
    do {
      const std::string_view name = word("a register's name");
      if (take_if("<")) {
        const std::int64_t count = whole();
        if (count < 0 || count > 1'000'000) fail("too many registers");
        expect(">");
        for (std::int64_t i = 0; i < count; ++i)
          declare(std::string(name) + std::to_string(i), type);
      } else {
        declare(std::string(name), type);
      }
    } while (take_if(","));
    expect(";");
  }
  void declare(std::string name, Type type) {
    const auto index = static_cast<std::int32_t>(function_->registers.size());
    function_->registers.push_back({names_.emplace_back(std::move(name)), type});
    scopes_.back().registers[names_.back()] = index;
  }
  std::int32_t find_register(std::string_view name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->registers.find(name);
      if (found != scope->registers.end()) return found->second;
    }
    return -1;
  }
  std::int32_t register_named(std::string_view name, int line) {
    std::int32_t index = find_register(name);
    if (index >= 0) return index;
    if (!is_special(name)) fail("there is no register " + std::string(name), line);
    index = static_cast<std::int32_t>(function_->registers.size());
    function_->registers.push_back({std::string(name), Type::none});
    scopes_.front().registers[name] = index;
    return index;
  }
  static bool is_special(std::string_view name) {
    if (!name.starts_with('%')) return false;
    static constexpr std::string_view kKnown[] = {"tid",
                                                  "ntid",
                                                  "laneid",
                                                  "warpid",
                                                  "nwarpid",
                                                  "ctaid",
                                                  "nctaid",
                                                  "smid",
                                                  "nsmid",
                                                  "gridid",
                                                  "is_explicit_cluster",
                                                  "clusterid",
                                                  "nclusterid",
                                                  "cluster_ctaid",
                                                  "cluster_nctaid",
                                                  "cluster_ctarank",
                                                  "cluster_nctarank",
                                                  "lanemask_eq",
                                                  "lanemask_le",
                                                  "lanemask_lt",
                                                  "lanemask_ge",
                                                  "lanemask_gt",
                                                  "clock",
                                                  "clock_hi",
                                                  "clock64",
                                                  "globaltimer",
                                                  "globaltimer_lo",
                                                  "globaltimer_hi",
                                                  "total_smem_size",
                                                  "aggr_smem_size",
                                                  "dynamic_smem_size",
                                                  "current_graph_exec",
                                                  "reserved_smem_offset_begin",
                                                  "reserved_smem_offset_end",
                                                  "reserved_smem_offset_cap",
                                                  "reserved_smem_offset_0",
                                                  "reserved_smem_offset_1"};
    const std::string_view stem = name.substr(1, name.find('.') - 1);
    if (stem.starts_with("envreg") || stem.starts_with("pm")) return true;
    return std::find(std::begin(kKnown), std::end(kKnown), stem) != std::end(kKnown);
  }

  void label(std::string_view name) {
    if (is(".branchtargets")) {
      take();
      std::vector<std::int32_t>& all = function_->targets[std::string(name)];
      do all.push_back(label_index(word("a label")));
      while (take_if(","));
      expect(";");
      return;
    }
    const std::int32_t index = label_index(name);
    if (is(".callprototype")) {
      // What is called by a pointer has the types of its arguments.
      while (!is(";")) take_inside("prototype");
      take();
      return;
    }
    function_->labels[static_cast<std::size_t>(index)] =
        static_cast<std::int32_t>(function_->body.size());
  }
  std::int32_t label_index(std::string_view name) {
    const auto [found, is_new] =
        scopes_.back().labels.emplace(name, static_cast<std::int32_t>(function_->labels.size()));
    if (is_new) function_->labels.push_back(-1);
    return found->second;
  }

  // "ld.param.u64" into its words.
  static void split(std::string_view text, Instruction& made) {
    std::size_t from = 0;
    for (bool first = true; from <= text.size(); first = false) {
      const std::size_t to = std::min(text.find('.', from), text.size());
      if (first)
        made.opcode = text.substr(from, to - from);
      else
        made.modifiers.push_back(text.substr(from, to - from));
      from = to + 1;
    }
  }

  void operands(Instruction& made) {
    const bool branches = made.opcode == "bra" || made.opcode == "brx";
    const bool calls = made.opcode == "call";
    if (take_if(";")) return;
    do {
      if (now().kind == Token::Kind::word && (branches || calls) && find_register(now().text) < 0) {
        const Token token = take();
        Operand there;
        there.name = token.text;
        if (branches && made.opcode == "bra") {
          there.kind = Operand::Kind::label;
          pending_.push_back(
              {function_->body.size(), made.operands.size(), token.text, token.line});
        } else {
          there.kind = Operand::Kind::symbol;  // a function, a prototype or a list of targets
        }
        made.operands.push_back(there);
      } else {
        made.operands.push_back(operand());
      }
    } while (take_if(","));
    expect(";");
  }

  // a, or a|b.
  Operand or_pair(Operand first) {
    if (!take_if("|")) return first;
    Operand both;
    both.kind = Operand::Kind::pair;
    both.parts = {std::move(first), operand()};
    return both;
  }

  Operand operand() {
    const Deeper within(*this);
    Operand made;
    const int line = now().line;
    if (take_if("[")) {
      made.kind = Operand::Kind::address;
      do made.parts.push_back(operand());
      while (take_if(","));
      expect("]");
      // [%r1+8], [name+8], [8]
      Operand& base = made.parts.front();
      made.offset = base.offset;
      base.offset = 0;
      if (base.kind == Operand::Kind::number) {
        made.offset = static_cast<std::int64_t>(base.bits);
        base = Operand();
      }
    } else if (take_if("{")) {
      made.kind = Operand::Kind::vector;
      do made.parts.push_back(operand());
      while (take_if(","));
      expect("}");
      return or_pair(std::move(made));
    } else if (take_if("(")) {
      made.kind = Operand::Kind::list;
      if (!is(")")) {
        do made.parts.push_back(operand());
        while (take_if(","));
      }
      expect(")");
    } else if (is("!") || (is("-") && lexer_.next_is_word()) || now().kind == Token::Kind::word) {
      made.negated = take_if("!") || take_if("-");
      const std::string_view name = word("a name");
      if (name == "_") return or_pair(std::move(made));
      if (name == "WARP_SZ") {
        made.kind = Operand::Kind::number;
        made.bits = 32;
        return made;
      }
      const std::int32_t index = find_register(name);
      const std::size_t dot = name.rfind('.');
      const std::int32_t whole_register = index < 0 ? find_register(name.substr(0, dot)) : -1;
      if (whole_register >= 0) {
        made.kind = Operand::Kind::reg;
        made.index = whole_register;
        made.name = name.substr(dot + 1);
      } else if (index >= 0 || name.starts_with('%')) {
        made.kind = Operand::Kind::reg;
        made.index = index >= 0 ? index : register_named(name, line);
      } else {
        made.kind = Operand::Kind::symbol;
        made.name = name;
      }
      if (is("|")) return or_pair(std::move(made));
      if (take_if("+"))
        made.offset = whole();
      else if (is("-"))
        made.offset = whole();
    } else {
      made.kind = Operand::Kind::number;
      const Number value = number();
      made.bits = value.bits;
      made.number_type = value.type;
    }
    return made;
  }

  std::unique_ptr<Module> module_;
  std::string name_;
  Lexer lexer_;
  std::int32_t location_ = -1;
  std::map<Place, std::int32_t> last_at_;
  std::map<std::array<int, 5>, std::int32_t> all_locations_;
  std::map<std::string_view, int> functions_by_label_;
  std::vector<std::pair<int, std::string_view>> names_of_inlined_;
  std::size_t first_file_ = 0;  // what the numbers of this unit's files are counted from
  std::map<std::string_view, std::string> strings_;
  Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  int depth_ = 0;  // of braces and brackets that are being read
  std::vector<Pending> pending_;
  std::deque<std::string> names_;  // what the scopes' keys are pieces of
};

}  // namespace

std::unique_ptr<Module> parse(std::string text, const std::string& name, bool is_linked) {
  return Parser(std::move(text), name, is_linked).module();
}

}  // namespace simt::ptx
