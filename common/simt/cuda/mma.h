#pragma once
#error "<mma.h> is outside the simulator's subset: it has no tensor cores, keep such kernels to the GPU build"
