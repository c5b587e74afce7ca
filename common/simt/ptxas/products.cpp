#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/simt/ptxas/accesses.hpp"
#include "common/simt/ptxas/passes.hpp"

namespace simt::ptxas {
namespace {

// A product that only sums and differences use is rounded with each of them: fused multiply-adds. nvcc leaves c - a * b and
// a * b - c to ptxas, and all that is written in halves. The sums are of the same stretch of code, or of any if a factor is
// a constant, which needs no register. Of two products of a sum one is fused: one that nothing else uses if there is such,
// the first before the second; the other one is computed, so that further sums of it stay sums.
class Products : Pass {
 public:
  explicit Products(const Pass& pass) : Pass(pass) {}

  void rewrite() {
    for (std::int32_t i = 0; i < size(); ++i) {
      const Instruction& one = at(i);
      if (labels.contains(i)) ++stretch_;
      add(one);
      if (one.opcode == "bra" || one.opcode == "brx" || one.opcode == "call") ++stretch_;
    }
    // Of floats and doubles first all products of one sum; halves go the way once.
    for (Sum& sum : sums_) {
      if (!is_of_halves(*sum.one)) fuse(sum, true);
    }
    for (Sum& sum : sums_) {
      if (sum.fused == 0 && !fuse(sum, true)) fuse(sum, false);
    }
    for (Sum& sum : sums_) {
      if (sum.fused == 0) continue;
      Product& its = *sum.product(sum.fused);
      its.is_far |= sum.stretch != its.stretch;
    }
    for (Sum& sum : sums_) {
      if (sum.fused == 0) continue;
      Product& its = *sum.product(sum.fused);
      its.is_kept |= its.is_far && (!is_gone(its) || !has_free_result(sum));
    }
    for (Sum& sum : sums_) {
      if (sum.fused != 0) write(sum);
    }
    for (const Product& its : products_) {
      if (its.fused == 0 || !is_gone(its) || its.is_kept) continue;
      rewritten[its.one] = {};
      if (its.is_far) rewritten[its.one].push_back(as_factor(its));
    }
  }

 private:
  struct Product {
    const Instruction* one;
    int stretch;
    int sums = 0, fused = 0;
    bool is_over = false;    // a factor has changed
    bool is_addend = false;  // of another product's sum
    bool is_far = false;     // from some of its sums
    bool is_kept = false;    // far sums stay what they are
  };
  struct Sum {
    const Instruction* one;
    int stretch;
    Product* products[2] = {};  // of its operands, if they are products
    std::size_t fused = 0;      // the operand; 0: none

    Product*& product(std::size_t operand) { return products[operand - 1]; }
  };

  void add(const Instruction& one) {
    if (may_be_fused(one, "mul")) {
      const std::int32_t index = one.operands[0].index;
      if (registers.definitions(index).size() == 1) {
        Product& its = products_.emplace_back(Product{&one, stretch_});
        of_register_[index] = &its;
        for (const std::size_t factor : {1, 2}) {
          for (const std::int32_t reg : one.operands[factor].registers()) {
            with_factor_[reg].push_back(&its);
          }
        }
      }
    } else if (may_be_fused(one, "add") || may_be_fused(one, "sub")) {
      Sum sum{&one, stretch_};
      for (const std::size_t operand : {1, 2}) {
        if (one.operands[operand].kind != Operand::Kind::reg) continue;
        const auto found = of_register_.find(one.operands[operand].index);
        if (found == of_register_.end() || found->second->one->modifiers != one.modifiers) continue;
        Product& its = *found->second;
        if (its.stretch == stretch_ ? its.is_over : !may_be_far(its)) continue;
        sum.product(operand) = &its;
      }
      if (sum.product(1) == sum.product(2)) return;  // of none, or of one twice, which stays
      for (Product* const its : sum.products) {
        if (its != nullptr) ++its->sums;
      }
      sums_.push_back(sum);
    }
    // Factors that change keep their product apart from what follows.
    for (const std::int32_t index : written_by(one)) {
      const auto found = with_factor_.find(index);
      if (found == with_factor_.end()) continue;
      for (Product* const its : found->second) its->is_over = true;
    }
  }

  bool may_be_far(const Product& product) const {
    const Operand &first = product.one->operands[1], &second = product.one->operands[2];
    const auto is_set_once = [&](const Operand& its) {
      return its.kind != Operand::Kind::reg || registers.definitions(its.index).size() <= 1;
    };
    return is_set_once(first) && is_set_once(second) && (is_constant(first) || is_constant(second));
  }
  bool is_constant(const Operand& factor) const {
    if (factor.kind != Operand::Kind::reg) return factor.kind == Operand::Kind::number;
    const std::vector<const Instruction*>& all = registers.definitions(factor.index);
    if (all.size() != 1 || !is_load(*all.front())) return false;
    const bool is_of_kernel = function.is_entry && all.front()->has("param");
    return (is_of_kernel || all.front()->has("const")) &&
           address_of(*all.front()).registers().empty();
  }

  // Neither rounded by itself, as __fmul_rn() is, nor saturated.
  static bool may_be_fused(const Instruction& one, std::string_view opcode) {
    static const auto& types =
        *new std::set<std::string_view>{"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"};
    if (one.opcode != opcode || one.guard >= 0 || one.operands.size() != 3) return false;
    if (one.operands[0].kind != Operand::Kind::reg || !types.contains(one.modifiers.back())) {
      return false;
    }
    return std::all_of(one.modifiers.begin(), one.modifiers.end() - 1,
                       [](std::string_view word) { return word == "ftz"; });
  }
  static bool is_of_halves(const Instruction& one) {
    return one.modifiers.back() != "f32" && one.modifiers.back() != "f64";
  }
  bool is_read_by_sums_only(const Product& product) const {
    return !product.is_addend && product.sums == registers.reads(product.one->operands[0].index);
  }
  bool is_gone(const Product& product) const {
    return product.fused == registers.reads(product.one->operands[0].index);
  }

  bool fuse(Sum& sum, bool is_only_sum) {
    for (const std::size_t operand : {1, 2}) {
      Product* const its = sum.product(operand);
      if (its == nullptr || !is_read_by_sums_only(*its) || (is_only_sum && its->sums != 1))
        continue;
      sum.fused = operand;
      ++its->fused;
      if (Product* const other = sum.product(3 - operand)) other->is_addend = true;
      return true;
    }
    return false;
  }

  // What stands for the product that sums elsewhere are fused with: the factor that is no constant, as it is now.
  Instruction as_factor(const Product& product) const {
    Instruction move = *product.one;
    move.opcode = "mov";
    move.modifiers = {product.one->modifiers.back()};
    if (move.modifiers[0].find("16") != std::string_view::npos) {
      move.modifiers[0] = move.modifiers[0].ends_with("x2") ? "b32" : "b16";
    }
    move.operands = {product.one->operands[0], product.one->operands[3 - constant_of(product)]};
    return move;
  }
  std::size_t constant_of(const Product& product) const {
    return is_constant(product.one->operands[1]) ? 1 : 2;
  }
  // Whether a negated operand may lie in the result's register until the sum is done.
  static bool has_free_result(const Sum& sum) {
    const Instruction& one = *sum.one;
    const std::int32_t result = one.operands[0].index;
    const Instruction& product = *sum.products[sum.fused - 1]->one;
    return one.opcode != "sub" ||
           !(product.operands[1].names(result) || product.operands[2].names(result) ||
             (sum.fused == 2 && one.operands[1].names(result)));
  }

  void write(Sum& sum) {
    const Instruction& one = *sum.one;
    const Product& product = *sum.product(sum.fused);
    const bool is_in_place = is_gone(product) && !product.is_far;
    if (product.is_kept || (!is_in_place && !has_free_result(sum))) return;
    Operand factors[] = {product.one->operands[1], product.one->operands[2]};
    if (product.is_far) factors[2 - constant_of(product)] = product.one->operands[0];
    Instruction fused = one;
    fused.opcode = "fma";
    fused.modifiers.insert(fused.modifiers.begin(), "rn");
    fused.operands = {one.operands[0], factors[0], factors[1], one.operands[3 - sum.fused]};
    std::vector<Instruction> made;
    if (one.opcode == "sub") {
      // c - a * b is (-a) * b + c.
      const std::size_t which = product.is_far ? 3 - constant_of(product) : 1;
      Operand& its = fused.operands[sum.fused == 2 ? which : 3];
      const Operand& free = is_in_place ? product.one->operands[0] : one.operands[0];
      Instruction negated = one;
      negated.opcode = "neg";
      negated.modifiers = {one.modifiers.back()};
      negated.operands = {free, its};
      its = free;
      made.push_back(std::move(negated));
    }
    made.push_back(std::move(fused));
    rewritten[&one] = std::move(made);
  }

  int stretch_ = 0;
  std::deque<Product> products_;
  std::vector<Sum> sums_;
  std::map<std::int32_t, Product*> of_register_;
  std::map<std::int32_t, std::vector<Product*>> with_factor_;
};

}  // namespace

void fuse_products(const Pass& pass) { Products(pass).rewrite(); }

}  // namespace simt::ptxas
