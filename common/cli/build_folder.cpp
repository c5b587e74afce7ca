#include "common/cli/build_folder.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace halo {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json read(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) {
    throw std::runtime_error(file.parent_path().parent_path().string() +
                             " is not a build folder of Halo: ./halo run sets one up");
  }
  try {
    return json::parse(stream);
  } catch (const json::exception& error) {
    throw std::runtime_error(file.string() + " cannot be read (" + error.what() +
                             "): remove the build folder and start again");
  }
}

// Splits "04_conv1d_tiled_halo-sim"; false if the target is no program of the course.
bool split_program(const std::string& target, Program& program) {
  const std::size_t dash = target.rfind('-');
  if (dash == std::string::npos) return false;
  program.name = target.substr(0, dash);
  program.backend = target.substr(dash + 1);
  return program.backend == "sim" || program.backend == "gpu" || program.backend == "cpu";
}

bool names_stage(const std::string& name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return name.size() > 3 && digit(name[0]) && digit(name[1]) && name[2] == '_';
}

bool names_ladder(const std::string& name) { return name.rfind("bench_", 0) == 0; }

// The stages' families, as the build description wrote them: a line each, "04_conv1d_tiled_halo
// conv1d".
std::map<std::string, std::string> read_families(const fs::path& file) {
  std::map<std::string, std::string> families;
  std::ifstream stream(file);
  for (std::string stage, family; stream >> stage >> family;) families[stage] = family;
  return families;
}

std::string text_of(const json& object, const char* key) {
  const auto value = object.find(key);
  return value != object.end() && value->is_string() ? value->get<std::string>() : "";
}

}  // namespace

BuildFolder::BuildFolder(const fs::path& path) : path_(path) {
  const json info = read(path / "meson-info" / "meson-info.json");
  source_ = info.value(json::json_pointer("/directories/source"), std::string());
  const auto families = read_families(path / "stages" / "families.txt");
  for (const json& target : read(path / "meson-info" / "intro-targets.json")) {
    Program program;
    if (target.at("type") != "executable" || !split_program(target.at("name"), program)) continue;
    program.path = target.at("filename").at(0).get<std::string>();
    if (names_stage(program.name)) {
      if (const auto family = families.find(program.name); family != families.end()) {
        program.family = family->second;
      }
      programs_.push_back(program);
    } else if (names_ladder(program.name)) {
      program.family = program.name.substr(program.name.find('_') + 1);  // bench_conv1d
      ladders_.push_back(program);
    }
  }
  for (auto* programs : {&programs_, &ladders_}) {
    std::sort(programs->begin(), programs->end(), [](const auto& a, const auto& b) {
      return std::tie(a.name, a.backend) < std::tie(b.name, b.backend);
    });
  }
  for (const Program& program : programs_) {
    if (stages_.empty() || stages_.back() != program.name) stages_.push_back(program.name);
  }
}

std::vector<TestProgram> BuildFolder::tests() const {
  std::map<std::string, std::vector<fs::path>> files_of;  // by target
  for (const json& target : read(path_ / "meson-info" / "intro-targets.json")) {
    for (const json& file : target.at("filename")) {
      files_of[target.at("id")].emplace_back(file.get<std::string>());
    }
  }
  std::vector<TestProgram> tests;
  for (const json& entry : read(path_ / "meson-info" / "intro-tests.json")) {
    TestProgram test;
    test.name = entry.at("name");
    for (const json& suite : entry.at("suite")) {
      const std::string full = suite;  // "halo:simt", or "halo" for a test without a suite
      const std::size_t colon = full.find(':');
      if (colon != std::string::npos) test.suites.push_back(full.substr(colon + 1));
    }
    for (const json& target : entry.at("depends")) {
      const auto& files = files_of[target];
      test.needs.insert(test.needs.end(), files.begin(), files.end());
    }
    tests.push_back(test);
  }
  return tests;
}

std::vector<Library> BuildFolder::libraries() const {
  std::vector<Library> libraries;
  for (const json& entry : read(path_ / "meson-info" / "intro-dependencies.json")) {
    libraries.push_back({text_of(entry, "name"), text_of(entry, "version")});
  }
  return libraries;
}

std::vector<TestResult> BuildFolder::test_results(const std::string& name) const {
  std::ifstream stream(path_ / "meson-logs" / (name + ".json"));
  std::vector<TestResult> results;
  std::string line;
  while (std::getline(stream, line)) {
    if (line.empty()) continue;
    // A line cut short (a full disk, a killed Meson) is left out; the caller sees a test missing.
    const json entry = json::parse(line, nullptr, false);
    if (entry.is_discarded()) continue;
    TestResult result;
    result.name = text_of(entry, "name");  // "halo:simt / simcc"
    if (result.name.find(" / ") != std::string::npos) {
      result.name.erase(0, result.name.find(':') + 1);
    }
    result.outcome = text_of(entry, "result");
    if (entry.contains("returncode") && entry["returncode"].is_number()) {
      result.status = entry["returncode"];
    }
    if (entry.contains("duration") && entry["duration"].is_number()) {
      result.seconds = entry["duration"];
    }
    result.out = text_of(entry, "stdout");
    result.err = text_of(entry, "stderr");
    results.push_back(result);
  }
  return results;
}

}  // namespace halo
