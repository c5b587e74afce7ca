// The files that a page is made of, as they are in this folder.
#pragma once

namespace halo::trace {

extern const char* const kPage;
extern const char* const kStyle;
extern const char* const kScript;

}  // namespace halo::trace
