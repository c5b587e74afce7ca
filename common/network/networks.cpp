#include "common/network/networks.hpp"

#include <stdexcept>

namespace halo::network {

namespace {

using conv::Pooling;
using conv::Rounding;

// Each layer's comment has the map that it writes and its name in Table 1 of Li et al. (SC'16), if it is
// there. Of all networks left out, as in the paper's measurements: local response normalisation and
// dropout (which does nothing when a network is used). Sizes are of the published networks; where the
// paper's table says otherwise, that is told.

// Eight by eight handwritten digits; its weights are in digits/weights, from digits/train.py.
Network digits(int images) {
  return NetworkBuilder("digits", {images, 1, 8, 8})
      .convolution("conv1", 16, 3, {.padding = 1})  // 8 x 8 x 16
      .pooling("pool1", 2, 2)                       // 4 x 4 x 16
      .convolution("conv2", 32, 3, {.padding = 1})  // 4 x 4 x 32
      .pooling("pool2", 2, 2)                       // 2 x 2 x 32
      .fully_connected("fc1", 64)
      .fully_connected("fc2", 10, false)
      .softmax()
      .build();
}

// LeNet-5 (LeCun et al., 1998) as the paper's table has it: 16 filters in both convolutions (6 and 16),
// maps that padding keeps (CV2's map is 14 x 14), ReLU and maxima instead of its sigmoids and averages.
// The table has no fully connected layers: LeNet-5's.
Network lenet(int images) {
  return NetworkBuilder("lenet", {images, 1, 28, 28})
      .convolution("conv1", 16, 5, {.padding = 2})  // CV1, 28 x 28 x 16
      .pooling("pool1", 2, 2)                       // PL1, 14 x 14
      .convolution("conv2", 16, 5, {.padding = 2})  // CV2, 14 x 14 x 16
      .pooling("pool2", 2, 2)                       // PL2, 7 x 7
      .fully_connected("fc1", 120)
      .fully_connected("fc2", 84)
      .fully_connected("fc3", 10, false)
      .softmax()  // CLASS1
      .build();
}

// cuda-convnet's network for CIFAR-10, on crops of 24 x 24. Pooling rounds up: CV4's map is 12 x 12. Behind
// PL4 cuda-convnet has two locally connected layers, which are no convolutions; in their place the two
// fully connected ones that TensorFlow's tutorial of the same network has.
Network cifar10(int images) {
  return NetworkBuilder("cifar10", {images, 3, 24, 24})
      .convolution("conv1", 64, 5, {.padding = 2})  // CV3, 24 x 24 x 64
      .pooling("pool1", 3, 2, Rounding::ceil)       // PL3, 12 x 12
      .convolution("conv2", 64, 5, {.padding = 2})  // CV4, 12 x 12 x 64
      .pooling("pool2", 3, 2, Rounding::ceil)       // PL4, 6 x 6
      .fully_connected("fc1", 384)
      .fully_connected("fc2", 192)
      .fully_connected("fc3", 10, false)
      .softmax()  // CLASS2
      .build();
}

// Krizhevsky, Sutskever, Hinton (2012), on images of 227 x 227, from which its 55 x 55 follow. Without its
// two groups, which were there to divide it over two GPUs: conv2, conv4 and conv5 see all channels. The
// paper's table has 192 channels in PL6, as in Krizhevsky's network of 2014; here 256, as published in
// 2012. Its pooling layers are here; its convolutions are not in the table.
Network alexnet(int images) {
  return NetworkBuilder("alexnet", {images, 3, 227, 227})
      .convolution("conv1", 96, 11, {.stride = 4})   // 55 x 55 x 96
      .pooling("pool1", 3, 2)                        // PL5, 27 x 27
      .convolution("conv2", 256, 5, {.padding = 2})  // 27 x 27 x 256
      .pooling("pool2", 3, 2)                        // PL6 (of 192 channels), 13 x 13
      .convolution("conv3", 384, 3, {.padding = 1})
      .convolution("conv4", 384, 3, {.padding = 1})
      .convolution("conv5", 256, 3, {.padding = 1})  // 13 x 13 x 256
      .pooling("pool5", 3, 2)                        // PL7, 6 x 6
      .fully_connected("fc6", 4096)
      .fully_connected("fc7", 4096)
      .fully_connected("fc8", 1000, false)
      .softmax()  // CLASS3
      .build();
}

// Zeiler & Fergus (2014). The paper's table gives CV5 filters of 3 x 3; published are 7 x 7, taken here, and
// a padding of 1, from which PL8's 110 x 110 follow. Pooling rounds up: CV6's map is 55 x 55, CV7's
// 13 x 13. conv5 is not in the table.
Network zfnet(int images) {
  return NetworkBuilder("zfnet", {images, 3, 224, 224})
      .convolution("conv1", 96, 7, {.stride = 2, .padding = 1})  // CV5, 110 x 110 x 96
      .pooling("pool1", 3, 2, Rounding::ceil)                    // PL8, 55 x 55
      .convolution("conv2", 256, 5, {.stride = 2})               // CV6, 26 x 26 x 256
      .pooling("pool2", 3, 2, Rounding::ceil)                    // PL9, 13 x 13
      .convolution("conv3", 384, 3, {.padding = 1})              // CV7
      .convolution("conv4", 384, 3, {.padding = 1})              // CV8
      .convolution("conv5", 256, 3, {.padding = 1})              // 13 x 13 x 256
      .pooling("pool5", 3, 2)                                    // PL10, 6 x 6
      .fully_connected("fc6", 4096)
      .fully_connected("fc7", 4096)
      .fully_connected("fc8", 1000, false)
      .softmax()  // CLASS4
      .build();
}

// VGG-16: configuration D of Simonyan & Zisserman (2015). The paper's table has 4 of its 13 convolutions
// and none of its pooling layers.
Network vgg(int images) {
  const NetworkBuilder::Steps same{.padding = 1};  // the map keeps its size
  return NetworkBuilder("vgg", {images, 3, 224, 224})
      .convolution("conv1_1", 64, 3, same)  // CV9
      .convolution("conv1_2", 64, 3, same)
      .pooling("pool1", 2, 2)  // 112 x 112
      .convolution("conv2_1", 128, 3, same)
      .convolution("conv2_2", 128, 3, same)
      .pooling("pool2", 2, 2)                // 56 x 56
      .convolution("conv3_1", 256, 3, same)  // CV10
      .convolution("conv3_2", 256, 3, same)
      .convolution("conv3_3", 256, 3, same)
      .pooling("pool3", 2, 2)                // 28 x 28
      .convolution("conv4_1", 512, 3, same)  // CV11
      .convolution("conv4_2", 512, 3, same)
      .convolution("conv4_3", 512, 3, same)
      .pooling("pool4", 2, 2)                // 14 x 14
      .convolution("conv5_1", 512, 3, same)  // CV12
      .convolution("conv5_2", 512, 3, same)
      .convolution("conv5_3", 512, 3, same)
      .pooling("pool5", 2, 2)  // 7 x 7
      .fully_connected("fc6", 4096)
      .fully_connected("fc7", 4096)
      .fully_connected("fc8", 1000, false)
      .softmax()  // CLASS5
      .build();
}

struct Entry {
  const char* name;
  Network (*make)(int images);
  int paper_batch;
};
constexpr Entry kNetworks[] = {
    {"digits", digits, 128},   {"lenet", lenet, 128}, {"cifar10", cifar10, 128},
    {"alexnet", alexnet, 128}, {"zfnet", zfnet, 64},  {"vgg", vgg, 32},
};

const Entry& entry(const std::string& name) {
  std::string names;
  for (const Entry& known : kNetworks) {
    if (name == known.name) return known;
    names += std::string(" ") + known.name;
  }
  throw std::invalid_argument("there is no network '" + name + "'; there are:" + names);
}

}  // namespace

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const Entry& known : kNetworks) names.emplace_back(known.name);
  return names;
}

Network make_network(const std::string& name, int images) { return entry(name).make(images); }

int paper_batch(const std::string& name) { return entry(name).paper_batch; }

std::vector<Network> miniature_networks() {
  return {
      // One of everything.
      NetworkBuilder("mini1", {1, 1, 1, 1})
          .convolution("conv1", 1, 1)
          .pooling("pool1", 1, 1)
          .fully_connected("fc1", 1)
          .softmax()
          .build(),
      // Odd sizes; more images than a warp has lanes.
      NetworkBuilder("mini2", {33, 3, 9, 7})
          .convolution("conv1", 5, 3, {.padding = 1})
          .pooling("pool1", 3, 2, Rounding::ceil)
          .convolution("conv2", 7, 3, {.stride = 2, .padding = 1})
          .pooling("pool2", 2, 1, Rounding::floor, Pooling::average)
          .fully_connected("fc1", 11)
          .fully_connected("fc2", 5, false)
          .softmax()
          .build(),
      // Windows that overlap, with padding; pooling after pooling; a softmax of 33.
      NetworkBuilder("mini3", {5, 2, 13, 11})
          .pooling("pool1", 3, 2, Rounding::ceil, Pooling::average, 1)
          .pooling("pool2", 3, 1, Rounding::floor, Pooling::max, 1)
          .convolution("conv1", 9, 5, {.padding = 2})
          .fully_connected("fc1", 33, false)
          .softmax()
          .build(),
      // Many channels on small maps, few images; only fully connected behind.
      NetworkBuilder("mini4", {2, 17, 6, 6})
          .convolution("conv1", 33, 1)
          .convolution("conv2", 3, 3)
          .fully_connected("fc1", 65)
          .fully_connected("fc2", 64)
          .fully_connected("fc3", 3, false)
          .softmax()
          .build(),
      // As many images as the CHWN kernels like, one channel.
      NetworkBuilder("mini5", {64, 1, 7, 7})
          .convolution("conv1", 4, 3)
          .pooling("pool1", 2, 2, Rounding::ceil)
          .fully_connected("fc1", 10, false)
          .softmax()
          .build(),
      // Few images and small maps, all padded: on chip from the first layer on.
      NetworkBuilder("mini6", {2, 1, 10, 9})
          .convolution("conv1", 6, 5, {.padding = 2})
          .pooling("pool1", 2, 2)
          .convolution("conv2", 9, 3, {.padding = 1})
          .pooling("pool2", 2, 2)
          .fully_connected("fc1", 12)
          .fully_connected("fc2", 5, false)
          .softmax()
          .build(),
  };
}

}  // namespace halo::network
