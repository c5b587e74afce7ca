// What a wrong variant has to say of itself: which shapes, what the numbers look like, and a command that
// really repeats it.
#include "common/harness/core/diagnosis.hpp"

#include <algorithm>
#include <sstream>

#include "common/harness/families/conv1d.hpp"
#include "common/harness/families/conv2d.hpp"
#include "common/report/command_line.hpp"
#include "common/report/json.hpp"
#include "tests/catch.hpp"
#include "tests/harness/captured.hpp"

using namespace halo;
using test::contains;

namespace {

Conv1dVariant signal_variant(const std::function<float(const Conv1dCall&, int i)>& value) {
  Conv1dVariant variant;
  variant.name = "wrong";
  variant.source = "tests/harness/diagnosis_test.cpp";
  variant.launches([value](const Conv1dCall& c) {
    for (int i = c.first; i < c.last; ++i) c.output[i] = value(c, i);
    return 0;
  });
  return variant;
}

float sum_of(const Conv1dCall& c, int i, bool turned = false) {
  float sum = 0;
  for (int j = 0; j < c.mask_width; ++j) {
    const int k = i - c.halo() + j;
    if (k >= 0 && k < c.length) sum += c.input[k] * c.mask[turned ? c.mask_width - 1 - j : j];
  }
  return sum;
}

test::Ended run(const Conv1dVariant& variant, const std::vector<const char*>& arguments) {
  return test::captured(arguments, [&](int argc, const char* const* argv) {
    return run_program<Conv1dProblem>(argc, argv, {Conv1dStage{"04_conv1d_tiled_halo", {variant}}},
                                      {}, make_backend(), test::kBriefTiming);
  });
}

Row row_of(const std::function<test::Ended(const std::vector<const char*>&)>& run,
           std::vector<const char*> arguments) {
  const test::Folder folder;
  const std::string json = folder / "out.json";
  arguments.insert(arguments.end(), {"--no-times", "--json", json.c_str()});
  CHECK(run(arguments).status == 1);
  const Results results = read_json(json);
  REQUIRE(results.rows.size() == 1);
  return results.rows[0];
}

Row failure(const Conv1dVariant& variant, const std::vector<const char*>& arguments) {
  return row_of([&](const auto& words) { return run(variant, words); }, arguments);
}

// The words behind "./halo run NN".
std::vector<std::string> words_of(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  REQUIRE(words.size() > 3);
  CHECK(words[0] + " " + words[1] == "./halo run");
  return {words.begin() + 3, words.end()};
}

}  // namespace

TEST_CASE("the end of each block: which shapes, where, and a command that repeats it") {
  const Conv1dVariant variant = signal_variant([](const Conv1dCall& c, int i) {
    const bool last = i % c.threads == c.threads - 1 && c.mask_width > 1;
    return last ? sum_of(c, i) * 0.5f + 100 : sum_of(c, i);
  });
  const Row row = failure(variant, {"--length", "300", "--mask", "5", "--seed", "77"});
  const Diagnosis& told = row.check.diagnosis;
  CAPTURE(told.smallest, told.kind, told.pattern, told.again);
  CHECK(told.tried > 40);
  CHECK(told.wrong > 10);
  CHECK(told.wrong < told.tried);
  CHECK_THAT(told.pattern, contains("the last output of each block"));
  CHECK_THAT(told.again, contains("./halo run 04 --variant wrong --length "));

  const std::vector<std::string> words = words_of(told.again);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const Row again = failure(variant, arguments);
  CHECK(again.check.diagnosis.place == told.place);
  CHECK(again.check.diagnosis.found == told.found);
  CHECK(again.check.diagnosis.expected == told.expected);
  CHECK(again.check.diagnosis.smallest == told.smallest);
  CHECK(again.check.diagnosis.again == told.again);
}

TEST_CASE("what failed stays failed where there is no tiny GPU for the last trials") {
  Conv1dVariant variant = signal_variant([](const Conv1dCall&, int) { return 0.25f; });
  variant.plans = true;
  const auto backend = make_backend();
  Row row;
  Progress progress;
  const std::vector<Trial<Conv1dProblem>> trials = {{Conv1dProblem(64, 3, 32)},
                                                    {Conv1dProblem(64, 3, 32), TrialOn::tiny_gpu}};
  check_trials(variant, *backend, trials, 5, row, progress);
  CHECK(row.check.outcome == Outcome::bad);
  CHECK_THAT(row.check.reason, contains("length 64"));
  CHECK(row.check.diagnosis.tried == 1);
}

TEST_CASE("which shapes are wrong is told in their own words") {
  const Row halo = failure(signal_variant([](const Conv1dCall& c, int i) {
                             return c.mask_width == 1 ? sum_of(c, i) : sum_of(c, i) + 1000;
                           }),
                           {"--seed", "5"});
  CHECK(halo.check.diagnosis.kind == "right: mask 1 only");
  const Row tail = failure(
      signal_variant([](const Conv1dCall& c, int i) {
        const bool whole = c.length % c.threads == 0;
        return whole || i < c.length / c.threads * c.threads ? sum_of(c, i) : sum_of(c, i) - 1000;
      }),
      {"--seed", "5"});
  CHECK_THAT(tail.check.diagnosis.kind,
             contains("lengths that are not a multiple of the block's threads"));
  CHECK_THAT(tail.check.diagnosis.pattern, contains("all after the last whole block"));
  const Row all = failure(signal_variant([](const Conv1dCall&, int) { return 0.25f; }), {});
  CHECK(all.check.diagnosis.kind.empty());  // how many are wrong says it
}

TEST_CASE("a mask turned round and a shift are recognised") {
  const Row turned =
      failure(signal_variant([](const Conv1dCall& c, int i) { return sum_of(c, i, true); }), {});
  CHECK_THAT(turned.check.diagnosis.pattern, contains("right for the mask turned round"));
  const Row shifted = failure(signal_variant([](const Conv1dCall& c, int i) {
                                return sum_of(c, std::min(i + 1, c.length - 1));
                              }),
                              {});
  CHECK_THAT(shifted.check.diagnosis.pattern, contains("1 place further on"));
}

TEST_CASE("a layer's wrong output is told in coordinates, and its command names the layer") {
  Conv2dVariant variant;
  variant.name = "wrong";
  variant.source = "tests/harness/diagnosis_test.cpp";
  variant.launches([](const Conv2dCall& c) {
    std::fill_n(c.output, c.layer.output_size(), 0.0f);
    return 0;
  });
  const auto run_layers = [&](const std::vector<const char*>& arguments) {
    return test::captured(arguments, [&](int argc, const char* const* argv) {
      return run_program<conv::ConvLayer>(argc, argv, {Conv2dStage{"06_conv2d_direct", {variant}}},
                                          {}, make_backend(), test::kBriefTiming);
    });
  };
  const Row row = row_of(run_layers, {"--layer", "5-1-3-2-1"});
  CHECK_THAT(row.check.diagnosis.place, contains("output[n 0, k 0, p "));
  CHECK(row.check.diagnosis.pattern.find("every wrong output is 0") != std::string::npos);
  CHECK_THAT(row.check.diagnosis.again, contains("./halo run 06 --variant wrong --layer "));
  const std::vector<std::string> words = words_of(row.check.diagnosis.again);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  CHECK(row_of(run_layers, arguments).check.diagnosis.expected == row.check.diagnosis.expected);
}

TEST_CASE("kinds of data are named as --data takes them") {
  for (const DataKind& kind :
       {DataKind{}, DataKind{DataKind::Of::exact}, DataKind{DataKind::Of::edges, 2}}) {
    const DataKind back = parse_data_kind(name_of(kind));
    CHECK(back.of == kind.of);
    CHECK(back.number == kind.number);
  }
  CHECK_THROWS_WITH(parse_data_kind("odd"), contains("--data: 'odd' is not one of ordinary"));
  CHECK_THROWS_AS(parse_data_kind("edges:0"), UsageError);
}

TEST_CASE("the command of a failure on the simulator asks for the simulator") {
  Row row;
  row.stage = "13_network";
  row.variant = "planned";
  row.backend = "sim";
  CHECK(command_of(row, 7) == "./halo run 13 --on sim --variant planned --seed 7");
  row.backend = "gpu";
  CHECK(command_of(row, 7) == "./halo run 13 --variant planned --seed 7");
  row.stage = "10_layout_transform";  // there are two of that number
  CHECK(command_of(row, 7) == "./halo run 10_layout_transform --variant planned --seed 7");
  row.role = Role::peer;
  CHECK(command_of(row, 7).empty());
}
