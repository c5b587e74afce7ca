// Tensor cores: who holds which number, what is rounded where, who must take part, what is counted; and
// the loads and stores of their matrices.
#include "kernels/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "common/simt/simulator.hpp"
#include "kernels/matrices.hpp"
#include "launches.hpp"
#include "markers.hpp"
#include "tests/catch.hpp"

namespace {

using halo::test::contains;

constexpr const char* kFile = "tensor.cu";

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(engine);
  return values;
}

simt::Launch run(const std::string& name, int* error = nullptr) {
  for (const tensor::Case& one : tensor::cases()) {
    if (one.name != name) continue;
    simt::simulator()->take_launches();
    const int its = one.run();
    if (error) *error = its;
    return simt::simulator()->take_launches().back();
  }
  throw std::runtime_error("no case " + name);
}

// Of the sums of magnitudes, the greatest part that a result is wrong by.
double worst_error(int depth, const std::vector<float>& a, const std::vector<float>& b,
                   const std::vector<float>& d) {
  double worst = 0;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      double sum = 0, magnitudes = 0;
      for (int k = 0; k < depth; ++k) {
        const double product = double{a[static_cast<std::size_t>(row * depth + k)]} *
                               double{b[static_cast<std::size_t>(column * depth + k)]};
        sum += product;
        magnitudes += std::abs(product);
      }
      const double got = d[static_cast<std::size_t>(row * 8 + column)];
      worst = std::max(worst, std::abs(got - sum) / magnitudes);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("a warp's mma multiplies matrices, and ignores the last 13 bits", "[tensor]") {
  const int depth = GENERATE(8, 4);
  const unsigned garbage = GENERATE(0u, 0x1fffu);
  INFO("depth " << depth);
  std::mt19937 engine(3);
  const auto whole = [&](std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(static_cast<int>(engine() % 31) - 15);
    return values;
  };
  const auto size = static_cast<std::size_t>(depth);
  const std::vector<float> a = whole(16 * size), b = whole(8 * size), c = whole(128);
  const auto registers = [&](const std::vector<float>& values) {
    std::vector<std::uint32_t> all;
    for (const float value : values) all.push_back(bits(value) | garbage);
    return all;
  };
  simt::simulator()->take_launches();
  const std::vector<float> d = tensor::multiply(depth, registers(a), registers(b), c);
  REQUIRE(d.size() == 128);
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      float sum = c[row * 8 + column];
      for (std::size_t k = 0; k < size; ++k) sum += a[row * size + k] * b[k * 8 + column];
      INFO(row << ", " << column);
      CHECK(d[row * 8 + column] == sum);
    }
  }
  const std::vector<simt::Launch> launches = simt::simulator()->take_launches();
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].findings.empty());
  CHECK(launches[0].tensor_instructions == 1);
}

TEST_CASE("cvt.rna rounds to 10 bits, ties away from zero", "[tensor]") {
  const float unit = std::ldexp(1.0f, -10), infinity = std::numeric_limits<float>::infinity();
  const float greatest = std::numeric_limits<float>::max();
  const std::vector<std::pair<float, float>> cases = {
      {0.0f, 0.0f},
      {-0.0f, -0.0f},
      {1 + unit, 1 + unit},
      {1 + unit * 0.4999f, 1},
      {1 + unit * 0.5f, 1 + unit},
      {-1 - unit * 0.5f, -1 - unit},
      {1 + unit * 1.5f, 1 + 2 * unit},
      {2 - unit * 0.5f, 2},
      {1e-40f, std::bit_cast<float>((bits(1e-40f) + 0x1000) & ~0x1fffu)},
      {greatest, infinity},
      {-infinity, -infinity},
  };
  std::vector<float> in;
  for (const auto& [value, expected] : cases) in.push_back(value);
  in.push_back(std::nanf(""));
  const std::vector<std::uint32_t> out = tensor::rounded(in);
  REQUIRE(out.size() == in.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO(cases[i].first);
    CHECK(out[i] == bits(cases[i].second));
  }
  CHECK(std::isnan(std::bit_cast<float>(out.back())));
}

TEST_CASE("3xTF32 is as exact as float, TF32 by itself is not", "[tensor]") {
  constexpr int kDepth = 256;
  const std::vector<float> a = random_floats(16 * kDepth, 1), b = random_floats(8 * kDepth, 2);
  const auto error = [&](bool three) {
    const std::vector<float> d = tensor::multiply_deep(kDepth, three, a, b);
    REQUIRE(d.size() == 128);
    return worst_error(kDepth, a, b, d);
  };
  simt::simulator()->take_launches();
  // Each of the 32 steps cuts off less than 2^-23 of the sum so far, three times.
  CHECK(error(true) < 3 * kDepth / 8 * std::ldexp(1.0, -23));
  const double alone = error(false);
  CHECK(alone > 2e-5);
  CHECK(alone < std::ldexp(1.0, -10));
  const std::vector<simt::Launch> launches = simt::simulator()->take_launches();
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].tensor_instructions == 3 * kDepth / 8);
  CHECK(launches[1].tensor_instructions == kDepth / 8);
}

// What an H200 computes, whose results were compared with this rule bit by bit: all addends are cut off 25
// places behind the greatest exponent, and the sum 23 places behind its own.
TEST_CASE("a warp's mma cuts its sums off as an H200 does", "[tensor]") {
  struct Sum {
    const char* what;
    std::vector<float> a, b;
    float c;
    float expected;
  };
  const auto power = [](int exponent) { return std::ldexp(1.0f, exponent); };
  const float infinity = std::numeric_limits<float>::infinity();
  const float greatest = std::numeric_limits<float>::max();
  const Sum sum = GENERATE_COPY(values<Sum>({
      {"small products, each cut off", std::vector<float>(8, power(-13)),
       std::vector<float>(8, power(-13)), 1, 1},
      {"small products, each kept, and their sum", std::vector<float>(8, power(-12)),
       std::vector<float>(8, power(-13)), 1, 1 + power(-22)},
      {"a sum that is cut off, not rounded", {power(-11)}, {1.75f * power(-12)}, 1, 1 + power(-23)},
      {"of negative numbers too", {power(-11)}, {-1.75f * power(-12)}, -1, -1 - power(-23)},
      {"a product of 2.25 has the exponent 0",
       {1.5f, 1.5f, power(-12)},
       {1.5f, -1.5f, power(-13)},
       0,
       power(-25)},
      {"but 2 has 1", {2, 2, power(-12)}, {1, -1, power(-13)}, 0, 0},
      {"zeros have no exponent", {0, 1}, {greatest, power(-100)}, power(-101), 1.5f * power(-100)},
      {"subnormal numbers", {power(-70)}, {power(-70)}, power(-148), power(-148) + power(-140)},
      {"an overflow", {power(127)}, {1}, power(127), infinity},
      {"an infinity", {infinity}, {1}, 1, infinity},
      {"nothing of an infinity", {infinity}, {0}, 1, std::bit_cast<float>(0x7fffffff)},
      {"minus zeros", {-0.0f}, {1}, -0.0f, 0},
  }));
  INFO(sum.what);
  std::vector<std::uint32_t> a(128), b(64);
  for (std::size_t k = 0; k < sum.a.size(); ++k) {
    a[5 * 8 + k] = bits(sum.a[k]);
    b[k * 8 + 3] = bits(sum.b[k]);
  }
  if (std::signbit(sum.a[0])) {
    for (std::size_t k = 0; k < 8; ++k) a[5 * 8 + k] = bits(-0.0f);
  }
  std::vector<float> c(128);
  c[5 * 8 + 3] = sum.c;
  const std::vector<float> d = tensor::multiply(8, a, b, c);
  REQUIRE(d.size() == 128);
  CHECK(bits(d[5 * 8 + 3]) == bits(sum.expected));
}

TEST_CASE("matrices are loaded and stored with the instructions that nvcc makes", "[tensor]") {
  const auto index = static_cast<std::size_t>(GENERATE(range(0, 7)));
  REQUIRE(matrices::cases().size() == 7);
  const matrices::Case& one = matrices::cases()[index];
  INFO(one.name);
  const simt::Launch launch = last_launch_of([&] { CHECK(one.run()); });
  CHECK(launch.findings.empty());
  CHECK(launch.tensor_instructions == static_cast<std::uint64_t>(one.tensor_instructions));
  for (const simt::CounterField& field : simt::counter_fields()) {
    INFO(field.name);
    CHECK(launch.counters.*field.member == one.expected.*field.member);
  }
  // On the lines that ask for them.
  for (const simt::LineCounters& line : launch.lines)
    CHECK(is_kernel_file(line.file, "matrices.cu"));
}

TEST_CASE("an mma is counted on its line, one for a warp", "[tensor]") {
  simt::simulator()->take_launches();
  tensor::multiply_deep(16, false, random_floats(256, 1), random_floats(128, 2));
  const simt::Launch launch = simt::simulator()->take_launches().back();
  const int line = line_of(kFile, "COUNTED");
  for (const simt::LineCounters& its : launch.lines) {
    INFO(its.line);
    CHECK(its.tensor_instructions == (its.line == line ? 2 : 0));
    if (its.line == line) CHECK(its.counters == simt::Counters());
  }
  CHECK(run("whole_warps").tensor_instructions == 2);
}

TEST_CASE("all 32 lanes of a warp must execute an mma", "[tensor]") {
  int error = 0;
  const simt::Launch right = run("whole_warps", &error);
  CHECK(error == 0);
  CHECK(right.findings.empty());

  const auto [name, detail] = GENERATE(table<const char*, const char*>({
      {"lane_left_out", "lane 5 of the warp has ended"},
      {"lane_ended", "lane 8 of the warp has ended"},
      {"half_a_warp", "lane 16 of the warp has ended or never was"},
      {"two_branches", "thread (1,0,0) waits at"},
      {"beside_a_shuffle", "waits at"},
  }));
  INFO(name);
  const simt::Launch wrong = run(name, &error);
  CHECK(error != 0);
  REQUIRE(wrong.findings.size() == 1);
  const simt::Finding& f = wrong.findings[0];
  INFO(f.file << ":" << f.line << " " << f.message);
  CHECK(f.kind == "warp_deadlock");
  const int bug = line_of(kFile, std::string("BUG ") + name);
  if (std::string(detail).find("waits") != std::string::npos) {
    CHECK(std::minmax(f.line, f.other_line) ==
          std::minmax(bug, line_of(kFile, std::string("OTHER ") + name)));
  } else {
    CHECK(f.line == bug);
  }
  CHECK_THAT(f.message, contains(detail) && contains("All 32 lanes of a warp"));
}

TEST_CASE("loads and stores of matrices want the whole warp too", "[tensor]") {
  int error = 0;
  const simt::Launch wrong = run("matrix_load_without_a_lane", &error);
  CHECK(error != 0);
  REQUIRE(wrong.findings.size() == 1);
  CHECK(wrong.findings[0].kind == "warp_deadlock");
  CHECK(wrong.findings[0].line == line_of(kFile, "BUG matrix_load_without_a_lane"));
  CHECK_THAT(wrong.findings[0].message, contains("lane 31 of the warp has ended"));
}

TEST_CASE("a lane that was stopped is not missed once more", "[tensor]") {
  int error = 0;
  const simt::Launch wrong = run("stopped_before", &error);
  CHECK(error == 700);
  REQUIRE(wrong.findings.size() == 1);
  CHECK(wrong.findings[0].kind == "out_of_bounds");
  CHECK(wrong.findings[0].line == line_of(kFile, "BUG stopped_before"));
}

TEST_CASE("what ldmatrix reads is checked as other loads are", "[tensor]") {
  const auto [name, kind] = GENERATE(table<const char*, const char*>({
      {"rows_not_synchronised", "race"},
      {"rows_beyond", "out_of_bounds"},
      {"rows_in_global", "out_of_bounds"},
  }));
  INFO(name);
  const simt::Launch wrong = run(name);
  for (const simt::Finding& f : wrong.findings)
    UNSCOPED_INFO(f.line << " " << f.kind << " " << f.message);
  REQUIRE(wrong.findings.size() == 1);
  const simt::Finding& f = wrong.findings[0];
  CHECK(f.kind == kind);
  const int line = line_of(kFile, std::string("BUG ") + name);
  CHECK((f.line == line || f.other_line == line));
}
