// Host functions of cuRAND that are not here. Whoever links one finds it, as PyCUDA does, and is told when it is called. All
// take what they like: so their own declarations are not included.
#include <cstdio>

namespace {

int refuse(const char* name) {
  std::fprintf(stderr, "simt: %s is not in the simulator\n", name);
  return 103;  // CURAND_STATUS_TYPE_ERROR
}

}  // namespace

extern "C" {

int curandCreatePoissonDistribution() { return refuse(__func__); }
int curandDestroyDistribution() { return refuse(__func__); }
int curandGenerateBinomial() { return refuse(__func__); }
int curandGenerateBinomialMethod() { return refuse(__func__); }
int curandGenerateLongLong() { return refuse(__func__); }
int curandGeneratePoisson() { return refuse(__func__); }
int curandGeneratePoissonMethod() { return refuse(__func__); }
int curandGetDirectionVectors32() { return refuse(__func__); }
int curandGetDirectionVectors64() { return refuse(__func__); }
int curandGetProperty() { return refuse(__func__); }
int curandGetScrambleConstants32() { return refuse(__func__); }
int curandGetScrambleConstants64() { return refuse(__func__); }
int curandSetQuasiRandomGeneratorDimensions() { return refuse(__func__); }

}  // extern "C"
