#include "common/simt/runtime/instructions.hpp"

#include <cstring>

namespace simt {
namespace {

#if defined(__x86_64__)

// One instruction of x86-64 (Intel's manual, volume 2, chapter 2 and appendix A).
class Decoder {
 public:
  Decoder(std::uintptr_t begin, std::uintptr_t end) : at_(begin), end_(end) {
    result_.address = begin;
  }

  // False if it is not understood.
  bool decode() {
    for (;; ++at_) {
      if (at_ >= end_) return false;
      const unsigned byte = peek();
      if (byte == 0x66) {
        narrow_ = true;
      } else if (byte >= 0x40 && byte <= 0x4f) {
        wide_ = byte & 8;
      } else if (!is_prefix(byte)) {
        break;
      }
    }
    const unsigned opcode = next();
    const bool good = opcode == 0xc4 || opcode == 0xc5 ? vex(opcode)
                      : opcode == 0x0f                 ? two_bytes(next())
                                                       : one_byte(opcode);
    return good && at_ <= end_;
  }

  std::uintptr_t end() const { return at_; }
  const Instruction& result() const { return result_; }

 private:
  using Kind = Instruction::Kind;

  static bool is_prefix(unsigned byte) {
    return byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x36 ||
           byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65;
  }
  unsigned peek() const { return at_ < end_ ? *reinterpret_cast<const unsigned char*>(at_) : 0; }
  unsigned next() {
    const unsigned byte = peek();
    ++at_;
    return byte;
  }
  bool skip(unsigned bytes) {
    at_ += bytes;
    return true;
  }
  unsigned immediate() const { return narrow_ ? 2 : 4; }

  // The byte that says which registers, and the address behind it. The middle field is returned.
  unsigned operands() {
    const unsigned byte = next();
    const unsigned mode = byte >> 6;
    const unsigned base = byte & 7;
    if (mode != 3 && base == 4) {
      const unsigned scaled = next();
      if (mode == 0 && (scaled & 7) == 5) at_ += 4;
    } else if (mode == 0 && base == 5) {
      at_ += 4;
    }
    if (mode == 1) at_ += 1;
    if (mode == 2) at_ += 4;
    return byte >> 3 & 7;
  }
  bool with_operands(unsigned more = 0) {
    operands();
    return skip(more);
  }
  bool jump(Kind kind, unsigned bytes) {
    std::int32_t distance = 0;
    if (at_ + bytes > end_) return false;
    if (bytes == 1) {
      distance = *reinterpret_cast<const signed char*>(at_);
    } else {
      std::memcpy(&distance, reinterpret_cast<const void*>(at_), sizeof distance);
    }
    at_ += bytes;
    result_.kind = kind;
    result_.target = at_ + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance));
    return true;
  }
  bool ends(Kind kind) {
    result_.kind = kind;
    return true;
  }

  bool one_byte(unsigned opcode) {
    if (opcode < 0x40) {  // arithmetic: six forms each
      const unsigned form = opcode & 7;
      if (form < 4) return with_operands();
      if (form == 4) return skip(1);
      return form == 5 && skip(immediate());
    }
    if (opcode >= 0x50 && opcode <= 0x5f) return true;
    if (opcode >= 0x70 && opcode <= 0x7f) return jump(Kind::branch, 1);
    if (opcode >= 0x84 && opcode <= 0x8f) return with_operands();
    if (opcode >= 0x90 && opcode <= 0x9f) return opcode != 0x9a;
    if (opcode >= 0xb0 && opcode <= 0xb7) return skip(1);
    if (opcode >= 0xb8 && opcode <= 0xbf) return skip(wide_ ? 8 : immediate());
    if (opcode >= 0xd8 && opcode <= 0xdf) return with_operands();
    switch (opcode) {
      case 0x63:
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
      case 0xfe:
        return with_operands();
      case 0x68:
      case 0xa9:
        return skip(immediate());
      case 0x69:
      case 0x81:
      case 0xc7:
        return with_operands(immediate());
      case 0x6a:
      case 0xa8:
        return skip(1);
      case 0x6b:
      case 0x80:
      case 0x83:
      case 0xc0:
      case 0xc1:
      case 0xc6:
        return with_operands(1);
      case 0xa4:
      case 0xa5:
      case 0xa6:
      case 0xa7:
      case 0xaa:
      case 0xab:
      case 0xac:
      case 0xad:
      case 0xae:
      case 0xaf:
      case 0xc9:
        return true;
      case 0xc2:
        return skip(2) && ends(Kind::leaves);
      case 0xc3:
      case 0xcc:
      case 0xf4:
        return ends(Kind::leaves);
      case 0xe8:
        return jump(Kind::call, 4);
      case 0xe9:
        return jump(Kind::jump, 4);
      case 0xeb:
        return jump(Kind::jump, 1);
      case 0xf6:
        return skip(operands() < 2 ? 1 : 0);
      case 0xf7:
        return skip(operands() < 2 ? immediate() : 0);
      case 0xff: {
        const unsigned which = operands();
        if (which == 2 || which == 3) return ends(Kind::call);
        return which == 4 || which == 5 ? ends(Kind::indirect) : which != 7;
      }
      default:
        return false;
    }
  }

  bool two_bytes(unsigned opcode) {
    if (opcode >= 0x80 && opcode <= 0x8f) return jump(Kind::branch, 4);
    if (opcode >= 0xc8 && opcode <= 0xcf) return true;
    switch (opcode) {
      case 0x0b:
        return ends(Kind::leaves);
      case 0x05:
      case 0x31:
      case 0x77:
      case 0xa2:
        return true;
      case 0x38:
        next();
        return with_operands();
      case 0x3a:
        next();
        return with_operands(1);
      default:
        if (opcode < 0x10 && opcode != 0x0d) return false;
        return with_operands(has_byte(opcode) ? 1 : 0);
    }
  }

  bool vex(unsigned opcode) {
    const unsigned first = next();
    unsigned map = 1;
    if (opcode == 0xc4) {
      map = first & 31;
      next();
    }
    const unsigned instruction = next();
    if (map == 1 && instruction == 0x77) return true;
    if (map < 1 || map > 3) return false;
    return with_operands(map == 3 || (map == 1 && has_byte(instruction)) ? 1 : 0);
  }

  // Of the opcodes behind 0f: a byte follows the operands.
  static bool has_byte(unsigned opcode) {
    return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac ||
           opcode == 0xba || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
  }

  std::uintptr_t at_;
  std::uintptr_t end_;
  bool narrow_ = false;  // operands of 16 bits
  bool wide_ = false;    // of 64
  Instruction result_;
};

#elif defined(__aarch64__)

// One instruction of AArch64: 32 bits. The fields are those of Arm's Architecture Reference Manual for
// A-profile, section C4.1, "Branches, Exception Generating and System instructions".
class Decoder {
 public:
  Decoder(std::uintptr_t begin, std::uintptr_t end) : at_(begin), end_(end) {
    result_.address = begin;
  }

  // False if less than an instruction is left.
  bool decode() {
    if (end_ - at_ < 4) return false;
    std::memcpy(&word_, reinterpret_cast<const void*>(at_), sizeof word_);
    using Kind = Instruction::Kind;
    if ((word_ & 0xfc000000) == 0x14000000) {  // b
      leads(Kind::jump, 0, 26);
    } else if ((word_ & 0xfc000000) == 0x94000000) {  // bl
      leads(Kind::call, 0, 26);
    } else if ((word_ & 0xff000000) == 0x54000000 ||  // b.cond, bc.cond
               (word_ & 0x7e000000) == 0x34000000) {  // cbz, cbnz
      leads(Kind::branch, 5, 19);
    } else if ((word_ & 0x7e000000) == 0x36000000) {  // tbz, tbnz
      leads(Kind::branch, 5, 14);
    } else if ((word_ & 0xfe000000) == 0xd6000000) {  // to a register's address
      constexpr Kind kKinds[] = {Kind::indirect, Kind::call, Kind::leaves};  // br, blr, ret
      const unsigned which = word_ >> 21 & 7;
      result_.kind = which < 3 ? kKinds[which] : Kind::leaves;
    } else if ((word_ & 0xffe0001f) == 0xd4200000 || (word_ & 0xffff0000) == 0) {  // brk, udf
      result_.kind = Kind::leaves;
    }
    at_ += 4;
    return true;
  }

  std::uintptr_t end() const { return at_; }
  const Instruction& result() const { return result_; }

 private:
  // The distance in instructions is signed: `bits` of them from bit `first` on.
  void leads(Instruction::Kind kind, unsigned first, unsigned bits) {
    const std::int64_t distance =
        static_cast<std::int64_t>(std::uint64_t{word_} << (64 - first - bits)) >> (64 - bits);
    result_.kind = kind;
    result_.target = at_ + static_cast<std::uintptr_t>(4 * distance);
  }

  std::uintptr_t at_;
  std::uintptr_t end_;
  std::uint32_t word_ = 0;
  Instruction result_;
};

#endif

}  // namespace

std::uintptr_t called_from(std::uintptr_t address) {
#if defined(__x86_64__)
  // Most addresses asked for hold no call: not all of the decoder for each.
  const auto* const code = reinterpret_cast<const unsigned char*>(address);
  if (*code != 0xe8) return 0;
  std::int32_t distance;
  std::memcpy(&distance, code + 1, sizeof distance);
  return address + kCallBytes + static_cast<std::uintptr_t>(std::intptr_t{distance});
#else
  Decoder decoder(address, address + kCallBytes);
  decoder.decode();
  const Instruction& one = decoder.result();
  return one.kind == Instruction::Kind::call ? one.target : 0;
#endif
}

std::vector<Instruction> decode(std::uintptr_t begin, std::uintptr_t end) {
  std::vector<Instruction> instructions;
  for (std::uintptr_t at = begin; at < end;) {
    Decoder decoder(at, end);
    if (!decoder.decode()) return {};
    instructions.push_back(decoder.result());
    at = decoder.end();
  }
  return instructions;
}

}  // namespace simt
