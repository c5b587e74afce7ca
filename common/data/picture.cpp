#include "common/data/picture.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "common/data/array.hpp"
#include "common/data/formats.hpp"

namespace halo::data {

namespace {

constexpr int kMostChannels = 4;

bool ends_with(const std::string& path, std::string_view ending) {
  if (path.size() < ending.size()) return false;
  return std::equal(ending.begin(), ending.end(), path.end() - ending.size(), [](char a, char b) {
    return a == std::tolower(static_cast<unsigned char>(b));
  });
}

// What those who wrote the array most likely mean by full brightness.
float white_of(const Array& array) {
  const auto [least, most] = std::minmax_element(array.values.begin(), array.values.end());
  const bool is_float = array.type.starts_with('f');
  if (is_float && *least >= -1 && *most <= 1 && *most > 0) return 1;
  return array.type == "u2" && *most > 255 ? 65535 : 255;
}

Picture from_array(const InputFile& file, const std::string& path) {
  Array array = read_array(path);
  if (array.shape.size() != 2 && array.shape.size() != 3) {
    throw file.error("it has " + std::to_string(array.shape.size()) +
                     " dimensions, a picture has two ([rows][columns]) or three "
                     "([channels][rows][columns])");
  }
  const std::int64_t channels = array.shape.size() == 3 ? array.shape[0] : 1;
  const std::int64_t height = array.shape[array.shape.size() - 2];
  const std::int64_t width = array.shape.back();
  if (channels > kMostChannels) {
    throw file.error("it has " + std::to_string(channels) + " channels of " +
                     std::to_string(height) + " x " + std::to_string(width) + " pixels, at most " +
                     std::to_string(kMostChannels) +
                     " are allowed; an array is [channels][rows][columns]: is it transposed?");
  }
  formats::require_size(file, height, width);
  Picture picture{static_cast<int>(height), static_cast<int>(width), {}, white_of(array)};
  const auto pixels = static_cast<std::ptrdiff_t>(height * width);
  for (auto first = array.values.begin(); first != array.values.end(); first += pixels) {
    picture.channels.emplace_back(first, first + pixels);
  }
  return picture;
}

// PGM and PPM: "P5" or "P6", width, height and the largest value as text, one white space, and the
// values, of one byte or, if the largest is above 255, of two with the more significant first. "#"
// begins a comment up to the end of its line. Source: Netpbm's manual, pages pgm and ppm.
class PnmReader {
 public:
  explicit PnmReader(const InputFile& file) : file_(file) {
    text_.resize(kMostHeader);
    text_.resize(file.read(0, text_.data(), text_.size()));
  }

  Picture read() {
    const int channels = text_[1] == '5' ? 1 : 3;
    at_ = 2;
    const std::int64_t width = number();
    const std::int64_t height = number();
    const std::int64_t most = number();
    formats::require_size(file_, height, width);
    if (most < 1 || most > 65535) throw damaged();
    const std::int64_t bytes = most > 255 ? 2 : 1;
    const std::int64_t wanted = height * width * channels * bytes;
    const std::int64_t start = static_cast<std::int64_t>(at_) + 1;  // behind one white space
    if (file_.size() - start < wanted) {
      throw file_.error(
          "it is truncated: " + std::to_string(std::max<std::int64_t>(0, file_.size() - start)) +
          " bytes of pixels where its size needs " + std::to_string(wanted) +
          "; copy or write it again");
    }
    Picture picture{static_cast<int>(height), static_cast<int>(width), {}};
    picture.channels.resize(static_cast<std::size_t>(channels));
    std::vector<unsigned char> row(static_cast<std::size_t>(width * channels * bytes));
    for (std::int64_t y = 0; y < height; ++y) {
      if (file_.read(start + y * static_cast<std::int64_t>(row.size()), row.data(), row.size()) !=
          row.size()) {
        throw file_.error("it became shorter while it was read");
      }
      for (std::size_t i = 0; i < row.size(); i += static_cast<std::size_t>(bytes)) {
        const int value = bytes == 1 ? row[i] : row[i] << 8 | row[i + 1];
        if (value > most) throw damaged();
        picture.channels[i / static_cast<std::size_t>(bytes) % picture.channels.size()].push_back(
            static_cast<float>(255.0 * value / static_cast<double>(most)));
      }
    }
    return picture;
  }

 private:
  static constexpr std::size_t kMostHeader = 4096;  // with its comments

  DataError damaged() const {
    return file_.error(
        "its header is damaged, or its values exceed what that promises; write it "
        "again, as a binary PGM or PPM file");
  }

  std::int64_t number() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) == 0) {
        break;
      }
    }
    std::int64_t value = 0;
    const std::size_t first = at_;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_) {
      if (at_ - first == 10) throw damaged();
      value = 10 * value + (text_[at_] - '0');
    }
    const bool ends = at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]));
    if (at_ == first || !ends) throw damaged();
    return value;
  }

  const InputFile& file_;
  std::string text_;
  std::size_t at_ = 0;
};

// What the first bytes say, for a file that is nothing we read.
std::string another_kind(const InputFile& file) {
  constexpr const char* kAdvice = "; give a PNG, PGM, PPM or NPY file";
  if (const std::string sound = formats::if_sound(file); !sound.empty()) return sound;
  char start[12] = {};
  const std::string_view text(start, file.read(0, start, sizeof start));
  if (text.starts_with("\xff\xd8\xff")) {
    return "it is a JPEG file; convert it to PNG (ImageMagick: convert photo.jpg photo.png)";
  }
  if (text.starts_with("PK\x03\x04")) {
    return "it is an archive, as numpy.savez writes them; write one array with numpy.save";
  }
  for (const char kind : {'1', '2', '3', '4', '7'}) {
    if (text.starts_with(std::string{'P', kind, '\n'})) {
      return "it is a Netpbm file of kind P" + std::string(1, kind) + ", only P5 and P6 are read" +
             kAdvice;
    }
  }
  return std::string("it is not a picture that can be read here") + kAdvice;
}

void write_pnm(OutputFile& file, const Picture& picture) {
  const std::size_t channels = picture.channels.size();
  const std::string header = std::string(channels == 1 ? "P5" : "P6") + "\n" +
                             std::to_string(picture.width) + " " + std::to_string(picture.height) +
                             "\n255\n";
  file.write(header.data(), header.size());
  const auto width = static_cast<std::size_t>(picture.width);
  std::vector<unsigned char> row(width * channels);
  for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height); ++y) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = static_cast<unsigned char>(picture.channels[i % channels][y * width + i / channels]);
    }
    file.write(row.data(), row.size());
  }
}

enum class Target { png, pnm };

Target target_of(const std::string& path, int channels) {
  const auto refuse = [&](const std::string& reason) {
    return DataError("cannot write " + quoted(path) + ": " + reason);
  };
  const bool is_pgm = ends_with(path, ".pgm");
  const bool is_ppm = ends_with(path, ".ppm");
  if (!is_pgm && !is_ppm && !ends_with(path, ".png")) {
    throw refuse("the name must end in .png, .pgm (grey) or .ppm (colour)");
  }
  if (channels != 1 && channels != 3) {
    throw refuse("a picture has one channel or three, not " + std::to_string(channels));
  }
  if ((is_pgm && channels != 1) || (is_ppm && channels != 3)) {
    throw refuse(is_pgm ? "a .pgm file is grey, and this has three channels; choose .ppm or .png"
                        : "a .ppm file has three channels, and this is grey; choose .pgm or .png");
  }
  if (is_pgm || is_ppm) return Target::pnm;
  const std::string reason = formats::no_png_reason();
  if (!reason.empty()) throw refuse(reason);
  return Target::png;
}

}  // namespace

namespace formats {

std::string if_sound(const InputFile& file) {
  char start[12] = {};
  const std::string_view text(start, file.read(0, start, sizeof start));
  const bool is_wave = text.starts_with("RIFF") && text.ends_with("WAVE");
  if (!is_wave && !text.starts_with("FORM") && !text.starts_with("fLaC") &&
      !text.starts_with("OggS")) {
    return "";
  }
  return "it is a sound; ./halo run 04 --input " + printable(file.path(), 300) +
         " convolves sounds";
}

void require_size(const InputFile& file, std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1) throw file.error("it has no pixels");
  if (height > kMaxPixels || width > kMaxPixels || height * width > kMaxPixels) {
    throw file.error("it is " + std::to_string(width) + " x " + std::to_string(height) +
                     " pixels, at most " + std::to_string(kMaxPixels) +
                     " are read; cut it into pieces or make it smaller");
  }
}

}  // namespace formats

Picture read_picture(const std::string& path) {
  const InputFile file(path);
  if (formats::is_png(file)) return formats::read_png(file);
  if (formats::is_npy(file)) return from_array(file, path);
  char start[3] = {};
  const std::string_view text(start, file.read(0, start, sizeof start));
  if (text.size() == 3 && (text.starts_with("P5") || text.starts_with("P6")) &&
      (std::isspace(static_cast<unsigned char>(text[2])) != 0 || text[2] == '#')) {
    return PnmReader(file).read();
  }
  throw file.error(another_kind(file));
}

double write_picture(const std::string& path, const Picture& picture) {
  const Target target = target_of(path, static_cast<int>(picture.channels.size()));
  const auto refuse = [&](const std::string& reason) {
    return DataError("cannot write " + quoted(path) + ": " + reason);
  };
  if (picture.height < 1 || picture.width < 1) throw refuse("the picture has no pixels");
  Picture rounded{picture.height, picture.width, {}};
  const double factor = 255.0 / picture.white;
  std::size_t clipped = 0;
  const auto pixels = static_cast<std::size_t>(picture.height) * picture.width;
  for (const std::vector<float>& channel : picture.channels) {
    if (channel.size() != pixels) {
      throw refuse("a channel of the picture has another size than the picture");
    }
    std::vector<float>& values = rounded.channels.emplace_back();
    values.reserve(channel.size());
    for (const float value : channel) {
      if (std::isnan(value)) throw refuse("a pixel is NaN, nothing was written");
      const double nearest = std::nearbyint(value * factor);
      const double kept = std::clamp(nearest, 0.0, 255.0);
      values.push_back(static_cast<float>(kept));
      clipped += kept != nearest;
    }
  }
  OutputFile file(path);
  if (target == Target::png) {
    formats::write_png(file, rounded);
  } else {
    write_pnm(file, rounded);
  }
  file.commit();
  return static_cast<double>(clipped) / static_cast<double>(pixels * rounded.channels.size());
}

void require_picture_target(const std::string& path, int channels) {
  target_of(path, channels);
  require_writable(path);
}

bool has_png() { return formats::no_png_reason().empty(); }

}  // namespace halo::data
