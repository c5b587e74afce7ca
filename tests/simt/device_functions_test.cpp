// Device functions and vector types, as kernels see them, and what the stand-in headers refuse.
#include "tests/simt/kernels/device_functions.hpp"

#include <cuda_runtime.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "common/simt/simt.hpp"
#include "tests/catch.hpp"

using halo::test::contains;
namespace fs = std::filesystem;

TEST_CASE("integer functions and conversions give an H200's results") {
  constexpr long long kLeast = -9223372036854775807 - 1;
  // Printed by the same kernel on an H200 (CUDA 13.0).
  const std::vector<long long> expected = {9,
                                           11,
                                           32,
                                           31,
                                           0,
                                           64,
                                           23,
                                           0,
                                           5,
                                           41,
                                           510274632,
                                           1115552785675988040,
                                           2002072337,
                                           2154172800,
                                           3168727058,
                                           3168727058,
                                           4027724886,
                                           305419896,
                                           305419896,
                                           2596069104,
                                           -28389653,
                                           3725290299,
                                           -66099811787816347,
                                           -6101065172474983727,
                                           -3,
                                           41943035,
                                           50331645,
                                           4000000007,
                                           4000000004,
                                           -3,
                                           -2,
                                           4000000000,
                                           4000000001,
                                           -15384,
                                           82664,
                                           2,
                                           2,
                                           3,
                                           2,
                                           2,
                                           2,
                                           2,
                                           2,
                                           3,
                                           2,
                                           2,
                                           2,
                                           1065353216,
                                           4,
                                           3,
                                           4,
                                           3,
                                           4,
                                           3,
                                           4,
                                           3,
                                           4,
                                           3,
                                           3,
                                           4,
                                           1065353216,
                                           -2,
                                           -2,
                                           -2,
                                           -3,
                                           0,
                                           0,
                                           -2,
                                           0,
                                           -2,
                                           0,
                                           -2,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           -1,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           2147483647,
                                           2147483647,
                                           2147483647,
                                           2147483647,
                                           4294967295,
                                           4294967295,
                                           10000000000,
                                           10000000000,
                                           2147483647,
                                           4294967295,
                                           10000000000,
                                           10000000000,
                                           1065353216,
                                           -2147483648,
                                           -2147483648,
                                           -2147483648,
                                           -2147483648,
                                           0,
                                           0,
                                           -10000000000,
                                           0,
                                           -2147483648,
                                           0,
                                           -10000000000,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           0,
                                           kLeast,
                                           kLeast,
                                           -2147483648,
                                           2147483648,
                                           kLeast,
                                           kLeast,
                                           0,
                                           2147483647,
                                           2147483647,
                                           2147483647,
                                           2147483647,
                                           4294967295,
                                           4294967295,
                                           9223372036854775807,
                                           -1,
                                           2147483647,
                                           4294967295,
                                           9223372036854775807,
                                           -1,
                                           1065353216,
                                           -2147483648,
                                           -2147483648,
                                           -2147483648,
                                           -2147483648,
                                           0,
                                           0,
                                           kLeast,
                                           0,
                                           -2147483648,
                                           0,
                                           kLeast,
                                           0,
                                           0,
                                           2147483647,
                                           2147483647,
                                           2147483647,
                                           2147483647,
                                           4294967295,
                                           4294967295,
                                           9223372036854775807,
                                           -1,
                                           2147483647,
                                           4294967295,
                                           9223372036854775807,
                                           -1,
                                           1065353216,
                                           -2147483648,
                                           -2147483648,
                                           -2147483648,
                                           -2147483648,
                                           0,
                                           0,
                                           kLeast,
                                           0,
                                           -2147483648,
                                           0,
                                           kLeast,
                                           0,
                                           0,
                                           9223372036854775807,
                                           kLeast,
                                           2147483647,
                                           1069547520,
                                           3217031168,
                                           1078530011,
                                           -4611123068473966592,
                                           1074528256,
                                           1374389535,
                                           1266679808,
                                           1333788672,
                                           1036831949,
                                           880803840,
                                           880803840,
                                           1051372203,
                                           1051372203,
                                           1068827891,
                                           4609047870845172685,
                                           4363988038922010624,
                                           1065353216,
                                           1065353216,
                                           -1,
                                           4294967295,
                                           1,
                                           4,
                                           4611686018427387904,
                                           0,
                                           1065353216,
                                           0,
                                           -1082130432,
                                           1088421888,
                                           1056964608,
                                           10,
                                           211};
  const std::vector<long long> results = device_functions::exact_results();
  REQUIRE(results.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(results[i] == expected[i]);
  }
}

TEST_CASE("atomics return the old value and leave the new one") {
  // Printed by the same kernel on an H200 (CUDA 13.0).
  const std::vector<double> expected = {5,
                                        8,
                                        -2,
                                        -7,
                                        9,
                                        12,
                                        8,
                                        13,
                                        11,
                                        11,
                                        2,
                                        2,
                                        3,
                                        0,
                                        1,
                                        0,
                                        9,
                                        3,
                                        3,
                                        1,
                                        1,
                                        1.5,
                                        1.75,
                                        8,
                                        0.1,
                                        0.1 + 0.2,
                                        1099511627776,
                                        1099511627777,
                                        77,
                                        50,
                                        5,
                                        -5,
                                        4,
                                        309,
                                        2147483647,
                                        -2147483648,
                                        -1};
  CHECK(device_functions::atomic_results() == expected);
}

TEST_CASE("shuffles and votes give each lane what an H200 gives it") {
  const unsigned odd = 0xaaaaaaaau;
  const auto segment = [](int lane, int width) { return lane / width * width; };
  // The documented meaning of each, for lanes that hold 100 + lane; all confirmed on an H200.
  const std::vector<std::function<long long(int)>> expected = {
      [](int) { return 105; },
      [](int lane) { return 100 + (lane + 1) % 32; },
      [&](int lane) { return 100 + segment(lane, 8) + 3; },
      [](int lane) { return 100 + (lane < 2 ? lane : lane - 2); },
      [](int lane) { return 100 + (lane % 16 < 2 ? lane : lane - 2); },
      [](int lane) { return 100 + (lane + 3 < 32 ? lane + 3 : lane); },
      [](int lane) { return 100 + (lane % 8 + 3 < 8 ? lane + 3 : lane); },
      [](int lane) { return 100 + (lane ^ 7); },
      // Another segment may be read if it is an earlier one.
      [](int lane) { return 100 + (lane % 16 < 8 ? lane : lane - 8); },
      [](int lane) { return 31 - lane; },
      [](int lane) { return lane < 31 ? lane + 1 : lane; },
      [](int lane) { return 1ll << (lane ^ 1); },
      [](int) { return 0x49249249u; },
      [](int) { return 0; },
      [](int) { return 1; },
      [](int) { return 0; },
      [](int) { return 1; },
      [](int lane) { return lane < 30 ? 31ll << lane / 5 * 5 : 3ll << 30; },
      [](int) { return 0xffffffffu; },
      [](int) { return 1; },
      [](int) { return 31 * 32 / 2; },
      [](int) { return 3; },
      [](int lane) { return lane % 2 ? 256 : 240; },
      [&](int lane) { return (lane % 2 ? odd : ~odd) & 0xffffu; },
  };
  const std::vector<device_functions::WarpResult> results = device_functions::warp_results();
  REQUIRE(results.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (int lane = 0; lane < 32; ++lane) {
      CAPTURE(results[i].name, lane);
      CHECK(results[i].lanes[lane] == expected[i](lane));
    }
  }
}

TEST_CASE("threadIdx and its kin") { CHECK(device_functions::run_indices()); }

TEST_CASE("a vector moves as it does on an H200") {
  // All figures were read with Nsight Compute on an H200.
  for (const device_functions::VectorCase& c : device_functions::vector_cases()) {
    CAPTURE(c.name);
    simt::take_launches();
    CHECK(c.run());
    const std::vector<simt::Launch> launches = simt::take_launches();
    REQUIRE(launches.size() == 1);
    const simt::Counters& counted = launches[0].counters;
    CHECK(counted.global_load_requests == static_cast<std::uint64_t>(c.load_requests));
    CHECK(counted.global_load_sectors == static_cast<std::uint64_t>(c.load_sectors));
    CHECK(counted.global_store_requests == static_cast<std::uint64_t>(c.store_requests));
    CHECK(counted.global_store_sectors == static_cast<std::uint64_t>(c.store_sectors));
    CHECK(launches[0].findings.empty());
  }
}

// ---- the headers in ordinary C++, and what they refuse ----

namespace {

const fs::path& repository() {
  static const fs::path root =
      fs::path(SIMT_TEST_KERNELS).parent_path().parent_path().parent_path();
  return root;
}

struct Output {
  bool success = false;
  std::string text;
};

// Compiles C++ source with the stand-in headers, without simcc.
Output compile(const std::string& source, const std::string& options) {
  const fs::path folder = fs::temp_directory_path();
  std::string file = (folder / "halo_headers_XXXXXX.cpp").string();
  const int descriptor = mkstemps(file.data(), 4);
  REQUIRE(descriptor >= 0);
  close(descriptor);
  std::ofstream(file) << source;
  const std::string command = "g++ " + options + " -fsyntax-only -I'" +
                              (repository() / "common/simt/cuda").string() + "' '" + file +
                              "' 2>&1";
  Output output;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.text.append(buffer.data(), n);
  }
  output.success = pclose(pipe) == 0;
  fs::remove(file);
  return output;
}

}  // namespace

TEST_CASE("ordinary C++ may include the headers") {
  const std::string source = R"(
    #include <cuda_runtime.h>
    #include <device_launch_parameters.h>
    #include <math_constants.h>
    #include <type_traits>
    #include <algorithm>
    #include <memory>
    __host__ __device__ inline float twice(float x) { return 2 * x; }
    __device__ __forceinline__ float4 flip(float4 v) { return make_float4(v.w, v.z, v.y, v.x); }
    template <typename T, int kBytes, int kAlignment>
    constexpr bool fits = sizeof(T) == kBytes && alignof(T) == kAlignment &&
                          std::is_trivially_default_constructible<T>::value &&
                          std::is_trivially_destructible<T>::value;
    static_assert(fits<char1, 1, 1> && fits<char2, 2, 2> && fits<char3, 3, 1> && fits<char4, 4, 4>);
    static_assert(fits<short3, 6, 2> && fits<ushort4, 8, 8> && fits<int2, 8, 8>);
    static_assert(fits<int3, 12, 4> && fits<int4, 16, 16> && fits<long2, 16, 16>);
    static_assert(fits<uint3, 12, 4> && fits<float4, 16, 16> && fits<double2, 16, 16>);
    static_assert(fits<double3, 24, 8> && fits<double4, 32, 16> && fits<double4_32a, 32, 32>);
    static_assert(!std::is_convertible<float, float4>::value);
    static_assert(make_float4(1, 2, 3, 4).z == 3);
    constexpr float4 kTable[] = {{1, 2, 3, 4}, {5}, {6, 7}};
    static_assert(kTable[0].w == 4 && kTable[1].x == 5 && kTable[1].y == 0 && kTable[2].y == 7);
    union Cells { float4 vector; float cells[4]; };
    struct Holder { float4 vector; int tag; };
    int main() {
      int threadIdx = 3, blockDim = 4;  // the names are free
      float4 v{}, w = {1, 2, 3, 4}, copy = w;
      v = flip(copy);
      Cells cells;
      cells.vector = v;
      Holder holder = {{1, 2, 3, 4}, 5}, other = holder;
      dim3 grid(2), block = {1u, 2u}, cube = 7;
      uint3 three = block;
      grid = three;
      using namespace std;
      const int most = max(3, 4);
      const size_t bytes = max(sizeof(int), size_t{9});
      double2 array[3] = {};
      array[1] = make_double2(1, 2);
      return threadIdx + blockDim + most + static_cast<int>(bytes + cells.cells[0] + other.tag +
             cube.x + array[1].x + twice(1));
    })";
  for (const char* standard : {"-std=c++17", "-std=c++20"}) {
    const Output output = compile(source, std::string(standard) + " -Wall -Wextra -Werror");
    INFO(output.text);
    CHECK(output.success);
  }
}

TEST_CASE("the clock only grows") { CHECK(device_functions::clock_grows()); }

TEST_CASE("a call outside the subset is refused with a sentence") {
  const std::pair<const char*, const char*> calls[] = {
      {"cudaGraphLaunch(graph, stream)", "it runs launches one by one"},
      {"cudaStreamBeginCapture(stream, 0)", "it runs launches one by one"},
      {"cudaLaunchKernel(nullptr, dim3(1), dim3(1), nullptr, 0, stream)",
       "kernel<<<grid, block>>>"},
      {"cudaLaunchCooperativeKernel(nullptr, dim3(1), dim3(1), nullptr)", "no grid-wide barrier"},
      {"cudaCreateTextureObject(&texture, nullptr, nullptr, nullptr)", "it has no textures"},
      {"cudaMalloc3D(nullptr, 0)", "use cudaMalloc with width"},
      {"cudaMemcpyPeer(nullptr, 0, nullptr, 0, 4)", "it has one device"},
      {"__shfl_down(1, 2)", "write __shfl_down_sync(0xffffffff"},
      {"__fadd_rz(1.0f, 2.0f)", "use the _rn form"},
      {"tex2D<float>(texture, 0.0f, 0.0f)", "it has no textures"},
  };
  std::string source =
      "#include <cuda_runtime.h>\nvoid f(cudaGraphExec_t graph, cudaStream_t stream, "
      "cudaTextureObject_t texture) {\n(void)graph; (void)stream; (void)texture;\n";
  for (const auto& [call, sentence] : calls) source += std::string(call) + ";\n";
  const Output output = compile(source + "}\n", "-std=c++17");
  CHECK_FALSE(output.success);
  for (const auto& [call, sentence] : calls) {
    const std::string name = std::string(call).substr(0, std::string(call).find_first_of("(<"));
    const std::size_t at = output.text.find(name + " is outside the simulator's subset: ");
    CAPTURE(name);
    REQUIRE(at != std::string::npos);
    CHECK_THAT(output.text.substr(at, 200), contains(sentence));
  }
}

TEST_CASE("what groups, copies and CUB lack is refused with a sentence") {
  // Each alone: a class that is refused may hide what follows.
  const std::pair<const char*, const char*> statements[] = {
      {"cg::this_grid().sync()", "grid_group::sync is outside the simulator's subset: it needs a "},
      {"cudaLaunchKernelExC((const cudaLaunchConfig_t*)0, (const void*)0, (void**)0)",
       "cudaLaunchKernelExC with the address of a kernel is outside the simulator's subset"},
      {"cg::binary_partition(cg::coalesced_threads(), true)", "binary_partition is outside"},
      {"cg::tiled_partition<64>(cg::this_thread_block())",
       "a tile of more than a warp is outside the simulator's subset"},
      {"cg::tiled_partition<12>(cg::this_thread_block())", "is a power of two"},
      {"cg::tiled_partition<8>(cg::tiled_partition<4>(cg::this_thread_block()))",
       "divides a block, or a tile into smaller ones"},
      {"cg::reduce(cg::this_thread_block(), 1, cg::plus<int>())", "divide the block with"},
      {"__pipeline_arrive_on(nullptr)", "__pipeline_arrive_on is outside the simulator's subset"},
      {"cuda::ptx::mbarrier_try_wait(nullptr, 0)", "parity, with mbarrier_try_wait_parity"},
      {"cuda::ptx::cp_async_bulk(nullptr, nullptr, 16, nullptr)", "use __pipeline_memcpy_async of"},
      {"cuda::ptx::st_async(static_cast<char*>(nullptr), 'a', nullptr)", "values of 4 or 8 bytes"},
      {"cub::BlockScan<int, 128> scan", "cub::BlockScan is outside the simulator's subset"},
      {"cub::BlockReduce<int, 128>().Sum(1)", "with storage of its own is outside the simulator's"},
      {"cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_RAKING>::TempStorage storage",
       "cub::BlockReduce by raking is outside the simulator's subset"},
      {"cub::WarpReduce<int, 12>::TempStorage storage", "no power of two is outside"},
      {"cub::Sum()", "Sum is outside the simulator's subset: CUDA 13 has dropped it"},
  };
  const std::string head =
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
      "#include <cub/cub.cuh>\n#include <cuda/ptx>\n#include <cuda_pipeline.h>\n"
      "namespace cg = cooperative_groups;\nvoid f() {\n";
  CHECK(compile(head + "}\n", "-std=c++17 -Wall -Wextra -Werror").success);
  for (const auto& [statement, sentence] : statements) {
    const Output output = compile(head + statement + ";\n}\n", "-std=c++17");
    CAPTURE(statement);
    CHECK_FALSE(output.success);
    CHECK_THAT(output.text, contains(sentence));
  }
}

namespace {

struct Worst {
  double ulps = 0;  // in units of the last place of the exact value
  double absolute = 0;
};

// The largest errors of a function on many values of [from, to].
Worst worst_error(float (*fast)(float), double (*exact)(double), float from, float to) {
  Worst worst;
  constexpr int kSteps = 50000;
  for (int i = 0; i <= kSteps; ++i) {
    const float x = from + (to - from) * (static_cast<float>(i) / kSteps);
    const double wanted = exact(static_cast<double>(x));
    const double error = std::abs(static_cast<double>(fast(x)) - wanted);
    worst.absolute = std::max(worst.absolute, error);
    if (wanted != 0) {
      worst.ulps = std::max(worst.ulps, std::ldexp(error, 23 - std::ilogb(wanted)));
    }
  }
  return worst;
}

}  // namespace

// The bounds are those of the CUDA C++ Programming Guide. A program that assumes the accuracy of expf
// must fail with __expf here as it does on a GPU.
TEST_CASE("the fast functions err as far as a GPU's may, and no further") {
  for (const float limit : {1.0f, 5.0f, 20.0f, 80.0f}) {
    INFO(limit);
    const double worst = worst_error(__expf, std::exp, -limit, limit).ulps;
    CHECK(worst <= 2 + std::floor(1.173 * static_cast<double>(limit)));
    CHECK(worst >= 0.5 * static_cast<double>(limit));
  }
  const auto power = [](double x) { return std::pow(10.0, x); };
  CHECK(worst_error(__exp10f, power, -5.0f, 5.0f).ulps <= 2 + std::floor(2.97 * 5));
  CHECK(worst_error(__logf, std::log, 0.5f, 2.0f).absolute <= std::exp2(-21.41));
  CHECK(worst_error(__logf, std::log, 0.5f, 2.0f).ulps > 100);
  CHECK(worst_error(__logf, std::log, 2.01f, 1e6f).ulps <= 3);
  CHECK(worst_error(__log2f, std::log2, 0.5f, 2.0f).absolute <= std::exp2(-22));
  CHECK(worst_error(__log2f, std::log2, 2.01f, 1e6f).ulps <= 2);
  CHECK(worst_error(__log10f, std::log10, 0.5f, 2.0f).absolute <= std::exp2(-24));
  CHECK(worst_error(__log10f, std::log10, 2.01f, 1e6f).ulps <= 3);
  CHECK(worst_error(__sinf, std::sin, -3.14159f, 3.14159f).absolute <= std::exp2(-21.41));
  CHECK(worst_error(__cosf, std::cos, -3.14159f, 3.14159f).absolute <= std::exp2(-21.19));
  CHECK(worst_error(__sinf, std::sin, 1e4f, 2e4f).absolute > std::exp2(-15));
  CHECK(worst_error(__tanhf, std::tanh, -3.0f, 3.0f).absolute <= std::exp2(-11));
  const auto quotient = [](float x) { return __fdividef(3.3f, x); };
  const auto exact = [](double x) { return static_cast<double>(3.3f) / x; };
  CHECK(worst_error(quotient, exact, 0.01f, 1000.0f).ulps <= 2);

  CHECK(__expf(0.0f) == 1.0f);
  CHECK(__expf(-INFINITY) == 0.0f);
  CHECK(__expf(INFINITY) == INFINITY);
  CHECK(__logf(0.0f) == -INFINITY);
  CHECK(__logf(1.0f) == 0.0f);
  CHECK(__powf(2.0f, 10.0f) == 1024.0f);
  CHECK(std::isnan(__powf(-2.0f, 2.0f)));
  CHECK(__fdividef(1.0f, 0x1p127f) == 0.0f);
  CHECK(std::isnan(__fdividef(INFINITY, 0x1p127f)));
}

TEST_CASE("a header outside the subset is refused with a sentence") {
  // Every such header of the folder, so that none is forgotten and none is left behind.
  const fs::path folder = repository() / "common/simt/cuda";
  std::string source;
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    if (text.find("#error \"<") == std::string::npos) continue;
    names.push_back(fs::relative(entry.path(), folder).string());
    source += "#include <" + names.back() + ">\n";
  }
  for (const char* known :
       {"cooperative_groups/scan.h", "cub/block/block_scan.cuh", "crt/mma.h", "cuda_fp16.h",
        "curand_kernel.h", "cuda/barrier", "cuda/pipeline", "cublas_v2.h"}) {
    CHECK(std::find(names.begin(), names.end(), known) != names.end());
  }
  const Output output = compile(source, "-std=c++17");
  CHECK_FALSE(output.success);
  for (const std::string& name : names) {
    CHECK_THAT(output.text,
               contains("#error \"<" + name + "> is outside the simulator's subset: "));
  }
}
