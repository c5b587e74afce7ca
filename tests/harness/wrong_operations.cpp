#include "tests/harness/wrong_operations.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace halo::test {

namespace {

using conv::Layout;
using conv::Pooling;
using conv::PoolingLayer;
using conv::Softmax;
using conv::Transform;
using TransformCall = ProblemCall<Transform>;
using PoolingCall = ProblemCall<PoolingLayer>;
using SoftmaxCall = ProblemCall<Softmax>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class Problem>
using Work = std::function<void(const ProblemCall<Problem>&)>;

template <class Problem>
Variant<Problem> whole(const std::string& name, const Work<Problem>& work) {
  Variant<Problem> variant;
  variant.name = name;
  variant.source = "tests/harness/wrong_operations.cpp";
  variant.launches([work](const ProblemCall<Problem>& c) {
    work(c);
    return 0;
  });
  return variant;
}

float to_bfloat16(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFF0000u);
}

// ---- Transforms ----

// Calls visit(n, c, h, w) for each cell.
template <class Visit>
void for_each_cell(const conv::ImagesShape& s, Visit visit) {
  for (std::int64_t n = 0; n < s.N; ++n) {
    for (std::int64_t c = 0; c < s.C; ++c) {
      for (std::int64_t h = 0; h < s.H; ++h) {
        for (std::int64_t w = 0; w < s.W; ++w) visit(n, c, h, w);
      }
    }
  }
}

void transform(const TransformCall& call) {
  const conv::ImagesShape& shape = call.problem.images().shape();
  for_each_cell(shape, [&](auto n, auto c, auto h, auto w) {
    call.output[conv::index_of(shape, call.problem.to(), n, c, h, w)] =
        call.input[conv::index_of(shape, call.problem.from(), n, c, h, w)];
  });
}

// Where the plain loop reads or writes cell [n][c][h][w], with a mistake.
using Place = std::function<std::int64_t(const Transform&, std::int64_t n, std::int64_t c,
                                         std::int64_t h, std::int64_t w)>;

TransformVariant reading(const std::string& name, const Place& place) {
  return whole<Transform>(name, [place](const TransformCall& call) {
    const conv::ImagesShape& shape = call.problem.images().shape();
    for_each_cell(shape, [&](auto n, auto c, auto h, auto w) {
      call.output[conv::index_of(shape, call.problem.to(), n, c, h, w)] =
          call.input[place(call.problem, n, c, h, w)];
    });
  });
}

// Leaves out the cells for which `is_left_out` holds.
TransformVariant without(const std::string& name,
                         const std::function<bool(const conv::ImagesShape&, std::int64_t n,
                                                  std::int64_t cell)>& is_left_out) {
  return whole<Transform>(name, [is_left_out](const TransformCall& call) {
    const conv::ImagesShape& shape = call.problem.images().shape();
    for_each_cell(shape, [&](auto n, auto c, auto h, auto w) {
      if (is_left_out(shape, n, (c * shape.H + h) * shape.W + w)) return;
      call.output[conv::index_of(shape, call.problem.to(), n, c, h, w)] =
          call.input[conv::index_of(shape, call.problem.from(), n, c, h, w)];
    });
  });
}

std::vector<TransformVariant> wrong(const TransformVariant&) {
  const auto at = [](const Transform& t, auto n, auto c, auto h, auto w) {
    return conv::index_of(t.images().shape(), t.from(), n, c, h, w);
  };
  std::vector<TransformVariant> all;
  all.push_back(reading("the next cell", [at](const Transform& t, auto n, auto c, auto h, auto w) {
    return (at(t, n, c, h, w) + 1) % t.input_size();
  }));
  all.push_back(reading("the next image", [at](const Transform& t, auto n, auto c, auto h, auto w) {
    return at(t, (n + 1) % t.images().N(), c, h, w);
  }));
  all.push_back(
      reading("H and W exchanged", [](const Transform& t, auto n, auto c, auto h, auto w) {
        const conv::ImagesShape& s = t.images().shape();
        return conv::index_of({s.N, s.C, s.W, s.H}, t.from(), n, c, w, h);
      }));
  all.push_back(reading("from CHWN always", [](const Transform& t, auto n, auto c, auto h, auto w) {
    return conv::index_of(t.images().shape(), Layout::chwn, n, c, h, w);
  }));
  all.push_back(reading("from NCHW always", [](const Transform& t, auto n, auto c, auto h, auto w) {
    return conv::index_of(t.images().shape(), Layout::nchw, n, c, h, w);
  }));
  all.push_back(reading("from NHWC", [](const Transform& t, auto n, auto c, auto h, auto w) {
    const conv::ImagesShape& s = t.images().shape();
    return ((n * s.H + h) * s.W + w) * s.C + c;
  }));
  all.push_back(whole<Transform>("copies", [](const TransformCall& call) {
    std::copy_n(call.input, call.problem.input_size(), call.output);
  }));
  all.push_back(without("whole tiles of 32 images only", [](const auto& s, auto n, auto) {
    return n >= s.N / 32 * 32 && s.N > 32;
  }));
  all.push_back(without("whole tiles of 32 cells only", [](const auto& s, auto, auto cell) {
    const auto cells = s.C * s.H * s.W;
    return cell >= cells / 32 * 32 && cells > 32;
  }));
  all.push_back(without("pairs of images only", [](const auto& s, auto n, auto) {
    return n == s.N - 1 && s.N % 2 == 1 && s.N > 32;
  }));
  all.push_back(without("pairs of cells only", [](const auto& s, auto, auto cell) {
    const auto cells = s.C * s.H * s.W;
    return cell == cells - 1 && cells % 2 == 1 && cells > 1;
  }));
  all.push_back(
      without("no more than 1,024 images", [](const auto&, auto n, auto) { return n >= 1024; }));
  return all;
}

std::vector<TransformVariant> right(const TransformVariant& plain) {
  TransformVariant backwards = whole<Transform>("backwards", [](const TransformCall& call) {
    const conv::ImagesShape& s = call.problem.images().shape();
    for (std::int64_t i = call.problem.output_size() - 1; i >= 0; --i) {
      const std::int64_t cells = s.C * s.H * s.W;
      call.output[i] = call.problem.to() == Layout::nchw ? call.input[i % cells * s.N + i / cells]
                                                         : call.input[i % s.N * cells + i / s.N];
    }
  });
  return {plain, backwards};
}

// ---- Pooling ----

// The plain loop, with every mistake that it can make.
struct PlainPooling {
  Layout layout = Layout::nchw;
  Layout read_as = layout;
  Layout written_as = layout;
  int down = 0;   // each window so many cells too low
  int right = 0;  // or too far right
  bool last_column_forgotten = false;
  bool last_row_forgotten = false;
  bool one_stride = false;  // down's also across
  bool no_padding = false;  // windows begin in the image
  bool ghosts_are_zero = false;
  bool clamps = false;  // ghost cells repeat the edge
  bool divides_by_window = false;
  bool no_ceil = false;  // the rows and columns of ceil are left out
  bool always_max = false;
  bool smallest = false;
  bool backwards = false;
  float start = -kInfinity;    // of a maximum
  std::int64_t unwritten = 0;  // at the end
  std::int64_t channels_on = 0;

  void run(const PoolingCall& call) const {
    const PoolingLayer& l = call.problem;
    const conv::ImagesShape in{l.N(), l.C(), l.H(), l.W()};
    const conv::ImagesShape out{l.N(), l.C(), l.P(), l.Q()};
    const int rows = (l.H() + 2 * l.padding_h() - l.R()) / l.stride_h() + 1;
    const int columns = (l.W() + 2 * l.padding_w() - l.S()) / l.stride_w() + 1;
    for_each_cell(out, [&](auto n, auto c, auto p, auto q) {
      if (no_ceil && (p >= rows || q >= columns)) return;
      const std::int64_t place = conv::index_of(out, written_as, n, c, p, q);
      if (place >= l.output_size() - unwritten) return;
      call.output[place] = window(call, in, n, (c + channels_on) % l.C(), p, q);
    });
  }

  float window(const PoolingCall& call, const conv::ImagesShape& in, std::int64_t n, std::int64_t c,
               std::int64_t p, std::int64_t q) const {
    const PoolingLayer& l = call.problem;
    const bool max = l.kind() == Pooling::max || always_max;
    float value = max ? (smallest ? -start : start) : 0;
    int count = 0;
    const int R = l.R() - (last_row_forgotten && l.R() > 1);
    const int S = l.S() - (last_column_forgotten && l.S() > 1);
    for (int i = 0; i < R * S; ++i) {
      const int r = (backwards ? R * S - 1 - i : i) / S;
      const int s = (backwards ? R * S - 1 - i : i) % S;
      std::int64_t h = p * l.stride_h() - (no_padding ? 0 : l.padding_h()) + r + down;
      std::int64_t w = q * (one_stride ? l.stride_h() : l.stride_w()) -
                       (no_padding ? 0 : l.padding_w()) + s + right;
      float cell = 0;
      if (clamps) {
        h = std::clamp<std::int64_t>(h, 0, l.H() - 1);
        w = std::clamp<std::int64_t>(w, 0, l.W() - 1);
      }
      if (h >= 0 && h < l.H() && w >= 0 && w < l.W()) {
        cell = call.input[conv::index_of(in, read_as, n, c, h, w)];
      } else if (!ghosts_are_zero) {
        continue;
      }
      ++count;
      value = !max ? value + cell : smallest ? std::min(value, cell) : std::max(value, cell);
    }
    if (max) return value;
    return value / static_cast<float>(divides_by_window ? l.R() * l.S() : std::max(count, 1));
  }
};

PoolingVariant pooled(const std::string& name, const PlainPooling& kernel) {
  PoolingVariant variant =
      whole<PoolingLayer>(name, [kernel](const PoolingCall& call) { kernel.run(call); });
  variant.layout = kernel.layout;
  return variant;
}

std::vector<PoolingVariant> wrong(const PoolingVariant&) {
  constexpr Layout chwn = Layout::chwn;
  std::vector<PoolingVariant> all;
  all.push_back(pooled("a row too low", {.down = 1}));
  all.push_back(pooled("a column too far right", {.right = 1}));
  all.push_back(pooled("a column too far left, CHWN", {.layout = chwn, .right = -1}));
  all.push_back(pooled("the next channel", {.channels_on = 1}));
  all.push_back(pooled("the window's last column forgotten", {.last_column_forgotten = true}));
  all.push_back(pooled("the window's last row forgotten", {.last_row_forgotten = true}));
  all.push_back(pooled("the stride down also across", {.one_stride = true}));
  all.push_back(pooled("no padding", {.no_padding = true}));
  all.push_back(pooled("ghost cells are zero", {.ghosts_are_zero = true}));
  all.push_back(pooled("edges repeat the last cell", {.clamps = true}));
  all.push_back(pooled("divides by the whole window", {.divides_by_window = true}));
  all.push_back(pooled("floor for ceil", {.no_ceil = true}));
  all.push_back(pooled("the largest for the average", {.always_max = true}));
  all.push_back(pooled("the smallest", {.smallest = true}));
  all.push_back(pooled("a maximum that begins at zero", {.start = 0}));
  all.push_back(pooled("a maximum that begins at the lowest float",
                       {.start = std::numeric_limits<float>::lowest()}));
  all.push_back(pooled("one output missing", {.unwritten = 1}));
  all.push_back(pooled("one output missing, CHWN", {.layout = chwn, .unwritten = 1}));
  // The arrays are of another layout than it says, or believes.
  all.push_back(pooled("reads CHWN", {.read_as = chwn}));
  all.push_back(pooled("writes CHWN", {.written_as = chwn}));
  all.push_back(pooled("reads and writes CHWN", {.read_as = chwn, .written_as = chwn}));
  all.push_back(pooled("CHWN that reads NCHW", {.layout = chwn, .read_as = Layout::nchw}));
  return all;
}

std::vector<PoolingVariant> right(const PoolingVariant& plain) {
  PoolingVariant in_double = whole<PoolingLayer>("in double", [](const PoolingCall& call) {
    const PoolingLayer& l = call.problem;
    const conv::ImagesShape in{l.N(), l.C(), l.H(), l.W()};
    const conv::ImagesShape out{l.N(), l.C(), l.P(), l.Q()};
    for_each_cell(out, [&](auto n, auto c, auto p, auto q) {
      double largest = -kInfinity, sum = 0;
      int count = 0;
      for (int i = 0; i < l.R() * l.S(); ++i) {
        const std::int64_t h = p * l.stride_h() - l.padding_h() + i / l.S();
        const std::int64_t w = q * l.stride_w() - l.padding_w() + i % l.S();
        if (h < 0 || h >= l.H() || w < 0 || w >= l.W()) continue;
        const double cell = call.input[conv::index_of(in, Layout::nchw, n, c, h, w)];
        largest = std::max(largest, cell);
        sum += cell;
        ++count;
      }
      call.output[conv::index_of(out, Layout::nchw, n, c, p, q)] =
          static_cast<float>(l.kind() == Pooling::max ? largest : sum / count);
    });
  });
  PoolingVariant square = pooled("square windows only", {});
  square.refuses(
      [](const PoolingLayer& l) { return l.R() == l.S() ? "" : "it is made for square windows"; });
  return {plain, pooled("CHWN", {.layout = Layout::chwn}), pooled("backwards", {.backwards = true}),
          in_double, square};
}

// ---- Softmax ----

// The plain loop, with every mistake that it can make.
struct PlainSoftmax {
  bool shifts = true;            // subtracts the largest
  bool ignores_nan = false;      // where the largest is looked for, and in the sum
  bool nothing_is_zero = false;  // a row of nothing but -inf gives 0
  std::int64_t first = 0;        // category that is looked at
  std::int64_t forgotten = 0;    // categories at the end of a sum
  std::int64_t most_categories = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_images = std::numeric_limits<std::int64_t>::max();
  std::int64_t rows_on = 0;  // divides by the sum of another row
  bool logarithm = false;
  float factor = 1;  // of the exponent
  bool backwards = false;

  float exponential(float cell, float largest) const {
    return std::exp(factor * (shifts ? cell - largest : cell));
  }
  float largest_of(const float* row, std::int64_t C) const {
    float largest = -kInfinity;
    for (std::int64_t c = first; c < std::min(C, most_categories); ++c) {
      if (std::isnan(row[c]) && !ignores_nan) return kNaN;
      largest = std::max(largest, row[c]);
    }
    return largest;
  }
  float sum_of(const float* row, std::int64_t C, float largest) const {
    float sum = 0;
    for (std::int64_t i = 0; i < std::min(C, most_categories) - forgotten; ++i) {
      const float one = exponential(row[backwards ? C - 1 - i : i], largest);
      if (!(ignores_nan && std::isnan(one))) sum += one;
    }
    return sum;
  }
  void run(const SoftmaxCall& call) const {
    const std::int64_t N = call.problem.N(), C = call.problem.C();
    for (std::int64_t n = 0; n < std::min(N, most_images); ++n) {
      const float* row = call.input + n * C;
      const float largest = largest_of(row, C);
      const float* summed = call.input + (n + rows_on) % N * C;
      const float sum = sum_of(summed, C, largest_of(summed, C));
      for (std::int64_t c = 0; c < std::min(C, most_categories); ++c) {
        float value = exponential(row[c], largest) / sum;
        if (nothing_is_zero && largest == -kInfinity) value = 0;
        if (ignores_nan && std::isnan(value)) value = 0;
        call.output[n * C + c] = logarithm ? std::log(value) : value;
      }
    }
  }
};

SoftmaxVariant softened(const std::string& name, const PlainSoftmax& kernel) {
  return whole<Softmax>(name, [kernel](const SoftmaxCall& call) { kernel.run(call); });
}

std::vector<SoftmaxVariant> wrong(const SoftmaxVariant&) {
  std::vector<SoftmaxVariant> all;
  all.push_back(softened("overflows", {.shifts = false}));
  all.push_back(softened("NaN dropped", {.ignores_nan = true}));
  all.push_back(softened("a row of nothing gives zeros", {.nothing_is_zero = true}));
  all.push_back(softened("the largest but for the first", {.first = 1}));
  all.push_back(softened("the last of the sum forgotten", {.forgotten = 1}));
  all.push_back(softened("no more than 1,024 categories", {.most_categories = 1024}));
  all.push_back(softened("no more than 32 images", {.most_images = 32}));
  all.push_back(softened("the sum of the next row", {.rows_on = 1}));
  all.push_back(softened("logarithms", {.logarithm = true}));
  all.push_back(softened("powers of two", {.factor = 0.693147f}));
  all.push_back(softened("an exponent a part in 10,000 off", {.factor = 1.0001f}));
  all.push_back(whole<Softmax>("down the columns", [](const SoftmaxCall& call) {
    const int N = call.problem.N(), C = call.problem.C();
    for (int c = 0; c < C; ++c) {
      float largest = -kInfinity, sum = 0;
      for (int n = 0; n < N; ++n) largest = std::max(largest, call.input[n * C + c]);
      for (int n = 0; n < N; ++n) sum += std::exp(call.input[n * C + c] - largest);
      for (int n = 0; n < N; ++n) {
        call.output[n * C + c] = std::exp(call.input[n * C + c] - largest) / sum;
      }
    }
  }));
  // The published listing's mistake, on a row longer than its block.
  all.push_back(whole<Softmax>("the sum of every second category", [](const SoftmaxCall& call) {
    const int N = call.problem.N(), C = call.problem.C();
    for (int n = 0; n < N; ++n) {
      const float* row = call.input + std::int64_t{n} * C;
      float sum = 0;
      const float largest = PlainSoftmax{}.largest_of(row, C);
      for (int c = 0; c<C; c += C> 1024 ? 2 : 1) sum += std::exp(row[c] - largest);
      for (int c = 0; c < C; ++c) {
        call.output[std::int64_t{n} * C + c] = std::exp(row[c] - largest) / sum;
      }
    }
  }));
  all.push_back(whole<Softmax>("a category of -inf gives a little", [](const SoftmaxCall& call) {
    PlainSoftmax{}.run(call);
    for (std::int64_t i = 0; i < call.problem.output_size(); ++i) {
      if (call.output[i] == 0) call.output[i] = 1e-38f;
    }
  }));
  return all;
}

std::vector<SoftmaxVariant> right(const SoftmaxVariant& plain) {
  SoftmaxVariant in_double = whole<Softmax>("in double", [](const SoftmaxCall& call) {
    const std::int64_t N = call.problem.N(), C = call.problem.C();
    for (std::int64_t n = 0; n < N; ++n) {
      const float* row = call.input + n * C;
      const double largest = PlainSoftmax{}.largest_of(row, C);
      double sum = 0;
      for (std::int64_t c = 0; c < C; ++c) sum += std::exp(row[c] - largest);
      for (std::int64_t c = 0; c < C; ++c) {
        call.output[n * C + c] = static_cast<float>(std::exp(row[c] - largest) / sum);
      }
    }
  });
  return {plain, softened("backwards", {.backwards = true}), in_double};
}

template <class Problem>
void plain(const ProblemCall<Problem>& call);
template <>
void plain(const TransformCall& call) {
  transform(call);
}
template <>
void plain(const PoolingCall& call) {
  PlainPooling{}.run(call);
}
template <>
void plain(const SoftmaxCall& call) {
  PlainSoftmax{}.run(call);
}

template <class Problem>
float* writable(const ProblemCall<Problem>& call) {
  return const_cast<float*>(call.input);
}

// ---- Mistakes that every family can make ----

// The right outputs, changed one by one.
template <class Problem>
Variant<Problem> changed(
    const std::string& name,
    const std::function<float(const ProblemCall<Problem>&, std::int64_t, float)>& change) {
  return whole<Problem>(name, [change](const ProblemCall<Problem>& c) {
    std::vector<float> values(static_cast<std::size_t>(c.problem.output_size()));
    ProblemCall<Problem> other = c;
    other.output = values.data();
    plain(other);
    for (std::size_t i = 0; i < values.size(); ++i) {
      c.output[i] = change(c, static_cast<std::int64_t>(i), values[i]);
    }
  });
}

template <class Problem>
std::vector<Variant<Problem>> common_mistakes() {
  using Call = ProblemCall<Problem>;
  std::vector<Variant<Problem>> all;
  all.push_back(whole<Problem>("writes nothing", [](const Call&) {}));
  all.push_back(
      changed<Problem>("the last output missing", [](const Call& c, std::int64_t i, float value) {
        return i == c.problem.output_size() - 1 ? c.output[i] : value;
      }));
  all.push_back(
      changed<Problem>("one output off by a bit", [](const Call&, std::int64_t i, float value) {
        return i == 2 ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 0x4000u) : value;
      }));
  all.push_back(changed<Problem>("outputs in bfloat16", [](const Call&, std::int64_t, float value) {
    return to_bfloat16(value);
  }));
  all.push_back(changed<Problem>(
      "one NaN in a thousand",
      [](const Call&, std::int64_t i, float value) { return i % 1000 == 999 ? kNaN : value; }));
  all.push_back(changed<Problem>(
      "adds to what was there",
      [](const Call& c, std::int64_t i, float value) { return c.output[i] + value; }));
  all.push_back(whole<Problem>("writes one past the end", [](const Call& c) {
    plain(c);
    c.output[c.problem.output_size()] = 0;
  }));
  all.push_back(whole<Problem>("writes one before the start", [](const Call& c) {
    plain(c);
    c.output[-1] = 0;
  }));
  all.push_back(whole<Problem>("writes past the end of the input", [](const Call& c) {
    plain(c);
    writable(c)[c.problem.input_size()] = 0;
  }));
  all.push_back(whole<Problem>("works in its input", [](const Call& c) {
    plain(c);
    writable(c)[c.problem.input_size() - 1] = 0.5f;
  }));
  Variant<Problem> unclear = changed<Problem>(
      "adds up in a workspace that it never cleared",
      [](const Call& c, std::int64_t i, float value) { return c.workspace[i] += value; });
  unclear.also(
      [](const Problem& problem, auto& made) { made.workspace_floats = problem.output_size(); });
  all.push_back(unclear);
  Variant<Problem> beyond = whole<Problem>("writes past its workspace", [](const Call& c) {
    plain(c);
    c.workspace[3] = 0;
  });
  beyond.also([](const Problem&, auto& made) { made.workspace_floats = 3; });
  all.push_back(beyond);
  Variant<Problem> error = whole<Problem>("returns an error", plain<Problem>);
  error.launches([](const Call& c) {
    plain(c);
    return 9;
  });
  all.push_back(error);
  return all;
}

}  // namespace

template <class Problem>
Variant<Problem> plain_operation() {
  return whole<Problem>("plain", plain<Problem>);
}

template <class Problem>
std::vector<Variant<Problem>> wrong_operations() {
  std::vector<Variant<Problem>> all = wrong(plain_operation<Problem>());
  for (Variant<Problem>& more : common_mistakes<Problem>()) all.push_back(more);
  return all;
}

template <class Problem>
std::vector<Variant<Problem>> right_operations() {
  std::vector<Variant<Problem>> all = right(plain_operation<Problem>());
  Variant<Problem> staged = plain_operation<Problem>();
  staged.name = "through a workspace";
  staged.also(
      [](const Problem& problem, auto& made) { made.workspace_floats = problem.output_size(); });
  staged.launches([](const ProblemCall<Problem>& c) {
    ProblemCall<Problem> inner = c;
    inner.output = c.workspace;
    plain(inner);
    std::copy_n(c.workspace, c.problem.output_size(), c.output);
    return 0;
  });
  all.push_back(staged);
  return all;
}

#define HALO_OPERATION(Problem)                              \
  template Variant<Problem> plain_operation();               \
  template std::vector<Variant<Problem>> wrong_operations(); \
  template std::vector<Variant<Problem>> right_operations();
HALO_OPERATION(conv::Transform)
HALO_OPERATION(conv::PoolingLayer)
HALO_OPERATION(conv::Softmax)
#undef HALO_OPERATION

}  // namespace halo::test
