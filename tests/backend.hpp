// The backend that a test was linked with.
#pragma once

#include <memory>
#include <string>

#include "common/harness/backend/backend.hpp"
#include "tests/catch.hpp"

namespace halo::test {

// Skips the test case if there is no device.
inline std::unique_ptr<Backend> usable_backend() {
  auto backend = make_backend();
  if (const std::string reason = backend->unavailable(); !reason.empty()) skip(reason);
  return backend;
}

}  // namespace halo::test
