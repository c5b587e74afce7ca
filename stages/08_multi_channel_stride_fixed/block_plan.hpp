// How a layer is cut into blocks: section 3.2 of Chang et al. ("Fast convolution kernels on Pascal
// GPU with high memory efficiency") as functions from a layer and a few figures of a GPU, and the
// three divisions that the paper weighs against it (2.3). Plain C++: no GPU is asked.
//
// The paper's letters: S, bytes of each filter that come on chip together; W'x, target pixels of a
// block, a multiple of 32 (128 bytes); W'y = ceil(S / 4K), lines of the map that the segment needs,
// with K the filter's size; M', filters together. Its rules:
//   (S/4) M' W'x >= N_FMA                 enough to do while the next segment is on its way
//   4 (S/4 M' + W'y W'x * maps) <= half of shared memory
//                                         for one of the two buffers, with all maps that it needs
// Its W'y is too small where a segment starts in the middle of a filter's row: see segment_extent.
//
// Which pixels are W'x? The paper does not say what a map of fewer columns does. Here W'x counts
// outputs: a block has whole rows of a narrow map, as many as W'x holds, and a piece of a row of a
// wide one, so that its targets are a rectangle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "stages/08_multi_channel_stride_fixed/block.hpp"

namespace halo::multi_channel_stride_fixed {

/// The paper's segments and the two it argues against, in floats: S / 4.
inline constexpr int kSegment32 = 8;
inline constexpr int kSegment64 = 16;
inline constexpr int kSegment128 = 32;

/// W'x and M' where nothing else is asked for. The paper names them in section 4, but the copies of
/// its text that we know lost the numbers; these satisfy its rule for N_FMA on its own GPU, as the
/// hardware counts, with the smaller segment (8 * 64 * 128 = 65,536).
inline constexpr int kPixels = 128;
inline constexpr int kFilters = 64;

/// M' for segments of 128 bytes: what "has to be kept small because of the limited size of on-chip
/// memory". These filters take as many bytes on chip as 64 with 32 bytes.
inline constexpr int kFiltersOf128 = 16;

/// What a segment can touch at most, over all segments of a layer.
struct SegmentExtent {
  int paper_lines = 0;  // the paper's W'y = ceil(S / 4K), K the filter's columns
  int lines = 0;        // rows of filters, and so lines of maps for one row of targets
  int maps = 0;         // channels

  bool operator==(const SegmentExtent&) const = default;
};

/// For segments of `segment` floats. 8 floats of 3 x 3 filters: 3 lines by the paper, 4 in truth, when
/// the segment starts with a row's last tap, of 2 maps.
SegmentExtent segment_extent(const conv::ConvLayer& layer, int segment);

/// One way to cut a layer for one of the kernels, or why there is none.
struct BlockPlan {
  std::string refusal;  // empty: there is a block
  Block block{};
  int threads = 0;
  int parts = 1;                      // of the channels: channels_divided
  std::int64_t workspace_floats = 0;  // their sums
  std::int64_t shared_bytes = 0;      // of a block: both buffers
};

/// The block method with segments of `segment` floats, W'x = `pixels` and M' = `filters`, all as
/// given; refused if it does not fit. Throws std::invalid_argument unless segment >= 1, pixels is a
/// multiple of 32 and filters one of kFiltersPerThread.
BlockPlan exact_block(const conv::ConvLayer& layer, int segment, int pixels, int filters,
                      const gpus::GpuLimits& gpu);

/// The same with the largest W'x and M' that are no more than given and fit: W'x no more than the
/// map's pixels need, M' no more than there are filters; each buffer within half of an SM's shared
/// memory, both within a block's. Of maps and filters, what takes more is halved; where
/// not even 32 pixels' lines fit (strides far beyond the filter), some of the 32 threads have none.
BlockPlan plan_blocks(const conv::ConvLayer& layer, int segment, const gpus::GpuLimits& gpu,
                      int pixels = kPixels, int filters = kFilters);

/// plan_blocks with segments of 32 bytes, and the channels dealt out to the SMs: C / SMs, rounded up,
/// for each; more where the parts' sums would take more than kMostPartialSums floats.
BlockPlan plan_channels_divided(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);
inline constexpr std::int64_t kMostPartialSums = std::int64_t{1} << 28;  // 1 GiB

/// K / SMs filters a block, rounded up to 1, 2, 4 or 8, fewer if they do not fit; refused if not even
/// one does. Tiles of up to 512 pixels.
BlockPlan plan_filters_divided(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);

/// N P Q / SMs pixels a block, fewer if all channels of them do not fit; refused if not even one
/// pixel's do.
BlockPlan plan_maps_divided(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);

/// The paper's procedure for one layer and S, step by step, as lines of text. n_fma as the caller
/// counts it, with a word for how.
struct FmaNeed {
  std::string how;  // "2 FMAs per core and cycle, as printed"
  std::int64_t n_fma = 0;
};
std::string explain(const conv::ConvLayer& layer, int segment, const gpus::GpuLimits& gpu,
                    const std::vector<FmaNeed>& needs);

}  // namespace halo::multi_channel_stride_fixed
