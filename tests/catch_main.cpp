// What main() of every test program does, compiled once. It gives Catch2 2 and 3 one contract:
//   exit 0    every case passed, or some were skipped and the rest passed
//   exit 1    a case failed, or none ran, or a case asserted nothing
//   exit 75   no verdict: one waited in vain (wait_until)
//   exit 77   all were skipped
// and the last line on stdout is `cases: N passed, N failed, N skipped`.
#define CATCH_CONFIG_RUNNER
#include "tests/catch.hpp"

#if HALO_CATCH2 >= 3
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#endif

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Outcome {
  std::string test;    // name of the test case
  std::string reason;  // why it was skipped
};

// What the listener and skip() gather while Catch2 runs.
struct Run {
  std::uint32_t seed = 0;
  std::string current;
  std::string skip_reason;  // of the current case; empty: not skipped
  int passed = 0;
  int failed = 0;
  std::vector<Outcome> skipped;
  std::vector<std::string> empty;  // cases that asserted nothing
};
Run run;

#if HALO_CATCH2 >= 3
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

class Listener : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    run.current = info.name;
    run.skip_reason.clear();
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    const Catch::Counts& cases = stats.totals.testCases;
    const Catch::Counts& assertions = stats.totals.assertions;
    if (cases.failed > 0) {
      ++run.failed;
    } else if (!run.skip_reason.empty()) {
      run.skipped.push_back({run.current, run.skip_reason});
    } else if (assertions.passed + assertions.failed + assertions.failedButOk == 0) {
      ++run.failed;
      run.empty.push_back(run.current);
    } else {
      ++run.passed;
    }
    run.current.clear();
  }
};
CATCH_REGISTER_LISTENER(Listener)

std::uint32_t initial_seed() {
  // Zero would mean "no seed" to Catch2 2.
  if (const char* text = std::getenv("HALO_SEED")) {
    const auto value = static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
    if (value != 0) return value;
  }
  std::random_device device;
  return device() % 1'000'000'000u + 1;
}

}  // namespace

namespace halo::test {

void skip(const std::string& reason) {
  run.skip_reason = reason.empty() ? "no reason given" : reason;
#if HALO_CATCH2 >= 3
  SKIP(run.skip_reason);
#else
  // Catch2 2 takes this as "the case ends here"; no assertion has failed, so it does not fail.
  throw Catch::TestFailureException();
#endif
  std::abort();  // not reached: both of the above throw
}

void wait_until(const std::string& what, const std::function<bool()>& condition) {
  constexpr std::chrono::minutes kPatience(5);
  const auto start = std::chrono::steady_clock::now();
  while (!condition()) {
    if (std::chrono::steady_clock::now() - start > kPatience) {
      std::cout << "no verdict: " << run.current << ": waited in vain until " << what << std::endl;
      // This may be within an assertion, so nothing is thrown, and what was started has to be told.
      std::ifstream children("/proc/thread-self/children");
      for (pid_t child = 0; children >> child;) kill(child, SIGTERM);
      std::_Exit(75);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::uint32_t seed() { return run.seed; }

int run_cases(int argc, char** argv) {
  Catch::Session session;
  session.configData().rngSeed = initial_seed();
  if (const int error = session.applyCommandLine(argc, argv); error != 0) return 2;
  const auto& config = session.config();
  const bool only_lists = session.configData().showHelp || config.listTests() ||
                          config.listTags() || config.listReporters();
  if (only_lists) {
    session.run();
    return 0;
  }
  run.seed = session.configData().rngSeed;
  std::cout << "seed: " << run.seed << std::endl;

  const int catch_result = session.run();

  for (const std::string& name : run.empty) {
    std::cout << "FAILED: " << name << ": it made no assertion\n";
  }
  for (const Outcome& skipped : run.skipped) {
    std::cout << "NOT RUN: " << skipped.test << ": " << skipped.reason << "\n";
  }
  const int ran = run.passed + run.failed;
  if (ran == 0 && run.skipped.empty()) {
    std::cerr << "no test case ran: nothing matches the given names or tags\n";
  }
  std::cout << "cases: " << run.passed << " passed, " << run.failed << " failed, "
            << run.skipped.size() << " skipped" << std::endl;
  if (run.failed > 0) return 1;
  if (ran == 0) return run.skipped.empty() ? 1 : 77;
  // Anything else that Catch2 holds against the run (a reporter that cannot write its file, say).
  if (catch_result != 0) return 1;
  return 0;
}

}  // namespace halo::test
