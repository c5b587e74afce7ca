// The variants of stage 09.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "common/convolve/implicit_gemm/implicit_gemm.hpp"
#include "common/convolve/pointwise/pointwise.hpp"
#include "common/convolve/split_tf32/split_tf32.hpp"
#include "common/convolve/warpgroup/warpgroup.hpp"
#include "common/gpus/present_gpu.hpp"
#include "stages/09_cuconv_two_stage/costs.hpp"
#include "stages/09_cuconv_two_stage/two_stage.hpp"

namespace halo::cuconv_two_stage {

// At the ends of 3_gemm_tile.cu and 4_three_products.cu.
LayerKernel gemm_tile();
LayerKernel three_products();

namespace {

using conv::ConvLayer;

constexpr const char* kSplitName = "two_stage";
constexpr const char* kSimpleName = "two_stage_simple";

// Bytes of temporaries that small layers need more of: of some not all filters fit, of some not all
// products of one.
constexpr std::int64_t kLimitedTemporaries = 8192;

int products_of_row(const ConvLayer& layer) { return layer.N() * layer.P() * layer.Q(); }

Chunks chunks_of(const ConvLayer& layer, std::int64_t cap) {
  return chunk_temporaries(layer.K(), products_of_row(layer), layer.R() * layer.S(), cap);
}

std::string refuses(const ConvLayer& layer) {
  if (layer.C() <= kMaxChannels) return {};
  return "a filter row of " + std::to_string(layer.C()) +
         " channels does not fit the shared memory of a block (at most " +
         std::to_string(kMaxChannels) + ")";
}

std::string bytes_in_words(std::int64_t bytes) {
  char text[32];
  const char* unit = bytes >= 1'000'000'000 ? "GB" : bytes >= 1'000'000 ? "MB" : "kB";
  const double scale = bytes >= 1'000'000'000 ? 1e9 : bytes >= 1'000'000 ? 1e6 : 1e3;
  std::snprintf(text, sizeof text, "%.1f %s", bytes / scale, unit);
  return text;
}

std::string count_of(std::int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// "1728 blocks of 64 threads; temporaries 0.3 MB", "...; temporaries 3.2 GB in 4 chunks of 96
// filters". The division is that of the first chunk.
std::string detail(const ConvLayer& layer, Rows rows, const Chunks& chunks) {
  const int taps = layer.R() * layer.S();
  const std::int64_t filter_rows = std::int64_t{taps} * chunks.filters;
  const Division division =
      divide(rows, chunks.products, static_cast<int>(filter_rows), multiprocessors());
  std::string text = count_of(filter_rows * division.blocks, "block") + " of " +
                     std::to_string(division.threads) + " threads";
  if (taps == 1) return text + "; one kernel, no temporaries";
  text += "; temporaries " + bytes_in_words(chunks.whole_bytes);
  if (chunks.count > 1) {
    text += " in " + count_of(chunks.count, "chunk") + " of " + count_of(chunks.filters, "filter");
    if (chunks.products < products_of_row(layer)) {
      text += " and " + count_of(chunks.products, "product") + " of each row";
    }
  }
  return text;
}

Conv2dVariant variant_of(const std::string& name, const std::string& description, Rows rows,
                         std::int64_t cap) {
  Conv2dVariant v;
  v.name = name;
  v.source = "stages/09_cuconv_two_stage/1_scalar_products.cu";
  v.description = description;
  v.plans = true;
  v.tiles = [](const ConvLayer&) { return std::vector<TileSizes>{{.cells = kMaxThreads}}; };
  v.prepare = [rows, cap](const ConvLayer& layer) {
    Prepared<ConvLayer> made;
    made.published = [layer] { return printed_by_cuconv(layer); };
    made.refusal = refuses(layer);
    if (!made.refusal.empty()) return made;
    const Chunks chunks = chunks_of(layer, cap);
    made.workspace_floats = chunks.floats;
    made.launch = [rows, chunks](const Conv2dCall& c) {
      return two_stage(kernel_call(c), rows, chunks);
    };
    made.cost = [layer, rows, cap] { return predict(layer, rows, multiprocessors(), cap); };
    made.detail = [layer, rows, chunks] { return detail(layer, rows, chunks); };
    return made;
  };
  return v;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", whole == 0 ? 0 : 100.0 * part / whole);
  return text;
}

// What --plan prints of a layer: the division and how the reads of the input fall.
std::string plan(const ConvLayer& layer, const std::string& gpu, std::int64_t cap) {
  if (!gpu.empty()) {
    throw std::invalid_argument(
        "stage 09 plans for the present device only, of which it needs the number of "
        "multiprocessors; in the simulator SIMT_GPU chooses it");
  }
  if (const std::string reason = refuses(layer); !reason.empty()) {
    throw std::invalid_argument(reason);
  }
  const int taps = layer.R() * layer.S();
  std::string text = conv::label(layer) + ": " +
                     count_of(std::int64_t{taps} * layer.K(), "filter row") + " of " +
                     count_of(layer.C(), "channel") + ", each with " +
                     count_of(products_of_row(layer), "product") + "; " +
                     count_of(multiprocessors(), "multiprocessor") + "\n";
  text += std::string("  ") + kSplitName + ": " +
          detail(layer, Rows::split, chunks_of(layer, cap)) + "\n";
  text += std::string("  ") + kSimpleName + ": " +
          detail(layer, Rows::one_block, chunks_of(layer, cap)) + "\n";
  const InputReads reads = input_reads(layer, cap);
  char sectors[16];
  std::snprintf(sectors, sizeof sectors, "%.2f",
                reads.requests == 0 ? 0 : static_cast<double>(reads.sectors) / reads.requests);
  text += "  input, either way: " + count_of(reads.requests, "request") + " of " + sectors +
          " sectors; " + percent(reads.rows_crossed, reads.requests) + " cross the end of a row, " +
          percent(reads.images_crossed, reads.requests) + " that of an image\n";
  return text;
}

}  // namespace

void add_variants(Conv2dStage& stage, std::int64_t cap) {
  const auto add = [&](const char* name, const char* description, Rows rows) {
    Conv2dVariant variant = variant_of(name, description, rows, cap);
    variant.limited = std::make_shared<Conv2dVariant>(
        variant_of(name, description, rows, std::min(cap, kLimitedTemporaries)));
    stage.variants.push_back(std::move(variant));
  };
  add(kSplitName, "a thread per product, rows split over blocks; then the sum over the taps",
      Rows::split);
  add(kSimpleName, "the same, one block a filter row", Rows::one_block);
  stage.plan = [cap](const ConvLayer& layer, const std::string& gpu) {
    return plan(layer, gpu, cap);
  };
}

void complete(Conv2dStage& stage) {
  add_variants(stage, kTemporariesCap);
  stage.variants.push_back(convolve::split_tf32());
  stage.variants.push_back(convolve::warpgroup());
  stage.variants.push_back(convolve::pointwise());
  stage.variants.push_back(convolve::implicit_gemm());
  add(stage, "gemm_tile", "stages/09_cuconv_two_stage/3_gemm_tile.cu", gemm_tile());
  stage.variants.back().must_cost(predict_gemm_tile);
  stage.variants.back().refuses(
      [](const ConvLayer&) { return gpus::too_old(gpus::present_limits(), gpus::kWithClusters); });
  add(stage, "three_products", "stages/09_cuconv_two_stage/4_three_products.cu", three_products());
  stage.variants.back().must_cost(predict_three_products);
  stage.variants.back().refuses(
      [](const ConvLayer&) { return gpus::too_old(gpus::present_limits(), gpus::kWithTf32); });
  for (const std::vector<Conv2dVariant>& method :
       {convolve::split_tf32_of_each_tile(), convolve::warpgroup_of_each_tile(),
        convolve::pointwise_of_each_tile(), convolve::implicit_gemm_of_each_plan()}) {
    stage.searched.insert(stage.searched.end(), method.begin(), method.end());
  }
}

}  // namespace halo::cuconv_two_stage
