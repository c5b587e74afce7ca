// A layer that the rule has not measured: when it is first used on a GPU, those contenders that the rule expects to be
// fastest are measured, which takes some tenths of a second, and the fastest is kept in a file for later processes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/convolve/choice.hpp"

namespace halo::convolve {

/// So many are measured; with tensor cores allowed, so many of each kind.
inline constexpr int kMeasuredAtFirstUse = 8;

/// The layers of which a GPU has measured the fastest contender, as a file keeps them.
class FirstUses {
 public:
  /// Reads the file. One that is missing, or that this program did not write, is as an empty one.
  explicit FirstUses(std::string file);

  /// The contender's name; empty: nobody has measured this.
  std::string fastest(const conv::ConvLayer& layer, Products products, Epilogue epilogue,
                      Calls calls) const;
  /// Keeps it, with what others have written meanwhile. False: the file cannot be written.
  bool keep(const conv::ConvLayer& layer, Products products, Epilogue epilogue, Calls calls,
            const std::string& variant, double us);

 private:
  struct Entry {
    std::string key, variant;
    double us;
  };
  std::vector<Entry> read() const;

  std::string file_;
  std::vector<Entry> entries_;
};

/// For the GPU of this name: convolve_NAME.json in the folder that was set, else in $XDG_CACHE_HOME/halo, else in
/// ~/.cache/halo. Empty if there is none of them, or if what was set is "".
std::string first_uses_file(const std::string& gpu);
/// The folder for this process, before a layer is measured; "": nothing is kept.
void keep_first_uses_in(const std::string& folder);

/// Microseconds of a contender; nothing if it can't be run. `best` of those before.
using TimeOf = std::function<std::optional<double>(const Conv2dVariant&, double best)>;

/// The fastest of the first kMeasuredAtFirstUse (of each kind), with its time; a null pointer if none could be run.
std::pair<const Conv2dVariant*, double> fastest_of(std::span<const Ranked> ranked,
                                                   const TimeOf& time_of);

/// The fastest on the present GPU, from its file or by measuring now; null where nothing can be measured (the simulator).
const Conv2dVariant* fastest_at_first_use(const conv::ConvLayer& layer, Products products,
                                          Epilogue epilogue, Calls calls,
                                          std::span<const Ranked> ranked);

}  // namespace halo::convolve
