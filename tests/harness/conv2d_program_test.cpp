// Programs of 2D stages as their users meet them: exit status, one line on stderr, files whole or
// absent, and a bench that can be broken off and taken up again.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "common/harness/families/conv2d.hpp"
#include "common/report/json.hpp"
#include "tests/catch.hpp"
#include "tests/harness/captured.hpp"
#include "tests/harness/wrong_layers.hpp"

using namespace halo;
using conv::ConvLayer;
using test::contains;
using test::Ended;
using test::Folder;

namespace {

namespace fs = std::filesystem;

Ended run(const std::vector<Conv2dStage>& stages, const std::vector<const char*>& arguments,
          const std::vector<Conv2dVariant>& peers = {},
          std::unique_ptr<Backend> backend = make_backend()) {
  return test::captured(arguments, [&](int argc, const char* const* argv) {
    return run_program<conv::ConvLayer>(argc, argv, stages, peers, std::move(backend),
                                        test::kBriefTiming);
  });
}

// Two variants, of which the second takes single channels only.
Conv2dStage plain() {
  Conv2dVariant first = test::plain_layer();
  first.description = "the plain loop";
  Conv2dVariant second = test::right_layers().at(1);
  second.name = "backwards";
  second.refuses(
      [](const ConvLayer& layer) { return layer.C() > 1 ? "it is made for one channel" : ""; });
  return {"06_conv2d_direct", {first, second}, {}};
}

Conv2dStage planned() {
  Conv2dStage stage = plain();
  stage.plan = [](const ConvLayer& layer, const std::string& gpu) {
    if (gpu == "abacus") throw std::invalid_argument("there is no GPU 'abacus'");
    return "plan of " + conv::label(layer) + " for " + (gpu.empty() ? "this GPU" : gpu);
  };
  return stage;
}

Conv2dVariant library() {
  Conv2dVariant peer = test::plain_layer();
  peer.name = "library";
  peer.role = Role::peer;
  peer.version = "cuDNN 9.14.0";
  peer.tells([](const ConvLayer&) { return "algorithm 6"; });
  return peer;
}

const char* kSmall = "7-1-3-2-1";

}  // namespace

TEST_CASE("a good run of a 2D stage exits 0 and shows each variant and the seed", "[conv2d]") {
  const Folder folder;
  const std::string json = folder / "out.json";
  const auto [status, out, err] =
      run({plain()}, {"--layer", "7-1-3-2-1,5x6-2-3x1-4-3-s2-p1x0", "--seed", "7", "--json",
                      json.c_str(), "--no-times"});
  INFO(out);
  CHECK(status == 0);
  CHECK(err == "");
  CHECK_THAT(out, contains("seed 7") && contains("plain") && contains("backwards"));
  CHECK_THAT(out, contains("N 2, C 3, H 5, W 6, K 4, R 3, S 1, stride 2, padding 1x0"));
  CHECK_THAT(out, contains("it is made for one channel"));
  const Results results = read_json(json);
  CHECK(results.seed == 7);
  REQUIRE(results.rows.size() == 4);
  const Problem expected = {
      {"N", std::int64_t{2}}, {"C", std::int64_t{3}},      {"H", std::int64_t{5}},
      {"W", std::int64_t{6}}, {"K", std::int64_t{4}},      {"R", std::int64_t{3}},
      {"S", std::int64_t{1}}, {"stride", std::int64_t{2}}, {"padding", std::string("1x0")}};
  CHECK(results.rows[2].problem == expected);
  CHECK(results.rows[0].label == "7-1-3-2-1");
  CHECK(results.rows[2].label == "5x6-2-3x1-4-3-s2");
  CHECK(results.rows[0].stage == "06_conv2d_direct");
  CHECK(results.rows[0].check.shapes > 40);  // the trials, and the layer
  CHECK(results.rows[2].check.shapes == 1);
  CHECK(results.rows[3].check.outcome == Outcome::not_run);
  CHECK(results.rows[3].check.reason == "it is made for one channel");
}

TEST_CASE("variants can be left out by their names", "[conv2d]") {
  const auto others =
      run({plain()}, {"--layer", kSmall, "--without", "backwards", "--no-times", "--no-trials"});
  CHECK(others.status == 0);
  CHECK_THAT(others.out, contains("plain") && !contains("backwards"));
  const auto none =
      run({plain()}, {"--layer", kSmall, "--without", "plain,backwards", "--no-times"});
  CHECK(none.status == 77);
  CHECK_THAT(none.err, contains("NOT RUN: no variant is left"));
  const auto wrong = run({plain()}, {"--layer", kSmall, "--without", "nobody"});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, contains("--without: there is no variant 'nobody'"));
}

TEST_CASE("a layer that was refused is NOT RUN, however good the trials", "[conv2d]") {
  const Folder folder;
  const std::string json = folder / "out.json";
  // Its second variant is made for one channel.
  const auto [status, out, err] = run({plain()}, {"--layer", "5-1-3-2-3", "--variant", "backwards",
                                                  "--no-times", "--json", json.c_str()});
  INFO(out);
  CHECK(status == 77);
  CHECK_THAT(out, !contains("PASS"));
  CHECK_THAT(out, contains("NOT RUN backwards: it is made for one channel (its own trials: "));
  const Results results = read_json(json);
  REQUIRE(results.rows.size() == 1);
  CHECK(results.rows[0].check.outcome == Outcome::not_run);
  CHECK(results.rows[0].hazards.outcome == Outcome::not_run);
  CHECK(results.rows[0].check.trials > 1);
}

TEST_CASE("without trials a 2D variant runs on the named layer alone", "[conv2d]") {
  const Folder folder;
  const std::string json = folder / "out.json";
  const auto [status, out, err] =
      run({plain()}, {"--layer", kSmall, "--no-trials", "--json", json.c_str(), "--no-times"});
  CHECK(status == 0);
  CHECK(read_json(json).rows.front().check.shapes == 1);
  const Ended bench = run({plain()}, {"--bench", "--no-trials"});
  CHECK(bench.status == 2);
  CHECK_THAT(bench.err, contains("--no-trials is not for --bench"));
}

TEST_CASE("layers are measured beside their peers, and a refusal is told", "[conv2d]") {
  const Folder folder;
  const std::string json = folder / "out.json";
  Conv2dStage stage = plain();
  Conv2dVariant choice = test::plain_layer();
  choice.name = "choice";
  choice.also([](const ConvLayer&, auto& made) { made.runs_as = [] { return "plain"; }; });
  choice.also(
      [](const ConvLayer& layer, auto& made) { made.workspace_floats = layer.output_size(); });
  stage.variants.push_back(choice);
  const auto [status, out, err] =
      run({stage}, {"--layer", "7-1-3-2-1,7-1-3-2-3", "--json", json.c_str()}, {library()});
  INFO(out);
  CHECK(status == 0);
  const Results results = read_json(json);
  REQUIRE(results.rows.size() == 8);
  CHECK(results.machine.libraries ==
        std::vector<std::pair<std::string, std::string>>{{"cuDNN", "9.14.0"}});
  CHECK(results.rows[0].time.outcome == Outcome::good);
  CHECK(results.rows[0].time.gflop_per_s > 0);
  CHECK(results.rows[0].time.best_peer == "library");
  CHECK(results.rows[2].runs_as == "plain");
  CHECK(results.rows[3].detail == "algorithm 6");
  CHECK(results.rows[3].check.shapes == 1);
  CHECK_THAT(out, contains("runs as plain") && contains("algorithm 6"));
}

TEST_CASE("both layouts of a layer stand in one table", "[conv2d]") {
  const Folder folder;
  const std::string json = folder / "out.json";
  Conv2dVariant chwn;
  for (const Conv2dVariant& variant : test::right_layers()) {
    if (variant.layout == conv::Layout::chwn) chwn = variant;
  }
  REQUIRE(chwn.name == "in CHWN");
  const auto [status, out, err] =
      run({{"10_layout_convolution", {test::plain_layer(), chwn}, {}}},
          {"--layer", "7-3-3-2-4", "--json", json.c_str()}, {library()});
  INFO(out);
  CHECK(status == 0);
  CHECK_THAT(out, contains("layout"));
  const Results results = read_json(json);
  REQUIRE(results.rows.size() == 3);
  CHECK(results.rows[0].layout == "");
  CHECK(results.rows[1].layout == "chwn");
  CHECK(results.rows[0].problem == results.rows[1].problem);
  CHECK(results.rows[1].time.outcome == Outcome::good);
  CHECK(results.rows[1].time.ratio_to_previous > 0);
  CHECK_THAT(run({plain()}, {"--layer", kSmall}).out, !contains("layout"));
}

TEST_CASE("a library that is not here is not run, and says why", "[conv2d]") {
  Conv2dVariant peer = library();
  peer.unavailable = "cuDNN was not found";
  const auto absent = run({plain()}, {"--layer", kSmall}, {peer});
  CHECK(absent.status == 0);
  CHECK_THAT(absent.out, contains("cuDNN was not found"));
  CHECK_THAT(run({plain()}, {"--layer", kSmall, "--no-peers"}, {peer}).out,
             !contains("cuDNN was not found"));
}

TEST_CASE("a wrong layer makes the program exit 1 and is never timed", "[conv2d]") {
  for (const Conv2dVariant& variant : test::wrong_layers()) {
    if (variant.name != "one output missing" && variant.name != "changes a tap") continue;
    const auto [status, out, err] =
        run({{"06_conv2d_direct", {test::plain_layer(), variant}, {}}}, {"--layer", kSmall});
    INFO(out);
    CHECK(status == 1);
    CHECK_THAT(out, contains("FAIL") && contains("it failed its check") && contains("layer "));
  }
}

TEST_CASE("wrong use of a 2D program is one line on stderr, exit 2, and nothing on stdout",
          "[conv2d]") {
  const Folder folder;
  std::ofstream(folder / "empty.csv");
  std::ofstream(folder / "bad.csv") << "C,H,W,K,R,S\n1,7,7,1,9,9\n";
  std::ofstream(folder / "broken.json") << "{";
  const std::string empty = folder / "empty.csv", bad = folder / "bad.csv",
                    absent = folder / "absent.csv", nowhere = folder / "no/such.json",
                    broken = folder / "broken.json", directory = folder.path();
  const std::vector<std::vector<const char*>> all = {
      {"--layer", ""},
      {"--layer", "7"},
      {"--layer", "-7-1-3-2-1"},
      {"--layer", "7-0-3-2-1"},
      {"--layer", "7-1-9-2-1-p0"},
      {"--layer", "7-1-3-2-1-s0"},
      {"--layer", "7-1-3-2-1,"},
      {"--layer", "7-1-3-2-1,7-1-3-2-1"},
      {"--layer", "70000-1-3-2-1"},
      {"--layer", "7-1-3-2-99999999"},
      {"--layer", kSmall, "--layer", kSmall},
      {"--layer", kSmall, "--layers", "cuconv"},
      {"--batch", "0"},
      {"--batch", "-1"},
      {"--batch", "1,,2"},
      {"--batch", "many"},
      {"--batch", "1,1"},
      {"--batch", "1000000"},
      {"--layers", "nothing"},
      {"--layers", absent.c_str()},
      {"--layers", empty.c_str()},
      {"--layers", bad.c_str()},
      {"--layers", directory.c_str()},
      {"--seed", "-1"},
      {"--variant", "nothing"},
      {"--color", "red"},
      {"--json", nowhere.c_str()},
      {"--json", directory.c_str()},
      {"--plan"},  // this stage has none
      {"--gpu", "v100"},
      {"--set", "cuconv"},
      {"--resume"},
      {"--bench", "--set", "nothing"},
      {"--bench", "--set", "cuconv", "--layer", kSmall},
      {"--bench", "--resume"},
      {"--bench", "--layer", kSmall, "--json", broken.c_str(), "--resume"},
      {"--bench", "--plan"},
      // The 1D stages'.
      {"--length", "1000"},
      {"--mask", "3"},
      {"--threads", "64"},
      {"--border", "zero"},
      {"--input", "x.wav"},
      {kSmall},
  };
  test::require_wrong_use(all, [](const auto& arguments) { return run({plain()}, arguments); });
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 3);
  CHECK_THAT(run({plain()}, {"--layer", "7-1-9-2-1-p0"}).err,
             contains("--layer 7-1-9-2-1-p0: the filter is larger than the input"));
  CHECK_THAT(run({plain()}, {"--batch", "1000000"}).err, contains("use a smaller batch"));
}

TEST_CASE("a plan is printed for each layer, for the GPU that is asked for", "[conv2d]") {
  const auto here = run({planned()}, {"--plan", "--layer", "7-1-3-2-1,9-1-3-2-1"}, {},
                        std::make_unique<test::NoGpu>());
  CHECK(here.status == 0);
  CHECK(here.err == "");
  CHECK(here.out == "plan of 7-1-3-2-1 for this GPU\n\nplan of 9-1-3-2-1 for this GPU\n");
  const auto there = run({planned()}, {"--plan", "--layer", kSmall, "--gpu", "v100"});
  CHECK(there.out == "plan of 7-1-3-2-1 for v100\n");
  const auto unknown = run({planned()}, {"--plan", "--gpu", "abacus"});
  CHECK(unknown.status == 2);
  CHECK(unknown.out == "");
  CHECK(unknown.err == "program: there is no GPU 'abacus'\n");
}

TEST_CASE("a plan without a layer is of the usual ones that the stage takes", "[conv2d]") {
  Conv2dStage stage = planned();
  for (Conv2dVariant& variant : stage.variants) {
    variant.refuses(
        [](const ConvLayer& layer) { return layer.C() > 1 ? "it is made for one channel" : ""; });
  }
  stage.plan = [](const ConvLayer& layer, const std::string&) {
    if (layer.C() > 1) throw std::invalid_argument("this stage has no plan for many channels");
    return "plan of " + conv::label(layer);
  };
  const auto usual = run({stage}, {"--plan"});
  CHECK(usual.status == 0);
  CHECK_THAT(usual.out, contains("plan of "));
  const auto asked = run({stage}, {"--plan", "--layer", "7-1-3-2-4"});
  CHECK(asked.status == 2);
  CHECK_THAT(asked.err, contains("no plan for many channels"));
}

TEST_CASE("a search runs what the stage keeps for it, beside the variants", "[conv2d]") {
  Conv2dStage stage = plain();
  Conv2dVariant other = test::plain_layer();
  other.name = "plain_w64";
  stage.searched = {other};
  const auto without = run({stage}, {"--layer", kSmall, "--no-times"});
  CHECK_THAT(without.out, !contains("plain_w64"));
  const auto with = run({stage}, {"--layer", kSmall, "--no-times", "--search"});
  CHECK(with.status == 0);
  CHECK_THAT(with.out, contains("backwards") && contains("plain_w64"));
  const auto one =
      run({stage}, {"--layer", kSmall, "--no-times", "--search", "--variant", "plain_w64"});
  CHECK(one.status == 0);
  CHECK_THAT(one.out, !contains("backwards"));
  const auto nothing = run({plain()}, {"--layer", kSmall, "--search"});
  CHECK(nothing.status == 2);
  CHECK_THAT(nothing.err, contains("has no numbers to search for"));
}

TEST_CASE("--list and --help of a 2D program print and stop", "[conv2d]") {
  const auto listed = run({plain()}, {"--list"}, {library()});
  CHECK(listed.status == 0);
  CHECK_THAT(listed.out, contains("plain") && contains("the plain loop") && contains("peer"));
  const auto help = run({plain()}, {"--help"});
  CHECK(help.status == 0);
  CHECK_THAT(help.out, contains("--layer") && contains("cuconv") && !contains("--mask"));
}

TEST_CASE("no GPU is 77 and one line for a 2D stage, but wrong use is still wrong", "[conv2d]") {
  auto result = run({plain()}, {}, {}, std::make_unique<test::NoGpu>());
  CHECK(result.status == 77);
  CHECK(result.out == "");
  CHECK(result.err == "06_conv2d_direct: NOT RUN: no GPU: the driver is missing\n");
  result = run({plain()}, {"--layer", "7"}, {}, std::make_unique<test::NoGpu>());
  CHECK(result.status == 2);
}

TEST_CASE("a layer or a workspace that the device cannot hold is NOT RUN, visibly", "[conv2d]") {
  // Room for 2 MiB.
  const auto large =
      run({plain()}, {"--layer", "224-1-3-64-3"}, {}, std::make_unique<test::SmallDevice>());
  INFO(large.out);
  CHECK(large.status == 77);  // the trials passed
  CHECK_THAT(large.out, contains("too large for this GPU: layer 224-1-3-64-3 needs 13 MiB"));
  Conv2dStage stage = plain();
  stage.variants[0].also([](const ConvLayer& layer, auto& made) {
    made.workspace_floats = layer.output_size() * (conv::label(layer) == "14-1-3-8-1" ? 1000 : 1);
  });
  const auto workspace =
      run({stage}, {"--layer", "14-1-3-8-1"}, {}, std::make_unique<test::SmallDevice>());
  INFO(workspace.out << workspace.err);
  CHECK_THAT(workspace.out,
             contains("too large for this GPU: its workspace for layer 14-1-3-8-1 needs"));
}

TEST_CASE("the bench runs each set's layers with that set's stages", "[conv2d]") {
  const Folder folder;
  const std::string json = folder / "bench.json";
  // Nothing is computed: what matters is which layers meet which variants.
  const auto idle = [](const std::string& name) {
    Conv2dVariant variant = test::plain_layer();
    variant.name = name;
    variant.refuses([](const ConvLayer&) { return "it only counts"; });
    return variant;
  };
  Conv2dVariant two_stages = idle("two_stage");
  two_stages.prepare = [](const ConvLayer& layer) {
    Prepared<ConvLayer> made;
    made.refusal = "it only counts";
    made.published = [layer] { return printed_by_cuconv(layer); };
    return made;
  };
  const std::vector<Conv2dStage> stages = {{"06_conv2d_direct", {idle("direct")}, {}},
                                           {"07_single_channel_adaptive", {idle("single")}, {}},
                                           {"09_cuconv_two_stage", {two_stages}, {}},
                                           {"10_layout_convolution", {idle("lanes")}, {}}};
  const auto ended = run(stages, {"--bench", "--no-times", "--json", json.c_str()});
  CHECK(ended.status == 77);
  const Results all = read_json(json);
  int single = 0, direct = 0, two_stage = 0, lanes = 0, published = 0;
  for (const Row& row : all.rows) {
    single += row.variant == "single";
    direct += row.variant == "direct";
    two_stage += row.variant == "two_stage";
    lanes += row.variant == "lanes";
    published += !row.published.source.empty();
    CHECK(row.variant != "multi");
  }
  CHECK(single == 27);
  CHECK(direct == 54 + 13);          // 13 layers of SC'16
  CHECK(two_stage == 602 + 13 - 6);  // of which cuConv has 6 as well
  CHECK(lanes == 13 + 15 - 1);       // and CV7 at other sizes, once as it is
  CHECK(published == 7);
  // A row a line, and small.
  CHECK(fs::file_size(json) < all.rows.size() * 700);

  const auto some = run(
      stages, {"--bench", "--no-times", "--set", "cuconv", "--batch", "8", "--json", json.c_str()});
  CHECK(some.status == 77);
  CHECK(read_json(json).rows.size() == 86);
}

TEST_CASE("a bench that was broken off is taken up where it ended", "[conv2d]") {
  const Folder folder;
  const std::string json = folder / "bench.json";
  const char* three = "7-1-3-2-1,5-1-3-2-1,6-1-3-2-1";
  // Breaks off with the second layer, as a machine that is taken away.
  int left = 1;
  Conv2dStage breaking = plain();
  breaking.variants[0].also([&](const ConvLayer&, auto& made) {
    made.runs_as = [&left]() -> std::string {
      if (left-- == 0) throw std::runtime_error("the machine is gone");
      return "";
    };
  });
  const auto broken =
      run({breaking}, {"--bench", "--layer", three, "--json", json.c_str(), "--seed", "5"});
  CHECK(broken.status == 2);
  CHECK_THAT(broken.err, contains("the machine is gone"));
  REQUIRE(read_json(json).rows.size() == 2);
  const std::string first = to_json({"", "", 0, {}, {read_json(json).rows[0]}});

  const auto resumed =
      run({plain()}, {"--bench", "--layer", three, "--json", json.c_str(), "--resume"});
  INFO(resumed.out);
  CHECK(resumed.status == 0);
  CHECK_THAT(resumed.out, contains("seed 5") && contains("1 of 3 layers are in ") &&
                              contains("layer 2 of 3, 5-1-3-2-1") &&
                              contains("layer 3 of 3, 6-1-3-2-1, about ") &&
                              !contains("layer 1 of 3"));
  const Results all = read_json(json);
  CHECK(all.seed == 5);
  REQUIRE(all.rows.size() == 6);
  CHECK(to_json({"", "", 0, {}, {all.rows[0]}}) == first);
  for (const Row& row : all.rows) CHECK(row.time.outcome == Outcome::good);
  CHECK(all.rows[0].check.shapes > 40);
  CHECK(all.rows[2].check.shapes > 40);  // tried again: it is another build, perhaps
  CHECK(all.rows[4].check.shapes == 1);

  // Nothing left to do.
  CHECK(run({plain()}, {"--bench", "--layer", three, "--json", json.c_str(), "--resume"}).status ==
        0);
  // Not with another seed, other variants or another GPU.
  const auto refused = [&](const Conv2dStage& stage, const char* option, const char* value) {
    const auto ended = run(
        {stage}, {"--bench", "--layer", three, "--json", json.c_str(), "--resume", option, value});
    CHECK(ended.status == 2);
    CHECK(ended.out == "");
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    return ended.err;
  };
  CHECK_THAT(refused(plain(), "--seed", "6"), contains("has the seed 5, not 6"));
  CHECK_THAT(refused(plain(), "--variant", "plain"), contains("has other variants of layer 7-1-3"));
  Results elsewhere = all;
  elsewhere.machine.gpu = "Imaginary GPU";
  write_json(json, elsewhere);
  CHECK_THAT(refused(plain(), "--seed", "5"), contains("was measured on Imaginary GPU"));
}
