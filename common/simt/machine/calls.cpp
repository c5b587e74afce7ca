// Calls of functions that do not stand in place of their call. Every lane has its own activations, so lanes of one group
// may come from different calls and return to different places.
#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/forms.hpp"
#include "common/simt/machine/grid.hpp"

namespace simt::machine {
namespace {

bool is_active(const std::vector<Warp::Activation>& calls, std::int32_t callee) {
  return std::any_of(calls.rbegin(), calls.rend(),
                     [&](const Warp::Activation& its) { return its.callee == callee; });
}

// A lane's part of registers: saved when a function is entered that is active already.
std::vector<std::byte> save(Warp& warp, std::size_t lane, const CalledFunction& function) {
  std::vector<std::byte> saved;
  for (const auto& [slot, bytes] : function.registers) {
    if (bytes == 0) {
      saved.push_back(static_cast<std::byte>(warp.predicate(slot) >> lane & 1));
    } else {
      const std::byte* const from = warp.registers + slot + lane * static_cast<std::size_t>(bytes);
      saved.insert(saved.end(), from, from + bytes);
    }
  }
  return saved;
}
void restore(Warp& warp, std::size_t lane, const CalledFunction& function,
             const std::vector<std::byte>& saved) {
  const std::byte* from = saved.data();
  for (const auto& [slot, bytes] : function.registers) {
    if (bytes == 0) {
      std::uint32_t& word = warp.predicate(slot);
      word = (word & ~(1u << lane)) | std::to_integer<std::uint32_t>(*from++) << lane;
    } else {
      std::memcpy(warp.registers + slot + lane * static_cast<std::size_t>(bytes), from,
                  static_cast<std::size_t>(bytes));
      from += bytes;
    }
  }
}

// Of the kernel (-1) or a function that was called.
std::uint32_t bytes_of_frame(const Code& code, std::int32_t called) {
  const std::uint32_t bytes =
      called < 0 ? code.local : code.called[static_cast<std::size_t>(called)].frame;
  return (bytes + 15) / 16 * 16;
}

const Step* enter(const Step* step, Warp& warp) {
  Block& block = *warp.block;
  const Code& code = *block.grid->code;
  const auto number = static_cast<std::size_t>(step->offset);
  const CallPlan& plan = code.calls[number];
  const std::uint32_t lanes = warp.active;
  // Lanes by the function that they call.
  for (std::uint32_t open = lanes; open != 0;) {
    std::int32_t callee = plan.callee;
    std::uint32_t party = open;
    if (callee < 0) {
      const std::uint64_t* const address = warp.values<const std::uint64_t>(plan.address);
      const std::uint64_t its = address[std::countr_zero(open)];
      party = 0;
      each_lane(open, [&](std::size_t lane) {
        if (address[lane] == its) party |= 1u << lane;
      });
      const auto found = code.called_at.find(its);
      if (found == code.called_at.end()) {
        return stop(step, warp, static_cast<std::size_t>(std::countr_zero(open)),
                    "invalid_function");
      }
      callee = found->second;
    }
    open &= ~party;
    if (plan.parts && party != lanes) warp.part(party);
    const CalledFunction& function = code.called[static_cast<std::size_t>(callee)];
    for (std::uint32_t rest = party; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t before = warp.frames[lane];
      const std::uint32_t frame = before + bytes_of_frame(code, plan.caller);
      if (frame + function.frame + warp.allocated[lane] > block.local_bytes()) {
        return stop(step, warp, lane, "stack_overflow");
      }
      std::byte* const own = block.own(warp, static_cast<int>(lane));
      for (const CallPlan::Copy& copy : plan.arguments) {
        std::memcpy(own + frame + copy.to, own + before + copy.from, copy.bytes);
      }
      std::vector<Warp::Activation>& calls = warp.activations[lane];
      const bool is_again = is_active(calls, callee);
      calls.push_back({step + 1, number, callee, before, warp.allocated[lane], {}});
      if (is_again) calls.back().registers = save(warp, lane, function);
      warp.frames[lane] = frame;
      ++warp.depths[lane];
    }
    warp.others.push_back({code.steps.data() + function.first, party});
  }
  return warp.choose();
}

const Step* leave(const Step*, Warp& warp) {
  Block& block = *warp.block;
  const Code& code = *block.grid->code;
  const std::size_t others = warp.others.size();
  for (std::uint32_t open = warp.active; open != 0; open &= open - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(open));
    const Warp::Activation its = std::move(warp.activations[lane].back());
    warp.activations[lane].pop_back();
    --warp.depths[lane];
    const CallPlan& plan = code.calls[its.plan];
    std::byte* const own = block.own(warp, static_cast<int>(lane));
    for (const CallPlan::Copy& copy : plan.results) {
      std::memcpy(own + its.frame + copy.to, own + warp.frames[lane] + copy.from, copy.bytes);
    }
    if (!its.registers.empty()) {
      restore(warp, lane, code.called[static_cast<std::size_t>(its.callee)], its.registers);
    }
    warp.frames[lane] = its.frame;
    warp.allocated[lane] = its.allocated;
    if (warp.others.size() > others && warp.others.back().at == its.back) {
      warp.others.back().lanes |= 1u << lane;
    } else {
      warp.others.push_back({its.back, 1u << lane});
    }
  }
  return warp.choose();
}

const Step* in_frame(const Step* step, Warp& warp) {
  std::uint64_t* const to = warp.values<std::uint64_t>(step->to);
  each_lane(warp.active, [&](std::size_t lane) {
    to[lane] = warp.frames[lane] + static_cast<std::uint64_t>(step->offset);
  });
  return step + 1;
}

// alloca: from[1] is the function's number, and offset the alignment.
const Step* allocate(const Step* step, Warp& warp) {
  const Block& block = *warp.block;
  const auto called = static_cast<std::int32_t>(step->from[1]);
  const std::uint64_t* const bytes = warp.values<const std::uint64_t>(step->from[0]);
  std::uint64_t* const to = warp.values<std::uint64_t>(step->to);
  const auto alignment = static_cast<std::uint64_t>(step->offset);
  for (std::uint32_t open = warp.active; open != 0; open &= open - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(open));
    const std::uint64_t end = block.local_bytes() - warp.allocated[lane];
    const std::uint64_t least = warp.frames[lane] + bytes_of_frame(*block.grid->code, called);
    const std::uint64_t at =
        end / alignment * alignment - (bytes[lane] + alignment - 1) / alignment * alignment;
    if (bytes[lane] > end || at < least || at > end) return stop(step, warp, lane, "stack_full");
    to[lane] = at;
    warp.allocated[lane] = static_cast<std::uint32_t>(block.local_bytes() - at);
  }
  return step + 1;
}

// How much a lane has allocated, to be given back later.
const Step* save_allocated(const Step* step, Warp& warp) {
  std::uint64_t* const to = warp.values<std::uint64_t>(step->to);
  each_lane(warp.active, [&](std::size_t lane) { to[lane] = warp.allocated[lane]; });
  return step + 1;
}
const Step* restore_allocated(const Step* step, Warp& warp) {
  const std::uint64_t* const from = warp.values<const std::uint64_t>(step->from[0]);
  each_lane(warp.active, [&](std::size_t lane) {
    warp.allocated[lane] = static_cast<std::uint32_t>(from[lane]);
  });
  return step + 1;
}

void build_allocation(Decoder& decoder, const ptx::Instruction& one) {
  decoder.emit_allocation(&allocate, one);
}
void build_save(Decoder& decoder, const ptx::Instruction& one) {
  const std::uint32_t to = decoder.destination(one.operands.at(0), ptx::Type::u64);
  decoder.emit(&save_allocated).to = to;
  decoder.finish();
}
void build_restore(Decoder& decoder, const ptx::Instruction& one) {
  const std::uint32_t from = decoder.source(one.operands.at(0), ptx::Type::u64);
  decoder.emit(&restore_allocated).from[0] = from;
}

}  // namespace

void add_stack_forms(std::vector<Form>& forms) {
  add_built(forms, "alloca.u64", &build_allocation);
  add_built(forms, "stacksave.u64", &build_save);
  add_built(forms, "stackrestore.u64", &build_restore);
}

Execute save_stack() { return &save_allocated; }
Execute restore_stack() { return &restore_allocated; }
Execute enter_called() { return &enter; }
Execute leave_called() { return &leave; }
Execute address_in_frame() { return &in_frame; }

}  // namespace simt::machine
