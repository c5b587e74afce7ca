// A build folder as Meson leaves it, filled with small shell scripts in place of stage programs, of
// Meson and of ninja, so that the `halo` program can be tested without building or running a stage.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/process/process.hpp"
#include "common/report/rows.hpp"
#include "tests/folder.hpp"

namespace halo::test {

/// An environment variable that the test's Meson entry sets: HALO_CLI (the program), HALO_ROOT (the
/// repository), HALO_FAKE_DRIVER (fake_driver.cpp as a library). Throws std::runtime_error
/// if it is missing.
std::string required_variable(const char* name);

/// Lines of a text, without the empty end.
std::vector<std::string> lines_of(const std::string& text);

std::string read_file(const std::filesystem::path& file);

/// Checks that this status came with one line on stderr that starts with the program's name, and
/// nothing else.
void require_one_line(const Ended& ended, int status);

class FakeBuild {
 public:
  FakeBuild();
  FakeBuild(const FakeBuild&) = delete;
  FakeBuild& operator=(const FakeBuild&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// The repository that it says it was set up for; the folder itself unless this is called.
  void set_source(const std::filesystem::path& source);
  /// A file that the build description says how to make.
  void add_target(const std::filesystem::path& file);

  /// A stage or ladder program that is the shell script `body`. In it, $json is the file that --json names
  /// and $words holds all arguments; what it writes to descriptor 3 it tells the command.
  void add_program(const std::string& stage, const std::string& backend, const std::string& body);
  /// One that is listed but has not been built.
  void add_unbuilt_program(const std::string& stage, const std::string& backend);
  /// Files in the build folder with what a program tells: the head and these rows, a line each.
  std::filesystem::path told(const std::string& name, const std::vector<Row>& rows,
                             const Machine& machine = {}) const;
  /// One that tells these rows, and what it knows of the machine, and ends with this status.
  void add_reporting_program(const std::string& stage, const std::string& backend,
                             const std::vector<Row>& rows, int status, const Machine& machine = {});
  /// Says of which family a stage is.
  void add_family(const std::string& stage, const std::string& family);
  /// A test in a suite, or in two, as listed by Meson.
  void add_test(const std::string& name, const std::string& suite, const std::string& other = "");
  /// What the stand-in for Meson does when it is asked to run tests: `body` runs with $log being
  /// the file for the results.
  void set_meson(const std::string& body);

  /// What the stand-in for ninja does, which has nothing to do unless this is called: `body` runs with $words
  /// being its arguments but for the folder and -k 0. All its calls stand in `ninja_words()`.
  void set_ninja(const std::string& body);
  std::vector<std::string> ninja_words() const;

  /// For the environment of `halo`: a driver that claims one GPU.
  std::string with_gpu() const;

  /// `halo --build THIS ARGS` as halo() runs it, to be started otherwise.
  std::vector<std::string> command(std::vector<std::string> args,
                                   const std::vector<std::string>& environment = {},
                                   const std::filesystem::path& where = "/") const;
  /// Runs `halo --build THIS ARGS`, in folder `where`, with `environment` ("NAME=VALUE") added. No
  /// GPU is visible to it.
  Ended halo(std::vector<std::string> args, const std::vector<std::string>& environment = {},
             const std::filesystem::path& where = "/") const;

 private:
  void write_info() const;

  struct Listed {
    std::string name;
    std::string file;
  };
  Folder folder_;
  std::filesystem::path path_;
  std::vector<Listed> programs_;
  std::vector<Listed> tests_;     // name and suite
  std::vector<Listed> families_;  // stage and family
  std::vector<std::filesystem::path> targets_;
  std::filesystem::path source_;
};

/// A row whose four columns are good (not run for time).
Row good_row(const std::string& stage, const std::string& variant);

/// A row that was checked and timed: hot, and on a GPU also cold and with transfers.
Row timed_row(const std::string& stage, const std::string& backend, const std::string& variant,
              double ms);

}  // namespace halo::test
