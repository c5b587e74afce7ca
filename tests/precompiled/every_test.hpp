// Compiled once for all test programs: tests/meson.build.
#pragma once

#include "tests/catch.hpp"
