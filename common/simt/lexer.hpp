// Tokens of preprocessed C++ (the output of `g++ -E`) with the line of the source each came from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

enum class TokenKind { identifier, number, string, character, punctuation, end };

// `<` and `>` are always tokens of their own, except in `<<`, `<<=`, `<=`, `<=>`, `->` and `>=`: so
// `>>>` is three tokens, and `<<<` is `<<` and `<`. Digraphs arrive as the token they stand for.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  std::string_view lead;      // what stands before it: white space, comments, line markers, pragmas
  int file = 0;               // index into TokenStream::files
  int line = 0;               // line of its first character in that file
  int end_line = 0;           // line of its last character (a raw string can hold newlines)
  std::size_t match = kNone;  // index of the partner of a bracket ( ) [ ] { }

  bool is(std::string_view spelling) const { return text == spelling; }
  bool is_identifier() const { return kind == TokenKind::identifier; }
};

// A file as line markers name it. The flags say that it is a system header (3) and C code (4).
struct SourceFile {
  std::string name;    // as a reader knows it
  std::string marker;  // quoted name and flags, as a line marker wants them
  bool is_system = false;
};

// The token list ends with a token of kind `end`, whose lead is what follows the last real one.
// Tokens point into `text`: the stream can be moved only before it is filled, hence not at all.
struct TokenStream {
  // `main_file` names the lines before the first line marker. `#pragma unroll` and pragmas meant
  // for nvcc are blanked out; all other directives stay in the leads.
  TokenStream(std::string_view preprocessed, const std::string& main_file);
  TokenStream(const TokenStream&) = delete;
  TokenStream& operator=(const TokenStream&) = delete;

  const Token& operator[](std::size_t index) const {
    return tokens[index < tokens.size() ? index : tokens.size() - 1];
  }
  std::size_t size() const { return tokens.size() - 1; }  // without the end token

  // True if `index` is a token that follows the one before it with nothing between them.
  bool glued(std::size_t index) const { return (*this)[index].lead.empty(); }

  std::string text;
  std::vector<SourceFile> files;
  std::vector<Token> tokens;
  std::size_t unbalanced = kNone;  // the first bracket found to have no partner
};

}  // namespace simt
