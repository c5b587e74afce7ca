// JSON as a value: built, read and written. The text itself is nlohmann/json's work, in json.cpp; it
// is not in this header because every file that includes it compiles for five seconds and more.
//
//   Value row = Value::object({{"name", "quad"}, {"bytes", 16}});
//   row["times"].push_back(1.5);                     // made where it is missing
//   write(path, row.dump(1));
//   for (const Value& time : row.at("times").elements()) sum += time.get<double>();
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace halo::json {

/// A text that is no JSON, or a value that is not what was asked for. `what()` is one line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Member;

/// Null, a truth value, a number, a string, an array or an object. An object keeps its members in the
/// order in which they came. Copies are deep.
class Value {
 public:
  Value();  // null
  Value(std::string text);
  Value(std::string_view text);
  Value(const char* text);
  Value(std::same_as<bool> auto truth) : kind_(Kind::boolean) { number_.truth = truth; }
  Value(std::signed_integral auto number) : kind_(Kind::integer) { number_.integer = number; }
  Value(std::unsigned_integral auto number) requires(!std::same_as<decltype(number), bool>)
      : kind_(Kind::natural) {
    number_.natural = number;
  }
  Value(std::floating_point auto number) : kind_(Kind::real) { number_.real = number; }
  template <class T>
  Value(const std::vector<T>& values) : Value(array()) {
    for (const auto& value : values) push_back(value);
  }
  template <class T, std::size_t n>
  Value(const std::array<T, n>& values) : Value(array()) {
    for (const T& value : values) push_back(value);
  }

  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  static Value array();
  /// The members' names must differ.
  static Value object(std::initializer_list<Member> members = {});

  /// Throws Error, which says where and what the fault is. Objects that name a member twice keep the
  /// last value. At most 500 levels deep, and four million values.
  static Value parse(std::string_view text);

  /// The text: on one line, or with a line for each element and member, indented by so many spaces a
  /// level. A number that JSON does not have (NaN, an infinity) becomes null, what is not UTF-8 in a
  /// string the replacement character.
  std::string dump(int indent = -1) const;

  bool is_null() const { return kind_ == Kind::null; }
  bool is_number() const;
  bool is_string() const { return kind_ == Kind::string; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_object() const { return kind_ == Kind::object; }
  /// Neither elements nor members.
  bool empty() const { return elements_.empty() && members_.empty(); }

  /// bool, a number, std::string, or a std::vector or std::array of these. Throws Error for a value of
  /// another kind and for a number that T cannot hold: a whole number may be read from 2.0, not 2.5.
  template <class T>
  T get() const {
    T value;
    read(value);
    return value;
  }
  /// The same, in place: `json.at("line").get_to(finding.line)`.
  template <class T>
  void get_to(T& value) const {
    read(value);
  }

  /// Elements of an array. Throws Error if it is none. (Of a temporary by value, here and below, so
  /// that a loop may run over parts of what a function returned.)
  const std::vector<Value>& elements() const&;
  std::vector<Value> elements() &&;
  /// Members of an object, each with a `name` and a `value`. Throws Error if it is none.
  const std::vector<Member>& members() const&;
  std::vector<Member> members() &&;

  /// A member. Throws Error if there is none of the name.
  const Value& at(std::string_view name) const&;
  Value at(std::string_view name) &&;
  /// The same, or nullptr if there is none of the name or this is no object.
  const Value* find(std::string_view name) const&;
  const Value* find(std::string_view name) && = delete;
  /// The member's value. Throws Error, which names the member.
  template <class T>
  T get(std::string_view name) const {
    const Value& member = at(name);
    try {
      return member.get<T>();
    } catch (const Error& error) {
      throw Error("\"" + std::string(name) + "\": " + error.what());
    }
  }
  /// The same, or `otherwise` if there is none of the name.
  template <class T>
  T get_or(std::string_view name, T otherwise) const {
    return find(name) ? get<T>(name) : otherwise;
  }

  /// The member, to be assigned to: a new one stands last. A null becomes an object; Error if this is
  /// anything else.
  Value& operator[](std::string_view name);
  /// Adds an element. A null becomes an array; Error if this is anything else.
  void push_back(Value value);

 private:
  enum class Kind : std::uint8_t { null, boolean, integer, natural, real, string, array, object };
  friend struct Text;  // json.cpp: to nlohmann/json and back

  void read(bool& value) const;
  void read(std::string& value) const;
  void read(double& value) const;
  void read(std::floating_point auto& value) const {
    double number;
    read(number);
    value = static_cast<std::remove_reference_t<decltype(value)>>(number);
  }
  void read(std::integral auto& value) const {
    using T = std::remove_reference_t<decltype(value)>;
    using Limits = std::numeric_limits<T>;
    if constexpr (std::signed_integral<T>) {
      value = static_cast<T>(integer(Limits::min(), Limits::max()));
    } else {
      value = static_cast<T>(natural(Limits::max()));
    }
  }
  template <class T>
  void read(std::vector<T>& values) const {
    values.clear();
    for (const Value& value : elements()) values.push_back(value.get<T>());
  }
  template <class T, std::size_t n>
  void read(std::array<T, n>& values) const {
    require_elements(n);
    for (std::size_t i = 0; i < n; ++i) elements_[i].read(values[i]);
  }
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  std::uint64_t natural(std::uint64_t most) const;
  void require_elements(std::size_t count) const;

  Kind kind_ = Kind::null;
  union {
    bool truth;
    std::int64_t integer;
    std::uint64_t natural;
    double real;
  } number_{};
  std::string text_;
  std::vector<Value> elements_;
  std::vector<Member> members_;
};

struct Member {
  std::string name;
  Value value;
};

}  // namespace halo::json
