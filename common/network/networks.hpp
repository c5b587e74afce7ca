// The networks of the paper, and the one that reads digits.
#pragma once

#include <string>
#include <vector>

#include "common/network/graph.hpp"

namespace halo::network {

/// digits, lenet, cifar10, alexnet, zfnet, vgg.
std::vector<std::string> network_names();

/// The network of this name on a batch of so many images. Throws std::invalid_argument, in one line, for
/// another name and as the layers' constructors.
Network make_network(const std::string& name, int images);

/// The images that Li et al. (SC'16), Table 1, give the network; 128 for digits.
int paper_batch(const std::string& name);

/// Networks with every kind of layer in many orders and odd sizes, small enough to be tried on
/// everything: maps that windows do not divide, 1 image and more than a warp has lanes, one channel,
/// layers that follow each other where a change of layout may pay, average pooling, padding, ceil.
std::vector<Network> miniature_networks();

}  // namespace halo::network
