#pragma once
#error "<cuda_egl_interop.h> is outside the simulator's subset: it has no textures, surfaces and graphics, use cudaMalloc and __ldg"
