// The source-to-source step of the simulator: CUDA C++, already preprocessed, becomes C++ that a
// host compiler accepts and that calls the simulator where a kernel is launched.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace simt {

// What the simulator cannot run, with the line of the source where it stands.
// what() is "FILE:LINE: MESSAGE".
struct TranslateError : std::runtime_error {
  TranslateError(std::string file_name, int line_number, const std::string& text)
      : std::runtime_error(file_name + ":" + std::to_string(line_number) + ": " + text),
        file(std::move(file_name)),
        line(line_number),
        message(text) {}
  std::string file;
  int line;
  std::string message;
};

// Translates the output of `g++ -E` (line markers kept). Every token keeps its line: text is
// changed in place, and where a token has to move, a line marker says where it came from.
// `main_file` names lines ahead of the first marker. Throws TranslateError for what is outside the
// subset.
//
//   __global__ void k(A a) {B}   the body becomes a closure handed to ::simt::run_kernel; calling k
//                                then runs the grid
//   k<<<g, b>>>(a)               (::simt::configure(g, b), k(a)): a real call, so overloads,
//   deduction
//                                and default arguments work
//   __shared__ T x[N]            __constinit static thread_local T x[N]: all threads of a block run
//                                on one thread of the host
//   extern __shared__ T x[]      a pointer to the block's dynamic shared memory
//   __constant__ T x[N]          a static variable in section simt_constant, without its const, and
//   __device__ T x[N]            in section simt_device; a guard zone behind each
//   __device__ T f(A)            T f(A)
//
// The result can be compiled as an ordinary C++ file or as a preprocessed one.
//
// What nvcc refuses is refused: here, or by g++, which is told where the code of the device is and what
// belongs to the host. With `relaxed_constexpr`, device code may call constexpr functions of the host.
std::string translate(std::string_view preprocessed, const std::string& main_file,
                      bool relaxed_constexpr = false);

}  // namespace simt
