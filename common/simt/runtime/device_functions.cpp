// Device functions that are not inlined into kernels: the atomics, a failed assert, the warp size,
// printf.
#include <cuda_runtime.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/simt/runtime/runtime.hpp"

extern "C" const int warpSize = 32;

long long clock64() {
  static std::atomic<long long> reads{0};
  return ++reads;
}

void* simt::program_counter() { return __builtin_return_address(0); }

namespace {

// Inlined, so that the frame which note_atomic looks at is that of the atomic function.
[[gnu::always_inline]] inline void note(const void* address, unsigned bytes, void* caller) {
  if (simt::inside_kernel()) simt::note_atomic(address, bytes, caller);
}

// Blocks run on several threads of the host, so an atomic really has to be one. The values are
// compared bit by bit, so this serves floating point too.
template <typename T, typename Change>
T perform(T* address, Change change) {
  T old;
  __atomic_load(address, &old, __ATOMIC_SEQ_CST);
  for (;;) {
    T wanted = change(old);
    if (__atomic_compare_exchange(address, &old, &wanted, false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST)) {
      return old;
    }
  }
}

template <typename T>
T compare_and_swap(T* address, T compare, T value) {
  __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return compare;
}

}  // namespace

#define SIMT_ATOMIC(T, name, change)                                 \
  T name(T* address, T value) {                                      \
    note(address, sizeof(T), __builtin_return_address(0));           \
    return perform(address, [value](T old) -> T { return change; }); \
  }

// clang-format takes the lines for one expression.
// clang-format off
// Signed overflow wraps round on a GPU.
SIMT_ATOMIC(int, atomicAdd, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
SIMT_ATOMIC(unsigned int, atomicAdd, old + value)
SIMT_ATOMIC(unsigned long long, atomicAdd, old + value)
SIMT_ATOMIC(float, atomicAdd, old + value)
// Weak: programs written for GPUs before 2016 bring their own.
__attribute__((weak)) SIMT_ATOMIC(double, atomicAdd, old + value)
SIMT_ATOMIC(int, atomicSub, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
SIMT_ATOMIC(unsigned int, atomicSub, old - value)
SIMT_ATOMIC(int, atomicExch, (static_cast<void>(old), value))
SIMT_ATOMIC(unsigned int, atomicExch, (static_cast<void>(old), value))
SIMT_ATOMIC(unsigned long long, atomicExch, (static_cast<void>(old), value))
SIMT_ATOMIC(float, atomicExch, (static_cast<void>(old), value))
SIMT_ATOMIC(int, atomicMin, value < old ? value : old)
SIMT_ATOMIC(unsigned int, atomicMin, value < old ? value : old)
SIMT_ATOMIC(long long, atomicMin, value < old ? value : old)
SIMT_ATOMIC(unsigned long long, atomicMin, value < old ? value : old)
SIMT_ATOMIC(int, atomicMax, value > old ? value : old)
SIMT_ATOMIC(unsigned int, atomicMax, value > old ? value : old)
SIMT_ATOMIC(long long, atomicMax, value > old ? value : old)
SIMT_ATOMIC(unsigned long long, atomicMax, value > old ? value : old)
SIMT_ATOMIC(unsigned int, atomicInc, old >= value ? 0u : old + 1u)
SIMT_ATOMIC(unsigned int, atomicDec, old == 0u || old > value ? value : old - 1u)
SIMT_ATOMIC(int, atomicAnd, old & value)
SIMT_ATOMIC(unsigned int, atomicAnd, old & value)
SIMT_ATOMIC(unsigned long long, atomicAnd, old & value)
SIMT_ATOMIC(int, atomicOr, old | value)
SIMT_ATOMIC(unsigned int, atomicOr, old | value)
SIMT_ATOMIC(unsigned long long, atomicOr, old | value)
SIMT_ATOMIC(int, atomicXor, old ^ value)
SIMT_ATOMIC(unsigned int, atomicXor, old ^ value)
SIMT_ATOMIC(unsigned long long, atomicXor, old ^ value)
#undef SIMT_ATOMIC

#define SIMT_ATOMIC_CAS(T)                                 \
  T atomicCAS(T* address, T compare, T value) {            \
    note(address, sizeof(T), __builtin_return_address(0)); \
    return compare_and_swap(address, compare, value);      \
  }
SIMT_ATOMIC_CAS(unsigned short)
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned int)
SIMT_ATOMIC_CAS(unsigned long long)
#undef SIMT_ATOMIC_CAS
    // clang-format on

    // assert() calls this. It takes the place of the C library's, so that a failed assert in a kernel
    // ends the kernel, as on a GPU, and not the program.
    extern "C" void __assert_fail(const char* expression, const char* file, unsigned int line,
                                  const char* function) noexcept {
  const char* where = function != nullptr ? function : "?";
  if (simt::inside_kernel()) {
    char text[512];
    const int length =
        std::snprintf(text, sizeof text,
                      "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                      file, line, where, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
                      threadIdx.y, threadIdx.z, expression);
    const auto bytes = std::min<std::size_t>(static_cast<std::size_t>(length), sizeof text - 1);
    if (!simt::keep_printed(text, bytes)) std::fputs(text, stderr);
    simt::fail_assertion(expression, __builtin_return_address(0));
  }
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name,
               file, line, where, expression);
  std::abort();
}

// abort() and what ends in it, such as an exception in a kernel that nobody catches, ends the kernel.
extern "C" void abort() noexcept {
  if (simt::inside_kernel()) simt::stop_kernel("calls abort()", __builtin_return_address(0));
  // As the C library's, but for the streams, which it does not flush either.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGABRT);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(SIGABRT);
  std::signal(SIGABRT, SIG_DFL);
  raise(SIGABRT);
  std::_Exit(134);
}

// printf() and what the compiler makes of it, in the place of the C library's: what a kernel prints
// belongs to its launch. Host code prints as ever.

namespace {

int print(const char* format, std::va_list arguments) {
  if (!simt::inside_kernel()) return std::vfprintf(stdout, format, arguments);
  char text[1024];
  std::va_list again;
  va_copy(again, arguments);
  int length = std::vsnprintf(text, sizeof text, format, arguments);
  const auto kept = std::min<std::size_t>(static_cast<std::size_t>(length), sizeof text - 1);
  if (length >= 0 && !simt::keep_printed(text, kept)) {
    length = std::vfprintf(stdout, format, again);
  }
  va_end(again);
  return length;
}

}  // namespace

#define SIMT_PRINT                             \
  std::va_list arguments;                      \
  va_start(arguments, format);                 \
  const int length = print(format, arguments); \
  va_end(arguments);                           \
  return length

extern "C" __attribute__((format(printf, 1, 2))) int printf(const char* format, ...) { SIMT_PRINT; }
// What printf becomes where the system's headers are told to be careful.
extern "C" __attribute__((format(printf, 2, 3))) int __printf_chk(int, const char* format, ...) {
  SIMT_PRINT;
}
#undef SIMT_PRINT

extern "C" int puts(const char* text) {
  const std::string line = std::string(text) + "\n";
  if (simt::inside_kernel() && simt::keep_printed(line.data(), line.size())) return 1;
  return std::fputs(line.c_str(), stdout);
}

extern "C" int putchar(int letter) {
  const char text = static_cast<char>(letter);
  if (simt::inside_kernel() && simt::keep_printed(&text, 1)) return letter;
  return std::putc(letter, stdout);
}
