#pragma once
#error "<nvJitLink.h> is outside the simulator's subset: it cannot compile at run time, compile the kernel with simcc"
