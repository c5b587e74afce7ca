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

// A device on which a library has made every launch slower, until it is begun anew.
class SlowedDevice final : public test::NoGpu {
 public:
  double launch_us() override { return slowed ? 0.9 : 0.5; }
  bool recover() override {
    CHECK(dropped == held);
    ++begun_anew;
    slowed = false;
    return true;
  }

  bool slowed = false;
  int begun_anew = 0;
  int held = 0, dropped = 0;  // candidates with something on the device
};

class SlowedCalls final : public Batch {
 public:
  SlowedCalls(const SlowedDevice& device, int calls, double call_ms)
      : device_(device), calls_(calls), call_ms_(call_ms) {}
  double run() override { return calls_ * (call_ms_ + (device_.slowed ? 0.0004 : 0)); }
  std::string method() const override { return {}; }

 private:
  const SlowedDevice& device_;
  int calls_;
  double call_ms_;
};

// Two problems, each with a variant and a peer that slows the device when it is tried, or also when it is prepared.
std::vector<Row> timed_on(SlowedDevice& device, double call_ms, Role other, bool slows_always) {
  std::vector<Candidate> candidates;
  for (const int problem : {1, 2}) {
    for (const Role role : {Role::variant, other}) {
      Candidate& candidate = candidates.emplace_back();
      candidate.row.role = role;
      candidate.row.problem.emplace_back("n", std::int64_t{problem});
      candidate.check = [&, role](Row& row, Progress&) {
        row.check.outcome = Outcome::good;
        if (role == Role::peer) device.slowed = true;
        if (role == Role::variant) device.held = device.dropped = 0;
        ++device.held;
      };
      candidate.batch = [&, role](int calls, Cache) {
        if (role == Role::peer && slows_always) device.slowed = true;
        return std::make_unique<SlowedCalls>(device, calls, call_ms);
      };
      candidate.drop = [&] { ++device.dropped; };
    }
  }
  Progress progress;
  return run_candidates(candidates, device, progress, kLeanTiming);
}

TEST_CASE("short calls beside a library are timed on a device that was begun anew", "[timing]") {
  SlowedDevice device;
  for (const Row& row : timed_on(device, 0.003, Role::peer, false)) {
    CHECK_THAT(row.time.hot.median_ms, WithinRel(0.003, 1e-6));
  }
  CHECK(device.begun_anew == 2);  // for each problem the library tries again
}

TEST_CASE("a device is begun anew only where it is slower and that is seen", "[timing]") {
  SlowedDevice long_calls, no_peer, always;
  timed_on(long_calls, 1, Role::peer, false);
  CHECK(long_calls.begun_anew == 0);
  timed_on(no_peer, 0.003, Role::copy, false);
  CHECK(no_peer.begun_anew == 0);
  // What is chosen may slow it, too: that is how it is then.
  const std::vector<Row> rows = timed_on(always, 0.003, Role::peer, true);
  CHECK(always.begun_anew == 2);
  CHECK_THAT(rows[0].time.hot.median_ms, WithinRel(0.0034, 1e-6));
}

}  // namespace
}  // namespace halo
