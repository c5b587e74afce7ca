// How a function becomes steps: what the builders of forms are given.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "common/simt/machine/code.hpp"
#include "common/simt/machine/forms.hpp"
#include "common/simt/ptxas/unroll.hpp"

namespace simt::machine {

class Decoder {
 public:
  Decoder(const ptx::Module& module, const ptx::Function& kernel, const Addresses& addresses);
  std::unique_ptr<Code> decode();

  [[noreturn]] void refuse(const std::string& why) const;

  /// Of the kernel.
  std::uint32_t parameter_bytes() const { return code_->parameters; }

  /// Where a warp keeps a value of the type for the step that comes: a register, or a constant. One of another size is
  /// cut or widened first, by a step of its own.
  std::uint32_t source(const ptx::Operand& operand, ptx::Type type);
  /// Where the step that comes puts a value of the type. If the register is wider, finish() widens it.
  std::uint32_t destination(const ptx::Operand& operand, ptx::Type type);
  void finish();

  /// The register itself, of an operand that is one.
  std::uint32_t slot_of(std::int32_t index, bool is_written = false);
  ptx::Type type_of(const ptx::Operand& operand) const;
  std::uint32_t constant(std::uint64_t bits, int bytes, bool is_in_shared = false);
  std::uint32_t fresh(int bytes);
  /// The condition code, a predicate: of each lane the carry of its last instruction with .cc.
  std::uint32_t carry();
  /// Of the warp, 64 bits: how often it has read a clock.
  std::uint32_t clock();
  /// "%tid.x" of an operand that is a special register, else nothing.
  std::string_view special_name(const ptx::Operand& operand) const;
  Step& emit(Execute run);
  /// A step that goes to a label of the function that is being decoded.
  Step& emit_jump(Execute run, std::int32_t label);

  /// The base of an address, as 64 bits in a lane each, and what is added; of a variable it is a constant.
  struct Address {
    std::uint32_t base;
    std::int64_t offset;
  };
  Address address(const ptx::Operand& operand);
  /// Where a brx.idx may go; refuses a list that there is not, or an empty one.
  const std::vector<std::int32_t>& targets(std::string_view name) const;
  /// The address of a variable in its own space.
  std::uint64_t symbol(std::string_view name);
  bool is_in_shared(std::string_view name) const {
    return shared_.at.contains(name) && !is_of_thread(name);
  }
  /// A variable that each thread has of its own.
  bool is_of_thread(std::string_view name) const { return frames_.back().locals.contains(name); }

  /// A function's body in place of the call.
  void call(const ptx::Instruction& instruction);
  /// What no module has.
  void emit_service(ServiceCall call);
  void emit_image(Execute run, const ImageAccess& access);
  Step& emit_group_product(Execute run, GroupProduct product);
  Step& emit_bulk_copy(Execute run, const BulkCopy& copy);
  void leave_function();
  void emit_allocation(Execute run, const ptx::Instruction& instruction);
  /// Not in a function that stands in place of its call.
  bool is_outermost() const { return frames_.size() == 1; }
  /// In one that is called.
  bool is_called() const { return frames_.front().called >= 0; }

  const ptx::Module& module;
  const ptx::Function& kernel;

 private:
  struct Frame {
    const ptx::Function* function;
    std::int32_t called = -1;          // in Code::called
    std::vector<std::uint32_t> slots;  // by register; kNone: none yet
    std::map<std::string_view, std::uint64_t>
        locals;                       // of .local and .param variables where they begin
    std::vector<std::size_t> starts;  // of each instruction its first step
    // Steps that jump, the instructions that they are of, and those that they go to.
    struct Jump {
      std::size_t step;
      std::int32_t from, to;
    };
    std::vector<Jump> jumps;
    std::int32_t place = -1;           // of the instruction that is decoded
    std::vector<std::size_t> returns;  // steps that go behind the call
    std::size_t entry = 0;             // the step before an unrolled loop
    std::int32_t body = -1;            // in Code::bodies
  };
  static constexpr std::uint32_t kNone = kNoSlot;

  Step& emit_jump_to(Execute run, std::int32_t place);
  void body(const ptx::Function& function);
  void instruction(const ptx::Instruction& instruction);
  void enter_unrolled(const ptxas::UnrolledLoop& loop);
  void end_unrolled(const ptxas::UnrolledLoop& loop);
  void call_service_of(const ptx::Function& callee, Service service,
                       const ptx::Instruction& instruction, std::size_t name_at);
  void plain(const Form& form, const ptx::Instruction& instruction);
  void lay_out(const ptx::Function& function, Frame& frame);
  std::uint64_t local(const ptx::Variable& variable);
  /// What `symbol` is where each lane's frame is: a register with it.
  std::uint32_t in_frame(std::uint64_t offset);
  std::int32_t called_function(const ptx::Function& function);
  void call_for_good(const ptx::Instruction& instruction, std::size_t name_at,
                     const ptx::Function* callee);
  std::uint32_t converted(std::uint32_t slot, ptx::Type from, ptx::Type to);

  const Addresses& addresses_;
  std::unique_ptr<Code> code_ = std::make_unique<Code>();
  std::vector<Frame> frames_;
  ptx::SharedPlaces shared_;
  std::map<std::tuple<std::uint64_t, int, bool>, std::uint32_t> constants_;
  std::map<std::string, std::uint32_t, std::less<>> specials_;
  std::int32_t site_ = -1;
  std::uint32_t carry_ = kNone;
  struct Widening {
    std::uint32_t from, to;
    ptx::Type type;
    ptx::Type register_type;
  };
  std::vector<Widening> widenings_;
};

bool is_signed(ptx::Type type);
/// The step that makes values of `to` bytes of such as have `from`, with their sign or without.
Execute resize(int from, int to, bool with_sign);

}  // namespace simt::machine
