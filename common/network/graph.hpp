// A network as a chain of layers: what each computes and on which shapes, and nothing of how. Nothing
// here knows of any device, of layouts in memory or of kernels; see plan.hpp for those.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/conv/layout.hpp"
#include "common/conv/pooling.hpp"
#include "common/conv/softmax.hpp"

namespace halo::network {

// A convolution, then a bias for each filter, then, with relu, max(0, x). A fully connected layer is the
// same with filters that cover the whole image, so that each output is a sum over all of it.
struct Weighted {
  conv::ConvLayer sums;
  bool relu = true;
};

// One layer. Its input is the output of the layer before.
struct Layer {
  std::string name;  // conv1
  std::variant<Weighted, conv::PoolingLayer, conv::Softmax> work;
};

enum class Kind { convolution, fully_connected, pooling, softmax };

/// What kind of layer it is. Fully connected: one output a filter, and no padding.
Kind kind_of(const Layer& layer);
const char* to_string(Kind kind);

/// The shapes of what a layer reads and writes. Softmax has images of 1 x 1 with a channel a category.
conv::Images input_of(const Layer& layer);
conv::Images output_of(const Layer& layer);

/// In one line: "convolution 28-128-5-16-1, bias, ReLU".
std::string describe(const Layer& layer);

/// Additions and multiplications of the definition, and bytes that must move at least (weights and bias
/// included), of one layer.
std::int64_t flops(const Layer& layer);
std::int64_t min_bytes(const Layer& layer);

class Network {
 public:
  /// Throws std::invalid_argument, in one line, unless there are layers, with different names, each
  /// reads what the one before writes, and the last is a softmax: so the output is [N][categories],
  /// whatever the layouts on the way.
  Network(std::string name, std::vector<Layer> layers);

  const std::string& name() const { return name_; }
  const std::vector<Layer>& layers() const { return layers_; }
  int images() const { return input().N(); }
  conv::Images input() const { return input_of(layers_.front()); }
  int categories() const { return output_of(layers_.back()).C(); }

  /// Filters' taps and biases together.
  std::int64_t weights() const;
  /// Products of all its sums, on all its images.
  std::int64_t products() const;

 private:
  std::string name_;
  std::vector<Layer> layers_;
};

/// Writes a network down layer by layer; each follows from what it reads and the few numbers given.
/// What is impossible (a window larger than its map) throws std::invalid_argument, in one line that names
/// network and layer.
class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, const conv::ImagesShape& input);

  struct Steps {
    int stride = 1;
    int padding = 0;
  };
  /// `filters` filters of size x size, bias, ReLU.
  NetworkBuilder& convolution(const std::string& name, int filters, int size, Steps steps);
  NetworkBuilder& convolution(const std::string& name, int filters, int size) {
    return convolution(name, filters, size, {});
  }
  /// Windows of size x size.
  NetworkBuilder& pooling(const std::string& name, int size, int stride,
                          conv::Rounding rounding = conv::Rounding::floor,
                          conv::Pooling kind = conv::Pooling::max, int padding = 0);
  /// Bias, and ReLU unless the next layer is to see what is negative.
  NetworkBuilder& fully_connected(const std::string& name, int outputs, bool relu = true);
  NetworkBuilder& softmax(const std::string& name = "softmax");

  Network build() const { return Network(name_, layers_); }

 private:
  template <class Make>
  NetworkBuilder& add(const std::string& name, Make make);

  std::string name_;
  conv::Images images_;  // what the next layer reads
  std::vector<Layer> layers_;
};

}  // namespace halo::network
