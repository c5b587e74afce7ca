// What the engine tells of programs that nvcc builds: its report, and what a program asks in process. NVIDIA_CUDART is the
// library of the toolkit.
#include <cstdint>
#include <set>
#include <string>

#include "common/json/json.hpp"
#include "tests/catch.hpp"
#include "workbench.hpp"

using halo::json::Value;
using halo::test::contains;

namespace {

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

std::set<std::string> kinds_of(const Value& launch) {
  std::set<std::string> kinds;
  for (const Value& one : launch.at("findings").elements())
    kinds.insert(one.get<std::string>("kind"));
  return kinds;
}

}  // namespace

TEST_CASE("a module that nothing was launched of is read when the program ends", "[simt]") {
  const Workbench bench;
  bench.build("told.cu never_launched.cu");
  CHECK(bench.run("SIMT_REPORT=report.json ./program").status == 3);
  CHECK_THAT(Value::parse(bench.read("report.json")).at("coverage").dump(),
             contains("never_launched.cu"));
}

TEST_CASE("the report tells launches, lines, findings, coverage and what is not freed", "[simt]") {
  const Workbench bench;
  bench.build("told.cu");
  CHECK(bench.run("SIMT_TRACE=1 SIMT_REPORT=report.json ./program").status == 3);
  const Value report = Value::parse(bench.read("report.json"));
  REQUIRE(report.at("launches").elements().size() == 2);
  const Value& tiled = report.at("launches").elements()[0];
  CHECK(tiled.get<std::string>("kernel") == "void tiled<64>(float const*, float*, int)");
  CHECK(tiled.at("grid").elements().at(0).get<int>() == 2);
  CHECK(tiled.at("block").elements().at(0).get<int>() == 64);
  CHECK(tiled.get<int>("shared_bytes") == 256);
  CHECK(tiled.at("counters").get<int>("global_load_requests") == 4);
  CHECK(tiled.at("counters").get<int>("constant_load_requests") == 4);
  CHECK(tiled.at("lines").elements().at(0).get<int>("line") == line_of("told.cu", "LOAD"));
  CHECK(!tiled.at("trace").at("warps").elements().empty());
  CHECK(kinds_of(tiled) == std::set<std::string>{"race", "uninitialized_shared_read"});
  const Value& scale = report.at("launches").elements()[1];
  CHECK(kinds_of(scale) == std::set<std::string>{"uninitialized_global_read"});
  CHECK(figure(scale, "fp64_operations") == 32);
  const Value& file = report.at("coverage").at("files").elements().at(0);
  CHECK_THAT(file.get<std::string>("file"), Catch::Matchers::EndsWith("told.cu"));
  CHECK_THAT(file.dump(), contains(std::to_string(line_of("told.cu", "NEVER"))));
  CHECK(report.at("unfreed").elements().at(0).get<int>("bytes") == 512);
}

TEST_CASE("settings are heeded, and refused where they make no sense", "[simt]") {
  const Workbench bench;
  bench.build("vector_add.cu");
  CHECK_THAT(bench.run("SIMT_FAIL=cudaMalloc:2 ./program").err,
             contains("simt: cudaMalloc number 2 (cudaMalloc) fails, as SIMT_FAIL asks"));
  CHECK_THAT(bench.run("SIMT_FAIL=launch:1 ./program").err,
             contains("simt: launch number 1 (launch) fails, as SIMT_FAIL asks"));
  for (const char* const setting :
       {"SIMT_FAIL=malloc", "SIMT_CHECKS=some", "SIMT_GPU=none", "SIMT_TRACE=x"}) {
    INFO(setting);
    const Outcome outcome = bench.run(std::string(setting) + " ./program");
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, contains(std::string(setting).substr(0, 9)));
  }
  CHECK(bench.run("SIMT_REPORT=none/report.json ./program").status == 74);
  CHECK_THAT(
      bench.run("{ (trap '' XFSZ; ulimit -f 0; SIMT_REPORT=full.json ./program 2>&1) | cat; }").out,
      contains("check that its folder exists, is writable and has room"));
  CHECK_THAT(bench.run("SIMT_CHECK=none ./program").err,
             contains("simt: SIMT_CHECK is no setting and changes nothing: is SIMT_CHECKS meant?"));
  REQUIRE(bench.run("SIMT_CHECKS=none SIMT_REPORT=report.json ./program").status == 0);
  const Value report = Value::parse(bench.read("report.json"));
  CHECK(figure(report.at("launches").elements().at(0), "global_load_requests") == 0);
  CHECK(report.at("coverage").at("kernels").elements().at(0).get<int>("launches") == 0);
}

TEST_CASE("a program asks the simulator, and finds none on a GPU", "[simt]") {
  const Workbench bench;
  REQUIRE(bench
              .run("'" SIMCC "' -std=c++20 -I '" HALO_ROOT "' -c -o ask.o '" CUDART_PROGRAMS
                   "/ask.cu' && '" SIMCC "' -o program ask.o && '" NVCC
                   "' -cudart shared -o by_nvcc ask.o")
              .status == 0);
  const Outcome outcome = bench.run("./program");
  CHECK(outcome.out == "all right\n");
  CHECK(outcome.status == 0);
  const std::string folder = std::filesystem::path(NVIDIA_CUDART).parent_path();
  const Outcome on_a_gpu = bench.run("LD_LIBRARY_PATH='" + folder + "' ./by_nvcc");
  CHECK(on_a_gpu.out == "there is none\n");
  CHECK(on_a_gpu.status == 0);
}
