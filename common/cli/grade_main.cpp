// What an instructor does. A student's copy of the course does not have this program.
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/cli/commands.hpp"
#include "common/cli/program.hpp"
#include "common/data/file.hpp"
#include "common/grader/formats.hpp"
#include "common/report/command_line.hpp"

namespace {

using namespace halo;
namespace fs = std::filesystem;

// What --class has to be told; the function that is returned reads it, once the line is parsed.
std::function<void()> class_options(CommandLine& line, GradeOptions& options) {
  struct Texts {
    std::string results, jobs, shard, limit;
  };
  const auto texts = std::make_shared<Texts>();
  line.group("A whole class");
  line.option("--class", "DIR|LIST", options.class_of,
              "all submissions in this folder, or in this list with one path per line");
  line.option(
      "--roster", "FILE.csv", options.roster,
      "who is in the class: columns id, name and, if need be, submission (of a group the same)");
  line.option("--results", "DIR", texts->results,
              "where results go, and where a later run continues; default: class-results");
  line.option("--jobs", "N", texts->jobs, "graders at a time; default: one per processor");
  line.option("--shard", "I/N", texts->shard,
              "only every Nth submission, from the Ith on; at the end run without it");
  line.option("--submission-limit", "SECONDS", texts->limit,
              "stop a grader that takes longer, without a grade; default: 14400");
  line.group("Options");
  return [texts, &options] {
    const auto read = [](const char* what, const std::string& text, int otherwise, int most) {
      return text.empty() ? otherwise : static_cast<int>(parse_number(what, text, 1, most));
    };
    options.jobs = read("--jobs", texts->jobs, 0, 1000);
    options.submission_limit = read("--submission-limit", texts->limit, 14'400, 1'000'000);
    if (!texts->shard.empty()) {
      const std::size_t slash = texts->shard.find('/');
      if (slash == std::string::npos) {
        throw WrongUse("--shard: '" + texts->shard +
                       "' is not of the form 2/5, the second of five");
      }
      options.shards = read("--shard", texts->shard.substr(slash + 1), 0, 100'000);
      options.shard = read("--shard", texts->shard.substr(0, slash), 0, options.shards);
      if (options.shard == 0 || options.shards == 0) {
        throw WrongUse("--shard: '" + texts->shard +
                       "' is not of the form 2/5, the second of five");
      }
    }
    if (!texts->results.empty()) options.results = texts->results;
    if (options.class_of.empty()) {
      for (const auto& [name, value] : {std::pair{"--roster", options.roster},
                                        {"--results", texts->results},
                                        {"--jobs", texts->jobs},
                                        {"--shard", texts->shard},
                                        {"--submission-limit", texts->limit}}) {
        if (!value.empty()) throw WrongUse(std::string(name) + " needs --class DIR");
      }
      return;
    }
    for (const auto& [name, value] :
         {std::pair{data::quoted(options.submission), options.submission},
          {"--student", options.student},
          {"--format", options.format},
          {"--output", options.output},
          {"--feedback", options.feedback}}) {
      if (value.empty()) continue;
      throw WrongUse(name + " is of one submission, and --class grades all: leave out one of them");
    }
  };
}

int command_grade(const Global& global, int argc, const char* const* argv) {
  GradeOptions options;
  std::string seed;
  CommandLine line("Says what a submission is worth.", "");
  line.positional("submission", options.submission,
                  "what was handed in: a .cu file, a folder, a .zip or a .tar");
  line.option("--exercise", "NN", options.exercise, "only this exercise");
  line.option("--assignment", "FILE", options.assignment,
              "what is to be handed in, and the hidden cases; default: solutions/assignment.json");
  line.option("--student", "NAME", options.student, "whose it is; default: the submission's name");
  line.option("--seed", "N", seed, "the seed of the inputs; default: the assignment's");
  line.flag("--own-inputs", options.own_inputs,
            "the inputs of the student's own copy: ./halo pack student --roster");
  line.option("--format", "FORMAT", options.format, any_of(grader::result_formats()));
  line.option("--output", "FILE", options.output,
              "where the result goes (until then, one without points); default: standard output");
  line.option("--feedback", "LEVEL", options.feedback,
              "full, kind or score: what the student learns; default: as the assignment says");
  line.option(
      "--sandbox", "LEVEL", options.sandbox,
      "auto, namespaces, confined or limits: the strongest sandbox to use; default: the best "
      "that works here");
  line.option("--require-sandbox", "LEVEL", options.require_sandbox,
              "grade nothing in a weaker sandbox than this");
  line.flag("--time", options.time,
            "also time what is right on this machine's GPU, beside the course's kernel in turn; it "
            "has no points");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  const auto parse_class = class_options(line, options);
  if (!line.parse(argc, argv)) return 0;
  if (!seed.empty()) options.seed = parse_seed(seed);
  if (!options.format.empty()) {
    require_one_of("--format", options.format, grader::result_formats());
  }
  if (!options.feedback.empty()) {
    require_one_of("--feedback", options.feedback, {"full", "kind", "score"});
  }
  require_one_of("--color", options.color, {"auto", "always", "never"});
  require_one_of("--sandbox", options.sandbox, {"auto", "namespaces", "confined", "limits"});
  options.passed_on.insert(options.passed_on.end(), {"--sandbox", options.sandbox});
  if (!options.require_sandbox.empty()) {
    require_one_of("--require-sandbox", options.require_sandbox,
                   {"namespaces", "confined", "limits"});
    options.passed_on.insert(options.passed_on.end(),
                             {"--require-sandbox", options.require_sandbox});
  }
  if (options.time) options.passed_on.push_back("--time");
  parse_class();
  if (!options.class_of.empty()) return run_grade_class(BuildFolder(global.build), options);
  if (options.submission.empty()) throw WrongUse("grade needs a file: ./halo grade FILE");
  if (options.format.empty()) options.format = "text";
  return run_grade(BuildFolder(global.build), options);
}

int command_pack(const Global& global, int argc, const char* const* argv) {
  PackOptions options;
  std::string seed;
  CommandLine line(
      "Makes a copy of the course, or what a platform grades with.",
      "A student's copy has no solutions, no hidden cases, no tests and no history. With --roster\n"
      "everybody gets one whose problems and data have their own seed:\n"
      "./halo pack student copies/ --roster roster.csv");
  line.positional("what", options.what,
                  "student, instructor, gradescope, prairielearn, autolab or github");
  line.positional(
      "target", options.target,
      "a new folder, or a .zip, .tar.gz or .tar; for all of a roster the folder of their archives");
  line.option("--roster", "FILE.csv", options.roster, "student: who they are, in the column id");
  line.option("--student", "ID", options.student, "student: for this one only");
  line.option(
      "--seed", "N", seed,
      "student: the course's seed, from which each student's is made; default: the assignment's");
  line.option("--assignment", "FILE", options.assignment,
              "what is handed in; default: solutions/assignment.json");
  line.option("--exercises", "NN,NN", options.exercises, "platforms: only these of the assignment");
  if (!line.parse(argc, argv)) return 0;
  if (options.what.empty()) {
    throw WrongUse("what should be packed? For example: ./halo pack student FILE.zip");
  }
  require_one_of("pack", options.what,
                 {"student", "instructor", "gradescope", "prairielearn", "autolab", "github"});
  if (options.target.empty()) {
    throw WrongUse("pack needs a folder or an archive to write: ./halo pack " + options.what +
                   " FILE.zip");
  }
  if (options.what != "student" &&
      !(options.roster.empty() && options.student.empty() && seed.empty())) {
    throw WrongUse("--roster, --student and --seed are of students' copies: ./halo pack student");
  }
  if (options.what == "student" && options.roster.empty() && options.student.empty() &&
      !(seed.empty() && options.assignment.empty())) {
    throw WrongUse(
        "--seed and --assignment are of copies with inputs of their own: name them, with --roster "
        "or --student");
  }
  if (options.what == "instructor" && !options.assignment.empty()) {
    throw WrongUse("--assignment is of platforms' bundles: an instructor's copy has the course's");
  }
  if (!options.exercises.empty() && (options.what == "student" || options.what == "instructor")) {
    throw WrongUse("--exercises is of platforms' bundles: a copy has them all");
  }
  if (!seed.empty()) options.seed = parse_seed(seed);
  return run_pack(BuildFolder(global.build), options);
}

}  // namespace

int main(int argc, char** argv) {
  return halo::run_command(argc, argv,
                           {
                               {"grade", command_grade},
                               {"pack", command_pack},
                           });
}
