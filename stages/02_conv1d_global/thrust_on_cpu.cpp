// 3_thrust.cu for a machine with no GPU: Thrust's device system is then plain C++, and a host
// compiler is enough. (The CUDA build compiles 3_thrust.cu itself.)
#include "stages/02_conv1d_global/3_thrust.cu"
