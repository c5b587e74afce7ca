#pragma once
#error "<cooperative_groups/scan.h> is outside the simulator's subset: of cooperative groups it has tiles, coalesced threads and reduce, write the scan with shfl_up"
