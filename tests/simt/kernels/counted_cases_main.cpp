// Runs every counted kernel once, in a fixed order, for a profiler to look at (calibrate.sh) or for
// SIMT_REPORT. Usage: counted_cases [--list] [BANK_PATTERNS.csv]
//   --list   prints, instead of running, one CSV row a launch: name and expected counters.
// Exit status: 0 all values right, 1 some value wrong, 2 wrong use.
#include <cstdio>
#include <cstring>
#include <exception>

#include "bank_patterns.hpp"
#include "counted_cases.hpp"

namespace {

struct Field {
  const char* name;
  std::uint64_t simt::Counters::*member;
};

// The counters that a profiler can read on a GPU.
constexpr Field kFields[] = {
    {"global_load_requests", &simt::Counters::global_load_requests},
    {"global_load_sectors", &simt::Counters::global_load_sectors},
    {"global_store_requests", &simt::Counters::global_store_requests},
    {"global_store_sectors", &simt::Counters::global_store_sectors},
    {"shared_load_requests", &simt::Counters::shared_load_requests},
    {"shared_load_wavefronts", &simt::Counters::shared_load_wavefronts},
    {"shared_load_conflicts", &simt::Counters::shared_load_conflicts},
    {"shared_store_requests", &simt::Counters::shared_store_requests},
    {"shared_store_wavefronts", &simt::Counters::shared_store_wavefronts},
    {"shared_store_conflicts", &simt::Counters::shared_store_conflicts},
    {"global_atomic_requests", &simt::Counters::global_atomic_requests},
    {"shared_atomic_requests", &simt::Counters::shared_atomic_requests},
};

}  // namespace

int main(int argc, char** argv) try {
  bool list = false;
  const char* patterns = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--list") == 0) {
      list = true;
    } else if (argv[i][0] != '-' && !patterns) {
      patterns = argv[i];
    } else {
      std::fprintf(stderr, "usage: %s [--list] [BANK_PATTERNS.csv]\n", argv[0]);
      return 2;
    }
  }
  int wrong = 0;
  if (list) {
    std::printf("name");
    for (const Field& field : kFields) std::printf(",%s", field.name);
    std::printf(",note\n");
  }
  for (const auto* cases : {&known_answers_cases(), &memory_shape_cases(), &control_path_cases()}) {
    for (const CountedCase& one : *cases) {
      if (list) {
        std::printf("%s", one.name);
        for (const Field& field : kFields) {
          std::printf(",%llu", static_cast<unsigned long long>(one.expected.*field.member));
        }
        std::printf(",\"%s\"\n", one.hardware_note ? one.hardware_note : "");
      } else if (!one.run()) {
        std::fprintf(stderr, "%s: wrong values\n", one.name);
        ++wrong;
      }
    }
  }
  if (patterns && !list) {
    for (const bank_patterns::Measured& row : bank_patterns::read_measured(patterns)) {
      const bool right = row.store ? bank_patterns::run_store(row.element_bytes, row.cells)
                                   : bank_patterns::run_load(row.element_bytes, row.cells);
      if (!right) {
        std::fprintf(stderr, "pattern %s of %d bytes: wrong values\n", row.name.c_str(),
                     row.element_bytes);
        ++wrong;
      }
    }
  }
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "counted_cases: %s\n", error.what());
  return 2;
}
