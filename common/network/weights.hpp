// The numbers of a network: filters and biases, drawn from a seed or read from files; pictures as input.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/network/graph.hpp"

namespace halo::network {

// Of one layer; both empty where it has none.
struct LayerWeights {
  std::vector<float> filters;  // [K][C][R][S]; of a fully connected layer [K][features]
  std::vector<float> bias;     // [K]
};

// One for each layer of a network.
using Weights = std::vector<LayerWeights>;

/// Random taps with a mean square of 2 / (C*R*S), as He et al. (2015) initialise networks with ReLU: maps
/// then keep their size from layer to layer, however many there are. They are evenly spread in
/// +-sqrt(6 / (C*R*S)); biases in +-0.1.
Weights random_weights(const Network& network, std::uint64_t seed);

/// Random input of mean square 1, in NCHW.
std::vector<float> random_input(const Network& network, std::uint64_t seed);

/// Reads LAYER.filters.npy and LAYER.bias.npy of each layer from the folder. Filters are [K][C][R][S], of
/// fully connected layers [K][features] as well. Throws data::DataError, in one line that names the file,
/// for what data::read_array throws for, NaN and infinity among them, and for another shape.
Weights read_weights(const Network& network, const std::string& folder);

/// Pictures that `network` reads, [N][C][H][W] of 0 ... 1, from the files of a picture (data::read_picture):
/// grey, of the network's size, or larger by a whole number in both directions, whose pixels are then
/// averaged. 255 becomes 1. Throws data::DataError, in one line, for anything else. For networks of one
/// channel.
std::vector<float> read_picture_for(const Network& network, const std::string& path);

}  // namespace halo::network
