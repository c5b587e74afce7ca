#include "common/grader/class.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "common/grader/grade.hpp"
#include "tests/catch.hpp"
#include "tests/data/files.hpp"
#include "tests/report/csv.hpp"

namespace halo::test {
namespace {

namespace fs = std::filesystem;
using namespace halo::grader;

// A grade as a grader would write it: an exercise with two cases for each of these shares, and some seconds.
std::string grade_text(const std::string& student, const std::vector<double>& shares,
                       const std::string& error = "") {
  Grade grade;
  grade.student = student;
  grade.error = error;
  grade.sandbox = "limits";
  grade.version = "0";
  grade.seconds = 1.5;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    ExerciseGrade& exercise = grade.exercises.emplace_back();
    exercise.name = "0" + std::to_string(i) + "_exercise";
    GradedCase one;
    one.name = "one block";
    one.most = 10;
    one.points = 10 * shares[i];
    one.outcome = shares[i] == 1 ? Outcome::good : Outcome::bad;
    if (shares[i] != 1)
      one.message = "output[" + std::to_string(i + 4) + "] is 0.5, should be -1e-3";
    exercise.cases = {one};
  }
  return to_json(grade).dump();
}

// A folder of submissions that a shell script grades: $1 is the submission, $2 the student, $3 the output.
struct Class {
  Folder folder;
  std::string script = "cp \"$1\" \"$3\"";
  std::string basis = "1";
  int jobs = 2;
  int shard = 1, shards = 1;
  int limit = 60;
  std::string roster = {};

  Class() { fs::create_directory(folder / "in"); }
  void add(const std::string& file, const std::string& grade) const {
    folder.write("in/" + file, grade);
  }
  ClassList list() const { return list_class(folder / "in", roster); }
  ClassRound grade(const std::string& results = "out") const {
    ClassGrading grading;
    grading.results = folder / results;
    grading.jobs = jobs;
    grading.shard = shard;
    grading.shards = shards;
    grading.limit = std::chrono::seconds(limit);
    grading.basis = basis;
    grading.grader = [this](const ClassMember& member, const fs::path& output) {
      return std::vector<std::string>{"sh",
                                      "-c",
                                      "echo \"$2\" >> '" + (folder / "log") + "'\n" + script,
                                      "grader",
                                      member.submission.string(),
                                      member.id,
                                      output.string()};
    };
    return grade_class(list(), grading);
  }
  std::string write(const std::string& results = "out") const {
    return write_class(list(), folder / results);
  }
  std::map<std::string, std::map<std::string, std::string>> rows(
      const std::string& results = "out") const {
    std::map<std::string, std::map<std::string, std::string>> by_student;
    for (const auto& row : parse_csv(bytes_of(folder / (results + "/class.csv")))) {
      by_student[row.at("student")] = row;
    }
    return by_student;
  }
  std::size_t calls() const {
    if (!fs::exists(folder / "log")) return 0;
    const std::string log = bytes_of(folder / "log");
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), '\n'));
  }
};

TEST_CASE("Each submission is graded once, and the class is written in the order of names") {
  Class all;
  all.add("bo.cu", grade_text("bo", {0, 1}));
  all.add("ada.cu", grade_text("ada", {1, 1}));
  all.add("cy.cu", grade_text("cy", {0, 0.5}));
  const ClassRound round = all.grade();
  CHECK(round.graded == 3);
  CHECK(round.errors == 0);
  CHECK(all.calls() == 3);
  const std::string summary = all.write();
  CHECK_THAT(
      summary,
      contains("3 students: 3 graded\nmean 11.7, median 10.0 of 20 points, of 3 submissions"));
  CHECK_THAT(summary, contains("    18 to           20 points     1 #\n"));
  CHECK_THAT(summary, contains("hardest: 00_exercise (33.3 %), 01_exercise (83.3 %)"));
  CHECK_THAT(summary,
             contains("   2  00_exercise: one block\n      output[N] is N, should be N (bo, cy)"));
  const std::string csv = bytes_of(all.folder / "out/class.csv");
  CHECK(csv ==
        "student,status,points,most,00_exercise,01_exercise,message,sandbox\r\n"
        "ada,graded,20,20,10,10,,limits\r\n"
        "bo,graded,10,20,0,10,00_exercise: one block,limits\r\n"
        "cy,graded,5,20,0,5,00_exercise: one block; 01_exercise: one block,limits\r\n");
}

TEST_CASE("What is graded is kept until it, or what it is graded by, changes") {
  Class all;
  all.add("ada.cu", grade_text("ada", {1}));
  all.add("bo.cu", grade_text("bo", {0}));
  all.grade();
  CHECK(all.grade().kept == 2);
  CHECK(all.calls() == 2);
  all.add("bo.cu", grade_text("bo", {1}));
  const ClassRound changed = all.grade();
  CHECK(changed.graded == 1);
  CHECK(changed.kept == 1);
  all.write();
  CHECK(all.rows()["bo"]["points"] == "10");
  all.basis = "2";
  CHECK(all.grade().graded == 2);
  all.folder.write("out/grades/ada.json", "{half a fi");
  CHECK(all.grade().graded == 1);
}

TEST_CASE("A grader that crashes or says nothing costs its own submission only") {
  Class all;
  all.jobs = 5;
  for (const std::string name : {"crash", "good", "half", "silent"}) {
    all.add(name + ".cu", grade_text(name, {1}));
  }
  all.add("half.cu", grade_text("half", {}, kNotFinished));
  all.script =
      "case $2 in crash) echo \"why it died\" >&2; kill -SEGV $$ ;; "
      "silent) ;;\n"
      "  half) cp \"$1\" \"$3\"; exit 3 ;; *) cp \"$1\" \"$3\" ;; esac";
  const ClassRound round = all.grade();
  CHECK(round.graded == 1);
  CHECK(round.errors == 3);
  CHECK(all.calls() == 7);  // each bad one twice
  const std::string summary = all.write();
  CHECK_THAT(summary, contains("4 students: 1 graded, 3 errors"));
  auto rows = all.rows();
  CHECK(rows["good"]["points"] == "10");
  for (const std::string name : {"crash", "half", "silent"}) {
    CHECK(rows[name]["status"] == "error");
    CHECK(rows[name]["points"] == "");  // no 0 that looks earned
    CHECK(rows[name]["00_exercise"] == "");
    CHECK_THAT(rows[name]["message"], contains(kNotFinished));
  }
  CHECK_THAT(rows["crash"]["message"], contains("Segmentation fault"));
  CHECK_THAT(rows["crash"]["message"], contains("why it died"));
  CHECK_THAT(rows["half"]["message"], contains("exit status 3"));
  CHECK_THAT(rows["silent"]["message"], contains("it left no grade"));
  // The next run tries them again, and only them.
  all.script = "cp \"$1\" \"$3\"";
  all.add("half.cu", grade_text("half", {1}));
  CHECK(all.grade().graded == 3);
  all.write();
  CHECK(all.rows()["crash"]["points"] == "10");
}

TEST_CASE("A grader that was hindered says why, and is asked again in the next run") {
  Class all;
  all.add("ada.cu", grade_text("ada", {}, std::string(kNotFinished) + ": no verdict: no room"));
  all.script = "cp \"$1\" \"$3\"; exit 74";
  CHECK(all.grade().errors == 1);
  all.write();
  CHECK(all.rows()["ada"]["status"] == "error");
  CHECK(all.rows()["ada"]["points"] == "");
  CHECK_THAT(all.rows()["ada"]["message"], contains("no room"));
  const ClassRound again = all.grade();
  CHECK(again.kept == 0);
}

TEST_CASE("A grader that hangs is ended") {
  Class all;
  all.limit = 1;
  all.add("hang.cu", grade_text("hang", {1}));
  all.script = "sleep 60 & wait";
  CHECK(all.grade().errors == 1);
  all.write();
  CHECK_THAT(all.rows()["hang"]["message"], contains("it took longer than 1 s"));
}

TEST_CASE("A grader that fails once is asked again, and that is all") {
  Class all;
  all.add("ada.cu", grade_text("ada", {1}));
  all.script = "if mkdir '" + (all.folder / "once") + "'; then exit 1; fi; cp \"$1\" \"$3\"";
  CHECK(all.grade().graded == 1);
  CHECK(all.calls() == 2);
}

TEST_CASE("A refused submission is a 0 with its reason") {
  Class all;
  Grade grade;
  grade.student = "ada";
  for (const char* const name : {"04_a", "05_b"}) {
    ExerciseGrade& exercise = grade.exercises.emplace_back();
    exercise.name = name;
    exercise.refusal = "=the archive is damaged, \"cut\"";
    exercise.cases.emplace_back().most = 10;
  }
  all.add("ada.zip", to_json(grade).dump());
  grade.exercises[0].refusal = "";
  all.add("bo.zip", to_json(grade).dump());
  all.grade();
  const std::string summary = all.write();
  auto rows = all.rows();
  CHECK(rows["ada"]["status"] == "refused");
  CHECK(rows["ada"]["points"] == "0");
  CHECK(rows["ada"]["most"] == "20");
  CHECK(rows["ada"]["message"] == "'=the archive is damaged, \"cut\"");  // no formula
  CHECK(rows["bo"]["status"] == "graded");
  CHECK(rows["bo"]["message"] == "'=the archive is damaged, \"cut\" (05_b)");
  CHECK_THAT(summary, contains("refused: ada: =the archive is damaged"));
  // What refused all is one mistake.
  CHECK_THAT(summary, contains("   1  =the archive is damaged, \"cut\" (ada)"));
}

TEST_CASE(
    "An exercise that was not handed in is worth nothing and says nothing of how hard it is") {
  Class all;
  Grade grade = grade_from_json(json::Value::parse(grade_text("ada", {0.5, 0, 0})));
  grade.exercises[1].refusal = kNotHandedIn;
  grade.exercises[2].refusal = "does not compile";
  all.add("ada.cu", to_json(grade).dump());
  all.grade();
  const std::string summary = all.write();
  const auto row = all.rows()["ada"];
  CHECK(row.at("points") == "5");
  CHECK(row.at("most") == "30");
  CHECK(row.at("00_exercise") == "5");
  CHECK(row.at("01_exercise") == "");
  CHECK(row.at("02_exercise") == "0");
  CHECK(row.at("message") == "does not compile (02_exercise); 00_exercise: one block");
  CHECK_THAT(summary, contains("hardest: 02_exercise (0.0 %), 00_exercise (50.0 %)\n"));
  CHECK_THAT(summary, !contains(kNotHandedIn));
  for (ExerciseGrade& one : grade.exercises) one.refusal = kNotHandedIn;
  all.add("ada.cu", to_json(grade).dump());
  all.grade();
  all.write();
  CHECK(all.rows()["ada"]["status"] == "refused");
  CHECK(all.rows()["ada"]["message"] == kNotHandedIn);
}

TEST_CASE("A submission that was refused as a whole is graded, and not tried again") {
  Class all;
  all.add("ada.cu", grade_text("ada", {1}));
  all.add("bo.zip", grade_text("bo", {}, "the archive is damaged"));
  CHECK(all.grade().graded == 2);
  CHECK(all.calls() == 2);
  CHECK(all.grade().kept == 2);
  const std::string summary = all.write();
  auto rows = all.rows();
  CHECK(rows["bo"]["status"] == "refused");
  CHECK(rows["bo"]["points"] == "0");
  CHECK(rows["bo"]["most"] == "10");
  CHECK(rows["bo"]["message"] == "the archive is damaged");
  CHECK_THAT(summary, contains("refused: bo: the archive is damaged"));
  CHECK_THAT(summary, contains("   1  the archive is damaged (bo)"));
}

TEST_CASE("Shards share a folder, and a run without them finds all done") {
  Class all;
  for (int i = 0; i < 7; ++i) {
    const std::string name = "s" + std::to_string(i);
    all.add(name + ".cu", grade_text(name, {i % 2 == 0 ? 1. : 0.}));
  }
  all.grade("whole");
  all.write("whole");
  const std::size_t before = all.calls();
  all.shards = 3;
  const std::size_t parts[] = {3, 2, 2};
  for (all.shard = 3; all.shard >= 1; --all.shard) {
    CHECK(all.grade().graded == parts[all.shard - 1]);
    CHECK_FALSE(fs::exists(all.folder / "out/class.csv"));
  }
  all.shard = all.shards = 1;
  CHECK(all.grade().kept == 7);
  CHECK(all.calls() == before + 7);
  all.write();
  for (const std::string file : {"class.csv", "class.json", "grades/s0.json", "grades/s6.json"}) {
    CHECK(bytes_of(all.folder / ("out/" + file)) == bytes_of(all.folder / ("whole/" + file)));
  }
}

TEST_CASE("An interrupted run is gone on with") {
  Class all;
  all.jobs = 1;
  for (const std::string name : {"a", "b", "c"}) all.add(name + ".cu", grade_text(name, {1}));
  all.script = "if [ $2 = b ] && mkdir '" + (all.folder / "once") + "'; then kill -TERM " +
               std::to_string(getpid()) + "; sleep 60 & wait; fi; cp \"$1\" \"$3\"";
  const ClassRound cut = all.grade();
  CHECK(cut.interrupted == SIGTERM);
  CHECK(cut.graded == 1);
  CHECK(cut.errors == 0);
  CHECK_FALSE(fs::exists(all.folder / "out/grades/b.json"));
  const ClassRound rest = all.grade();
  CHECK(rest.kept == 1);
  CHECK(rest.graded == 2);
  CHECK(rest.interrupted == 0);
  all.write();
  CHECK_THAT(all.write(), contains("3 students: 3 graded\n"));
}

TEST_CASE("A roster says who is meant, and who handed in nothing") {
  Class all;
  all.roster = all.folder.write("roster.csv",
                                "\xEF\xBB\xBF"
                                "ID;Name;Submission\r\n"
                                "4711;Ada Lovelace;\r\n"
                                "4712;\"Bo van Rijn\";\r\n"
                                "4713;Cy Twombly;their work.zip\r\n"
                                "4714;=Di Prima;\r\n"
                                "4715;Ed Ng;\r\n"
                                "4716;Ed Ng;\r\n");
  all.add("Ada Lovelace_99_assignsubmission_file_.cu", grade_text("", {1}));
  all.add("vanrijnbo_LATE_123_456_tile.cu", grade_text("", {0.5}));
  all.add("their work.zip", grade_text("", {0}));
  all.add("stranger.cu", grade_text("", {1}));
  all.add("Ed Ng_1_x.cu", grade_text("", {1}));
  const ClassList list = all.list();
  REQUIRE(list.remarks.size() == 2);
  CHECK_THAT(list.remarks[0], contains("'Ed Ng_1_x.cu' may be of '4715' or of '4716'"));
  CHECK_THAT(list.remarks[1], contains("'stranger.cu' belongs to nobody in the roster"));
  all.grade();
  CHECK_THAT(all.write(), contains("8 students: 5 graded, 3 nothing handed in"));
  auto rows = all.rows();
  CHECK(rows["4711"]["points"] == "10");
  CHECK(rows["4712"]["points"] == "5");
  CHECK(rows["4713"]["status"] == "graded");
  CHECK(rows["4714"]["status"] == "nothing handed in");
  CHECK(rows["4714"]["points"] == "0");
  CHECK(rows["4714"]["most"] == "10");
  CHECK(rows["4714"]["00_exercise"].empty());  // as of others what they did not hand in
  CHECK(rows["4714"]["name"] == "'=Di Prima");
  CHECK(rows["stranger"]["points"] == "10");
  // An id is a word of the name, not a part of one.
  all.add("x_14711.cu", grade_text("", {1}));
  all.add("x_4716_y.cu", grade_text("", {1}));
  const auto members = all.list().members;
  const auto member = [&](const std::string& id) {
    return *std::find_if(members.begin(), members.end(),
                         [&](const auto& one) { return one.id == id; });
  };
  CHECK(member("x_14711").submission.filename() == "x_14711.cu");
  CHECK(member("4716").submission.filename() == "x_4716_y.cu");
}

TEST_CASE("A platform's number that is another's id makes nobody's submission") {
  Class all;
  all.roster = all.folder.write("roster.csv",
                                "id,name,submission\n"
                                "11,Ada Lovelace,\n12,Bo Ek,\n13,Cy Twombly,cyy.zip\n");
  all.add("Ada Lovelace_12_assignsubmission_file_.cu", grade_text("", {1}));
  all.add("Bo Ek_12_assignsubmission_file_.cu", grade_text("", {1}));
  const ClassList list = all.list();
  REQUIRE(list.remarks.size() == 2);
  CHECK_THAT(list.remarks[0], contains("may be of '12' or of '11'"));
  CHECK_THAT(list.remarks[1], contains("'cyy.zip', which the roster names for '13', is not there"));
  REQUIRE(list.members.size() == 4);
  CHECK(list.members[0].submission.empty());
  CHECK(list.members[1].submission.filename() == "Bo Ek_12_assignsubmission_file_.cu");
}

TEST_CASE("Who worked together have one submission, named by the roster, and each a grade") {
  Class all;
  all.roster = all.folder.write("roster.csv",
                                "id,name,submission\n"
                                "4711,Ada,team 1.cu\n4712,Bo,team 1\n4713,Cy,team 1.cu\n");
  all.add("team 1.cu", grade_text("", {1}));
  CHECK(all.list().remarks.empty());
  CHECK(all.grade().graded == 3);
  all.write();
  auto rows = all.rows();
  CHECK(rows.size() == 3);
  for (const std::string id : {"4711", "4712", "4713"}) CHECK(rows[id]["points"] == "10");
}

TEST_CASE("Files that a platform lays loose are one submission of whose they are") {
  Class all;
  all.script = "grep -h . \"$1\"/*.cu > \"$3\"; ls \"$1\" >> '" + (all.folder / "names") + "'";
  all.add("ekbo_LATE_12_341_answers.md", "not read");
  all.add("ekbo_LATE_12_342_tile_and_halo-1.cu", grade_text("", {1}));
  all.add("ekbo_LATE_12_343_07_softmax.claims", "4 race\n");
  all.add("Ada L\u00f6v_99_assignsubmission_file_tile_and_halo.cu", grade_text("", {1}));
  all.add("Ada L\u00f6v_99_assignsubmission_file_notes.txt", "");
  fs::create_directory(all.folder / "in/Ada L\u00f6v_99_assignsubmission_onlinetext_");
  SECTION("without a roster by the platform's name and number") {
    CHECK(all.grade().graded == 2);
    CHECK_THAT(all.write(), contains("2 students: 2 graded"));
    CHECK(all.rows()["ekbo_12"]["points"] == "10");
    CHECK(all.rows()["ekbo_12"]["late"] == "late");
    CHECK(all.rows()["Ada L\u00f6v_99"]["points"] == "10");
    CHECK(all.rows()["Ada L\u00f6v_99"]["late"].empty());
    CHECK_THAT(bytes_of(all.folder / "names"),
               contains("ekbo_LATE_12_342_tile_and_halo-1.cu") && contains("07_softmax.claims"));
    CHECK(all.grade().kept == 2);
    all.add("ekbo_LATE_12_343_07_softmax.claims", "5 race\n");
    CHECK(all.grade().kept == 1);
  }
  SECTION("with one by who is meant") {
    all.roster = all.folder.write("roster.csv", "id,name\n7,Bo Ek\n8,Ada L\u00f6v\n");
    CHECK(all.grade().graded == 2);
    all.write();
    CHECK(all.rows()["7"]["points"] == "10");
    CHECK(all.rows()["8"]["points"] == "10");
  }
  SECTION("an archive beside them is one too many") {
    all.add("ekbo_LATE_12_344_all.zip", "");
    CHECK(all.grade().graded == 1);
    all.write();
    CHECK_THAT(all.rows()["ekbo_12"]["message"], contains("4 submissions") && contains("keep one"));
  }
}

TEST_CASE("Loose files of two people are nobody's submission, whatever they are called") {
  Class all;
  all.roster = all.folder.write("roster.csv", "id\nbo\nev\n");
  SECTION("as a platform says") {
    all.add("ekbo_12_341_bo_tile_and_halo.cu", grade_text("", {1}));
    all.add("evilev_13_342_bo_two_masks.cu", grade_text("", {0}));
  }
  SECTION("as their owners say, where everybody writes into one folder") {
    all.add("bo_tile_and_halo.cu", grade_text("", {1}));
    all.add("bo_two_masks.cu", grade_text("", {0}));
    if (chown((all.folder / "in/bo_two_masks.cu").c_str(), 65'534, 65'534) != 0) {
      halo::test::skip("only root gives files away");
    }
  }
  CHECK(all.grade().graded == 0);
  all.write();
  CHECK(all.rows()["bo"]["status"] == "error");
  CHECK_THAT(all.rows()["bo"]["message"], contains("are of two people: keep those that are"));
}

TEST_CASE("A link to nothing is told as such, and no grader is asked") {
  Class all;
  all.add("good.cu", grade_text("good", {1}));
  fs::create_symlink(all.folder / "nowhere", all.folder / "in/ada.cu");
  CHECK(all.grade().graded == 1);
  CHECK_THAT(all.write(), contains("error: ada: 'ada.cu' is named and not there: a wrong path in"));
  CHECK(all.calls() == 1);
}

TEST_CASE("What cannot be read is told, and is nobody's 0") {
  const Class all;
  all.add("ada.cu", "{}");
  fs::create_directory(all.folder / "in/bo");
  all.add("bo/tile.cu", "{}");
  fs::permissions(all.folder.path(), fs::perms(0755));
  fs::permissions(all.folder / "in/ada.cu", fs::perms::none);
  fs::permissions(all.folder / "in/bo", fs::perms(0744));
  std::vector<ClassMember> members;
  {
    const Unprivileged somebody;
    members = all.list().members;
  }
  REQUIRE(members.size() == 2);
  for (const ClassMember& one : members) {
    CHECK_THAT(one.fault, contains("cannot read '" + one.submission.filename().string()) &&
                              contains("check its permissions"));
  }
  fs::permissions(all.folder / "in/bo", fs::perms(0755));
}

TEST_CASE("A link of somebody else's is not followed") {
  Class all;
  const std::string secret = all.folder.write("secret.cu", grade_text("", {1}));
  fs::create_symlink(secret, all.folder / "in/mine.cu");
  CHECK(all.grade().graded == 1);
  if (lchown((all.folder / "in/mine.cu").c_str(), 12345, 12345) != 0)
    skip("needs root to make a link somebody else's");
  CHECK(all.grade().kept == 0);
  all.write();
  CHECK_THAT(all.rows()["mine"]["message"], contains("'mine.cu' is a link"));
}

TEST_CASE("Who handed in twice, or under a name that no file should have, is told") {
  Class all;
  all.add("ada.cu", "{}");
  all.add("ada.zip", "{}");
  all.add("b\x1b[2Jo.cu", "{}");
  all.add("m\xfcller.cu", "{}");
  all.add(".DS_Store", "{}");
  all.add("good.cu", grade_text("good", {1}));
  CHECK(all.grade().graded == 1);
  const std::string summary = all.write();
  CHECK_THAT(summary, contains("4 students: 1 graded, 3 errors"));
  CHECK_THAT(summary, contains("error: ada: 2 submissions, 'ada.cu' and 'ada.zip': keep one"));
  CHECK(summary.find('\033') == std::string::npos);
  CHECK(all.calls() == 1);
  CHECK(all.rows().count("m?ller") == 1);
}

TEST_CASE("A list names its submissions by paths, seen from where it lies") {
  Class all;
  all.add("ada.cu", grade_text("ada", {1}));
  const std::string list = all.folder.write("list.txt", "\xEF\xBB\xBFin/ada.cu\r\n\nin/ada.cu\n");
  const ClassList found = list_class(list, "");
  REQUIRE(found.members.size() == 1);
  CHECK(found.members[0].id == "ada");
  CHECK(found.members[0].fault.empty());
  CHECK(fs::exists(found.members[0].submission));
  const ClassList alike = list_class(all.folder.write("alike.txt", "a/x.cu\nb/x.cu\n"), "");
  REQUIRE(alike.members.size() == 1);
  CHECK_THAT(alike.members[0].fault, contains("2 submissions called 'x.cu', in '"));
  CHECK_THAT(alike.members[0].fault, contains("/b': list these folders instead"));
  CHECK_THAT(error_of([&] { list_class(all.folder / "nothing", ""); }),
             contains("there is no folder or list of submissions"));
  CHECK_THAT(error_of([&] { list_class(all.folder.write("empty", "\n"), ""); }),
             contains("there are no submissions"));
  CHECK_THAT(error_of([&] { list_class(list, all.folder.write("r.csv", "name\nAda\n")); }),
             contains("no column id"));
  CHECK_THAT(error_of([&] { list_class(list, all.folder.write("r.csv", "id\n1\n1\n")); }),
             contains("two rows have the id '1'"));
}

TEST_CASE("The summary of a large class fits a screen") {
  Class all;
  for (int i = 0; i < 120; ++i) {
    const std::string name = "student-" + std::string(i % 40, 'x') + std::to_string(i);
    Grade grade = grade_from_json(json::Value::parse(
        grade_text(name, {1. * (i % 3 == 0), 0.1 * (i % 11), 0, 1, 0.5, 1, 0, 0, 0})));
    for (ExerciseGrade& exercise : grade.exercises) {
      exercise.cases[0].message += std::string(200, 'y');
      if (i % 7 == 0) exercise.refusal = std::string(300, 'z');
    }
    if (i % 5 == 0) grade.error = std::string(300, 'e');
    all.folder.write("in/" + name + ".cu", "");
    fs::create_directories(all.folder / "out/grades");
    all.folder.write("out/grades/" + name + ".json", to_json(grade).dump());
  }
  const std::string summary = all.write();
  CHECK(std::count(summary.begin(), summary.end(), '\n') <= 32);
  std::size_t column = 0, widest = 0;
  for (const char c : summary) widest = std::max(widest, column = c == '\n' ? 0 : column + 1);
  CHECK(widest <= 103);
  CHECK(widest > 60);
}

TEST_CASE("The commonest mistakes are the first cases that failed, with what was told of them") {
  Class all;
  const auto add = [&](const std::string& name, const std::string& message) {
    Grade grade = grade_from_json(json::Value::parse(grade_text(name, {0})));
    std::vector<GradedCase>& cases = grade.exercises[0].cases;
    cases[0].message = message;
    cases.push_back(cases[0]);
    cases[1].name = "many blocks";
    all.add(name + ".cu", to_json(grade).dump());
  };
  add("ada", "n 8, width 3: output[4] is 0.5, should be 2");
  add("bo", "n 1,000, width 15: output[0] is -3, should be 7");
  add("cy", "n 8, width 3: the program is gone");
  all.grade();
  const std::string summary = all.write();
  CHECK_THAT(summary, contains("   2  00_exercise: one block\n"
                               "      output[N] is N, should be N (ada, bo)\n"
                               "   1  00_exercise: one block\n"
                               "      the program is gone (cy)\n"));
  CHECK_THAT(summary, !contains("many blocks"));
}

TEST_CASE("What does not compile is one mistake, whatever the compiler says") {
  Class all;
  for (const std::string name : {"ada", "bo"}) {
    Grade grade = grade_from_json(json::Value::parse(grade_text(name, {1, 0})));
    grade.exercises[1].refusal = "does not compile: a.cu:3: error: '" + name + "' is not declared";
    grade.exercises[1].cases[0].outcome = Outcome::not_run;
    all.add(name + ".cu", to_json(grade).dump());
  }
  all.grade();
  CHECK_THAT(all.write(), contains("   2  01_exercise: does not compile (ada, bo)\n"));
}

TEST_CASE("Submissions without an exercise's file made one mistake, whatever they hold") {
  Class all;
  const std::string none = "there is no file of an exercise in it";
  all.add("ada.cu", grade_text("ada", {}, none + ", but 'a.cu': hand in b.cu"));
  all.add("bo.cu", grade_text("bo", {}, none + ", nor any other: hand in b.cu"));
  all.grade();
  CHECK_THAT(all.write(), contains("   2  " + none + " (ada, bo)\n"));
}

TEST_CASE("Mistakes that differ in figures only are one") {
  CHECK(alike("output[4] is 0.31, should be -1.07") == "output[N] is N, should be N");
  CHECK(alike("output[12] is 1e-05, should be 1,024") == "output[N] is N, should be N");
  CHECK(alike("line 3 of tile2.cu") == "line N of tile2.cu");
  CHECK(alike("'04_tile_and_halo/a.cu' is 12us, or +2.5e+10.") ==
        "'04_tile_and_halo/a.cu' is Nus, or N.");
  CHECK(alike("") == "");
}

}  // namespace
}  // namespace halo::test
