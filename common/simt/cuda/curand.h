#pragma once
#error "<curand.h> is outside the simulator's subset: it has no cuRAND, fill the input on the host or write the generator into the kernel"
