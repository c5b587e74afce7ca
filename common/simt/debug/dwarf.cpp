#include "common/simt/debug/dwarf.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace simt::debug {
namespace {

// Of DWARF 2, those that nvcc writes.
enum Tag : std::uint64_t {
  kArray = 0x01,
  kClass = 0x02,
  kEnumeration = 0x04,
  kParameter = 0x05,
  kBlock = 0x0b,
  kMember = 0x0d,
  kPointer = 0x0f,
  kReference = 0x10,
  kStructure = 0x13,
  kTypedef = 0x16,
  kUnion = 0x17,
  kInheritance = 0x1c,
  kInlined = 0x1d,
  kSubrange = 0x21,
  kBase = 0x24,
  kConst = 0x26,
  kEnumerator = 0x28,
  kFunction = 0x2e,
  kVariable = 0x34,
  kVolatile = 0x35,
  kRestrict = 0x37,
  kRvalueReference = 0x42,
};
enum Attribute : std::uint64_t {
  kLocation = 0x02,
  kName = 0x03,
  kByteSize = 0x0b,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kConstValue = 0x1c,
  kUpperBound = 0x2f,
  kOrigin = 0x31,
  kCount = 0x37,
  kMemberLocation = 0x38,
  kEncoding = 0x3e,
  kTypeIs = 0x49,
};

// Of one section its bytes, and the names that stand in place of numbers.
struct Section {
  std::string bytes;
  std::map<std::size_t, std::pair<std::string, std::uint64_t>> symbols;  // and what is added
};

class Reader {
 public:
  Reader(const Section& section, std::size_t at, std::size_t end)
      : section_(section), at_(at), end_(std::min(end, section.bytes.size())) {}
  explicit Reader(const Section& section) : Reader(section, 0, section.bytes.size()) {}

  std::size_t at() const { return at_; }
  bool is_at_end() const { return at_ >= end_; }
  void skip(std::size_t bytes) { at_ += bytes; }
  std::uint64_t number(std::size_t bytes) {
    if (at_ + bytes > end_) throw std::runtime_error("the debug information ends too early");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(section_.bytes[at_ + i])} << 8 * i;
    }
    at_ += bytes;
    return value;
  }
  // LEB128.
  std::uint64_t packed(bool is_signed = false) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint64_t byte = number(1);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) != 0) continue;
      if (is_signed && (byte & 0x40) != 0 && shift + 7 < 64)
        value |= ~std::uint64_t{0} << (shift + 7);
      return value;
    }
  }
  std::string text() {
    const std::size_t zero = std::min(section_.bytes.find('\0', at_), end_);
    const std::string found = section_.bytes.substr(at_, zero - at_);
    at_ = zero + 1;
    return found;
  }
  // The name that stands here in place of a number, if there is one.
  const std::pair<std::string, std::uint64_t>* symbol() const {
    const auto found = section_.symbols.find(at_);
    return found == section_.symbols.end() ? nullptr : &found->second;
  }

 private:
  const Section& section_;
  std::size_t at_, end_;
};

struct Entry {
  struct Attribute {
    std::uint64_t number = 0;
    std::string text;       // a string, or a symbol
    std::size_t block = 0;  // of an expression its bytes: so many from here
    bool is_block = false;
  };
  std::uint64_t tag = 0;
  std::size_t offset = 0;
  int parent = -1;
  std::map<std::uint64_t, Attribute> attributes;

  const Attribute* find(std::uint64_t name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : &found->second;
  }
  std::uint64_t number(std::uint64_t name, std::uint64_t otherwise = 0) const {
    const Attribute* const its = find(name);
    return its == nullptr ? otherwise : its->number;
  }
};

std::string_view without_blanks(std::string_view line) {
  const std::size_t from = line.find_first_not_of(" \t\r");
  if (from == line.npos) return {};
  return line.substr(from, line.find_last_not_of(" \t\r") - from + 1);
}

}  // namespace

// One of nvcc's outputs: a program that is linked from several files has several.
class Unit {
 public:
  explicit Unit(DebugInfo& to) : to_(to) {}

  void line(std::string_view text, int number) {
    text = without_blanks(text);
    if (section_ == nullptr) {
      if (text.starts_with(".section")) {
        section_ = &sections_[std::string(without_blanks(text.substr(8)))];
      } else if (text.starts_with('$') && text.ends_with(':')) {
        lines_[std::string(text.substr(0, text.size() - 1))] = number;
      }
    } else if (text == "}") {
      section_ = nullptr;
    } else if (text.starts_with(".b")) {
      data(text);
    }
  }

  void end() {
    read_entries();
    for (const Entry& one : entries_) {
      if (one.tag == kVariable && one.parent >= 0 && entry(one.parent).parent < 0) {
        to_.globals_.push_back(variable(one, {}));
      }
      if (one.tag == kFunction && one.find(kLowPc) != nullptr) {
        to_.functions_.push_back({name_of(one), range_of(one), {}, {}});
        add_scope(one, range_of(one), to_.functions_.back());
      }
    }
  }

 private:
  // .b8 1,2    .b64 $L__tmp1    .b32 .debug_loc+133
  void data(std::string_view text) {
    std::size_t bits = 0;
    const char* const end = text.data() + text.size();
    const char* at = std::from_chars(text.data() + 2, end, bits).ptr;
    while (at < end) {
      while (at < end && (*at == ' ' || *at == '\t' || *at == ',')) ++at;
      const char* const from = at;
      while (at < end && *at != ',') ++at;
      const std::string_view word = without_blanks({from, static_cast<std::size_t>(at - from)});
      std::int64_t value = 0;
      if (std::from_chars(word.data(), word.data() + word.size(), value).ec != std::errc()) {
        const std::size_t plus = std::min(word.find('+'), word.size());
        if (plus < word.size())
          std::from_chars(word.data() + plus + 1, word.data() + word.size(), value);
        section_->symbols[section_->bytes.size()] = {std::string(word.substr(0, plus)),
                                                     static_cast<std::uint64_t>(value)};
        value = 0;
      }
      for (std::size_t i = 0; i < bits / 8; ++i) {
        section_->bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> 8 * i);
      }
    }
  }

  const Entry& entry(int index) const { return entries_[static_cast<std::size_t>(index)]; }

  void read_entries() {
    Reader info(sections_[".debug_info"]);
    while (!info.is_at_end()) {
      unit_ = info.at();
      const std::size_t end = info.number(4) + info.at();
      info.skip(2);  // version
      const auto* const where = info.symbol();
      abbreviations(where == nullptr ? info.number(4) : where->second);
      if (where != nullptr) info.skip(4);
      info.skip(1);  // bytes of an address
      std::vector<int> parents = {-1};
      while (info.at() < end && !parents.empty()) {
        Entry one;
        one.offset = info.at();
        one.parent = parents.back();
        const std::uint64_t code = info.packed();
        if (code == 0) {
          parents.pop_back();
          continue;
        }
        const Abbreviation& its = abbreviations_.at(code);
        one.tag = its.tag;
        for (const auto& [name, form] : its.attributes) one.attributes[name] = read(info, form);
        by_offset_[one.offset] = static_cast<int>(entries_.size());
        if (its.has_children) parents.push_back(static_cast<int>(entries_.size()));
        entries_.push_back(std::move(one));
      }
      info.skip(end - std::min(end, info.at()));
    }
  }

  void abbreviations(std::size_t at) {
    const Section& section = sections_[".debug_abbrev"];
    abbreviations_.clear();
    Reader reader(section, at, section.bytes.size());
    while (const std::uint64_t code = reader.packed()) {
      Abbreviation& its = abbreviations_[code];
      its.tag = reader.packed();
      its.has_children = reader.number(1) != 0;
      for (;;) {
        const std::uint64_t name = reader.packed(), form = reader.packed();
        if (name == 0 && form == 0) break;
        its.attributes.emplace_back(name, form);
      }
    }
  }

  Entry::Attribute read(Reader& info, std::uint64_t form) {
    Entry::Attribute its;
    const auto block = [&](std::size_t bytes) {
      its.is_block = true;
      its.number = bytes;
      its.block = info.at();
      info.skip(bytes);
    };
    switch (form) {
      case 0x01:  // an address: of a line of the text, or of a variable
        if (const auto* const symbol = info.symbol(); symbol != nullptr) {
          its.text = symbol->first;
          const auto found = lines_.find(symbol->first);
          if (found != lines_.end()) its.number = static_cast<std::uint64_t>(found->second);
          info.skip(8);
        } else {
          its.number = info.number(8);
        }
        break;
      case 0x0a:
        block(info.number(1));
        break;
      case 0x05:
        its.number = info.number(2);
        break;
      case 0x06:    // also where something is in another section
      case 0x13: {  // in this one
        const auto* const symbol = info.symbol();
        its.number = info.number(4);
        if (symbol != nullptr) its.number = symbol->second;
        if (form == 0x13) its.number += unit_;
        break;
      }
      case 0x07:
        its.number = info.number(8);
        break;
      case 0x08:
        its.text = info.text();
        break;
      case 0x0b:
      case 0x0c:
        its.number = info.number(1);
        break;
      case 0x0d:
        its.number = info.packed(true);
        break;
      case 0x0f:
        its.number = info.packed();
        break;
      default:
        throw std::runtime_error("the debug information has a form that is not known here: " +
                                 std::to_string(form));
    }
    return its;
  }

  // Where a copy of a function was put in place of its call, names are with the function itself.
  const Entry* with(const Entry& from, std::uint64_t attribute) const {
    const Entry* one = &from;
    while (one->find(attribute) == nullptr) {
      const auto origin = by_offset_.find(one->number(kOrigin));
      if (one->find(kOrigin) == nullptr || origin == by_offset_.end()) return nullptr;
      one = &entry(origin->second);
    }
    return one;
  }
  std::string name_of(const Entry& one) const {
    const Entry* const its = with(one, kName);
    return its == nullptr ? "" : its->find(kName)->text;
  }
  static Range range_of(const Entry& one) {
    return {static_cast<int>(one.number(kLowPc)), static_cast<int>(one.number(kHighPc))};
  }

  void add_scope(const Entry& scope, Range range, Function& to) {
    const int index = by_offset_.at(scope.offset);
    // Children come behind their parents.
    for (std::size_t i = static_cast<std::size_t>(index) + 1; i < entries_.size(); ++i) {
      const Entry& one = entries_[i];
      if (one.parent < index) break;
      if (one.parent != index) continue;
      if (one.tag == kVariable || one.tag == kParameter) {
        to.variables.push_back(variable(one, range));
      } else if (one.tag == kBlock || one.tag == kInlined) {
        const bool has_range = one.find(kLowPc) != nullptr;
        if (has_range && one.tag == kInlined) to.inlined.push_back(range_of(one));
        add_scope(one, has_range ? range_of(one) : range, to);
      }
    }
  }

  Variable variable(const Entry& one, Range scope) {
    Variable made{name_of(one), type_of(one), scope, {}, ""};
    if (const Entry::Attribute* const constant = one.find(kConstValue)) {
      for (std::size_t i = 0; i < 8 && !constant->is_block; ++i) {
        made.constant += static_cast<char>(constant->number >> 8 * i);
      }
      if (constant->is_block) {
        made.constant = sections_[".debug_info"].bytes.substr(constant->block, constant->number);
      }
    }
    const Entry::Attribute* const location = one.find(kLocation);
    if (location == nullptr) return made;
    if (location->is_block) {
      made.places.push_back(place(sections_[".debug_info"], location->block, location->number));
      return made;
    }
    const Section& list = sections_[".debug_loc"];
    for (Reader reader(list, location->number, list.bytes.size()); !reader.is_at_end();) {
      const auto line = [&]() -> int {
        const auto* const symbol = reader.symbol();
        reader.skip(8);
        const auto found = symbol == nullptr ? lines_.end() : lines_.find(symbol->first);
        return found == lines_.end() ? 0 : found->second;
      };
      const Range range{line(), line()};
      if (range.until == 0) break;
      const std::size_t bytes = reader.number(2);
      made.places.push_back(place(list, reader.at(), bytes));
      made.places.back().range = range;
      reader.skip(bytes);
    }
    return made;
  }

  static Place place(const Section& section, std::size_t at, std::size_t bytes) {
    Place made;
    for (Reader reader(section, at, at + bytes); !reader.is_at_end();) {
      switch (reader.number(1)) {
        case 0x03:  // the address of a variable
          if (reader.symbol() == nullptr) return {};
          made.name = reader.symbol()->first;
          made.offset = reader.symbol()->second;
          reader.skip(8);
          break;
        case 0x23:  // and behind it
          made.offset += reader.packed();
          break;
        case 0x90: {  // a register: the letters of its name are the number
          for (std::uint64_t name = reader.packed(); name != 0; name >>= 8) {
            made.name.insert(made.name.begin(), static_cast<char>(name & 0xff));
          }
          break;
        }
        default:
          return {};
      }
    }
    return made;
  }

  const Type* type_of(const Entry& one) {
    const Entry* const its = with(one, kTypeIs);
    if (its == nullptr) return nullptr;
    const auto found = by_offset_.find(its->number(kTypeIs));
    return found == by_offset_.end() ? nullptr : type_at(found->second);
  }

  const Type* type_at(int index) {
    const auto known = types_.find(index);
    if (known != types_.end()) return known->second;
    const Entry& one = entry(index);
    if (one.tag == kConst || one.tag == kVolatile || one.tag == kRestrict || one.tag == kTypedef) {
      return types_[index] = type_of(one);
    }
    Type& made = to_.types_.emplace_back();
    types_[index] = &made;  // a structure may point to its like
    made.name = name_of(one);
    made.bytes = one.number(kByteSize);
    switch (one.tag) {
      case kBase:
        made.kind = kind_of(one.number(kEncoding));
        break;
      case kPointer:
      case kReference:
      case kRvalueReference:
        made.kind = one.tag == kPointer ? Type::Kind::pointer : Type::Kind::reference;
        made.of = type_of(one);
        made.name =
            (made.of == nullptr ? "void" : made.of->name) + (one.tag == kPointer ? "*" : "&");
        made.bytes = 8;
        break;
      case kArray:
        array(made, index);
        break;
      case kStructure:
      case kClass:
      case kUnion:
        made.kind = Type::Kind::structure;
        children(index, [&](const Entry& child) {
          if (child.tag != kMember && child.tag != kInheritance) return;
          const Type* const its = type_of(child);
          if (its == nullptr || (child.find(kMemberLocation) == nullptr && one.tag != kUnion))
            return;
          const std::string name = child.tag == kMember ? name_of(child) : its->name;
          made.members.push_back({name, its, offset_of(child)});
        });
        break;
      case kEnumeration:
        made.kind = Type::Kind::enumeration;
        children(index, [&](const Entry& child) {
          if (child.tag != kEnumerator) return;
          made.enumerators.emplace_back(name_of(child),
                                        static_cast<std::int64_t>(child.number(kConstValue)));
        });
        break;
      default:
        break;
    }
    return &made;
  }

  template <class Visit>
  void children(int index, Visit visit) {
    for (std::size_t i = static_cast<std::size_t>(index) + 1; i < entries_.size(); ++i) {
      if (entries_[i].parent < index) break;
      if (entries_[i].parent == index) visit(entries_[i]);
    }
  }

  // float[4][8]: of each extent an array.
  void array(Type& made, int index) {
    std::vector<std::uint64_t> counts;
    children(index, [&](const Entry& child) {
      if (child.tag != kSubrange) return;
      const bool is_bounded = child.find(kUpperBound) != nullptr;
      counts.push_back(is_bounded ? child.number(kUpperBound) + 1 : child.number(kCount));
    });
    const Type* of = type_of(entry(index));
    for (std::size_t i = counts.size(); i-- > 0;) {
      Type& its = i == 0 ? made : to_.types_.emplace_back();
      its.kind = Type::Kind::array;
      its.of = of;
      its.count = counts[i];
      its.bytes = of == nullptr ? 0 : of->bytes * its.count;
      const std::string inner = of == nullptr ? "" : of->name;
      const std::size_t bracket = std::min(inner.find('['), inner.size());
      its.name = inner.substr(0, bracket) + "[" +
                 (its.count == 0 ? "" : std::to_string(its.count)) + "]" + inner.substr(bracket);
      of = &its;
    }
  }

  std::uint64_t offset_of(const Entry& member) {
    const Entry::Attribute* const its = member.find(kMemberLocation);
    if (its == nullptr) return 0;
    if (!its->is_block) return its->number;
    return place(sections_[".debug_info"], its->block, its->number).offset;
  }

  static Type::Kind kind_of(std::uint64_t encoding) {
    switch (encoding) {
      case 0x02:
        return Type::Kind::boolean;
      case 0x04:
        return Type::Kind::real;
      case 0x05:
        return Type::Kind::whole;
      case 0x06:
      case 0x08:
        return Type::Kind::character;
      case 0x07:
        return Type::Kind::natural;
      default:
        return Type::Kind::unknown;
    }
  }

  struct Abbreviation {
    std::uint64_t tag = 0;
    bool has_children = false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> attributes;
  };

  DebugInfo& to_;
  std::map<std::string, Section> sections_;
  Section* section_ = nullptr;
  std::map<std::string, int> lines_;  // of labels in the code
  std::size_t unit_ = 0;
  std::map<std::uint64_t, Abbreviation> abbreviations_;
  std::vector<Entry> entries_;
  std::map<std::size_t, int> by_offset_;
  std::map<int, const Type*> types_;
};

DebugInfo::DebugInfo(const ptx::Module& module) {
  if (!module.is_debug) return;
  std::optional<Unit> unit(*this);
  const std::string_view text = module.text;
  int number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(".version") && number > 1) {
      unit->end();
      unit.emplace(*this);
    }
    unit->line(line, number);
    at = end + 1;
  }
  unit->end();
}

const Function* DebugInfo::function_at(int line) const {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [&](const Function& one) { return one.range.has(line); });
  return found == functions_.end() ? nullptr : &*found;
}

}  // namespace simt::debug
