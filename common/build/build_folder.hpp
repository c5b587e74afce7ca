// What the build description and Meson wrote into the build folder about this project: its stage programs, its tests, the
// libraries it found and the results of the last test run. The only part of the program that knows
// the format of those files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace halo {

// A program of the course: one stage's, or a ladder of stages that are timed together.
struct Program {
  std::string name;            // 04_conv1d_tiled_halo, bench_conv1d
  std::string family;          // of problems: conv1d, conv2d; empty if it is not known
  std::string backend;         // where it is to run: sim, gpu, or cpu for one that needs neither
  std::filesystem::path path;  // whether or not it has been built yet
  std::filesystem::path runtime = {};  // the folder of the CUDA runtime that it is to find, if any

  /// From now on programs that this process starts find that runtime.
  void choose_runtime() const;
};

struct TestProgram {
  std::string name;
  std::vector<std::string> suites;           // without the project's name
  std::vector<std::filesystem::path> needs;  // what must be built before it can run
};

struct TestResult {
  std::string name;
  std::string outcome;  // Meson's word: OK, FAIL, SKIP, TIMEOUT, ERROR, ...
  int status = 0;       // exit status; negative: the signal that ended it
  double seconds = 0;
  std::string out;
  std::string err;
};

struct Library {
  std::string name;     // Meson's name
  std::string version;  // empty: unknown
};

class BuildFolder {
 public:
  /// `path` is a folder set up by Meson. Throws std::runtime_error, one line, if it is not.
  explicit BuildFolder(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& source() const { return source_; }

  /// The stages' programs, in the order of their numbers, then by backend. One program may run at several places.
  const std::vector<Program>& programs() const { return programs_; }
  /// Stage names, in order, each once.
  const std::vector<std::string>& stages() const { return stages_; }
  /// What a stage is called for short: "04", and "10a" and "10b" where two have one number.
  std::string short_name(const std::string& stage) const;
  /// The programs that time a family's ladder of stages, by family, the CPU's before the GPU's.
  const std::vector<Program>& ladders() const { return ladders_; }
  std::vector<TestProgram> tests() const;
  /// Where one of the programs of common/cli stands, once it is built: halo-grade.
  std::filesystem::path own_program(const std::string& name) const {
    return path_ / "common" / "cli" / name;
  }
  /// The library of the peers that stand beside the stages on a GPU.
  std::filesystem::path peers() const { return path_ / "common" / "peers" / "halo-peers.so"; }
  /// The folder of the simulator's programs and its CUDA runtime.
  std::filesystem::path simulator() const { return path_ / "common" / "simt" / "cudart"; }
  /// And of its other libraries, the driver's (libcuda.so.1) among them.
  std::filesystem::path simulated_libraries() const {
    return path_ / "common" / "simt" / "libraries";
  }
  /// What any program may ask for in the simulator: the CUDA runtime, and the driver's functions where this build has them.
  std::vector<std::filesystem::path> simulated_runtime() const;
  /// Whether the build description says how this file is made.
  bool makes(const std::filesystem::path& file) const;
  std::vector<Library> libraries() const;
  /// The results in meson-logs/NAME.json; none if the file does not exist.
  std::vector<TestResult> test_results(const std::string& name) const;

 private:
  std::filesystem::path path_;
  std::filesystem::path source_;
  std::vector<Program> programs_;
  std::vector<Program> ladders_;
  std::vector<std::string> stages_;
};

}  // namespace halo
