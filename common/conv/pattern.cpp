#include "common/conv/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "common/conv/accuracy.hpp"

namespace halo::conv {

namespace {

constexpr std::size_t kFewest = 3;  // wrong outputs that make a pattern of values

std::string short_figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// One problem's wrong cells, looked at from all sides.
class Trace {
 public:
  explicit Trace(const WrongOutputs& outputs) : outputs_(outputs) {
    for (std::size_t i = 0; i < outputs.found.size(); ++i) {
      if (is_wrong(outputs, i)) wrong_.push_back(i);
    }
  }

  const std::vector<std::size_t>& wrong() const { return wrong_; }

  std::string values() const {
    if (every([](float found, double) { return is_poison(found); })) {
      return wrong_.size() == outputs_.found.size() ? "no output was written"
                                                    : "what is wrong was never written";
    }
    if (every([](float found, double) { return std::isnan(found); })) {
      return "every wrong output is NaN: a variable was not set, or what was read nobody had "
             "written, "
             "or it lies outside its array";
    }
    if (every([](float found, double expected) { return found == 0 && expected != 0; })) {
      return "every wrong output is 0";
    }
    if (wrong_.size() < kFewest) return {};
    // A shift of constant data is none.
    if (const std::string shift = shifted(); !shift.empty()) return shift;
    if (const std::string exchanged = transposed(); !exchanged.empty()) return exchanged;
    if (const std::string scaled = multiplied(); !scaled.empty()) return scaled;
    return added();
  }

  std::string places() const {
    if (wrong_.size() == outputs_.found.size()) return {};
    std::string text;
    for (std::size_t axis = 0; axis < outputs_.axes.size(); ++axis) {
      const std::string where = on_axis(axis);
      if (where.empty()) continue;
      text += (text.empty() ? "only " : ", ") + where;
    }
    return text;
  }

 private:
  bool every(const std::function<bool(float, double)>& test) const {
    return !wrong_.empty() && std::all_of(wrong_.begin(), wrong_.end(), [&](std::size_t i) {
      return test(outputs_.found[i], outputs_.expected[i]);
    });
  }

  bool is_value_of(std::size_t cell, std::size_t other) const {
    return std::fabs(static_cast<double>(outputs_.found[cell]) - outputs_.expected[other]) <=
           outputs_.bound[other];
  }

  std::int64_t stride(std::size_t axis) const {
    std::int64_t cells = 1;
    for (std::size_t i = axis + 1; i < outputs_.axes.size(); ++i) cells *= outputs_.axes[i].size;
    return cells;
  }
  std::int64_t at(std::size_t cell, std::size_t axis) const {
    return static_cast<std::int64_t>(cell) / stride(axis) % outputs_.axes[axis].size;
  }
  std::string name(std::size_t axis) const {
    const std::string& name = outputs_.axes[axis].name;
    return name.empty() ? "output" : name;
  }

  // Each wrong output is the right one of a cell some places further along an axis. (What would come from
  // beyond the end of the axis says nothing.)
  std::string shifted() const {
    for (std::size_t axis = outputs_.axes.size(); axis-- > 0;) {
      const std::int64_t size = outputs_.axes[axis].size;
      const std::int64_t most = std::min<std::int64_t>(size - 1, 1024);
      for (std::int64_t step = 1; step <= most; ++step) {
        for (const std::int64_t by : {step, -step}) {
          if (!is_shift(axis, by)) continue;
          const std::string places = std::to_string(step) + (step == 1 ? " place " : " places ") +
                                     (by > 0 ? "further on" : "before");
          return "every wrong output is the one that belongs " + places +
                 (outputs_.axes.size() > 1 ? " along the " + name(axis) + "s" : "");
        }
      }
    }
    return {};
  }
  bool is_shift(std::size_t axis, std::int64_t by) const {
    std::size_t seen = 0;
    for (const std::size_t cell : wrong_) {
      const std::int64_t to = at(cell, axis) + by;
      if (to < 0 || to >= outputs_.axes[axis].size) continue;
      const auto other =
          static_cast<std::size_t>(static_cast<std::int64_t>(cell) + by * stride(axis));
      if (!is_value_of(cell, other)) return false;
      ++seen;
    }
    return seen >= kFewest && 2 * seen >= wrong_.size();
  }

  std::string transposed() const {
    const std::size_t axes = outputs_.axes.size();
    if (axes < 2 || outputs_.axes[axes - 1].size != outputs_.axes[axes - 2].size) return {};
    const auto size = static_cast<std::size_t>(outputs_.axes[axes - 1].size);
    for (const std::size_t cell : wrong_) {
      const std::size_t plane = cell / (size * size) * size * size;
      const std::size_t row = (cell - plane) / size;
      const std::size_t column = (cell - plane) % size;
      if (!is_value_of(cell, plane + column * size + row)) return {};
    }
    return name(axes - 2) + "s and " + name(axes - 1) + "s are exchanged";
  }

  // The figure that `of` gives is the same for all: for enough of them that say something.
  bool constant(const std::function<double(float, double)>& of, double& value) const {
    bool any = false;
    std::size_t counted = 0;
    for (const std::size_t cell : wrong_) {
      const double expected = outputs_.expected[cell];
      // Beside its bound an output must be large, or its ratio is noise.
      if (std::fabs(expected) <= 100 * outputs_.bound[cell] || expected == 0) continue;
      const double one = of(outputs_.found[cell], expected);
      if (!std::isfinite(one)) return false;
      if (any && std::fabs(one - value) > 1e-3 * std::fabs(value)) return false;
      if (!any) value = one;
      any = true;
      ++counted;
    }
    return counted >= kFewest && 2 * counted >= wrong_.size();
  }
  std::string multiplied() const {
    double ratio = 0;
    const auto of = [](float found, double expected) { return found / expected; };
    if (!constant(of, ratio)) return {};
    const double whole = std::round(ratio);
    const double part = std::round(1 / ratio);
    std::string times = short_figure(ratio);
    if (std::fabs(ratio - whole) < 1e-3) times = short_figure(whole);
    if (std::fabs(ratio) < 0.75 && std::fabs(1 / ratio - part) < 1e-3)
      times = "1/" + short_figure(part);
    if (times == "1") return {};  // off by less than is shown
    if (times == "-1") return "every wrong output has the wrong sign";
    return "every wrong output is " + times + " times what it should be";
  }
  std::string added() const {
    double difference = 0;
    const auto of = [](float found, double expected) { return found - expected; };
    if (!constant(of, difference)) return {};
    return "every wrong output is off by " + short_figure(difference);
  }

  // "the last 3 columns", "filter 2"; empty if the wrong ones are everywhere on this axis.
  std::string on_axis(std::size_t axis) const {
    const std::int64_t size = outputs_.axes[axis].size;
    if (size < 2) return {};
    std::set<std::int64_t> seen;
    for (const std::size_t cell : wrong_) seen.insert(at(cell, axis));
    const auto count = static_cast<std::int64_t>(seen.size());
    if (count == size) return {};
    const std::vector<std::string>& each = outputs_.axes[axis].each;
    if (count == 1 && !each.empty()) return each[static_cast<std::size_t>(*seen.begin())];
    const std::int64_t first = *seen.begin();
    const std::int64_t last = *seen.rbegin();
    const bool together = last - first + 1 == count;
    if (together && last == size - 1) return tail(axis, count);
    if (together && first == 0) return ends("first", axis, count);
    if (count == 1) return name(axis) + " " + std::to_string(first);
    if (const std::string where = both_ends(axis, seen); !where.empty()) return where;
    if (axis + 1 == outputs_.axes.size()) {
      if (const std::string where = in_periods(axis, seen); !where.empty()) return where;
    }
    if (together) {
      return name(axis) + "s " + std::to_string(first) + " to " + std::to_string(last);
    }
    return {};
  }
  // The axis begins and ends with wrong ones, and there are no others: what is at the edges of blocks would be
  // wrong between them as well.
  std::string both_ends(std::size_t axis, const std::set<std::int64_t>& seen) const {
    const std::int64_t size = outputs_.axes[axis].size;
    const auto count = static_cast<std::int64_t>(seen.size());
    std::int64_t begin = 0;
    while (seen.contains(begin)) ++begin;
    std::int64_t end = 0;
    while (seen.contains(size - 1 - end)) ++end;
    if (begin == 0 || end == 0 || begin + end != count || 2 * count > size) return {};
    if (count == 2) return "the first and the last " + name(axis);
    return "the first " + std::to_string(begin) + " and the last " + std::to_string(end) + " " +
           name(axis) + "s";
  }
  std::string ends(const std::string& which, std::size_t axis, std::int64_t count) const {
    return "the " + which + " " +
           (count == 1 ? name(axis) : std::to_string(count) + " " + name(axis) + "s");
  }
  // The end of an axis may be what is left after the last whole period.
  std::string tail(std::size_t axis, std::int64_t count) const {
    std::string text = ends("last", axis, count);
    if (axis + 1 != outputs_.axes.size()) return text;
    for (const Period& period : outputs_.periods) {
      const std::int64_t size = outputs_.axes[axis].size;
      if (period.size < 2 || size < period.size) continue;
      if (size % period.size == count) {
        return text + ": all after the last whole " + period.name;
      }
      if (count > period.size) continue;
      if (size % period.size == 0 && count == period.size)
        return text + ": the last " + period.name;
    }
    return text;
  }
  // The beginning or the end of each period, the last of which may be cut short.
  std::string in_periods(std::size_t axis, const std::set<std::int64_t>& seen) const {
    for (const Period& period : outputs_.periods) {
      const std::int64_t size = outputs_.axes[axis].size;
      if (period.size < 2 || size <= period.size) continue;
      // How far the wrong ones reach into a period, if all are counted from its begin, from its end, or
      // each from the nearer.
      std::int64_t begin_only = 0, end_only = 0, from_begin = 0, from_end = 0;
      for (const std::int64_t cell : seen) {
        const std::int64_t begin = cell / period.size * period.size;
        const std::int64_t before = cell - begin + 1;
        const std::int64_t after = std::min(begin + period.size, size) - cell;
        begin_only = std::max(begin_only, before);
        end_only = std::max(end_only, after);
        std::int64_t& nearer = before <= after ? from_begin : from_end;
        nearer = std::max(nearer, std::min(before, after));
      }
      const std::int64_t most = std::max<std::int64_t>(1, period.size / 4);
      if (begin_only <= most) {
        from_begin = begin_only;
        from_end = 0;
      } else if (end_only <= most) {
        from_begin = 0;
        from_end = end_only;
      } else if (from_begin + from_end > 2 * most) {
        continue;
      }
      const auto some = [&](const char* which, std::int64_t count) {
        return "the " + std::string(which) +
               (count == 1 ? " " + name(axis)
                           : " " + std::to_string(count) + " " + name(axis) + "s");
      };
      std::string text;
      if (from_begin > 0) text = some("first", from_begin);
      if (from_end > 0) text += (text.empty() ? "" : " and ") + some("last", from_end);
      return text + " of each " + period.name;
    }
    return {};
  }

  const WrongOutputs& outputs_;
  std::vector<std::size_t> wrong_;
};

}  // namespace

bool is_wrong(const WrongOutputs& outputs, std::size_t cell) {
  const float found = outputs.found[cell];
  if (static_cast<double>(found) == outputs.expected[cell]) return false;  // infinities too
  return is_poison(found) ||
         !(std::fabs(static_cast<double>(found) - outputs.expected[cell]) <= outputs.bound[cell]);
}

std::string place_of(const std::vector<OutputAxis>& axes, std::int64_t cell) {
  const bool plain = axes.empty() || (axes.size() == 1 && axes.front().letter.empty());
  if (plain) return "output[" + std::to_string(cell) + "]";
  std::int64_t cells = 1;
  for (const OutputAxis& axis : axes) cells *= axis.size;
  std::string array = "output", text;
  for (const OutputAxis& axis : axes) {
    cells /= axis.size;
    if (axis.each.empty()) {
      text += (text.empty() ? "" : ", ") + axis.letter + " " + std::to_string(cell / cells);
    } else {
      array = axis.each[static_cast<std::size_t>(cell / cells)];
    }
    cell %= cells;
  }
  return array + "[" + text + "]";
}

std::string recognise(const WrongOutputs& outputs) {
  const Trace trace(outputs);
  if (trace.wrong().empty()) return {};
  const std::string values = trace.values();
  const std::string places = trace.places();
  return values + (values.empty() || places.empty() ? "" : "; ") + places;
}

}  // namespace halo::conv
