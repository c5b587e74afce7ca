#pragma once
#error "<cuda_bf16.hpp> is outside the simulator's subset: it has no half-precision types, compute in float"
