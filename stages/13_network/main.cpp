#include "stages/13_network.hpp"
#include "stages/13_network/cudnn_chain.hpp"

int main(int argc, char** argv) {
  return halo::network::run_network(argc, argv, halo::network::stage(),
                                    {halo::network::cudnn_chain()}, halo::make_backend());
}
