// Each function launches one kernel of coverage.cu once. Lines that the tests ask for end in a marker
// there, or in coverage.cuh.
#pragma once

namespace coverage {

void run_one_side_of_a_branch(bool taken);
void run_loop(int turns);
void run_template(bool second);
void run_helpers(bool second);
void run_conditional_expression(bool taken);
void run_included(int n);
void run_hoisted(int turns);
void run_unrolled(int n);

}  // namespace coverage
