// The peers of a stage's program: those of the library, on a GPU. In the simulator nothing is timed, so nothing is
// compared.
#include <dlfcn.h>

#include "common/peers/library.hpp"
#include "common/simt/simulator.hpp"

namespace halo::peers {

const Library* load_library(std::string& reason) {
  void* const file = dlopen(HALO_PEERS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) {
    reason = std::string("the peers could not be loaded (ninja peers builds them): ") + dlerror();
    return nullptr;
  }
  const auto ask = reinterpret_cast<decltype(&halo_peers)>(dlsym(file, "halo_peers"));
  if (ask == nullptr) {
    reason = HALO_PEERS_LIBRARY " is not of this build: ninja peers builds it";
    return nullptr;
  }
  return ask();
}

namespace {

template <class Variants>
Variants all_of(Variants (*Library::*list)()) {
  if (simt::simulator() != nullptr) return {};
  std::string reason;
  if (const Library* const library = load_library(reason)) return (library->*list)();
  typename Variants::value_type none;
  none.name = "peers";
  none.source = "common/peers";
  none.role = Role::peer;
  none.unavailable = reason;
  return {none};
}

}  // namespace

std::vector<Conv1dVariant> conv1d() { return all_of(&Library::conv1d); }
std::vector<Conv2dVariant> conv2d() { return all_of(&Library::conv2d); }
std::vector<Conv2dVariant> fft_convolution() { return all_of(&Library::fft_convolution); }
std::vector<TransformVariant> transform() { return all_of(&Library::transform); }
std::vector<PoolingVariant> pooling() { return all_of(&Library::pooling); }
std::vector<SoftmaxVariant> softmax() { return all_of(&Library::softmax); }

}  // namespace halo::peers
