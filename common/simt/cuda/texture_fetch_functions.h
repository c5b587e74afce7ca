#pragma once
#error "<texture_fetch_functions.h> is outside the simulator's subset: it has no textures, surfaces and graphics, use cudaMalloc and __ldg"
