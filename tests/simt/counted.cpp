#include "counted.hpp"

#include <cuda_runtime.h>

#include "common/simt/simulator.hpp"
#include "tests/catch.hpp"

simt::Launch check_case(const CountedCase& one) {
  INFO(one.name);
  cudaDeviceReset();  // an error of the case before must not be this one's
  simt::simulator()->take_launches();
  CHECK(one.run());
  std::vector<simt::Launch> launches = simt::simulator()->take_launches();
  REQUIRE(launches.size() == 1);
  const simt::Launch& launch = launches[0];
  for (const simt::CounterField& field : simt::counter_fields()) {
    INFO(field.name);
    CHECK(launch.counters.*field.member == one.expected.*field.member);
  }
  for (const simt::Finding& f : launch.findings) {
    INFO(f.kind << " at " << f.file << ":" << f.line << ": " << f.message);
    CHECK(f.is_note());
  }
  simt::Counters sum;
  for (const simt::LineCounters& line : launch.lines) sum += line.counters;
  CHECK(sum == launch.counters);
  return launch;
}
