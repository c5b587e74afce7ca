// All built-in types under one of the names CUDA gives them.
#pragma once

#include "driver_types.h"
