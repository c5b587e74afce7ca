// Which layers 4_on_chip.cu takes, how it divides them, and what it must cost.
#pragma once

#include <string>
#include <vector>

#include "common/gpus/gpu_figures.hpp"
#include "common/network/catalogue.hpp"
#include "stages/13_network/on_chip.hpp"

namespace halo::network {

// The arrays are left null.
struct OnChipDivision {
  OnChip net{};
  std::vector<std::size_t> layer_of_step;  // the first of a step, counted from the first of all
  // As on_chip_filters.cu has them: of a channel's piece of a row, taps and all floats.
  std::vector<int> taps, pitch;
  std::int64_t packed_floats(int blocks) const {
    return std::int64_t{4} * net.packed_quads * blocks;
  }
};

/// Empty: these layers, for clusters of so many blocks, can be divided. Else why not, in one line.
std::string refuses_on_chip(const std::vector<Layer>& layers, int blocks,
                            const gpus::GpuLimits& gpu);
/// Of layers that are not refused.
OnChipDivision divide_on_chip(const std::vector<Layer>& layers, int blocks);

Cost predict_on_chip(const std::vector<Layer>& layers, int blocks);

}  // namespace halo::network
