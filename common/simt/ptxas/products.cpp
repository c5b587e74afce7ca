#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/simt/ptxas/accesses.hpp"
#include "common/simt/ptxas/passes.hpp"

namespace simt::ptxas {
namespace {

// A product that is used by sums and differences of the same stretch of code, and by nothing else, is rounded with each of
// them: fused multiply-adds. nvcc leaves c - a * b and a * b - c to ptxas, and all that is written in halves.
class Products : Pass {
 public:
  explicit Products(const Pass& pass) : Pass(pass) {}

  void rewrite() {
    for (std::int32_t i = 0; i < size(); ++i) {
      const Instruction& one = at(i);
      if (labels.contains(i)) end();
      add(one);
      if (one.opcode == "bra" || one.opcode == "brx" || one.opcode == "call") end();
    }
    end();
  }

 private:
  void add(const Instruction& one) {
    if (may_be_fused(one, "mul")) {
      const std::int32_t index = one.operands[0].index;
      if (registers.definitions(index).size() == 1) {
        places_[index] = known_.size();
        for (const std::size_t factor : {1, 2}) {
          for (const std::int32_t its : one.operands[factor].registers()) {
            with_factor_[its].push_back(known_.size());
          }
        }
        known_.push_back({&one, {}});
      }
    } else if (may_be_fused(one, "add") || may_be_fused(one, "sub")) {
      for (const std::size_t operand : {1, 2}) use(one, operand);
    }
    // Factors that change keep their product apart from what follows.
    for (const std::int32_t index : written_by(one)) {
      const auto found = with_factor_.find(index);
      if (found == with_factor_.end()) continue;
      for (const std::size_t place : found->second) known_[place].is_over = true;
    }
  }
  void end() {
    // Of two products of a sum the one that was computed first.
    for (const Product& its : known_) {
      const bool is_all =
          !its.uses.empty() && static_cast<int>(its.uses.size()) == registers.reads(its.index());
      if (is_all && std::none_of(its.uses.begin(), its.uses.end(),
                                 [&](const Use& use) { return rewritten.contains(use.sum); })) {
        fuse(its);
      }
    }
    known_.clear();
    places_.clear();
    with_factor_.clear();
  }

  struct Use {
    const Instruction* sum;
    std::size_t operand;
  };
  struct Product {
    std::int32_t index() const { return one->operands[0].index; }

    const Instruction* one;
    std::vector<Use> uses;
    bool is_over = false;
  };

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
  void use(const Instruction& sum, std::size_t operand) {
    const Operand &its = sum.operands[operand], &other = sum.operands[3 - operand];
    if (its.kind != Operand::Kind::reg || other.names(its.index)) return;
    const auto found = places_.find(its.index);
    if (found == places_.end()) return;
    Product& product = known_[found->second];
    if (!product.is_over && product.one->modifiers == sum.modifiers) {
      product.uses.push_back({&sum, operand});
    }
  }
  void fuse(const Product& product) {
    const Instruction& factors = *product.one;
    for (const auto& [sum, operand] : product.uses) {
      Instruction fused = *sum;
      fused.opcode = "fma";
      fused.modifiers.insert(fused.modifiers.begin(), "rn");
      fused.operands = {sum->operands[0], factors.operands[1], factors.operands[2],
                        sum->operands[3 - operand]};
      std::vector<Instruction> made;
      if (sum->opcode == "sub") {
        // c - a * b is (-a) * b + c; the product's register is free.
        Operand& its = fused.operands[operand == 2 ? 1 : 3];
        Instruction negated = *sum;
        negated.opcode = "neg";
        negated.modifiers = {sum->modifiers.back()};
        negated.operands = {factors.operands[0], its};
        its = factors.operands[0];
        made.push_back(std::move(negated));
      }
      made.push_back(std::move(fused));
      rewritten[sum] = std::move(made);
    }
    rewritten[&factors] = {};
  }

  std::vector<Product> known_;  // in the order of the code
  // There, by the register of the product and by those of its factors.
  std::map<std::int32_t, std::size_t> places_ = {};
  std::map<std::int32_t, std::vector<std::size_t>> with_factor_ = {};
};

}  // namespace

void fuse_products(const Pass& pass) { Products(pass).rewrite(); }

}  // namespace simt::ptxas
