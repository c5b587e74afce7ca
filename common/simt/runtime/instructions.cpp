#include "common/simt/runtime/instructions.hpp"

#include <cstring>

namespace simt {
namespace {

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

}  // namespace

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
