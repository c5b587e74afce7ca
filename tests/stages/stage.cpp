#include "tests/stages/stage.hpp"

namespace halo::test {

std::unique_ptr<Backend> counting_backend() {
  auto backend = usable_backend();
  if (!backend->observes()) skip(backend->blind_reason());
  return backend;
}

void require_all_lines(const LinesOf& lines) {
  const std::string root = HALO_SOURCE_ROOT;
  const std::vector<KnownLine> known = read_known_lines(root + "/tests/stages/unreached_lines.csv");
  std::string complaints;
  for (const std::string& one : lines.complaints(known, root)) complaints += "\n" + one;
  INFO("What no trial need reach is listed in tests/stages/unreached_lines.csv." << complaints);
  CHECK(complaints.empty());
}

std::string faults(const Row& row) {
  std::string text = row.check.reason + "\n" + row.hazards.reason;
  for (const Hazard& hazard : row.hazards.findings) {
    text += "\n" + hazard.file + ":" + std::to_string(hazard.line) + ": " + hazard.message;
  }
  for (std::size_t i = 0; i < row.traffic.counted.size(); ++i) {
    const auto& [name, counted] = row.traffic.counted[i];
    const auto predicted = row.traffic.predicted[i].second;
    if (counted == predicted) continue;
    text += "\n" + name + ": predicted " + std::to_string(predicted) + ", counted " +
            std::to_string(counted);
  }
  return text;
}

}  // namespace halo::test
