// The names of problems, "55-128-3-96-s2", and how they are read. Not for use outside this room.
#pragma once

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace halo::conv::internal {

/// "3", or "3x5" (down x across) where the two differ.
inline std::string pair(std::int64_t down, std::int64_t across) {
  if (across == down) return std::to_string(down);
  return std::to_string(down).append("x").append(std::to_string(across));
}

/// Reads the parts of a name, which dashes separate, from left to right. Each function throws
/// std::invalid_argument, "'<the name>' <complaint>", for what it cannot read.
class LabelReader {
 public:
  LabelReader(std::string_view text, std::string complaint)
      : text_(text), complaint_(std::move(complaint)), rest_(text) {}

  std::int64_t number() { return to_number(part()); }

  void pair(std::int64_t& down, std::int64_t& across) { to_pair(part(), down, across); }

  /// A part that may be missing: "s2" or "s2x1" for the letter s.
  void pair_after(char letter, std::int64_t& down, std::int64_t& across) {
    if (!ended_ && rest_.starts_with(letter)) to_pair(part().substr(1), down, across);
  }

  /// The same for a number: "g32".
  void number_after(char letter, std::int64_t& number) {
    if (!ended_ && rest_.starts_with(letter)) number = to_number(part().substr(1));
  }

  /// A part that may be missing: whether the next one is this word, which it then takes.
  bool word(std::string_view wanted) {
    if (ended_ || rest_.substr(0, rest_.find('-')) != wanted) return false;
    part();
    return true;
  }

  /// The next part, whatever it is.
  std::string_view part() {
    if (ended_) throw error();
    const std::size_t dash = rest_.find('-');
    const std::string_view result = rest_.substr(0, dash);
    ended_ = dash == std::string_view::npos;
    rest_.remove_prefix(ended_ ? rest_.size() : dash + 1);
    return result;
  }

  /// Nothing may follow.
  void end() const {
    if (!ended_) throw error();
  }

  std::invalid_argument error() const {
    std::string message = "'";
    message.append(text_).append("' ").append(complaint_);
    return std::invalid_argument(message);
  }

 private:
  std::int64_t to_number(std::string_view digits) const {
    std::int64_t value = 0;
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc() || end != digits.data() + digits.size()) throw error();
    return value;
  }

  void to_pair(std::string_view numbers, std::int64_t& down, std::int64_t& across) const {
    const std::size_t cross = numbers.find('x');
    down = to_number(numbers.substr(0, cross));
    across = cross == std::string_view::npos ? down : to_number(numbers.substr(cross + 1));
  }

  std::string_view text_;
  std::string complaint_;
  std::string_view rest_;
  bool ended_ = false;
};

}  // namespace halo::conv::internal
