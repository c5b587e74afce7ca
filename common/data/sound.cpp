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

// What the header says of its samples, in bytes, and what there is of them.
struct Samples {
  std::uint64_t said = 0;
  std::uint64_t there = 0;
  bool several = false;  // in more than one chunk
};

// Of a WAV file whose samples are packed in blocks, of which the last is filled up.
struct Blocks {
  std::uint64_t said = 0;  // samples of a channel; of all together, if older programs wrote it
  std::uint64_t of_block = 0;
};

// What a header tells.
struct SoundHeader {
  std::optional<Samples> samples;
  std::optional<Blocks> blocks;
};

// A format that is a row of chunks: a name, a size, and so many bytes.
struct Chunks {
  std::int64_t first = 0;  // where they begin
  int name_bytes = 4;
  int size_bytes = 4;
  bool big_endian = false;
  std::uint64_t counts = 0;  // bytes of name and size, where the size counts them
  std::uint64_t alignment = 2;
  const char* samples = "data";  // how the name of the samples' chunk begins
};

bool begins(const unsigned char* bytes, const char* word) {
  return std::memcmp(bytes, word, std::strlen(word)) == 0;
}

std::optional<Chunks> chunks_of(const unsigned char* start) {
  if (begins(start, "RIFF") || begins(start, "RF64")) {
    if (begins(start + 8, "WAVE")) return Chunks{.first = 12};
  } else if (begins(start, "RIFX") && begins(start + 8, "WAVE")) {
    return Chunks{.first = 12, .big_endian = true};
  } else if (begins(start, "FORM") && (begins(start + 8, "AIFF") || begins(start + 8, "AIFC"))) {
    return Chunks{.first = 12, .big_endian = true, .samples = "SSND"};
  } else if (begins(start, "riff\x2e\x91\xcf\x11")) {  // Sony Wave64: names of 16 bytes
    return Chunks{.first = 40, .name_bytes = 16, .size_bytes = 8, .counts = 24, .alignment = 8};
  } else if (begins(start, "caff")) {
    return Chunks{.first = 8, .size_bytes = 8, .big_endian = true, .alignment = 1};
  }
  return std::nullopt;
}

// libsndfile reads what there is of a truncated file and says nothing. No samples where the header does not
// tell either: programs that write into a pipe do not know the size.
SoundHeader header_of(const InputFile& file) {
  const auto there_from = [&](std::int64_t at) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, file.size() - at));
  };
  SoundHeader header;
  unsigned char start[12];
  if (file.read(0, start, sizeof start) != sizeof start) return header;
  if (begins(start, ".snd") || begins(start, "dns.")) {  // AU: where they begin, and their size
    const bool big_endian = begins(start, ".snd");
    const std::uint64_t size = number(start + 8, 4, big_endian);
    const auto first = static_cast<std::int64_t>(number(start + 4, 4, big_endian));
    if (size != 0xffffffff) header.samples = {size, there_from(first)};
    return header;
  }
  const std::optional<Chunks> chunks = chunks_of(start);
  if (!chunks) return header;
  const int head = chunks->name_bytes + chunks->size_bytes;
  const bool is_wav = begins(start + 8, "WAVE");
  std::uint64_t long_size = 0;  // RF64 keeps the size of its samples in a chunk of its own
  std::uint64_t of_block = 0;
  std::int64_t at = chunks->first;
  unsigned char chunk[28];
  while (at < file.size()) {
    const std::size_t got = file.read(at, chunk, sizeof chunk);
    if (got < static_cast<std::size_t>(head)) return header;
    std::uint64_t size = number(chunk + chunks->name_bytes, chunks->size_bytes, chunks->big_endian);
    if (size < chunks->counts) return header;
    if (begins(chunk, "ds64") && got >= 24) long_size = number(chunk + 16, 8, false);
    if (is_wav && begins(chunk, "fmt ") && size >= 20 && got == sizeof chunk) {
      of_block = number(chunk + 26, 2, chunks->big_endian);
    }
    if (is_wav && begins(chunk, "fact") && size >= 4 && got >= 12) {
      header.blocks = {number(chunk + 8, 4, chunks->big_endian), of_block};
    }
    if (begins(chunk, chunks->samples)) {
      if (header.samples) {
        header.samples->several = true;
        return header;
      }
      if (size == 0xffffffff && long_size != 0) size = long_size;
      // Who does not know puts the largest number there is, or nearly.
      const bool unknown = chunks->size_bytes == 8 ? size > ~std::uint64_t{0} >> 1
                                                   : size >= 0x7ffff000 && long_size == 0;
      if (unknown) return header;
      header.samples = {size - chunks->counts, there_from(at + head)};
    }
    const std::uint64_t whole = size - chunks->counts + static_cast<std::uint64_t>(head);
    if (size > static_cast<std::uint64_t>(file.size())) return header;
    at += static_cast<std::int64_t>((whole + chunks->alignment - 1) / chunks->alignment *
                                    chunks->alignment);
  }
  return header;
}

// Takes off what fills up the last block. How many samples of each channel there should be, if more.
std::uint64_t cut_to(const Blocks& blocks, Signal& signal) {
  const std::uint64_t there = signal.length();
  const auto ends_last_block = [&](std::uint64_t length) {
    return length <= there && there - length < blocks.of_block;
  };
  for (const std::uint64_t length : {blocks.said, blocks.said / signal.channels.size()}) {
    if (length == 0 || !ends_last_block(length)) continue;
    for (std::vector<float>& channel : signal.channels) channel.resize(length);
    return length;
  }
  return std::max(blocks.said, there);
}

// What we know better than libsndfile of a WAV file that it does not open; empty if nothing.
std::string why_not_wav(const InputFile& file) {
  unsigned char start[36];
  if (file.read(0, start, sizeof start) != sizeof start) return "";
  const bool is_wav = begins(start, "RIFF") && begins(start + 8, "WAVE");
  if (!is_wav || !begins(start + 12, "fmt ")) return "";
  if (number(start + 20, 2, false) == 0x55) {
    return "it is a WAV file with MP3 in it; convert it to plain samples (ffmpeg -i in.wav "
           "out.flac)";
  }
  if (number(start + 24, 4, false) == 0) {
    return "its header says 0 samples per second; write it again with its rate";
  }
  return "";
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
  // Before libsndfile sees it, which closes what it does not open.
  const std::string reason = why_not_wav(file);
  const auto [samples, blocks] = header_of(file);
  if (samples && samples->several) {
    throw file.error(
        "its samples are in several data chunks, of which each program reads another; "
        "write it again with one");
  }
  const Sound sound(sf_open_fd(file.descriptor(), SFM_READ, &info, 0));
  if (!sound) {
    if (!reason.empty()) throw file.error(reason);
    throw file.error("it is not a sound file that libsndfile can read (" + words_of(nullptr) +
                     "); give a WAV, FLAC, AIFF, Ogg or NPY file");
  }
  if (samples && samples->said > samples->there) {
    throw file.error("it is truncated: the last " + std::to_string(samples->said - samples->there) +
                     " bytes of its samples are missing; copy or record it again");
  }
  if (samples && samples->said == 0 && samples->there > 0 && info.frames == 0) {
    throw file.error("its header says that there are no samples, but " +
                     std::to_string(samples->there) +
                     " bytes follow; was the recording cut off? Repair the header");
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
  auto frames = static_cast<std::uint64_t>(info.frames);
  const int coding = info.format & SF_FORMAT_SUBMASK;
  const bool in_blocks = coding == SF_FORMAT_IMA_ADPCM || coding == SF_FORMAT_MS_ADPCM;
  if (in_blocks && blocks && signal.length() == frames) frames = cut_to(*blocks, signal);
  if (signal.length() < frames) {
    throw file.error("it is truncated: " + std::to_string(signal.length()) + " of " +
                     std::to_string(frames) + " samples are there; copy or record it again");
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
  throw file.error("it is not an NPY file, and for sound files " + no_sound_reason());
}

void write_wav(OutputFile& file, const Signal&) { throw file.error(no_sound_reason()); }

}  // namespace halo::data::formats

#endif
