// The commands of the `halo` program. Each prints its data on stdout, says anything else on stderr,
// and returns the exit code: 0 good, 1 a check or a test failed, 77 nothing was run.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/cli/build_folder.hpp"

namespace halo {

/// Wrong use of the command line: one line, exit code 2.
struct WrongUse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What was asked for cannot be run here: one line, exit code 77.
struct CannotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct RunOptions {
  std::string stage;          // as typed: 4, 04 or 04_conv1d_tiled_halo; empty: all
  std::string on = "auto";    // sim, gpu or auto
  std::string json;           // file for the merged results; empty: none
  bool report_table = false;  // the source report's own table instead of ours
  std::string color = "auto";
  std::vector<std::pair<std::string, std::string>> passed_on;  // options of the stage programs
};

struct TestOptions {
  std::string what;         // a suite or a stage; empty: all
  std::string on = "auto";  // sim or gpu: only the tests that belong to it or to neither
  std::string color = "auto";
};

/// The stage program(s) that `run` would start. Throws WrongUse and CannotRun.
struct Choice {
  std::vector<StageProgram> programs;
  std::string backend;  // sim or gpu
  std::string why;      // "gpu was asked for", "no NVIDIA driver on this machine", ...
};
Choice choose_programs(const BuildFolder& build, const RunOptions& options);

/// The tests that `test` would start. Throws WrongUse if nothing bears that name.
std::vector<TestProgram> choose_tests(const BuildFolder& build, const TestOptions& options);

int run_stages(const BuildFolder& build, const RunOptions& options);
int run_tests(const BuildFolder& build, const TestOptions& options);
int list_stages(const BuildFolder& build);
int run_doctor(const BuildFolder& build);

}  // namespace halo
