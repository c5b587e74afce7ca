#include "common/build/build_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "common/json/json.hpp"

namespace halo {
namespace {

using Json = json::Value;
namespace fs = std::filesystem;

Json read(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) {
    throw std::runtime_error(file.parent_path().parent_path().string() +
                             " is not a build folder of Halo: ./halo run sets one up");
  }
  try {
    // By an iterator it takes a tenth of a second: this is not optimised, and Meson writes a third of a megabyte.
    std::ostringstream text;
    text << stream.rdbuf();
    return Json::parse(text.view());
  } catch (const json::Error& error) {
    throw std::runtime_error(file.string() + " cannot be read (" + error.what() +
                             "): remove the build folder and start again");
  }
}

// A place where programs run, as the build description wrote it.
struct Place {
  std::string backend;
  std::string ending;   // of the programs that run there: "04_conv1d_tiled_halo-cuda"
  std::string runtime;  // "-": none is needed
};

std::vector<Place> read_places(const fs::path& file) {
  std::vector<Place> places;
  std::ifstream stream(file);
  for (Place place;
       stream >> place.backend >> place.ending && std::getline(stream >> std::ws, place.runtime);) {
    places.push_back(place);
  }
  return places;
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

std::string text_of(const Json& object, const char* name) {
  const Json* const value = object.find(name);
  return value && value->is_string() ? value->get<std::string>() : "";
}

}  // namespace

void Program::choose_runtime() const {
  if (runtime.empty()) return;
  static const char* const kPath = "LD_LIBRARY_PATH";
  static const std::string before = [] {
    const char* const set = std::getenv(kPath);
    return set != nullptr && *set != '\0' ? ":" + std::string(set) : std::string();
  }();
  setenv(kPath, (runtime.string() + before).c_str(), 1);
}

BuildFolder::BuildFolder(const fs::path& path) : path_(path) {
  const Json info = read(path / "meson-info" / "meson-info.json");
  if (const Json* const folders = info.find("directories")) source_ = text_of(*folders, "source");
  const auto families = read_families(path / "stages" / "families.txt");
  const std::vector<Place> places = read_places(path / "stages" / "places.txt");
  for (const Json& target : read(path / "meson-info" / "intro-targets.json").elements()) {
    const auto called = target.at("name").get<std::string>();
    const std::size_t dash = called.rfind('-');
    if (text_of(target, "type") != "executable" || dash == std::string::npos) continue;
    Program program;
    program.name = called.substr(0, dash);
    program.path = target.at("filename").elements().at(0).get<std::string>();
    const bool is_ladder = names_ladder(program.name);
    if (!is_ladder && !names_stage(program.name)) continue;
    if (is_ladder) {
      program.family = program.name.substr(program.name.find('_') + 1);  // bench_conv1d
    } else if (const auto family = families.find(program.name); family != families.end()) {
      program.family = family->second;
    }
    for (const Place& place : places) {
      if (called.substr(dash + 1) != place.ending) continue;
      program.backend = place.backend;
      program.runtime = place.runtime == "-" ? "" : place.runtime;
      (is_ladder ? ladders_ : programs_).push_back(program);
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

std::string BuildFolder::short_name(const std::string& stage) const {
  const std::string number = stage.substr(0, 2);
  char letter = 'a';
  int same = 0;
  for (const std::string& other : stages_) {
    if (!other.starts_with(number)) continue;
    ++same;
    if (other < stage) ++letter;
  }
  return same > 1 ? number + letter : number;
}

std::vector<TestProgram> BuildFolder::tests() const {
  std::map<std::string, std::vector<fs::path>> files_of;  // by target
  for (const Json& target : read(path_ / "meson-info" / "intro-targets.json").elements()) {
    for (const Json& file : target.at("filename").elements()) {
      files_of[target.at("id").get<std::string>()].emplace_back(file.get<std::string>());
    }
  }
  std::vector<TestProgram> tests;
  for (const Json& entry : read(path_ / "meson-info" / "intro-tests.json").elements()) {
    TestProgram test;
    test.name = entry.at("name").get<std::string>();
    for (const Json& suite : entry.at("suite").elements()) {
      const auto full =
          suite.get<std::string>();  // "halo:simt", or "halo" for a test without a suite
      const std::size_t colon = full.find(':');
      if (colon != std::string::npos) test.suites.push_back(full.substr(colon + 1));
    }
    for (const Json& target : entry.at("depends").elements()) {
      const auto& files = files_of[target.get<std::string>()];
      test.needs.insert(test.needs.end(), files.begin(), files.end());
    }
    tests.push_back(test);
  }
  return tests;
}

std::vector<fs::path> BuildFolder::simulated_runtime() const {
  std::vector<fs::path> files = {simulator() / "libcudart.so.13"};
  const fs::path driver = simulated_libraries() / "libcuda.so.1";
  if (makes(driver)) files.push_back(driver);
  return files;
}

bool BuildFolder::makes(const fs::path& file) const {
  for (const Json& target : read(path_ / "meson-info" / "intro-targets.json").elements()) {
    for (const Json& made : target.at("filename").elements()) {
      if (file == made.get<std::string>()) return true;
    }
  }
  return false;
}

std::vector<Library> BuildFolder::libraries() const {
  std::vector<Library> libraries;
  for (const Json& entry : read(path_ / "meson-info" / "intro-dependencies.json").elements()) {
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
    Json entry;
    try {
      entry = Json::parse(line);
    } catch (const json::Error&) {
      continue;
    }
    TestResult result;
    result.name = text_of(entry, "name");  // "halo:simt / simcc"
    if (result.name.find(" / ") != std::string::npos) {
      result.name.erase(0, result.name.find(':') + 1);
    }
    result.outcome = text_of(entry, "result");
    const Json* const status = entry.find("returncode");
    if (status && status->is_number()) status->get_to(result.status);
    const Json* const seconds = entry.find("duration");
    if (seconds && seconds->is_number()) seconds->get_to(result.seconds);
    result.out = text_of(entry, "stdout");
    result.err = text_of(entry, "stderr");
    results.push_back(result);
  }
  return results;
}

}  // namespace halo
