// The check that every line of a stage's kernels is reached: what it accepts and what it does not.
#include "tests/stages/lines.hpp"

#include <algorithm>
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/data/files.hpp"

using namespace halo::test;

namespace {

constexpr const char* kText =
    "void kernel() {\n"
    "  if (a) {\n"
    "    first();\n"
    "    again();\n"
    "  } else {\n"
    "    second();\n"
    "    again();\n"
    "  }\n"
    "}\n";

// A repository with one kernel, of which these lines were reached.
struct Case {
  Case() {
    std::filesystem::create_directories(folder / "stages/01_a");
    folder.write("stages/01_a/1_a.cu", kText);
  }
  std::vector<std::string> complaints(const std::vector<int>& reached,
                                      const std::vector<KnownLine>& known = {},
                                      bool both_ways = true) const {
    simt::FileCoverage file{"/somewhere/else/build/../stages/01_a/1_a.cu", {}, {}};
    file.branches = {{2, 7, 3, false, true, true}, {2, 7, 6, false, both_ways, true}};
    for (const int line : {2, 3, 4, 6, 7}) {
      const bool was = std::find(reached.begin(), reached.end(), line) != reached.end();
      file.lines.push_back({line, was, true});
    }
    LinesOf lines({"stages/01_a/"});
    lines.add({{file, {"/usr/include/other.h", {{5, false, true}}, {}}}, {}});
    return lines.complaints(known, folder.path());
  }
  Folder folder;
};

const std::string kFile = "stages/01_a/1_a.cu";
const std::vector<int> kAll = {2, 3, 4, 6, 7};

}  // namespace

TEST_CASE("all lines reached: nothing to complain of") { CHECK(Case().complaints(kAll).empty()); }

TEST_CASE("a line that was not reached is named with its text") {
  const auto complaints = Case().complaints({2, 3, 4, 7});
  CHECK(complaints ==
        std::vector<std::string>{"stages/01_a/1_a.cu:6 was never reached: second();"});
}

TEST_CASE("a known line is excused, by its text and by what stands above it") {
  const Case a;
  CHECK(a.complaints({2, 3, 4, 7}, {{kFile, "", "second();", "line", "why"}}).empty());
  CHECK(a.complaints({2, 3, 4, 6}, {{kFile, "} else {", "again();", "line", "why"}}).empty());
  CHECK(a.complaints({2, 3, 6, 7}, {{kFile, "first();", "again();", "line", "why"}}).empty());
  // Those of other stages are theirs.
  CHECK(a.complaints(kAll, {{"stages/02_b/1_b.cu", "", "second();", "line", "why"}}).empty());
}

TEST_CASE("a known line must be one line, with code, that is not reached") {
  const Case a;
  CHECK(a.complaints(kAll, {{kFile, "", "second();", "line", "why"}}) ==
        std::vector<std::string>{kFile + ": 'second();' was reached after all: strike it out"});
  CHECK(a.complaints(kAll, {{kFile, "", "third();", "line", "why"}}) ==
        std::vector<std::string>{kFile +
                                 ": 'third();' stands there 0 times: name the line that is meant"});
  CHECK(a.complaints(kAll, {{kFile, "", "again();", "line", "why"}}) ==
        std::vector<std::string>{kFile +
                                 ": 'again();' stands there 2 times: name the line that is meant"});
  CHECK(a.complaints(kAll, {{kFile, "", "void kernel() {", "line", "why"}}) ==
        std::vector<std::string>{kFile +
                                 ": 'void kernel() {' has no code of a kernel: strike it out"});
  CHECK(a.complaints(kAll, {{"stages/01_a/2.cu", "", "x", "line", "why"}}).size() == 1);
}

TEST_CASE("a branch that goes one way only is a gap, unless it is known") {
  const Case a;
  CHECK(a.complaints(kAll, {}, false) ==
        std::vector<std::string>{kFile + ":2 never went to line 6 (column 7): if (a) {"});
  CHECK(a.complaints(kAll, {{kFile, "", "if (a) {", "branch", "why"}}, false).empty());
  CHECK(a.complaints(kAll, {{kFile, "", "if (a) {", "branch", "why"}}) ==
        std::vector<std::string>{kFile + ": 'if (a) {' went all ways after all: strike it out"});
  CHECK(a.complaints(kAll, {{kFile, "", "if (a) {", "line", "why"}}, false).size() == 2);
}

TEST_CASE("nothing ran: that is not all lines") {
  CHECK(Case().complaints({}).back() == "no line of stages/01_a/ was reached: nothing ran");
  CHECK(LinesOf({"stages/01_a/"}).complaints({}, "/").size() == 1);
}

TEST_CASE("one launch reaches what another left out") {
  LinesOf lines({"stages/01_a/"});
  lines.add({{{"/x/stages/01_a/1_a.cu", {{2, true, true}, {3, false, true}}, {}}}, {}});
  lines.add({{{"/x/stages/01_a/1_a.cu", {{2, false, false}, {3, true, true}}, {}}}, {}});
  CHECK(lines.complaints({}, "/").empty());
}

TEST_CASE("the list of known lines is a CSV file with a reason for each") {
  const Folder folder;
  const std::string good = folder.write(
      "good.csv",
      "file,after,text,what,reason\na.cu,,\"x(1, 2);\",line,\"\"\"no\"\" shape does\"\n");
  const std::vector<KnownLine> known = read_known_lines(good);
  REQUIRE(known.size() == 1);
  CHECK(known[0].text == "x(1, 2);");
  CHECK(known[0].reason == "\"no\" shape does");
  const std::string bad = GENERATE(as<std::string>{}, "", "file,text\n",
                                   "file,after,text,what,reason\na.cu,,x;,line,\n",
                                   "file,after,text,what,reason\na.cu,,x;,nothing,why\n",
                                   "file,after,text,what,reason\na.cu,x;\n");
  CHECK_THROWS_AS(read_known_lines(folder.write("bad.csv", bad)), std::runtime_error);
  CHECK_THROWS_AS(read_known_lines(folder / "none.csv"), std::runtime_error);
}
