// The atomics are in device_functions.h; programs of old include them by this name.
#pragma once

#include "device_functions.h"
