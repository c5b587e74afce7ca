// Finds the line of a test kernel's source that carries a marker such as `// BUG name`.
#pragma once

#include <string>

/// The line number of the only line of `file` (a name in tests/simt/kernels) that ends in
/// `// <marker>`. Throws std::runtime_error if there is none or more than one.
int line_of(const std::string& file, const std::string& marker);

/// True if `path`, as the simulator reports it, names that file.
bool is_kernel_file(const std::string& path, const std::string& file);
