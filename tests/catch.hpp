// The one header that every test includes, instead of Catch2's own: it works with Catch2 2.13.4+
// and 3.3+, and adds what the two do differently (skipping, the seed, matching a part of a string)
// and what many tests ask (the message of a refusal).
#pragma once

#if HALO_CATCH2 >= 3
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace halo::test {

#if HALO_CATCH2 >= 3
using Catch::Approx;
#else
using ::Approx;
#endif

/// Ends the running test case (or section) and counts the case as skipped, unless an assertion of
/// it fails. The reason is printed at the end: `NOT RUN: <test case>: <reason>`. Call it from the
/// thread that runs the test, and not inside an assertion.
[[noreturn]] void skip(const std::string& reason);

/// Waits until the condition holds, which is asked every few milliseconds. No test judges by the clock, so one that has
/// waited for five minutes says neither passed nor failed: the program prints `no verdict: waited in vain until
/// <what>` and ends with status 75, which `halo test` knows.
void wait_until(const std::string& what, const std::function<bool()>& condition);

/// What main() does, unless a test program has one of its own: runs the cases that the arguments choose, and
/// returns the exit status.
int run_cases(int argc, char** argv);

/// The seed of this run: fresh each time, printed as `seed: N`, set by `--rng-seed N` or HALO_SEED.
/// A test that draws random data draws it from this.
std::uint32_t seed();

/// A matcher for `CHECK_THAT(text, contains("part"))`.
#if HALO_CATCH2 >= 3
inline auto contains(const std::string& part) { return Catch::Matchers::ContainsSubstring(part); }
#else
inline auto contains(const std::string& part) { return Catch::Matchers::Contains(part); }
#endif

/// What the function's std::invalid_argument says, which is checked to be one line; "nothing was
/// thrown" if it throws none.
template <class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  return "nothing was thrown";
}

}  // namespace halo::test
