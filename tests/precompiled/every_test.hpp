// Compiled once for all test programs, which are told to begin with it: tests/meson.build.
#include "tests/catch.hpp"
