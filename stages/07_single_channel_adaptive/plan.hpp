// How Chang et al. ("Fast convolution kernels on Pascal GPU with high memory efficiency") divide
// a single-channel convolution over the SMs of a GPU: their sections 2.2 and 3.1 as a function from
// the figures of a GPU and a problem to a plan, every step of which can be read. Plain C++: no GPU
// is asked.
//
// The letters are the paper's, as its formulas are: a map of Wx x Wy cells, M filters of K x K, all
// float, and as many outputs as cells (in docs/notation.md W, H, K for M, and R = S for K). Its
// equations (3) to (9), as the prose round them has it:
//   all input                     4 (Wx Wy + K^2 M)                             bytes
//   method 1, filters over SMs, the map cut in P strips of rows:
//     D1 = 4 (Wx (Wy/P + K-1) + K^2 M/N_SM)     bytes on chip in an SM
//     F1 = (K^2 M/N_SM) (Wx Wy/P)               FMAs for them
//   method 2, map over SMs (in rows), the filters cut in Q groups:
//     D2 = 4 (Wx (Wy/N_SM + K-1) + K^2 M/Q)
//     F2 = (K^2 M/Q) (Wx Wy/N_SM)
// and the procedure, with N_FMA (gpu_figures.hpp) and V_s:
//   (1) F >= N_FMA bounds P <= Wy and Q <= M from above: a piece must keep the cores busy;
//   (2) shared memory and registers bound them from below: a piece must fit;
//   (3) the smallest in range is taken; if none is, 1;
//   (4) the division with the smaller D wins, and the other's divisor is 1 again.
// Where 1 does not fit on chip, the data are divided again (2.2), into the fewest pieces that fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/conv/layer.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "stages/07_single_channel_adaptive/division.hpp"

namespace halo::single_channel_adaptive {

/// The paper's launch (section 4): two blocks per SM, of 512 threads. The kernels' files say so too.
inline constexpr int kBlocksPerSm = 2;
inline constexpr int kThreadsPerBlock = 512;
inline constexpr int kThreadsPerSm = kBlocksPerSm * kThreadsPerBlock;

/// Floats of the next piece that a thread keeps in registers, as the kernels' files say. 24 x 512 x 4
/// bytes are 48 KB, all the shared memory that a block of the paper's GPU can have.
inline constexpr int kFetchedAhead = 24;

/// Registers that a thread keeps for its work, of the 64 that an SM with 65,536 has for each of
/// kThreadsPerSm. The paper only says that "the number of required registers [...] must be smaller
/// than that supported" and "its detail is not shown here", so this is ours: the 25 cells of a 5x5
/// window, a sum, and 14 for indices and addresses.
inline constexpr int kWorkRegisters = 40;

/// Fewest registers a thread must be able to have: one to prefetch into.
inline constexpr int kLeastRegisters = kWorkRegisters + 1;

/// Throws std::invalid_argument, in one line, if a figure is below its least (see GpuFigures), not
/// a number or beyond 10^9, or if the SM cannot hold the paper's launch (kThreadsPerSm threads,
/// with kLeastRegisters registers each and shared memory left for both blocks).
void require_usable(const gpus::GpuFigures& gpu);

/// Bytes that global memory delivers in a cycle, whole ones: 327 on a GTX 1080 Ti.
std::int64_t bytes_per_cycle(const gpus::GpuFigures& gpu);

/// The other way to hide the latency: so many bytes in flight that memory never pauses. The numbers
/// of the paper's Table 1, in its order. (As on a GTX 1080 Ti:)
struct VolumeToHideLatency {
  std::int64_t bytes = 0;           // bytes_per_cycle * latency: 84,366
  std::int64_t threads = 0;         // one 4-byte load each, whole warps: 21,120
  std::int64_t words_per_sm = 0;    // 4-byte loads an SM, before it is a matter of warps: 754
  std::int64_t threads_per_sm = 0;  // whole warps again: 768
  std::int64_t warps_per_sm = 0;    // 24
  std::int64_t bytes_per_sm = 0;    // 3,072
  std::int64_t whole_bytes = 0;     // V_s as the plan needs it, on all SMs: 86,016
};
VolumeToHideLatency volume_to_hide_latency(const gpus::GpuFigures& gpu);

/// Four-byte loads that each of kThreadsPerSm threads must have in flight for V_s: 1 on a GTX 1080
/// Ti, 3 on an H200.
std::int64_t loads_per_thread(const gpus::GpuFigures& gpu);

/// One map and its filters, as the paper writes them.
struct Problem {
  std::int64_t Wx = 0;  // columns of the map
  std::int64_t Wy = 0;  // rows of the map
  std::int64_t K = 0;   // rows and columns of a filter
  std::int64_t M = 0;   // filters

  bool operator==(const Problem&) const = default;
};

/// Throws std::invalid_argument, in one line, if the layer has more than one channel or a stride.
void require_single_channel(const conv::ConvLayer& layer);

/// The problem of one image of a layer; a batch is the same plan for each image. Strips are cut
/// from rows of outputs, so Wy is the layer's P (its H, with the paper's padding); Wx is W or Q,
/// whichever is larger, so that neither bytes nor FMAs are underestimated. Throws
/// std::invalid_argument, in one line, if there is more than one channel, a stride, or a filter
/// that is not square.
Problem problem_of(const conv::ConvLayer& layer);

/// What a quotient such as M / N_SM means.
enum class Quotients {
  rounded_up,  // whole rows and whole filters: what the fullest SM gets. A plan to launch.
  exact,       // real numbers, as the formulas are printed: to follow the paper's arithmetic only,
               // on 132 SMs it deals out halves of filters
};

enum class Method {
  filters_over_sms,  // the paper's first; P strips of the map
  map_over_sms,      // the paper's second; Q groups of filters
};

struct PlanOptions {
  gpus::FmaCount fma = gpus::FmaCount::as_printed;
  Quotients quotients = Quotients::rounded_up;
  /// The next piece waits in registers until the present one is done with shared memory, as it must
  /// where global memory cannot be copied to shared memory directly (before compute capability
  /// 8.0).
  bool prefetch_in_registers = true;
  /// This method, whatever step 4 would choose: to compare the two.
  std::optional<Method> only = {};
};

/// What an SM has on chip at a time.
struct Piece {
  std::int64_t rows = 0;       // of outputs, K-1 more rows of input; whole, whatever the Quotients
  std::int64_t filters = 0;    // whole as well
  std::int64_t pieces = 0;     // that an SM works through, one after the other
  std::int64_t sms = 0;        // that have work; the last of them perhaps less
  std::int64_t bytes = 0;      // D1 or D2
  std::int64_t fma = 0;        // F1 or F2
  std::int64_t in_flight = 0;  // bytes * sms: bytes transferred to all SMs at a time

  bool operator==(const Piece&) const = default;
};

/// Steps (1) to (3) for one of the methods. A bound of 0 means that no divisor satisfies it.
struct Candidate {
  Method method = Method::filters_over_sms;
  std::int64_t most = 0;              // Wy or M
  std::int64_t highest = 0;           // (1) the largest divisor that still feeds the cores
  std::int64_t lowest_shared = 0;     // (2) the smallest that fits shared memory
  std::int64_t lowest_registers = 0;  // (2) the smallest that can be prefetched in registers
  std::int64_t lowest = 0;            // (2) both; 1 fits if it fits shared memory: no next piece
  bool in_range = false;              // (3) lowest <= highest, and there are both
  std::int64_t divisor = 1;           // (3) P or Q
  Piece piece;                        // with that divisor
};

/// Which step settled the divisor of the method that was chosen.
enum class Decision {
  smallest_in_range,  // 3.1, step 3
  set_to_one,         // 3.1, step 3, second sentence: there was none in range, and 1 fits
  divided_again,      // 2.2: there was none in range, and 1 does not fit
};

/// What hides the latency of global memory.
enum class Hiding {
  prefetch,  // 2.2, first way: N_FMA operations or more on a piece while the next one arrives
  volume,    // 2.2, second way: V_s bytes or more in flight
  neither,   // too little of both: the latency shows
};

struct Plan {
  gpus::GpuFigures gpu;
  Problem problem;
  PlanOptions options;

  std::int64_t n_fma = 0;           // N_FMA
  VolumeToHideLatency volume;       // V_s is volume.whole_bytes
  std::int64_t shared_bytes = 0;    // of an SM, usable by both blocks together
  std::int64_t register_bytes = 0;  // of an SM, free for the next piece; 0 if options say not to
  std::int64_t input_bytes = 0;     // 4 (Wx Wy + K^2 M)

  Candidate filters_over_sms;  // method 1
  Candidate map_over_sms;      // method 2

  Method method = Method::filters_over_sms;  // (4)
  Decision decision = Decision::smallest_in_range;
  Hiding hiding = Hiding::neither;
  std::int64_t P = 1;  // strips of the map (of an SM's share of it: see share_pieces)
  std::int64_t Q = 1;  // groups of filters
  /// Pieces of an SM's share, of filters in method 1, of rows in method 2: more than 1 only if it
  /// had to be divided again and P or Q alone was not enough. (The paper's third approach, 2.3.)
  std::int64_t share_pieces = 1;
  Piece piece;  // with P, Q and share_pieces

  int threads_per_block = kThreadsPerBlock;
  int blocks_per_sm = kBlocksPerSm;
  std::int64_t loads_per_thread = 0;  // of 4 bytes, in flight at a time, for V_s

  const Candidate& chosen() const {
    return method == Method::filters_over_sms ? filters_over_sms : map_over_sms;
  }
};

/// Plans a problem. Throws std::invalid_argument, in one line, as require_usable for the GPU; if a
/// dimension is below 1, or map, filters or output have more than conv::kMaxElements; and if not
/// even one row of outputs and one filter fit on chip.
Plan plan(const gpus::GpuFigures& gpu, const Problem& problem, const PlanOptions& options = {});

/// The plan with every step that led to it, as lines of text.
std::string explain(const Plan& plan);

/// What the paper's Table 1 says of its GPU, for this one, with N_FMA both ways; then the sources
/// of the figures. Throws as require_usable.
std::string explain(const gpus::GpuFigures& gpu);

/// Deals the plan of one image of the layer to blocks. The plan's formulas count the on-chip memory
/// of an SM as one, but it is two blocks', and neither can read the other's: what both need (halo
/// rows, and the filters or the rows that they do not halve) is there twice. So
///   - the two blocks of an SM halve the rows or the filters of its share, whichever makes a
///     block's piece smaller (rows, if it is the same);
///   - where a block's piece then does not fit the block's half of shared memory, or what arrives
///     for the next does not fit its kFetchedAhead registers a thread, there are more strips or groups
///     than planned: as few as fit, preferably of one kind only.
/// Throws std::invalid_argument, in one line, if the layer has more than one channel or a stride, if
/// not even one row of outputs and one filter fit a block, or if all images together are more blocks
/// than a grid can have.
Division divide(const Plan& plan, const conv::ConvLayer& layer);

/// Strips and groups that a full block has.
int strips(const Division& division);
int groups(const Division& division);

/// Whether two plans launch the same: method, P, Q and share_pieces.
bool same_division(const Plan& a, const Plan& b);

}  // namespace halo::single_channel_adaptive
