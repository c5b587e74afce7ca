// Exercise 02: four outputs per thread, in two orders.
//
// The kernels of stage 02 compute it too, but load each tap once an output, which the budget sees; those of
// stages 03 to 05 keep the mask or the cells in other memory than global memory.
#include "common/exercise/check.hpp"

namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kMask = 1;
constexpr int kOutputs = 4;  // of a thread

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t n = given["n"], width = given["width"], halo = (width - 1) / 2;
  for (std::int64_t j = 0; j < width; ++j) {
    const std::int64_t k = i - halo + j;
    if (k >= 0 && k < n) output.product({{kInput, k}, {kMask, j}});
  }
}

Owner owner(const Given& given, std::int64_t i) {
  const std::int64_t of_block = kOutputs * given["threads"];
  const std::int64_t place = i % of_block;
  return {i / of_block, given["step"] == 1 ? place / kOutputs : place % given["threads"]};
}

std::vector<Trait> traits(const Given& given) {
  const std::int64_t n = given["n"], threads = given["threads"];
  return {
      {"step 1", "a step of a block's threads", given["step"] == 1},
      {"lengths that are a multiple of 4", "lengths that are no multiple of 4", n % kOutputs == 0},
      {"lengths that fill their blocks", "lengths that do not fill their last block",
       n % (kOutputs * threads) == 0},
      {"a single block", "several blocks", n <= kOutputs * threads},
      {"mask 1", "masks wider than 1", given["width"] == 1},
      {"signals at least as long as the mask", "masks longer than the signal", n >= given["width"]},
  };
}

// length, mask, threads, step
const std::vector<Group> kGroups = {
    {"one full block, neighbours far apart",
     {{32, 3, 8, 8}, {128, 3, 32, 32}, {1024, 5, 256, 256}}},
    {"one full block, neighbours side by side",
     {{32, 3, 8, 1}, {128, 3, 32, 1}, {1024, 5, 256, 1}}},
    {"several blocks, and a last one that is not full",
     {{300, 3, 32, 32}, {1000, 9, 64, 64}, {257, 5, 16, 1}, {1031, 9, 128, 1}}},
    {"signals shorter than a thread's four outputs, or than the mask",
     {{1, 1, 1, 1}, {1, 3, 32, 32}, {3, 9, 32, 1}, {2, 5, 1, 1}, {9, 31, 2, 2}}},
    {"any block and any mask",
     {{131, 129, 48, 48}, {1025, 9, 1024, 1024}, {211, 63, 7, 1}, {4099, 1, 33, 33}}},
};

const Numbers kMeasured = {100'000, 9, 256, 256};

// With outputs far apart, blocks of whole warps: each thread asks for each tap once, and each warp for the cells of 32
// neighbouring outputs with each tap; those of the outputs behind the last one that has cells too.
std::int64_t warps_for_taps(const Given& given) {
  const std::int64_t threads = given["threads"];
  return ((given["n"] - 1) / (kOutputs * threads) + 1) * ((threads - 1) / 32 + 1);
}

double mask_bytes(const Given& given) { return 4 * static_cast<double>(given["width"]); }

double tap_requests(const Given& given) {
  return static_cast<double>(given["width"] * warps_for_taps(given));
}

double usual_requests(const Given& given) {
  const std::int64_t n = given["n"], width = given["width"];
  return tap_requests(given) + static_cast<double>(width * ((n - 1) / 32 + 1) + (width - 1) / 2);
}

double usual_bytes(const Given& given) {
  const std::int64_t n = given["n"], width = given["width"], halo = (width - 1) / 2;
  std::int64_t sectors = width * warps_for_taps(given);
  for (std::int64_t first = 0; first < n; first += 32) {
    for (std::int64_t d = -halo; d <= halo; ++d) {
      sectors += sectors_of_warp(
          [&](std::int64_t lane) { return first + lane + d < n ? first + lane + d : -1; });
    }
    sectors +=
        sectors_of_warp([&](std::int64_t lane) { return first + lane < n ? first + lane : -1; });
  }
  return 32 * static_cast<double>(sectors) / static_cast<double>(n);
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "02_four_outputs",
      .numbers = {"n", "width", "threads", "step"},
      .inputs = {{"input", [](const Given& given) { return given["n"]; }},
                 {"mask", [](const Given& given) { return given["width"]; }, 16}},
      .output_size = [](const Given& given) { return given["n"]; },
      .define = define,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            const long long n = 1 + draw(3000), width = 1 + 2 * draw(40), threads = 1 + draw(1024);
            return Numbers{n, width, threads, draw(2) == 0 ? 1 : threads};
          },
      .cases =
          {
              safe("no access beyond an array, and none of what nobody wrote", 20, kMemory),
          },
      .budgets =
          {
              {"each tap is loaded once for four outputs",
               18,
               kMeasured,
               {{load_requests(), 36'500 / 35'185.0 * Rule(usual_requests), usual_requests}}},
              {"neighbouring lanes load neighbouring cells",
               8,
               kMeasured,
               {{bytes_per_output(), 52 / 50.25 * Rule(usual_bytes), usual_bytes}}},
              {"everything comes from global memory",
               4,
               kMeasured,
               {{shared_requests(), 0, 0}, {constant_reads(), 0, 0}, {launches(), 1, 1}}},
          },
      // A mask in constant memory is told by its reads.
      .besides =
          {
              {stored_bytes_per_output(), 5, 4},
              {shared_bytes(), 0, 0},
              {local_bytes_per_output(), 1, 0},
              {copied_bytes(), 2 * Rule(mask_bytes), 0},
              // A tap that is handed round serves four outputs as well.
              {shuffles(), tap_requests, 0},
          },
      .questions =
          {
              // Ten blocks of eight warps.
              {"requests_per_warp", 45, 0, {10 * 1024, 9, 256, 256}, load_requests(), 80},
              {"bytes_side_by_side", 167.25, 0.5, {100'000, 9, 256, 1}, bytes_per_output()},
              {"bytes_far_apart", 50.25, 0.25, kMeasured, bytes_per_output()},
          },
      .timed = {10'000'000, 9, 256, 256},
      .owner = owner,
      .periods =
          [](const Given& given) {
            return std::vector<conv::Period>{
                {"block", kOutputs * given["threads"]}, {"thread", kOutputs}, {"warp", 32}};
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
