// The dispatcher's program: as a stage's, and `measure`.
#include <string>
#include <utility>

#include "common/harness/core/program.hpp"
#include "common/peers/conv2d.hpp"
#include "stages/convolve/convolve.hpp"
#include "stages/convolve/measure.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "measure") {
    return halo::guarded_main("convolve measure",
                              [&] { return halo::convolve::measure(argc - 1, argv + 1); });
  }
  halo::Conv2dStage stage = halo::convolve::stage();
  using namespace halo::convolve;
  for (const auto& [products, calls] :
       {std::pair(Products::fp32, Calls::packing), std::pair(Products::split_tf32, Calls::packing),
        std::pair(Products::split_tf32, Calls::overlapping)}) {
    stage.variants.push_back(variant(products, Epilogue::none, Choice::rule, calls));
  }
  // Beside their own stages they are there already.
  const auto& contenders = with_papers(Products::split_tf32).variants;
  stage.searched.insert(stage.searched.end(), contenders.begin(), contenders.end());
  return halo::run_program<halo::conv::ConvLayer>(argc, argv, {stage}, halo::peers::conv2d(),
                                                  halo::make_backend());
}
