#pragma once
#error "<cuda_occupancy.h> is outside the simulator's subset: call cudaOccupancyMaxActiveBlocksPerMultiprocessor instead"
