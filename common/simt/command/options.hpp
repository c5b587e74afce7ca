// The options of a subcommand. Of CLI11 what they need: the whole takes half as long again.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <string>
#include <vector>

namespace simt::command {

/// False: help was asked for, and is printed. Throws CLI::ParseError, one line, for wrong words.
inline bool parse(CLI::App& app, char** words) {
  std::vector<std::string> reversed;  // as CLI11 takes them
  for (; *words != nullptr; ++words) reversed.insert(reversed.begin(), *words);
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return false;
  }
  return true;
}

}  // namespace simt::command
