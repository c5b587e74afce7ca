// What the engine tells of programs that nvcc builds: its report beside today's simulator's, coverage, and what a program
// asks in process. SIMCC is that simulator, NVIDIA_CUDART the library of the toolkit.
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/json/json.hpp"
#include "tests/catch.hpp"
#include "workbench.hpp"

using halo::json::Value;
using halo::test::contains;

namespace {

// "launches[].counters.barriers: number" of each value that there is.
void add_forms(const Value& value, const std::string& path, std::set<std::string>& forms) {
  if (value.is_object()) {
    for (const auto& [key, its] : value.members()) add_forms(its, path + "." + key, forms);
  } else if (value.is_array()) {
    forms.insert(path + ": list");
    for (const Value& its : value.elements()) add_forms(its, path + "[]", forms);
  } else {
    forms.insert(path + (value.is_string() ? ": text" : ": number"));
  }
}

std::set<std::string> forms_of(const Value& report) {
  std::set<std::string> forms;
  add_forms(report, "", forms);
  return forms;
}

// The lines of coverage.cu that end in `// <marker>`, as the program prints them.
std::string marked(const std::string& word, const std::string& marker,
                   const std::string& file = "coverage.cu") {
  std::ifstream in(CUDART_PROGRAMS "/../kernels/" + file);
  std::string text, lines;
  for (int line = 1; std::getline(in, text); ++line) {
    if (text.ends_with("// " + marker)) lines += word + " " + std::to_string(line) + "\n";
  }
  REQUIRE(!lines.empty());
  return lines;
}

// What the program prints without its kernels.
std::string gaps(const Workbench& bench, const std::string& arguments) {
  const Outcome outcome = bench.run("./program " + arguments);
  REQUIRE(outcome.status == 0);
  std::istringstream lines(outcome.out);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("un")) found += line + "\n";
  }
  return found;
}

std::vector<std::string> next_row(std::istream& table) {
  std::string line;
  std::getline(table, line);
  std::istringstream cells(line);
  std::vector<std::string> row;
  for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  return row;
}

// Of a launch in the report; 0 if it does not have it.
std::uint64_t figure(const Value& launch, const std::string& name) {
  std::uint64_t sum = 0;
  for (const auto& [key, value] : launch.at("counters").members()) {
    if (key == name) sum += value.get<std::uint64_t>();
  }
  for (const Value& line : launch.at("lines").elements()) {
    for (const auto& [key, value] : line.members()) {
      if (key == name) sum += value.get<std::uint64_t>();
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("the engine's report has the form of the simulator's", "[simt]") {
  const Workbench bench;
  const std::string run = "SIMT_TRACE=1 SIMT_REPORT=report.json ./program";
  bench.build("told.cu");
  const Outcome ours = bench.run(run);
  const Value report = Value::parse(bench.read("report.json"));
  REQUIRE(bench.run("'" SIMCC "' -O2 -o program '" CUDART_PROGRAMS "/told.cu'").status == 0);
  const Outcome theirs = bench.run(run);
  const Value other = Value::parse(bench.read("report.json"));
  CHECK(ours.status == theirs.status);
  // It may tell more.
  const std::set<std::string> forms = forms_of(report);
  for (const std::string& form : forms_of(other)) {
    INFO(form);
    CHECK(forms.contains(form));
  }
  REQUIRE(report.at("launches").elements().size() == 2);
  for (const std::size_t i : {0, 1}) {
    const Value &its = report.at("launches").elements()[i],
                &their = other.at("launches").elements()[i];
    for (const char* const key : {"kernel", "grid", "block", "shared_bytes", "counters"}) {
      INFO(key);
      CHECK(its.at(key).dump() == their.at(key).dump());
    }
    CHECK(its.at("findings").elements().size() == their.at("findings").elements().size());
  }
  CHECK(report.at("coverage").dump() == other.at("coverage").dump());
}

TEST_CASE("the lines and ways that no lane took are told", "[simt]") {
  const Workbench bench;
  bench.build("coverage.cu", "-std=c++20 -I '" CUDART_PROGRAMS "/..' -I '" HALO_ROOT "'");
  CHECK(gaps(bench, "branch 1") == marked("unreached", "OTHER"));
  CHECK(gaps(bench, "branch 0") == marked("unreached", "TAKEN"));
  CHECK(gaps(bench, "branch 0 branch 1").empty());
  CHECK(gaps(bench, "loop 0") == marked("unreached", "BODY"));
  CHECK(gaps(bench, "loop 1") == marked("untaken", "LOOP"));
  CHECK(gaps(bench, "loop 2").empty());
  // Four turns are one of the loop that nvcc makes.
  CHECK(gaps(bench, "loop 4").empty());
  CHECK(gaps(bench, "hoisted 0") == marked("unreached", "HOISTED"));
  CHECK(gaps(bench, "hoisted 2").empty());
  CHECK(gaps(bench, "template 1").empty());
  // The line of a call is told with what was put in its place. Of apart() nvcc leaves the product, and no brace.
  const std::string all = marked("unreached", "APART");
  CHECK(gaps(bench, "helpers 0") ==
        all.substr(0, all.find('\n') + 1) + all.substr(all.rfind("un")));
  CHECK(gaps(bench, "helpers 1").starts_with(marked("unreached", "INSIDE")));
  CHECK(gaps(bench, "included 0") == marked("unreached", "LARGE", "coverage.cuh"));
  const std::string small = marked("unreached", "SMALL", "coverage.cuh");
  CHECK(gaps(bench, "included 2") == small.substr(0, small.find('\n') + 1));  // not of its return
  CHECK(gaps(bench, "expression 0") == marked("untaken", "EXPRESSION"));
  CHECK(gaps(bench, "expression 1") == marked("untaken", "EXPRESSION"));
  CHECK(gaps(bench, "expression 0 expression 1").empty());
  CHECK(gaps(bench, "unrolled 4") == marked("untaken", "WITHIN"));
  CHECK(gaps(bench, "unrolled 2").empty());
  CHECK(gaps(bench, "unrolled 0") == marked("unreached", "UNROLLED"));
  const Outcome counted = bench.run("./program loop 2 loop 3 template 1");
  CHECK(counted.out == "2 loop(float*, int)\n1 instantiated<true>(float*)\n");
  CHECK(bench.run("./program none 0 loop 1").out.empty());
}

TEST_CASE("stores to other blocks and tensor cores count as on an H200", "[simt]") {
  const Workbench bench;
  for (const std::string name : {"sends", "matrices"}) {
    bench.build("../kernels/" + name + ".cu ../kernels/" + name + "_main.cpp",
                "-std=c++20 -O3 -I '" HALO_ROOT "'");
    std::istringstream table(bench.run("./program --list").out);
    REQUIRE(bench.run("SIMT_REPORT=report.json ./program").status == 0);
    const Value report = Value::parse(bench.read("report.json"));
    const std::vector<std::string> columns = next_row(table);
    REQUIRE(columns.size() > 2);
    for (const Value& launch : report.at("launches").elements()) {
      const std::vector<std::string> row = next_row(table);
      for (std::size_t i = 1; i < columns.size(); ++i) {
        INFO(name << " " << row.at(0) << " " << columns[i]);
        CHECK(figure(launch, name == "sends" ? "dshared_" + columns[i] : columns[i]) ==
              std::stoull(row.at(i)));
      }
    }
    CHECK(next_row(table).empty());
  }
}

TEST_CASE("settings are heeded, and refused where they make no sense", "[simt]") {
  const Workbench bench;
  bench.build("vector_add.cu");
  CHECK_THAT(bench.run("SIMT_FAIL=cudaMalloc:2 ./program").err,
             contains("simt: cudaMalloc number 2 (cudaMalloc) fails, as SIMT_FAIL asks"));
  CHECK_THAT(bench.run("SIMT_FAIL=launch:1 ./program").err,
             contains("simt: launch number 1 (launch) fails, as SIMT_FAIL asks"));
  for (const char* const setting : {"SIMT_FAIL=malloc", "SIMT_CHECKS=some", "SIMT_GPU=none",
                                    "SIMT_TRACE=x", "SIMT_REPORT=none/report.json"}) {
    INFO(setting);
    const Outcome outcome = bench.run(std::string(setting) + " ./program");
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, contains(std::string(setting).substr(0, 9)));
  }
  REQUIRE(bench.run("SIMT_CHECKS=none SIMT_REPORT=report.json ./program").status == 0);
  const Value report = Value::parse(bench.read("report.json"));
  CHECK(figure(report.at("launches").elements().at(0), "global_load_requests") == 0);
  CHECK(report.at("coverage").at("kernels").elements().at(0).get<int>("launches") == 0);
}

TEST_CASE("a program asks the simulator, and finds none on a GPU", "[simt]") {
  const Workbench bench;
  bench.build("ask.cu", "-std=c++20 -I '" HALO_ROOT "'");
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "all right\n");
  CHECK(outcome.status == 0);
  const std::string folder = std::filesystem::path(NVIDIA_CUDART).parent_path();
  const Outcome by_nvcc =
      bench.run("'" NVCC "' -std=c++20 -arch=compute_90 -cudart shared -I '" HALO_ROOT
                "' '" CUDART_PROGRAMS "/ask.cu' -o by_nvcc");
  REQUIRE(by_nvcc.status == 0);
  const Outcome on_a_gpu = bench.run("LD_LIBRARY_PATH='" + folder + "' ./by_nvcc");
  CHECK(on_a_gpu.out == "there is none\n");
  CHECK(on_a_gpu.status == 0);
}
