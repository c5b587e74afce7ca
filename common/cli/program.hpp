// What the programs of ./halo have in common. Each does some of the commands, and hands what another does over to that
// one, which stands beside it: common/cli/commands.txt says which does what.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace halo {

/// The lines of commands.txt: "how it is typed|program|what it does", and empty ones between groups.
extern const char* const kCommandList;

/// What the command line says before the command.
struct Global {
  std::filesystem::path build;
};

/// A command's own arguments, behind its name as --help is to show it. Returns the exit code.
using Command = int (*)(const Global& global, int argc, const char* const* argv);

/// The main function of the program that does these commands.
int run_command(int argc, char** argv, const std::map<std::string, Command>& commands);

/// Throws WrongUse if the option's value is none of these.
void require_one_of(const std::string& option, const std::string& value,
                    const std::vector<std::string>& choices);

}  // namespace halo
