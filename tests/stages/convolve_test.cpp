// The dispatcher: its variant, its plans, and the function for programs of one's own.
#include "stages/convolve/convolve.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "common/conv/inputs.hpp"
#include "common/convolve/convolution.hpp"
#include "common/convolve/first_use.hpp"
#include "common/gpus/present_gpu.hpp"
#include "common/json/json.hpp"
#include "common/report/command_line.hpp"
#include "stages/convolve/measure.hpp"
#include "stages/convolve/paper_contenders.hpp"
#include "tests/catch.hpp"
#include "tests/data/files.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

namespace {

// So that several contenders are chosen.
const std::vector<ConvLayer> kLayers = {
    conv::parse_label("14-1-3-24-16"), conv::parse_label("7-1-1-64-32"),
    conv::parse_label("9x7-3-5-4-3-s2"), conv::parse_label("28-2-3-8-1")};

const convolve::Contenders& all_of(convolve::Products products) {
  return convolve::with_papers(products);
}
const std::vector<Conv2dVariant>& all_variants() {
  return all_of(convolve::Products::split_tf32).variants;
}
const std::vector<convolve::Contender>& all_contenders() {
  return all_of(convolve::Products::split_tf32).contenders;
}

std::vector<float> random_values(std::int64_t count) {
  conv::Random random(test::seed());
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.below(21)) - 10;
  return values;
}

}  // namespace

TEST_CASE("convolve: every layer is right, without hazards") {
  test::require_trials(convolve::stage());
}

TEST_CASE("convolve: what it costs is what the chosen kernel costs") {
  std::vector<ConvLayer> layers = kLayers;
  for (const char* const label :
       {"9x11-1-3-6-6-g6", "9x7-2-3-5-4-d2", "8-1-3-64-64-g2", "28-1-3-16-1-d2"}) {
    layers.push_back(conv::parse_label(label));
  }
  test::require_traffic(convolve::stage(), layers);
}

TEST_CASE("convolve: the papers' contenders say how they divide a layer") {
  const gpus::GpuLimits h200 = gpus::limits_of(gpus::built_in_gpu("h200"));
  const std::vector<convolve::Contender> all = convolve::paper_contenders();
  const auto work_of = [&](const std::string& name, const char* label) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const convolve::Contender& one) {
      return one.variant == name;
    });
    REQUIRE(at != all.end());
    const ConvLayer layer = conv::parse_label(label);
    const convolve::Offer offer = at->offer(layer, h200);
    REQUIRE(offer.refusal.empty());
    return offer.work;
  };
  const convolve::LaunchWork direct = work_of("filter_group", "56-2-3-64-16");
  CHECK(direct.blocks == 2 * 7 * 2 * 8);  // tiles of 8 rows and 32 columns, 8 filters
  CHECK(direct.resident == 8);
  CHECK(direct.steps == 144);
  CHECK(work_of("two_stage", "56-1-1-64-16").launches == 1);
  CHECK(work_of("two_stage", "56-1-3-64-16").launches == 2);
  CHECK(work_of("stride_fixed_32", "56-1-3-64-16").steps == 18);
  CHECK(work_of("stride_fixed_64", "56-1-3-64-16").steps == 9);
}

TEST_CASE("convolve: contenders have variants, take what they say, and every rule knows them") {
  test::usable_backend();
  const auto& contenders = all_contenders();
  REQUIRE(contenders.size() == all_variants().size());
  std::set<std::string> names;
  const gpus::GpuLimits limits = gpus::present_limits();
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const Conv2dVariant& variant = all_variants()[i];
    INFO(variant.name);
    CHECK(variant.name == contenders[i].variant);
    CHECK(names.insert(variant.name).second);
    for (const ConvLayer& layer : adversarial<ConvLayer>(test::seed())) {
      INFO(conv::label(layer));
      // Who says it takes a layer runs it; the variant may be tried with more than is worth choosing it for.
      const auto& [why_not, work] = contenders[i].offer(layer, limits);
      if (!why_not.empty()) continue;
      CHECK(refusal(variant, layer) == "");
      CHECK(work.blocks >= 1);
      CHECK(work.resident >= 1);
      CHECK(work.steps >= 1);
    }
  }
  for (const convolve::ConvolutionRule& rule : convolve::known_rules()) {
    for (const convolve::CostModel& model : rule.models) CHECK(names.contains(model.variant));
    for (const convolve::BestOfLayer& layer : rule.layers) CHECK(names.contains(layer.variant));
  }
}

TEST_CASE("convolve: layers with groups or dilation that nobody measured have what suits them") {
  const gpus::GpuLimits h200 = gpus::limits_of(gpus::built_in_gpu("h200"));
  const convolve::ConvolutionRule& rule = convolve::rule_for("NVIDIA H200");
  const auto chosen = [&](const char* label) {
    const std::vector<convolve::Candidate> all = convolve::candidates(
        rule, all_contenders(), conv::parse_label(label), {"NVIDIA H200", h200});
    for (const convolve::Candidate& one : all) {
      INFO(label << ", " << one.contender->variant);
      CHECK((one.us >= 0 || !one.offer.refusal.empty()));
      CHECK_FALSE(one.measured);
    }
    const std::string& name = all.front().contender->variant;
    return name.substr(0, name.find('_'));
  };
  CHECK(chosen("20-1-3-100-100-g100") == "grouped");
  CHECK(chosen("20-32-3-100-100-g100") == "grouped");
  CHECK(chosen("40-32-3-64-64-s2-g64") == "grouped");
  CHECK(chosen("28-32-3-160-160-g20") == "grouped");
  CHECK(chosen("30-1-3-64-64-d2") == "plain");
  CHECK(chosen("30-32-3-64-64-d2") == "plain");
  CHECK(chosen("26-32-3-256-256-g2") == "winograd");
  CHECK(chosen("20-1-1-120-240-g3") == "pointwise");
}

TEST_CASE("convolve: kernels with clusters refuse an older GPU, and others take the layer") {
  const gpus::GpuLimits old = gpus::limits_of(gpus::built_in_gpu("v100"));
  REQUIRE(old.capability == 70);
  for (const ConvLayer& layer : kLayers) {
    INFO(conv::label(layer));
    int takes = 0, too_old = 0;
    for (const convolve::Contender& contender : all_contenders()) {
      const std::string refusal = contender.offer(layer, old).refusal;
      const bool is_too_old = refusal == "it needs compute capability 9.0, the GPU has 7.0";
      for (const char* name :
           {"register_tile_", "winograd_2x2", "winograd_4x4", "pointwise_", "gemm_"}) {
        if (contender.variant.starts_with(name)) CHECK(is_too_old);
      }
      too_old += is_too_old ? 1 : 0;
      takes += refusal.empty() ? 1 : 0;
    }
    CHECK(too_old > 0);
    CHECK(takes > 0);
  }
}

TEST_CASE("convolve: blocks are those that are launched") {
  const auto backend = test::counting_backend();
  const gpus::GpuLimits limits = gpus::present_limits();
  for (std::size_t i = 0; i < all_variants().size(); ++i) {
    const Conv2dVariant& variant = all_variants()[i];
    INFO(variant.name);
    for (const ConvLayer& layer : kLayers) {
      INFO(conv::label(layer));
      const auto& [why_not, work] = all_contenders()[i].offer(layer, limits);
      if (!why_not.empty()) continue;
      const std::vector<LaunchFigures> launches = variant.prepared(layer).cost().launches;
      std::uint64_t all = 0;
      for (const LaunchFigures& alike : launches) all += alike.launches;
      CHECK(static_cast<int>(all) == work.launches);
      CHECK(std::any_of(launches.begin(), launches.end(), [&](const LaunchFigures& alike) {
        return static_cast<double>(alike.blocks) == work.blocks;
      }));
    }
  }
}

TEST_CASE("convolve: the row says what it runs as, and the plan why") {
  test::usable_backend();
  const Conv2dStage stage = convolve::stage();
  const Conv2dVariant& variant = test::variant_of(stage, "convolve");
  CHECK(variant.chooses_from.size() == all_of(convolve::Products::fp32).variants.size());
  for (const ConvLayer& layer : kLayers) {
    const std::string name = variant.prepared(layer).runs_as();
    CHECK(std::find(variant.chooses_from.begin(), variant.chooses_from.end(), name) !=
          variant.chooses_from.end());
    const std::string plan = stage.plan(layer, "");
    CHECK_THAT(plan, test::contains("* " + name));
    CHECK_THAT(stage.plan(layer, "h200"), test::contains("on NVIDIA H200, 132 SMs"));
    CHECK_THAT(stage.plan(layer, "v100"), test::contains("another GPU, so its models decide"));
  }
  CHECK_THROWS_AS(stage.plan(kLayers[0], "nosuch"), std::invalid_argument);
}

TEST_CASE("convolve: where each call packs, its time counts") {
  test::usable_backend();
  using convolve::Choice, convolve::Epilogue, convolve::Calls, convolve::Products;
  const std::string gpu = gpus::present_gpu().name;
  if (!convolve::counts_on(convolve::rule_for(gpu), gpu)) test::skip("no rule is of a " + gpu);
  const convolve::Contenders& all = all_of(Products::fp32);
  const auto name_of = [&](const char* label, Calls calls) {
    return convolve::chosen(conv::parse_label(label), all, Epilogue::none, Choice::rule, calls)
        ->name;
  };
  // Half as long as the kernel.
  CHECK_THAT(name_of("27-1-1-192-48", Calls::packed), test::contains("gemm_32"));
  CHECK(name_of("27-1-1-192-48", Calls::packing) == "unpacked_gemm");
  // Where it is next to nothing the fastest stays.
  CHECK(name_of("224-256-3-64-64", Calls::packing) == name_of("224-256-3-64-64", Calls::packed));
  // Of a layer that nobody has measured, by its bytes.
  CHECK_THAT(name_of("26-1-1-180-44", Calls::packed), test::contains("gemm_32"));
  CHECK(name_of("26-1-1-180-44", Calls::packing) == "unpacked_gemm");
}

// Whether the first kernel of a call may begin before the launch before it has ended.
bool begins_early(cudaStream_t stream, const std::function<int()>& launch) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr;
  std::size_t one = 1;
  cudaLaunchAttributeValue value = {};
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  CHECK(launch() == cudaSuccess);
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphGetRootNodes(graph, &first, &one) == cudaSuccess);
  REQUIRE(cudaGraphKernelNodeGetAttribute(first, cudaLaunchAttributeProgrammaticStreamSerialization,
                                          &value) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  return value.programmaticStreamSerializationAllowed != 0;
}

TEST_CASE("Convolution: packs once, launches on any stream, and gives the reference's outputs") {
  const auto backend = test::usable_backend();
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  using convolve::Choice, convolve::Epilogue, convolve::Calls, convolve::Products;
  std::vector<std::pair<ConvLayer, Calls>> cases;
  for (const ConvLayer& layer : kLayers) {
    for (const Calls calls : {Calls::packed, Calls::packing, Calls::overlapping}) {
      cases.emplace_back(layer, calls);
    }
  }
  for (const auto& [layer, calls] : cases) {
    INFO(conv::label(layer));
    const Convolution convolution(layer, Products::fp32, Epilogue::none, Choice::rule, calls);
    const auto its =
        convolve::variant(Products::fp32, Epilogue::none, Choice::rule, calls).prepared(layer);
    CHECK(convolution.layer() == layer);
    CHECK(convolution.kernel() == its.runs_as());
    const bool packs = convolution.packed_floats() > 0;
    CHECK((packs || calls == Calls::packing));
    const auto size = [](std::int64_t floats) { return static_cast<std::size_t>(floats); };
    Array input(*backend, size(layer.input_size())), filters(*backend, size(layer.filters_size()));
    Array output(*backend, size(layer.output_size()));
    Array packed(*backend, size(std::max<std::int64_t>(convolution.packed_floats(), 1)));
    Array workspace(*backend, size(std::max<std::int64_t>(convolution.workspace_floats(), 1)));
    const std::vector<float> cells = random_values(layer.input_size());
    const std::vector<float> taps = random_values(layer.filters_size());
    input.write(cells);
    filters.write(taps);
    const Observation before =
        backend->run([&] { return convolution.pack(filters.data(), packed.data()); });
    CHECK(before.error == "");
    CHECK(before.hazards.empty());
    if (packs) filters.poison();  // nobody needs them any more
    const float* const given = packs ? packed.data() : filters.data();
    // Whole numbers come out exactly but of a transform.
    const conv::LayerChecker checker(
        layer, cells, taps, its.demand == conv::Demand::bounded ? conv::Demand::exact : its.demand);
    for (void* const on : {static_cast<void*>(nullptr), static_cast<void*>(stream)}) {
      output.poison();
      const Observation seen = backend->run([&] {
        const int error =
            convolution.launch(input.data(), given, output.data(), workspace.data(), on);
        // Nothing of it may be on another stream.
        cudaStreamSynchronize(static_cast<cudaStream_t>(on));
        return error;
      });
      CHECK(seen.error == "");
      CHECK(seen.hazards.empty());
      std::vector<float> found(output.size());
      output.read(found);
      const conv::Comparison comparison = checker.judge(0, found);
      INFO(comparison.describe());
      CHECK(comparison.passed());
    }
    CHECK(packed.stray_write("packed") == "");
    CHECK(workspace.stray_write("workspace") == "");
    if (backend->observes()) {  // a GPU's graph has edges of its own for it
      INFO(convolve::word_for(calls));
      CHECK(begins_early(stream, [&] {
              return convolution.launch(input.data(), given, output.data(), workspace.data(),
                                        stream);
            }) == (calls == Calls::overlapping));
    }
  }
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("Convolution: adds a bias and applies ReLU where it was made for that") {
  const auto backend = test::usable_backend();
  for (const ConvLayer& layer : kLayers) {
    INFO(conv::label(layer));
    using convolve::Choice, convolve::Epilogue, convolve::Products;
    const Convolution plain(layer, Products::fp32, Epilogue::none, Choice::rule),
        fused(layer, Products::fp32, Epilogue::bias_relu, Choice::rule);
    const auto size = [](std::int64_t floats) { return static_cast<std::size_t>(floats); };
    Array input(*backend, size(layer.input_size())), filters(*backend, size(layer.filters_size()));
    Array bias(*backend, size(layer.K())), output(*backend, size(layer.output_size()));
    Array packed(*backend, size(fused.packed_floats()));
    Array workspace(*backend, size(std::max<std::int64_t>(fused.workspace_floats(), 1)));
    input.write(random_values(layer.input_size()));
    filters.write(random_values(layer.filters_size()));
    REQUIRE(backend->run([&] { return fused.pack(filters.data(), packed.data()); }).error == "");
    std::vector<float> biases(size(layer.K()));
    for (std::size_t k = 0; k < biases.size(); ++k) biases[k] = static_cast<float>(k % 7) - 3;
    bias.write(biases);
    const auto outputs_of = [&](auto launch) {
      output.poison();
      const Observation seen = backend->run(launch);
      CHECK(seen.error == "");
      CHECK(seen.hazards.empty());
      std::vector<float> found(output.size());
      output.read(found);
      return found;
    };
    const std::vector<float> sums = outputs_of(
        [&] { return fused.launch(input.data(), packed.data(), output.data(), workspace.data()); });
    const std::vector<float> after = outputs_of([&] {
      return fused.launch(input.data(), packed.data(), bias.data(), true, output.data(),
                          workspace.data());
    });
    // Both are rounded sums of the same products.
    const std::size_t map = size(std::int64_t{layer.P()} * layer.Q());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const float expected = std::max(sums[i] + biases[i / map % biases.size()], 0.0f);
      REQUIRE(std::fabs(after[i] - expected) <= 1e-3f);
    }
    CHECK(plain.launch(input.data(), packed.data(), bias.data(), true, output.data(),
                       workspace.data()) == cudaErrorNotSupported);
  }
}

TEST_CASE("convolve: contenders launch on the call's stream, and need no filters but packed ones") {
  const auto backend = test::counting_backend();
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  const gpus::GpuLimits limits = gpus::present_limits();
  for (std::size_t i = 0; i < all_variants().size(); ++i) {
    const Conv2dVariant& variant = all_variants()[i];
    INFO(variant.name);
    const auto takes = [&](const ConvLayer& layer) {
      return all_contenders()[i].offer(layer, limits).refusal.empty();
    };
    std::vector<ConvLayer> layers = adversarial<ConvLayer>(test::seed());
    layers.push_back(
        conv::parse_label("6-1-5-9-64"));  // for who divides the channels of larger filters
    layers.push_back(conv::parse_label("7-1-3-4-4-d2"));  // for who takes no plain one
    const auto layer = std::find_if(layers.begin(), layers.end(), takes);
    REQUIRE(layer != layers.end());
    const auto prepared = variant.prepared(*layer);
    const auto some = [](std::int64_t floats) {
      return static_cast<std::size_t>(std::max<std::int64_t>(floats, 1));
    };
    Array input(*backend, static_cast<std::size_t>(layer->input_size()));
    Array filters(*backend, static_cast<std::size_t>(layer->filters_size()));
    Array output(*backend, static_cast<std::size_t>(layer->output_size()));
    Array packed(*backend, some(prepared.packed_floats));
    Array workspace(*backend, some(prepared.workspace_floats));
    input.write(random_values(layer->input_size()));
    filters.write(random_values(layer->filters_size()));
    Conv2dCall call{*layer, input.data(), filters.data(), output.data(), workspace.data()};
    call.stream = stream;
    if (prepared.packed_floats > 0) {
      REQUIRE(
          backend->run([&] { return prepared.pack(filters.data(), packed.data()); }).error.empty());
      call.filters = nullptr;
      call.packed = packed.data();
    }
    // Whoever waits for the default stream only has not waited for it.
    const Observation seen = backend->run([&] { return prepared.launch(call); });
    CHECK(seen.error == "");
    CHECK(!seen.hazards.empty());
    cudaStreamSynchronize(stream);
  }
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("first use: the fastest of the contenders that are expected to be fast, by their times") {
  test::usable_backend();
  const ConvLayer layer = conv::parse_label("14-1-3-24-16");
  for (const auto products : {convolve::Products::fp32, convolve::Products::split_tf32}) {
    const std::vector<convolve::Ranked> ranked = convolve::ranked(layer, all_of(products));
    REQUIRE(ranked.size() > convolve::kMeasuredAtFirstUse);
    CHECK(ranked.front().variant == convolve::chosen(layer, all_of(products)));
    std::vector<std::string> asked;
    const auto last_is_fastest = [&](const Conv2dVariant& one, double best) {
      if (!asked.empty()) CHECK(best == 100 - static_cast<double>(asked.size()));
      asked.push_back(one.name);
      return std::optional(100 - static_cast<double>(asked.size()));
    };
    const auto [fastest, us] = convolve::fastest_of(ranked, last_is_fastest);
    CHECK(std::ssize(asked) >= convolve::kMeasuredAtFirstUse);
    CHECK(std::ssize(asked) <= 2 * convolve::kMeasuredAtFirstUse);
    CHECK(fastest->name == asked.back());
    CHECK(us == 100 - static_cast<double>(asked.size()));
    const auto none_can_be_run = [](const Conv2dVariant&, double) {
      return std::optional<double>();
    };
    CHECK(convolve::fastest_of(ranked, none_can_be_run).first == nullptr);
  }
}

TEST_CASE("first use: a file keeps what was measured, and one that is none is as an empty one") {
  const test::Folder folder;
  const std::string file = folder / "cache/halo/a_gpu.json";
  using convolve::Epilogue, convolve::FirstUses, convolve::Calls, convolve::Products;
  const ConvLayer one = conv::parse_label("14-1-3-24-16"), two = conv::parse_label("7-1-1-64-32");
  FirstUses uses(file);
  CHECK(uses.fastest(one, Products::fp32, Epilogue::none, Calls::packed) == "");
  CHECK(uses.keep(one, Products::fp32, Epilogue::none, Calls::packed, "slow", 3));
  CHECK(uses.keep(one, Products::split_tf32, Epilogue::none, Calls::packed, "split", 2));
  // Another process, which has read before this one writes.
  FirstUses other(file);
  CHECK(uses.keep(one, Products::fp32, Epilogue::none, Calls::packed, "quick", 1.5));
  CHECK(other.keep(two, Products::fp32, Epilogue::bias_relu, Calls::packed, "with_bias", 4));
  for (const FirstUses& its : {FirstUses(file), other}) {
    CHECK(its.fastest(one, Products::fp32, Epilogue::none, Calls::packed) == "quick");
    CHECK(its.fastest(one, Products::split_tf32, Epilogue::none, Calls::packed) == "split");
    CHECK(its.fastest(two, Products::fp32, Epilogue::bias_relu, Calls::packed) == "with_bias");
    CHECK(its.fastest(two, Products::fp32, Epilogue::none, Calls::packed) == "");
  }
  for (const char* text : {"", "{", "[1]", R"({"version": 0, "layers": []})",
                           R"({"version": 1, "layers": [{"layer": "14-1-3-24-16"}]})"}) {
    INFO(text);
    folder.write("broken.json", text);
    FirstUses broken(folder / "broken.json");
    CHECK(broken.fastest(one, Products::fp32, Epilogue::none, Calls::packed) == "");
    CHECK(broken.keep(one, Products::fp32, Epilogue::none, Calls::packed, "quick", 1));
    CHECK(FirstUses(folder / "broken.json")
              .fastest(one, Products::fp32, Epilogue::none, Calls::packed) == "quick");
  }
  folder.write("a_file", "");
  CHECK(!FirstUses(folder / "a_file/below.json")
             .keep(one, Products::fp32, Epilogue::none, Calls::packed, "x", 1));
  CHECK(!FirstUses("").keep(one, Products::fp32, Epilogue::none, Calls::packed, "x", 1));
}

TEST_CASE(
    "first use: on a GPU the second process has the first one's choice; the simulator the rule's") {
  const auto backend = test::usable_backend();
  const test::Folder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const std::string file = convolve::first_uses_file(gpus::present_gpu().name);
  CHECK(file.starts_with(folder.path() + "/halo/convolve_"));
  const ConvLayer layer = conv::parse_label("23x19-3-3-40-24");
  using convolve::Choice, convolve::Epilogue, convolve::Calls, convolve::Products;
  const Convolution measured(layer);
  CHECK(std::filesystem::exists(file) == backend->times());
  if (backend->times()) {
    CHECK(convolve::FirstUses(file).fastest(layer, Products::fp32, Epilogue::none, Calls::packed) ==
          measured.kernel());
  } else {
    CHECK(measured.kernel() == convolve::chosen(layer, convolve::library(Products::fp32))->name);
  }
}

TEST_CASE("measure: the times of results files, with the terms of each contender's model") {
  const test::Folder folder;
  const auto measure = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "measure");
    return convolve::measure(static_cast<int>(arguments.size()), arguments.data());
  };
  const std::string recorded =
      std::string(HALO_SOURCE_ROOT) + "/docs/results/bench_chang_onishi_multi.json";
  const std::string out = folder / "samples.json";
  const auto layers_of = [&] {
    std::set<std::string> layers;
    const auto samples = json::Value::parse(test::bytes_of(out));
    for (const json::Value& sample : samples.at("samples").elements()) {
      layers.insert(sample.elements().at(0).get<std::string>());
    }
    return layers;
  };
  CHECK(measure({"--from", recorded.c_str(), "--out", out.c_str()}) == 0);
  const auto samples = json::Value::parse(test::bytes_of(out));
  CHECK(samples.get<std::string>("gpu") == "NVIDIA H200");
  CHECK(samples.get<int>("multiprocessors") == 132);
  CHECK_THAT(samples.get<std::string>("command"),
             test::contains("halo bench conv2d chang_onishi_multi"));
  CHECK(samples.get<std::string>("date").starts_with("20"));
  CHECK(samples.at("contenders").elements().size() == all_contenders().size());
  CHECK(layers_of().size() == 27);
  const gpus::GpuLimits h200 = gpus::limits_of(gpus::built_in_gpu("h200"));
  for (const json::Value& sample : samples.at("samples").elements()) {
    const auto& fields = sample.elements();
    const auto its = std::find_if(all_contenders().begin(), all_contenders().end(),
                                  [&](const convolve::Contender& one) {
                                    return one.variant == fields.at(2).get<std::string>();
                                  });
    REQUIRE(its != all_contenders().end());
    const ConvLayer layer = conv::parse_label(fields.at(0).get<std::string>());
    CHECK(fields.at(1).get<std::string>() == conv::label(layer.with_batch(1)));
    CHECK(fields.at(3).get<double>() > 0);
    CHECK(fields.at(4).get<convolve::CostTerms>() == cost_terms(its->offer(layer, h200).work, 132));
  }
  CHECK_THROWS_AS(measure({"--out", out.c_str()}), UsageError);
  CHECK_THROWS_AS(measure({"--from", recorded.c_str()}), UsageError);
  CHECK_THROWS_AS(measure({"--from", "a", "--times", "b", "--out", out.c_str()}), UsageError);
  for (const char* number : {"1", "-2", "x"}) {
    CHECK_THROWS_AS(measure({"--from", "a", "--out", out.c_str(), "--nearest", number}),
                    UsageError);
  }
  CHECK_THROWS_AS(
      measure({"--from", "a", "--out", out.c_str(), "--nearest", "3", "--contender", "fourier_16"}),
      UsageError);
  // A layer is read before a GPU is looked for.
  CHECK_THROWS_AS(measure({"--times", "t", "--out", out.c_str(), "--layer", "14-1-1"}),
                  std::invalid_argument);
  const std::string none = folder / "none.json";
  CHECK_THROWS_AS(measure({"--from", none.c_str(), "--out", out.c_str()}), data::DataError);
  // The simulator has no times; a GPU measures the few layers that are asked for.
  const std::string times = folder / "times.json";
  const int status = measure({"--times", times.c_str(), "--out", out.c_str(), "--set",
                              "chang_onishi_multi", "--batch", "1"});
  const auto backend = test::usable_backend();
  CHECK(status == (backend->times() ? 0 : 77));
  if (status != 0) return;
  CHECK(layers_of().size() == 27);
  REQUIRE(measure({"--times", times.c_str(), "--out", out.c_str(), "--layer",
                   "14-2-1-24-16,13-2-5-8-3-s2-p0", "--batch", "1,3"}) == 0);
  CHECK(layers_of() == std::set<std::string>{"14-1-1-24-16", "14-3-1-24-16", "13-1-5-8-3-s2-p0",
                                             "13-3-5-8-3-s2-p0"});
}
