// The table of instruction forms: what can be run. A form is written as the manual writes it, with what may stand there
// in brackets: "fma.rn[.ftz][.sat].f32".
#pragma once

#include <array>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "common/simt/machine/code.hpp"
#include "common/simt/ptx/module.hpp"

namespace simt::machine {

class Decoder;

struct Form {
  std::string pattern;
  /// Of an instruction that computes a value per lane from values per lane: their types. Operands of other sizes are
  /// widened or cut as PTX says (9.4.1).
  ptx::Type to = ptx::Type::none;
  std::array<ptx::Type, 4> from{};  // none: there are no more
  Execute run = nullptr;
  /// Which of the operations that `run` does: in Step::offset.
  std::int64_t variant = 0;
  /// Of all others: appends the steps. Throws Unsupported.
  void (*build)(Decoder&, const ptx::Instruction&) = nullptr;
  /// How a guard is heeded: by a smaller mask; or, where lanes may wait or end, by two groups; or by the steps.
  enum class Guarding : std::uint8_t { mask, apart, itself } guarding = Guarding::mask;
};

/// The form of an instruction; null if there is none.
const Form* find_form(const ptx::Instruction& instruction);

/// The step behind the last one: the lanes that come there have ended.
Execute end_of_lanes();
/// A jump for all lanes.
Execute jump_to_label();
/// A call by Code::calls[offset], the end of the function, and an address in its frame.
Execute enter_called();
Execute leave_called();
Execute address_in_frame();
/// What a lane has taken of its local memory by alloca is kept in a register, and given back by it.
Execute save_stack();
Execute restore_stack();
/// The step for the lanes whose guard holds; the others go on without them.
void guard_apart(Step& step, std::uint32_t guard, bool is_negated);
/// Of a loop that ptxas unrolls: before its head, its jump back, and behind that, twice, what takes `count` rounds.
struct UnrolledSteps {
  Execute enter, next, take;
};
UnrolledSteps steps_of_unrolled(ptx::Type counter);
/// Whether a step's `target` is the place that its `offset` names while it is decoded.
bool goes_to_label(Execute run);
/// Says that a register of a product that goes on is touched: a step before these instructions (wgmma).
Execute touches_product();
std::set<const ptx::Instruction*> touches_of_products(const ptx::Function& function);
/// Says that one begins with registers that were written behind the last wgmma.fence: a step before these.
Execute lacks_fence();
std::set<const ptx::Instruction*> unfenced_products(const ptx::Function& function);
/// Whether its guard says which lanes jump.
bool is_conditional_jump(Execute run);

/// Adds the row of pattern + ".s32", `type` being s32: a form that computes.
void add_row(std::vector<Form>& forms, std::string_view pattern, ptx::Type type, ptx::Type to,
             std::initializer_list<ptx::Type> from, Execute run);
/// The same, from so many values of the type to one.
void add_row(std::vector<Form>& forms, std::string_view pattern, ptx::Type type, int count,
             Execute run);
/// The row of a form that `build` makes steps of.
void add_built(std::vector<Form>& forms, std::string_view pattern,
               void (*build)(Decoder&, const ptx::Instruction&),
               Form::Guarding guarding = Form::Guarding::mask);

// The rows, by what they are about. Each file has its own. Cold: they run once, and what is not made fast compiles
// sooner.
[[gnu::cold]] void add_arithmetic_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_integer_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_video_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_floating_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_half_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_tensor_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_move_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_conversion_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_control_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_selection_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_exchange_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_memory_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_async_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_bulk_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_group_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_service_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_stack_forms(std::vector<Form>& forms);
[[gnu::cold]] void add_image_forms(std::vector<Form>& forms);

}  // namespace simt::machine
