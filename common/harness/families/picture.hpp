// Filters on a picture: --input, --filter and --output of a 2D program.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "common/data/filter.hpp"
#include "common/data/picture.hpp"
#include "common/harness/families/conv2d.hpp"
#include "common/report/command_line.hpp"

namespace halo {

struct PictureOptions {
  std::string input;
  std::string filter;
  std::string output;
};

void add_picture_options(CommandLine& line, PictureOptions& options);

// A picture as a layer: each of its channels is an image of one channel, N = channels and C = 1; each
// filter is one of K; stride 1, and (R - 1) / 2 and (S - 1) / 2 rings of ghost cells, so that the
// results have the picture's size.
class PictureTask {
 public:
  // Reads picture and filters (none given: gaussian:5), and makes sure that the output can be written.
  // Throws UsageError, data::DataError or std::invalid_argument, in one line.
  explicit PictureTask(const PictureOptions& options);

  const conv::ConvLayer& layer() const { return layer_; }
  const DatasetPtr& data() const { return data_; }

  // Writes outputs [channel][k][row][column], and says so in one line, "wrote edges.png: ...". As .npy
  // they are the floats themselves, [k][channel][row][column]. As a picture: of one filter its results;
  // of filters that are the parts of a direction the length of the vector of the K results; rounded and
  // clipped as write_picture does. The line says what was taken for white if that is not 255, and if most
  // of the picture was clipped.
  std::string save(std::span<const float> outputs) const;

 private:
  PictureTask(const PictureOptions& options, const data::Filters& filters,
              const data::Picture& picture);
  bool writes_array() const;

  PictureOptions options_;
  data::Filters filters_;
  conv::ConvLayer layer_;
  DatasetPtr data_;
  float white_;  // full brightness, in the picture and in the results
};

}  // namespace halo
