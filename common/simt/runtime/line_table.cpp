#include "common/simt/runtime/line_table.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "common/simt/runtime/program_image.hpp"

namespace simt {
namespace {

std::vector<char> read_section(const char* wanted) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto read = [&](std::size_t at, void* to, std::size_t bytes) {
    file.seekg(static_cast<std::streamoff>(at));
    return static_cast<bool>(
        file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
  };
  ElfW(Ehdr) header;
  if (!read(0, &header, sizeof header)) return {};
  std::vector<ElfW(Shdr)> sections(header.e_shnum);
  if (!read(header.e_shoff, sections.data(), sections.size() * sizeof(ElfW(Shdr)))) return {};
  if (header.e_shstrndx >= sections.size()) return {};
  std::vector<char> names(sections[header.e_shstrndx].sh_size);
  if (!read(sections[header.e_shstrndx].sh_offset, names.data(), names.size())) return {};
  for (const auto& section : sections) {
    if (section.sh_name >= names.size() || std::strcmp(&names[section.sh_name], wanted) != 0)
      continue;
    if (section.sh_flags & SHF_COMPRESSED) return {};
    std::vector<char> bytes(section.sh_size);
    if (!read(section.sh_offset, bytes.data(), bytes.size())) return {};
    return bytes;
  }
  return {};
}

// Reads numbers of the section; past its end they are zero.
class Reader {
 public:
  Reader(const char* at, const char* end) : at_(at), end_(end) {}
  bool done() const { return at_ >= end_; }
  std::size_t left() const { return done() ? 0 : static_cast<std::size_t>(end_ - at_); }
  void skip(std::size_t bytes) { at_ += std::min(bytes, left()); }
  Reader part(std::size_t bytes) {
    Reader result(at_, at_ + std::min(bytes, left()));
    skip(bytes);
    return result;
  }
  template <class T>
  T number() {
    T value{};
    if (left() >= sizeof value) std::memcpy(&value, at_, sizeof value);
    skip(sizeof value);
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !done(); shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) break;
    }
    return value;
  }
  std::int64_t sleb() {
    std::int64_t value = 0;
    unsigned shift = 0;
    for (std::uint8_t byte = 0x80; (byte & 0x80) && !done();) {
      byte = number<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::int64_t>(byte & 0x7fu) << shift;
      shift += 7;
      if (!(byte & 0x80) && (byte & 0x40) && shift < 64) value |= -(std::int64_t{1} << shift);
    }
    return value;
  }

 private:
  const char* at_;
  const char* end_;
};

// One unit's program (DWARF 5, 6.2), without its tables of files.
void run_program(Reader unit, std::uintptr_t base, std::vector<LineRow>& rows) {
  const auto version = unit.number<std::uint16_t>();
  if (version < 2 || version > 5) return;
  if (version == 5) unit.skip(2);  // sizes of an address and of a segment
  Reader header = unit.part(unit.number<std::uint32_t>());
  const auto min_instruction = header.number<std::uint8_t>();
  if (version >= 4) header.skip(1);  // operations of an instruction
  header.skip(1);                    // whether rows are statements
  const auto line_base = header.number<std::int8_t>();
  const auto line_range = header.number<std::uint8_t>();
  const auto opcode_base = header.number<std::uint8_t>();
  if (line_range == 0 || opcode_base == 0) return;
  std::vector<std::uint8_t> operands(opcode_base);
  for (unsigned i = 1; i < opcode_base; ++i) operands[i] = header.number<std::uint8_t>();

  LineRow row{0, 1, 0};
  const auto add = [&](int line) { rows.push_back({base + row.address, line, row.column}); };
  while (!unit.done()) {
    const auto opcode = unit.number<std::uint8_t>();
    if (opcode >= opcode_base) {
      const unsigned adjusted = opcode - opcode_base;
      row.address += adjusted / line_range * min_instruction;
      row.line += line_base + static_cast<int>(adjusted % line_range);
      add(row.line);
      continue;
    }
    switch (opcode) {
      case 0: {
        Reader extended = unit.part(unit.uleb());
        const auto what = extended.number<std::uint8_t>();
        if (what == 1) {  // end of a sequence: what follows has no line
          add(0);
          row = {0, 1, 0};
        } else if (what == 2) {
          row.address = extended.number<std::uintptr_t>();
        }
        break;
      }
      case 1:
        add(row.line);
        break;
      case 2:
        row.address += unit.uleb() * min_instruction;
        break;
      case 3:
        row.line += static_cast<int>(unit.sleb());
        break;
      case 5:
        row.column = static_cast<int>(unit.uleb());
        break;
      case 8:
        row.address += (255u - opcode_base) / line_range * min_instruction;
        break;
      case 9:
        row.address += unit.number<std::uint16_t>();
        break;
      default:
        for (unsigned i = 0; i < operands[opcode]; ++i) unit.uleb();
    }
  }
}

}  // namespace

LineTable::LineTable() {
  const std::vector<char> section = read_section(".debug_line");
  Reader reader(section.data(), section.data() + section.size());
  while (reader.left() > 4) {
    const auto length = reader.number<std::uint32_t>();
    if (length == 0xffffffff) break;  // of 64 bits: g++ makes none
    run_program(reader.part(length), ProgramImage::get().load_address(), rows_);
  }
  // Of several rows at an address the last one counts.
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const LineRow& a, const LineRow& b) { return a.address < b.address; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const bool is_last = i + 1 == rows_.size() || rows_[i + 1].address != rows_[i].address;
    // The end of a sequence, where another begins, says nothing.
    if (is_last && rows_[i].line == 0 && kept < i && i > 0 &&
        rows_[i - 1].address == rows_[i].address) {
      rows_[kept++] = rows_[i - 1];
    } else if (is_last) {
      rows_[kept++] = rows_[i];
    }
  }
  rows_.resize(kept);
}

std::vector<LineRow>::const_iterator LineTable::covering(std::uintptr_t address) const {
  auto next =
      std::upper_bound(rows_.begin(), rows_.end(), address,
                       [](std::uintptr_t a, const LineRow& row) { return a < row.address; });
  return next == rows_.begin() ? next : next - 1;
}

}  // namespace simt
