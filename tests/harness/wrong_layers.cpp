#include "tests/harness/wrong_layers.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "tests/conv/plain_layer.hpp"

namespace halo::test {

namespace {

using conv::ConvLayer;
using LayerWork = std::function<void(const Conv2dCall&)>;

std::vector<float> outputs(const PlainLayer& kernel, const Conv2dCall& c) {
  const auto copy = [](const float* cells, std::int64_t count) {
    return std::vector<float>(cells, cells + count);
  };
  return kernel.run(c.layer,
                    {copy(c.input, c.layer.input_size()), copy(c.filters, c.layer.filters_size())});
}

void write(const Conv2dCall& c, const std::vector<float>& values) {
  std::copy(values.begin(), values.end(), c.output);
}

void write_all(const Conv2dCall& c) { write(c, outputs({}, c)); }

Conv2dVariant whole(const std::string& name, const LayerWork& work) {
  Conv2dVariant variant;
  variant.name = name;
  variant.source = "tests/harness/wrong_layers.cpp";
  variant.multiplies_ghosts = true;
  variant.launches([work](const Conv2dCall& c) {
    work(c);
    return 0;
  });
  return variant;
}

// A variant from a kernel, which may depend on the layer.
Conv2dVariant by(const std::string& name,
                 const std::function<PlainLayer(const ConvLayer&)>& kernel) {
  return whole(name, [kernel](const Conv2dCall& c) {
    // What the kernel does not compute is left as it was found.
    const std::vector<float> values = outputs(kernel(c.layer), c);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!conv::is_poison(values[i])) c.output[i] = values[i];
    }
  });
}

Conv2dVariant by(const std::string& name, const PlainLayer& kernel) {
  return by(name, [kernel](const ConvLayer&) { return kernel; });
}

// The right outputs, changed one by one.
Conv2dVariant changed(const std::string& name,
                      const std::function<float(const Conv2dCall&, std::int64_t, float)>& change) {
  return whole(name, [change](const Conv2dCall& c) {
    std::vector<float> values = outputs({}, c);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = change(c, static_cast<std::int64_t>(i), values[i]);
    }
    write(c, values);
  });
}

// The same work on images that lie in CHWN, as it says; or but for the input or the output.
struct Arranged {
  bool input = true;
  bool output = true;
};
Conv2dVariant in_chwn(const std::string& name, const Conv2dVariant& variant, Arranged is = {}) {
  Conv2dVariant other = variant;
  other.name = name;
  other.layout = conv::Layout::chwn;
  other.also([is](const ConvLayer&, auto& made) {
    made.launch = [inner = made.launch, is](const Conv2dCall& c) {
      const ConvLayer& l = c.layer;
      const conv::Images in({.N = l.N(), .C = l.C(), .H = l.H(), .W = l.W()});
      const conv::Images out({.N = l.N(), .C = l.K(), .H = l.P(), .W = l.Q()});
      const std::span<const float> given(c.input, static_cast<std::size_t>(in.size()));
      const std::vector<float> input =
          is.input ? conv::rearranged(in, given, conv::Layout::chwn, conv::Layout::nchw)
                   : std::vector<float>(given.begin(), given.end());
      std::vector<float> output(static_cast<std::size_t>(out.size()), conv::poison());
      Conv2dCall call = c;
      call.input = input.data();
      call.output = output.data();
      const int status = inner(call);
      if (is.output) output = conv::rearranged(out, output, conv::Layout::nchw, conv::Layout::chwn);
      std::copy(output.begin(), output.end(), c.output);
      return status;
    };
  });
  return other;
}

float* writable(const float* cells) { return const_cast<float*>(cells); }

// Reads its filters as [taps][K], behind each tap a cell that nobody needs, which packing leaves alone.
Conv2dVariant packing(const std::string& name) {
  Conv2dVariant variant = whole(name, [](const Conv2dCall& c) {
    const std::int64_t taps = c.layer.products_per_output(), row = c.layer.K() + 1;
    std::vector<float> filters(static_cast<std::size_t>(c.layer.filters_size()));
    for (std::size_t i = 0; i < filters.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      filters[i] = c.packed[at % taps * row + at / taps];
    }
    Conv2dCall other = c;
    other.filters = filters.data();
    write(c, outputs({}, other));
  });
  variant.also([](const ConvLayer& layer, auto& made) {
    const std::int64_t taps = layer.products_per_output(), row = layer.K() + 1;
    made.packed_floats = taps * row;
    made.pack = [taps, row, size = layer.filters_size()](const float* filters, float* packed) {
      for (std::int64_t i = 0; i < size; ++i) packed[i % taps * row + i / taps] = filters[i];
      return 0;
    };
  });
  return variant;
}

// The same, which does something else besides when it packs.
Conv2dVariant packing_and(
    const std::string& name,
    const std::function<void(const float* filters, float* packed, const ConvLayer& layer)>& more) {
  Conv2dVariant variant = packing(name);
  variant.also([more](const ConvLayer& layer, auto& made) {
    made.pack = [pack = made.pack, more, layer](const float* filters, float* packed) {
      const int error = pack(filters, packed);
      more(filters, packed, layer);
      return error;
    };
  });
  return variant;
}

}  // namespace

Conv2dVariant plain_layer() { return by("plain", PlainLayer{}); }

std::vector<Conv2dVariant> wrong_layers() {
  std::vector<Conv2dVariant> all;

  // ---- Wrong cells, wrong taps ----
  all.push_back(by("a row too low", PlainLayer{.down = 1}));
  all.push_back(by("a column too far right", PlainLayer{.right = 1}));
  all.push_back(by("the next channel", PlainLayer{.channels_on = 1}));
  all.push_back(by("the next filter", PlainLayer{.filters_on = 1}));
  all.push_back(by("the next image", PlainLayer{.images_on = 1}));
  all.push_back(by("the first image only", PlainLayer{.first_image_only = true}));
  all.push_back(
      by("filter flipped both ways", PlainLayer{.flipped_rows = true, .flipped_columns = true}));
  all.push_back(by("filter flipped down", PlainLayer{.flipped_rows = true}));
  all.push_back(by("filter flipped across", PlainLayer{.flipped_columns = true}));
  all.push_back(by("R and S exchanged", PlainLayer{.filter_transposed = true}));
  all.push_back(by("filters with the channels last", PlainLayer{.filter_channels_last = true}));
  all.push_back(by("filters with the channels first", PlainLayer{.filter_first_is_channel = true}));
  all.push_back(by("H and W exchanged", PlainLayer{.input_transposed = true}));
  all.push_back(by("input in NHWC", PlainLayer{.input_channels_last = true}));
  all.push_back(by("input in CHWN", PlainLayer{.input_batch_last = true}));
  all.push_back(by("output with the filters first", PlainLayer{.output_filters_first = true}));
  all.push_back(by("P and Q exchanged", PlainLayer{.output_transposed = true}));
  all.push_back(by("edges repeat the last cell", PlainLayer{.clamps = true}));
  all.push_back(by("rows wrap round", PlainLayer{.wraps = true}));
  all.push_back(by("no stride", PlainLayer{.stride_h = 1, .stride_w = 1}));
  all.push_back(by("the stride down also across", [](const ConvLayer& layer) {
    return PlainLayer{.stride_w = layer.stride_h()};
  }));
  all.push_back(by("no padding", PlainLayer{.padding_h = 0, .padding_w = 0}));
  all.push_back(by("the padding of the papers", [](const ConvLayer& layer) {
    return PlainLayer{.padding_h = (layer.R() - 1) / 2, .padding_w = (layer.S() - 1) / 2};
  }));

  // ---- Wrong layouts ----
  all.push_back(in_chwn("NCHW that is said to be CHWN", plain_layer(), {false, false}));
  all.push_back(in_chwn("CHWN that reads NCHW", plain_layer(), {.input = false}));
  all.push_back(in_chwn("CHWN that writes NCHW", plain_layer(), {.output = false}));
  all.push_back(in_chwn("a row too low in CHWN", by("", PlainLayer{.down = 1})));
  all.push_back(in_chwn("the next image in CHWN", by("", PlainLayer{.images_on = 1})));
  all.push_back(in_chwn("one output missing in CHWN", by("", PlainLayer{.unwritten = 1})));
  {
    Conv2dVariant hidden = in_chwn("CHWN that is said to be NCHW", plain_layer());
    hidden.layout = conv::Layout::nchw;
    all.push_back(hidden);
  }

  // ---- Wrong sums ----
  all.push_back(by("the last product forgotten", [](const ConvLayer& layer) {
    return PlainLayer{.dropped_product = layer.products_per_output() - 1};
  }));
  all.push_back(by("one product of one output forgotten", [](const ConvLayer& layer) {
    return PlainLayer{.dropped_product = layer.products_per_output() / 2,
                      .only_output = layer.output_size() / 2};
  }));
  all.push_back(by("the first product counted twice", PlainLayer{.doubled_product = 0}));
  all.push_back(
      changed("a part in 100,000 too large",
              [](const Conv2dCall&, std::int64_t, float value) { return value * 1.00001f; }));
  all.push_back(changed("outputs in bfloat16", [](const Conv2dCall&, std::int64_t, float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFF0000u);
  }));
  all.push_back(changed("adds to what was there", [](const Conv2dCall& c, std::int64_t i,
                                                     float value) { return c.output[i] + value; }));
  {
    Conv2dVariant adding = whole("adds up in a workspace that it never cleared", nullptr);
    adding.also(
        [](const ConvLayer& layer, auto& made) { made.workspace_floats = layer.output_size(); });
    adding.launches([](const Conv2dCall& c) {
      const std::vector<float> values = outputs({}, c);
      for (std::size_t i = 0; i < values.size(); ++i) {
        c.workspace[i] += values[i];
        c.output[i] = c.workspace[i];
      }
      return 0;
    });
    all.push_back(adding);
  }

  // ---- NaN and infinity ----
  all.push_back(
      changed("one NaN in a thousand", [](const Conv2dCall&, std::int64_t i, float value) {
        return i % 1000 == 999 ? std::numeric_limits<float>::quiet_NaN() : value;
      }));
  all.push_back(changed("one infinity", [](const Conv2dCall&, std::int64_t i, float value) {
    return i == 1029 ? std::numeric_limits<float>::infinity() : value;
  }));

  // ---- Outputs not written, or too many ----
  all.push_back(whole("writes nothing", [](const Conv2dCall&) {}));
  all.push_back(by("one output missing", PlainLayer{.unwritten = 1}));
  all.push_back(by("the last row of tiles missing", [](const ConvLayer& layer) {
    const std::int64_t rows = layer.P() % 8;
    return PlainLayer{.unwritten = rows * layer.Q()};
  }));
  all.push_back(whole("writes one past the end", [](const Conv2dCall& c) {
    write_all(c);
    c.output[c.layer.output_size()] = 0;
  }));
  all.push_back(whole("writes one before the start", [](const Conv2dCall& c) {
    write_all(c);
    c.output[-1] = 0;
  }));
  all.push_back(whole("writes past the end of the filters", [](const Conv2dCall& c) {
    write_all(c);
    writable(c.filters)[c.layer.filters_size()] = 0;
  }));
  {
    Conv2dVariant beyond = whole("writes past its workspace", [](const Conv2dCall& c) {
      write_all(c);
      c.workspace[c.layer.K()] = 0;
    });
    beyond.also([](const ConvLayer& layer, auto& made) { made.workspace_floats = layer.K(); });
    all.push_back(beyond);
  }

  // ---- Inputs changed ----
  all.push_back(whole("clears the last cell of its input", [](const Conv2dCall& c) {
    write_all(c);
    writable(c.input)[c.layer.input_size() - 1] = 0;
  }));
  all.push_back(whole("changes a tap", [](const Conv2dCall& c) {
    write_all(c);
    writable(c.filters)[0] += 1;
  }));

  // ---- Right only sometimes ----
  all.push_back(by("wrong for a single image of 3 x 3", [](const ConvLayer& layer) {
    return PlainLayer{.down = layer.N() == 1 && layer.R() == 3 && layer.C() > 1 ? 1 : 0};
  }));
  all.push_back(by("wrong for 1 x 1", [](const ConvLayer& layer) {
    return PlainLayer{.channels_on = layer.R() == 1 && layer.S() == 1 ? 1 : 0};
  }));
  all.push_back(
      changed("no more than 1,024 columns", [](const Conv2dCall& c, std::int64_t i, float value) {
        return i % c.layer.Q() >= 1024 ? 0.0f : value;
      }));
  all.push_back(
      changed("no more than 128 filters", [](const Conv2dCall& c, std::int64_t i, float value) {
        const auto plane = std::int64_t{c.layer.P()} * c.layer.Q();
        return i / plane % c.layer.K() >= 128 ? 0.0f : value;
      }));
  all.push_back(
      changed("no more than 32 images", [](const Conv2dCall& c, std::int64_t i, float value) {
        const auto image = std::int64_t{c.layer.K()} * c.layer.P() * c.layer.Q();
        return i / image >= 32 ? 0.0f : value;
      }));
  all.push_back(by("no more than 512 channels", [](const ConvLayer& layer) {
    return PlainLayer{.dropped_product =
                          layer.C() > 512 ? std::int64_t{512} * layer.R() * layer.S() : -1};
  }));

  // ---- Something of an earlier call ----
  {
    const auto kept = std::make_shared<std::vector<float>>();
    Conv2dVariant stale = whole("keeps the first filters of a size", nullptr);
    stale.also([kept](const ConvLayer& layer, auto& made) {
      const auto size = static_cast<std::size_t>(layer.filters_size());
      made.set_up = [kept, size](const float* filters) {
        if (kept->size() != size) kept->assign(filters, filters + size);
        return 0;
      };
    });
    stale.launches([kept](const Conv2dCall& c) {
      Conv2dCall other = c;
      other.filters = kept->data();
      write(c, outputs({}, other));
      return 0;
    });
    all.push_back(stale);
  }

  // ---- Packed filters ----
  {
    Conv2dVariant stale = packing("keeps the first packed filters of a size");
    const auto kept = std::make_shared<std::vector<float>>();
    stale.also([kept](const ConvLayer&, auto& made) {
      const auto size = static_cast<std::size_t>(made.packed_floats);
      made.launch = [kept, size, inner = made.launch](const Conv2dCall& c) {
        if (kept->size() != size) kept->assign(c.packed, c.packed + size);
        Conv2dCall other = c;
        other.packed = kept->data();
        return inner(other);
      };
    });
    all.push_back(stale);
    Conv2dVariant known = packing("does not pack again into an array that it knows");
    const auto last = std::make_shared<std::pair<const float*, std::int64_t>>();
    known.also([last](const ConvLayer& layer, auto& made) {
      made.pack = [last, size = layer.filters_size(), inner = made.pack](const float* filters,
                                                                         float* packed) {
        const std::pair<const float*, std::int64_t> now = {packed, size};
        return std::exchange(*last, now) == now ? 0 : inner(filters, packed);
      };
    });
    all.push_back(known);
  }
  all.push_back(packing_and("packs one past the end",
                            [](const float*, float* packed, const ConvLayer& layer) {
                              packed[layer.products_per_output() * (layer.K() + 1)] = 0;
                            }));
  all.push_back(packing_and(
      "packing clears a tap",
      [](const float* filters, float*, const ConvLayer&) { writable(filters)[0] = 12345; }));
  all.push_back(packing_and(
      "packing leaves the last tap out", [](const float*, float* packed, const ConvLayer& layer) {
        packed[layer.products_per_output() * (layer.K() + 1) - 2] = conv::unset();
      }));
  {
    const auto turn = std::make_shared<float>();
    all.push_back(packing_and("packs something else the next time",
                              [turn](const float*, float* packed, const ConvLayer& layer) {
                                packed[layer.K()] = ++*turn;  // a cell that nobody needs
                              }));
  }
  {
    Conv2dVariant spoils = packing("changes its packed filters when it is done");
    spoils.also([](const ConvLayer&, auto& made) {
      made.launch = [inner = made.launch](const Conv2dCall& c) {
        const int error = inner(c);
        writable(c.packed)[0] += 1;
        return error;
      };
    });
    all.push_back(spoils);
    Conv2dVariant error = packing("cannot pack its filters");
    error.also(
        [](const ConvLayer&, auto& made) { made.pack = [](const float*, float*) { return 13; }; });
    all.push_back(error);
  }

  // ---- Errors ----
  Conv2dVariant launch_error = plain_layer();
  launch_error.name = "returns an error";
  launch_error.launches([](const Conv2dCall& c) {
    write_all(c);
    return 9;
  });
  all.push_back(launch_error);
  Conv2dVariant filters_error = plain_layer();
  filters_error.name = "cannot set its filters";
  filters_error.also(
      [](const ConvLayer&, auto& made) { made.set_up = [](const float*) { return 13; }; });
  all.push_back(filters_error);
  return all;
}

std::vector<Conv2dVariant> right_layers() {
  std::vector<Conv2dVariant> all = {plain_layer()};
  all.push_back(by("products backwards", PlainLayer{.backward = true}));
  all.push_back(by("fma", PlainLayer{.fused = true}));
  all.push_back(whole("in double", [](const Conv2dCall& c) {
    const conv::ConvLayer& l = c.layer;
    const std::vector<float> input(c.input, c.input + l.input_size());
    const std::vector<float> filters(c.filters, c.filters + l.filters_size());
    const auto is_finite = [](float value) { return std::isfinite(value); };
    if (!std::all_of(input.begin(), input.end(), is_finite) ||
        !std::all_of(filters.begin(), filters.end(), is_finite)) {
      return write_all(c);  // the reference takes no others
    }
    const conv::Reference reference = conv::reference(l, input, filters);
    for (std::size_t i = 0; i < reference.value.size(); ++i) {
      c.output[i] = static_cast<float>(reference.value[i]);
    }
  }));
  // As cuConv: the products of each channel into a workspace, which is then added up.
  Conv2dVariant staged = whole("in two stages", [](const Conv2dCall& c) {
    const conv::ConvLayer& l = c.layer;
    conv::LayerShape shape = l.shape();
    shape.C = 1;
    const std::int64_t taps = shape.R * shape.S;
    const std::int64_t cells = shape.H * shape.W;
    for (std::int64_t part = 0; part < l.C(); ++part) {
      std::vector<float> input, filters;
      for (std::int64_t n = 0; n < l.N(); ++n) {
        const float* const from = c.input + (n * l.C() + part) * cells;
        input.insert(input.end(), from, from + cells);
      }
      for (std::int64_t k = 0; k < l.K(); ++k) {
        const float* const from = c.filters + (k * l.C() + part) * taps;
        filters.insert(filters.end(), from, from + taps);
      }
      const Conv2dCall one{ConvLayer(shape), input.data(), filters.data()};
      const std::vector<float> sums = outputs({}, one);
      std::copy(sums.begin(), sums.end(), c.workspace + part * l.output_size());
    }
    for (std::int64_t i = 0; i < l.output_size(); ++i) {
      c.output[i] = 0;
      for (std::int64_t part = 0; part < l.C(); ++part) {
        c.output[i] += c.workspace[part * l.output_size() + i];
      }
    }
  });
  staged.also([](const ConvLayer& layer, auto& made) {
    made.workspace_floats = layer.C() * layer.output_size();
  });
  staged.refuses([](const ConvLayer& layer) {
    return layer.C() > 40 ? "it is made for 40 channels at most" : "";
  });
  all.push_back(staged);
  all.push_back(in_chwn("in CHWN", plain_layer()));
  const auto kept = std::make_shared<std::vector<float>>();
  Conv2dVariant elsewhere = whole("filters kept elsewhere", [kept](const Conv2dCall& c) {
    Conv2dCall other = c;
    other.filters = kept->data();
    write(c, outputs({}, other));
  });
  elsewhere.also([kept](const ConvLayer& layer, auto& made) {
    made.set_up = [kept, size = layer.filters_size()](const float* filters) {
      kept->assign(filters, filters + size);
      return 0;
    };
  });
  all.push_back(elsewhere);
  all.push_back(packing("packs its filters"));
  return all;
}

}  // namespace halo::test
