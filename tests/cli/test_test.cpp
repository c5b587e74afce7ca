// `halo test`: what it makes of the results that Meson leaves, with a stand-in for Meson.
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/cli/fake_build.hpp"

namespace {

using namespace halo;
using namespace halo::test;

// One line of Meson's log, appended by the stand-in. `out` as in JSON.
std::string result(const std::string& name, const std::string& outcome, int status,
                   const std::string& out) {
  return "cat >> \"$log\" <<'END'\n{\"name\": \"" + name + "\", \"stdout\": \"" + out +
         "\", \"result\": \"" + outcome +
         "\", \"duration\": 0.5, \"returncode\": " + std::to_string(status) + "}\nEND\n";
}

}  // namespace

TEST_CASE("cases of Catch2 programs and other tests add up") {
  FakeBuild build;
  build.add_test("simt-a", "simt");
  build.add_test("script", "data");
  build.set_meson(result("simt-a", "OK", 0, "cases: 12 passed, 0 failed, 0 skipped\\n") +
                  result("script", "OK", 0, "anything\\n"));
  const Ended ended = build.halo({"test"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.out == "13 passed, 0 failed\n");
}

TEST_CASE("a failed case shows its output and gives exit status 1") {
  FakeBuild build;
  build.add_test("simt-a", "simt");
  build.set_meson(result("halo:simt / simt-a", "FAIL", 1,
                         "x.cpp:3: FAILED: 1 == 2\\ncases: 5 passed, 2 failed, 0 skipped\\n") +
                  "exit 1");
  const Ended ended = build.halo({"test"});
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("x.cpp:3: FAILED: 1 == 2") && contains("FAIL simt / simt-a "));
  CHECK(last_line(ended.out) == "5 passed, 2 failed");
}

TEST_CASE("a crash and a lie count as failures") {
  FakeBuild build;
  build.add_test("simt-a", "simt");
  SECTION("a crash") {
    build.set_meson(result("simt-a", "FAIL", -11, "half a test\\n") + "exit 1");
    CHECK_THAT(build.halo({"test"}).out, contains("ended by signal 11"));
  }
  SECTION("a crash in a shell") {
    build.set_meson(result("simt-a", "FAIL", 134, "half a test\\n") + "exit 1");
    CHECK_THAT(build.halo({"test"}).out, contains("ended by signal 6"));
  }
  SECTION("success with failed cases") {
    build.set_meson(result("simt-a", "OK", 0, "cases: 0 passed, 1 failed, 0 skipped\\n"));
  }
  SECTION("no result at all") { build.set_meson("exit 0"); }
  SECTION("a log cut short") { build.set_meson("printf '{\"name\": \"si' > \"$log\""); }
  SECTION("Meson itself fails") {
    build.set_meson(result("simt-a", "OK", 0, "") + "echo 'ERROR: no such folder' >&2; exit 3");
    CHECK_THAT(build.halo({"test"}).out, contains("no such folder"));
  }
  const Ended ended = build.halo({"test"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK_THAT(last_line(ended.out), contains("1 failed"));
}

TEST_CASE("where patience ended there is no verdict: no failure, and nothing that is good") {
  FakeBuild build;
  build.add_test("simt-a", "simt");
  build.add_test("other", "data");
  const std::string good = result("other", "OK", 0, "");
  SECTION("Meson's") {
    build.set_meson(result("simt-a", "TIMEOUT", -15, "half a test\\n") + good + "exit 1");
    CHECK_THAT(build.halo({"test"}).out,
               contains("no verdict: simt-a did not end within 0 s; the machine may be busy") &&
                   contains("half a test"));
  }
  SECTION("the test's own") {
    build.set_meson(result("simt-a", "FAIL", 75, "no verdict: a case: waited in vain\\n") + good +
                    "exit 1");
    CHECK_THAT(build.halo({"test"}).out, contains("no verdict: a case: waited in vain"));
  }
  const Ended ended = build.halo({"test"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, !contains("FAIL") && contains("\nno verdict: 1\n1 passed, 0 failed\n"));
}

TEST_CASE("the short suite leaves out what is for all, and says so") {
  FakeBuild build;
  build.add_test("simt-a", "simt");
  build.add_test("simt-b", "simt", "all");
  build.add_test("04_tiled-sim", "stages");
  build.add_test("04_tiled-sim-all", "stages", "all");
  build.add_test("04_tiled-gpu-all", "stages", "all");
  const auto chosen = [&](std::vector<std::string> args) {
    args.insert(args.begin(), "test");
    build.set_meson(result("simt-a", "OK", 0, ""));
    const Ended ended = build.halo(args, {build.with_gpu()});
    const std::string words = read_file(build.path() / "meson-words");
    const std::size_t names = words.find("halo-test ");
    REQUIRE(names != std::string::npos);
    const std::size_t left_out = ended.out.find("left out");
    return words.substr(names + 10) +
           (left_out == std::string::npos
                ? ""
                : ended.out.substr(left_out, ended.out.find('\n', left_out) - left_out));
  };
  CHECK(chosen({}) ==
        "simt-a 04_tiled-sim\nleft out: 1 test program and parts of 2 others: ./halo test --all");
  CHECK(chosen({"--all"}) == "simt-a simt-b 04_tiled-sim-all 04_tiled-gpu-all\n");
  CHECK(chosen({"simt"}) == "simt-a simt-b\n");
  CHECK(chosen({"04"}) == "04_tiled-sim-all 04_tiled-gpu-all\n");
  CHECK(chosen({"04", "--on", "sim"}) == "04_tiled-sim-all\n");
}

TEST_CASE("what was not run is counted, with its reasons, before the last line") {
  FakeBuild build;
  build.add_test("gpu-a", "stages");
  build.add_test("script", "data");
  const std::string skips = result("gpu-a", "SKIP", 77,
                                   "NOT RUN: adds: no GPU\\nNOT RUN: copies: no GPU\\n"
                                   "cases: 0 passed, 0 failed, 2 skipped\\n");
  SECTION("beside something that ran") {
    build.set_meson(skips + result("script", "OK", 0, ""));
    const Ended ended = build.halo({"test"});
    CHECK(ended.status == 0);
    CHECK(ended.out ==
          "NOT RUN: 2\n  gpu-a: adds: no GPU\n  gpu-a: copies: no GPU\n1 passed, 0 failed\n");
  }
  SECTION("a reason that many share is told once") {
    build.set_meson(
        result("gpu-a", "SKIP", 77,
               "NOT RUN: adds: no GPU: no driver\\nNOT RUN: a: copies: no GPU: no driver\\n"
               "NOT RUN: adds: no GPU: no driver\\n"
               "cases: 0 passed, 0 failed, 3 skipped\\n") +
        result("script", "SKIP", 77, "no recordings here\\n"));
    const Ended ended = build.halo({"test"});
    CHECK(ended.out ==
          "NOT RUN: 4\n  3 cases: no GPU: no driver\n  script: no recordings here\n"
          "0 passed, 0 failed\n");
  }
  SECTION("nothing ran: exit status 77") {
    build.set_meson(skips + result("script", "SKIP", 77, "no recordings here\\n"));
    const Ended ended = build.halo({"test"});
    CHECK(ended.status == 77);
    CHECK_THAT(ended.out, contains("NOT RUN: 3") && contains("script: no recordings here"));
    CHECK(last_line(ended.out) == "0 passed, 0 failed");
  }
}

TEST_CASE("old results are not taken for new ones") {
  FakeBuild build;
  build.add_test("simt-a", "simt");
  build.set_meson(result("simt-a", "OK", 0, ""));
  CHECK(build.halo({"test"}).status == 0);
  build.set_meson("exit 0");
  CHECK(build.halo({"test"}).status == 1);
}

TEST_CASE("a suite, a stage's number or a backend chooses the tests") {
  FakeBuild build;
  build.add_test("simt-a", "simt");
  build.add_test("04_tiled-sim", "stages");
  build.add_test("04_tiled-gpu", "stages");
  build.add_test("05_cached-sim", "stages");
  build.set_meson("");
  const auto chosen = [&](std::vector<std::string> args) {
    args.insert(args.begin(), "test");
    build.halo(args, {build.with_gpu()});
    const std::string words = read_file(build.path() / "meson-words");
    std::string names;
    for (const char* name : {"simt-a", "04_tiled-sim", "04_tiled-gpu", "05_cached-sim"}) {
      if (words.find(name) != std::string::npos) names += std::string(name) + " ";
    }
    return names;
  };
  CHECK(chosen({}) == "simt-a 04_tiled-sim 04_tiled-gpu 05_cached-sim ");
  CHECK(chosen({"simt"}) == "simt-a ");
  CHECK(chosen({"stages"}) == "04_tiled-sim 04_tiled-gpu 05_cached-sim ");
  CHECK(chosen({"4"}) == "04_tiled-sim 04_tiled-gpu ");
  CHECK(chosen({"04", "--on", "sim"}) == "04_tiled-sim ");
  CHECK(chosen({"--on", "gpu"}) == "simt-a 04_tiled-gpu ");
}

TEST_CASE("without a GPU the tests for one are not built, unless they are asked for") {
  FakeBuild build;
  build.add_test("04_tiled-sim", "stages");
  build.add_test("04_tiled-gpu", "stages");
  build.set_meson(result("04_tiled-sim", "OK", 0, ""));
  build.set_ninja("case $words in *-n) echo '[1/1] work';; esac");
  const Ended ended = build.halo({"test", "04"});
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.out ==
        "NOT RUN: 1\n  04_tiled-gpu: no NVIDIA driver on this machine (--on gpu still builds "
        "it)\n1 passed, 0 failed\n");
  CHECK_THAT(read_file(build.path() / "ninja-words"), !contains("04_tiled-gpu"));
  CHECK_THAT(read_file(build.path() / "meson-words"), !contains("04_tiled-gpu"));
  build.halo({"test", "04", "--on", "gpu"});
  CHECK_THAT(read_file(build.path() / "ninja-words"), contains("04_tiled-gpu"));
}

TEST_CASE("a test that does not compile does not stop the others") {
  FakeBuild build;
  build.add_test("good", "simt");
  build.add_test("bad", "simt");
  const std::string broken =
      "case $words in *-n) case $words in *bad*) echo '[1/1] work';; *) echo 'no work to do';; "
      "esac\n"
      "exit;; esac\n"
      "echo '[1/9] Compiling'; echo 'FAILED: bad.o'; echo 'c++ -O9 bad.cpp'\n"
      "echo '../tests/bad.cpp:3:1: error: no such thing'; exit 1";
  build.set_ninja(broken);
  build.set_meson(result("good", "OK", 0, ""));
  const Ended ended = build.halo({"test"});
  CAPTURE(ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.out == "FAIL bad: it does not compile\n1 passed, 1 failed\n");
  CHECK_THAT(ended.err, contains("tests/bad.cpp:3:1: error: no such thing") && !contains("-O9"));
  CHECK_THAT(read_file(build.path() / "meson-words"), contains("good") && !contains("bad"));
  // A wrong result weighs more; with no test left Meson is not asked.
  build.set_meson(result("good", "FAIL", 1, "") + "exit 1");
  CHECK(build.halo({"test"}).status == 1);
  std::filesystem::remove(build.path() / "meson-words");
  CHECK(build.halo({"test", "bad"}).status == 2);
  CHECK_FALSE(std::filesystem::exists(build.path() / "meson-words"));
}

TEST_CASE("an unknown suite, and a build without tests") {
  FakeBuild build;
  const Ended none = build.halo({"test"});
  CHECK(none.status == 2);
  CHECK_THAT(none.err, contains("Catch2"));
  build.add_test("simt-a", "simt");
  const Ended unknown = build.halo({"test", "dance"});
  CHECK(unknown.status == 2);
  CHECK(unknown.out.empty());
  CHECK(lines_of(unknown.err).size() == 1);
  CHECK_THAT(unknown.err, contains("dance") && contains("simt"));
}

TEST_CASE("a number names the tests of all stages that have it") {
  FakeBuild build;
  for (const char* name : {"10_layout_transform-sim", "10_layout_convolution-sim", "1_one-sim"}) {
    build.add_test(name, "stages");
  }
  build.set_meson(result("halo:stages / 10_layout_transform-sim", "OK", 0, "") +
                  result("halo:stages / 10_layout_convolution-sim", "OK", 0, ""));
  const Ended ended = build.halo({"test", "10"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.out == "2 passed, 0 failed\n");
  CHECK_THAT(read_file(build.path() / "meson-words"),
             contains("10_layout_transform-sim 10_layout_convolution-sim") && !contains("1_one"));
}
