// `halo report` and `halo compare`: results files as tables, and side by side.
#include <filesystem>
#include <fstream>

#include "common/report/json.hpp"
#include "tests/catch.hpp"
#include "tests/cli/fake_build.hpp"
#include "tests/report/csv.hpp"

namespace {

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

// Files in a folder of their own. The commands need no build folder, so this one is not set up.
struct Files {
  Files() { fs::remove_all(build.path() / "meson-info"); }
  std::string write(const std::string& name, const std::vector<Row>& rows,
                    const std::string& gpu = "a GPU") {
    Results results = new_results(0, nullptr, 1);
    results.machine.gpu = gpu;
    results.rows = rows;
    write_json((build.path() / name).string(), results);
    return name;
  }
  Ended halo(const std::vector<std::string>& args) const {
    return build.halo(args, {}, build.path());
  }
  FakeBuild build;
};

std::vector<Row> rows_with(double ms) {
  return {timed_row("02_global", "gpu", "grid", ms), timed_row("04_tiled", "gpu", "tiled", 1)};
}

}  // namespace

TEST_CASE("report shows a results file in every format") {
  Files files;
  files.write("all.json", rows_with(0.25));
  const Ended table = files.halo({"report", "all.json"});
  CHECK(table.status == 0);
  CHECK(table.err.empty());
  CHECK_THAT(table.out, contains("GPU: a GPU") && contains("tiled") && contains("0.250"));
  CHECK_THAT(table.out, !contains("\033"));
  CHECK_THAT(files.halo({"report", "all.json", "--color", "always"}).out, contains("\033[32mPASS"));
  CHECK_THAT(files.halo({"report", "all.json", "--format", "markdown"}).out,
             contains("| 02 | grid | PASS |"));
  const auto csv = parse_csv(files.halo({"report", "--format", "csv", "all.json"}).out);
  REQUIRE(csv.size() == 2);
  CHECK(csv[0].at("hot_median_ms") == "0.25");
  CHECK(files.halo({"--targets", "report", "all.json"}).out.empty());
}

TEST_CASE("a summary is of all problems, of one stage if asked, and in groups") {
  Files files;
  std::vector<Row> rows;
  for (const std::int64_t length : {100, 200}) {
    for (Row row :
         {timed_row("02_global", "gpu", "grid", 2), timed_row("04_tiled", "gpu", "tiled", 1),
          timed_row("peers", "gpu", "library", 4)}) {
      if (row.stage == "peers") row.role = Role::peer;
      row.problem = {{"length", length}};
      rows.push_back(row);
    }
  }
  files.write("all.json", rows);
  const Ended all = files.halo({"report", "all.json", "--summary"});
  CHECK(all.status == 0);
  CHECK_THAT(all.out, contains("GPU: a GPU") && contains("grid") && contains("tiled"));
  const Ended one = files.halo({"report", "all.json", "--summary", "--stage", "4"});
  CHECK(one.status == 0);
  CHECK_THAT(one.out, contains("tiled") && !contains("grid"));
  const auto csv = parse_csv(
      files.halo({"report", "all.json", "--summary", "--by", "length", "--format", "csv"}).out);
  REQUIRE(csv.size() == 12);  // two variants, hot and cold: all, 100 and 200
  CHECK(csv[0].at("wins") == "2");
  CHECK(std::stod(csv[0].at("geometric_mean_ratio")) == Approx(2));
  CHECK(csv[2].at("problems") == "length 200");
  for (const auto& [args, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--by", "length"}, "--by groups a --summary"},
           {{"--summary", "--by", "color"}, "no problem in all.json has a field color"},
           {{"--summary", "--stage", "09"}, "holds no rows of stage 09"}}) {
    std::vector<std::string> command = {"report", "all.json"};
    command.insert(command.end(), args.begin(), args.end());
    const Ended ended = files.halo(command);
    CHECK(ended.status == 2);
    CHECK(ended.out.empty());
    CHECK_THAT(ended.err, contains(said));
  }
}

TEST_CASE("a file that is no results file is one line and exit status 2") {
  Files files;
  const std::string good = files.write("good.json", rows_with(1));
  const std::string text = read_file(files.build.path() / good);
  std::ofstream(files.build.path() / "cut.json") << text.substr(0, text.size() / 2);
  std::ofstream(files.build.path() / "empty.json");
  std::ofstream(files.build.path() / "other.json") << "{\"rows\": 3}\n";
  std::ofstream(files.build.path() / "noise.json") << std::string("\x7f\n\0ELF", 6);
  for (const std::string bad :
       {"cut.json", "empty.json", "other.json", "noise.json", "none.json", "/"}) {
    CAPTURE(bad);
    for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
             {"report", bad}, {"compare", bad, good}, {"compare", good, bad}}) {
      const Ended ended = files.halo(args);
      require_one_line(ended, 2);
      CHECK_THAT(ended.err, contains(bad));
    }
  }
}

TEST_CASE("of two files that cannot be read the first is named") {
  const Files files;
  CHECK_THAT(files.halo({"compare", "one.json", "other.json"}).err, contains("one.json"));
}

TEST_CASE("report joins the CPU's results to the GPU's") {
  Files files;
  std::vector<Row> gpu = rows_with(0.25);
  gpu.pop_back();
  files.write("gpu.json", gpu);
  Row loop = timed_row("01_cpu", "cpu", "loop", 4);
  loop.problem = gpu[0].problem;
  files.write("cpu.json", {loop});
  CHECK_THAT(files.halo({"report", "gpu.json"}).out, !contains("loop"));
  const Ended both = files.halo({"report", "gpu.json", "--with", "cpu.json"});
  CHECK(both.status == 0);
  CHECK_THAT(both.out, contains("loop") && contains("4.00") && contains("0.250"));
  require_one_line(files.halo({"report", "gpu.json", "--with", "no.json"}), 2);
}

TEST_CASE("report makes a page of one results file or of two") {
  Files files;
  files.write("a.json", rows_with(0.25));
  files.write("b.json", rows_with(0.5), "another GPU");
  const Ended one = files.halo({"report", "a.json", "--html", "one.html"});
  CHECK(one.status == 0);
  CHECK(one.out == "one.html\n");
  CHECK(one.err.empty());
  CHECK_THAT(read_file(files.build.path() / "one.html"),
             contains("<h1>Times on a GPU</h1>") && contains("./halo report a.json --html") &&
                 contains("\"variant\":\"tiled\"") && contains("\"variant\":\"grid\""));
  CHECK(files.halo({"report", "a.json", "b.json", "--stage", "4", "--html", "two.html"}).status ==
        0);
  CHECK_THAT(read_file(files.build.path() / "two.html"),
             contains("<h1>Times on a GPU beside another GPU</h1>") &&
                 contains("\"variant\":\"tiled\"") && !contains("\"variant\":\"grid\""));
}

TEST_CASE("a page that cannot be made is one line, and nothing is written") {
  Files files;
  files.write("a.json", rows_with(1));
  files.write("sim.json", {good_row("04_tiled", "tiled")});
  std::ofstream(files.build.path() / "noise.json") << "noise";
  const auto no_page = [&](const std::vector<std::string>& args, int status) {
    CAPTURE(args);
    require_one_line(files.halo(args), status);
    CHECK(!fs::exists(files.build.path() / "page.html"));
  };
  no_page({"report", "noise.json", "--html", "page.html"}, 2);
  no_page({"report", "a.json", "noise.json", "--html", "page.html"}, 2);
  no_page({"report", "a.json", "none.json", "--html", "page.html"}, 2);
  no_page({"report", "a.json", "--stage", "9", "--html", "page.html"}, 2);
  no_page({"report", "a.json", "--summary", "--html", "page.html"}, 2);
  no_page({"report", "a.json", "--format", "csv", "--html", "page.html"}, 2);
  no_page({"report", "a.json", "--html", ""}, 2);
  no_page({"report", "sim.json", "--html", "page.html"}, 77);
  no_page({"report", "a.json", "sim.json", "--html", "page.html"}, 77);
  no_page({"report", "a.json", "--html", "none/page.html"}, 74);
}

TEST_CASE("wrong use of report and compare is one line and exit status 2") {
  Files files;
  files.write("a.json", rows_with(1));
  const std::vector<std::string> wrong[] = {
      {"report"},
      {"report", "a.json", "a.json"},
      {"report", "a.json", "--format", "pdf"},
      {"report", "a.json", "--color", "mauve"},
      {"report", ""},
      {"compare"},
      {"compare", "a.json"},
      {"compare", "a.json", "a.json", "a.json"},
      {"compare", "a.json", "a.json", "--threshold", "much"},
      {"compare", "a.json", "a.json", "--threshold", "-1"},
      {"compare", "a.json", "a.json", "--threshold", "101"},
      {"compare", "a.json", "a.json", "--threshold", "nan"},
      {"compare", "a.json", "a.json", "--format", ""},
      {"compare", "a.json", "a.json", "--dance"},
  };
  for (const auto& args : wrong) {
    CAPTURE(args);
    require_one_line(files.halo(args), 2);
  }
}

TEST_CASE("a file without rows has nothing to show: exit status 77") {
  Files files;
  files.write("none.json", {});
  require_one_line(files.halo({"report", "none.json"}), 77);
  CHECK(files.halo({"compare", "none.json", "none.json"}).status == 77);
}

TEST_CASE("a file compared with itself: all ties, exit status 0") {
  Files files;
  files.write("a.json", rows_with(1));
  const Ended ended = files.halo({"compare", "a.json", "a.json", "--fail-on-regression"});
  CHECK(ended.status == 0);
  CHECK(ended.err.empty());
  CHECK_THAT(ended.out, contains("0 improvements, 2 ties, 0 regressions, 0 not compared") &&
                            !contains("MACHINES DIFFER"));
}

TEST_CASE("compare tells what became slower, and fails only if asked to") {
  Files files;
  files.write("a.json", rows_with(1));
  files.write("b.json", rows_with(1.1), "another GPU");
  const Ended told = files.halo({"compare", "a.json", "b.json"});
  CHECK(told.status == 0);
  CHECK_THAT(told.out, contains("REGRESSION: gpu 02 grid, length 100, mask width 9: hot, cold") &&
                           contains("MACHINES DIFFER: GPU a GPU in A, another GPU in B") &&
                           contains("A: a.json"));
  CHECK(files.halo({"compare", "a.json", "b.json", "--fail-on-regression"}).status == 1);
  CHECK(files.halo({"compare", "b.json", "a.json", "--fail-on-regression"}).status == 0);
  CHECK_THAT(files.halo({"compare", "b.json", "a.json"}).out, contains("1 improvement, 1 tie"));
  // 1 / 1.1 is 9.1 % slower.
  CHECK(files.halo({"compare", "a.json", "b.json", "--fail-on-regression", "--threshold", "9.5"})
            .status == 0);
  CHECK(files.halo({"compare", "a.json", "b.json", "--fail-on-regression", "--threshold", "8.5"})
            .status == 1);
  const Ended csv = files.halo({"compare", "a.json", "b.json", "--format", "csv"});
  const auto rows = parse_csv(csv.out);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("verdict") == "regression");
  CHECK(rows[1].at("verdict") == "tie");
  CHECK_THAT(csv.err, contains("machines differ"));
  CHECK_THAT(files.halo({"compare", "a.json", "b.json", "--format", "markdown"}).out,
             contains("| 02 | grid |") && contains("- **REGRESSION:** gpu 02 grid"));
}

TEST_CASE("files with no row in common, or without times: exit status 77") {
  Files files;
  files.write("a.json", rows_with(1));
  files.write("sim.json", {good_row("04_tiled", "tiled")});
  for (const char* other : {"a.json", "sim.json"}) {
    const Ended ended = files.halo({"compare", "sim.json", other});
    CAPTURE(other);
    CHECK(ended.status == 77);
    CHECK_THAT(ended.out, contains("0 ties"));
    CHECK_THAT(last_line(ended.err), contains("no row could be compared"));
  }
}
