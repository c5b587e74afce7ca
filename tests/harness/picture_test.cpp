// A picture as a layer, from the command line to the file that is written.
#include "common/harness/families/picture.hpp"

#include "common/data/array.hpp"
#include "tests/catch.hpp"
#include "tests/data/files.hpp"
#include "tests/harness/captured.hpp"
#include "tests/harness/wrong_layers.hpp"

using namespace halo;
using test::contains;
using test::Folder;

namespace {

// What the constructor says, in one line.
std::string refusal(const PictureOptions& options) {
  try {
    PictureTask{options};
  } catch (const std::exception& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  return "nothing was thrown";
}

// A picture of 2 x 3 pixels with these channels.
std::string picture(const Folder& folder, const std::string& name,
                    const std::vector<std::vector<float>>& channels) {
  data::write_picture(folder / name, {2, 3, channels});
  return folder / name;
}

const std::vector<float> kCells = {1, 2, 3, 4, 5, 6};

int run(const std::vector<std::string>& arguments,
        const Conv2dVariant& variant = test::plain_layer(),
        std::unique_ptr<Backend> backend = make_backend()) {
  std::vector<const char*> words = {"pictures"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  Conv2dStage stage;
  stage.name = "06_pictures";
  stage.variants = {variant};
  return run_program<conv::ConvLayer>(static_cast<int>(words.size()), words.data(), {stage}, {},
                                      std::move(backend));
}

// A simulator that must not be asked.
class Observing final : public test::NoGpu {
 public:
  std::string name() const override { return "sim"; }
  bool observes() const override { return true; }
  bool times() const override { return false; }
  std::string unavailable() override { return {}; }
};

}  // namespace

TEST_CASE("a channel is an image of one channel", "[picture]") {
  const Folder folder;
  const std::string path =
      picture(folder, "x.ppm", {kCells, {7, 8, 9, 10, 11, 12}, {0, 0, 0, 0, 0, 255}});
  const PictureTask task({.input = path, .filter = "sobel", .output = ""});
  const conv::ConvLayer layer(
      {.N = 3, .H = 2, .W = 3, .K = 2, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  CHECK(task.layer() == layer);
  CHECK(task.data()->inputs()[0].values ==
        std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 0, 0, 255});
  CHECK(task.data()->inputs()[1].values == data::read_filters("sobel").values);
  CHECK(PictureTask({.input = path, .filter = "", .output = ""}).data()->inputs()[1].values ==
        data::read_filters("gaussian:5").values);
  // Larger than the picture, and not square.
  data::write_array(folder / "wide.npy", {{1, 9}, std::vector<float>(9, 1)});
  const PictureTask wide({.input = path, .filter = folder / "wide.npy", .output = ""});
  CHECK(wide.layer().padding_h() == 0);
  CHECK(wide.layer().padding_w() == 4);
  CHECK(wide.layer().P() == 2);
  CHECK(wide.layer().Q() == 3);
}

TEST_CASE("results are saved filter by filter, or as a picture", "[picture]") {
  const Folder folder;
  const std::string path = picture(folder, "x.ppm", {kCells, kCells, kCells});
  std::vector<float> outputs;  // [3 channels][2 filters][2][3]
  for (int i = 0; i < 36; ++i) outputs.push_back(static_cast<float>(i) - 0.25f);
  const PictureTask array({.input = path, .filter = "sobel", .output = folder / "o.npy"});
  CHECK(array.save(outputs) ==
        "wrote " + folder / "o.npy" + ": 2 filters, 3 channels of 2 x 3 pixels");
  const data::Array saved = data::read_array(folder / "o.npy");
  CHECK(saved.shape == std::vector<std::int64_t>{2, 3, 2, 3});
  for (int k = 0; k < 2; ++k) {
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < 6; ++i) {
        CHECK(saved.values[(k * 3 + c) * 6 + i] == outputs[(c * 2 + k) * 6 + i]);
      }
    }
  }
  // Of sobel the length of the vector of both: 3 and 4 are 5, and 300 is clipped.
  std::vector<float> parts(36, 0);
  parts[0] = 3;
  parts[6] = -4;
  parts[1] = 300;
  const PictureTask edges({.input = path, .filter = "sobel", .output = folder / "o.ppm"});
  edges.save(parts);
  const data::Picture shown = data::read_picture(folder / "o.ppm");
  REQUIRE(shown.channels.size() == 3);
  CHECK(shown.channels[0] == std::vector<float>{5, 255, 0, 0, 0, 0});
  CHECK(shown.channels[1] == std::vector<float>(6, 0));
  // Of one filter the results themselves.
  const PictureTask one({.input = path, .filter = "box:1", .output = folder / "one.ppm"});
  one.save(std::span(outputs).first(18));
  CHECK(data::read_picture(folder / "one.ppm").channels[1] ==
        std::vector<float>{6, 7, 8, 9, 10, 11});
}

TEST_CASE("a picture of 0 to 1 is not black, and one that is mostly clipped is told", "[picture]") {
  const Folder folder;
  data::write_array(folder / "p.npy", {{2, 3}, {0, 0.2f, 0.4f, 0.6f, 0.8f, 1}});
  const auto save = [&](const std::string& input, const std::string& output,
                        const std::vector<float>& results) {
    return PictureTask({.input = folder / input, .filter = "box:1", .output = folder / output})
        .save(results);
  };
  CHECK_THAT(save("p.npy", "o.pgm", {0, 0.2f, 0.4f, 0.6f, 0.8f, 1}),
             contains("2 x 3 pixels (1 was taken for white, as its input suggests)"));
  CHECK(data::read_picture(folder / "o.pgm").channels[0] ==
        std::vector<float>{0, 51, 102, 153, 204, 255});
  // An array has the results as they are.
  CHECK(save("p.npy", "o.npy", {0, 0.2f, 0.4f, 0.6f, 0.8f, 1}) ==
        "wrote " + folder / "o.npy" + ": 1 filter, 1 channel of 2 x 3 pixels");
  data::write_array(folder / "q.npy", {{2, 3}, {0, 1000, 2000, 3000, 4000, 5000}});
  CHECK_THAT(save("q.npy", "o.pgm", {0, 1000, 2000, 3000, 4000, 5000}),
             contains("2 x 3 pixels (83 % of its values are outside 0 ... 255 and were clipped)"));
  CHECK(save("q.npy", "o.pgm", {0, 1, 2, 3000, 4000, 5000}) ==
        "wrote " + folder / "o.pgm" + ": 1 channel of 2 x 3 pixels");
}

TEST_CASE("what cannot be filtered is refused in one line", "[picture]") {
  const Folder folder;
  const std::string grey = picture(folder, "grey.pgm", {kCells});
  CHECK_THAT(refusal({.input = folder / "none.png", .filter = "sobel", .output = ""}),
             contains("no such file"));
  CHECK_THAT(refusal({.input = folder.write("text.png", "hello\n"), .filter = "", .output = ""}),
             contains("it is not a picture"));
  CHECK_THAT(refusal({.input = grey, .filter = "box:4", .output = ""}), contains("is even"));
  CHECK_THAT(refusal({.input = grey, .filter = "", .output = folder / "none/x.pgm"}),
             contains("no such file or folder"));
  CHECK_THAT(refusal({.input = grey, .filter = "", .output = folder / "none/x.npy"}),
             contains("no such file or folder"));
  CHECK_THAT(refusal({.input = grey, .filter = "", .output = folder / "x.jpg"}),
             contains("the name must end in"));
  CHECK_THAT(refusal({.input = grey, .filter = "", .output = folder / "x.ppm"}),
             contains("choose .pgm"));
  data::write_array(folder / "two.npy", {{2, 1, 1}, {1, 2}});
  CHECK_THAT(refusal({.input = grey, .filter = folder / "two.npy", .output = folder / "x.pgm"}),
             contains("2 filters do not make one picture; write a .npy file"));
  // Sums that float cannot hold.
  data::write_array(folder / "huge.npy", {{1, 2}, {3e38f, 3e38f}});
  CHECK_FALSE(refusal({.input = folder / "huge.npy", .filter = "sobel", .output = ""}) ==
              "nothing was thrown");
  CHECK(folder.names() == std::vector<std::string>{"grey.pgm", "huge.npy", "text.png", "two.npy"});
}

TEST_CASE("a program filters a picture", "[picture]") {
  const Folder folder;
  const std::string grey = picture(folder, "grey.pgm", {kCells});
  CHECK(run({"--input", grey, "--filter", "box:3", "--output", folder / "o.npy"}) == 0);
  const data::Array array = data::read_array(folder / "o.npy");
  CHECK(array.shape == std::vector<std::int64_t>{1, 1, 2, 3});
  CHECK(array.values[1] == test::Approx(21 / 9.0));
  CHECK(array.values[0] == test::Approx(12 / 9.0));
  // A single pixel.
  data::write_picture(folder / "dot.pgm", {1, 1, {{90}}});
  CHECK(run({"--input", folder / "dot.pgm", "--filter", "box:3", "--output", folder / "o.pgm"}) ==
        0);
  CHECK(data::read_picture(folder / "o.pgm").channels[0] == std::vector<float>{10});

  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--filter", "sobel"},
           {"--output", folder / "x.pgm"},
           {"--input", grey, "--layer", "7-1-3-2-1"},
           {"--input", grey, "--layers", "cuconv"},
           {"--input", grey, "--batch", "2"},
           {"--input", folder / "none.png"},
           {"--input", grey, "--filter", "sharpen"},
           {"--input", grey, "--output", folder / "none/x.pgm"}}) {
    CHECK(run(wrong) == 2);
  }
}

TEST_CASE("a filter larger than its picture is too large for the simulator", "[picture]") {
  // Few products of cells that exist, but the kernels walk over all taps.
  const Folder folder;
  data::write_picture(folder / "p.pgm", {40, 60, {std::vector<float>(2400, 9)}});
  CHECK(run({"--input", folder / "p.pgm", "--filter", "gaussian:999"}, test::plain_layer(),
            std::make_unique<Observing>()) == 77);
}

TEST_CASE("what is saved is the same in both layouts", "[picture]") {
  const Folder folder;
  const std::string path =
      picture(folder, "x.ppm", {kCells, {7, 8, 9, 10, 11, 12}, {0, 0, 0, 0, 0, 255}});
  const auto saved = [&](const Conv2dVariant& variant) {
    REQUIRE(run({"--input", path, "--filter", "sobel", "--output", folder / "o.npy"}, variant) ==
            0);
    return data::read_array(folder / "o.npy").values;
  };
  for (const Conv2dVariant& variant : test::right_layers()) {
    if (variant.layout == conv::Layout::nchw) continue;
    CHECK(saved(variant) == saved(test::plain_layer()));
  }
}
