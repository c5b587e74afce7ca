// Sound files: what is read, what is written, and what is refused.
#include <cmath>
#include <limits>

#include "common/data/signal.hpp"
#include "tests/data/files.hpp"

using namespace halo;
using data::Signal;
using test::contains;
using test::error_of;
using test::little;
using test::wav;

namespace {

void require_sound() {
  if (!data::has_sound()) test::skip("this build has no libsndfile");
}

std::string sound_refusal(const std::string& bytes, const std::string& name = "x.wav") {
  const test::Folder folder;
  const std::string path = folder.write(name, bytes);
  const std::string message = error_of([&] { data::read_signal(path); });
  CHECK_THAT(message, contains("cannot read '" + path + "': "));
  return message;
}

std::string pcm16(const std::vector<int>& samples) {
  std::string bytes;
  for (const int sample : samples) bytes += little(static_cast<std::uint64_t>(sample), 2);
  return bytes;
}

}  // namespace

TEST_CASE("sound is read and written, or refused with the package to install", "[sound]") {
  const test::Folder folder;
  const std::string source = folder.write("source.wav", wav(1, 16, pcm16({1, 2})));
  const std::string target = folder / "target.wav";
  const auto read = [&] { data::read_signal(source); };
  const auto write = [&] { data::write_signal(target, {{{1, 2}}, 48000}); };
  const auto require = [&] { data::require_signal_target(target); };
  if (data::has_sound()) {
    CHECK_NOTHROW(read());
    CHECK_NOTHROW(require());
    CHECK(folder.names() == std::vector<std::string>{"source.wav"});
    CHECK_NOTHROW(write());
    CHECK(folder.names() == std::vector<std::string>{"source.wav", "target.wav"});
  } else {
    CHECK_THAT(error_of(read), contains("apt-get install libsndfile1-dev"));
    CHECK_THAT(error_of(write), contains("apt-get install libsndfile1-dev"));
    CHECK_THAT(error_of(require), contains("apt-get install libsndfile1-dev"));
    CHECK(folder.names() == std::vector<std::string>{"source.wav"});
  }
}

TEST_CASE("16-bit samples become exact fractions of 32768", "[sound]") {
  require_sound();
  const test::Folder folder;
  const std::vector<int> values = {0, 1, -1, 16384, 32767, -32768};
  const Signal signal = data::read_signal(folder.write("x.wav", wav(1, 16, pcm16(values), 44100)));
  CHECK(signal.sample_rate == 44100);
  REQUIRE(signal.channels.size() == 1);
  REQUIRE(signal.length() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(signal.channels[0][i] == static_cast<float>(values[i]) / 32768);
  }
}

TEST_CASE("24-bit and 8-bit samples are exact", "[sound]") {
  require_sound();
  const test::Folder folder;
  std::string bytes =
      little(1, 3) + little(0x7fffff, 3) + little(0x800000, 3) + little(0xffffff, 3);
  CHECK(data::read_signal(folder.write("x.wav", wav(1, 24, bytes))).channels[0] ==
        std::vector<float>{0x1p-23f, 1 - 0x1p-23f, -1, -0x1p-23f});
  // 8-bit WAV samples are unsigned with 128 in the middle.
  CHECK(data::read_signal(folder.write("y.wav", wav(1, 8, {'\x80', '\x81', '\0', '\xff'})))
            .channels[0] == std::vector<float>{0, 1 / 128.0f, -1, 127 / 128.0f});
}

TEST_CASE("channels are taken apart", "[sound]") {
  require_sound();
  const test::Folder folder;
  const Signal signal =
      data::read_signal(folder.write("x.wav", wav(3, 16, pcm16({1, 2, 3, 4, 5, 6}))));
  REQUIRE(signal.channels.size() == 3);
  CHECK(signal.channels[0] == std::vector<float>{1 / 32768.0f, 4 / 32768.0f});
  CHECK(signal.channels[1] == std::vector<float>{2 / 32768.0f, 5 / 32768.0f});
  CHECK(signal.channels[2] == std::vector<float>{3 / 32768.0f, 6 / 32768.0f});
}

TEST_CASE("a written WAV file is read back bit for bit, whatever its range", "[sound]") {
  require_sound();
  const test::Folder folder;
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float huge = std::numeric_limits<float>::max();
  std::vector<float> longer(200'003);
  for (std::size_t i = 0; i < longer.size(); ++i) longer[i] = std::sin(static_cast<float>(i)) * 3;
  const Signal signals[] = {{{{0.1f, -1.5f, -0.0f, tiny, huge, -huge}}, 8000},
                            {{{1, 2, 3}, {4, 5, 6}}, 96000},
                            {{longer, longer, longer}, 44100}};
  for (const Signal& signal : signals) {
    data::write_signal(folder / "x.wav", signal);
    const Signal back = data::read_signal(folder / "x.wav");
    CHECK(back.sample_rate == signal.sample_rate);
    REQUIRE(back.channels == signal.channels);
    CHECK(std::signbit(back.channels[0][2]) == std::signbit(signal.channels[0][2]));
  }
  CHECK(folder.names() == std::vector<std::string>{"x.wav"});
}

TEST_CASE("a written WAV file is 32-bit float and always the same bytes", "[sound]") {
  require_sound();
  const test::Folder folder;
  const Signal signal{{{0.25f, -7}}, 0};
  data::write_signal(folder / "x.wav", signal);
  data::write_signal(folder / "Y.WAV", signal);
  const std::string bytes = test::bytes_of(folder / "x.wav");
  CHECK(bytes == test::bytes_of(folder / "Y.WAV"));
  CHECK(bytes.find("PEAK") == std::string::npos);  // a chunk that holds the time of writing
  CHECK(bytes.substr(0, 4) == "RIFF");
  CHECK(bytes.substr(20, 2) == little(3, 2));   // WAVE_FORMAT_IEEE_FLOAT
  CHECK(bytes.substr(34, 2) == little(32, 2));  // bits
  // A signal without a rate of its own gets the stated one.
  CHECK(data::read_signal(folder / "x.wav").sample_rate == data::kDefaultSampleRate);
}

TEST_CASE("a truncated WAV file is refused", "[sound]") {
  require_sound();
  const std::string whole = wav(1, 16, pcm16(std::vector<int>(100, 5)));
  CHECK_THAT(sound_refusal(whole.substr(0, whole.size() - 1)),
             contains("truncated: the last 1 bytes"));
  CHECK_THAT(sound_refusal(whole.substr(0, 60)), contains("truncated: the last 184 bytes"));
  // Within the header there is no telling what was to come.
  for (const std::size_t size : {1, 11, 12, 20, 40, 43, 44}) {
    INFO(size << " bytes");
    CHECK_THAT(sound_refusal(whole.substr(0, size)), contains("cannot read"));
  }
}

TEST_CASE("samples behind other chunks of a truncated WAV file are found", "[sound]") {
  require_sound();
  std::string whole = wav(1, 16, pcm16(std::vector<int>(100, 5)));
  whole.insert(36, "LIST" + little(5, 4) + "INFOx" + std::string(1, '\0'));
  const test::Folder folder;
  CHECK(data::read_signal(folder.write("x.wav", whole)).length() == 100);
  CHECK_THAT(sound_refusal(whole.substr(0, whole.size() - 20)), contains("the last 20 bytes"));
}

TEST_CASE("a WAV file with two chunks of samples is refused, not read in part", "[sound]") {
  require_sound();
  const std::string one = wav(1, 16, pcm16({1, 2, 3}));
  CHECK_THAT(sound_refusal(one + "data" + little(8, 4) + pcm16({4, 5, 6, 7})),
             contains("several data chunks"));
  // Any other chunk may follow, and the samples may say "data".
  const test::Folder folder;
  const std::string more = wav(1, 16, pcm16({0x6164, 0x6174, 1})) + "LIST" + little(4, 4) + "data";
  CHECK(data::read_signal(folder.write("x.wav", more)).length() == 3);
}

TEST_CASE("a WAV file of packed samples has as many as it says", "[sound]") {
  require_sound();
  // Two blocks of IMA ADPCM: each a sample of 16 bits, an index, and 8 samples of 4 bits.
  const auto ima = [](int said) {
    const std::string block = little(100, 2) + std::string(2, '\0') + std::string(4, '\x11');
    const std::string format = little(0x11, 2) + little(1, 2) + little(8000, 4) + little(7111, 4) +
                               little(8, 2) + little(4, 2) + little(2, 2) + little(9, 2);
    const std::string chunks = "fmt " + little(20, 4) + format + "fact" + little(4, 4) +
                               little(static_cast<std::uint64_t>(said), 4) + "data" +
                               little(16, 4) + block + block;
    return "RIFF" + little(4 + chunks.size(), 4) + "WAVE" + chunks;
  };
  const test::Folder folder;
  const auto length = [&](int said) {
    return data::read_signal(folder.write("x.wav", ima(said))).length();
  };
  CHECK(length(18) == 18);
  CHECK(length(12) == 12);  // the last block is filled up
  CHECK(length(0) == 18);   // who did not know
  CHECK_THAT(sound_refusal(ima(27)), contains("truncated: 18 of 27 samples are there"));
}

TEST_CASE("a WAV file of unknown size, as pipes produce, is read to its end", "[sound]") {
  require_sound();
  const test::Folder folder;
  std::string bytes = wav(1, 16, pcm16({1, 2, 3}));
  bytes.replace(4, 4, little(0xffffffff, 4));
  bytes.replace(40, 4, little(0xffffffff, 4));
  CHECK(data::read_signal(folder.write("x.wav", bytes)).length() == 3);
}

TEST_CASE("AIFF files are read, and truncated ones refused", "[sound]") {
  require_sound();
  const std::string rate = {'\x40', '\x0e', '\xbb', '\x80', 0, 0, 0, 0, 0, 0};  // 48000, 80 bits
  const std::string values = test::big(16384, 2) + test::big(0x8000, 2) + test::big(1, 2);
  const std::string common =
      "COMM" + test::big(18, 4) + test::big(1, 2) + test::big(3, 4) + test::big(16, 2) + rate;
  const std::string data = "SSND" + test::big(8 + 6, 4) + test::big(0, 8) + values;
  const std::string whole =
      "FORM" + test::big(4 + common.size() + data.size(), 4) + "AIFF" + common + data;
  const test::Folder folder;
  const Signal signal = data::read_signal(folder.write("x.aiff", whole));
  CHECK(signal.sample_rate == 48000);
  CHECK(signal.channels[0] == std::vector<float>{0.5f, -1, 1 / 32768.0f});
  CHECK_THAT(sound_refusal(whole.substr(0, whole.size() - 2)), contains("the last 2 bytes"));
}

TEST_CASE("RF64 files are read, and truncated ones refused", "[sound]") {
  require_sound();
  std::string whole = wav(1, 16, pcm16({1, 2, 3, 4}));
  whole.replace(0, 8, "RF64" + little(0xffffffff, 4));
  whole.replace(40, 4, little(0xffffffff, 4));
  whole.insert(12,
               "ds64" + little(28, 4) + little(80, 8) + little(8, 8) + little(4, 8) + little(0, 4));
  const test::Folder folder;
  CHECK(data::read_signal(folder.write("x.wav", whole)).length() == 4);
  CHECK_THAT(sound_refusal(whole.substr(0, whole.size() - 4)), contains("the last 4 bytes"));
}

TEST_CASE("AU, W64 and CAF files are read, and truncated ones refused", "[sound]") {
  require_sound();
  const std::string values = test::big(16384, 2) + test::big(0x8000, 2) + test::big(1, 2);
  const std::string au = ".snd" + test::big(24, 4) + test::big(6, 4) + test::big(3, 4) +
                         test::big(48000, 4) + test::big(1, 4) + values;
  const std::string rate = {'\x40', '\xe7', '\x70', 0, 0, 0, 0, 0};  // 48000 as a double
  const std::string caf = "caff" + test::big(1, 2) + test::big(0, 2) + "desc" + test::big(32, 8) +
                          rate + "lpcm" + test::big(0, 4) + test::big(2, 4) + test::big(1, 4) +
                          test::big(1, 4) + test::big(16, 4) + "data" + test::big(4 + 6, 8) +
                          test::big(0, 4) + values;
  // Names of 16 bytes, sizes that count themselves.
  const std::string wave = "\xf3\xac\xd3\x11\x8c\xd1" + std::string("\x00\xc0\x4f\x8e\xdb\x8a", 6);
  const std::string format = little(1, 2) + little(1, 2) + little(48000, 4) + little(96000, 4) +
                             little(2, 2) + little(16, 2);
  const std::string w64 =
      "riff" + std::string("\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00", 12) +
      little(40 + 40 + 30, 8) + "wave" + wave + "fmt " + wave + little(24 + 16, 8) + format +
      "data" + wave + little(24 + 6, 8) + pcm16({16384, -32768, 1});
  for (const std::string& whole : {au, caf, w64}) {
    INFO(whole.substr(0, 4));
    const test::Folder folder;
    const Signal signal = data::read_signal(folder.write("x", whole));
    CHECK(signal.sample_rate == 48000);
    CHECK(signal.channels[0] == std::vector<float>{0.5f, -1, 1 / 32768.0f});
    CHECK_THAT(sound_refusal(whole.substr(0, whole.size() - 2)),
               contains("truncated: the last 2 bytes"));
  }
  // Who writes into a pipe does not know the size.
  const test::Folder folder;
  std::string pipe = au;
  pipe.replace(8, 4, test::big(0xffffffff, 4));
  CHECK(data::read_signal(folder.write("x.au", pipe)).length() == 3);
}

TEST_CASE("a WAV file that says of itself what cannot be is refused in our own words", "[sound]") {
  require_sound();
  std::string none = wav(1, 16, pcm16({1, 2, 3}));
  none.replace(40, 4, little(0, 4));
  CHECK_THAT(sound_refusal(none), contains("says that there are no samples, but 6 bytes follow"));
  CHECK_THAT(sound_refusal(wav(1, 16, pcm16({1, 2}), 0)), contains("0 samples per second"));
  std::string mp3 = wav(1, 16, pcm16({1, 2, 3}));
  mp3.replace(20, 2, little(0x55, 2));
  CHECK_THAT(sound_refusal(mp3), contains("MP3 in it"));
}

TEST_CASE("files that are no sound, or hold none, are refused", "[sound]") {
  require_sound();
  CHECK_THAT(sound_refusal("just some text\n"),
             contains("not a sound file that libsndfile can read"));
  CHECK_THAT(sound_refusal("just some text\n", "notes.txt"), contains("give a WAV"));
  CHECK_THAT(sound_refusal("PK\x03\x04 and so on"), contains("numpy.savez"));
  CHECK_THAT(sound_refusal(std::string(1000, '\0')), contains("not a sound file"));
  CHECK_THAT(sound_refusal(wav(1, 16, "")), contains("no samples"));
  CHECK_THAT(sound_refusal(""), contains("it is empty"));
}

TEST_CASE("float samples that are not finite are refused with their place", "[sound]") {
  require_sound();
  std::string bytes = wav(1, 32, little(0x3f800000, 4) + little(0x7fc00000, 4));
  bytes.replace(20, 2, little(3, 2));  // the format: float
  CHECK_THAT(sound_refusal(bytes), contains("sample 1 is NaN"));
}

TEST_CASE("sound that cannot be written is refused and nothing is left", "[sound]") {
  require_sound();
  const test::Folder folder;
  const Signal good{{{1, 2}}, 48000};
  CHECK_THAT(error_of([&] { data::write_signal(folder / "none/x.wav", good); }),
             contains("no such file or folder"));
  const std::string path = folder.write("old.wav", "old");
  std::string message;
  {
    const test::FullDisk full(5000);
    message = error_of([&] {
      data::write_signal(path, {{std::vector<float>(100'000, 1.0f)}, 48000});
    });
  }
  CHECK_THAT(message, contains("cannot write '" + path + "'"));
  CHECK(test::bytes_of(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"old.wav"});
}
