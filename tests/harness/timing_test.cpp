#include "common/harness/core/timing.hpp"

#include "tests/catch.hpp"
#include "tests/harness/captured.hpp"

namespace halo {
namespace {

using Catch::Matchers::WithinRel;

// A device whose rounds take a while to start, and then so long for each call.
struct Device {
  double start_ms, call_ms;
  std::vector<int> rounds = {};  // their calls

  class Calls final : public Batch {
   public:
    Calls(Device& device, int calls) : device_(device), calls_(calls) {}
    double run() override {
      device_.rounds.push_back(calls_);
      return device_.start_ms + calls_ * device_.call_ms;
    }
    std::string method() const override { return std::to_string(calls_) + " calls"; }

   private:
    Device& device_;
    int calls_;
  };
};

Row timed(Device& device, const TimingSettings& settings) {
  std::vector<Candidate> candidates(1);
  candidates[0].check = [](Row& row, Progress&) { row.check.outcome = Outcome::good; };
  candidates[0].batch = [&](int calls, Cache) {
    return std::make_unique<Device::Calls>(device, calls);
  };
  candidates[0].pack_batch = [&](int calls) {
    return std::make_unique<Device::Calls>(device, calls);
  };
  test::NoGpu backend;
  Progress progress;
  return run_candidates(candidates, backend, progress, settings).at(0);
}

TEST_CASE("what a round costs to start is not taken for the time of short calls", "[timing]") {
  // As an H200 has it: 4 us to start a graph, 3 us for each kernel in it.
  Device device{.start_ms = 0.004, .call_ms = 0.003};
  for (const TimingSettings& settings : {TimingSettings{}, kRunTiming, kLeanTiming}) {
    INFO(settings.round_ms);
    const Row row = timed(device, settings);
    CHECK_THAT(row.time.hot.median_ms, WithinRel(0.003, 0.006));
    CHECK_THAT(row.time.packing_ms, WithinRel(0.003, 0.006));
    // As long as a round is meant to be, up to the most calls that one has.
    const double most = 1000 * device.call_ms;
    CHECK_THAT(device.rounds.back() * device.call_ms,
               WithinRel(std::min(settings.round_ms, most), 0.05));
  }
}

TEST_CASE("a call that fills a round is timed alone", "[timing]") {
  Device device{.start_ms = 0.01, .call_ms = 20};
  const Row row = timed(device, {});
  CHECK(row.time.method == "1 calls");
  for (const int calls : device.rounds) CHECK(calls == 1);
}

}  // namespace
}  // namespace halo
