#pragma once
#error "<nvrtc.h> is outside the simulator's subset: it cannot compile at run time, compile the kernel with simcc"
