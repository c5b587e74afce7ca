// The files that a page of results is made of, as they are in this folder.
#pragma once

namespace halo {

extern const char* const kResultsPage;
extern const char* const kResultsStyle;
extern const char* const kResultsScript;

}  // namespace halo
