// `halo trace`: a program runs in the simulator, which notes what lanes touch; here it becomes a page or words.
#include "common/trace/trace.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "common/build/builder.hpp"
#include "common/build/compiler_output.hpp"
#include "common/cli/browser.hpp"
#include "common/cli/commands.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/exercise/attempt.hpp"
#include "common/exercise/traced.hpp"
#include "common/process/process.hpp"
#include "common/report/command_line.hpp"
#include "common/report/terminal.hpp"

namespace halo {

namespace fs = std::filesystem;

namespace {

// What is traced: programs that are run one after the other, and how the page is called.
struct Subject {
  struct Run {
    std::string name;
    std::vector<std::string> command;
  };
  std::string title;
  std::string file;  // of the page, without .html
  std::vector<Run> runs;
  fs::path base;  // what the program's source paths begin from
  const char* without_kernel = "was it made by simcc?";
};

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// A name for a file: what is not a letter, a digit or one of a few signs becomes a line.
std::string file_name(std::string text) {
  for (char& c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.';
    if (!plain) c = '-';
  }
  return text;
}

void build_needed(const BuildFolder& build, const std::vector<fs::path>& files,
                  const std::string& what) {
  Progress progress(Progress::Elsewhere::lines);
  if (!build_all(build, files, what, progress).empty()) {
    throw WrongUse(what + " does not compile");
  }
}

// Its problem alone: the first launch of each kernel is the one that counts.
std::vector<std::string> command_for(const Program& program, const PassedOptions& passed_on) {
  std::vector<std::string> command = {program.path.string(), "--no-peers", "--no-trials",
                                      "--no-times"};
  for (const auto& [name, value] : passed_on) {
    command.push_back(name);
    if (!value.empty()) command.push_back(value);
  }
  return command;
}

Subject stage_subject(const BuildFolder& build, const TraceOptions& options) {
  RunOptions run;
  run.stage = options.what;
  run.on = "sim";
  run.passed_on = options.passed_on;
  run.of_families = options.of_families;
  const Choice choice = choose_programs(build, run);
  if (choice.programs.size() > 1) {
    std::string names;
    for (const Program& program : choice.programs) {
      names += (names.empty() ? "" : " or ") + build.short_name(program.name);
    }
    throw WrongUse("stage " + options.what + " has more than one program: name " + names);
  }
  const Program& program = choice.programs.front();
  if (program.backend != "sim") {
    throw CannotRun("stage " + program.name +
                    " runs on the CPU: there is no kernel whose lanes could be drawn");
  }
  build_needed(build, {program.path}, program.name);
  program.choose_runtime();
  const std::vector<std::string> command = command_for(program, options.passed_on);
  Subject subject{program.name, program.name, {}, build.path()};
  if (options.variant.empty()) {
    subject.runs.push_back({program.name, command});
    return subject;
  }
  subject.title += ":";
  for (const std::string& variant : split(options.variant)) {
    subject.title += (subject.runs.empty() ? " " : ", ") + variant;
    subject.file += "-" + variant;
    std::vector<std::string> own = command;
    own.insert(own.end(), {"--variant", variant});
    subject.runs.push_back({variant, std::move(own)});
  }
  return subject;
}

// A .cu file becomes a program in the build folder; anything else is one already.
Subject file_subject(const BuildFolder& build, const TraceOptions& options) {
  if (!options.passed_on.empty() || !options.variant.empty()) {
    const std::string name =
        options.variant.empty() ? options.passed_on.front().first : "--variant";
    throw WrongUse(name + " is for stages; a program's own arguments go in --args");
  }
  const fs::path file = options.what;
  Subject subject{file.filename().string(), file.stem().string(), {}, fs::current_path()};
  fs::path program = fs::absolute(file);
  if (file.extension() == ".cu") {
    if (text_of_file(file).find("#include \"common/exercise/exercise.h\"") != std::string::npos) {
      throw WrongUse(file.string() +
                     " is no program: an exercise's file is traced by ./halo trace NN --exercise");
    }
    const fs::path simt = build.simulator();
    if (!build.makes(simt / "simcc")) {
      throw CannotRun("this build has no simulator: ./halo doctor says what it lacks");
    }
    std::vector<fs::path> needed = build.simulated_runtime();
    needed.push_back(simt / "simcc");
    needed.push_back(simt / "libcudadevrt.a");
    build_needed(build, needed, "the simulator");
    program = build.path() / "trace" / (file_name(subject.file) + ".program");
    subject.without_kernel = "if it needs arguments to launch one, they go in --args";
    Progress progress(Progress::Elsewhere::lines);
    const Ended ended =
        run_program({(simt / "simcc").string(), file.string(), "-o", program.string()},
                    [&](const std::string&) { progress.show("compiling " + file.string()); });
    progress.clear();
    if (!ended.good()) {
      if (const std::string fault = machines_fault(ended.err); !fault.empty()) {
        throw CannotRun(file.string() + " was not compiled, by no fault of its own: " + fault);
      }
      std::fputs(read_compiler_output(ended.err, fs::current_path()).errors.c_str(), stderr);
      throw WrongUse(file.string() + " does not compile");
    }
  } else if (access(program.c_str(), X_OK) != 0) {
    throw WrongUse(file.string() + " is neither a .cu file nor a program");
  }
  std::vector<std::string> command = {program.string()};
  for (const std::string& word : parts_of(options.arguments)) command.push_back(word);
  subject.runs.push_back({subject.title, std::move(command)});
  return subject;
}

// What a program says in one line when it refuses; it begins with its name.
std::string refusal_of(const Ended& ended, const std::string& program) {
  const std::string said = last_line(ended.err);
  const std::string prefix = fs::path(program).filename().string() + ": ";
  return said.substr(said.starts_with(prefix) ? prefix.size() : 0);
}

std::vector<trace::Traced> run_subject(const Subject& subject, const fs::path& folder) {
  std::vector<trace::Traced> traced;
  for (std::size_t i = 0; i < subject.runs.size(); ++i) {
    const Subject::Run& run = subject.runs[i];
    const fs::path report = folder / (file_name(subject.file) + "." + std::to_string(i) + ".json");
    const TracedRun environment(report);
    Progress progress(Progress::Elsewhere::lines);
    const Ended ended =
        run_program(run.command, [&](const std::string&) { progress.show("tracing " + run.name); });
    progress.clear();
    if (!ended.started) throw CannotRun(ended.err);
    if (ended.status == 2 || ended.status == kNotWritten || ended.status == 77 ||
        !fs::exists(report)) {
      const std::string why = refusal_of(ended, run.command.front());
      if (ended.status == kNotWritten) {
        throw data::NotWritten(why.empty() ? run.name + " was not written" : why);
      }
      if (ended.status == 77) throw CannotRun(why.empty() ? run.name + " was not run" : why);
      throw WrongUse(!why.empty() ? why
                     : fs::exists(report)
                         ? run.name + " ended with exit status 2"
                         : run.name + " launched no kernel in the simulator (" +
                               how_it_ended(ended) + "): " + subject.without_kernel);
    }
    if (!ended.good()) {
      // The simulator's findings.
      if (ended.status == 3) std::fputs(ended.err.c_str(), stderr);
      std::fprintf(stderr, "halo: %s ended with %s; what it did until then is shown\n",
                   run.name.c_str(), how_it_ended(ended).c_str());
    }
    traced.push_back({run.name, report});
  }
  return traced;
}

// As it was typed, for the page.
std::string command_of(const TraceOptions& options) {
  std::string text = "./halo trace " + options.what;
  if (options.exercise) text += " --exercise";
  if (!options.numbers.empty()) text += " --numbers " + options.numbers;
  if (!options.variant.empty()) text += " --variant " + options.variant;
  for (const auto& [name, value] : options.passed_on) {
    text += " " + name + (value.empty() ? "" : " " + value);
  }
  if (!options.arguments.empty()) text += " --args '" + options.arguments + "'";
  return text;
}

}  // namespace

int run_trace(const BuildFolder& build, const TraceOptions& options) {
  const fs::path folder = build.path() / "trace";
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || access(folder.c_str(), W_OK) != 0) {
    throw WrongUse("cannot write to " + seen_from_here(folder) +
                   ": set HALO_BUILD to a folder that can be written");
  }
  if (!options.numbers.empty() && !options.exercise) {
    throw WrongUse("--numbers is for --exercise");
  }
  trace::Document document;
  std::string title, name;
  bool beside = false;
  try {
    std::error_code unknown;
    const bool is_file = fs::is_regular_file(options.what, unknown);
    if (!is_file && fs::path(options.what).has_extension()) {
      throw WrongUse("there is no file " + data::quoted(options.what) +
                     data::did_you_mean_path(options.what));
    }
    if (!options.arguments.empty() && (options.exercise || !is_file)) {
      throw WrongUse("--args is for a file or a program");
    }
    if (options.exercise) {
      if (!options.passed_on.empty() || !options.variant.empty()) {
        throw WrongUse("options of stages are not for an exercise: --numbers names its problem");
      }
      const Exercises exercises(build.source());
      const Exercise& exercise = exercises.find(options.what);
      std::fputs(exercise.begin().c_str(), stderr);
      prepare_exercise(build, exercise, choose_exercise_backend(build, "sim"));
      title = exercise.number + " " + exercise.title + ", your file";
      name = exercise.name + "-yours";
      document = trace_exercise_file(build, exercise, options.numbers, exercises.seed());
    } else {
      const Subject subject =
          is_file ? file_subject(build, options) : stage_subject(build, options);
      title = subject.title;
      name = file_name(subject.file);
      beside = subject.runs.size() > 1;
      document = trace::read(run_subject(subject, folder), {subject.base, build.source()});
    }
  } catch (const trace::NoTrace& error) {
    throw CannotRun(error.what());
  }
  if (options.explain) {
    std::fputs(trace::explain(document, 3, table_options(options.color, stdout)).c_str(), stdout);
    return 0;
  }
  const fs::path page =
      options.output.empty() ? folder / (name + ".html") : fs::path(options.output);
  data::write_file(page.string(), trace::page(document, {title, command_of(options), beside}));
  std::printf("%s\n", seen_from_here(page).c_str());
  if (options.open) open_in_browser(page.string());
  return 0;
}

}  // namespace halo
