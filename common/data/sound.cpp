// Sound files, by libsndfile where the build has it.
#include "common/data/formats.hpp"

#ifdef HALO_HAVE_SNDFILE

#include <sndfile.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

namespace halo::data::formats {

namespace {

struct CloseSound {
  void operator()(SNDFILE* sound) const { sf_close(sound); }
};
using Sound = std::unique_ptr<SNDFILE, CloseSound>;

// Samples of all channels together that are read or written at a time.
constexpr std::size_t kBlockSamples = 1 << 16;

// libsndfile's own words, as part of one line.
std::string words_of(SNDFILE* sound) {
  std::string words = sf_strerror(sound);
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  while (!words.empty() && (words.back() == ' ' || words.back() == '.')) words.pop_back();
  return words;
}

std::uint64_t number(const unsigned char* bytes, int count, bool big_endian) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    value = value << 8 | bytes[big_endian ? i : count - 1 - i];
  }
  return value;
}

// libsndfile reads what there is of a truncated WAV or AIFF file and says nothing. The header of
// the samples says how many bytes there should be; this is how many of them are missing.
std::int64_t missing_bytes(const InputFile& file) {
  unsigned char start[12];
  if (file.read(0, start, sizeof start) != sizeof start) return 0;
  const auto is = [](const unsigned char* bytes, const char* id) {
    return std::memcmp(bytes, id, 4) == 0;
  };
  const bool is_aiff = is(start, "FORM") && (is(start + 8, "AIFF") || is(start + 8, "AIFC"));
  const bool is_wav =
      (is(start, "RIFF") || is(start, "RIFX") || is(start, "RF64")) && is(start + 8, "WAVE");
  if (!is_aiff && !is_wav) return 0;
  const bool big_endian = is_aiff || is(start, "RIFX");

  std::uint64_t long_size = 0;  // RF64 keeps the size of its samples in a chunk of its own
  std::int64_t at = 12;
  unsigned char chunk[24];
  for (;;) {
    const std::size_t got = file.read(at, chunk, sizeof chunk);
    if (got < 8) return 0;  // no samples at all: libsndfile has words for it
    std::uint64_t size = number(chunk + 4, 4, big_endian);
    if (is(chunk, "ds64") && got == sizeof chunk) long_size = number(chunk + 16, 8, false);
    if (is(chunk, is_aiff ? "SSND" : "data")) {
      if (size == 0xffffffff && long_size != 0) size = long_size;
      // Programs that write into a pipe do not know the size; they put the largest number there is,
      // or nearly.
      if (size >= 0x7ffff000 && long_size == 0) return 0;
      const std::uint64_t there = static_cast<std::uint64_t>(file.size() - at - 8);
      return size > there ? static_cast<std::int64_t>(size - there) : 0;
    }
    at += 8 + static_cast<std::int64_t>(size + (size & 1));
    if (at >= file.size()) return 0;
  }
}

}  // namespace

std::string no_sound_reason() { return ""; }

Signal read_sound(const InputFile& file) {
  SF_INFO info{};
  // The 0 leaves the descriptor open: it belongs to `file`.
  char start[4] = {};
  if (std::string_view(start, file.read(0, start, sizeof start)) == "PK\x03\x04") {
    throw file.error(
        "it is an archive, as numpy.savez writes them; write one array with numpy.save");
  }
  const Sound sound(sf_open_fd(file.descriptor(), SFM_READ, &info, 0));
  if (!sound) {
    throw file.error("it is no sound file that libsndfile can read (" + words_of(nullptr) +
                     "); give a WAV, FLAC, AIFF, Ogg or NPY file");
  }
  if (const std::int64_t missing = missing_bytes(file); missing > 0) {
    throw file.error("it is truncated: the last " + std::to_string(missing) +
                     " bytes of its samples are missing; copy or record it again");
  }
  require_counts(file, info.channels, info.frames);

  Signal signal;
  signal.sample_rate = info.samplerate;
  const auto channels = static_cast<std::size_t>(info.channels);
  signal.channels.resize(channels);
  const std::size_t frames_per_block = kBlockSamples / channels;
  std::vector<float> block(frames_per_block * channels);
  // Not a single read of info.frames: a damaged header may promise more than memory holds.
  for (;;) {
    const sf_count_t got =
        sf_readf_float(sound.get(), block.data(), static_cast<sf_count_t>(frames_per_block));
    for (std::size_t c = 0; c < channels; ++c) {
      for (sf_count_t i = 0; i < got; ++i) {
        signal.channels[c].push_back(block[static_cast<std::size_t>(i) * channels + c]);
      }
    }
    if (got < static_cast<sf_count_t>(frames_per_block)) break;
  }
  if (sf_error(sound.get()) != SF_ERR_NO_ERROR) {
    throw file.error("its samples are damaged (" + words_of(sound.get()) +
                     "); copy or record it again");
  }
  if (signal.length() < static_cast<std::size_t>(info.frames)) {
    throw file.error("it is truncated: " + std::to_string(signal.length()) + " of " +
                     std::to_string(info.frames) + " samples are there; copy or record it again");
  }
  return signal;
}

void write_wav(OutputFile& file, const Signal& signal) {
  const std::size_t channels = signal.channels.size();
  // The format holds its size in 32 bits.
  if (signal.length() * channels > (0xffffffffu - 4096u) / sizeof(float)) {
    throw file.error("a WAV file holds at most 4 GiB; choose a name that ends in .npy");
  }
  SF_INFO info{};
  info.samplerate = signal.sample_rate > 0 ? signal.sample_rate : kDefaultSampleRate;
  info.channels = static_cast<int>(channels);
  info.format = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
  Sound sound(sf_open_fd(file.descriptor(), SFM_WRITE, &info, 0));
  if (!sound) throw file.error("libsndfile refuses it (" + words_of(nullptr) + ")");
  // The chunk would hold the time, and the same signal should give the same file.
  sf_command(sound.get(), SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);

  const std::size_t frames_per_block = std::max<std::size_t>(1, kBlockSamples / channels);
  std::vector<float> block;
  for (std::size_t first = 0; first < signal.length(); first += frames_per_block) {
    const std::size_t count = std::min(frames_per_block, signal.length() - first);
    block.resize(count * channels);
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t i = 0; i < count; ++i) {
        block[i * channels + c] = signal.channels[c][first + i];
      }
    }
    const auto frames = static_cast<sf_count_t>(count);
    if (sf_writef_float(sound.get(), block.data(), frames) != frames) {
      throw file.error(words_of(sound.get()));
    }
  }
  // Writes the header again, with the size.
  if (sf_close(sound.release()) != 0) throw file.error("the disk refuses it; is it full?");
}

}  // namespace halo::data::formats

#else

namespace halo::data::formats {

std::string no_sound_reason() {
  return "this build has no libsndfile; install it (Debian, Ubuntu: apt-get install "
         "libsndfile1-dev) "
         "and build again, or use an NPY file";
}

Signal read_sound(const InputFile& file) {
  throw file.error("it is no NPY file, and for sound files " + no_sound_reason());
}

void write_wav(OutputFile& file, const Signal&) { throw file.error(no_sound_reason()); }

}  // namespace halo::data::formats

#endif
