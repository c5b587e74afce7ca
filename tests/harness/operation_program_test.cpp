// Programs of transforms, pooling and softmax as their users meet them: exit status, one line on stderr,
// files whole or absent, layouts side by side, and a bench that can be taken up again.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "common/harness/families/pooling.hpp"
#include "common/harness/families/softmax.hpp"
#include "common/harness/families/transform.hpp"
#include "common/report/json.hpp"
#include "tests/catch.hpp"
#include "tests/harness/captured.hpp"
#include "tests/harness/wrong_operations.hpp"

using namespace halo;
using conv::PoolingLayer;
using conv::Softmax;
using conv::Transform;
using test::contains;
using test::Ended;
using test::Folder;

namespace {

namespace fs = std::filesystem;

template <class Problem>
Ended run(const Stage<Problem>& stage, const std::vector<const char*>& arguments,
          const std::vector<Variant<Problem>>& peers = {},
          std::unique_ptr<Backend> backend = make_backend()) {
  return test::captured(arguments, [&](int argc, const char* const* argv) {
    return run_program<Problem>(argc, argv, {stage}, peers, std::move(backend), test::kBriefTiming);
  });
}

// The plain loop, and one that takes a single image only.
template <class Problem>
Stage<Problem> plain(const std::string& name) {
  auto first = test::plain_operation<Problem>();
  first.description = "the plain loop";
  auto second = test::plain_operation<Problem>();
  second.name = "single";
  second.refuses([](const Problem& problem) {
    return conv::label(problem).find('7') == std::string::npos ? "" : "it knows no seven";
  });
  return {name, {first, second}};
}
TransformStage transforms() { return plain<Transform>("10_layout_transform"); }
PoolingStage poolings() {
  PoolingStage stage = plain<PoolingLayer>("11_fused_pooling");
  PoolingVariant chwn = test::right_operations<PoolingLayer>().at(1);
  REQUIRE(chwn.layout == conv::Layout::chwn);
  stage.variants.push_back(chwn);
  return stage;
}
SoftmaxStage softmaxes() { return plain<Softmax>("12_fused_softmax"); }

template <class Problem>
Variant<Problem> library() {
  auto peer = test::plain_operation<Problem>();
  peer.name = "library";
  peer.role = Role::peer;
  peer.version = "cuDNN 9.14.0";
  peer.tells([](const Problem&) { return "accurate"; });
  return peer;
}

}  // namespace

TEST_CASE("a good run of a pooling stage shows both layouts side by side", "[operation]") {
  const Folder folder;
  const std::string json = folder / "out.json";
  const auto [status, out, err] =
      run(poolings(), {"--problem", "6-5-2-3,13x8-2-3x2-4-s2x1-p1x0-average-ceil", "--seed", "7",
                       "--json", json.c_str(), "--no-times"});
  INFO(out << err);
  CHECK(status == 0);
  CHECK(err == "");
  CHECK_THAT(out, contains("seed 7") && contains("layout") && contains("chwn"));
  CHECK_THAT(out, contains("N 2, C 4, H 13, W 8, R 3, S 2, stride 2x1, padding 1x0, kind average, "
                           "rounding ceil"));
  const Results results = read_json(json);
  REQUIRE(results.rows.size() == 6);
  const Problem expected = {{"N", std::int64_t{5}},       {"C", std::int64_t{3}},
                            {"H", std::int64_t{6}},       {"W", std::int64_t{6}},
                            {"R", std::int64_t{2}},       {"S", std::int64_t{2}},
                            {"stride", std::int64_t{2}},  {"padding", std::int64_t{0}},
                            {"kind", std::string("max")}, {"rounding", std::string("floor")}};
  for (int i = 0; i < 3; ++i) CHECK(results.rows[i].problem == expected);
  CHECK(results.rows[0].label == "6-5-2-3");
  CHECK(results.rows[3].label == "13x8-2-3x2-4-s2x1-p1x0-average-ceil");
  CHECK(results.rows[0].layout == "");
  CHECK(results.rows[2].layout == "chwn");
  CHECK(results.rows[0].stage == "11_fused_pooling");
  CHECK(results.rows[0].check.shapes > 60);  // the trials, and the problem
  CHECK(results.rows[3].check.shapes == 1);
}

TEST_CASE("without trials a pooling variant runs on the named layer alone", "[operation]") {
  const Folder folder;
  const std::string json = folder / "out.json";
  const Ended ran = run(
      poolings(), {"--problem", "6-5-2-3", "--no-trials", "--no-times", "--json", json.c_str()});
  CHECK(ran.status == 0);
  CHECK(read_json(json).rows.front().check.shapes == 1);
  const Ended bench = run(poolings(), {"--bench", "--no-trials"});
  CHECK(bench.status == 2);
  CHECK_THAT(bench.err, contains("--no-trials is not for --bench"));
}

TEST_CASE("transforms and softmaxes are measured beside their peers, and a refusal is told",
          "[operation]") {
  const Folder folder;
  const std::string json = folder / "out.json";
  TransformVariant copy = test::plain_operation<Transform>();
  copy.name = "copy";
  copy.role = Role::copy;
  copy.launches([](const ProblemCall<conv::Transform>& c) {
    std::copy_n(c.input, c.problem.input_size(), c.output);
    return 0;
  });
  const auto ended = run(transforms(), {"--problem", "7-6-3-to-chwn", "--json", json.c_str()},
                         {copy, library<Transform>()});
  INFO(ended.out << ended.err);
  CHECK(ended.status == 0);
  Results results = read_json(json);
  REQUIRE(results.rows.size() == 4);
  CHECK(results.machine.libraries ==
        std::vector<std::pair<std::string, std::string>>{{"cuDNN", "9.14.0"}});
  CHECK(results.rows[0].time.outcome == Outcome::good);
  CHECK(results.rows[0].time.gb_per_s > 0);
  CHECK(results.rows[0].time.gflop_per_s < 0);  // nothing is computed
  CHECK(results.rows[0].time.best_peer == "library");
  CHECK(results.rows[0].time.ratio_to_copy > 0);
  CHECK(results.rows[1].time.reason == "it knows no seven");
  CHECK(results.rows[2].role == Role::copy);
  CHECK(results.rows[2].check.outcome == Outcome::good);
  CHECK(results.rows[3].detail == "accurate");
  CHECK(results.rows[3].check.shapes == 1);
  CHECK(results.rows[0].problem == Problem{{"N", std::int64_t{6}},
                                           {"C", std::int64_t{3}},
                                           {"H", std::int64_t{7}},
                                           {"W", std::int64_t{7}},
                                           {"from", std::string("nchw")}});

  CHECK(run(softmaxes(), {"--problem", "5x20", "--json", json.c_str()}).status == 0);
  results = read_json(json);
  CHECK(results.rows[0].problem == Problem{{"N", std::int64_t{5}}, {"C", std::int64_t{20}}});
  CHECK(results.rows[0].label == "5x20");
  CHECK(results.rows[0].time.gflop_per_s > 0);
}

TEST_CASE("a workspace is as large for the clock as for the check", "[operation]") {
  SoftmaxStage stage = softmaxes();
  stage.variants = {test::right_operations<Softmax>().back()};
  const auto ended = run(stage, {"--problem", "5x20"});
  INFO(ended.out);
  CHECK(ended.status == 0);
}

TEST_CASE("a wrong operation makes the program exit 1 and is never timed", "[operation]") {
  for (const PoolingVariant& variant : test::wrong_operations<PoolingLayer>()) {
    if (variant.name != "reads CHWN" && variant.name != "works in its input") continue;
    const auto [status, out, err] =
        run(PoolingStage{"11_fused_pooling", {test::plain_operation<PoolingLayer>(), variant}},
            {"--problem", "6-5-2-3"});
    INFO(out);
    CHECK(status == 1);
    CHECK_THAT(out, contains("FAIL") && contains("it failed its check") && contains("layer "));
  }
}

TEMPLATE_TEST_CASE(
    "wrong use of an operation's program is one line on stderr, exit 2, and nothing "
    "on stdout",
    "[operation]", Transform, PoolingLayer, Softmax) {
  const Folder folder;
  std::ofstream(folder / "broken.json") << "{";
  const std::string nowhere = folder / "no/such.json", broken = folder / "broken.json",
                    directory = folder.path();
  const std::string good = conv::label(adversarial<TestType>(1).back());
  const std::string twice = good + "," + good, open = good + ",";
  const std::vector<std::vector<const char*>> all = {
      {"--problem", ""},
      {"--problem", "7"},
      {"--problem", "cuconv"},
      {"--problem", "-5x3"},
      {"--problem", "0x3"},
      {"--problem", "5x0"},
      {"--problem", "5x99999999"},
      {"--problem", "7-0-2-3"},
      {"--problem", "2-1-3-3"},
      {"--problem", "7-1-2-3-s0"},
      {"--problem", "7-1-2-3-p2"},
      {"--problem", "7-1-2-3-median"},
      {"--problem", "70000-1-2-1"},
      {"--problem", "7-1-3-to-nhwc"},
      {"--problem", "7-0-3-to-nchw"},
      {"--problem", "7-99999999-3-to-nchw"},
      {"--problem", "7-1-3-2-1"},
      {"--problem", twice.c_str()},
      {"--problem", open.c_str()},
      {"--problem", good.c_str(), "--problem", good.c_str()},
      {"--seed", "-1"},
      {"--variant", "nothing"},
      {"--color", "red"},
      {"--json", nowhere.c_str()},
      {"--json", directory.c_str()},
      {"--set", "nothing"},
      {"--resume"},
      {"--bench", "--set", "nothing"},
      {"--bench", "--set", "nothing", "--problem", good.c_str()},
      {"--bench", "--resume"},
      {"--bench", "--problem", good.c_str(), "--json", broken.c_str(), "--resume"},
      // Other families'.
      {"--length", "1000"},
      {"--layer", "7-1-3-2-1"},
      {"--batch", "8"},
      {"--input", "x.png"},
      {"--plan"},
      {good.c_str()},
  };
  test::require_wrong_use(
      all, [](const auto& arguments) { return run(plain<TestType>("10_stage"), arguments); });
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("--list and --help of an operation's program print and stop", "[operation]") {
  const auto listed = run(poolings(), {"--list"}, {library<PoolingLayer>()});
  CHECK(listed.status == 0);
  CHECK_THAT(listed.out, contains("plain") && contains("the plain loop") && contains("peer"));
  CHECK_THAT(run(transforms(), {"--help"}).out, contains("28-128-16-to-nchw"));
  CHECK_THAT(run(poolings(), {"--help"}).out, contains("55-128-3-96-s2"));
  CHECK_THAT(run(softmaxes(), {"--help"}).out, contains("128x1000"));
}

TEST_CASE("no GPU is 77 and one line for an operation's stage, but wrong use is still wrong",
          "[operation]") {
  auto result = run(softmaxes(), {}, {}, std::make_unique<test::NoGpu>());
  CHECK(result.status == 77);
  CHECK(result.out == "");
  CHECK(result.err == "12_fused_softmax: NOT RUN: no GPU: the driver is missing\n");
  result = run(softmaxes(), {"--problem", "7"}, {}, std::make_unique<test::NoGpu>());
  CHECK(result.status == 2);
}

TEST_CASE("an operation or a workspace that the device cannot hold is NOT RUN, visibly",
          "[operation]") {
  // Room for 2 MiB.
  const auto large =
      run(softmaxes(), {"--problem", "1000x1000"}, {}, std::make_unique<test::SmallDevice>());
  INFO(large.out);
  CHECK(large.status == 77);  // the trials passed
  CHECK_THAT(large.out, contains("too large for this GPU: softmax 1000x1000 needs 8 MiB"));
  // One layout has room, not both.
  PoolingStage stage = poolings();
  const std::vector<const char*> problem = {"--problem", "160-1-4-8", "--no-times"};
  CHECK_THAT(run(stage, problem, {}, std::make_unique<test::SmallDevice>()).out,
             contains("too large for this GPU"));
  stage.variants.resize(2);
  CHECK_THAT(run(stage, problem, {}, std::make_unique<test::SmallDevice>()).out,
             !contains("too large for this GPU"));
  SoftmaxStage wasteful = softmaxes();
  wasteful.variants[0].also([](const Softmax& softmax, auto& made) {
    made.workspace_floats = softmax.output_size() * (softmax.C() == 123 ? 1'000 : 1);
  });
  CHECK_THAT(run(wasteful, {"--problem", "20x123"}, {}, std::make_unique<test::SmallDevice>()).out,
             contains("too large for this GPU: its workspace for softmax 20x123 needs"));
}

TEST_CASE("an operation's bench that was broken off is taken up where it ended", "[operation]") {
  const Folder folder;
  const std::string json = folder / "bench.json";
  const char* three = "5x10,6x20,8x30";
  // Breaks off with the second problem, as a machine that is taken away.
  SoftmaxStage breaking = softmaxes();
  breaking.variants[0].refuses([](const Softmax& softmax) -> std::string {
    if (conv::label(softmax) == "6x20") {
      throw std::runtime_error("the machine is gone");
    }
    return "";
  });
  const auto broken =
      run(breaking, {"--bench", "--problem", three, "--json", json.c_str(), "--seed", "5"});
  CHECK(broken.status == 2);
  CHECK_THAT(broken.err, contains("the machine is gone"));
  REQUIRE(read_json(json).rows.size() == 2);

  const auto resumed =
      run(softmaxes(), {"--bench", "--problem", three, "--json", json.c_str(), "--resume"});
  INFO(resumed.out);
  CHECK(resumed.status == 0);
  CHECK_THAT(resumed.out, contains("seed 5") && contains("1 of 3 problems are in ") &&
                              contains("problem 2 of 3, 6x20") &&
                              contains("problem 3 of 3, 8x30, about "));
  const Results all = read_json(json);
  CHECK(all.seed == 5);
  REQUIRE(all.rows.size() == 6);
  for (const Row& row : all.rows) CHECK(row.time.outcome == Outcome::good);
  CHECK(all.rows[2].check.shapes > 20);  // tried again: it is another build, perhaps
  CHECK(all.rows[4].check.shapes == 1);
  const auto refused = run(softmaxes(), {"--bench", "--problem", three, "--json", json.c_str(),
                                         "--resume", "--variant", "plain"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, contains("has other variants of problem 5x10"));
}

TEST_CASE("a bench runs the published problems, and those of one set if it is named",
          "[operation]") {
  const Folder folder;
  const std::string json = folder / "bench.json";
  // Nothing is computed: what matters is which problems are met.
  const auto rows = [&](const auto& stage, std::vector<const char*> arguments) {
    auto idle = stage;
    idle.variants.resize(1);
    idle.variants[0].refuses([](const auto&) { return "it only looks"; });
    arguments.insert(arguments.end(), {"--no-times", "--json", json.c_str()});
    const Ended ended = run(idle, arguments);
    INFO(ended.err);
    CHECK(ended.status == 77);
    return read_json(json).rows;
  };
  CHECK(rows(transforms(), {"--bench", "--set", "sc16"}).size() == 24);  // CV1 to CV12, both ways
  CHECK(rows(transforms(), {"--bench", "--set", "large"}).size() == 10);
  CHECK(rows(transforms(), {"--bench"}).size() == 34);
  CHECK(rows(poolings(), {"--bench"}).size() == 10);
  CHECK(rows(softmaxes(), {"--bench", "--set", "sc16"}).size() == 12);
  CHECK(rows(softmaxes(), {"--bench"}).size() == 17);
  // Without --bench some of them, where there is a clock.
  const auto usual = rows(poolings(), {});
  REQUIRE(usual.size() == 3);
  CHECK(usual[0].problem.front() == std::pair<std::string, Value>{"N", std::int64_t{128}});
}
