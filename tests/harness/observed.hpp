// A kernel by itself on the simulator: what it leaves, and what is found in it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "tests/harness/marked_line.hpp"

namespace halo::test {

struct Ran {
  Observation seen;
  std::vector<float> output;  // NaN where nothing was written; empty if the kernel failed
};

/// Runs `launch` on as many cells of input, which `fill` writes, as of output.
inline Ran observed(std::size_t cells, const std::function<void(Array& input)>& fill,
                    const std::function<int(float* input, float* output)>& launch) {
  const auto backend = make_backend();
  Ran ran;
  {
    Array input(*backend, cells);
    Array output(*backend, cells);
    fill(input);
    output.poison();
    ran.seen = backend->run([&] { return launch(input.data(), output.data()); });
    if (ran.seen.error.empty()) {
      ran.output.resize(cells);
      output.read(ran.output);
    }
  }
  backend->recover();
  return ran;
}

/// All that is said of it, a line each.
inline std::string text_of(const Ran& ran) {
  std::string text = ran.seen.error;
  for (const Hazard& hazard : ran.seen.hazards) {
    text += "\n" + hazard.kind + " " + hazard.file + ":" + std::to_string(hazard.line) + ": " +
            hazard.message;
  }
  return text;
}

/// The finding of this kind at the line of `file` with this mark (marked_line.hpp), or null.
inline const Hazard* found_at(const Ran& ran, const std::string& kind, const std::string& file,
                              const std::string& mark) {
  const int line = marked_line(file, mark);
  for (const Hazard& hazard : ran.seen.hazards) {
    if (hazard.kind == kind && hazard.line == line && hazard.file.ends_with(file)) return &hazard;
  }
  return nullptr;
}

}  // namespace halo::test
