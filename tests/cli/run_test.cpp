// `halo run`: wrong use, merging, and what it makes of stage programs that fail in every way.
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/report/json.hpp"
#include "tests/catch.hpp"
#include "tests/cli/fake_build.hpp"

namespace {

using namespace halo;
using namespace halo::test;
namespace fs = std::filesystem;

FakeBuild& two_stages(FakeBuild& build) {
  build.add_reporting_program("02_second", "sim", {good_row("02_second", "late")}, 0);
  build.add_reporting_program("01_first", "sim",
                              {good_row("01_first", "early"), good_row("01_first", "middle")}, 0);
  build.add_family("01_first", "conv1d");
  build.add_family("02_second", "conv1d");
  return build;
}

}  // namespace

TEST_CASE("--help is everywhere") {
  FakeBuild build;
  for (const char* command : {"", "run", "bench", "compare", "report", "test", "list", "doctor"}) {
    std::vector<std::string> args = {"--help"};
    if (*command) args.insert(args.begin(), command);
    const Ended ended = build.halo(args);
    CAPTURE(command, ended.out, ended.err);
    CHECK(ended.status == 0);
    CHECK_THAT(ended.out, contains("--help"));
    CHECK(ended.err.empty());
  }
}

TEST_CASE("while a command runs its build folder is not set up in another way") {
  FakeBuild build;
  const std::string stamp = (build.path() / "halo-stamp").string();
  std::ofstream(stamp) << "root=here\n";
  const fs::path held = build.path() / "held";
  build.add_program("01_first", "sim",
                    "flock -n '" + stamp + "' true || : > '" + held.string() + "'");
  build.add_family("01_first", "conv1d");
  build.halo({"run", "1"});
  CHECK(fs::exists(held));
  CHECK(run_program({"flock", "-n", stamp, "true"}).good());
}

TEST_CASE("wrong use of run is one line and exit status 2") {
  FakeBuild build;
  two_stages(build);
  const std::vector<std::string> wrong[] = {
      {},
      {"dance"},
      {"run", "9"},
      {"run", "01_firs"},
      {"run", ""},
      {"run", "01", "02"},
      {"run", "--sideways"},
      {"run", "--on"},
      {"run", "--on", "tpu"},
      {"run", "--on", "sim", "--on", "gpu"},
      {"run", "--color", "mauve"},
      {"run", "--length"},
      {"run", "--length", ""},
      {"run", "--output", "x.wav"},
      {"run", "01", "--output", "x.wav"},
      {"run", "--variant", "early"},
      {"run", "--length", "5", "--layer", "7-1-3-2-1"},
      {"run", "01", "--layer", "7-1-3-2-1"},
      {"run", "01", "--plan"},
      {"run", "--plan"},
      {"run", "--gpu", "v100"},
      {"run", "--json", "/nowhere/at/all.json"},
      {"run", "--json", "/tmp"},
      {"run", "--json", ""},
  };
  for (const auto& args : wrong) {
    CAPTURE(args);
    require_one_line(build.halo(args), 2);
  }
  CHECK_FALSE(fs::exists(build.path() / "words"));  // none of it started a stage
}

TEST_CASE("a stage is known by its number, with or without zero, and by its name") {
  FakeBuild build;
  two_stages(build);
  for (const char* name : {"2", "02", "02_second"}) {
    const Ended ended = build.halo({"run", name});
    CAPTURE(name, ended.err);
    CHECK(ended.status == 0);
    CHECK_THAT(ended.out, contains("late") && !contains("early"));
  }
}

TEST_CASE("a GPU that is asked for and is not there: exit status 77") {
  FakeBuild build;
  two_stages(build);
  build.add_reporting_program("01_first", "gpu", {good_row("01_first", "early")}, 0);
  require_one_line(build.halo({"run", "--on", "gpu"}), 77);
  CHECK_FALSE(fs::exists(build.path() / "words"));
}

TEST_CASE("a GPU is used where there is one, unless the simulator is asked for") {
  FakeBuild build;
  two_stages(build);
  build.add_reporting_program("01_first", "gpu", {timed_row("01_first", "gpu", "fast", 1)}, 0);
  const Ended gpu = build.halo({"run", "1"}, {build.with_gpu()});
  CAPTURE(gpu.out, gpu.err);
  CHECK(gpu.status == 0);
  CHECK_THAT(gpu.out, contains("fast") && !contains("early"));
  CHECK_THAT(gpu.err, contains("on the GPU (Imaginary GPU)"));
  CHECK_THAT(build.halo({"run", "1", "--on", "sim"}, {build.with_gpu()}).out, contains("early"));
  CHECK(build.halo({"run", "2", "--on", "gpu"}, {build.with_gpu()}).status == 77);
}

TEST_CASE("a simulator that is asked for and is not built: exit status 77") {
  FakeBuild build;
  build.add_reporting_program("01_first", "gpu", {good_row("01_first", "early")}, 0);
  require_one_line(build.halo({"run", "--on", "sim"}), 77);
  require_one_line(build.halo({"run", "--all"}), 77);
}

TEST_CASE("results are merged in the order of the stages, with one seed") {
  FakeBuild build;
  two_stages(build);
  const fs::path json = build.path() / "all.json";
  const Ended ended = build.halo({"run", "--all", "--json", json.string(), "--length", "100"});
  CAPTURE(ended.out, ended.err);
  REQUIRE(ended.status == 0);
  CHECK(ended.out.find("early") < ended.out.find("middle"));
  CHECK(ended.out.find("middle") < ended.out.find("late"));
  CHECK_THAT(ended.err, contains("on the simulator"));

  const Results merged = read_json(json.string());
  REQUIRE(merged.rows.size() == 3);
  CHECK(merged.rows[0].variant == "early");
  CHECK(merged.rows[2].stage == "02_second");
  CHECK(merged.rows[2].check.outcome == Outcome::good);
  CHECK(merged.rows[2].problem == good_row("02_second", "late").problem);
  CHECK_FALSE(merged.date.empty());
  const std::string seed = " --seed " + std::to_string(merged.seed);
  CHECK_THAT(merged.command, contains("--length 100") && contains(seed));

  const auto calls = lines_of(read_file(build.path() / "words"));
  REQUIRE(calls.size() == 2);
  for (const std::string& words : calls) {
    CHECK_THAT(words, contains("--length 100") && contains(seed));
  }
}

TEST_CASE("the seed is fresh unless it is given") {
  FakeBuild build;
  two_stages(build);
  build.halo({"run", "1"});
  build.halo({"run", "1"});
  build.halo({"run", "1", "--seed", "7"});
  const auto calls = lines_of(read_file(build.path() / "words"));
  REQUIRE(calls.size() == 3);
  const auto seed_of = [](const std::string& words) { return words.substr(words.find("--seed")); };
  CHECK(seed_of(calls[0]) != seed_of(calls[1]));
  CHECK(seed_of(calls[2]) == "--seed 7");
  // Every number of 64 bits is one.
  const fs::path json = build.path() / "all.json";
  build.halo({"run", "1", "--seed", "18446744073709551615", "--json", json.string()});
  CHECK(seed_of(lines_of(read_file(build.path() / "words")).back()) ==
        "--seed 18446744073709551615");
  CHECK(read_json(json.string()).seed == 18446744073709551615u);
  for (const char* seed : {"18446744073709551616", "-1", "1e3", "x"}) {
    const Ended refused = build.halo({"run", "1", "--seed", seed});
    require_one_line(refused, 2);
    CHECK_THAT(refused.err, contains("--seed: '" + std::string(seed) + "' is not a whole number"));
  }
}

TEST_CASE("a failed check gives exit status 1, and the other stages still run") {
  FakeBuild build;
  Row bad = good_row("01_first", "early");
  bad.check.outcome = Outcome::bad;
  bad.check.reason = "output 3 is wrong";
  build.add_reporting_program("01_first", "sim", {bad}, 1);
  build.add_reporting_program("02_second", "sim", {good_row("02_second", "late")}, 0);
  const Ended ended = build.halo({"run", "--all"});
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("FAIL") && contains("output 3 is wrong") && contains("late"));
}

TEST_CASE("a stage program that crashes is a failure with its signal and last words") {
  FakeBuild build;
  build.add_program("01_first", "sim", "echo first >&2; echo 'about to fall' >&2; kill -SEGV $$");
  build.add_reporting_program("02_second", "sim", {good_row("02_second", "late")}, 0);
  const fs::path json = build.path() / "all.json";
  const Ended ended = build.halo({"run", "--all", "--json", json.string()});
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("FAIL") && contains("signal 11") && contains("about to fall") &&
                            contains("late"));
  CHECK(read_json(json.string()).rows.size() == 2);
}

TEST_CASE("a stage program that crashes after it reported success is a failure") {
  FakeBuild build;
  build.add_reporting_program("01_first", "sim", {good_row("01_first", "early")}, 0);
  build.add_program(
      "02_second", "sim",
      "cat '" + (build.path() / "01_first-sim.told").string() + "' >&3; kill -ABRT $$");
  const fs::path json = build.path() / "all.json";
  const Ended ended = build.halo({"run", "2", "--json", json.string()});
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("signal 6"));
  // What it had told before is not lost.
  CHECK_THAT(ended.out, contains("early"));
  const std::vector<Row> rows = read_json(json.string()).rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].variant == "early");
  CHECK(rows[1].variant == "(program)");
}

TEST_CASE("a stage program whose status and results disagree is a failure") {
  const std::string stage = "01_first";
  FakeBuild build;
  SECTION("success without results") { build.add_program(stage, "sim", "exit 0"); }
  SECTION("success with no rows") { build.add_reporting_program(stage, "sim", {}, 0); }
  SECTION("success with a failed row") {
    Row bad = good_row(stage, "early");
    bad.hazards.outcome = Outcome::bad;
    build.add_reporting_program(stage, "sim", {bad}, 0);
  }
  SECTION("failure with good rows") {
    build.add_reporting_program(stage, "sim", {good_row(stage, "early")}, 1);
  }
  SECTION("an unknown status") {
    build.add_reporting_program(stage, "sim", {good_row(stage, "early")}, 42);
  }
  SECTION("results cut short") {
    build.add_program(stage, "sim", "printf '{\"stage\":\"01_first\",\"back' >&3");
  }
  SECTION("results of another age") {
    build.add_program(stage, "sim", "echo '{\"schema_version\":999}' >&3");
  }
  SECTION("a file that is no program") {
    build.add_program(stage, "sim", "");
    std::ofstream(build.path() / "stages" / stage / (stage + "-sim")) << "\x7f"
                                                                         "ELF nonsense";
  }
  const Ended ended = build.halo({"run", "--all"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("FAIL"));
}

TEST_CASE("a stage program that was not run is not a success") {
  FakeBuild build;
  build.add_program("01_first", "sim", "echo '01: NOT RUN: far too large' >&2; exit 77");
  SECTION("alone: exit status 77") {
    const Ended ended = build.halo({"run", "--all"});
    CHECK(ended.status == 77);
    CHECK_THAT(ended.out, contains("NOT RUN") && contains("far too large"));
  }
  SECTION("beside one that was: it shows in the table") {
    build.add_reporting_program("02_second", "sim", {good_row("02_second", "late")}, 0);
    const Ended ended = build.halo({"run", "--all"});
    CHECK(ended.status == 0);
    CHECK_THAT(ended.out, contains("far too large") && contains("late"));
  }
}

TEST_CASE("options that a stage program refuses: its line and exit status 2") {
  FakeBuild build;
  build.add_program("01_first", "sim", "echo '01_first-sim: length is odd' >&2; exit 2");
  build.add_family("01_first", "conv1d");
  const Ended ended = build.halo({"run", "--length", "-5"});
  require_one_line(ended, 2);
  CHECK(ended.err == "halo: length is odd\n");
}

TEST_CASE("a program that is listed but not built is named") {
  FakeBuild build;
  build.add_unbuilt_program("01_first", "sim");
  const Ended ended = build.halo({"run", "--all"});
  require_one_line(ended, 2);
  CHECK_THAT(ended.err, contains("01_first-sim") && contains("./halo run"));
  // Nor is it built to say that it cannot read a file.
  build.add_family("01_first", "conv1d");
  const Ended absent = build.halo({"run", "1", "--input", "absent.wav"});
  require_one_line(absent, 2);
  CHECK_THAT(absent.err, contains("cannot read 'absent.wav': there is no such file"));
}

TEST_CASE("a command builds what it needs and nothing else") {
  FakeBuild build;
  two_stages(build);
  build.add_unbuilt_program("02_second", "gpu");
  build.add_test("simt-a", "simt");
  build.add_test("conv-a", "conv");
  const auto built = [&](const std::vector<std::string>& args) {
    fs::remove(build.path() / "ninja-words");
    build.halo(args);
    return build.ninja_words();
  };
  const std::string both = "stages/01_first/01_first-sim stages/02_second/02_second-sim";
  // It is asked first what there is to do: nothing.
  CHECK(built({"run"}) == std::vector<std::string>{both + " -n"});
  CHECK(built({"run", "2"}) == std::vector<std::string>{"stages/02_second/02_second-sim -n"});
  CHECK(built({"test", "conv"}) == std::vector<std::string>{"tests/conv-a -n"});
  CHECK(built({"list"}).empty());
  CHECK(built({"run", "7"}).empty());
}

TEST_CASE("stages that need neither GPU nor simulator run anywhere") {
  FakeBuild build;
  Row row = good_row("01_first", "loop");
  row.backend = "cpu";
  build.add_reporting_program("01_first", "cpu", {row}, 0);
  build.add_reporting_program("02_second", "sim", {good_row("02_second", "late")}, 0);
  CHECK(build.halo({"run", "1"}).status == 0);
  const Ended all = build.halo({"run", "--all"});
  CHECK(all.status == 0);
  CHECK_THAT(all.out, contains("loop") && contains("late"));
}

TEST_CASE("colour: --color, then NO_COLOR, then CLICOLOR_FORCE, then the terminal") {
  FakeBuild build;
  two_stages(build);
  const auto colored = [&](std::vector<std::string> extra, std::vector<std::string> environment) {
    extra.insert(extra.begin(), "run");
    return build.halo(extra, environment).out.find('\033') != std::string::npos;
  };
  CHECK_FALSE(colored({}, {}));
  CHECK(colored({}, {"CLICOLOR_FORCE=1"}));
  CHECK_FALSE(colored({}, {"CLICOLOR_FORCE=1", "NO_COLOR=1"}));
  CHECK(colored({"--color", "always"}, {"NO_COLOR=1"}));
  CHECK_FALSE(colored({"--color", "never"}, {"CLICOLOR_FORCE=1"}));
}

TEST_CASE("nothing but the notice reaches a stderr that is no terminal") {
  FakeBuild build;
  build.add_reporting_program("01_first", "sim", {good_row("01_first", "early")}, 0);
  const Ended ended = build.halo({"run", "--all"});
  CHECK(lines_of(ended.err).size() == 1);
  CHECK(ended.err.find('\r') == std::string::npos);
}

TEST_CASE("a folder that cannot be written is one line and exit status 2") {
  FakeBuild build;
  two_stages(build);
  // /proc refuses new files even to root.
  const Ended json = build.halo({"run", "1", "--json", "results.json"}, {}, "/proc");
  CHECK(json.status == 2);
  CHECK_THAT(last_line(json.err), contains("results.json"));
  // Nothing is written beside what was asked for.
  CHECK(build.halo({"run"}, {"TMPDIR=/proc"}).status == 0);
}

TEST_CASE("file names are those of the folder where the command was typed") {
  FakeBuild build;
  two_stages(build);
  fs::create_directory(build.path() / "here");
  const Ended ended =
      build.halo({"run", "1", "--json", "results.json", "--input", "in.npy", "--output", "o.npy"},
                 {}, build.path() / "here");
  CHECK(ended.status == 0);
  CHECK(fs::exists(build.path() / "here" / "results.json"));
  CHECK_THAT(read_file(build.path() / "words"), contains("--input in.npy --output o.npy"));
}

TEST_CASE("a run needs no folder for temporary files") {
  FakeBuild build;
  two_stages(build);
  CHECK(build.halo({"run"}, {"TMPDIR=/nope"}).status == 0);
}

TEST_CASE("results that cannot be written are exit status 74") {
  FakeBuild build;
  two_stages(build);
  const auto shell = [&](const std::string& command) {
    return run_program({"sh", "-c",
                        "cli=$0 build=$1 PATH=$1/bin:$PATH\n"
                        "halo() { \"$cli\" --build \"$build\" \"$@\"; }\n" +
                            command,
                        required_variable("HALO_CLI"), build.path().string()});
  };
  const fs::path json = build.path() / "all.json";
  build.halo({"run", "--json", json.string()});
  for (const std::string& command :
       {std::string("run"), std::string("list"), std::string("doctor"), std::string("run --help"),
        std::string("--help"), std::string("--version"), "report " + json.string(),
        "compare " + json.string() + " " + json.string()}) {
    for (const char* lost : {" >/dev/full", " >&-"}) {
      const Ended ended = shell("halo " + command + lost);
      CAPTURE(command, lost, ended.err);
      CHECK(ended.status == 74);
      CHECK_THAT(last_line(ended.err), contains("standard output"));
    }
  }
  // A complaint is not lost, and is what it is.
  CHECK(shell("halo dance >&-").status == 2);
  CHECK(shell("halo run --json /dev/full").status == 74);

  // A program that computed what it could not write.
  build.add_program("01_first", "sim",
                    "cat '" + build.told("first", {good_row("01_first", "early")}).string() +
                        "' >&3; echo '01_first-sim: the disk is full' >&2; exit 74");
  const Ended ended = build.halo({"run", "1"});
  CHECK(ended.status == 74);
  CHECK_THAT(ended.out, contains("early") && contains("PASS"));
  CHECK_THAT(ended.err, contains("halo: the disk is full"));
}

TEST_CASE("results go to standard output, and the tables then to stderr") {
  FakeBuild build;
  two_stages(build);
  for (const char* name : {"-", "/dev/stdout"}) {
    const Ended ended = build.halo({"run", "--all", "--json", name});
    CAPTURE(name, ended.err);
    CHECK(ended.status == 0);
    CHECK(results_from_json(ended.out, "stdout").rows.size() == 3);
    CHECK_THAT(ended.err, contains("early") && contains("late"));
  }
  CHECK_FALSE(fs::exists("-"));
}

TEST_CASE("what had ended before a stop signal is shown and written") {
  FakeBuild build;
  build.add_reporting_program("01_first", "sim",
                              {good_row("01_first", "early"), good_row("01_first", "middle")}, 0);
  const fs::path mark = build.path() / "mark";
  build.add_program("02_second", "sim",
                    "head -n 2 '" + build.told("second", {good_row("02_second", "late")}).string() +
                        "' >&3; touch '" + mark.string() + "'; exec sleep 600");
  const fs::path json = build.path() / "all.json";
  for (const char* signal : {"INT", "TERM", "HUP"}) {
    fs::remove(mark);
    const Ended ended =
        run_program({"sh", "-c",
                     "PATH=\"$1/bin:$PATH\" env --default-signal=INT,HUP \"$0\" --build \"$1\" run "
                     "--all --on sim "
                     "--json "
                     "\"$3\" "
                     "& pid=$!\n"
                     "until [ -e \"$1/mark\" ]; do kill -0 $pid || exit; sleep 0.05; done\n"
                     "kill -$2 $pid; wait $pid",
                     required_variable("HALO_CLI"), build.path().string(), signal, json.string()});
    CAPTURE(signal, ended.out, ended.err);
    CHECK(ended.status > 128);
    CHECK_THAT(ended.out, contains("early") && contains("middle") && contains("late"));
    CHECK_THAT(ended.err, contains("interrupted"));
    CHECK(read_json(json.string()).rows.size() == 3);
  }
}

TEST_CASE("a stop signal ends the stage program and leaves no temporary files") {
  FakeBuild build;
  build.add_program("01_first", "sim",
                    "echo $$ > '" + (build.path() / "child").string() + "'; exec sleep 600");
  const fs::path folder = build.path() / "tmp";
  fs::create_directory(folder);
  const Ended ended = run_program(
      {"sh", "-c",
       "TMPDIR=\"$2\" PATH=\"$1/bin:$PATH\" \"$0\" --build \"$1\" run --on sim & pid=$!\n"
       "until [ -s \"$1/child\" ]; do kill -0 $pid || exit; sleep 0.05; done\n"
       "kill -TERM $pid; wait $pid; status=$?\n"
       "if kill -0 $(cat \"$1/child\") 2>/dev/null; then echo alive; fi\n"
       "exit $status",
       required_variable("HALO_CLI"), build.path().string(), folder.string()});
  CHECK(ended.status == 143);
  CHECK(ended.out.empty());
  CHECK(fs::is_empty(folder));
}

namespace {

// For a stand-in for ninja: nothing to say to `-n` but that there is work.
const std::string kWork = "case $words in *-n) echo '[1/1] work'; exit 0;; esac\n";

// A script's line that waits until `condition` holds; for ten minutes on a busy machine.
std::string wait_until(const std::string& condition) {
  return "i=0; until { " + condition + "; } || [ $i -ge 6000 ]; do sleep 0.1; i=$((i + 1)); done\n";
}
std::string wait_for(const fs::path& file) { return wait_until("[ -e '" + file.string() + "' ]"); }

}  // namespace

TEST_CASE("each stage is built, run and shown in turn, and the next is built meanwhile") {
  FakeBuild build;
  build.add_reporting_program("02_second", "sim", {good_row("02_second", "late")}, 0);
  const fs::path second_built = build.path() / "second-built";
  const fs::path first = build.told("first", {good_row("01_first", "early")});
  // It ends only once the next stage has been built.
  build.add_program("01_first", "sim",
                    wait_for(second_built) + "cat '" + first.string() + "' >&3; [ -e '" +
                        second_built.string() + "' ]");
  build.set_ninja(kWork + "case $words in *02_second*) touch '" + second_built.string() +
                  "';; esac");
  const Ended ended = build.halo({"run", "--all"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.out.find("early") < ended.out.find("late"));
  const auto calls = build.ninja_words();
  REQUIRE(calls.size() >= 2);
  CHECK(calls[0] == "stages/01_first/01_first-sim stages/02_second/02_second-sim -n");
  CHECK_THAT(calls[1], contains("01_first"));
}

TEST_CASE("a table is shown as soon as its stage is ready") {
  FakeBuild build;
  build.add_reporting_program("01_first", "sim", {good_row("01_first", "early")}, 0);
  const fs::path shown = build.path() / "shown";
  const fs::path second = build.told("second", {good_row("02_second", "late")});
  // Fails unless the first table stands there before this one ends.
  build.add_program("02_second", "sim",
                    wait_until("grep -q early '" + shown.string() + "'") + "cat '" +
                        second.string() + "' >&3; grep -q early '" + shown.string() + "'");
  const Ended ended = run_program(
      {"sh", "-c", "PATH=\"$1/bin:$PATH\" \"$0\" --build \"$1\" run --all --on sim > \"$2\"",
       required_variable("HALO_CLI"), build.path().string(), shown.string()});
  CAPTURE(ended.err, read_file(shown));
  CHECK(ended.status == 0);
  CHECK_THAT(read_file(shown), contains("early") && contains("late"));
}

TEST_CASE("simulated stages run two at a time and are shown in their order") {
  FakeBuild build;
  const fs::path first_runs = build.path() / "first-runs";
  const fs::path third_runs = build.path() / "third-runs";
  // It ends only once the third runs, which begins when the second has ended.
  build.add_program("01_first", "sim",
                    "touch '" + first_runs.string() + "'; " + wait_for(third_runs) + "[ -e '" +
                        third_runs.string() + "' ] && cat '" +
                        build.told("first", {good_row("01_first", "early")}).string() + "' >&3");
  // It runs beside the first, and fails if the third does as well.
  build.add_program("02_second", "sim",
                    wait_for(first_runs) + "[ -e '" + first_runs.string() + "' ] && [ ! -e '" +
                        third_runs.string() + "' ] && cat '" +
                        build.told("second", {good_row("02_second", "middle")}).string() + "' >&3");
  build.add_program("03_third", "sim",
                    "touch '" + third_runs.string() + "'; cat '" +
                        build.told("third", {good_row("03_third", "late")}).string() + "' >&3");
  const Ended ended = build.halo({"run", "--all"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.out.find("early") < ended.out.find("middle"));
  CHECK(ended.out.find("middle") < ended.out.find("late"));
}

TEST_CASE("where times count, nothing is built meanwhile") {
  FakeBuild build;
  const fs::path running = build.path() / "running";
  const fs::path together = build.path() / "together";
  for (const char* stage : {"01_first", "02_second"}) {
    Row row = good_row(stage, "timed");
    row.backend = "cpu";
    build.add_program(stage, "cpu",
                      "touch '" + running.string() + "'; sleep 0.5; rm '" + running.string() +
                          "'; cat '" + build.told(stage, {row}).string() + "' >&3");
  }
  build.set_ninja(kWork + "[ ! -e '" + running.string() + "' ] || touch '" + together.string() +
                  "'");
  const Ended ended = build.halo({"run", "--all"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  CHECK(build.ninja_words().size() == 3);
  CHECK_FALSE(fs::exists(together));
}

TEST_CASE("a stage that cannot be built is a failure, and the others still run") {
  FakeBuild build;
  build.add_unbuilt_program("01_first", "sim");
  build.add_reporting_program("02_second", "sim", {good_row("02_second", "late")}, 0);
  build.set_ninja(
      kWork +
      "case $words in *01_first*)\n"
      "  echo '[1/2] Compiling fine.cpp'\n"
      "  echo 'FAILED: bad.o'; echo 'c++ -O9 -I. bad.cpp'\n"
      "  echo '../stages/01_first/bad.cu: In lambda function:'\n"
      "  echo \"../stages/01_first/bad.cu:3:1: error: 'sin' is wrong; did you mean 'cos'?\"\n"
      "  echo '    3 |   sin();'; echo '      |   ^~~'\n"
      "  echo 'ninja: build stopped: subcommand failed.'; exit 1;;\nesac");
  const fs::path json = build.path() / "all.json";
  const Ended ended =
      build.halo({"run", "--all", "--json", json.string()}, {}, build.path().parent_path());
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 2);
  CHECK_THAT(ended.out, contains("FAIL") && contains("could not be built") &&
                            contains("stages/01_first/bad.cu:3:1: error: 'sin' is wrong") &&
                            contains("late"));
  // The place as it is typed from here, the line, and no commands.
  CHECK_THAT(ended.err,
             contains("halo: could not build 01_first-sim\n"
                      "stages/01_first/bad.cu:3:1: error: 'sin' is wrong; did you mean 'cos'?\n"
                      "    3 |   sin();\n      |   ^~~\n(all of it, with the commands: "));
  CHECK_THAT(ended.err, !contains("fine.cpp") && !contains("-O9") && !contains("In lambda"));
  CHECK_THAT(read_file(build.path() / "halo-build.log"), contains("fine.cpp"));
  REQUIRE(read_json(json.string()).rows.size() == 2);
  CHECK_FALSE(read_json(json.string()).rows[0].start.compiled);
  CHECK(read_json(json.string()).rows[1].start.compiled);

  // A wrong result weighs more.
  Row bad = good_row("02_second", "late");
  bad.check.outcome = Outcome::bad;
  build.add_reporting_program("02_second", "sim", {bad}, 1);
  CHECK(build.halo({"run"}).status == 1);

  // Without a compiler's error, what was said last before ninja gave up.
  build.set_ninja(kWork +
                  "echo 'FAILED: bad.o'; echo 'c++ bad.cpp'; echo 'sh: compiler not found'\n"
                  "echo 'ninja: build stopped: subcommand failed.'; exit 1");
  CHECK_THAT(build.halo({"run", "1"}).out, contains("be built: sh: compiler not found (all of it"));
}

TEST_CASE("warnings of a stage's sources are shown, those of others are not") {
  FakeBuild build;
  build.add_reporting_program("01_first", "sim", {good_row("01_first", "early")}, 0);
  build.set_ninja(
      kWork +
      "echo '[1/3] Compiling'; echo 'In lambda function,'\n"
      "echo '    inlined from <lambda()> at ../x.h:44:72,'\n"
      "echo \"../stages/01_first/a.cu:7:9: warning: 'sum' may be used uninitialized\"\n"
      "echo '    7 |   out[i] = sum;'; echo '../stages/01_first/a.cu:5:9: note: declared here'\n"
      "echo '[2/3] Compiling'; echo '../common/b.cpp:9:1: warning: a matter of taste'\n"
      "echo '    9 | taste;'");
  const Ended ended = build.halo({"run"});
  CHECK(ended.status == 0);
  CHECK_THAT(ended.err, contains("a.cu:7:9: warning: 'sum' may be used uninitialized\n"
                                 "    7 |   out[i] = sum;\n") &&
                            contains("a.cu:5:9: note: declared here"));
  CHECK_THAT(ended.err, !contains("taste") && !contains("inlined") && !contains("lambda"));
}

TEST_CASE("where there is no ninja, what is built already runs") {
  FakeBuild build;
  two_stages(build);
  build.add_unbuilt_program("03_third", "sim");
  const fs::path bin = build.path() / "bin";
  fs::remove(bin / "ninja");
  for (const char* name : {"sh", "cat", "env"}) {
    fs::create_symlink(
        lines_of(run_program({"sh", "-c", std::string("command -v ") + name}).out)[0], bin / name);
  }
  const std::string path = "PATH=" + bin.string();
  CHECK(build.halo({"run", "1"}, {path}).status == 0);
  const Ended ended = build.halo({"run", "3"}, {path});
  require_one_line(ended, 2);
  CHECK_THAT(ended.err, contains("03_third-sim is not built"));
}

TEST_CASE("a folder that another process builds in is waited for") {
  FakeBuild build;
  two_stages(build);
  build.set_ninja(kWork);
  // The other builds until this one has said that it waits.
  const Ended ended = run_program(
      {"sh", "-c",
       "flock \"$1\" sh -c ': > \"$0/taken\"; until grep -q waiting \"$0/said\"; do sleep 0.05; "
       "done; "
       ": > \"$0/released\"' \"$1\" &\n"
       ": > \"$1/said\"; until [ -e \"$1/taken\" ]; do sleep 0.05; done\n"
       "PATH=\"$1/bin:$PATH\" \"$0\" --build \"$1\" run --on sim 2>\"$1/said\"; status=$?\n"
       "[ -e \"$1/released\" ] || echo 'not waited for'; cat \"$1/said\" >&2; exit $status",
       required_variable("HALO_CLI"), build.path().string()});
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, !contains("not waited for"));
  CHECK_THAT(ended.err, contains("waiting for another ./halo"));
}

TEST_CASE("a stop signal while it builds leaves neither ninja nor a program behind") {
  FakeBuild build;
  two_stages(build);
  build.add_program("01_first", "sim",
                    "echo $$ > '" + (build.path() / "program").string() + "'; exec sleep 60");
  // The first is built at once, the second is being built when the signal comes.
  build.set_ninja(kWork + "case $words in *02_second*) echo $$ > '" +
                  (build.path() / "ninja").string() + "'; exec sleep 60;; esac");
  for (const char* signal : {"TERM", "INT"}) {
    CAPTURE(signal);
    for (const char* file : {"program", "ninja"}) fs::remove(build.path() / file);
    const Ended ended = run_program(
        {"env", "PATH=" + (build.path() / "bin").string() + ":" + std::getenv("PATH"), "sh", "-c",
         // An interrupt is ignored in the background of a shell: the command is told to take it.
         "env --default-signal=INT \"$0\" --build \"$1\" run --on sim & pid=$!\n" +
             wait_until("[ -s \"$1/ninja\" ] && [ -s \"$1/program\" ]") +
             "kill -$2 $pid; wait $pid; status=$?\n"
             "for file in ninja program; do\n"
             "  if kill -0 $(cat \"$1/$file\"); then echo \"$file is alive\"; fi\ndone\n"
             "exit $status",
         required_variable("HALO_CLI"), build.path().string(), signal});
    CAPTURE(ended.out, ended.err);
    CHECK(ended.status == (signal == std::string("TERM") ? 143 : 130));
    CHECK(ended.out.empty());
  }
}

TEST_CASE("off a terminal a long run says what it does, at once and then less and less often") {
  FakeBuild build;
  const fs::path told = build.told("first", {good_row("01_first", "early")});
  build.add_program(
      "01_first", "sim",
      "echo '{\"progress\":\"shape 2 of 46\"}' >&3; sleep 5; cat '" + told.string() + "' >&3");
  build.set_ninja(kWork + "echo '[7/12] Compiling'; sleep 3");
  const Ended ended = build.halo({"run", "--all"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  const auto lines = lines_of(ended.err);
  // Of 8 s two of progress, and the notice; each further line takes a slow machine twice as long.
  REQUIRE((lines.size() >= 3 && lines.size() < 8));
  CHECK(lines[0] == "halo: building 01_first-sim: 7 of 12");
  CHECK_THAT(ended.err, contains("halo: running 01_first (1 of 1) on the simulator, ") &&
                            contains("s: shape 2 of 46"));
  CHECK(ended.err.find('\r') == std::string::npos);
}

TEST_CASE("options of one family choose its stages, and no stage of another takes them") {
  FakeBuild build;
  two_stages(build);
  build.add_reporting_program("06_third", "sim", {good_row("06_third", "direct")}, 0);
  build.add_family("06_third", "conv2d");
  const Ended layers = build.halo({"run", "--all", "--layer", "7-1-3-2-1", "--batch", "1,8"});
  CAPTURE(layers.out, layers.err);
  CHECK(layers.status == 0);
  CHECK_THAT(layers.out, contains("direct") && !contains("early") && !contains("late"));
  CHECK_THAT(read_file(build.path() / "words"), contains("--layer 7-1-3-2-1 --batch 1,8"));
  const Ended signals = build.halo({"run", "--all", "--length", "1000"});
  CHECK_THAT(signals.out, !contains("direct") && contains("early") && contains("late"));
  const Ended all = build.halo({"run", "--all", "--seed", "3"});
  CHECK_THAT(all.out, contains("direct") && contains("early"));
  build.halo({"run", "--layers", "cuconv"});
  CHECK(build.ninja_words().back() == "stages/06_third/06_third-sim -n");

  FakeBuild signals_only;
  two_stages(signals_only);
  const Ended none = signals_only.halo({"run", "--layer", "7-1-3-2-1"});
  require_one_line(none, 77);
  CHECK(none.err == "halo: no stage of conv2d is set up here (./halo list)\n");

  const Ended wrong = build.halo({"run", "6", "--length", "1000"});
  require_one_line(wrong, 2);
  CHECK(wrong.err == "halo: --length is for conv1d, stage 06_third is conv2d\n");
  const Ended both = build.halo({"run", "--mask", "9", "--layer", "7-1-3-2-1"});
  require_one_line(both, 2);
  CHECK(both.err == "halo: --mask is for conv1d and --layer for conv2d: no stage has both\n");
}

TEST_CASE("a number that two stages share runs both, and each is known by its name") {
  FakeBuild build;
  two_stages(build);
  build.add_reporting_program("10_layout_convolution", "sim",
                              {good_row("10_layout_convolution", "lanes")}, 0);
  build.add_reporting_program("10_layout_transform", "sim",
                              {good_row("10_layout_transform", "tiled")}, 0);
  build.add_family("10_layout_convolution", "conv2d");
  build.add_family("10_layout_transform", "transform");
  const auto words = [&] { return lines_of(read_file(build.path() / "words")); };

  const Ended both = build.halo({"run", "10"});
  CAPTURE(both.out, both.err);
  CHECK(both.status == 0);
  CHECK_THAT(both.out, contains("lanes") && contains("tiled") && !contains("early"));
  CHECK(words().size() == 2);
  const Ended one = build.halo({"run", "10_layout_transform"});
  CHECK_THAT(one.out, contains("tiled") && !contains("lanes"));
  CHECK(build.ninja_words().front() ==
        "stages/10_layout_convolution/10_layout_convolution-sim "
        "stages/10_layout_transform/10_layout_transform-sim -n");

  // An option that only one of them has chooses it.
  const Ended problem = build.halo({"run", "10", "--problem", "28-128-16-to-nchw"});
  CHECK(problem.status == 0);
  CHECK_THAT(problem.out, contains("tiled") && !contains("lanes"));
  CHECK_THAT(words().back(), contains("--problem 28-128-16-to-nchw"));
  const Ended layer = build.halo({"run", "10", "--layer", "7-1-3-2-1"});
  CHECK_THAT(layer.out, contains("lanes") && !contains("tiled"));
  const Ended picture = build.halo({"run", "10", "--input", "photo.png"});
  CHECK_THAT(picture.out, contains("lanes") && !contains("tiled"));
  // Of which of them is it a variant?
  const std::size_t started = words().size();
  const Ended variant = build.halo({"run", "10", "--variant", "tiled"});
  require_one_line(variant, 2);
  CHECK(variant.err ==
        "halo: --variant: stage 10 has more than one program: name 10_layout_convolution or "
        "10_layout_transform\n");
  require_one_line(build.halo({"run", "10", "--length", "5"}), 2);
  require_one_line(build.halo({"run", "10", "--network", "lenet"}), 2);
  require_one_line(build.halo({"run", "1", "--problem", "128x10"}), 2);
  const Ended nowhere = build.halo({"run", "--problem", "128x10"});
  require_one_line(nowhere, 2);
  CHECK(nowhere.err == "halo: --problem needs a stage: ./halo run 11 --problem ...\n");
  CHECK(words().size() == started);
  CHECK(build.halo({"run", "10_layout_transform", "--variant", "tiled"}).status == 0);
}

TEST_CASE("options that two families have choose both, and pictures without a stage are layers'") {
  FakeBuild build;
  two_stages(build);
  build.add_reporting_program("06_third", "sim", {good_row("06_third", "direct")}, 0);
  build.add_family("06_third", "conv2d");
  build.add_reporting_program("13_network", "sim", {good_row("13_network", "lenet")}, 0);
  build.add_family("13_network", "network");
  const auto shown = [&](std::vector<std::string> args) {
    args.push_back("--all");
    const Ended ended = build.halo(args);
    CAPTURE(args, ended.err);
    CHECK(ended.status == 0);
    std::string text;
    for (const char* variant : {"early", "direct", "lenet"}) {
      if (ended.out.find(variant) != std::string::npos) text += std::string(variant) + " ";
    }
    return text;
  };
  CHECK(shown({"run", "--batch", "8"}) == "direct lenet ");
  CHECK(shown({"run", "--batch", "8", "--network", "lenet"}) == "lenet ");
  CHECK(shown({"run", "--batch", "8", "--filter", "sobel", "--input", "x.npy"}) == "direct ");
  CHECK(shown({"run", "--input", "photo.png"}) == "direct ");
  CHECK(shown({"run", "--input", "voice.wav"}) == "early ");
  CHECK(shown({"run", "13", "--input", "digit.png"}) == "lenet ");
  CHECK(shown({"run", "--input", "digit.png", "--weights", "w.npz"}) == "lenet ");
  require_one_line(build.halo({"run", "06", "--weights", "w.npz"}), 2);
  require_one_line(build.halo({"run", "13", "--output", "x.png", "--input", "digit.png"}), 2);
}

TEST_CASE(
    "a network's program tells its run itself, and beside other stages only the whole is shown") {
  FakeBuild build;
  Row whole = good_row("13_network", "planned");
  whole.problem = {{"network", "digits"}, {"layer", "all"}};
  Row layer = good_row("13_network", "layerwise");
  layer.problem = {{"network", "digits"}, {"layer", "conv1"}};
  const fs::path file = build.told("network", {whole, layer});
  build.add_program("13_network", "sim",
                    "echo 'seed 1'\necho 'It is a 7'\ncat '" + file.string() + "' >&3");
  build.add_family("13_network", "network");
  build.add_reporting_program("06_third", "sim", {good_row("06_third", "direct")}, 0);
  build.add_family("06_third", "conv2d");
  const Ended alone = build.halo({"run", "13"});
  CHECK(alone.status == 0);
  CHECK(alone.out == "It is a 7\n");
  const Ended all = build.halo({"run", "--all"});
  CHECK(all.status == 0);
  CHECK_THAT(all.out, contains("planned") && contains("direct") && !contains("layerwise"));
}

TEST_CASE("a plan goes to the user as the stage prints it") {
  FakeBuild build;
  build.add_program("07_planner", "sim",
                    "case \"$words\" in *abacus*) echo '07_planner-sim: no such GPU' >&2; exit 2;; "
                    "esac\necho \"$words\"; echo; echo '  P = 3'");
  build.add_family("07_planner", "conv2d");
  const Ended ended =
      build.halo({"run", "07", "--plan", "--layer", "224-1-3-64-1", "--gpu", "v100"});
  CHECK(ended.status == 0);
  CHECK(ended.err.empty());
  CHECK(ended.out == "--plan --layer 224-1-3-64-1 --gpu v100\n\n  P = 3\n");
  const Ended wrong = build.halo({"run", "7", "--plan", "--gpu", "abacus"});
  require_one_line(wrong, 2);
  CHECK(wrong.err == "halo: no such GPU\n");
}

TEST_CASE("list tells the stages, their variants, what came of them here and what is next") {
  FakeBuild build;
  build.add_unbuilt_program("01_first", "sim");
  build.add_reporting_program("10_second", "sim", {good_row("10_second", "late")}, 0);
  build.add_program(
      "10_third", "sim",
      "case $words in *--list*) echo 'naive           plain'; echo 'npp   peer  theirs'\n"
      "echo '       NOT RUN: it is not here';; esac");
  fs::create_directories(build.path() / "stages" / "01_first");
  std::ofstream(build.path() / "stages" / "course.csv")
      << "stage,family,page,bench sets,title\n01_first,conv1d,01_first,,The loop\n";
  std::ofstream(build.path() / "stages" / "01_first" / "1_early.cu")
      << "// Run        ./halo run 01 --variant early   (and more)\n";
  Ended list = build.halo({"list"});
  CHECK(list.status == 0);
  CHECK(list.out ==
        "#    stage   what      last run here\n"
        "01   first   The loop  not yet\n"
        "    early\n"
        "10a  second            not yet\n"
        "10b  third             not yet\n"
        "    naive\n"
        "next: read docs/01_first.md, then ./halo run 01\n");
  // One of two that have a number.
  const Ended run = build.halo({"run", "10a"});
  CHECK(run.status == 0);
  CHECK_THAT(run.out, contains("late"));
  CHECK_THAT(build.halo({"list"}).out, contains("10a  second            ok just now\n"));
  // What is only a part of the stage, or somebody's own problem, says nothing of it.
  Row bad = good_row("10_second", "late");
  bad.check.outcome = Outcome::bad;
  build.told("10_second-sim", {bad});
  CHECK(build.halo({"run", "10a", "--variant", "late"}).status == 1);
  CHECK_THAT(build.halo({"list"}).out, contains("10a  second            ok just now\n"));
  CHECK(build.halo({"run", "10a"}).status == 1);
  CHECK_THAT(build.halo({"list"}).out, contains("10a  second            FAIL just now\n"));
  // Older than the sources.
  std::ofstream(build.path() / "halo-runs.txt") << "nonsense\n01_first 1000000 ok\n10_third x\n";
  list = build.halo({"list"});
  CHECK_THAT(list.out, contains("The loop  ok ") && contains(" days ago, edited since\n"));
  CHECK_THAT(list.out, contains("10b  third             not yet\n"));
  // Saved in the second of the run, and run then.
  const fs::file_time_type saved = fs::file_time_type::clock::from_sys(
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(1'000'000'900)));
  fs::last_write_time(build.path() / "stages" / "01_first" / "1_early.cu", saved);
  CHECK_THAT(build.halo({"list"}).out, contains("The loop  ok ") && !contains("edited since"));
}

TEST_CASE("doctor begins with what can be done here and what cannot") {
  FakeBuild build;
  two_stages(build);
  const Ended doctor = build.halo({"doctor"});
  CHECK(doctor.status == 0);
  CHECK(lines_of(doctor.out)[0] ==
        "ready: check, hazards and traffic on the simulator. Not possible here: times on a GPU (no "
        "NVIDIA driver on this machine).");
  CHECK_THAT(doctor.out, contains("next: ./halo list"));
  CHECK_THAT(doctor.out, contains("1.6.39") && contains("libsndfile1-dev"));
  FakeBuild nothing;
  nothing.add_reporting_program("01_first", "gpu", {good_row("01_first", "early")}, 0);
  const Ended none = nothing.halo({"doctor"});
  CHECK(none.status == 77);
  CHECK_THAT(none.out, contains("not ready: no simulator is built"));
  CHECK(
      lines_of(nothing.halo({"doctor"}, {nothing.with_gpu()}).out)[0] ==
      "ready: check and times on the GPU. Not possible here: hazards and traffic (no simulator is "
      "built).");
}

TEST_CASE("what was probably meant is said") {
  FakeBuild build;
  two_stages(build);
  build.add_test("simt-a", "simt");
  const std::pair<std::vector<std::string>, const char*> mistyped[] = {
      {{"rnu"}, "unknown command 'rnu'; did you mean run?"},
      {{"run", "--lenght", "100"}, "unknown option --lenght; did you mean --length?"},
      {{"run", "01", "--lenght=100"}, "unknown option --lenght; did you mean --length?"},
      {{"run", "frist"}, "no stage 'frist' (there are 01 02"},
      {{"run", "first"}, "no stage 'first'; did you mean 01_first?"},
      {{"run", "--on", "gup"}, "; did you mean gpu?"},
      {{"test", "smit"}, "no test 'smit'; did you mean simt?"},
      {{"report", "x.json", "--sumary"}, "unknown option --sumary; did you mean --summary?"},
      {{"run", "01", "02"}, "too many arguments: '02'"},
      {{"run", "01", "--length"}, "--length needs a value after it"},
      {{"run", "01", "--length", ""}, "--length: the value is empty"},
      {{"run", "01", "--length", "5", "--length", "6"}, "--length is given more than once"},
      {{"run", "01", "\xe2\x80\x94length", "5"}, "options begin with two hyphens"},
      {{"run", "--length="}, "--length: the value is empty"},
      {{"run", ""}, "an argument after 'run' is empty"},
      {{"dance"}, "unknown command 'dance' (run, bench"},
  };
  for (const auto& [words, expected] : mistyped) {
    const Ended ended = build.halo(words);
    CAPTURE(words);
    require_one_line(ended, 2);
    CHECK_THAT(ended.err, contains(expected));
  }
  // What a terminal would obey does not reach it.
  CHECK_THAT(build.halo({"run", "a\x1b[31m\nb"}).err, contains("no stage 'a?[31m?b'"));
}

TEST_CASE("a folder that is no build folder is named") {
  FakeBuild build;
  fs::remove_all(build.path() / "meson-info");
  const Ended ended = build.halo({"run", "--all"});
  CHECK(ended.status == 2);
  CHECK_THAT(ended.err, contains(build.path().string()));
}

TEST_CASE("a flag of the programs is passed on without a value") {
  FakeBuild build;
  two_stages(build);
  const fs::path json = build.path() / "all.json";
  CHECK(build.halo({"run", "1", "--no-trials", "--seed", "7", "--json", json.string()}).status ==
        0);
  CHECK(read_file(build.path() / "words") == "--no-trials --seed 7\n");
  CHECK(read_json(json.string()).command == "halo run 1 --on sim --no-trials --seed 7");
  require_one_line(build.halo({"bench", "--no-trials"}), 2);
}

TEST_CASE("without a stage libraries are not tried on a GPU, unless tables or results are wanted") {
  FakeBuild build;
  two_stages(build);
  build.add_reporting_program("01_first", "gpu", {timed_row("01_first", "gpu", "fast", 1)}, 0);
  const auto words = [&](std::vector<std::string> args) {
    fs::remove(build.path() / "words");
    args.insert(args.begin(), {"run", "--seed", "7"});
    CHECK(build.halo(args, {build.with_gpu()}).status == 0);
    return read_file(build.path() / "words");
  };
  CHECK(words({}) == "--no-peers --seed 7\n");
  CHECK(words({"--no-peers"}) == "--no-peers --seed 7\n");
  CHECK(words({"--all"}) == "--seed 7\n");
  CHECK(words({"1"}) == "--seed 7\n");
  CHECK(words({"--json", (build.path() / "all.json").string()}) == "--seed 7\n");
  CHECK_THAT(words({"--on", "sim"}), !contains("--no-peers"));
}

TEST_CASE("traffic that differs fails with --strict only, and the programs must agree") {
  Row row = good_row("01_first", "early");
  row.traffic.outcome = Outcome::bad;
  for (const int status : {0, 1}) {
    FakeBuild build;
    build.add_reporting_program("01_first", "sim", {row}, status);
    INFO(status);
    const Ended lenient = build.halo({"run", "1"});
    const Ended strict = build.halo({"run", "1", "--strict"});
    CHECK(lenient.status == status);
    CHECK(strict.status == 1);
    CHECK_THAT(read_file(build.path() / "words"), contains("--strict --seed"));
    CHECK_THAT((status == 0 ? strict : lenient).out, contains("which its 1 result rows do not"));
  }
}

TEST_CASE("help COMMAND is COMMAND --help, and options stand under their families") {
  FakeBuild build;
  const Ended help = build.halo({"help", "run"});
  CHECK(help.status == 0);
  CHECK(help.out == build.halo({"run", "--help"}).out);
  CHECK(help.out.find("Of all stages:") < help.out.find("--variant NAME"));
  CHECK(help.out.find("--variant NAME") < help.out.find("Of conv1d:"));
  CHECK(help.out.find("Of conv1d:") < help.out.find("--length N"));
  CHECK(help.out.find("--length N") < help.out.find("Of conv2d:"));
  for (const std::string& line : lines_of(help.out)) CHECK(line.size() <= 100);
  CHECK(build.halo({"help"}).out == build.halo({"--help"}).out);
  require_one_line(build.halo({"help", "dance"}), 2);
  CHECK(build.halo({"--version"}).status == 0);
}

TEST_CASE("--help tells what each family makes of an option") {
  FakeBuild build;
  std::string run;  // as one line
  std::istringstream words(build.halo({"run", "--help"}).out);
  for (std::string word; words >> word;) run += word + " ";
  CHECK_THAT(run, contains("--input FILE") && contains("conv1d: run on every channel") &&
                      contains("network: what digit is it?"));
  CHECK_THAT(build.halo({"bench", "--help"}).out,
             !contains("--input") && contains("--layers TABLE") && contains("--batch N[,N]"));
}

TEST_CASE("without a stage each is one line as it ends, then the sum and what next") {
  FakeBuild build;
  two_stages(build);
  const Ended good = build.halo({"run"});
  CAPTURE(good.out, good.err);
  CHECK(good.status == 0);
  const auto lines = lines_of(good.out);
  REQUIRE(lines.size() == 5);
  CHECK_THAT(lines[0], contains("01 first") && contains("2 variants  ok"));
  CHECK_THAT(lines[1], contains("02 second") && contains("1 variant  ok"));
  CHECK_THAT(lines[2], contains("all good: 2 stages, 3 variants, 93 shapes, 0 hazards, traffic as "
                                "predicted, "));
  CHECK(lines[3] == "NOT RUN times: the simulator has no time");
  CHECK_THAT(lines[4], contains("next: ./halo run 01 ") && contains("./halo run --all"));
  CHECK_THAT(build.halo({"run", "--all"}).out, contains("stage  variant") && contains("early"));

  Row bad = good_row("02_second", "late");
  bad.check.outcome = Outcome::bad;
  bad.check.reason = "output 3 is wrong";
  build.add_reporting_program("02_second", "sim", {bad}, 1);
  const Ended failed = build.halo({"run"});
  CHECK(failed.status == 1);
  CHECK_THAT(failed.out, contains("FAIL  late\n") && contains("output 3 is wrong") &&
                             contains("FAIL: 02; of 2 stages") && contains("next: ./halo run 02") &&
                             !contains("all good"));
}

TEST_CASE("what a stage shows is as wide as the terminal") {
  FakeBuild build;
  two_stages(build);
  const Ended narrow = build.halo({"run", "1"}, {"COLUMNS=60"});
  for (const std::string& line : lines_of(narrow.out)) {
    CAPTURE(line);
    CHECK(line.size() <= 60);
  }
  CHECK_THAT(narrow.out, contains("early") && contains("EQUAL"));
}

TEST_CASE("a problem that was refused is NOT RUN, whatever was tried before it") {
  FakeBuild build;
  Row row = good_row("06_third", "one_channel");
  row.check = {Outcome::not_run, "it knows no padding", 2, 0.5, 2};
  row.hazards = {Outcome::not_run, "it knows no padding", {}};
  row.traffic = {};
  build.add_reporting_program("06_third", "sim", {row}, 77);
  const Ended ended = build.halo({"run", "6"});
  CHECK(ended.status == 77);
  CHECK_THAT(ended.out, contains("NOT RUN one_channel: it knows no padding (its own trials: 2 "
                                 "shapes, all right)") &&
                            !contains("PASS"));
}

namespace {

// Shell lines that tell the command: these rows, then that the variant is begun.
std::string telling(const FakeBuild& build, const std::string& name, const std::vector<Row>& rows,
                    const Row* begun = nullptr) {
  std::string lines = "cat '" + build.told(name, rows).string() + "' >&3\n";
  if (begun == nullptr) return lines;
  const fs::path file = build.path() / (name + ".begun");
  std::ofstream(file) << begin_line(*begun) << "\n";
  return lines + "cat '" + file.string() + "' >&3\n";
}

}  // namespace

TEST_CASE("a crash belongs to its variant, and the others of the stage still run") {
  FakeBuild build;
  const Row early = good_row("01_first", "early");
  const Row late = good_row("01_first", "late");
  Row middle = good_row("01_first", "middle");
  middle.check = {};
  build.add_program("01_first", "sim",
                    "case \"$words\" in *'--without middle'*)\n" +
                        telling(build, "rest", {early, late}) + "exit 0;; esac\n" +
                        telling(build, "first", {early}, &middle) +
                        "echo 'about to fall' >&2; kill -SEGV $$");
  const fs::path json = build.path() / "all.json";
  const Ended ended = build.halo({"run", "1", "--json", json.string()});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("01 middle  CRASHED  signal 11 (Segmentation fault)") &&
                            contains("about to fall") && contains("late"));
  const std::vector<Row> rows = read_json(json.string()).rows;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].variant == "early");
  CHECK(rows[1].variant == "late");
  CHECK(rows[2].variant == "middle");
  CHECK(rows[2].check.outcome == Outcome::bad);
  CHECK(rows[2].check.crash == "signal 11 (Segmentation fault)");
  CHECK_THAT(build.halo({"run"}).out, contains("FAIL  middle\n") && contains("CRASHED"));
}

TEST_CASE("two variants that crash, and one that is alone") {
  FakeBuild build;
  Row first = good_row("01_first", "early");
  first.check = {};
  Row second = good_row("01_first", "late");
  second.check = {};
  build.add_program("01_first", "sim",
                    "case \"$words\" in *'--without early,late'*)\n"
                    "echo '01: NOT RUN: no variant is left' >&2; exit 77;; *--without*)\n" +
                        telling(build, "second", {}, &second) + "kill -ABRT $$;; esac\n" +
                        telling(build, "first", {}, &first) + "kill -SEGV $$");
  const Ended ended = build.halo({"run", "1"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("01 early  CRASHED  signal 11") &&
                            contains("01 late  CRASHED  signal 6") && !contains("(program)"));
  // Who names the variant does not wait for others.
  const Ended alone = build.halo({"run", "1", "--variant", "early"});
  CHECK(alone.status == 1);
  CHECK_THAT(alone.out, contains("01 early  CRASHED  signal 11"));
}

TEST_CASE("a variant that takes too much memory is ended and told, and the others still run") {
  FakeBuild build;
  Row greedy = good_row("01_first", "greedy");
  greedy.check = {};
  build.add_program("01_first", "sim",
                    "case \"$words\" in *--without*)\n" +
                        telling(build, "rest", {good_row("01_first", "late")}) + "exit 0;; esac\n" +
                        telling(build, "first", {}, &greedy) +
                        "all=$(head -c 50000000 /dev/zero | tr '\\0' x)\nsleep 60; : $all");
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_RSS, &before) == 0);
  const rlimit little = {rlim_t{30} << 20, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_RSS, &little) == 0);
  const Ended ended = build.halo({"run", "1"});
  REQUIRE(setrlimit(RLIMIT_RSS, &before) == 0);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("01 greedy  CRASHED  more than 30 MiB of memory") &&
                            contains("never freed") && contains("late"));
}

TEST_CASE("a program built for another processor is told as that, and no variant is blamed") {
  FakeBuild build;
  Row first = good_row("01_first", "early");
  first.check = {};
  build.add_program("01_first", "cpu", telling(build, "first", {}, &first) + "kill -ILL $$");
  const Ended ended = build.halo({"run", "1"});
  require_one_line(ended, 2);
  CHECK_THAT(ended.err,
             contains("01_first was built for another processor than this one: delete "));
}

TEST_CASE("a variant without a sign of life is ended and told, and the others still run") {
  FakeBuild build;
  Row endless = good_row("01_first", "endless");
  endless.check = {};
  build.add_program("01_first", "sim",
                    "case \"$words\" in *--without*)\n" +
                        telling(build, "rest", {good_row("01_first", "late")}) + "exit 0;; esac\n" +
                        telling(build, "first", {}, &endless) + "exec sleep 600");
  const Ended ended = build.halo({"run", "1", "--time-limit", "1"});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK_THAT(ended.out, contains("01 endless  CRASHED  no sign of life for 1 s") &&
                            contains("endless loop?") && contains("late"));
  require_one_line(build.halo({"run", "1", "--time-limit", "soon"}), 2);
}

TEST_CASE("what a program prints is shown if that is asked for") {
  FakeBuild build;
  build.add_program("01_first", "sim",
                    "echo 'seed 5'\necho 'debug 3568'\n" +
                        telling(build, "rest", {good_row("01_first", "late")}));
  CHECK_THAT(build.halo({"run", "1"}).out, !contains("debug 3568"));
  CHECK_THAT(build.halo({"run", "1", "--show-output"}).out,
             contains("debug 3568") && !contains("seed 5"));
}

TEST_CASE("of a file of one's own the answer comes first, and the rest if it is asked for") {
  FakeBuild build;
  Row first = good_row("06_third", "direct");
  first.traffic.bytes_per_output_counted = 55.7;
  Row second = good_row("06_third", "tiled");
  second.traffic.bytes_per_output_counted = 8.2;
  Row refused = good_row("06_third", "single");
  refused.check = {};
  refused.check.reason = "it is made for one channel";
  build.add_program(
      "06_third", "sim",
      "echo 'seed 5'\necho 'wrote edges.png: 3 channels of 60 x 40 pixels, by tiled'\n" +
          telling(build, "rest", {first, second, refused}));
  build.add_family("06_third", "conv2d");
  const Ended lead = build.halo({"run", "6", "--input", "photo.png"});
  CAPTURE(lead.out, lead.err);
  CHECK(lead.status == 0);
  CHECK(lead.out ==
        "wrote edges.png: 3 channels of 60 x 40 pixels, by tiled; checked against a reference in "
        "double precision: right, no hazards\n"
        "2 variants are right: direct, tiled\n"
        "bytes per output: direct 55.70, tiled 8.20\n"
        "details: --all\n");
  CHECK_THAT(lead.err, !contains("wrote"));
  const Ended all = build.halo({"run", "6", "--input", "photo.png", "--all"});
  CHECK_THAT(all.out, contains("stage  variant") && contains("it is made for one channel"));
  CHECK_THAT(all.err, contains("halo: wrote edges.png"));

  // What failed is shown as always.
  Row bad = first;
  bad.check.outcome = Outcome::bad;
  build.add_reporting_program("06_third", "sim", {bad}, 1);
  CHECK_THAT(build.halo({"run", "6", "--input", "photo.png"}).out, contains("06 direct  FAIL"));
}

TEST_CASE("which digit it is is said first") {
  FakeBuild build;
  Row whole = good_row("13_network", "planned");
  whole.problem = {{"network", "digits"}, {"layer", "all"}};
  build.add_program(
      "13_network", "sim",
      "printf 'seed 1\\nIt is a 7 (99.4 %%).    9: 0.4 %%\\nby planned\\n\\ntable\\n'\n" +
          telling(build, "network", {whole}));
  build.add_family("13_network", "network");
  CHECK(build.halo({"run", "13", "--input", "digit.png"}).out ==
        "It is a 7 (99.4 %).    9: 0.4 %\nby planned\ndetails: --all\n");
  CHECK_THAT(build.halo({"run", "13", "--input", "digit.png", "--all"}).out,
             contains("It is a 7") && contains("table"));
}
