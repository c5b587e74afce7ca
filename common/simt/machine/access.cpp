// Loads, stores and atomics (PTX ISA 9.7.9 and 9.7.13).
#include "common/simt/machine/access.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <span>

#include "common/simt/machine/decode.hpp"
#include "common/simt/machine/floating.hpp"
#include "common/simt/machine/grid.hpp"
#include "common/simt/machine/lanes.hpp"
#include "common/simt/machine/rounding.hpp"

namespace simt::machine {
namespace {

using ptx::Operand;
using ptx::Type;

Window window_of(std::uint64_t generic) {
  if (generic < kConstantWindow) return Window::global;
  if (generic - kSharedWindow < kWindowBytes) return Window::shared;
  if (generic - kLocalWindow < kWindowBytes) return Window::local;
  if (generic - kParameterWindow < kWindowBytes) return Window::parameter;
  return generic - kConstantWindow < kWindowBytes ? Window::constant : Window::global;
}
std::uint64_t base_of(Window window) {
  switch (window) {
    case Window::shared:
      return kSharedWindow;
    case Window::local:
      return kLocalWindow;
    case Window::parameter:
      return kParameterWindow;
    case Window::constant:
      return kConstantWindow;
    default:
      return 0;
  }
}

#if defined(__x86_64__)
#define SIMT_FOR_AVX2 [[gnu::target_clones("avx2", "default")]]
#else
#define SIMT_FOR_AVX2
#endif

// What an access of all lanes usually is: of one address, or of neighbours.
struct Pattern {
  bool uniform, consecutive;
};
SIMT_FOR_AVX2 Pattern pattern_of(const std::uint64_t* address, std::uint64_t bytes) {
  std::uint64_t other = 0, out_of_step = 0;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
    other |= address[lane] ^ address[0];
    out_of_step |= address[lane] ^ (address[0] + lane * bytes);
  }
  return {other == 0, out_of_step == 0};
}
// The least and the greatest, and all of their bits.
struct Extent {
  std::uint64_t least, greatest, bits;
};
SIMT_FOR_AVX2 Extent extent_of(const std::uint64_t* address) {
  // As distances from one of them: signed numbers are compared in vectors.
  std::int64_t least = 0, greatest = 0;
  std::uint64_t bits = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const auto distance = static_cast<std::int64_t>(address[lane] - address[0]);
    least = distance < least ? distance : least;
    greatest = distance > greatest ? distance : greatest;
    bits |= address[lane];
  }
  return {address[0] + static_cast<std::uint64_t>(least),
          address[0] + static_cast<std::uint64_t>(greatest), bits};
}
#undef SIMT_FOR_AVX2

// Adds to the addresses of lanes what all of them have in common; false if one is not a multiple of `bytes`. Those that
// do not take part get an address that does, which changes none of this.
bool describe(memory::WarpAddresses& lanes, Addresses64& address) {
  const auto bytes = static_cast<std::uint64_t>(lanes.bytes);
  const auto first = static_cast<std::size_t>(std::countr_zero(lanes.mask));
  lanes.least = address[first];
  if (lanes.mask == kAllLanes) {
    const Pattern its = pattern_of(address.data(), bytes);
    lanes.consecutive = its.consecutive;
    if (its.consecutive || its.uniform) {
      lanes.beyond = lanes.least + (its.uniform ? bytes : bytes * kLanes);
      return lanes.least % bytes == 0;
    }
  } else {
    const std::uint32_t run = lanes.mask >> first;
    lanes.consecutive = (run & (run + 1)) == 0;
    std::uint64_t next = lanes.least;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if ((lanes.mask >> lane & 1) == 0) {
        address[lane] = lanes.least;
      } else {
        lanes.consecutive &= address[lane] == next;
        next += bytes;
      }
    }
    if (lanes.consecutive) {
      lanes.beyond = next;
      return lanes.least % bytes == 0;
    }
  }
  const Extent its = extent_of(address.data());
  lanes.least = its.least;
  lanes.beyond = its.greatest + bytes;
  return its.bits % bytes == 0;
}

// Memory in one piece: where it begins, and where the engine finds that.
using Piece = Block::Known;

// The piece that holds an address; an empty one where there is none that may be touched so.
Piece piece_at(Warp& warp, Window window, const Block& owner, int lane, std::uint64_t address,
               bool writes) {
  const Block& block = *warp.block;
  const Grid& grid = *block.grid;
  const auto whole = [](std::span<const std::byte> bytes) {
    return Piece{0, bytes.size(), const_cast<std::byte*>(bytes.data())};
  };
  switch (window) {
    case Window::shared:
      return whole(owner.shared);
    case Window::reserved:
      return {kReservedShared, kReservedShared + owner.reserved.size(),
              const_cast<std::byte*>(owner.reserved.data())};
    case Window::local: {
      const std::size_t thread = warp.index * kLanes + static_cast<unsigned>(lane);
      const std::size_t bytes = block.local_bytes();
      return whole(std::span(block.local).subspan(thread * bytes, bytes));
    }
    case Window::parameter:
      return writes ? Piece{} : whole(grid.parameters);
    case Window::constant:
      return writes ? Piece{} : whole(grid.constants);
    default:
      break;
  }
  const memory::Allocation* const its = grid.arena->find(address);
  if (its == nullptr || its->is_freed) return {};
  return {its->begin, its->end(), grid.arena->host(its->begin)};
}

bool fault(Warp& warp, const WarpAccess& access, int lane, const char* what) {
  warp.faulty |= 1u << lane;
  warp.block->grid->observer->fault(access, lane, what);
  return false;
}

// False, and told, if a lane may not touch what it names.
bool find_places(Warp& warp, const WarpAccess& access, Window window, bool is_aligned,
                 Places& places) {
  const memory::WarpAddresses& lanes = access.lanes;
  const bool writes = access.kind != WarpAccess::Kind::load;
  const int first = std::countr_zero(lanes.mask);
  Piece& known =
      warp.block->known[static_cast<std::size_t>(access.step->site) % warp.block->known.size()];
  const bool keeps = window == Window::global;
  const auto holds = [&](const Piece& piece) {
    return piece.begin <= lanes.least && lanes.beyond <= piece.end && lanes.least < lanes.beyond;
  };
  if (is_aligned && window != Window::local) {
    Piece piece = known;
    if (!keeps || !holds(piece)) {
      piece = piece_at(warp, window, *access.block, first, lanes.least, writes);
      if (keeps) known = piece;
    }
    if (holds(piece)) {
      if (lanes.consecutive) {
        places.first = piece.host + (lanes.least - piece.begin);
      } else {
        std::byte* const zero = piece.host - piece.begin;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          places.each[lane] = zero + lanes.address[lane];
        }
      }
      return true;
    }
  }
  places.first = nullptr;
  for (std::uint32_t open = lanes.mask; open != 0; open &= open - 1) {
    const int lane = std::countr_zero(open);
    const std::uint64_t address = lanes.address[static_cast<std::size_t>(lane)];
    const auto bytes = static_cast<std::uint64_t>(lanes.bytes);
    if (address % bytes != 0) return fault(warp, access, lane, "misaligned");
    const Piece piece = piece_at(warp, window, *access.block, lane, address, writes);
    if (address < piece.begin || address >= piece.end || bytes > piece.end - address) {
      return fault(warp, access, lane, "out_of_bounds");
    }
    places.each[static_cast<std::size_t>(lane)] = piece.host + (address - piece.begin);
  }
  return true;
}

}  // namespace

Part first_part(Window named, Warp& warp, Addresses64& addresses, std::uint32_t open) {
  const auto at = [&](std::uint32_t lanes) -> std::uint64_t& {
    return addresses[static_cast<std::size_t>(std::countr_zero(lanes))];
  };
  Part part{is_of_shared(named) ? Window::shared : named, open, warp.block};
  if (named == Window::generic) {
    part.window = window_of(at(open));
    const std::uint64_t begin = base_of(part.window);
    for (std::uint32_t rest = open; rest != 0; rest &= rest - 1) {
      if (window_of(at(rest)) == part.window) {
        at(rest) -= begin;
      } else {
        part.lanes &= ~(rest & -rest);
      }
    }
  }
  if (part.window != Window::shared) return part;
  const Block& own = *warp.block;
  const auto& blocks = own.cluster->blocks;
  if (blocks.size() == 1 && at(part.lanes) < kReservedShared) return part;
  const auto is_reserved = [&](std::uint64_t address) {
    const std::uint64_t rank = address / kSharedStride;
    return (rank == 0 || rank == own.rank) &&
           address % kSharedStride - kReservedShared < own.reserved.size();
  };
  const std::uint64_t rank = at(part.lanes) / kSharedStride;
  if (is_reserved(at(part.lanes))) {
    part.window = Window::reserved;
  } else if (rank != own.rank) {
    const bool is_there = rank < blocks.size() && at(part.lanes) % kSharedStride < kReservedShared;
    part.owner = is_there ? blocks[rank].get() : nullptr;
    part.is_foreign = is_there && named == Window::shared;
  }
  for (std::uint32_t rest = part.lanes; rest != 0; rest &= rest - 1) {
    if (is_reserved(at(rest)) == (part.window == Window::reserved) &&
        (part.window == Window::reserved || at(rest) / kSharedStride == rank)) {
      at(rest) %= kSharedStride;
    } else {
      part.lanes &= ~(rest & -rest);
      if (named == Window::generic) at(rest) += kSharedWindow;
    }
  }
  return part;
}

bool describe_and_find(Warp& warp, WarpAccess& access, Addresses64& addresses, const Part& part,
                       Places& places) {
  const bool is_aligned = describe(access.lanes, addresses);
  if (access.block == nullptr || part.is_foreign) {
    return fault(warp, access, std::countr_zero(access.lanes.mask),
                 part.is_foreign ? "foreign_shared" : "out_of_bounds");
  }
  return find_places(warp, access, part.window, is_aligned, places);
}

std::span<const std::byte> readable(Warp& warp, int lane, std::uint64_t address) {
  const Window window = window_of(address);
  std::uint64_t its = address - base_of(window);
  const Block* owner = warp.block;
  if (window == Window::shared) {
    const auto& blocks = warp.block->cluster->blocks;
    if (its / kSharedStride >= blocks.size()) return {};
    owner = blocks[its / kSharedStride].get();
    its %= kSharedStride;
  }
  const Piece piece = piece_at(warp, window, *owner, lane, its, false);
  if (its < piece.begin || its >= piece.end) return {};
  return {piece.host + (its - piece.begin), static_cast<std::size_t>(piece.end - its)};
}

Window window_named(const Decoder& decoder, const ptx::Instruction& one, const Operand& address) {
  if (one.has("global")) return Window::global;
  if (one.has("shared") || one.has("shared::cta")) return Window::shared;
  if (one.has("shared::cluster")) return Window::cluster;
  if (one.has("const")) return Window::constant;
  if (one.has("local")) return Window::local;
  if (!one.has("param")) return Window::generic;
  // What is passed to a function, and what it returns, are variables of the thread.
  const Operand& base = address.parts.front();
  return base.kind == Operand::Kind::symbol && decoder.is_of_thread(base.name) ? Window::local
                                                                               : Window::parameter;
}

Order order_of(const ptx::Instruction& one, Order usual) {
  if (one.has("volatile") || one.has("relaxed")) return Order::relaxed;
  if (one.has("acquire")) return Order::acquire;
  if (one.has("release")) return Order::release;
  if (one.has("acq_rel")) return Order::acq_rel;
  if (one.has("sc")) return Order::sc;
  return usual;
}
Scope scope_of(const ptx::Instruction& one) {
  if (one.has("cta")) return Scope::cta;
  if (one.has("cluster")) return Scope::cluster;
  return one.has("sys") || one.has("volatile") ? Scope::sys : Scope::gpu;
}

WarpAccess::Space space_of(Window window) {
  switch (window) {
    case Window::shared:
      return WarpAccess::Space::shared;
    case Window::constant:
      return WarpAccess::Space::constant;
    case Window::global:
      return WarpAccess::Space::global;
    case Window::reserved:
      return WarpAccess::Space::reserved;
    default:
      return WarpAccess::Space::local;
  }
}

namespace {

__extension__ using Wide = unsigned __int128;

// How a cache should treat an access, as its last operand says, changes nothing of what it does.
ptx::Instruction without_policy(const ptx::Instruction& one) {
  ptx::Instruction its = one;
  if (one.has("L2::cache_hint") && !its.operands.empty()) its.operands.pop_back();
  return its;
}

// A load or store of all lanes, of one value or of neighbours, in one piece of the memory that it names: what most are.
struct Usual {
  Addresses64 addresses;
  memory::WarpAddresses lanes{addresses};
  WarpAccess::Space space = WarpAccess::Space::global;
  std::byte* at = nullptr;  // of lane 0; null: it is not so
};

template <class Address, bool is_load, bool is_named>
[[gnu::always_inline]] inline void look(const Step* step, Warp& warp, std::uint64_t bytes,
                                        Usual& usual) {
  const Address* const base = warp.values<const Address>(step->from[kAddress]);
  Address other = 0, out_of_step = 0;
  for (unsigned lane = 0; !is_named && lane < kLanes; ++lane) {
    other |= base[lane] ^ base[0];
    out_of_step |= base[lane] ^ static_cast<Address>(base[0] + lane * bytes);
  }
  const Block& block = *warp.block;
  std::uint64_t first = base[0] + static_cast<std::uint64_t>(step->offset);
  // Of shared memory addresses have 32 bits, in which a sum may have gone round.
  if (step->window == Window::shared) first = (first - block.shared_begin()) & 0xffff'ffff;
  if ((other != 0 && out_of_step != 0) || (first & (bytes - 1)) != 0) return;
  const std::uint64_t beyond = first + (other == 0 ? bytes : bytes * kLanes);
  switch (step->window) {
    case Window::shared:
      if (beyond > block.shared.size()) return;
      usual.space = WarpAccess::Space::shared;
      usual.at = const_cast<std::byte*>(block.shared.data()) + first;
      break;
    case Window::global:
    case Window::generic: {
      const Piece& known = block.known[static_cast<std::size_t>(step->site) % block.known.size()];
      if (first < known.begin || beyond > known.end || first >= beyond) return;
      usual.at = known.host + (first - known.begin);
      break;
    }
    case Window::constant: {
      const std::span<const std::byte> constants = block.grid->constants;
      if (!is_load || beyond > constants.size()) return;
      usual.space = WarpAccess::Space::constant;
      usual.at = const_cast<std::byte*>(constants.data()) + first;
      break;
    }
    default:
      return;
  }
  const std::uint64_t stride = other == 0 ? 0 : bytes;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) usual.addresses[lane] = first + lane * stride;
  usual.lanes.mask = kAllLanes;
  usual.lanes.bytes = static_cast<int>(bytes);
  usual.lanes.consecutive = other != 0;
  usual.lanes.least = first;
  usual.lanes.beyond = beyond;
}

// Of the i-th values of lanes that follow one another, to or from registers.
template <class T>
[[gnu::always_inline]] inline void from_neighbours(T* to, const std::byte* from, std::size_t i,
                                                   std::size_t count, std::size_t lanes) {
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::memcpy(to + lane, from + (lane * count + i) * sizeof(T), sizeof(T));
  }
}
template <class T>
[[gnu::always_inline]] inline void to_neighbours(std::byte* to, const T* from, std::size_t i,
                                                 std::size_t count, std::size_t lanes) {
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::memcpy(to + (lane * count + i) * sizeof(T), from + lane, sizeof(T));
  }
}

// An access of which `move` does what is done with each memory's lanes. Compiled once: there are many kinds of moves.
using Move = void (*)(const Step*, Warp&, const Places&, const memory::WarpAddresses&);
template <class Address = std::uint64_t>
[[gnu::noinline]] const Step* access_by(const Step* step, Warp& warp, WarpAccess::Kind kind,
                                        int bytes, Move move) {
  return access<Address>(step, warp, kind, bytes,
                         [&](const Places& places, const memory::WarpAddresses& lanes) {
                           move(step, warp, places, lanes);
                         });
}

template <class T>
void load_lanes(const Step* step, Warp& warp, const Places& places,
                const memory::WarpAddresses& lanes) {
  const std::size_t count = step->count;
  const auto first = static_cast<std::size_t>(std::countr_zero(lanes.mask));
  for (std::size_t i = 0; i < count; ++i) {
    T* const to = warp.values<T>(value_slot(*step, static_cast<int>(i)));
    if (places.first != nullptr) {
      from_neighbours(to + first, places.first, i, count,
                      static_cast<std::size_t>(std::popcount(lanes.mask)));
      continue;
    }
    each_lane(lanes.mask, [&](std::size_t lane) {
      std::memcpy(to + lane, places.each[lane] + i * sizeof(T), sizeof(T));
    });
  }
}
template <class T>
void store_lanes(const Step* step, Warp& warp, const Places& places,
                 const memory::WarpAddresses& lanes) {
  const std::size_t count = step->count;
  const auto first = static_cast<std::size_t>(std::countr_zero(lanes.mask));
  for (std::size_t i = 0; i < count; ++i) {
    const T* const from = warp.values<const T>(value_slot(*step, static_cast<int>(i)));
    if (places.first != nullptr) {
      to_neighbours(places.first, from + first, i, count,
                    static_cast<std::size_t>(std::popcount(lanes.mask)));
      continue;
    }
    // Of lanes that store at one place the last one's value stays.
    each_lane(lanes.mask, [&](std::size_t lane) {
      std::memcpy(places.each[lane] + i * sizeof(T), from + lane, sizeof(T));
    });
  }
}
// What `move` leaves to it.
template <class T, class Address, bool is_load>
const Step* move_others(const Step* step, Warp& warp) {
  return access_by<Address>(step, warp, is_load ? WarpAccess::Kind::load : WarpAccess::Kind::store,
                            static_cast<int>(sizeof(T)) * step->count,
                            is_load ? &load_lanes<T> : &store_lanes<T>);
}

#if defined(__x86_64__)
#define SIMT_WITH_AVX2 [[gnu::target("avx2,fma")]]
#else
#define SIMT_WITH_AVX2
#endif
// `is_single`: one value a lane; `is_named`: the address is that of a variable.
template <class T, class Address, bool is_load, bool is_single, bool is_named = false>
SIMT_WITH_AVX2 const Step* move(const Step* step, Warp& warp) {
  constexpr auto kOthers = &move_others<T, Address, is_load>;
  if (warp.active != kAllLanes) return kOthers(step, warp);
  Usual usual;
  const std::size_t count = is_single ? 1 : step->count;
  look<Address, is_load, is_named>(step, warp, sizeof(T) * count, usual);
  if (usual.at == nullptr) return kOthers(step, warp);
  const WarpAccess told{usual.space, is_load ? WarpAccess::Kind::load : WarpAccess::Kind::store,
                        usual.lanes, step,
                        &warp,       warp.block};
  warp.faulty |= warp.block->grid->observer->access(told);
  if (!warp.undefined->empty()) warp.begin_to_follow();
  if (told.is_counted() && told.space == WarpAccess::Space::global) ++warp.global_requests;
  if (warp.faulty != 0) return nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    T* const values = warp.values<T>(value_slot(*step, static_cast<int>(i)));
    if (!usual.lanes.consecutive) {
      // All of one place: of what lanes store there the last one's value stays.
      if (is_load) {
        T value;
        std::memcpy(&value, usual.at + i * sizeof(T), sizeof value);
        std::fill_n(values, kLanes, value);
      } else {
        std::memcpy(usual.at + i * sizeof(T), values + kLanes - 1, sizeof(T));
      }
    } else if (count == 1) {
      if (is_load) std::memcpy(values, usual.at, kLanes * sizeof(T));
      if (!is_load) std::memcpy(usual.at, values, kLanes * sizeof(T));
    } else {
      if (is_load) from_neighbours(values, usual.at, i, count, kLanes);
      if (!is_load) to_neighbours(usual.at, values, i, count, kLanes);
    }
  }
  return step + 1;
}
#undef SIMT_WITH_AVX2

template <class Address, bool is_load>
Execute mover(int bytes, std::size_t count, bool is_named) {
  const auto of = [&]<class T>() -> Execute {
#if defined(__x86_64__)
    // `move` is compiled once, and for most processors.
    if (!kHasAvx2) return &move_others<T, Address, is_load>;
#endif
    if constexpr (is_load && sizeof(Address) == 8) {
      if (is_named && count == 1) return &move<T, Address, true, true, true>;
    }
    if (count == 1) return &move<T, Address, is_load, true>;
    // Vectors of small values are seldom.
    if constexpr (sizeof(T) < 4) {
      return &move_others<T, Address, is_load>;
    } else {
      return &move<T, Address, is_load, false>;
    }
  };
  switch (bytes) {
    case 1:
      return of.template operator()<std::uint8_t>();
    case 2:
      return of.template operator()<std::uint16_t>();
    case 4:
      return of.template operator()<std::uint32_t>();
    case 16:
      return &move_others<Wide, Address, is_load>;
    default:
      return of.template operator()<std::uint64_t>();
  }
}

// A parameter of the kernel, whose place the text names: the same for all lanes.
template <class T>
const Step* load_parameter(const Step* step, Warp& warp) {
  const std::byte* const from = warp.block->grid->parameters.data() + step->offset;
  for (int i = 0; i < step->count; ++i) {
    T value;
    std::memcpy(&value, from + static_cast<std::size_t>(i) * sizeof value, sizeof value);
    T* const to = warp.values<T>(value_slot(*step, i));
    if (warp.active == kAllLanes) {
      std::fill_n(to, kLanes, value);
    } else {
      each_lane(warp.active, [&](std::size_t lane) { to[lane] = value; });
    }
  }
  return step + 1;
}
Execute parameter_loader(int bytes) {
  switch (bytes) {
    case 1:
      return &load_parameter<std::uint8_t>;
    case 2:
      return &load_parameter<std::uint16_t>;
    case 4:
      return &load_parameter<std::uint32_t>;
    default:
      return &load_parameter<std::uint64_t>;
  }
}

// ld.space.v4.type {d...}, [a]; st.space.v4.type [a], {b...};
template <bool loads>
void build_move(Decoder& decoder, const ptx::Instruction& written) {
  const ptx::Instruction one = without_policy(written);
  if (one.operands.size() != 2) decoder.refuse("another number of operands than known here");
  const Operand& address = one.operands[loads ? 1 : 0];
  const Operand& values = one.operands[loads ? 0 : 1];
  const Type type = one.type();
  const bool is_vector = values.kind == Operand::Kind::vector;
  const std::size_t count = is_vector ? values.parts.size() : 1;
  if (count > 4) decoder.refuse("a vector of more than four");
  const Window window = window_named(decoder, one, address);
  const bool is_fixed =
      loads && window == Window::parameter && address.parts.front().kind == Operand::Kind::symbol;
  // Addresses of 32 bits are widened by the access itself.
  const bool is_register =
      address.kind == Operand::Kind::address && address.parts.front().kind == Operand::Kind::reg;
  const bool is_narrow =
      is_register && bytes_of(decoder.type_of(address.parts.front())) == sizeof(std::uint32_t);
  const Decoder::Address at =
      is_fixed    ? Decoder::Address{}
      : is_narrow ? Decoder::Address{decoder.slot_of(address.parts.front().index), address.offset}
                  : decoder.address(address);
  std::uint32_t slots[4] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const Operand& value = is_vector ? values.parts[i] : values;
    slots[i] = loads ? decoder.destination(value, type) : decoder.source(value, type);
  }
  Step& step =
      decoder.emit(is_fixed    ? parameter_loader(bytes_of(type))
                   : is_narrow ? mover<std::uint32_t, loads>(bytes_of(type), count, false)
                               : mover<std::uint64_t, loads>(bytes_of(type), count, !is_register));
  step.flow = loads ? Flow::loads : Flow::stores;
  step.to = slots[0];
  std::copy(slots + 1, slots + 4, step.from);
  step.count = static_cast<std::uint8_t>(count);
  step.window = window;
  step.order = order_of(one, Order::weak);
  step.scope = scope_of(one);
  // What passes to a function and back is in registers.
  if (window == Window::local && one.has("param")) step.traffic = Traffic::none;
  if (!one.is_counted) step.traffic = Traffic::none;
  step.joined_bytes = one.joined_bytes;
  step.joined_before = one.joined_before;
  if (is_fixed) {
    step.offset =
        static_cast<std::int64_t>(decoder.symbol(address.parts.front().name)) + address.offset;
    const auto end = static_cast<std::int64_t>(decoder.parameter_bytes());
    if (step.offset < 0 || step.offset + static_cast<std::int64_t>(count) * bytes_of(type) > end) {
      decoder.refuse("a load outside the kernel's parameters");
    }
  } else {
    step.from[kAddress] = at.base;
    step.offset = at.offset;
  }
  decoder.finish();
}

// ---- Atomics: the lanes one after the other ----

template <class T, class Operation>
void combine_lanes(const Step* step, Warp& warp, const Places& places,
                   const memory::WarpAddresses& lanes) {
  const T* const b = warp.values<const T>(step->from[0]);
  const T* const c = warp.values<const T>(step->from[1]);
  std::byte* next = places.first;
  for (std::uint32_t open = lanes.mask; open != 0; open &= open - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(open));
    std::byte* const its = places.first != nullptr ? next : places.each[lane];
    next += sizeof(T);
    T old;
    std::memcpy(&old, its, sizeof old);
    const T made = Operation{}(old, b[lane], c[lane]);
    std::memcpy(its, &made, sizeof made);
    warp.values<T>(step->to)[lane] = old;
  }
}
template <class T, class Operation>
const Step* atomic(const Step* step, Warp& warp) {
  return access_by(step, warp, WarpAccess::Kind::atomic, static_cast<int>(sizeof(T)),
                   &combine_lanes<T, Operation>);
}

// Neighbours of one lane, each by itself.
template <class T, class Operation>
void combine_vectors(const Step* step, Warp& warp, const Places& places,
                     const memory::WarpAddresses& lanes) {
  each_lane(lanes.mask, [&](std::size_t lane) {
    for (std::uint32_t i = 0; i < step->count; ++i) {
      std::byte* const its = places.of(lanes, lane) + i * sizeof(T);
      const auto slot = static_cast<std::uint32_t>(i * sizeof(T) * kLanes);
      const T b = warp.values<const T>(step->from[0] + slot)[lane];
      T old;
      std::memcpy(&old, its, sizeof old);
      const T made = Operation{}(old, b, b);
      std::memcpy(its, &made, sizeof made);
      warp.values<T>(step->to + slot)[lane] = old;
    }
  });
}
template <class T, class Operation>
const Step* atomic_of_vectors(const Step* step, Warp& warp) {
  return access_by(step, warp, WarpAccess::Kind::atomic, static_cast<int>(sizeof(T)) * step->count,
                   &combine_vectors<T, Operation>);
}

// atom.op.v4.type {d...}, [a], {b...}: the values lie one behind the other, in registers of their own.
void build_atomic_of_vectors(Decoder& decoder, const ptx::Instruction& one, Execute run) {
  const bool keeps = one.opcode == "atom";
  const std::size_t address = keeps ? 1 : 0;
  const int bytes = bytes_of(one.type());
  const Type type = bytes == 2 ? Type::b16 : Type::b32;
  if (one.operands.size() != address + 2 || one.operands.back().kind != Operand::Kind::vector) {
    decoder.refuse("another number of operands than known here");
  }
  const std::vector<Operand>& values = one.operands.back().parts;
  const auto block = [&] {
    const std::uint32_t first = decoder.fresh(bytes);
    for (std::size_t i = 1; i < values.size(); ++i) decoder.fresh(bytes);
    return first;
  };
  const auto slot = [&](std::uint32_t first, std::size_t i) {
    return first + static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(bytes * kLanes);
  };
  const auto copy = [&](std::uint32_t from, std::uint32_t to) {
    Step& step = decoder.emit(resize(bytes, bytes, false));
    step.from[0] = from;
    step.to = to;
  };
  const Decoder::Address at = decoder.address(one.operands[address]);
  const std::uint32_t from = block(), to = block();
  for (std::size_t i = 0; i < values.size(); ++i) {
    copy(decoder.source(values[i], type), slot(from, i));
  }
  Step& step = decoder.emit(run);
  step.window = window_named(decoder, one, one.operands[address]);
  step.order = order_of(one, Order::relaxed);
  step.scope = scope_of(one);
  step.keeps = keeps;
  step.count = static_cast<std::uint8_t>(values.size());
  step.to = to;
  step.from[0] = from;
  step.from[kAddress] = at.base;
  step.offset = at.offset;
  if (!keeps) return;
  const std::vector<Operand>& results = one.operands[0].parts;
  if (results.size() != values.size()) decoder.refuse("as many results as values");
  for (std::size_t i = 0; i < results.size(); ++i) {
    copy(slot(to, i), decoder.destination(results[i], type));
  }
  decoder.finish();
}

// What ptxas makes a loop with a compare-and-swap: of wide numbers and floats in shared memory, and of 16 bits anywhere,
// but then the loop has no further load.
Traffic traffic_of_atomic(const ptx::Instruction& one, Window window) {
  const int bytes = bytes_of(one.type());
  if (bytes == 2 && is_of_shared(window)) return Traffic::usual;
  if (bytes == 2) return one.has("cas") ? Traffic::half_compared : Traffic::half_of_word;
  if (one.has("exch") || one.has("cas")) return Traffic::usual;
  const bool is_float = ptx::name_of(one.type()).find('f') != std::string_view::npos;
  return bytes == 8 || (bytes == 4 && is_float) ? Traffic::swapped : Traffic::usual;
}

}  // namespace

int loaded_by_atomic(const ptx::Instruction& one) {
  const bool is_shared = one.has("shared") || one.has("shared::cta");
  if (is_shared == one.has("global")) return 0;
  const Traffic how = traffic_of_atomic(one, is_shared ? Window::shared : Window::global);
  if (how == Traffic::swapped) return is_shared ? bytes_of(one.type()) : 0;
  return how == Traffic::half_of_word || how == Traffic::half_compared ? 4 : 0;
}

namespace {

// atom.op.type d, [a], b[, c]; and red, which keeps nothing.
void build_atomic(Decoder& decoder, const ptx::Instruction& written, Execute run) {
  const ptx::Instruction one = without_policy(written);
  if (one.has("async")) return build_async_reduction(decoder, one, run);
  const bool keeps = one.opcode == "atom";
  const std::size_t address = keeps ? 1 : 0;
  if (one.operands.size() < address + 2 || one.operands.size() > address + 3) {
    decoder.refuse("another number of operands than known here");
  }
  const Type type = one.type();
  const Decoder::Address at = decoder.address(one.operands[address]);
  const std::uint32_t b = decoder.source(one.operands[address + 1], type);
  const std::uint32_t c =
      one.operands.size() == address + 3 ? decoder.source(one.operands[address + 2], type) : b;
  const std::uint32_t to =
      keeps ? decoder.destination(one.operands[0], type) : decoder.fresh(bytes_of(type));
  Step& step = decoder.emit(run);
  step.window = window_named(decoder, one, one.operands[address]);
  step.order = order_of(one, Order::relaxed);
  step.scope = scope_of(one);
  step.keeps = keeps;
  step.traffic = traffic_of_atomic(one, step.window);
  step.to = to;
  step.from[0] = b;
  step.from[1] = c;
  step.from[kAddress] = at.base;
  step.offset = at.offset;
  decoder.finish();
}

void add_atomic_rows(std::vector<Form>& forms, const std::string& operation,
                     void (*build)(Decoder&, const ptx::Instruction&)) {
  const std::string order = "[.relaxed|.acquire|.release|.acq_rel][.cta|.cluster|.gpu|.sys]";
  const std::string space = "[.global|.shared|.shared::cta|.shared::cluster]";
  // CUDA's own headers also write the operation first: atom.add.release.gpu.u32.
  const std::size_t dot = operation.find_first_of(".[");
  const std::string name = "." + operation.substr(0, dot);
  const std::string hint = "[.L2::cache_hint]";
  const std::size_t last = operation.rfind('.');
  const std::string type = operation.substr(dot, last - dot) + hint + operation.substr(last);
  for (const std::string& tail : {order + space + "[.cta|.cluster|.gpu|.sys]" + hint + name + type,
                                  name + order + space + type}) {
    add_built(forms, "atom" + tail, build);
    add_built(forms, "red" + tail, build);
  }
  add_built(forms,
            "red.async[.relaxed][.cluster].shared::cluster.mbarrier::complete_tx::bytes" + name +
                operation.substr(dot),
            build);
}
void add_vector_rows(std::vector<Form>& forms, const std::string& operation,
                     const std::string& type, void (*build)(Decoder&, const ptx::Instruction&)) {
  const std::string order = "[.relaxed|.acquire|.release|.acq_rel][.cta|.cluster|.gpu|.sys]";
  const std::string vector = "(.v2|.v4|.v8)." + type;
  for (const std::string& tail : {"." + operation + vector, vector + "." + operation}) {
    for (const std::string opcode : {"atom", "red"}) {
      add_built(forms, opcode + order + ".global" + tail, build);
    }
  }
}
template <class T, class Operation>
void add_atomic_of_vectors(std::vector<Form>& forms, const std::string& operation,
                           const std::string& type, Operation) {
  add_vector_rows(forms, operation, type, [](Decoder& decoder, const ptx::Instruction& one) {
    build_atomic_of_vectors(decoder, one, &atomic_of_vectors<T, Operation>);
  });
}
template <class T, class Operation>
void add_atomic(std::vector<Form>& forms, const std::string& operation, Operation) {
  add_atomic_rows(forms, operation, [](Decoder& decoder, const ptx::Instruction& one) {
    build_atomic(decoder, one, &atomic<T, Operation>);
  });
}

template <class T>
void add_atomics(std::vector<Form>& forms, const std::string& bits, const std::string& number) {
  const auto add = [&]<class Operation>(const std::string& name, Operation operation) {
    add_atomic<T>(forms, name, operation);
  };
  add("exch." + bits, [](T, T b, T) { return b; });
  add("cas." + bits, [](T old, T b, T c) { return old == b ? c : old; });
  add("and." + bits, [](T old, T b, T) { return static_cast<T>(old & b); });
  add("or." + bits, [](T old, T b, T) { return static_cast<T>(old | b); });
  add("xor." + bits, [](T old, T b, T) { return static_cast<T>(old ^ b); });
  add("add." + number, [](T old, T b, T) { return static_cast<T>(old + b); });
  add("min." + number, [](T old, T b, T) { return b < old ? b : old; });
  add("max." + number, [](T old, T b, T) { return b > old ? b : old; });
}

// One sum, or two in a word.
template <Format format>
std::uint16_t sum_of_halves(std::uint32_t a, std::uint32_t b) {
  const float its = widen<format>(a & 0xffff), other = widen<format>(b & 0xffff);
  return static_cast<std::uint16_t>(
      narrow<format>(multiply_add_to_odd(its, 1, other), Rounding::nearest));
}
// The lesser or greater of two; a number where the other is none, and of zeros the one that its sign makes so.
template <Format format, bool is_greater>
std::uint16_t choice_of_halves(std::uint32_t a, std::uint32_t b) {
  const float its = widen<format>(a & 0xffff), other = widen<format>(b & 0xffff);
  std::uint32_t chosen = 0;
  if (its != its) {
    chosen = other != other ? format.nan() : b;
  } else if (other != other) {
    chosen = a;
  } else if (its == other) {
    chosen = is_greater ? a & b : a | b;
  } else {
    chosen = (its > other) == is_greater ? a : b;
  }
  return static_cast<std::uint16_t>(chosen);
}
template <class T, std::uint16_t (*combine)(std::uint32_t, std::uint32_t)>
T each_half(T old, T b) {
  std::uint32_t made = combine(old, b);
  if constexpr (sizeof(T) == 4) made |= std::uint32_t{combine(old >> 16, b >> 16)} << 16;
  return static_cast<T>(made);
}
template <Format format, class T>
void add_half_atomic(std::vector<Form>& forms, const std::string& type) {
  const auto sum = [](T old, T b, T) { return each_half<T, &sum_of_halves<format>>(old, b); };
  add_atomic<T>(forms, "add.noftz." + type, sum);
  add_atomic_of_vectors<T>(forms, "add.noftz", type, sum);
  add_atomic_of_vectors<T>(forms, "min.noftz", type, [](T old, T b, T) {
    return each_half<T, &choice_of_halves<format, false>>(old, b);
  });
  add_atomic_of_vectors<T>(forms, "max.noftz", type, [](T old, T b, T) {
    return each_half<T, &choice_of_halves<format, true>>(old, b);
  });
}

}  // namespace

void add_memory_forms(std::vector<Form>& forms) {
  const std::string types =
      "[.v2|.v4](.b8|.b16|.b32|.b64|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64|.f32|.f64)";
  const std::string spaces =
      "[.global|.shared|.shared::cta|.shared::cluster|.const|.local|.param|.param::entry]";
  const std::string order =
      "[.mmio][.weak|.volatile|.relaxed|.acquire|.release][.cta|.cluster|.gpu|.sys]";
  const std::string caches =
      "[.nc][.ca|.cg|.cs|.lu|.cv|.wb|.wt][.nc]"
      "[.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate]"
      "[.L2::cache_hint][.L2::64B|.L2::128B|.L2::256B]";
  add_built(forms, "ldu[.global]" + types, &build_move<true>);
  add_built(forms, "ld" + order + spaces + caches + ".b128", &build_move<true>);
  add_built(forms, "st" + order + spaces + caches + ".b128", &build_move<false>);
  add_built(forms, "ld" + order + spaces + caches + types, &build_move<true>);
  add_built(forms, "st" + order + spaces + caches + types, &build_move<false>);
  using U32 = std::uint32_t;
  using S32 = std::int32_t;
  using U64 = std::uint64_t;
  using S64 = std::int64_t;
  add_atomics<U32>(forms, "b32", "u32");
  add_atomics<U64>(forms, "b64", "u64");
  add_atomic<S32>(forms, "add.s32", [](S32 old, S32 b, S32) {
    return static_cast<S32>(static_cast<U32>(old) + static_cast<U32>(b));
  });
  add_atomic<S32>(forms, "min.s32", [](S32 old, S32 b, S32) { return b < old ? b : old; });
  add_atomic<S32>(forms, "max.s32", [](S32 old, S32 b, S32) { return b > old ? b : old; });
  add_atomic<S64>(forms, "min.s64", [](S64 old, S64 b, S64) { return b < old ? b : old; });
  add_atomic<S64>(forms, "max.s64", [](S64 old, S64 b, S64) { return b > old ? b : old; });
  add_atomic<U32>(forms, "inc.u32", [](U32 old, U32 b, U32) { return old >= b ? 0 : old + 1; });
  add_atomic<U32>(forms, "dec.u32",
                  [](U32 old, U32 b, U32) { return old == 0 || old > b ? b : old - 1; });
  add_atomic<Wide>(forms, "exch.b128", [](Wide, Wide b, Wide) { return b; });
  add_atomic<Wide>(forms, "cas.b128", [](Wide old, Wide b, Wide c) { return old == b ? c : old; });
  const auto sum = [](float old, float b, float) { return settled(old + b); };
  add_atomic<float>(forms, "add[.rn].f32", sum);
  // Those of several floats are made elsewhere than others: numbers below the normal ones are zeros there.
  add_atomic_of_vectors<float>(forms, "add", "f32", [](float old, float b, float) {
    return settled(Flushed<std::plus<>>{}(old, b));
  });
  // What is no number stays as it is.
  add_atomic<double>(forms, "add[.rn].f64",
                     [](double old, double b, double) { return old != old ? old : old + b; });
  add_half_atomic<kF16, std::uint16_t>(forms, "f16");
  add_half_atomic<kF16, U32>(forms, "f16x2");
  add_half_atomic<kBf16, std::uint16_t>(forms, "bf16");
  add_half_atomic<kBf16, U32>(forms, "bf16x2");
  add_atomic<std::uint16_t>(
      forms, "cas.b16",
      [](std::uint16_t old, std::uint16_t b, std::uint16_t c) { return old == b ? c : old; });
  // The lanes here are in one order anyway: a fence is for who judges what they may conclude.
  const auto fence = [](Decoder& decoder, const ptx::Instruction& one) {
    Step& step = decoder.emit([](const Step* its, Warp& warp) {
      warp.block->grid->observer->fence(warp, *its);
      return its + 1;
    });
    step.order = order_of(one, Order::sc);
    step.scope = one.has("gl") ? Scope::gpu : scope_of(one);
  };
  add_built(forms, "membar(.cta|.gl|.sys|.proxy)[.alias]", fence);
  add_built(forms, "fence.mbarrier_init.release.cluster", fence);
  add_built(forms, "fence.proxy(.alias|.async)[.global|.shared::cta|.shared::cluster]", fence);
  add_built(forms,
            "fence.proxy.async::generic(.acquire|.release)"
            "(.sync_restrict::shared::cta|.sync_restrict::shared::cluster).cluster",
            fence);
  add_built(forms, "fence.proxy.tensormap::generic(.acquire|.release)(.cta|.cluster|.gpu|.sys)",
            fence);
  add_built(forms,
            "fence(.acquire|.release)"
            "(.sync_restrict::shared::cta|.sync_restrict::shared::cluster).cluster",
            fence);
  add_built(forms, "fence[.sc|.acq_rel|.acquire|.release](.cta|.gpu|.sys|.cluster)", fence);
}

}  // namespace simt::machine
