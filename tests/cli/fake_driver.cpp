// Stands in for the NVIDIA driver's libcuda.so.1 and claims one GPU, so that what `halo` does where
// there is one can be tested where there is none.
#include <cstring>

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Imaginary GPU", static_cast<std::size_t>(size));
  return 0;
}
}
