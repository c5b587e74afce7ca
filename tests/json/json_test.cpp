#include "common/json/json.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"

using halo::json::Error;
using halo::json::Member;
using halo::json::Value;
using halo::test::contains;
using namespace std::string_literals;

namespace {

Value parsed(const std::string& text) { return Value::parse(text); }

// What it throws says.
template <class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("a value is written as it was built, members in the order in which they came") {
  Value row = Value::object({{"name", "quad"}, {"grid", std::array<unsigned, 3>{7, 1, 1}}});
  row["time"]["hot"] = 0.25;
  row["time"]["cold"] = Value();
  row["empty"] = Value::array();
  row["also"] = Value::object();
  row["names"] = std::vector<std::string>{"a", "b"};
  row["good"] = true;
  CHECK(row.dump() ==
        R"({"name":"quad","grid":[7,1,1],"time":{"hot":0.25,"cold":null},"empty":[],"also":{},)"
        R"("names":["a","b"],"good":true})");
  CHECK(Value::object({{"list", std::vector<int>{1, -2}}, {"none", Value::array()}}).dump(1) ==
        "{\n \"list\": [\n  1,\n  -2\n ],\n \"none\": []\n}");
}

TEST_CASE("numbers keep every digit") {
  CHECK(Value(std::numeric_limits<std::uint64_t>::max()).dump() == "18446744073709551615");
  CHECK(Value(std::numeric_limits<std::int64_t>::min()).dump() == "-9223372036854775808");
  CHECK(Value(0.1).dump() == "0.1");
  CHECK(Value(2.0).dump() == "2.0");
  CHECK(Value(1e300).dump() == "1e+300");
  for (const char* text : {"18446744073709551615", "-9223372036854775808", "0.1", "-0.0", "5e-324",
                           "1.7976931348623157e+308", "0", "-1", "123456789.123"}) {
    CHECK(parsed(text).dump() == text);
  }
}

TEST_CASE("what JSON does not have becomes null, what is not UTF-8 a mark") {
  CHECK(Value(std::nan("")).dump() == "null");
  CHECK(Value(std::numeric_limits<double>::infinity()).dump() == "null");
  CHECK(Value("a\xff"
              "b")
            .dump() ==
        "\"a\xef\xbf\xbd"
        "b\"");
}

TEST_CASE("strings are written so that they come back") {
  const std::string text = "quote \" backslash \\ line\n tab\t nul\0 bell\a \xc3\xa4"s;
  const std::string written = Value(text).dump();
  CHECK(written.find('\n') == std::string::npos);
  CHECK(parsed(written).get<std::string>() == text);
  CHECK(parsed(R"("\u00e4\ud83d\ude00\/")").get<std::string>() == "\xc3\xa4\xf0\x9f\x98\x80/");
}

TEST_CASE("a text that was written is read as the same value") {
  const std::string text =
      R"({"a":[],"b":{},"c":[[1,[2.5]],{"d":[{"e":null}]}],"f":{"g":{"h":true}},"i":"","j":[false]})";
  CHECK(parsed(text).dump() == text);
  CHECK(parsed(parsed(text).dump(2)).dump() == text);
  CHECK(parsed(" [ 1 , 2 ] \n").dump() == "[1,2]");
  CHECK(parsed("\"alone\"").get<std::string>() == "alone");
}

TEST_CASE("a member named twice keeps the last value in the first place") {
  CHECK(parsed(R"({"a":1,"b":2,"a":[3]})").dump() == R"({"a":[3],"b":2})");
}

TEST_CASE("a text that is no JSON is refused in one line") {
  for (const char* text :
       {"", "{", "[1,", "[1 2]", "{\"a\" 1}", "{a:1}", "nul", "01", "1e999", "\"a", "\"\n\"",
        "[1]]", "{} x", "\"\\ud800\"", "\"\xff\"", "'a'", "[1,]"}) {
    INFO(text);
    REQUIRE_THROWS_AS(parsed(text), Error);
    const std::string message = message_of([&] { parsed(text); });
    CHECK(message.size() > 10);
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.find("json.exception") == std::string::npos);
  }
  CHECK(message_of([] { parsed("{\n \"a\": 1,\n \"b\" 2}"); }) ==
        "line 3, column 6: '2' that JSON does not have there");
  CHECK(message_of([] { parsed("[\n1,"); }) == "line 2, column 3: it ends in the middle");
  CHECK(message_of([] { parsed(" \n"); }) == "it is empty");
  CHECK(message_of([] { parsed(std::string("1\0 2", 4)); }) ==
        "it is not text: it has zero bytes in it");
  CHECK(message_of([] { parsed("\x1b[1m"); }) ==
        "line 1, column 1: a byte that JSON does not have there");
  CHECK(message_of([] { parsed("[1e999]"); }) ==
        "line 1, column 6: a number is larger than any that can be held");
}

TEST_CASE("a text of too many values is refused before it fills the memory") {
  std::string zeros = "[0";
  for (int i = 0; i < 4'000'000; ++i) zeros += ",0";
  CHECK(message_of([&] { parsed(zeros + "]"); }) == "more than 4000000 values");
}

TEST_CASE("a text nested without end is refused, not followed") {
  const std::string deep(500, '[');
  CHECK(parsed(deep + std::string(500, ']')).dump().size() == 1000);
  CHECK_THAT(message_of([&] { parsed(deep + "["); }), contains("nested deeper than 500"));
  CHECK_THAT(message_of([&] { parsed(std::string(3'000'000, '[')); }), contains("nested deeper"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK_THAT(message_of([&] { parsed(objects); }), contains("nested deeper"));
}

TEST_CASE("numbers are read into any type that holds them, and no other") {
  CHECK(parsed("255").get<std::uint8_t>() == 255);
  CHECK_THROWS_AS(parsed("256").get<std::uint8_t>(), Error);
  CHECK_THROWS_AS(parsed("-1").get<unsigned>(), Error);
  CHECK(parsed("-128").get<std::int8_t>() == -128);
  CHECK_THROWS_AS(parsed("-129").get<std::int8_t>(), Error);
  CHECK_THROWS_AS(parsed("9223372036854775808").get<std::int64_t>(), Error);
  CHECK(parsed("9223372036854775808").get<std::uint64_t>() == 9223372036854775808u);
  CHECK(parsed("2.0").get<int>() == 2);
  CHECK(parsed("2e3").get<unsigned>() == 2000);
  CHECK_THROWS_AS(parsed("2.5").get<int>(), Error);
  CHECK_THROWS_AS(parsed("1e19").get<std::int64_t>(), Error);
  CHECK_THROWS_AS(parsed("1e20").get<std::uint64_t>(), Error);
  CHECK_THROWS_AS(parsed("-1.0").get<std::uint64_t>(), Error);
  CHECK(parsed("3").get<double>() == 3.0);
  CHECK(parsed("-3").get<float>() == -3.0f);
  CHECK(Value(7).get<std::uint64_t>() == 7);
  CHECK(Value(7u).get<int>() == 7);
  CHECK_THROWS_AS(Value(-7).get<std::uint64_t>(), Error);
}

TEST_CASE("a member of another kind is named") {
  const Value row = parsed(R"({"length":"abc"})");
  CHECK(message_of([&] { row.get<int>("length"); }) ==
        "\"length\": a whole number expected, found a string");
  CHECK(message_of([&] { row.get_or("length", 1); }) ==
        "\"length\": a whole number expected, found a string");
  CHECK(row.get_or("width", 1) == 1);
}

TEST_CASE("a value of another kind is refused, and the message names both") {
  CHECK(message_of([] { parsed("1").get<std::string>(); }) == "a string expected, found a number");
  CHECK(message_of([] { parsed("\"1\"").get<int>(); }) ==
        "a whole number expected, found a string");
  CHECK(message_of([] { parsed("null").get<double>(); }) == "a number expected, found null");
  CHECK(message_of([] { parsed("0").get<bool>(); }) == "a truth value expected, found a number");
  CHECK(message_of([] { parsed("true").get<int>(); }) ==
        "a whole number expected, found a truth value");
  CHECK(message_of([] { parsed("{}").elements(); }) == "an array expected, found an object");
  CHECK(message_of([] { parsed("[]").members(); }) == "an object expected, found an array");
  CHECK(message_of([] { parsed("[1,2]").get<std::array<int, 3>>(); }) ==
        "3 elements expected, found 2");
  CHECK(message_of([] { parsed("300").get<std::uint8_t>(); }) ==
        "a whole number of 0 to 255 expected, found 300");
  Value text = "text";
  CHECK_THROWS_AS(text["a"], Error);
  CHECK_THROWS_AS(text.push_back(1), Error);
  Value list = Value::array();
  CHECK_THROWS_AS(list["a"], Error);
}

TEST_CASE("members are found by name, or said to be missing") {
  const Value row = parsed(R"({"a": 1, "b": null, "": "no name"})");
  CHECK(row.at("a").get<int>() == 1);
  CHECK(row.at("").get<std::string>() == "no name");
  CHECK(row.find("b")->is_null());
  CHECK(row.find("c") == nullptr);
  CHECK(row.at("a").find("c") == nullptr);
  CHECK(row.get_or("a", 5) == 1);
  CHECK(row.get_or("c", 5) == 5);
  CHECK(row.get_or("c", std::string("else")) == "else");
  CHECK_THROWS_AS(row.get_or("b", 5), Error);
  CHECK(message_of([&] { row.at("c"); }) == "a member \"c\" expected, but there is none");
  CHECK(message_of([&] { row.at("a").at("c"); }) == "a member \"c\" expected, found a number");
}

TEST_CASE("parts are gone through in order, also those of a temporary") {
  std::vector<int> numbers;
  for (const Value& value : parsed("[3,1,2]").elements()) numbers.push_back(value.get<int>());
  CHECK(numbers == std::vector<int>{3, 1, 2});
  std::string names;
  for (const auto& [name, value] : parsed(R"({"b":{"x":1,"y":2}})").at("b").members()) {
    names += name + value.dump();
  }
  CHECK(names == "x1y2");
  CHECK(parsed(R"({"grid":[7,8,9]})").at("grid").get<std::array<unsigned, 3>>()[2] == 9);
  CHECK(parsed(R"(["a","b"])").get<std::vector<std::string>>().size() == 2);
  CHECK(parsed("[]").empty());
  CHECK(parsed("{}").empty());
  CHECK_FALSE(parsed("[null]").empty());
}

TEST_CASE("a copy is a value of its own") {
  Value one = parsed(R"({"a":[1]})");
  const Value other = one;
  one["a"].push_back(2);
  CHECK(one.dump() == R"({"a":[1,2]})");
  CHECK(other.dump() == R"({"a":[1]})");
  // A part of itself may become the whole.
  one = Value(one.at("a"));
  CHECK(one.dump() == "[1,2]");
}
