// CUDA keeps the keywords under this name.
#pragma once

#include "../host_defines.h"
