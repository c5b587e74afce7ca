#pragma once
#error "<cuda_pipeline_primitives.h> is outside the simulator's subset: it has no asynchronous copies yet, copy through registers and call __syncthreads"
