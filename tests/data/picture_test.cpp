// Pictures: what is read, what is written, and what is refused.
#include "common/data/picture.hpp"

#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "common/data/array.hpp"
#include "tests/data/files.hpp"

using namespace halo;
using data::Picture;
using data::read_picture;
using data::write_picture;
using test::contains;
using test::error_of;

using Channels = std::vector<std::vector<float>>;

namespace {

// PNG files of 3 x 2 pixels, in hexadecimal: written by Pillow, those with Adam7 interlacing and with a
// transparent grey by hand.
std::string from_hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  }
  return bytes;
}

const std::string kGrey8 = from_hex(
    "89504e470d0a1a0a0000000d4948445200000003000000020800000000b81f39c60000001049444154789c636460"
    "ac6368f8f71f00070702fe56802a150000000049454e44ae426082");
const std::string kGrey16 = from_hex(
    "89504e470d0a1a0a0000000d4948445200000003000000021000000000e88fe5850000001649444154789c636460"
    "60606464606860f8ffefff7f000d22047fb1c9d2450000000049454e44ae426082");
const std::string kGrey1 = from_hex(
    "89504e470d0a1a0a0000000d4948445200000003000000020100000000b50f5bb70000000c49444154789c637060"
    "380000018401010a7f90500000000049454e44ae426082");
const std::string kRgb8 = from_hex(
    "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000001849444154789c63f8cf"
    "c0c0f09f8181e13f2397881c040000313303ef9ed3a8230000000049454e44ae426082");
const std::string kPalette = from_hex(
    "89504e470d0a1a0a0000000d49484452000000030000000204030000006f5a7b2900000012504c5445ff000000ff"
    "000000ff0a141e28323c46505a3a579df20000000e49444154789c6364946731960100011b007511c9663f000000"
    "0049454e44ae426082");
const std::string kTransparentPalette = from_hex(
    "89504e470d0a1a0a0000000d49484452000000030000000204030000006f5a7b2900000012504c5445ff000000ff"
    "000000ff0a141e28323c46505a3a579df20000000374524e53ffff00d7ca0d410000000e49444154789c63649467"
    "31960100011b007511c9663f0000000049454e44ae426082");
const std::string kInterlaced = from_hex(
    "89504e470d0a1a0a0000000d49484452000000030000000208020000016511c1db000000184944415478da63f8cf"
    "0002ffc1884b444ec3c8c62d200a00365804c0de4bbeff0000000049454e44ae426082");
const std::string kOpaque = from_hex(
    "89504e470d0a1a0a0000000d49484452000000030000000208060000009d74661a0000001e49444154789c05c1a1"
    "010000088030ac6633ff7f891b414450b3672a2a0f80b007ebfedb42da0000000049454e44ae426082");
const std::string kTransparent = from_hex(
    "89504e470d0a1a0a0000000d49484452000000030000000208060000009d74661a0000001e49444154789c05c1a1"
    "010000088030ac6633ff7f891b414450b3672a6a0f81af08eaaedae7c70000000049454e44ae426082");
const std::string kTransparentGrey = from_hex(
    "89504e470d0a1a0a0000000d4948445200000003000000020800000000b81f39c60000000274524e53007fb629a1"
    "95000000104944415478da636060ac6768f8f71f00070402fe7595f12f0000000049454e44ae426082");

Channels channels_of(const std::string& bytes) {
  const test::Folder folder;
  const Picture picture = read_picture(folder.write("x", bytes));
  CHECK(picture.height == 2);
  CHECK(picture.width == 3);
  return picture.channels;
}

std::string picture_refusal(const std::string& bytes, const std::string& name = "x.png") {
  const test::Folder folder;
  const std::string path = folder.write(name, bytes);
  const std::string message = error_of([&] { read_picture(path); });
  CHECK_THAT(message, contains("cannot read '" + path + "': "));
  return message;
}

void require_png() {
  if (!data::has_png()) test::skip("this build has no libpng");
}

// A PNG chunk with a right CRC: a wrong size is then the only thing wrong.
std::string chunk(const std::string& kind, const std::string& data) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : kind + data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
  }
  return test::big(data.size(), 4) + kind + data + test::big(~crc & 0xffffffff, 4);
}

std::string header(std::uint64_t width, std::uint64_t height, char depth = 8) {
  return std::string("\x89PNG\r\n\x1a\n", 8) +
         chunk("IHDR", test::big(width, 4) + test::big(height, 4) + depth +
                           std::string("\x00\x00\x00\x00", 4));
}

// So many zeros, one more than a multiple of 258, deflated: a zero, and then runs of 258 like it.
std::string deflated_zeros(std::uint64_t count) {
  std::string text("\x78\x01", 2);
  unsigned pending = 0, bits = 0;
  const auto put = [&](const char* code) {  // a code's first bit first
    for (; *code; ++code) {
      pending |= (*code - '0') << bits;
      if (++bits < 8) continue;
      text += static_cast<char>(pending);
      pending = bits = 0;
    }
  };
  put("110");       // the last block, with the fixed codes
  put("00110000");  // a zero
  for (std::uint64_t i = 0; i < (count - 1) / 258; ++i) put("1100010100000");
  put("0000000");  // the end
  put("0000000");  // fills the last byte
  return text + test::big(count % 65521, 2) + test::big(1, 2);
}

// The most memory that this program has had so far, in MiB.
long most_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

const std::vector<float> kGrey = {0, 1, 127, 128, 254, 255};

}  // namespace

TEST_CASE("PNG: all kinds of pixels become 0 ... 255", "[picture]") {
  require_png();
  CHECK(channels_of(kGrey8) == Channels{kGrey});
  // Stored 0, 1, 257, 32768, 65534, 65535.
  const Channels deep = channels_of(kGrey16);
  CHECK(deep ==
        Channels{std::vector<float>{0, 255 / 65535.0f, 1, static_cast<float>(255.0 * 32768 / 65535),
                                    static_cast<float>(255.0 * 65534 / 65535), 255}});
  CHECK(channels_of(kGrey1) == Channels{std::vector<float>{0, 255, 0, 255, 255, 0}});
  const Channels colours = {
      {255, 0, 0, 10, 40, 70}, {0, 255, 0, 20, 50, 80}, {0, 0, 255, 30, 60, 90}};
  CHECK(channels_of(kRgb8) == colours);
  CHECK(channels_of(kPalette) == colours);
  CHECK(channels_of(kInterlaced) == colours);
  CHECK(channels_of(kOpaque) == colours);
}

TEST_CASE("PNG: single bits may be packed as tightly as deflate can", "[picture]") {
  require_png();
  // Rows of a filter byte and 2,046 bytes of eight pixels, 2,155 times: 17,098 x 258 + 1 bytes.
  const int width = 8 * 2046, height = 2155;
  const std::string bytes = header(width, height, 1) +
                            chunk("IDAT", deflated_zeros(std::uint64_t{2047} * height)) +
                            chunk("IEND", "");
  const test::Folder folder;
  const Picture picture = read_picture(folder.write("x.png", bytes));
  CHECK(picture.width == width);
  CHECK(picture.height == height);
}

TEST_CASE("PNG: transparent pixels are refused, in any form", "[picture]") {
  require_png();
  for (const std::string& bytes : {kTransparent, kTransparentPalette, kTransparentGrey}) {
    CHECK_THAT(picture_refusal(bytes),
               contains("it has transparent pixels") && contains("background"));
  }
}

TEST_CASE("PGM and PPM are read with any largest value, comments and both widths", "[picture]") {
  CHECK(channels_of(std::string("P5\n3 2\n255\n") + std::string("\x00\x01\x7f\x80\xfe\xff", 6)) ==
        Channels{kGrey});
  CHECK(channels_of(std::string("P5 #grey\n# two lines\n3\t2 15\n") +
                    std::string("\x00\x0f\x03\x00\x00\x05", 6)) ==
        Channels{std::vector<float>{0, 255, 51, 0, 0, 85}});
  CHECK(channels_of(std::string("P5\n3 2\n65535\n") +
                    std::string("\x00\x00\xff\xff\x01\x01\x00\x00\x00\x00\x00\x00", 12)) ==
        Channels{std::vector<float>{0, 255, 1, 0, 0, 0}});
  std::string colours = "P6\n3 2\n255\n";
  for (int i = 0; i < 18; ++i) colours += static_cast<char>(i);
  CHECK(channels_of(colours) == Channels{std::vector<float>{0, 3, 6, 9, 12, 15},
                                         std::vector<float>{1, 4, 7, 10, 13, 16},
                                         std::vector<float>{2, 5, 8, 11, 14, 17}});
}

TEST_CASE("NPY pictures are taken as they are", "[picture]") {
  const test::Folder folder;
  const std::vector<float> values = {-1, 0.5f, 300, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  data::write_array(folder / "grey.npy", {{3, 4}, values});
  const Picture grey = read_picture(folder / "grey.npy");
  CHECK(grey.height == 3);
  CHECK(grey.width == 4);
  CHECK(grey.channels == Channels{values});
  data::write_array(folder / "two.npy", {{2, 3, 2}, values});
  const Picture two = read_picture(folder / "two.npy");
  CHECK(two.channels == Channels{std::vector<float>{-1, 0.5f, 300, 4, 5, 6},
                                 std::vector<float>{7, 8, 9, 10, 11, 12}});
  data::write_array(folder / "last.npy", {{4, 3, 1}, values});
  CHECK(read_picture(folder / "last.npy").channels.size() == 4);
}

TEST_CASE("an NPY picture's white is what its values suggest", "[picture]") {
  const test::Folder folder;
  const auto white = [&](const std::string& type, const std::string& bytes) {
    return read_picture(folder.write("x.npy", test::npy(type, "(1, 2)", bytes))).white;
  };
  const auto floats = [&](float a, float b) {
    data::write_array(folder / "f.npy", {{1, 2}, {a, b}});
    return read_picture(folder / "f.npy").white;
  };
  CHECK(floats(0, 1) == 1);
  CHECK(floats(-1, 0.5f) == 1);
  CHECK(floats(0, 0) == 255);
  CHECK(floats(0, 1.5f) == 255);
  CHECK(floats(-2, 1) == 255);
  CHECK(floats(0, 65535) == 255);
  CHECK(white("<u2", test::little(0, 2) + test::little(65535, 2)) == 65535);
  CHECK(white(">u2", test::big(256, 2) + test::big(0, 2)) == 65535);
  CHECK(white("<u2", test::little(0, 2) + test::little(255, 2)) == 255);
  CHECK(white("|u1", test::little(0, 1) + test::little(1, 1)) == 255);
  // What is written has it at 255.
  CHECK(write_picture(folder / "x.pgm", {1, 4, {{-0.5f, 0, 0.2f, 1}}, 1}) == 0.25);
  CHECK(read_picture(folder / "x.pgm").channels == Channels{std::vector<float>{0, 0, 51, 255}});
  CHECK(write_picture(folder / "x.pgm", {1, 2, {{257, 65535}}, 65535}) == 0);
  CHECK(read_picture(folder / "x.pgm").channels == Channels{std::vector<float>{1, 255}});
}

TEST_CASE("what is written is rounded, clipped, and read again", "[picture]") {
  const test::Folder folder;
  const Picture grey{2, 3, {{-7, 0.49f, 0.5f, 1.5f, 254.6f, 1e30f}}};
  const std::vector<float> rounded = {0, 0, 0, 2, 255, 255};
  const Picture colours{2, 3, {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}, {0, 0, 0, 255, 0, 0}}};
  std::vector<std::string> endings = {"pgm"};
  if (data::has_png()) endings.push_back("PNG");
  for (const std::string& ending : endings) {
    INFO(ending);
    write_picture(folder / ("grey." + ending), grey);
    const Picture back = read_picture(folder / ("grey." + ending));
    CHECK(back.height == 2);
    CHECK(back.width == 3);
    CHECK(back.channels == Channels{rounded});
    const std::string same = ending == "PNG" ? "c.png" : "c.ppm";
    write_picture(folder / same, colours);
    CHECK(read_picture(folder / same).channels == colours.channels);
    const std::string bytes = test::bytes_of(folder / same);
    write_picture(folder / same, colours);
    CHECK(test::bytes_of(folder / same) == bytes);
  }
  CHECK(test::bytes_of(folder / "grey.pgm") ==
        std::string("P5\n3 2\n255\n") + std::string("\x00\x00\x00\x02\xff\xff", 6));
}

TEST_CASE("a single pixel is a picture", "[picture]") {
  const test::Folder folder;
  for (const std::string name : {"x.pgm", "x.png"}) {
    if (name == "x.png" && !data::has_png()) continue;
    write_picture(folder / name, {1, 1, {{77}}});
    CHECK(read_picture(folder / name).channels == Channels{std::vector<float>{77}});
  }
}

TEST_CASE("a sound among pictures, and a picture among sounds, is told its stage", "[picture]") {
  const test::Folder folder;
  CHECK_THAT(error_of([&] {
               data::read_picture(folder.write("x.png", std::string("RIFF\0\0\0\0WAVEfmt ", 16)));
             }),
             contains("it is a sound; ./halo run 04 --input "));
  for (const char* start : {"\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0", "P5\n1 1\n255\n0"}) {
    CHECK_THAT(error_of([&] { data::read_signal(folder.write("x.wav", start)); }),
               contains("it is a picture; ./halo run 06 --input "));
  }
}

TEST_CASE("what is no picture is refused in words", "[picture]") {
  const test::Folder folder;
  CHECK_THAT(error_of([&] { read_picture(folder / "none.png"); }), contains("no such file"));
  CHECK_THAT(error_of([&] { read_picture(folder.path()); }), contains("it is a folder"));
  CHECK_THAT(picture_refusal(""), contains("it is empty"));
  CHECK_THAT(picture_refusal("just some text\n"),
             contains("it is not a picture that can be read here"));
  CHECK_THAT(picture_refusal("\xff\xd8\xff\xe0 and so on"),
             contains("JPEG") && contains("convert"));
  CHECK_THAT(picture_refusal("PK\x03\x04"), contains("numpy.savez"));
  CHECK_THAT(picture_refusal("P2\n1 1\n255\n7\n"), contains("Netpbm file of kind P2"));
  CHECK_THAT(picture_refusal(std::string("\x89PNG\r\n", 6)), contains("not a picture"));
}

TEST_CASE("PNG: a damaged file is refused in words", "[picture]") {
  require_png();
  for (std::size_t length = 9; length < kRgb8.size(); ++length) {
    INFO("the first " << length << " bytes");
    CHECK_THAT(picture_refusal(kRgb8.substr(0, length)), contains("truncated"));
  }
  std::string flipped = kRgb8;
  flipped[flipped.size() - 20] ^= 1;
  CHECK_THAT(picture_refusal(flipped), contains("it is damaged ("));
  CHECK_THAT(picture_refusal(header(0, 5)), contains("damaged"));
  // 16,385 x 16,384 pixels are one column too many; a few bytes cannot hold 16,384 x 16,384.
  CHECK_THAT(picture_refusal(header(16385, 16384) + chunk("IDAT", "x")),
             contains("it is 16385 x 16384 pixels, at most 268435456 are read"));
  const long before = most_memory();
  CHECK_THAT(picture_refusal(header(2'000'000'000, 1) + chunk("IDAT", "x")), contains("at most"));
  CHECK_THAT(picture_refusal(header(268'435'456, 1) + chunk("IDAT", "x")), contains("truncated"));
  CHECK(most_memory() < before + 100);  // what a header promises is not asked for
  CHECK_THAT(picture_refusal(header(16384, 16384) + chunk("IDAT", "x")), contains("truncated"));
  CHECK_THAT(picture_refusal(header(3, 2) + chunk("IDAT", "no deflated data") + chunk("IEND", "")),
             contains("it is damaged ("));
}

TEST_CASE("PGM and PPM: a damaged file is refused in words", "[picture]") {
  CHECK_THAT(picture_refusal("P5\n3 2\n255\n12345"),
             contains("truncated: 5 bytes") && contains("needs 6"));
  CHECK_THAT(picture_refusal("P5\n3 2\n255"), contains("header is damaged"));
  CHECK_THAT(picture_refusal("P5\n3 x\n255\n123456"), contains("header is damaged"));
  CHECK_THAT(picture_refusal("P5\n-3 2\n255\n123456"), contains("header is damaged"));
  CHECK_THAT(picture_refusal("P5\n3 2\n65536\n123456"), contains("header is damaged"));
  CHECK_THAT(picture_refusal("P5\n3 2\n0\n123456"), contains("header is damaged"));
  CHECK_THAT(picture_refusal("P5\n3 2\n9\n123456"), contains("its values exceed"));
  CHECK_THAT(picture_refusal("P5\n0 2\n255\n"), contains("it has no pixels"));
  CHECK_THAT(picture_refusal("P6\n99999999999 2\n255\n"), contains("header is damaged"));
  CHECK_THAT(picture_refusal("P6\n300000 3000\n255\n"),
             contains("it is 300000 x 3000 pixels, at most"));
  CHECK_THAT(picture_refusal("P5\n# " + std::string(9000, 'c')), contains("header is damaged"));
}

TEST_CASE("NPY: what is no picture is refused in words", "[picture]") {
  const auto of_shape = [](const std::string& shape, int count) {
    return picture_refusal(
        test::npy("|u1", shape, std::string(static_cast<std::size_t>(count), 'x')), "x.npy");
  };
  CHECK_THAT(of_shape("(6,)", 6), contains("1 dimensions, a picture has two"));
  CHECK_THAT(of_shape("(1, 1, 2, 3)", 6), contains("4 dimensions"));
  CHECK_THAT(of_shape("(2, 3, 0)", 0), contains("it holds no values"));
  CHECK_THAT(of_shape("(5, 3, 3)", 45), contains("it has 5 channels") && contains("transposed"));
  CHECK_THAT(of_shape("(3, 3)", 8), contains("truncated"));
  CHECK_THAT(of_shape("(99999999999, 99999999999)", 8), contains("more than"));
}

TEST_CASE("a target that cannot be written is refused before the work", "[picture]") {
  const test::Folder folder;
  const Picture grey{1, 1, {{1}}};
  const Picture colours{1, 1, {{1}, {2}, {3}}};
  const auto refuse = [&](const std::string& name, const Picture& picture) {
    const std::string path = folder / name;
    const std::string early = error_of(
        [&] { data::require_picture_target(path, static_cast<int>(picture.channels.size())); });
    const std::string late = error_of([&] { write_picture(path, picture); });
    CHECK(early == late);
    CHECK_THAT(late, contains("cannot write '" + path + "': "));
    return late;
  };
  CHECK_THAT(refuse("x.jpg", grey), contains("the name must end in .png, .pgm (grey) or .ppm"));
  CHECK_THAT(refuse("x", grey), contains("the name must end in"));
  CHECK_THAT(refuse("x.pgm", colours), contains("choose .ppm or .png"));
  CHECK_THAT(refuse("x.ppm", grey), contains("choose .pgm or .png"));
  CHECK_THAT(refuse("x.pgm", {1, 1, {{1}, {2}}}), contains("one channel or three, not 2"));
  CHECK_THAT(refuse("none/x.pgm", grey), contains("no such file or folder"));
  std::filesystem::create_directory(folder / "folder.pgm");
  CHECK_THAT(refuse("folder.pgm", grey), contains("it is a folder"));
  CHECK(folder.names() == std::vector<std::string>{"folder.pgm"});

  CHECK_THAT(error_of([&] {
               write_picture(folder / "x.pgm", {1, 1, {{std::numeric_limits<float>::quiet_NaN()}}});
             }),
             contains("a pixel is NaN"));
  CHECK_THAT(error_of([&] {
               write_picture(folder / "x.pgm", {0, 0, {{}}});
             }),
             contains("no pixels"));
  CHECK_THAT(error_of([&] {
               write_picture(folder / "x.pgm", {1, 2, {{1}}});
             }),
             contains("another size"));
}

TEST_CASE("a full disk is named, and nothing is left behind", "[picture]") {
  const test::Folder folder;
  Picture noise{100, 100, {std::vector<float>(10'000)}};
  for (std::size_t i = 0; i < noise.channels[0].size(); ++i) {
    noise.channels[0][i] = static_cast<float>(i * i % 251);
  }
  for (const std::string name : {"x.pgm", "x.png"}) {
    if (name == "x.png" && !data::has_png()) continue;
    std::string message;
    {
      const test::FullDisk full(1000);
      message = error_of([&] { write_picture(folder / name, noise); });
    }
    CHECK_THAT(message, contains("cannot write '" + folder / name + "': "));
  }
  CHECK(folder.names().empty());
}

TEST_CASE("without libpng every PNG file says how to get it", "[picture]") {
  if (data::has_png()) test::skip("this build has libpng");
  const test::Folder folder;
  CHECK_THAT(picture_refusal(kGrey8), contains("apt-get install libpng-dev"));
  CHECK_THAT(error_of([&] {
               write_picture(folder / "x.png", {1, 1, {{1}}});
             }),
             contains("apt-get install libpng-dev"));
}
