#include "common/data/filter.hpp"

#include <unistd.h>

#include <optional>
#include <string_view>

#include "common/data/array.hpp"
#include "common/data/spec.hpp"

namespace halo::data {

namespace {

DataError refuse(const std::string& spec, const std::string& reason) {
  return DataError("filter " + quoted(spec) + ": " + reason);
}

void require_size(const std::string& spec, std::int64_t size) {
  const std::string text = std::to_string(size);
  if (size < 1 || size > kMaxFilterSize) {
    throw refuse(spec,
                 "a size of " + text + " is not between 1 and " + std::to_string(kMaxFilterSize));
  }
  if (size % 2 == 0) {
    throw refuse(spec, "a size of " + text +
                           " is even; a filter needs a middle, so its rows and columns are odd");
  }
}

int parse_size(const std::string& spec, std::string_view text) {
  const std::optional<std::int64_t> size = number<std::int64_t>(text);
  if (!size) {
    throw refuse(spec, quoted(text) + " is not a size; give an odd whole number up to " +
                           std::to_string(kMaxFilterSize));
  }
  require_size(spec, *size);
  return static_cast<int>(*size);
}

Filters sobel() {
  return {2, 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0, 0, 1, 2, 1}, true};
}

Filters box(const std::string& spec, std::string_view arguments) {
  const int size = parse_size(spec, arguments);
  const std::size_t taps = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  return {1, size, size,
          std::vector<float>(taps, static_cast<float>(1.0 / static_cast<double>(taps))), false};
}

Filters gaussian(const std::string& spec, std::string_view arguments) {
  const std::size_t colon = arguments.find(':');
  const int size = parse_size(spec, arguments.substr(0, colon));
  double sigma = size / 6.0;
  if (colon != std::string_view::npos) {
    const std::string_view text = arguments.substr(colon + 1);
    const std::optional<double> given = parse_sigma(text);
    if (!given) {
      throw refuse(spec, quoted(text) + " is not a sigma; give a number of pixels above 0");
    }
    sigma = *given;
  }
  // A product of two bells; so is its sum, 1.
  const std::vector<double> weights = bell(size, sigma);
  Filters filters{1, size, size, {}, false};
  for (const double row : weights) {
    for (const double column : weights) filters.values.push_back(static_cast<float>(row * column));
  }
  return filters;
}

Filters from_file(const std::string& spec) {
  if (::access(spec.c_str(), F_OK) != 0) {
    throw refuse(spec, no_such_kind(spec, "filter", {"gaussian", "box", "sobel"}) +
                           " (a filter is " + kFilterHelp + ")");
  }
  Array array;
  try {
    array = read_array(spec);
  } catch (const DataError& error) {
    throw refuse(spec, std::string(error.what()) + " (a filter is " + kFilterHelp + ")");
  }
  if (array.shape.size() != 2 && array.shape.size() != 3) {
    throw refuse(spec, "the file has " + std::to_string(array.shape.size()) +
                           " dimensions; filters have two ([rows][columns]) or three "
                           "([filter][rows][columns])");
  }
  require_size(spec, array.shape[array.shape.size() - 2]);
  require_size(spec, array.shape.back());
  const std::int64_t count = array.shape.size() == 3 ? array.shape[0] : 1;
  return {static_cast<int>(count), static_cast<int>(array.shape[array.shape.size() - 2]),
          static_cast<int>(array.shape.back()), std::move(array.values), false};
}

}  // namespace

Filters read_filters(const std::string& spec) {
  if (spec.empty()) throw refuse(spec, std::string("it is empty; a filter is ") + kFilterHelp);
  if (spec == "sobel") return sobel();
  const std::size_t colon = spec.find(':');
  if (colon != std::string::npos) {
    const std::string_view kind = std::string_view(spec).substr(0, colon);
    const std::string_view arguments = std::string_view(spec).substr(colon + 1);
    if (kind == "box") return box(spec, arguments);
    if (kind == "gaussian") return gaussian(spec, arguments);
    if (kind == "sobel") throw refuse(spec, "sobel has one size, 3 x 3: leave out what follows it");
  }
  return from_file(spec);
}

}  // namespace halo::data
