#include "stages/13_network/on_chip_division.hpp"

#include <algorithm>
#include <cstdint>

#include "common/conv/quotient.hpp"

namespace halo::network {

namespace {

int round_up(int value, int to) { return static_cast<int>(rounded_up(value, to)); }

std::string refuses_convolution(const conv::ConvLayer& layer) {
  if (layer.stride_h() != 1 || layer.stride_w() != 1) return "it convolves with stride 1 only";
  const bool made = layer.R() == 1 || layer.R() == 3 || layer.R() == 5;
  if (layer.R() != layer.S() || !made) return "it is made for filters of 1 x 1, 3 x 3 and 5 x 5";
  return "";
}

std::string refuses_pooling(const conv::PoolingLayer& layer) {
  if (layer.padding_h() != 0 || layer.padding_w() != 0) return "it pools without padding only";
  if (layer.R() != layer.S() || layer.R() > 3) return "it is made for windows of up to 3 x 3";
  if (layer.stride_h() != layer.stride_w()) return "it pools with one stride only";
  return "";
}

// A step without its places in memory.
OnChipStep with_filters(const Weighted& layer, int blocks) {
  const conv::ConvLayer& sums = layer.sums;
  OnChipStep step{};
  step.C = sums.C(), step.K = sums.K(), step.P = sums.P(), step.Q = sums.Q();
  const bool covers = step.P == 1 && step.Q == 1 && sums.padding_h() == 0 && sums.padding_w() == 0;
  step.size = covers ? 0 : sums.R();
  step.relu = layer.relu;
  step.share = (step.K + blocks - 1) / blocks;
  return step;
}

// Roughly, the instructions of a thread that convolves: with so few warps on an SM they take their time one by one.
std::int64_t instructions(const OnChipStep& step, int rows, int parts_bits) {
  const int parts = 1 << parts_bits, outputs = rows * kOnChipColumns, taps = step.size * step.size;
  const std::int64_t items =
      quotient_up(step.P, rows) * quotient_up(step.Q, kOnChipColumns) * step.share * parts;
  const int loads =
      (rows + step.size - 1) * ((step.size + 1) / 2) + on_chip_tap_pitch(step.size) / 4;
  int of_sums = 12 * std::max(outputs / parts, 1);  // that are stored
  for (int half = outputs / 2, left = parts / 2; left > 0; left /= 2, half /= 2) {
    of_sums += 4 * std::max(half, 1);  // that are exchanged
  }
  const std::int64_t of_channels = quotient_up(step.C, parts) * (10 + loads + outputs * taps);
  return quotient_up(items, kOnChipThreads) * (40 + of_channels + of_sums);
}

// Rows and parts of the fewest instructions.
void divide_sums(OnChipStep& step) {
  std::int64_t least = INT64_MAX;
  for (int rows = 1; rows <= 4; rows *= 2) {
    for (int bits = 0; bits <= kMostPartsBits && 1 << bits < 2 * step.C; ++bits) {
      const std::int64_t these = instructions(step, rows, bits);
      if (these < least) least = these, step.rows = rows, step.parts_bits = bits;
    }
  }
  step.across = static_cast<int>(quotient_up(step.Q, kOnChipColumns));
  step.down = static_cast<int>(quotient_up(step.P, step.rows));
}

}  // namespace

std::string refuses_on_chip(const std::vector<Layer>& layers, int blocks,
                            const gpus::GpuLimits& gpu) {
  if (std::string old = gpus::too_old(gpu, gpus::kWithClusters); !old.empty()) return old;
  if (kind_of(layers.back()) != Kind::softmax) return "it ends with the softmax";
  if (output_of(layers.back()).C() > kMostCategories) return "too many categories";
  int steps = 0;
  bool pools = true;  // the step before takes no pooling along
  bool has_filters = false;
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    const auto* weighted = std::get_if<Weighted>(&layers[i].work);
    std::string why;
    if (weighted != nullptr) {
      if (kind_of(layers[i]) == Kind::convolution) why = refuses_convolution(weighted->sums);
    } else if (const auto* pooling = std::get_if<conv::PoolingLayer>(&layers[i].work)) {
      why = refuses_pooling(*pooling);
    }
    if (!why.empty()) return layers[i].name + ": " + why;
    // Cells of a map are numbered in 16 bits.
    if (input_of(layers[i]).size() / input_of(layers[i]).N() >= 1 << 16) return "too large a map";
    if (weighted != nullptr && weighted->sums.filters_size() >= 1 << 22) return "too many filters";
    steps += weighted != nullptr || pools;
    pools = kind_of(layers[i]) != Kind::convolution;
    has_filters |= weighted != nullptr;
  }
  if (!has_filters) return "there are no filters";
  if (steps > kOnChipSteps) return "too many layers";
  const int bytes = divide_on_chip(layers, blocks).net.bytes;
  return bytes > gpu.shared_per_block ? "it does not fit into shared memory" : "";
}

OnChipDivision divide_on_chip(const std::vector<Layer>& layers, int blocks) {
  OnChipDivision all;
  OnChip& net = all.net;
  std::vector<conv::Images> reads;  // what each step reads
  std::vector<std::array<int, 2>> padding;
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    const auto* pooling = std::get_if<conv::PoolingLayer>(&layers[i].work);
    const bool joins = pooling != nullptr && net.count > 0 && net.step[net.count - 1].size >= 0 &&
                       net.step[net.count - 1].window == 0;
    if (!joins) {
      OnChipStep& step = net.step[net.count++];
      all.layer_of_step.push_back(i);
      reads.push_back(input_of(layers[i]));
      padding.push_back({0, 0});
      if (pooling == nullptr) {
        const Weighted& weighted = std::get<Weighted>(layers[i].work);
        step = with_filters(weighted, blocks);
        padding.back() = {weighted.sums.padding_h(), weighted.sums.padding_w()};
      } else {
        const conv::Images images = input_of(layers[i]);
        step.C = step.K = images.C(), step.P = images.H(), step.Q = images.W();
        step.size = -1;
        step.share = (step.K + blocks - 1) / blocks;
      }
      step.PP = step.P, step.PQ = step.Q, step.stride = 1;
    }
    if (pooling == nullptr) continue;
    OnChipStep& step = net.step[net.count - 1];
    step.window = pooling->R(), step.stride = pooling->stride_h();
    step.average = pooling->kind() == conv::Pooling::average;
    step.PP = pooling->P(), step.PQ = pooling->Q();
  }
  // The outputs of a few categories come sooner from one block than from a cluster that waits for itself.
  OnChipStep& last = net.step[net.count - 1];
  if (last.size == 0 && last.window == 0) last.share = last.K, last.alone = true;

  // Maps: each as the step that reads it wants it.
  std::vector<OnChipMap> maps;
  std::vector<int> sizes;  // in floats
  for (int i = 0; i < net.count; ++i) {
    OnChipStep& step = net.step[i];
    const conv::Images& images = reads[i];
    OnChipMap map{};
    if (step.size > 0) {
      divide_sums(step);
      map.pitch = round_up(
          std::max(images.W() + 2 * padding[i][1], step.across * kOnChipColumns + step.size - 1),
          2);
      const int rows =
          std::max(images.H() + 2 * padding[i][0], step.down * step.rows + step.size - 1);
      map.above = padding[i][0], map.left = padding[i][1];
      // Where lanes share a sum, the channels that they read at the same time lie in different banks.
      int plane = round_up(rows * map.pitch, 4);
      const int parts = 1 << step.parts_bits;
      while (parts > 1 && plane % kWarpSize != kWarpSize / parts) plane += 4;
      map.plane = plane;
    } else {
      const int cells = images.H() * images.W();
      map.pitch = images.W();
      map.plane = cells == 1 ? 1 : round_up(cells, 4);
    }
    maps.push_back(map);
    sizes.push_back(round_up(map.plane * images.C(), 4));
  }
  net.categories = output_of(layers.back()).C();
  maps.push_back({0, 0, 0, 1, 1});
  sizes.push_back(round_up(net.categories, 4));

  // Places: taps and biases, then maps, then what a block finds.
  int end = 0;
  const auto take = [&](int floats) {
    const int begin = end;
    end += round_up(floats, 4);
    return begin;
  };
  for (int i = 0; i < net.count; ++i) {
    OnChipStep& step = net.step[i];
    if (maps[i + 1].plane == 1 && !step.alone) step.share = round_up(step.share, 4);
    const int size = step.size == 0 ? reads[i].H() * reads[i].W() : step.size * step.size;
    all.taps.push_back(size);
    all.pitch.push_back(step.size == 0 ? maps[i].plane.value : on_chip_tap_pitch(step.size));
    if (step.size < 0) continue;
    step.row = round_up(step.C * all.pitch.back(), 4) + 4;
    step.taps = take(step.share * step.row);
  }
  net.packed_quads = end / 4;
  for (std::size_t i = 0; i < maps.size(); ++i) maps[i].begin = take(sizes[i]);
  for (int i = 0; i < net.count; ++i) {
    OnChipStep& step = net.step[i];
    step.from = maps[i], step.to = maps[i + 1];
    if (step.size > 0) step.own = take(step.share * step.P * step.Q);
  }
  if (blocks > 1) net.full = take(kOnChipSteps * sizeof(std::uint64_t) / sizeof(float));
  net.input = maps[0];
  net.logits = maps.back().begin;
  net.C = reads[0].C(), net.H = reads[0].H(), net.W = reads[0].W();
  net.bytes = end * 4;
  return all;
}

}  // namespace halo::network
