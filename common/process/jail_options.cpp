#include "common/process/jail_options.hpp"

#include <cstdlib>
#include <functional>
#include <stdexcept>

namespace halo {
namespace {

using Profile = Confinement::Profile;

// Of each option how it is read; written are those that have a value.
struct Option {
  const char* name;
  bool has_value;
  std::function<void(JailOptions&, const std::string&)> read;
  std::function<std::vector<std::string>(const JailOptions&)> write;
};

std::vector<std::string> if_any(const std::string& value) {
  return value.empty() ? std::vector<std::string>() : std::vector<std::string>{value};
}

template <class Number>
Option number(const char* name, Number SandboxLimits::*member) {
  return {name, true,
          [=](JailOptions& options, const std::string& value) {
            options.confinement.limits.*member = static_cast<Number>(std::atof(value.c_str()));
          },
          [=](const JailOptions& options) -> std::vector<std::string> {
            return {std::to_string(options.confinement.limits.*member)};
          }};
}

Option flag(const char* name, bool JailOptions::*member) {
  return {name, false, [=](JailOptions& options, const std::string&) { options.*member = true; },
          [=](const JailOptions& options) { return if_any(options.*member ? "yes" : ""); }};
}

Option profile(const char* name, Profile of) {
  return {name, false,
          [=](JailOptions& options, const std::string&) { options.confinement.profile = of; },
          [=](const JailOptions& options) {
            return if_any(options.confinement.profile == of ? "yes" : "");
          }};
}

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = {
      {"--bubblewrap", true,
       [](JailOptions& to, const std::string& value) { to.bubblewrap = value; },
       [](const JailOptions& of) { return if_any(of.bubblewrap); }},
      flag("--own-user", &JailOptions::own_user),
      flag("--landlock", &JailOptions::landlock),
      flag("--seccomp", &JailOptions::seccomp),
      profile("--compiler", Profile::compiler),
      profile("--gpu", Profile::gpu),
      {"--read", true,
       [](JailOptions& to, const std::string& value) { to.confinement.readable.push_back(value); },
       [](const JailOptions& of) { return of.confinement.readable; }},
      {"--folder", true,
       [](JailOptions& to, const std::string& value) { to.confinement.folder = value; },
       [](const JailOptions& of) { return if_any(of.confinement.folder); }},
      {"--set", true,
       [](JailOptions& to, const std::string& value) {
         to.confinement.environment.push_back(value);
       },
       [](const JailOptions& of) { return of.confinement.environment; }},
      {"--report", true, [](JailOptions& to, const std::string& value) { to.report = value; },
       [](const JailOptions& of) { return if_any(of.report); }},
      {"--line", true,
       [](JailOptions& to, const std::string& value) { to.line = std::atoi(value.c_str()); },
       [](const JailOptions& of) { return if_any(of.line < 0 ? "" : std::to_string(of.line)); }},
      number("--wall", &SandboxLimits::wall),
      number("--processor", &SandboxLimits::processor),
      number("--memory", &SandboxLimits::memory),
      number("--file", &SandboxLimits::file),
      number("--written", &SandboxLimits::written),
      number("--printed", &SandboxLimits::printed),
      number("--processes", &SandboxLimits::processes),
      number("--open-files", &SandboxLimits::open_files),
  };
  return options;
}

}  // namespace

std::vector<std::string> to_words(const JailOptions& options) {
  std::vector<std::string> words;
  for (const Option& option : all_options()) {
    for (const std::string& value : option.write(options)) {
      words.push_back(option.name);
      if (option.has_value) words.push_back(value);
    }
  }
  words.push_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  return words;
}

JailOptions jail_options(const std::vector<std::string>& words) {
  JailOptions options;
  std::size_t at = 0;
  for (; at < words.size() && words[at] != "--"; ++at) {
    const Option* known = nullptr;
    for (const Option& option : all_options()) {
      if (words[at] == option.name) known = &option;
    }
    if (known == nullptr) throw std::runtime_error("unknown option " + words[at]);
    if (known->has_value && at + 1 == words.size()) {
      throw std::runtime_error(words[at] + ": a value is missing after it");
    }
    known->read(options, known->has_value ? words[++at] : "");
  }
  if (at + 1 >= words.size()) throw std::runtime_error("no program is named behind --");
  options.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  return options;
}

}  // namespace halo
