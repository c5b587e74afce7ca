#include "common/simt/machine/decode.hpp"

#include <algorithm>
#include <cstring>

#include "common/simt/machine/lanes.hpp"
#include "common/simt/machine/services.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

constexpr int kMostCalls = 24;

// Bytes per lane of a register; predicates are a bit each.
int lane_bytes(Type type) { return type == Type::pred ? 0 : bytes_of(type); }

// Of local memory, where any variable is aligned for 8 bytes at least.
std::uint64_t place_in_frame(std::uint64_t end, const ptx::Variable& variable) {
  return ptx::place_behind(end, std::max(variable.align, 8));
}

std::uint32_t holders(const Step* step, Warp& warp) {
  const std::uint32_t guard = warp.predicate(step->guard);
  return warp.active & (step->guard_negated ? ~guard : guard);
}

// Runs for the active lanes whose guard holds, as if no other were active.
const Step* guarded(const Step* step, Warp& warp) {
  const std::uint32_t active = warp.active;
  const std::uint32_t holds = holders(step, warp);
  if (holds == 0) return step + 1;
  if (holds == active) return step->inner(step, warp);
  warp.activate(holds);
  const Step* const next = step->inner(step, warp);
  warp.activate(active);
  return next;
}

// The same of a step at which lanes may wait or end: the others go on without them.
const Step* guarded_apart(const Step* step, Warp& warp) {
  const std::uint32_t holds = holders(step, warp);
  if (holds == 0) return step + 1;
  if (holds != warp.active) warp.set_aside(step + 1, warp.active & ~holds);
  return step->inner(step, warp);
}

}  // namespace

void guard_apart(Step& step, std::uint32_t guard, bool is_negated) {
  step.guard = guard;
  step.guard_negated = is_negated;
  step.inner = step.run;
  step.run = &guarded_apart;
}

std::uint64_t address_of_function(const ptx::Module& module, const ptx::Function& function) {
  const auto at = std::find_if(module.functions.begin(), module.functions.end(),
                               [&](const ptx::Function& one) { return &one == &function; });
  return kFunctionWindow + static_cast<std::uint64_t>(at - module.functions.begin() + 1) * 16;
}

Decoder::Decoder(const ptx::Module& its_module, const ptx::Function& its_kernel,
                 const Addresses& addresses)
    : module(its_module), kernel(its_kernel), addresses_(addresses) {
  // What a step does not use has the number 0: no register has it.
  code_->registers.resize(64);
}

void Decoder::refuse(const std::string& why) const {
  std::string text;
  if (site_ >= 0) {
    const ptx::Instruction& one = *code_->sites[static_cast<std::size_t>(site_)];
    if (one.location >= 0) {
      const ptx::Location& place = module.locations[static_cast<std::size_t>(one.location)];
      text = module.files[static_cast<std::size_t>(place.file)] + ":" + std::to_string(place.line) +
             ": ";
    }
    text += one.form() + ": ";
  }
  throw Unsupported(text + why);
}

std::uint32_t Decoder::fresh(int bytes) {
  // A predicate is a word. Vectors of 64 bytes do not straddle lines.
  const std::size_t wanted = bytes == 0 ? 4 : static_cast<std::size_t>(bytes * kLanes);
  std::size_t at = code_->registers.size();
  if (bytes != 0) at = (at + 63) / 64 * 64;
  code_->registers.resize(at + wanted);
  if (!frames_.empty() && is_called()) {
    code_->called[static_cast<std::size_t>(frames_.front().called)].registers.emplace_back(at,
                                                                                           bytes);
  }
  return static_cast<std::uint32_t>(at);
}

std::uint32_t Decoder::carry() {
  if (carry_ == kNone) carry_ = fresh(0);
  return carry_;
}

std::uint32_t Decoder::clock() {
  if (!code_->clock) code_->clock = fresh(8);
  return *code_->clock;
}

std::string_view Decoder::special_name(const Operand& operand) const {
  if (operand.kind != Operand::Kind::reg) return {};
  const ptx::Register& one =
      frames_.back().function->registers[static_cast<std::size_t>(operand.index)];
  return one.type == Type::none ? std::string_view(one.name) : std::string_view();
}

std::uint32_t Decoder::constant(std::uint64_t bits, int bytes, bool is_in_shared) {
  const auto [found, is_new] = constants_.try_emplace({bits, bytes, is_in_shared}, 0);
  if (is_new) {
    found->second = fresh(bytes);
    if (is_in_shared) code_->shared_addresses.emplace_back(found->second, bytes);
    for (int lane = 0; lane < kLanes; ++lane) {
      std::memcpy(code_->registers.data() + found->second + lane * bytes, &bits,
                  static_cast<std::size_t>(bytes));
    }
  }
  return found->second;
}

Step& Decoder::emit(Execute run) {
  Step& step = code_->steps.emplace_back();
  step.run = run;
  step.site = site_;
  return step;
}

Step& Decoder::emit_jump(Execute run, std::int32_t label) {
  const Frame& frame = frames_.back();
  return emit_jump_to(run, frame.function->labels[static_cast<std::size_t>(label)]);
}

Step& Decoder::emit_jump_to(Execute run, std::int32_t place) {
  Frame& frame = frames_.back();
  frame.jumps.push_back({code_->steps.size(), frame.place, place});
  return emit(run);
}

std::uint32_t Decoder::slot_of(std::int32_t index, bool is_written) {
  Frame& frame = frames_.back();
  const ptx::Register& one = frame.function->registers[static_cast<std::size_t>(index)];
  std::uint32_t& slot = frame.slots[static_cast<std::size_t>(index)];
  if (slot != kNone) return slot;
  if (one.type != Type::none) {
    slot = fresh(lane_bytes(one.type));
    if (!is_written) code_->undefined.emplace_back(slot, code_->registers.size() - slot);
    return slot;
  }
  const auto [found, is_new] = specials_.try_emplace(one.name, 0);
  if (is_new) {
    found->second = fresh(bytes_of(ptx::special_type(one.name)));
    code_->specials.push_back({one.name, found->second});
  }
  return slot = found->second;
}

Type Decoder::type_of(const Operand& operand) const {
  if (operand.kind != Operand::Kind::reg) return Type::none;
  const ptx::Register& one =
      frames_.back().function->registers[static_cast<std::size_t>(operand.index)];
  return one.type != Type::none ? one.type : ptx::special_type(one.name);
}

std::uint32_t Decoder::converted(std::uint32_t slot, Type from, Type to) {
  const int have = bytes_of(from), want = bytes_of(to);
  if (have == want) return slot;
  if (have < want) refuse("an operand is narrower than the instruction's type");
  const std::uint32_t made = fresh(want);
  Step& step = emit(resize(have, want, false));
  step.from[0] = slot;
  step.to = made;
  return made;
}

std::uint32_t Decoder::source(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      if (!operand.name.empty()) refuse("a part of a register");
      const std::uint32_t slot = slot_of(operand.index);
      const Type its = type_of(operand);
      if ((its == Type::pred) != (type == Type::pred))
        refuse("a predicate where there is to be none");
      return type == Type::pred ? slot : converted(slot, its, type);
    }
    case Operand::Kind::number: {
      std::uint64_t bits = operand.bits;
      if (operand.number_type == Type::f64 && type == Type::f32) {
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        const auto narrow = static_cast<float>(value);
        std::uint32_t word = 0;
        std::memcpy(&word, &narrow, sizeof word);
        bits = word;
      } else if (operand.number_type == Type::none && (type == Type::f32 || type == Type::f64)) {
        refuse("a whole number where the type is of floating point");
      }
      if (type == Type::pred) {
        const std::uint32_t slot = fresh(0);
        const std::uint32_t all = bits != 0 ? kAllLanes : 0;
        std::memcpy(code_->registers.data() + slot, &all, sizeof all);
        return slot;
      }
      return constant(bits, bytes_of(type));
    }
    case Operand::Kind::symbol: {
      const std::uint64_t its = symbol(operand.name) + static_cast<std::uint64_t>(operand.offset);
      if (!is_called() || !is_of_thread(operand.name)) {
        return constant(its, bytes_of(type), is_in_shared(operand.name));
      }
      return converted(in_frame(its), Type::u64, type);
    }
    default:
      refuse("an operand of another kind than known here");
  }
}

std::uint32_t Decoder::destination(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::sink) return fresh(lane_bytes(type));
  if (operand.kind != Operand::Kind::reg || !operand.name.empty()) {
    refuse("a result goes to a register");
  }
  const std::uint32_t slot = slot_of(operand.index, true);
  const Type its = type_of(operand);
  if (type == Type::pred || its == Type::pred) {
    if (its != type) refuse("a predicate where there is to be none");
    return slot;
  }
  if (bytes_of(its) == bytes_of(type)) return slot;
  if (bytes_of(its) < bytes_of(type)) refuse("a register is narrower than the instruction's type");
  widenings_.push_back({fresh(bytes_of(type)), slot, type, its});
  return widenings_.back().from;
}

void Decoder::finish() {
  for (const Widening& one : widenings_) {
    Step& step = emit(resize(bytes_of(one.type), bytes_of(one.register_type), is_signed(one.type)));
    step.from[0] = one.from;
    step.to = one.to;
  }
  widenings_.clear();
}

std::uint64_t Decoder::symbol(std::string_view name) {
  const Frame& frame = frames_.back();
  if (const auto local = frame.locals.find(name); local != frame.locals.end()) return local->second;
  if (const auto shared = shared_.at.find(name); shared != shared_.at.end()) return shared->second;
  if (const auto global = addresses_.find(name); global != addresses_.end()) return global->second;
  if (const ptx::Function* const function = module.function(name); function != nullptr) {
    return address_of_function(module, *function);
  }
  if (is_outermost() && !is_called()) {
    const std::vector<ptx::Variable>& all = kernel.parameters;
    const auto named = std::find_if(all.begin(), all.end(),
                                    [&](const ptx::Variable& one) { return one.name == name; });
    if (named != all.end()) {
      return ptx::parameter_places(kernel)[static_cast<std::size_t>(named - all.begin())];
    }
  }
  refuse("there is no variable " + std::string(name));
}

const std::vector<std::int32_t>& Decoder::targets(std::string_view name) const {
  const auto& all = frames_.back().function->targets;
  const auto found = all.find(name);
  if (found == all.end() || found->second.empty()) refuse("a jump to no list of labels");
  return found->second;
}

Decoder::Address Decoder::address(const Operand& operand) {
  if (operand.kind != Operand::Kind::address || operand.parts.size() != 1) {
    refuse("an address of another kind than known here");
  }
  const Operand& base = operand.parts.front();
  if (base.kind == Operand::Kind::reg) {
    const std::uint32_t slot = slot_of(base.index);
    if (bytes_of(type_of(base)) == 8) return {slot, operand.offset};
    const std::uint32_t wide = fresh(8);
    Step& step = emit(resize(4, 8, false));
    step.from[0] = slot;
    step.to = wide;
    return {wide, operand.offset};
  }
  const std::uint64_t at = base.kind == Operand::Kind::sink ? 0 : symbol(base.name);
  const bool is_in_frame =
      is_called() && base.kind == Operand::Kind::symbol && is_of_thread(base.name);
  const bool is_shared = base.kind == Operand::Kind::symbol && is_in_shared(base.name);
  return {is_in_frame ? in_frame(at) : constant(at, 8, is_shared), operand.offset};
}

std::uint64_t Decoder::local(const ptx::Variable& variable) {
  std::uint32_t& bytes = !frames_.empty() && is_called()
                             ? code_->called[static_cast<std::size_t>(frames_.front().called)].frame
                             : code_->local;
  const std::uint64_t at = place_in_frame(bytes, variable);
  bytes = static_cast<std::uint32_t>(at + static_cast<std::uint64_t>(variable.bytes));
  return at;
}

void Decoder::lay_out(const ptx::Function& function, Frame& frame) {
  frame.function = &function;
  frame.slots.assign(function.registers.size(), kNone);
  for (const ptx::Variable& one : function.variables) {
    if (one.space == Space::local || one.space == Space::param) {
      frame.locals[one.name] = local(one);
    }
  }
}

void Decoder::plain(const Form& form, const ptx::Instruction& instruction) {
  std::uint32_t from[4] = {};
  std::size_t count = 0;
  while (count < form.from.size() && form.from[count] != Type::none) ++count;
  if (instruction.operands.size() != count + 1)
    refuse("another number of operands than known here");
  for (std::size_t i = 0; i < count; ++i) {
    if (instruction.operands[i + 1].negated) refuse("a negated operand");
    from[i] = source(instruction.operands[i + 1], form.from[i]);
  }
  const std::uint32_t to = destination(instruction.operands[0], form.to);
  Step& step = emit(form.run);
  step.to = to;
  step.offset = form.variant;
  std::copy(std::begin(from), std::end(from), std::begin(step.from));
  finish();
}

void Decoder::instruction(const ptx::Instruction& one) {
  site_ = static_cast<std::int32_t>(code_->sites.size());
  code_->sites.push_back(&one);
  const Form* const form = find_form(one);
  if (form == nullptr) refuse("this form is not known");
  const std::size_t first = code_->steps.size();
  if (form->build != nullptr) {
    form->build(*this, one);
  } else {
    plain(*form, one);
  }
  for (std::size_t i = first; i < code_->steps.size(); ++i) {
    Step& step = code_->steps[i];
    if (step.flow != Flow::unknown) continue;
    step.flow = flow_of(one);
    // A result that several steps put together.
    const bool is_part =
        step.flow == Flow::computes &&
        std::any_of(code_->steps.begin() + static_cast<std::ptrdiff_t>(first),
                    code_->steps.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const Step& before) { return before.to == step.to && step.to != 0; });
    if (is_part) step.flow = Flow::inserts;
  }
  if (one.guard < 0 || form->guarding == Form::Guarding::itself) return;
  for (std::size_t i = first; i < code_->steps.size(); ++i) {
    Step& step = code_->steps[i];
    step.guard = slot_of(one.guard);
    step.guard_negated = one.guard_negated;
    step.inner = step.run;
    step.run = form->guarding == Form::Guarding::apart ? &guarded_apart : &guarded;
  }
}

// The step before the loop, behind which its jumps back go.
void Decoder::enter_unrolled(const ptxas::UnrolledLoop& loop) {
  const std::uint32_t counter = source(loop.counter, loop.type),
                      bound = source(loop.bound, loop.type), left = fresh(4), together = fresh(4);
  frames_.back().entry = code_->steps.size();
  Step& step = emit(steps_of_unrolled(loop.type).enter);
  const std::uint32_t from[] = {counter, bound, left, together};
  std::copy(std::begin(from), std::end(from), std::begin(step.from));
  step.source_offset = loop.step;
  step.flow = Flow::jumps;
}

// Its last step, the jump back, becomes another; behind it lanes wait that have fewer than four rounds to go.
void Decoder::end_unrolled(const ptxas::UnrolledLoop& loop) {
  const UnrolledSteps its = steps_of_unrolled(loop.type);
  Frame& frame = frames_.back();
  const std::size_t entry = frame.entry, jump = code_->steps.size() - 1;
  for (const std::uint8_t rounds : {2, 1}) {
    Step& step = emit(its.take);
    step.count = rounds;
    step.flow = Flow::jumps;
  }
  for (std::size_t i = jump; i < code_->steps.size(); ++i) {
    Step& step = code_->steps[i];
    std::copy(std::begin(code_->steps[entry].from), std::end(code_->steps[entry].from),
              std::begin(step.from));
    step.offset = static_cast<std::int64_t>(entry + 1);
  }
  code_->steps[jump].run = its.next;
  code_->steps[entry].offset = static_cast<std::int64_t>(jump + 1);
  frame.jumps.pop_back();  // to the loop's label
}

void Decoder::body(const ptx::Function& function) {
  // ptxas leaves what is made for a debugger as it is.
  const ptxas::Rewritten rewritten =
      module.is_debug ? ptxas::Rewritten{} : ptxas::rewrite(module, function, shared_);
  frames_.back().body = static_cast<std::int32_t>(code_->bodies.size());
  code_->bodies.push_back({.function = &function,
                           .outer = is_outermost() ? -1 : frames_.end()[-2].body,
                           .called = frames_.front().called,
                           .first_site = static_cast<std::int32_t>(code_->sites.size()),
                           .call_site = is_outermost() ? -1 : site_,
                           .slots = {},
                           .locals = {}});
  // For a debugger it waits for each product at once, and fences.
  using Places = std::set<const ptx::Instruction*>;
  const Places early = module.is_debug ? Places{} : touches_of_products(function);
  const Places unfenced = module.is_debug ? Places{} : unfenced_products(function);
  const std::vector<ptxas::UnrolledLoop> loops =
      module.is_debug ? std::vector<ptxas::UnrolledLoop>{} : ptxas::unrolled_loops(function);
  const auto size = static_cast<std::int32_t>(function.body.size());
  frames_.back().starts.resize(function.body.size() + 1);
  // From where to where jumps go that go to these steps instead.
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> meetings;
  for (const ptxas::Passage& passage :
       module.is_debug ? std::vector<ptxas::Passage>{{0, size, -1}} : ptxas::layout(function)) {
    for (std::int32_t place = passage.begin; place < passage.end; ++place) {
      const ptx::Instruction& one = function.body[static_cast<std::size_t>(place)];
      frames_.back().starts[static_cast<std::size_t>(place)] = code_->steps.size();
      frames_.back().place = place;
      const auto loop = std::find_if(
          loops.begin(), loops.end(),
          [&](const ptxas::UnrolledLoop& its) { return its.head <= place && place <= its.jump; });
      if (loop != loops.end() && loop->head == place) enter_unrolled(*loop);
      if (early.contains(&one)) {
        emit(touches_product()).site = static_cast<std::int32_t>(code_->sites.size());
      }
      if (unfenced.contains(&one)) {
        emit(lacks_fence()).site = static_cast<std::int32_t>(code_->sites.size());
      }
      const auto found = rewritten.find(&one);
      if (found == rewritten.end()) {
        instruction(one);
      } else {
        for (const ptx::Instruction& its : found->second) {
          instruction(code_->rewritten.emplace_back(its, &function).first);
        }
      }
      if (loop != loops.end() && loop->jump == place) end_unrolled(*loop);
    }
    for (const std::int32_t from : passage.comers) {
      meetings[{from, passage.goes_on}] = code_->steps.size();
    }
    frames_.back().place = -1;
    if (passage.goes_on >= 0) emit_jump_to(jump_to_label(), passage.goes_on).flow = Flow::jumps;
  }
  Frame& frame = frames_.back();
  Body& its = code_->bodies[static_cast<std::size_t>(frame.body)];
  its.end_site = static_cast<std::int32_t>(code_->sites.size());
  its.locals = frame.locals;
  if (module.is_debug) its.slots = frame.slots;
  frame.starts.back() = code_->steps.size();
  for (const Frame::Jump& jump : frame.jumps) {
    const auto met = meetings.find({jump.from, jump.to});
    // As an index for now: the steps may still move.
    code_->steps[jump.step].offset = static_cast<std::int64_t>(
        met != meetings.end() ? met->second : frame.starts[static_cast<std::size_t>(jump.to)]);
  }
}

void Decoder::call(const ptx::Instruction& instruction) {
  // call (retval0), name, (param0, param1);
  const std::vector<Operand>& all = instruction.operands;
  const std::size_t name_at = !all.empty() && all[0].kind == Operand::Kind::list ? 1 : 0;
  if (all.size() > name_at && all[name_at].kind == Operand::Kind::reg) {
    call_for_good(instruction, name_at, nullptr);
    return;
  }
  if (all.size() <= name_at || all[name_at].kind != Operand::Kind::symbol) {
    refuse("a call of another kind than known here");
  }
  const ptx::Function* const callee = module.function(all[name_at].name);
  if (callee != nullptr && (!callee->has_body || is_of_device_runtime(callee->name))) {
    if (const std::optional<Service> service = service_named(callee->name)) {
      call_service_of(*callee, *service, instruction, name_at);
      return;
    }
  }
  if (callee == nullptr || !callee->has_body) {
    refuse("a call of " + std::string(all[name_at].name) + ", which this module does not have");
  }
  if (frames_.size() > kMostCalls ||
      std::any_of(frames_.begin(), frames_.end(),
                  [&](const Frame& frame) { return frame.function == callee; })) {
    call_for_good(instruction, name_at, callee);
    return;
  }
  if (instruction.guard >= 0) refuse("a call under a predicate");
  Frame frame;
  lay_out(*callee, frame);
  // Arguments are the caller's variables.
  const auto pass = [&](const std::vector<ptx::Variable>& names, std::size_t at) {
    if (names.empty()) return;
    if (at >= all.size() || all[at].parts.size() != names.size()) {
      refuse("another number of arguments than " + callee->name + " has");
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      frame.locals[names[i].name] = symbol(all[at].parts[i].name);
    }
  };
  pass(callee->returns, 0);
  pass(callee->parameters, name_at + 1);
  const std::int32_t site = site_;
  frames_.push_back(std::move(frame));
  // What it allocates goes when it ends.
  const bool allocates =
      std::any_of(callee->body.begin(), callee->body.end(),
                  [](const ptx::Instruction& one) { return one.opcode == "alloca"; });
  const std::uint32_t kept = allocates ? fresh(8) : kNone;
  if (allocates) emit(save_stack()).to = kept;
  body(*callee);
  const std::vector<std::size_t> returns = frames_.back().returns;
  frames_.pop_back();
  site_ = site;
  for (const std::size_t step : returns) {
    code_->steps[step].offset = static_cast<std::int64_t>(code_->steps.size());
  }
  if (allocates) emit(restore_stack()).from[0] = kept;
}

// alloca.u64 address, bytes, alignment; without one it is 8.
void Decoder::emit_allocation(Execute run, const ptx::Instruction& instruction) {
  const std::vector<Operand>& all = instruction.operands;
  if (all.size() != 2 && (all.size() != 3 || all[2].kind != Operand::Kind::number)) {
    refuse("other operands than known here");
  }
  const std::uint32_t bytes = source(all[1], Type::u64), to = destination(all[0], Type::u64);
  Step& step = emit(run);
  step.from[0] = bytes;
  step.from[1] = static_cast<std::uint32_t>(frames_.front().called);
  step.to = to;
  step.offset =
      all.size() == 3 ? std::max(static_cast<std::int64_t>(all[2].bits), std::int64_t{1}) : 8;
  code_->allocates = true;
  finish();
}

void Decoder::call_service_of(const ptx::Function& callee, Service service,
                              const ptx::Instruction& instruction, std::size_t name_at) {
  ServiceCall call{.service = service, .arguments = {}};
  const std::vector<Operand>& all = instruction.operands;
  call.is_in_frame = is_called();
  const std::size_t given = name_at + 1 < all.size() ? all[name_at + 1].parts.size() : 0;
  if (given != callee.parameters.size()) {
    refuse("another number of arguments than " + callee.name + " has");
  }
  for (std::size_t i = 0; i < given; ++i) {
    const std::uint64_t at = symbol(all[name_at + 1].parts[i].name);
    const auto bytes = static_cast<std::size_t>(callee.parameters[i].bytes);
    const std::size_t each = bytes <= 8 ? bytes : bytes % 8 == 0 ? 8 : 4;
    for (std::size_t j = 0; j < bytes; j += each) call.arguments.push_back({at + j, each});
  }
  if (call.arguments.size() > ServiceCall::kMostArguments) {
    refuse("more arguments than known here");
  }
  if (name_at == 1 && !callee.returns.empty()) {
    call.result = {symbol(all[0].parts[0].name), static_cast<std::size_t>(callee.returns[0].bytes)};
  }
  emit_service(std::move(call));
}

void Decoder::emit_service(ServiceCall call) {
  Step& step = emit(&machine::call_service);
  step.flow = Flow::uses;  // no register: its arguments have been stored
  step.offset = static_cast<std::int64_t>(code_->service_calls.size());
  code_->service_calls.push_back(std::move(call));
}

void Decoder::emit_image(Execute run, const ImageAccess& access) {
  emit(run).offset = static_cast<std::int64_t>(code_->image_accesses.size());
  code_->image_accesses.push_back(access);
}

Step& Decoder::emit_group_product(Execute run, GroupProduct product) {
  Step& step = emit(run);
  step.offset = static_cast<std::int64_t>(code_->group_products.size());
  code_->group_products.push_back(std::move(product));
  return step;
}

Step& Decoder::emit_bulk_copy(Execute run, const BulkCopy& copy) {
  Step& step = emit(run);
  step.offset = static_cast<std::int64_t>(code_->bulk_copies.size());
  code_->bulk_copies.push_back(copy);
  return step;
}

void Decoder::leave_function() { frames_.back().returns.push_back(code_->steps.size()); }

std::uint32_t Decoder::in_frame(std::uint64_t offset) {
  const std::uint32_t slot = fresh(8);
  Step& step = emit(address_in_frame());
  step.to = slot;
  step.offset = static_cast<std::int64_t>(offset);
  return slot;
}

std::int32_t Decoder::called_function(const ptx::Function& function) {
  const std::uint64_t address = address_of_function(module, function);
  const auto [found, is_new] =
      code_->called_at.try_emplace(address, static_cast<std::int32_t>(code_->called.size()));
  if (is_new) code_->called.push_back({.function = &function, .registers = {}});
  return found->second;
}

void Decoder::call_for_good(const ptx::Instruction& instruction, std::size_t name_at,
                            const ptx::Function* callee) {
  const std::vector<Operand>& all = instruction.operands;
  CallPlan plan;
  plan.caller = frames_.front().called;
  if (callee != nullptr) {
    plan.callee = called_function(*callee);
  } else {
    plan.address = source(all[name_at], Type::u64);
    plan.parts = !module.is_debug && is_outermost() && !is_called() &&
                 ptxas::stay_apart(module, kernel, frames_.front().place);
    // Any function of the module whose address somebody may have taken.
    for (const ptx::Function& one : module.functions) {
      if (one.has_body && !one.is_entry) called_function(one);
    }
  }
  // As lay_out() has it: results first.
  std::uint64_t at = 0;
  const auto add = [&](const Operand& list, std::vector<CallPlan::Copy>& copies, bool to_callee) {
    for (const Operand& part : list.parts) {
      const ptx::Variable* const its = frames_.back().function->variable(part.name);
      if (its == nullptr) refuse("an argument that is no variable");
      at = place_in_frame(at, *its);
      const std::uint64_t own = symbol(part.name);
      copies.push_back(
          {to_callee ? own : at, to_callee ? at : own, static_cast<std::size_t>(its->bytes)});
      at += static_cast<std::uint64_t>(its->bytes);
    }
  };
  if (name_at == 1) add(all[0], plan.results, false);
  if (all.size() > name_at + 1 && all[name_at + 1].kind == Operand::Kind::list) {
    add(all[name_at + 1], plan.arguments, true);
  }
  Step& step = emit(enter_called());
  step.offset = static_cast<std::int64_t>(code_->calls.size());
  code_->calls.push_back(std::move(plan));
  if (instruction.guard >= 0) {
    const std::size_t index = code_->steps.size() - 1;
    const std::uint32_t guard = slot_of(instruction.guard);
    guard_apart(code_->steps[index], guard, instruction.guard_negated);
  }
}

std::unique_ptr<Code> Decoder::decode() {
  code_->function = &kernel;
  shared_ = ptx::shared_places(module, kernel);
  code_->static_shared = static_cast<std::uint32_t>(shared_.static_bytes);
  Frame frame;
  lay_out(kernel, frame);
  const std::vector<const ptx::Function*> reached = ptx::reachable(module, kernel);
  // What the launch gives has in each kernel a name of its own, all at one place.
  const auto names = [&](const ptx::Variable& variable) {
    return std::any_of(reached.begin(), reached.end(),
                       [&](const ptx::Function* one) { return one->uses(variable.name); });
  };
  const auto place = [&](const std::vector<ptx::Variable>& variables) {
    for (const ptx::Variable& one : variables) {
      const auto found = shared_.at.find(one.name);
      if (one.space != Space::shared || found == shared_.at.end()) continue;
      if (one.bytes == 0 && !names(one)) continue;
      code_->shared.push_back({one.name, static_cast<std::uint32_t>(found->second),
                               static_cast<std::uint32_t>(one.bytes)});
    }
  };
  place(module.variables);
  code_->parameters = static_cast<std::uint32_t>(ptx::parameter_places(kernel).back());
  frames_.push_back(std::move(frame));
  body(kernel);
  frames_.pop_back();
  for (const ptx::Function* const one : reached) place(one->variables);
  site_ = -1;
  emit(end_of_lanes()).flow = Flow::jumps;
  // Functions that are called lie behind the kernel, and may call further ones.
  for (std::size_t i = 0; i < code_->called.size(); ++i) {
    const ptx::Function& function = *code_->called[i].function;
    code_->called[i].first = code_->steps.size();
    Frame its;
    its.called = static_cast<std::int32_t>(i);
    frames_.push_back(std::move(its));
    for (const ptx::Variable& one : function.returns) frames_[0].locals[one.name] = local(one);
    for (const ptx::Variable& one : function.parameters) frames_[0].locals[one.name] = local(one);
    lay_out(function, frames_[0]);
    body(function);
    site_ = -1;
    emit(leave_called());
    frames_.clear();
  }
  for (Step& step : code_->steps) {
    if (goes_to_label(step.inner != nullptr ? step.inner : step.run)) {
      step.target = code_->steps.data() + step.offset;
    }
  }
  return std::move(code_);
}

std::unique_ptr<Code> decode(const ptx::Module& module, const ptx::Function& kernel,
                             const Addresses& addresses) {
  return Decoder(module, kernel, addresses).decode();
}

std::vector<std::string> unknown_forms(const ptx::Function& function) {
  std::vector<std::string> unknown;
  for (const ptx::Instruction& one : function.body) {
    const std::string form = one.form();
    if (find_form(one) == nullptr &&
        std::find(unknown.begin(), unknown.end(), form) == unknown.end()) {
      unknown.push_back(form);
    }
  }
  return unknown;
}

}  // namespace simt::machine
