// A variant, tried as a stage's program tries it.
#pragma once

#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/harness/core/typed.hpp"
#include "tests/catch.hpp"

namespace halo::test {

template <class Given>
Row try_variant(const Variant<Given>& variant, const std::vector<Given>& problems) {
  const auto backend = make_backend();
  Row row;
  Progress progress;
  check_trials(variant, *backend, problems, seed(), row, progress);
  return row;
}

/// With the adversarial problems of its family.
template <class Given>
Row try_variant(const Variant<Given>& variant) {
  return try_variant(variant, adversarial<Given>(seed()));
}

template <class Given>
Row run_one(const Variant<Given>& variant, const Given& problem) {
  const auto backend = make_backend();
  Row row;
  check_problem(variant, *backend, problem, seed(), row);
  return row;
}

}  // namespace halo::test
