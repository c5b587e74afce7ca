// One attempt at an exercise: the student's file becomes a program, and the exercise's check judges it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/build/build_folder.hpp"
#include "common/exercise/exercises.hpp"
#include "common/exercise/marks.hpp"
#include "common/process/sandbox.hpp"

namespace halo {

struct AttemptOptions {
  std::string backend;  // as choose_exercise_backend says
  std::string seed;     // of the check; empty: a fresh one
  /// The compiler or the check is ended that gives no sign of life for so long, as Patience counts it; 0: never.
  std::chrono::seconds limit{120};
  /// Asked about ten times a second: true ends the attempt. May be empty.
  std::function<bool()> overtaken = {};
  bool debug = false;  // with debug information
  /// An assignment's file, whose hidden cases are judged too; empty: there are none.
  std::filesystem::path hidden = {};
  /// Where somebody else's file is compiled and run, in a folder of its own with nothing of the exercise's folder; null:
  /// it is one's own.
  const Sandbox* sandbox = nullptr;
  /// Of the program there, in all its cases together. The judge ends one call that goes on and on much sooner.
  SandboxLimits limits = {.processor = 600};
};

struct Attempt {
  /// `refused`: the file has something in it that may not run (tripwires.hpp).
  enum class End { judged, not_compiled, refused, overtaken };
  End end = End::judged;
  Marks marks;
  std::string errors;   // of the compiler, with their lines; a screen of them
  std::string mistake;  // the line of them that says it best
  std::string warning;  // the first one, of a file that compiles
  std::string time;     // "0.97 of the time of the course's kernel ...", of what is right on a GPU
  std::vector<std::string> remarks;  // on somebody else's file, for a human
};

/// sim or gpu, of what was asked for (auto: the simulator, which sees most). Throws CannotRun if this build
/// or this machine has it not, MachineFault if this shell's limits leave it no room.
std::string choose_exercise_backend(const BuildFolder& build, const std::string& on);

/// Builds the exercise's check and whatever a student's file needs to become a program; at once if nothing
/// is to be done. Throws WrongUse and CannotRun.
void prepare_exercise(const BuildFolder& build, const Exercise& exercise,
                      const std::string& backend);

/// What a sandbox is made with: halo-jail.
std::filesystem::path sandbox_program(const BuildFolder& build);
/// The sandbox of the strongest level up to `most` (auto: any) that works here. Throws CannotRun if that is
/// less than `required` (empty: any will do), and says what is missing.
Sandbox open_sandbox(const BuildFolder& build, const std::string& most,
                     const std::string& required = {});

/// The attempt itself, after prepare_exercise. Throws WrongUse for a file that cannot be read, CannotRun if
/// the check says that it cannot run here, and NoVerdict if it gives none: MachineFault where this machine is why.
Attempt attempt_exercise(const BuildFolder& build, const Exercise& exercise,
                         const AttemptOptions& options);

/// What there is to be judged: the cases with their points and the questions, none of them judged. After
/// prepare_exercise; throws as attempt_exercise.
Marks describe_exercise(const BuildFolder& build, const Exercise& exercise,
                        const AttemptOptions& options);

/// Where a debugger is to stop; what is empty the check chooses: the first wrong output's thread, and the
/// beginning of the kernels.
struct DebugPlace {
  std::string block;
  std::string thread;
  std::string line;
  bool batch = false;  // tells where it stopped, and ends
  bool dap = false;    // for an editor, which has started this
};
/// After prepare_exercise for the simulator: this process becomes a debugger's that holds the student's kernel. Throws WrongUse
/// if the file does not compile.
[[noreturn]] int debug_exercise(const BuildFolder& build, const Exercise& exercise,
                                const DebugPlace& place, const std::string& seed);

/// After prepare_exercise for the simulator: the student's program runs one problem, its numbers as "1000,9,256"
/// (empty: the check chooses), and is not judged. Throws WrongUse if the file does not compile or the numbers do not
/// fit, CannotRun if this exercise has nothing to be traced. With a profiler's words before the program's it runs on the GPU.
/// Returns the problem in words: "n 1,000, width 9, threads 256".
std::string trace_exercise(const BuildFolder& build, const Exercise& exercise,
                           const std::string& numbers, const std::string& seed,
                           const std::vector<std::string>& profiler = {});

/// The folder for what is made of this exercise's file.
std::filesystem::path workplace_of(const BuildFolder& build, const Exercise& exercise);

}  // namespace halo
