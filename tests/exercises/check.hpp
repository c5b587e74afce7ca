// What the check of an exercise is written with: a contract, and cases that ask what the harness found.
// Each case names what it is worth: [correctness], [safety] or [budget], and [points=10].
#pragma once

#include <string>
#include <vector>

#include "common/exercise/judge.hpp"
#include "tests/catch.hpp"

namespace halo::exercises {

/// What the exercise of this program asks for: the test program's own.
const Contract& contract();

/// What `--contract` names, for a check that has several; empty without it.
const std::string& contract_asked_for();

/// The program that is checked.
Check& check();

/// Fails the case unless the verdict is good, and says why; skips it where nothing could be judged.
void require(const Verdict& verdict);

}  // namespace halo::exercises
