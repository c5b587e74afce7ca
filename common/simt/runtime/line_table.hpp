// The rows of the running program's DWARF line table: where a new line, or a new column of one, begins.
#pragma once

#include <cstdint>
#include <vector>

namespace simt {

struct LineRow {
  std::uintptr_t address = 0;
  int line = 0;    // of the file that was written, whatever was inlined
  int column = 0;  // 0: unknown
};

class LineTable {
 public:
  // Of this program. Empty if it has none, or one that is not understood (newer than DWARF 5,
  // compressed).
  LineTable();

  const std::vector<LineRow>& rows() const { return rows_; }  // by address, one each
  // The row that says where the code at this address comes from, or the next one.
  std::vector<LineRow>::const_iterator covering(std::uintptr_t address) const;

 private:
  std::vector<LineRow> rows_;
};

}  // namespace simt
