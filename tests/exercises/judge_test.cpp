// The judge outlives whatever a student's program does, and says what it was.
#include "common/exercise/judge.hpp"

#include <filesystem>
#include <string>

#include "tests/catch.hpp"

namespace halo::exercises {

namespace {

using test::contains;

// output[i] = input[i]
const Contract& copy_contract() {
  static const Contract contract = {
      .name = "copy",
      .numbers = {"n"},
      .inputs = {{"input", [](const Given& given) { return given["n"]; }}},
      .output_size = [](const Given& given) { return given["n"]; },
      .define =
          [](const Given& given, std::int64_t i, Output& output) {
            output.is(given.cell(0, i), 0, {{0, i}});
          },
      .groups = {{"short ones", {{1}, {4}}}, {"long ones", {{5}, {64}, {100}}}},
      .questions = {{"bytes", 8, 0, {64}, bytes_per_output()}},
      .owner =
          [](const Given&, std::int64_t i) {
            return Owner{i / 64, i % 64};
          },
  };
  return contract;
}

Check check_of(const std::string& name) {
  return Check(copy_contract(), std::string(HALO_MISBEHAVING) + "/misbehaving-" + name,
               "tests/exercises/misbehaving/" + name + ".cu", test::seed());
}

std::string message_of_check(const std::string& name) {
  try {
    check_of(name);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("a program that behaves is right, safe and within its budget") {
  Check check = check_of("copies");
  CHECK(check.backend() == "sim");
  CHECK(check.right("short ones").outcome == Outcome::good);
  CHECK(check.right("long ones").outcome == Outcome::good);
  CHECK(check.safe().outcome == Outcome::good);
  const Verdict within = check.within({64}, {{bytes_per_output(), 8, 8}, {launches(), 1, 1}});
  CHECK(within.outcome == Outcome::good);
  REQUIRE(within.budget.size() == 2);
  CHECK(within.budget[0].counted == 8);
  CHECK(within.budget[0].file == "tests/exercises/misbehaving/copies.cu");
  CHECK(within.budget[0].line == 8);
  CHECK(check.questions().at(0).counted == 8);
  CHECK(check.faults().empty());
}

TEST_CASE("a budget that is not met names the figure and the limit") {
  Check check = check_of("copies");
  const Verdict within = check.within({64}, {{bytes_per_output(), 7.5, 7}});
  CHECK(within.outcome == Outcome::bad);
  CHECK(within.message == "bytes an output: 8, at most 7.500 with n 64");
}

TEST_CASE("ending the program with a good status is no pass") {
  Check check = check_of("exits");
  const Verdict verdict = check.right("short ones");
  CHECK(verdict.outcome == Outcome::bad);
  CHECK_THAT(verdict.message, contains("it ended itself with exit status 0"));
  CHECK(check.safe().outcome == Outcome::bad);
  CHECK(check.within({64}, {{launches(), 1, 1}}).outcome == Outcome::bad);
  CHECK(check.questions().at(0).counted < 0);
}

TEST_CASE("a crash costs its group, and the next is still judged") {
  Check check = check_of("crashes");
  const Verdict verdict = check.right("long ones");
  CHECK(verdict.outcome == Outcome::bad);
  CHECK_THAT(verdict.message, contains("n 5"));
  CHECK_THAT(verdict.message, contains("signal"));
  CHECK(check.right("short ones").outcome == Outcome::good);
}

TEST_CASE("an exception from the launch is told in its own words") {
  CHECK_THAT(check_of("throws").right("short ones").message, contains("thrown on purpose"));
}

TEST_CASE("a launch that never comes back is ended") {
  Check check = check_of("sleeps");
  check.set_patience(1);
  CHECK_THAT(check.right("short ones").message, contains("no sign of life for 1 s"));
}

TEST_CASE("other parameters than the contract's are refused in one line") {
  const std::string message = message_of_check("two_inputs");
  CHECK_THAT(message, contains("launch has other parameters than the exercise asks for: 1 input, 1 "
                               "output, 1 number; this one has 2 inputs, 1 output, 1 number"));
}

TEST_CASE("a program that is not there is told in one line") {
  CHECK_THAT(message_of_check("nowhere"), contains("the exercise's program is gone"));
}

TEST_CASE("what a program prints changes nothing") {
  Check check = check_of("prints");
  CHECK(check.right("long ones").outcome == Outcome::good);
}

TEST_CASE("ints are judged as the numbers that they are, and are missed where nobody wrote them") {
  Contract contract = copy_contract();
  contract.outputs = 2;  // the values, and twice their places
  contract.output_size = [](const Given& given) { return 2 * given["n"]; };
  contract.define = [](const Given& given, std::int64_t i, Output& output) {
    const std::int64_t n = given["n"];
    output.is(i < n ? given.cell(0, i) : static_cast<double>(2 * (i - n)), 0);
  };
  Check check(contract, std::string(HALO_MISBEHAVING) + "/misbehaving-forgets_an_int",
              "forgets_an_int.cu", test::seed());
  CHECK(check.right("short ones").outcome == Outcome::good);
  const Verdict verdict = check.right("long ones");
  CHECK(verdict.outcome == Outcome::bad);
  CHECK_THAT(verdict.message, contains("output[98] was never written, should be 68"));
}

TEST_CASE("of two output arrays, a figure an output is a figure for the places of one") {
  Contract contract = copy_contract();
  contract.outputs = 2;
  contract.output_size = [](const Given& given) { return 2 * given["n"]; };
  contract.define = [](const Given& given, std::int64_t i, Output& output) {
    const std::int64_t n = given["n"];
    output.is(i < n ? given.cell(0, i) : static_cast<double>(2 * (i - n)), 0);
  };
  contract.groups = {{"short ones", {{32}}}};
  Check check(contract, std::string(HALO_MISBEHAVING) + "/misbehaving-forgets_an_int",
              "forgets_an_int.cu", test::seed());
  const Verdict within = check.within({32}, {{bytes_per_output(), 12, 12}});
  CHECK(within.outcome == Outcome::good);
  REQUIRE(within.budget.size() == 1);
  CHECK(within.budget[0].counted == 12);
}

TEST_CASE("an input that was changed is a finding with its place") {
  Check check = check_of("changes_input");
  const Verdict verdict = check.right("long ones");
  CHECK(verdict.outcome == Outcome::bad);
  CHECK_THAT(verdict.message, contains("the input was changed, at input[3]"));
}

TEST_CASE("a wrong output is told with its thread and what it comes from") {
  Check check = check_of("changes_input");
  check.right("short ones");
  Contract doubled = copy_contract();
  doubled.define = [](const Given& given, std::int64_t i, Output& output) {
    output.is(2 * given.cell(0, i), 0, {{0, i}});
  };
  Check wrong(doubled, std::string(HALO_MISBEHAVING) + "/misbehaving-copies", "copies.cu",
              test::seed());
  wrong.right("long ones");
  const std::vector<Row> faults = wrong.faults();
  REQUIRE(faults.size() == 1);
  const Diagnosis& known = faults[0].check.diagnosis;
  CHECK(known.place == "output[0]");
  CHECK(known.origin == "thread 0 of block 0 computes it, from input[0]");
}

}  // namespace

}  // namespace halo::exercises
