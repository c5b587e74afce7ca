// Has ninja build what a command needs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/build/build_folder.hpp"
#include "common/process/process.hpp"

namespace halo {

class Progress;

/// The build folder, which one ninja at a time works in. The script ./halo locks it in the same way.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder) : folder_(folder) {}
  ~FolderLock() { release(); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  /// False: another process has it. (True as well where a folder cannot be locked.)
  bool take();
  void release();

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;
};

/// From now on, as long as this process runs, the script ./halo does not set the folder up in another way.
void keep_set_up(const std::filesystem::path& build);

/// Builds files of the build folder in the order given, some at a time, beside whatever else the
/// command does. Only what is asked for is built, and what cannot be built does not stop the rest.
class Builder {
 public:
  /// Throws WrongUse if there is something to build and the folder cannot be written.
  Builder(const BuildFolder& build, const std::vector<std::filesystem::path>& files);
  ~Builder();

  /// Whether it is known what has become of the file: built, or not.
  bool decided(std::size_t file) const { return states_[file] != State::waiting; }
  bool all_built() const;
  /// Empty, or why the file was not built; the whole text is in `log()`.
  const std::string& failure(std::size_t file) const { return failures_[file]; }
  std::filesystem::path log() const;

  /// Begins to build the next files, if any are left. Not while it is building, or another process is.
  void begin();
  bool is_building() const { return ninja_ != nullptr; }
  /// To be watched while it is building; null else.
  Running* ninja() { return ninja_.get(); }
  /// After each watch: notes what has been built, and shows on stderr why something was not.
  void update(Progress& progress);
  /// "building 04_conv1d_tiled_halo: 12 of 48"; empty while it is not.
  std::string progress() const;

 private:
  enum class State { waiting, built, failed };

  const BuildFolder& build_;
  std::vector<std::filesystem::path> files_;
  std::vector<State> states_;
  std::vector<std::string> failures_;
  FolderLock lock_;
  bool waits_ = false;  // for another process
  std::unique_ptr<Running> ninja_;
  std::size_t first_ = 0;    // of those being built
  std::size_t last_ = 0;     // and behind them
  bool one_by_one_ = false;  // after a failure: which of them was it?
  bool any_failed_ = false;
  std::size_t together_;
};

/// Builds all that can be built, with progress: `what` names them ("the tests"). Returns those that cannot;
/// why has been told on stderr. Throws WrongUse if the folder cannot be written.
std::vector<std::filesystem::path> build_all(const BuildFolder& build,
                                             const std::vector<std::filesystem::path>& files,
                                             const std::string& what, Progress& progress);

}  // namespace halo
