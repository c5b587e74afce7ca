// With told.cu: a second module, whose kernel nobody launches.
__global__ void never(int* out) { *out = 1; }
