// Runs a stage program's main function in the test's own process and keeps what it printed; and
// backends for it that are poorer than the one that is linked.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/harness/core/timing.hpp"
#include "tests/catch.hpp"
#include "tests/data/files.hpp"

namespace halo::test {

namespace fs = std::filesystem;

inline std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Points a file descriptor at a file while it lives.
class Captured {
 public:
  Captured(int descriptor, const std::string& file)
      : descriptor_(descriptor), saved_(dup(descriptor)), file_(file) {
    std::fflush(nullptr);
    REQUIRE(std::freopen(file.c_str(), "w", stream()) != nullptr);
  }
  std::string take() {
    std::fflush(stream());
    dup2(saved_, descriptor_);
    close(saved_);
    return read_text(file_);
  }

 private:
  std::FILE* stream() const { return descriptor_ == 1 ? stdout : stderr; }
  int descriptor_;
  int saved_;
  std::string file_;
};

struct Ended {
  int status;
  std::string out;
  std::string err;
};

// Calls main(argc, argv) as a program called "program" with these arguments.
inline Ended captured(std::vector<const char*> arguments,
                      const std::function<int(int, const char* const*)>& main) {
  const Folder folder;
  setenv("COLUMNS", "0", 1);  // words that are looked for stand in one line
  arguments.insert(arguments.begin(), "builddir/stages/program");
  Captured out(1, folder / "out");
  Captured err(2, folder / "err");
  const int status = main(static_cast<int>(arguments.size()), arguments.data());
  std::string err_text = err.take();
  return {status, out.take(), err_text};
}

// Holds a program to refuse each of these: exit status 2, one line on stderr, and nothing on stdout.
inline void require_wrong_use(const std::vector<std::vector<const char*>>& all,
                              const std::function<Ended(const std::vector<const char*>&)>& run) {
  for (const auto& arguments : all) {
    std::string shown;
    for (const char* argument : arguments) shown += std::string(" ") + argument;
    INFO(shown);
    const auto [status, out, err] = run(arguments);
    INFO(err);
    CHECK(status == 2);
    CHECK(out == "");
    CHECK(err.rfind("program: ", 0) == 0);
    CHECK(std::count(err.begin(), err.end(), '\n') == 1);
    CHECK(err.size() > 20);
  }
}

// For tests that only look at what a program does with its times.
inline constexpr TimingSettings kBriefTiming{.rounds = 3,
                                             .fewest_rounds = 3,
                                             .round_ms = 0.2,
                                             .fewest_calls = 2,
                                             .variant_ms = 20,
                                             .long_round_ms = 1000,
                                             .warm_up_ms = 0};

// A backend with nothing behind it.
class NoGpu : public Backend {
 public:
  std::string name() const override { return "gpu"; }
  bool observes() const override { return false; }
  bool times() const override { return true; }
  std::string unavailable() override { return "no GPU: the driver is missing"; }
  void* allocate(std::size_t) override { throw std::logic_error("used"); }
  void release(void*) noexcept override {}
  void copy_in(void*, const void*, std::size_t) override {}
  void copy_out(void*, const void*, std::size_t) override {}
  void poison(float*, std::size_t, float) override {}
  std::size_t guard_cells() const override { return 0; }
  Observation run(const std::function<int()>&) override { throw std::logic_error("used"); }
  std::unique_ptr<Batch> batch(std::function<int(int)>, int) override {
    throw std::logic_error("used");
  }
};

// The CPU, said to be a device with room for little.
class SmallDevice : public Backend {
 public:
  std::string name() const override { return "gpu"; }
  std::int64_t free_memory() override { return 2 << 20; }
  bool observes() const override { return false; }
  bool times() const override { return true; }
  std::string unavailable() override { return {}; }
  void* allocate(std::size_t bytes) override { return cpu_->allocate(bytes); }
  void release(void* memory) noexcept override { cpu_->release(memory); }
  void copy_in(void* to, const void* from, std::size_t n) override { cpu_->copy_in(to, from, n); }
  void copy_out(void* to, const void* from, std::size_t n) override { cpu_->copy_out(to, from, n); }
  void poison(float* memory, std::size_t count, float with) override {
    cpu_->poison(memory, count, with);
  }
  std::size_t guard_cells() const override { return cpu_->guard_cells(); }
  Observation run(const std::function<int()>& launch) override { return cpu_->run(launch); }
  std::unique_ptr<Batch> batch(std::function<int(int)> launch, int calls) override {
    return cpu_->batch(std::move(launch), calls);
  }

 private:
  std::unique_ptr<Backend> cpu_ = make_backend();
};

}  // namespace halo::test
