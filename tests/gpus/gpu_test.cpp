#include "common/gpus/gpu.hpp"

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace halo::gpus;

TEST_CASE("the facts of each GPU fit together") {
  CHECK(std::string(all().front().key) == "h200");
  for (const char* key : {"h200", "h100", "a100", "v100", "t4", "rtx3060", "gtx1080ti", "gtxtitanx",
                          "gtxtitanblack"}) {
    const Gpu* gpu = find(key);
    REQUIRE(gpu != nullptr);
    CAPTURE(key);
    // Published bandwidth = double data rate x bus, to within rounding.
    const double derived = 2e6 * gpu->memory_clock_mhz * gpu->memory_bus_bits / 8 / 1e9;
    CHECK(gpu->bandwidth_gb_s == halo::test::Approx(derived).epsilon(0.01));
    CHECK(gpu->cores_per_sm == cores_per_sm(gpu->major, gpu->minor));
    CHECK(gpu->threads_per_sm % 256 == 0);
    const std::vector<int>& groups = gpu->sms_of_groups;
    CHECK((groups.empty() || std::reduce(groups.begin(), groups.end()) == gpu->sms));
    CHECK(gpu->shared_per_block <= gpu->shared_per_block_optin);
    CHECK(gpu->shared_per_block_optin + gpu->shared_reserved_per_block <= gpu->shared_per_sm);
  }
  CHECK(find("H200") == nullptr);
  CHECK(find("") == nullptr);
}

TEST_CASE("keys are unique, and the simulator's default comes first") {
  std::set<std::string> keys;
  for (const Gpu& gpu : all()) {
    CHECK(keys.insert(gpu.key).second);
    CHECK(find(gpu.key) == &gpu);
  }
  CHECK(keys.size() == 9);
  CHECK(std::string(all().front().key) == "h200");
}

TEST_CASE(
    "a GPU of known latency has the clock that it is counted in, and a source for each fact") {
  int known = 0;
  for (const Gpu& gpu : all()) {
    CAPTURE(gpu.key);
    if (gpu.latency_cycles == 0) {
      CHECK(gpu.sources.empty());
      continue;
    }
    ++known;
    CHECK(gpu.latency_clock_mhz() > 0);
    CHECK(gpu.base_clock_mhz <= gpu.boost_clock_mhz);
    const std::string clock =
        gpu.latency_clock == Clock::base ? "base_clock_mhz" : "boost_clock_mhz";
    std::multiset<std::string> facts;
    for (const Source& source : gpu.sources) facts.insert(source.fact);
    CHECK(facts == std::multiset<std::string>{"sms", "cores_per_sm", "latency_cycles",
                                              "bandwidth_gb_s", clock, "shared_per_sm",
                                              "shared_per_block_optin", "shared_reserved_per_block",
                                              "registers_per_sm", "threads_per_sm"});
  }
  CHECK(known == 4);
}
