// All built-in types under one of the names CUDA gives them.
#pragma once
#define __BUILTIN_TYPES_H__

#include "driver_types.h"
