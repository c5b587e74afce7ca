#include "common/data/mask.hpp"

#include <unistd.h>

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "common/conv/inputs.hpp"
#include "common/data/signal.hpp"
#include "common/data/spec.hpp"

namespace halo::data {

namespace {

DataError refuse(const std::string& spec, const std::string& reason) {
  return DataError("mask " + quoted(spec) + ": " + reason);
}

void require_width(const std::string& spec, std::int64_t width) {
  try {
    conv::require_mask_width(width);
  } catch (const std::invalid_argument& error) {
    throw refuse(spec, error.what());
  }
}

int parse_width(const std::string& spec, std::string_view text) {
  const std::optional<std::int64_t> width = number<std::int64_t>(text);
  if (!width) {
    throw refuse(spec, quoted(text) + " is not a width; give an odd whole number up to " +
                           std::to_string(conv::kMaxMaskWidth));
  }
  require_width(spec, *width);
  return static_cast<int>(*width);
}

std::vector<float> gaussian(const std::string& spec, std::string_view arguments) {
  const std::size_t colon = arguments.find(':');
  const int width = parse_width(spec, arguments.substr(0, colon));
  double sigma = width / 6.0;
  if (colon != std::string_view::npos) {
    const std::string_view text = arguments.substr(colon + 1);
    const std::optional<double> given = parse_sigma(text);
    if (!given) {
      throw refuse(spec, quoted(text) + " is not a sigma; give a number of samples above 0");
    }
    sigma = *given;
  }
  const std::vector<double> weights = bell(width, sigma);
  return {weights.begin(), weights.end()};
}

// Whether the text can only be meant as numbers: 0.3,0.2,0.8 or 5 or -1e3.
bool is_list(std::string_view spec) {
  return spec.find_first_not_of("0123456789+-.eE,") == std::string_view::npos &&
         spec.find_first_of("0123456789") != std::string_view::npos &&
         (spec.find(',') != std::string_view::npos || number<double>(spec));
}

std::vector<float> parse_list(const std::string& spec) {
  std::vector<float> mask;
  std::string_view rest = spec;
  for (;;) {
    const std::size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    // from_chars knows no plus sign.
    if (item.starts_with('+') && !item.starts_with("+-")) item.remove_prefix(1);
    const std::optional<double> value = number<double>(item);
    if (!value || !std::isfinite(static_cast<float>(*value))) {
      throw refuse(spec, "weight " + std::to_string(mask.size() + 1) + ", " + quoted(item) +
                             ", is not a number that a float can hold; write 0.3,0.2,0.8");
    }
    mask.push_back(static_cast<float>(*value));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  require_width(spec, static_cast<std::int64_t>(mask.size()));
  return mask;
}

std::vector<float> from_file(const std::string& spec) {
  if (::access(spec.c_str(), F_OK) != 0) {
    throw refuse(spec, no_such_kind(spec, "mask", {"gaussian", "box", "random"}) + " (a mask is " +
                           kMaskHelp + ")");
  }
  Signal signal;
  try {
    signal = read_signal(spec);
  } catch (const DataError& error) {
    throw refuse(spec, std::string(error.what()) + " (a mask is " + kMaskHelp + ")");
  }
  if (signal.channels.size() != 1) {
    throw refuse(spec, "the file has " + std::to_string(signal.channels.size()) +
                           " channels, a mask has one");
  }
  require_width(spec, static_cast<std::int64_t>(signal.length()));
  return std::move(signal.channels.front());
}

}  // namespace

std::vector<float> read_mask(const std::string& spec, std::uint64_t seed) {
  const std::size_t colon = spec.find(':');
  const std::string_view kind = std::string_view(spec).substr(0, colon);
  if (colon != std::string::npos) {
    const std::string_view arguments = std::string_view(spec).substr(colon + 1);
    if (kind == "box") {
      const int width = parse_width(spec, arguments);
      return std::vector<float>(static_cast<std::size_t>(width), static_cast<float>(1.0 / width));
    }
    if (kind == "gaussian") return gaussian(spec, arguments);
    if (kind == "random") {
      const int width = parse_width(spec, arguments);
      return conv::adversarial_mask(conv::Problem1d(width, width), seed);
    }
  }
  if (spec.empty()) throw refuse(spec, std::string("it is empty; a mask is ") + kMaskHelp);
  if (is_list(spec)) return parse_list(spec);
  return from_file(spec);
}

}  // namespace halo::data
