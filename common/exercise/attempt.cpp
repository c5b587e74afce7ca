#include "common/exercise/attempt.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "common/build/builder.hpp"
#include "common/build/compiler_output.hpp"
#include "common/build/errors.hpp"
#include "common/build/gpu.hpp"
#include "common/data/file.hpp"
#include "common/data/temporary_folder.hpp"
#include "common/exercise/compiled_file.hpp"
#include "common/exercise/tripwires.hpp"
#include "common/json/json.hpp"
#include "common/process/patience.hpp"
#include "common/process/process.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::ptrdiff_t kMostErrorLines = 18;  // with what stands round them a screen
// A file that changes while it is compiled is compiled again; not for ever.
constexpr int kMostCompilations = 3;

// Somebody saved the file meanwhile.
struct Overtaken {};

// How a file becomes a program: the words of a command with {source} and {program} in them; and by backend the folder of
// the CUDA runtime that has the program run there.
json::Value read_compilers(const BuildFolder& build) {
  const fs::path file = build.path() / "common" / "exercise" / "compilers.json";
  if (!fs::exists(file)) {
    throw CannotRun("this build knows no exercises (" + seen_from_here(file) +
                    " is missing): ./halo try sets it up");
  }
  try {
    return json::Value::parse(text_of_file(file));
  } catch (const json::Error& error) {
    throw std::runtime_error(seen_from_here(file) + " cannot be read (" + error.what() +
                             "): remove the build folder and start again");
  }
}

std::vector<std::string> compiler_words(const BuildFolder& build) {
  return read_compilers(build).get<std::vector<std::string>>("words");
}

// Huge pages, where the system leaves them to who asks: without them a third of cudafe++'s time goes to page faults, a tenth
// of a compilation's. Where this is not known it does nothing.
constexpr const char* kTunables = "GLIBC_TUNABLES";
constexpr const char* kHugePages = "glibc.malloc.hugetlb=1";

// For all that is started from now on.
void run_on(const BuildFolder& build, const std::string& backend) {
  Program program;
  program.runtime = read_compilers(build).get<std::string>(backend);
  program.choose_runtime();
  setenv(kTunables, kHugePages, 0);
}

// Of what a graded program asks of the device it is done there.
fs::path device_of(const BuildFolder& build) {
  return build.path() / "common" / "exercise" / "exercise-device";
}

fs::path check_of(const BuildFolder& build, const Exercise& exercise) {
  return build.path() / "exercises" /
         ("check-" + (exercise.check.empty() ? exercise.name : exercise.check));
}

// What a check is called with: these, as far as they have a value.
std::vector<std::string> check_command(
    const BuildFolder& build, const Exercise& exercise,
    const std::vector<std::pair<const char*, std::string>>& asked) {
  std::vector<std::string> command = {check_of(build, exercise).string()};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {name, value});
  };
  for (const auto& [name, value] : asked) add(name, value);
  add("--contract", exercise.contract);
  return command;
}

// A list of words as one; of none nothing.
std::string as_one_word(const std::vector<std::string>& words) {
  return words.empty() ? "" : json::Value(words).dump();
}

// "path time size" of a file, so that another one is not taken for it.
std::string identity_of(const fs::path& file) {
  std::error_code unknown;
  const auto written = fs::last_write_time(file, unknown).time_since_epoch().count();
  return file.string() + " " + std::to_string(written) + " " +
         std::to_string(fs::file_size(file, unknown)) + "\n";
}

MachineFault machine_fault(const std::string& what) { return MachineFault(kNoVerdict + what); }

// Runs a program with all that it starts, and ends it if nothing is heard of it for too long. About ten times a second `look`
// is called; whatever it throws ends the program too. Throws Overtaken.
struct Limited {
  Ended ended;
  Patience::Lost lost = Patience::Lost::not_yet;
  std::string words;  // of what expired: "gave no sign of life for 120 s: it sleeps"

  bool expired() const { return lost != Patience::Lost::not_yet; }
};
Limited run_limited(const std::vector<std::string>& command, const AttemptOptions& options,
                    Progress& progress, std::string& doing, const Listener& listener = {},
                    const std::function<void()>& look = {}) {
  Limited result;
  std::optional<Patience> patience;
  Listener counted;
  if (listener) {
    counted = [&](const std::string& line, bool whole) {
      patience->heard();
      listener(line, whole);
    };
  }
  Running program(command, counted, Running::Alone::no);
  patience.emplace(program.process(), static_cast<double>(options.limit.count()));
  const auto start = Clock::now();
  while (!program.has_ended()) {
    watch({&program});
    if (program.has_ended()) break;
    if (options.overtaken && options.overtaken()) throw Overtaken{};
    if (look) look();
    if (!result.expired()) {
      result.lost = patience->look();
      result.words = patience->words(result.lost) + " (--time-limit)";
      if (result.expired()) program.end();
    }
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count();
    progress.show(doing + ", " + std::to_string(seconds) + " s");
  }
  progress.clear();
  result.ended = program.ended();
  if (result.lost == Patience::Lost::waited) {
    throw machine_fault(fs::path(command[0]).filename().string() + " " + result.words);
  }
  return result;
}

// At most a screen of the compiler's errors, whole lines.
std::string a_screen_of(const std::string& errors, const fs::path& log) {
  if (std::count(errors.begin(), errors.end(), '\n') <= kMostErrorLines) return errors;
  std::size_t end = 0;
  for (std::ptrdiff_t line = 1; line < kMostErrorLines; ++line) end = errors.find('\n', end) + 1;
  return errors.substr(0, end) + "(all of it: " + seen_from_here(log) + ")\n";
}

// Where a compiler failed because this machine has no room or memory for it, nothing is known of the file.
void require_no_machine_fault(const Ended& compiler) {
  const std::string fault = machines_fault(compiler.out + compiler.err);
  if (!compiler.good() && !fault.empty()) throw machine_fault("the compiler: " + fault);
}

// More than look_at() looks at is not read.
bool is_too_large(const fs::path& preprocessed) {
  std::error_code missing;
  const std::uintmax_t size = fs::file_size(preprocessed, missing);
  return !missing && size > kMostPreprocessed;
}

// Of one that did not say what is wrong with the file.
std::string how_compiler_ended(const Ended& ended) {
  return "the compiler ended with " + how_it_ended(ended) +
         (ended.good() ? " and left no program" : "");
}

// Lambdas of the device double the time that nvcc takes, so only who has some waits for it. `run` has a command run, which
// leaves files in `folder`.
Limited compile_object(std::vector<std::string> words, const fs::path& source,
                       const fs::path& object, const fs::path& folder,
                       const std::function<Limited(const std::vector<std::string>&)>& run) {
  const std::string flag = "--extended-lambda";
  Limited compiled = run(object_command(words, source, object));
  if ((compiled.ended.out + compiled.ended.err).find(flag) == std::string::npos) return compiled;
  // Perhaps of a user who is another one each time.
  for (const fs::directory_entry& left : fs::directory_iterator(folder)) {
    if (!left.is_directory()) fs::remove(left.path());
  }
  words.push_back(flag);
  return run(object_command(words, source, object));
}

// Whether what is at `preprocessed`, as far as it is there, and in the object may run; `compiles` if there is an object.
// `run` has a command run where they are.
Tripped look_at_object(const BuildFolder& build, const Exercise& exercise, CompiledFile compiled,
                       const std::string& nvcc, const fs::path& preprocessed,
                       const fs::path& object, bool compiles,
                       const std::function<Limited(const std::vector<std::string>&)>& run) {
  if (is_too_large(preprocessed)) return {"the preprocessor makes more than 32 MiB of it", {}};
  compiled.preprocessed = text_of_file(preprocessed, true, kMostPreprocessed);
  compiled.root = build.source().string();
  compiled.toolkit = toolkit_of(nvcc).string();
  compiled.is_program = exercise.start_text().find("\nint main(") != std::string::npos;
  if (compiles) {
    const Limited listed = run(symbols_command(object));
    if (!listed.ended.good()) {
      const std::string why = last_line(listed.ended.err);
      throw CannotRun("nm cannot list a program's symbols" + (why.empty() ? "" : " (" + why + ")") +
                      ": install binutils");
    }
    compiled.symbols = listed.ended.out;
  }
  return look_at(compiled);
}

// What a student's file is made into, and what it was made from.
class StudentProgram {
 public:
  StudentProgram(const BuildFolder& build, const Exercise& exercise, const AttemptOptions& options)
      : StudentProgram(build, exercise, options, exercise.source(),
                       options.debug ? "yours-debug" : "yours") {}

  // Of another file, under another name.
  StudentProgram(const BuildFolder& build, const Exercise& exercise, const AttemptOptions& options,
                 const fs::path& source, const char* name)
      : build_(build),
        exercise_(exercise),
        options_(options),
        source_(source),
        program_(workplace_of(build, exercise) / name),
        made_from_(program_.string() + ".from"),
        log_(program_.string() + "-compiler.log"),
        words_(compiler_words(build)) {
    if (options.debug) {
      std::erase(words_, "-lineinfo");  // -G has lines by itself, and warns of it
      words_.push_back("-G");
    }
    std::error_code failed;
    fs::create_directories(program_.parent_path(), failed);
    if (failed || access(program_.parent_path().c_str(), W_OK) != 0) {
      throw WrongUse("cannot write to " + seen_from_here(program_.parent_path()) +
                     ": set HALO_BUILD to a folder that can be written");
    }
  }

  const fs::path& path() const { return program_; }

  // Whether the file compiles; what the compiler said is in `attempt`. Throws Overtaken.
  bool make(Attempt& attempt, Progress& progress) {
    for (int time = 1;; ++time) {
      const std::string from = all_it_is_made_from(source_);
      if (is_made_from(from)) {
        tell_warning(attempt, source_);
        return true;
      }
      const bool made = compile(source_, attempt, progress);
      // Saved meanwhile: the compiler may have seen half of each.
      if (all_it_is_made_from(source_) != from && time < kMostCompilations) continue;
      if (made) {
        data::write_file(made_from_.string(), from);
        tell_warning(attempt, source_);
      }
      return made;
    }
  }

 private:
  // The command, the compiler and the library, and the text: no other header than these have may be included.
  std::string all_it_is_made_from(const fs::path& source) const {
    std::string from;
    for (const std::string& word : words_) {
      std::error_code unknown;
      from += fs::is_regular_file(word, unknown) ? identity_of(word) : word + "\n";
    }
    return from + source.string() + "\n" + text_of_file(source);
  }

  bool is_made_from(const std::string& from) const {
    if (!fs::exists(program_)) return false;
    std::ifstream stream(made_from_, std::ios::binary);
    return stream && std::string{std::istreambuf_iterator<char>(stream), {}} == from;
  }

  bool compile(const fs::path& source, Attempt& attempt, Progress& progress) {
    attempt = {};
    const data::TemporaryFolder folder("halo-compile");
    const fs::path object = folder.path() / (source.stem().string() + ".o");
    const fs::path fresh = folder.path() / "program";
    std::string doing = "compiling " + exercise_.path_of(source);
    const auto run_here = [&](const std::vector<std::string>& command) {
      return run_limited(command, options_, progress, doing);
    };
    Limited run = compile_object(words_, source, object, folder.path(), run_here);
    std::string said = run.ended.out + run.ended.err;
    const bool compiles =
        run.ended.started && run.ended.good() && !run.expired() && fs::exists(object);
    CompiledFile compiled;
    compiled.name = source.string();
    compiled.text = text_of_file(source);
    const Tripped tripped =
        look_at_object(build_, exercise_, compiled, words_[0], preprocessed_of(source, object),
                       object, compiles, run_here);
    if (!tripped.refusal.empty()) {
      attempt.end = Attempt::End::refused;
      attempt.mistake = "./halo grade refuses this file: " + tripped.refusal;
      return false;
    }
    if (compiles) {
      run = run_here(link_command(words_, object, fresh));
      said += run.ended.out + run.ended.err;
    }
    std::ofstream(log_) << said;
    if (run.expired()) {
      attempt.mistake = "the compiler was ended after " + std::to_string(options_.limit.count()) +
                        " s (--time-limit)";
      return false;
    }
    if (!run.ended.started) throw CannotRun(run.ended.err);
    require_no_machine_fault(run.ended);
    if (!run.ended.good() || !fs::exists(fresh)) {
      const CompilerOutput output = read_compiler_output(said, build_.path());
      attempt.errors = a_screen_of(output.errors, log_);
      attempt.mistake = output.mistake;
      if (attempt.mistake.empty()) attempt.mistake = how_compiler_ended(run.ended);
      return false;
    }
    std::error_code failed;
    fs::remove(made_from_, failed);  // what it says is not true any more
    // In its place at once: another one may run.
    const fs::path beside = program_.string() + "." + std::to_string(getpid());
    if (fs::copy_file(fresh, beside, failed)) fs::rename(beside, program_, failed);
    if (failed)
      throw data::NotWritten("cannot write '" + program_.string() + "': " + failed.message());
    return true;
  }

  // Also of a program that was made before: the mistake is still there.
  void tell_warning(Attempt& attempt, const fs::path& source) const {
    const std::string said = text_of_file(log_, true);
    if (said.empty()) return;
    std::istringstream lines(read_compiler_output(said, build_.path()).errors);
    const std::string name = source.filename().string();
    for (std::string line; std::getline(lines, line);) {
      if (line.find("warning: ") == std::string::npos || line.find(name) == std::string::npos) {
        continue;
      }
      attempt.warning = line;
      return;
    }
  }

  const BuildFolder& build_;
  const Exercise& exercise_;
  const AttemptOptions& options_;
  fs::path source_;
  fs::path program_;
  fs::path made_from_;
  fs::path log_;
  std::vector<std::string> words_;
};

// Nothing of a course is longer; what is larger was not written by hand.
constexpr std::uintmax_t kLongestFile = 1'000'000;

// Where a file of somebody else's becomes a program: in the folder `work`, which is the compiler's, with nothing beside it
// that is the student's.
class SubmittedProgram {
 public:
  SubmittedProgram(const BuildFolder& build, const Exercise& exercise,
                   const AttemptOptions& options)
      : build_(build), exercise_(exercise), options_(options) {
    // Whoever runs the program comes through here, whatever umask is.
    fs::permissions(folder_.path(), fs::perms(0711));
    fs::create_directory(work());
  }

  fs::path path() const { return folder_.path() / "program"; }
  fs::path report() const { return folder_.path() / "report"; }
  // As the repository names it, whatever it was handed in as.
  std::string source() const {
    return "exercises/" + exercise_.name + "/" + exercise_.name.substr(3) + ".cu";
  }

  // As StudentProgram::make.
  bool make(Attempt& attempt, Progress& progress) {
    const fs::path submitted = exercise_.source();
    const fs::file_status status = fs::symlink_status(submitted);
    attempt.mistake = !fs::is_regular_file(status)              ? "it is no plain file"
                      : fs::file_size(submitted) > kLongestFile ? "it is larger than a megabyte"
                                                                : "";
    if (!attempt.mistake.empty()) return false;
    const fs::path copy = work() / source();
    fs::create_directories(copy.parent_path());
    data::write_file(copy.string(), text_of_file(submitted));
    // The compiler is perhaps another user.
    fs::permissions(copy, fs::perms(0644));
    for (fs::path at = copy.parent_path(); at != work(); at = at.parent_path()) {
      fs::permissions(at, fs::perms(0755));
    }

    // In two steps: what is between them is looked at too before anything of it runs.
    const std::vector<std::string> words = compiler_words(build_);
    CompiledFile compiled;
    compiled.name = source();
    compiled.text = text_of_file(copy);
    const auto look = [&](bool compiles) {
      return look_at_object(build_, exercise_, compiled, words[0], preprocessed(), kObject,
                            compiles, [&](const auto& command) {
                              return run_compiler(command, words, progress, "looking at");
                            });
    };
    // What is refused for its directives is not compiled, and what is for any of its words not to the end: these are known as
    // soon as the preprocessor is done.
    const auto refuse = [&] {
      if (Tripped found = look(false); !found.refusal.empty()) throw found;
    };
    bool has_looked = false;
    const auto early = [&] {
      if (has_looked) return;
      std::error_code unseen;
      has_looked = fs::exists(work() / written_after(source(), kObject), unseen) ||
                   is_too_large(preprocessed());
      if (has_looked) refuse();
    };
    Limited run;
    std::string reason;
    Tripped tripped;
    try {
      refuse();
      run = compile_object(words, source(), kObject, work(), [&](const auto& command) {
        has_looked = false;
        Limited its = run_compiler(command, words, progress, "compiling", early);
        // Of a compiler that was sooner done than looked at the same is said.
        early();
        return its;
      });
      reason = reason_in_report(report().string());
      tripped = look(run.ended.good() && reason.empty());
    } catch (const Tripped& found) {
      tripped = found;
    }
    attempt.remarks = tripped.remarks;
    if (!tripped.refusal.empty()) {
      attempt.end = Attempt::End::refused;
      attempt.mistake = tripped.refusal;
      return false;
    }
    if (run.ended.good() && reason.empty()) {
      run = run_compiler(link_command(words, kObject, "program"), words, progress, "linking");
      reason = reason_in_report(report().string());
    }
    const CompilerOutput output = read_compiler_output(run.ended.out + run.ended.err, work());
    attempt.errors = as_in_repository(output.errors);
    attempt.mistake = as_in_repository(output.mistake);
    if (run.expired()) {
      attempt.mistake = "the compiler " + run.words;
    } else if (!reason.empty()) {
      attempt.mistake = "the compiler was ended: it " + reason;
    } else if (!run.ended.good() || !take_program()) {
      if (attempt.mistake.empty()) attempt.mistake = how_compiler_ended(run.ended);
    } else {
      return true;
    }
    return false;
  }

  // The words for the check: how this program is to be started, and `beside` if it names one.
  std::vector<std::string> words(const fs::path& beside) const {
    Confinement worker;
    const auto runtime = read_compilers(build_).get<std::string>(options_.backend);
    worker.readable = {path().string(), runtime};
    worker.limits = options_.limits;
    std::string libraries = "LD_LIBRARY_PATH=" + runtime;
    if (options_.backend == "gpu") {
      worker.profile = Confinement::Profile::gpu;
      if (!beside.empty()) worker.readable.push_back(beside.string());
      // Where the driver is, and its descriptors.
      const char* const ours = std::getenv("LD_LIBRARY_PATH");
      if (ours != nullptr) libraries += std::string(":") + ours;
      worker.limits.open_files = 1024;
      worker.environment = {libraries};
    } else {
      worker.readable.push_back(device_of(build_).string());
      worker.readable.push_back(build_.simulated_libraries().string());
      const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
      worker.environment = {"SIMT_THREADS=" + std::to_string(threads), libraries};
    }
    return options_.sandbox->words(worker);
  }

 private:
  fs::path work() const { return folder_.path() / "work"; }

  fs::path preprocessed() const { return work() / preprocessed_of(source(), kObject); }

  // Files as the repository names them, not where they happen to lie.
  std::string as_in_repository(std::string text) const {
    const std::string here = seen_from_here(work()) + "/";
    for (std::size_t at = text.find(here); at != std::string::npos; at = text.find(here, at)) {
      text.erase(at, here.size());
    }
    return text;
  }

  Limited run_compiler(const std::vector<std::string>& command,
                       const std::vector<std::string>& compilers, Progress& progress,
                       const std::string& what, const std::function<void()>& early = {}) {
    std::string doing = what + " " + source();
    Limited run = run_limited(
        confined(options_.sandbox->words(compiler(compilers)), {report().string()}, command),
        options_, progress, doing, {}, early);
    if (!run.ended.started) throw machine_fault(run.ended.err);
    const std::string reason = reason_in_report(report().string());
    if (is_machines_fault(reason)) throw machine_fault("the compiler " + reason);
    // What comes of the limit on a file's size looks like the compiler's own fault.
    if (run.expired() || !reason.empty() || is_too_large(preprocessed())) return run;
    require_no_machine_fault(run.ended);
    // Nobody kills it but a machine without memory; nvcc tells so of the compilers below it.
    constexpr int kKilled = 128 + SIGKILL;
    if (run.ended.signal == SIGKILL || run.ended.status == kKilled) {
      throw machine_fault("the compiler was killed: does this machine have enough memory?");
    }
    return run;
  }

  // The compiler sees itself, the interface of exercises and the library, and nothing else of the course.
  Confinement compiler(const std::vector<std::string>& words) const {
    Confinement confinement;
    confinement.profile = Confinement::Profile::compiler;
    const fs::path common = build_.source() / "common";
    confinement.readable = {toolkit_of(words[0]).string(), (build_.path() / "common").string()};
    // The host's compiler, with what is beside it, where it is not the system's: /opt/gcc.
    const auto ccbin = std::find(words.begin(), words.end(), "-ccbin");
    if (ccbin != words.end() && std::next(ccbin) != words.end()) {
      const fs::path folder = fs::path(*std::next(ccbin)).parent_path().parent_path();
      if (folder.is_absolute() && folder != "/" && folder != "/usr") {
        confinement.readable.push_back(folder.string());
      }
    }
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(common / "exercise", unreadable)) {
      if (entry.path().extension() == ".h") confinement.readable.push_back(entry.path().string());
    }
    confinement.folder = work().string();
    confinement.environment = {std::string(kTunables) + "=" + kHugePages};
    // Where glibc sees whether it has to ask for them.
    const fs::path huge_pages = "/sys/kernel/mm/transparent_hugepage";
    if (fs::exists(huge_pages)) confinement.readable.push_back(huge_pages.string());
    confinement.limits.processor = 90;
    // More is not looked at, and a preprocessor that writes without an end is not let write long.
    confinement.limits.file = 2 * kMostPreprocessed;
    confinement.limits.written = 512'000'000;
    confinement.limits.processes = 32;
    confinement.limits.open_files = 256;
    return confinement;
  }

  // Out of the compiler's folder, where the student's file may have left anything under that name.
  bool take_program() const {
    const fs::path made = work() / "program";
    if (!fs::is_regular_file(fs::symlink_status(made))) return false;
    fs::copy_file(made, path());
    fs::permissions(path(), fs::perms(0755));
    return true;
  }

  static constexpr const char* kObject = "program.o";
  const BuildFolder& build_;
  const Exercise& exercise_;
  const AttemptOptions& options_;
  data::TemporaryFolder folder_{"halo-grade"};
};

// What is judged: a program, what its file is called, and how it is started.
struct ToJudge {
  fs::path program;
  std::string source;
  std::vector<std::string> within = {};
  fs::path beside = {};  // a program that it is timed beside
};

// Hears what the check tells and makes sure that it is a verdict.
Marks judge_program(const BuildFolder& build, const Exercise& exercise, const ToJudge& judged,
                    const AttemptOptions& options, Progress& progress, std::string& time) {
  const std::string name = "the check of " + exercise.number;
  const std::vector<std::string> command = check_command(build, exercise,
                                                         {{"--program", judged.program.string()},
                                                          {"--on", options.backend},
                                                          {"--source", judged.source},
                                                          {"--within", as_one_word(judged.within)},
                                                          {"--beside", judged.beside.string()},
                                                          {"--seed", options.seed},
                                                          {"--hidden", options.hidden.string()}});
  Marks marks;
  std::string mistake;
  std::string doing = "checking " + exercise.name;
  const Limited run =
      run_limited(command, options, progress, doing, [&](const std::string& line, bool whole) {
        if (!mistake.empty()) return;
        try {
          if (!whole) throw std::runtime_error(name + " was cut short");
          hear_marks(line, name, marks);
          if (!marks.cases.empty()) {
            doing = "checking " + exercise.name + ": " + std::to_string(marks.cases.size()) +
                    (marks.cases.size() == 1 ? " case" : " cases");
          }
        } catch (const std::runtime_error& error) {
          mistake = error.what();
        }
      });
  const Ended& ended = run.ended;
  const std::string said = last_line(ended.err.empty() ? ended.out : ended.err);
  const auto no_verdict = [&](const std::string& what) {
    const fs::path log = workplace_of(build, exercise) / "check.log";
    std::ofstream(log) << ended.out << ended.err;
    return NoVerdict("no verdict: " + what +
                     (said.empty() ? "" : "; it said: " + data::printable(said, 300)) +
                     " (all of it: " + seen_from_here(log) + ")");
  };
  if (run.expired()) throw no_verdict(name + " " + run.words);
  if (!ended.started) throw no_verdict(ended.err);
  if (ended.status == kMachineHindered) throw machine_fault(data::printable(said, 300));
  if (ended.status == kNotJudgeable && marks.cases.empty()) {
    throw NotJudgeable("cannot be judged: " + data::printable(said, 300));
  }
  if (ended.status == 77 && marks.cases.empty()) {
    throw CannotRun(said.empty() ? name + " cannot run here" : data::printable(said, 300));
  }
  if (ended.signal != 0) throw no_verdict(name + " ended by " + how_it_ended(ended));
  if (!mistake.empty()) throw no_verdict(mistake);
  if (marks.cases.empty()) {
    throw no_verdict(name + " ended with " + how_it_ended(ended) + " and judged nothing");
  }
  if (marks.exercise != (exercise.contract.empty() ? exercise.name : exercise.contract)) {
    throw no_verdict(name + " judged " + data::quoted(marks.exercise));
  }
  // The status and the cases must tell the same story.
  const auto any = [&](Outcome outcome) {
    return std::any_of(marks.cases.begin(), marks.cases.end(),
                       [&](const CaseMark& one) { return one.outcome == outcome; });
  };
  // What this backend cannot judge is no failure, but something must be good.
  const int status = !any(Outcome::bad) && any(Outcome::good) ? 0 : 1;
  if (ended.status != status) {
    throw no_verdict(name + " ended with " + how_it_ended(ended) + ", which its " +
                     std::to_string(marks.cases.size()) + " cases do not explain");
  }
  std::istringstream lines(ended.out);
  const std::string is_time = "time: ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(is_time)) time = data::printable(line.substr(is_time.size()), 300);
  }
  return marks;
}

// The simulator would say so itself, within a program that nobody believes; and a compiler as if it had a fault.
void require_room() {
  constexpr rlim_t kFile = rlim_t{64} << 20;
  rlimit file = {};
  if (getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur < kFile) {
    throw machine_fault("this shell allows files of " + std::to_string(file.rlim_cur) +
                        " bytes, too few for the compiler: raise that limit (ulimit -f unlimited)");
  }
  constexpr rlim_t kNeeded = rlim_t{4} << 40;
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= kNeeded) return;
  throw machine_fault(
      "the simulator reserves terabytes of addresses: raise the limit on address space (ulimit -v "
      "unlimited)");
}

// Before anything is compiled. Throws CannotRun where there is no kernel to do this with.
void require_kernel(const BuildFolder& build, const Exercise& exercise, const std::string& what) {
  if (describe_exercise(build, exercise, {}).on_the_host) {
    throw CannotRun(exercise.name + " runs on the host: it has no kernel " + what);
  }
}

}  // namespace

int debug_exercise(const BuildFolder& build, const Exercise& exercise, const DebugPlace& place,
                   const std::string& seed) {
  require_kernel(build, exercise, "to stop in");
  AttemptOptions options;
  options.backend = "sim";
  run_on(build, options.backend);
  Attempt attempt;
  std::vector<fs::path> programs;
  {
    Progress progress(Progress::Elsewhere::lines);
    if (!build_all(build, {build.simulator() / "libsimt-debug.so"}, "the debugger", progress)
             .empty()) {
      throw WrongUse("the debugger does not compile");
    }
    for (const bool debug : {false, true}) {
      options.debug = debug;
      StudentProgram program(build, exercise, options);
      if (!program.make(attempt, progress)) {
        throw WrongUse(attempt.errors.empty() ? attempt.mistake : attempt.errors);
      }
      programs.push_back(program.path());
    }
  }
  const std::vector<std::string> command =
      check_command(build, exercise,
                    {{"--program", programs[0].string()},
                     {"--source", exercise.path_of(exercise.source())},
                     {"--debug", programs[1].string()},
                     {"--file", exercise.source().string()},
                     {"--seed", seed},
                     {"--block", place.block},
                     {"--thread", place.thread},
                     {"--line", place.line},
                     {"--batch", place.batch ? "yes" : ""},
                     {"--dap", place.dap ? "yes" : ""}});
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::fflush(nullptr);
  // The terminal is the debugger's from now on.
  execv(words[0], words.data());
  throw CannotRun(command[0] + ": " + std::strerror(errno));
}

std::string trace_exercise(const BuildFolder& build, const Exercise& exercise,
                           const std::string& numbers, const std::string& seed,
                           const std::vector<std::string>& profiler) {
  require_kernel(build, exercise, profiler.empty() ? "whose lanes could be drawn" : "to profile");
  AttemptOptions options;
  options.backend = profiler.empty() ? "sim" : "gpu";
  run_on(build, options.backend);
  Attempt attempt;
  Progress progress(Progress::Elsewhere::lines);
  StudentProgram program(build, exercise, options);
  if (!program.make(attempt, progress)) {
    throw WrongUse(attempt.errors.empty() ? attempt.mistake : attempt.errors);
  }
  const std::vector<std::string> command =
      check_command(build, exercise,
                    {{"--program", program.path().string()},
                     {"--source", exercise.path_of(exercise.source())},
                     {"--on", options.backend},
                     {"--trace", numbers.empty() ? "usual" : numbers},
                     {"--through", as_one_word(profiler)},
                     {"--seed", seed}});
  std::string doing = "tracing " + exercise.name;
  const Limited run = run_limited(command, options, progress, doing);
  if (run.expired()) throw CannotRun(exercise.name + " " + run.words);
  if (!run.ended.started) throw CannotRun(run.ended.err);
  const std::string said = last_line(run.ended.err);
  if (run.ended.status == 77) throw CannotRun(said);
  if (!run.ended.good()) {
    throw WrongUse(said.empty() ? "the check of " + exercise.number + " ended with " +
                                      how_it_ended(run.ended)
                                : said);
  }
  return data::printable(last_line(run.ended.out), 200);
}

fs::path workplace_of(const BuildFolder& build, const Exercise& exercise) {
  return build.path() / "exercises" / exercise.name;
}

std::string choose_exercise_backend(const BuildFolder& build, const std::string& on) {
  const json::Value compilers = read_compilers(build);
  const bool sim = compilers.find("sim") != nullptr;
  const bool gpu = compilers.find("gpu") != nullptr;
  if (sim && on != "gpu") {
    require_room();
    return "sim";
  }
  if (on == "sim") throw CannotRun("this build has no simulator: ./halo doctor says what it lacks");
  if (!gpu) throw CannotRun(kNoGpuPrograms);
  const Gpu here = find_gpu();
  if (!here.found) throw CannotRun(here.reason);
  return "gpu";
}

void prepare_exercise(const BuildFolder& build, const Exercise& exercise,
                      const std::string& backend) {
  const fs::path check = check_of(build, exercise);
  if (!build.makes(check)) {
    throw CannotRun("this build has no check of " + exercise.name +
                    ": exercises/meson.build names those that it has");
  }
  std::vector<fs::path> needs = {build.path() / "common" / "exercise" / "libexercise-worker.a"};
  if (backend == "sim") {
    needs.push_back(device_of(build));
    for (const fs::path& library : build.simulated_runtime()) needs.push_back(library);
  }
  needs.push_back(check);
  Progress progress(Progress::Elsewhere::lines);
  if (!build_all(build, needs, "the check of " + exercise.number, progress).empty()) {
    throw WrongUse("the check of " + exercise.name + " does not compile");
  }
  for (const fs::path& need : needs) {
    if (!fs::exists(need)) throw WrongUse(need.string() + " is not built: ./halo try builds it");
  }
}

Marks describe_exercise(const BuildFolder& build, const Exercise& exercise,
                        const AttemptOptions& options) {
  const std::string name = "the check of " + exercise.number;
  std::vector<std::string> command =
      check_command(build, exercise, {{"--hidden", options.hidden.string()}});
  command.emplace_back("--describe");
  Marks marks;
  std::string mistake;
  Progress progress;
  std::string doing = "reading what " + exercise.name + " asks for";
  const Limited run =
      run_limited(command, options, progress, doing, [&](const std::string& line, bool) {
        try {
          hear_marks(line, name, marks);
        } catch (const std::runtime_error& error) {
          mistake = error.what();
        }
      });
  if (run.ended.status == 2) throw WrongUse(last_line(run.ended.err));
  if (!mistake.empty() || !run.ended.good() || marks.cases.empty()) {
    throw CannotRun(name + " does not say what it judges: " +
                    (mistake.empty() ? last_line(run.ended.err) : mistake));
  }
  return marks;
}

fs::path sandbox_program(const BuildFolder& build) {
  return build.path() / "common" / "process" / "halo-jail";
}

Sandbox open_sandbox(const BuildFolder& build, const std::string& most,
                     const std::string& required) {
  const fs::path jail = sandbox_program(build);
  Progress progress(Progress::Elsewhere::lines);
  if (!build_all(build, {jail}, "the sandbox", progress).empty() || !fs::exists(jail)) {
    throw CannotRun("the sandbox is not built: " + jail.string());
  }
  try {
    // Where another user is all that keeps a program, these must be closed to others.
    std::vector<std::string> secrets;
    for (const fs::path& secret : {build.source() / "solutions", build.source() / "tests",
                                   build.source() / ".git", build.path() / "tests"}) {
      secrets.push_back(secret.string());
    }
    Sandbox sandbox(jail, most == "auto" ? SandboxLevel::namespaces : parse_sandbox_level(most),
                    secrets);
    if (!required.empty() && sandbox.level() < parse_sandbox_level(required)) {
      const std::string& why = sandbox.why_not_more();
      throw CannotRun("the sandbox is of the level " + std::string(to_string(sandbox.level())) +
                      ", and " + required + " is required: " +
                      (why.empty()
                           ? "leave out --sandbox " + most
                           : "install bubblewrap, or grade on another machine (" + why + ")"));
    }
    return sandbox;
  } catch (const CannotRun&) {
    throw;
  } catch (const data::NotWritten&) {
    throw;
  } catch (const std::system_error& error) {
    throw machine_fault(error.what());
  } catch (const std::runtime_error& error) {
    throw CannotRun(error.what());
  }
}

// The course's kernel, on a GPU, and where this copy has solutions; else empty.
fs::path to_time_beside(const BuildFolder& build, const Exercise& exercise,
                        const AttemptOptions& options, Progress& progress) {
  if (options.backend != "gpu" || !exercise.has_solution()) return {};
  Attempt attempt;
  StudentProgram course(build, exercise, options, exercise.solution(), "course");
  return course.make(attempt, progress) ? course.path() : fs::path();
}

Attempt attempt_exercise(const BuildFolder& build, const Exercise& exercise,
                         const AttemptOptions& options) {
  run_on(build, options.backend);
  Attempt attempt;
  Progress progress;
  const auto judge = [&](auto&& program, const auto& judged_of) {
    if (!program.make(attempt, progress)) {
      if (attempt.end != Attempt::End::refused) attempt.end = Attempt::End::not_compiled;
      return;
    }
    attempt.marks =
        judge_program(build, exercise, judged_of(program), options, progress, attempt.time);
  };
  try {
    if (options.sandbox != nullptr) {
      judge(SubmittedProgram(build, exercise, options), [&](const SubmittedProgram& program) {
        const fs::path beside = to_time_beside(build, exercise, options, progress);
        return ToJudge{program.path(), program.source(), program.words(beside), beside};
      });
    } else {
      judge(StudentProgram(build, exercise, options), [&](const StudentProgram& program) {
        return ToJudge{program.path(),
                       exercise.path_of(exercise.source()),
                       {},
                       to_time_beside(build, exercise, options, progress)};
      });
    }
  } catch (const Overtaken&) {
    attempt.end = Attempt::End::overtaken;
  } catch (const data::NotWritten&) {
    throw;
  } catch (const data::DataError& error) {
    throw WrongUse(error.what());
  } catch (const std::system_error& error) {
    // No process, no room, no memory.
    throw machine_fault(error.what());
  }
  return attempt;
}

}  // namespace halo
