#include "common/convolve/split_tf32/plan.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;
using conv::ConvLayer;

TEST_CASE("split_tf32: tiles follow from the layer") {
  const gpus::GpuLimits gpu{132, 233'472, 232'448, 90};
  const auto plan = [&](const ConvLayer& layer) { return plan_split_tf32(layer, gpu); };
  // Few blocks: smaller ones. Many filters and many outputs: larger ones. Never larger than the filters need.
  CHECK(plan(ConvLayer({.C = 512, .H = 14, .W = 14, .K = 256, .R = 1, .S = 1})).tile.filters == 64);
  CHECK(plan(ConvLayer({.N = 128, .C = 512, .H = 28, .W = 28, .K = 512, .R = 1, .S = 1}))
            .tile.filters == 128);
  CHECK(plan(ConvLayer({.N = 128, .C = 512, .H = 28, .W = 28, .K = 64, .R = 1, .S = 1}))
            .tile.filters == 64);
  // Quads only of maps as they are.
  CHECK(plan(ConvLayer({.C = 5, .H = 2, .W = 6, .K = 3, .R = 1, .S = 1})).tile.at_once == 4);
  CHECK(plan(ConvLayer({.C = 5, .H = 3, .W = 3, .K = 3, .R = 1, .S = 1})).tile.at_once == 1);
  CHECK(plan(ConvLayer({.C = 5, .H = 4, .W = 4, .K = 3, .R = 1, .S = 1, .stride_w = 2}))
            .tile.at_once == 1);
  CHECK(plan(ConvLayer({.C = 5, .H = 4, .W = 4, .K = 3, .R = 1, .S = 1, .padding_h = 2}))
            .tile.at_once == 1);
  // 40 channels are three pieces; 70 filters two groups of 64.
  const SplitPlan one = plan(ConvLayer({.C = 40, .H = 9, .W = 9, .K = 70, .R = 3, .S = 3}));
  CHECK(one.pieces == 27);
  CHECK(one.packed_floats == std::int64_t{2} * 64 * 27 * 16 * 2);
  CHECK(one.blocks == 2);
  // What does not fit.
  CHECK(plan_split_tf32(ConvLayer({.C = 5, .H = 4, .W = 4, .K = 300, .R = 1, .S = 1}),
                        {8, 102'400, 101'376})
            .tile.filters == 64);
  CHECK(plan_split_tf32(ConvLayer({.C = 5, .H = 4, .W = 4, .K = 3, .R = 1, .S = 1}),
                        {8, 65'536, 65'536})
            .refusal == "a block needs 101376 bytes of shared memory, of 65536");
  CHECK(plan(ConvLayer({.C = 1, .H = 1, .W = 1, .K = 100'000'000, .R = 1, .S = 1}))
            .refusal.find("with pieces of 16 channels, are 3200000000 floats") !=
        std::string::npos);
}
