// The judge outlives whatever a student's program does, and says what it was.
#include "common/exercise/judge.hpp"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "common/exercise/debug.hpp"
#include "common/process/sandbox.hpp"
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

// As it is graded: the worker takes notes, and another process has the device.
WorkerCommand graded(const std::string& name) {
  return {.words = {std::string(HALO_MISBEHAVING) + "/misbehaving-" + name}, .device = HALO_DEVICE};
}

Check check_of(const std::string& name) {
  return Check(copy_contract(), graded(name), "tests/exercises/misbehaving/" + name + ".cu",
               test::seed());
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

TEST_CASE("stores, wavefronts, atomics and threads are figures of a budget too") {
  Check check = check_of("copies");
  const Verdict within = check.within({64}, {{stored_bytes_per_output(), 4, 4},
                                             {store_requests(), 2, 2},
                                             {atomics(), 0, 0},
                                             {shared_wavefronts(), 0, 0},
                                             {outputs_per_thread(), 1, 1},
                                             {store_requests().divided_by(4, "a quarter"), 1, 1}});
  CHECK(within.outcome == Outcome::good);
  REQUIRE(within.budget.size() == 6);
  CHECK(within.budget[5].what == "a quarter");
  CHECK(within.budget[5].counted == 0.5);
  CHECK(within.budget[0].counted == 4);
  CHECK(within.budget[1].counted == 2);
  CHECK(within.budget[4].counted == 1);
}

TEST_CASE("a budget that is not met names the figure and the limit") {
  Check check = check_of("copies");
  const Verdict within = check.within({64}, {{bytes_per_output(), 7.5, 7}});
  CHECK(within.outcome == Outcome::bad);
  CHECK(within.message == "bytes per output: 8, at most 7.500 with n 64");
}

// The budget of the copy: so many bytes for each of `n` outputs, and one launch.
Contract contract_with_budget(const Rule& allowed) {
  Contract contract = copy_contract();
  contract.budgets = {{"bytes", 10, {64}, {{bytes_per_output(), allowed, 8}}}};
  return contract;
}

TEST_CASE("a limit is a rule for any problem, hidden ones too, and tells nothing of those") {
  const std::string copies = std::string(HALO_MISBEHAVING) + "/misbehaving-copies";
  // 100 floats are 12.5 sectors: 13 loaded and 13 stored.
  const Contract rounded_up = contract_with_budget([](const Given& given) {
    return 64.0 * static_cast<double>((given["n"] + 7) / 8) / static_cast<double>(given["n"]);
  });
  Check check(rounded_up, copies, "copies.cu", test::seed());
  CHECK(check.within({64}, rounded_up.budgets[0].limits).outcome == Outcome::good);
  CHECK(check.within_hidden({{100}, {57}}).outcome == Outcome::good);
  const Contract only_64 = contract_with_budget(8);
  Check strict(only_64, copies, "copies.cu", test::seed());
  CHECK(strict.within({64}, only_64.budgets[0].limits).outcome == Outcome::good);
  // 57 floats are 9 bytes per output, within the slack; 5 are 12.8.
  CHECK(strict.within_hidden({{64}, {57}}).outcome == Outcome::good);
  const Verdict verdict = strict.within_hidden({{64}, {57}, {5}});
  CHECK(verdict.outcome == Outcome::bad);
  CHECK(verdict.message == "more bytes per output than the budget allows");
  CHECK(verdict.budget.empty());
  CHECK(strict.faults().empty());
  CHECK_THROWS_AS(strict.within_hidden({{7, 3}}), std::runtime_error);
  Check wrong(only_64, std::string(HALO_MISBEHAVING) + "/misbehaving-exits", "exits.cu",
              test::seed());
  CHECK(wrong.within_hidden({{7}}).outcome == Outcome::not_run);
}

TEST_CASE("a rule may ask what the inputs are") {
  const Rule first_cell = [](const Given& given) { return 8 + std::fabs(given.cell(0, 0)); };
  Check check = check_of("copies");
  const Verdict verdict = check.within({64}, {{bytes_per_output(), first_cell, 8}});
  REQUIRE(verdict.budget.size() == 1);
  CHECK(verdict.budget[0].allowed > 8);
}

TEST_CASE("what moves by atomics and copies is part of a budget") {
  Contract contract = copy_contract();
  contract.besides = {{copied_bytes(), 0, 0}};
  Check check(contract, std::string(HALO_MISBEHAVING) + "/misbehaving-goes_round",
              "tests/exercises/misbehaving/goes_round.cu", test::seed());
  // A copy first; then two warps, each with an atomic request to load and one to store.
  const Verdict verdict = check.within({64}, {{bytes_per_output(), 8, 8}, {load_requests(), 2, 2}});
  CHECK(verdict.outcome == Outcome::bad);
  REQUIRE(verdict.budget.size() == 3);
  CHECK(verdict.budget[0].counted == 8 + 4 * 32 * 32 / 64.0);
  CHECK(verdict.budget[1].counted == 2 + 4);
  CHECK(verdict.budget[2].what == "bytes copied by the call");
  CHECK(verdict.budget[2].counted == 256);
  CHECK_FALSE(verdict.budget[2].met);
  // Told only where it is not met.
  Check usual(contract, std::string(HALO_MISBEHAVING) + "/misbehaving-copies", "copies.cu",
              test::seed());
  CHECK(usual.within({64}, {{bytes_per_output(), 8, 8}}).budget.size() == 1);
}

TEST_CASE("what is copied in bulk is part of a budget, and no forgery") {
  Check check = check_of("in_bulk");
  const Verdict verdict = check.within({64}, {{bytes_per_output(), 8, 8},
                                              {stored_bytes_per_output(), 4, 4},
                                              {load_requests(), 1, 1},
                                              {store_requests(), 1, 1}});
  CHECK(verdict.message == "");
  REQUIRE(verdict.budget.size() == 4);
  CHECK(verdict.budget[0].counted == 8);
  CHECK(verdict.budget[1].counted == 4);
  CHECK(verdict.budget[2].counted == 1);
  CHECK(verdict.budget[3].counted == 1);
}

TEST_CASE("the sectors of a warp are those that its lanes touch together") {
  CHECK(sectors_of_warp([](std::int64_t lane) { return lane; }) == 4);
  CHECK(sectors_of_warp([](std::int64_t lane) { return lane + 1; }) == 5);
  CHECK(sectors_of_warp([](std::int64_t lane) { return 8 * lane; }) == 32);
  CHECK(sectors_of_warp([](std::int64_t) { return 70; }) == 1);
  CHECK(sectors_of_warp([](std::int64_t lane) { return lane < 9 ? lane : -1; }) == 2);
  CHECK(sectors_of_warp([](std::int64_t) { return -1; }) == 0);
}

TEST_CASE("ending the program with a good status is no pass") {
  Check check = check_of("exits");
  const Verdict verdict = check.right("short ones");
  CHECK(verdict.outcome == Outcome::bad);
  CHECK_THAT(verdict.message, contains("it ended itself with exit status 0"));
  CHECK(check.safe().outcome == Outcome::not_run);
  CHECK(check.within({64}, {{launches(), 1, 1}}).outcome == Outcome::not_run);
  CHECK(check.questions().at(0).counted < 0);
}

TEST_CASE("a crash costs its group, and the next is still judged") {
  Check check = check_of("crashes");
  const Verdict verdict = check.right("long ones");
  CHECK(verdict.outcome == Outcome::bad);
  CHECK_THAT(verdict.message, contains("n 5"));
  CHECK_THAT(verdict.message, contains("signal 11") &&
                                  contains("in host code: does it read an array of the device?"));
  CHECK(check.right("short ones").outcome == Outcome::good);
}

TEST_CASE("a program that ends before it is asked may have a main of its own") {
  try {
    const Check check(copy_contract(), WorkerCommand{{"true"}}, "true.cu", test::seed());
    FAIL("it was started");
  } catch (const std::runtime_error& error) {
    CHECK_THAT(error.what(), contains("exit status 0 (before the first call: has the file a main"));
  }
}

TEST_CASE("an exception from the launch is told in its own words") {
  CHECK_THAT(check_of("throws").right("short ones").message, contains("thrown on purpose"));
}

TEST_CASE("a launch that never comes back is ended") {
  Check check = check_of("sleeps");
  check.set_patience(1);
  CHECK_THAT(check.right("short ones").message, contains("no sign of life for 1 s"));
}

TEST_CASE("a launch that computes for ever is ended by its processor time") {
  Check check = check_of("spins");
  check.set_patience(2);
  const Verdict verdict = check.right("short ones");
  CHECK(verdict.outcome == Outcome::bad);
  CHECK_THAT(verdict.message,
             contains("no sign of life in 2 s of processor time: an endless loop?"));
  // Started again, it has half of it.
  CHECK_THAT(check.right("long ones").message, contains("in 1 s of processor time"));
  CHECK(check.hindrance().empty());
}

TEST_CASE("a program that closes its line and goes on is ended") {
  CHECK_THAT(check_of("leaves").right("short ones").message,
             contains("it closed its connection to the judge"));
}

TEST_CASE("a program that the sandbox ends is told with the reason, and not started again") {
  const std::string program = std::string(HALO_MISBEHAVING) + "/misbehaving-sleeps";
  Confinement confinement;
  confinement.readable = {program, HALO_RUNTIME};
  confinement.environment = {"LD_LIBRARY_PATH=" HALO_RUNTIME};
  confinement.limits.wall = 0.5;
  const WorkerCommand command{{program}, Sandbox(HALO_JAIL).words(confinement)};
  Check check(copy_contract(), command, "tests/exercises/misbehaving/sleeps.cu", test::seed());
  // By the clock nothing is judged: on this machine it had no chance.
  const Verdict verdict = check.right("short ones");
  CHECK(verdict.outcome == Outcome::not_run);
  CHECK_THAT(verdict.message,
             contains("no verdict: the exercise's program is gone: it ran for more than 0.5 s"));
  CHECK_THAT(check.hindrance(), contains("it ran for more than 0.5 s"));
  for (const Verdict& other : {check.right("long ones"), check.safe(), check.right_hidden({{7}}, 0),
                               check.within({64}, {{launches(), 1, 1}})}) {
    CHECK(other.outcome == Outcome::not_run);
  }
}

TEST_CASE("hidden problems are judged like others, and nothing is said of them") {
  Check right = check_of("copies");
  CHECK(right.right_hidden({{7}, {31}}, 0).outcome == Outcome::good);
  Check crashes = check_of("crashes");  // with n = 5
  CHECK(crashes.right_hidden({{3}}, 0).outcome == Outcome::good);
  const Verdict verdict = crashes.right_hidden({{4}, {5}}, 0);
  CHECK(verdict.outcome == Outcome::bad);
  CHECK(verdict.message == "the program was ended by a signal");
  for (const Row& row : crashes.faults()) CHECK(row.variant != "hidden");
}

TEST_CASE("hidden problems of a program that does nothing right are not tried") {
  CHECK(check_of("exits").right_hidden({{7}}, 0).outcome == Outcome::not_run);
}

TEST_CASE("hidden problems that do not fit the contract are refused") {
  Check check = check_of("copies");
  CHECK_THROWS_AS(check.right_hidden({{7, 3}}, 0), std::runtime_error);
  CHECK_THROWS_AS(check.right_hidden({}, 1), std::runtime_error);
  CHECK_THROWS_AS(check.right_hidden({{-1}}, 0), std::runtime_error);
  CHECK_THROWS_AS(check.right_hidden({{0}}, 0), std::runtime_error);
  CHECK_THROWS_AS(check.right_hidden({{1LL << 40}}, 0), std::runtime_error);
}

TEST_CASE("a hidden mask has a middle where those of the exercise have one") {
  Contract odd = copy_contract();
  odd.groups = {{"short ones", {{1}, {5}}}, {"long ones", {{33}}}};
  CHECK_NOTHROW(require_possible(odd, {{3}, {7}}, 0));
  CHECK_THROWS_WITH(require_possible(odd, {{3}, {4}}, 0),
                    "a problem of " + odd.name +
                        " has n 4, should be odd, as in all of the exercise's own cases");
  CHECK_NOTHROW(require_possible(copy_contract(), {{3}, {4}}, 0));
}

// The worker of misbehaving/worker.cpp: what comes of it when it is started, or else of the first group.
std::string message_of_worker(const std::string& what) {
  try {
    Check check(copy_contract(), WorkerCommand{{HALO_WORKER, what}}, "worker.cpp", test::seed());
    check.set_patience(1);
    return check.right("short ones").message;
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST_CASE("a worker that speaks the protocol by itself is judged by its outputs and counts") {
  Check check(copy_contract(), WorkerCommand{{HALO_WORKER}}, "worker.cpp", test::seed());
  CHECK(check.right("short ones").message == "");
  CHECK(check.right("long ones").message == "");
  CHECK(check.within({64}, {{bytes_per_output(), 8, 8}}).message == "");
}

TEST_CASE("what no worker says is a failure in one line, and nobody waits for it") {
  for (const char* what :
       {"text", "depth", "many inputs", "no integer", "negative", "backend", "unavailable",
        "guard cells", "whole", "same address", "no address", "last address", "wrong observation",
        "negative kernels", "negative counts", "large counts", "fewer bytes", "too much"}) {
    INFO(what);
    const std::string message = message_of_worker(what);
    CHECK_THAT(message, contains("does not answer as one"));
    CHECK(message.find_first_of("\n\a\033") == std::string::npos);
    CHECK(message.size() < 600);
  }
  CHECK_THAT(message_of_worker("a byte now and then"), contains("the exercise's program"));
  CHECK_THAT(message_of_worker("closes its ears"), contains("no sign of life for 1 s"));
}

TEST_CASE("what a worker says reaches a terminal without control characters") {
  const std::string message = message_of_worker("control characters");
  CHECK_THAT(message, contains("a bell"));
  CHECK(message.find_first_of("\n\a\033") == std::string::npos);
}

TEST_CASE("counts that no kernel can have are called forged") {
  const auto message = [](const std::string& what) {
    Check check(copy_contract(), WorkerCommand{{HALO_WORKER, what}}, "worker.cpp", test::seed());
    const Verdict verdict = check.within({64}, {{bytes_per_output(), 8, 8}});
    CHECK(verdict.outcome == Outcome::bad);
    return verdict.message;
  };
  CHECK(
      message("small counts") ==
      "its counts are forged, or not of these outputs: sectors stored: 0, and it takes 8 at least");
  CHECK_THAT(message_of_worker("no launch"), contains("no kernel was launched"));
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

TEST_CASE("what outputs have in common is worked out once for a problem's inputs") {
  int times = 0;
  Contract contract = copy_contract();
  contract.groups = {{"one", {{64}}}};
  contract.prepare = [&](const Given& given) {
    ++times;
    std::vector<double> cells;
    for (std::int64_t i = 0; i < given["n"]; ++i) cells.push_back(given.cell(0, i));
    return cells;
  };
  contract.define = [](const Given& given, std::int64_t i, Output& output) {
    output.is(given.common(i), 0);
  };
  Check check(contract, std::string(HALO_MISBEHAVING) + "/misbehaving-copies", "copies.cu",
              test::seed());
  CHECK(check.right("one").outcome == Outcome::good);
  CHECK(times <= 4);  // a few data sets, 64 outputs each
  CHECK(times > 0);
}

TEST_CASE("a question may be about a number that the program leaves") {
  Contract contract = copy_contract();
  contract.inputs[0].make = [](const Given& given, std::uint64_t, bool) {
    std::vector<float> cells(static_cast<std::size_t>(given["n"]), 7);
    cells.back() = 9;
    return cells;
  };
  contract.questions = {{"first", 7, 0, {5}, {}, 1, 0}, {"last", 9, 0, {5}, {}, 1, 4}};
  Check check(contract, std::string(HALO_MISBEHAVING) + "/misbehaving-copies", "copies.cu",
              test::seed());
  CHECK(check.questions().at(0).counted == 7);
  CHECK(check.questions().at(1).counted == 9);
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

TEST_CASE("a function of the host is run, counted, and seen to miss its arrays") {
  static const Contract contract = [] {
    Contract of_the_host = copy_contract();
    of_the_host.on_the_host = true;
    return of_the_host;
  }();
  Check check(contract, std::string(HALO_MISBEHAVING) + "/misbehaving-on_the_host",
              "tests/exercises/misbehaving/on_the_host.cu", test::seed());
  CHECK(check.right("short ones").outcome == Outcome::good);
  CHECK(check.right("long ones").outcome == Outcome::good);
  const Verdict safe = check.safe(kMemory);
  CHECK(safe.outcome == Outcome::bad);
  CHECK_THAT(safe.message, contains("the function reads input["));
  CHECK(check.safe(kOrder).outcome == Outcome::good);
  const Verdict within =
      check.within({100}, {{host_loads(), 1, 1}, {host_stores(), 1, 1}, {host_values(), 3, 3}});
  REQUIRE(within.budget.size() == 3);
  CHECK(within.budget[0].counted == 1.01);
  CHECK(within.budget[1].counted == 1);
  CHECK(within.budget[2].counted == 3);
  CHECK(within.message == "loads per output: 1.010, at most 1 with n 100");
}

TEST_CASE(
    "cells that count are no floats: who reads them as such has other outputs and no counts") {
  static const Contract contract = [] {
    Contract of_the_host = copy_contract();
    of_the_host.on_the_host = true;
    return of_the_host;
  }();
  Check check(contract, std::string(HALO_MISBEHAVING) + "/misbehaving-reads_floats",
              "tests/exercises/misbehaving/reads_floats.cu", test::seed());
  CHECK(check.right("short ones").outcome == Outcome::good);
  CHECK(check.right("long ones").outcome == Outcome::good);
  const Verdict within = check.within({100}, {{host_loads(), 1, 1}});
  CHECK(within.outcome == Outcome::bad);
  CHECK_THAT(within.message, contains("its counts are forged, or not of these outputs"));
}

TEST_CASE(
    "a function of the host is refused where a kernel is asked for, and the other way round") {
  CHECK_THAT(message_of_check("on_the_host"),
             contains("the exercise asks for kernels, and this is a function of the host"));
  Contract of_the_host = copy_contract();
  of_the_host.on_the_host = true;
  CHECK_THROWS_WITH(Check(of_the_host, std::string(HALO_MISBEHAVING) + "/misbehaving-copies",
                          "copies.cu", test::seed()),
                    contains("Exercise::on_the_host names it"));
}

TEST_CASE("host code does not get to see what the device's memory holds") {
  Check check = check_of("reads_back");
  for (const char* group : {"short ones", "long ones"}) {
    const Verdict verdict = check.right(group);
    CHECK(verdict.outcome == Outcome::bad);
    CHECK_THAT(
        verdict.message,
        contains("cudaMemcpy copies device memory to the host, but kernels run later: print what "
                 "it holds in a kernel (reads_back.cu:15)"));
  }
}

TEST_CASE(
    "what the host asks of the device is done elsewhere, and told with the host's own names") {
  Check check = check_of("misses_its_workspace");
  CHECK_THAT(check.right("short ones").message, contains("illegal memory access"));
  const Verdict safe = check.safe(kMemory);
  CHECK(safe.outcome == Outcome::bad);
  CHECK_THAT(safe.message, contains("writes 4 bytes outside workspace (4 bytes), at byte 4"));
}

TEST_CASE("a call that is refused and does nothing is told of a graded program, too") {
  Check check = check_of("sets_too_much");
  CHECK(check.right("long ones").outcome == Outcome::good);
  const Verdict safe = check.safe(kMemory);
  CHECK(safe.outcome == Outcome::bad);
  CHECK_THAT(safe.message, contains("so nothing is copied or set"));
  CHECK_THAT(safe.message, contains("output"));
}

TEST_CASE("a program counts the same whoever has its device") {
  const auto counted = [](const WorkerCommand& command) {
    Check check(copy_contract(), command, "copies.cu", test::seed());
    return check.within({100}, {{bytes_per_output(), 8, 8}, {launches(), 1, 1}});
  };
  WorkerCommand command = graded("copies");
  const Verdict elsewhere = counted(command);
  command.device.clear();
  const Verdict itself = counted(command);
  REQUIRE(elsewhere.budget.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(elsewhere.budget[i].counted == itself.budget[i].counted);
  }
}

TEST_CASE("what was kept of an earlier call is not taken for the next one's") {
  const Verdict verdict = check_of("keeps").right("long ones");
  CHECK(verdict.outcome == Outcome::bad);
  CHECK_THAT(verdict.message, contains("n 5"));
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

TEST_CASE("an output that is no sum names its cells, of many the first and the last") {
  std::vector<InputValues> inputs(2);
  inputs[0].name = "input";
  inputs[1].name = "lengths";
  const std::vector<std::string> names = {"n"};
  const Numbers numbers = {8};
  const Given problem(names, numbers);
  const Given given(problem, inputs);
  std::vector<std::string> reads;
  Output output(given, &reads);
  output.is(1, 0, {{0, 1}, {0, 4}});
  output.is(1, 0, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}});
  output.is(1, 0, {{0, 3}, {0, 3}, {1, 2}});
  CHECK(reads == std::vector<std::string>{"input[1], input[4]", "input[1] ... input[5]",
                                          "input[3] and lengths[2]"});
}

TEST_CASE("the first fault is that of the smallest problem, with the thread that has it") {
  Contract doubled = copy_contract();
  doubled.groups = {{"long ones", {{100}, {80}}}};
  doubled.define = [](const Given& given, std::int64_t i, Output& output) {
    output.is(given.cell(0, i) * (i == 70 ? 2 : 1), 0, {{0, i}});
  };
  Check wrong(doubled, std::string(HALO_MISBEHAVING) + "/misbehaving-copies", "copies.cu",
              test::seed());
  const FirstFault fault = wrong.first_fault();
  CHECK(fault.problem == Numbers{80});
  CHECK(fault.words == "n 80: output[70] is wrong");
  CHECK(fault.owner.block == 1);
  CHECK(fault.owner.thread == 6);
  CHECK(check_of("copies").first_fault().words == "all is right");
}

TEST_CASE("where no kernel runs to its end it is told why") {
  Check crashes = check_of("crashes");
  const std::string why = crashes.first_fault().words;
  CHECK_THAT(why, contains("n 5: the exercise's program is gone: it ended by signal "));
  CHECK_THAT(check_of("crashes").run_once({5}), contains(why));
  CHECK(check_of("copies").run_once({1}).empty());
}

TEST_CASE("the thread that was asked for stops, and what it knows is told") {
  const std::string where = std::string(HALO_MISBEHAVING) + "/";
  const Contract& contract = copy_contract();
  Check check(contract, where + "misbehaving-copies", "copies.cu", test::seed());
  DebugOptions options;
  options.program = where + "misbehaving-copies-debug";
  options.file = "copies.cu";
  options.block = 0;
  options.thread = 0;
  options.batch = true;
  std::ostringstream said;
  std::streambuf* const kept = std::cout.rdbuf(said.rdbuf());
  const int status = debug(contract, check, options, test::seed());
  std::cout.rdbuf(kept);
  CHECK(status == 0);
  CHECK_THAT(said.str(), contains("thread (0,0,0) of block (0,0,0): copies.cu:7 in "));
  CHECK_THAT(said.str(), contains("threadIdx = {x = 0, y = 0, z = 0}"));
  CHECK_THAT(said.str(), contains("n = 1"));

  Contract of_the_host = contract;
  of_the_host.on_the_host = true;
  CHECK(debug(of_the_host, check, options, test::seed()) == 2);
}

}  // namespace

}  // namespace halo::exercises
