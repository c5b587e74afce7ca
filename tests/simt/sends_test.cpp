// Stores that arrive at a barrier in shared memory: what is right raises nothing, and each mistake is found, where it
// was made.
#include "kernels/sends.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "common/simt/simulator.hpp"
#include "launches.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

TEST_CASE("kernels with barriers in shared memory compute what they must and raise nothing",
          "[sends]") {
  for (const sends::Case& one : sends::cases()) check_right(one);
}

TEST_CASE("barriers in shared memory work without any check", "[sends]") {
  const RestoreChecks restore;
  simt::simulator()->set_checks("none");
  for (const sends::Case& one : sends::cases()) {
    INFO(one.name);
    CHECK(one.run());
  }
}

TEST_CASE("stores that arrive at a barrier are counted by requests and sectors", "[sends]") {
  for (const sends::Counted& one : sends::counted()) {
    INFO(one.name);
    const simt::Launch launch = last_launch_of([&] { CHECK(one.run()); });
    CHECK(launch.findings.empty());
    CHECK(launch.counters.dshared_store_requests == one.requests);
    CHECK(launch.counters.dshared_store_sectors == one.sectors);
    // A warp goes on as one, whichever of its lanes came last.
    CHECK(launch.counters.global_store_requests == 8);
    simt::Counters others = launch.counters;
    others.dshared_store_requests = others.dshared_store_sectors = 0;
    others.barriers = others.global_store_requests = others.global_store_sectors = 0;
    CHECK(others == simt::Counters{});  // the barrier in memory costs none of them
  }
}

TEST_CASE("a mistake with barriers in shared memory is found where it was made", "[sends]") {
  for (const sends::Bug& bug : sends::bugs()) check_bug(bug, "sends.cu");
}

TEST_CASE("a store to a block that may not have begun is one, and its barrier may not be there",
          "[sends]") {
  const simt::Launch launch = last_launch_of(sends::send_before_it_begins);
  std::set<std::string> kinds;
  for (const simt::Finding& finding : launch.findings) {
    kinds.insert(finding.kind);
  }
  CHECK(kinds == std::set<std::string>{"absent_block", "race"});
}

TEST_CASE("a finding of a barrier in shared memory says what to do", "[sends]") {
  const std::pair<const char*, const char*> said[] = {
      {"too_few_bytes", "that nobody completes: it lacks 0 arrivals and 4 bytes. Compare"},
      {"without_fence", ". Between mbarrier_init() and the first use by another thread put"},
      {"barrier_of_another",
       "to arrive at a barrier of another. Both of st_async's addresses come"},
      {"read_too_early", ". What st_async stores is there for threads that have waited"},
  };
  for (const auto& [name, text] : said) {
    INFO(name);
    const auto& bugs = sends::bugs();
    const auto bug = std::find_if(
        bugs.begin(), bugs.end(),
        [wanted = std::string(name)](const sends::Bug& one) { return one.name == wanted; });
    REQUIRE(bug != bugs.end());
    const simt::Launch launch = last_launch_of(bug->run);
    REQUIRE(launch.findings.size() == 1);
    CHECK_THAT(launch.findings[0].message, halo::test::contains(text));
    CHECK_THAT(launch.findings[0].message,
               !halo::test::contains("It is a race between blocks as well"));
  }
}
