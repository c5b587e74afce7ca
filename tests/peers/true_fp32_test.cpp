// The proof of true fp32 that a way of cuDNN must pass: what passes it and what does not, on the CPU.
#include "common/peers/true_fp32.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "tests/catch.hpp"
#include "tests/conv/plain_layer.hpp"
#include "tests/conv/winograd_layer.hpp"
#include "tests/peers/tf32.hpp"

using namespace halo;
using conv::ConvLayer;
using peers::Fp32Sample;
using peers::kTrueFp32;
using test::LayerData;
using test::PlainLayer;

namespace {

// From one product an output to 4608, with and without stride and padding.
std::vector<ConvLayer> layers() {
  return {
      conv::parse_label("40-1-1-1-1"),       conv::parse_label("17x12-3-3-5-1-p0"),
      conv::parse_label("7-2-5-8-48"),       conv::parse_label("7-1-1-16-832"),
      conv::parse_label("31x29-1-7-4-3-s2"), conv::parse_label("5x6-2-3-9-512"),
  };
}

// The sample's data for the whole batch.
LayerData data_of(const ConvLayer& layer, const Fp32Sample& sample) {
  LayerData data;
  for (int n = 0; n < layer.N(); ++n) {
    data.input.insert(data.input.end(), sample.image().begin(), sample.image().end());
  }
  data.filters.assign(sample.filters().begin(), sample.filters().end());
  return data;
}

std::vector<float> outputs_of(const Fp32Sample& sample, const std::vector<float>& output) {
  std::vector<float> found;
  for (std::int64_t i = 0; i < sample.count(); ++i) {
    found.push_back(output[static_cast<std::size_t>(i * sample.step())]);
  }
  return found;
}

double error_of(const ConvLayer& layer, const Fp32Sample& sample, const LayerData& data,
                const PlainLayer& kernel = {}) {
  return sample.relative_error(outputs_of(sample, kernel.run(layer, data)));
}

// Rounded to so many bits behind the point, to nearest.
std::vector<float> rounded(std::vector<float> values, int bits) {
  for (float& value : values) {
    int exponent = 0;
    const float mantissa = std::frexp(value, &exponent);
    value = std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
  }
  return values;
}

}  // namespace

TEST_CASE("true fp32: sums of products in float pass with room to spare") {
  for (const ConvLayer& layer : layers()) {
    INFO(conv::label(layer));
    const Fp32Sample sample(layer);
    const LayerData data = data_of(layer, sample);
    CHECK(error_of(layer, sample, data) < kTrueFp32 / 8);
    CHECK(error_of(layer, sample, data, {.backward = true}) < kTrueFp32 / 8);
    CHECK(error_of(layer, sample, data, {.fused = true}) < kTrueFp32 / 8);
  }
}

TEST_CASE("true fp32: factors that were rounded to TF32 or less fail, however long the sums") {
  for (const ConvLayer& layer : layers()) {
    INFO(conv::label(layer));
    const Fp32Sample sample(layer);
    const LayerData data = data_of(layer, sample);
    const LayerData tf32{test::to_tf32(data.input), test::to_tf32(data.filters)};
    CHECK(error_of(layer, sample, tf32) > 4 * kTrueFp32);
    // One of the two is enough.
    CHECK(error_of(layer, sample, {tf32.input, data.filters}) > 4 * kTrueFp32);
    CHECK(error_of(layer, sample, {data.input, tf32.filters}) > 4 * kTrueFp32);
    const LayerData bfloat16{rounded(data.input, 7), rounded(data.filters, 7)};
    CHECK(error_of(layer, sample, bfloat16) > 4 * error_of(layer, sample, tf32));
  }
}

TEST_CASE("true fp32: the outputs' bound alone would let TF32 through") {
  // Why this proof is needed; see true_fp32.hpp.
  const ConvLayer layer = layers().back();
  const Fp32Sample sample(layer);
  const LayerData data = data_of(layer, sample);
  const std::vector<float> tf32 =
      PlainLayer{}.run(layer, {test::to_tf32(data.input), test::to_tf32(data.filters)});
  CHECK(conv::check(layer, data.input, data.filters, tf32, conv::Demand::transformed).passed());
}

TEST_CASE("true fp32: Winograd's method in float passes") {
  for (const int channels : {1, 16, 256}) {
    const ConvLayer layer(
        {.C = channels, .H = 14, .W = 14, .K = 6, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
    INFO(channels << " channels");
    const Fp32Sample sample(layer);
    const LayerData data = data_of(layer, sample);
    const double error =
        sample.relative_error(outputs_of(sample, test::WinogradLayer{}.run(layer, data)));
    CHECK(error < kTrueFp32 / 4);
    CHECK(error > error_of(layer, sample, data));
    const LayerData tf32{test::to_tf32(data.input), test::to_tf32(data.filters)};
    CHECK(sample.relative_error(outputs_of(sample, test::WinogradLayer{}.run(layer, tf32))) >
          4 * kTrueFp32);
  }
}

TEST_CASE("true fp32: wrong and missing outputs fail") {
  for (const ConvLayer& layer : layers()) {
    INFO(conv::label(layer));
    const Fp32Sample sample(layer);
    const LayerData data = data_of(layer, sample);
    CHECK(error_of(layer, sample, data, {.dropped_product = 0}) > kTrueFp32);
    CHECK_FALSE(error_of(layer, sample, data, {.unwritten = layer.output_size()}) <= kTrueFp32);
    // One that was never written among all the good ones.
    std::vector<float> found = outputs_of(sample, PlainLayer{}.run(layer, data));
    found[found.size() / 2] = conv::poison();
    CHECK_FALSE(sample.relative_error(found) <= kTrueFp32);
    found.pop_back();
    CHECK_THAT(test::message_of([&] { sample.relative_error(found); }),
               test::contains("the sample has"));
  }
}

TEST_CASE("true fp32: outputs that should all be zero must be") {
  const ConvLayer layer = conv::parse_label("1-1-1-1-1-s3-p1");
  const Fp32Sample sample(layer);
  REQUIRE(sample.count() == 1);
  CHECK(sample.relative_error(std::vector<float>{0.0f}) == 0);
  CHECK_FALSE(sample.relative_error(std::vector<float>{1e-30f}) <= kTrueFp32);
}

TEST_CASE("true fp32: with ReLU the negative outputs should be zero, and the others right") {
  for (const ConvLayer& layer : layers()) {
    INFO(conv::label(layer));
    const Fp32Sample sample(layer);
    const LayerData data = data_of(layer, sample);
    std::vector<float> found = outputs_of(sample, PlainLayer{}.run(layer, data));
    // Without ReLU they are wrong, unless none is negative.
    const bool some_negative = *std::min_element(found.begin(), found.end()) < 0;
    CHECK((sample.relative_error(found, true) > kTrueFp32) == some_negative);
    for (float& value : found) value = std::max(value, 0.0f);
    CHECK(sample.relative_error(found, true) < kTrueFp32 / 8);
    std::vector<float> tf32 = outputs_of(
        sample, PlainLayer{}.run(layer, {test::to_tf32(data.input), test::to_tf32(data.filters)}));
    for (float& value : tf32) value = std::max(value, 0.0f);
    CHECK(sample.relative_error(tf32, true) > 4 * kTrueFp32);
    found.back() = conv::poison();
    CHECK_FALSE(sample.relative_error(found, true) <= kTrueFp32);
  }
}

TEST_CASE("true fp32: the sample goes through all rows, columns and filters") {
  for (const ConvLayer& layer :
       {conv::parse_label("56-32-3-64-1"), conv::parse_label("32-1-1-16-1"),
        conv::parse_label("1x8192-4-1x3-2-2-p0"), conv::parse_label("8-1-1-2-1")}) {
    INFO(conv::label(layer));
    const Fp32Sample sample(layer);
    CHECK(sample.count() <= 1024);
    CHECK(sample.count() >= std::min<std::int64_t>(layer.output_size(), 500));
    CHECK((sample.count() - 1) * sample.step() < layer.output_size());
    CHECK(sample.count() * sample.step() >= layer.output_size());
    std::set<std::int64_t> rows, columns, filters, images;
    for (std::int64_t i = 0; i < sample.count(); ++i) {
      const std::int64_t at = i * sample.step();
      columns.insert(at % layer.Q());
      rows.insert(at / layer.Q() % layer.P());
      filters.insert(at / layer.Q() / layer.P() % layer.K());
      images.insert(at / layer.Q() / layer.P() / layer.K());
    }
    CHECK(static_cast<std::int64_t>(columns.size()) >= std::min<std::int64_t>(layer.Q(), 300));
    CHECK(static_cast<std::int64_t>(rows.size()) == layer.P());
    CHECK(static_cast<std::int64_t>(filters.size()) == layer.K());
    CHECK(static_cast<std::int64_t>(images.size()) == layer.N());
  }
}

TEST_CASE("true fp32: the data are the same each time and look normal") {
  const ConvLayer layer({.C = 8, .H = 100, .W = 100, .K = 16, .R = 3, .S = 3});
  const Fp32Sample one(layer);
  const Fp32Sample two(layer);
  CHECK(std::equal(one.image().begin(), one.image().end(), two.image().begin(), two.image().end()));
  double sum = 0;
  double squares = 0;
  for (const float cell : one.image()) {
    sum += cell;
    squares += double{cell} * cell;
  }
  const auto count = static_cast<double>(one.image().size());
  CHECK(std::fabs(sum / count) < 0.02);
  CHECK(squares / count ==
        test::Approx(4.0 / 12).epsilon(0.02));  // four uniform numbers, 1/12 each
  // Cells and taps are not the same numbers.
  CHECK_FALSE(std::equal(one.filters().begin(), one.filters().end(), one.image().begin()));
}

TEST_CASE("true fp32: libraries are told to leave TF32 alone, unless it is asked for") {
  const auto told = [] {
    const char* const value = std::getenv("NVIDIA_TF32_OVERRIDE");
    return std::string(value != nullptr ? value : "nothing");
  };
  unsetenv("NVIDIA_TF32_OVERRIDE");
  setenv("HALO_CUDNN_TF32", "1", 1);
  peers::forbid_tf32();
  CHECK(told() == "nothing");
  for (const char* other : {"0", ""}) {
    unsetenv("NVIDIA_TF32_OVERRIDE");
    setenv("HALO_CUDNN_TF32", other, 1);
    peers::forbid_tf32();
    CHECK(told() == "0");
  }
  unsetenv("HALO_CUDNN_TF32");
  setenv("NVIDIA_TF32_OVERRIDE", "1", 1);
  peers::forbid_tf32();
  CHECK(told() == "0");
}
