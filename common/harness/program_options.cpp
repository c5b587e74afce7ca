#include "common/harness/program_options.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/data/filter.hpp"
#include "common/data/mask.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

const std::vector<std::string> kAll = {};
const std::vector<std::string> kSignals = {"conv1d"};
const std::vector<std::string> kLayers = {"conv2d"};
const std::vector<std::string> kOperations = {"transform", "pooling", "softmax"};
const std::vector<std::string> kNetworks = {"network"};

const ProgramOption& option_of(const std::string& family, const std::string& name, bool flag) {
  for (const ProgramOption& option : program_options()) {
    const auto& families = option.families;
    const bool has =
        families.empty() || std::find(families.begin(), families.end(), family) != families.end();
    if (has && option.name == name && option.unit.empty() == flag) return option;
  }
  throw std::logic_error(name + " is not declared for " + family);
}

}  // namespace

const std::vector<ProgramOption>& program_options() {
  static const std::vector<ProgramOption> all = {
      {"--length", "N", kSignals, "outputs, and cells of the signal"},
      {"--threads", "T", kSignals, "threads per block, 1 to 1,024 (CPU: threads)"},
      {"--mask", "W|SPEC", kSignals,
       std::string("width of a random asymmetric mask, odd; or ") + data::kMaskHelp},
      {"--border", "zero|report", kSignals,
       "zero: every output is computed (the contract). report: the outputs within a halo of the "
       "ends "
       "are left alone, as by the report's listings; a saved file has zeros there"},
      {"--input", "FILE", kSignals, "run on every channel of a WAV or NPY file", false},
      {"--input", "FILE", kLayers,
       "run on a picture: PNG, PGM, PPM, or NPY of [rows][columns] or [channels][rows][columns]; 0 "
       "is "
       "black, 255 full brightness",
       false},
      {"--input", "FILE", kNetworks,
       "what digit is it? A grey picture of 8 x 8 pixels, or of a multiple of that", false},
      {"--filter", "SPEC", kLayers,
       std::string("with --input: ") + data::kFilterHelp + "; default: gaussian:5", false},
      {"--output", "FILE", kSignals,
       "write the result of the chosen (else the last) variant, .wav or .npy", false},
      {"--output", "FILE", kLayers,
       "write the result of the chosen (else the last) variant: .png, .pgm or .ppm (rounded, "
       "clipped "
       "to 0 ... 255; of sobel the magnitude), or .npy (the floats, "
       "[filter][channel][row][column])",
       false},
      {"--layer", "LABEL[,LABEL]", kLayers,
       "these layers: size-batch-filter-filters-channels, 7-1-3-384-192"},
      {"--layers", "TABLE", kLayers, "the layers of a CSV file, or of a paper"},
      {"--problem", "LABEL[,LABEL]", kOperations,
       "these problems: 28-128-16-to-nchw, 55-128-3-96-s2, 128x1000"},
      {"--network", "NAME[,NAME]", kNetworks, "these networks"},
      {"--weights", "FOLDER", kNetworks,
       "LAYER.filters.npy and LAYER.bias.npy of each layer of one network, instead of random ones; "
       "digits has its own",
       false},
      {"--batch", "N[,N]", {"conv2d", "network"}, "each layer or network with this many images"},
      {"--gpu", "KEY", kLayers, "with --plan: for this GPU (v100, h200, ...), not the present one",
       false},
      {"--variant", "NAME", kAll, "only this variant"},
      {"--without", "NAME[,NAME]", kAll, "all variants but these", false},
      {"--no-peers", "", kAll, "without the libraries and copies beside the variants"},
      {"--no-times", "", kAll, "check only: nothing is timed"},
      {"--no-trials", "", kAll,
       "check the named problems alone, not the small ones before them: for profilers", false},
      {"--strict", "", kAll,
       "memory traffic and launches that differ from what was predicted fail as well: exit status "
       "1",
       false},
      {"--data", "KIND", kAll,
       "ordinary, exact (whole numbers), edges:N (of float) or special:N (NaN and infinities): a "
       "failure's message says which repeats it",
       false},
      {"--tiny-gpu", "", kAll,
       "on a simulated GPU of two SMs, as the small trials of stages that plan are run", false},
      {"--show-output", "", kAll, "all that kernels print, up to 100 lines of each launch", false},
      {"--seed", "S", kAll, "seed of all random data; default: a new one, which is printed"},
  };
  return all;
}

void add_option(CommandLine& line, const std::string& family, const std::string& name,
                std::string& value, const std::string& more) {
  const ProgramOption& option = option_of(family, name, false);
  line.option(option.name, option.unit, value, option.help + more);
}

void add_flag(CommandLine& line, const std::string& family, const std::string& name, bool& value) {
  line.flag(name, value, option_of(family, name, true).help);
}

}  // namespace halo
