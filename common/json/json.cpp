#include "common/json/json.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace halo::json {
namespace {

using Node = nlohmann::ordered_json;

// Values are built, copied and freed by recursion: what is nested deeper is no data of ours.
constexpr std::size_t kMostLevels = 500;
// A value takes a hundred bytes, where its text may be two.
constexpr int kMostValues = 4'000'000;

[[noreturn]] void fail(const std::string& expected, const std::string& found) {
  throw Error(expected + " expected, found " + found);
}

}  // namespace

// Between a Value and nlohmann/json.
struct Text {
  using Kind = Value::Kind;

  static const char* name_of(const Value& value) {
    constexpr const char* kNames[] = {"null",     "a truth value", "a number", "a number",
                                      "a number", "a string",      "an array", "an object"};
    return kNames[static_cast<int>(value.kind_)];
  }

  static Node node_of(const Value& value) {
    switch (value.kind_) {
      case Kind::null:
        return nullptr;
      case Kind::boolean:
        return value.number_.truth;
      case Kind::integer:
        return value.number_.integer;
      case Kind::natural:
        return value.number_.natural;
      case Kind::real:
        return value.number_.real;
      case Kind::string:
        return value.text_;
      case Kind::array: {
        Node node = Node::array();
        for (const Value& element : value.elements_) node.push_back(node_of(element));
        return node;
      }
      case Kind::object: {
        Node node = Node::object();
        for (const Member& member : value.members_) node[member.name] = node_of(member.value);
        return node;
      }
    }
    return nullptr;
  }

  // Told of a text's parts in turn by nlohmann's parser: no tree of its own beside ours.
  struct Reader {
    using Int = Node::number_integer_t;
    using Unsigned = Node::number_unsigned_t;
    using Float = Node::number_float_t;
    using String = Node::string_t;

    std::string_view text;
    Value root;
    std::vector<Value*> open;  // arrays and objects not yet ended
    Value* member = nullptr;   // what the last name stands for, if no value has come for it
    int values = 0;
    std::string fault;

    bool null() { return put(Value()); }
    bool boolean(bool truth) { return put(truth); }
    bool number_integer(Int number) { return put(number); }
    bool number_unsigned(Unsigned number) { return put(number); }
    bool number_float(Float number, const String&) { return put(number); }
    bool string(String& text) { return put(std::move(text)); }
    bool binary(Node::binary_t&) { return false; }  // of formats that are no text
    bool start_object(std::size_t) { return start(Value::object()); }
    bool start_array(std::size_t) { return start(Value::array()); }
    bool end_object() { return end(); }
    bool end_array() { return end(); }
    bool key(String& name) {
      member = &(*open.back())[name];
      return true;
    }
    // In words of our own: the parser's are about the parser.
    bool parse_error(std::size_t position, const std::string&, const Node::exception& error) {
      constexpr int kOutOfRange = 406;
      const std::size_t at = position == 0 ? 0 : position - 1;  // the last byte that was read
      const std::string_view before = text.substr(0, std::min(at, text.size()));
      const auto line = std::count(before.begin(), before.end(), '\n') + 1;
      const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
      const std::string place = "line " + std::to_string(line) + ", column " +
                                std::to_string(before.size() - start + 1) + ": ";
      if (error.id == kOutOfRange) {
        fault = place + "a number is larger than any that can be held";
      } else if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        fault = "it is empty";
      } else if (at >= text.size()) {
        fault = place + "it ends in the middle";
      } else {
        const auto byte = static_cast<unsigned char>(text[at]);
        fault = place + (byte > ' ' && byte < 0x7f ? std::string("'") + text[at] + "'" : "a byte") +
                " that JSON does not have there";
      }
      return false;
    }

    Value* place(Value value) {
      Value* at = &root;
      if (member) {
        at = std::exchange(member, nullptr);
      } else if (!open.empty()) {
        std::vector<Value>& elements = open.back()->elements_;
        elements.emplace_back();
        at = &elements.back();
      }
      *at = std::move(value);
      return at;
    }
    bool put(Value value) {
      place(std::move(value));
      return count();
    }
    bool count() {
      if (++values <= kMostValues) return true;
      fault = "more than " + std::to_string(kMostValues) + " values";
      return false;
    }
    bool start(Value value) {
      if (open.size() == kMostLevels) {
        fault = "nested deeper than " + std::to_string(kMostLevels) + " levels";
        return false;
      }
      // It stays where it is until it has ended: only then does its parent grow.
      open.push_back(place(std::move(value)));
      return count();
    }
    bool end() {
      open.pop_back();
      return true;
    }
  };
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

Value Value::parse(std::string_view text) {
  Text::Reader reader;
  reader.text = text;
  // To the parser it would be the end, whatever follows.
  if (text.find('\0') != std::string_view::npos)
    throw Error("it is not text: it has zero bytes in it");
  if (Node::sax_parse(text, &reader)) return std::move(reader.root);
  throw Error(reader.fault);
}

std::string Value::dump(int indent) const {
  return Text::node_of(*this).dump(indent, ' ', false, Node::error_handler_t::replace);
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
