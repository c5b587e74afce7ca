// NVRTC is NVIDIA's own, which stands behind this library where a program is linked. Machine code cannot run here: who asks
// for it is given the PTX, which the driver takes as well, and it has lines.
#include <dlfcn.h>
#include <nvrtc.h>

#include <vector>

namespace {

template <class Function>
Function* of_nvidia(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  std::vector<const char*> all(options, options + count);
  all.push_back("--generate-line-info");
  return of_nvidia(&nvrtcCompileProgram, __func__)(program, count + 1, all.data());
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  return of_nvidia(&nvrtcGetPTXSize, "nvrtcGetPTXSize")(program, bytes);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) {
  return of_nvidia(&nvrtcGetPTX, "nvrtcGetPTX")(program, image);
}

}  // extern "C"
