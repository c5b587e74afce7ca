// Tables of layers: the papers' own, and everything that can be wrong with one.
#include "common/data/layer_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "tests/catch.hpp"
#include "tests/data/files.hpp"

using namespace halo;
using conv::ConvLayer;
using data::NamedLayer;
using data::parse_layer_table;
using test::contains;
using test::error_of;

namespace {

constexpr const char* kHeader = "C,H,W,K,R,S,stride,padding\n";

std::string layer_table_refusal(const std::string& text) {
  return error_of([&] { parse_layer_table(text, "t.csv"); });
}

const NamedLayer& find(const std::vector<NamedLayer>& layers, const std::string& name) {
  const auto found = std::find_if(layers.begin(), layers.end(),
                                  [&](const NamedLayer& layer) { return layer.name == name; });
  INFO(name);
  REQUIRE(found != layers.end());
  return *found;
}

}  // namespace

TEST_CASE("a table gives its layers in order", "[layer_table]") {
  const auto layers = parse_layer_table(
      "# A comment, with commas.\n"
      "network,C,H,W,K,R,S,stride,padding\n"
      "AlexNet,96,27,27,256,5,5,1,2\n"
      "\n"
      "  # another\n"
      "A+B,3,224,200,64,7,3,2,1\n",
      "t.csv");
  REQUIRE(layers.size() == 2);
  CHECK(layers[0].name == "27-1-5-256-96");
  CHECK(layers[0].network == "AlexNet");
  CHECK(layers[0].layer ==
        ConvLayer(
            {.C = 96, .H = 27, .W = 27, .K = 256, .R = 5, .S = 5, .padding_h = 2, .padding_w = 2}));
  CHECK(layers[1].name == conv::label(layers[1].layer));
  CHECK(layers[1].network == "A+B");
  CHECK(layers[1].layer == ConvLayer({.C = 3,
                                      .H = 224,
                                      .W = 200,
                                      .K = 64,
                                      .R = 7,
                                      .S = 3,
                                      .stride_h = 2,
                                      .stride_w = 2,
                                      .padding_h = 1,
                                      .padding_w = 1}));
}

TEST_CASE("columns may stand in any order, and some be missing", "[layer_table]") {
  const auto few = parse_layer_table("S,R,K,W,H,C\n1,2,3,4,5,6", "t.csv");
  REQUIRE(few.size() == 1);
  CHECK(few[0].layer == ConvLayer({.C = 6, .H = 5, .W = 4, .K = 3, .R = 2, .S = 1}));
  CHECK(few[0].network.empty());
  const auto batch = parse_layer_table("N,C,H,W,K,R,S\n32,1,2,2,1,1,1\n64,1,2,2,1,1,1\n", "t.csv");
  CHECK(batch.at(0).layer.N() == 32);
  CHECK(batch.at(1).layer.N() == 64);
  const auto sparse = parse_layer_table("C,H,W,K,R,S,groups,dilation\n6,9,9,6,3,3,6,2\n", "t.csv");
  CHECK(sparse.at(0).layer == ConvLayer({.C = 6,
                                         .H = 9,
                                         .W = 9,
                                         .K = 6,
                                         .R = 3,
                                         .S = 3,
                                         .groups = 6,
                                         .dilation_h = 2,
                                         .dilation_w = 2}));
  CHECK_THAT(layer_table_refusal("C,H,W,K,R,S,groups\n6,9,9,6,3,3,4\n"),
             contains("line 2: a layer's 6 channels can't be divided into 4 equal groups"));
}

TEST_CASE("what spreadsheets and other systems write is read", "[layer_table]") {
  // A byte order mark, ends of line of two bytes, blanks round the values, no last end of line.
  const auto layers = parse_layer_table(
      "\xef\xbb\xbf# c\r\nC, H, W, K, R, S\r\n 1,\t5 , 5,1,1,1 \r\n2,5,5,1,1,1\r\n\r\n3,5,5,1,1,1",
      "t.csv");
  REQUIRE(layers.size() == 3);
  CHECK(layers[0].layer.H() == 5);
  CHECK(layers[2].layer.C() == 3);
  // Semicolons, tabs, quotes, and rows that a spreadsheet left empty.
  for (const char* text : {"network;C;H;W;K;R;S\r\nA, B;1;5;5;1;1;1\r\n;;;;;;\r\n",
                           "network\tC\tH\tW\tK\tR\tS\nA, B\t1\t5\t5\t1\t1\t1\n",
                           "\"network\",\"C\",H,W,K,R,S\n\"A, B\",\"1\",5,5,1,1,1\n,,,,,,\n"}) {
    INFO(text);
    const auto same = parse_layer_table(text, "t.csv");
    REQUIRE(same.size() == 1);
    CHECK(same[0].network == "A, B");
    CHECK(same[0].layer.H() == 5);
  }
}

TEST_CASE("a bad table is refused in one line that names file and line", "[layer_table]") {
  const std::string header = kHeader;
  CHECK_THAT(layer_table_refusal(header + "1,5,5,1,3,3,1,1\n1,5,5x,1,3,3,1,1\n"),
             contains("'t.csv', line 3: W is '5x', not a whole number"));
  CHECK_THAT(layer_table_refusal("# c\n\n" + header + "1,5,5,1,3,3,1\n"),
             contains("line 4: 7 values, but 8 columns"));
  CHECK_THAT(layer_table_refusal(header + "1,5,5,1,3,3,1,1,\n"),
             contains("line 2: 9 values, but 8 columns"));
  CHECK_THAT(layer_table_refusal(header + "1,5,,1,3,3,1,1\n"), contains("line 2: W is '', not"));
  CHECK_THAT(layer_table_refusal(header + "1,5,5.0,1,3,3,1,1\n"), contains("W is '5.0', not"));
  CHECK_THAT(layer_table_refusal(header + "+1,5,5,1,3,3,1,1\n"), contains("C is '+1', not"));
  CHECK_THAT(layer_table_refusal(header + "99999999999999999999,5,5,1,3,3,1,1\n"),
             contains("line 2: C is '99999999999999999999', not"));
  CHECK_THAT(layer_table_refusal(header + "1\",5,5,1,3,3,1,1\n"), contains("C is '1\"', not"));
  CHECK_THAT(layer_table_refusal(header + "\"1,5,5,1,3,3,1,1\n"), contains("line 2: a quote"));
  CHECK_THAT(layer_table_refusal("\xff\xfe"
                                 "C"),
             contains("'t.csv': it is UTF-16"));
  CHECK_THAT(layer_table_refusal(header + std::string("1\0,5,5,1,3,3,1,1\n", 18)),
             contains("C is '1?', not"));
  // What ConvLayer says, with the line.
  CHECK_THAT(layer_table_refusal(header + "0,5,5,1,3,3,1,1\n"),
             contains("line 2: a layer's C (channels)"));
  CHECK_THAT(layer_table_refusal(header + "1,5,5,1,3,3,0,1\n"),
             contains("line 2: a layer's stride"));
  CHECK_THAT(layer_table_refusal(header + "1,5,5,1,9,3,1,1\n"),
             contains("the filter is larger than the"));
  CHECK_THAT(layer_table_refusal(header + "1,5,5,1,3,3,1,-1\n"), contains("padding"));
  CHECK_THAT(layer_table_refusal(header + "1,5,5,1,3,3,1,1\n\n2,5,5,1,3,3,1,1\n1,5,5,1,3,3,1,1\n"),
             contains("line 5: the layer 5-1-3-1-1 is there twice, first on line 2"));
  CHECK_THAT(layer_table_refusal("C,H,W,K,R,S,pad\n"), contains("line 1: unknown column 'pad'"));
  CHECK_THAT(layer_table_refusal("C,H,W,K,R,s\n"), contains("line 1: unknown column 's'"));
  CHECK_THAT(layer_table_refusal("C,H,W,K,R,S,H\n"),
             contains("line 1: the column 'H' is there twice"));
  CHECK_THAT(layer_table_refusal("# c\nC,H,W,K,R\n1,1,1,1,1"),
             contains("line 2: the column 'S' is missing"));
  CHECK_THAT(layer_table_refusal("1,5,5,1,3,3,1,1\n"), contains("line 1: unknown column '1'"));
  for (const std::string& empty : {std::string(), header, std::string("# only a comment\n\n")}) {
    CHECK_THAT(layer_table_refusal(empty), contains("'t.csv': there is no layer in it"));
  }
}

TEST_CASE("a table is read from a file", "[layer_table]") {
  const test::Folder folder;
  const std::string path = folder.write("mine.csv", std::string(kHeader) + "4,9,9,2,3,3,2,0\n");
  const auto layers = data::read_layer_table(path);
  REQUIRE(layers.size() == 1);
  CHECK(layers[0].name == "9-1-3-2-4-s2-p0");
  const auto error = [](const std::string& file) {
    return error_of([&] { data::read_layer_table(file); });
  };
  CHECK_THAT(error(folder / "none.csv"), contains("none.csv': there is no such file"));
  CHECK_THAT(error(folder.path()), contains("it is a folder"));
  CHECK_THAT(error(folder.write("empty.csv", "")), contains("it is empty"));
  CHECK_THAT(error(folder.write("bad.csv", "C,H\n")), contains("bad.csv', line 1: the column 'W'"));
  CHECK_THAT(error(folder.write("large.csv", std::string(1'000'001, '#'))),
             contains("a table of layers has at most 1000000 bytes, this has 1000001"));
}

TEST_CASE("the papers' tables are found from any folder", "[layer_table]") {
  CHECK(data::paper_layer_tables() ==
        std::vector<std::string>{"cuconv", "chang_onishi_single", "chang_onishi_multi", "sc16",
                                 "sc16_sensitivity", "unseen", "sparse"});
  const test::Folder folder;
  char* const old = ::getcwd(nullptr, 0);
  REQUIRE(old != nullptr);
  REQUIRE(::chdir(folder.path().c_str()) == 0);
  std::vector<std::size_t> layers;
  for (const std::string& name : data::paper_layer_tables()) {
    layers.push_back(data::paper_layer_table(name).size());
  }
  REQUIRE(::chdir(old) == 0);
  std::free(old);
  CHECK(layers == std::vector<std::size_t>{86, 27, 27, 13, 15, 41, 36});
  CHECK_THAT(error_of([] { data::paper_layer_table("cuConv"); }),
             contains("no table of layers 'cuConv'; there are: cuconv, chang_onishi_single"));
}

TEST_CASE("cuConv's table is the one that the paper describes", "[layer_table]") {
  const auto layers = data::paper_layer_table("cuconv");
  std::map<std::string, int> of_network;
  std::map<std::string, std::map<int, int>> of_filter;
  std::map<int, int> filters;
  for (const NamedLayer& named : layers) {
    const ConvLayer& layer = named.layer;
    INFO(named.name);
    // "All the configurations implement a stride of 1 and an input padding of (Wf - 1) / 2"; maps
    // and filters are square.
    CHECK(layer.N() == 1);
    CHECK(layer.stride_h() == 1);
    CHECK(layer.P() == layer.H());
    CHECK(layer.Q() == layer.W());
    CHECK(layer.H() == layer.W());
    CHECK(layer.R() == layer.S());
    CHECK(layer.H() >= 7);
    CHECK(layer.H() <= 224);
    CHECK(layer.K() >= 16);
    CHECK(layer.K() <= 2048);
    ++filters[layer.R()];
    std::string networks = named.network;
    for (;;) {
      const std::size_t plus = networks.find('+');
      ++of_network[networks.substr(0, plus)];
      ++of_filter[networks.substr(0, plus)][layer.R()];
      if (plus == std::string::npos) break;
      networks.erase(0, plus + 1);
    }
  }
  // Its Table 1.
  CHECK(of_network ==
        std::map<std::string, int>{
            {"GoogleNet", 42}, {"SqueezeNet", 21}, {"AlexNet", 4}, {"ResNet50", 12}, {"VGG19", 9}});
  CHECK(of_filter["GoogleNet"] ==
        std::map<int, int>{{1, 24}, {3, 10}, {5, 8}});                    // 57.2, 23.8, 19 %
  CHECK(of_filter["SqueezeNet"] == std::map<int, int>{{1, 15}, {3, 6}});  // 71.4, 28.6 %
  CHECK(of_filter["AlexNet"] == std::map<int, int>{{3, 3}, {5, 1}});      // 75, 25 %
  CHECK(of_filter["ResNet50"] == std::map<int, int>{{1, 8}, {3, 4}});     // 66.7, 33.3 %
  CHECK(of_filter["VGG19"] == std::map<int, int>{{3, 9}});                // 100 %
  CHECK(filters[1] == 45);                                                // 52.3 % of 86
  // The layers that its Tables 3 to 5 time, by their labels there.
  for (const char* name : {"7-1-1-256-832", "14-1-1-1024-256", "27-1-1-256-64", "7-1-3-384-192",
                           "13-1-3-384-384", "7-1-5-128-48"}) {
    find(layers, name);
  }
  // At the paper's largest batch all of them are still within the limits.
  for (const NamedLayer& named : layers) CHECK(named.layer.with_batch(256).N() == 256);
}

TEST_CASE("Chang et al.'s tables span what the paper's text names", "[layer_table]") {
  struct Grid {
    const char* name;
    int smallest_map, filters_there, largest_map, filters_at_the_end;
  };
  for (const Grid& grid : {Grid{"chang_onishi_single", 28, 512, 1024, 32},
                           Grid{"chang_onishi_multi", 7, 512, 512, 64}}) {
    std::map<int, std::set<std::pair<int, int>>> pairs;
    for (const NamedLayer& named : data::paper_layer_table(grid.name)) {
      const ConvLayer& layer = named.layer;
      INFO(grid.name << " " << named.name);
      const bool is_single = std::string(grid.name) == "chang_onishi_single";
      CHECK(layer.C() == (is_single ? 1 : layer.K()));
      CHECK(layer.N() == 1);
      CHECK(layer.H() == layer.W());
      CHECK(layer.R() == layer.S());
      CHECK(layer.P() == layer.H());
      CHECK(layer.H() >= grid.smallest_map);
      CHECK(layer.H() <= grid.largest_map);
      CHECK(layer.K() >= grid.filters_at_the_end);
      CHECK(layer.K() <= grid.filters_there);
      pairs[layer.R()].emplace(layer.H(), layer.K());
    }
    // Each pair with each filter size, and both ends.
    REQUIRE(pairs.size() == 3);
    CHECK(pairs[1] == pairs[3]);
    CHECK(pairs[3] == pairs[5]);
    CHECK(pairs[3].contains({grid.smallest_map, grid.filters_there}));
    CHECK(pairs[3].contains({grid.largest_map, grid.filters_at_the_end}));
  }
}

TEST_CASE("the table of Li et al. (SC'16) is its Table 1, and its maps follow from each other",
          "[layer_table]") {
  const auto layers = data::paper_layer_table("sc16");
  const auto layer = [&](const std::string& network) {
    const auto found = std::find_if(layers.begin(), layers.end(), [&](const NamedLayer& named) {
      return named.network == network;
    });
    INFO(network);
    REQUIRE(found != layers.end());
    return found->layer;
  };
  const char* const names[] = {"LeNet CV1", "LeNet CV2", "Cifar10 CV3", "Cifar10 CV4",
                               "ZFNet CV5", "ZFNet CV6", "ZFNet CV7",   "ZFNet CV8",
                               "VGG CV9",   "VGG CV10",  "VGG CV11",    "VGG CV12"};
  // N, K, H, R, C and stride as printed; then the map that the network goes on with: P.
  const int table[][7] = {
      {128, 16, 28, 5, 1, 1, 28},   {128, 16, 14, 5, 16, 1, 14},  {128, 64, 24, 5, 3, 1, 24},
      {128, 64, 12, 5, 64, 1, 12},  {64, 96, 224, 3, 3, 2, 111},  {64, 256, 55, 5, 96, 2, 26},
      {64, 384, 13, 3, 256, 1, 13}, {64, 384, 13, 3, 384, 1, 13}, {32, 64, 224, 3, 3, 1, 224},
      {32, 256, 56, 3, 128, 1, 56}, {32, 512, 28, 3, 256, 1, 28}, {32, 512, 14, 3, 512, 1, 14}};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const ConvLayer one = layer(names[i]);
    INFO(names[i]);
    CHECK(std::vector<int>{one.N(), one.K(), one.H(), one.R(), one.C(), one.stride_h(), one.P()} ==
          std::vector<int>(table[i], table[i] + 7));
    CHECK(one.H() == one.W());
    CHECK(one.R() == one.S());
    CHECK(one.P() == one.Q());
  }
  // The pooling layer behind CV5 reads a map of 110: no padding gives that with the printed filter.
  const ConvLayer printed = layer("ZFNet CV5");
  for (int padding = 0; padding < 4; ++padding) {
    conv::LayerShape shape = printed.shape();
    shape.padding_h = shape.padding_w = padding;
    CHECK(ConvLayer(shape).P() != 110);
  }
  CHECK(layer("ZFNet CV5 with 7x7").P() == 110);
}

TEST_CASE("the sensitivity table varies one number of CV7 at a time", "[layer_table]") {
  std::set<int> images, channels;
  for (const NamedLayer& named : data::paper_layer_table("sc16_sensitivity")) {
    conv::LayerShape shape = named.layer.shape();
    INFO(named.name);
    CHECK((shape.N == 64 || shape.C == 256));
    if (shape.C == 256) images.insert(named.layer.N());
    if (shape.N == 64) channels.insert(named.layer.C());
    shape.N = 64;
    shape.C = 256;
    CHECK(conv::label(ConvLayer(shape)) == "13-64-3-384-256");
  }
  CHECK(images == std::set<int>{1, 8, 16, 32, 64, 128, 256, 512});
  CHECK(channels == std::set<int>{1, 3, 16, 32, 64, 128, 256, 512});
}

TEST_CASE("every layer of the papers can be judged at an affordable price", "[layer_table]") {
  for (const std::string& table : data::paper_layer_tables()) {
    for (const NamedLayer& named : data::paper_layer_table(table)) {
      for (const int batch : {1, 8, 16, 32, 64, 128, 256}) {
        if (table != "cuconv" && batch > 1) break;
        const ConvLayer layer = named.layer.N() > 1 ? named.layer : named.layer.with_batch(batch);
        const conv::Repeat repeat = conv::affordable_repeat(layer);
        const double images = repeat.images == 0 ? layer.N() : repeat.images;
        const double filters = repeat.filters == 0 ? layer.K() : repeat.filters;
        const double cost =
            static_cast<double>(conv::products(layer)) * images / layer.N() * filters / layer.K();
        INFO(named.name << ", batch " << batch << ": " << images << " images, " << filters
                        << " filters");
        // Only 512 x 512 maps cost more than was asked for, since fewer than 5 filters are too few.
        CHECK(cost <=
              (layer.H() == 512 ? 4.1 : 1.0) * static_cast<double>(conv::kReferenceProducts));
        CHECK(filters >= 5);
        CHECK((repeat.images == 0 || repeat.images == 3));
      }
    }
  }
}
