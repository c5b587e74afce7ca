// Pages are shown where somebody is there to look at them.
#pragma once

#include <string>

namespace halo {

/// Opens the file in a browser, if there is a screen and this is a terminal; says so if that fails.
void open_in_browser(const std::string& page);

}  // namespace halo
