// CSV as spreadsheets write it.
#include "common/data/csv.hpp"

#include "tests/data/files.hpp"

using namespace halo;
using test::contains;
using test::error_of;

namespace {

using Cells = std::vector<std::vector<std::string>>;

Cells csv_cells(const std::string& text, char comment = '\0') {
  Cells cells;
  for (const data::CsvRow& row : data::parse_csv(text, "t.csv", comment)) {
    cells.push_back(row.cells);
  }
  return cells;
}

}  // namespace

TEST_CASE("a table may have commas, semicolons or tabs, CRLF, and a byte order mark", "[csv]") {
  const Cells wanted = {{"a", "b"}, {"1", "2"}, {"", "3"}};
  CHECK(csv_cells("a,b\n1,2\n,3") == wanted);
  CHECK(csv_cells("\xef\xbb\xbf"
                  "a;b\r\n1; 2\r\n;3\r\n") == wanted);
  CHECK(csv_cells("a\tb\n1 \t2\n\t3\n") == wanted);
  CHECK(csv_cells("a, b \n 1,\t2\r\n,3\n\n") == wanted);
  CHECK(csv_cells("a;b\n1,5;2\n") == Cells{{"a", "b"}, {"1,5", "2"}});
  CHECK(csv_cells("\"a, b\";c\n") == Cells{{"a, b", "c"}});
  CHECK(csv_cells("a\n1\n") == Cells{{"a"}, {"1"}});
  CHECK(csv_cells("").empty());
}

TEST_CASE("a quoted cell keeps what is in it", "[csv]") {
  CHECK(csv_cells("a,\"b\"\n\"1, \"\"one\"\"\", \"2\nlines\" \n") ==
        Cells{{"a", "b"}, {"1, \"one\"", "2\nlines"}});
  // Only at its beginning is it a quote.
  CHECK(csv_cells("a,5\" disk\n1,2\n") == Cells{{"a", "5\" disk"}, {"1", "2"}});
  CHECK_THAT(error_of([] { csv_cells("a,b\n\n1,\"2\n3,4\n"); }),
             contains("'t.csv', line 3: a quote begins here and does not end"));
}

TEST_CASE("rows without a word are left out, and comments where there are such", "[csv]") {
  const std::string text = "# a; \"b\n\nx;y\n;\n  \n # c\n1;2\n";
  const auto rows = data::parse_csv(text, "t.csv", '#');
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].line == 3);
  CHECK(rows[1].line == 7);
  CHECK(rows[1].cells == std::vector<std::string>{"1", "2"});
  CHECK(csv_cells("#;y\n1;2\n") == Cells{{"#", "y"}, {"1", "2"}});
}

TEST_CASE("What is neither ASCII nor UTF-8 is refused with its line", "[csv]") {
  CHECK(error_of([&] { csv_cells("id,name\n1,Bo\n2,M\xfcller\n"); }) ==
        "'t.csv', line 3: it is not UTF-8; save it as CSV in UTF-8");
}

TEST_CASE("UTF-16 is refused in one line", "[csv]") {
  for (const std::string start : {"\xff\xfe"
                                  "a",
                                  "\xfe\xff"}) {
    CHECK(error_of([&] { csv_cells(start); }) == "'t.csv': it is UTF-16; save it as CSV in UTF-8");
  }
}
