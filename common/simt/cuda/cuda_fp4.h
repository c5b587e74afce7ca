#pragma once
#error "<cuda_fp4.h> is outside the simulator's subset: it has no half-precision types, compute in float"
