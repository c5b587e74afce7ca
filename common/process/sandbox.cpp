#include "common/process/sandbox.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "common/data/temporary_folder.hpp"
#include "common/process/jail_options.hpp"
#include "common/process/process.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

// Where distributions put it; PATH is not asked, which may lead anywhere.
std::string find_bubblewrap() {
  for (const char* path : {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return {};
}

// A file that a confined program cannot read, and a folder that it can write.
class Canary {
 public:
  Canary() {
    fs::create_directory(folder_.path() / "closed");
    fs::permissions(folder_.path() / "closed", fs::perms::owner_all);
    fs::create_directory(open());
    fs::permissions(folder_.path(), fs::perms(0711));
    std::ofstream(path()) << "nobody reads this\n";
    fs::permissions(path(), fs::perms(0644));
  }
  std::string path() const { return folder_.path() / "closed" / "canary"; }
  std::string open() const { return folder_.path() / "open"; }

 private:
  data::TemporaryFolder folder_{"halo-canary"};
};

}  // namespace

const char* to_string(SandboxLevel level) {
  switch (level) {
    case SandboxLevel::limits:
      return "limits";
    case SandboxLevel::confined:
      return "confined";
    case SandboxLevel::namespaces:
      return "namespaces";
  }
  return "";
}

SandboxLevel parse_sandbox_level(const std::string& word) {
  for (const SandboxLevel level :
       {SandboxLevel::limits, SandboxLevel::confined, SandboxLevel::namespaces}) {
    if (word == to_string(level)) return level;
  }
  throw std::runtime_error("'" + word + "' is not one of namespaces, confined, limits");
}

Sandbox::Sandbox(fs::path jail, SandboxLevel most, const std::vector<std::string>& secrets)
    : jail_(fs::absolute(jail)) {
  const Ended asked = run_program({jail_.string(), "--means"});
  if (!asked.good()) {
    throw std::runtime_error("no sandbox: " + jail_.string() + ": " +
                             (asked.started ? how_it_ended(asked) : asked.err));
  }
  const auto has = [&](const char* means) { return asked.out.find(means) != std::string::npos; };
  std::vector<std::string> common;
  if (has("landlock")) common.push_back("--landlock");
  if (has("seccomp")) common.push_back("--seccomp");
  const std::string bubblewrap = find_bubblewrap();
  const Canary canary;
  std::vector<std::string> unread = secrets;
  unread.push_back(canary.path());
  for (const SandboxLevel level :
       {SandboxLevel::namespaces, SandboxLevel::confined, SandboxLevel::limits}) {
    if (level > most) continue;
    level_ = level;
    if (level == SandboxLevel::namespaces && bubblewrap.empty()) {
      why_not_more_ = "bubblewrap is not installed";
      continue;
    }
    // Where root may be another user: not every folder can be read by one.
    for (const bool own_user : {true, false}) {
      if (own_user && geteuid() != 0) continue;
      means_ = common;
      if (level == SandboxLevel::namespaces) {
        means_.insert(means_.begin(), {"--bubblewrap", bubblewrap});
      }
      if (level == SandboxLevel::limits) std::erase(means_, "--landlock");
      if (own_user) means_.push_back("--own-user");
      if (works(unread, canary.open())) return;
    }
  }
  throw std::runtime_error("no sandbox works here: " + why_not_more_);
}

// Whether a program can be started, writes what it may, and cannot read what is not named.
bool Sandbox::works(const std::vector<std::string>& secrets, const std::string& folder) {
  Confinement trial;
  trial.readable = {jail_.parent_path().parent_path().string()};
  trial.folder = folder;
  trial.limits.wall = 600;
  std::vector<std::string> command = {jail_.string(), "--try", folder};
  if (level_ != SandboxLevel::limits) {
    command.insert(command.end(), secrets.begin(), secrets.end());
  }
  const Ended ended = run_program(confined(words(trial), {}, command));
  if (ended.good()) return true;
  // bubblewrap's own words say it best, without where to read more.
  const std::size_t said = ended.err.find("bwrap: ");
  why_not_more_ = last_line(ended.err);
  if (said != std::string::npos) {
    why_not_more_ = ended.err.substr(said, ended.err.find('\n', said) - said);
    why_not_more_.erase(std::min(why_not_more_.find(". See <"), why_not_more_.size()));
  }
  if (why_not_more_.empty()) why_not_more_ = how_it_ended(ended);
  return false;
}

std::string Sandbox::made_of() const {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  const auto has = [&](const char* option) {
    for (const std::string& word : means_) {
      if (word == option) return true;
    }
    return false;
  };
  if (has("--bubblewrap")) add("bubblewrap");
  if (has("--own-user")) add("a user of its own");
  if (has("--landlock")) {
    add("Landlock");
  } else if (level_ != SandboxLevel::limits) {
    add("no Landlock");
  }
  add(has("--seccomp") ? "seccomp" : "no seccomp");
  return text;
}

std::vector<std::string> Sandbox::words(const Confinement& confinement) const {
  JailOptions options;
  options.confinement = confinement;
  std::vector<std::string> words = to_words(options);
  words.insert(words.begin(), means_.begin(), means_.end());
  words.insert(words.begin(), jail_.string());
  return words;
}

std::vector<std::string> confined(const std::vector<std::string>& words, const ConfinedRun& run,
                                  const std::vector<std::string>& command) {
  if (words.empty()) return command;
  std::vector<std::string> all = {words[0]};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) all.insert(all.end(), {option, value});
  };
  add("--report", run.report);
  for (const std::string& path : run.readable) add("--read", path);
  for (const std::string& setting : run.environment) add("--set", setting);
  all.insert(all.end(), words.begin() + 1, words.end() - 1);
  add("--folder", run.folder);
  all.push_back("--");
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

std::string reason_in_report(const std::string& report) {
  std::ifstream file(report);
  std::string line;
  std::getline(file, line);
  return line;
}

bool is_machines_fault(const std::string& reason) {
  return reason.starts_with(kTooLong) || reason.starts_with(kNotStarted);
}

}  // namespace halo
