// Fat binaries: what nvcc puts into a program for each of its modules of device code.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace simt::cudart {

/// A program has no PTX that can be read; in one line, with how to build it so that it has.
class NoPtx : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The PTX of all translation units that a wrapper names (what __cudaRegisterFatBinary is given), of each that for the
/// newest architecture. Names that two units have for themselves are told apart. Throws NoPtx.
std::string ptx_of_wrapper(const void* wrapper);
/// Several units as one text, as above.
std::string joined(const std::vector<std::string>& texts);
/// Of what a program loads while it runs: PTX itself, a wrapper, or a fat binary. Throws NoPtx.
std::string ptx_of_image(const void* image);
/// Whether nvlink made it, of units that nvcc -rdc=true compiled.
bool is_linked(const void* wrapper);

}  // namespace simt::cudart
