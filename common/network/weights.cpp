#include "common/network/weights.hpp"

#include <cmath>

#include "common/conv/inputs.hpp"
#include "common/data/array.hpp"
#include "common/data/picture.hpp"

namespace halo::network {

namespace {

std::vector<float> evenly_spread(std::int64_t count, double limit, conv::Random& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // 32 bits a value: -1 ... 1 in steps of 2^-31.
    bits = i % 2 == 0 ? random.bits() : bits >> 32;
    const double share = static_cast<double>(bits & 0xffffffffu) * 0x1p-31 - 1.0;
    values[i] = static_cast<float>(share * limit);
  }
  return values;
}

std::string in_words(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t length : shape) text += "[" + std::to_string(length) + "]";
  return text.empty() ? "a single number" : text;
}

std::vector<float> read_one_of(const std::string& path,
                               const std::vector<std::vector<std::int64_t>>& shapes) {
  data::Array array = data::read_array(path);
  for (const std::vector<std::int64_t>& shape : shapes) {
    if (array.shape == shape) return std::move(array.values);
  }
  throw data::DataError("cannot use " + data::quoted(path) + ": its shape is " +
                        in_words(array.shape) + ", the layer needs " + in_words(shapes.front()));
}

}  // namespace

Weights random_weights(const Network& network, std::uint64_t seed) {
  conv::Random random(seed ^ 0x77656967687473u);
  Weights weights;
  for (const Layer& layer : network.layers()) {
    LayerWeights& own = weights.emplace_back();
    const auto* weighted = std::get_if<Weighted>(&layer.work);
    if (weighted == nullptr) continue;
    const conv::ConvLayer& sums = weighted->sums;
    const double limit = std::sqrt(6.0 / static_cast<double>(sums.products_per_output()));
    own.filters = evenly_spread(sums.filters_size(), limit, random);
    own.bias = evenly_spread(sums.K(), 0.1, random);
  }
  return weights;
}

std::vector<float> random_input(const Network& network, std::uint64_t seed) {
  conv::Random random(seed ^ 0x696e707574u);
  return evenly_spread(network.input().size(), std::sqrt(3.0), random);
}

Weights read_weights(const Network& network, const std::string& folder) {
  Weights weights;
  for (const Layer& layer : network.layers()) {
    LayerWeights& own = weights.emplace_back();
    const auto* weighted = std::get_if<Weighted>(&layer.work);
    if (weighted == nullptr) continue;
    const conv::LayerShape& shape = weighted->sums.shape();
    const std::vector<std::int64_t> filters{shape.K, shape.C, shape.R, shape.S};
    std::vector<std::vector<std::int64_t>> shapes{filters};
    if (kind_of(layer) == Kind::fully_connected) {
      shapes.insert(shapes.begin(), {shape.K, weighted->sums.products_per_output()});
    }
    const std::string start = folder + "/" + layer.name;
    own.filters = read_one_of(start + ".filters.npy", shapes);
    own.bias = read_one_of(start + ".bias.npy", {{shape.K}});
  }
  return weights;
}

std::vector<float> read_picture_for(const Network& network, const std::string& path) {
  const conv::Images wanted = network.input();
  const data::Picture picture = data::read_picture(path);
  const auto wrong = [&](const std::string& what) {
    const std::string size = std::to_string(wanted.H()) + " x " + std::to_string(wanted.W());
    return data::DataError("cannot use " + data::quoted(path) + " for network " + network.name() +
                           ": " + what + "; it takes grey pictures of " + size +
                           " pixels, or of a multiple of that in both directions");
  };
  if (picture.channels.size() != 1) throw wrong("the picture has colours");
  const int times = picture.height / wanted.H();
  if (times < 1 || picture.height != times * wanted.H() || picture.width != times * wanted.W()) {
    throw wrong("the picture has " + std::to_string(picture.height) + " x " +
                std::to_string(picture.width) + " pixels");
  }
  std::vector<float> values;
  for (int h = 0; h < wanted.H(); ++h) {
    for (int w = 0; w < wanted.W(); ++w) {
      double sum = 0;
      for (int y = h * times; y < (h + 1) * times; ++y) {
        for (int x = w * times; x < (w + 1) * times; ++x) {
          const float pixel = picture.channels[0][static_cast<std::size_t>(y) * picture.width + x];
          if (!(pixel >= 0 && pixel <= picture.white)) {
            throw wrong("it has a pixel outside 0 ... " +
                        std::to_string(static_cast<int>(picture.white)));
          }
          sum += pixel;
        }
      }
      // Of equal pixels the mean is the pixel itself: an enlarged picture is the small one, bit for bit.
      const auto mean = static_cast<float>(sum / (static_cast<double>(times) * times));
      values.push_back(mean / picture.white);
    }
  }
  return values;
}

}  // namespace halo::network
