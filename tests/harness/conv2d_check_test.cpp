// The checks of the 2D family are checked: every wrong variant must be rejected, every right one
// accepted.
#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "common/harness/core/candidates.hpp"
#include "common/harness/families/conv2d.hpp"
#include "tests/catch.hpp"
#include "tests/harness/captured.hpp"
#include "tests/harness/tried.hpp"
#include "tests/harness/wrong_layers.hpp"

using namespace halo;
using conv::ConvLayer;
using test::try_variant;

namespace {

Row run_layer(const Conv2dVariant& variant, const std::string& label) {
  return test::run_one(variant, conv::parse_label(label));
}

Conv2dVariant wrong(const std::string& name) {
  for (const Conv2dVariant& variant : test::wrong_layers()) {
    if (variant.name == name) return variant;
  }
  FAIL("no variant " << name);
  return {};
}

}  // namespace

TEST_CASE("every wrong layer is rejected, with a reason that names it", "[conv2d]") {
  const auto layers = adversarial<conv::ConvLayer>(test::seed());
  REQUIRE(test::wrong_layers().size() > 40);
  for (const Conv2dVariant& variant : test::wrong_layers()) {
    INFO(variant.name);
    const Row row = try_variant(variant, layers);
    CHECK(row.check.outcome == Outcome::bad);
    CHECK_THAT(row.check.reason, test::contains("layer "));
    CHECK(exit_status({row}) == 1);
  }
}

TEST_CASE("every right layer is accepted", "[conv2d]") {
  const auto layers = adversarial<conv::ConvLayer>(test::seed());
  for (const Conv2dVariant& variant : test::right_layers()) {
    INFO(variant.name);
    const Row row = try_variant(variant, layers);
    CHECK(row.check.reason == "");
    CHECK(row.check.outcome == Outcome::good);
    const auto taken = std::count_if(layers.begin(), layers.end(), [&](const ConvLayer& layer) {
      return refusal(variant, layer).empty();
    });
    CHECK(row.check.shapes == taken);
    CHECK(row.check.worst_share > 0);
    CHECK(row.check.worst_share <= 1);
  }
}

TEST_CASE("stray writes and changed arrays of a layer are hazards too", "[conv2d]") {
  for (const std::string name :
       {"writes one past the end", "writes one before the start",
        "writes past the end of the filters", "writes past its workspace",
        "clears the last cell of its input", "changes a tap", "packs one past the end",
        "packing clears a tap", "changes its packed filters when it is done"}) {
    INFO(name);
    const Row row = try_variant(wrong(name), adversarial<conv::ConvLayer>(test::seed()));
    CHECK(row.hazards.outcome == Outcome::bad);
    REQUIRE(!row.hazards.findings.empty());
    CHECK(row.hazards.findings.front().kind == "stray_write");
  }
}

TEST_CASE("what is wrong with packed filters is told of them", "[conv2d]") {
  const auto reason = [](const std::string& name) {
    return run_layer(wrong(name), "9x7-2-3-4-3").check.reason;
  };
  CHECK_THAT(reason("packs one past the end"),
             test::contains("packing its filters: packed filters[135] was written, past the end"));
  CHECK_THAT(reason("packing clears a tap"),
             test::contains("packing its filters: the filters was changed, at filters[0]"));
  CHECK_THAT(reason("packs something else the next time"),
             test::contains("packing its filters: done once more it gives others"));
  CHECK_THAT(reason("cannot pack its filters"),
             test::contains("packing its filters: it returned the error code 13"));
  CHECK_THAT(reason("changes its packed filters when it is done"),
             test::contains("the packed filters was changed, at packed filters[0]"));
}

TEST_CASE("who chooses another is judged by what that one promises", "[conv2d]") {
  // Off by more than a sum of products may be, by less than a transform.
  Conv2dVariant coarse = test::plain_layer();
  coarse.name = "coarse";
  coarse.also([](const ConvLayer&, auto& made) {
    made.launch = [inner = made.launch](const Conv2dCall& c) {
      const int error = inner(c);
      for (std::int64_t i = 0; i < c.layer.output_size(); ++i) c.output[i] *= 1 + 1e-5f;
      return error;
    };
  });
  coarse.demand = conv::Demand::transformed;
  Conv2dVariant chooser = test::plain_layer();
  chooser.name = "chooser";
  chooser.prepare = coarse.prepare;
  CHECK(run_layer(coarse, "9x7-2-3-4-3").check.outcome == Outcome::good);
  CHECK(run_layer(chooser, "9x7-2-3-4-3").check.outcome == Outcome::bad);
  chooser.prepare = [&](const ConvLayer& layer) { return coarse.prepared(layer); };
  CHECK(run_layer(chooser, "9x7-2-3-4-3").check.reason == "");
  // Each layer by its own choice.
  Conv2dVariant other = test::plain_layer();
  chooser.prepare = [&](const ConvLayer& layer) {
    return (layer.R() == 3 ? coarse : other).prepared(layer);
  };
  const std::vector<ConvLayer> layers = {conv::parse_label("9x7-2-3-4-3"),
                                         conv::parse_label("9x7-2-1-4-3")};
  CHECK(try_variant(chooser, layers).check.reason == "");
  CHECK(try_variant(chooser, layers).check.shapes == 2);
  other.prepare = coarse.prepare;
  CHECK_THAT(try_variant(chooser, layers).check.reason, test::contains("9x7-2-1-4-3"));
}

TEST_CASE("packing and overlapped calls are timed apart from the calls", "[conv2d]") {
  Conv2dVariant variant = test::right_layers().back();
  REQUIRE(variant.name == "packs its filters");
  variant.can_overlap = true;
  const auto backend = make_backend();
  std::vector<Candidate> candidates;
  Task task;
  task.problem = erased(conv::parse_label("9x7-2-3-4-3"));
  task.seed = test::seed();
  add_candidates(candidates,
                 {{"a stage", erased(variant)}, {"a stage", erased(test::plain_layer())}}, *backend,
                 task);
  Progress progress;
  const std::vector<Row> rows =
      run_candidates(candidates, *backend, progress, TimingSettings{3, 3, 0.1, 2, 10, 10, 1});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].time.outcome == Outcome::good);
  CHECK(rows[0].time.reason == "");
  CHECK(rows[0].time.hot.median_ms > 0);
  CHECK(rows[0].time.packing_ms > 0);
  CHECK(rows[0].time.overlapped.median_ms > 0);
  CHECK(rows[0].time.overlapped.rounds == rows[0].time.hot.rounds);
  CHECK(rows[1].time.hot.median_ms > 0);
  CHECK(rows[1].time.packing_ms < 0);
  CHECK(rows[1].time.overlapped.median_ms < 0);
}

// Launches are slow until it is begun anew, and then nothing may be left of what was in its memory.
class SlowDevice final : public test::SmallDevice {
 public:
  void* allocate(std::size_t bytes) override {
    ++in_memory;
    return SmallDevice::allocate(bytes);
  }
  void release(void* memory) noexcept override {
    --in_memory;
    SmallDevice::release(memory);
  }
  double launch_us() override { return begun_anew > 0 ? 0.5 : 0.9; }
  bool recover() override {
    CHECK(in_memory == 0);
    ++begun_anew;
    return true;
  }

  int in_memory = 0;
  int begun_anew = 0;
};

TEST_CASE("a layer is made again on a device that is begun anew beside a library", "[conv2d]") {
  Conv2dVariant variant = test::right_layers().back();
  REQUIRE(variant.name == "packs its filters");
  SlowDevice device;
  std::vector<int> packed_after;  // so many beginnings
  variant.also([&](const ConvLayer&, auto& made) {
    made.pack = [&packed_after, &device, inner = made.pack](const float* filters, float* packed) {
      packed_after.push_back(device.begun_anew);
      return inner(filters, packed);
    };
  });
  Conv2dVariant library = test::plain_layer();
  library.name = "library";
  library.role = Role::peer;
  std::vector<Candidate> candidates;
  Task task;
  task.problem = erased(conv::parse_label("3-1-1-2-2"));
  task.seed = test::seed();
  add_candidates(candidates, {{"a stage", erased(variant)}, {"peers", erased(library)}}, device,
                 task);
  Progress progress;
  const std::vector<Row> rows =
      run_candidates(candidates, device, progress, TimingSettings{3, 3, 0.1, 2, 10, 10, 1});
  CHECK(device.begun_anew == 1);
  REQUIRE(!packed_after.empty());
  CHECK(packed_after.front() == 0);
  CHECK(packed_after.back() == 1);
  for (const Row& row : rows) {
    CAPTURE(row.variant, row.time.reason);
    CHECK(row.check.outcome == Outcome::good);
    CHECK(row.time.outcome == Outcome::good);
    CHECK(row.time.hot.median_ms > 0);
  }
}

TEST_CASE("calls that overlap are compared with the same calls one after the other", "[conv2d]") {
  Conv2dVariant variant = test::plain_layer();
  variant.can_overlap = true;
  int overlapping = 0;
  variant.also([&](const ConvLayer&, auto& made) {
    made.launch = [&overlapping, inner = made.launch](const Conv2dCall& c) {
      overlapping += c.overlaps;
      return inner(c);
    };
  });
  for (const char* label : {"9x7-2-3-4-3", "9-1-3-2-5", "8-1-3-4-2-s2"}) {
    INFO(label);
    overlapping = 0;
    CHECK(run_layer(variant, label).check.reason == "");
    CHECK(overlapping > 2);
  }
  // Before the call before it is done: what that one writes last is not there yet.
  std::function<void()> late;
  variant.also([&](const ConvLayer&, auto& made) {
    made.launch = [&late, inner = made.launch](const Conv2dCall& c) {
      const int error = inner(c);
      if (!c.overlaps) return error;
      if (late) late();
      float* const last = c.output + c.layer.output_size() - 1;
      late = [last, is = *last] { *last = is; };
      *last = 0;
      return error;
    };
  });
  const Row row = run_layer(variant, "9x7-2-3-4-3");
  CHECK(row.check.outcome == Outcome::bad);
  CHECK_THAT(row.check.reason, test::contains("calls that overlap leave other outputs"));
  variant.launches([](const Conv2dCall& c) {
    const Conv2dVariant plain = test::plain_layer();
    return c.overlaps ? 9 : plain.prepared(c.layer).launch(c);
  });
  CHECK_THAT(run_layer(variant, "9x7-2-3-4-3").check.reason,
             test::contains("overlapped calls: it returned the error code 9"));
}

TEST_CASE("a layer's variant that could not be run, or took nothing, has not passed", "[conv2d]") {
  Conv2dVariant absent = test::plain_layer();
  absent.unavailable = "its library is missing";
  Row row = try_variant(absent, adversarial<conv::ConvLayer>(1));
  CHECK(row.check.outcome == Outcome::not_run);
  CHECK(row.check.reason == "its library is missing");
  CHECK(exit_status({row}) == 77);

  Conv2dVariant fastidious = test::plain_layer();
  fastidious.refuses([](const ConvLayer&) { return "it takes none"; });
  row = try_variant(fastidious, adversarial<conv::ConvLayer>(1));
  CHECK(row.check.outcome == Outcome::not_run);
  CHECK(exit_status({row}) == 77);
}

namespace {

// The data of this layer repeat; every output must be judged nevertheless, and every cell of the input looked at.
// `compute` computes all of it.
void require_judged_whole(conv::Layout layout, void (*compute)(const Conv2dCall&)) {
  const ConvLayer layer = conv::parse_label("8-64-1-640-220");
  REQUIRE(conv::affordable_repeat(layer) == conv::Repeat{3, 127});
  const auto judged = [&](std::int64_t wrong_output, std::int64_t changed_cell) {
    Conv2dVariant fast;
    fast.name = "fast";
    fast.source = "tests/harness/conv2d_check_test.cpp";
    fast.layout = layout;
    fast.launches([=](const Conv2dCall& c) {
      compute(c);
      if (wrong_output >= 0) c.output[wrong_output] *= -1;
      if (changed_cell >= 0) const_cast<float*>(c.input)[changed_cell] = 0;
      return 0;
    });
    Row row;
    check_problem(fast, *make_backend(), layer, test::seed(), row);
    return row.check;
  };
  const auto good = judged(-1, -1);
  CHECK(good.reason == "");
  CHECK(good.outcome == Outcome::good);
  const auto wrong = judged(layer.output_size() - 77, -1);
  CHECK(wrong.outcome == Outcome::bad);
  CHECK_THAT(wrong.reason, test::contains(std::to_string(layer.output_size() - 77)));
  CHECK_THAT(judged(-1, layer.input_size() - 5).reason,
             test::contains("the input was changed, at input[" +
                            std::to_string(layer.input_size() - 5) + "]"));
}

}  // namespace

TEST_CASE("a large layer is judged whole although its data repeat", "[conv2d]") {
  // Only the planes that differ are computed.
  require_judged_whole(conv::Layout::nchw, [](const Conv2dCall& c) {
    constexpr int kPlane = 8 * 8, kChannels = 220;
    for (int n = 0; n < 64; ++n) {
      for (int k = 0; k < 640; ++k) {
        float* const plane = c.output + (n * 640 + k) * kPlane;
        const float* const known = c.output + (n % 3 * 640 + k % 127) * kPlane;
        if (known != plane) {
          std::copy(known, known + kPlane, plane);
          continue;
        }
        std::fill(plane, plane + kPlane, 0.0f);
        for (int channel = 0; channel < kChannels; ++channel) {
          const float* const cells = c.input + (n * kChannels + channel) * kPlane;
          const float tap = c.filters[k * kChannels + channel];
          for (int i = 0; i < kPlane; ++i) plane[i] += cells[i] * tap;
        }
      }
    }
  });
}

TEST_CASE("a layer of its own is compared as strictly as a trial", "[conv2d]") {
  CHECK(run_layer(test::plain_layer(), "14-2-3-8-5").check.outcome == Outcome::good);
  for (const std::string name : {"a row too low", "one output missing", "one NaN in a thousand",
                                 "writes one past the end", "changes a tap"}) {
    INFO(name);
    CHECK(run_layer(wrong(name), "14-2-3-8-5").check.outcome == Outcome::bad);
  }
  Row row;
  row.check.outcome = Outcome::bad;
  row.check.reason = "before";
  check_problem(test::plain_layer(), *make_backend(), conv::parse_label("7-1-3-4-4"), 1, row);
  CHECK(row.check.outcome == Outcome::bad);
  CHECK(row.check.reason == "before");
}

TEST_CASE("the layers hold every kind of shape, and each is small", "[conv2d]") {
  const auto layers = adversarial<conv::ConvLayer>(test::seed());
  const auto some = [&](const std::function<bool(const ConvLayer&)>& is) {
    return std::any_of(layers.begin(), layers.end(), is);
  };
  for (const ConvLayer& layer : layers) {
    INFO(conv::label(layer));
    CHECK(conv::products(layer) <= 60'000);
  }
  CHECK(some([](const auto& l) { return l.N() > 32; }));
  CHECK(some([](const auto& l) { return l.C() == 1 && l.K() == 1 && l.N() == 1; }));
  CHECK(some([](const auto& l) { return l.C() == 1 && l.K() > 1 && l.R() == 3; }));
  CHECK(some([](const auto& l) { return l.C() > 128 && l.R() == 3; }));
  CHECK(some([](const auto& l) { return l.C() > 512; }));
  CHECK(some([](const auto& l) { return l.K() > 128 && l.R() == 3; }));
  CHECK(some([](const auto& l) { return l.Q() > 1024; }));
  CHECK(some([](const auto& l) { return l.P() > 1024; }));
  CHECK(some([](const auto& l) { return l.R() != l.S(); }));
  CHECK(some([](const auto& l) { return l.R() == 1 && l.S() == 1 && l.C() > 1; }));
  CHECK(some([](const auto& l) { return l.R() == 5 && l.S() == 5 && l.C() > 1; }));
  CHECK(some([](const auto& l) { return l.R() % 2 == 0; }));
  CHECK(some([](const auto& l) { return l.R() > l.H() && l.S() > l.W(); }));
  CHECK(some([](const auto& l) { return l.P() == 1 && l.Q() == 1 && l.R() > 1 && l.C() > 1; }));
  CHECK(some([](const auto& l) { return l.padding_h() == 0 && l.R() > 1; }));
  CHECK(some([](const auto& l) { return l.padding_w() > l.S(); }));
  CHECK(some([](const auto& l) { return l.stride_h() != l.stride_w(); }));
  CHECK(some([](const auto& l) { return l.stride_h() == 2 && (l.H() - l.R()) % 2 != 0; }));
  CHECK(some([](const auto& l) { return l.stride_w() > l.S() && l.S() > 1; }));
  // The random ones come from the seed, and only from it.
  CHECK(adversarial<conv::ConvLayer>(test::seed()) == layers);
  CHECK(adversarial<conv::ConvLayer>(test::seed() + 1) != layers);
}

TEST_CASE("classes of layers meet in a variant's trials whatever the seed", "[conv2d]") {
  Conv2dVariant variant = test::plain_layer();
  variant.tiles = [](const ConvLayer&) { return std::vector<TileSizes>{{.K = 16, .Q = 32}}; };
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto all = trials(variant, seed);
    const auto some = [&](const std::function<bool(const ConvLayer&)>& is) {
      return std::any_of(all.begin(), all.end(),
                         [&](const auto& trial) { return is(trial.problem); });
    };
    for (const int more : {-1, 0, 1}) {
      for (const int other : {-1, 0, 1}) {
        CHECK(some([&](const auto& l) { return l.K() == 16 + more && l.Q() == 32 + other; }));
      }
      CHECK(some([&](const auto& l) { return l.Q() == 32 + more && l.stride_h() > l.stride_w(); }));
      CHECK(some([&](const auto& l) { return l.K() == 16 + more && l.R() * l.S() > 48; }));
    }
    CHECK(some([](const auto& l) { return l.R() * l.S() > 48 && l.N() > 1 && l.C() > 1; }));
    CHECK(
        some([](const auto& l) { return l.R() > 7 && l.padding_h() == 0 && l.padding_w() == 0; }));
    CHECK(
        some([](const auto& l) { return l.stride_w() > l.stride_h() && l.N() > 1 && l.C() > 1; }));
  }
  // The rest is the seed's.
  CHECK(trials(variant, 1).size() > 30);
  const auto last = [&](std::uint64_t seed) {
    std::set<std::string> labels;
    for (const auto& trial : trials(variant, seed)) labels.insert(conv::label(trial.problem));
    return labels;
  };
  CHECK(last(1) != last(2));
}

TEST_CASE("a layer in CHWN is judged whole although its data repeat", "[conv2d]") {
  // Only the filters that differ are computed, for all images at once.
  require_judged_whole(conv::Layout::chwn, [](const Conv2dCall& c) {
    constexpr int kPlane = 8 * 8 * 64, kChannels = 220;  // cells of all images
    for (int k = 0; k < 640; ++k) {
      float* const plane = c.output + k * kPlane;
      if (k >= 127) {
        std::copy_n(c.output + k % 127 * kPlane, kPlane, plane);
        continue;
      }
      std::fill_n(plane, kPlane, 0.0f);
      for (int channel = 0; channel < kChannels; ++channel) {
        const float* const cells = c.input + channel * kPlane;
        const float tap = c.filters[k * kChannels + channel];
        for (int i = 0; i < kPlane; ++i) plane[i] += cells[i] * tap;
      }
    }
  });
}
