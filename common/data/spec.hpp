// What the specifications of masks and filters (gaussian:9, box:5) have in common. Private to this
// room.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"

namespace halo::data {

/// The number that is the whole text; nothing if it is none. Independent of the locale.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A sigma: a finite number above 0; nothing if the text is none.
inline std::optional<double> parse_sigma(std::string_view text) {
  const std::optional<double> sigma = number<double>(text);
  if (!sigma || !std::isfinite(*sigma) || *sigma <= 0) return std::nullopt;
  return sigma;
}

/// Of a specification that is neither a kind nor a file: "no file and no kind of mask", and the kind that was
/// probably meant.
inline std::string no_such_kind(const std::string& spec, const std::string& what,
                                const std::vector<std::string>& kinds) {
  const std::size_t colon = spec.find(':');
  std::string meant = nearest(std::string_view(spec).substr(0, colon), kinds);
  if (meant == spec) {
    meant += ":9";  // it lacks its size
  } else if (!meant.empty() && colon != std::string::npos) {
    meant += spec.substr(colon);
  }
  return "it is no kind of " + what + ", and there is no such file" +
         (meant.empty() ? "" : "; did you mean " + printable(meant, 100) + "?");
}

/// `size` weights exp(-x^2 / (2 sigma^2)), x the distance from the middle one, divided by their sum.
inline std::vector<double> bell(int size, double sigma) {
  std::vector<double> weights;
  double sum = 0;
  for (int i = 0; i < size; ++i) {
    const double distance = (i - size / 2) / sigma;
    weights.push_back(std::exp(-0.5 * distance * distance));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace halo::data
