#include "common/simt/lexer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace simt {
namespace {

bool starts_identifier(char c) {
  const auto u = static_cast<unsigned char>(c);
  return std::isalpha(u) || c == '_' || c == '$' || u >= 0x80;
}

bool continues_identifier(char c) {
  return starts_identifier(c) || std::isdigit(static_cast<unsigned char>(c));
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\r'; }

// Longest first. Not here: `>>` and `>>=` (see Token).
constexpr std::array<std::string_view, 29> kOperators = {
    "<=>", "<<=", "...", "->*", "<<", "<=", ">=", "->", "::", "++", "--", "&&", "||", "==", "!=",
    "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", ".*", "##", "<%", "%>", "<:", ":>"};

class Lexer {
 public:
  Lexer(TokenStream& stream, const std::string& main_file) : stream_(stream), text_(stream.text) {
    file_ = enter_file("\"" + main_file + "\"", main_file, "");
  }

  void run() {
    while (true) {
      const std::size_t lead_begin = at_;
      skip_lead();
      Token token;
      token.lead = view(lead_begin, at_);
      token.file = file_;
      token.line = line_;
      const std::size_t begin = at_;
      if (begin < text_.size()) {
        token.kind = scan_token();
        line_ +=
            static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                                        text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
        token.text = canonical(view(begin, at_));
      }
      token.end_line = line_;
      stream_.tokens.push_back(token);
      if (token.kind == TokenKind::end) break;
    }
    match_brackets();
  }

 private:
  std::string_view view(std::size_t begin, std::size_t end) const {
    return std::string_view(text_).substr(begin, end - begin);
  }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool looking_at(std::string_view what) const {
    return std::string_view(text_).substr(at_, what.size()) == what;
  }

  static std::string_view canonical(std::string_view spelling) {
    if (spelling == "<%") return "{";
    if (spelling == "%>") return "}";
    if (spelling == "<:") return "[";
    if (spelling == ":>") return "]";
    return spelling;
  }

  void skip_lead() {
    bool line_start = at_ == 0 || text_[at_ - 1] == '\n';
    while (at_ < text_.size()) {
      if (peek() == '\n') {
        ++line_;
        ++at_;
        line_start = true;
      } else if (is_blank(peek())) {
        ++at_;
      } else if (peek() == '#' && line_start) {
        skip_directive();
      } else if (peek() == '\\' && peek(1) == '\n') {
        ++line_;
        at_ += 2;
      } else if (looking_at("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (looking_at("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        const std::size_t stop = end == std::string::npos ? text_.size() : end + 2;
        for (; at_ < stop; ++at_) line_ += text_[at_] == '\n';
      } else {
        break;
      }
    }
  }

  // At a '#' that begins a line. Leaves `at_` behind the line's newline.
  void skip_directive() {
    const std::size_t begin = at_;
    std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view directive = view(begin + 1, end);
    at_ = std::min(end + 1, text_.size());
    ++line_;
    const auto trim = [](std::string_view s) {
      while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
      return s;
    };
    directive = trim(directive);
    if (directive.starts_with("line")) directive = trim(directive.substr(4));
    if (!directive.empty() && is_digit(directive.front())) {
      enter_marker(directive);
      return;
    }
    if (!directive.starts_with("pragma")) return;
    directive = trim(directive.substr(6));
    for (const std::string_view ignored :
         {"unroll", "nounroll", "nv_", "diag_", "hd_warning_disable"}) {
      if (directive.starts_with(ignored)) {
        std::fill(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                  text_.begin() + static_cast<std::ptrdiff_t>(end), ' ');
      }
    }
  }

  // LINE "FILE" FLAGS
  void enter_marker(std::string_view marker) {
    int line = 0;
    const auto [rest, error] = std::from_chars(marker.data(), marker.data() + marker.size(), line);
    if (error != std::errc()) return;
    line_ = line;
    const std::size_t open = marker.find('"', static_cast<std::size_t>(rest - marker.data()));
    if (open == std::string_view::npos) return;
    std::size_t close = open + 1;
    std::string name;
    while (close < marker.size() && marker[close] != '"') {
      if (marker[close] == '\\' && close + 1 < marker.size()) ++close;
      name += marker[close++];
    }
    std::string flags;
    for (const char c : marker.substr(std::min(close + 1, marker.size()))) {
      if (c == '3' || c == '4') flags += std::string(" ") + c;
    }
    file_ = enter_file(std::string(marker.substr(open, close + 1 - open)), name, flags);
  }

  int enter_file(const std::string& quoted, const std::string& name, const std::string& flags) {
    const std::string marker = quoted + flags;
    const auto same = [&](const SourceFile& file) { return file.marker == marker; };
    const auto found = std::find_if(stream_.files.begin(), stream_.files.end(), same);
    if (found != stream_.files.end()) return static_cast<int>(found - stream_.files.begin());
    stream_.files.push_back({name, marker, flags.find('3') != std::string::npos});
    return static_cast<int>(stream_.files.size()) - 1;
  }

  TokenKind scan_token() {
    if (starts_identifier(peek())) {
      const std::size_t begin = at_;
      while (continues_identifier(peek())) ++at_;
      const std::string_view word = view(begin, at_);
      const bool prefix = word == "u8" || word == "u" || word == "U" || word == "L";
      if (peek() == '"' && (prefix || word.empty())) return scan_string('"');
      if (peek() == '\'' && prefix) return scan_string('\'');
      if (peek() == '"' &&
          (word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR")) {
        return scan_raw_string();
      }
      return TokenKind::identifier;
    }
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return scan_number();
    if (peek() == '"' || peek() == '\'') return scan_string(peek());
    // C++ reads `<::` as `<` `::` unless a `:` or `>` follows.
    if (looking_at("<::") && peek(3) != ':' && peek(3) != '>') {
      ++at_;
      return TokenKind::punctuation;
    }
    for (const std::string_view op : kOperators) {
      if (looking_at(op)) {
        at_ += op.size();
        return TokenKind::punctuation;
      }
    }
    ++at_;
    return TokenKind::punctuation;
  }

  TokenKind scan_number() {
    while (true) {
      const char c = peek();
      const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
      if (exponent && (peek(1) == '+' || peek(1) == '-')) {
        at_ += 2;
      } else if (continues_identifier(c) || c == '.') {
        ++at_;
      } else if (c == '\'' && continues_identifier(peek(1))) {
        at_ += 2;
      } else {
        return TokenKind::number;
      }
    }
  }

  TokenKind scan_string(char quote) {
    ++at_;
    while (at_ < text_.size() && peek() != quote && peek() != '\n') {
      at_ += peek() == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + (peek() == quote ? 1 : 0), text_.size());
    return quote == '"' ? TokenKind::string : TokenKind::character;
  }

  TokenKind scan_raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string::npos) return scan_string('"');
    const std::string closer = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    const std::size_t close = text_.find(closer, open);
    at_ = close == std::string::npos ? text_.size() : close + closer.size();
    return TokenKind::string;
  }

  void match_brackets() {
    std::vector<std::size_t> open;
    std::vector<Token>& tokens = stream_.tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != TokenKind::punctuation) continue;
      const char c = tokens[i].text.size() == 1 ? tokens[i].text[0] : '\0';
      if (c == '(' || c == '[' || c == '{') open.push_back(i);
      if (c != ')' && c != ']' && c != '}') continue;
      const char partner = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || tokens[open.back()].text[0] != partner) {
        stream_.unbalanced = open.empty() ? i : open.back();
        return;
      }
      tokens[i].match = open.back();
      tokens[open.back()].match = i;
      open.pop_back();
    }
    if (!open.empty()) stream_.unbalanced = open.back();
  }

  TokenStream& stream_;
  std::string& text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int file_ = 0;
};

}  // namespace

TokenStream::TokenStream(std::string_view preprocessed, const std::string& main_file)
    : text(preprocessed) {
  tokens.reserve(text.size() / 4);
  Lexer(*this, main_file).run();
}

}  // namespace simt
