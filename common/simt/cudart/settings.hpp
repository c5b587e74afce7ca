// What the environment asks of a simulated program: SIMT_CHECKS, SIMT_THREADS, SIMT_STEP_LIMIT,
// SIMT_REPORT, SIMT_TRACE, SIMT_FAIL, SIMT_FAIL_ON, SIMT_SUPPRESSIONS, SIMT_JUDGE. Read once, at the first use, under a judge
// before the program begins; SIMT_FAIL leaves the environment when the library is loaded. A value that makes no sense is one line on stderr and exit status 2. (SIMT_GPU is read by
// current_gpu.cpp.)
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/report/verdict.hpp"

namespace simt {

// Bits of Settings::checks. `counters` alone means: count, check nothing.
enum Check : unsigned {
  kCheckCounters = 1,
  kCheckRaces = 2,
  kCheckBounds = 4,
  kCheckUninitialized = 8,
  kCheckBarriers = 16,
  kCheckAll = 31,
};

inline constexpr int kMostDevices = 16;

struct Settings {
  std::atomic<unsigned> checks{kCheckAll};
  unsigned threads = 1;          // OS threads that run blocks
  int devices = 1;               // that the program sees
  std::uint64_t step_limit = 0;  // logged events of a block without progress before it is 'endless'
  double watchdog_seconds = 0;   // a kernel with no sign of life for this long is ended
  std::string report_path;       // empty: no report
  unsigned traced = 0;           // launches of each kernel that leave a trace
  // A call that fails though nothing is wrong: the fail_number-th of this function of the runtime, of
  // "launch"es or of any "call". Empty: none does.
  std::string fail_function;
  std::uint64_t fail_number = 0;
  // For who judges a program that may lie: what its report ends with (empty: nothing), and the key of nudge.hpp (0: none).
  std::string seal;
  std::uint64_t nudge = 0;
  report::FailOn fail_on;
  std::vector<report::Rule> suppressions;
};

Settings& settings();

/// True where SIMT_FAIL asks that this call of the runtime fail, which then does nothing.
bool is_to_fail(const char* function);
/// Whether such a call fails for want of memory.
bool allocates(std::string_view function);

// "all", "none" or a comma-separated list of names. Throws std::invalid_argument.
unsigned parse_checks(const std::string& list);

}  // namespace simt
