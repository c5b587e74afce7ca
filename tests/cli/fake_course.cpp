#include "tests/cli/fake_course.hpp"

#include <fstream>

#include "tests/catch.hpp"

namespace halo::test {

namespace fs = std::filesystem;

namespace {

void write_executable(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  // Not in place: the one that is there may be running.
  const fs::path fresh = file.string() + ".new";
  std::ofstream(fresh) << "#!/bin/sh\n" << text << "\n";
  fs::permissions(fresh, fs::perms::owner_all);
  fs::rename(fresh, file);
}

}  // namespace

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

FakeCourse::FakeCourse() : root_(build.path() / "course") {
  fs::create_directories(root_ / "exercises");
  build.set_source(root_);
  const fs::path worker = build.path() / "common/exercise/libexercise-worker.a";
  const fs::path runtime = build.path() / "common/simt/cudart";
  write_text(worker, "");
  write_text(build.path() / "common/exercise/exercise-device", "");
  write_text(runtime / "libcudart.so.13", "");
  write_text(build.path() / "common/exercise/compilers.json",
             R"({"words": [")" + (build.path() / "bin/compiler").string() +
                 R"(", "{source}", "-o", "{program}", ")" + worker.string() + R"("], "sim": ")" +
                 runtime.string() + R"("})");
  write_executable(build.path() / "bin/nm", "");
  set_compiler(
      "if grep -q BROKEN \"$1\"; then\n"
      "  echo \"$1:2:5: error: BROKEN was not declared in this scope\" >&2\n"
      "  exit 1\n"
      "fi\n"
      "cp \"$1\" \"$3\"");
}

fs::path FakeCourse::file(const std::string& name, const std::string& of) const {
  return root_ / "exercises" / name / of;
}

fs::path FakeCourse::source(const std::string& name) const {
  return file(name, name.substr(3) + ".cu");
}

fs::path FakeCourse::add(const std::string& name, const std::string& title) {
  const auto begun = [&](const fs::path& student, const std::string& start,
                         const std::string& text) {
    write_text(file(name, start), text);
    write_text(student, text);
  };
  begun(source(name), "start.cu", "// " + title + "\n// TODO\n");
  write_text(file(name, "README.md"),
             "# " + name.substr(0, 2) + " \xC2\xB7 " + title + "\n\nThe task.\n");
  write_text(file(name, "hints.md"),
             "# Hints\n\n## 1\n\nThink.\n\n## 2\nThink harder.\n\n## 3\nIt is the halo.\n");
  begun(file(name, "predictions.txt"), "start_predictions.txt",
        "# How many cells?\ncells_per_block =\n# How many barriers?\nbarriers =\n");
  begun(file(name, "answers.md"), "start_answers.md",
        "# Answers\n\n1. Why?\n\n   (your answer, two sentences)\n\n2. What if?\n\n   (your "
        "answer)\n");
  write_text(root_ / "solutions" / name / (name.substr(3) + ".cu"), "// " + title + "\n// RIGHT\n");
  set_check(name, "if grep -q RIGHT \"$2\"; then\n  cat '" +
                      told(name + "-right", right_marks(name)).string() +
                      "' >&3; exit 0\nelse\n  cat '" +
                      told(name + "-wrong", wrong_marks(name)).string() + "' >&3; exit 1\nfi");
  return source(name);
}

void FakeCourse::set_check(const std::string& name, const std::string& body, bool on_the_host) {
  Marks described = right_marks(name);
  described.on_the_host = on_the_host;
  const fs::path check = build.path() / "exercises" / ("check-" + name);
  if (!fs::exists(check)) build.add_target(check);
  write_executable(check, "[ \"$1\" != --describe ] || { cat '" +
                              told(name + "-described", described).string() +
                              "' >&3; exit 0; }\necho \"$*\" > '" +
                              (build.path() / "check-words").string() + "'\n" + body);
}

fs::path FakeCourse::told(const std::string& name, const Marks& marks) const {
  std::string text = marks_head_line(marks) + "\n";
  for (const CaseMark& mark : marks.cases) text += case_line(mark) + "\n";
  for (const Row& row : marks.faults) text += fault_line(row) + "\n";
  const fs::path file = build.path() / (name + ".told");
  write_text(file, text);
  return file;
}

void FakeCourse::set_compiler(const std::string& body) {
  write_executable(build.path() / "bin/compiler",
                   "[ \"$1\" = -c ] || { cp \"$1\" \"$3\"; exit; }\nshift 4\necho compiled >> '" +
                       (build.path() / "compilations").string() + "'\n" + body);
}

std::size_t FakeCourse::compilations() const {
  return lines_of(read_file(build.path() / "compilations")).size();
}

std::string FakeCourse::check_words() const { return read_file(build.path() / "check-words"); }

Marks right_marks(const std::string& exercise) {
  Marks marks;
  marks.exercise = exercise;
  marks.backend = "sim";
  marks.seed = 7;
  marks.questions = {{"cells_per_block", 264, 0, 264}, {"barriers", 1, 0, 1}};
  marks.cases = {{"mask 1", Category::correctness, 20, 20, Outcome::good, "", {}, 0},
                 {"short signals", Category::correctness, 25, 25, Outcome::good, "", {}, 0},
                 {"no hazards", Category::safety, 15, 15, Outcome::good, "", {}, 0},
                 {"traffic",
                  Category::budget,
                  30,
                  30,
                  Outcome::good,
                  "",
                  {{"bytes per output", 9.25, 9.6, 9.25, true, "", 0, 0}},
                  0}};
  return marks;
}

Marks wrong_marks(const std::string& exercise) {
  Marks marks = right_marks(exercise);
  const auto fail = [](CaseMark& mark, const std::string& message) {
    mark.points = 0;
    mark.outcome = Outcome::bad;
    mark.message = message;
  };
  fail(marks.cases[1], "output[4] is 0.31, should be -1.07");
  fail(marks.cases[2], "a race");
  fail(marks.cases[3], "judged once it is correct");
  marks.cases[3].outcome = Outcome::not_run;
  marks.cases[3].budget.clear();
  return marks;
}

}  // namespace halo::test
