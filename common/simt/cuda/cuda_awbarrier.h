#pragma once
#error "<cuda_awbarrier.h> is outside the simulator's subset: it has no asynchronous copies yet, copy through registers and call __syncthreads"
