#include "common/network/graph.hpp"

#include <set>
#include <stdexcept>

namespace halo::network {

namespace {

template <class... Parts>
struct Overloaded : Parts... {
  using Parts::operator()...;
};
template <class... Parts>
Overloaded(Parts...) -> Overloaded<Parts...>;

constexpr std::int64_t kFloatBytes = sizeof(float);

}  // namespace

Kind kind_of(const Layer& layer) {
  return std::visit(Overloaded{[](const Weighted& w) {
                                 const conv::LayerShape& s = w.sums.shape();
                                 const bool covers = s.R == s.H && s.S == s.W && s.padding_h == 0 &&
                                                     s.padding_w == 0;
                                 return covers ? Kind::fully_connected : Kind::convolution;
                               },
                               [](const conv::PoolingLayer&) { return Kind::pooling; },
                               [](const conv::Softmax&) { return Kind::softmax; }},
                    layer.work);
}

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::convolution:
      return "convolution";
    case Kind::fully_connected:
      return "fully connected";
    case Kind::pooling:
      return "pooling";
    default:
      return "softmax";
  }
}

conv::Images input_of(const Layer& layer) {
  return std::visit(
      Overloaded{[](const Weighted& w) {
                   return conv::Images({w.sums.N(), w.sums.C(), w.sums.H(), w.sums.W()});
                 },
                 [](const conv::PoolingLayer& p) { return p.input(); },
                 [](const conv::Softmax& s) {
                   return conv::Images({s.N(), s.C(), 1, 1});
                 }},
      layer.work);
}

conv::Images output_of(const Layer& layer) {
  return std::visit(
      Overloaded{[](const Weighted& w) {
                   return conv::Images({w.sums.N(), w.sums.K(), w.sums.P(), w.sums.Q()});
                 },
                 [](const conv::PoolingLayer& p) { return p.output(); },
                 [](const conv::Softmax& s) {
                   return conv::Images({s.N(), s.C(), 1, 1});
                 }},
      layer.work);
}

std::string describe(const Layer& layer) {
  const std::string kind = to_string(kind_of(layer));
  return kind + " " +
         std::visit(Overloaded{[&](const Weighted& w) {
                                 std::string shape = conv::label(w.sums);
                                 if (kind_of(layer) == Kind::fully_connected) {
                                   shape = std::to_string(w.sums.products_per_output()) + " -> " +
                                           std::to_string(w.sums.K());
                                 }
                                 return shape + ", bias" + (w.relu ? ", ReLU" : "");
                               },
                               [](const conv::PoolingLayer& p) { return conv::label(p); },
                               [](const conv::Softmax& s) { return conv::label(s); }},
                    layer.work);
}

std::int64_t flops(const Layer& layer) {
  return std::visit(Overloaded{[](const Weighted& w) {
                                 const std::int64_t each = w.relu ? 2 : 1;
                                 return conv::flops(w.sums) + each * w.sums.output_size();
                               },
                               [](const auto& other) { return conv::flops(other); }},
                    layer.work);
}

std::int64_t min_bytes(const Layer& layer) {
  return std::visit(Overloaded{[](const Weighted& w) {
                                 return conv::min_bytes(w.sums) + kFloatBytes * w.sums.K();
                               },
                               [](const auto& other) { return conv::min_bytes(other); }},
                    layer.work);
}

Network::Network(std::string name, std::vector<Layer> layers)
    : name_(std::move(name)), layers_(std::move(layers)) {
  if (layers_.empty()) throw std::invalid_argument("network " + name_ + " has no layers");
  std::set<std::string> names;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    if (!names.insert(layer.name).second) {
      throw std::invalid_argument("network " + name_ + " has two layers " + layer.name);
    }
    if (i == 0) continue;
    // A fully connected layer reads a map, softmax its channels: the shapes are equal then, too.
    if (input_of(layer) != output_of(layers_[i - 1])) {
      throw std::invalid_argument("network " + name_ + ": layer " + layer.name +
                                  " does not read what layer " + layers_[i - 1].name + " writes");
    }
  }
  if (kind_of(layers_.back()) != Kind::softmax) {
    throw std::invalid_argument("network " + name_ + " does not end with a softmax");
  }
}

std::int64_t Network::weights() const {
  std::int64_t count = 0;
  for (const Layer& layer : layers_) {
    if (const auto* w = std::get_if<Weighted>(&layer.work)) {
      count += w->sums.filters_size() + w->sums.K();
    }
  }
  return count;
}

std::int64_t Network::products() const {
  std::int64_t count = 0;
  for (const Layer& layer : layers_) {
    if (const auto* w = std::get_if<Weighted>(&layer.work)) count += conv::products(w->sums);
  }
  return count;
}

NetworkBuilder::NetworkBuilder(std::string name, const conv::ImagesShape& input)
    : name_(std::move(name)), images_(input) {}

template <class Make>
NetworkBuilder& NetworkBuilder::add(const std::string& name, Make make) {
  try {
    layers_.push_back({name, make()});
    images_ = output_of(layers_.back());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument("network " + name_ + ", layer " + name + ": " + error.what());
  }
  return *this;
}

NetworkBuilder& NetworkBuilder::convolution(const std::string& name, int filters, int size,
                                            Steps steps) {
  return add(name, [&] {
    return Weighted{conv::ConvLayer({.N = images_.N(),
                                     .C = images_.C(),
                                     .H = images_.H(),
                                     .W = images_.W(),
                                     .K = filters,
                                     .R = size,
                                     .S = size,
                                     .stride_h = steps.stride,
                                     .stride_w = steps.stride,
                                     .padding_h = steps.padding,
                                     .padding_w = steps.padding}),
                    true};
  });
}

NetworkBuilder& NetworkBuilder::pooling(const std::string& name, int size, int stride,
                                        conv::Rounding rounding, conv::Pooling kind, int padding) {
  return add(name, [&] {
    return conv::PoolingLayer({.N = images_.N(),
                               .C = images_.C(),
                               .H = images_.H(),
                               .W = images_.W(),
                               .R = size,
                               .S = size,
                               .stride_h = stride,
                               .stride_w = stride,
                               .padding_h = padding,
                               .padding_w = padding,
                               .kind = kind,
                               .rounding = rounding});
  });
}

NetworkBuilder& NetworkBuilder::fully_connected(const std::string& name, int outputs, bool relu) {
  return add(name, [&] {
    return Weighted{conv::ConvLayer({.N = images_.N(),
                                     .C = images_.C(),
                                     .H = images_.H(),
                                     .W = images_.W(),
                                     .K = outputs,
                                     .R = images_.H(),
                                     .S = images_.W()}),
                    relu};
  });
}

NetworkBuilder& NetworkBuilder::softmax(const std::string& name) {
  return add(name, [&] {
    if (images_.H() != 1 || images_.W() != 1) {
      throw std::invalid_argument("softmax is for maps of 1 x 1, a channel a category");
    }
    return conv::Softmax(images_.N(), images_.C());
  });
}

}  // namespace halo::network
