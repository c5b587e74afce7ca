// Looks at a student's file before it runs, and says what has no place there. The sandbox and the judge keep what
// they keep without it: it is here to refuse what nobody writes by mistake, and to show a human the rest.
#pragma once

#include "common/exercise/compiled_file.hpp"

namespace halo {

/// Whatever is there is looked at, the text alone too.
Tripped look_at(const CompiledFile& compiled);

}  // namespace halo
