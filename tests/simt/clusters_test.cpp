// Thread block clusters: what is right raises nothing, and each mistake is found, where it was made.
#include "kernels/clusters.hpp"

#include <cuda_runtime.h>

#include <string>

#include "common/simt/simulator.hpp"
#include "launches.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

TEST_CASE("kernels with clusters compute what they must and raise nothing", "[clusters]") {
  for (const clusters::Case& one : clusters::cases()) check_right(one);
}

TEST_CASE("clusters run without any check", "[clusters]") {
  const RestoreChecks restore;
  simt::simulator()->set_checks("none");
  for (const clusters::Case& one : clusters::cases()) {
    INFO(one.name);
    // Without them a thread that waits in a loop never stops for others.
    if (one.name == std::string("a flag between blocks")) continue;
    CHECK(one.run());
  }
}

TEST_CASE("shared memory of another block is counted by requests and sectors", "[clusters]") {
  for (std::size_t i = 0; i < clusters::counted().size(); ++i) {
    const clusters::Counted& one = clusters::counted()[i];
    INFO(one.kind << " number " << i);
    const simt::Launch launch = last_launch_of(one.run);
    CHECK(launch.findings.empty());
    CHECK(launch.counters.barriers == 2 * launch.grid[0]);
    const std::string kind = one.kind;
    const int line = line_of("clusters.cu", "COUNTED " + kind);
    simt::Counters found;
    for (const simt::LineCounters& its : launch.lines) {
      if (its.line == line) found += its.counters;
    }
    simt::Counters expected;
    if (kind.ends_with("load")) {
      expected.dshared_load_requests = one.requests;
      expected.dshared_load_sectors = one.sectors;
      expected.shared_load_requests = expected.shared_load_wavefronts = one.wavefronts;
    } else if (kind.ends_with("store")) {
      expected.dshared_store_requests = one.requests;
      expected.dshared_store_sectors = one.sectors;
      expected.shared_store_requests = expected.shared_store_wavefronts = one.wavefronts;
    } else {
      expected.dshared_atomic_requests = one.requests;
      expected.shared_atomic_requests = one.wavefronts;
    }
    for (const simt::CounterField& field : simt::counter_fields()) {
      INFO(field.name);
      CHECK(found.*field.member == expected.*field.member);
    }
  }
}

TEST_CASE("a mistake with clusters is found where it was made", "[clusters]") {
  for (const clusters::Bug& bug : clusters::bugs()) check_bug(bug, "clusters.cu");
}

TEST_CASE("a finding of two blocks of a cluster names both", "[clusters]") {
  const simt::Launch launch = last_launch_of(clusters::bugs()[0].run);
  REQUIRE(launch.findings.size() == 1);
  CHECK_THAT(launch.findings[0].message,
             halo::test::contains("thread (0,0,0) of block (0,0,0) writes tile, "
                                  "which is read by thread (0,0,0) of block (1,0,0)"));
  CHECK_THAT(launch.findings[0].message,
             halo::test::contains("put this_cluster().sync() between the two"));
}

TEST_CASE("blocks of different clusters race as blocks do", "[clusters]") {
  const simt::Launch launch = last_launch_of(clusters::race_between_clusters);
  REQUIRE(launch.findings.size() == 1);
  CHECK(launch.findings[0].kind == "race");
  CHECK_THAT(
      launch.findings[0].message,
      Catch::Matchers::StartsWith("race between blocks: thread (0,0,0) of block (0,0,0) writes"));
}

TEST_CASE("chosen blocks run with their whole clusters", "[clusters]") {
  simt::simulator()->run_only_blocks([](std::uint64_t blocks) {
    CHECK(blocks == 24);
    return std::vector<simt::BlockRange>{{3, 4}, {12, 13}};
  });
  const std::vector<float> ran = clusters::who_ran();
  simt::simulator()->run_only_blocks({});
  std::vector<float> expected(24);
  for (const int block : {2, 3, 8, 9, 12, 13, 18, 19}) expected[block] = 1;
  CHECK(ran == expected);
  CHECK(simt::simulator()->take_launches().back().blocks_run == 8);
}

TEST_CASE("the runtime refuses clusters that there are not", "[clusters]") {
  CHECK(clusters::launch(6, 2) == cudaSuccess);
  CHECK(clusters::launch(6, 3) == cudaSuccess);
  CHECK(clusters::launch(5, 2) == cudaErrorInvalidClusterSize);
  CHECK(clusters::launch(16, 8) == cudaSuccess);
  CHECK(clusters::launch(16, 16) == cudaErrorInvalidClusterSize);
  CHECK(clusters::launch_large(16, 16) == cudaSuccess);
  CHECK(clusters::launch_large(32, 32) == cudaErrorInvalidClusterSize);
  CHECK(clusters::launch_declared(4, 0) == cudaSuccess);
  CHECK(clusters::launch_declared(3, 0) == cudaErrorInvalidClusterSize);
  CHECK(clusters::launch_declared(4, 2) == cudaSuccess);
  CHECK(clusters::launch_declared(4, 4) == cudaErrorInvalidClusterSize);
  CHECK(clusters::launch_cooperative() == cudaSuccess);
}
