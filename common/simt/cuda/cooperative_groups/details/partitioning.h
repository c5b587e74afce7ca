#pragma once
#error "<cooperative_groups/details/partitioning.h> is outside the simulator's subset: it is a part of NVIDIA's own library, include <cooperative_groups.h>"
