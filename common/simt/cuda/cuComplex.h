#pragma once
#error "<cuComplex.h> is outside the simulator's subset: use float2 with functions of your own"
