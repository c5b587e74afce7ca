// A problem with its type forgotten, and its data: what checks, timing and the command line need to
// know of a convolution, a transform, a pooling layer or a softmax. The families (families/*.cpp) say it
// for theirs; everything else is written once, on this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/conv1d.hpp"
#include "common/conv/layer.hpp"
#include "common/conv/layout.hpp"
#include "common/conv/pattern.hpp"
#include "common/report/rows.hpp"

namespace halo {

// An array that a launch reads: `values`, over and over until there are `size` floats.
struct InputValues {
  std::string name;  // "input", "mask", "filters"
  std::vector<float> values;
  std::int64_t size = 0;
};

// All of them.
std::vector<float> repeated(std::span<const float> values, std::int64_t size);

// Judges the outputs first, first + 1, ...
using Judge = std::function<conv::Comparison(std::int64_t first, std::span<const float> outputs)>;

// The data of one problem, and how outputs of them are judged. The first input is the one that has a
// layout; the second, where there is one, is the mask or the filters.
class Dataset {
 public:
  // `exact`: the outputs are to be equal as numbers, so that no error is to be shown.
  explicit Dataset(std::vector<InputValues> inputs, bool exact = false);
  virtual ~Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  const std::vector<InputValues>& inputs() const { return inputs_; }
  bool exact() const { return exact_; }

  // The first input in this layout, as InputValues::values: over and over until the array is full.
  std::span<const float> first_input(conv::Layout layout) const;

  // Keeps a view of the data. `demand` is the variant's; exact data know better.
  virtual Judge judge(conv::Layout layout, conv::Demand demand) const = 0;
  // Of a copy: its outputs are its inputs, bit for bit.
  virtual Judge judge_copy() const;

 protected:
  // All of the first input in another layout than NCHW; for families that have one.
  virtual std::vector<float> arrange(conv::Layout layout) const;

 private:
  std::vector<InputValues> inputs_;
  bool exact_;
  mutable std::map<conv::Layout, std::vector<float>> arranged_;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

// The kinds of data that a variant is tried with.
struct DataKind {
  enum class Of {
    ordinary,  // within the bound
    exact,     // whole numbers, which sums of products leave exact
    edges,     // numbers at the edges of float
    // NaN and infinities, of which kernel.h says what our variants make, and libraries nothing: among the cells
    // (number 1); among the taps, where ghost cells are left out (2) or may be multiplied (3)
    special,
    // Of a problem too large to be run as a whole: what cell an array holds goes by its place there,
    // whatever the layout, with the period kSparsePeriod if it is longer; outputs are judged one by one.
    sparse,
  };
  Of of = Of::ordinary;
  int number = 0;  // of edges and special: 1, 2, ...
};

// 1,021 pages of 4 KB: a prime number, so that an index that was cut off or wrapped round meets other data.
inline constexpr std::int64_t kSparsePeriod = 1021 * 1024;

// What simulating a problem takes, and what it is counted in: "products".
struct Work {
  std::int64_t amount;
  const char* units;
};

// What a problem has in common with some and not with others: "stride 1" or "a stride".
struct Trait {
  std::string is;
  std::string is_not;
  bool has;
};

class AnyProblem {
 public:
  virtual ~AnyProblem() = default;

  // 55-128-3-96, as its option takes it; empty in families whose rows are told by their fields.
  virtual std::string label() const = 0;
  virtual std::string describe() const = 0;  // with what it is: "layer 55-128-3-96"
  virtual Problem fields() const = 0;        // for its rows
  virtual std::vector<std::int64_t> input_sizes() const = 0;
  virtual std::int64_t output_size() const = 0;
  // Outputs that are computed; what a count "per output" divides by.
  virtual std::int64_t computed_outputs() const { return output_size(); }
  virtual std::int64_t min_bytes() const = 0;
  virtual std::int64_t flops() const = 0;
  virtual Work work() const = 0;
  // Whether measuring the machine's roofs is worth it: it takes longer than a small problem.
  virtual bool reaches_roof() const = 0;
  // Floats of data that the host holds.
  virtual std::int64_t held_floats() const = 0;
  // How long a bench takes beside other problems of the family.
  virtual double bench_weight() const = 0;

  // A convolution's, whose last input is a bias and whose outputs have gone through ReLU. Its variants adds_bias.
  virtual bool has_bias() const { return false; }
  // The same with bias and ReLU; null where there is no such problem, or it is too large to be tried.
  virtual std::shared_ptr<const AnyProblem> with_bias() const { return nullptr; }

  // In the order in which they are tried. Without sparse, which all families have.
  virtual std::vector<DataKind> kinds() const = 0;
  // Beyond so many products of a reference the data repeat, where the family can do that.
  virtual DatasetPtr data(DataKind kind, std::uint64_t seed,
                          std::int64_t reference_products = conv::kReferenceProducts) const = 0;

  // ---- For people, where a variant fails. ----

  // The options that name it and no other: "--length 5 --mask 3 --threads 32". Empty: none do.
  virtual std::string options() const { return {}; }
  // The dimensions of its outputs in this layout, and what the innermost is divided into.
  virtual std::vector<conv::OutputAxis> output_axes(conv::Layout) const {
    return {{"", "", output_size()}};
  }
  virtual std::vector<conv::Period> periods() const { return {}; }
  // Who computes this output, and from what: "thread 3 of block 1 computes it, from input[7] * mask[0] + ...".
  // Empty: whoever likes.
  virtual std::string origin(std::int64_t /*output*/) const { return {}; }
  // The same ones, in the same order, for all problems of a family.
  virtual std::vector<Trait> traits() const { return {}; }
  // The data with each mask or filter turned round; null where there is none, or where that is the same.
  virtual DatasetPtr turned(const Dataset&) const { return nullptr; }

  // What the BU report printed for its task of this id; the 1D family's.
  virtual Published published(int /*task*/) const { return {}; }

  // Outputs that are to be saved, from a variant's layout to NCHW.
  virtual std::vector<float> outputs_in_nchw(conv::Layout, std::vector<float> outputs) const {
    return outputs;
  }
};
using AnyProblemPtr = std::shared_ptr<const AnyProblem>;

// Bytes of all arrays of one call, without temporaries.
std::int64_t call_bytes(const AnyProblem& problem);

// A field of a problem that is there both ways: 2, or "2x1" where they differ.
Value down_and_across(int down, int across);

}  // namespace halo
