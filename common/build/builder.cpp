#include "common/build/builder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>

#include "common/build/compiler_output.hpp"
#include "common/build/errors.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

// Files that are built at once. One is soonest ready where there are few processors; more of them keep
// many busy.
std::size_t files_together() {
  return static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN) / 4));
}

bool nothing_to_do(const Ended& ended) {
  return ended.out.find("no work to do") != std::string::npos;
}

// The last "[12/48]" of what ninja said, as "12 of 48"; empty if there is none.
std::string steps_done(const std::string& out) {
  for (std::size_t at = out.rfind("\n["); at != std::string::npos;
       at = at == 0 ? std::string::npos : out.rfind("\n[", at - 1)) {
    int done = 0, all = 0;
    if (std::sscanf(out.c_str() + at, "\n[%d/%d]", &done, &all) == 2) {
      return std::to_string(done) + " of " + std::to_string(all);
    }
  }
  return "";
}

// What went wrong, on stderr; the line that says it best.
std::string tell_failure(const Ended& ended, const BuildFolder& build, const std::string& what,
                         const fs::path& log) {
  if (!ended.started) return ended.err;
  const CompilerOutput said = read_compiler_output(ended.out + ended.err, build.path());
  std::fprintf(stderr, "halo: could not build %s\n%s(all of it, with the commands: %s)\n",
               what.c_str(), said.errors.c_str(), seen_from_here(log).c_str());
  return said.mistake;
}

std::vector<std::string> ninja_command(const BuildFolder& build, std::span<const fs::path> files) {
  // All that is wrong, not only the first file.
  std::vector<std::string> words = {"ninja", "-C", build.path().string(), "-k", "0"};
  for (const fs::path& file : files) {
    words.push_back(file.lexically_relative(build.path()).string());
  }
  return words;
}

constexpr const char* kWaiting = "waiting for another ./halo that is building";

}  // namespace

bool FolderLock::take() {
  if (descriptor_ >= 0) return true;
  descriptor_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0 || flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
    return true;
  }
  release();
  usleep(100'000);  // whoever asks again and again need not sleep himself
  return false;
}

void FolderLock::release() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

void keep_set_up(const fs::path& build) {
  // The descriptor is never closed: the lock ends with the process, however that ends.
  const int stamp = open((build / "halo-stamp").c_str(), O_RDONLY | O_CLOEXEC);
  if (stamp >= 0) flock(stamp, LOCK_SH | LOCK_NB);
}

Builder::Builder(const BuildFolder& build, const std::vector<fs::path>& files)
    : build_(build),
      files_(files),
      states_(files.size(), State::waiting),
      failures_(files.size()),
      lock_(build.path()),
      together_(files_together()) {
  // Its progress is read here, whatever the user likes to see.
  setenv("NINJA_STATUS", "[%f/%t] ", 1);
  if (files.empty()) return;
  std::vector<std::string> dry = ninja_command(build, files);
  dry.push_back("-n");
  const Ended ended = run_program(dry);
  // Without ninja, in a folder from elsewhere, what is there is what there is.
  if (!ended.started || nothing_to_do(ended)) {
    std::fill(states_.begin(), states_.end(), State::built);
  } else if (access(build.path().c_str(), W_OK) != 0) {
    throw WrongUse("cannot write to " + build.path().string() +
                   ": set HALO_BUILD to a folder that can be written");
  }
}

Builder::~Builder() = default;

fs::path Builder::log() const { return build_.path() / "halo-build.log"; }

bool Builder::all_built() const {
  return std::count(states_.begin(), states_.end(), State::built) ==
         static_cast<std::ptrdiff_t>(files_.size());
}

void Builder::begin() {
  if (ninja_) return;
  const auto waiting = std::find(states_.begin(), states_.end(), State::waiting);
  if (waiting == states_.end()) return;
  waits_ = !lock_.take();
  if (waits_) return;
  first_ = static_cast<std::size_t>(waiting - states_.begin());
  last_ = std::min(files_.size(), first_ + (one_by_one_ ? 1 : together_));
  ninja_ = std::make_unique<Running>(
      ninja_command(build_, {files_.data() + first_, files_.data() + last_}));
}

void Builder::update(Progress& progress) {
  if (!ninja_ || !ninja_->has_ended()) return;
  const Ended ended = ninja_->ended();
  ninja_.reset();
  lock_.release();
  one_by_one_ = !ended.good() && last_ - first_ > 1;
  if (one_by_one_) return;  // again, to know which
  for (std::size_t i = first_; i < last_; ++i) {
    states_[i] = ended.good() ? State::built : State::failed;
  }
  if (ended.good()) {
    const std::string warnings = read_compiler_output(ended.out, build_.path()).warnings;
    if (warnings.empty()) return;
    progress.clear();
    std::fputs(warnings.c_str(), stderr);
    return;
  }
  std::ofstream(log(), any_failed_ ? std::ios::app : std::ios::trunc) << ended.out << ended.err;
  any_failed_ = true;
  progress.clear();
  failures_[first_] = tell_failure(ended, build_, files_[first_].filename().string(), log());
}

std::string Builder::progress() const {
  if (!ninja_) return waits_ ? kWaiting : "";
  const std::string steps = steps_done("\n" + ninja_->ended().out);
  return "building " + files_[first_].filename().string() +
         (last_ - first_ > 1 ? " to " + files_[last_ - 1].filename().string() : "") +
         (steps.empty() ? "" : ": " + steps);
}

std::vector<fs::path> build_all(const BuildFolder& build, const std::vector<fs::path>& files,
                                const std::string& what, Progress& progress) {
  const Builder builder(build, files);
  if (builder.all_built()) return {};
  FolderLock lock(build.path());
  while (!lock.take()) progress.show(kWaiting);
  const Ended ended = run_program(ninja_command(build, files), [&](const std::string& out) {
    const std::string steps = steps_done("\n" + out);
    progress.show("building " + what + (steps.empty() ? "" : ": " + steps));
  });
  progress.clear();
  if (ended.good()) return {};
  std::ofstream(builder.log()) << ended.out << ended.err;
  tell_failure(ended, build, what, builder.log());
  std::vector<fs::path> missing;
  for (const fs::path& file : files) {
    std::vector<std::string> dry = ninja_command(build, {&file, 1});
    dry.push_back("-n");
    if (!nothing_to_do(run_program(dry))) missing.push_back(file);
  }
  return missing;
}

}  // namespace halo
