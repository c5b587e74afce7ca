#include "markers.hpp"

#include <fstream>
#include <stdexcept>

int line_of(const std::string& file, const std::string& marker) {
  const std::string path = std::string(SIMT_TEST_KERNELS) + "/" + file;
  std::ifstream source(path);
  if (!source) throw std::runtime_error("cannot open " + path);
  const std::string wanted = "// " + marker;
  std::string line;
  int found = 0;
  for (int number = 1; std::getline(source, line); ++number) {
    if (line.size() < wanted.size()) continue;
    if (line.compare(line.size() - wanted.size(), wanted.size(), wanted) != 0) continue;
    if (found) throw std::runtime_error("more than one '" + wanted + "' in " + path);
    found = number;
  }
  if (!found) throw std::runtime_error("no '" + wanted + "' in " + path);
  return found;
}

bool is_kernel_file(const std::string& path, const std::string& file) {
  const std::string wanted = "kernels/" + file;
  return path.size() >= wanted.size() &&
         path.compare(path.size() - wanted.size(), wanted.size(), wanted) == 0;
}
