// Where simcc, simt and what belongs to them are: a build folder, or a folder it was installed to, which may be moved as a
// whole.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace simt {

inline constexpr const char* kCudart = "libcudart.so.13";
/// Among the libraries that samples call from the host.
inline constexpr const char* kDriver = "libcuda.so.1";

/// The folder of the running program, where simcc and simt are.
inline std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/// The folder of our libcudart: beside the running program, or `../lib/simt`. Throws std::runtime_error if it is in
/// neither.
inline std::filesystem::path library_folder() {
  namespace fs = std::filesystem;
  const fs::path own = program_folder();
  for (const fs::path& folder : {own, own.parent_path() / "lib" / "simt"}) {
    if (fs::exists(folder / kCudart)) return folder;
  }
  throw std::runtime_error(std::string(kCudart) + " is neither in " + own.string() +
                           " nor in ../lib/simt from there: build it, or install it again");
}

/// The folder of the libraries that samples call from the host, which need not be there; beside that of our libcudart, or
/// in it.
inline std::filesystem::path libraries_folder(const std::filesystem::path& library_folder) {
  const std::filesystem::path inside = library_folder / "libraries";
  return std::filesystem::exists(inside) ? inside : library_folder.parent_path() / "libraries";
}

}  // namespace simt
