#include "common/data/signal.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "common/conv/limits.hpp"
#include "common/data/formats.hpp"

namespace halo::data {

namespace {

bool ends_with(const std::string& path, const std::string& ending) {
  if (path.size() < ending.size()) return false;
  return std::equal(ending.begin(), ending.end(), path.end() - ending.size(), [](char a, char b) {
    return a == std::tolower(static_cast<unsigned char>(b));
  });
}

enum class Target { npy, wav };

Target target_of(const std::string& path) {
  if (ends_with(path, ".npy")) return Target::npy;
  if (!ends_with(path, ".wav")) {
    throw DataError("cannot write " + quoted(path) +
                    ": the name must end in .wav (32-bit float) or .npy (float32)");
  }
  const std::string reason = formats::no_sound_reason();
  if (!reason.empty()) throw DataError("cannot write " + quoted(path) + ": " + reason);
  return Target::wav;
}

// "sample 12 holds NaN", or nothing if all values are finite.
std::string first_not_finite(const Signal& signal) {
  for (std::size_t c = 0; c < signal.channels.size(); ++c) {
    const std::vector<float>& channel = signal.channels[c];
    for (std::size_t i = 0; i < channel.size(); ++i) {
      if (std::isfinite(channel[i])) continue;
      return formats::place(i, c, signal.channels.size()) +
             (std::isnan(channel[i]) ? " is NaN" : " is infinite");
    }
  }
  return "";
}

}  // namespace

namespace formats {

void require_counts(const InputFile& file, std::int64_t channels, std::int64_t samples) {
  if (channels < 1 || samples < 1) throw file.error("it holds no samples");
  if (channels > kMaxChannels) {
    throw file.error("it has " + std::to_string(channels) + " channels of " +
                     std::to_string(samples) + " samples, at most " + std::to_string(kMaxChannels) +
                     " channels are allowed; an array is [channels][samples]: is it transposed?");
  }
  if (samples > conv::kMaxLength) {
    throw file.error("it has " + std::to_string(samples) + " samples, at most " +
                     std::to_string(conv::kMaxLength) + " are allowed; cut it into pieces");
  }
}

std::string place(std::size_t sample, std::size_t channel, std::size_t channels) {
  std::string result = "sample " + std::to_string(sample);
  if (channels > 1) result += " of channel " + std::to_string(channel);
  return result;
}

}  // namespace formats

Signal read_signal(const std::string& path) {
  const InputFile file(path);
  Signal signal;
  if (formats::is_npy(file)) {
    signal = formats::read_npy(file);
  } else if (ends_with(path, ".npy")) {
    throw file.error("it is not an NPY file; write one array with numpy.save (not numpy.savez)");
  } else if (const std::string picture = formats::if_picture(file); !picture.empty()) {
    throw file.error(picture);
  } else {
    signal = formats::read_sound(file);
  }
  const std::string complaint = first_not_finite(signal);
  if (!complaint.empty()) {
    throw file.error(complaint + "; only finite samples can be convolved");
  }
  return signal;
}

void write_signal(const std::string& path, const Signal& signal) {
  const Target target = target_of(path);
  const auto refuse = [&](const std::string& reason) {
    return DataError("cannot write " + quoted(path) + ": " + reason);
  };
  if (signal.length() == 0) throw refuse("the signal has no samples");
  for (const std::vector<float>& channel : signal.channels) {
    if (channel.size() != signal.length()) throw refuse("its channels have different lengths");
  }
  const std::string complaint = first_not_finite(signal);
  if (!complaint.empty()) throw refuse(complaint + ", nothing was written");

  OutputFile file(path);
  if (target == Target::npy) {
    formats::write_npy(file, signal);
  } else {
    formats::write_wav(file, signal);
  }
  file.commit();
}

void require_signal_target(const std::string& path) {
  target_of(path);
  require_writable(path);
}

bool has_sound() { return formats::no_sound_reason().empty(); }

namespace formats {

std::string if_picture(const InputFile& file) {
  char start[4] = {};
  const std::string_view text(start, file.read(0, start, sizeof start));
  const bool is_pnm = text.starts_with("P5\n") || text.starts_with("P6\n");
  if (!is_pnm && !text.starts_with("\x89PNG") && !text.starts_with("\xff\xd8\xff")) return "";
  return "it is a picture; ./halo run 06 --input " + printable(file.path(), 300) +
         " filters pictures";
}

}  // namespace formats

}  // namespace halo::data
