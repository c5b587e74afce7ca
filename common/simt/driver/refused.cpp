// Functions of CUDA's driver, and those beside it for graphics, that are not here. Whoever links one finds it, or asks for
// its address, and is told when it is called. All take what they like: so their own declarations are not included. Last of
// this room: what cuda.h makes of some names ends here.
#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <string>

#include "common/simt/driver/calls.hpp"

namespace simt::driver::refused {
namespace {

CUresult refuse(const char* name) {
  return answer(name, [&] { return cudart::refused(name); });
}

// The file of the library that this address of code is in; empty: it is the program's own.
std::string library_of(const void* code) {
  Dl_info info = {};
  void* extra = nullptr;
  if (dladdr1(code, &info, &extra, RTLD_DL_LINKMAP) == 0) return "";
  // The program's name in its list is empty.
  return std::filesystem::path(static_cast<const link_map*>(extra)->l_name).filename().string();
}

}  // namespace

extern "C" {

// Only NVIDIA's libraries know what is in one. NVRTC goes on without.
CUresult cuGetExportTable() {
  const std::string library = library_of(__builtin_return_address(0));
  if (library.starts_with("libnvrtc.so")) return CUDA_ERROR_NOT_SUPPORTED;
  if (library.empty()) {
    cudart::explain(
        "export table",
        "NVIDIA's own runtime library is in this program, and cannot run here: link with "
        "-cudart shared, or build with simcc, which has another");
  } else {
    cudart::explain(
        ("export table " + library).c_str(),
        "NVIDIA's own runtime library is in %s, and cannot run here: if it is yours, build "
        "it with -cudart shared or simcc; of NVIDIA's libraries the simulator has cuBLAS "
        "and cuRAND, for programs that simcc links",
        library.c_str());
  }
  return refuse(__func__);
}

#define SIMT_REFUSED(name) \
  CUresult name() { return refuse(__func__); }
#include "common/simt/cudart/driver_declared.inc"
#undef SIMT_REFUSED

}  // extern "C"

}  // namespace simt::driver::refused
