// `halo bench`: which ladder programs it starts, what it makes of their results, and where there is
// no GPU.
#include <filesystem>

#include "common/report/json.hpp"
#include "tests/catch.hpp"
#include "tests/cli/fake_build.hpp"
#include "tests/report/csv.hpp"

namespace {

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

Machine cpu_machine() {
  Machine machine;
  machine.cpu = "a CPU";
  machine.compiler = "g++ 12";
  machine.build = "optimised";
  machine.roofs = {{"cpu", {.copy_gb_per_s = 16}}};
  return machine;
}

Machine gpu_machine() {
  Machine machine = cpu_machine();
  machine.gpu = "Imaginary GPU";
  machine.driver = "580.95";
  machine.libraries = {{"cuDNN", "9.14"}};
  machine.roofs = {{"gpu", {.copy_gb_per_s = 400}}};
  return machine;
}

FakeBuild& add_cpu(FakeBuild& build) {
  build.add_reporting_program("bench_conv1d", "cpu", {timed_row("01_cpu", "cpu", "loop", 4)}, 0,
                              cpu_machine());
  return build;
}

// The GPU's variants and a peer, whose ratios and shares are all for `bench` to find.
FakeBuild& add_gpu(FakeBuild& build) {
  Row peer = timed_row("peers", "gpu", "cudnn", 0.06);
  peer.role = Role::peer;
  build.add_reporting_program("bench_conv1d", "gpu",
                              {timed_row("02_global", "gpu", "grid", 0.04),
                               timed_row("04_tiled", "gpu", "tiled", 0.02), peer},
                              0, gpu_machine());
  return build;
}

}  // namespace

TEST_CASE("bench runs the CPU's ladder, then the GPU's, and merges them") {
  FakeBuild build;
  add_cpu(add_gpu(build));
  build.add_reporting_program("01_cpu", "cpu", {good_row("01_cpu", "stage_program")}, 0);
  const fs::path json = build.path() / "all.json";
  const Ended ended =
      build.halo({"bench", "--json", json.string(), "--length", "100", "--variant", "tiled"},
                 {build.with_gpu()});
  CAPTURE(ended.out, ended.err);
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.err, contains("on the CPU and on the GPU (Imaginary GPU), seed "));
  CHECK(lines_of(ended.err).size() == 1);

  const auto calls = lines_of(read_file(build.path() / "words"));
  REQUIRE(calls.size() == 2);
  const Results merged = read_json(json.string());
  for (const std::string& words : calls) {
    CHECK_THAT(words, contains("--bench") && contains("--length 100") &&
                          contains("--variant tiled") &&
                          contains("--seed " + std::to_string(merged.seed)));
  }
  CHECK(merged.command ==
        "halo bench --length 100 --variant tiled --seed " + std::to_string(merged.seed));
  REQUIRE(merged.rows.size() == 4);
  CHECK(merged.rows[0].variant == "loop");
  CHECK(merged.rows[2].time.ratio_to_previous == Approx(2));
  CHECK(merged.rows[2].time.best_peer == "cudnn");
  CHECK(merged.rows[2].time.ratio_to_best_peer == Approx(3));
  CHECK(merged.rows[2].time.share_of_copy == Approx(0.5));
  CHECK(merged.rows[0].time.share_of_copy == Approx(0.125));

  // The GPU program knows the machine, the CPU program its own roof.
  CHECK(merged.machine.gpu == "Imaginary GPU");
  CHECK(merged.machine.libraries.size() == 1);
  REQUIRE(merged.machine.roofs.size() == 2);
  CHECK_THAT(ended.out, contains("GPU: Imaginary GPU, driver 580.95, cuDNN 9.14") &&
                            contains("GPU roofs: copy 400 GB/s") &&
                            contains("CPU roofs: copy 16.0 GB/s"));
  CHECK(ended.out.find("GPU: Imaginary") < ended.out.find("On the CPU"));
  CHECK(ended.out.find("On the CPU") < ended.out.find("On the GPU"));
  CHECK_THAT(ended.out, !contains("stage_program"));
}

TEST_CASE("bench prints the same rows as Markdown and as CSV") {
  FakeBuild build;
  add_cpu(add_gpu(build));
  const Ended markdown = build.halo({"bench", "--format", "markdown"}, {build.with_gpu()});
  CHECK_THAT(markdown.out, contains("**On the GPU: length 100, mask width 9**") &&
                               contains("| 04 | tiled | PASS |") && contains("- **GPU:** Imag"));
  const Ended csv =
      build.halo({"bench", "--format", "csv", "--color", "always"}, {build.with_gpu()});
  const auto rows = parse_csv(csv.out);
  REQUIRE(rows.size() == 4);
  CHECK(rows[2].at("hot_median_ms") == "0.02");
  CHECK(std::stod(rows[2].at("share_of_copy_ratio")) == Approx(0.5));
}

TEST_CASE("bench without a GPU times the CPU and says why the GPU was not run") {
  FakeBuild build;
  add_cpu(build);
  bool listed = false;
  SECTION("its GPU program is there") {
    add_gpu(build);
    listed = true;
  }
  SECTION("no GPU program is there") {}
  const fs::path json = build.path() / "all.json";
  const Ended ended = build.halo({"bench", "--json", json.string()});
  CAPTURE(ended.out, ended.err, listed);
  CHECK(ended.status == 0);
  CHECK(lines_of(read_file(build.path() / "words")).size() == 1);
  CHECK_THAT(ended.err, contains("halo: NOT RUN on the GPU: "));
  CHECK_THAT(ended.out,
             contains("loop") && contains("On the GPU\n") && contains("NOT RUN no NVIDIA driver"));
  const Results results = read_json(json.string());
  REQUIRE(results.rows.size() == 2);
  CHECK(results.rows[1].backend == "gpu");
  CHECK(results.rows[1].check.outcome == Outcome::not_run);
  CHECK_FALSE(results.rows[1].check.reason.empty());
}

TEST_CASE("a GPU that is here but has no programs is told apart from none") {
  FakeBuild build;
  add_cpu(build);
  const Ended ended = build.halo({"bench"}, {build.with_gpu()});
  CHECK(ended.status == 0);
  CHECK_THAT(ended.err, contains("nvcc was not found"));
  const Ended asked = build.halo({"bench", "--on", "gpu"}, {build.with_gpu()});
  require_one_line(asked, 77);
  CHECK_THAT(asked.err, contains("nvcc was not found"));
}

TEST_CASE("bench --on chooses one side") {
  FakeBuild build;
  add_cpu(add_gpu(build));
  const Ended cpu = build.halo({"bench", "--on", "cpu"}, {build.with_gpu()});
  CHECK(cpu.status == 0);
  CHECK_THAT(cpu.out, contains("loop") && !contains("tiled") && !contains("NOT RUN check"));
  const Ended gpu = build.halo({"bench", "--on", "gpu"}, {build.with_gpu()});
  CHECK(gpu.status == 0);
  CHECK_THAT(gpu.out, contains("tiled") && !contains("loop"));
  require_one_line(build.halo({"bench", "--on", "gpu"}), 77);
  CHECK(lines_of(read_file(build.path() / "words")).size() == 2);
}

TEST_CASE("bench chooses a family, and refuses one that it has not") {
  FakeBuild build;
  add_cpu(build);
  build.add_reporting_program("bench_conv2d", "cpu", {timed_row("06_two", "cpu", "plane", 4)}, 0);
  const Ended all = build.halo({"bench"});
  CHECK_THAT(all.out, contains("loop") && contains("plane"));
  const Ended one = build.halo({"bench", "conv2d"});
  CHECK(one.status == 0);
  CHECK_THAT(one.out, contains("plane") && !contains("loop"));
  const Ended none = build.halo({"bench", "conv9d"});
  require_one_line(none, 2);
  CHECK_THAT(none.err, contains("conv1d, conv2d"));
  // One of the course's, but without a program here.
  const Ended known = build.halo({"bench", "softmax"});
  require_one_line(known, 77);
  CHECK_THAT(known.err,
             contains("no bench program of softmax is set up here, only of conv1d, conv2d"));
}

TEST_CASE("wrong use of bench is one line and exit status 2") {
  FakeBuild build;
  add_cpu(build);
  const std::vector<std::string> wrong[] = {
      {"bench", "--on", "sim"},
      {"bench", "--format", "html"},
      {"bench", "--format"},
      {"bench", "--color", "mauve"},
      {"bench", "--length", ""},
      {"bench", "conv1d", "conv1d"},
      {"bench", "--json", "/no/where.json"},
      {"bench", "--input", "x.wav"},
  };
  for (const auto& args : wrong) {
    CAPTURE(args);
    require_one_line(build.halo(args), 2);
  }
  CHECK_FALSE(fs::exists(build.path() / "words"));
  FakeBuild empty;
  require_one_line(empty.halo({"bench"}), 77);
  FakeBuild unbuilt;
  unbuilt.add_unbuilt_program("bench_conv1d", "cpu");
  const Ended ended = unbuilt.halo({"bench"});
  require_one_line(ended, 2);
  CHECK_THAT(ended.err, contains("./halo bench builds"));
}

TEST_CASE("what goes wrong in a ladder program is a failure beside the other's times") {
  FakeBuild build;
  add_gpu(build);
  build.add_program("bench_conv1d", "cpu", "echo 'about to fall' >&2; kill -SEGV $$");
  const Ended ended = build.halo({"bench"}, {build.with_gpu()});
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("tiled") && contains("signal 11") && contains("about to fall"));

  FakeBuild refusing;
  refusing.add_program("bench_conv1d", "cpu", "echo 'bench_conv1d-cpu: length is odd' >&2; exit 2");
  const Ended refused = refusing.halo({"bench", "--length", "x"});
  require_one_line(refused, 2);
  CHECK(refused.err == "halo: length is odd\n");
}

TEST_CASE("bench warns of a build whose times mean nothing, whichever program it is") {
  for (const char* backend : {"cpu", "gpu"}) {
    FakeBuild build;
    add_cpu(add_gpu(build));
    Machine slow = backend == std::string("cpu") ? cpu_machine() : gpu_machine();
    slow.build = "compiled without optimisation";
    FakeBuild other;
    other.add_reporting_program("bench_conv1d", "cpu", {timed_row("01_cpu", "cpu", "loop", 4)}, 0,
                                backend == std::string("cpu") ? slow : cpu_machine());
    other.add_reporting_program("bench_conv1d", "gpu", {timed_row("02_g", "gpu", "grid", 4)}, 0,
                                backend == std::string("gpu") ? slow : gpu_machine());
    CAPTURE(backend);
    CHECK_THAT(build.halo({"bench"}, {build.with_gpu()}).err, !contains("mean little"));
    CHECK_THAT(other.halo({"bench"}, {other.with_gpu()}).err,
               contains("mean little: compiled without optimisation"));
  }
}

TEST_CASE("bench builds what it would start") {
  FakeBuild build;
  build.add_unbuilt_program("bench_conv1d", "gpu");
  build.add_unbuilt_program("bench_conv1d", "cpu");
  build.add_unbuilt_program("02_global", "gpu");
  const auto built = [&](const std::vector<std::string>& args,
                         const std::vector<std::string>& environment) {
    build.halo(args, environment);
    return build.ninja_words().back();
  };
  const std::string ladder = "stages/bench_conv1d/bench_conv1d-";
  CHECK(built({"bench"}, {}) == ladder + "cpu -n");
  CHECK(built({"bench"}, {build.with_gpu()}) == ladder + "cpu " + ladder + "gpu -n");
  CHECK(built({"bench", "--on", "gpu"}, {build.with_gpu()}) == ladder + "gpu -n");
  // Nor does a ladder count as a stage.
  CHECK(built({"run"}, {build.with_gpu()}) == "stages/02_global/02_global-gpu -n");
  CHECK_THAT(build.halo({"list"}).out, !contains("bench"));
}

TEST_CASE("bench of layers: the set is passed on, and the file grows where the user wants it") {
  FakeBuild build;
  add_cpu(build);
  const fs::path json = build.path() / "layers.json";
  const fs::path told =
      build.told("layers", {timed_row("09_cuconv", "gpu", "two_stage", 2)}, gpu_machine());
  build.add_program("bench_conv2d", "gpu",
                    "echo \"$words\" >> '" + (build.path() / "words").string() + "'\ncat '" +
                        told.string() + "' >&3");
  const auto words = [&] { return lines_of(read_file(build.path() / "words")).back(); };
  const Ended ended = build.halo(
      {"bench", "conv2d", "cuconv", "--batch", "8", "--json", json.string(), "--seed", "77"},
      {build.with_gpu()});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  CHECK(words() == "--json " + json.string() + " --batch 8 --bench --set cuconv --seed 77");
  CHECK(read_json(json.string()).command == "halo bench conv2d cuconv --batch 8 --seed 77");
  CHECK_THAT(ended.out, contains("two_stage"));

  // Taken up again with the seed of the file.
  const Ended again = build.halo({"bench", "conv2d", "cuconv", "--json", json.string(), "--resume"},
                                 {build.with_gpu()});
  CAPTURE(again.out, again.err);
  CHECK(again.status == 0);
  CHECK(words() == "--json " + json.string() + " --bench --set cuconv --resume --seed 77");

  // A program that leaves an old file as it was has reported nothing.
  build.add_program("bench_conv2d", "gpu", "exit 0");
  const Ended silent =
      build.halo({"bench", "conv2d", "--json", json.string(), "--resume"}, {build.with_gpu()});
  CHECK(silent.status == 1);
  CHECK_THAT(silent.out, contains("left no results"));
}

TEST_CASE("bench: options of one family choose it, and do not go with another") {
  FakeBuild build;
  add_cpu(build);
  build.add_reporting_program("bench_conv2d", "gpu", {timed_row("09_cuconv", "gpu", "sum", 2)}, 0,
                              gpu_machine());
  const Ended layers = build.halo({"bench", "--layers", "cuconv"}, {build.with_gpu()});
  CAPTURE(layers.out, layers.err);
  CHECK(layers.status == 0);
  CHECK_THAT(layers.out, contains("sum") && !contains("loop"));
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"bench", "conv1d", "--layers", "cuconv"},
           {"bench", "conv1d", "cuconv"},
           {"bench", "conv2d", "--length", "5"},
           {"bench", "--length", "5", "--batch", "8"},
           {"bench", "conv2d", "--resume"},
           {"bench", "conv1d", "--resume", "--json", (build.path() / "x.json").string()}}) {
    CAPTURE(args);
    require_one_line(build.halo(args, {build.with_gpu()}), 2);
  }
}

TEST_CASE("a set that there is not is refused before anything is looked for") {
  FakeBuild build;
  add_cpu(build);
  build.add_unbuilt_program("bench_conv2d", "gpu");
  build.add_unbuilt_program("bench_pooling", "gpu");
  // No GPU is visible.
  const Ended layers = build.halo({"bench", "conv2d", "cudnn"});
  require_one_line(layers, 2);
  CHECK_THAT(layers.err, contains("no set 'cudnn' of conv2d problems") && contains("cuconv"));
  const Ended pooling = build.halo({"bench", "pooling", "cuconv"});
  require_one_line(pooling, 2);
  CHECK_THAT(pooling.err, contains("there are: sc16"));
  require_one_line(build.halo({"bench", "conv2d", "cuconv"}), 77);
  require_one_line(build.halo({"bench", "pooling", "sc16"}), 77);
}

TEST_CASE("bench of the other families: what is passed on, and what needs a family") {
  FakeBuild build;
  for (const char* family : {"pooling", "softmax", "network"}) {
    build.add_reporting_program(std::string("bench_") + family, "gpu",
                                {timed_row("11_stage", "gpu", family, 2)}, 0, gpu_machine());
  }
  const fs::path json = build.path() / "x.json";
  const auto words = [&] { return lines_of(read_file(build.path() / "words")).back(); };
  const Ended pooling = build.halo(
      {"bench", "pooling", "sc16", "--json", json.string(), "--seed", "7"}, {build.with_gpu()});
  CAPTURE(pooling.out, pooling.err);
  CHECK(pooling.status == 0);
  CHECK(words() == "--json " + json.string() + " --bench --set sc16 --seed 7");
  const Ended softmax =
      build.halo({"bench", "softmax", "--problem", "128x10", "--json", json.string(), "--resume"},
                 {build.with_gpu()});
  CHECK(softmax.status == 0);
  CHECK(words() == "--json " + json.string() + " --problem 128x10 --bench --resume --seed " +
                       std::to_string(read_json(json.string()).seed));
  const Ended network =
      build.halo({"bench", "--network", "lenet", "--batch", "1"}, {build.with_gpu()});
  CHECK(network.status == 0);
  CHECK_THAT(words(), contains("--network lenet --batch 1 --bench --seed"));
  CHECK_THAT(network.out, contains("network") && !contains("pooling"));
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"bench", "--problem", "128x10"},
           {"bench", "--resume", "--json", json.string()},
           {"bench", "network", "sc16"},
           {"bench", "network", "--resume", "--json", json.string()},
           {"bench", "network", "--problem", "128x10"},
           {"bench", "pooling", "--layer", "7-1-3-2-1"}}) {
    CAPTURE(args);
    const Ended ended = build.halo(args, {build.with_gpu()});
    CAPTURE(ended.err);
    require_one_line(ended, 2);
  }
}
