#include "common/exercise/tripwires.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "common/data/file.hpp"

namespace halo {

namespace {

namespace fs = std::filesystem;

// No exercise needs a tenth of any. What is larger is not looked at, and so not run: nobody is to hide behind it, or
// to keep us here.
constexpr std::size_t kMostText = std::size_t{1} << 20;
constexpr std::size_t kMostTokens = 1'000'000;
constexpr std::size_t kMostSymbols = std::size_t{1} << 19;  // bytes; a sandbox cuts what is printed
constexpr std::size_t kMostOfAttributes = 200;              // tokens
// std::regex recurses: no more letters than this.
constexpr std::size_t kLongestDirective = 2000;

std::string at_line(int line) { return "line " + std::to_string(line) + ": "; }

// ---- The text as it was handed in ----

// Lines, those that end in a backslash joined as the preprocessor joins them; each with its number.
std::vector<std::pair<int, std::string>> spliced_lines(const std::string& text) {
  std::vector<std::pair<int, std::string>> lines;
  std::istringstream stream(text);
  bool is_continued = false;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    const bool continues = line.ends_with('\\');
    if (continues) line.pop_back();
    if (is_continued) {
      lines.back().second += line;
    } else {
      lines.emplace_back(number, line);
    }
    is_continued = continues;
  }
  return lines;
}

// Where the words of a directive begin: behind a # with nothing ahead of it but blanks, or a comment that ends there.
std::vector<std::string> directives_in(const std::string& line) {
  std::vector<std::string> all;
  std::size_t word = 0;  // the last that is no blank
  bool any = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (std::isspace(static_cast<unsigned char>(line[at])) != 0) continue;
    const bool is_digraph = line.compare(at, 2, "%:") == 0;
    const bool is_first = !any || (word > 0 && line[word] == '/' && line[word - 1] == '*');
    if ((line[at] == '#' || is_digraph) && is_first) {
      const std::size_t begin = line.find_first_not_of(" \t\v\f", at + (is_digraph ? 2 : 1));
      if (begin != std::string::npos) all.push_back(line.substr(begin, kLongestDirective));
    }
    any = true;
    word = at;
  }
  return all;
}

// What a macro of this name would do to the lines of headers; empty: nothing.
std::string changes_headers(const std::string& name) {
  static const std::set<std::string> kWords = {
      "auto",      "bool",     "class",   "const",     "constexpr", "double",   "else",
      "enum",      "explicit", "extern",  "float",     "for",       "friend",   "if",
      "inline",    "int",      "long",    "namespace", "noexcept",  "operator", "private",
      "protected", "public",   "return",  "short",     "sizeof",    "static",   "struct",
      "template",  "this",     "typedef", "typename",  "union",     "unsigned", "using",
      "virtual",   "void",     "while"};
  static const std::set<std::string> kAskedFor = {
      "_USE_MATH_DEFINES",       "_GNU_SOURCE",         "_DEFAULT_SOURCE",
      "_POSIX_C_SOURCE",         "__STDC_LIMIT_MACROS", "__STDC_FORMAT_MACROS",
      "__STDC_CONSTANT_MACROS",  "_XOPEN_SOURCE",       "_CRT_SECURE_NO_WARNINGS",
      "_CRT_SECURE_NO_DEPRECATE"};
  if (kWords.count(name) == 1) return name + " is a word of the language";
  const bool is_reserved =
      name.size() > 1 && name[0] == '_' &&
      (name[1] == '_' || std::isupper(static_cast<unsigned char>(name[1])) != 0);
  return is_reserved && kAskedFor.count(name) == 0 ? name + " is reserved for them" : "";
}

// ---- The text as the compiler sees it ----

struct Token {
  std::string text;
  int line;
};

// What stands in the student's own lines once macros are replaced, and which files it includes.
struct Seen {
  std::vector<Token> tokens;
  std::vector<Token> pragmas;
  std::vector<Token> included;  // by the file itself
};

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '$' ||
         static_cast<unsigned char>(letter) >= 0x80;
}

// A marker is `# LINE "FILE" FLAGS`; flag 1 enters a file and 2 comes back.
class Reader {
 public:
  Reader(const std::string& text, const std::string& name) : text_(text), name_(name) {}

  Seen read() {
    bool at_start = true;
    while (at_ < text_.size() && seen_.tokens.size() <= kMostTokens) {
      const char letter = text_[at_];
      if (at_start && directive()) continue;
      if (letter == '\n') {
        ++line_;
        at_start = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(letter)) != 0) {
        ++at_;
      } else {
        at_start = false;
        token();
      }
    }
    return std::move(seen_);
  }

 private:
  bool directive() {
    std::size_t hash = at_;
    while (hash < text_.size() && (text_[hash] == ' ' || text_[hash] == '\t')) ++hash;
    if (hash >= text_.size() || text_[hash] != '#') return false;
    const std::size_t end = std::min(text_.find('\n', hash), text_.size());
    const std::string line = text_.substr(hash + 1, end - hash - 1);
    at_ = std::min(end + 1, text_.size());
    int number = 0, read = 0;
    if (std::sscanf(line.c_str(), " %d \"%n", &number, &read) == 1 && read > 0) {
      const std::size_t close = line.find('"', static_cast<std::size_t>(read));
      if (close != std::string::npos) {
        const std::string file =
            line.substr(static_cast<std::size_t>(read), close - static_cast<std::size_t>(read));
        const bool enters = line.find(" 1", close) != std::string::npos;
        // 3: found where the compiler has its own, wherever that is.
        const bool is_system = line.find(" 3", close) != std::string::npos;
        if (enters && is_own_ && !is_system) seen_.included.push_back({file, line_ - 1});
        is_own_ = file == name_;
        line_ = number;
        return true;
      }
    }
    if (is_own_) seen_.pragmas.push_back({line, line_});
    ++line_;
    return true;
  }

  void token() {
    const std::size_t begin = at_;
    const int line = line_;
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      skip_number();
    } else {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      // Any other word stands for itself, whatever begins behind it.
      const std::string word = text_.substr(begin, at_ - begin);
      const bool is_raw = word.ends_with('R');
      const std::string kind = is_raw ? word.substr(0, word.size() - 1) : word;
      const bool may_open =
          kind.empty() || kind == "L" || kind == "u" || kind == "U" || kind == "u8";
      const char letter = may_open && at_ < text_.size() ? text_[at_] : '\0';
      if (letter == '"' && is_raw) {
        skip_raw();
        skip_suffix();
      } else if (letter == '"' || (letter == '\'' && !is_raw)) {
        skip_quoted(letter);
        skip_suffix();
      } else if (at_ == begin) {
        ++at_;
      }
    }
    if (!is_own_) return;
    if (const char* const bracket = digraph(begin)) {
      ++at_;
      seen_.tokens.push_back({bracket, line});
    } else {
      seen_.tokens.push_back({text_.substr(begin, at_ - begin), line});
    }
  }

  // With the ' between its digits, which opens nothing.
  void skip_number() {
    while (at_ < text_.size()) {
      const bool parts = text_[at_] == '\'' && at_ + 1 < text_.size() && is_word(text_[at_ + 1]);
      if (!parts && !is_word(text_[at_])) break;
      at_ += parts ? 2 : 1;
    }
  }

  // A literal's own, as of "text"_of_mine: part of it, so that it opens no other.
  void skip_suffix() {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  }

  // The bracket that stands at `begin` in two signs, or null. In <:: the first sign is one by itself, unless there are more.
  const char* digraph(std::size_t begin) const {
    if (text_.compare(begin, 2, ":>") == 0) return "]";
    if (text_.compare(begin, 2, "<:") != 0) return nullptr;
    const bool is_two = text_.compare(begin, 3, "<::") == 0;
    const char behind = begin + 3 < text_.size() ? text_[begin + 3] : ' ';
    return is_two && behind != ':' && behind != '>' ? nullptr : "[";
  }

  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  void skip_raw() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string::npos) {
      at_ = text_.size();
      return;
    }
    const std::string close = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    const std::size_t end = text_.find(close, open);
    const std::size_t behind = end == std::string::npos ? text_.size() : end + close.size();
    line_ +=
        static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                    text_.begin() + static_cast<std::ptrdiff_t>(behind), '\n'));
    at_ = behind;
  }

  const std::string& text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool is_own_ = false;
  Seen seen_;
};

constexpr const char* kInterfaceHeaders[] = {"common/exercise/exercise.h",
                                             "common/exercise/counted.h"};

// The interface of the exercises, CUDA's headers, and the system's.
bool may_include(const std::string& file, const CompiledFile& compiled) {
  const std::string path = fs::path(file).lexically_normal().string();
  if (path.starts_with("<")) return true;
  const auto is_below = [&](const std::string& folder) {
    return path.starts_with(fs::path(folder).lexically_normal().string() + "/");
  };
  // Either may lie within the other.
  if (is_below(compiled.toolkit) &&
      (!is_below(compiled.root) || compiled.toolkit.size() > compiled.root.size())) {
    return true;
  }
  if (is_below(compiled.root)) {
    return std::any_of(
        std::begin(kInterfaceHeaders), std::end(kInterfaceHeaders),
        [&](const char* header) { return path == fs::path(compiled.root) / header; });
  }
  return is_below("/usr");
}

// `__name__` is another spelling of `name`.
std::string plain(const std::string& word) {
  if (word.size() > 4 && word.starts_with("__") && word.ends_with("__")) {
    return word.substr(2, word.size() - 4);
  }
  return word;
}

const std::set<std::string> kRefusedAttributes = {
    "constructor", "destructor", "section", "alias",         "ifunc",   "weak",
    "weakref",     "symver",     "naked",   "init_priority", "cleanup", "visibility"};

// Words that the exercise's own headers are made of, without their comments.
std::set<std::string> words_of_interface(const std::string& root) {
  static const std::regex word(R"([A-Za-z_]\w*)");
  std::set<std::string> words;
  for (const char* header : kInterfaceHeaders) {
    const fs::path path = fs::path(root) / header;
    if (!fs::exists(path)) continue;
    std::istringstream lines(data::read_file(path.string()));
    for (std::string line; std::getline(lines, line);) {
      line.resize(std::min(line.find("//"), line.size()));
      for (std::sregex_iterator at(line.begin(), line.end(), word), none; at != none; ++at) {
        words.insert(at->str());
      }
    }
  }
  return words;
}

// What the replacement of a macro would carry into the lines of headers, which are not looked at: what is refused in the
// student's own, whole or in parts; empty: nothing.
std::string carried_by(std::string replacement) {
  static const std::regex comment(R"(/\*.*?\*/|//.*)");
  static const std::set<std::string> kOthers = {"asm", "__asm", "simt", "halo", "counting"};
  // Within quotes it is none.
  if (replacement.find_first_of("\"'") == std::string::npos) {
    replacement = std::regex_replace(replacement, comment, " ");
  }
  for (const char* part : {"##", "%:%:", "/*"}) {
    if (replacement.find(part) != std::string::npos) return part;
  }
  const std::string name = "macro";
  // The number: a # at the beginning is no directive here.
  const std::string line = "# 1 \"" + name + "\"\n0 " + replacement + "\n";
  for (const Token& token : Reader(line, name).read().tokens) {
    const std::string word = plain(token.text);
    if (kOthers.count(word) == 1 || kRefusedAttributes.count(word) == 1) return token.text;
  }
  return {};
}

// Directives, which the preprocessor takes away.
std::string refused_directive(const CompiledFile& file) {
  static const std::regex macro(R"(^(define|undef)\b\s*(\w*)(\([^)]*\))?(.*)$)");
  static const std::regex inclusion(R"(^(include|include_next|import)\b)");
  static const std::regex of_the_system(R"(^include\s*<(?![^>]*exercise)[^>]*>)");
  // What the headers from here on would be read with, and those of the exercise.
  std::string changed, changed_interface;
  std::optional<std::set<std::string>> interface_words;
  static const std::regex forged(R"(^(line\b|[0-9]|/\*))");
  static const std::regex path(
      R"(^(include|include_next|import|embed)\b.*["<]\s*(/|[^">]*\.\.([/">])))");
  static const std::regex asked(R"(__has_(include|embed)[^\n]*["<]\s*(/|[^">]*\.\./))");
  for (const auto& [number, line] : spliced_lines(file.text)) {
    const std::size_t has = line.find("__has_");
    if (has != std::string::npos && std::regex_search(line.substr(has, kLongestDirective), asked)) {
      return at_line(number) + "asks for files by their paths";
    }
    for (const std::string& words : directives_in(line)) {
      std::smatch found;
      if (changed.empty() && std::regex_match(words, found, macro)) {
        const std::string name = found[2].str();
        const auto refuse = [&](const std::string& why) {
          return at_line(number) + "a macro ahead of an #include, " + name + ": " + why +
                 "; define it below all of them";
        };
        const std::string carried = carried_by(found[4].str());
        if (!interface_words) interface_words = words_of_interface(file.root);
        if (const std::string why = changes_headers(name); !why.empty()) {
          changed = at_line(number) + "a macro that changes headers: " + why;
        } else if (name.empty()) {
          changed =
              at_line(number) + "a macro ahead of an #include, with a comment in its name's place";
        } else if (words.size() >= kLongestDirective) {
          changed = refuse("it is too long");
        } else if (!carried.empty()) {
          changed = refuse(carried + " would be in their lines");
        } else if (interface_words->count(name) == 1) {
          changed_interface = refuse("the exercise's own headers have this word");
        }
      }
      if (std::regex_search(words, inclusion)) {
        if (!changed.empty()) return changed;
        if (!changed_interface.empty() && !std::regex_search(words, of_the_system)) {
          return changed_interface;
        }
      }
      if (std::regex_search(words, forged)) {
        return at_line(number) + "a line that forges the places of others (#line)";
      }
      if (std::regex_search(words, path)) {
        return at_line(number) + "#include of an absolute path or of one with ..";
      }
    }
  }
  return {};
}

// What is refused in the tokens of the student's lines.
class Wires {
 public:
  explicit Wires(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::string refusal() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      if (std::string why = fault(); !why.empty()) return at_line(tokens_[at_].line) + why;
    }
    return {};
  }

 private:
  const std::string& word(std::size_t ahead = 0) const {
    static const std::string none;
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : none;
  }
  const std::string& before(std::size_t behind) const {
    static const std::string none;
    return behind <= at_ ? tokens_[at_ - behind].text : none;
  }
  bool is_qualifier(std::size_t ahead) const {
    return word(ahead) == ":" && word(ahead + 1) == ":";
  }
  bool is_qualified() const { return before(1) == ":" && before(2) == ":"; }

  std::string fault() {
    const std::string& text = word();
    if (text.empty() || (std::isalpha(static_cast<unsigned char>(text[0])) == 0 && text[0] != '_' &&
                         text[0] != '[')) {
      return {};
    }
    // In functions of the device too; what is there for the device alone (__CUDA_ARCH__) is not looked at.
    if (text == "asm" || plain(text) == "asm" || text == "__asm")
      return "asm, which is not for exercises";
    if (text == "__attribute__" || text == "__attribute" || text == "__declspec") {
      return attributes(1, "(", ")");
    }
    if (text == "[" && word(1) == "[") return attributes(0, "[", "]");
    if (text.starts_with("__cxa_")) return text + " belongs to the compiler";
    // nvcc's own code uses them, so that the object does not tell.
    const std::string called = text.starts_with("__builtin_") ? text.substr(10) : text;
    if (called == "atexit") return called + ", which ends the program";
    if (text == "simt") return "names of the simulator's internals";
    if (text == "halo") return interface();
    if (text == "counting" && (is_qualified() || is_qualifier(1) || before(1) == "namespace")) {
      return "halo::counting belongs to the check";
    }
    if (text == "__builtin_setjmp" || text == "__builtin_longjmp" || text == "__builtin_apply" ||
        text == "__builtin_return_address" || text == "__builtin_frame_address") {
      return text + " has no place in an exercise";
    }
    return {};
  }

  std::string attributes(std::size_t ahead, const std::string& open,
                         const std::string& close) const {
    int depth = 0;
    for (std::size_t i = ahead; at_ + i < tokens_.size(); ++i) {
      if (i > kMostOfAttributes) return "an attribute of so many words";
      const std::string& text = word(i);
      if (text == open) ++depth;
      if (text == close && --depth == 0) break;
      if (is_word(text[0]) && kRefusedAttributes.count(plain(text)) == 1) {
        return "the attribute " + plain(text);
      }
    }
    return {};
  }

  // Whether the namespace that is opened here has halo::exercise() in it and nothing else.
  bool has_only_exercise() const {
    std::size_t ahead = 1;
    for (const char* text : {"{", "Exercise", "exercise", "(", ")", "{"}) {
      if (word(ahead++) != text) return false;
    }
    for (int depth = 1; depth > 0; ++ahead) {
      if (word(ahead).empty()) return false;
      depth += word(ahead) == "{" ? 1 : word(ahead) == "}" ? -1 : 0;
    }
    return word(ahead) == "}";
  }

  std::string interface() const {
    if (before(1) == "namespace" && before(2) != "using") {
      if (has_only_exercise()) return {};
      return "defines names in halo, beside halo::exercise";
    }
    if (!is_qualifier(1)) return {};
    static const std::set<std::string> kInterface = {"Exercise", "exercise", "Counted"};
    if (kInterface.count(word(3)) == 1) return {};
    return "halo::" + word(3) + " is not of the exercise's interface";
  }

  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
};

std::string refused_pragma(const Token& pragma) {
  std::istringstream words(pragma.text);
  std::string word, kind;
  words >> word >> kind;
  // Its text goes to the assembler as it is.
  if (word == "ident" || word == "sccs") return "#" + word;
  const bool is_refused = kind == "weak" || kind == "redefine_extname";
  return word == "pragma" && is_refused ? "#pragma " + kind : "";
}

// ---- The object ----

// Families of functions that are refused, and the words for them.
const std::vector<std::pair<const char*, std::set<std::string>>> kKnown = {
    {"starts other programs",
     {"fork", "vfork", "clone", "execl", "execlp", "execle", "execv", "execvp", "execve", "execvpe",
      "fexecve", "system", "popen", "posix_spawn", "posix_spawnp", "daemon", "wordexp"}},
    {"loads other code",
     {"dlopen", "dlclose", "dlsym", "dlerror", "dlmopen", "dladdr", "dlvsym", "dl_iterate_phdr"}},
    {"calls the system directly", {"syscall"}},
    {"maps memory",
     {"mmap", "mmap64", "mprotect", "mremap", "munmap", "brk", "sbrk", "shmget", "shmat",
      "memfd_create", "process_vm_readv", "process_vm_writev"}},
    {"looks into or ends other processes",
     {"ptrace", "kill", "killpg", "tgkill", "raise", "getppid", "waitpid", "wait", "prctl",
      "personality", "setrlimit", "prlimit", "setpgid", "setsid", "nice"}},
    {"ends the program", {"_exit", "_Exit", "quick_exit", "at_quick_exit", "on_exit"}},
    {"jumps out of the check",
     {"setjmp", "_setjmp", "__sigsetjmp", "longjmp", "siglongjmp", "__longjmp_chk", "getcontext",
      "setcontext", "swapcontext"}},
    {"handles signals",
     {"signal", "sigaction", "sigprocmask", "sigaltstack", "alarm", "setitimer", "sysv_signal",
      "__sysv_signal", "bsd_signal"}},
    {"reads the environment",
     {"getenv", "secure_getenv", "setenv", "putenv", "environ", "__environ", "unsetenv",
      "clearenv"}},
    {"opens files",
     {"open",    "open64",  "openat",   "creat", "fopen",   "fopen64", "fdopen", "freopen",
      "opendir", "readdir", "readlink", "link",  "symlink", "unlink",  "remove", "rename",
      "mkdir",   "chdir",   "stat",     "lstat", "mkstemp", "tmpfile"}},
    {"uses descriptors",
     {"read",  "write",     "writev",    "readv",    "pread",  "pwrite", "dup",   "dup2",
      "dup3",  "close",     "pipe",      "pipe2",    "fcntl",  "ioctl",  "poll",  "select",
      "lseek", "ftruncate", "fallocate", "sendfile", "splice", "isatty", "fileno"}},
    {"opens the network",
     {"socket", "socketpair", "connect", "bind", "listen", "accept", "send", "sendto", "sendmsg",
      "recv", "recvfrom", "recvmsg", "getaddrinfo", "gethostbyname", "shutdown"}},
    {"starts threads", {"pthread_create", "thrd_create"}},
    {"waits", {"sleep", "usleep", "nanosleep", "clock_nanosleep", "pause", "sigsuspend"}},
};

// Functions of C that do no harm: mathematics, memory, text, numbers, printing.
const std::set<std::string>& harmless_functions() {
  static const std::set<std::string> names = [] {
    std::set<std::string> all;
    std::istringstream of_numbers(
        "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 "
        "exp2 "
        "expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround "
        "log "
        "log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder "
        "remquo rint round scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc j0 j1 jn y0 "
        "y1 "
        "yn rsqrt rcbrt normcdf sinpi cospi erfcx erfinv norm3d norm4d rhypot rnorm3d roundeven");
    for (std::string name; of_numbers >> name;) {
      for (const char* of_type : {"", "f", "l"}) all.insert(name + of_type);
    }
    std::istringstream others(
        "memcpy memmove memset memcmp memchr memrchr mempcpy bcmp strlen strnlen strcmp strncmp "
        "strcasecmp strncasecmp strcpy strncpy strcat strncat strchr strrchr strstr strtok "
        "strtok_r "
        "strerror strspn strcspn strpbrk strdup strndup strcoll "
        "isalnum isalpha isdigit isspace isupper islower ispunct isprint isxdigit toupper tolower "
        "__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location "
        "malloc calloc realloc free aligned_alloc posix_memalign abs labs llabs div ldiv lldiv "
        "qsort bsearch atoi atol atoll atof strtol strtoul strtoll strtoull strtod strtof strtold "
        "__isoc23_strtol __isoc23_strtoul __isoc23_strtoll __isoc23_strtoull __strtod_internal "
        "rand srand rand_r random srandom drand48 abort __assert_fail "
        "printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf puts putchar putc "
        "fputs fputc fwrite fflush perror stdout stderr setvbuf setbuf "
        "sscanf __isoc99_sscanf __isoc23_sscanf "
        "time clock clock_gettime gettimeofday difftime localtime gmtime strftime sched_yield "
        "_GLOBAL_OFFSET_TABLE_ __dso_handle __stack_chk_fail __tls_get_addr __gxx_personality_v0 "
        "_Unwind_Resume __pthread_key_create __gmon_start__ _ITM_deregisterTMCloneTable "
        "_ITM_registerTMCloneTable __libc_single_threaded atexit exit");
    for (std::string name; others >> name;) all.insert(name);
    return all;
  }();
  return names;
}

// A whole program may end itself, and read and write its files: perhaps under another name, until all is written.
const std::set<std::string> kOfPrograms = {
    "fopen",           "fopen64",         "fclose",   "fread",  "fgets", "fgetc",  "getc",
    "fscanf",          "fseek",           "ftell",    "ferror", "feof",  "rewind", "getline",
    "__isoc99_fscanf", "__isoc23_fscanf", "clearerr", "rename", "remove"};

bool is_one_of(const std::string& name, std::initializer_list<const char*> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const char* beginning) { return name.starts_with(beginning); });
}

// What is used from elsewhere.
std::string refused_use(const std::string& name, bool is_program) {
  if (is_program && kOfPrograms.count(name) == 1) return {};
  for (const auto& [what, names] : kKnown) {
    if (names.count(name) == 1) return name + ", which " + what;
  }
  if (harmless_functions().count(name) == 1) return {};
  if (kOfPrograms.count(name) == 1) return name + ", which reads or writes files";
  if (is_one_of(name, {"cuda", "__cuda", "__cxa_"})) return {};
  if (name.starts_with("__") && name.ends_with("_chk")) {
    return refused_use(name.substr(2, name.size() - 6), is_program);
  }
  if (!name.starts_with("_Z")) return name + ", which is not a function for exercises";
  if (name.find("10filesystem") != std::string::npos) return "std::filesystem";
  if (is_one_of(name, {"_ZNSt6thread", "_ZNKSt6thread", "_ZSt15__throw_system"}))
    return "std::thread";
  if (is_one_of(name, {"_ZSt13set_terminate", "_ZSt15set_new_handler", "_ZSt14set_unexpected"})) {
    return "a handler of the whole program";
  }
  const bool is_file = name.find("basic_ifstream") != std::string::npos ||
                       name.find("basic_ofstream") != std::string::npos ||
                       name.find("basic_fstream") != std::string::npos ||
                       name.find("basic_filebuf") != std::string::npos ||
                       name.find("__basic_file") != std::string::npos;
  if (is_file && !is_program) return "a file stream, which opens files";
  if (name.find("4halo") != std::string::npos &&
      !is_one_of(name, {"_ZN4halo8counting", "_ZN4halo8Exercise", "_ZN4halo7Counted"})) {
    return "a function of the check (" + name + ")";
  }
  return {};
}

// What it has itself, which others would find in the place of their own.
std::string refused_definition(const std::string& name, char kind, bool is_program) {
  const bool is_function = kind == 'T' || kind == 'W' || kind == 'i';
  if (name == "main") return is_program ? "" : "main, which is the check's";
  if (is_one_of(name, {"DW.ref.", "_sub_I_"})) return {};
  if (is_one_of(name, {"_Znw", "_Zna", "_Zdl", "_Zda"})) return "operator new or delete";
  if (is_one_of(name, {"_ZSt", "_ZNSt", "_ZNKSt"}) && kind == 'T') {
    return name + ", which is not the exercise's";
  }
  // Weak ones too, such as `inline extern "C"` makes of any name: the linker takes the first that it meets. The interface's own
  // are inline; operators are those of Counted.
  const bool is_inline_of_interface =
      kind != 'T' &&
      is_one_of(name, {"_ZN4halo8Exercise", "_ZNK4halo8Exercise", "_ZN4halo7Counted",
                       "_ZNK4halo7Counted", "_ZN4haloml", "_ZN4halopl", "_ZN4halomi"});
  if (is_one_of(name, {"_ZN4halo", "_ZNK4halo", "_ZN4simt", "_ZNK4simt"}) &&
      name != "_ZN4halo8exerciseEv" && !is_inline_of_interface) {
    return name + ", which is not the exercise's";
  }
  if (name.starts_with("_Z")) return {};
  // Of functions those that the libraries of C and C++ have, which this program has too; any other is a student's extern "C".
  if (is_one_of(name, {"__", "_environ", "cuda", "simt", "environ"}) ||
      harmless_functions().count(name) == 1 ||
      (is_function && dlsym(RTLD_DEFAULT, name.c_str()) != nullptr)) {
    return name + " anew, which others use";
  }
  return {};
}

}  // namespace

Tripped look_at(const CompiledFile& file) {
  Tripped tripped;
  const auto refused = [&](const std::string& why) {
    if (tripped.refusal.empty() && !why.empty()) tripped.refusal = data::printable(why, 300);
    return !tripped.refusal.empty();
  };
  if (file.text.size() > kMostText) {
    refused("the file is larger than 1 MiB");
    return tripped;
  }
  if (file.preprocessed.size() > kMostPreprocessed) {
    refused("the preprocessor makes more than 32 MiB of it");
    return tripped;
  }
  if (file.symbols.size() > kMostSymbols) {
    refused("it has too many symbols to be checked");
    return tripped;
  }
  if (file.text.find('\0') != std::string::npos)
    refused("it has bytes of 0, as UTF-16 has: save it as UTF-8");
  // A line ends there for the compiler, and for nobody who reads it.
  for (std::size_t at = file.text.find('\r'); at != std::string::npos;
       at = file.text.find('\r', at + 1)) {
    if (at + 1 < file.text.size() && file.text[at + 1] == '\n') continue;
    refused(
        "it has a carriage return that ends no line: save it with line ends of Unix or Windows");
    break;
  }
  if (refused(refused_directive(file))) return tripped;

  const Seen seen = Reader(file.preprocessed, file.name).read();
  if (seen.tokens.size() > kMostTokens) {
    refused("its macros make more than a million words");
    return tripped;
  }
  for (const Token& included : seen.included) {
    if (included.text == file.name) {
      refused(at_line(included.line) + "the file includes itself");
    } else if (!may_include(included.text, file)) {
      refused(at_line(included.line) + "#include of " +
              data::quoted(fs::path(included.text).filename().string()) +
              (fs::path(included.text).parent_path() == fs::path(file.name).parent_path()
                   ? ": only this file is handed in, and what you use of that belongs in it"
                   : ", which is not a header of the system or of the exercise"));
    }
  }
  refused(Wires(seen.tokens).refusal());
  for (const Token& pragma : seen.pragmas) {
    if (const std::string why = refused_pragma(pragma); !why.empty()) {
      refused(at_line(pragma.line) + why);
    }
  }

  // <iostream> has one of its own, which is as large as this where there is nothing else in it.
  constexpr unsigned long kSizeOfStreams = 0x27;
  const bool has_streams = file.symbols.find("_ZStL8__ioinit") != std::string::npos;
  std::istringstream lines(file.symbols);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    char kind = ' ';
    if (!(words >> name >> kind)) continue;
    if (kind == 'U' || kind == 'w' || kind == 'v') {
      if (const std::string why = refused_use(name, file.is_program); !why.empty()) {
        refused("it uses " + why);
      }
    } else if (std::isupper(static_cast<unsigned char>(kind)) != 0 || kind == 'i' || kind == 'u') {
      if (const std::string why = refused_definition(name, kind, file.is_program); !why.empty()) {
        refused("it defines " + why);
      }
    } else if (name.starts_with("_GLOBAL__sub_I")) {
      std::string place, size;
      words >> place >> size;
      if (has_streams && std::strtoul(size.c_str(), nullptr, 16) == kSizeOfStreams) continue;
      tripped.remarks = {"it runs code of its own before the first call"};
    }
  }
  return tripped;
}

}  // namespace halo
