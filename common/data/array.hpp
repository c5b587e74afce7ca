// Arrays of any number of dimensions, as NPY files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/data/file.hpp"

namespace halo::data {

/// Values in the order of C: the last dimension is the fastest.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  std::string type = "f4";  // what the file holds, as NPY calls it without the order of the bytes
};

/// Reads an NPY file of the types that read_signal takes; values become the nearest float. Throws
/// DataError for a file that is missing, of another kind, truncated or in Fortran order, and for one
/// that holds no values, more than conv::kMaxLength, NaN, infinity or a value beyond float.
Array read_array(const std::string& path);

/// Writes float32, whole or not at all. Throws DataError if `path` cannot be written.
void write_array(const std::string& path, const Array& array);

}  // namespace halo::data
