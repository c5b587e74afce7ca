#include "tests/cli/fake_build.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "common/report/json.hpp"
#include "tests/catch.hpp"

namespace halo::test {

namespace fs = std::filesystem;

namespace {

void write_script(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
  fs::permissions(file, fs::perms::owner_all);
}

}  // namespace

std::string required_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    throw std::runtime_error(std::string(name) + " is not set: run this through `meson test`");
  }
  return value;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void require_one_line(const Ended& ended, int status) {
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == status);
  CHECK(ended.out.empty());
  REQUIRE(lines_of(ended.err).size() == 1);
  CHECK(ended.err.rfind("halo: ", 0) == 0);
}

FakeBuild::FakeBuild() {
  path_ = folder_.path();
  source_ = path_;
  fs::create_directories(path_ / "meson-info");
  fs::create_directories(path_ / "meson-logs");
  // The programs of ./halo stand beside the one that is tested.
  fs::create_directories(path_ / "common/cli");
  for (const char* program : {"halo-develop", "halo-exercise"}) {
    fs::create_symlink(fs::path(required_variable("HALO_CLI")).parent_path() / program,
                       path_ / "common/cli" / program);
  }
  set_ninja("echo 'ninja: no work to do.'");
  write_info();
}

void FakeBuild::set_source(const fs::path& source) {
  source_ = source;
  write_info();
}

void FakeBuild::add_target(const fs::path& file) {
  targets_.push_back(file);
  write_info();
}

void FakeBuild::add_program(const std::string& stage, const std::string& backend,
                            const std::string& body) {
  add_unbuilt_program(stage, backend);
  write_script(programs_.back().file,
               "words=\"$*\"\n"
               "while [ $# -gt 0 ]; do\n"
               "  [ \"$1\" = --json ] && json=$2\n"
               "  shift\n"
               "done\n" +
                   body);
}

void FakeBuild::add_unbuilt_program(const std::string& stage, const std::string& backend) {
  const std::string name = stage + "-" + backend;
  programs_.push_back({name, (path_ / "stages" / stage / name).string()});
  write_info();
}

void FakeBuild::add_reporting_program(const std::string& stage, const std::string& backend,
                                      const std::vector<Row>& rows, int status,
                                      const Machine& machine) {
  add_program(stage, backend,
              "echo \"$words\" >> '" + (path_ / "words").string() + "'\ncat '" +
                  told(stage + "-" + backend, rows, machine).string() + "' >&3\nexit " +
                  std::to_string(status));
}

fs::path FakeBuild::told(const std::string& name, const std::vector<Row>& rows,
                         const Machine& machine) const {
  Results results = new_results(0, nullptr, 1);
  if (!machine.cpu.empty()) results.machine = machine;
  const fs::path file = path_ / (name + ".told");
  std::ofstream stream(file);
  stream << head_line(results) << "\n";
  for (const Row& row : rows) stream << row_line(row) << "\n";
  return file;
}

void FakeBuild::add_family(const std::string& stage, const std::string& family) {
  families_.push_back({stage, family});
  write_info();
}

void FakeBuild::add_test(const std::string& name, const std::string& suite,
                         const std::string& other) {
  tests_.push_back({name, other.empty() ? suite : suite + R"(", "halo:)" + other});
  write_info();
}

void FakeBuild::set_meson(const std::string& body) {
  write_script(path_ / "bin" / "meson",
               "log='" + (path_ / "meson-logs" / "halo-test.json").string() + "'\n" +
                   "echo \"$@\" > '" + (path_ / "meson-words").string() + "'\n" + body);
}

void FakeBuild::set_ninja(const std::string& body) {
  write_script(path_ / "bin" / "ninja", "shift 4\nwords=\"$*\"\necho \"$words\" >> '" +
                                            (path_ / "ninja-words").string() + "'\n" + body);
}

std::vector<std::string> FakeBuild::ninja_words() const {
  return lines_of(read_file(path_ / "ninja-words"));
}

std::string FakeBuild::with_gpu() const {
  const fs::path folder = path_ / "driver";
  if (fs::create_directory(folder)) {
    fs::create_symlink(required_variable("HALO_FAKE_DRIVER"), folder / "libcuda.so.1");
  }
  return "LD_LIBRARY_PATH=" + folder.string();
}

Ended FakeBuild::halo(std::vector<std::string> args, const std::vector<std::string>& environment,
                      const fs::path& where) const {
  return run_program(command(std::move(args), environment, where));
}

std::vector<std::string> FakeBuild::command(std::vector<std::string> args,
                                            const std::vector<std::string>& environment,
                                            const fs::path& where) const {
  const char* search = std::getenv("PATH");
  std::vector<std::string> command = {
      "env",
      "-u",
      "NO_COLOR",
      "-u",
      "CLICOLOR_FORCE",
      "--chdir=" + where.string(),
      "CUDA_VISIBLE_DEVICES=-1",
      "COLUMNS=0",  // words that are looked for stand in one line
      "PATH=" + (path_ / "bin").string() + ":" + (search ? search : "/usr/bin:/bin")};
  command.insert(command.end(), environment.begin(), environment.end());
  command.insert(command.end(), {required_variable("HALO_CLI"), "--build", path_.string()});
  command.insert(command.end(), args.begin(), args.end());
  return command;
}

void FakeBuild::write_info() const {
  const fs::path info = path_ / "meson-info";
  std::ofstream(info / "meson-info.json")
      << R"({"directories": {"source": ")" << source_.string() << R"("}})";
  std::ofstream targets(info / "intro-targets.json");
  targets << R"([{"name": "halo-cli", "id": "cli@exe", "type": "executable",
                  "filename": ["/x/halo-cli"]})";
  for (const std::string program : {"halo-exercise", "halo-grade"}) {
    targets << R"(, {"name": ")" << program << R"(", "id": ")" << program
            << R"(@exe", "type": "executable", "filename": [")"
            << (path_ / "common/cli" / program).string() << R"("]})";
  }
  for (const Listed& program : programs_) {
    targets << R"(, {"name": ")" << program.name << R"(", "id": ")" << program.name
            << R"(@exe", "type": "executable", "filename": [")" << program.file << R"("]})";
  }
  for (const Listed& test : tests_) {
    targets << R"(, {"name": ")" << test.name << R"(", "id": ")" << test.name
            << R"(@exe", "type": "executable", "filename": [")"
            << (path_ / "tests" / test.name).string() << R"("]})";
  }
  for (const fs::path& file : targets_) {
    targets << R"(, {"name": ")" << file.filename().string() << R"(", "id": ")"
            << file.filename().string() << R"(@exe", "type": "executable", "filename": [")"
            << file.string() << R"("]})";
  }
  targets << "]";
  fs::create_directories(path_ / "stages");
  std::ofstream(path_ / "stages" / "places.txt") << "cpu cpu -\nsim sim -\ngpu gpu -\n";
  std::ofstream families(path_ / "stages" / "families.txt");
  for (const Listed& stage : families_) families << stage.name << " " << stage.file << "\n";
  std::ofstream tests(info / "intro-tests.json");
  const char* comma = "";
  tests << "[";
  for (const Listed& test : tests_) {
    tests << comma << R"({"name": ")" << test.name << R"(", "suite": ["halo:)" << test.file
          << R"("], "depends": [")" << test.name << R"(@exe"]})";
    comma = ", ";
  }
  tests << "]";
  std::ofstream(info / "intro-dependencies.json") << R"([{"name": "libpng", "version": "1.6.39"}])";
}

Row good_row(const std::string& stage, const std::string& variant) {
  Row row;
  row.stage = stage;
  row.backend = "sim";
  row.variant = variant;
  row.source = "stages/" + stage + "/" + variant + ".cu";
  row.problem = {{"length", std::int64_t{100}}, {"mask_width", std::int64_t{9}}};
  row.check.outcome = Outcome::good;
  row.check.shapes = 31;
  row.check.worst_share = 0.5;
  row.hazards.outcome = Outcome::good;
  row.traffic.outcome = Outcome::good;
  row.time.reason = "the simulator has no time";
  return row;
}

Row timed_row(const std::string& stage, const std::string& backend, const std::string& variant,
              double ms) {
  Row row = good_row(stage, variant);
  row.backend = backend;
  row.traffic = {};
  row.hazards = {};
  row.time = {};
  row.time.outcome = Outcome::good;
  row.time.hot = {15, ms, ms * 0.99, ms * 1.01, 0.002};
  row.time.gb_per_s = 8 / ms;
  row.time.gflop_per_s = 16 / ms;
  if (backend == "gpu") {
    row.time.cold = {15, 2 * ms, 2 * ms * 0.99, 2 * ms * 1.01, 0.002};
    row.time.cold_gb_per_s = 4 / ms;
    row.time.transfers = {5, 100 * ms, 99 * ms, 101 * ms, 0.01};
  }
  return row;
}

}  // namespace halo::test
