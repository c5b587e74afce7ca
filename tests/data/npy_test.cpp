// NPY files: what is read, what is written, and what is refused.
#include <bit>
#include <cmath>
#include <limits>

#include "common/conv/limits.hpp"
#include "common/data/signal.hpp"
#include "tests/data/files.hpp"

using namespace halo;
using data::Signal;
using test::big;
using test::contains;
using test::error_of;
using test::little;
using test::npy;

namespace {

std::uint64_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// The samples of a file with one channel.
std::vector<float> samples(const std::string& bytes) {
  const test::Folder folder;
  const Signal signal = data::read_signal(folder.write("x.npy", bytes));
  REQUIRE(signal.channels.size() == 1);
  CHECK(signal.sample_rate == 0);
  return signal.channels[0];
}

std::string npy_refusal(const std::string& bytes) {
  const test::Folder folder;
  const std::string path = folder.write("x.npy", bytes);
  const std::string message = error_of([&] { data::read_signal(path); });
  CHECK_THAT(message, contains("cannot read '" + path + "': "));
  return message;
}

const std::string kTwoFloats = little(bits(1.5f), 4) + little(bits(-2.25f), 4);

}  // namespace

TEST_CASE("float32 is read in either byte order and in all versions", "[npy]") {
  const std::vector<float> expected = {1.5f, -2.25f};
  for (const int version : {1, 2, 3}) {
    CHECK(samples(npy("<f4", "(2,)", kTwoFloats, version)) == expected);
  }
  CHECK(samples(npy(">f4", "(2,)", big(bits(1.5f), 4) + big(bits(-2.25f), 4))) == expected);
}

TEST_CASE("float64 is rounded to the nearest float", "[npy]") {
  const double value = 0.1;
  const std::vector<float> expected = {0.1f, -1e-300 * 0.0f, 3.0f};
  const std::string le = little(bits(value), 8) + little(bits(-1e-300), 8) + little(bits(3.0), 8);
  const std::string be = big(bits(value), 8) + big(bits(-1e-300), 8) + big(bits(3.0), 8);
  CHECK(samples(npy("<f8", "(3,)", le)) == expected);
  CHECK(samples(npy(">f8", "(3,)", be)) == expected);
}

TEST_CASE("whole numbers of all sizes are read and not scaled", "[npy]") {
  const std::uint64_t minus_two = ~std::uint64_t{1};
  for (const int size : {1, 2, 4, 8}) {
    const std::string digit = std::to_string(size);
    const std::string order = size == 1 ? "|" : "<";
    const std::string reverse = size == 1 ? "|" : ">";
    const float all_but_one = std::ldexp(1.0f, 8 * size);  // rounded up from 4 bytes on
    const float unsigned_value = size < 4 ? all_but_one - 2 : all_but_one;
    INFO("size " << size);
    CHECK(samples(npy(order + "i" + digit, "(2,)", little(minus_two, size) + little(100, size))) ==
          std::vector<float>{-2, 100});
    CHECK(samples(npy(reverse + "i" + digit, "(2,)", big(minus_two, size) + big(100, size))) ==
          std::vector<float>{-2, 100});
    CHECK(samples(npy(order + "u" + digit, "(2,)", little(minus_two, size) + little(100, size))) ==
          std::vector<float>{unsigned_value, 100});
    CHECK(samples(npy(reverse + "u" + digit, "(2,)", big(minus_two, size) + big(100, size))) ==
          std::vector<float>{unsigned_value, 100});
  }
  // 256 distinct bytes apart: the order of the bytes matters.
  CHECK(samples(npy("<i2", "(1,)", little(0x0102, 2))) == std::vector<float>{258});
  CHECK(samples(npy(">i2", "(1,)", little(0x0102, 2))) == std::vector<float>{513});
}

TEST_CASE("two dimensions are channels and samples", "[npy]") {
  const test::Folder folder;
  std::string values;
  for (int i = 0; i < 6; ++i) values += little(static_cast<std::uint64_t>(i), 2);
  const Signal signal = data::read_signal(folder.write("x.npy", npy("<i2", "(2, 3)", values)));
  REQUIRE(signal.channels.size() == 2);
  CHECK(signal.length() == 3);
  CHECK(signal.channels[0] == std::vector<float>{0, 1, 2});
  CHECK(signal.channels[1] == std::vector<float>{3, 4, 5});
}

TEST_CASE("headers are read whatever the order of keys, quotes and spaces", "[npy]") {
  for (const std::string header :
       {"{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<f4\"}",
        "{ 'fortran_order' : False ,\n 'descr' : '<f4' , 'shape' : ( 2 , ) , }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,)}",
        // One dimension has the same order both ways.
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }"}) {
    INFO(header);
    const std::string bytes =
        std::string("\x93NUMPY\x01\x00", 8) + little(header.size(), 2) + header + kTwoFloats;
    CHECK(samples(bytes) == std::vector<float>{1.5f, -2.25f});
  }
}

TEST_CASE("the content decides, not the name", "[npy]") {
  const test::Folder folder;
  const std::string path = folder.write("x.wav", npy("<f4", "(2,)", kTwoFloats));
  CHECK(data::read_signal(path).channels[0] == std::vector<float>{1.5f, -2.25f});
  CHECK_THAT(npy_refusal("RIFF this is no array"), contains("not an NPY file"));
  CHECK_THAT(npy_refusal("PK\x03\x04 a zip archive, which np.savez writes"),
             contains("numpy.savez"));
}

TEST_CASE("a truncated file is refused wherever it ends", "[npy]") {
  const std::string whole = npy("<f4", "(2,)", kTwoFloats);
  CHECK(samples(whole).size() == 2);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    INFO(size << " of " << whole.size() << " bytes");
    CHECK_THAT(npy_refusal(whole.substr(0, size)), contains("truncated"));
  }
  CHECK_THAT(npy_refusal(whole.substr(0, whole.size() - 1)),
             contains("7 bytes of values where its shape needs 8"));
  CHECK_THAT(npy_refusal(whole + "x"), contains("1 bytes more than its shape needs"));
}

TEST_CASE("a damaged header is refused", "[npy]") {
  for (const std::string header :
       {"",
        "{",
        "}",
        "{}",
        "[]",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'shape': (2,)}",
        "{'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}",
        "{'descr': <f4, 'fortran_order': False, 'shape': (2,)}",
        "{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}"}) {
    INFO(header);
    const std::string bytes =
        std::string("\x93NUMPY\x01\x00", 8) + little(header.size(), 2) + header + kTwoFloats;
    CHECK_THAT(npy_refusal(bytes), contains("its NPY header is damaged"));
  }
}

TEST_CASE("what an NPY file may hold but a signal may not is refused in words", "[npy]") {
  CHECK_THAT(npy_refusal(npy("<f4", "(2,)", kTwoFloats, 4)), contains("NPY version is 4.0"));
  CHECK_THAT(npy_refusal(npy("<f4", "(2, 1, 1)", kTwoFloats)), contains("3 dimensions"));
  CHECK_THAT(npy_refusal(npy("<f4", "()", little(0, 4))), contains("0 dimensions"));
  CHECK_THAT(npy_refusal(npy("<f4", "(0,)", "")), contains("no samples"));
  CHECK_THAT(npy_refusal(npy("<f4", "(2, 0)", "")), contains("no samples"));
  CHECK_THAT(npy_refusal(npy("<f4", "(0, 2)", "")), contains("no samples"));
  CHECK_THAT(npy_refusal(npy("<f4", "(2, 2)", kTwoFloats + kTwoFloats, 1, "True")),
             contains("Fortran order; save it with numpy.save(name, numpy.ascontiguousarray"));
  for (const std::string descr :
       {"<f2", "<c8", "|b1", "<U4", "|O", "=f4", "f4", "|f4", "<f", "", "<M8[s]", "<f16"}) {
    INFO(descr);
    CHECK_THAT(npy_refusal(npy(descr, "(2,)", kTwoFloats)),
               contains("its values are of type '" + descr + "'"));
  }
  const std::string header =
      "{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (1,), }";
  CHECK_THAT(npy_refusal(std::string("\x93NUMPY\x01\x00", 8) + little(header.size(), 2) + header +
                         kTwoFloats),
             contains("it holds records"));
}

TEST_CASE("counts beyond the limits are refused before anything is allocated", "[npy]") {
  CHECK_THAT(npy_refusal(npy("<f4", "(1000000, 2)", kTwoFloats)),
             contains("1000000 channels of 2 samples"));
  CHECK_THAT(npy_refusal(npy("<f4", "(1000000, 2)", kTwoFloats)), contains("transposed"));
  CHECK_THAT(npy_refusal(npy("<f4", "(2147479552,)", kTwoFloats)), contains("at most 2147479551"));
  CHECK_THAT(npy_refusal(npy("<f4", "(999999999999999999,)", kTwoFloats)), contains("at most"));
  CHECK_THAT(npy_refusal(npy("<f4", "(2147479551,)", kTwoFloats)), contains("truncated"));
}

TEST_CASE("values that are not finite, or beyond float, are refused with their place", "[npy]") {
  const auto nan = little(bits(std::numeric_limits<float>::quiet_NaN()), 4);
  const auto inf = little(bits(-std::numeric_limits<float>::infinity()), 4);
  CHECK_THAT(npy_refusal(npy("<f4", "(3,)", kTwoFloats + nan)), contains("sample 2 is NaN"));
  CHECK_THAT(npy_refusal(npy("<f4", "(2, 2)", kTwoFloats + little(0, 4) + inf)),
             contains("sample 1 of channel 1 is infinite"));
  CHECK_THAT(npy_refusal(npy("<f8", "(2,)", little(bits(1.0), 8) + little(bits(1e300), 8))),
             contains("sample 1 is beyond the range of float32"));
  const auto double_nan = little(bits(std::numeric_limits<double>::quiet_NaN()), 8);
  CHECK_THAT(npy_refusal(npy("<f8", "(1,)", double_nan)), contains("sample 0 is NaN"));
}

TEST_CASE("what is written is read back bit for bit", "[npy]") {
  const test::Folder folder;
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float huge = std::numeric_limits<float>::max();
  const Signal mono{{{1.5f, -0.0f, tiny, huge, -huge, 0.1f}}, 0};
  const Signal stereo{{{1, 2, 3}, {4, 5, 6}}, 0};
  for (const Signal& signal : {mono, stereo}) {
    data::write_signal(folder / "x.npy", signal);
    const Signal back = data::read_signal(folder / "x.npy");
    REQUIRE(back.channels.size() == signal.channels.size());
    for (std::size_t c = 0; c < signal.channels.size(); ++c) {
      REQUIRE(back.channels[c].size() == signal.channels[c].size());
      for (std::size_t i = 0; i < signal.channels[c].size(); ++i) {
        CHECK(bits(back.channels[c][i]) == bits(signal.channels[c][i]));
      }
    }
  }
  CHECK(folder.names() == std::vector<std::string>{"x.npy"});
}

TEST_CASE("a signal of several blocks is read whole", "[npy]") {
  const test::Folder folder;
  std::string values;
  for (int i = 0; i < 300'001; ++i) values += big(static_cast<std::uint64_t>(i), 8);
  const Signal signal = data::read_signal(folder.write("x.npy", npy(">i8", "(1, 300001)", values)));
  bool all_right = signal.length() == 300'001;
  for (std::size_t i = 0; all_right && i < signal.length(); ++i) {
    all_right = signal.channels[0][i] == static_cast<float>(i);
  }
  CHECK(all_right);
}

TEST_CASE("the written header is what numpy writes", "[npy]") {
  const test::Folder folder;
  data::write_signal(folder / "x.npy", {{{1.5f, -2.25f}}, 44100});
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  const std::string expected = std::string("\x93NUMPY\x01\x00", 8) + little(118, 2) + header +
                               std::string(118 - 1 - header.size(), ' ') + "\n" + kTwoFloats;
  CHECK(test::bytes_of(folder / "x.npy") == expected);
  data::write_signal(folder / "y.npy", {{{1}, {2}}, 0});
  CHECK_THAT(test::bytes_of(folder / "y.npy"), contains("'shape': (2, 1), }"));
  CHECK(test::bytes_of(folder / "y.npy").size() == 128 + 8);
}

TEST_CASE("signals that cannot be written are refused and nothing is left", "[npy]") {
  const test::Folder folder;
  const auto refused = [&](const std::string& name, const Signal& signal) {
    const std::string path = folder / name;
    const std::string message = error_of([&] { data::write_signal(path, signal); });
    CHECK_THAT(message, contains("cannot write '" + path + "': "));
    return message;
  };
  const Signal good{{{1, 2}}, 0};
  CHECK_THAT(refused("x.mp3", good), contains("must end in .wav (32-bit float) or .npy"));
  CHECK_THAT(refused("npy", good), contains("must end in .wav"));
  CHECK_THAT(refused("x.npy", {}), contains("no samples"));
  CHECK_THAT(refused("x.npy", {{{}}, 0}), contains("no samples"));
  CHECK_THAT(refused("x.npy", {{{1, 2}, {1}}, 0}), contains("different lengths"));
  CHECK_THAT(refused("x.npy", {{{1, std::nanf("")}}, 0}), contains("sample 1 is NaN"));
  CHECK_THAT(refused("none/x.npy", good), contains("no such file or folder"));
  CHECK(folder.names().empty());

  const std::string path = folder.write("old.npy", "old");
  std::string message;
  {
    const test::FullDisk full(5000);
    message = error_of([&] { data::write_signal(path, {{std::vector<float>(10'000, 1.0f)}, 0}); });
  }
  CHECK_THAT(message, contains("cannot write"));
  CHECK(test::bytes_of(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"old.npy"});
}

TEST_CASE("a target is judged before the work", "[npy]") {
  const test::Folder folder;
  CHECK_THAT(error_of([&] { data::require_signal_target(folder / "x.flac"); }),
             contains("must end in .wav"));
  CHECK_THAT(error_of([&] { data::require_signal_target(folder / "none/x.npy"); }),
             contains("no such file or folder"));
  data::require_signal_target(folder / "x.npy");
  data::require_signal_target(folder / "X.NPY");
  CHECK(folder.names().empty());
}
