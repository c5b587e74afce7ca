// wgmma: what four warps multiply (PTX ISA 9.7.15). Each of them has 16 of the 64 rows of A and D, in the registers that
// mma has them in; B, and A where it is not in registers, lie in shared memory, as a descriptor says. A product is there
// at once: what may happen before it is waited for is for who judges.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/simt/machine/access.hpp"
#include "common/simt/machine/rounding.hpp"
#include "common/simt/machine/tensor.hpp"

namespace simt::machine {
namespace {

constexpr unsigned kGroupWarps = 4;
constexpr int kRowsOfWarp = 16;
constexpr int kMostOfLine = 64, kMostLines = 256;  // elements, and columns of B
constexpr int kLeft = 0, kRight = 1,
              kAdds = 2;  // in Step::from: two descriptors, and whether D is added

// ---- Operands in shared memory ----

// 9.7.15.5.1: the matrix lies there in pieces of 16 bytes, eight lines of them together.
struct Described {
  std::uint32_t start, leading, stride;
  std::uint32_t width;  // of a line with its swizzle in bytes; 16: none
  std::uint32_t base;   // which line of a swizzle's pattern the matrix begins with

  explicit Described(std::uint64_t bits)
      : start(static_cast<std::uint32_t>(bits & 0x3fff) << 4),
        leading(static_cast<std::uint32_t>(bits >> 16 & 0x3fff) << 4),
        stride(static_cast<std::uint32_t>(bits >> 32 & 0x3fff) << 4),
        width(std::array{16u, 128u, 64u, 32u}[bits >> 62]),
        base(static_cast<std::uint32_t>(bits >> 49 & 7)) {}

  // Where a piece lies. Of a matrix along k a line is a row of A or a column of B, and has two pieces; of a transposed one it
  // has the same k, and a piece for each eight rows or columns.
  std::uint32_t at(bool is_transposed, std::uint32_t line, std::uint32_t piece) const {
    std::uint32_t at = line % 8 * width;
    if (width == 16) {
      at +=
          is_transposed ? piece * stride + line / 8 * leading : line / 8 * stride + piece * leading;
    } else {
      const std::uint32_t across = width / 16;
      at += line / 8 * stride + piece % across * 16 + piece / across * leading;
    }
    at = (start + at) & 0x3'ffff;
    return at ^ ((at - (base << 7)) >> 3 & (width / 16 - 1) << 4);
  }
};

// Single bits are taken by words.
Element in_memory(Element element) { return element == Element::b1 ? Element::s32 : element; }

// Elements of rows of A, or of columns of B, as the bits that they have.
using Bits = std::array<std::array<std::uint32_t, kMostOfLine>, kMostLines>;

struct Reader {
  const Step* step;
  Warp& warp;
  std::vector<AsyncAccess::Piece> pieces;

  // False, and told, if it is not all there.
  bool read(std::uint64_t descriptor, Element element, int depth, bool is_transposed, int first,
            int lines, Bits& bits) {
    const Described where(descriptor);
    const int size = bits_of(in_memory(element)) / 8, each = 16 / size;
    // Pieces along k of each line, or along lines for each k.
    const int outer = is_transposed ? depth : lines;
    const int inner = is_transposed ? lines / each : depth / each;
    for (int i = 0; i < outer; ++i) {
      for (int j = 0; j < inner; ++j) {
        const std::uint32_t at = is_transposed
                                     ? where.at(true, static_cast<std::uint32_t>(i),
                                                static_cast<std::uint32_t>(first / each + j))
                                     : where.at(false, static_cast<std::uint32_t>(first + i),
                                                static_cast<std::uint32_t>(j));
        if (at + 16 > warp.block->shared.size()) return outside(at);
        add(at);
        const std::byte* const from = warp.block->shared.data() + at;
        for (int e = 0; e < each; ++e) {
          std::uint32_t word = 0;
          std::memcpy(&word, from + e * size, static_cast<std::size_t>(size));
          const auto line = static_cast<std::size_t>(is_transposed ? j * each + e : i);
          bits[line][static_cast<std::size_t>(is_transposed ? i : j * each + e)] = word;
        }
      }
    }
    return true;
  }

  void add(std::uint32_t at) {
    if (!pieces.empty() && pieces.back().end == at) {
      pieces.back().end += 16;
    } else {
      pieces.push_back({at, at + 16ull});
    }
  }

  bool outside(std::uint32_t at) {
    Addresses64 addresses;
    addresses.fill(at);
    const WarpAccess access{WarpAccess::Space::shared,
                            WarpAccess::Kind::load,
                            {addresses, 1, 16},
                            step,
                            &warp,
                            warp.block};
    warp.block->grid->observer->fault(access, 0, "out_of_bounds");
    return end_all();
  }
  // One lane's fault is everybody's.
  bool end_all() {
    warp.faulty = kAllLanes;
    return false;
  }

  // In order, and what lies together as one.
  void tidy() {
    std::sort(pieces.begin(), pieces.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::size_t kept = 0;
    for (const AsyncAccess::Piece& one : pieces) {
      if (kept != 0 && pieces[kept - 1].end >= one.begin) {
        pieces[kept - 1].end = std::max(pieces[kept - 1].end, one.end);
      } else {
        pieces[kept++] = one;
      }
    }
    pieces.resize(kept);
  }
};

// ---- What is computed ----

// Sums of products as the tensor cores make them: how many at once, and with how many places. (8-bit numbers have fewer,
// and so has what comes of them.)
struct Precision {
  unsigned at_once;
  int places;
};
Precision precision_of(Element element) {
  return bits_of(element) == 8 ? Precision{32, 13}
                               : Precision{tensor::kMostAtOnce, tensor::kKeptPlaces};
}

using tensor::kWide;

// D of a warp, by row and column.
using Results = std::array<std::array<std::uint32_t, kMostLines>, kRowsOfWarp>;

struct Work {
  Bits left_bits, right_bits;
  Lines<kMostLines> left, right;
  Results results;
};

std::uint32_t group_result(Element element, double whole, float result) {
  return element == Element::f16 ? narrow<kF16>(whole, Rounding::nearest)
                                 : std::bit_cast<std::uint32_t>(result);
}

auto elements_in(const Bits& bits) {
  return [&bits](int line, int k) {
    return bits[static_cast<std::size_t>(line)][static_cast<std::size_t>(k)];
  };
}

// Once for the four warps, or where A is sparse for each row.
void prepare_right(const GroupProduct& its, Work& work) {
  if (its.d == Element::s32 || its.is_sparse) return;
  work.right.fill(its.b, its.negates_b, its.columns, its.depth, elements_in(work.right_bits));
}

// Where B has what is multiplied by element k of a row.
std::size_t place_in_b(const Chosen* chosen, std::size_t row, std::size_t k) {
  return chosen == nullptr
             ? k
             : static_cast<std::size_t>((*chosen)(static_cast<int>(row), static_cast<int>(k)));
}

void multiply_group_floats(const GroupProduct& its, const Chosen* chosen, Work& work) {
  work.left.fill(its.a, its.negates_a, kRowsOfWarp, its.depth, elements_in(work.left_bits));
  const auto depth = static_cast<unsigned>(its.depth);
  const Precision precision = precision_of(its.a);
  for (std::size_t row = 0; row < kRowsOfWarp; ++row) {
    if (chosen != nullptr) {
      work.right.fill(its.b, its.negates_b, its.columns, its.depth, [&](int line, int k) {
        return work.right_bits[static_cast<std::size_t>(line)]
                              [place_in_b(chosen, row, static_cast<std::size_t>(k))];
      });
    }
    for (std::size_t column = 0; column < static_cast<std::size_t>(its.columns); column += kWide) {
      std::array<float, kWide> start;
      for (std::size_t i = 0; i < kWide; ++i) {
        start[i] = static_cast<float>(number_of(its.d, work.results[row][column + i]));
      }
      std::array<float, kWide> before = start;
      tensor::Sums sums;
      for (unsigned first = 0; first < depth; first += precision.at_once) {
        const unsigned count = std::min(depth - first, precision.at_once);
        tensor::add_products(before, work.left.from(row, first), work.right.from(column, first),
                             count, precision.places, sums);
        for (std::size_t i = 0; i < kWide; ++i) {
          before[i] = tensor::to_float({sums.value[i], sums.top[i]}, precision.places);
        }
      }
      for (std::size_t i = 0; i < kWide; ++i) {
        std::uint32_t& to = work.results[row][column + i];
        if (work.left.are_finite[row] && work.right.are_finite[column + i] &&
            std::isfinite(start[i])) {
          const double whole =
              std::ldexp(static_cast<double>(sums.value[i]), sums.top[i] - precision.places);
          to = group_result(its.d, whole, before[i]);
          if (precision.places < tensor::kFloatPlaces && its.d == Element::f32) {
            to &= ~((1u << (tensor::kFloatPlaces - precision.places)) - 1);
          }
          continue;
        }
        auto all = static_cast<double>(start[i]);
        for (std::size_t k = 0; k < depth; ++k) {
          const double a = number_of(its.a, work.left_bits[row][k]);
          const double b =
              number_of(its.b, work.right_bits[column + i][place_in_b(chosen, row, k)]);
          all += its.negates_a != its.negates_b ? -(a * b) : a * b;
        }
        to = group_result(its.d, all, settled(static_cast<float>(all)));
      }
    }
  }
}

void multiply_group_integers(const GroupProduct& its, const Chosen* chosen, Work& work) {
  const auto product = [&](std::uint32_t a, std::uint32_t b) {
    return its.a == Element::b1 ? std::popcount(a & b)
                                : whole_number_of(its.a, a) * whole_number_of(its.b, b);
  };
  using Limits = std::numeric_limits<std::int32_t>;
  for (std::size_t row = 0; row < kRowsOfWarp; ++row) {
    for (std::size_t column = 0; column < static_cast<std::size_t>(its.columns); ++column) {
      std::uint32_t& to = work.results[row][column];
      std::int64_t sum = static_cast<std::int32_t>(to);
      for (std::size_t k = 0; k < static_cast<std::size_t>(its.depth); ++k) {
        sum += product(work.left_bits[row][k], work.right_bits[column][place_in_b(chosen, row, k)]);
      }
      if (its.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
      to = static_cast<std::uint32_t>(sum);
    }
  }
}

// ---- What lanes hold ----

// Calls visit(word, j, row, column) for each element of the registers of a warp, which has rows of A or D. Four lanes have
// a row's, the next four those of the row below.
template <class Visit>
void each_element(Warp& warp, const Fragment& its, const std::vector<std::uint32_t>& registers,
                  Visit visit) {
  const int width = its.role == Role::accumulator ? 2 : its.per_register();
  for (std::size_t i = 0; i < registers.size(); ++i) {
    auto* const words = warp.values<std::uint32_t>(registers[i]);
    for (int j = 0; j < its.per_register(); ++j) {
      const Place first = place_of(its, static_cast<int>(i), j, 0);
      for (int lane = 0; lane < kLanes; ++lane) {
        visit(words[lane], j, static_cast<std::size_t>(first.row + lane / 4),
              static_cast<std::size_t>(first.column + lane % 4 * width));
      }
    }
  }
}

std::uint32_t part_of_word(std::uint32_t word, int j, int bits) {
  return bits == 32 ? word : word >> bits * j & ((1u << bits) - 1);
}

// ---- The group ----

// Whether all four warps are at this step; false, and told, where they cannot be.
bool is_group_there(const Step* step, Warp& warp) {
  if (warp.product != step) {
    warp.product = step;
    warp.advanced = true;
  }
  Block& block = *warp.block;
  const unsigned first = warp.index / kGroupWarps * kGroupWarps;
  bool are_all = true;
  for (unsigned i = first; i < first + kGroupWarps; ++i) {
    if (i >= block.warps.size() || block.warps[i].live != kAllLanes) {
      stop(step, warp, 0, "lacking_warp");
      warp.faulty = warp.active;
      return false;
    }
    are_all &= block.warps[i].product == step;
  }
  return are_all;
}

// What a warp has of it.
void multiply_rows(const Step* step, Warp& warp, const GroupProduct& its, Work& work) {
  const Element left = in_memory(its.a);
  each_element(warp, {Role::a, left, kRowsOfWarp, its.depth}, its.left,
               [&](std::uint32_t word, int j, std::size_t row, std::size_t k) {
                 work.left_bits[row][k] = part_of_word(word, j, bits_of(left));
               });
  const Fragment results{Role::accumulator, its.d, kRowsOfWarp, its.columns};
  const bool adds = (warp.predicate(step->from[kAdds]) & 1) != 0;
  each_element(warp, results, its.results,
               [&](std::uint32_t word, int j, std::size_t row, std::size_t column) {
                 work.results[row][column] = adds ? part_of_word(word, j, bits_of(its.d)) : 0;
               });
  std::optional<Chosen> sparse;
  if (its.is_sparse) {
    sparse.emplace(its.a, 2 * its.depth, its.selector,
                   warp.values<const std::uint32_t>(its.sparse));
  }
  const Chosen* const chosen = sparse ? &*sparse : nullptr;
  if (its.d == Element::s32) {
    multiply_group_integers(its, chosen, work);
  } else {
    multiply_group_floats(its, chosen, work);
  }
  each_element(warp, results, its.results,
               [&](std::uint32_t& word, int j, std::size_t row, std::size_t column) {
                 const std::uint32_t bits = work.results[row][column];
                 const int size = bits_of(its.d);
                 word = j == 0 ? bits : word | bits << size * j;
               });
}

// All four warps do it when the last of them comes: one may go on at once and let others overwrite the operands.
const Step* multiply_in_group(const Step* step, Warp& warp) {
  if (warp.active != kAllLanes) {
    if (warp.live != kAllLanes) {
      return stop(step, warp, static_cast<std::size_t>(std::countr_zero(warp.active)),
                  "lacking_lane");
    }
    return warp.leave(step, Group::State::in_warp, kAllLanes);
  }
  if (warp.has_product) {
    warp.has_product = false;
    warp.advanced = true;
    return step + 1;
  }
  if (!is_group_there(step, warp)) {
    return warp.faulty != 0 ? nullptr : warp.leave(step, Group::State::polling);
  }
  const GroupProduct& its =
      warp.block->grid->code->group_products[static_cast<std::size_t>(step->offset)];
  thread_local const auto own_work = std::make_unique<Work>();
  Work& work = *own_work;
  Reader reader{step, warp, {}};
  const std::span<Warp> group =
      std::span(warp.block->warps).subspan(warp.index / kGroupWarps * kGroupWarps, kGroupWarps);
  const auto descriptor = [&](Warp& one, int which) {
    return *one.values<const std::uint64_t>(step->from[which]);
  };
  const auto read_left = [&](Warp& one) {
    const int first = static_cast<int>(one.index % kGroupWarps) * kRowsOfWarp;
    return !its.left.empty() || reader.read(descriptor(one, kLeft), its.a, its.depth,
                                            its.transposes_a, first, kRowsOfWarp, work.left_bits);
  };
  if (!reader.read(descriptor(warp, kRight), its.b, its.is_sparse ? 2 * its.depth : its.depth,
                   its.transposes_b, 0, its.columns, work.right_bits) ||
      !std::all_of(group.begin(), group.end(), read_left)) {
    return nullptr;
  }
  reader.tidy();
  // Eight pieces at once, in every layout.
  const int lines =
      its.columns + (its.left.empty() ? kRowsOfWarp * static_cast<int>(kGroupWarps) : 0);
  warp.faulty |= warp.block->grid->observer->async_access(
      {WarpAccess::Space::shared, WarpAccess::Kind::load, reader.pieces, step, &group.front(), -1,
       warp.block, 1, static_cast<std::uint64_t>(lines) * 2 / 8});
  if (warp.faulty != 0) return nullptr;
  prepare_right(its, work);
  for (Warp& one : group) {
    read_left(one);
    one.products += static_cast<std::uint64_t>(kRowsOfWarp * its.columns * its.depth) / kLanes;
    multiply_rows(step, one, its, work);
    one.product = nullptr;
    one.has_product = true;
  }
  warp.has_product = false;
  warp.advanced = true;
  return step + 1;
}

// wgmma.mma_async.sync.aligned.shape.d.a.b D, A, B, adds, sign a, sign b, transposed a, transposed b; the signs are not
// of integers, the last two of 16 bits, and of A only where it is in memory. Of sparse A (.sp) behind B the register that
// says which half is stored, and a number.
void build_group_product(Decoder& decoder, const ptx::Instruction& written) {
  ptx::Instruction one = written;
  const bool is_sparse = one.has("sp");
  std::vector<ptx::Operand> words;
  if (is_sparse && one.operands.size() > 5) {
    words.assign(one.operands.begin() + 3, one.operands.begin() + 5);
    one.operands.erase(one.operands.begin() + 3, one.operands.begin() + 5);
    if (words[1].kind != ptx::Operand::Kind::number || words[1].bits > 1) {
      decoder.refuse("a choice of lanes that is no number");
    }
  }
  const Shape shape = shape_of(decoder, one);
  const std::vector<Element> named = elements_of(one);
  if (named.size() != 3) decoder.refuse("other types than known here");
  GroupProduct its{.d = named[0],
                   .a = named[1],
                   .b = named[2],
                   .columns = shape.n,
                   .depth = is_sparse                 ? shape.k / 2
                            : named[1] == Element::b1 ? shape.k / 32
                                                      : shape.k,
                   .saturates = one.has("satfinite"),
                   .is_sparse = is_sparse,
                   .results = {},
                   .left = {}};
  const bool is_float = its.d != Element::s32, is_half = bits_of(its.a) == 16;
  if (shape.m != 64 || shape.n % 8 != 0 || shape.n < 8 || shape.n > kMostLines ||
      its.depth * bits_of(in_memory(its.a)) != 256 || words.size() != (is_sparse ? 2u : 0u)) {
    decoder.refuse("another shape than known here");
  }
  const bool is_described =
      one.operands.size() > 1 && one.operands[1].kind != ptx::Operand::Kind::vector;
  const std::size_t operands =
      4 + (is_float ? 2u : 0u) + (is_half ? 1u + (is_described ? 1u : 0u) : 0u);
  if (one.operands.size() != operands || one.operands[0].kind != ptx::Operand::Kind::vector) {
    decoder.refuse("another number of operands than known here");
  }
  const auto number = [&](std::size_t i) {
    if (one.operands[i].kind != ptx::Operand::Kind::number) {
      decoder.refuse("a sign or an order that is no number");
    }
    return static_cast<std::int64_t>(one.operands[i].bits);
  };
  if (is_float) {
    its.negates_a = number(4) == -1;
    its.negates_b = number(5) == -1;
  }
  if (is_half) {
    its.transposes_a = is_described && number(6) == 1;
    its.transposes_b = number(operands - 1) == 1;
  }
  const auto slots = [&](const ptx::Operand& operand, Role role, Element element, int columns) {
    const Fragment fragment{role, in_memory(element), kRowsOfWarp, columns};
    if (static_cast<int>(operand.parts.size()) != fragment.registers()) {
      decoder.refuse("another number of registers than the shape has");
    }
    std::vector<std::uint32_t> all;
    for (const ptx::Operand& part : operand.parts) {
      all.push_back(decoder.source(part, ptx::Type::b32));
    }
    return all;
  };
  its.results = slots(one.operands[0], Role::accumulator, its.d, its.columns);
  if (!is_described) its.left = slots(one.operands[1], Role::a, its.a, its.depth);
  if (is_sparse) {
    its.sparse = decoder.source(words[0], ptx::Type::b32);
    its.selector = static_cast<std::uint8_t>(words[1].bits);
  }
  const std::uint32_t left =
      is_described ? decoder.source(one.operands[1], ptx::Type::b64) : decoder.constant(0, 8);
  const std::uint32_t right = decoder.source(one.operands[2], ptx::Type::b64);
  const std::uint32_t adds = decoder.source(one.operands[3], ptx::Type::pred);
  if (one.operands[3].negated) decoder.refuse("a negated operand");
  Step& step = decoder.emit_group_product(&multiply_in_group, std::move(its));
  step.from[kLeft] = left;
  step.from[kRight] = right;
  step.from[kAdds] = adds;
}

// ---- When it is over ----

const Step* commit_products(const Step* step, Warp& warp) {
  ++warp.product_group;
  return step + 1;
}
// Of the committed groups all but the last `offset`.
const Step* wait_for_products(const Step* step, Warp& warp) {
  warp.block->grid->observer->products_waited(warp, static_cast<std::uint32_t>(step->offset));
  return step + 1;
}
void build_wait_for_products(Decoder& decoder, const ptx::Instruction& one) {
  if (one.operands.size() != 1 || one.operands[0].kind != ptx::Operand::Kind::number) {
    decoder.refuse("a count that is no number");
  }
  decoder.emit(&wait_for_products).offset = static_cast<std::int64_t>(one.operands[0].bits);
}

// A register of a product that goes on is touched.
const Step* touch_too_early(const Step* step, Warp& warp) {
  warp.block->grid->observer->meaningless(warp, *step, warp.active, "unfinished_product");
  return step + 1;
}

// Registers are there when they are asked for; and so many as a thread asks for.
void build_no_step(Decoder& decoder, const ptx::Instruction&) {
  decoder.emit([](const Step* step, Warp&) { return step + 1; });
}

}  // namespace

Execute touches_product() { return &touch_too_early; }
Execute lacks_fence() {
  return [](const Step* step, Warp& warp) -> const Step* {
    warp.block->grid->observer->meaningless(warp, *step, warp.active, "unfenced_product");
    return step + 1;
  };
}

// Again where the code runs straight on. The compiler moves constants and copies over a fence, which is no mistake of the
// program; registers of the product before need none between.
std::set<const ptx::Instruction*> unfenced_products(const ptx::Function& function) {
  std::set<const ptx::Instruction*> unfenced;
  const auto multiplies = [](const ptx::Instruction& one) { return one.opcode == "wgmma"; };
  if (std::none_of(function.body.begin(), function.body.end(), multiplies)) return unfenced;
  std::set<std::int32_t> written;
  bool has_fence = false;
  const std::set<std::int32_t> labels(function.labels.begin(), function.labels.end());
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const ptx::Instruction& one = function.body[i];
    if (labels.contains(static_cast<std::int32_t>(i)) || one.opcode == "call") written.clear();
    if (one.opcode == "wgmma") {
      if (one.has("fence")) {
        has_fence = true;
        written.clear();
      }
      if (!one.has("mma_async") || one.operands.size() < 3) continue;
      bool is_late = !has_fence;
      for (std::size_t k = 0; k < 2; ++k) {
        if (one.operands[k].kind != ptx::Operand::Kind::vector) continue;
        for (const std::int32_t index : one.operands[k].registers()) {
          is_late |= written.contains(index);
        }
      }
      if (is_late) unfenced.insert(&one);
      continue;
    }
    if (one.result() == nullptr) continue;
    const bool copies = one.opcode == "mov" && one.operands.size() == 2;
    const bool of_written = copies && one.operands[1].kind == ptx::Operand::Kind::reg &&
                            written.contains(one.operands[1].index);
    for (const std::int32_t index : one.result()->registers()) {
      if (copies && !of_written) {
        written.erase(index);
      } else {
        written.insert(index);
      }
    }
  }
  return unfenced;
}

// Followed where the code runs straight on: what comes from elsewhere has perhaps waited.
std::set<const ptx::Instruction*> touches_of_products(const ptx::Function& function) {
  std::set<const ptx::Instruction*> early;
  // Of registers of products that go on: how many groups were committed before. Results, and what they were copied to;
  // registers of A, which may be read.
  std::map<std::int32_t, int> results, operands;
  int groups = 0;
  const std::set<std::int32_t> labels(function.labels.begin(), function.labels.end());
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const ptx::Instruction& one = function.body[i];
    if (labels.contains(static_cast<std::int32_t>(i)) || one.opcode == "bra" ||
        one.opcode == "call") {
      results.clear();
      operands.clear();
    }
    if (one.opcode == "wgmma") {
      if (one.has("commit_group")) ++groups;
      if (one.has("wait_group") && !one.operands.empty()) {
        const int before = groups - static_cast<int>(one.operands[0].bits);
        std::erase_if(results, [&](const auto& its) { return its.second < before; });
        std::erase_if(operands, [&](const auto& its) { return its.second < before; });
      }
      if (!one.has("mma_async") || one.operands.size() < 3) continue;
      for (const std::int32_t index : one.operands[1].registers()) {
        if (results.contains(index)) early.insert(&one);
        if (one.operands[1].kind == ptx::Operand::Kind::vector) operands[index] = groups;
      }
      for (const std::int32_t index : one.operands[0].registers()) results[index] = groups;
      continue;
    }
    if (results.empty() && operands.empty()) continue;
    // ptxas gives both the same register.
    if (one.opcode == "mov" && one.operands.size() == 2 &&
        one.operands[1].kind == ptx::Operand::Kind::reg &&
        one.operands[0].kind == ptx::Operand::Kind::reg &&
        results.contains(one.operands[1].index) && !results.contains(one.operands[0].index)) {
      results[one.operands[0].index] = results[one.operands[1].index];
      continue;
    }
    for (const ptx::Operand& operand : one.operands) {
      const bool writes = &operand == one.result();
      for (const std::int32_t index : operand.registers()) {
        if (results.contains(index) || (writes && operands.contains(index))) early.insert(&one);
      }
    }
  }
  return early;
}

void add_group_forms(std::vector<Form>& forms) {
  constexpr auto apart = Form::Guarding::apart;
  std::string widths;
  for (int n = 8; n <= kMostLines; n += 8) {
    widths += (n == 8 ? "(.m64n" : "|.m64n") + std::to_string(n) + "k";
    widths += '#';
  }
  widths += ')';
  const auto product = [&](const std::string& depth, const std::string& types,
                           const std::string& sparse = "") {
    std::string shapes = widths;
    for (std::size_t at = 0; (at = shapes.find('#', at)) != shapes.npos;)
      shapes.replace(at, 1, depth);
    add_built(forms, "wgmma.mma_async" + sparse + ".sync.aligned" + shapes + types,
              &build_group_product, apart);
  };
  product("16", "(.f16|.f32).f16.f16");
  product("16", ".f32.bf16.bf16");
  product("8", ".f32.tf32.tf32");
  product("32", "(.f16|.f32)(.e4m3|.e5m2)(.e4m3|.e5m2)");
  product("32", ".s32(.s8|.u8)(.s8|.u8)[.satfinite]");
  product("256", ".s32.b1.b1.and.popc");
  product("32", "(.f16|.f32).f16.f16", ".sp");
  product("32", ".f32.bf16.bf16", ".sp");
  product("16", ".f32.tf32.tf32", ".sp");
  product("64", "(.f16|.f32)(.e4m3|.e5m2)(.e4m3|.e5m2)", ".sp");
  product("64", ".s32(.s8|.u8)(.s8|.u8)[.satfinite]", ".sp");
  add_built(forms, "wgmma.fence.sync.aligned", &build_no_step);
  add_built(forms, "wgmma.commit_group.sync.aligned",
            [](Decoder& decoder, const ptx::Instruction&) { decoder.emit(&commit_products); });
  add_built(forms, "wgmma.wait_group.sync.aligned", &build_wait_for_products);
  add_built(forms, "setmaxnreg(.inc|.dec).sync.aligned.u32", &build_no_step);
}

}  // namespace simt::machine
