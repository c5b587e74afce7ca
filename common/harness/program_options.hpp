// The options that `halo run` and `halo bench` hand to the programs they start, declared once: for those
// programs, and for the command, which chooses its programs by them before any is built.
#pragma once

#include <string>
#include <vector>

namespace halo {

class CommandLine;

struct ProgramOption {
  std::string name;  // --layer
  std::string unit;  // what its value is, for --help; empty: a flag
  // Whose programs have it: conv2d, network; empty: all have.
  std::vector<std::string> families;
  std::string help;
  bool bench = true;  // `halo bench` has it too
};

/// In the order in which --help lists them. An option that families understand each in its own way stands there
/// once for each.
const std::vector<ProgramOption>& program_options();

/// Declares an option in the command line of a program of this family; `more` ends its help. Throws
/// std::logic_error if the table has no such option for it.
void add_option(CommandLine& line, const std::string& family, const std::string& name,
                std::string& value, const std::string& more = "");
/// The same of a flag.
void add_flag(CommandLine& line, const std::string& family, const std::string& name, bool& value);

}  // namespace halo
