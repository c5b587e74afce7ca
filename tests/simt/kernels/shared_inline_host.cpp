// Host code that is not instrumented and has its own copy of the template.
#include "shared_inline.hpp"

int sum_on_host(const int* values) { return sum_of_fifteen(values); }
