// The program of stage 08. Its own option --search adds the block method with every W'x and M' to the
// variants: the pair that the paper found best is lost, and every GPU has its own.
#include <string>
#include <vector>

#include "common/peers/conv2d.hpp"
#include "stages/08_multi_channel_stride_fixed/stage.hpp"

int main(int argc, char** argv) {
  using namespace halo;
  Conv2dStage stage = multi_channel_stride_fixed::stage();
  std::vector<const char*> words;
  for (int i = 0; i < argc; ++i) {
    if (argv[i] != std::string("--search")) {
      words.push_back(argv[i]);
      continue;
    }
    for (const int bytes : {32, 64}) {
      for (Conv2dVariant& variant : multi_channel_stride_fixed::search(bytes)) {
        stage.variants.push_back(std::move(variant));
      }
    }
  }
  return run_conv2d(static_cast<int>(words.size()), words.data(), {stage}, peers::conv2d(),
                    make_backend());
}
