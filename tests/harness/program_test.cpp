// Stage programs as their users meet them: exit status, one line on stderr, files whole or absent.
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/conv/inputs.hpp"
#include "common/data/signal.hpp"
#include "common/harness/core/timing.hpp"
#include "common/harness/families/conv1d.hpp"
#include "common/report/json.hpp"
#include "common/report/row_tables.hpp"
#include "tests/catch.hpp"
#include "tests/harness/captured.hpp"
#include "tests/harness/wrong_variants.hpp"

using namespace halo;
using test::Approx;
using test::contains;
using test::Ended;
using test::Folder;
using test::read_text;

namespace {

namespace fs = std::filesystem;

Conv1dStage stage_of(std::vector<Conv1dVariant> variants) {
  return {"01_conv1d_cpu", std::move(variants)};
}

Ended run(const Conv1dStage& stage, const std::vector<const char*>& arguments,
          std::unique_ptr<Backend> backend = make_backend(),
          const std::vector<Conv1dVariant>& peers = {}) {
  return test::captured(arguments, [&](int argc, const char* const* argv) {
    return run_program<Conv1dProblem>(argc, argv, {stage}, peers, std::move(backend),
                                      test::kBriefTiming);
  });
}

Conv1dStage plain() {
  Conv1dVariant first = test::plain_variant();
  first.description = "the plain loop";
  Conv1dVariant second = test::right_variants().at(1);
  return stage_of({first, second});
}

Conv1dVariant wrong(const std::string& name) {
  for (const Conv1dVariant& variant : test::wrong_variants()) {
    if (variant.name == name) return variant;
  }
  FAIL("no such variant");
  return {};
}

}  // namespace

TEST_CASE("a good run exits 0 and shows each variant and the seed") {
  const auto [status, out, err] = run(plain(), {"--length", "1000", "--seed", "7"});
  CHECK(status == 0);
  CHECK(err == "");
  CHECK_THAT(out, contains("seed 7\n"));
  CHECK_THAT(run(plain(), {"--length", "1000", "--seed", "18446744073709551615"}).out,
             contains("seed 18446744073709551615\n"));
  CHECK_THAT(out, contains("length 1,000, mask width 9"));
  CHECK_THAT(out, contains("plain"));
  CHECK_THAT(out, contains("taps backwards"));
  CHECK_THAT(out, contains("GFLOP/s"));
}

TEST_CASE("a wrong variant makes the program exit 1 and is never timed") {
  const auto [status, out, err] =
      run(stage_of({test::plain_variant(), wrong("flipped mask")}), {"--length", "1000"});
  CHECK(status == 1);
  CHECK_THAT(out, contains("FAIL"));
  CHECK_THAT(out, contains("time of flipped mask: it failed its check"));
}

namespace {

// A machine whose clock and whose calls do what a test says, and which keeps a diary.
class PlannedMachine final : public test::NoGpu {
 public:
  std::string unavailable() override { return {}; }
  double clock_mhz() override { return clock ? clock() : -1; }

  std::function<double()> clock;
  std::vector<std::string> diary;
};

// Calls that take what `ms` says, each time it is asked.
class PlannedBatch final : public Batch {
 public:
  PlannedBatch(PlannedMachine& machine, std::string name, int calls, std::function<double()> ms)
      : machine_(machine), name_(std::move(name)), calls_(calls), ms_(std::move(ms)) {}
  double run() override {
    machine_.diary.push_back(name_);
    return calls_ * ms_();
  }
  KernelFigures figures() const override { return {{{1, 10, 32, 128}}, 20, 8}; }
  std::string method() const override { return "planned, " + std::to_string(calls_) + " calls"; }

 private:
  PlannedMachine& machine_;
  std::string name_;
  int calls_;
  std::function<double()> ms_;
};

Candidate passed(PlannedMachine& machine, const std::string& name, std::function<double()> ms,
                 int cold_calls = 0) {
  Candidate candidate;
  candidate.row.variant = name;
  candidate.row.backend = "gpu";
  candidate.check = [](Row& row, Progress&) { row.check.outcome = Outcome::good; };
  candidate.batch = [&machine, name, ms](int calls, Cache cache) {
    return std::make_unique<PlannedBatch>(machine, name + (cache == Cache::cold ? " cold" : ""),
                                          calls, ms);
  };
  candidate.cold_calls = [cold_calls] { return cold_calls; };
  candidate.min_bytes = 8e6;
  return candidate;
}

std::vector<Row> time(PlannedMachine& machine, std::vector<Candidate> candidates) {
  Progress progress;
  return run_candidates(candidates, machine, progress);
}

}  // namespace

TEST_CASE("only what is right is timed, also if it costs otherwise") {
  PlannedMachine machine;
  const auto candidate = [&](Outcome check, Outcome hazards, Outcome traffic) {
    Candidate made = passed(machine, "x", [] { return 4.0; });
    made.check = [=](Row& row, Progress&) {
      row.check.outcome = check;
      row.hazards.outcome = hazards;
      row.traffic.outcome = traffic;
    };
    return made;
  };
  constexpr Outcome good = Outcome::good, bad = Outcome::bad, not_run = Outcome::not_run;
  for (const Row& row : time(machine, {candidate(bad, good, good), candidate(good, bad, good),
                                       candidate(not_run, good, good)})) {
    CHECK(row.time.outcome == not_run);
    CHECK(row.time.reason == "it failed its check");
  }
  CHECK(machine.diary.empty());
  const std::vector<Row> rows = time(machine, {candidate(good, not_run, not_run)});
  CHECK(rows[0].time.outcome == good);
  CHECK(rows[0].time.hot.median_ms == 4.0);
  CHECK(rows[0].time.hot.rounds >= 9);
  CHECK(rows[0].time.method == "planned, 1 calls");
  CHECK(rows[0].traffic.figures.counted == std::vector<LaunchFigures>{{1, 10, 32, 128}});
  CHECK(rows[0].traffic.figures.registers == 20);
  CHECK(rows[0].traffic.figures.local_bytes == 8);
  CHECK(rows[0].time.gb_per_s == Approx(2.0));
  CHECK(machine.diary.size() > 9);
  CHECK(time(machine, {candidate(good, good, bad)})[0].time.outcome == good);
}

TEST_CASE("a variant whose timed call fails is a failure, and the others are timed") {
  PlannedMachine machine;
  const auto rows = time(
      machine,
      {passed(machine, "lost", []() -> double { throw std::runtime_error("the device is lost"); }),
       passed(machine, "fine", [] { return 1.0; })});
  CHECK(rows[0].time.outcome == Outcome::bad);
  CHECK(rows[0].time.reason == "the device is lost");
  CHECK(rows[1].time.outcome == Outcome::good);
  CHECK(exit_status(rows) == 1);
}

TEST_CASE("rounds take turns: every candidate meets the same machine") {
  PlannedMachine machine;
  const auto rows = time(machine, {passed(
                                       machine, "A", [] { return 1.0; }, 3),
                                   passed(
                                       machine, "B", [] { return 2.0; }, 3)});
  // The last entries of the diary are the rounds.
  const std::vector<std::string> round = {"A cold", "A", "B cold", "B"};
  const int rounds = rows[0].time.hot.rounds;
  REQUIRE(rounds >= 9);
  REQUIRE(machine.diary.size() > round.size() * rounds);
  const auto start = machine.diary.end() - static_cast<std::ptrdiff_t>(round.size()) * rounds;
  for (int i = 0; i < rounds * static_cast<int>(round.size()); ++i) {
    CHECK(*(start + i) == round[i % round.size()]);
  }
  CHECK(rows[1].time.ratio_to_previous == Approx(0.5));
}

TEST_CASE("short calls are repeated, and cold calls in whole turns of the arrays") {
  PlannedMachine machine;
  std::vector<std::pair<int, Cache>> asked;
  Candidate short_calls = passed(machine, "short", [] { return 0.01; });
  const auto batch = short_calls.batch;
  short_calls.batch = [&](int calls, Cache cache) {
    asked.emplace_back(calls, cache);
    return batch(calls, cache);
  };
  short_calls.cold_calls = [] { return 170; };
  time(machine, {short_calls});
  REQUIRE(asked.size() == 4);
  CHECK(asked[0] == std::pair{1, Cache::hot});
  CHECK(asked[1] ==
        std::pair{400, Cache::hot});  // 4 ms, if a call alone tells how long one among others takes
  CHECK(asked[2] == std::pair{400, Cache::hot});   // it does
  CHECK(asked[3] == std::pair{510, Cache::cold});  // three turns
}

TEST_CASE("one call that fills the cache is cold as well as hot") {
  PlannedMachine machine;
  const auto rows = time(machine, {passed(
                                       machine, "huge", [] { return 3.0; }, 1),
                                   passed(
                                       machine, "no cache", [] { return 3.0; }, 0)});
  CHECK(rows[0].time.cold.median_ms == 3.0);
  CHECK(rows[0].time.cold.rounds == rows[0].time.hot.rounds);
  CHECK(rows[1].time.cold.rounds == 0);
  CHECK(std::find(machine.diary.begin(), machine.diary.end(), "huge cold") == machine.diary.end());
}

TEST_CASE("rounds at a throttled clock are left out and counted") {
  PlannedMachine machine;
  int probes = 0;
  machine.clock = [&] { return ++probes % 3 == 0 ? 1400.0 : 1980.0; };
  double taken = 1.0;
  const auto rows =
      time(machine, {passed(machine, "A", [&] { return probes % 3 == 2 ? 1.5 : taken; })});
  CHECK(rows[0].time.outcome == Outcome::good);
  CHECK(rows[0].time.discarded_rounds == 5);
  CHECK(rows[0].time.hot.rounds == 10);
  CHECK(rows[0].time.hot.p90_ms == 1.0);
}

TEST_CASE("a variant that meets a low clock in every round is timed again") {
  // The first of the two always has the high clock, the second not in its first 15 rounds.
  PlannedMachine machine;
  int probes = 0;
  machine.clock = [&] { return ++probes % 2 == 1 || probes > 30 ? 1980.0 : 1000.0; };
  const auto again =
      time(machine, {passed(machine, "first", [] { return 1.0; }),
                     passed(machine, "rest", [&] { return probes < 30 ? 2.0 : 1.0; })});
  CHECK(again[1].time.outcome == Outcome::good);
  CHECK(again[1].time.hot.rounds == 15);
  CHECK(again[1].time.hot.median_ms == 1.0);
  CHECK(again[1].time.discarded_rounds == 0);
  CHECK(again[1].time.low_clock_mhz < 0);

  // If it is low again, the time stands, with its clock.
  probes = 0;
  machine.clock = [&] { return ++probes % 2 == 1 && probes < 30 ? 1980.0 : 1000.0; };
  const auto kept = time(machine, {passed(machine, "first", [] { return 1.0; }),
                                   passed(machine, "rest", [] { return 2.0; })});
  CHECK(kept[0].time.low_clock_mhz < 0);
  CHECK(kept[1].time.outcome == Outcome::good);
  CHECK(kept[1].time.hot.rounds == 15);
  CHECK(kept[1].time.hot.median_ms == 2.0);
  CHECK(kept[1].time.low_clock_mhz == 1000.0);
  CHECK_THAT(render_table(kept), contains("rest at 1000 MHz"));
  Results results;
  results.rows = kept;
  CHECK(results_from_json(to_json(results), "kept").rows.at(1).time.low_clock_mhz == 1000.0);
}

TEST_CASE("the spread of the same code against itself is told") {
  PlannedMachine machine;
  int round = 0;
  const auto rows = time(machine, {passed(machine, "A", [&] { return ++round % 2 ? 1.0 : 1.1; })});
  CHECK(rows[0].time.hot.repeat_spread > 0.08);
  CHECK(rows[0].time.hot.repeat_spread < 0.11);
  const auto steady = time(machine, {passed(machine, "A", [] { return 1.0; })});
  CHECK(steady[0].time.hot.repeat_spread == 0);
}

TEST_CASE("--bench with a length or a mask is that one problem") {
  const auto one = run(plain(), {"--bench", "--length", "777", "--mask", "31", "--seed", "1"});
  CHECK(one.status == 0);
  CHECK_THAT(one.out, contains("length 777, mask width 31"));
  CHECK_THAT(one.out, !contains("length 1,000"));
}

TEST_CASE("a copy is judged as a copy, a library that refuses a shape is not run") {
  Conv1dVariant copy;
  copy.name = "copy";
  copy.role = Role::copy;
  copy.launches([](const Conv1dCall& c) {
    std::copy(c.input + c.first, c.input + c.last, c.output + c.first);
    return 0;
  });
  Conv1dVariant short_copy = copy;
  short_copy.name = "short copy";
  short_copy.launches([](const Conv1dCall& c) {
    std::copy(c.input + c.first, c.input + c.last - 1, c.output + c.first);
    return 0;
  });
  const auto good = run(plain(), {"--length", "1000"}, make_backend(), {copy});
  CHECK(good.status == 0);
  CHECK_THAT(good.out, contains("copy"));
  const auto bad = run(plain(), {"--length", "1000"}, make_backend(), {short_copy});
  CHECK(bad.status == 1);
}

TEST_CASE("a variant says what it is not made for") {
  Conv1dStage stage = plain();
  stage.variants[1].refuses(up_to_taps(7));
  const auto wide = run(stage, {"--length", "1000", "--mask", "9"});
  CHECK(wide.status == 0);
  CHECK_THAT(wide.out, contains("it is made for masks of up to 7 taps"));
  Conv1dStage other = plain();
  other.variants[1].refuses(up_to_products(100, "a hundred products are its limit"));
  const auto many = run(other, {"--length", "1000"});
  CHECK(many.status == 0);
  CHECK_THAT(many.out, contains("a hundred products are its limit"));
}

TEST_CASE("wrong use is one line on stderr, exit 2, and nothing on stdout") {
  const Folder folder;
  std::ofstream(folder / "empty.wav");
  std::ofstream(folder / "foreign.npy") << "this is no array";
  data::write_signal(folder / "ok.npy", {{std::vector<float>(100, 1.0f)}, 0});
  data::write_signal(folder / "two.npy", {{{1, 2, 3}, {4, 5, 6}}, 0});
  const std::string whole = read_text(folder / "ok.npy");
  std::ofstream(folder / "cut.npy", std::ios::binary) << whole.substr(0, whole.size() - 9);
  const std::string empty = folder / "empty.wav", foreign = folder / "foreign.npy",
                    cut = folder / "cut.npy", ok = folder / "ok.npy", two = folder / "two.npy",
                    absent = folder / "absent.wav", nowhere = folder / "no/such/out.npy",
                    directory = folder.path();
  const std::vector<std::vector<const char*>> all = {
      {"--length", "0"},
      {"--length", "-1"},
      {"--length", "1e3"},
      {"--length", "12x"},
      {"--length", ""},
      {"--length", "2147483647"},
      {"--length", "9223372036854775808"},
      {"--length", "100000000000000000000000"},
      {"--length"},
      {"--length", "5", "--length", "6"},
      {"--threads", "0"},
      {"--threads", "-16"},
      {"--threads", "1025"},
      {"--threads", "2000"},
      {"--mask", "0"},
      {"--mask", "-3"},
      {"--mask", "4"},
      {"--mask", "1025"},
      {"--mask", "box:8"},
      {"--mask", "gaussian:0"},
      {"--mask", "triangle:9"},
      {"--mask", absent.c_str()},
      {"--mask", empty.c_str()},
      {"--mask", foreign.c_str()},
      {"--mask", two.c_str()},
      {"--mask", ok.c_str()},  // 100 weights: even
      {"--border", "mirror"},
      {"--border", "report", "--length", "5", "--mask", "9"},
      {"--seed", "-1"},
      {"--seed", "18446744073709551616"},
      {"--seed", "many"},
      {"--variant", "nothing"},
      {"--color", "red"},
      {"--colour", "auto"},
      {"--nonsense"},
      {"10"},
      {"--json", nowhere.c_str()},
      {"--json", directory.c_str()},
      {"--output", "x.npy"},
      {"--input", absent.c_str()},
      {"--input", empty.c_str()},
      {"--input", foreign.c_str()},
      {"--input", cut.c_str()},
      {"--input", directory.c_str()},
      {"--input", ok.c_str(), "--length", "5"},
      {"--bench", "--input", ok.c_str()},
      {"--input", ok.c_str(), "--mask", "31"},
      {"--input", ok.c_str(), "--output", nowhere.c_str()},
      {"--input", ok.c_str(), "--output", "result.mp3"},
  };
  test::require_wrong_use(all, [](const auto& arguments) { return run(plain(), arguments); });
  // Nothing was written, not even half.
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 5);
}

TEST_CASE("no GPU is 77 and one line, but wrong use is still wrong") {
  auto result = run(plain(), {}, std::make_unique<test::NoGpu>());
  CHECK(result.status == 77);
  CHECK(result.out == "");
  CHECK(result.err == "01_conv1d_cpu: NOT RUN: no GPU: the driver is missing\n");
  result = run(plain(), {"--length", "0"}, std::make_unique<test::NoGpu>());
  CHECK(result.status == 2);
}

TEST_CASE("--list and --help print and stop") {
  const auto list = run(plain(), {"--list"});
  CHECK(list.status == 0);
  CHECK_THAT(list.out, contains("plain"));
  CHECK_THAT(list.out, contains("the plain loop"));
  const auto help = run(plain(), {"--help"});
  CHECK(help.status == 0);
  for (const char* option : {"--length", "--threads", "--mask", "--border", "--seed", "--variant",
                             "--input", "--output", "--json", "--list", "--color"}) {
    CHECK_THAT(help.out, contains(option));
  }
}

TEST_CASE("the JSON of a run holds what the table shows") {
  const Folder folder;
  const std::string json = folder / "out.json";
  const auto result = run(plain(), {"--length", "500", "--mask", "5", "--seed", "11", "--border",
                                    "report", "--json", json.c_str()});
  CHECK(result.status == 0);
  const Results results = read_json(json);
  CHECK(results.seed == 11);
  CHECK_THAT(results.command, contains("--length 500"));
  REQUIRE(results.rows.size() == 2);
  CHECK(results.rows[0].stage == "01_conv1d_cpu");
  CHECK(results.rows[0].backend == "cpu");
  CHECK(results.rows[0].check.outcome == Outcome::good);
  CHECK(results.rows[0].time.outcome == Outcome::good);
  CHECK(results.rows[1].time.ratio_to_previous > 0);
  CHECK_THAT(result.out, contains("border report"));
}

TEST_CASE("a length that the device cannot hold is NOT RUN, visibly") {
  const auto result = run(plain(), {"--length", "1000000", "--mask", "3", "--seed", "1"},
                          std::make_unique<test::SmallDevice>());
  CHECK(result.status == 77);
  CHECK_THAT(result.out, contains("too large for this GPU: length 1,000,000, mask 3, 256 "));
  CHECK_THAT(result.out, contains("NOT RUN"));
  CHECK_THAT(result.out, !contains("PASS") && contains("47 shapes, all right"));
}

TEST_CASE("real input: every channel is filtered, checked and written") {
  const Folder folder;
  const std::string input = folder / "in.npy", output = folder / "out.npy",
                    mask_file = folder / "mask.npy";
  data::Signal signal;
  for (int channel = 0; channel < 3; ++channel) {
    signal.channels.emplace_back();
    for (int i = 0; i < 777; ++i) {
      signal.channels.back().push_back(std::sin(0.1f * static_cast<float>(i * (channel + 1))));
    }
  }
  const std::vector<float> mask = {0.1f, -0.4f, 0.25f, 0.7f, 0.05f};
  data::write_signal(input, signal);
  data::write_signal(mask_file, {{mask}, 0});

  for (const char* border : {"zero", "report"}) {
    INFO(border);
    const auto result = run(plain(), {"--input", input.c_str(), "--mask", mask_file.c_str(),
                                      "--output", output.c_str(), "--border", border});
    INFO(result.err);
    CHECK(result.status == 0);
    CHECK_THAT(result.out, contains("channels 3"));
    CHECK_THAT(result.out, contains("wrote " + output));
    const data::Signal written = data::read_signal(output);
    REQUIRE(written.channels.size() == 3);
    const conv::Problem1d problem(777, 5, conv::parse_border(border));
    for (int channel = 0; channel < 3; ++channel) {
      const auto expected = conv::reference(problem, signal.channels[channel], mask);
      for (int i = 0; i < 777; ++i) {
        const double bound = conv::error_bound(5, expected.scale[i]);
        if (!(std::abs(written.channels[channel][i] - expected.value[i]) <= bound)) {
          FAIL("channel " << channel << ", sample " << i);
        }
      }
    }
    fs::remove(output);
  }
}

TEST_CASE("a wrong result is never written") {
  const Folder folder;
  const std::string input = folder / "in.npy", output = folder / "out.npy";
  data::write_signal(input, {{std::vector<float>(300, 0.5f)}, 0});
  std::ofstream(output) << "what was there";
  const auto result = run(stage_of({test::plain_variant(), wrong("off by one")}),
                          {"--input", input.c_str(), "--output", output.c_str()});
  CHECK(result.status == 1);
  CHECK_THAT(result.err, contains("was not written"));
  CHECK(read_text(output) == "what was there");

  // The right variant of the same stage may be chosen.
  const auto chosen =
      run(stage_of({test::plain_variant(), wrong("off by one")}),
          {"--input", input.c_str(), "--output", output.c_str(), "--variant", "plain"});
  CHECK(chosen.status == 0);
  CHECK(data::read_signal(output).length() == 300);
}

TEST_CASE("a result that could not be written is exit 74, whatever it was") {
  const Folder folder;
  const std::string input = folder / "in.npy";
  data::write_signal(input, {{std::vector<float>(300, 0.5f)}, 0});
  // The folder goes away while the variant runs.
  const fs::path place = fs::path(folder.path()) / "place";
  Conv1dVariant variant = test::plain_variant();
  variant.also([place](const Conv1dProblem&, auto& made) {
    made.launch = [launch = made.launch, place](const Conv1dCall& call) {
      fs::remove_all(place);
      return launch(call);
    };
  });
  for (const char* option : {"--output", "--json"}) {
    fs::create_directory(place);
    const std::string file = place / "result.npy";
    const auto result = run(stage_of({variant}), {"--input", input.c_str(), option, file.c_str()});
    CAPTURE(option, result.out);
    CHECK(result.status == 74);
    CHECK_THAT(result.out, contains("PASS"));
    CHECK_THAT(result.err, contains("cannot write '" + file + "'"));
  }
}
