#include "common/simt/cudart/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "common/simt/simt.hpp"

namespace simt {
namespace {

[[noreturn]] void refuse(const char* name, const char* value, const char* wanted) {
  std::fprintf(stderr, "simt: %s=%s is not understood: %s\n", name, value, wanted);
  std::_Exit(2);
}

// The value of an environment variable as a whole number in [1, largest], or `otherwise`.
std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise,
                                      std::uint64_t largest) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  unsigned long long value = std::strtoull(text, &end, 10);
  if (*end || text[0] == '-' || value < 1 || value > largest) {
    refuse(name, text, ("give a whole number from 1 to " + std::to_string(largest)).c_str());
  }
  return value;
}

// NAME:NUMBER.
void read_failure(const char* text, Settings& s) {
  const std::string words = text;
  const std::size_t colon = words.find(':');
  const std::string function = words.substr(0, colon);
  const std::string digits = colon == std::string::npos ? "1" : words.substr(colon + 1);
  const bool is_name =
      function == "call" || function == "launch" ||
      (function.starts_with("cuda") &&
       function.find_first_not_of(
           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == std::string::npos);
  const bool is_number = !digits.empty() && digits.size() < 10 && digits[0] != '0' &&
                         digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_name || !is_number) {
    refuse("SIMT_FAIL", text,
           "give a function of the runtime, launch or call, a colon and which of its calls fails, "
           "such "
           "as cudaMalloc:2");
  }
  s.fail_function = function;
  s.fail_number = std::stoull(digits);
}

}  // namespace

unsigned parse_checks(const std::string& list) {
  if (list == "all") return kCheckAll;
  if (list == "none") return 0;
  unsigned checks = kCheckCounters;
  std::size_t start = 0;
  while (start <= list.size()) {
    std::size_t comma = list.find(',', start);
    if (comma == std::string::npos) comma = list.size();
    std::string word = list.substr(start, comma - start);
    if (word == "counters") {
      checks |= kCheckCounters;
    } else if (word == "races") {
      checks |= kCheckRaces;
    } else if (word == "bounds") {
      checks |= kCheckBounds;
    } else if (word == "uninitialized") {
      checks |= kCheckUninitialized;
    } else if (word == "barriers") {
      checks |= kCheckBarriers;
    } else {
      throw std::invalid_argument("'" + word +
                                  "' is not a check: give all, none, or a list of counters, races, "
                                  "bounds, uninitialized, barriers");
    }
    start = comma + 1;
  }
  return checks;
}

namespace {

// %p stands for the number of the process, so that each program of a test run leaves a report of its own.
std::string report_path(std::string text) {
  const std::size_t at = text.find("%p");
  return at == std::string::npos ? text : text.replace(at, 2, std::to_string(getpid()));
}

void read_verdict(Settings& s) {
  if (const char* text = std::getenv("SIMT_FAIL_ON"); text && *text) {
    try {
      s.fail_on = report::FailOn(text);
    } catch (const std::invalid_argument& error) {
      refuse("SIMT_FAIL_ON", text, error.what());
    }
  }
  if (const char* text = std::getenv("SIMT_SUPPRESSIONS"); text && *text) {
    try {
      s.suppressions = report::read_suppressions(text);
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "simt: %s\n", error.what());
      std::_Exit(2);
    }
  }
}

// SIMT_JUDGE=SEAL:KEY and SIMT_FAIL, gone before the program's own code begins, which is to know neither.
struct OfJudge {
  std::string seal;
  std::uint64_t nudge = 0;
  std::string failure;
};
OfJudge& of_judge() {
  static OfJudge& instance = *new OfJudge;
  return instance;
}
// The text stays what the system shows of the process, so it is overwritten, with the name before it.
std::string taken_from_environment(const char* name) {
  char* const text = std::getenv(name);
  if (text == nullptr) return {};
  std::string value = text;
  const std::size_t before = std::strlen(name) + 1;
  unsetenv(name);
  std::memset(text - before, '*', before + value.size());
  return value;
}
[[gnu::constructor(101)]] void take_from_judge() {
  of_judge().failure = taken_from_environment("SIMT_FAIL");
  const std::string words = taken_from_environment("SIMT_JUDGE");
  if (words.empty()) return;
  const std::size_t colon = words.find(':');
  if (colon == std::string::npos) {
    refuse("SIMT_JUDGE", words.c_str(), "give a seal, a colon and a key");
  }
  of_judge().seal = words.substr(0, colon);
  of_judge().nudge = std::strtoull(words.c_str() + colon + 1, nullptr, 10);
  settings();  // before the program can change the others
}

// A name that no setting has is mistyped as a rule.
void tell_unknown() {
  static constexpr std::string_view kKnown[] = {
      "SIMT_CHECKS",     "SIMT_DEBUG",        "SIMT_DEVICES", "SIMT_FAIL",  "SIMT_FAIL_ON",
      "SIMT_GPU",        "SIMT_HOME",         "SIMT_JUDGE",   "SIMT_NVCC",  "SIMT_REPORT",
      "SIMT_STEP_LIMIT", "SIMT_SUPPRESSIONS", "SIMT_THREADS", "SIMT_TRACE", "SIMT_WATCHDOG"};
  for (char* const* one = environ; *one != nullptr; ++one) {
    const std::string_view all = *one, name = all.substr(0, all.find('='));
    if (!name.starts_with("SIMT_") || std::ranges::count(kKnown, name) != 0) continue;
    const auto in_common = [&](std::string_view known) {
      return std::ranges::mismatch(name, known).in1 - name.begin();
    };
    const std::string meant(*std::ranges::max_element(kKnown, {}, in_common));
    std::fprintf(stderr, "simt: %s is no setting and changes nothing: is %s meant?\n",
                 std::string(name).c_str(), meant.c_str());
  }
}

}  // namespace

Settings& settings() {
  static Settings& instance = *[] {
    auto* s = new Settings;  // lives as long as the program: workers may outlast static destructors
    if (const char* text = std::getenv("SIMT_CHECKS"); text && *text) {
      try {
        s->checks = parse_checks(text);
      } catch (const std::invalid_argument& error) {
        refuse("SIMT_CHECKS", text, error.what());
      }
    }
    unsigned cores = std::thread::hardware_concurrency();
    s->threads =
        static_cast<unsigned>(number_from_environment("SIMT_THREADS", cores ? cores : 1, 1024));
    s->devices = static_cast<int>(number_from_environment("SIMT_DEVICES", 1, kMostDevices));
    s->step_limit = number_from_environment("SIMT_STEP_LIMIT", 2'000'000'000, UINT64_MAX / 2);
    s->watchdog_seconds = static_cast<double>(number_from_environment("SIMT_WATCHDOG", 60, 86400));
    if (const char* text = std::getenv("SIMT_REPORT")) s->report_path = report_path(text);
    if (const char* text = std::getenv("SIMT_TRACE"); text && std::string_view(text) != "0") {
      s->traced = static_cast<unsigned>(number_from_environment("SIMT_TRACE", 0, 1'000'000));
    }
    if (!of_judge().failure.empty()) read_failure(of_judge().failure.c_str(), *s);
    read_verdict(*s);
    tell_unknown();
    s->seal = of_judge().seal;
    s->nudge = of_judge().nudge;
    return s;
  }();
  return instance;
}

bool is_to_fail(const char* function) {
  const Settings& asked = settings();
  if (asked.fail_function.empty()) return false;
  if (asked.fail_function != "call" && asked.fail_function != function) return false;
  static std::atomic<std::uint64_t> calls{0};
  if (++calls != asked.fail_number) return false;
  std::fprintf(stderr, "simt: %s number %llu (%s) fails, as SIMT_FAIL asks\n",
               asked.fail_function.c_str(), static_cast<unsigned long long>(asked.fail_number),
               function);
  return true;
}

bool allocates(std::string_view function) {
  return function.find("Malloc") != function.npos || function == "cudaHostAlloc";
}

void set_checks(const std::string& list) { settings().checks = parse_checks(list); }

}  // namespace simt
