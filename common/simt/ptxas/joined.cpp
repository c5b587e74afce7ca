#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "common/simt/ptxas/accesses.hpp"
#include "common/simt/ptxas/jumps.hpp"
#include "common/simt/ptxas/passes.hpp"

namespace simt::ptxas {
namespace {

constexpr std::int64_t kWidest = 16;  // bytes of one access of a lane

// What a register has been loaded with already is not loaded again, on the way straight on past jumps neither; nor,
// where nobody writes it (__ldg), past stores and barriers, and where ways meet that all come from there.
class Repeats {
 public:
  Repeats(const Registers& registers, Rewritten& rewritten)
      : registers_(registers), rewritten_(rewritten) {}

  void add(const Instruction& one, std::int32_t place) {
    if (values(one) != 1 || ptx::bytes_of(one.type()) < 4) return;
    const Registers::Sum at = registers_.sum(address_of(one));
    const auto before = std::find_if(known_.begin(), known_.end(), [&](const Known& its) {
      return its.at == at && its.at.bytes == at.bytes && its.one->modifiers == one.modifiers;
    });
    if (before == known_.end()) {
      if (registers_.definitions(value_of(one).index).size() == 1)
        known_.push_back({&one, at, place});
      return;
    }
    rewritten_[&one] = {as_move(one, *before->one)};
  }
  // Addresses that change are others.
  void write(const Instruction& one) {
    if (known_.empty()) return;
    for (const std::int32_t index : written_by(one)) {
      std::erase_if(known_, [&](const Known& its) { return its.at.has(index); });
    }
  }
  void end(std::int32_t first_comer) {
    std::erase_if(known_,
                  [&](const Known& its) { return !its.one->has("nc") || its.place > first_comer; });
  }

 private:
  struct Known {
    const Instruction* one;
    Registers::Sum at;
    std::int32_t place;
  };
  const Registers& registers_;
  Rewritten& rewritten_;
  std::vector<Known> known_;
};

// Whether a half of a word that is loaded fills a register: one that is read as a whole number of its own sign, or as bits.
bool is_widened(const Registers& registers, const Instruction& load) {
  static const auto& of_any_sign = *new std::set<std::string_view>{
      "add", "sub", "and", "or", "xor", "not", "neg", "shl", "selp"};
  static const auto& of_a_sign =
      *new std::set<std::string_view>{"cvt", "mad", "mul", "setp", "shr"};
  const auto is_signed = [](const Instruction& one) { return one.modifiers.back() == "s16"; };
  const std::int32_t index = value_of(load).index;
  if (registers.bytes_of(index) > 2) return true;
  const std::vector<const Instruction*>& readers = registers.readers(index);
  return std::any_of(readers.begin(), readers.end(), [&](const Instruction* reader) {
    const Instruction& one = *reader;
    const std::string_view type = one.modifiers.empty() ? "" : one.modifiers.back();
    if (type != "s16" && type != "u16" && type != "b16") return false;
    if (of_any_sign.contains(one.opcode) || (one.opcode == "mov" && one.guard >= 0)) return true;
    if (!of_a_sign.contains(one.opcode)) return false;
    if (one.opcode == "cvt") {
      const std::string_view to = one.modifiers[one.modifiers.size() - 2];
      if (to != "u32" && to != "s32" && to != "u64" && to != "s64") return false;
    }
    return is_signed(one) == is_signed(load) ||
           (one.opcode == "setp" && one.operands.back().kind == Operand::Kind::number);
  });
}

// Loads, or stores, of one stretch of code in which nothing else comes between them and that memory.
class Stretch {
 public:
  Stretch(Registers& registers, Rewritten& rewritten, std::string_view space)
      : registers_(registers), rewritten_(rewritten), is_shared_(space == "shared") {}

  void add(const Instruction& one) {
    all_.push_back({&one, registers_.sum(address_of(one)), way_});
  }
  // A jump that some lanes may take: what comes behind it, or at its place, is not for all that ran what stands before.
  void part(std::int32_t place) {
    arms_[place] = way_;
    way_.push_back(++ways_);
  }
  // A jump around steps that are for those who do not take it, to where all go on.
  void begin_choice() { way_.push_back(++ways_); }
  void end_choices(std::size_t count) { way_.resize(way_.size() - std::min(count, way_.size())); }
  // Where nobody comes but by that jump.
  bool is_arm(std::int32_t place) const { return arms_.contains(place); }
  void go_to_arm(std::int32_t place) {
    way_ = arms_[place];
    way_.push_back(++ways_);
  }
  void end() {
    way_.clear();
    arms_.clear();
    while (!all_.empty()) {
      // Those of whose address only the bytes differ; first those of one type.
      const Access first = all_.front();
      std::vector<Access> near = taken_from(all_, [&](const Access& other) {
        return other.at == first.at && other.one->has("nc") == first.one->has("nc");
      });
      std::vector<Piece> pieces, halves;
      while (!near.empty()) {
        const std::int64_t size = size_of(near.front());
        std::vector<Access> alike =
            taken_from(near, [&](const Access& other) { return size_of(other) == size; });
        while (!alike.empty()) {
          const Way way = alike.front().way;
          std::vector<Access> beside =
              taken_from(alike, [&](const Access& other) { return other.way == way; });
          if (is_shared_) merge(beside, pieces, halves);
          for (const Access& access : beside) {
            const Half half = half_of(access);
            if (half == Half::widened) continue;
            (half == Half::single ? halves : pieces)
                .push_back({access.one, access.at.bytes, bytes_of(access), size, access.at.origin,
                            way, registers_.is_inside(access.at, bytes_of(access)),
                            half == Half::single});
          }
        }
      }
      join(first, pieces);
      join(first, halves);
    }
  }

 private:
  using Way = std::vector<int>;  // the jumps that led there
  // Single halves of words that are loaded: of those that are not widened several become one, as of words.
  enum class Half { none, single, widened };
  struct Access {
    const Instruction* one;
    Registers::Sum at;
    Way way;
  };
  // What is there in the end, at its place.
  struct Piece {
    const Instruction* place;
    std::int64_t at, bytes, size;  // size: of one value
    std::string_view origin;
    Way way;
    bool is_inside;  // its variable, whose place is known
    bool is_half;    // or of several that are single
  };
  template <class Is>
  static std::vector<Access> taken_from(std::vector<Access>& all, Is is_taken) {
    std::vector<Access> taken;
    std::erase_if(all, [&](const Access& one) {
      if (is_taken(one)) taken.push_back(one);
      return is_taken(one);
    });
    return taken;
  }
  static std::int64_t size_of(const Access& access) { return ptx::bytes_of(access.one->type()); }
  static std::int64_t bytes_of(const Access& access) {
    return size_of(access) * static_cast<std::int64_t>(values(*access.one));
  }

  Half half_of(const Access& access) const {
    if (!is_shared_ || !is_load(*access.one) || size_of(access) != 2 ||
        value_of(*access.one).kind != Operand::Kind::reg) {
      return Half::none;
    }
    return is_widened(registers_, *access.one) ? Half::widened : Half::single;
  }

  // Those that fill an aligned chunk become one: of up to four words, or of up to four halves. What is left stays in
  // `accesses`.
  void merge(std::vector<Access>& accesses, std::vector<Piece>& pieces,
             std::vector<Piece>& halves) {
    if (accesses.empty()) return;
    const std::int64_t size = size_of(accesses.front());
    if (size < 2) return;
    const bool are_halves = size == 2 && is_load(*accesses.front().one);
    const auto aligned = static_cast<std::int64_t>(registers_.divisor(accesses.front().at));
    for (std::int64_t width = size == 2 ? 8 : kWidest; width > size; width /= 2) {
      if (aligned % width != 0) continue;
      std::map<std::int64_t, std::vector<Access>> chunks;
      for (const Access& access : accesses) {
        if (are_halves && half_of(access) != Half::single) continue;
        const std::int64_t at = access.at.bytes;
        std::vector<Access>& its = chunks[(at - (at % width + width) % width) / width];
        its.insert(std::find_if(its.begin(), its.end(),
                                [&](const Access& other) { return other.at.bytes > at; }),
                   access);
      }
      for (auto& [chunk, members] : chunks) {
        std::int64_t end = chunk * width;
        bool is_whole = members.size() > 1;
        for (const Access& member : members) {
          is_whole &= member.at.bytes == end;
          end = member.at.bytes + bytes_of(member);
        }
        if (!is_whole || end != (chunk + 1) * width || !can_move(members)) continue;
        if (!are_of_one(members) &&
            !std::all_of(members.begin(), members.end(), [&](const Access& member) {
              return registers_.is_inside(member.at, bytes_of(member));
            })) {
          continue;
        }
        (are_halves ? halves : pieces)
            .push_back({replace(members), chunk * width, width, size, members.front().at.origin,
                        members.front().way,
                        registers_.is_inside(members.front().at, bytes_of(members.front())),
                        are_halves});
        std::erase_if(accesses, [&](const Access& access) {
          return std::any_of(members.begin(), members.end(),
                             [&](const Access& member) { return member.one == access.one; });
        });
      }
    }
  }

  // Pieces of several types that fill an aligned chunk become one access too, and so do three of four words, or halves, of
  // shared memory that are loaded, with one that nobody reads, and what is loaded behind a jump with what was loaded before it.
  // They stay what they are, for nobody shall say that the fourth was read, or by whom; only one is counted, as all of them.
  void join(const Access& first, std::vector<Piece>& pieces) {
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return std::tuple(a.at, a.way.size(), b.bytes) < std::tuple(b.at, b.way.size(), a.bytes);
    });
    for (std::int64_t width = kWidest; width >= (is_shared_ ? 8 : 4); width /= 2) {
      const std::optional<std::int64_t> phase = phase_of(first, pieces, width);
      if (!phase) continue;
      for (auto begin = pieces.begin(); begin != pieces.end();) {
        const std::int64_t chunk = begin->at - ((begin->at - *phase) % width + width) % width;
        const auto end = std::find_if(begin, pieces.end(),
                                      [&](const Piece& its) { return its.at >= chunk + width; });
        if (is_one(begin, end, chunk, width) && keeps_address(first.at, begin, end)) {
          count_as_one(begin, end, chunk, width);
        }
        begin = end;
      }
      std::erase_if(pieces, [](const Piece& its) { return its.bytes == 0; });
    }
  }

  // Where behind the base something is known to be a multiple of the width. Global memory is so where a wide access is.
  std::optional<std::int64_t> phase_of(const Access& first, const std::vector<Piece>& pieces,
                                       std::int64_t width) {
    if (is_shared_) {
      if (static_cast<std::int64_t>(registers_.divisor(first.at)) % width != 0) return std::nullopt;
      return 0;
    }
    for (const Piece& its : pieces) {
      if (its.bytes >= width) return its.at;
    }
    return std::nullopt;
  }

  // Whether all who come to the second have come by the first.
  static bool is_behind(const Piece& first, const Piece& second) {
    return second.way.size() >= first.way.size() &&
           std::equal(first.way.begin(), first.way.end(), second.way.begin());
  }

  // The first of those that most come to.
  static const Piece& for_all(std::vector<Piece>::iterator begin,
                              std::vector<Piece>::iterator end) {
    return *std::min_element(begin, end, [](const Piece& a, const Piece& b) {
      return std::pair(a.way.size(), a.place) < std::pair(b.way.size(), b.place);
    });
  }

  bool is_one(std::vector<Piece>::iterator begin, std::vector<Piece>::iterator end,
              std::int64_t chunk, std::int64_t width) const {
    std::int64_t next = chunk, all = 0;
    bool are_of_one_type = true, are_parted = false, are_of_one = true, are_wide = false;
    // Of halves of a word only those that are stored.
    const bool are_halves = width == 4;
    if (are_halves && is_load(*begin->place)) return false;
    for (auto its = begin; its != end; ++its) {
      // What has been loaded for all need not be for some.
      if (its != begin && is_load(*its->place) && its->at + its->bytes <= next &&
          is_behind(*(its - 1), *its)) {
        continue;
      }
      const bool may_be_half = are_halves || its->is_half;
      if (its->bytes < (may_be_half ? 2 : 4) || its->at < next) return false;
      are_wide |= its->size > 4;
      if (its->origin != begin->origin) {
        if (!its->is_inside || !begin->is_inside) return false;
        are_of_one = false;
      }
      next = its->at + its->bytes;
      all += its->bytes;
      are_of_one_type &= its->size == begin->size;
      are_parted |= its->way != begin->way;
    }
    if (end - begin < 2 || next > chunk + width) return false;
    if (are_wide && !are_parted) return false;
    const Piece& first = for_all(begin, end);
    if (!std::all_of(begin, end, [&](const Piece& its) { return is_behind(first, its); })) {
      return false;
    }
    if (begin->is_half) return width == 8 && (all == 8 || all == 6);
    // (Values of a word each are one already, if they can be.)
    const bool are_parts_of_words = is_shared_ && begin->size < 4 && is_load(*begin->place);
    if (all == width) {
      return are_parted || (are_of_one && (!are_of_one_type || are_parts_of_words));
    }
    return is_shared_ && is_load(*begin->place) && width == kWidest && all == 12 &&
           begin->size == 4 && are_of_one_type;
  }

  static bool changes(const Registers::Sum& address, const Instruction& one) {
    const std::vector<std::int32_t> all = written_by(one);
    return std::any_of(all.begin(), all.end(),
                       [&](std::int32_t index) { return address.has(index); });
  }
  static std::pair<const Instruction*, const Instruction*> places_of(
      std::vector<Piece>::iterator begin, std::vector<Piece>::iterator end) {
    const auto [first, last] = std::minmax_element(
        begin, end, [](const Piece& a, const Piece& b) { return a.place < b.place; });
    return {first->place, last->place};
  }
  // Whether nothing that the address is made of changes between the first of them and the last.
  static bool keeps_address(const Registers::Sum& address, std::vector<Piece>::iterator begin,
                            std::vector<Piece>::iterator end) {
    const auto [first, last] = places_of(begin, end);
    return std::none_of(first, last, [&](const Instruction& one) { return changes(address, one); });
  }

  void count_as_one(std::vector<Piece>::iterator begin, std::vector<Piece>::iterator end,
                    std::int64_t chunk, std::int64_t width) {
    const Instruction* const counted =
        is_load(*begin->place) ? for_all(begin, end).place : places_of(begin, end).second;
    for (auto its = begin; its != end; ++its) {
      std::vector<Instruction>& made = rewritten_[its->place];
      if (made.empty()) made.push_back(*its->place);
      if (its->place == counted) {
        made.front().joined_bytes = static_cast<std::uint8_t>(width);
        made.front().joined_before = static_cast<std::uint8_t>(its->at - chunk);
      } else {
        made.front().is_counted = false;
      }
      its->bytes = 0;
    }
  }

  // Whether what stands there, or what has been written in its place, is so.
  template <class Is>
  bool is_now(const Instruction& one, Is is) const {
    const auto found = rewritten_.find(&one);
    if (found == rewritten_.end()) return is(one);
    return std::any_of(found->second.begin(), found->second.end(), is);
  }

  // Loads can stand where the first of them is: until its own place nobody reads or writes a result, or changes the
  // address. Stores can stand where the last of them is: until there nobody changes a value or the address.
  bool can_move(const std::vector<Access>& members) const {
    const auto [first, last] = places_of(members);
    for (const Access& member : members) {
      const Instruction* const one = member.one;
      const Instruction* const begin = is_load(*one) ? first : one + 1;
      const Instruction* const end = is_load(*one) ? one : last;
      for (const Instruction* at = begin; at < end; ++at) {
        if (changes(members.front().at, *at)) return false;
        for (const std::int32_t value : value_of(*one).registers()) {
          if (is_now(*at, [&](const Instruction& its) {
                return writes(its, value) || (is_load(*one) && reads(its, value));
              })) {
            return false;
          }
        }
      }
    }
    return true;
  }

  static bool are_of_one(const std::vector<Access>& members) {
    return std::all_of(members.begin(), members.end(), [&](const Access& member) {
      return member.at.origin == members.front().at.origin;
    });
  }

  static std::pair<const Instruction*, const Instruction*> places_of(
      const std::vector<Access>& members) {
    const auto [first, last] =
        std::minmax_element(members.begin(), members.end(),
                            [](const Access& a, const Access& b) { return a.one < b.one; });
    return {first->one, last->one};
  }

  const Instruction* replace(const std::vector<Access>& members) {
    const auto [first, last] = places_of(members);
    const Instruction* const place = is_load(*first) ? first : last;
    std::vector<Operand> all;
    std::int64_t further = 0;
    for (const Access& member : members) {
      for (std::size_t i = 0; i < values(*member.one); ++i) all.push_back(value(*member.one, i));
      if (member.one == place) further = members.front().at.bytes - member.at.bytes;
      rewritten_[member.one] = {};
    }
    Instruction made = with_values(*place, all, further);
    if (!are_of_one(members)) {
      // It is no access of one variable.
      Operand& address = made.operands[is_load(made) ? 1 : 0];
      address.parts.front() = {};
      address.offset = members.front().at.bytes;
    }
    rewritten_[place] = {std::move(made)};
    return place;
  }

  Registers& registers_;
  Rewritten& rewritten_;
  bool is_shared_;
  std::vector<Access> all_;
  Way way_ = {};
  std::map<std::int32_t, Way> arms_ = {};  // of places that jumps lead to
  int ways_ = 0;
};

}  // namespace

void join_accesses(const Pass& pass) {
  const Choices choices(pass.function, pass.labels);
  const std::set<std::int32_t> arms = arms_of(pass.function);
  const std::vector<std::int32_t> comers = first_comers(pass.function);
  for (const std::string_view space : {"shared", "global"}) {
    Stretch loads(pass.registers, pass.rewritten, space),
        stores(pass.registers, pass.rewritten, space);
    Repeats repeats(pass.registers, pass.rewritten);
    for (std::int32_t place = 0; place < pass.size(); ++place) {
      const Instruction& one = pass.at(place);
      const bool is_label = pass.labels.contains(place);
      const bool is_end = is_label || is_fixed(one, space);
      const bool is_passed = space == "shared" && (!is_label || choices.ends.contains(place)) &&
                             (!is_fixed(one, space) || choices.jumps.contains(place));
      const bool is_store = one.opcode == "st" && may_be(one, space);
      const bool is_call = may_be_call(one);
      const bool goes_on = !is_label && one.opcode == "bra" && one.guard >= 0;
      const auto is_arm = [&](std::int32_t its) { return arms.contains(its) && loads.is_arm(its); };
      if (const auto its = choices.ends.find(place);
          space == "shared" && its != choices.ends.end()) {
        loads.end_choices(its->second);
      }
      const bool begins_arm = is_arm(place);
      if (begins_arm) loads.go_to_arm(place);
      const bool parts = space == "shared" && !is_passed && (!is_label || begins_arm) &&
                         one.opcode == "bra" && target(pass.function, one) > place &&
                         (one.guard >= 0 || is_arm(place + 1));
      if (space == "shared" && choices.jumps.contains(place)) {
        if (!is_passed && !begins_arm) loads.end();
        loads.begin_choice();
      } else if (parts) {
        loads.part(target(pass.function, one));
      } else if (is_store || is_call ||
                 (!is_passed && ((is_label && !begins_arm) || is_fixed(one, space)))) {
        loads.end();
      }
      const bool may_lack = is_passed && choices.with_loads.contains(place);
      if ((is_end && !is_passed && !goes_on) || is_store || may_lack) {
        // Nothing was seen to be kept past a call.
        repeats.end(one.opcode == "call" ? -1 : comers[static_cast<std::size_t>(place)]);
      }
      if (is_load(one) && is_mergeable(one, space) && !pass.rewritten.contains(&one)) {
        repeats.add(one, place);
      }
      repeats.write(one);
      if (is_end || is_call || (is_load(one) && may_be(one, space))) stores.end();
      if (!is_mergeable(one, space) || pass.rewritten.contains(&one)) {
        if (is_store) stores.end();
        continue;
      }
      (is_load(one) ? loads : stores).add(one);
    }
    loads.end();
    stores.end();
  }
}

}  // namespace simt::ptxas
