#pragma once
#error "<surface_functions.h> is outside the simulator's subset: it has no textures, surfaces and graphics, use cudaMalloc and __ldg"
