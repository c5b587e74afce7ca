// Part of device_functions.h; programs of old include it by this name.
#pragma once

#include "device_functions.h"
