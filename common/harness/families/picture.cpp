#include "common/harness/families/picture.hpp"

#include <cmath>

#include "common/data/array.hpp"
#include "common/harness/program_options.hpp"

namespace halo {

namespace {

constexpr const char* kDefaultFilter = "gaussian:5";

conv::ConvLayer layer_of(const data::Picture& picture, const data::Filters& filters) {
  return conv::ConvLayer({.N = static_cast<std::int64_t>(picture.channels.size()),
                          .H = picture.height,
                          .W = picture.width,
                          .K = filters.K,
                          .R = filters.R,
                          .S = filters.S,
                          .padding_h = (filters.R - 1) / 2,
                          .padding_w = (filters.S - 1) / 2});
}

DatasetPtr data_of(const conv::ConvLayer& layer, const data::Picture& picture,
                   const data::Filters& filters) {
  std::vector<float> input;
  for (const std::vector<float>& channel : picture.channels) {
    input.insert(input.end(), channel.begin(), channel.end());
  }
  conv::require_data(layer, input, filters.values);
  return conv2d_data(layer, std::move(input), filters.values);
}

}  // namespace

void add_picture_options(CommandLine& line, PictureOptions& options) {
  add_option(line, "conv2d", "--input", options.input);
  add_option(line, "conv2d", "--filter", options.filter);
  add_option(line, "conv2d", "--output", options.output);
}

PictureTask::PictureTask(const PictureOptions& options)
    : PictureTask(options,
                  data::read_filters(options.filter.empty() ? kDefaultFilter : options.filter),
                  data::read_picture(options.input)) {}

PictureTask::PictureTask(const PictureOptions& options, const data::Filters& filters,
                         const data::Picture& picture)
    : options_(options),
      filters_(filters),
      layer_(layer_of(picture, filters)),
      data_(data_of(layer_, picture, filters)),
      white_(picture.white) {
  if (options_.output.empty()) return;
  if (writes_array()) {
    data::require_writable(options_.output);
    return;
  }
  if (filters_.K > 1 && !filters_.magnitude) {
    throw UsageError("cannot write '" + options_.output + "': " + std::to_string(filters_.K) +
                     " filters do not make one picture; write a .npy file, or give one filter");
  }
  data::require_picture_target(options_.output, layer_.N());
}

bool PictureTask::writes_array() const { return options_.output.ends_with(".npy"); }

std::string PictureTask::save(std::span<const float> outputs) const {
  const conv::ConvLayer& layer = layer_;
  const auto channels = static_cast<std::size_t>(layer.N());
  const auto filters = static_cast<std::size_t>(layer.K());
  const std::size_t pixels = outputs.size() / (channels * filters);
  const auto plane = [&](std::size_t channel, std::size_t k) {
    return outputs.subspan((channel * filters + k) * pixels, pixels);
  };
  std::string said = "wrote " + options_.output + ": ";
  std::string remarks;
  if (writes_array()) {
    data::Array array{{layer.K(), layer.N(), layer.P(), layer.Q()}, {}};
    array.values.reserve(outputs.size());
    for (std::size_t k = 0; k < filters; ++k) {
      for (std::size_t c = 0; c < channels; ++c) {
        array.values.insert(array.values.end(), plane(c, k).begin(), plane(c, k).end());
      }
    }
    data::write_array(options_.output, array);
    said += std::to_string(layer.K()) + (layer.K() == 1 ? " filter, " : " filters, ");
  } else {
    data::Picture picture{layer.P(), layer.Q(), {}, white_};
    for (std::size_t c = 0; c < channels; ++c) {
      std::vector<float>& shown =
          picture.channels.emplace_back(plane(c, 0).begin(), plane(c, 0).end());
      for (std::size_t i = 0; filters_.magnitude && i < pixels; ++i) {
        double squares = 0;
        for (std::size_t k = 0; k < filters; ++k) {
          squares += static_cast<double>(plane(c, k)[i]) * plane(c, k)[i];
        }
        shown[i] = static_cast<float>(std::sqrt(squares));
      }
    }
    const double clipped = data::write_picture(options_.output, picture);
    const std::string white = with_commas(static_cast<int>(white_));
    if (white_ != 255) remarks = white + " was taken for white, as its input suggests";
    if (clipped > 0.5) {
      remarks += (remarks.empty() ? "" : "; ") + std::to_string(static_cast<int>(100 * clipped)) +
                 " % of its values are outside 0 ... " + white + " and were clipped";
    }
    if (!remarks.empty()) remarks = " (" + remarks + ")";
  }
  return said + std::to_string(layer.N()) + (layer.N() == 1 ? " channel of " : " channels of ") +
         with_commas(layer.P()) + " x " + with_commas(layer.Q()) + " pixels" + remarks;
}

}  // namespace halo
