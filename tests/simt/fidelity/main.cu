// Runs every launch once, in order, under a profiler or on the engine, and prints name and checksum of each.
#include "launches.hpp"

int main() {
  fidelity::global_memory();
  fidelity::shared_memory();
  fidelity::control_flow();
  fidelity::stencils();
  fidelity::matrix_products();
  fidelity::reductions();
  fidelity::histograms_and_scans();
  fidelity::narrow_types();
  fidelity::library_kernels();
  fidelity::steps_of_a_product();
  fidelity::sorts_and_graphs();
  fidelity::layouts();
  fidelity::counted_loops();
  fidelity::asynchronous_copies();
  fidelity::chains();
  fidelity::guarded_copies();
  fidelity::images();
  fidelity::loop_exits();
  fidelity::shared_sums();
  fidelity::calls_by_address();
  fidelity::loads_behind_jumps();
  fidelity::searches_and_tables();
  fidelity::science_and_networks();
  fidelity::math_functions();
}
