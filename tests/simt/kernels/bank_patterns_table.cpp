#include <fstream>
#include <sstream>
#include <stdexcept>

#include "bank_patterns.hpp"

namespace bank_patterns {

std::vector<Measured> read_measured(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<Measured> rows;
  std::string line;
  std::getline(file, line);  // the names of the columns
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    Measured row;
    std::string operation, bytes, cells, wavefronts, conflicts;
    std::getline(fields, row.name, ',');
    std::getline(fields, operation, ',');
    std::getline(fields, bytes, ',');
    std::getline(fields, cells, ',');
    std::getline(fields, wavefronts, ',');
    std::getline(fields, conflicts, ',');
    row.store = operation == "store";
    std::istringstream numbers(cells);
    bool good = row.store || operation == "load";
    for (int& cell : row.cells) good = good && numbers >> cell && cell < kCells;
    try {
      row.element_bytes = std::stoi(bytes);
      row.wavefronts = wavefronts.empty() ? 0 : std::stoi(wavefronts);
      row.conflicts = conflicts.empty() ? 0 : std::stoi(conflicts);
    } catch (const std::logic_error&) {
      good = false;
    }
    if (!good) throw std::runtime_error(path + ": row not understood: " + line);
    rows.push_back(row);
  }
  if (rows.empty()) throw std::runtime_error(path + ": no rows");
  return rows;
}

}  // namespace bank_patterns
