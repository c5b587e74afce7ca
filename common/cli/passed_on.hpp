// The options that are handed to the programs which a command starts (program_options.hpp), as they are
// given. What several families understand each in its own way is one option here.
#pragma once

#include <string>
#include <vector>

#include "common/cli/commands.hpp"
#include "common/report/command_line.hpp"

namespace halo {

/// Whether `trace` hands this option to a stage's program: its own --output is the page, and it asks for no
/// trials, peers and times anyway.
bool is_of_a_trace(const std::string& option);

class PassedOn {
 public:
  enum class For { run, bench, trace };
  PassedOn(CommandLine& line, For command);

  PassedOptions given() const;
  std::vector<FamilyOption> of_families() const;

 private:
  struct One {
    std::string name;
    std::string unit;
    std::vector<std::string> families;
    std::string help;
    std::string value;
    bool on;
  };

  std::vector<One> options_;  // stays as it is once the command line points into it
};

}  // namespace halo
