#pragma once
#error "<cutlass/cutlass.h> is outside the simulator's subset: it has no vendor libraries, keep calls to them in files of the GPU build"
