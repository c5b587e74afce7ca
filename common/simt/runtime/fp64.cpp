#include "common/simt/runtime/fp64.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/simt/runtime/coverage.hpp"
#include "common/simt/runtime/instructions.hpp"
#include "common/simt/runtime/program_image.hpp"

extern "C" void __sanitizer_cov_trace_pc();

namespace simt {
namespace {

// Instructions of double, by the number of their block's call.
using Fp64Instructions = std::map<std::uint32_t, std::vector<std::uintptr_t>>;

#if defined(__x86_64__)
constexpr std::size_t kLeastBytes = 4;

// With the prefix F2, or F3 for cvtss2sd, an optional REX, and 0F. At -O1 g++ makes scalar code only.
bool is_fp64(const unsigned char* code, const unsigned char* end) {
  const unsigned char prefix = *code++;
  if (prefix != 0xf2 && prefix != 0xf3) return false;
  if (code < end && (*code & 0xf0) == 0x40) ++code;
  if (code + 1 >= end || *code++ != 0x0f) return false;
  constexpr unsigned char kToAndFrom = 0x5a;  // cvtsd2ss, cvtss2sd
  if (prefix == 0xf3) return *code == kToAndFrom;
  // sqrt, add, mul, sub, min, div, max; cvtsi2sd, cvttsd2si, cvtsd2si.
  constexpr unsigned char kCodes[] = {0x51, 0x58, 0x59, kToAndFrom, 0x5c, 0x5d,
                                      0x5e, 0x5f, 0x2a, 0x2c,       0x2d};
  return std::find(std::begin(kCodes), std::end(kCodes), *code) != std::end(kCodes);
}

#elif defined(__aarch64__)
constexpr std::size_t kLeastBytes = 4;

// Arm's Architecture Reference Manual for A-profile, section C4.1, "Data Processing -- Scalar Floating-Point
// and Advanced SIMD". At -O1 g++ makes scalar code only.
bool is_fp64(const unsigned char* code, const unsigned char*) {
  std::uint32_t word;
  std::memcpy(&word, code, sizeof word);
  const unsigned type = word >> 22 & 3;
  constexpr unsigned kFloat = 0;
  constexpr unsigned kDouble = 1;
  if ((word & 0xff200c00) == 0x1e200800) return type == kDouble;  // fmul .. fminnm, fnmul: of two
  if ((word & 0xff000000) == 0x1f000000) return type == kDouble;  // fmadd .. fnmsub: of three
  if ((word & 0xff207c00) == 0x1e204000) {                        // of one
    const unsigned operation = word >> 15 & 63;
    constexpr unsigned kRoot = 3;
    constexpr unsigned kToFloat = 4;
    constexpr unsigned kToDouble = 5;
    return type == kDouble ? operation == kRoot || operation == kToFloat
                           : type == kFloat && operation == kToDouble;
  }
  if ((word & 0x7f20fc00) == 0x1e200000) {  // from and to integers; 6 and 7 only move bits
    return type == kDouble && (word >> 16 & 7) < 6;
  }
  if ((word & 0x7f200000) == 0x1e000000) return type == kDouble;  // fixed point
  // From and to integers in a register of floating point: scvtf, ucvtf, then fcvtzs, fcvtzu.
  const std::uint32_t converts = word & 0xdffffc00;
  return converts == 0x5e61d800 || converts == 0x5ee1b800;
}
#endif

Fp64Instructions find_all() {
  const ProgramImage& image = ProgramImage::get();
  const auto trace = reinterpret_cast<std::uintptr_t>(&__sanitizer_cov_trace_pc);
  Fp64Instructions found;
  for (const ProgramImage::Function& function : image.functions()) {
    std::vector<std::uintptr_t>* block = nullptr;  // none before the function's first call
    for (std::uintptr_t at = function.begin; at + kCallBytes <= function.end;
         at += kInstructionStep) {
      const auto* const code = reinterpret_cast<const unsigned char*>(at);
      if (const std::uintptr_t target = called_from(at); target != 0) {
        if (target == trace) {
          block = &found[static_cast<std::uint32_t>(at + kCallBytes - 1 - image.load_address())];
          at += kCallBytes - kInstructionStep;
        }
      } else if (block && is_fp64(code, reinterpret_cast<const unsigned char*>(function.end))) {
        if (!image.line_of(at).in_stand_in) block->push_back(at);
        at += kLeastBytes - kInstructionStep;
      }
    }
  }
  std::erase_if(found, [](const auto& entry) { return entry.second.empty(); });
  return found;
}

const Fp64Instructions& instructions() {
  static const Fp64Instructions& all = *new Fp64Instructions(find_all());
  return all;
}

}  // namespace

void mark_fp64_blocks(std::uint8_t* blocks) {
  for (const auto& [call, all] : instructions()) blocks[call >> 2] |= kFp64Block;
}

std::map<std::pair<std::string, int>, std::uint64_t> fp64_lines(const Fp64Blocks& blocks) {
  const ProgramImage& image = ProgramImage::get();
  std::map<std::pair<std::string, int>, std::uint64_t> lines;
  for (const auto& [call, times] : blocks) {
    const auto known = instructions().find(call);
    if (known == instructions().end()) continue;
    for (const std::uintptr_t address : known->second) {
      const SourceLine line = image.line_of(address);
      lines[{line.file, line.line}] += times;
    }
  }
  return lines;
}

}  // namespace simt
