// The program that plans, checks, times and shows whole networks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/network/catalogue.hpp"

namespace halo::network {

/// What networks are built of, and where the digits are.
struct NetworkStage {
  std::string name;         // 13_network
  MakeCatalogue catalogue;  // the course's own kernels
  MakeCatalogue split;      // and those on tensor cores (Catalogue::takes_split)
  std::string digits;       // folder: weights/ of the network digits, and the test pictures
};

/// Another maker's kernels, chained in NCHW, to compare with.
struct Peer {
  std::string name;         // cudnn_chain
  std::string description;  // one line for --list
  std::string version;      // "cuDNN 9.14.0"; may be empty
  std::string unavailable;  // not empty: it cannot run here, and why
  MakeCatalogue catalogue;
};

/// The main function of the stage's program. Returns its exit status: 0 good, 1 a check or a hazard
/// failed, 2 wrong use, 77 not run.
int run_network(int argc, const char* const* argv, const NetworkStage& stage,
                const std::vector<Peer>& peers, std::unique_ptr<Backend> backend);

}  // namespace halo::network
