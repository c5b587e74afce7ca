// In the simulator a 2D stage fails for what its values do not show: hazards, and traffic that nobody
// predicted.
#include <algorithm>

#include "common/harness/families/conv2d.hpp"
#include "common/harness/traffic/tally.hpp"
#include "tests/catch.hpp"
#include "tests/harness/marked_line.hpp"
#include "tests/harness/planted/planted_layers.hpp"
#include "tests/harness/tried.hpp"

using namespace halo;
using conv::ConvLayer;
using test::try_variant;

namespace {

constexpr int kThreads = 64;

planted::PlantedLayer planted_layer(const ConvLayer& l) {
  return {l.N(), l.C(), l.H(), l.W(),         l.K(),        l.R(),
          l.S(), l.P(), l.Q(), l.padding_h(), l.padding_w()};
}

// The loads of one warp for the channels [first, end): two for each tap that some lane needs.
void add_products(Tally& tally, const ConvLayer& l, Cells warp, int first, int end) {
  for (int c = first; c < end; ++c) {
    for (int r = 0; r < l.R(); ++r) {
      for (int s = 0; s < l.S(); ++s) {
        const auto where_it_exists = [&](bool of_input) {
          return lanes(warp, [&, of_input](std::int64_t i) {
            const std::int64_t q = i % l.Q(), p = i / l.Q() % l.P();
            const std::int64_t k = i / (l.Q() * l.P()) % l.K(), n = i / (l.Q() * l.P() * l.K());
            const std::int64_t h = p - l.padding_h() + r, w = q - l.padding_w() + s;
            if (h < 0 || h >= l.H() || w < 0 || w >= l.W()) return kNoCell;
            return of_input ? ((n * l.C() + c) * l.H() + h) * l.W() + w
                            : ((k * l.C() + c) * l.R() + r) * l.S() + s;
          });
        };
        tally.load(where_it_exists(true));
        tally.load(where_it_exists(false));
      }
    }
  }
}

Cost predict_right(const ConvLayer& l) {
  Tally tally;
  for (const Cells warp : Cells{0, l.output_size()}.pieces(kWarpSize)) {
    add_products(tally, l, warp, 0, l.C());
    tally.store(warp);
  }
  return tally.cost();
}

Cost predict_two_kernels(const ConvLayer& l) {
  Tally tally;
  for (const Cells warp : Cells{0, l.output_size()}.pieces(kWarpSize)) {
    for (int c = 0; c < l.C(); ++c) {
      add_products(tally, l, warp, c, c + 1);
      tally.store(warp.shifted(c * l.output_size()));
      tally.load(warp.shifted(c * l.output_size()));  // read by the second kernel
    }
    tally.store(warp);
  }
  return tally.cost();
}

Conv2dVariant variant_of(const std::string& name, std::function<int(const Conv2dCall&)> launch) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = "tests/harness/planted/planted_layers.cu";
  variant.launches(std::move(launch));
  variant.refuses([](const ConvLayer& l) {
    return l.stride_h() != 1 || l.stride_w() != 1 ? "it knows no stride" : "";
  });
  return variant;
}

Conv2dVariant right() {
  Conv2dVariant variant = variant_of("right", [](const Conv2dCall& c) {
    return planted::right_layer(c.input, c.filters, c.output, planted_layer(c.layer));
  });
  variant.must_cost(predict_right);
  return variant;
}

Conv2dVariant two_kernels() {
  Conv2dVariant variant = variant_of("two_kernels", [](const Conv2dCall& c) {
    return planted::two_kernels(c.input, c.filters, c.output, c.workspace, planted_layer(c.layer));
  });
  variant.must_cost(predict_two_kernels);
  variant.also(
      [](const ConvLayer& l, auto& made) { made.workspace_floats = l.C() * l.output_size(); });
  return variant;
}

Conv2dVariant stale_workspace() {
  Conv2dVariant variant = variant_of("stale_workspace", [](const Conv2dCall& c) {
    return planted::stale_workspace(c.input, c.filters, c.output, c.workspace,
                                    planted_layer(c.layer));
  });
  variant.also([](const ConvLayer& l, auto& made) { made.workspace_floats = l.output_size(); });
  return variant;
}

Conv2dVariant packed() {
  Conv2dVariant variant = variant_of("packed", [](const Conv2dCall& c) {
    return planted::packed_layer(c.input, c.packed, c.output, planted_layer(c.layer));
  });
  variant.also([](const ConvLayer& l, auto& made) {
    made.packed_floats = l.filters_size();
    made.pack = [size = static_cast<int>(l.filters_size())](const float* filters, float* packed) {
      return planted::pack_backwards(filters, packed, size);
    };
  });
  variant.must_cost(predict_right);
  return variant;
}

int line_of(const std::string& bug) {
  return test::marked_line("tests/harness/planted/planted_layers.cu", "[bug:" + bug + "]");
}

Row run_layer(const Conv2dVariant& variant, const std::string& label) {
  return test::run_one(variant, conv::parse_label(label));
}

}  // namespace

TEST_CASE("right kernels of layers pass everything", "[conv2d]") {
  // Of the packed one the packing is no part of the call's traffic, and goes without saying on large
  // layers.
  for (const Conv2dVariant& variant : {right(), two_kernels(), packed()}) {
    INFO(variant.name);
    const Row trials = try_variant(variant);
    CHECK(trials.check.reason == "");
    CHECK(trials.check.outcome == Outcome::good);
    CHECK(trials.hazards.outcome == Outcome::good);
    for (const char* label : {"9x7-2-3-4-3", "5-1-1-3-2", "6x11-1-3x2-2-2-p2x0"}) {
      INFO(label);
      const Row row = run_layer(variant, label);
      CHECK(row.traffic.outcome == Outcome::good);
      CHECK(row.traffic.counted == row.traffic.predicted);
      CHECK(row.traffic.bytes_per_output_counted > 8);
      CHECK(exit_status({row}) == 0);
    }
  }
}

TEST_CASE("a missing barrier fails a layer's run", "[conv2d]") {
  const Row row = try_variant(variant_of("no_barrier", [](const Conv2dCall& c) {
    return planted::no_barrier_layer(c.input, c.filters, c.output, planted_layer(c.layer));
  }));
  CHECK(row.hazards.outcome == Outcome::bad);
  CHECK(exit_status({row}) == 1);
  REQUIRE(!row.hazards.findings.empty());
  const Hazard& race = row.hazards.findings.front();
  CHECK(race.kind == "race");
  const int bug = line_of("no-barrier-layer");  // between the two lines that race
  CHECK(std::min(race.line, race.other_line) < bug);
  CHECK(std::max(race.line, race.other_line) > bug);
  CHECK_THAT(row.hazards.reason, test::contains("first with layer "));
}

TEST_CASE("a workspace that is read before it was written fails the run", "[conv2d]") {
  const Row row = try_variant(stale_workspace());
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.hazards.outcome == Outcome::bad);
  REQUIRE(!row.hazards.findings.empty());
  CHECK(row.hazards.findings.front().kind == "uninitialized_global_read");
  CHECK(row.hazards.findings.front().line == line_of("stale-workspace"));
}

TEST_CASE("a workspace that is too small fails the run", "[conv2d]") {
  Conv2dVariant variant = two_kernels();
  variant.also(
      [](const ConvLayer& l, auto& made) { made.workspace_floats = l.C() * l.output_size() - 1; });
  const Row row = run_layer(variant, "9x7-2-3-4-3");
  CHECK(row.hazards.outcome == Outcome::bad);
  REQUIRE(!row.hazards.findings.empty());
  CHECK(row.hazards.findings.front().kind == "out_of_bounds");
  CHECK(exit_status({row}) == 1);
}

TEST_CASE("hazards of packing filters fail the run", "[conv2d]") {
  Conv2dVariant variant = packed();
  variant.also([](const ConvLayer& l, auto& made) { made.packed_floats = l.filters_size() - 1; });
  Row row = run_layer(variant, "9x7-2-3-4-3");
  CHECK(row.hazards.outcome == Outcome::bad);
  REQUIRE(!row.hazards.findings.empty());
  CHECK(row.hazards.findings.front().kind == "out_of_bounds");
  CHECK(row.hazards.findings.front().line == line_of("pack-beyond"));
  CHECK_THAT(row.hazards.reason, test::contains("packing its filters"));

  variant = packed();
  variant.also([](const ConvLayer& l, auto& made) {
    made.pack = [size = static_cast<int>(l.filters_size())](const float* filters, float* packed) {
      // The first is left out.
      return planted::pack_backwards(filters, packed + 1, size - 1);
    };
  });
  row = run_layer(variant, "9x7-2-3-4-3");
  CHECK(row.hazards.outcome == Outcome::bad);
  REQUIRE(!row.hazards.findings.empty());
  CHECK(row.hazards.findings.front().kind == "uninitialized_global_read");
  CHECK(row.hazards.findings.front().line == line_of("never-packed"));
  CHECK(row.hazards.findings.front().array == "packed filters");
}

TEST_CASE("a call that does not wait for the one before it fails the run", "[conv2d]") {
  const bool begins_next = GENERATE(true, false);  // it may come after a kernel that does
  for (const bool patient : {true, false}) {
    INFO("begins the next " << begins_next << ", patient " << patient);
    Conv2dVariant variant = variant_of("overlapping", [=](const Conv2dCall& c) {
      const planted::PlantedLayer layer = planted_layer(c.layer);
      return c.overlaps ? planted::overlapping_layer(c.input, c.filters, c.output, layer,
                                                     begins_next, patient)
                        : planted::right_layer(c.input, c.filters, c.output, layer);
    });
    variant.can_overlap = true;
    const Row row = try_variant(variant);
    CHECK(row.check.reason == "");  // one after the other they are right
    if (patient) {
      CHECK(row.hazards.outcome == Outcome::good);
      continue;
    }
    CHECK(row.hazards.outcome == Outcome::bad);
    CHECK(exit_status({row}) == 1);
    REQUIRE(!row.hazards.findings.empty());
    for (const Hazard& hazard : row.hazards.findings) {
      INFO(hazard.message);
      CHECK(hazard.kind == "unordered_launches");
      CHECK(hazard.array == "output, the next call's input");
    }
    CHECK_THAT(row.hazards.reason, test::contains("overlapped calls"));
  }
}

TEST_CASE("layers near 2^31 cells are tried with packed filters too", "[conv2d]") {
  const auto tried = [](const Conv2dVariant& variant) {
    Row row;
    Progress progress;
    const std::vector<Trial<ConvLayer>> large = {
        {conv::parse_label("1-131071-1-16384-1"), TrialOn::some_blocks}};
    check_trials(variant, *make_backend(), large, test::seed(), row, progress);
    return row.check;
  };
  const Check check = tried(packed());
  CHECK(check.reason == "");
  CHECK(check.large.tried == 1);
  Conv2dVariant much = packed();
  much.also([](const ConvLayer&, auto& made) { made.packed_floats = std::int64_t{1} << 30; });
  CHECK(tried(much).large.reason == "it has too many filters to pack");
}

TEST_CASE("a layer's traffic that was not predicted fails a strict run", "[conv2d]") {
  Conv2dVariant variant = two_kernels();
  variant.must_cost(predict_right);  // forgets the workspace
  const Row row = run_layer(variant, "9x7-2-3-4-3");
  CHECK(row.check.outcome == Outcome::good);
  CHECK(row.hazards.outcome == Outcome::good);
  CHECK(row.traffic.outcome == Outcome::bad);
  CHECK(row.traffic.reason == "layer 9x7-2-3-4-3");
  CHECK(exit_status({row}) == 0);
  CHECK(exit_status({row}, true) == 1);

  variant.must_cost(nullptr);
  CHECK(run_layer(variant, "9x7-2-3-4-3").traffic.outcome == Outcome::not_run);
  CHECK(run_layer(variant, "9x7-2-3-4-3").traffic.reason == "nobody predicted it");
}
