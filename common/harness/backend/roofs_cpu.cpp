#include "common/harness/backend/roofs_cpu.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace halo {

namespace {

int hardware_threads() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// Seconds that work(0) ... work(parts - 1) take on all hardware threads, without the time to start
// them; the median of several rounds. Who is free takes the next part: on a machine that others use
// too, equal shares would wait for the slowest thread.
double median_seconds(int parts, const std::function<void(int part)>& work) {
  constexpr int kRounds = 9;
  using Clock = std::chrono::steady_clock;
  const int threads = hardware_threads();
  std::atomic<int> next = 0;
  std::barrier gate(threads);
  std::vector<double> seconds;
  const auto take_parts = [&](bool keeps_time) {
    for (int round = 0; round < kRounds; ++round) {
      if (keeps_time) next = 0;
      gate.arrive_and_wait();
      const auto start = Clock::now();
      for (int part = next++; part < parts; part = next++) work(part);
      gate.arrive_and_wait();
      const std::chrono::duration<double> taken = Clock::now() - start;
      if (keeps_time) seconds.push_back(taken.count());
    }
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(take_parts, false);
    take_parts(true);
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRounds / 2, seconds.end());
  return seconds[kRounds / 2];
}

// A copy that stores past the caches, so that no line is read before it is overwritten. Both
// pointers are aligned to a line, `bytes` is a multiple of one.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) {
    __m128i line[kLine / sizeof(__m128i)];
    std::memcpy(line, from + at, kLine);
    auto* const cells = reinterpret_cast<__m128i*>(to + at);
    for (std::size_t k = 0; k < kLine / sizeof(__m128i); ++k) _mm_stream_si128(cells + k, line[k]);
  }
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

// The better of two ways: which it is depends on the processor and on the C library.
double copy_gb_per_s() {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  constexpr std::size_t kPart = std::size_t{1} << 20;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  const auto allocate = [] {
    std::unique_ptr<std::byte, Free> memory(
        static_cast<std::byte*>(std::aligned_alloc(4096, kBytes)));
    if (!memory) throw std::bad_alloc();
    std::memset(memory.get(), 1, kBytes);  // so that the pages are there
    return memory;
  };
  const auto from = allocate();
  const auto to = allocate();
  const auto seconds = [&](auto copy) {
    return median_seconds(kBytes / kPart, [&](int part) {
      const std::size_t at = static_cast<std::size_t>(part) * kPart;
      copy(to.get() + at, from.get() + at, kPart);
    });
  };
  const double best = std::min(seconds(copy_past_caches), seconds(std::memcpy));
  return 2e-9 * static_cast<double>(kBytes) / best;
}

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));

// Chains that do not wait for each other: two multiply-adds a cycle, each four or five cycles long,
// need ten, and with the two operands that all share they fill the 16 registers of AVX.
constexpr int kChains = 12;
constexpr std::int64_t kSteps = 1 << 20;

// kChains * kSteps multiply-adds of vectors.
float multiply_adds() {
  Vector chains[kChains];
  for (int c = 0; c < kChains; ++c) chains[c] = Vector{} + static_cast<float>(c);
  // Not known to the compiler, which could otherwise work the chains out.
  volatile float factor = 0.999f;
  volatile float term = 0.001f;
  const Vector factors = Vector{} + factor;
  const Vector terms = Vector{} + term;
  for (std::int64_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll kChains
    for (int c = 0; c < kChains; ++c) chains[c] = chains[c] * factors + terms;
  }
  Vector sum = {};
  for (const Vector& chain : chains) sum += chain;
  return sum[0];
}

double fp32_gflop_per_s() {
  const int parts = 8 * hardware_threads();
  std::atomic<float> kept = 0;  // so that nothing is left out as unused
  const double seconds = median_seconds(parts, [&](int) { kept = multiply_adds(); });
  const double operations = 2.0 * kChains * kLanes * static_cast<double>(kSteps) * parts;
  return 1e-9 * operations / seconds;
}

}  // namespace

Roofs measure_cpu_roofs() {
  Roofs roofs;
  roofs.copy_gb_per_s = copy_gb_per_s();
  roofs.fp32_gflop_per_s = fp32_gflop_per_s();
  return roofs;
}

}  // namespace halo
