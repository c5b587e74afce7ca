// Results as a page: what is in it is what the rows say, and nothing of it ends the page early.
#include "common/report/results_page.hpp"

#include <stdexcept>

#include "common/json/json.hpp"
#include "common/report/html.hpp"
#include "tests/catch.hpp"

using namespace halo;
using test::contains;

namespace {

Row charted(const std::string& variant, double ms, Role role = Role::variant) {
  Row row;
  row.stage = role == Role::variant ? "04_tiled" : "peers";
  row.backend = "gpu";
  row.variant = variant;
  row.role = role;
  row.problem = {{"length", std::int64_t{1000}}, {"border", std::string("zero")}};
  row.check.outcome = Outcome::good;
  row.time.outcome = Outcome::good;
  row.time.method = "graph of 20 calls";
  row.time.hot = {15, ms, ms * 0.99, ms * 1.01, 0.002};
  row.time.gb_per_s = 8 / ms;
  row.time.gflop_per_s = 18 / ms;
  return row;
}

NamedResults named(const std::string& name, const std::vector<Row>& rows) {
  NamedResults file{name, {"halo bench conv1d", "2024-01-02T03:04:05Z", 7, {}, rows}};
  file.results.machine.gpu = "a GPU";
  file.results.machine.libraries = {{"cuDNN", "9.14"}};
  file.results.machine.roofs = {
      {"gpu", {.copy_gb_per_s = 4000, .fp32_gflop_per_s = 60000, .clock_mhz = 1980}}};
  return file;
}

json::Value data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open);
  REQUIRE(begin != page.npos);
  const std::size_t end = page.find("</script>", begin);
  return json::Value::parse(page.substr(begin + open.size(), end - begin - open.size()));
}

}  // namespace

TEST_CASE("a page of results has every row's figures, digit for digit") {
  Row tiled = charted("tiled", 0.1 + 0.2);
  tiled.time.cold = {9, 1.0 / 3, 0.33, 0.34, 0.001};
  tiled.time.discarded_rounds = 3;
  tiled.detail = "256 threads";
  Row library = charted("library", 0.5, Role::peer);
  library.label = "7-1-3";
  Row wrong = charted("wrong", 1);
  wrong.time = {};
  wrong.check.outcome = Outcome::bad;
  wrong.check.reason = "output[4] is 2, should be 3";
  const json::Value data =
      data_of(results_page({named("a.json", {tiled, library, wrong})}, "./halo report a.json"));
  const auto& rows = data.at("rows").elements();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].get<std::string>("variant") == "tiled");
  CHECK(rows[0].at("problem").get<std::int64_t>("length") == 1000);
  CHECK(rows[0].at("problem").get<std::string>("border") == "zero");
  CHECK(rows[0].at("hot").get<double>("median") == 0.1 + 0.2);
  CHECK(rows[0].at("hot").get<double>("p10") == (0.1 + 0.2) * 0.99);
  CHECK(rows[0].at("hot").get<double>("aa") == 0.002);
  CHECK(rows[0].at("cold").get<double>("median") == 1.0 / 3);
  CHECK(rows[0].get<double>("gb_per_s") == 8 / (0.1 + 0.2));
  CHECK(rows[0].get<double>("gflop_per_s") == 18 / (0.1 + 0.2));
  CHECK(rows[0].at("cold_gb_per_s").is_null());
  CHECK(rows[0].get<int>("discarded") == 3);
  CHECK(rows[0].get<std::string>("detail") == "256 threads");
  CHECK(rows[1].get<std::string>("role") == "peer");
  CHECK(rows[1].get<std::string>("label") == "7-1-3");
  CHECK(rows[1].at("cold").is_null());
  CHECK(rows[2].get<std::string>("check") == "FAIL");
  CHECK(rows[2].get<std::string>("reason") == "output[4] is 2, should be 3");
  CHECK(rows[2].find("hot") == nullptr);
}

TEST_CASE("a page's head says machine, date, command and roofs") {
  const std::string page =
      results_page({named("a.json", {charted("tiled", 1)})}, "./halo report a.json --html b.html");
  CHECK_THAT(page, contains("<h1>Times on a GPU</h1>") &&
                       contains("<code>./halo report a.json --html b.html</code>"));
  const json::Value data = data_of(page);
  const json::Value file = data.at("files").elements().at(0);
  CHECK(file.get<std::string>("name") == "a.json");
  CHECK(file.get<std::string>("date") == "2024-01-02T03:04:05Z");
  CHECK(file.get<std::string>("command") == "halo bench conv1d");
  CHECK(file.at("roofs").at("gpu").get<double>("copy_gb_per_s") == 4000);
  CHECK(file.at("libraries").elements().at(0).get<std::string>() == "cuDNN 9.14");
  CHECK(data.find("comparison") == nullptr);
}

TEST_CASE("two files are compared on their page as compare does it") {
  const NamedResults a = named("a.json", {charted("better", 2), charted("same", 1),
                                          charted("worse", 1), charted("gone", 1)});
  const NamedResults b =
      named("b.json", {charted("better", 1), charted("same", 1.001), charted("worse", 2)});
  const json::Value data = data_of(results_page({a, b}, ""));
  CHECK(data.at("rows").elements().size() == 7);
  CHECK(data.at("rows").elements().at(4).get<int>("file") == 1);
  std::vector<std::string> verdicts;
  for (const json::Value& pair : data.at("comparison").at("pairs").elements()) {
    verdicts.push_back(pair.get<std::string>("verdict"));
  }
  CHECK(verdicts == std::vector<std::string>{"improvement", "tie", "regression", "not compared"});
  const json::Value first = data.at("comparison").at("pairs").elements().at(0);
  CHECK(first.at("hot").get<double>("median") == 2);
  CHECK(first.at("cold").is_null());
}

TEST_CASE("no name or command ends the page early, or becomes a part of it") {
  Row row = charted("</script><script>alert(1)</script>", 1);
  row.detail = "@SCRIPT@";
  NamedResults file = named("<b>&\"@DATA@", {row});
  file.results.machine.gpu = "a <i>GPU</i>";
  const std::string page = results_page({file}, "./halo report '<b>' @TEXT@");
  CHECK_THAT(page, !contains("<b>") && !contains("<i>") && !contains("alert(1)</script>"));
  CHECK_THAT(page, contains("Times on a &lt;i&gt;GPU&lt;/i&gt;") &&
                       contains("./halo report '&lt;b&gt;' @TEXT@"));
  const json::Value data = data_of(page);
  CHECK(data.at("rows").elements().at(0).get<std::string>("variant") == row.variant);
  CHECK(data.at("files").elements().at(0).get<std::string>("name") == "<b>&\"@DATA@");
}

TEST_CASE("a file without a time is no page, in one line that names it") {
  Row row = charted("tiled", 1);
  row.time = {};
  for (const std::vector<Row>& rows : {std::vector<Row>{row}, std::vector<Row>{}}) {
    try {
      results_page({named("good.json", {charted("tiled", 1)}), named("sim.json", rows)}, "");
      FAIL("a page was made");
    } catch (const std::invalid_argument& error) {
      const std::string said = error.what();
      CHECK_THAT(said, contains("sim.json holds no times"));
      CHECK(said.find('\n') == said.npos);
    }
  }
}

TEST_CASE("a template takes each part once, and must have all") {
  CHECK(fill_page("<@A@|@B@|@A@>", {{"A", "@B@"}, {"B", "x"}}) == "<@B@|x|@B@>");
  CHECK(fill_page("nothing", {}) == "nothing");
  CHECK_THROWS_AS(fill_page("@C@", {{"A", ""}}), std::logic_error);
  CHECK_THROWS_AS(fill_page("half @A", {{"A", ""}}), std::logic_error);
}
