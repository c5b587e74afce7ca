// What a program tells the one that started it, line by line.
#include "common/report/row_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <sstream>
#include <stdexcept>

#include "common/report/json.hpp"
#include "tests/catch.hpp"

using namespace halo;
using test::contains;

namespace {

// All that is said to a pipe.
std::string said(void (*say)(RowStream&)) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  RowStream stream(ends[1]);
  say(stream);
  close(ends[1]);
  std::string text(65536, '\0');
  const ssize_t n = read(ends[0], text.data(), text.size());
  close(ends[0]);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

Row a_row() {
  Row row;
  row.stage = "06_conv2d_direct";
  row.backend = "sim";
  row.variant = "plain";
  row.problem = {{"N", std::int64_t{1}}};
  row.label = "7-1-3-2-1";
  row.check = {Outcome::bad, "two\nlines", 3, 2.5};
  return row;
}

}  // namespace

TEST_CASE("a head, rows and progress arrive as they were told, a line each") {
  const std::string text = said([](RowStream& stream) {
    CHECK(stream.open());
    Results results{"halo run", "today", 7, {}, {a_row()}};
    results.machine.roofs = {{"cpu", {.copy_gb_per_s = 16}}};
    stream.progress("shape 2 of \"46\"\n");
    stream.head(results);
    stream.rows({a_row(), a_row()});
    stream.begin(a_row());
  });
  std::istringstream lines(text);
  std::vector<Told> told;
  for (std::string line; std::getline(lines, line);) told.push_back(told_from_json(line, "test"));
  REQUIRE(told.size() == 5);
  CHECK(told[0].kind == Told::Kind::progress);
  CHECK(told[0].progress == "shape 2 of \"46\"\n");
  CHECK(told[1].kind == Told::Kind::head);
  CHECK(told[1].head.seed == 7);
  CHECK(told[1].head.machine.roofs.at(0).second.copy_gb_per_s == 16);
  CHECK(told[1].head.rows.empty());
  CHECK(told[3].kind == Told::Kind::row);
  CHECK(told[3].row.label == "7-1-3-2-1");
  CHECK(told[3].row.check.reason == "two\nlines");
  CHECK(told[4].kind == Told::Kind::begin);
  CHECK(told[4].row.variant == "plain");
}

TEST_CASE("a stream that nobody listens to says nothing and is closed") {
  RowStream nobody(-1);
  CHECK_FALSE(nobody.open());
  nobody.rows({a_row()});

  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  RowStream gone(ends[1]);
  gone.rows({a_row()});
  std::signal(SIGPIPE, before);
  close(ends[1]);
  CHECK_FALSE(gone.open());
}

TEST_CASE("a line that no program tells is refused with the name of who told it") {
  for (const char* line : {"", "{", "[]", "{}", "{\"schema_version\":999}", "{\"stage\":\"06\"}"}) {
    INFO(line);
    try {
      told_from_json(line, "06_conv2d_direct");
      FAIL("accepted");
    } catch (const std::runtime_error& error) {
      CHECK_THAT(error.what(), contains("06_conv2d_direct"));
    }
  }
}
