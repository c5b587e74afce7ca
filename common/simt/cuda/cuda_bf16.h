#pragma once
#error "<cuda_bf16.h> is outside the simulator's subset: it has no half-precision types, compute in float"
