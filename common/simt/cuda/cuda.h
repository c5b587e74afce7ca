#pragma once
#error "<cuda.h> is outside the simulator's subset: it has the runtime API only, include <cuda_runtime.h> and call the cuda... functions"
