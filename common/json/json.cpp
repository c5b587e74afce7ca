#include "common/json/json.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace halo::json {
namespace {

// Values are built, copied and freed by recursion: what is nested deeper is no data of ours.
constexpr int kMostLevels = 500;
// A value takes a hundred bytes, where its text may be two.
constexpr int kMostValues = 4'000'000;

[[noreturn]] void fail(const std::string& expected, const std::string& found) {
  throw Error(expected + " expected, found " + found);
}

struct Sequence {
  std::size_t length;  // in bytes, at least 1
  bool whole;          // else it is what there is of one
};

// The UTF-8 sequence that `text`, which is not empty, begins with.
Sequence sequence_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, true};
  if (first < 0xc2 || first > 0xf4) return {1, false};
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (std::size_t at = 1; at < length; ++at) {
    // The second byte rules out what a shorter sequence says, surrogates, and what is past U+10FFFF.
    const int least = at > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const int most = at > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (at == text.size() || byte(at) < least || byte(at) > most) return {at, false};
  }
  return {length, true};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Value whole() {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    Value read = value(0);
    if (next() != '\0' || at_ < text_.size()) refuse();
    return read;
  }

 private:
  [[noreturn]] void refuse(const std::string& fault) const {
    const std::string_view before = text_.substr(0, at_);
    std::size_t line = 1;
    for (const char letter : before) line += letter == '\n' ? 1 : 0;
    const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
    throw Error("line " + std::to_string(line) + ", column " +
                std::to_string(before.size() - start + 1) + ": " + fault);
  }
  // What stands here does not belong here.
  [[noreturn]] void refuse() const {
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos) throw Error("it is empty");
    if (at_ >= text_.size()) refuse("it ends in the middle");
    const char byte = text_[at_];
    refuse((byte > ' ' && byte < 0x7f ? std::string("'") + byte + "'" : "a byte") +
           " that JSON does not have there");
  }

  // The byte here; at the end 0, which JSON has nowhere.
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  // The same, behind blanks.
  char next() {
    while (here() == ' ' || here() == '\n' || here() == '\r' || here() == '\t') ++at_;
    return here();
  }
  bool take(char wanted) {
    if (here() != wanted) return false;
    ++at_;
    return true;
  }
  void need(char wanted) {
    if (!take(wanted)) refuse();
  }

  Value value(int level) {
    const char first = next();
    if (++values_ > kMostValues) {
      throw Error("more than " + std::to_string(kMostValues) + " values");
    }
    switch (first) {
      case '{':
      case '[':
        if (level == kMostLevels) {
          throw Error("nested deeper than " + std::to_string(kMostLevels) + " levels");
        }
        ++at_;
        return first == '{' ? object(level + 1) : array(level + 1);
      case '"':
        return string();
      case 't':
        return word("true", true);
      case 'f':
        return word("false", false);
      case 'n':
        return word("null", Value());
      default:
        return number();
    }
  }

  Value word(std::string_view letters, Value meaning) {
    for (const char letter : letters) need(letter);
    return meaning;
  }

  Value array(int level) {
    Value read = Value::array();
    if (next() == ']') return ++at_, read;
    for (;;) {
      read.push_back(value(level));
      if (next() == ']') return ++at_, read;
      need(',');
    }
  }

  Value object(int level) {
    Value read = Value::object();
    if (next() == '}') return ++at_, read;
    for (;;) {
      next();
      const std::string name = string();
      next();
      need(':');
      read[name] = value(level);
      if (next() == '}') return ++at_, read;
      need(',');
    }
  }

  void digits() {
    if (here() < '0' || here() > '9') refuse();
    while (here() >= '0' && here() <= '9') ++at_;
  }

  Value number() {
    const std::size_t start = at_;
    const bool negative = take('-');
    if (!take('0')) digits();
    bool whole = true;
    if (take('.')) {
      whole = false;
      digits();
    }
    if (take('e') || take('E')) {
      whole = false;
      if (!take('+')) take('-');
      digits();
    }
    const char* const first = text_.data() + start;
    const char* const last = text_.data() + at_;
    std::int64_t integer = 0;
    if (whole && negative && std::from_chars(first, last, integer).ec == std::errc())
      return integer;
    std::uint64_t natural = 0;
    if (whole && !negative && std::from_chars(first, last, natural).ec == std::errc())
      return natural;
    double real = 0;
    if (std::from_chars(first, last, real).ec == std::errc()) return real;
    at_ = start;
    refuse("a number that is too large or too small to be held");
  }

  // Four hexadecimal digits.
  unsigned code() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      const char digit = here();
      const char letter = static_cast<char>(digit | 0x20);
      if (digit >= '0' && digit <= '9') {
        code = 16 * code + static_cast<unsigned>(digit - '0');
      } else if (letter >= 'a' && letter <= 'f') {
        code = 16 * code + static_cast<unsigned>(letter - 'a' + 10);
      } else {
        refuse();
      }
      ++at_;
    }
    return code;
  }

  void escape(std::string& read) {
    constexpr std::string_view kShort = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const std::size_t which = kShort.find(here());
    if (which != std::string_view::npos) {
      read += kMeant[which];
      ++at_;
      return;
    }
    need('u');
    unsigned point = code();
    const auto is_low = [](unsigned code) { return code >= 0xdc00 && code < 0xe000; };
    if (is_low(point)) refuse();
    if (point >= 0xd800 && point < 0xdc00) {
      need('\\');
      need('u');
      const unsigned low = code();
      if (!is_low(low)) refuse();
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    const auto put = [&](unsigned byte) { read += static_cast<char>(byte); };
    if (point < 0x80) return put(point);
    if (point < 0x800) {
      put(0xc0 | point >> 6);
    } else {
      if (point < 0x10000) {
        put(0xe0 | point >> 12);
      } else {
        put(0xf0 | point >> 18);
        put(0x80 | (point >> 12 & 0x3f));
      }
      put(0x80 | (point >> 6 & 0x3f));
    }
    put(0x80 | (point & 0x3f));
  }

  std::string string() {
    need('"');
    std::string read;
    while (!take('"')) {
      if (take('\\')) {
        escape(read);
        continue;
      }
      if (at_ >= text_.size() || static_cast<unsigned char>(here()) < ' ') refuse();
      const auto [length, whole] = sequence_of(text_.substr(at_));
      if (!whole) refuse();
      read.append(text_, at_, length);
      at_ += length;
    }
    return read;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int values_ = 0;
};

void write(const std::string& text, std::string& out) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const auto [length, whole] = sequence_of(std::string_view(text).substr(at));
    const char letter = text[at];
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
    if (!whole) {
      out += "\xef\xbf\xbd";
    } else if (const std::size_t which = kEscaped.find(letter); which != std::string_view::npos) {
      out += {'\\', "\"\\bfnrt"[which]};
    } else if (static_cast<unsigned char>(letter) < ' ') {
      constexpr const char* kDigits = "0123456789abcdef";
      out += {'\\', 'u', '0', '0', kDigits[letter >> 4], kDigits[letter & 15]};
    } else {
      out.append(text, at, length);
    }
    at += length;
  }
  out += '"';
}

// With as many digits as tell it from all others, and so that it is known as no whole number.
void write(double number, std::string& out) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  char scientific[32];
  const char* const end =
      std::to_chars(scientific, std::end(scientific), number, std::chars_format::scientific).ptr;
  const std::string_view text(scientific, static_cast<std::size_t>(end - scientific));
  const std::size_t e = text.find('e');
  int point = 1;  // stands behind so many digits
  std::from_chars(scientific + e + (text[e + 1] == '+' ? 2 : 1), end, point);
  ++point;
  if (point <= -4 || point > 15) {
    out += text;
    return;
  }
  std::string digits;
  for (const char letter : text.substr(0, e)) {
    if (letter == '-') {
      out += '-';
    } else if (letter != '.') {
      digits += letter;
    }
  }
  if (point <= 0) {
    digits.insert(0, static_cast<std::size_t>(1 - point), '0');
    point = 1;
  }
  const auto before = static_cast<std::size_t>(point);
  if (digits.size() <= before) digits.append(before + 1 - digits.size(), '0');
  out += digits.insert(before, 1, '.');
}

}  // namespace

// What only this file knows of a Value.
struct Text {
  using Kind = Value::Kind;

  static const char* name_of(const Value& value) {
    constexpr const char* kNames[] = {"null",     "a truth value", "a number", "a number",
                                      "a number", "a string",      "an array", "an object"};
    return kNames[static_cast<int>(value.kind_)];
  }

  // `level`: how far its lines are indented; negative: one line.
  static void write_part(const Value& value, int indent, int level, std::string& out) {
    switch (value.kind_) {
      case Kind::null:
        out += "null";
        return;
      case Kind::boolean:
        out += value.number_.truth ? "true" : "false";
        return;
      case Kind::integer:
        out += std::to_string(value.number_.integer);
        return;
      case Kind::natural:
        out += std::to_string(value.number_.natural);
        return;
      case Kind::real:
        return write(value.number_.real, out);
      case Kind::string:
        return write(value.text_, out);
      case Kind::array:
      case Kind::object:
        break;
    }
    const bool lines = indent >= 0 && !value.empty();
    const int inner = level + indent;
    const auto new_line = [&](int spaces) {
      if (lines) out.append(1, '\n').append(static_cast<std::size_t>(spaces), ' ');
    };
    out += value.is_array() ? '[' : '{';
    bool first = true;
    const auto begin = [&] {
      if (!first) out += ',';
      first = false;
      new_line(inner);
    };
    for (const Value& element : value.elements_) {
      begin();
      write_part(element, indent, inner, out);
    }
    for (const Member& member : value.members_) {
      begin();
      write(member.name, out);
      out += lines ? ": " : ":";
      write_part(member.value, indent, inner, out);
    }
    new_line(level);
    out += value.is_array() ? ']' : '}';
  }
};

Value::Value() = default;
Value::Value(std::string text) : kind_(Kind::string), text_(std::move(text)) {}
Value::Value(std::string_view text) : Value(std::string(text)) {}
Value::Value(const char* text) : Value(std::string(text)) {}
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Value Value::array() {
  Value value;
  value.kind_ = Kind::array;
  return value;
}

Value Value::object(std::initializer_list<Member> members) {
  Value value;
  value.kind_ = Kind::object;
  value.members_ = members;
  return value;
}

Value Value::parse(std::string_view text) { return Reader(text).whole(); }

std::string Value::dump(int indent) const {
  std::string text;
  Text::write_part(*this, indent, 0, text);
  return text;
}

bool Value::is_number() const {
  return kind_ == Kind::integer || kind_ == Kind::natural || kind_ == Kind::real;
}

const std::vector<Value>& Value::elements() const& {
  if (!is_array()) fail("an array", Text::name_of(*this));
  return elements_;
}

const std::vector<Member>& Value::members() const& {
  if (!is_object()) fail("an object", Text::name_of(*this));
  return members_;
}

std::vector<Value> Value::elements() && {
  static_cast<const Value&>(*this).elements();  // or fail
  return std::move(elements_);
}

std::vector<Member> Value::members() && {
  static_cast<const Value&>(*this).members();  // or fail
  return std::move(members_);
}

const Value* Value::find(std::string_view name) const& {
  for (const Member& member : members_) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

const Value& Value::at(std::string_view name) const& {
  const Value* const value = find(name);
  if (value) return *value;
  const std::string expected = "a member \"" + std::string(name) + "\"";
  if (is_object()) throw Error(expected + " expected, but there is none");
  fail(expected, Text::name_of(*this));
}

Value Value::at(std::string_view name) && { return static_cast<const Value&>(*this).at(name); }

Value& Value::operator[](std::string_view name) {
  if (is_null()) kind_ = Kind::object;
  members();  // or fail
  for (Member& member : members_) {
    if (member.name == name) return member.value;
  }
  members_.push_back({std::string(name), Value()});
  return members_.back().value;
}

void Value::push_back(Value value) {
  if (is_null()) kind_ = Kind::array;
  elements();  // or fail
  elements_.push_back(std::move(value));
}

void Value::read(bool& value) const {
  if (kind_ != Kind::boolean) fail("a truth value", Text::name_of(*this));
  value = number_.truth;
}

void Value::read(std::string& value) const {
  if (kind_ != Kind::string) fail("a string", Text::name_of(*this));
  value = text_;
}

void Value::read(double& value) const {
  if (!is_number()) fail("a number", Text::name_of(*this));
  value = kind_ == Kind::real      ? number_.real
          : kind_ == Kind::natural ? static_cast<double>(number_.natural)
                                   : static_cast<double>(number_.integer);
}

std::int64_t Value::integer(std::int64_t least, std::int64_t most) const {
  std::int64_t number = 0;
  bool held = false;
  if (kind_ == Kind::integer) {
    number = number_.integer;
    held = true;
  } else if (kind_ == Kind::natural) {
    held = number_.natural <= static_cast<std::uint64_t>(most);
    if (held) number = static_cast<std::int64_t>(number_.natural);
  } else if (kind_ == Kind::real) {
    held = number_.real == std::trunc(number_.real) && std::abs(number_.real) < 0x1p63;
    if (held) number = static_cast<std::int64_t>(number_.real);
  } else {
    fail("a whole number", Text::name_of(*this));
  }
  if (!held || number < least || number > most) {
    fail("a whole number of " + std::to_string(least) + " to " + std::to_string(most), dump());
  }
  return number;
}

std::uint64_t Value::natural(std::uint64_t most) const {
  std::uint64_t number = 0;
  bool held = false;
  if (kind_ == Kind::natural) {
    number = number_.natural;
    held = true;
  } else if (kind_ == Kind::integer) {
    held = number_.integer >= 0;
    if (held) number = static_cast<std::uint64_t>(number_.integer);
  } else if (kind_ == Kind::real) {
    held = number_.real == std::trunc(number_.real) && number_.real >= 0 && number_.real < 0x1p64;
    if (held) number = static_cast<std::uint64_t>(number_.real);
  } else {
    fail("a whole number", Text::name_of(*this));
  }
  if (!held || number > most) {
    fail("a whole number of 0 to " + std::to_string(most), dump());
  }
  return number;
}

void Value::require_elements(std::size_t count) const {
  if (elements().size() != count) {
    fail(std::to_string(count) + " elements", std::to_string(elements_.size()));
  }
}

}  // namespace halo::json
