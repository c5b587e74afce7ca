// What a kernel's file and the rest of the course say to each other: the numbers of a problem, one call
// with its arrays, and the descriptor at the end of each file. Plain structs, no CUDA and no std::, so
// that a kernel's file can be taken along with this one beside it.
//
// Of infinities and NaN kernels promise this, and are held to it: a convolution and an average give what
// the formula gives in IEEE arithmetic, for each output from the cells of its own window (a NaN in the
// window: NaN; both infinities: NaN; where a convolution gives an infinity a NaN is allowed too: a sum
// may do more with it than add, as Kahan's does); in a maximum a NaN counts as little as a ghost cell;
// softmax and ReLU say it where they are.
//
// In all calls the arrays are in the memory of the machine that runs the kernel, 256-byte aligned, and
// have no more than 2^31 - 4,097 elements. `launch` starts the kernels, does not wait for them, and
// returns the CUDA error code of the launch (0: none).
#pragma once

namespace halo {

constexpr int kWarpSize = 32;
// The widest mask of the 1D stages, in taps: 4 KB of constant memory, and a halo of 511 cells, less than
// the largest block has threads.
constexpr int kMaxMaskWidth = 1023;

// What a kernel works on at a time, its vectors too, in the letters of docs/notation.md: it is tried with one less
// of it, as many, and one more; of a tile of many vectors also a vector less and more. 0: it does not count them.
struct TileSizes {
  int N = 0, C = 0, K = 0;  // images, channels, filters
  int P = 0, Q = 0;         // rows and columns of outputs
  int cells = 0;  // where places are numbered through: N * P * Q of a layer, C * H * W of an
                  // image that is transposed
};
constexpr int kMostTiles = 3;  // that a kernel may have, chosen by the problem

// What a kernel computes with, where the mathematics is the same and the rounding is not. Its outputs are held
// to the bound of its method, which common/conv/accuracy.hpp and softmax.cpp derive, and to no other.
enum class Arithmetic {
  definition,       // products and sums in float, in any order, with or without fma; expf
  transform,        // Winograd's, or an FFT
  tf32,             // tensor cores, factors rounded to TF32: some three digits
  tf32_split,       // tensor cores, each factor in two parts of TF32, three products: nearly float
  transform_split,  // a transform, its products as tf32_split's
  exp2,             // softmax: exp2f((x - largest) * log2(e)) for expf(x - largest)
};

// ---- 1D: output[i] = sum over j of mask[j] * input[i - halo + j], cells beyond the ends are zero ----

struct Conv1dShape {
  int length = 0;
  int mask_width = 0;  // odd
  int first = 0;       // outputs first ... last - 1 are computed: 0 and length,
  int last = 0;        // or halo and length - halo with the report's border
  int threads = 0;     // per block; on the CPU: threads
  int halo() const { return (mask_width - 1) / 2; }
};

struct Conv1dCall : Conv1dShape {
  const float* input = nullptr;  // [length]
  const float* mask = nullptr;   // [mask_width]
  float* output = nullptr;       // [length]; outside first ... last - 1 it is left alone
  // Of launch_with_taps alone.
  const float* taps = nullptr;  // [mask_width], in the host's memory; the launch takes a copy along
  const float* prepared = nullptr;  // as prepare_taps left them, but in the device's memory
  void* stream = nullptr;           // a cudaStream_t; null: the default stream
};

struct Conv1dKernel {
  const char* description;  // one line for --list
  int (*launch)(const Conv1dCall&);
  // For a kernel that keeps the mask elsewhere (constant memory): takes mask[width] from host memory
  // before the launches that use it. Returns a CUDA error code.
  int (*set_mask)(const float* mask, int width) = nullptr;
  int widest_mask = kMaxMaskWidth;  // wider ones are not run
  // Outputs of a block, or of a warp that has a tile of its own; null: one for each thread.
  int (*tile)(int mask_width) = nullptr;
  bool multiplies_ghosts =
      false;           // as zeros: an infinite tap over one gives NaN. Else: adds nothing
  int task = 0;        // the task's number in the report that the stage follows, if any
  bool tuned = false;  // goes beyond its source
  Arithmetic arithmetic = Arithmetic::definition;
  // For programs with several masks at a time: as launch, with the mask that the call brings, of up to widest_taps.
  int (*launch_with_taps)(const Conv1dCall&) = nullptr;
  int widest_taps = 0;
  // What it reads of a mask besides: so many floats, made here in the host's memory. Both or neither.
  int prepared_floats = 0;
  void (*prepare_taps)(const float* taps, int width, float* prepared) = nullptr;
};

// ---- Layers: convolution and pooling ----------------------------------------------------------------

// With the letters of docs/notation.md. P and Q follow from the others; for a convolution
//   P = (H + 2 * padding_h - R) / stride_h + 1,   Q = (W + 2 * padding_w - S) / stride_w + 1.
struct LayerNumbers {
  int N, C, H, W;            // images, their channels, rows, columns
  int K, R, S;               // filters, their rows, columns; of pooling: C, and the window's
  int P, Q;                  // rows and columns of the output
  int stride_h, stride_w;    // down, across
  int padding_h, padding_w;  // ghost cells on each side, zero
};

// output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//                        * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
struct LayerCall {
  LayerNumbers layer;
  const float* input;    // [N][C][H][W], in CHWN [C][H][W][N]
  const float* filters;  // [K][C][R][S]
  float* output;         // [N][K][P][Q], in CHWN [K][P][Q][N]
  float* workspace;      // as many floats as workspace_floats says; null for 0
  const float* packed =
      nullptr;  // the same filters as `pack` left them; null where there is no `pack`
  // The launch may begin before the one before it in the stream has ended (can_overlap).
  bool overlaps = false;
  void* stream = nullptr;  // a cudaStream_t; null: the default stream
  // Where the kernel `adds_bias`: bias[k] is added to each sum of filter k before it is stored, and then, with
  // relu, what is negative becomes 0 and NaN stays NaN. null: neither.
  const float* bias = nullptr;  // [K]
  bool relu = false;
};

struct LayerKernel {
  const char* description;
  int (*launch)(const LayerCall&);
  // As set_mask above, with filters[K][C][R][S]. Other kernels of the stage may be set for the same
  // layer in between.
  int (*set_filters)(const float* filters, const LayerNumbers&) = nullptr;
  // Why it does not take a layer, as the end of a sentence ("it is made for one channel"); null: it
  // takes it.
  const char* (*refuses)(const LayerNumbers&) = nullptr;
  long long (*workspace_floats)(const LayerNumbers&) = nullptr;
  // For a kernel that reads its filters in an order of its own: pack launches, on the default stream, what
  // writes packed[packed_floats] from filters[K][C][R][S], both in the device's memory, and returns a CUDA
  // error code. It is called once, before any number of launches, so it is no part of their time or traffic.
  // What it leaves unwritten is anybody's. Both functions or neither.
  long long (*packed_floats)(const LayerNumbers&) = nullptr;
  int (*pack)(const float* filters, float* packed, const LayerNumbers&) = nullptr;
  // Launched with LayerCall::overlaps it sets cudaLaunchAttributeProgrammaticStreamSerialization, calls
  // cudaGridDependencySynchronize() before it reads or writes what earlier launches may touch (all but
  // filters and bias), and writes the same bits as without.
  bool can_overlap = false;
  bool adds_bias = false;  // it heeds LayerCall::bias and relu; else both must be left as they are
  bool chwn = false;       // the layout of input and output; else NCHW
  bool tuned = false;
  TileSizes tiles[kMostTiles] = {};
  Arithmetic arithmetic = Arithmetic::definition;
  bool multiplies_ghosts =
      false;  // as zeros: an infinite tap over one gives NaN. Else: adds nothing
};

// The largest cell of each window, or their average; ghost cells do not count. (The largest of nothing, or
// of nothing but NaN, is -infinity.)
struct PoolingCall {
  LayerNumbers layer;
  bool average;           // else the largest
  const float* input;     // [N][C][H][W], in CHWN [C][H][W][N]
  float* output;          // [N][C][P][Q], in CHWN [C][P][Q][N]
  bool overlaps = false;  // as LayerCall's
};

struct PoolingKernel {
  const char* description;
  int (*launch)(const PoolingCall&);
  const char* (*refuses)(const LayerNumbers&) = nullptr;
  bool chwn = false;
  bool tuned = false;
  TileSizes tiles[kMostTiles] =
      {};  // N images, C channels, P x Q outputs; cells: outputs numbered through
};

// ---- Images into the other layout, and softmax -------------------------------------------------------

// Neighbours in an image stay neighbours in either layout, so a cell's number in [C][H][W] is all that
// matters of its place: NCHW is a matrix [N][cells], CHWN is [cells][N].
struct TransformCall {
  int N;               // images
  int cells;           // C * H * W of each
  bool to_chwn;        // else to NCHW; the input is in the other layout
  const float* input;  // the two do not overlap
  float* output;
};

struct TransformKernel {
  const char* description;
  int (*launch)(const TransformCall&);
  bool tuned = false;
  TileSizes tiles[kMostTiles] = {};  // N images, so many cells of each
};

// output[n][c] = exp(input[n][c] - m) / sum over c of exp(input[n][c] - m), m the largest of the row.
struct SoftmaxCall {
  int N, C;               // images, categories
  const float* input;     // [N][C]
  float* output;          // [N][C]
  float* workspace;       // as many floats as workspace_floats says; null for 0
  bool overlaps = false;  // as LayerCall's
};

struct SoftmaxKernel {
  const char* description;
  int (*launch)(const SoftmaxCall&);
  long long (*workspace_floats)(int N, int C) = nullptr;
  bool can_overlap = false;  // as LayerKernel's
  bool tuned = false;
  TileSizes tiles[kMostTiles] = {};  // N images, C categories
  Arithmetic arithmetic = Arithmetic::definition;
};

// ---- From a number to a template argument -----------------------------------------------------------

template <int kNumber>
struct Number {
  static constexpr int value = kNumber;
};

// As the last of dispatch's numbers it stands for all that are not before it.
constexpr int kAnyOther = 0;

// What dispatch gives for a number that nothing was compiled for: an error code, or no kernel.
template <class Result>
struct NotCompiled {
  static constexpr Result value = static_cast<Result>(9);  // cudaErrorInvalidConfiguration
};
template <class Kernel>
struct NotCompiled<Kernel*> {
  static constexpr Kernel* value = nullptr;
};

// Calls use(Number<n>()) for the n among kFirst, kOthers... that is `number`, and returns what it
// returns. So a kernel is chosen that was compiled for this number:
//   const auto kernel = dispatch<1, 2, 4>(columns, [](auto n) { return some_kernel<n.value>; });
//   if (kernel == nullptr) return cudaErrorInvalidConfiguration;
//   kernel<<<blocks, threads>>>(...);
// If it is none of them: cudaErrorInvalidConfiguration where `use` returns an error code, null where it
// returns a kernel. (cudaFuncSetAttribute and overlap.h's launches take no null, and say so.)
template <int kFirst, int... kOthers, class Use>
auto dispatch(int number, Use use) {
  using Result = decltype(use(Number<kFirst>()));
  if constexpr (sizeof...(kOthers) > 0) {
    if (number != kFirst) return dispatch<kOthers...>(number, use);
  } else if constexpr (kFirst != kAnyOther) {
    if (number != kFirst) return Result{NotCompiled<Result>::value};
  }
  return use(Number<kFirst>());
}

}  // namespace halo
