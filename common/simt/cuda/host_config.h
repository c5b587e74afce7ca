// Nothing to configure; programs of old include it.
#pragma once

#include "host_defines.h"
